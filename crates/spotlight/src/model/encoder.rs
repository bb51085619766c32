//! Reading a text: a vector for each of its units, and an encoder over them.
//!
//! The encoder is recurrent, a Transformer, or as a control `average`: every unit on its own through one layer, so that only the pooling sees the others.

use std::path::Path;

use serde::{Deserialize, Serialize};
use spotlight_kernels::Float;

use super::{Layers, TransformerSection, need};
use crate::Result;
use crate::axis::Axis;
use crate::config::ConfigError;
use crate::encoder::{AnyEncoder, Encoder, EncoderConfig, EncoderName, Manner, Read};
use crate::nn::{Embedding, RnnConfig};
use crate::params::{ParamId, Params};
use crate::tape::{Tape, Var};
use crate::text::vectors::WordVectors;
use crate::text::vocab::UNKNOWN;
use crate::text::{Tokenizer, UnitKind, UnitSettings};

/// The units of a text encoder: those of the training texts, and the first words of a file of vectors.
pub(super) fn with_words_of_vectors(tokenizer: Tokenizer, section: &EncoderSection) -> Result<Tokenizer> {
    if section.vectors.is_empty() || tokenizer.kind() != UnitKind::Words {
        return Ok(tokenizer);
    }
    let words = WordVectors::first_words(&section.vectors, section.vectors_words)?;
    if words.is_empty() {
        return Ok(tokenizer);
    }
    Ok(tokenizer.grown(&UnitSettings { min_count: 1, vocab_size: None, ..UnitSettings::default() }, words)?)
}

/// What `[model]` says of the encoder.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct EncoderSection {
    /// Features of a unit's vector.
    pub embedding: usize,
    /// Hidden size of each direction; of a Transformer the features of its layers.
    pub hidden: usize,
    /// `rnn`, `gru`, `lstm`, `transformer` or `average`.
    #[serde(rename = "encoder")]
    pub cell: EncoderName,
    /// Layers on top of each other.
    pub layers: usize,
    /// Whether the text is read both ways.
    pub bidirectional: bool,
    /// Dropout on the units' vectors, between layers, and on what has been pooled.
    pub dropout: f64,
    /// Share of the units that are unknown while learning, so that the model learns to do without any one of them.
    pub word_dropout: f64,
    /// A file of word vectors (word2vec's or GloVe's text format) to begin with; empty for none.
    pub vectors: String,
    /// How many of that file's first words are known to the model even if no training text has them.
    pub vectors_words: usize,
    /// Epochs in which the vectors of a file stay as they are; then they learn with the rest.
    pub vectors_frozen: u64,
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
            vectors_words: 50_000,
            vectors_frozen: 0,
        }
    }
}

impl EncoderSection {
    /// The first setting that cannot be used, if any.
    pub fn check(&self, transformer: &TransformerSection) -> Result<(), ConfigError> {
        for (key, value) in [("embedding", self.embedding), ("hidden", self.hidden), ("layers", self.layers)] {
            need(value >= 1, &format!("model.{key}"), format!("must be at least 1, is {value}"))?;
        }
        for (key, value) in [("dropout", self.dropout), ("word_dropout", self.word_dropout)] {
            need((0.0..1.0).contains(&value), &format!("model.{key}"), format!("must be from 0 to below 1, is {value}"))?;
        }
        match self.cell {
            EncoderName::Transformer => transformer.check(self.hidden)?,
            _ => transformer.check_unused("model.encoder = \"transformer\"")?,
        }
        let control = self.cell == EncoderName::Average;
        need(!control || self.layers == 1, "model.layers", "must be 1: the average encoder has one layer")
    }

    /// The layers that can be looked into, if it reads by attention.
    pub fn layers(&self, transformer: &TransformerSection) -> Option<Layers> {
        let looked = Layers { encoder: self.layers, decoder: 0, heads: transformer.heads };
        (self.cell == EncoderName::Transformer).then_some(looked)
    }

    /// Features of a state.
    pub fn width(&self) -> usize {
        self.hidden.saturating_mul(if self.bidirectional && self.cell.cell().is_some() { 2 } else { 1 })
    }
}

