//! Whether what a task is about to train fits into memory: its settings in the words of [`crate::memory`], asked before any number is allocated.
//!
//! All counts are from below: what could run is not refused.

use unicode_segmentation::UnicodeSegmentation;

use super::encoder::EncoderSection;
use super::{AttentionSection, bags, seq2seq};
use crate::Cell;
use crate::attention::ScoreKind;
use crate::config::ConfigError;
use crate::memory::{Demand, Sizes};
use crate::text::{Pair, UnitKind};
use crate::train::TrainSettings;

/// What a model that reads texts consists of.
pub(super) struct Reader<'a> {
    pub encoder: &'a EncoderSection,
    pub attention: &'a AttentionSection,
    pub train: &'a TrainSettings,
}

impl Reader<'_> {
    /// An error if a model for this many units, and a training step over these texts, cannot fit.
    pub fn check<'t>(&self, units: usize, kind: UnitKind, texts: impl Iterator<Item = &'t str>) -> Result<(), ConfigError> {
        let e = self.encoder;
        let lengths = texts.map(|text| at_least(text, kind));
        let (total, longest) = lengths.fold((0usize, 0), |(total, longest), n| (total.saturating_add(n), longest.max(n)));
        // Without a cell, every unit goes through one layer on its own.
        let (gates, before) = e.cell.cell().map_or((0, e.embedding), |cell| (cell.gates(), 0));
        let mut demand = Sizes {
            source_units: units,
            embedding: e.embedding,
            hidden: e.hidden,
            layers: e.layers,
            directions: if e.bidirectional { 2 } else { 1 },
            gates,
            positions: self.train.batch.min(total),
            longest: (longest, 0),
            threads: copies(self.train),
            ..Sizes::default()
        }
        .demand();
        demand.parameters("model.hidden", &[before, e.hidden], copies(self.train));
        add_attention(&mut demand, self.attention, e.width(), self.train);
        demand.check()
    }
}

/// An error if a transducer for these numbers of units, and a training step over these pairs, cannot fit.
pub(super) fn writer(config: &seq2seq::Config, units: (usize, usize), pairs: &[Pair]) -> Result<(), ConfigError> {
    let (m, train) = (&config.model, &config.train);
    let lengths = |p: &Pair| (at_least(&p.source, config.source.units), at_least(&p.target, config.target.units));
    let (mut total, mut longest) = (0usize, (0, 0));
    for (source, target) in pairs.iter().map(lengths) {
        total = total.saturating_add(source + target);
        // A pair is attended to as a whole.
        if source * target > longest.0 * longest.1 {
            longest = (source, target);
        }
    }
    let mut demand = Sizes {
        source_units: units.0,
        target_units: units.1,
        embedding: m.embedding,
        hidden: m.hidden,
        layers: m.encoder_layers,
        directions: if m.bidirectional { 2 } else { 1 },
        gates: Cell::from(m.cell).gates(),
        positions: train.batch.min(total),
        longest,
        threads: copies(train),
    }
    .demand();
    let width = m.hidden.saturating_mul(if m.bidirectional { 2 } else { 1 });
    add_attention(&mut demand, &config.attention, width, train);
    demand.check()
}

/// An error if a model for bags of rows of this width cannot fit.
pub(super) fn bags(config: &bags::Config, width: usize) -> Result<(), ConfigError> {
    let m = &config.model;
    let mut demand = Demand::default();
    if m.layers > 0 {
        demand.parameters("model.hidden", &[width, m.hidden], copies(&config.train));
        demand.parameters("model.hidden", &[m.layers - 1, m.hidden, m.hidden], copies(&config.train));
    }
    add_attention(&mut demand, &config.attention, if m.layers > 0 { m.hidden } else { width }, &config.train);
    demand.check()
}

/// What attention over a memory of `width` features adds, as far as settings ask for it.
fn add_attention(demand: &mut Demand, attention: &AttentionSection, width: usize, train: &TrainSettings) {
    let Some(score) = attention.score else { return };
    let hidden_layer = matches!(score, ScoreKind::Additive | ScoreKind::Concat | ScoreKind::Gated | ScoreKind::Location);
    let sizes = [
        ("attention.keys", attention.keys),
        ("attention.values", attention.values),
        ("attention.alignment", if hidden_layer { attention.alignment } else { 0 }),
    ];
    for (key, size) in sizes {
        demand.parameters(key, &[size, width], copies(train));
    }
}

/// How often a gradient or a copy of the parameters is kept: one for each shard of a batch, and the evaluations that are averaged.
fn copies(train: &TrainSettings) -> usize {
    train.shards.saturating_add(if train.average > 1 { train.average } else { 0 })
}

/// Units that a text has at the least.
fn at_least(text: &str, kind: UnitKind) -> usize {
    match kind {
        UnitKind::Chars | UnitKind::Nfd if text.is_ascii() => text.trim().len(),
        UnitKind::Chars | UnitKind::Nfd => text.trim().graphemes(true).count(),
        UnitKind::Words | UnitKind::Bpe | UnitKind::Unigram => text.split_whitespace().count(),
    }
}
