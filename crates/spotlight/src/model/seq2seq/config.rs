//! Settings of a transducer.

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;

use super::hard::Hard;
use crate::attention::{Asker, Place, ScoreKind, SoftmaxKind};
use crate::config::ConfigError;
use crate::decoder::{Coverage, DecoderConfig, Order};
use crate::encoder::EncoderConfig;
use crate::model::folder::Task;
use crate::model::{AttentionSection, TransformerSection, UnitSection, check_format, need};
use crate::nn::RnnConfig;
use crate::nn::transformer::PositionKind;
use crate::search::SearchOptions;
use crate::text::read::TableFormat;
use crate::text::{Pair, UnitKind};
use crate::train::TrainSettings;
use crate::train::settings::{OptimiserName, ScheduleName};
use crate::{Cell, Result};

/// A whole recipe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// Always `seq2seq`.
    pub task: Task,
    /// Decides everything left to chance.
    pub seed: u64,
    /// `[data]`
    pub data: Data,
    /// `[source]`
    pub source: UnitSection,
    /// `[target]`
    pub target: UnitSection,
    /// `[model]`
    pub model: Model,
    /// `[attention]`: how a recurrent decoder looks at what the encoder read; without a score it sees only the encoder's last state.
    pub attention: AttentionSection,
    /// `[transformer]`: the layers of a Transformer.
    pub transformer: TransformerSection,
    /// `[train]`
    pub train: TrainSettings,
    /// `[alignment]`: links between words that the attention learns from.
    pub alignment: Alignment,
    /// `[distil]`: learning what another model says.
    pub distil: Distil,
    /// `[search]`
    pub search: Search,
}

/// `[distil]` of a recipe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Distil {
    /// The folder of a model or an ensemble whose probabilities are learnt; its units become the model's. Empty for none. `spotlight distil` sets it.
    pub teacher: String,
    /// Share of the loss that comes from what the teacher says; the rest from the targets.
    pub weight: f64,
}

/// `[alignment]` of a recipe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Alignment {
    /// A file of links between the words of the training pairs; or `ibm`, for links that are made from the pairs themselves. Empty for none.
    pub links: String,
    /// Weight of the links in the loss.
    pub weight: f64,
    /// Whether the step after a unit learns its links, which has read it, instead of the step that writes it. For Luong's order and Transformers.
    pub after: bool,
}

/// `[data]` of a recipe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Data {
    /// Training pairs; empty if given on the command line.
    pub train: String,
    /// Development pairs; empty for a part split off from the training pairs by source.
    pub dev: String,
    /// Whether a third column of features (`N;GEN;SG`) is joined to the source.
    pub features: bool,
    /// Whether rows with the same source give it several right answers, as a dictionary does. If not, every row is measured on its own, as in running text.
    pub alternatives: bool,
    /// So many pairs are made up from those of the file and learnt beside them: the letters that source and target share are replaced by others, on both sides alike; or, where they share none, letters and what they write are put together anew. For few pairs of spelt texts.
    pub made_up: usize,
    /// So many pairs are made by joining two to four of the file, and learnt beside them, links included: for sentences that are shorter than those to be answered. For words and subwords.
    pub joined: usize,
    /// How the files are laid out.
    #[serde(flatten)]
    pub format: TableFormat,
}

