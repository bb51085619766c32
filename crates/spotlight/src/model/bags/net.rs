//! The network of a model for bags: layers for every row, pooling, head.

use spotlight_kernels::Float;

use super::config::Config;
use crate::Result;
use crate::model::head::Head;
use crate::model::pooling::{PooledRows, Pooling};
use crate::nn::Linear;
use crate::params::Params;
use crate::tape::{Tape, Var};

/// The layers; their numbers are in a [`Params`].
#[derive(Clone, Debug)]
pub struct Net {
    rows: Vec<Linear>,
    pub(super) pooling: Pooling,
    /// Chooses the label.
    pub head: Head,
    dropout: f64,
}

impl Net {
    /// Makes the parameters `rows.0.*`, `attention.*` and `output.*` for rows of `width` features and a number of labels.
    pub fn new<T: Float>(params: &mut Params<T>, config: &Config, width: usize, labels: usize) -> Result<Self> {
        let m = &config.model;
        let size = |layer: usize| if layer == 0 { width } else { m.hidden };
        let rows = (0..m.layers).map(|l| Linear::new(params, &format!("rows.{l}"), size(l), m.hidden)).collect();
        let pooling = Pooling::new(params, "attention", m.pooling, &config.attention, size(m.layers))?;
        let head = Head::new(params, pooling.width(size(m.layers)), labels);
        Ok(Net { rows, pooling, head, dropout: m.dropout })
    }

    /// One row for each bag of `x`, for the head; and where it came from.
    pub fn forward<T: Float>(&self, tape: &Tape<T>, x: Var) -> Result<PooledRows> {
        let x = self.states(tape, x)?;
        self.pooling.forward(tape, x, x)
    }

    /// What is pooled: every row through the layers.
    pub(super) fn states<T: Float>(&self, tape: &Tape<T>, x: Var) -> Result<Var> {
        self.rows.iter().try_fold(x, |x, layer| tape.dropout(tape.relu(layer.forward(tape, x)?), self.dropout))
    }
}
