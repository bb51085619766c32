//! Models: each with its settings, its network, how it learns, and how it answers.
//!
//! - [`seq2seq`] turns a sequence into a sequence;
//! - [`classify`] gives a text a label, [`matching`] a question and an answer a score, [`bags`] a set of rows of numbers a label. These three make one row of
//!   many with attention that pools, and share an [`encoder`] of texts, the [`pooling`], and a [`head`] over labels.
//!
//! A model on disk is a folder, the same for every kind: `config.toml` (all settings, resolved), `model.safetensors` (weights), the vocabularies as text,
//! `metrics.jsonl` (one line per evaluation), `run.json` (how far the run has got), `files.json` (checksums), and while it learns `checkpoint/`. `docs/model-format.md` lists every file and tensor.

pub mod answer;
pub mod ask;
pub mod attention;
pub mod bags;
pub mod calibration;
pub mod classify;
pub mod describe;
pub mod encoder;
pub mod ensemble;
mod fits;
pub mod folds;
mod form;
pub mod grow;
pub mod hashed;
pub mod head;
mod kind;
pub mod layers;
pub mod lbfgs;
mod limits;
pub mod linear;
pub mod matching;
mod nearest;
pub mod pooling;
pub mod probe;
mod reference;
pub mod seq2seq;
mod task;
pub mod teach;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
pub mod touch;
pub mod transformer;
pub mod units;

pub use answer::{Answer, Drawing, Layers, ToJson, View};
pub use ask::{AnswerOptions, Input, Replies, Reply};
pub use attention::AttentionSection;
pub use calibration::Calibration;
pub use form::Form;
pub use kind::{AnyModel, Chosen, Model, Settings};
pub use nearest::{Context, Contexts, Seen};
pub use reference::Setting;
pub use task::{Task, open};
pub use touch::{Edit, Touch, Touched};
pub use transformer::TransformerSection;
pub use units::UnitSection;

pub use crate::folder;

use crate::config::ConfigError;
use crate::text::TextError;
use crate::text::read::TableFormat;

/// An error for a setting of `[data]` that says how files are laid out.
fn check_format(format: &TableFormat) -> Result<(), ConfigError> {
    format.check().map_err(|error| match error {
        TextError::Format { key, problem } => ConfigError::Value { key: format!("data.{key}"), problem },
        other => ConfigError::Value { key: "data".into(), problem: other.to_string() },
    })
}

/// An error for a setting unless `right`.
fn need(right: bool, key: &str, problem: impl Into<String>) -> Result<(), ConfigError> {
    if right { Ok(()) } else { Err(ConfigError::Value { key: key.into(), problem: problem.into() }) }
}
