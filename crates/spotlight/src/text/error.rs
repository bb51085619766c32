//! What can be wrong with text data: where it is, what it is, and what to do about it.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

/// An error of the text part. Everything that stems from the user's data carries its [`Place`].
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum TextError {
    /// The file could not be opened or read.
    #[error("cannot read {}: {source}", path.display())]
    Read {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file could not be written.
    #[error("cannot write {}: {source}", path.display())]
    Write {
        /// The file.
        path: PathBuf,
        /// What the system said.
        source: io::Error,
    },
    /// The file holds no example at all.
    #[error("{} is empty: expected {expected}", path.display())]
    EmptyFile {
        /// The file.
        path: PathBuf,
        /// What should stand in it.
        expected: &'static str,
    },
    /// Something at one place of a file is not as it should be.
    #[error("{place}: {fault}")]
    At {
        /// Where.
        place: Place,
        /// What.
        fault: Box<Fault>,
    },
    /// A file of subwords could not be understood.
    #[error("{} is not a usable table of subwords: {reason}", path.display())]
    Subwords {
        /// The file.
        path: PathBuf,
        /// What is wrong with it.
        reason: String,
    },
    /// There is no text to take units from.
    #[error(
        "no units can be taken from the texts: all of them are empty, every unit is rarer than min_count, or vocab_size leaves no room"
    )]
    NoUnits,
    /// The size asked for cannot hold the alphabet.
    #[error(
        "a vocabulary of {asked} units is too small: the texts have {alphabet} different characters; ask for at least {needed}, or raise min_count to leave out rare characters"
    )]
    VocabularyTooSmall {
        /// The size asked for.
        asked: usize,
        /// The number of different characters in the texts.
        alphabet: usize,
        /// The smallest size that works.
        needed: usize,
    },
    /// The subword trainer gave up.
    #[error("subwords could not be trained: {0}")]
    Training(String),
}

/// A place in a file, printed as `path:line:column`.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// The file, or `-` for standard input.
    pub path: PathBuf,
    /// The line, counted from 1.
    pub line: usize,
    /// The column, counted in bytes from 1; none when the fault is the whole line.
    pub column: Option<usize>,
}

impl fmt::Display for Place {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.path.display(), self.line)?;
        match self.column {
            Some(column) => write!(f, ":{column}"),
            None => Ok(()),
        }
    }
}

/// What is wrong at a [`Place`].
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum Fault {
    /// The line is empty where an example should stand.
    #[error("the line is empty; every line of the data must hold an example, remove this one")]
    EmptyLine,
    /// A column that may not be empty is.
    #[error("the {name} is empty; fill it in or remove the line")]
    EmptyColumn {
        /// The column's meaning.
        name: &'static str,
    },
    /// The line has fewer columns than needed.
    #[error("expected {expected} tab-separated column(s): {names}; found {found}; add what is missing or remove the line")]
    MissingColumn {
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
        /// What they mean.
        names: &'static str,
    },
    /// The line has more columns than needed.
    #[error("expected {expected} tab-separated column(s): {names}; found {found}; remove the tab or the column")]
    ExtraColumn {
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
        /// What they mean.
        names: &'static str,
    },
    /// The bytes are not UTF-8.
    #[error("byte 0x{byte:02X} is not valid UTF-8; convert the file to UTF-8, for example with `iconv -f latin1 -t utf-8`")]
    NotUtf8 {
        /// The first byte that does not fit.
        byte: u8,
    },
    /// The line is absurdly long.
    #[error("the line has more than {limit} characters; is the file text with one example per line?")]
    LineTooLong {
        /// The most a line may have.
        limit: usize,
    },
    /// The mark of a question-answer pair is neither 0 nor 1.
    #[error("expected 0 or 1 (is this an answer to the question?), found {found:?}")]
    NotZeroOne {
        /// What stands there.
        found: String,
    },
    /// A number was expected.
    #[error("expected a number in field {field}, found {found:?}")]
    NotANumber {
        /// The field of the row, counted from 1.
        field: usize,
        /// What stands there.
        found: String,
    },
    /// A number was expected that is neither infinite nor NaN.
    #[error("expected a finite number in field {field}, found {found:?}; fill in missing values first")]
    NotFinite {
        /// The field of the row, counted from 1.
        field: usize,
        /// What stands there.
        found: String,
    },
    /// A row has another number of fields than the rows before it.
    #[error("expected {expected} fields as in the rows before, found {found}")]
    RaggedRow {
        /// As many as the first row has.
        expected: usize,
        /// As many as this row has.
        found: usize,
    },
    /// The row is too short to hold what is asked of it.
    #[error("expected at least {expected} fields ({names}), found {found}")]
    TooFewFields {
        /// The least number of fields.
        expected: usize,
        /// How many there are.
        found: usize,
        /// What they mean.
        names: &'static str,
    },
    /// Two rows of one bag have different labels.
    #[error("bag {bag:?} has label {found:?} here but {before:?} on line {line_before}; a bag has one label")]
    ConflictingLabels {
        /// The bag.
        bag: String,
        /// The label of this row.
        found: String,
        /// The label of the bag's first row.
        before: String,
        /// The line of the bag's first row.
        line_before: usize,
    },
    /// The CSV itself is malformed.
    #[error("not a CSV row: {reason}")]
    BadCsv {
        /// What the CSV reader said.
        reason: String,
    },
    /// A header promises another number of rows than there are.
    #[error("the header promises {promised} rows but the file has {found}; is it cut off?")]
    RowCount {
        /// According to the header.
        promised: usize,
        /// Really there.
        found: usize,
    },
    /// An escape in a vocabulary file is unknown.
    #[error(r"unknown escape {found:?}; known are \\ \n \r \t \s (a space) and \u{{hex}}")]
    BadEscape {
        /// What stands there.
        found: String,
    },
    /// A unit stands in a vocabulary file twice.
    #[error("{unit:?} stands here a second time, first on line {line_before}; every unit may stand in the file once")]
    Repeated {
        /// The unit.
        unit: String,
        /// Where it stands first.
        line_before: usize,
    },
    /// A vocabulary file does not begin with the special units.
    #[error("expected the special unit {expected}; a vocabulary begins with <unk>, <s> and </s>, one per line")]
    MissingSpecial {
        /// The special unit that belongs here.
        expected: &'static str,
    },
}

impl TextError {
    pub(crate) fn read(path: &Path, source: io::Error) -> Self {
        Self::Read { path: path.to_owned(), source }
    }

    pub(crate) fn write(path: &Path, source: io::Error) -> Self {
        Self::Write { path: path.to_owned(), source }
    }

    pub(crate) fn at(path: &Path, line: usize, column: impl Into<Option<usize>>, fault: Fault) -> Self {
        let place = Place { path: path.to_owned(), line, column: column.into() };
        Self::At { place, fault: Box::new(fault) }
    }
}
