//! Decoders: they write a sequence unit by unit, looking at a source that has been read.
//!
//! [`Decoder`] is the role: begin with what an [encoder](crate::encoder) has read, run over known targets, or take one step for a table of hypotheses. What is carried from
//! step to step is a [`State`], tables with one row per hypothesis that can be gathered in any order, so that a [search](crate::search) knows nothing else of the decoder it drives.
//!
//! Behind the role stand the [`RecurrentDecoder`], in Bahdanau's and in Luong's order, and the [`TransformerDecoder`].

mod bahdanau;
mod bridge;
mod fused;
mod luong;
mod recurrent;
mod state;
mod transformer;

use spotlight_kernels::Float;

pub use bridge::{Bridge, BridgedDecoder};
pub use fused::{AdditiveDecoder, Decoded};
pub use recurrent::{Coverage, DecoderConfig, Order, RecurrentDecoder};
pub use state::{DecoderState, State, Table};
pub use transformer::TransformerDecoder;

use crate::Result;
use crate::attention::Memory;
use crate::axis::Pairs;
use crate::encoder::Read;
use crate::tape::{Tape, Var};

/// What a decoder begins with.
#[derive(Clone, Debug)]
pub struct Begun {
    /// What it looks at: one for each layer that looks, none of it depending on the target.
    pub memories: Vec<Memory>,
    /// The state before the first step, one row per item of the source.
    pub state: State,
}

/// A decoder as a model and a search see it.
pub trait Decoder {
    /// Features of what the next unit is predicted from.
    fn readout_size(&self) -> usize;

    /// The longest target, if there is a limit; its end is not counted.
    fn longest(&self) -> Option<usize> {
        None
    }

    /// Computes what depends on the source alone; once for all steps.
    fn begin<T: Float>(&self, tape: &Tape<T>, read: &Read) -> Result<Begun>;

    /// Runs over known targets: `y` holds the vector of the unit before each target position, on the axis of the targets.
    ///
    /// Where weights are made anyway they are given; where they cost something, only if somebody looks.
    fn teacher_forced<T: Float>(&self, tape: &Tape<T>, y: Var, begun: &Begun, look: bool) -> Result<DecoderOutput>;

    /// One step of every hypothesis: `y` has the vector of the unit before, `items` the sequence of the source that each belongs to. Several may belong to one.
    /// Weights are given as by [`Decoder::teacher_forced`].
    fn step<T: Float>(&self, tape: &Tape<T>, y: Var, before: &State, memories: &[Memory], items: &[usize], look: bool) -> Result<Stepped>;
}

/// Any of the decoders.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "a model has one of them")]
pub enum AnyDecoder {
    /// Recurrent, beginning at the encoder's last states or at zeros.
    Recurrent(BridgedDecoder),
    /// Nothing but attention.
    Transformer(TransformerDecoder),
}

impl Decoder for AnyDecoder {
    fn readout_size(&self) -> usize {
        match self {
            AnyDecoder::Recurrent(decoder) => decoder.readout_size(),
            AnyDecoder::Transformer(decoder) => decoder.readout_size(),
        }
    }

    fn longest(&self) -> Option<usize> {
        match self {
            AnyDecoder::Recurrent(decoder) => decoder.longest(),
            AnyDecoder::Transformer(decoder) => decoder.longest(),
        }
    }

    fn begin<T: Float>(&self, tape: &Tape<T>, read: &Read) -> Result<Begun> {
        match self {
            AnyDecoder::Recurrent(decoder) => decoder.begin(tape, read),
            AnyDecoder::Transformer(decoder) => decoder.begin(tape, read),
        }
    }

    fn teacher_forced<T: Float>(&self, tape: &Tape<T>, y: Var, begun: &Begun, look: bool) -> Result<DecoderOutput> {
        match self {
            AnyDecoder::Recurrent(decoder) => Decoder::teacher_forced(decoder, tape, y, begun, look),
            AnyDecoder::Transformer(decoder) => decoder.teacher_forced(tape, y, begun, look),
        }
    }

    fn step<T: Float>(&self, tape: &Tape<T>, y: Var, before: &State, memories: &[Memory], items: &[usize], look: bool) -> Result<Stepped> {
        match self {
            AnyDecoder::Recurrent(decoder) => decoder.step(tape, y, before, memories, items, look),
            AnyDecoder::Transformer(decoder) => decoder.step(tape, y, before, memories, items, look),
        }
    }
}

/// What a decoder gives over known targets. All but the penalty on the axis of the targets or of its pairs with the memory.
#[derive(Clone, Debug)]
pub struct DecoderOutput {
    /// The state of the top layer at every target position.
    pub states: Var,
    /// What the next unit is to be predicted from.
    pub readout: Var,
    /// The context at every target position.
    pub contexts: Option<Var>,
    /// One row per pair of a target position and a position of its memory, on the axis of `pairs`; one column per head, layer after layer.
    pub weights: Option<Var>,
    /// Of a decoder that looks at its own positions, if somebody looks: for each layer the weights of all pairs of them, a column for each head; 0 ahead of a row.
    pub own: Vec<Var>,
    /// Which weight belongs to which pair.
    pub pairs: Option<Pairs>,
    /// `Σ min(a, c)` over all pairs, with `c` the sum of the weights before: 0 if nothing is looked at twice. See, Liu and Manning, 2017, equation 12.
    pub coverage_penalty: Option<Var>,
    /// The log-probability of each choice, for [`SoftmaxKind::Reinforce`](crate::attention::SoftmaxKind::Reinforce) while learning.
    pub log_probs: Option<Var>,
}

/// What one step gives, one row per hypothesis.
#[derive(Clone, Debug)]
pub struct Stepped {
    /// The new state.
    pub state: State,
    /// What the next unit is to be predicted from.
    pub readout: Var,
    /// The context.
    pub context: Option<Var>,
    /// One row per pair of a hypothesis and a position of its memory, hypothesis by hypothesis; one column per head, layer after layer.
    pub weights: Option<Var>,
    /// `Σ min(a, c)` of each hypothesis, if coverage is kept.
    pub coverage_penalty: Option<Var>,
    /// The log-probability of each choice, for [`SoftmaxKind::Reinforce`](crate::attention::SoftmaxKind::Reinforce) while learning.
    pub log_probs: Option<Var>,
}
