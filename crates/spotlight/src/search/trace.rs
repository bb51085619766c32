//! What a search thought of on its way, and what became of it: for people who want to see the paths that lost.

use serde::Serialize;

use super::{Hypothesis, Request, SearchOptions, Writer, beam};
use crate::Result;
use crate::tape::Pool;

/// What became of a unit that was thought of.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Fate {
    /// It was written, and the path went on.
    Kept,
    /// It was the end of an answer.
    Ended,
    /// It was written, and the answer was as long as one may be.
    Longest,
    /// Others had filled the beam.
    Lost,
}

/// A unit that was thought of after a path.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Thought {
    /// The one before it, if it is not the first.
    pub before: Option<usize>,
    /// The unit.
    pub unit: u32,
    /// Its own log-probability.
    pub log_prob: f32,
    /// That of the path up to it.
    pub total: f64,
    /// What became of it.
    pub fate: Fate,
    /// What the whole answer was ranked by, if it ended here.
    pub score: Option<f64>,
}

/// Everything a search thought of: for every hypothesis at every step its most probable units, and those that were chosen.
#[derive(Clone, Debug)]
pub struct Trace {
    /// In the order they were thought of: what comes before a thought stands before it.
    pub thoughts: Vec<Thought>,
    /// Units noted for each hypothesis and step.
    top: usize,
}

impl Trace {
    /// Notes what comes after a path: its `top` most probable units, and the chosen ones.
    pub(super) fn note(&mut self, before: Option<usize>, total: f64, log_probs: &[f32], chosen: &[u32]) {
        let mut units: Vec<u32> = (0..log_probs.len() as u32).filter(|&unit| log_probs[unit as usize] > f32::NEG_INFINITY).collect();
        // Stable, so that equal ones stay in the order of their numbers.
        units.sort_by(|&a, &b| log_probs[b as usize].total_cmp(&log_probs[a as usize]));
        let missing: Vec<u32> = units.iter().skip(self.top).copied().filter(|unit| chosen.contains(unit)).collect();
        units.truncate(self.top);
        for unit in units.into_iter().chain(missing) {
            let log_prob = log_probs[unit as usize];
            self.thoughts.push(Thought { before, unit, log_prob, total: total + log_prob as f64, fate: Fate::Lost, score: None });
        }
    }

    /// What became of a chosen unit; gives its number.
    pub(super) fn settle(&mut self, before: Option<usize>, unit: u32, fate: Fate, score: Option<f64>) -> Option<usize> {
        let at = self.thoughts.iter().rposition(|thought| thought.before == before && thought.unit == unit)?;
        (self.thoughts[at].fate, self.thoughts[at].score) = (fate, score);
        Some(at)
    }
}

/// Searches for the answers to one source, and tells what was thought of: `top` units of every hypothesis at every step.
pub fn traced(writer: &dyn Writer, request: Request, options: &SearchOptions, top: usize) -> Result<(Vec<Hypothesis>, Trace)> {
    let mut trace = Trace { thoughts: Vec::new(), top };
    let found = beam::search_batch(writer, &[(options.first, request)], options, Some(&mut trace), &Pool::new())?;
    Ok((found.into_iter().next().unwrap_or_default(), trace))
}
