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
use crate::tape::{Tape, Var};

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
    pub(super) pooling: Pooling,
    /// Chooses the label.
    pub head: Head,
    dropout: f64,
    /// How much states that are alike count against the model.
    diversity: f64,
}

impl PooledNet {
    /// Makes the parameters `embedding.*`, `encoder.*`, `attention.*` and `output.*` for these numbers of units and labels.
    pub fn new<T: Float>(params: &mut Params<T>, config: &Config, units: usize, labels: usize) -> Result<Self> {
        let m = &config.model;
        let encoder = TextEncoder::new(params, "", &m.encoder, &config.transformer, units)?;
        let width = encoder.width();
        let pooling = Pooling::new(params, "attention", m.pooling, &config.attention, width)?;
        let head = Head::new(params, pooling.width(width), labels);
        Ok(PooledNet { encoder, pooling, head, dropout: m.encoder.dropout, diversity: m.diversity })
    }

    /// One row for each text, for the head; and where it came from.
    pub fn forward<T: Float>(&self, tape: &Tape<T>, ids: &[u32], axis: &Axis) -> Result<PooledRows> {
        Ok(self.read(tape, ids, axis)?.0)
    }

    /// Like [`forward`](Self::forward), with the states that were pooled.
    fn read<T: Float>(&self, tape: &Tape<T>, ids: &[u32], axis: &Axis) -> Result<(PooledRows, Var)> {
        let read = self.encoder.forward(tape, ids, axis)?;
        let pooled = self.pooling.forward(tape, read.states, read.last(tape)?)?;
        Ok((PooledRows { context: tape.dropout(pooled.context, self.dropout)?, ..pooled }, read.states))
    }

    /// Like [`forward`](Self::forward), with what is to be added to the loss for states that are alike, if that counts: `λ Σ conicity` over the texts, with
    /// `conicity = mean_t |cos(h_t, h̄)|` of the states of a text and their mean (Mohankumar and others, 2020).
    pub fn forward_to_learn<T: Float>(&self, tape: &Tape<T>, ids: &[u32], axis: &Axis) -> Result<(PooledRows, Option<Var>)> {
        let (pooled, states) = self.read(tape, ids, axis)?;
        if self.diversity == 0.0 {
            return Ok((pooled, None));
        }
        let cosine = tape.on_axis(tape.cosine(states, tape.broadcast(tape.mean(states)?, axis)?)?, axis)?;
        // |x| = max(x, 0) + max(-x, 0)
        let size = tape.add(tape.relu(cosine), tape.relu(tape.neg(cosine)))?;
        Ok((pooled, Some(tape.scale(tape.sum_all(tape.mean(size)?)?, self.diversity))))
    }
}
