//! `run.json`: how far the run of a folder has got, and what came out.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use super::{RECORD, clock};

/// Where a run stands, as its folder tells.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Stage {
    /// It runs, or was killed while it did.
    Running,
    /// It was asked to stop.
    Stopped,
    /// It is at its end.
    Finished,
}

/// What a folder tells of its run.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Record {
    /// Where it stands.
    pub stage: Stage,
    /// The version of Spotlight that trained last.
    pub version: String,
    /// When it began, as `2026-11-16T08:35:04Z`.
    pub started: String,
    /// The working folder of the process that trained last: files that are not named from the root are named from there. Empty if it is not known.
    #[serde(default)]
    pub started_in: String,
    /// When it stopped or ended.
    #[serde(default)]
    pub ended: Option<String>,
    /// Identifies settings and data; empty before the first batch.
    #[serde(default)]
    pub fingerprint: String,
    /// Finished epochs.
    #[serde(default)]
    pub epochs: u64,
    /// Finished steps.
    #[serde(default)]
    pub steps: u64,
    /// The epoch of the model that is kept.
    #[serde(default)]
    pub best_epoch: u64,
    /// Epochs in which all examples were learnt from after that, those set aside among them, if they were.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<u64>,
    /// Seconds of training in all.
    #[serde(default)]
    pub seconds: f64,
    /// Whether it ended because its measure stopped improving.
    #[serde(default)]
    pub patience_ran_out: bool,
    /// The measure that decided which model is kept.
    #[serde(default)]
    pub metric: String,
    /// Measures of that model on the development examples.
    #[serde(default)]
    pub measures: Map<String, Value>,
}

impl Record {
    /// Of a run that begins now.
    pub fn begun() -> Self {
        Record {
            stage: Stage::Running,
            version: env!("CARGO_PKG_VERSION").into(),
            started: clock::now(),
            started_in: std::env::current_dir().map_or_else(|_| String::new(), |folder| folder.to_string_lossy().into_owned()),
            ended: None,
            fingerprint: String::new(),
            epochs: 0,
            steps: 0,
            best_epoch: 0,
            again: None,
            seconds: 0.0,
            patience_ran_out: false,
            metric: String::new(),
            measures: Map::new(),
        }
    }

    /// The same run at a halt.
    pub fn halted(self, stage: Stage) -> Self {
        Record { stage, ended: Some(clock::now()), ..self }
    }

    /// What a folder tells of its run; nothing if it is older than this file, or the file cannot be read.
    pub fn read(folder: &Path) -> Option<Record> {
        serde_json::from_str(&fs::read_to_string(folder.join(RECORD)).ok()?).ok()
    }
}