/// `[model]` of a recipe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// `recurrent`, `transformer`, or one for the encoder and one for the decoder: `recurrent-transformer`, `transformer-recurrent`.
    pub architecture: Architecture,
    /// Features of a unit's vector.
    pub embedding: usize,
    /// Hidden size of the decoder, and of each direction of the encoder; of a Transformer the features of its layers.
    pub hidden: usize,
    /// `rnn`, `gru` or `lstm`.
    pub cell: CellName,
    /// Layers of the encoder.
    pub encoder_layers: usize,
    /// Layers of the decoder.
    pub decoder_layers: usize,
    /// Whether the encoder reads both ways.
    pub bidirectional: bool,
    /// Dropout on embeddings, between layers and before the output.
    pub dropout: f64,
    /// `bahdanau` or `luong`.
    pub order: Order,
    /// Where the decoder starts: `state`, the encoder's last state; or `zeros`, so that all it learns of the source comes by attention.
    pub start: Start,
    /// Whether the attentional state enters the next step (Luong's order).
    pub input_feeding: bool,
    /// `off`, `penalty` or `features`.
    pub coverage: Coverage,
    /// Weight of the coverage penalty in the loss.
    pub coverage_weight: f64,
    /// Whether the vectors of the target's units are also the weights of the output.
    pub tied: bool,
    /// From the output layer to probabilities: `softmax`; or `entmax`, which gives most units exactly none, with the loss that belongs to it.
    pub output: Output,
    /// Share of the target's units that the model replaces by its own guess while learning.
    pub scheduled_sampling: f64,
    /// Whether units of the source can be copied where the attention looks, known to the target's vocabulary or not.
    pub copy: bool,
    /// Whether the targets that training pairs gave to a source, by how often they did, are counted beside what the network says. For running text, where sources come again and again.
    pub remember: bool,
    /// Whether what stands around a source in the file is counted, too, where it has had several targets. For running text with a word a row; needs `remember`.
    pub neighbours: bool,
    /// Whether an n-gram model over units of the source and what they write judges answers beside the network. For sources that are spelt, without features.
    pub joint: bool,
    /// `off`; or hard monotonic attention trained exactly: `zeroth`, where a step goes on depends on the state, or `first`, on the length of the move, too. For one head; the score is
    /// always `general`, and there is no smoothing.
    pub hard: Hard,
}

/// From the output layer to probabilities.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Output {
    /// All units are possible.
    #[default]
    Softmax,
    /// Entmax 1.5.
    Entmax,
}

/// `[search]` of a recipe: the defaults of `predict`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Search {
    /// Hypotheses kept; 1 is greedy.
    pub beam: usize,
    /// Exponent of the length normalisation; 0 for none. Wu and others, 2016, equation 14.
    pub length_penalty: f64,
    /// Weight of the coverage penalty; 0 for none. The same, equation 15.
    pub coverage_penalty: f64,
    /// Longest answer: this many units for each unit of the source, and 10 more. Set from the training pairs if 0.
    pub max_ratio: f64,
}

impl From<&Search> for SearchOptions {
    fn from(search: &Search) -> Self {
        SearchOptions {
            beam: search.beam,
            length_penalty: search.length_penalty,
            coverage_penalty: search.coverage_penalty,
            max_ratio: search.max_ratio,
            ..SearchOptions::GREEDY
        }
    }
}

/// Where a decoder starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Start {
    /// From the encoder's last state.
    State,
    /// From zeros.
    Zeros,
}

/// What encoder and decoder are.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Architecture {
    /// Recurrent cells, and attention between them.
    Recurrent,
    /// Nothing but attention.
    Transformer,
    /// A recurrent encoder and the decoder of a Transformer.
    RecurrentTransformer,
    /// The encoder of a Transformer and a recurrent decoder.
    TransformerRecurrent,
}

impl Architecture {
    /// Whether the encoder is a Transformer's.
    pub fn reads_by_attention(self) -> bool {
        matches!(self, Architecture::Transformer | Architecture::TransformerRecurrent)
    }

    /// Whether the decoder is a Transformer's.
    pub fn writes_by_attention(self) -> bool {
        matches!(self, Architecture::Transformer | Architecture::RecurrentTransformer)
    }
}

/// Names of the cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum CellName {
    /// [`Cell::Tanh`]
    Rnn,
    /// [`Cell::Gru`]
    Gru,
    /// [`Cell::Lstm`]
    Lstm,
}

impl From<CellName> for Cell {
    fn from(name: CellName) -> Cell {
        match name {
            CellName::Rnn => Cell::Tanh,
            CellName::Gru => Cell::Gru,
            CellName::Lstm => Cell::Lstm,
        }
    }
}

