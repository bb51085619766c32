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
    /// What is said about the layout of a file cannot be used.
    #[error("data.{key}: {problem}")]
    Format {
        /// The setting.
        key: &'static str,
        /// What is wrong with it.
        problem: String,
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
    #[error("expected {expected} {}-separated column(s): {names}; found {found}; add what is missing or remove the line", named(*separator))]
    MissingColumn {
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
        /// What they mean.
        names: &'static str,
        /// What stands between columns.
        separator: char,
    },
    /// The line has more columns than needed.
    #[error(
        "expected {expected} {0}-separated column(s): {names}; found {found}; remove the {0} or the column, or say with --columns which to read",
        named(*separator)
    )]
    ExtraColumn {
        /// How many there should be.
        expected: usize,
        /// How many there are.
        found: usize,
        /// What they mean.
        names: &'static str,
        /// What stands between columns.
        separator: char,
    },
    /// The columns seem to be apart by something else.
    #[error(
        "expected columns apart by a {}, found none, but {columns} columns apart by a {} on every line looked at; {}",
        named(*expected), named(*found), advice(*found)
    )]
    OtherSeparator {
        /// What should stand between columns.
        expected: char,
        /// What does.
        found: char,
        /// How many columns that makes.
        columns: usize,
    },
    /// The first line seems to name the columns.
    #[error(
        "the line looks like a header: {found}; if it is one, say --header (data.header = \"yes\"); if it is an example, data.header = \"no\""
    )]
    LooksLikeHeader {
        /// The names.
        found: String,
    },
    /// The header names the columns in another order than they are read in.
    #[error("the header has {found}, but the columns are read as {names}; say which is which, as in --columns {example}")]
    OtherOrder {
        /// The names in the header.
        found: String,
        /// What the columns are read as.
        names: &'static str,
        /// The names of the header in the right order.
        example: String,
    },
    /// A column that was asked for by its name is not in the header.
    #[error("no column is called {name:?}; the header has {found}; change --columns or the header")]
    NoSuchColumn {
        /// The name asked for.
        name: String,
        /// The names there are.
        found: String,
    },
    /// A column that was asked for by its number is not in this line.
    #[error("column {column} is asked for, but the line has {found}; add what is missing, remove the line, or change --columns")]
    NoColumn {
        /// The number asked for, counted from 1, from the end if negative.
        column: isize,
        /// How many columns there are.
        found: usize,
    },
    /// A quoted field has no end.
    #[error("a quote is opened here and not closed; close it, or write a quote within a quoted field twice")]
    OpenQuote,
    /// The text is full of zero bytes.
    #[error(
        "every other byte is zero: the file seems to be UTF-16 without a byte order mark; convert it to UTF-8, for example with `iconv -f utf-16le -t utf-8`"
    )]
    ZeroBytes,
    /// A text is longer than the setting allows.
    #[error("the {name} has {found} characters, more than data.longest = {limit}; shorten it or raise the setting")]
    TooLong {
        /// The column's meaning.
        name: &'static str,
        /// How many characters there are.
        found: usize,
        /// How many there may be.
        limit: usize,
    },
    /// A text has more units than a model has learned positions.
    #[error("the {name} has {found} units, more than the {limit} positions this model has learned; shorten it")]
    TooManyUnits {
        /// The column's meaning.
        name: &'static str,
        /// How many units there are.
        found: usize,
        /// How many there may be.
        limit: usize,
    },
    /// A unit of UTF-16 that does not belong where it stands.
    #[error("0x{unit:04X} is half of a UTF-16 character; convert the file to UTF-8, for example with `iconv -f utf-16 -t utf-8`")]
    NotUtf16 {
        /// The unit.
        unit: u16,
    },
    /// UTF-16 with an odd number of bytes.
    #[error("the input ends in the middle of a UTF-16 character; is it cut off?")]
    HalfUtf16,
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

/// A separator in words.
pub(super) fn named(separator: char) -> String {
    match separator {
        '\t' => "tab".into(),
        ',' => "comma".into(),
        ';' => "semicolon".into(),
        ' ' => "blank".into(),
        other => format!("{other:?}"),
    }
}

/// How to read a file with this separator.
fn advice(separator: char) -> String {
    match separator {
        '\t' => "say --separator tab".into(),
        ',' => "say --separator ',' or call the file .csv".into(),
        other => format!("say --separator {other:?}"),
    }
}

impl TextError {
    pub(crate) fn read(path: &Path, source: io::Error) -> Self {
        Self::Read { path: path.to_owned(), source }
    }

    /// Whether a text or a line is longer than it may be.
    pub fn is_too_long(&self) -> bool {
        matches!(self, Self::At { fault, .. } if matches!(**fault, Fault::TooLong { .. } | Fault::LineTooLong { .. }))
    }

    /// The line it stands on, counted from 1; 0 if it is about no line.
    pub fn line(&self) -> usize {
        match self {
            Self::At { place, .. } => place.line,
            _ => 0,
        }
    }

    pub(crate) fn write(path: &Path, source: io::Error) -> Self {
        Self::Write { path: path.to_owned(), source }
    }

    pub(crate) fn at(path: &Path, line: usize, column: impl Into<Option<usize>>, fault: Fault) -> Self {
        let place = Place { path: path.to_owned(), line, column: column.into() };
        Self::At { place, fault: Box::new(fault) }
    }
}
