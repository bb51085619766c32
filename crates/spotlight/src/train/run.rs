//! The training loop: batches, updates, evaluations, checkpoints.
//!
//! A run is a function of its settings, its seed and its data. It can be stopped or killed at any moment and goes on from its last checkpoint to the same end, to
//! the byte.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use serde_json::json;

use super::checkpoint::{self, Checkpoint, Progress};
use super::learner::{Learner, Measure};
use super::optim::{Optimiser, clip_scale};
use super::parallel::{Shards, deal};
use super::schedule::{Plateau, Schedule};
use super::settings::{ScheduleName, TrainSettings};
use crate::params::Params;
use crate::text::batch;
use crate::weights::{self, write_whole};
use crate::{Error, Result};

/// Time between checkpoints.
pub const CHECKPOINT_EVERY: Duration = Duration::from_secs(20);

/// One line of `metrics.jsonl`, and what is shown after an evaluation.
#[derive(Clone, Debug)]
pub struct Evaluation {
    /// Finished epochs.
    pub epoch: u64,
    /// Finished steps.
    pub step: u64,
    /// Mean training loss of a target in this epoch.
    pub loss: f64,
    /// The learning rate in force.
    pub rate: f64,
    /// Seconds since the run began, earlier parts of it included.
    pub seconds: f64,
    /// Measures of the development examples.
    pub measures: Vec<Measure>,
    /// Whether this is the best model so far.
    pub best: bool,
}

/// A batch that has been learnt from.
#[derive(Clone, Copy, Debug)]
pub struct Tick {
    /// Epoch under way, from 0.
    pub epoch: u64,
    /// Epochs at most.
    pub epochs: u64,
    /// Finished batches of this epoch.
    pub batch: u64,
    /// Batches of this epoch.
    pub batches: u64,
    /// Positions of this batch.
    pub positions: u64,
    /// Mean loss of a target in this epoch so far.
    pub loss: f64,
}

/// Somebody who watches a run.
pub trait Watch {
    /// A batch is done.
    fn tick(&mut self, tick: Tick);
    /// An evaluation begins; it may take a while.
    fn measuring(&mut self) {}
    /// An evaluation is done.
    fn evaluated(&mut self, evaluation: &Evaluation);
}

/// How a run ended.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum End {
    /// All epochs are done.
    Finished,
    /// The measure stopped improving.
    Patience,
    /// Somebody asked it to stop; it can be resumed.
    Stopped,
}

/// What a run gives.
#[derive(Clone, Debug)]
pub struct Outcome {
    /// How it ended.
    pub end: End,
    /// Finished epochs.
    pub epochs: u64,
    /// The epoch of the best model.
    pub best_epoch: u64,
    /// Seconds in all.
    pub seconds: f64,
    /// Positions learnt from a second, in this part of the run.
    pub rate: f64,
}

/// A run: where it writes, what it follows, and what can stop it.
pub struct Run<'a> {
    /// The model's folder: the best weights go to `model.safetensors`, the course of the run to `metrics.jsonl`, and what is needed to go on to `checkpoint/`.
    pub folder: &'a Path,
    /// The settings.
    pub settings: &'a TrainSettings,
    /// Decides everything left to chance.
    pub seed: u64,
    /// Identifies settings and data; a checkpoint with another one is refused.
    pub fingerprint: String,
    /// Whether to go on from a checkpoint, if there is one.
    pub resume: bool,
    /// Time between checkpoints, usually [`CHECKPOINT_EVERY`]. How often is no matter of the result.
    pub checkpoint_every: Duration,
    /// Set from outside to stop the run after the batch under way.
    pub stop: &'a AtomicBool,
}

/// The file a run goes on from.
pub fn checkpoint_path(folder: &Path) -> PathBuf {
    folder.join("checkpoint").join("state.safetensors")
}

