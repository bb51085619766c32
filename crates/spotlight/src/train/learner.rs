//! What a training run needs to know of a model.

use std::sync::atomic::AtomicBool;

use spotlight_kernels::Float;

use crate::Result;
use crate::params::{ParamId, Params};
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

    /// Parameters that stay as they are in this epoch, counted from 0. None unless told.
    fn frozen(&self, epoch: u64) -> Vec<ParamId> {
        let _ = epoch;
        Vec::new()
    }

    /// Sets the weights to the best ones at once, if they can be computed; no steps are taken then. It must come to the same bits whenever it is asked, and look at `stop` from time to time.
    fn solve(&self, _params: &mut Params<f32>, _examples: &[Self::Example], _stop: &AtomicBool) -> Result<Solution> {
        Ok(Solution::BySteps)
    }

    /// The names of what [`measure`](Self::measure) gives for these examples, if they are known without measuring: a wrong `train.metric` is then refused before the
    /// first batch.
    fn measures(&self, _examples: &[Self::Example]) -> Option<Vec<&'static str>> {
        None
    }

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

    /// What is left to find out from the development examples when the best weights are known: files of the model's folder, by name, that are written before the run is said to be
    /// finished. None unless told.
    fn closing(&self, params: &Params<f32>, examples: &[Self::Example]) -> Result<Vec<(&'static str, Vec<u8>)>> {
        let _ = (params, examples);
        Ok(Vec::new())
    }
}

/// Whether a learner has found its weights without taking steps.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Solution {
    /// It learns step by step.
    BySteps,
    /// It has found them; the mean loss of a target.
    Found(f64),
    /// It was stopped before.
    Stopped,
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
    /// The largest value it can have; the least is 0.
    pub most: f64,
}

/// An end of a measure's range.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bound {
    /// It cannot be worse.
    Worst,
    /// It cannot be better.
    Best,
}

impl Measure {
    /// A measure from 0 to 1 of which more is better.
    pub fn rising(name: &'static str, value: f64) -> Self {
        Measure { name, value, rising: true, most: 1.0 }
    }

    /// A measure from 0 to any number of which less is better.
    pub fn falling(name: &'static str, value: f64) -> Self {
        Measure { name, value, rising: false, most: f64::INFINITY }
    }

    /// The same measure, with another largest value.
    pub fn up_to(self, most: f64) -> Self {
        Measure { most, ..self }
    }

    /// The end of its range that the value stands at, if it does.
    ///
    /// ```
    /// use spotlight::train::{Bound, Measure};
    ///
    /// assert_eq!(Measure::rising("accuracy", 0.0).bound(), Some(Bound::Worst));
    /// assert_eq!(Measure::rising("bleu", 1.0).up_to(100.0).bound(), None);
    /// assert_eq!(Measure::falling("cer", 0.0).bound(), Some(Bound::Best));
    /// ```
    pub fn bound(&self) -> Option<Bound> {
        let (least, most) = if self.rising { (Bound::Worst, Bound::Best) } else { (Bound::Best, Bound::Worst) };
        if self.value == 0.0 {
            Some(least)
        } else if (self.value - self.most).abs() < 1e-9 {
            Some(most)
        } else {
            None
        }
    }

    /// The value turned so that more is better.
    pub fn merit(&self) -> f64 {
        if self.rising { self.value } else { -self.value }
    }
}
