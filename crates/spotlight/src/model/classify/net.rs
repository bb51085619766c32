//! The networks of a classifier: the one of evidence, or encoder, pooling and head.

use spotlight_kernels::Float;

use super::config::{Config, Form};
use super::evidence::EvidenceNet;
use crate::Result;
use crate::axis::Axis;
use crate::model::encoder::TextEncoder;
use crate::model::head::Head;
use crate::model::pooling::{PooledRows, Pooling};
use crate::params::Params;
use crate::tape::Tape;

/// One of the forms.
#[derive(Clone, Debug)]
pub enum Net {
    /// Every word speaks for itself.
    Evidence(EvidenceNet),
    /// An encoder, pooled.
    Pooled(Box<PooledNet>),
}

impl Net {
    /// Makes the parameters for these numbers of units and labels.
    pub fn new<T: Float>(params: &mut Params<T>, config: &Config, units: usize, labels: usize) -> Result<Self> {
        let m = &config.model;
        Ok(match m.form {
            Form::Evidence => Net::Evidence(EvidenceNet::new(params, units, labels, m.unit_dropout, m.encoder.word_dropout)),
            Form::Pooled => Net::Pooled(Box::new(PooledNet::new(params, config, units, labels)?)),
        })
    }
}

/// Encoder, pooling and head; their numbers are in a [`Params`].
#[derive(Clone, Debug)]
pub struct PooledNet {
    /// Reads the text.
    pub encoder: TextEncoder,
    pooling: Pooling,
    /// Chooses the label.
    pub head: Head,
    dropout: f64,
}

impl PooledNet {
    /// Makes the parameters `embedding.*`, `encoder.*`, `attention.*` and `output.*` for these numbers of units and labels.
    pub fn new<T: Float>(params: &mut Params<T>, config: &Config, units: usize, labels: usize) -> Result<Self> {
        let m = &config.model;
        let encoder = TextEncoder::new(params, "", &m.encoder, &config.transformer, units)?;
        let width = encoder.width();
        let pooling = Pooling::new(params, "attention", m.pooling, &config.attention, width)?;
        let head = Head::new(params, pooling.width(width), labels);
        Ok(PooledNet { encoder, pooling, head, dropout: m.encoder.dropout })
    }

    /// One row for each text, for the head; and where it came from.
    pub fn forward<T: Float>(&self, tape: &Tape<T>, ids: &[u32], axis: &Axis) -> Result<PooledRows> {
        let read = self.encoder.forward(tape, ids, axis)?;
        let pooled = self.pooling.forward(tape, read.states, read.last(tape)?)?;
        Ok(PooledRows { context: tape.dropout(pooled.context, self.dropout)?, ..pooled })
    }
}
