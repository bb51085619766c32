//! `log.txt`: what was said while training, with the time of each line.

use std::fs::File;
use std::io::Write;

use super::clock;

/// The log of a run, to be added to. It is kept for people: nothing reads it, and a line that cannot be written is lost without a word.
///
/// ```
/// use spotlight::folder;
///
/// let place = tempfile::tempdir().unwrap();
/// let folder = folder::claim(&place.path().join("model"), false)?.begin(|_| Ok(()))?;
/// folder.log()?.line("1,000 pairs");
/// let text = std::fs::read_to_string(folder.path().join(folder::LOG)).unwrap();
/// assert!(text.ends_with("Z  1,000 pairs\n"), "{text}");
/// # Ok::<(), spotlight::Error>(())
/// ```
#[derive(Debug)]
pub struct Log(File);

impl Log {
    pub(super) fn new(file: File) -> Self {
        Log(file)
    }

    /// Adds a line, as it was said, with the time.
    pub fn line(&mut self, text: &str) {
        let _ = writeln!(self.0, "{}  {text}", clock::now());
    }
}
