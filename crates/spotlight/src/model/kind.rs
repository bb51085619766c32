//! What a model is: it reads its kind of examples, learns from them, answers, and says what it is.
//!
//! [`Model`] is what a task writes down once; [`AnyModel`] is the same without the types, for whoever opens a folder and does not ask what is in it.

use std::any::Any;
use std::cell::RefCell;
use std::path::Path;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::answer::Layers;
use super::ask::{AnswerOptions, Input, Replies};
use super::describe::{Baseline, Fact, Outline, Scores, add_baselines};
use super::grow::Named;
use super::nearest::{Contexts, ROWS};
use super::teach;
use super::touch::{self, Touch, Touched};
use super::{Calibration, Task};
use crate::audit::{Course, Progress, Report};
use crate::config::ConfigError;
use crate::metrics::Tallies;
use crate::params::Params;
use crate::text::read::Examples;
use crate::train::{Learner, Measure, Outcome, Run, TrainSettings, Watch};
use crate::view::CAVEAT;
use crate::{Error, Result};

/// The settings of a task: what every recipe has, whatever else it has.
pub trait Settings: Clone + Default + Serialize + DeserializeOwned + Send + Sync {
    /// Decides everything left to chance.
    fn seed(&self) -> u64;
    /// The files to learn from and to develop with; empty if there is none.
    fn files(&self) -> (&str, &str);
    /// `[train]`
    fn training(&self) -> &TrainSettings;

    /// Whether the examples that are set aside from the training file are learnt from in the end: they can then measure nothing.
    fn learns_all(&self) -> bool {
        self.training().all && self.files().1.is_empty()
    }
}

/// Settings chosen from the data, and what was found there, for the user.
#[derive(Clone, Debug, PartialEq)]
pub struct Chosen<C> {
    /// The settings.
    pub config: C,
    /// A line each.
    pub notes: Vec<String>,
}

