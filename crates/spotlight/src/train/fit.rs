//! Training in one call.
//!
//! [`fit`] trains with the defaults and leaves the best weights in `params`. [`Fit`] is the same with something changed: other settings, a seed, a folder that keeps
//! the weights and the course of the run, somebody who is told of every evaluation. A run that can be stopped, killed and resumed is a [`Run`].
//!
//! ```
//! use spotlight::params::{Init, ParamId, Params};
//! use spotlight::tape::{Tape, Var};
//! use spotlight::train::{Fit, Learner};
//! use spotlight::{Float, Result};
//!
//! /// A line through points: `y = w x`.
//! struct Line(ParamId);
//!
//! impl Learner for Line {
//!     type Example = (f64, f64);
//!
//!     fn loss<T: Float>(&self, tape: &Tape<T>, points: &[&(f64, f64)], scale: f64) -> Result<Var> {
//!         let column = |of: fn(&(f64, f64)) -> f64| tape.table(points.len(), 1, points.iter().map(|p| T::from_f64(of(p))).collect());
//!         let error = tape.sub(tape.linear(column(|p| p.0)?, self.0, None)?, column(|p| p.1)?)?;
//!         Ok(tape.scale(tape.sum_all(tape.mul(error, error)?)?, scale))
//!     }
//! }
//!
//! let mut params = Params::new(1);
//! let line = Line(params.add("w", &[1], Init::Glorot));
//! let points = [(1.0, 2.0), (2.0, 4.0), (3.0, 6.0)];
//! Fit::new().rate(0.1).epochs(100).run(&line, &mut params, &points, &points)?;
//! assert!((params.get(line.0)[0] - 2.0).abs() < 0.01);
//! # Ok::<(), spotlight::Error>(())
//! ```

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::run::CHECKPOINT_EVERY;
use super::{Evaluation, Learner, Outcome, Run, Tick, TrainSettings, Watch};
use crate::folder;
use crate::params::Params;
use crate::{Error, Result};

/// Trains with the defaults of [`Fit`]: Adam, a rate that rises and then falls to nothing, as many epochs as make a thousand steps (but ten at least), no more when
/// `dev` has not improved ten times in a row.
///
/// The weights that did best on `dev` are left in `params`.
pub fn fit<L: Learner>(learner: &L, params: &mut Params<f32>, train: &[L::Example], dev: &[L::Example]) -> Result<Outcome> {
    Fit::new().run(learner, params, train, dev)
}

/// Steps of a run whose epochs nobody has chosen.
const STEPS: u64 = 1000;
/// Evaluations of such a run, about.
const EVALUATIONS: u64 = 50;

/// Training in one call, with something other than the defaults.
#[derive(Default)]
pub struct Fit<'a> {
    settings: TrainSettings,
    /// Whether the settings are to be taken as they are.
    given: bool,
    epochs: Option<u64>,
    seed: u64,
    folder: Option<&'a Path>,
    tell: Option<&'a mut dyn FnMut(&Evaluation)>,
}

impl<'a> Fit<'a> {
    /// The defaults: those of [`TrainSettings`], with the mean loss as what decides which weights are best, and a course that suits the number of examples.
    pub fn new() -> Self {
        Fit { seed: 1, ..Self::default() }
    }

    /// All settings at once, such as a recipe's. They are taken as they are.
    pub fn settings(mut self, settings: &TrainSettings) -> Self {
        (self.settings, self.given) = (settings.clone(), true);
        self
    }

    /// Passes over the training examples, at most.
    pub fn epochs(mut self, epochs: u64) -> Self {
        self.epochs = Some(epochs);
        self
    }

    /// The learning rate at its highest.
    pub fn rate(mut self, rate: f64) -> Self {
        self.settings.rate = rate;
        self
    }

    /// The name of the measure that decides which weights are best.
    pub fn metric(mut self, name: &str) -> Self {
        self.settings.metric = name.into();
        self
    }

