//! The network of a transducer: encoder, attention, decoder, output.

use spotlight_kernels::Float;
use spotlight_kernels::loss::log_softmax;

use super::config::{Config, Output, Start};
use super::copies::Copies;
use super::copy::{Copying, GateSizes, Places};
use super::data::Example;
use super::hard::{Hard, HardAttention};
use crate::attention::Memory;
use crate::attention::softmax::{entmax, entmax_loss};
use crate::axis::Axis;
use crate::decoder::{
    AnyDecoder, Begun, Bridge, BridgedDecoder, Decoder, DecoderOutput, RecurrentDecoder, State, Stepped, Table, TransformerDecoder,
};
use crate::encoder::{AnyEncoder, Encoder, Manner, Read};
use crate::nn::transformer::{NOWHERE, Positions};
use crate::nn::{Embedding, Linear};
use crate::params::{Init, ParamId, Params};
use crate::search::Copied;
use crate::tape::{Tape, Var};
use crate::text::vocab::{START, UNKNOWN};
use crate::{Error, Result};

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
    copying: Option<Copying>,
    hard: Option<HardAttention>,
    /// Whether probabilities are made by entmax instead of softmax.
    entmax: bool,
    /// Units of both sides; whatever has a higher number is unknown.
    sizes: (usize, usize),
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
        let (source_side, target_side) = (side(reads), side(writes));
        let sizes = (source_units, target_units);
        let hard = (m.hard != Hard::Off).then(|| HardAttention::new(params, m.hard, m.hidden, encoder.width(), m.dropout));
        let entmax = m.output == Output::Entmax;
        Ok(Net {
            source,
            target,
            features,
            encoder,
            decoder,
            project,
            output,
            source_side,
            target_side,
            copying: None,
            hard,
            entmax,
            sizes,
        })
    }

    /// The same with a gate, which copies what it can.
    pub fn copying<T: Float>(mut self, params: &mut Params<T>, config: &Config, copies: Copies) -> Self {
        let m = &config.model;
        let (context, state, heads) = match &self.decoder {
            AnyDecoder::Recurrent(bridged) => (bridged.decoder.config.context(), Some(m.decoder_layers - 1), config.attention.heads),
            AnyDecoder::Transformer(_) => (self.encoder.width(), None, config.transformer.heads),
        };
        self.copying = Some(Copying::new(params, GateSizes { context, state: m.hidden, input: m.embedding }, heads, state, copies));
        self
    }

    /// Reads sources.
    pub fn read<T: Float>(&self, tape: &Tape<T>, ids: &[u32], axis: &Axis, look: bool) -> Result<Read> {
        let ids = &known(ids, self.sizes.0)[..];
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
        self.target_side.ready(tape, self.target.forward(tape, &known(ids, self.sizes.1))?)
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

    /// The units of sources as they can be copied, if they can.
    pub(super) fn places(&self, source: &[u32], axis: &Axis) -> Option<Places> {
        self.copying.as_ref().map(|copying| copying.places(source, axis, self.sizes.1))
    }

    /// Runs over the targets of a batch, and gives their loss with what was computed on the way. If somebody looks, or learns from them, the weights are given, too.
    pub fn loss<T: Float>(&self, tape: &Tape<T>, batch: &Batch, look: bool, smoothing: f64, scale: f64) -> Result<(Var, DecoderOutput)> {
        let begun = self.encode(tape, &batch.source, &batch.source_axis)?;
        let y = tape.on_axis(self.embed_targets(tape, &batch.inputs)?, &batch.target_axis)?;
        let decoded = self.decoder.teacher_forced(tape, y, &begun, look || self.copying.is_some())?;
        if let (Some(hard), Some(memory)) = (&self.hard, begun.memories.first()) {
            let axes = (&batch.source_axis, &batch.target_axis);
            let loss = hard.loss(tape, decoded.states, memory.values, axes, &batch.targets, |x| self.logits(tape, x), scale)?;
            return Ok((loss, decoded));
        }
        let loss = match (&self.copying, self.places(&batch.source, &batch.source_axis)) {
            (Some(copying), Some(places)) => {
                let logits = self.logits(tape, decoded.readout)?;
                copying.loss(tape, logits, y, &decoded, &begun.memories, &places, &batch.targets, smoothing, scale)?
            }
            _ => self.cross_entropy(tape, decoded.readout, &batch.targets, smoothing, scale)?,
        };
        Ok((loss, decoded))
    }

    /// What a search keeps of each hypothesis beside the decoder's state, before the first step of sources on this axis.
    pub(super) fn kept(&self, axis: &Axis) -> Option<Table<f32>> {
        let cols = axis.steps() * self.sizes.1;
        self.hard.as_ref().map(|_| Table { rows: axis.items(), cols, data: vec![0.0; axis.items() * cols] })
    }

    /// [`Net::step`] with hard attention: the last table of the state is what the step before left.
    fn hard_step(
        &self,
        hard: &HardAttention,
        tape: &Tape<'_, f32>,
        units: &[u32],
        before: &State,
        memories: &[Memory],
        items: &[usize],
    ) -> Result<Spoken> {
        let none = Error::Index { op: "hard attention", index: 0, len: 0 };
        let (Some((&left, tables)), Some(memory), AnyDecoder::Recurrent(bridged)) =
            (before.tables.split_last(), memories.first(), &self.decoder)
        else {
            return Err(none);
        };
        let y = self.embed_targets(tape, units)?;
        let own = State { step: before.step, tables: tables.to_vec() };
        let mut stepped = self.decoder.step(tape, y, &own, memories, items, false)?;
        let state = stepped.state.tables[bridged.decoder.config.layers - 1];
        let joint = (&tape.to_vec(left)[..], before.step == 0);
        let walked = hard.step(tape, state, memory.values, (&memory.axis, items), units, joint, |x| self.logits(tape, x))?;
        stepped.weights = Some(tape.table(walked.weights.len(), 1, walked.weights)?);
        stepped.state.tables.push(tape.table(items.len(), memory.axis.steps() * self.sizes.1, walked.joint)?);
        Ok(Spoken { stepped, units: self.sizes.1, log_probs: walked.log_probs, copied: None })
    }

    /// One step of some hypotheses of a search, and what it says of every unit.
    #[allow(clippy::too_many_arguments, reason = "a step is told where it stands, what came before, and what it may look at")]
    pub(super) fn step(
        &self,
        tape: &Tape<'_, f32>,
        units: &[u32],
        before: &State,
        memories: &[Memory],
        items: &[usize],
        places: Option<&Places>,
        look: bool,
    ) -> Result<Spoken> {
        if let Some(hard) = &self.hard {
            return self.hard_step(hard, tape, units, before, memories, items);
        }
        let y = self.embed_targets(tape, units)?;
        let stepped = self.decoder.step(tape, y, before, memories, items, look || self.copying.is_some())?;
        let logits = self.logits(tape, stepped.readout)?;
        let (units, log_probs, copied) = match (&self.copying, places) {
            (Some(copying), Some(places)) => {
                let (units, log_probs, copied) = copying.spoken(tape, logits, y, &stepped, memories, items, places)?;
                (units, log_probs, Some(copied))
            }
            _ => {
                let (mut log_probs, units) = (tape.to_vec(logits), tape.shape(logits).1);
                log_probs.chunks_exact_mut(units.max(1)).for_each(|row| match self.entmax {
                    true => {
                        entmax(row);
                        row.iter_mut().for_each(|p| *p = p.ln());
                    }
                    false => log_softmax(row),
                });
                (units, log_probs, None)
            }
        };
        Ok(Spoken { stepped, units, log_probs, copied })
    }

    /// The cross-entropy of known targets.
    pub fn cross_entropy<T: Float>(&self, tape: &Tape<T>, readout: Var, targets: &[u32], smoothing: f64, scale: f64) -> Result<Var> {
        if self.entmax {
            return entmax_loss(tape, self.logits(tape, readout)?, targets, smoothing, scale);
        }
        tape.cross_entropy(self.before_output(tape, readout)?, self.output.0, self.output.1, targets, smoothing, scale)
    }
}

