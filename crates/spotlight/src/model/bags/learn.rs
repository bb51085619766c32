//! How a model for bags learns, and what is measured.

use spotlight_kernels::Float;

use super::net::Net;
use crate::Result;
use crate::axis::Axis;
use crate::model::Calibration;
use crate::model::head::{self, Decision, label_measure_names, label_measures};
use crate::params::Params;
use crate::tape::{Tape, Var};
use crate::text::Inventory;
use crate::text::batch::Lengths;
use crate::train::{Learner, Measure};

/// A labelled bag, ready for the network.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    /// Its rows, brought to the standard, one after the other.
    pub numbers: Vec<f32>,
    /// How many rows.
    pub rows: usize,
    /// The number of its label.
    pub label: u32,
    /// Line of its first row.
    pub line: usize,
}

/// A model for bags as the training loop sees it.
#[derive(Clone, Debug)]
pub struct BagLearner {
    pub(super) net: Net,
    pub(super) labels: Inventory,
    /// How much an example of each label counts.
    pub(super) weights: Vec<f64>,
    pub(super) smoothing: f64,
    /// Features of a row.
    pub(super) width: usize,
    /// Whether a batch is a number of bags of any size.
    pub(super) mixed: bool,
}

/// Bags side by side: `(numbers, rows)` of each.
fn side_by_side<'a, T: Float>(tape: &Tape<T>, width: usize, bags: impl Iterator<Item = (&'a [f32], usize)> + Clone) -> Result<(Var, Axis)> {
    let axis = Axis::new(bags.clone().map(|(_, rows)| rows).collect::<Vec<_>>());
    let numbers = bags.flat_map(|(numbers, _)| numbers).map(|&x| T::from_f64(x as f64)).collect();
    Ok((tape.on_axis(tape.table(axis.rows(), width, numbers)?, &axis)?, axis))
}

impl Learner for BagLearner {
    type Example = Example;

    fn lengths(&self, example: &Example) -> Lengths {
        Lengths { source: if self.mixed { 1 } else { example.rows }, target: 0 }
    }

    fn targets(&self, _: &Example) -> usize {
        1
    }

    fn line(&self, example: &Example) -> usize {
        example.line
    }

    fn loss<T: Float>(&self, tape: &Tape<T>, examples: &[&Example], scale: f64) -> Result<Var> {
        let (x, _) = side_by_side(tape, self.width, examples.iter().map(|e| (e.numbers.as_slice(), e.rows)))?;
        let labels: Vec<u32> = examples.iter().map(|e| e.label).collect();
        let pooled = self.net.forward(tape, x)?;
        self.net.head.loss(tape, pooled.context, &labels, &self.weights, self.smoothing, scale)
    }

    fn measures(&self, examples: &[Example]) -> Option<Vec<&'static str>> {
        Some(label_measure_names(&self.labels, examples.iter().map(|e| e.label)))
    }

    /// `loss`, `accuracy`, `macro_f1`, and for two labels `auc`; see [`label_measures`].
    fn measure(&self, params: &Params<f32>, examples: &[Example]) -> Result<Vec<Measure>> {
        let (said, gold) = self.judged(params, examples)?;
        label_measures(&self.labels, &gold, &said)
    }

    /// How sure the model may be.
    fn closing(&self, params: &Params<f32>, examples: &[Example]) -> Result<Vec<(&'static str, Vec<u8>)>> {
        let (said, gold) = self.judged(params, examples)?;
        Ok(Calibration::of_labels(&said, &gold).iter().map(Calibration::file).collect())
    }
}

impl BagLearner {
    /// The probabilities of all labels for each bag, and the number of its own.
    fn judged(&self, params: &Params<f32>, examples: &[Example]) -> Result<(Vec<Vec<f32>>, Vec<u32>)> {
        let bags: Vec<(&[f32], usize)> = examples.iter().map(|e| (e.numbers.as_slice(), e.rows)).collect();
        let found = decide(&self.net, params, self.width, &bags)?;
        Ok((found.into_iter().map(|d| d.probabilities).collect(), examples.iter().map(|e| e.label).collect()))
    }
}

/// Decisions on bags `(numbers, rows)`, in their order.
pub fn decide(net: &Net, params: &Params<f32>, width: usize, bags: &[(&[f32], usize)]) -> Result<Vec<Decision>> {
    head::decide(&net.head, params, bags.iter().map(|b| b.1), |tape, members| {
        let (x, axis) = side_by_side(tape, width, members.iter().map(|&i| bags[i]))?;
        Ok((net.forward(tape, x)?, axis))
    })
}
