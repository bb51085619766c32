//! What a training run needs to know of a model.

use spotlight_kernels::Float;

use crate::Result;
use crate::params::Params;
use crate::tape::{Tape, Var};
use crate::text::batch::Lengths;

/// Examples whose loss is computed at once while measuring.
const MEASURED_AT_ONCE: usize = 64;

/// A model that can be trained: the loop asks for losses and measures, and knows nothing else of it. [`Learner::loss`] is all that a model must have.
pub trait Learner: Sync {
    /// One example, ready for the model.
    type Example: Sync;

    /// Units of an example, for batches of similar length. Examples without a length count as one unit each.
    fn lengths(&self, example: &Self::Example) -> Lengths {
        let _ = example;
        Lengths { source: 1, target: 0 }
    }

    /// How much an example counts in a batch: the number of targets. One each unless told.
    fn targets(&self, example: &Self::Example) -> usize {
        let _ = example;
        1
    }

    /// Where an example comes from, for messages: usually a line number. 0 unless told.
    fn line(&self, example: &Self::Example) -> usize {
        let _ = example;
        0
    }

    /// The sum of the examples' losses, times `scale`.
    fn loss<T: Float>(&self, tape: &Tape<T>, examples: &[&Self::Example], scale: f64) -> Result<Var>;

    /// The measures of the development examples. The first whose name is asked for decides which model is best. The mean loss of a target unless told.
    fn measure(&self, params: &Params<f32>, examples: &[Self::Example]) -> Result<Vec<Measure>> {
        let (mut loss, mut targets) = (0.0, 0);
        for examples in examples.chunks(MEASURED_AT_ONCE) {
            let tape = Tape::new(params);
            let examples: Vec<&Self::Example> = examples.iter().collect();
            loss += tape.item(self.loss(&tape, &examples, 1.0)?);
            targets += examples.iter().map(|example| self.targets(example)).sum::<usize>();
        }
        Ok(vec![Measure::falling("loss", loss / targets.max(1) as f64)])
    }
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
