//! `spotlight train`

use std::collections::HashSet;
use std::hash::Hash;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use serde::Serialize;
use serde::de::DeserializeOwned;
use spotlight::config::resolve;
use spotlight::folder::{self, ModelFolder, Task};
use spotlight::model::seq2seq::{Config, Transducer};
use spotlight::params::Params;
use spotlight::text::guess::guess_units;
use spotlight::text::read::{self, ThirdColumn, split_dev};
use spotlight::text::{Pair, TextError};
use spotlight::train::run::CHECKPOINT_EVERY;
use spotlight::train::{End, Learner, Run, TrainSettings, check_metric};

use crate::Common;
use crate::output::{WrongUsage, bytes, duration, grouped, say, written};
use crate::progress::Progress;
use crate::tasks;

/// Share of the training examples set aside if no development file is given.
const DEV_SHARE: f64 = 0.1;
/// Set by Ctrl-C.
pub static STOP: AtomicBool = AtomicBool::new(false);

/// Train a model.
///
/// Settings come from a recipe, or are chosen from the data; --set changes one of them.
#[derive(Args)]
pub struct Train {
    /// A recipe: settings as TOML
    recipe: Option<PathBuf>,
    /// Kind of model, if there is no recipe: seq2seq (pairs), classify (labelled texts), match (questions with answers), bags (feature vectors)
    #[arg(long, value_parser = parse_task)]
    task: Option<Task>,
    /// File of training examples
    #[arg(long, value_name = "FILE")]
    train: Option<PathBuf>,
    /// File of development examples [default: a part of the training examples]
    #[arg(long, value_name = "FILE")]
    dev: Option<PathBuf>,
    /// Folder for the model
    #[arg(long, value_name = "DIR")]
    pub out: PathBuf,
    /// Change a setting, such as model.hidden=256
    #[arg(long = "set", value_name = "KEY=VALUE")]
    changes: Vec<String>,
    /// Replace the model in the folder, if there is one; files that are not a model's are never touched
    #[arg(long, conflicts_with = "resume")]
    pub force: bool,
    /// Go on from the checkpoint in the folder, with its settings
    #[arg(long)]
    resume: bool,
    /// Cross-validation: train N models, each judged on another Nth of the examples (bags only)
    #[arg(long, value_name = "N", conflicts_with_all = ["resume", "dev"])]
    folds: Option<usize>,
}

fn parse_task(name: &str) -> Result<Task, String> {
    let known = [("seq2seq", Task::Seq2seq), ("classify", Task::Classify), ("match", Task::Match), ("bags", Task::Bags)];
    known.iter().find(|(n, _)| *n == name).map(|(_, t)| *t).ok_or_else(|| "expected seq2seq, classify, match or bags".into())
}

impl Train {
    /// Runs the command.
    pub fn run(&self, common: &Common) -> Result<()> {
        let recipe = self.recipe_text()?;
        let task = match (self.task, recipe.as_deref().and_then(folder::task_of)) {
            (Some(asked), Some(named)) if asked != named => {
                return Err(WrongUsage(format!("--task {asked:?} does not go with a recipe for {named:?}")).into());
            }
            (asked, named) => asked.or(named),
        };
        if self.folds.is_some() && task != Some(Task::Bags) {
            return Err(WrongUsage("--folds goes with --task bags".into()).into());
        }
        match task {
            Some(Task::Seq2seq) => self.seq2seq(common, recipe.as_deref()),
            Some(Task::Classify) => tasks::classify::train(self, common, recipe.as_deref()),
            Some(Task::Match) => tasks::matching::train(self, common, recipe.as_deref()),
            Some(Task::Bags) => match self.folds {
                Some(count) => tasks::bags::cross_validate(self, common, recipe.as_deref(), count),
                None => tasks::bags::train(self, common, recipe.as_deref()),
            },
            None => {
                Err(WrongUsage("say what to train: give a recipe with `task = ...`, or --task seq2seq|classify|match|bags".into()).into())
            }
        }
    }

    /// The recipe; of a run to be resumed, its own settings.
    fn recipe_text(&self) -> Result<Option<String>> {
        if self.resume {
            if self.recipe.is_some() || !self.changes.is_empty() || self.train.is_some() || self.dev.is_some() {
                let problem = "--resume goes on with the settings and data in the folder: give nothing but --out (and --threads)";
                return Err(WrongUsage(problem.into()).into());
            }
            // Let go at once: it is taken when there is something to write.
            drop(folder::resume(&self.out)?);
            return Ok(Some(folder::read_config(&self.out)?));
        }
        drop(folder::claim(&self.out, self.force)?);
        match &self.recipe {
            Some(path) => Ok(Some(std::fs::read_to_string(path).with_context(|| path.display().to_string())?)),
            None => Ok(None),
        }
    }

