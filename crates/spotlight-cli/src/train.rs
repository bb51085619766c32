//! `spotlight train`

use std::path::{Path, PathBuf};
use std::time::Duration;

use anyhow::{Context, Result, bail};
use clap::Args;
use spotlight::config::{ConfigError, place_of};
use spotlight::folder::{Record, Seeds};
use spotlight::model::describe::measure_name;
use spotlight::model::teach::{Course, Files, Order, Trained};
use spotlight::model::{self, Task, folder};
use spotlight::train::End;
use spotlight::train::run::CHECKPOINT_EVERY;

use crate::Common;
use crate::folds::Folds;
use crate::output::{WrongUsage, bytes, duration, grouped, in_columns, note, print, say};
use crate::progress::{Progress, STOP, Stopped, catch_signals};
use crate::{seeds, tasks};

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
    #[arg(long, value_name = "DIR", required_unless_present = "show")]
    out: Option<PathBuf>,
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
    /// Go on from the weights of a model that has learnt: new units and labels are added to its own
    #[arg(long, value_name = "MODEL", conflicts_with_all = ["recipe", "resume", "task", "seeds"])]
    from: Option<PathBuf>,
    /// Learn again from examples of the model in --from, as a share of the new ones, such as 0.5
    #[arg(long, value_name = "SHARE", requires = "from")]
    mix: Option<f64>,
    /// Replace a model that is in the folder; files that are not a model's stay
    #[arg(long)]
    force: bool,
    /// Train so many models that differ in their seed, side by side, and keep them as an ensemble
    #[arg(long, value_name = "N", conflicts_with = "resume", value_parser = clap::value_parser!(u16).range(2..=100))]
    seeds: Option<u16>,
    /// Print the settings that would be used, as a recipe, and train nothing
    #[arg(long, conflicts_with_all = ["resume", "force", "folds", "quiet"])]
    show: bool,
    /// Say nothing but warnings and errors on standard error; log.txt in the folder has it all
    #[arg(long, short)]
    quiet: bool,
    #[command(flatten)]
    folds: Folds,
}

impl Train {
    /// A training with these settings into a folder.
    pub fn of(out: &Path, force: bool, quiet: bool) -> Self {
        Train {
            recipe: None,
            task: None,
            train: None,
            dev: None,
            out: Some(out.to_path_buf()),
            separator: None,
            columns: None,
            header: false,
            changes: Vec::new(),
            resume: false,
            from: None,
            mix: None,
            force,
            seeds: None,
            show: false,
            quiet,
            folds: Folds::default(),
        }
    }

    /// Runs the command.
    pub fn run(&self, common: &Common) -> Result<()> {
        // It is only missing where nothing is written.
        let out = self.out.clone().unwrap_or_default();
        if self.resume {
            self.only_resumes()?;
            if let Some(seeds) = Seeds::read(&out) {
                let files = seeds.task.files(seeds.recipe.as_deref(), &seeds.changes)?;
                let out = return_to_start(out, &seeds.started_in, &files)?;
                return seeds::go_on(&seeds, &out, &|line| self.tell(line));
            }
        }
        let recipe = self.recipe_text(&out)?;
        let recipe = recipe.as_deref();
        let named = recipe.map(folder::task_of).transpose().map_err(|e| self.in_recipe(recipe, e))?.flatten();
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
        let files = task.files(recipe, &changes).map_err(|e| self.in_recipe(recipe, e))?;
        if files.train.is_empty() {
            return Err(WrongUsage("no training examples: give --train FILE".into()).into());
        }
        if self.show {
            return print(&task.show(recipe, &changes, &mut |line| note(line))?);
        }
        let out = match Record::read(&out).filter(|_| self.resume) {
            Some(record) => return_to_start(out, &record.started_in, &files)?,
            None => out,
        };
        if let Some(count) = self.seeds {
            if self.folds.folds.is_some() {
                return Err(WrongUsage("--seeds and --folds do not go together".into()).into());
            }
            let started_in = std::env::current_dir().map_or_else(|_| String::new(), |here| here.to_string_lossy().into_owned());
            let (first, recipe) = (common.seed.unwrap_or(1), recipe.map(str::to_string));
            let seeds = Seeds { task, first, count: count.into(), recipe, changes, started_in };
            return seeds::begin(&seeds, &out, self.force, &|line| self.tell(line));
        }
        match self.folds.folds {
            Some(count) => self.folds.run(count, task, recipe, &changes, (&out, self.force), &|line| self.tell(line)),
            None => self.learn(task, recipe, &changes, &out),
        }
    }

    /// Says something on standard error, unless only warnings are wanted there.
    fn tell(&self, line: &str) {
        if !self.quiet || line.starts_with("warning:") {
            note(line);
        }
    }

    /// An error with the recipe it is about, and the place in its text.
    fn in_recipe(&self, text: Option<&str>, error: ConfigError) -> anyhow::Error {
        let (Some(path), Some(text)) = (&self.recipe, text) else { return error.into() };
        let place = error.key().and_then(|key| place_of(text, key));
        let place = place.map_or_else(String::new, |(line, column)| format!(":{line}:{column}"));
        anyhow::Error::from(error).context(format!("{}{place}", path.display()))
    }

    /// Whether nothing is asked for that a run to be resumed has settled.
    fn only_resumes(&self) -> Result<()> {
        if self.recipe.is_some() || !self.changes.is_empty() || self.train.is_some() || self.dev.is_some() {
            let problem = "--resume goes on with the settings and data in the folder: give nothing but --out (and --threads)";
            return Err(WrongUsage(problem.into()).into());
        }
        Ok(())
    }