impl Default for Config {
    fn default() -> Self {
        Config {
            task: Task::Seq2seq,
            seed: 1,
            data: Data {
                train: String::new(),
                dev: String::new(),
                features: false,
                alternatives: true,
                made_up: 0,
                joined: 0,
                format: TableFormat::default(),
            },
            source: UnitSection::default(),
            target: UnitSection::default(),
            model: Model {
                architecture: Architecture::Recurrent,
                embedding: 64,
                hidden: 128,
                cell: CellName::Gru,
                encoder_layers: 1,
                decoder_layers: 1,
                bidirectional: true,
                dropout: 0.2,
                order: Order::Bahdanau,
                start: Start::State,
                input_feeding: false,
                coverage: Coverage::Off,
                coverage_weight: 1.0,
                tied: false,
                output: Output::Softmax,
                scheduled_sampling: 0.0,
                copy: false,
                remember: false,
                neighbours: false,
                joint: false,
                hard: Hard::Off,
            },
            attention: AttentionSection::new(ScoreKind::Additive),
            transformer: TransformerSection::default(),
            train: TrainSettings { metric: "accuracy".into(), ..TrainSettings::default() },
            alignment: Alignment { links: String::new(), weight: 1.0, after: false },
            distil: Distil { teacher: String::new(), weight: 0.8 },
            search: Search { beam: 1, length_penalty: 0.6, coverage_penalty: 0.0, max_ratio: 0.0 },
        }
    }
}

/// What a model learns depends on the number of steps more than on the size of a batch.
const STEPS: usize = 8000;

impl Config {
    /// The defaults of a Transformer: those of Wu, Cotterell and Hulden, 2021, for characters.
    pub fn transformer() -> Self {
        let mut config = Config::default();
        let m = &mut config.model;
        m.architecture = Architecture::Transformer;
        (m.embedding, m.hidden, m.encoder_layers, m.decoder_layers, m.dropout) = (256, 256, 4, 4, 0.3);
        (config.transformer.attention_dropout, config.transformer.activation_dropout) = (0.3, 0.3);
        config.train = TrainSettings {
            optimiser: OptimiserName::Adam,
            rate: 1e-3,
            beta2: 0.98,
            schedule: ScheduleName::InverseSqrt,
            warmup: 4000,
            smoothing: 0.1,
            batch: 6000,
            ..config.train
        };
        config
    }

