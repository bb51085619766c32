//! Models: each with its settings, its network, how it learns, and how it answers.
//!
//! - [`seq2seq`] turns a sequence into a sequence;
//! - [`classify`] gives a text a label, [`matching`] a question and an answer a score, [`bags`] a set of rows of numbers a label. These three make one row of
//!   many with attention that pools, and share an [`encoder`] of texts, the [`pooling`], and a [`head`] over labels.
//!
//! A model on disk is a folder, the same for every kind: `config.toml` (all settings, resolved), `model.safetensors` (weights), the vocabularies as text,
//! `metrics.jsonl` (one line an evaluation), `run.json` (how far the run has got), `files.json` (checksums), and while it learns `checkpoint/`. `docs/model-format.md` lists every file and tensor.

pub mod bags;
pub mod classify;
pub mod encoder;
pub mod head;
pub mod matching;
pub mod pooling;
pub mod seq2seq;
#[cfg(test)]
mod testing;
pub mod units;

pub use units::UnitSection;

pub use crate::folder;

use crate::config::ConfigError;

/// An error for a setting unless `right`.
fn need(right: bool, key: &str, problem: impl Into<String>) -> Result<(), ConfigError> {
    if right { Ok(()) } else { Err(ConfigError::Value { key: key.into(), problem: problem.into() }) }
}
