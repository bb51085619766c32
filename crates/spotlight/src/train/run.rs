//! The training loop: batches, updates, evaluations, checkpoints.
//!
//! A run is a function of its settings, its seed and its data. It can be stopped or killed at any moment and goes on from its last checkpoint to the same end, to
//! the byte.

mod files;
#[cfg(test)]
mod tests;

use std::path::Path;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use files::by_name;
use serde_json::{Map, Value};

use super::best::{judge, last_as_good};
use super::checkpoint::Progress;
use super::learner::{Learner, Measure, Solution};
use super::optim::{Optimiser, clip_scale};
use super::parallel::{Shards, deal};
use super::schedule::{Plateau, Schedule};
use super::settings::{ScheduleName, TrainSettings};
use super::state::State;
use crate::config::ConfigError;
pub use crate::folder::checkpoint_path;
use crate::folder::{ModelFolder, Record, Stage, WEIGHTS};
use crate::params::Params;
use crate::text::batch;
use crate::weights;
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
    /// How many epochs are best is known, and as many begin anew with all examples.
    fn again(&mut self, epochs: u64) {
        let _ = epochs;
    }
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
    /// Epochs in which all examples were learnt from after that, if they were.
    pub again: Option<u64>,
    /// Seconds in all.
    pub seconds: f64,
    /// Positions learnt from a second, in this part of the run.
    pub rate: f64,
    /// Measures of the best model, by name; none if the run was stopped before the first evaluation.
    pub measures: Map<String, Value>,
}

/// A run: where it writes, what it follows, and what can stop it.
pub struct Run<'a> {
    /// The model's folder: the best weights go to `model.safetensors`, the course of the run to `metrics.jsonl`, where it stands to `run.json`, and what is needed to
    /// go on to `checkpoint/`. One that was [resumed](crate::folder::resume) goes on from its checkpoint, if it has got as far as one.
    pub folder: &'a ModelFolder,
    /// The settings.
    pub settings: &'a TrainSettings,
    /// Decides everything left to chance.
    pub seed: u64,
    /// Identifies settings and data; a run to be resumed with another one is refused.
    pub fingerprint: String,
    /// Time between checkpoints, usually [`CHECKPOINT_EVERY`]. How often is no matter of the result.
    pub checkpoint_every: Duration,
    /// Set from outside to stop the run after the batch under way.
    pub stop: &'a AtomicBool,
}

/// The examples of a run that learns from all of them in the end.
pub struct Parts<'a, E> {
    /// Those that are learnt from at first.
    pub train: &'a [E],
    /// Those that it is measured by then.
    pub dev: &'a [E],
    /// All of them.
    pub all: &'a [E],
}

/// How long epochs follow each other.
enum Until<'a, E> {
    /// To the end, or until no better model is found: by what is measured on these examples.
    Best(&'a [E]),
    /// To this epoch. Nothing is measured.
    Epoch(u64),
}

/// What a run has found before it is said to be finished.
struct Found {
    outcome: Outcome,
    /// What there is to say of it then.
    record: Record,
    /// The last epoch that was as good as the best.
    until: u64,
    /// What it would go on from.
    state: State,
}

/// The time of a run, earlier parts of it included.
struct Clock {
    start: Instant,
    /// Seconds before this part.
    before: f64,
    /// When the last checkpoint was written.
    saved: Instant,
    /// Positions learnt from in this part.
    positions: u64,
}

impl Clock {
    /// Goes on after so many seconds.
    fn start(before: f64) -> Self {
        Clock { start: Instant::now(), before, saved: Instant::now(), positions: 0 }
    }

    fn seconds(&self) -> f64 {
        self.before + self.start.elapsed().as_secs_f64()
    }
}

/// The measure that decides.
fn deciding<'m>(settings: &TrainSettings, measures: &'m [Measure]) -> Result<&'m Measure> {
    let names: Vec<&str> = measures.iter().map(|m| m.name).collect();
    measures.iter().find(|m| m.name == settings.metric).ok_or_else(|| wrong_metric(settings, &names))
}

fn wrong_metric(settings: &TrainSettings, names: &[&str]) -> Error {
    let problem = format!("must be one of {}, is {:?}", names.join(", "), settings.metric);
    ConfigError::Value { key: "train.metric".into(), problem }.into()
}

