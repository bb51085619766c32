//! `spotlight train`

use std::path::PathBuf;
use std::time::Duration;

use anyhow::{Context, Result};
use clap::Args;
use spotlight::config::ConfigError;
use spotlight::model::teach::{Course, Order, Trained};
use spotlight::model::{Task, folder};
use spotlight::train::End;
use spotlight::train::run::CHECKPOINT_EVERY;

use crate::Common;
use crate::folds::Folds;
use crate::output::{WrongUsage, bytes, duration, grouped, say};
use crate::progress::{Progress, STOP, Stopped, catch_signals};
use crate::tasks;

/// Train a model.
///
/// Settings come from a recipe, or are chosen from the data; --set changes one of them.
#[derive(Args)]
pub struct Train {
    /// A recipe: settings as TOML
    recipe: Option<PathBuf>,
    #[arg(long, value_parser = tasks::parse, help = format!("Kind of model, if there is no recipe: {}", tasks::explained()))]
    task: Option<Task>,
    /// File of training examples
    #[arg(long, value_name = "FILE")]
    train: Option<PathBuf>,
    /// File of development examples [default: a part of the training examples]
    #[arg(long, value_name = "FILE")]
    dev: Option<PathBuf>,
    /// Folder for the model
    #[arg(long, value_name = "DIR")]
    out: PathBuf,
    /// What stands between columns: tab, or one character [default: tab; a comma in bags and .csv files]
    #[arg(long, value_name = "CHAR")]
    separator: Option<String>,
    /// Columns to read, in the order of the task: numbers from 1, or names of the header
    #[arg(long, value_name = "A,B,...")]
    columns: Option<String>,
    /// The first line names the columns
    #[arg(long)]
    header: bool,
    /// Change a setting, such as model.hidden=256
    #[arg(long = "set", value_name = "KEY=VALUE")]
    changes: Vec<String>,
    /// Go on from the checkpoint in the folder, with its settings
    #[arg(long, conflicts_with = "force")]
    resume: bool,
    /// Replace a model that is in the folder; files that are not a model's stay
    #[arg(long)]
    force: bool,
    #[command(flatten)]
    folds: Folds,
}

impl Train {
    /// Runs the command.
    pub fn run(&self, common: &Common) -> Result<()> {
        let recipe = self.recipe_text()?;
        let recipe = recipe.as_deref();
        let named = recipe.map(folder::task_of).transpose().map_err(|e| self.in_recipe(e))?.flatten();
        let task = match (self.task, named) {
            (Some(asked), Some(named)) if asked != named => {
                return Err(WrongUsage(format!("--task {} does not go with a recipe for {}", asked.name(), named.name())).into());
            }
            (asked, named) => asked.or(named),
        };
        let Some(task) = task else {
            let problem = format!("say what to train: give a recipe with `task = ...`, or --task {}", tasks::names("|", "|"));
            return Err(WrongUsage(problem).into());
        };
        let changes = self.all_changes(common);
        if let Some(change) = self.changes.iter().find(|c| c.split('=').next().is_some_and(|key| key.trim() == "task")) {
            return Err(WrongUsage(format!("--set {change}: the task is said by --task or by the recipe")).into());
        }
        let files = task.files(recipe, &changes).map_err(|e| self.in_recipe(e))?;
        if files.train.is_empty() {
            return Err(WrongUsage("no training examples: give --train FILE".into()).into());
        }
        match self.folds.folds {
            Some(count) => self.folds.run(count, task, recipe, &changes, (&self.out, self.force)),
            None => self.learn(task, recipe, &changes),
        }
    }

    /// An error with the recipe it is about.
    fn in_recipe(&self, error: ConfigError) -> anyhow::Error {
        match &self.recipe {
            Some(path) => anyhow::Error::from(error).context(path.display().to_string()),
            None => error.into(),
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
    fn all_changes(&self, common: &Common) -> Vec<String> {
        let mut changes = self.changes.clone();
        changes.extend(common.seed.map(|seed| format!("seed={seed}")));
        for (key, path) in [("train", &self.train), ("dev", &self.dev)] {
            changes.extend(path.as_ref().map(|p| format!("data.{key}={}", toml_string(&p.to_string_lossy()))));
        }
        for (key, value) in [("separator", &self.separator), ("columns", &self.columns)] {
            changes.extend(value.as_ref().map(|v| format!("data.{key}={}", toml_string(v))));
        }
        changes.extend(self.header.then(|| "data.header=yes".to_string()));
        changes
    }

    /// Trains, shows how it goes, and prints the table at the end.
    fn learn(&self, task: Task, recipe: Option<&str>, changes: &[String]) -> Result<()> {
        let order = Order { recipe, changes, folder: &self.out, force: self.force, resume: self.resume };
        let mut training = task.begin(&order, &mut |line| eprintln!("{line}"))?;
        catch_signals();
        let mut progress = Progress::new(&training.settings().metric);
        let course = Course { checkpoint_every: checkpoint_every(), stop: &STOP };
        let trained = training.run(&course, &mut progress);
        progress.finish();
        let Trained { outcome, measures, parameters } = trained?;
        if outcome.end == End::Stopped {
            eprintln!("stopped in epoch {}; go on with: spotlight train --resume --out {}", outcome.epochs + 1, self.out.display());
            return Err(Stopped::by_signal().into());
        }
        let size = std::fs::metadata(self.out.join(folder::WEIGHTS)).map_or(0, |m| m.len() as usize);
        say(format_args!("model       {}", self.out.display()))?;
        for m in &measures {
            say(format_args!("dev {:<7} {:.4}", m.name, m.value))?;
        }
        let why = if outcome.end == End::Patience { " (no better since)" } else { "" };
        say(format_args!("epochs      {}, best {}{why}", outcome.epochs, outcome.best_epoch))?;
        say(format_args!("time        {}, {:.0} positions/s", duration(outcome.seconds), outcome.rate))?;
        say(format_args!("size        {} parameters, {}", grouped(parameters), bytes(size)))
    }
}

/// Time between checkpoints; `SPOTLIGHT_CHECKPOINT_MS` makes it shorter, to test kills.
fn checkpoint_every() -> Duration {
    let set = std::env::var("SPOTLIGHT_CHECKPOINT_MS").ok().and_then(|ms| ms.parse().ok());
    set.map_or(CHECKPOINT_EVERY, Duration::from_millis)
}

/// A text as a TOML string.
fn toml_string(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