    /// Decides everything left to chance; 1 unless told.
    pub fn seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// A new or empty folder in which the best weights (`model.safetensors`) and the course of the run (`metrics.jsonl`) stay. Without one nothing stays on disk.
    pub fn folder(mut self, folder: &'a Path) -> Self {
        self.folder = Some(folder);
        self
    }

    /// Is called with every evaluation.
    pub fn tell(mut self, tell: &'a mut dyn FnMut(&Evaluation)) -> Self {
        self.tell = Some(tell);
        self
    }

    /// Trains, and leaves the weights that did best on `dev` in `params`.
    pub fn run<L: Learner>(self, learner: &L, params: &mut Params<f32>, train: &[L::Example], dev: &[L::Example]) -> Result<Outcome> {
        let settings = self.course(train.iter().map(|example| learner.lengths(example).positions()).sum());
        settings.check()?;
        let passing = if self.folder.is_none() { Some(Passing::new()?) } else { None };
        let folder = self.folder.or(passing.as_ref().map(|passing| passing.0.as_path())).unwrap_or(Path::new("."));
        let folder = folder::claim(folder, false)?.begin(|_| Ok(()))?;
        let run = Run {
            folder: &folder,
            settings: &settings,
            seed: self.seed,
            fingerprint: String::new(),
            checkpoint_every: CHECKPOINT_EVERY,
            stop: &AtomicBool::new(false),
        };
        run.train(learner, params, train, dev, &mut Told(self.tell))
    }

    /// The settings, with what nobody has chosen suited to this many positions of training examples: a few examples need many epochs, and no evaluation after each.
    fn course(&self, positions: usize) -> TrainSettings {
        let mut settings = self.settings.clone();
        if !self.given {
            let steps = positions.div_ceil(settings.batch.max(1)).max(1) as u64;
            settings.epochs = self.epochs.unwrap_or((STEPS / steps).max(10));
            settings.warmup = settings.warmup.min(settings.epochs * steps / 10);
            settings.every = settings.epochs.div_ceil(EVALUATIONS).max(1);
        }
        TrainSettings { epochs: self.epochs.unwrap_or(settings.epochs), ..settings }
    }
}

/// Hears of evaluations alone.
struct Told<'a>(Option<&'a mut dyn FnMut(&Evaluation)>);

impl Watch for Told<'_> {
    fn tick(&mut self, _: Tick) {}

    fn evaluated(&mut self, evaluation: &Evaluation) {
        if let Some(tell) = &mut self.0 {
            tell(evaluation);
        }
    }
}

/// A folder that is gone when the run is over: the loop keeps its best weights in files.
pub(crate) struct Passing(PathBuf);

impl Passing {
    pub(crate) fn new() -> Result<Self> {
        static COUNT: AtomicU64 = AtomicU64::new(0);
        let name = format!("spotlight-fit-{}-{}", std::process::id(), COUNT.fetch_add(1, Ordering::Relaxed));
        let path = std::env::temp_dir().join(name);
        // Left over from a process that had the same number and was killed.
        let _ = std::fs::remove_dir_all(&path);
        match std::fs::create_dir(&path) {
            Ok(()) => Ok(Passing(path)),
            Err(source) => Err(Error::Io { path, source }),
        }
    }
}

impl Passing {
    /// Where it is.
    pub(crate) fn path(&self) -> &Path {
        &self.0
    }
}

impl Drop for Passing {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::Float;
    use crate::params::{Init, ParamId};
    use crate::tape::{Tape, Var};
    use crate::train::End;

    /// `y = w x`, with the least that a learner must say of itself.
    struct Line(ParamId);

    impl Learner for Line {
        type Example = (f64, f64);

        fn loss<T: Float>(&self, tape: &Tape<T>, points: &[&(f64, f64)], scale: f64) -> Result<Var> {
            let column = |of: fn(&(f64, f64)) -> f64| tape.table(points.len(), 1, points.iter().map(|p| T::from_f64(of(p))).collect());
            let error = tape.sub(tape.linear(column(|p| p.0)?, self.0, None)?, column(|p| p.1)?)?;
            Ok(tape.scale(tape.sum_all(tape.mul(error, error)?)?, scale))
        }
    }

