//! What a run leaves in its folder beside checkpoints: where it stands, its course, and the best weights.

use std::path::PathBuf;

use serde_json::{Map, Value, json};

use super::{Evaluation, Run};
use crate::Result;
use crate::folder::{FolderError, METRICS, Record, WEIGHTS, checkpoint_path, copy_frame, epoch_name};
use crate::params::Params;
use crate::train::checkpoint::Progress;
use crate::train::learner::Measure;
use crate::train::state::State;
use crate::weights::{self, write_whole};

impl Run<'_> {
    /// When the run began, earlier parts of it included.
    pub(super) fn started(&self) -> String {
        Record::read(self.folder.path()).unwrap_or_else(Record::begun).started
    }

    /// What the folder tells of the run while it is under way.
    pub(super) fn told(&self, started: &str, p: &Progress) -> Record {
        Record {
            started: started.into(),
            fingerprint: self.fingerprint.clone(),
            epochs: p.epoch,
            steps: p.step,
            best_epoch: p.best_epoch,
            seconds: p.seconds,
            metric: self.settings.metric.clone(),
            measures: p.best_measures.clone(),
            ..Record::begun()
        }
    }

    /// Goes on from the checkpoint; without one the run starts again, to the same end.
    pub(super) fn restore(&self, state: &mut State, params: &mut Params<f32>) -> Result<()> {
        let folder = self.folder.path();
        let path = checkpoint_path(folder);
        if !path.exists() {
            return match Record::read(folder) {
                Some(r) if !r.fingerprint.is_empty() && r.fingerprint != self.fingerprint => {
                    Err(FolderError::OtherRun { folder: folder.to_path_buf() }.into())
                }
                _ => Ok(()),
            };
        }
        state.restore(&path, params)?;
        let file = folder.join(WEIGHTS);
        if state.progress.best.is_some() && !file.exists() {
            let problem = "is missing, and the run has had a best model: copy the folder again, or start anew without --resume".into();
            return Err(FolderError::Damaged { file, problem }.into());
        }
        Ok(())
    }

    /// Writes the weights as those of the best model.
    pub(super) fn keep(&self, params: &Params<f32>) -> Result<()> {
        self.folder.replace(WEIGHTS, &weights::to_bytes(params, &self.folder.path().join(WEIGHTS))?)
    }

    /// Writes the model of an epoch that is to be kept, in a folder of its own.
    pub(super) fn keep_epoch(&self, epoch: u64, params: &Params<f32>) -> Result<()> {
        if !self.settings.keep.contains(&epoch) {
            return Ok(());
        }
        let folder = self.folder.path().join(epoch_name(epoch));
        copy_frame(self.folder.path(), &folder)?;
        let path = folder.join(WEIGHTS);
        write_whole(&path, &weights::to_bytes(params, &path)?)
    }

    fn metrics_path(&self) -> PathBuf {
        self.folder.path().join(METRICS)
    }

    fn read_metrics(&self) -> String {
        std::fs::read_to_string(self.metrics_path()).unwrap_or_default()
    }

    /// Adds a line to `metrics.jsonl`.
    pub(super) fn note(&self, e: &Evaluation) -> Result<()> {
        let mut line =
            json!({"epoch": e.epoch, "step": e.step, "train_loss": e.loss, "rate": e.rate, "seconds": (e.seconds * 10.0).round() / 10.0});
        for (name, value) in by_name(&e.measures) {
            line[name] = value;
        }
        write_whole(&self.metrics_path(), format!("{}{line}\n", self.read_metrics()).as_bytes())
    }

    /// Drops the lines of `metrics.jsonl` that the run is about to write again.
    pub(super) fn forget_after(&self, epoch: u64) -> Result<()> {
        let keep: String = self
            .read_metrics()
            .lines()
            .filter(|line| serde_json::from_str::<serde_json::Value>(line).is_ok_and(|l| l["epoch"].as_u64().is_some_and(|e| e <= epoch)))
            .flat_map(|line| [line, "\n"])
            .collect();
        write_whole(&self.metrics_path(), keep.as_bytes())
    }
}

/// Measures as they are written.
pub(super) fn by_name(measures: &[Measure]) -> Map<String, Value> {
    measures.iter().map(|m| (m.name.to_string(), json!(m.value))).collect()
}