/// One kind of model. A task implements this once, and every command and server can train it, ask it, measure it and draw it.
///
/// `fit` and `measure` are [`teach::fit`](super::teach::fit) and [`teach::measure`](super::teach::measure) of the task's own type, written out where it is
/// implemented, so that the training loop is compiled there and not again by whoever calls it.
pub trait Model: Sized + Send + Sync + 'static {
    /// Which task it is for.
    const TASK: Task;
    /// What is the same in examples that must stay together when some are set aside: the name of [`Model::key`].
    const KEY: &'static str;
    /// Its settings.
    type Config: Settings;
    /// An example as it is read from a file.
    type Row: Clone + Send + Sync;
    /// How it learns.
    type Learner: Learner;

    /// Reads a file of examples; `-` is standard input.
    fn read(path: &Path, config: &Self::Config) -> Result<Examples<Self::Row>>;

    /// Examples with the same key are all learnt from, or all set aside.
    fn key(row: &Self::Row) -> String;

    /// The label of an example, if the task has labels: each is learnt from, however rare it is.
    fn label(_row: &Self::Row) -> Option<&str> {
        None
    }

    /// Settings that suit these examples, where the user asks for these `key=value` pairs.
    fn choose(rows: &[Self::Row], changes: &[String]) -> Result<Chosen<Self::Config>>;

    /// The defaults beside settings that were given: a task whose models have several forms has defaults for each.
    fn defaults(_given: &Self::Config) -> Self::Config {
        Self::Config::default()
    }

    /// A new model for these examples. The settings are checked.
    fn new(config: Self::Config, rows: &[Self::Row]) -> Result<Self>;

    /// Reads a model's folder.
    fn load(folder: &Path) -> Result<Self>;

    /// A new model with these settings that knows the units and labels of this one and of new examples; its numbers are drawn. [`Model::names`] says which of them this one has.
    fn grown(&self, config: Self::Config, rows: &[Self::Row]) -> Result<Self>;

    /// What rows and columns of its parameters stand for.
    fn names(&self) -> Vec<Named>;

    /// Several models as one that answers with the mean of what they say. An error for models that do not go together.
    fn join(members: Vec<Self>) -> Result<Self>;

    /// How sure it may be of its answers, by what it says of these rows; nothing if its answers have no probability.
    fn calibrate(&self, _rows: &[Self::Row]) -> Result<Option<Calibration>> {
        Ok(None)
    }

    /// Lets it be as sure as was found.
    fn set_calibration(&mut self, _calibration: Calibration) {}

    /// Writes all but the weights, which are written by the training run.
    fn save_frame(&self, folder: &Path) -> Result<()>;

    /// All settings.
    fn config(&self) -> &Self::Config;

    /// Its numbers.
    fn params(&self) -> &Params<f32>;

    /// Its numbers, to learn.
    fn params_mut(&mut self) -> &mut Params<f32>;

    /// How it learns.
    fn learner(&self) -> Self::Learner;

    /// Examples as the network takes them.
    fn examples(&self, rows: &[Self::Row]) -> Result<Vec<<Self::Learner as Learner>::Example>>;

    /// The same of those to learn from, with what is made up beside them.
    fn lessons(&self, rows: &[Self::Row]) -> Result<Vec<<Self::Learner as Learner>::Example>> {
        self.examples(rows)
    }

    /// What makes an example the same as another, for the fingerprint of the data: a run is resumed only with the same ones.
    fn identity(&self, row: &Self::Row) -> Vec<Vec<u8>>;

    /// Learns from `train`, judged by `dev`, and leaves the best weights in itself.
    fn fit(&mut self, run: &Run, train: &[Self::Row], dev: &[Self::Row], watch: &mut dyn Watch) -> Result<Outcome>;

    /// The measures of the training loop on these examples.
    fn measure(&self, rows: &[Self::Row]) -> Result<Vec<Measure>>;

    /// What is about to be learnt, for the user.
    fn outline(&self, train: &[Self::Row], dev: &[Self::Row]) -> Result<Outline>;

    /// What it is, beside its parameters and settings.
    fn facts(&self) -> Vec<Fact>;

    /// Why there is no attention to look at, if there is none.
    fn blind(&self) -> Option<String>;

    /// The layers that can be looked into, of a Transformer.
    fn layers(&self) -> Option<Layers> {
        None
    }

    /// Why its answers do not say how probable it is that they are right, if they do not.
    fn unsure(&self) -> Option<&'static str> {
        None
    }

    /// What its pictures do and do not show, as long as no audit has said more.
    fn caveat(&self) -> &'static str {
        CAVEAT
    }

    /// What somebody would type to ask for the first of these examples, if that can be typed.
    fn typed(&self, rows: &[Self::Row]) -> Option<String>;

    /// Answers to everything in the input.
    fn answers<'a>(&'a self, input: Input<'a>, options: &AnswerOptions) -> Result<Replies<'a>>;

    /// How far the pictures of its attention can be trusted, by these examples.
    fn audit(&self, _rows: &[Self::Row], _course: &Course, _progress: &Progress) -> Result<Report> {
        Err(Error::Audit(format!("no experiments are known for the attention of the task {}", Self::TASK.name())))
    }

    /// Plays with the answers to an input; see [`Touch`]. For models that judge: one that writes is played with by [`Transducer::explore`](super::seq2seq::Transducer::explore).
    fn touch(&self, _input: Input, _touch: &Touch, _seen: Option<&Contexts>) -> Result<Vec<Touched>> {
        Err(touch::refused(format!("that of the task {}", Self::TASK.name())))
    }

    /// The contexts of examples.
    fn contexts(&self, _rows: &[Self::Row]) -> Result<Contexts> {
        Err(touch::refused(format!("that of the task {}", Self::TASK.name())))
    }

    /// What simple ways reach on these examples. Some must be shown the examples that the model has learnt from; if they are not there, they are left out.
    fn baselines(&self, _train: &dyn Fn() -> Option<Vec<Self::Row>>, _rows: &[Self::Row]) -> Result<Vec<Baseline>> {
        Ok(Vec::new())
    }

    /// How well it does on these examples.
    fn scores(&self, rows: &[Self::Row], options: &AnswerOptions) -> Result<Scores>;

    /// The measures that models are compared by, example by example.
    fn tallies(&self, rows: &[Self::Row], options: &AnswerOptions) -> Result<Vec<Tallies>>;
}

/// The settings of a model without a recipe: the defaults, changed by the recipe, changed by `key=value` pairs.
pub(super) fn resolved<M: Model>(recipe: Option<&str>, changes: &[String]) -> Result<M::Config, ConfigError> {
    let recipe = recipe.unwrap_or_default();
    let given = crate::config::resolve(&M::Config::default(), recipe, changes)?;
    crate::config::resolve(&M::defaults(&given), recipe, changes)
}

/// A model of any task, read from its folder by [`open`](super::open).
///
/// ```no_run
/// use spotlight::model::{self, AnswerOptions, Input};
///
/// let model = model::open("dates".as_ref())?;
/// for reply in model.answers(Input::Text("march 15, 2024"), &AnswerOptions::default())? {
///     println!("{}", reply?.read()?.to_json());
/// }
/// # Ok::<(), spotlight::Error>(())
/// ```
pub trait AnyModel: Send + Sync {
    /// Which task it is for.
    fn task(&self) -> Task;

    /// Its numbers.
    fn params(&self) -> &Params<f32>;

    /// What it is, beside its parameters and settings.
    fn facts(&self) -> Vec<Fact>;

    /// Why there is no attention to look at, if there is none.
    fn blind(&self) -> Option<String>;

