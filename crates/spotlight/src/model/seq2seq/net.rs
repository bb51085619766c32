//! The network of a transducer: encoder, attention, decoder, output.

use spotlight_kernels::Float;

use super::config::{Config, Start};
use super::data::Example;
use crate::Result;
use crate::axis::Axis;
use crate::decoder::{AnyDecoder, Begun, Bridge, BridgedDecoder, Decoder, DecoderOutput, RecurrentDecoder, TransformerDecoder};
use crate::encoder::{AnyEncoder, Encoder, Manner, Read};
use crate::nn::transformer::{NOWHERE, Positions};
use crate::nn::{Embedding, Linear};
use crate::params::{Init, ParamId, Params};
use crate::tape::{Tape, Var};
use crate::text::vocab::START;

/// The layers; their numbers are in a [`Params`].
#[derive(Clone, Debug)]
pub struct Net {
    source: Embedding,
    target: Embedding,
    features: Option<FeatureUnits>,
    encoder: AnyEncoder,
    decoder: AnyDecoder,
    /// From what the decoder reads out to the size of a unit's vector, if the output shares those vectors.
    project: Option<Linear>,
    output: (ParamId, Option<ParamId>),
    source_side: Side,
    target_side: Side,
}

/// What happens to the vectors of one side.
#[derive(Clone, Copy, Debug)]
struct Side {
    /// Dropout of the vectors, and of what a recurrent encoder gives; a Transformer has its own.
    dropout: f64,
    /// What they are multiplied by, so that positions are added to features of about their size. Vaswani and others, 2017, section 3.4.
    scale: Option<f64>,
}

impl Side {
    fn new(by_attention: bool, dropout: f64, embedding: usize) -> Self {
        match by_attention {
            true => Side { dropout: 0.0, scale: Some((embedding as f64).sqrt()) },
            false => Side { dropout, scale: None },
        }
    }

    fn ready<T: Float>(self, tape: &Tape<T>, x: Var) -> Result<Var> {
        tape.dropout(self.scale.map_or(x, |scale| tape.scale(x, scale)), self.dropout)
    }
}

/// The features of a third column, as a Transformer sees them: without positions, for their order says nothing, and told from the text by a vector of their kind.
/// Wu, Cotterell and Hulden, 2021, section 2.2.
#[derive(Clone, Copy, Debug)]
struct FeatureUnits {
    /// The number of the first feature among the source's units.
    first: u32,
    /// A vector for units of the text, and one for features.
    kinds: Embedding,
}

impl FeatureUnits {
    /// For each unit whether it is a feature. These stand behind the text: from the first one known, all are.
    fn among(&self, ids: &[u32], axis: &Axis) -> Vec<bool> {
        let of_item = |item: usize| {
            let units = &ids[axis.range(item)];
            let text = units.iter().position(|&id| id >= self.first).unwrap_or(units.len());
            (0..units.len()).map(move |i| i >= text)
        };
        (0..axis.items()).flat_map(of_item).collect()
    }
}

