//! The forms that models of texts have.

use serde::{Deserialize, Serialize};

/// How a model comes to its answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Form {
    /// Every word says something for or against an answer, and the answer is the sum.
    Evidence,
    /// An encoder reads the text, and what it read is pooled to one row.
    Pooled,
}
