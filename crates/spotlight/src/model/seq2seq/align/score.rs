//! How well links were found.

use std::collections::BTreeSet;
use std::fmt;

use serde_json::{Value, json};

use super::{Gold, Link};

/// Counts over all pairs.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct AlignmentScore {
    found: usize,
    sure: usize,
    found_sure: usize,
    found_possible: usize,
}

impl AlignmentScore {
    /// Counts one pair.
    pub fn add(&mut self, found: &BTreeSet<Link>, gold: &Gold) {
        self.found += found.len();
        self.sure += gold.sure.len();
        self.found_sure += found.intersection(&gold.sure).count();
        self.found_possible += found.intersection(&gold.possible).count();
    }

    /// Of the links that were found, the share that is at least possible.
    pub fn precision(&self) -> f64 {
        share(self.found_possible, self.found)
    }

    /// Of the sure links, the share that was found.
    pub fn recall(&self) -> f64 {
        share(self.found_sure, self.sure)
    }

    /// The harmonic mean of both.
    pub fn f1(&self) -> f64 {
        let (p, r) = (self.precision(), self.recall());
        if p + r > 0.0 { 2.0 * p * r / (p + r) } else { 0.0 }
    }

    /// `1 - (|A ∩ S| + |A ∩ P|) / (|A| + |S|)`. Och and Ney, 2003, section 6.
    pub fn error_rate(&self) -> f64 {
        1.0 - share(self.found_sure + self.found_possible, self.found + self.sure)
    }
}

fn share(part: usize, of: usize) -> f64 {
    if of == 0 { 0.0 } else { part as f64 / of as f64 }
}

/// Several ways to find links, side by side.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AlignmentReport {
    /// Pairs whose links are known.
    pub pairs: usize,
    /// Each with its name.
    pub ways: Vec<(String, AlignmentScore)>,
}

impl AlignmentReport {
    /// As JSON.
    pub fn to_json(&self) -> Value {
        let way = |(name, s): &(String, AlignmentScore)| json!({"way": name, "precision": s.precision(), "recall": s.recall(), "f1": s.f1(), "aer": s.error_rate()});
        json!({"pairs": self.pairs, "ways": self.ways.iter().map(way).collect::<Vec<_>>()})
    }
}

impl fmt::Display for AlignmentReport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let head = format!("{} pairs with links", self.pairs);
        let width = self.ways.iter().map(|way| way.0.len()).chain([head.len()]).max().unwrap_or(0);
        writeln!(f, "{head:width$}  precision  recall      F1     AER")?;
        for (name, s) in &self.ways {
            writeln!(f, "{name:width$}  {:9.4}  {:6.4}  {:6.4}  {:6.4}", s.precision(), s.recall(), s.f1(), s.error_rate())?;
        }
        Ok(())
    }
}
