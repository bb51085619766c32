//! `spotlight train --seeds`: several models that differ in their seed, side by side.
//!
//! Small models scale better across runs than within one: every run has a thread of its own.

use std::path::Path;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Result, anyhow};
use spotlight::metrics::{Report, Spread, Style};
use spotlight::model::describe::measure_name;
use spotlight::model::teach::{Course, Order, Trained};
use spotlight::model::{Task, folder};
use spotlight::train::run::CHECKPOINT_EVERY;
use spotlight::train::{End, Evaluation, Tick, Watch};

use crate::output::print;
use crate::progress::{STOP, Stopped, catch_signals};

/// One line for each evaluation.
struct Lines<'a> {
    seed: u64,
    metric: &'a str,
    tell: &'a (dyn Fn(&str) + Sync),
}

impl Watch for Lines<'_> {
    fn tick(&mut self, _: Tick) {}

    fn evaluated(&mut self, evaluation: &Evaluation) {
        let value = evaluation.measures.iter().find(|m| m.name == self.metric).map_or(f64::NAN, |m| m.value);
        let best = if evaluation.best { "  best" } else { "" };
        let (seed, epoch, loss, name) = (self.seed, evaluation.epoch, evaluation.loss, measure_name(self.metric));
        (self.tell)(&format!("seed {seed:<4} epoch {epoch:<4} loss {loss:.4}  {name} {value:.4}{best}"));
    }
}

/// Trains `count` models with the seeds from `first` on, keeps them as the members of an ensemble, and prints the mean of what they reach.
pub fn train(task: Task, order: &Order, first: u64, count: usize, tell: &(dyn Fn(&str) + Sync)) -> Result<()> {
    let claim = folder::claim(order.folder, order.force)?;
    claim.clear()?;
    catch_signals();
    let next = AtomicUsize::new(0);
    let runs: Mutex<Vec<(usize, Result<Trained>)>> = Mutex::new(Vec::new());
    let threads = rayon::current_num_threads().min(count);
    std::thread::scope(|scope| {
        for _ in 0..threads {
            scope.spawn(|| {
                let pool = rayon::ThreadPoolBuilder::new().num_threads(1).build();
                loop {
                    let number = next.fetch_add(1, Ordering::Relaxed);
                    if number >= count || STOP.load(Ordering::Relaxed) {
                        break;
                    }
                    let member = order.folder.join(folder::member_name(number + 1));
                    let work = || one(task, order, &member, first + number as u64, number == 0, tell);
                    let done = pool.as_ref().map_or_else(|_| work(), |pool| pool.install(work));
                    if let Ok(mut runs) = runs.lock() {
                        runs.push((number, done));
                    }
                }
            });
        }
    });
    let mut runs = runs.into_inner().unwrap_or_default();
    runs.sort_by_key(|(number, _)| *number);
    let trained: Vec<Trained> = runs.into_iter().map(|(_, run)| run).collect::<Result<_>>()?;
    if trained.len() < count || trained.iter().any(|t| t.outcome.end == End::Stopped) {
        eprintln!("stopped; go on with: spotlight train --resume --out {}/member-N", order.folder.display());
        return Err(Stopped::by_signal().into());
    }
    let mut report = Report::new();
    report.text("model", order.folder.display().to_string());
    report.count("seeds", count);
    for (i, measure) in trained[0].measures.iter().enumerate() {
        let values: Vec<f64> = trained.iter().filter_map(|t| t.measures.get(i)).map(|m| m.value).collect();
        let spread = Spread::of(&values).ok_or_else(|| anyhow!("nothing was measured"))?;
        report.spread(&format!("dev {}", measure_name(measure.name)), spread, Style::Share);
    }
    print(&report.to_string())
}

/// Trains one of them; the first says what was found and chosen.
fn one(task: Task, order: &Order, member: &Path, seed: u64, says: bool, tell: &(dyn Fn(&str) + Sync)) -> Result<Trained> {
    let changes: Vec<String> = order.changes.iter().filter(|c| !c.starts_with("seed=")).cloned().chain([format!("seed={seed}")]).collect();
    let order = Order { changes: &changes, folder: member, ..*order };
    let mut training = task.begin(&order, &mut |line| {
        if says {
            tell(line)
        }
    })?;
    let metric = training.settings().metric.clone();
    Ok(training.run(&Course { checkpoint_every: CHECKPOINT_EVERY, stop: &STOP }, &mut Lines { seed, metric: &metric, tell })?)
}
