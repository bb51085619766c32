//! Search: from a model that can write one unit after another to whole answers.
//!
//! Greedy search, beam and sampling are one loop over hypotheses; a forced prefix is a hypothesis whose first units are given, a [`Lexicon`] allows nothing but its answers, and
//! [`force`] scores a target that is given as a whole. The loop knows nothing of the model but the two roles here: a [`Writer`] reads a batch of sources and gives a [`Session`], and a session takes one step for all hypotheses
//! of all sources, which are the rows of one table. So an ensemble is a writer made of writers: [`Together`].
//!
//! Hypotheses are kept as a tree: one link per unit that was written, pointing at the one before, so that nothing is copied from step to step. Where each unit looked comes along with
//! its link, under beam too.

mod beam;
mod forced;
mod hypothesis;
mod lexicon;
mod options;
mod together;
mod trace;

use rayon::prelude::*;

pub use forced::force;
pub use hypothesis::{Ended, Hypothesis};
pub use lexicon::Lexicon;
pub use options::SearchOptions;
pub use together::Together;
pub use trace::{Fate, Thought, Trace, traced};

use crate::Result;
use crate::tape::Pool;
use crate::text::batch::{Lengths, by_length, in_original_order};

/// Positions of the sources decoded together, divided by the hypotheses of each.
const BATCH: usize = 2000;

/// A model that can be searched.
pub trait Writer: Sync {
    /// Reads sources, none of them empty, and stands before the first unit of each; up to `width` hypotheses will go on from there. Memory comes from `pool` and goes back to it.
    fn begin<'a>(&'a self, sources: &[&[u32]], width: usize, pool: &'a Pool<f32>) -> Result<Box<dyn Session + 'a>>;

    /// The most units of an answer, if there is a limit.
    fn longest(&self) -> Option<usize> {
        None
    }
}

/// A search under way.
pub trait Session {
    /// Takes one step: row `i` of the new table goes on from row `rows[i]` of the table before (before the first step: from the source of that number), after the unit `units[i]`.
    fn step(&mut self, rows: &[usize], units: &[u32]) -> Result<Stepped>;
}

/// What a step says of each hypothesis.
#[derive(Clone, Debug)]
pub struct Stepped {
    /// Units that can be written: those of the vocabulary, and behind them those that can only be copied.
    pub units: usize,
    /// The logarithm of the probability of every unit, row after row.
    pub log_probs: Vec<f32>,
    /// Attention weights: for each row, the source's positions one after the other, one number per head at each. Empty without attention.
    pub weights: Vec<f32>,
    /// Heads.
    pub heads: usize,
    /// What was copied, if the model can copy.
    pub copied: Option<Copied>,
}

/// What a step that can copy says of it.
#[derive(Clone, Debug, PartialEq)]
pub struct Copied {
    /// For each row the probability that a unit is written, not copied.
    pub gates: Vec<f32>,
    /// For each row and unit the part of its probability that comes by copying.
    pub masses: Vec<f32>,
}

/// One thing to answer.
#[derive(Clone, Copy, Debug)]
pub struct Request<'a> {
    /// The source's units.
    pub source: &'a [u32],
    /// Units that the answer begins with.
    pub prefix: &'a [u32],
}

impl<'a> Request<'a> {
    /// A source whose answer is free.
    pub fn new(source: &'a [u32]) -> Self {
        Request { source, prefix: &[] }
    }
}

/// Answers to requests, in their order, the best first; an empty source is answered with nothing. The list is empty where no answer is possible that is allowed.
pub fn search(writer: &dyn Writer, requests: &[Request], options: &SearchOptions) -> Result<Vec<Vec<Hypothesis>>> {
    let lengths: Vec<Lengths> = requests.iter().map(|r| Lengths { source: r.source.len(), target: 0 }).collect();
    let batches = by_length(&lengths, (BATCH / options.width()).max(1));
    let found = batches
        .par_iter()
        .map(|members| {
            let own: Vec<(usize, Request)> = members.iter().map(|&i| (options.first + i, requests[i])).collect();
            Pool::of_thread(|pool| beam::search_batch(writer, &own, options, None, pool))
        })
        .collect::<Result<Vec<_>>>()?;
    Ok(in_original_order(&batches, found.into_iter().flatten()))
}
