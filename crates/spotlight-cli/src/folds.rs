//! `spotlight train --folds`: cross-validation.

use std::path::Path;
use std::sync::atomic::Ordering;

use anyhow::Result;
use clap::Args;
use spotlight::metrics::{Report, Style};
use spotlight::model::describe::measure_name;
use spotlight::model::folds::Plan;
use spotlight::model::{Task, folder};
use spotlight::train::Measure;

use crate::output::print;
use crate::progress::{STOP, Stopped, catch_signals};

/// Options of `train` that ask for cross-validation.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct Folds {
    /// Cross-validation: train N models, each judged on another Nth of the examples (those of --dev among them)
    #[arg(long, value_name = "N", conflicts_with = "resume")]
    pub folds: Option<usize>,
    /// Cross-validate so many times, with other folds and seeds
    #[arg(long, value_name = "N", default_value_t = 1, requires = "folds")]
    repeat: usize,
}

impl Folds {
    /// Trains a model for each fold, in a folder of its own, and prints mean and spread over the folds, and what simple ways reach on them.
    pub fn run(
        &self,
        count: usize,
        task: Task,
        recipe: Option<&str>,
        changes: &[String],
        (out, force): (&Path, bool),
        tell: &(dyn Fn(&str) + Sync),
    ) -> Result<()> {
        let claim = folder::claim(out, force)?;
        catch_signals();
        let done = |fold: usize, measures: &[Measure]| {
            let values: Vec<String> = measures.iter().map(|m| format!("{} {:.4}", measure_name(m.name), m.value)).collect();
            tell(&format!("fold {:>2}  {}", fold + 1, values.join("  ")));
        };
        let plan = Plan { folds: count, repeat: self.repeat, claim: &claim, stop: &STOP, done: &done };
        let found = task.cross_validate(recipe, changes, &plan, &mut |line| tell(line))?;
        if STOP.load(Ordering::Relaxed) {
            return Err(Stopped::by_signal().into());
        }
        let mut report = Report::new();
        report.count("examples", found.examples);
        report.count("folds", count);
        if self.repeat > 1 {
            report.count("repetitions", self.repeat);
        }
        let mut add = |name: String, spread| {
            if let Some(spread) = spread {
                report.spread(&name, spread, Style::Share);
            }
        };
        for name in found.names() {
            add(measure_name(name), found.spread(name));
            if self.repeat > 1 {
                add(format!("{}, means of repetitions", measure_name(name)), found.spread_of_repetitions(name));
            }
        }
        for (baseline, name) in found.baseline_names() {
            add(format!("{}, {baseline}", measure_name(name)), found.baseline(&baseline, name));
            add(format!("{} above {baseline}", measure_name(name)), found.above(&baseline, name));
        }
        print(&report.to_string())
    }
}
