//! Checkpoints: one file with everything a run needs to go on, replaced whole.
//!
//! The file is written under a temporary name, synced and renamed, so that a kill at any moment leaves the old one or the new one. It holds the weights, what the
//! optimiser remembers, the weights to be averaged, and where the run stands. Chance needs no entry: it follows from the seed and the step.

use std::collections::HashMap;
use std::path::Path;

use safetensors::tensor::{Dtype, SafeTensors, TensorView};
use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

use crate::weights::write_whole;
use crate::{Error, Result};

/// Where a run stands.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Progress {
    /// Finished epochs.
    pub epoch: u64,
    /// Finished batches of the current epoch.
    pub batch: u64,
    /// Finished steps in all.
    pub step: u64,
    /// Sum of the losses of the current epoch.
    pub loss: f64,
    /// Targets of the current epoch so far.
    pub targets: u64,
    /// The best measure so far, turned so that more is better.
    pub best: Option<f64>,
    /// The loss of the model with it.
    #[serde(default)]
    pub best_loss: Option<f64>,
    /// All its measures, by name.
    #[serde(default)]
    pub best_measures: Map<String, Value>,
    /// The epoch of it.
    pub best_epoch: u64,
    /// What the evaluations gave, each with its epoch: the measure that decides as a share of the most it can be. Empty for one without bounds.
    #[serde(default)]
    pub shares: Vec<(u64, f64)>,
    /// Evaluations since that count against the run's patience.
    pub waited: u32,
    /// The plateau's own view: factor in force, best, waited.
    pub plateau: (f64, Option<f64>, u32),
    /// Seconds spent before this run was resumed.
    pub seconds: f64,
    /// Identifies the settings and the data; a checkpoint of another run is refused.
    pub fingerprint: String,
    /// Whether patience ended the run, once it is at its end but for what is learnt from all examples.
    #[serde(default)]
    pub found: Option<bool>,
}

/// A checkpoint as it stands in memory.
pub struct Checkpoint<'a> {
    /// Where the run stands.
    pub progress: &'a Progress,
    /// Steps the optimiser has taken, and its moments.
    pub optimiser: (u64, [&'a [f32]; 2]),
    /// The weights.
    pub weights: &'a [f32],
    /// Weights of earlier evaluations, to be averaged.
    pub snapshots: &'a [Vec<f32>],
}

/// A checkpoint read back.
#[derive(Debug)]
pub struct Restored {
    /// Where the run stood.
    pub progress: Progress,
    /// Steps the optimiser had taken, and its moments.
    pub optimiser: (u64, [Vec<f32>; 2]),
    /// The weights.
    pub weights: Vec<f32>,
    /// Weights of earlier evaluations.
    pub snapshots: Vec<Vec<f32>>,
}

impl Checkpoint<'_> {
    /// Writes the checkpoint, whole or not at all.
    pub fn save(&self, path: &Path) -> Result<()> {
        let broken = |problem: String| Error::Weights { path: path.to_path_buf(), problem };
        let bytes = |x: &[f32]| x.iter().flat_map(|x| x.to_le_bytes()).collect::<Vec<u8>>();
        let mut tensors = vec![("weights".to_string(), bytes(self.weights))];
        for (name, moments) in ["first", "second"].into_iter().zip(self.optimiser.1) {
            tensors.push((name.into(), bytes(moments)));
        }
        for (i, snapshot) in self.snapshots.iter().enumerate() {
            tensors.push((format!("snapshot.{i}"), bytes(snapshot)));
        }
        let mut views = Vec::with_capacity(tensors.len());
        for (name, bytes) in &tensors {
            let view = TensorView::new(Dtype::F32, vec![bytes.len() / 4], bytes).map_err(|e| broken(e.to_string()))?;
            views.push((name.as_str(), view));
        }
        let progress = serde_json::to_string(self.progress).map_err(|e| broken(e.to_string()))?;
        let metadata = HashMap::from([("progress".to_string(), progress), ("optimiser_steps".into(), self.optimiser.0.to_string())]);
        let data = safetensors::serialize(views, Some(metadata)).map_err(|e| broken(e.to_string()))?;
        write_whole(path, &data)
    }
}

/// Reads a checkpoint.
pub fn load(path: &Path) -> Result<Restored> {
    let data = std::fs::read(path).map_err(|source| Error::Io { path: path.to_path_buf(), source })?;
    let broken = |problem: &str| Error::Weights {
        path: path.to_path_buf(),
        problem: format!("not a whole checkpoint: {problem}; start again without --resume"),
    };
    let file = SafeTensors::deserialize(&data).map_err(|e| broken(&e.to_string()))?;
    let (_, header) = SafeTensors::read_metadata(&data).map_err(|e| broken(&e.to_string()))?;
    let metadata = header.metadata().as_ref().ok_or_else(|| broken("it does not say where the run stood"))?;
    let progress = metadata.get("progress").ok_or_else(|| broken("it does not say where the run stood"))?;
    let progress = serde_json::from_str(progress).map_err(|e| broken(&e.to_string()))?;
    let steps = metadata.get("optimiser_steps").and_then(|s| s.parse().ok()).ok_or_else(|| broken("the optimiser's steps are missing"))?;
    let numbers = |name: &str| -> Result<Vec<f32>> {
        let tensor = file.tensor(name).map_err(|_| broken(&format!("{name} is missing")))?;
        Ok(tensor.data().as_chunks::<4>().0.iter().map(|&b| f32::from_le_bytes(b)).collect())
    };
    let count = file.names().iter().filter(|n| n.starts_with("snapshot.")).count();
    Ok(Restored {
        progress,
        optimiser: (steps, [numbers("first")?, numbers("second")?]),
        weights: numbers("weights")?,
        snapshots: (0..count).map(|i| numbers(&format!("snapshot.{i}"))).collect::<Result<_>>()?,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_checkpoint_comes_back_to_the_bit() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.safetensors");
        let progress = Progress { step: 7, loss: 0.1 + 0.2, best: Some(-1.0 / 3.0), fingerprint: "x".into(), ..Progress::default() };
        let snapshots = [vec![1.0, 2.0], vec![3.0, 4.0]];
        let checkpoint =
            Checkpoint { progress: &progress, optimiser: (7, [&[0.5, 0.25], &[]]), weights: &[1.5, -2.5], snapshots: &snapshots };
        checkpoint.save(&path).unwrap();
        let back = load(&path).unwrap();
        assert_eq!(back.progress, progress);
        assert_eq!(back.optimiser, (7, [vec![0.5, 0.25], vec![]]));
        assert_eq!((back.weights, back.snapshots.as_slice()), (vec![1.5, -2.5], &snapshots[..]));
    }

    #[test]
    fn a_cut_checkpoint_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("state.safetensors");
        let progress = Progress::default();
        Checkpoint { progress: &progress, optimiser: (0, [&[], &[]]), weights: &[1.0; 50], snapshots: &[] }.save(&path).unwrap();
        let whole = std::fs::read(&path).unwrap();
        for cut in [0, 5, 60, whole.len() - 1] {
            std::fs::write(&path, &whole[..cut]).unwrap();
            assert!(load(&path).unwrap_err().to_string().contains("not a whole checkpoint"), "{cut}");
        }
    }
}