    /// The changes asked for on the command line, the seed and the files among them.
    pub fn all_changes(&self, common: &Common) -> Vec<String> {
        let mut changes = self.changes.clone();
        changes.extend(common.seed.map(|seed| format!("seed={seed}")));
        for (key, path) in [("train", &self.train), ("dev", &self.dev)] {
            changes.extend(path.as_ref().map(|p| format!("data.{key}={}", toml_string(&p.to_string_lossy()))));
        }
        changes
    }

    /// The defaults, changed by the recipe, changed by what the command line says.
    pub fn settings<C: Serialize + DeserializeOwned>(&self, common: &Common, defaults: &C, recipe: Option<&str>) -> Result<C> {
        resolve(defaults, recipe.unwrap_or_default(), &self.all_changes(common)).map_err(|e| match &self.recipe {
            Some(path) => anyhow::Error::from(e).context(path.display().to_string()),
            None => e.into(),
        })
    }

    /// The folder of the run, with the files of the new model that `save` writes; of a run to be resumed, as it is. All that can be checked has been: from here on
    /// it is written to.
    pub fn begin<L: Learner>(
        &self,
        (settings, learner, dev): (&TrainSettings, &L, &[L::Example]),
        save: impl FnOnce(&Path) -> spotlight::Result<()>,
    ) -> Result<ModelFolder> {
        check_metric(settings, learner, dev)?;
        Ok(if self.resume { folder::resume(&self.out)? } else { folder::claim(&self.out, self.force)?.begin(save)? })
    }

    /// The run of a model with these settings on this data, in this folder.
    pub fn plan<'a>(
        &self,
        folder: &'a ModelFolder,
        settings: &'a TrainSettings,
        seed: u64,
        data: impl Iterator<Item = Vec<u8>>,
    ) -> Result<Plan<'a>> {
        let text = std::fs::read(folder::config_path(folder.path()))?;
        let parts: Vec<Vec<u8>> = data.chain([text]).collect();
        let fingerprint = fingerprint(parts.iter().map(Vec::as_slice));
        Ok(Plan { folder, settings, seed, fingerprint })
    }

    fn seq2seq(&self, common: &Common, recipe: Option<&str>) -> Result<()> {
        // First what is given, to know the data; then what follows from the data, under it.
        let given: Config = self.settings(common, &Config::default(), recipe)?;
        let (train, dev) = read_parts(&given)?;
        let config = if recipe.is_some() { given } else { self.settings(common, &choose(&train), None)? };
        config.check()?;
        let mut model = Transducer::new(config, &train)?;
        let (sources, targets) = model.vocabularies.sizes();
        let m = &model.config.model;
        eprintln!(
            "{} training and {} development pairs; {} source units ({}), {} target units ({})",
            grouped(train.len()),
            grouped(dev.len()),
            grouped(sources),
            written(model.config.source.units),
            grouped(targets),
            written(model.config.target.units)
        );
        let attention = match m.attention.as_str() {
            "none" => "without attention".to_string(),
            score => format!("with {score} attention"),
        };
        eprintln!(
            "{} {} {}, {} parameters; settings in {}",
            written(m.cell),
            m.hidden,
            attention,
            grouped(model.params.len()),
            folder::config_path(&self.out).display()
        );
        let learner = model.learner();
        let (train, dev) = (model.examples(&train), model.examples(&dev));
        let data = train.iter().chain(&dev).flat_map(|e| [e.key.as_bytes().to_vec(), e.reference.as_bytes().to_vec()]);
        let settings = model.config.train.clone();
        let folder = self.begin((&settings, &learner, &dev), |path| model.save_frame(path))?;
        let plan = self.plan(&folder, &settings, model.config.seed, data)?;
        plan.run(&learner, &mut model.params, &train, &dev)
    }
}

/// Lets Ctrl-C set [`STOP`].
pub fn catch_interrupt() {
    let handler = ctrlc::set_handler(|| {
        if STOP.swap(true, Ordering::Relaxed) {
            std::process::exit(130);
        }
        eprintln!("\nstopping after this batch (again to stop at once)");
    });
    if handler.is_err() {
        eprintln!("note: Ctrl-C cannot be caught here; the last checkpoint is then what --resume goes on from");
    }
}

/// A training run as every kind of model needs it.
pub struct Plan<'a> {
    /// The model's folder.
    pub folder: &'a ModelFolder,
    /// Settings.
    pub settings: &'a TrainSettings,
    /// Seed.
    pub seed: u64,
    /// Identifies settings and data.
    pub fingerprint: String,
}