    /// The layers that can be looked into, of a Transformer.
    fn layers(&self) -> Option<Layers>;

    /// Why its answers do not say how probable it is that they are right, if they do not.
    fn unsure(&self) -> Option<&'static str>;

    /// What its pictures do and do not show, as long as no audit has said more.
    fn caveat(&self) -> &'static str;

    /// Answers to everything in the input, in its order unless the task ranks them.
    fn answers<'a>(&'a self, input: Input<'a>, options: &AnswerOptions) -> Result<Replies<'a>>;

    /// Something to ask it: the first example that it was developed with, or learnt from; none if their files are gone.
    fn example(&self) -> Option<String>;

    /// As its own type, for what only one task can do.
    fn as_any(&self) -> &dyn Any;

    /// Plays with the answers to an input, in its order: `seen` is what [`AnyModel::seen`] gave. For models that judge.
    fn touch(&self, input: Input, touch: &Touch, seen: Option<&Contexts>) -> Result<Vec<Touched>>;

    /// The contexts of the examples that it learnt from, the first of many; an error if their file is not there.
    fn seen(&self) -> Result<Contexts>;

    /// How well it does on a file of examples; `note` hears what was left out of it.
    fn evaluate(&self, file: &Path, options: &AnswerOptions, note: &mut dyn FnMut(&str)) -> Result<Scores>;

    /// The measures that models are compared by on a file of examples, example by example; `note` hears what was left out of it.
    fn tallies(&self, file: &Path, options: &AnswerOptions, note: &mut dyn FnMut(&str)) -> Result<Vec<Tallies>>;

    /// How far the pictures of its attention can be trusted, by a file of examples; `note` hears what was left out of it.
    fn audit(&self, file: &Path, course: &Course, note: &mut dyn FnMut(&str), progress: &Progress) -> Result<Report>;
}

impl<M: Model> AnyModel for M {
    fn task(&self) -> Task {
        M::TASK
    }

    fn params(&self) -> &Params<f32> {
        Model::params(self)
    }

    fn facts(&self) -> Vec<Fact> {
        Model::facts(self)
    }

    fn blind(&self) -> Option<String> {
        Model::blind(self)
    }

    fn layers(&self) -> Option<Layers> {
        Model::layers(self)
    }

    fn unsure(&self) -> Option<&'static str> {
        Model::unsure(self)
    }

    fn caveat(&self) -> &'static str {
        Model::caveat(self)
    }

    fn answers<'a>(&'a self, input: Input<'a>, options: &AnswerOptions) -> Result<Replies<'a>> {
        Model::answers(self, input, options)
    }

    fn example(&self) -> Option<String> {
        let (train, dev) = self.config().files();
        let there = |path: &&str| !["", "-"].contains(path) && Path::new(path).exists();
        let path = [dev, train].into_iter().find(there)?;
        self.typed(&M::read(Path::new(path), self.config()).ok()?.examples)
    }

    fn as_any(&self) -> &dyn Any {
        self
    }

    fn touch(&self, input: Input, touch: &Touch, seen: Option<&Contexts>) -> Result<Vec<Touched>> {
        Model::touch(self, input, touch, seen)
    }

    fn seen(&self) -> Result<Contexts> {
        let missing = |got: String| Error::Value { what: "the training examples".into(), got, expected: "those it learnt from".into() };
        let mut rows = teach::training_rows::<M>(self.config()).map_err(missing)?;
        rows.truncate(ROWS);
        self.contexts(&rows)
    }

    fn evaluate(&self, file: &Path, options: &AnswerOptions, note: &mut dyn FnMut(&str)) -> Result<Scores> {
        let read = M::read(file, self.config())?;
        read.notes.iter().for_each(|line| note(&line.to_string()));
        let mut scores = self.scores(&read.examples, options)?;
        let missing = RefCell::new(None);
        let learnt = || teach::learnt_from::<M>(self.config()).map_err(|why| *missing.borrow_mut() = Some(why)).ok();
        add_baselines(&mut scores.report, &self.baselines(&learnt, &read.examples)?);
        missing.take().iter().for_each(|why: &String| note(why));
        Ok(scores)
    }

    fn tallies(&self, file: &Path, options: &AnswerOptions, note: &mut dyn FnMut(&str)) -> Result<Vec<Tallies>> {
        let read = M::read(file, self.config())?;
        read.notes.iter().for_each(|line| note(&line.to_string()));
        Model::tallies(self, &read.examples, options)
    }

    fn audit(&self, file: &Path, course: &Course, note: &mut dyn FnMut(&str), progress: &Progress) -> Result<Report> {
        let read = M::read(file, self.config())?;
        read.notes.iter().for_each(|line| note(&line.to_string()));
        Model::audit(self, &read.examples, course, progress)
    }
}