    /// The first setting that cannot be used, if any. What it says is the key and the reason.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.train.check()?;
        check_format(&self.data.format)?;
        let m = &self.model;
        let sizes =
            [("embedding", m.embedding), ("hidden", m.hidden), ("encoder_layers", m.encoder_layers), ("decoder_layers", m.decoder_layers)];
        for (key, value) in sizes {
            need(value >= 1, &format!("model.{key}"), format!("must be at least 1, is {value}"))?;
        }
        for (key, value) in [("dropout", m.dropout), ("scheduled_sampling", m.scheduled_sampling)] {
            need((0.0..1.0).contains(&value), &format!("model.{key}"), format!("must be from 0 to below 1, is {value}"))?;
        }
        let (reads, writes) = (m.architecture.reads_by_attention(), m.architecture.writes_by_attention());
        if reads || writes {
            self.transformer.check(m.hidden)?;
        } else {
            self.transformer.check_unused("a Transformer: set model.architecture")?;
        }
        let plain = !m.copy && m.hard == Hard::Off && self.distil.teacher.is_empty();
        let in_a_row = !self.source.units.spells() && !self.target.units.spells() && !self.data.features && !m.copy;
        need(self.data.joined == 0 || in_a_row, "data.joined", "needs words or subwords on both sides, without features or copy")?;
        let letters = self.source.units.spells() && !self.data.features && !m.copy;
        need(!m.neighbours || m.remember, "model.neighbours", "needs model.remember: what stands around a source is counted beside it")?;
        need(!m.joint || letters, "model.joint", "needs a source that is spelt (chars or nfd), without features or copy")?;
        need(m.output == Output::Softmax || plain, "model.output", "entmax does not go with copy, hard or a teacher")?;
        need(!m.copy || m.scheduled_sampling == 0.0, "model.copy", "does not go with scheduled_sampling: its guesses do not copy")?;
        if m.hard != Hard::Off {
            self.check_hard()?;
        }
        self.check_alignment()?;
        let d = &self.distil;
        need((0.0..=1.0).contains(&d.weight), "distil.weight", format!("must be from 0 to 1, is {}", d.weight))?;
        need(d.teacher.is_empty() || !m.copy, "distil.teacher", "does not go with model.copy: a teacher speaks of its vocabulary")?;
        need(d.teacher.is_empty() || self.train.mix == 0.0, "distil.teacher", "does not go with train.mix")?;
        if writes {
            self.check_unused()?
        } else {
            self.check_recurrent()?
        }
        need(self.search.beam >= 1, "search.beam", format!("must be at least 1, is {}", self.search.beam))
    }

    /// The first setting of links that cannot be used, if any.
    fn check_alignment(&self) -> Result<(), ConfigError> {
        let (a, m) = (&self.alignment, &self.model);
        let looks = m.architecture.writes_by_attention() || self.attention.score.is_some();
        need(a.weight >= 0.0 && a.weight.is_finite(), "alignment.weight", format!("must not be below 0, is {}", a.weight))?;
        if self.learns_links() {
            need(looks, "alignment.links", "needs attention")?;
            need(self.train.mix == 0.0, "alignment.links", "does not go with train.mix: old pairs have no links")?;
            let read = m.architecture.writes_by_attention() || m.order == Order::Luong;
            need(
                !a.after || read,
                "alignment.after",
                "goes with order = \"luong\": in Bahdanau's order the step after has not read the unit when it looks",
            )?;
        }
        Ok(())
    }

    /// Of hard attention: the first setting that it cannot be used with, if any.
    fn check_hard(&self) -> Result<(), ConfigError> {
        let (m, a) = (&self.model, &self.attention);
        let goes = [
            (!m.architecture.writes_by_attention(), "a recurrent decoder"),
            (
                a.score.is_some() && a.heads == 1 && a.softmax == SoftmaxKind::Softmax,
                "attention of one head with attention.softmax = \"softmax\"",
            ),
            (
                m.coverage == Coverage::Off && !m.input_feeding && !m.copy,
                "no coverage, input_feeding or copy: what it looked at is not known",
            ),
            (m.scheduled_sampling == 0.0 && !self.learns_links(), "no scheduled_sampling or alignment.links"),
            (self.distil.teacher.is_empty(), "no distil.teacher"),
        ];
        goes.iter().try_for_each(|(goes, with)| need(*goes, "model.hard", format!("goes with {with}")))
    }

    /// Whether the attention learns from links.
    pub fn learns_links(&self) -> bool {
        !self.alignment.links.is_empty() && self.alignment.weight > 0.0
    }

    /// Features of what the encoder gives.
    fn memory(&self) -> usize {
        let m = &self.model;
        m.hidden.saturating_mul(if m.bidirectional && !m.architecture.reads_by_attention() { 2 } else { 1 })
    }

    /// Of a recurrent decoder: the first setting that cannot be used, if any.
    fn check_recurrent(&self) -> Result<(), ConfigError> {
        let (m, attends) = (&self.model, self.attention.score.is_some());
        let reads_coverage = m.coverage == Coverage::Features;
        let place = Place { asker: Asker::Decoder, query: m.hidden, memory: self.memory(), coverage: reads_coverage };
        self.attention.check("attention", place)?;
        need(
            !m.input_feeding || m.order == Order::Luong,
            "model.input_feeding",
            "goes with order = \"luong\": in Bahdanau's order the context enters the cell anyway",
        )?;
        need(!m.input_feeding || attends, "model.input_feeding", "needs attention")?;
        need(m.start == Start::State || attends, "model.start", "zeros needs attention: the decoder would know nothing of the source")?;
        need(!m.copy || attends, "model.copy", "needs attention: what it looks at is what it copies")?;
        need(m.coverage == Coverage::Off || (attends && self.attention.heads == 1), "model.coverage", "needs attention of one head")
    }

    /// Of a Transformer's decoder: the first setting that it has no use for, if any.
    fn check_unused(&self) -> Result<(), ConfigError> {
        let (m, plain) = (&self.model, Config::default());
        let recurrent = "goes with a recurrent decoder";
        need(self.attention == plain.attention, "attention", format!("{recurrent}; a Transformer's is in [transformer]"))?;
        need(m.order == plain.model.order, "model.order", recurrent)?;
        need(!m.input_feeding, "model.input_feeding", recurrent)?;
        need(m.coverage == Coverage::Off, "model.coverage", recurrent)?;
        need(m.start == plain.model.start, "model.start", recurrent)
    }

    /// Chooses sizes and the course of the training for these pairs. The numbers are those that did well on the recipes' data sets.
    pub fn choose_sizes(&mut self, pairs: &[Pair]) {
        let length = |units, text: &str| match units {
            UnitKind::Chars => text.chars().count(),
            UnitKind::Nfd => text.nfd().count(),
            UnitKind::Words => text.split_whitespace().count(),
            UnitKind::Bpe | UnitKind::Unigram => text.split_whitespace().count() * 3 / 2,
        };
        let positions: usize = pairs.iter().map(|p| length(self.source.units, &p.source) + length(self.target.units, &p.target)).sum();
        // Made-up pairs are as long as those they are made from.
        let all = pairs.len() + self.data.made_up;
        let (positions, pairs) = (positions * all / pairs.len().max(1), all);
        let sentences = !self.target.units.spells() && !self.source.units.spells();
        let m = &mut self.model;
        (m.embedding, m.hidden, m.dropout) = match (sentences, pairs) {
            (true, 0..2_000) => (64, 128, 0.3),
            (true, _) => (192, 256, 0.3),
            (false, 0..10_000) => (96, 160, 0.3),
            (false, _) => (128, 256, 0.2),
        };
        if m.architecture != Architecture::Recurrent {
            self.choose_transformer(positions, pairs, sentences);
            return;
        }
        // Small sets need many passes, large ones few.
        let most = if self.data.made_up > 0 { 40 } else { 100 };
        self.train.epochs = (300_000 / pairs.max(1)).clamp(12, most) as u64;
        self.train.batch = (positions * self.train.epochs as usize / STEPS).clamp(300, 2000);
        self.train.smoothing = 0.1;
        self.train.average = 3;
        // A few steps need not be measured each time.
        self.train.every = (6000 / pairs.max(1)).clamp(1, 5) as u64;
        self.train.metric = if sentences && pairs >= 2_000 { "bleu".into() } else { "accuracy".into() };
    }

    /// The same for a Transformer: more positions a step, and as many steps as a processor takes in an hour. What the recipes for Multi30k and for French words have.
    fn choose_transformer(&mut self, positions: usize, pairs: usize, sentences: bool) {
        let (m, t) = (&mut self.model, &mut self.transformer);
        (m.embedding, m.hidden, m.dropout) = if sentences || pairs < 20_000 { (128, 128, 0.3) } else { (256, 256, 0.1) };
        let layers = if sentences { 4 } else { 2 };
        (m.encoder_layers, m.decoder_layers) = (layers, layers);
        m.tied = sentences;
        t.feed_forward = 2 * m.hidden;
        (t.attention_dropout, t.activation_dropout) = (0.1, 0.1);
        t.positions = PositionKind::Rotary;
        self.train.schedule = ScheduleName::Cosine;
        (self.train.rate, self.train.warmup) = if sentences { (3e-3, 800) } else { (2e-3, 500) };
        self.train.batch = if sentences { (positions / 70).clamp(1000, 4000) } else { (positions / 30).clamp(1000, 3000) };
        self.train.epochs = (STEPS * self.train.batch / positions.max(1)).clamp(12, 300) as u64;
        self.train.average = if sentences { 5 } else { 3 };
        // It gets better until its rate is 0.
        self.train.patience = 0;
        self.train.every = (self.train.epochs / 40).max(1);
        self.train.metric = if sentences && pairs >= 2_000 { "bleu".into() } else { "accuracy".into() };
    }

    /// The score of a recurrent decoder, if it has attention.
    pub fn score(&self) -> Option<ScoreKind> {
        self.attention.score.filter(|_| !self.model.architecture.writes_by_attention())
    }

    pub(super) fn encoder(&self) -> EncoderConfig {
        let m = &self.model;
        if m.architecture.reads_by_attention() {
            let stack = self.transformer.stack(m.encoder_layers, m.dropout);
            return EncoderConfig::Transformer { input: m.embedding, width: m.hidden, stack };
        }
        EncoderConfig::Recurrent(RnnConfig {
            layers: m.encoder_layers,
            bidirectional: m.bidirectional,
            dropout: m.dropout,
            ..RnnConfig::new(m.cell.into(), m.embedding, m.hidden)
        })
    }

    /// A recurrent decoder.
    pub(super) fn decoder(&self) -> DecoderConfig {
        let m = &self.model;
        DecoderConfig {
            layers: m.decoder_layers,
            dropout: m.dropout,
            order: m.order,
            attention: self.attention.config().filter(|_| m.hard == Hard::Off),
            input_feeding: m.input_feeding,
            coverage: m.coverage,
            learnt_weights: m.copy || self.learns_links(),
            ..DecoderConfig::new(m.cell.into(), m.embedding, m.hidden, self.memory())
        }
    }
}