/// What a step of a search says.
pub(super) struct Spoken {
    /// What the decoder gave.
    pub(super) stepped: Stepped,
    /// Units that can be written: those of the vocabulary, and behind them those that can only be copied.
    pub(super) units: usize,
    /// The log-probability of each, row after row.
    pub(super) log_probs: Vec<f32>,
    pub(super) copied: Option<Copied>,
}

/// The numbers of units, with those that have no vector as unknown: units that can only be copied, and those that only tell unknown units apart.
fn known(ids: &[u32], units: usize) -> Vec<u32> {
    ids.iter().map(|&id| if (id as usize) < units { id } else { UNKNOWN }).collect()
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
    /// Links to be learnt: a row of the targets and one of the sources.
    pub links: Vec<(usize, usize)>,
    /// What a teacher says at each target; empty without one.
    pub said: Vec<Vec<(u32, f32)>>,
}

impl Batch {
    /// Puts examples side by side.
    pub fn new(examples: &[&Example]) -> Self {
        let lengths = |f: fn(&Example) -> usize| Axis::new(examples.iter().map(|e| f(e)).collect::<Vec<_>>());
        let (source_axis, target_axis) = (lengths(|e| e.source.len()), lengths(|e| e.target.len()));
        let rows = |(item, e): (usize, &&Example)| {
            let (first, source) = (target_axis.range(item).start, source_axis.range(item).start);
            e.links.iter().map(|&(t, s)| (first + t, source + s)).collect::<Vec<_>>()
        };
        let links = examples.iter().enumerate().flat_map(rows).collect();
        let inputs = examples.iter().flat_map(|e| std::iter::once(START).chain(e.target[..e.target.len() - 1].iter().copied())).collect();
        Batch {
            source: examples.iter().flat_map(|e| &e.source).copied().collect(),
            source_axis,
            inputs,
            targets: examples.iter().flat_map(|e| &e.target).copied().collect(),
            target_axis,
            links,
            said: match examples.iter().any(|e| !e.said.is_empty()) {
                true => examples.iter().flat_map(|e| (0..e.target.len()).map(|at| e.said.get(at).cloned().unwrap_or_default())).collect(),
                false => Vec::new(),
            },
        }
    }
}
