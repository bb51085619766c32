//! How a classifier learns, and what is measured.

use spotlight_kernels::Float;

use super::net::Net;
use crate::Result;
use crate::model::encoder::side_by_side;
use crate::model::head::{self, Decision, label_measure_names, label_measures};
use crate::params::Params;
use crate::tape::{Tape, Var};
use crate::text::Inventory;
use crate::text::batch::Lengths;
use crate::train::{Learner, Measure};

/// A labelled text, ready for the network.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    /// Its units.
    pub ids: Vec<u32>,
    /// The number of its label.
    pub label: u32,
    /// Line of the file.
    pub line: usize,
}

/// A classifier as the training loop sees it.
#[derive(Clone, Debug)]
pub struct ClassifyLearner {
    pub(super) net: Net,
    pub(super) labels: Inventory,
    /// How much an example of each label counts.
    pub(super) weights: Vec<f64>,
    pub(super) smoothing: f64,
}

impl Learner for ClassifyLearner {
    type Example = Example;

    fn lengths(&self, example: &Example) -> Lengths {
        Lengths { source: example.ids.len(), target: 0 }
    }

    fn targets(&self, _: &Example) -> usize {
        1
    }

    fn line(&self, example: &Example) -> usize {
        example.line
    }

    fn loss<T: Float>(&self, tape: &Tape<T>, examples: &[&Example], scale: f64) -> Result<Var> {
        let (ids, axis) = side_by_side(examples.iter().map(|e| e.ids.as_slice()));
        let labels: Vec<u32> = examples.iter().map(|e| e.label).collect();
        let rows = self.net.forward(tape, &ids, &axis)?;
        self.net.head.loss(tape, rows.context, &labels, &self.weights, self.smoothing, scale)
    }

    fn measures(&self, examples: &[Example]) -> Vec<&'static str> {
        label_measure_names(&self.labels, examples.iter().map(|e| e.label))
    }

    /// `loss`, `accuracy`, `macro_f1`, and for two labels `auc`; see [`label_measures`].
    fn measure(&self, params: &Params<f32>, examples: &[Example]) -> Result<Vec<Measure>> {
        let gold: Vec<u32> = examples.iter().map(|e| e.label).collect();
        let texts: Vec<&[u32]> = examples.iter().map(|e| e.ids.as_slice()).collect();
        let probabilities: Vec<Vec<f32>> = decide(&self.net, params, &texts)?.into_iter().map(|d| d.probabilities).collect();
        label_measures(&self.labels, &gold, &probabilities)
    }
}

/// Decisions on texts, in their order.
pub fn decide(net: &Net, params: &Params<f32>, texts: &[&[u32]]) -> Result<Vec<Decision>> {
    head::decide(&net.head, params, texts.iter().map(|t| t.len()), |tape, members| {
        let (ids, axis) = side_by_side(members.iter().map(|&i| texts[i]));
        Ok((net.forward(tape, &ids, &axis)?, axis))
    })
}
