//! What can go wrong, as values.

use std::path::PathBuf;

/// Rows and columns of a table.
pub type Shape = (usize, usize);

/// An error of the library.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum Error {
    /// Two tables that do not fit each other.
    #[error("{op}: a table of {} x {} does not go with one of {} x {}", left.0, left.1, right.0, right.1)]
    Shapes {
        /// The operation.
        op: &'static str,
        /// Shape of the first table.
        left: Shape,
        /// Shape of the second table.
        right: Shape,
    },
    /// A table of the wrong shape.
    #[error("{op}: expected {expected}, got a table of {} x {}", got.0, got.1)]
    Shape {
        /// The operation.
        op: &'static str,
        /// What was expected.
        expected: String,
        /// What came.
        got: Shape,
    },
    /// Rows that belong to different axes.
    #[error("{op}: the rows belong to different axes, one of lengths {left:?}, one of lengths {right:?}")]
    Axes {
        /// The operation.
        op: &'static str,
        /// Lengths of the first axis (the first few).
        left: Vec<usize>,
        /// Lengths of the second axis (the first few).
        right: Vec<usize>,
    },
    /// An operation over a dynamic axis was asked of a table without one.
    #[error("{op} works along a dynamic axis, but the table has none; attach one with `on_axis`")]
    NoAxis {
        /// The operation.
        op: &'static str,
    },
    /// A number outside its range.
    #[error("{what} is {got}, but must be {expected}")]
    Value {
        /// Which number.
        what: String,
        /// What it was.
        got: String,
        /// What it may be.
        expected: String,
    },
    /// A row number, unit or target that does not exist.
    #[error("{op}: index {index} is outside a table of {len} rows")]
    Index {
        /// The operation.
        op: &'static str,
        /// The index.
        index: usize,
        /// Rows there are.
        len: usize,
    },
    /// The loss or the gradient is not a number any more.
    #[error(
        "the loss is not a number at step {step} (lines {} of the training data; largest gradient: {gradient}). {}; lower train.rate or train.clip and start again",
        brief_list(lines), kept.as_ref().map_or_else(|| "There is no checkpoint yet".into(), |k| format!("The last good state is in {}", k.display()))
    )]
    NotFinite {
        /// The step.
        step: u64,
        /// Lines of the training data in its batch.
        lines: Vec<usize>,
        /// The largest gradient and its parameter.
        gradient: String,
        /// The last checkpoint, if there is one.
        kept: Option<PathBuf>,
    },
    /// Something in the data.
    #[error(transparent)]
    Text(#[from] crate::text::TextError),
    /// Something in the settings.
    #[error(transparent)]
    Config(#[from] crate::config::ConfigError),
    /// Something about a model's folder.
    #[error(transparent)]
    Folder(#[from] crate::folder::FolderError),
    /// A parameter file that does not hold what the model needs.
    #[error("{}: {problem}", path.display())]
    Weights {
        /// The file.
        path: PathBuf,
        /// What is wrong, with the tensor's name.
        problem: String,
    },
    /// A model or examples that an audit has nothing to say of; the reason.
    #[error("cannot audit: {0}")]
    Audit(String),
    /// A folder that holds no model.
    #[error("{} is not a model's folder", path.display())]
    NotAModel {
        /// The folder.
        path: PathBuf,
        /// What is missing.
        source: Box<Error>,
    },
    /// Settings that do not say what kind of model they are for.
    #[error("{} names no task", path.display())]
    NoTask {
        /// The file.
        path: PathBuf,
    },
    /// Reading or writing failed.
    #[error("{}: {source}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's word.
        source: std::io::Error,
    },
}

/// A result of the library.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// The first few numbers of a list.
fn brief_list(lines: &[usize]) -> String {
    let mut text = lines.iter().take(12).map(usize::to_string).collect::<Vec<_>>().join(", ");
    if lines.len() > 12 {
        text.push_str(&format!(" and {} more", lines.len() - 12));
    }
    text
}
