//! What a training run needs to know of a model.

use spotlight_kernels::Float;

use crate::Result;
use crate::params::Params;
use crate::tape::{Tape, Var};
use crate::text::batch::Lengths;

/// A model that can be trained: the loop asks for losses and measures, and knows nothing else of it.
pub trait Learner: Sync {
    /// One example, ready for the model.
    type Example: Sync;

    /// Units of an example, for batches of similar length.
    fn lengths(&self, example: &Self::Example) -> Lengths;

    /// How much an example counts in a batch: the number of targets.
    fn targets(&self, example: &Self::Example) -> usize;

    /// Where an example comes from, for messages: usually a line number.
    fn line(&self, example: &Self::Example) -> usize;

    /// The sum of the examples' losses, times `scale`.
    fn loss<T: Float>(&self, tape: &Tape<T>, examples: &[&Self::Example], scale: f64) -> Result<Var>;

    /// The measures of the development examples. The first whose name is asked for decides which model is best.
    fn measure(&self, params: &Params<f32>, examples: &[Self::Example]) -> Result<Vec<Measure>>;
}

/// A measure of a model.
#[derive(Clone, Debug, PartialEq)]
pub struct Measure {
    /// Its name.
    pub name: &'static str,
    /// Its value.
    pub value: f64,
    /// Whether more is better.
    pub rising: bool,
}

impl Measure {
    /// A measure of which more is better.
    pub fn rising(name: &'static str, value: f64) -> Self {
        Measure { name, value, rising: true }
    }

    /// A measure of which less is better.
    pub fn falling(name: &'static str, value: f64) -> Self {
        Measure { name, value, rising: false }
    }

    /// The value turned so that more is better.
    pub fn merit(&self) -> f64 {
        if self.rising { self.value } else { -self.value }
    }
}
