//! What was read, and what there is to say about it.

use std::fmt;
use std::path::{Path, PathBuf};

use crate::text::{Fault, TextError};

/// The examples of a file, with notes for its owner: what was left out, and where.
#[derive(Debug, Clone, PartialEq)]
pub struct Examples<T> {
    /// The examples in the order of the file.
    pub examples: Vec<T>,
    /// To be printed, one a line.
    pub notes: Vec<Note>,
}

/// Something about a file that its owner may want to know.
#[derive(Debug, Clone, PartialEq, Eq)]
#[non_exhaustive]
pub enum Note {
    /// Blank lines were passed over. Those at the end are not counted.
    Blank {
        /// The file.
        path: PathBuf,
        /// How many.
        count: usize,
        /// The first of them.
        line: usize,
    },
    /// Examples with too long a text were left out.
    Long {
        /// The file.
        path: PathBuf,
        /// How many.
        count: usize,
        /// Where the first of them stands.
        line: usize,
        /// The most characters a text may have.
        limit: usize,
    },
    /// The first line was taken for a header though nobody said so.
    Header {
        /// The file.
        path: PathBuf,
        /// Its line.
        line: usize,
    },
}

impl fmt::Display for Note {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Note::Blank { path, count: 1, line } => write!(f, "{}:{line}: a blank line, passed over", path.display()),
            Note::Blank { path, count, line } => write!(f, "{}:{line}: the first of {count} blank lines, passed over", path.display()),
            Note::Long { path, count, line, limit } => {
                let first = if *count == 1 { "an example".to_owned() } else { format!("the first of {count} examples") };
                write!(f, "{}:{line}: {first} with more than {limit} characters, left out (data.longest)", path.display())
            }
            Note::Header { path, line } => write!(f, "{}:{line}: no numbers in the line, taken for a header", path.display()),
        }
    }
}

impl<T> Examples<T> {
    /// The examples alone; if a line was left out for which there would have been a note, an error at its place.
    pub fn whole(self) -> Result<Vec<T>, TextError> {
        for note in self.notes {
            match note {
                Note::Blank { path, line, .. } => return Err(TextError::at(&path, line, None, Fault::EmptyLine)),
                Note::Long { path, line, limit, .. } => return Err(TextError::at(&path, line, None, Fault::LineTooLong { limit })),
                Note::Header { .. } => {}
            }
        }
        Ok(self.examples)
    }
}

/// Lines counted on the way, for a note.
#[derive(Debug, Default)]
pub(super) struct Tally {
    count: usize,
    first: usize,
}

impl Tally {
    pub fn add(&mut self, line: usize) {
        if self.count == 0 {
            self.first = line;
        }
        self.count += 1;
    }

    /// How many and the first, if there are any.
    pub fn get(&self) -> Option<(usize, usize)> {
        (self.count > 0).then_some((self.count, self.first))
    }
}

/// Blank lines of which those at the end do not count.
#[derive(Debug, Default)]
pub(super) struct Blanks {
    counted: Tally,
    waiting: Tally,
}

impl Blanks {
    pub fn add(&mut self, line: usize) {
        self.waiting.add(line);
    }

    /// Something follows: those so far were not at the end.
    pub fn settle(&mut self) {
        let Tally { count, first } = std::mem::take(&mut self.waiting);
        if self.counted.count == 0 {
            self.counted.first = first;
        }
        self.counted.count += count;
    }

    pub fn note(&self, path: &Path) -> Option<Note> {
        self.counted.get().map(|(count, line)| Note::Blank { path: path.to_owned(), count, line })
    }
}
