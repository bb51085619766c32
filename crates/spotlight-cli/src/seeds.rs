//! `spotlight train --seeds`: several models that differ in their seed, side by side.
//!
//! Small models scale better across runs than within one: every run has a thread of its own.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::Result;
use spotlight::folder::{self, Log, Record, Seeds, State};
use spotlight::metrics::{Report, Spread, Style};
use spotlight::model::describe::measure_name;
use spotlight::model::teach::{Course, Order};
use spotlight::train::{End, Evaluation, Tick, Watch};

use crate::ensemble::uncalibrated;
use crate::output::print;
use crate::progress::{STOP, Stopped, catch_signals};
use crate::train::checkpoint_every;

/// One line for each evaluation, said and kept in the member's log.
struct Lines<'a> {
    seed: u64,
    metric: &'a str,
    log: Log,
    tell: &'a (dyn Fn(&str) + Sync),
}

impl Watch for Lines<'_> {
    fn tick(&mut self, _: Tick) {}

    fn evaluated(&mut self, evaluation: &Evaluation) {
        let value = evaluation.measures.iter().find(|m| m.name == self.metric).map_or(f64::NAN, |m| m.value);
        let best = if evaluation.best { "  best" } else { "" };
        let (seed, epoch, loss, name) = (self.seed, evaluation.epoch, evaluation.loss, measure_name(self.metric));
        let line = format!("epoch {epoch:<4} loss {loss:.4}  {name} {value:.4}{best}");
        self.log.line(&line);
        (self.tell)(&format!("seed {seed:<4} {line}"));
    }
}

/// Begins with several seeds in a folder, as members of an ensemble.
pub fn begin(seeds: &Seeds, out: &Path, force: bool, tell: &(dyn Fn(&str) + Sync)) -> Result<()> {
    let claim = folder::claim(out, force)?;
    if force && folder::state(out)? != State::Empty {
        // What is there goes only for something that can be learnt.
        seeds.task.show(seeds.recipe.as_deref(), &seeds.changes, &mut |_| {})?;
    }
    claim.clear()?;
    seeds.write(out)?;
    learn(seeds, out, tell)
}

/// Goes on with those that were interrupted or have not begun.
pub fn go_on(seeds: &Seeds, out: &Path, tell: &(dyn Fn(&str) + Sync)) -> Result<()> {
    // Held while the members learn, each in a folder of its own; with what is in it.
    let _claim = folder::claim(out, true)?;
    learn(seeds, out, tell)
}

/// Lets all members learn, prints the mean of what they reach, and takes away what they were asked for.
fn learn(seeds: &Seeds, out: &Path, tell: &(dyn Fn(&str) + Sync)) -> Result<()> {
    catch_signals();
    let next = AtomicUsize::new(0);
    let ends: Mutex<Vec<Result<End>>> = Mutex::new(Vec::new());
    let member = |number: usize| out.join(folder::member_name(number + 1));
    std::thread::scope(|scope| {
        for _ in 0..rayon::current_num_threads().min(seeds.count) {
            scope.spawn(|| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= seeds.count || STOP.load(Ordering::Relaxed) {
                        break;
                    }
                    let work = || one(seeds, number, &member(number), tell);
                    let end = pool.as_ref().map_or_else(|_| work(), |pool| pool.install(work));
                    if let Ok(mut ends) = ends.lock() {
                        ends.push(end);
                    }
                }
            });
        }
    });
    let ends = ends.into_inner().unwrap_or_default().into_iter().collect::<Result<Vec<End>>>();
    if ends.is_err() && (0..seeds.count).all(|number| !member(number).exists()) {
        Seeds::done(out)?;
    }
    let ends = ends?;
    if ends.len() < seeds.count || ends.contains(&End::Stopped) {
        eprintln!("stopped; go on with: spotlight train --resume --out {}", out.display());
        return Err(Stopped::by_signal().into());
    }
    let mut report = Report::new();
    report.text("model", out.display().to_string());
    report.count("seeds", seeds.count);
    let records: Vec<Record> = (0..seeds.count).filter_map(|number| Record::read(&member(number))).collect();
    for name in records.first().map(|first| first.measures.keys()).into_iter().flatten() {
        let values: Vec<f64> = records.iter().filter_map(|record| record.measures.get(name)?.as_f64()).collect();
        if let Some(spread) = Spread::of(&values) {
            report.spread(&format!("dev {}", measure_name(name)), spread, Style::Share);
        }
    }
    seeds.task.calibrate(out)?.iter().for_each(|why| tell(&uncalibrated(why)));
    Seeds::done(out)?;
    print(&report.to_string())
}

/// Lets one of them learn, or go on, or does nothing if it has learnt; the first says what was found and chosen.
fn one(seeds: &Seeds, number: usize, member: &Path, tell: &(dyn Fn(&str) + Sync)) -> Result<End> {
    let seed = seeds.first + number as u64;
    let other = seeds.changes.iter().filter(|change| !change.starts_with("seed=")).cloned();
    let (resume, recipe, changes) = match folder::state(member)? {
        State::Finished => return Ok(End::Finished),
        State::Interrupted => (true, Some(folder::read_config(member)?), Vec::new()),
        State::Empty | State::Folds => (false, seeds.recipe.clone(), other.chain([format!("seed={seed}")]).collect()),
    };
    let order = Order { recipe: recipe.as_deref(), changes: &changes, folder: member, force: false, resume };
    let mut said = Vec::new();
    let mut training = seeds.task.begin(&order, &mut |line| {
        if number == 0 {
            tell(line)
        }
        said.push(line.to_string());
    })?;
    let metric = training.settings().metric.clone();
    let mut lines = Lines { seed, metric: &metric, log: training.log()?, tell };
    lines.log.line(&format!("{} by spotlight {}", if resume { "resumed" } else { "begun" }, env!("CARGO_PKG_VERSION")));
    said.iter().for_each(|line| lines.log.line(line));
    let course = Course { checkpoint_every: checkpoint_every(), stop: &STOP };
    let trained = training.run(&course, &mut lines);
    let end = trained.inspect_err(|error| lines.log.line(&format!("failed: {error}")))?.outcome.end;
    lines.log.line(if end == End::Stopped { "stopped" } else { "finished" });
    Ok(end)
}
