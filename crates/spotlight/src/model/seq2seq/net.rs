//! The network of a transducer: encoder, attention, decoder, output.

use spotlight_kernels::Float;

use super::config::{Config, Start};
use super::data::Example;
use crate::Result;
use crate::axis::Axis;
use crate::decoder::{AnyDecoder, Begun, Bridge, BridgedDecoder, Decoder, DecoderOutput, RecurrentDecoder};
use crate::encoder::{AnyEncoder, Encoder};
use crate::nn::{Embedding, Linear};
use crate::params::{Init, ParamId, Params};
use crate::tape::{Tape, Var};
use crate::text::vocab::START;

/// The layers; their numbers are in a [`Params`].
#[derive(Clone, Debug)]
pub struct Net {
    source: Embedding,
    target: Embedding,
    encoder: AnyEncoder,
    decoder: AnyDecoder,
    /// From what the decoder reads out to the size of a unit's vector, if the output shares those vectors.
    project: Option<Linear>,
    output: (ParamId, Option<ParamId>),
    dropout: f64,
}

impl Net {
    /// Makes the parameters for these numbers of units.
    pub fn new<T: Float>(params: &mut Params<T>, config: &Config, source_units: usize, target_units: usize) -> Result<Self> {
        let m = &config.model;
        let source = Embedding::new(params, "source", source_units, m.embedding);
        let target = Embedding::new(params, "target", target_units, m.embedding);
        let encoder = AnyEncoder::new(params, "encoder", config.encoder());
        let recurrent = RecurrentDecoder::new(params, "decoder", config.decoder())?;
        let bridge = if m.start == Start::Zeros {
            Bridge::Absent
        } else if !m.bidirectional && m.encoder_layers == m.decoder_layers {
            Bridge::Same
        } else {
            Bridge::linear(params, &recurrent, encoder.width())
        };
        let decoder = AnyDecoder::Recurrent(BridgedDecoder { bridge, decoder: recurrent });
        let (project, output) = if m.tied {
            let project = Linear::new(params, "project", decoder.readout_size(), m.embedding);
            (Some(project), (target.weight, Some(params.add("output.bias", &[target_units], Init::Zeros))))
        } else {
            let output = Linear::new(params, "output", decoder.readout_size(), target_units);
            (None, (output.weight, output.bias))
        };
        Ok(Net { source, target, encoder, decoder, project, output, dropout: m.dropout })
    }

    /// Reads sources, and stands before the first unit of each.
    pub fn encode<T: Float>(&self, tape: &Tape<T>, ids: &[u32], axis: &Axis) -> Result<Begun> {
        let x = tape.dropout(self.source.forward(tape, ids)?, self.dropout)?;
        let mut read = self.encoder.read(tape, tape.on_axis(x, axis)?)?;
        read.states = tape.dropout(read.states, self.dropout)?;
        self.decoder.begin(tape, &read)
    }

    /// The vectors of the units before, for the decoder.
    pub fn embed_targets<T: Float>(&self, tape: &Tape<T>, ids: &[u32]) -> Result<Var> {
        tape.dropout(self.target.forward(tape, ids)?, self.dropout)
    }

    /// The decoder.
    pub fn decoder(&self) -> &AnyDecoder {
        &self.decoder
    }

    /// Runs over known targets: the rows of `inputs` are the units before.
    pub fn decode<T: Float>(&self, tape: &Tape<T>, begun: &Begun, inputs: &[u32], axis: &Axis) -> Result<DecoderOutput> {
        let y = tape.on_axis(self.embed_targets(tape, inputs)?, axis)?;
        self.decoder.teacher_forced(tape, y, begun)
    }

    /// What the output layer reads.
    fn before_output<T: Float>(&self, tape: &Tape<T>, readout: Var) -> Result<Var> {
        match self.project {
            Some(project) => Ok(tape.tanh(project.forward(tape, readout)?)),
            None => Ok(readout),
        }
    }

    /// One row of logits for each row read out.
    pub fn logits<T: Float>(&self, tape: &Tape<T>, readout: Var) -> Result<Var> {
        tape.linear(self.before_output(tape, readout)?, self.output.0, self.output.1)
    }

    /// The cross-entropy of known targets.
    pub fn cross_entropy<T: Float>(&self, tape: &Tape<T>, readout: Var, targets: &[u32], smoothing: f64, scale: f64) -> Result<Var> {
        tape.cross_entropy(self.before_output(tape, readout)?, self.output.0, self.output.1, targets, smoothing, scale)
    }
}

/// Some examples side by side.
pub struct Batch {
    /// Source units.
    pub source: Vec<u32>,
    /// Their axis.
    pub source_axis: Axis,
    /// The unit before each target.
    pub inputs: Vec<u32>,
    /// The target units, each sequence with its end.
    pub targets: Vec<u32>,
    /// Their axis.
    pub target_axis: Axis,
}

impl Batch {
    /// Puts examples side by side.
    pub fn new(examples: &[&Example]) -> Self {
        let lengths = |f: fn(&Example) -> usize| Axis::new(examples.iter().map(|e| f(e)).collect::<Vec<_>>());
        let inputs = examples.iter().flat_map(|e| std::iter::once(START).chain(e.target[..e.target.len() - 1].iter().copied())).collect();
        Batch {
            source: examples.iter().flat_map(|e| &e.source).copied().collect(),
            source_axis: lengths(|e| e.source.len()),
            inputs,
            targets: examples.iter().flat_map(|e| &e.target).copied().collect(),
            target_axis: lengths(|e| e.target.len()),
        }
    }
}
