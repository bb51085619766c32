//! Encoders: they read a sequence of vectors and give a state for every position.
//!
//! [`Encoder`] is the role, shared by the models of every task. Behind it stand the recurrent stack ([`Rnn`]), the [`TransformerEncoder`] and, as a control, [`Average`]:
//! every position on its own, so that only what comes after it sees the others.

mod average;
mod transformer;

use serde::{Deserialize, Serialize};
use spotlight_kernels::Float;

pub use average::Average;
pub use transformer::TransformerEncoder;

use crate::nn::transformer::StackConfig;
use crate::nn::{Rnn, RnnConfig};
use crate::params::Params;
use crate::tape::{States, Tape, Var};
use crate::{Cell, Result};

/// What an encoder gives.
#[derive(Clone, Debug)]
pub struct Read {
    /// One row per position, on the axis of what was read.
    pub states: Var,
    /// The ends of each layer and direction of a recurrent encoder, bottom first; empty for others.
    pub ends: Vec<States>,
    /// How many of them belong to the top layer.
    directions: usize,
    /// Of a Transformer, if somebody looks: for each layer the weights of all pairs of positions, a column for each head.
    pub weights: Vec<Var>,
}

/// How to read, beside what. What an encoder has no use for it does not mind.
#[derive(Clone, Copy, Debug, Default)]
pub struct Manner<'a> {
    /// The position of each row; without them its place in its sequence, from 0. For a Transformer.
    pub places: Option<&'a [usize]>,
    /// Whether somebody looks at the weights of the reading itself.
    pub look: bool,
}

impl Read {
    /// States of a reader without ends.
    pub fn of(states: Var) -> Self {
        Read { states, ends: Vec::new(), directions: 0, weights: Vec::new() }
    }

    /// One row per item: the last states of the top layer's directions side by side, or else the state at the last position; zeros for an empty sequence.
    pub fn last<T: Float>(&self, tape: &Tape<T>) -> Result<Var> {
        let top: Vec<Var> = self.ends[self.ends.len().saturating_sub(self.directions)..].iter().map(|end| end.last).collect();
        if top.is_empty() { tape.last(self.states) } else { tape.concat(&top) }
    }
}

/// An encoder as a model sees it.
pub trait Encoder {
    /// Features of a state.
    fn width(&self) -> usize;

    /// The longest sequence, if there is a limit.
    fn longest(&self) -> Option<usize> {
        None
    }

    /// Reads sequences of vectors: `x` has one row per position, on their axis.
    fn read<T: Float>(&self, tape: &Tape<T>, x: Var) -> Result<Read> {
        self.read_as(tape, x, Manner::default())
    }

    /// The same in some manner.
    fn read_as<T: Float>(&self, tape: &Tape<T>, x: Var, manner: Manner) -> Result<Read>;
}

impl Encoder for Rnn {
    fn width(&self) -> usize {
        self.config.hidden * self.directions()
    }

    fn read_as<T: Float>(&self, tape: &Tape<T>, x: Var, _: Manner) -> Result<Read> {
        let run = self.forward(tape, x)?;
        Ok(Read { states: run.states, ends: run.layers, directions: self.directions(), weights: Vec::new() })
    }
}

/// Which encoder, as it is written in a recipe.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EncoderName {
    /// [`Cell::Tanh`]
    Rnn,
    /// [`Cell::Gru`]
    Gru,
    /// [`Cell::Lstm`]
    Lstm,
    /// [`Average`]
    Average,
    /// [`TransformerEncoder`]
    Transformer,
}

impl EncoderName {
    /// The cell of a recurrent encoder.
    pub fn cell(self) -> Option<Cell> {
        match self {
            EncoderName::Rnn => Some(Cell::Tanh),
            EncoderName::Gru => Some(Cell::Gru),
            EncoderName::Lstm => Some(Cell::Lstm),
            EncoderName::Average | EncoderName::Transformer => None,
        }
    }
}

/// Shape of an [`AnyEncoder`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum EncoderConfig {
    /// A recurrent stack.
    Recurrent(RnnConfig),
    /// Every position on its own.
    Average {
        /// Features going in.
        input: usize,
        /// Features coming out.
        hidden: usize,
    },
    /// Nothing but attention.
    Transformer {
        /// Features going in.
        input: usize,
        /// Features of the layers, and coming out.
        width: usize,
        /// The layers.
        stack: StackConfig,
    },
}

/// Any of the encoders.
#[derive(Clone, Debug)]
pub enum AnyEncoder {
    /// A recurrent stack.
    Recurrent(Rnn),
    /// Every position on its own.
    Average(Average),
    /// Nothing but attention.
    Transformer(TransformerEncoder),
}

impl AnyEncoder {
    /// Makes the parameters under `name.`.
    pub fn new<T: Float>(params: &mut Params<T>, name: &str, config: EncoderConfig) -> Result<Self> {
        Ok(match config {
            EncoderConfig::Recurrent(config) => AnyEncoder::Recurrent(Rnn::new(params, name, config)),
            EncoderConfig::Average { input, hidden } => AnyEncoder::Average(Average::new(params, name, input, hidden)),
            EncoderConfig::Transformer { input, width, stack } => {
                AnyEncoder::Transformer(TransformerEncoder::new(params, name, &stack, input, width)?)
            }
        })
    }
}

impl Encoder for AnyEncoder {
    fn width(&self) -> usize {
        match self {
            AnyEncoder::Recurrent(encoder) => encoder.width(),
            AnyEncoder::Average(encoder) => encoder.width(),
            AnyEncoder::Transformer(encoder) => encoder.width(),
        }
    }

    fn longest(&self) -> Option<usize> {
        match self {
            AnyEncoder::Recurrent(encoder) => encoder.longest(),
            AnyEncoder::Average(encoder) => encoder.longest(),
            AnyEncoder::Transformer(encoder) => encoder.longest(),
        }
    }

    fn read_as<T: Float>(&self, tape: &Tape<T>, x: Var, manner: Manner) -> Result<Read> {
        match self {
            AnyEncoder::Recurrent(encoder) => encoder.read_as(tape, x, manner),
            AnyEncoder::Average(encoder) => encoder.read_as(tape, x, manner),
            AnyEncoder::Transformer(encoder) => encoder.read_as(tape, x, manner),
        }
    }
}
