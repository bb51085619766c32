//! From a recipe and files of examples to a model that has learnt, for any task.
//!
//! The steps in order: [`Task::files`](super::Task::files) says what is to be read; [`Begun::new`] reads it, chooses what the recipe leaves open, and writes the frame of the model;
//! [`Training::run`] learns.

use std::path::Path;
use std::sync::atomic::AtomicBool;
use std::time::Duration;

use super::describe::{Outline, grouped};
use super::grow::carry;
use super::kind::{Model, Settings, resolved};
use super::reference::is_chosen;
use crate::config::ConfigError;
use crate::folder::{self, Log, ModelFolder};
use crate::params::Params;
use crate::text::read::{Examples, dev_share, rare_labels, rare_warning, split_dev, split_labelled};
use crate::train::settings::ScheduleName;
use crate::train::{Learner, Measure, Outcome, Run, TrainSettings, Watch, check_metric, run};
use crate::{Error, Result};

/// Below so many examples each of them counts, and learning takes little time: `train` without a recipe learns from all of them in the end.
const FEW: usize = 2000;

/// Decides which examples are set aside: the same for every seed of a model, so that runs can be compared and joined.
const SPLIT_SEED: u64 = 1;

/// What to learn, and where to keep it.
pub struct Order<'a> {
    /// The recipe; without one, settings are chosen from the data.
    pub recipe: Option<&'a str>,
    /// Settings of the recipe to change, as `key=value`.
    pub changes: &'a [String],
    /// The folder of the model.
    pub folder: &'a Path,
    /// Whether a model that is there may be replaced.
    pub force: bool,
    /// Whether to go on with a run that was interrupted there; the recipe is then its own.
    pub resume: bool,
}

/// The files of a recipe; empty if there is none.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Files {
    /// Examples to learn from.
    pub train: String,
    /// Examples to develop with.
    pub dev: String,
}

/// How a training run goes on and ends, apart from its settings.
pub struct Course<'a> {
    /// Time between checkpoints.
    pub checkpoint_every: Duration,
    /// Set from outside to stop the run after the batch under way.
    pub stop: &'a AtomicBool,
}

/// What came of a training run.
#[derive(Clone, Debug)]
pub struct Trained {
    /// How it went.
    pub outcome: Outcome,
    /// Parameters of the model.
    pub parameters: usize,
}

/// A model of any task with its examples, ready to learn.
pub trait Training {
    /// `[train]` of its recipe.
    fn settings(&self) -> &TrainSettings;

    /// `log.txt` of its folder, to be added to.
    fn log(&self) -> Result<Log>;

    /// Learns, and leaves the best weights in the folder.
    fn run(&mut self, course: &Course, watch: &mut dyn Watch) -> Result<Trained>;
}

/// The files that a recipe and the changes to it name.
pub(super) fn files<M: Model>(recipe: Option<&str>, changes: &[String]) -> Result<Files, ConfigError> {
    let config = resolved::<M>(recipe, changes)?;
    let (train, dev) = config.files();
    Ok(Files { train: train.into(), dev: dev.into() })
}

/// A model with its examples, ready to learn.
pub struct Begun<M: Model> {
    model: M,
    train: Vec<<M::Learner as Learner>::Example>,
    dev: Vec<<M::Learner as Learner>::Example>,
    /// What learns from all of them in the end, if anything.
    last: Option<Last<M>>,
    folder: ModelFolder,
    fingerprint: String,
}

/// A model that knows all examples, those set aside among them, and learns from them.
struct Last<M: Model> {
    model: M,
    all: Vec<<M::Learner as Learner>::Example>,
}

impl<M: Model> Begun<M> {
    /// Reads the data and makes the model; when all that can be checked has been, takes the folder and writes all of it but the weights.
    pub fn new(order: &Order, note: &mut dyn FnMut(&str)) -> Result<Self> {
        let Prepared { model, train, dev, last } = prepare::<M>(order.recipe, order.changes, note)?;
        let Outline { data, network, baseline } = model.outline(&train, &dev)?;
        let (parameters, settings) = (grouped(model.params().len()), folder::config_path(order.folder));
        let rows: Vec<Vec<u8>> = train.iter().chain(&dev).flat_map(|row| model.identity(row)).collect();
        let last = last.map(|(model, all)| Ok::<_, Error>(Last { all: model.lessons(&all)?, model })).transpose()?;
        let (train, dev) = (model.lessons(&train)?, model.examples(&dev)?);
        check_metric(model.config().training(), &model.learner(), &dev)?;
        note(&data);
        note(&format!("{network}, {parameters} parameters; settings in {}", settings.display()));
        baseline.iter().for_each(|line| note(line));
        let folder = match order.resume {
            true => folder::resume(order.folder)?,
            false => folder::claim(order.folder, order.force)?.begin(|path| model.save_frame(path))?,
        };
        let text = std::fs::read(&settings).map_err(|source| Error::Io { path: settings, source })?;
        let fingerprint = fingerprint(rows.into_iter().chain([text]));
        Ok(Begun { model, train, dev, last, folder, fingerprint })
    }
}

