//! The verdict in the model's folder.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::report::Report;
use super::verdict::Verdict;
use crate::folder;
use crate::weights::write_whole;
use crate::{Error, Result};

/// What `audit.json` holds: the verdict, what it rests on, and which weights it is about.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
struct Kept {
    #[serde(flatten)]
    verdict: Verdict,
    examples: usize,
    seed: u64,
    /// SHA-256 of the weights: a model that has learnt more since has no verdict.
    weights: String,
}

/// Writes the verdict of a report to the folder of its model. A folder that cannot be written to is an error.
pub fn keep(path: &Path, report: &Report) -> Result<()> {
    let weights = folder::weights_checksum(path)?;
    let kept = Kept { verdict: report.verdict.clone(), examples: report.studied, seed: report.seed, weights };
    let text = serde_json::to_string_pretty(&kept).map_err(|e| Error::Io { path: folder::AUDIT.into(), source: e.into() })?;
    write_whole(&path.join(folder::AUDIT), (text + "\n").as_bytes())
}

/// The verdict on the model in a folder; none if there is none, or it is about other weights.
pub fn kept(path: &Path) -> Option<Verdict> {
    let text = std::fs::read_to_string(path.join(folder::AUDIT)).ok()?;
    let kept: Kept = serde_json::from_str(&text).ok()?;
    (folder::weights_checksum(path).ok()? == kept.weights).then_some(kept.verdict)
}