impl Plan<'_> {
    /// Trains, shows how it goes, and prints the table at the end.
    pub fn run<L: Learner>(&self, learner: &L, params: &mut Params<f32>, train: &[L::Example], dev: &[L::Example]) -> Result<()> {
        catch_interrupt();
        let run = Run {
            folder: self.folder,
            settings: self.settings,
            seed: self.seed,
            fingerprint: self.fingerprint.clone(),
            checkpoint_every: checkpoint_every(),
            stop: &STOP,
        };
        let mut progress = Progress::new(&self.settings.metric);
        let outcome = run.train(learner, params, train, dev, &mut progress);
        progress.finish();
        let outcome = outcome?;
        if outcome.end == End::Stopped {
            eprintln!(
                "stopped in epoch {}; go on with: spotlight train --resume --out {}",
                outcome.epochs + 1,
                self.folder.path().display()
            );
            return Ok(());
        }
        let measures = learner.measure(params, dev)?;
        let size = std::fs::metadata(self.folder.path().join(folder::WEIGHTS)).map_or(0, |m| m.len() as usize);
        say(format_args!("model       {}", self.folder.path().display()))?;
        for m in &measures {
            say(format_args!("dev {:<7} {:.4}", m.name, m.value))?;
        }
        let why = if outcome.end == End::Patience { " (no better since)" } else { "" };
        say(format_args!("epochs      {}, best {}{why}", outcome.epochs, outcome.best_epoch))?;
        say(format_args!("time        {}, {:.0} positions/s", duration(outcome.seconds), outcome.rate))?;
        say(format_args!("size        {} parameters, {}", grouped(params.len()), bytes(size)))
    }
}

/// Time between checkpoints; `SPOTLIGHT_CHECKPOINT_MS` makes it shorter, to test kills.
fn checkpoint_every() -> Duration {
    let set = std::env::var("SPOTLIGHT_CHECKPOINT_MS").ok().and_then(|ms| ms.parse().ok());
    set.map_or(CHECKPOINT_EVERY, Duration::from_millis)
}

/// Training and development pairs.
fn read_parts(config: &Config) -> Result<(Vec<Pair>, Vec<Pair>)> {
    parts(
        &config.data.train,
        &config.data.dev,
        config.seed,
        "source",
        |path| read::pairs(path, ThirdColumn::AsFirstLine),
        |p| (p.source.clone(), p.features.clone()),
    )
}

/// Examples to learn from and to develop with. Without a file for the latter, a part is set aside, and examples with the same `key` stay together: `by` is its name.
pub fn parts<T: Clone, K: Hash + Eq>(
    train: &str,
    dev: &str,
    seed: u64,
    by: &str,
    read: impl Fn(&str) -> Result<Vec<T>, TextError>,
    key: impl Fn(&T) -> K,
) -> Result<(Vec<T>, Vec<T>)> {
    if train.is_empty() {
        return Err(WrongUsage("no training examples: give --train FILE".into()).into());
    }
    let examples = read(train)?;
    if !dev.is_empty() {
        return Ok((examples, read(dev)?));
    }
    let (train, dev) = split_dev(examples, DEV_SHARE, seed, key);
    eprintln!("no development file: {} of the examples set aside by {by}", grouped(dev.len()));
    if dev.is_empty() {
        eprintln!("note: too few to set any aside; the model is measured on what it learns from");
        return Ok((train.clone(), train));
    }
    Ok((train, dev))
}

/// Settings chosen from the data.
fn choose(pairs: &[Pair]) -> Config {
    let mut config = Config::default();
    let sides = [("source", guess_units(pairs.iter().map(|p| &p.source))), ("target", guess_units(pairs.iter().map(|p| &p.target)))];
    for (side, guess) in &sides {
        eprintln!("{side} units: {}", guess.reason);
    }
    let [(_, source), (_, target)] = sides;
    config.source = source.settings.into();
    config.target = target.settings.into();
    config.data.features = pairs.first().is_some_and(|p| p.features.is_some());
    // A dictionary hardly ever says the same thing twice; running text does.
    let different = pairs.iter().map(|p| (&p.source, &p.features, &p.target)).collect::<HashSet<_>>().len();
    config.data.alternatives = (pairs.len() - different) * 20 <= pairs.len();
    if !config.data.alternatives {
        eprintln!("pairs repeat themselves, as in running text: every row is measured on its own");
    }
    config.choose_sizes(pairs);
    let (m, t) = (&config.model, &config.train);
    eprintln!(
        "chosen for {} pairs: embedding {}, hidden {}, dropout {}, {} epochs in batches of {} positions",
        grouped(pairs.len()),
        m.embedding,
        m.hidden,
        m.dropout,
        t.epochs,
        grouped(t.batch)
    );
    config
}

/// A text as a TOML string.
fn toml_string(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}

/// FNV-1a over all parts.
pub fn fingerprint<'a>(parts: impl Iterator<Item = &'a [u8]>) -> String {
    let mut hash = 0xcbf2_9ce4_8422_2325u64;
    for part in parts {
        for &byte in part.iter().chain(&[0xff]) {
            hash = (hash ^ byte as u64).wrapping_mul(0x0100_0000_01b3);
        }
    }
    format!("{hash:016x}")
}