    /// The recipe; of a run to be resumed, its own settings.
    fn recipe_text(&self, out: &Path) -> Result<Option<String>> {
        if self.resume {
            // Let go at once: it is taken when there is something to write.
            drop(folder::resume(out)?);
            return Ok(Some(folder::read_config(out)?));
        }
        if !self.show {
            drop(folder::claim(out, self.force)?);
        }
        if let Some(from) = &self.from {
            if let Some(member) = folder::members(from).first() {
                let (from, member) = (from.display(), member.display());
                return Err(WrongUsage(format!(
                    "{from} is an ensemble: go on from one of its members, such as {member}, or make one model of it with distil"
                ))
                .into());
            }
            return Ok(Some(folder::read_config(from)?));
        }
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
        if let Some(from) = &self.from {
            // Where it is when the run is resumed from another folder.
            let from = from.canonicalize().unwrap_or_else(|_| from.clone());
            changes.push(format!("train.from={}", toml_string(&from.to_string_lossy())));
            changes.push(format!("train.mix={:?}", self.mix.unwrap_or(0.0)));
            if self.train.is_some() && self.dev.is_none() {
                changes.push("data.dev=\"\"".into());
            }
        }
        changes.extend(self.header.then(|| "data.header=yes".to_string()));
        changes
    }

    /// Trains, shows how it goes, and prints the table at the end.
    pub fn learn(&self, task: Task, recipe: Option<&str>, changes: &[String], out: &Path) -> Result<()> {
        let order = Order { recipe, changes, folder: out, force: self.force, resume: self.resume };
        let mut said = Vec::new();
        let mut training = task.begin(&order, &mut |line| {
            self.tell(line);
            said.push(line.to_string());
        })?;
        catch_signals();
        let mut progress = Progress::new(&training.settings().metric, self.quiet, training.log()?);
        let what = if self.resume { "resumed" } else { "begun" };
        progress.log(&format!("{what} by spotlight {}", env!("CARGO_PKG_VERSION")));
        said.iter().for_each(|line| progress.log(line));
        let course = Course { checkpoint_every: checkpoint_every(), stop: &STOP };
        let trained = training.run(&course, &mut progress);
        progress.finish();
        let Trained { outcome, parameters } = trained.inspect_err(|error| progress.log(&format!("failed: {error}")))?;
        if outcome.end == End::Stopped {
            let part = if outcome.again.is_some() { " with all examples" } else { "" };
            let stopped =
                format!("stopped in epoch {}{part}; go on with: spotlight train --resume --out {}", outcome.epochs + 1, out.display());
            progress.log(&stopped);
            eprintln!("{stopped}");
            return Err(Stopped::by_signal().into());
        }
        let size = std::fs::metadata(out.join(folder::WEIGHTS)).map_or(0, |m| m.len() as usize);
        let why = if outcome.end == End::Patience { " (no better since)" } else { "" };
        let mut table = vec![("model".to_string(), out.display().to_string())];
        table.extend(outcome.measures.iter().map(|(name, value)| {
            (format!("dev {}", measure_name(name)), value.as_f64().map_or_else(|| "none".into(), |value| format!("{value:.4}")))
        }));
        let again = outcome.again.map_or_else(String::new, |epochs| format!("; then {epochs} with all examples"));
        table.push(("epochs".into(), format!("{}, best {}{why}{again}", outcome.epochs, outcome.best_epoch)));
        table.push(("time".into(), format!("{}, {:.0} positions/s", duration(outcome.seconds), outcome.rate)));
        table.push(("size".into(), format!("{} parameters, {}", grouped(parameters), bytes(size))));
        in_columns(&table).try_for_each(|line| {
            progress.log(&line);
            say(&line)
        })?;
        if model::open(out).is_ok_and(|model| model.blind().is_none()) {
            self.tell(&format!("look at it: spotlight look {}", out.display()));
        }
        Ok(())
    }
}

/// A run goes on in the working folder that it began in, if its files are there, so that it may be resumed from anywhere; if not, here. Returns the way to the
/// model's folder from there.
fn return_to_start(out: PathBuf, started_in: &str, files: &Files) -> Result<PathBuf> {
    let began = Some(PathBuf::from(started_in)).filter(|folder| folder.is_absolute());
    let here = std::env::current_dir()?;
    let names = || [&files.train, &files.dev].into_iter().filter(|name| !name.is_empty() && *name != "-");
    let missing = |folder: &Path| names().find(|name| !folder.join(name).is_file());
    match began {
        Some(began) if began != here && missing(&began).is_none() => {
            let out = std::path::absolute(out)?;
            std::env::set_current_dir(&began).with_context(|| began.display().to_string())?;
            Ok(out)
        }
        Some(began) if began != here => match missing(&here) {
            Some(name) => bail!(
                "cannot go on without {name}: it is neither in {}, where the run began, nor here; start this command in the folder that has it",
                began.display()
            ),
            None => Ok(out),
        },
        _ => Ok(out),
    }
}

/// Time between checkpoints; `SPOTLIGHT_CHECKPOINT_MS` makes it shorter, to test kills.
pub fn checkpoint_every() -> Duration {
    let set = std::env::var("SPOTLIGHT_CHECKPOINT_MS").ok().and_then(|ms| ms.parse().ok());
    set.map_or(CHECKPOINT_EVERY, Duration::from_millis)
}

/// A text as a TOML string.
pub fn toml_string(text: &str) -> String {
    format!("\"{}\"", text.replace('\\', "\\\\").replace('"', "\\\""))
}