impl<M: Model> Training for Begun<M> {
    fn settings(&self) -> &TrainSettings {
        self.model.config().training()
    }

    fn log(&self) -> Result<Log> {
        self.folder.log()
    }

    fn run(&mut self, course: &Course, watch: &mut dyn Watch) -> Result<Trained> {
        let settings = self.settings().clone();
        let run = Run {
            folder: &self.folder,
            settings: &settings,
            seed: self.model.config().seed(),
            fingerprint: self.fingerprint.clone(),
            checkpoint_every: course.checkpoint_every,
            stop: course.stop,
        };
        let learner = self.model.learner();
        let first = (&learner, self.model.params_mut());
        let (outcome, parameters) = match &mut self.last {
            None => (run.train(first.0, first.1, &self.train, &self.dev, watch)?, self.model.params().len()),
            Some(Last { model, all }) => {
                let learner = model.learner();
                // Lent to the run, so that the rest of the model can be written.
                let mut params = std::mem::replace(model.params_mut(), Params::blank());
                let parts = run::Parts { train: &self.train, dev: &self.dev, all };
                let outcome = run.train_twice(first, (&learner, &mut params), &parts, |path| model.save_frame(path), watch)?;
                (outcome, params.len())
            }
        };
        Ok(Trained { outcome, parameters })
    }
}

/// A model that has learnt nothing, and its examples.
pub(super) struct Prepared<M: Model> {
    pub model: M,
    pub train: Vec<M::Row>,
    pub dev: Vec<M::Row>,
    /// A model that knows all of them, and all of them, if they are learnt from in the end.
    pub last: Option<(M, Vec<M::Row>)>,
}

/// Reads the data, settles all settings, and makes the model. Nothing is written.
pub(super) fn prepare<M: Model>(recipe: Option<&str>, changes: &[String], note: &mut dyn FnMut(&str)) -> Result<Prepared<M>> {
    // First what is given, to know the data; then what follows from the data, under it.
    let given = resolved::<M>(recipe, changes)?;
    let (mut train, dev) = parts::<M>(&given, note)?;
    let config = match recipe {
        Some(_) => given,
        None => {
            let chosen = M::choose(&train, changes)?;
            chosen.notes.iter().for_each(|line| note(line));
            let key = |change: &str| change.split('=').next().unwrap_or_default().trim().to_string();
            let told: Vec<&str> = changes.iter().map(String::as_str).filter(|change| is_chosen(M::TASK, &key(change))).collect();
            if !told.is_empty() {
                note(&format!("but as told: {}", told.join(", ")));
            }
            let config = crate::config::resolve(&chosen.config, "", changes)?;
            let few = train.len() + dev.len() < FEW && config.files().1.is_empty();
            match few && config.training().schedule != ScheduleName::Plateau {
                true => crate::config::resolve(&chosen.config, "", &[&["train.all=true".to_string()], changes].concat())?,
                false => config,
            }
        }
    };
    let aside = learnt_in_the_end(&config, &train, &dev);
    if !aside.is_empty() {
        let all = grouped(train.len() + aside.len());
        note(&format!("in the end all {all} are learnt from, those set aside among them (train.all)"));
    }
    let from = config.training().from.clone();
    let old = if from.is_empty() { None } else { Some(M::load(Path::new(&from))?) };
    if let Some(old) = &old {
        note(&format!("goes on from the weights in {from}"));
        train.extend(old_rows::<M>(old.config(), config.training().mix, train.len(), note)?);
    }
    let begin = |config: M::Config, rows: &[M::Row]| match &old {
        None => M::new(config, rows),
        Some(old) => {
            let mut model = old.grown(config, rows)?;
            let names = model.names();
            carry((old.params(), &old.names()), (model.params_mut(), &names))?;
            Ok(model)
        }
    };
    if aside.is_empty() {
        return Ok(Prepared { model: begin(config, &train)?, train, dev, last: None });
    }
    let all = [&train[..], aside].concat();
    let last = begin(config, &all)?;
    // With the settings of the last one, where they follow from the examples.
    let model = begin(last.config().clone(), &train)?;
    Ok(Prepared { model, train, dev, last: Some((last, all)) })
}

/// Examples to learn from and to develop with.
pub(crate) type Parts<M> = (Vec<<M as Model>::Row>, Vec<<M as Model>::Row>);

