//! Reading a text: a vector for each of its units, and an encoder over them.
//!
//! The encoder is recurrent, or as a control `average`: every unit on its own through one layer, so that only the pooling sees the others.

use std::path::Path;

use serde::{Deserialize, Serialize};
use spotlight_kernels::Float;

use super::need;
use crate::axis::Axis;
use crate::config::ConfigError;
use crate::nn::{Embedding, Linear, Rnn, RnnConfig};
use crate::params::Params;
use crate::tape::{Tape, Var};
use crate::text::vectors::WordVectors;
use crate::text::vocab::UNKNOWN;
use crate::text::{Tokenizer, UnitKind};
use crate::{Cell, Result};

/// What `[model]` says of the encoder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EncoderSection {
    /// Features of a unit's vector.
    pub embedding: usize,
    /// Hidden size of each direction.
    pub hidden: usize,
    /// `rnn`, `gru`, `lstm` or `average`.
    pub cell: EncoderName,
    /// Recurrent layers on top of each other.
    pub layers: usize,
    /// Whether the text is read both ways.
    pub bidirectional: bool,
    /// Dropout on the units' vectors, between layers, and on what has been pooled.
    pub dropout: f64,
    /// Share of the units that are unknown while learning, so that the model learns to do without any one of them.
    pub word_dropout: f64,
    /// A file of word vectors (word2vec's or GloVe's text format) to begin with; empty for none.
    pub vectors: String,
}

/// Names of the encoders.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EncoderName {
    /// [`Cell::Tanh`]
    Rnn,
    /// [`Cell::Gru`]
    Gru,
    /// [`Cell::Lstm`]
    Lstm,
    /// `tanh(W x + b)` of each unit on its own.
    Average,
}

impl EncoderName {
    fn cell(self) -> Option<Cell> {
        match self {
            EncoderName::Rnn => Some(Cell::Tanh),
            EncoderName::Gru => Some(Cell::Gru),
            EncoderName::Lstm => Some(Cell::Lstm),
            EncoderName::Average => None,
        }
    }
}

impl Default for EncoderSection {
    fn default() -> Self {
        EncoderSection {
            embedding: 100,
            hidden: 100,
            cell: EncoderName::Lstm,
            layers: 1,
            bidirectional: true,
            dropout: 0.3,
            word_dropout: 0.0,
            vectors: String::new(),
        }
    }
}

impl EncoderSection {
    /// The first setting that cannot be used, if any.
    pub fn check(&self) -> Result<(), ConfigError> {
        for (key, value) in [("embedding", self.embedding), ("hidden", self.hidden), ("layers", self.layers)] {
            need(value >= 1, &format!("model.{key}"), format!("must be at least 1, is {value}"))?;
        }
        for (key, value) in [("dropout", self.dropout), ("word_dropout", self.word_dropout)] {
            need((0.0..1.0).contains(&value), &format!("model.{key}"), format!("must be from 0 to below 1, is {value}"))?;
        }
        let control = self.cell == EncoderName::Average;
        need(!control || self.layers == 1, "model.layers", "must be 1: the average encoder has one layer")
    }
}

/// The layers that read a text.
#[derive(Clone, Debug)]
pub struct Encoder {
    embedding: Embedding,
    reader: Reader,
    dropout: f64,
    word_dropout: f64,
}

#[derive(Clone, Debug)]
enum Reader {
    Recurrent(Rnn),
    Average(Linear),
}

/// Texts that have been read.
#[derive(Clone, Copy, Debug)]
pub struct Encoded {
    /// One row per unit, on the axis of the texts.
    pub states: Var,
    /// One row per text: the last state of each direction, zeros for an empty text.
    pub last: Var,
}

impl Encoder {
    /// Makes the parameters `name.embedding.*` and `name.encoder.*` (without the dot if there is no name) for a vocabulary of `units`.
    pub fn new<T: Float>(params: &mut Params<T>, name: &str, section: &EncoderSection, units: usize) -> Self {
        let name = |part: &str| if name.is_empty() { part.to_string() } else { format!("{name}.{part}") };
        let embedding = Embedding::new(params, &name("embedding"), units, section.embedding);
        let reader = match section.cell.cell() {
            Some(cell) => {
                let shape = RnnConfig {
                    layers: section.layers,
                    bidirectional: section.bidirectional,
                    dropout: section.dropout,
                    ..RnnConfig::new(cell, section.embedding, section.hidden)
                };
                Reader::Recurrent(Rnn::new(params, &name("encoder"), shape))
            }
            None => Reader::Average(Linear::new(params, &name("encoder"), section.embedding, section.hidden)),
        };
        Encoder { embedding, reader, dropout: section.dropout, word_dropout: section.word_dropout }
    }

    /// Features of a state.
    pub fn width(section: &EncoderSection) -> usize {
        section.hidden * if section.bidirectional && section.cell != EncoderName::Average { 2 } else { 1 }
    }

    /// Reads texts: `ids` are their units one after the other.
    pub fn forward<T: Float>(&self, tape: &Tape<T>, ids: &[u32], axis: &Axis) -> Result<Encoded> {
        let x = if self.word_dropout > 0.0 && tape.is_training() {
            let some: Vec<u32> = ids.iter().map(|&id| if tape.uniform() < self.word_dropout { UNKNOWN } else { id }).collect();
            self.embedding.forward(tape, &some)?
        } else {
            self.embedding.forward(tape, ids)?
        };
        let x = tape.on_axis(tape.dropout(x, self.dropout)?, axis)?;
        match &self.reader {
            Reader::Recurrent(rnn) => {
                let read = rnn.forward(tape, x)?;
                Ok(Encoded { states: read.states, last: read.last(tape)? })
            }
            Reader::Average(layer) => {
                let states = tape.tanh(layer.forward(tape, x)?);
                Ok(Encoded { states, last: tape.last(states)? })
            }
        }
    }

    /// Takes the vectors of the vocabulary's words from a file; words that are not in it keep theirs. Returns how many were found.
    pub fn load_vectors(&self, params: &mut Params<f32>, path: &Path, tokenizer: &Tokenizer) -> Result<usize> {
        let wrong = |problem: String| ConfigError::Value { key: "model.vectors".into(), problem };
        let words = tokenizer.vocab().filter(|_| tokenizer.kind() == UnitKind::Words);
        let words = words.ok_or_else(|| wrong("a file of word vectors goes with text.units = \"words\"".into()))?;
        let found = WordVectors::read(path, |word| words.id(word))?;
        let size = params.entry(self.embedding.weight).table().1;
        if found.dim != size {
            let problem = format!("{} has vectors of {} features: set model.embedding to that, it is {size}", path.display(), found.dim);
            return Err(wrong(problem).into());
        }
        let table = params.get_mut(self.embedding.weight);
        for (&id, vector) in &found.vectors {
            table[id as usize * size..][..size].copy_from_slice(vector);
        }
        Ok(found.vectors.len())
    }
}

/// Texts side by side: their units, and the axis they stand on.
pub fn side_by_side<'a>(texts: impl Iterator<Item = &'a [u32]> + Clone) -> (Vec<u32>, Axis) {
    (texts.clone().flatten().copied().collect(), Axis::new(texts.map(<[u32]>::len).collect::<Vec<_>>()))
}
