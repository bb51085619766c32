//! How common each word is in the training answers, as a file.

use std::collections::BTreeMap;
use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::config::ConfigError;
use crate::metrics::IdfOverlap;
use crate::weights::write_whole;
use crate::{Error, Result};

#[derive(Serialize, Deserialize)]
struct Counts<W: Ord> {
    /// Answers in the training part.
    answers: usize,
    /// In how many of them each word stands.
    words: BTreeMap<W, usize>,
}

pub(super) fn save(overlap: &IdfOverlap, path: &Path) -> Result<()> {
    let (answers, words) = overlap.counts();
    let text = toml::to_string(&Counts { answers, words }).map_err(|e| ConfigError::Syntax(e.to_string()))?;
    write_whole(path, text.as_bytes())
}

pub(super) fn load(path: &Path) -> Result<IdfOverlap> {
    let text = std::fs::read_to_string(path).map_err(|source| Error::Io { path: path.to_path_buf(), source })?;
    let counts: Counts<String> = toml::from_str(&text).map_err(|e| Error::Weights { path: path.to_path_buf(), problem: e.to_string() })?;
    Ok(IdfOverlap::from_counts(counts.answers, counts.words))
}