impl Run<'_> {
    /// Trains until the end, and leaves the best weights in `params`.
    pub fn train<L: Learner>(
        &self,
        learner: &L,
        params: &mut Params<f32>,
        train: &[L::Example],
        dev: &[L::Example],
        watch: &mut dyn Watch,
    ) -> Result<Outcome> {
        let s = self.settings;
        let lengths: Vec<_> = train.iter().map(|e| learner.lengths(e)).collect();
        let path = checkpoint_path(self.folder);
        let mut state = State {
            progress: Progress { fingerprint: self.fingerprint.clone(), plateau: (1.0, None, 0), ..Progress::default() },
            optimiser: Optimiser::new(s.rule(), params.len()),
            snapshots: Vec::new(),
        };
        if self.resume && path.exists() {
            state.restore(&path, params)?;
        }
        self.forget_after(state.progress.epoch)?;
        let per_epoch = batch::shuffled(&lengths, s.batch, self.seed, 0).len() as u64;
        let schedule = s.schedule(per_epoch * s.epochs);
        let mut shards = Shards::new(params, s.shards);
        let (start, before) = (Instant::now(), state.progress.seconds);
        let mut saved = Instant::now();
        let mut positions = 0u64;
        let mut end = End::Finished;

        'epochs: while state.progress.epoch < s.epochs {
            if s.patience > 0 && state.progress.waited >= s.patience {
                end = End::Patience;
                break;
            }
            let epoch = state.progress.epoch;
            let batches = batch::shuffled(&lengths, s.batch, self.seed, epoch);
            for members in batches.iter().skip(state.progress.batch as usize) {
                let examples: Vec<&L::Example> = members.iter().map(|&i| &train[i]).collect();
                self.step(learner, params, &mut shards, &mut state, &examples, schedule)?;
                let seen = members.iter().map(|&i| lengths[i].positions() as u64).sum();
                positions += seen;
                watch.tick(Tick {
                    epoch,
                    epochs: s.epochs,
                    batch: state.progress.batch,
                    batches: batches.len() as u64,
                    positions: seen,
                    loss: state.progress.loss / state.progress.targets.max(1) as f64,
                });
                let stop = self.stop.load(Ordering::Relaxed);
                // Weights that have just gone astray are found out by the next batch; they must not replace the last good ones.
                if (stop || saved.elapsed() > self.checkpoint_every) && params.flat().iter().all(|w| w.is_finite()) {
                    state.progress.seconds = before + start.elapsed().as_secs_f64();
                    state.save(&path, params)?;
                    saved = Instant::now();
                }
                if stop {
                    end = End::Stopped;
                    break 'epochs;
                }
            }
            state.progress.epoch += 1;
            state.progress.batch = 0;
            state.progress.seconds = before + start.elapsed().as_secs_f64();
            if state.progress.epoch.is_multiple_of(s.every) || state.progress.epoch == s.epochs {
                watch.measuring();
                let evaluation = self.evaluate(learner, params, dev, &mut state, schedule)?;
                watch.evaluated(&evaluation);
            }
            (state.progress.loss, state.progress.targets) = (0.0, 0);
        }
        let best = self.folder.join("model.safetensors");
        if best.exists() {
            weights::load(params, &best)?;
        } else {
            // Stopped before the first evaluation: the weights so far are better than none.
            weights::save(params, &best)?;
        }
        let spent = start.elapsed().as_secs_f64();
        Ok(Outcome {
            end,
            epochs: state.progress.epoch,
            best_epoch: state.progress.best_epoch,
            seconds: before + spent,
            rate: positions as f64 / spent.max(1e-9),
        })
    }

    /// Learns from one batch.
    fn step<L: Learner>(
        &self,
        learner: &L,
        params: &mut Params<f32>,
        shards: &mut Shards<f32>,
        state: &mut State,
        examples: &[&L::Example],
        schedule: Schedule,
    ) -> Result<()> {
        let s = self.settings;
        let targets: usize = examples.iter().map(|e| learner.targets(e)).sum();
        let scale = 1.0 / targets.max(1) as f64;
        let count = shards.len().min(examples.len()).max(1);
        let parts = deal(examples, count, |e| learner.lengths(e));
        let seed = self.seed.wrapping_mul(0x5851_f42d_4c95_7f2d).wrapping_add(state.progress.step);
        let (loss, gradients) = shards.gradients(params, seed, &parts, |tape, part| learner.loss(tape, part, scale))?;
        let rate = s.rate * schedule.factor(state.progress.step + 1) * state.progress.plateau.0;
        let norm = state.optimiser.update(params.flat_mut(), gradients, |norm| {
            let scale = if s.clip > 0.0 { clip_scale(norm, s.clip) } else { 1.0 };
            (loss.is_finite() && norm.is_finite()).then_some((rate, scale))
        });
        if !loss.is_finite() || !norm.is_finite() {
            let mut lines: Vec<usize> = examples.iter().map(|e| learner.line(e)).collect();
            lines.sort_unstable();
            return Err(Error::NotFinite {
                step: state.progress.step + 1,
                lines,
                gradient: largest(params, gradients.flat()),
                kept: Some(checkpoint_path(self.folder)).filter(|path| path.exists()),
            });
        }
        state.progress.step += 1;
        state.progress.batch += 1;
        state.progress.loss += loss * targets as f64;
        state.progress.targets += targets as u64;
        Ok(())
    }

    /// Measures the model (the mean of the last ones, if asked for) and keeps it if it is the best.
    fn evaluate<L: Learner>(
        &self,
        learner: &L,
        params: &mut Params<f32>,
        dev: &[L::Example],
        state: &mut State,
        schedule: Schedule,
    ) -> Result<Evaluation> {
        let s = self.settings;
        let own = params.flat().to_vec();
        if s.average > 1 {
            state.snapshots.push(own.clone());
            if state.snapshots.len() > s.average {
                state.snapshots.remove(0);
            }
            mean_into(params.flat_mut(), &state.snapshots);
        }
        let measures = learner.measure(params, dev)?;
        let Some(deciding) = measures.iter().find(|m| m.name == s.metric) else {
            let names: Vec<&str> = measures.iter().map(|m| m.name).collect();
            return Err(Error::Value {
                what: "train.metric".into(),
                got: s.metric.clone(),
                expected: format!("one of {}", names.join(", ")),
            });
        };
        let p = &mut state.progress;
        let merit = deciding.merit();
        let best = p.best.is_none_or(|b| merit > b);
        if best {
            (p.best, p.best_epoch, p.waited) = (Some(merit), p.epoch, 0);
            weights::save(params, &self.folder.join("model.safetensors"))?;
        } else {
            p.waited += 1;
        }
        params.flat_mut().copy_from_slice(&own);
        if s.schedule == ScheduleName::Plateau {
            let (current, best, waited) = p.plateau;
            let mut plateau = Plateau {
                factor: s.plateau_factor,
                patience: s.plateau_patience,
                best: best.unwrap_or(f64::NEG_INFINITY),
                waited,
                current,
            };
            plateau.observe(merit);
            p.plateau = (plateau.current, Some(plateau.best), plateau.waited);
        }
        let evaluation = Evaluation {
            epoch: p.epoch,
            step: p.step,
            loss: p.loss / p.targets.max(1) as f64,
            rate: s.rate * schedule.factor(p.step) * p.plateau.0,
            seconds: p.seconds,
            measures,
            best,
        };
        self.note(&evaluation)?;
        Ok(evaluation)
    }

    fn metrics_path(&self) -> PathBuf {
        self.folder.join("metrics.jsonl")
    }

    fn read_metrics(&self) -> String {
        std::fs::read_to_string(self.metrics_path()).unwrap_or_default()
    }

    /// Adds a line to `metrics.jsonl`.
    fn note(&self, e: &Evaluation) -> Result<()> {
        let mut line =
            json!({"epoch": e.epoch, "step": e.step, "train_loss": e.loss, "rate": e.rate, "seconds": (e.seconds * 10.0).round() / 10.0});
        for measure in &e.measures {
            line[measure.name] = json!(measure.value);
        }
        write_whole(&self.metrics_path(), format!("{}{line}\n", self.read_metrics()).as_bytes())
    }

    /// Drops the lines of `metrics.jsonl` that the run is about to write again.
    fn forget_after(&self, epoch: u64) -> Result<()> {
        let keep: String = self
            .read_metrics()
            .lines()
            .filter(|line| serde_json::from_str::<serde_json::Value>(line).is_ok_and(|l| l["epoch"].as_u64().is_some_and(|e| e <= epoch)))
            .flat_map(|line| [line, "\n"])
            .collect();
        write_whole(&self.metrics_path(), keep.as_bytes())
    }
}

