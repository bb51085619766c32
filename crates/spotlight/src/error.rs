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
    /// A parameter file that does not hold what the model needs.
    #[error("{}: {problem}", path.display())]
    Weights {
        /// The file.
        path: PathBuf,
        /// What is wrong, with the tensor's name.
        problem: String,
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