/// Examples to learn from and to develop with. Without a file for the latter, a part is set aside, and examples with the same key stay together.
pub(crate) fn parts<M: Model>(config: &M::Config, note: &mut dyn FnMut(&str)) -> Result<Parts<M>> {
    let (train, dev) = config.files();
    let mut read = |path: &str| -> Result<Vec<M::Row>> {
        let Examples { examples, notes } = M::read(Path::new(path), config)?;
        notes.iter().for_each(|line| note(&line.to_string()));
        Ok(examples)
    };
    let examples = read(train)?;
    if !dev.is_empty() {
        let dev = read(dev)?;
        warn_of_rare::<M>(&examples, note);
        return Ok((examples, dev));
    }
    let share = dev_share(examples.len());
    let (train, dev) = match examples.iter().any(|row| M::label(row).is_some()) {
        true => split_labelled(examples, share, SPLIT_SEED, M::key, |row| M::label(row).map(str::to_string)),
        false => split_dev(examples, share, SPLIT_SEED, M::key),
    };
    warn_of_rare::<M>(&train, note);
    note(&format!("no development file: {} of the examples set aside by {}", grouped(dev.len()), M::KEY));
    if dev.is_empty() {
        note("note: too few to set any aside; the model is measured on what it learns from");
        return Ok((train.clone(), train));
    }
    Ok((train, dev))
}

/// What was set aside and is learnt from in the end; nothing if none could be set aside, and all are learnt from anyway.
fn learnt_in_the_end<'a, R>(config: &impl Settings, train: &[R], dev: &'a [R]) -> &'a [R] {
    if config.learns_all() && dev.len() < train.len() { dev } else { &[] }
}

/// Some of the examples that an older model learnt from: `share` times `count`, spread evenly over its file.
fn old_rows<M: Model>(config: &M::Config, share: f64, count: usize, note: &mut dyn FnMut(&str)) -> Result<Vec<M::Row>> {
    let wanted = (share * count as f64).round() as usize;
    if wanted == 0 {
        return Ok(Vec::new());
    }
    let rows = M::read(Path::new(config.files().0), config)?.examples;
    let wanted = wanted.min(rows.len());
    note(&format!("{} of the {} examples in {} are learnt again", grouped(wanted), grouped(rows.len()), config.files().0));
    Ok((0..wanted).map(|i| rows[i * rows.len() / wanted].clone()).collect())
}

/// The examples that a model has learnt from, if their file is still where it was; else why not.
pub(crate) fn training_rows<M: Model>(config: &M::Config) -> Result<Vec<M::Row>, String> {
    let path = config.files().0;
    match path {
        "" | "-" => Err("the training examples are not there".into()),
        path if !Path::new(path).exists() => Err(format!("the training file {path} is not there")),
        _ => {
            let (train, dev) = parts::<M>(config, &mut |_| {}).map_err(|error| error.to_string())?;
            Ok([&train[..], learnt_in_the_end(config, &train, &dev)].concat())
        }
    }
}

/// The same, for ways that remember them; what is missing is said.
pub(super) fn learnt_from<M: Model>(config: &M::Config) -> Result<Vec<M::Row>, String> {
    training_rows::<M>(config).map_err(|why| match why.ends_with("not there") {
        true => format!("note: {why}, so what remembers them is not compared"),
        false => format!("note: what remembers the training examples is not compared: {why}"),
    })
}

/// Says which labels have too few examples to be learnt well.
fn warn_of_rare<M: Model>(train: &[M::Row], note: &mut dyn FnMut(&str)) {
    if let Some(warning) = rare_warning(&rare_labels(train.iter().filter_map(M::label))) {
        note(&format!("warning: {warning}"));
    }
}

/// Learns from rows: what [`Model::fit`] does for a task.
pub fn fit<M: Model>(model: &mut M, run: &Run, train: &[M::Row], dev: &[M::Row], watch: &mut dyn Watch) -> Result<Outcome> {
    let (train, dev) = (model.lessons(train)?, model.examples(dev)?);
    run.train(&model.learner(), model.params_mut(), &train, &dev, watch)
}

/// Measures rows: what [`Model::measure`] does for a task.
pub fn measure<M: Model>(model: &M, rows: &[M::Row]) -> Result<Vec<Measure>> {
    model.learner().measure(model.params(), &model.examples(rows)?)
}

/// FNV-1a over all parts.
fn fingerprint(parts: impl Iterator<Item = Vec<u8>>) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for part in parts {
        for &byte in part.iter().chain(&[0xff]) {
            hash = (hash ^ byte as u64).wrapping_mul(0x0100_0000_01b3);
        }
    }
    format!("{hash:016x}")
}