impl Net {
    /// Makes the parameters for these numbers of units; those of the source from `features` on are features.
    pub fn new<T: Float>(
        params: &mut Params<T>,
        config: &Config,
        source_units: usize,
        target_units: usize,
        features: Option<usize>,
    ) -> Result<Self> {
        let m = &config.model;
        let (reads, writes) = (m.architecture.reads_by_attention(), m.architecture.writes_by_attention());
        let source = Embedding::new(params, "source", source_units, m.embedding);
        let target = Embedding::new(params, "target", target_units, m.embedding);
        let features = features
            .filter(|_| reads)
            .map(|first| FeatureUnits { first: first as u32, kinds: Embedding::new(params, "source.kinds", 2, m.embedding) });
        let encoder = AnyEncoder::new(params, "encoder", config.encoder())?;
        let decoder = match writes {
            true => {
                let stack = config.transformer.stack(m.decoder_layers, m.dropout);
                let made = TransformerDecoder::new(params, "decoder", &stack, m.embedding, encoder.width(), m.hidden)?;
                AnyDecoder::Transformer(made)
            }
            false => AnyDecoder::Recurrent(bridged(params, config, encoder.width())?),
        };
        let (project, output) = if m.tied {
            // What a Transformer reads out has the size of a unit's vector, and is compared with these as it is.
            let project = (!writes || decoder.readout_size() != m.embedding)
                .then(|| Linear::new(params, "project", decoder.readout_size(), m.embedding));
            (project, (target.weight, Some(params.add("output.bias", &[target_units], Init::Zeros))))
        } else {
            let output = Linear::new(params, "output", decoder.readout_size(), target_units);
            (None, (output.weight, output.bias))
        };
        let side = |by_attention| Side::new(by_attention, m.dropout, m.embedding);
        Ok(Net { source, target, features, encoder, decoder, project, output, source_side: side(reads), target_side: side(writes) })
    }

    /// Reads sources.
    pub fn read<T: Float>(&self, tape: &Tape<T>, ids: &[u32], axis: &Axis, look: bool) -> Result<Read> {
        let mut x = self.source.forward(tape, ids)?;
        let mut places = None;
        if let Some(features) = &self.features {
            let among = features.among(ids, axis);
            let kinds: Vec<u32> = among.iter().map(|&feature| feature.into()).collect();
            x = tape.residual(x, features.kinds.forward(tape, &kinds)?, 0.0)?;
            let own = Positions::of_axis(axis);
            places = Some(own.iter().zip(&among).map(|(&place, &feature)| if feature { NOWHERE } else { place }).collect::<Vec<_>>());
        }
        let x = tape.on_axis(self.source_side.ready(tape, x)?, axis)?;
        let mut read = self.encoder.read_as(tape, x, Manner { places: places.as_deref(), look })?;
        read.states = tape.dropout(read.states, self.source_side.dropout)?;
        Ok(read)
    }

    /// Reads sources, and stands before the first unit of each.
    pub fn encode<T: Float>(&self, tape: &Tape<T>, ids: &[u32], axis: &Axis) -> Result<Begun> {
        self.decoder.begin(tape, &self.read(tape, ids, axis, false)?)
    }

    /// The vectors of the units before, for the decoder.
    pub fn embed_targets<T: Float>(&self, tape: &Tape<T>, ids: &[u32]) -> Result<Var> {
        self.target_side.ready(tape, self.target.forward(tape, ids)?)
    }

    /// The encoder.
    pub fn encoder(&self) -> &AnyEncoder {
        &self.encoder
    }

    /// The decoder.
    pub fn decoder(&self) -> &AnyDecoder {
        &self.decoder
    }

    /// Runs over known targets: the rows of `inputs` are the units before. If somebody looks, the weights are given, too.
    pub fn decode<T: Float>(&self, tape: &Tape<T>, begun: &Begun, inputs: &[u32], axis: &Axis, look: bool) -> Result<DecoderOutput> {
        let y = tape.on_axis(self.embed_targets(tape, inputs)?, axis)?;
        self.decoder.teacher_forced(tape, y, begun, look)
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

/// A recurrent decoder, and where it begins after an encoder of this width.
fn bridged<T: Float>(params: &mut Params<T>, config: &Config, encoder: usize) -> Result<BridgedDecoder> {
    let m = &config.model;
    let decoder = RecurrentDecoder::new(params, "decoder", config.decoder())?;
    let bridge = if m.start == Start::Zeros {
        Bridge::Absent
    } else if !m.bidirectional && m.encoder_layers == m.decoder_layers && !m.architecture.reads_by_attention() {
        Bridge::Same
    } else {
        Bridge::linear(params, &decoder, encoder)
    };
    Ok(BridgedDecoder { bridge, decoder })
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
