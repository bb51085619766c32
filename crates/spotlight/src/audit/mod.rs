//! The audit: how far can a picture of attention be trusted?
//!
//! Five claims, each with a measure, its control, and an interval:
//!
//! | claim | measure | control |
//! |---|---|---|
//! | attention is needed | right answers with uniform weights, put in and trained with | spread over seeds |
//! | its order carries the answer | what is lost when units are taken away in its order ([`erasure`]) | a random order; leave-one-out |
//! | the picture is stable | [divergence](divergence()) between seeds | two random draws |
//! | it is the only one | the largest divergence with the same answer: weights put in ([`Adversary`]), and a model trained so ([`imitate`]) | divergence between seeds |
//! | it agrees with other views | Kendall's τ ([`kendall()`]) with gradient x input and leave-one-out | τ of a model that reads every unit on its own |
//!
//! [`Verdict`] puts them into one word, by a rule that it carries along. A model that can be audited offers [`Probe`]; a
//! model that writes is audited by [`written()`]. `docs/audit.md` has the protocols, and our figures beside published ones.

pub mod adversary;
pub mod bootstrap;
mod conicity;
mod divergence;
pub mod erasure;
#[cfg(test)]
mod golden;
mod heads;
pub mod imitate;
mod keep;
mod kendall;
mod links;
mod page;
pub mod pooled;
mod read;
pub mod report;
mod siblings;
mod table;
#[cfg(test)]
mod tests;
pub mod verdict;
pub mod written;

use std::path::Path;
use std::sync::atomic::AtomicBool;

pub use adversary::Adversary;
pub use bootstrap::Interval;
pub use conicity::conicity;
pub use divergence::{divergence, total_variation};
pub use keep::{keep, kept};
pub use kendall::kendall;
pub use page::page;
pub(crate) use read::in_batches;
pub use read::{Reading, integrated, read, slopes};
pub use report::Report;
pub use siblings::{NEVER, Siblings};
pub use verdict::{Grade, Verdict};
pub use written::written;

use crate::Result;
use crate::model::Model;
use crate::model::probe::Probe;

/// How thorough an audit is.
#[derive(Clone, Copy)]
pub struct Course<'a> {
    /// Nothing is trained, and what takes long is left out.
    pub quick: bool,
    /// Models of other seeds to train.
    pub seeds: usize,
    /// Examples to study unit by unit, at most.
    pub examples: usize,
    /// Decides what is left to chance.
    pub seed: u64,
    /// Training examples, if they are not where the recipe says.
    pub train: Option<&'a Path>,
    /// Gold links of the examples, for a model that writes: a line for each example, `0-0 1-2`, or for each link, `1 1 1`.
    pub links: Option<&'a Path>,
    /// Set from outside to stop.
    pub stop: &'a AtomicBool,
}

impl Default for Course<'_> {
    fn default() -> Self {
        Course { quick: false, seeds: 5, examples: 1000, seed: 1, train: None, links: None, stop: &NEVER }
    }
}

impl Course<'_> {
    /// The one that takes less than a minute for a small model.
    pub fn quick() -> Self {
        Course { quick: true, seeds: 0, examples: 200, ..Course::default() }
    }
}

/// Who is told how far it has got: what is done, how much of it, of how much.
pub type Progress<'a> = dyn Fn(&str, usize, usize) + Sync + 'a;

/// Audits a model whose attention makes one row of many.
pub fn pooled<M>(model: &M, rows: &[<M as Model>::Row], course: &Course, progress: &Progress) -> Result<Report>
where
    M: Model + Probe<Row = <M as Model>::Row>,
    <M as Model>::Row: Sync,
{
    let mut notes = Vec::new();
    // What cannot be audited is refused before anything is trained.
    if model.closed().is_none() && !rows.is_empty() {
        model.asked(rows)?;
    }
    let others = match model.closed() {
        Some(_) => Siblings::none(),
        None => siblings::train(model, course, progress, &mut notes)?,
    };
    let (answered, studied, report, verdict, more) = pooled::experiment(model, rows, &others, course, progress)?;
    notes.extend(more);
    Ok(Report { task: M::TASK.name(), verdict, answered, studied, seed: course.seed, notes, pooled: Some(report), written: None })
}
