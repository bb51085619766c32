//! Models: each with its settings, its network, how it learns, and how it answers.
//!
//! A model on disk is a folder, the same for every kind: `config.toml` (all settings, resolved), `model.safetensors` (weights), the vocabularies as text,
//! `metrics.jsonl` (one line an evaluation), and while it learns `checkpoint/`. `docs/model-format.md` lists every file and tensor.

pub mod folder;
pub mod seq2seq;
pub mod units;

pub use units::UnitSection;
