//! What can be wrong with the input of a measure.

use thiserror::Error;

/// Why a measure could not be computed.
#[derive(Clone, Debug, PartialEq, Eq, Error)]
pub enum MetricError {
    /// Two lists that go together line by line differ in length.
    #[error("there must be as many {left_name} as {right_name}, but there are {left} and {right}")]
    LengthMismatch {
        /// What the first list holds.
        left_name: &'static str,
        /// Its length.
        left: usize,
        /// What the second list holds.
        right_name: &'static str,
        /// Its length.
        right: usize,
    },
    /// There is nothing to measure.
    #[error("there is nothing to measure: no {0} given")]
    Empty(&'static str),
    /// A segment came without any reference.
    #[error("segment {segment} (counted from 1) has no reference; give at least one, which may be empty")]
    NoReference {
        /// Position of the segment, counted from 1.
        segment: usize,
    },
    /// The area under the ROC curve needs both classes.
    #[error("the ROC curve needs examples of both classes, but {positive} are positive and {negative} negative")]
    OneClass {
        /// Number of positive examples.
        positive: usize,
        /// Number of negative examples.
        negative: usize,
    },
    /// A score is not a number, so it has no place in an order.
    #[error("score {position} (counted from 1) is NaN and cannot be ranked; look for a loss that diverged")]
    NotANumber {
        /// Position of the score, counted from 1 over all scores given.
        position: usize,
    },
}

/// Checks that two lists fit together line by line.
pub(super) fn same_length(left_name: &'static str, left: usize, right_name: &'static str, right: usize) -> Result<(), MetricError> {
    if left == right {
        return Ok(());
    }
    Err(MetricError::LengthMismatch { left_name, left, right_name, right })
}
