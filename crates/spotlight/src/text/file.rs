//! Writing a file so that it is there as a whole or not at all.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};

use super::TextError;

/// Writes to a temporary name beside `path`, syncs and renames, so that a full disk or a kill leaves no half-written file.
pub(super) fn write_whole(path: &Path, contents: &str) -> Result<(), TextError> {
    let mut name = path.as_os_str().to_owned();
    name.push(".tmp");
    let temporary = PathBuf::from(name);
    let written = File::create(&temporary)
        .and_then(|mut file| file.write_all(contents.as_bytes()).and_then(|()| file.sync_all()))
        .and_then(|()| fs::rename(&temporary, path));
    written.map_err(|source| {
        // The write has failed already; that the leftover cannot be removed either adds nothing the user could act on.
        let _ = fs::remove_file(&temporary);
        TextError::write(path, source)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_replaced_as_a_whole() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("units.txt");
        write_whole(&path, "first").unwrap();
        write_whole(&path, "second").unwrap();
        assert_eq!(fs::read_to_string(&path).unwrap(), "second");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }

    #[test]
    fn a_failure_names_the_file_and_leaves_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let taken = dir.path().join("taken");
        fs::create_dir_all(taken.join("full")).unwrap();
        let error = write_whole(&taken, "text").unwrap_err().to_string();
        assert!(error.starts_with(&format!("cannot write {}: ", taken.display())), "{error}");
        assert_eq!(fs::read_dir(dir.path()).unwrap().count(), 1);
    }
}
