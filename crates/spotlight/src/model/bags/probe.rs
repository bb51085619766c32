//! Experiments with the attention of a model for bags.

use spotlight_kernels::Float;

use super::BagModel;
use crate::Result;
use crate::axis::Axis;
use crate::model::head::number_of;
use crate::model::pooling::{PoolingKind, mixed};
use crate::model::probe::{Asked, Differs, Looked, Mixture, Opened, Probe, sums};
use crate::params::Params;
use crate::tape::{Tape, Var};
use crate::text::Bag;

/// A bag that rows can be taken from: their numbers, brought to the standard.
pub type Case = Vec<Vec<f32>>;

impl Probe for BagModel {
    type Row = Bag;
    type Case = Case;

    const UNIT: &'static str = "row";

    fn labels(&self) -> Vec<String> {
        self.labels.iter().map(str::to_string).collect()
    }

    fn numbers(&self) -> &Params<f32> {
        &self.params
    }

    fn closed(&self) -> Option<String> {
        let none = "every row has the same weight in this model: there is no attention to audit (model.pooling = \"mean\")";
        (self.config.model.pooling == PoolingKind::Mean).then(|| none.into())
    }

    fn asked(&self, rows: &[Bag]) -> Result<Vec<Asked<Case>>> {
        let one = |(group, bag): (usize, &Bag)| {
            let gold = number_of(&self.labels, &bag.label, bag.line)? as usize;
            let case = self.numbers(bag)?.chunks_exact(self.standard.width().max(1)).map(<[f32]>::to_vec).collect();
            let units = (1..=bag.rows.len()).map(|row| format!("row {row}")).collect();
            Ok(Asked { case, units, gold, target: None, studied: true, group })
        };
        rows.iter().enumerate().map(one).collect()
    }

    fn length(&self, case: &Case) -> usize {
        case.len()
    }

    fn size(&self, case: &Case) -> usize {
        if self.config.model.mixed { 1 } else { case.len() }
    }

    fn left(&self, case: &Case, keep: &[bool]) -> Case {
        case.iter().zip(keep).filter(|(_, keep)| **keep).map(|(row, _)| row.clone()).collect()
    }

    fn open(&self, tape: &Tape<f32>, cases: &[&Case], scale: f32) -> Result<Opened> {
        let axis = Axis::new(cases.iter().map(|case| case.len()).collect::<Vec<_>>());
        let numbers = cases.iter().flat_map(|case| case.iter().flatten()).map(|x| x * scale).collect();
        let input = tape.input(axis.rows(), self.standard.width(), numbers)?;
        let states = self.net.states(tape, tape.on_axis(input, &axis)?)?;
        let (weights, values) = self.net.pooling.open(tape, states)?.unwrap_or((states, states));
        Ok(Opened { inputs: vec![input], axis, weights, values, states: Some(states), beside: None })
    }

    fn logits(&self, tape: &Tape<f32>, opened: &Opened, weights: Var) -> Result<Var> {
        self.net.head.logits(tape, mixed(tape, weights, opened.values, &opened.axis)?)
    }

    fn mixtures(&self, tape: &Tape<f32>, opened: &Opened) -> Result<Vec<Mixture>> {
        let by_head = self.net.head.by_head(tape, opened.values, tape.shape(opened.weights).1)?;
        Ok(sums(tape, opened, &by_head, self.net.head.bias(&self.params)))
    }

    fn look<T: Float>(&self, tape: &Tape<T>, cases: &[&Case]) -> Result<Option<Looked>> {
        let axis = Axis::new(cases.iter().map(|case| case.len()).collect::<Vec<_>>());
        let numbers = cases.iter().flat_map(|case| case.iter().flatten()).map(|&x| T::from_f64(x as f64)).collect();
        let x = tape.on_axis(tape.table(axis.rows(), self.standard.width(), numbers)?, &axis)?;
        let rows = self.net.forward(tape, x)?;
        let logits = self.net.head.logits(tape, rows.context)?;
        Ok(rows.weights.map(|weights| Looked { logits, weights }))
    }

    fn sibling(&self, differs: Differs, rows: &[Bag]) -> Result<Option<Self>> {
        let mut config = self.config.clone();
        config.seed = differs.seed();
        match differs {
            Differs::Seed(_) | Differs::Adversary(_) => {}
            Differs::Uniform(_) => (config.model.pooling, config.attention.heads) = (PoolingKind::Mean, 1),
            // Rows are read on their own anyway.
            Differs::Average(_) => return Ok(None),
        }
        BagModel::new(config, rows).map(Some)
    }
}