/// The layers that read a text.
#[derive(Clone, Debug)]
pub struct TextEncoder {
    embedding: Embedding,
    encoder: AnyEncoder,
    /// Dropout of the vectors; a Transformer has its own.
    dropout: f64,
    word_dropout: f64,
    /// What vectors are multiplied by, so that positions are added to features of about their size. Vaswani and others, 2017, section 3.4.
    scale: Option<f64>,
    /// Epochs in which the vectors stay as they are.
    frozen: u64,
}

impl TextEncoder {
    /// Makes the parameters `name.embedding.*` and `name.encoder.*` (without the dot if there is no name) for a vocabulary of `units`.
    pub fn new<T: Float>(
        params: &mut Params<T>,
        name: &str,
        section: &EncoderSection,
        transformer: &TransformerSection,
        units: usize,
    ) -> Result<Self> {
        let name = |part: &str| if name.is_empty() { part.to_string() } else { format!("{name}.{part}") };
        let embedding = Embedding::new(params, &name("embedding"), units, section.embedding);
        let (input, hidden) = (section.embedding, section.hidden);
        let config = match (section.cell.cell(), section.cell) {
            (Some(cell), _) => EncoderConfig::Recurrent(RnnConfig {
                layers: section.layers,
                bidirectional: section.bidirectional,
                dropout: section.dropout,
                ..RnnConfig::new(cell, input, hidden)
            }),
            (None, EncoderName::Transformer) => {
                EncoderConfig::Transformer { input, width: hidden, stack: transformer.stack(section.layers, section.dropout) }
            }
            (None, _) => EncoderConfig::Average { input, hidden },
        };
        let encoder = AnyEncoder::new(params, &name("encoder"), config)?;
        let by_attention = section.cell == EncoderName::Transformer;
        let dropout = if by_attention { 0.0 } else { section.dropout };
        let scale = by_attention.then(|| (input as f64).sqrt());
        let frozen = if section.vectors.is_empty() { 0 } else { section.vectors_frozen };
        Ok(TextEncoder { embedding, encoder, dropout, word_dropout: section.word_dropout, scale, frozen })
    }

    /// The longest text it can read, in units, if there is a limit.
    pub fn longest(&self) -> Option<usize> {
        self.encoder.longest()
    }

    /// Features of a state.
    pub fn width(&self) -> usize {
        self.encoder.width()
    }

    /// Reads texts: `ids` are their units one after the other.
    pub fn forward<T: Float>(&self, tape: &Tape<T>, ids: &[u32], axis: &Axis) -> Result<Read> {
        self.read_as(tape, ids, axis, Manner::default())
    }

    /// The same, with the weights of an encoder that reads by attention.
    pub fn look<T: Float>(&self, tape: &Tape<T>, ids: &[u32], axis: &Axis) -> Result<Read> {
        self.read_as(tape, ids, axis, Manner { look: true, ..Manner::default() })
    }

    fn read_as<T: Float>(&self, tape: &Tape<T>, ids: &[u32], axis: &Axis, manner: Manner) -> Result<Read> {
        let x = if self.word_dropout > 0.0 && tape.is_training() {
            let some: Vec<u32> = ids.iter().map(|&id| if tape.uniform() < self.word_dropout { UNKNOWN } else { id }).collect();
            self.embedding.forward(tape, &some)?
        } else {
            self.embedding.forward(tape, ids)?
        };
        let x = self.scale.map_or(x, |scale| tape.scale(x, scale));
        let x = tape.on_axis(tape.dropout(x, self.dropout)?, axis)?;
        self.encoder.read_as(tape, x, manner)
    }

    /// Reads texts whose units' vectors are given times `scale` as inputs that gradients can be asked of: the inputs, and what was read.
    pub(super) fn open(&self, tape: &Tape<f32>, ids: &[u32], axis: &Axis, scale: f32) -> Result<(Var, Read)> {
        let vectors = self.embedding.forward(tape, ids)?;
        let width = tape.shape(vectors).1;
        let scaled = tape.to_vec(vectors).iter().map(|x| x * scale).collect();
        let input = tape.input(ids.len(), width, scaled)?;
        let x = self.scale.map_or(input, |scale| tape.scale(input, scale));
        Ok((input, self.encoder.read(tape, tape.on_axis(x, axis)?)?))
    }

    /// The parameters that stay as they are in an epoch: vectors from a file, at first.
    pub(super) fn frozen(&self, epoch: u64) -> Option<ParamId> {
        (epoch < self.frozen).then_some(self.embedding.weight)
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
