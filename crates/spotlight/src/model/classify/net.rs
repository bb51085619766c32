//! The network of a classifier: encoder, pooling, head.

use spotlight_kernels::Float;

use super::config::Config;
use crate::Result;
use crate::axis::Axis;
use crate::model::encoder::TextEncoder;
use crate::model::head::Head;
use crate::model::pooling::{PooledRows, Pooling};
use crate::params::Params;
use crate::tape::Tape;

/// The layers; their numbers are in a [`Params`].
#[derive(Clone, Debug)]
pub struct Net {
    /// Reads the text.
    pub encoder: TextEncoder,
    pooling: Pooling,
    /// Chooses the label.
    pub head: Head,
    dropout: f64,
}

impl Net {
    /// Makes the parameters `embedding.*`, `encoder.*`, `attention.*` and `output.*` for these numbers of units and labels.
    pub fn new<T: Float>(params: &mut Params<T>, config: &Config, units: usize, labels: usize) -> Result<Self> {
        let m = &config.model;
        let encoder = TextEncoder::new(params, "", &m.encoder, units);
        let width = encoder.width();
        let pooling = Pooling::new(params, "attention", m.pooling, &config.attention, width)?;
        let head = Head::new(params, pooling.width(width), labels);
        Ok(Net { encoder, pooling, head, dropout: m.encoder.dropout })
    }

    /// One row for each text, for the head; and where it came from.
    pub fn forward<T: Float>(&self, tape: &Tape<T>, ids: &[u32], axis: &Axis) -> Result<PooledRows> {
        let read = self.encoder.forward(tape, ids, axis)?;
        let pooled = self.pooling.forward(tape, read.states, read.last(tape)?)?;
        Ok(PooledRows { context: tape.dropout(pooled.context, self.dropout)?, ..pooled })
    }
}