    const POINTS: [(f64, f64); 4] = [(1.0, 2.0), (2.0, 4.0), (3.0, 6.0), (-1.0, -2.0)];

    fn line() -> (Params<f32>, Line) {
        let mut params = Params::new(1);
        let id = params.add("w", &[1], Init::Zeros);
        (params, Line(id))
    }

    #[test]
    fn a_learner_of_one_function_learns_and_is_measured_by_its_loss() {
        let (mut params, line) = line();
        let before = line.measure(&params, &POINTS).unwrap();
        // The mean of (2 x)².
        assert_eq!((before[0].name, before[0].value), ("loss", 4.0 * 15.0 / 4.0));
        let outcome = fit(&line, &mut params, &POINTS, &POINTS).unwrap();
        assert_ne!(outcome.end, End::Stopped);
        assert!(line.measure(&params, &POINTS).unwrap()[0].value < before[0].value / 2.0);
    }

    #[test]
    fn settings_folder_and_listener_are_heard() {
        let (mut params, line) = line();
        let place = tempfile::tempdir().unwrap();
        let folder = place.path().join("line");
        let mut losses = Vec::new();
        let mut tell = |e: &Evaluation| losses.push(e.measures[0].value);
        let outcome = Fit::new().epochs(7).rate(0.05).folder(&folder).tell(&mut tell).run(&line, &mut params, &POINTS, &POINTS).unwrap();
        assert_eq!((outcome.epochs, losses.len()), (7, 7));
        let mut kept = Params::<f32>::blank();
        let id = kept.add("w", &[1], Init::Zeros);
        crate::weights::load(&mut kept, &folder.join("model.safetensors")).unwrap();
        assert_eq!(kept.get(id), params.get(line.0));
        assert_eq!(std::fs::read_to_string(folder.join("metrics.jsonl")).unwrap().lines().count(), 7);
    }

    #[test]
    fn the_course_suits_the_examples_unless_it_is_given() {
        let of = |fit: Fit, positions: usize| {
            let s = fit.course(positions);
            (s.epochs, s.warmup, s.every)
        };
        // 4 positions are one step, 200,000 are a hundred.
        assert_eq!(of(Fit::new(), 4), (1000, 100, 20));
        assert_eq!(of(Fit::new(), 200_000), (10, 100, 1));
        assert_eq!(of(Fit::new().epochs(7), 4), (7, 0, 1));
        let given = TrainSettings { epochs: 3, ..TrainSettings::default() };
        assert_eq!(of(Fit::new().settings(&given), 4), (3, given.warmup, given.every));
        assert_eq!(of(Fit::new().settings(&given).epochs(5), 4), (5, given.warmup, given.every));
    }

    #[test]
    fn the_seed_decides_and_nothing_stays_behind() {
        let left = || {
            let ours = format!("spotlight-fit-{}-", std::process::id());
            std::fs::read_dir(std::env::temp_dir())
                .unwrap()
                .filter(|e| e.as_ref().unwrap().file_name().to_string_lossy().starts_with(&ours))
                .count()
        };
        let passing = Passing::new().unwrap();
        let path = passing.0.clone();
        assert!(path.is_dir() && left() >= 1);
        drop(passing);
        assert!(!path.exists());
        let weights = |seed: u64| {
            let (mut params, line) = line();
            Fit::new().seed(seed).epochs(3).run(&line, &mut params, &POINTS, &POINTS).unwrap();
            params.flat().to_vec()
        };
        assert_eq!(weights(3), weights(3));
    }

    #[test]
    fn wrong_settings_are_told() {
        let (mut params, line) = line();
        let error = |fit: Fit| fit.run(&line, &mut params.clone(), &POINTS, &POINTS).unwrap_err().to_string();
        assert!(error(Fit::new().rate(0.0)).starts_with("`train.rate`"));
        assert!(error(Fit::new().metric("accuracy")).contains("train.metric"));
        params.flat_mut()[0] = 1.0;
    }
}