/// Whether the measure that is to decide is one that these examples are measured by. To be asked before anything is written; a run asks again.
/// A learner that cannot say so beforehand is found out by its first evaluation.
pub fn check_metric<L: Learner>(settings: &TrainSettings, learner: &L, dev: &[L::Example]) -> Result<()> {
    match learner.measures(dev) {
        Some(names) if !names.contains(&settings.metric.as_str()) => Err(wrong_metric(settings, &names)),
        _ => Ok(()),
    }
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
        let Found { outcome, record, .. } = self.find(learner, params, train, dev, watch)?;
        if outcome.end != End::Stopped {
            self.folder.finish(record)?;
        }
        Ok(outcome)
    }

    /// Finds out how many epochs are best by training as in [`Run::train`]; and if nobody stops it, learns the weights of `last`, a model that knows all examples, from all of them for as many: up to the last that was as good as
    /// the best, for what few examples that were set aside say of a single epoch is mostly chance. `frame` writes what this model is beside its weights.
    ///
    /// What was measured and found out before stays: nobody is left to measure again. While all are learnt from, the folder has the model of before; a run that is stopped meanwhile begins with that again.
    pub fn train_twice<L: Learner>(
        &self,
        first: (&L, &mut Params<f32>),
        last: (&L, &mut Params<f32>),
        parts: &Parts<L::Example>,
        frame: impl FnOnce(&Path) -> Result<()>,
        watch: &mut dyn Watch,
    ) -> Result<Outcome> {
        let Found { outcome: found, record, until, state: mut before } = self.find(first.0, first.1, parts.train, parts.dev, watch)?;
        if found.end == End::Stopped {
            return Ok(found);
        }
        if before.progress.found.is_none() {
            before.progress.found = Some(found.end == End::Patience);
            before.save(&checkpoint_path(self.folder.path()), first.1)?;
        }
        let (learner, params) = last;
        watch.again(until);
        let mut state = self.begun(params);
        let mut clock = Clock::start(found.seconds);
        let end = self.epochs(learner, params, parts.all, Until::Epoch(until), &mut state, &mut clock, watch)?;
        let seconds = clock.seconds();
        let record = Record { seconds, again: Some(until), ..record };
        if end == End::Stopped {
            self.folder.record(&record.halted(Stage::Stopped))?;
            return Ok(Outcome { end, epochs: state.progress.epoch, again: Some(until), seconds, ..found });
        }
        if !state.snapshots.is_empty() {
            mean_into(params.flat_mut(), &state.snapshots);
        }
        self.folder.reframe(frame)?;
        self.keep(params)?;
        self.folder.finish(record)?;
        Ok(Outcome { seconds, again: Some(until), ..found })
    }

    /// The state of a run that has learnt nothing.
    fn begun(&self, params: &Params<f32>) -> State {
        State {
            progress: Progress { fingerprint: self.fingerprint.clone(), plateau: (1.0, None, 0), ..Progress::default() },
            optimiser: Optimiser::new(self.settings.rule(), params.len()),
            snapshots: Vec::new(),
        }
    }

    /// Trains until the end, leaves the best weights in `params`, and writes all but that the run is finished.
    fn find<L: Learner>(
        &self,
        learner: &L,
        params: &mut Params<f32>,
        train: &[L::Example],
        dev: &[L::Example],
        watch: &mut dyn Watch,
    ) -> Result<Found> {
        check_metric(self.settings, learner, dev)?;
        let mut state = self.begun(params);
        if self.folder.resumed() {
            self.restore(&mut state, params)?;
        }
        let started = self.started();
        self.folder.record(&self.told(&started, &state.progress))?;
        self.forget_after(state.progress.epoch)?;
        let mut clock = Clock::start(state.progress.seconds);
        let end = match state.progress.found {
            // Stopped after that.
            Some(patience) if patience => End::Patience,
            Some(_) => End::Finished,
            None => {
                let end = self.epochs(learner, params, train, Until::Best(dev), &mut state, &mut clock, watch)?;
                let best = self.folder.path().join(WEIGHTS);
                if best.exists() {
                    weights::load(params, &best)?;
                } else {
                    // Stopped before the first evaluation: the weights so far are better than none.
                    self.keep(params)?;
                }
                end
            }
        };
        state.progress.seconds = clock.seconds();
        if state.progress.found.is_none() && end != End::Stopped {
            if state.progress.best_measures.is_empty() {
                // The best model is from before measures were part of a checkpoint.
                state.progress.best_measures = by_name(&learner.measure(params, dev)?);
            }
            for (name, data) in learner.closing(params, dev)? {
                self.folder.replace(name, &data)?;
            }
        }
        let p = &state.progress;
        let record = Record { patience_ran_out: end == End::Patience, ..self.told(&started, p) };
        if end == End::Stopped {
            self.folder.record(&record.clone().halted(Stage::Stopped))?;
        }
        let rate = clock.positions as f64 / clock.start.elapsed().as_secs_f64().max(1e-9);
        let until = last_as_good(p, dev.len());
        let (epochs, best_epoch, seconds, measures) = (p.epoch, p.best_epoch, p.seconds, p.best_measures.clone());
        Ok(Found { outcome: Outcome { end, epochs, best_epoch, again: None, seconds, rate, measures }, record, until, state })
    }

    /// Learns, epoch after epoch.
    #[allow(clippy::too_many_arguments)]
    fn epochs<L: Learner>(
        &self,
        learner: &L,
        params: &mut Params<f32>,
        examples: &[L::Example],
        until: Until<L::Example>,
        state: &mut State,
        clock: &mut Clock,
        watch: &mut dyn Watch,
    ) -> Result<End> {
        let s = self.settings;
        let lengths: Vec<_> = examples.iter().map(|e| learner.lengths(e)).collect();
        let path = checkpoint_path(self.folder.path());
        let per_epoch = batch::shuffled(&lengths, s.batch, self.seed, 0).len() as u64;
        let schedule = s.schedule(per_epoch * s.epochs);
        let mut shards = Shards::new(params, s.shards);
        let (dev, last) = match until {
            Until::Best(dev) => (Some(dev), s.epochs),
            Until::Epoch(last) => (None, last),
        };

        match learner.solve(params, examples, self.stop)? {
            Solution::BySteps => {}
            Solution::Stopped => return Ok(End::Stopped),
            Solution::Found(loss) => {
                clock.positions += lengths.iter().map(|l| l.positions() as u64).sum::<u64>();
                let p = &mut state.progress;
                (p.epoch, p.loss, p.targets) = (last, loss, 1);
                p.seconds = clock.seconds();
                if let Some(dev) = dev {
                    watch.measuring();
                    watch.evaluated(&self.evaluate(learner, params, dev, state, schedule)?);
                }
            }
        }
        while state.progress.epoch < last {
            if dev.is_some() && s.patience > 0 && state.progress.waited >= s.patience {
                return Ok(End::Patience);
            }
            let epoch = state.progress.epoch;
            let batches = batch::shuffled(&lengths, s.batch, self.seed, epoch);
            for members in batches.iter().skip(state.progress.batch as usize) {
                let chosen: Vec<&L::Example> = members.iter().map(|&i| &examples[i]).collect();
                self.step(learner, params, &mut shards, state, &chosen, schedule)?;
                let seen = members.iter().map(|&i| lengths[i].positions() as u64).sum();
                clock.positions += seen;
                watch.tick(Tick {
                    epoch,
                    epochs: last,
                    batch: state.progress.batch,
                    batches: batches.len() as u64,
                    positions: seen,
                    loss: state.progress.loss / state.progress.targets.max(1) as f64,
                });
                let stop = self.stop.load(Ordering::Relaxed);
                // Weights that have just gone astray are found out by the next batch; they must not replace the last good ones.
                let due = dev.is_some() && (stop || clock.saved.elapsed() > self.checkpoint_every);
                if due && params.flat().iter().all(|w| w.is_finite()) {
                    state.progress.seconds = clock.seconds();
                    state.save(&path, params)?;
                    clock.saved = Instant::now();
                }
                if stop {
                    return Ok(End::Stopped);
                }
            }
            state.progress.epoch += 1;
            state.progress.batch = 0;
            state.progress.seconds = clock.seconds();
            let measured = state.progress.epoch.is_multiple_of(s.every) || state.progress.epoch == s.epochs;
            match dev {
                Some(dev) if measured => {
                    watch.measuring();
                    watch.evaluated(&self.evaluate(learner, params, dev, state, schedule)?);
                }
                Some(_) => self.keep_epoch(state.progress.epoch, params)?,
                None if measured && s.average > 1 => state.snapshot(params, s.average),
                None => {}
            }
            (state.progress.loss, state.progress.targets) = (0.0, 0);
        }
        Ok(End::Finished)
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
        // A gradient of zero leaves no trace in what the rule remembers; what decays is put back.
        let frozen: Vec<_> = learner.frozen(state.progress.epoch).into_iter().map(|id| (id, params.get(id).to_vec())).collect();
        frozen.iter().for_each(|(id, _)| gradients.clear(*id));
        let rate = s.rate * schedule.factor(state.progress.step + 1) * state.progress.plateau.0;
        let norm = state.optimiser.update(params.flat_mut(), gradients, |norm| {
            let scale = if s.clip > 0.0 { clip_scale(norm, s.clip) } else { 1.0 };
            (loss.is_finite() && norm.is_finite()).then_some((rate, scale))
        });
        frozen.iter().for_each(|(id, weights)| params.get_mut(*id).copy_from_slice(weights));
        if !loss.is_finite() || !norm.is_finite() {
            let mut lines: Vec<usize> = examples.iter().map(|e| learner.line(e)).collect();
            lines.sort_unstable();
            return Err(Error::NotFinite {
                step: state.progress.step + 1,
                lines,
                gradient: largest(params, gradients.flat()),
                kept: Some(checkpoint_path(self.folder.path())).filter(|path| path.exists()),
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
            state.snapshot(params, s.average);
            mean_into(params.flat_mut(), &state.snapshots);
        }
        let measures = learner.measure(params, dev)?;
        let deciding = deciding(s, &measures)?;
        let p = &mut state.progress;
        let trained = p.loss / p.targets.max(1) as f64;
        let loss = measures.iter().find(|m| m.name == "loss").map_or(trained, |m| m.value);
        let merit = deciding.merit();
        let verdict = judge(p, deciding, loss);
        if verdict.best {
            p.best_measures = by_name(&measures);
            self.keep(params)?;
        }
        self.keep_epoch(p.epoch, params)?;
        params.flat_mut().copy_from_slice(&own);
        if s.schedule == ScheduleName::Plateau && verdict.telling {
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
            loss: trained,
            rate: s.rate * schedule.factor(p.step) * p.plateau.0,
            seconds: p.seconds,
            measures,
            best: verdict.best,
        };
        self.note(&evaluation)?;
        Ok(evaluation)
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