struct State {
    progress: Progress,
    optimiser: Optimiser<f32>,
    snapshots: Vec<Vec<f32>>,
}

impl State {
    fn save(&self, path: &Path, params: &Params<f32>) -> Result<()> {
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|source| Error::Io { path: folder.to_path_buf(), source })?;
        }
        let checkpoint =
            Checkpoint { progress: &self.progress, optimiser: self.optimiser.state(), weights: params.flat(), snapshots: &self.snapshots };
        checkpoint.save(path)
    }

    fn restore(&mut self, path: &Path, params: &mut Params<f32>) -> Result<()> {
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

/// The parameter with the largest gradient, and that gradient.
fn largest(params: &Params<f32>, gradient: &[f32]) -> String {
    let worst = params.entries().iter().map(|e| {
        let size = gradient[e.range.clone()].iter().map(|g| if g.is_nan() { f32::INFINITY } else { g.abs() }).fold(0.0, f32::max);
        (size, &e.name)
    });
    match worst.max_by(|a, b| a.0.total_cmp(&b.0)) {
        Some((size, name)) if size.is_finite() => format!("{size:e} in {name}"),
        Some((_, name)) => format!("not a number in {name}"),
        None => "none".into(),
    }
}

fn mean_into(weights: &mut [f32], snapshots: &[Vec<f32>]) {
    let share = 1.0 / snapshots.len().max(1) as f64;
    for (i, w) in weights.iter_mut().enumerate() {
        *w = (snapshots.iter().map(|s| s[i] as f64).sum::<f64>() * share) as f32;
    }
}
