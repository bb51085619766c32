//! The state of a run in memory, and its way to a checkpoint and back.

use std::path::Path;

use super::checkpoint::{self, Checkpoint, Progress};
use super::optim::Optimiser;
use crate::params::Params;
use crate::{Error, Result};

/// What a run changes as it goes, beside the weights.
pub(super) struct State {
    /// Where it stands.
    pub progress: Progress,
    /// What the optimiser remembers.
    pub optimiser: Optimiser<f32>,
    /// Weights of earlier evaluations, to be averaged.
    pub snapshots: Vec<Vec<f32>>,
}

impl State {
    /// Adds the weights to those that are averaged, of which there are so many.
    pub fn snapshot(&mut self, params: &Params<f32>, average: usize) {
        self.snapshots.push(params.flat().to_vec());
        if self.snapshots.len() > average {
            self.snapshots.remove(0);
        }
    }

    /// Writes a checkpoint.
    pub fn save(&self, path: &Path, params: &Params<f32>) -> Result<()> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|source| Error::Io { path: folder.to_path_buf(), source })?;
        }
        let checkpoint =
            Checkpoint { progress: &self.progress, optimiser: self.optimiser.state(), weights: params.flat(), snapshots: &self.snapshots };
        checkpoint.save(path)
    }

    /// Goes back to a checkpoint of the same run.
    pub fn restore(&mut self, path: &Path, params: &mut Params<f32>) -> Result<()> {
        let other = |problem: &str| Error::Weights { path: path.to_path_buf(), problem: problem.into() };
        let restored = checkpoint::load(path)?;
        if restored.progress.fingerprint != self.progress.fingerprint {
            return Err(other("the checkpoint belongs to other settings or other data; use them again, or start anew without --resume"));
        }
        let (steps, [first, second]) = restored.optimiser;
        if restored.weights.len() != params.len() || !self.optimiser.restore(steps, [&first, &second]) {
            return Err(other("the checkpoint belongs to a model of another size; start anew without --resume"));
        }
        params.flat_mut().copy_from_slice(&restored.weights);
        self.progress = restored.progress;
        self.snapshots = restored.snapshots;
        Ok(())
    }
}
