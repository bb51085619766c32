//! chrF of a corpus: how many character sequences the hypotheses share with their references.
//!
//! Popović (2015), *chrF: character n-gram F-score for automatic MT evaluation*, as sacrebleu
//! computes it by default (chrF2): sequences of one to six characters (code points, whitespace left
//! out), precision and recall averaged over the orders that occur on both sides, and an F-score in
//! which recall weighs twice as much. It needs no tokeniser, so it also serves languages written
//! without spaces.

use std::collections::HashMap;
use std::fmt;

use super::Segments;
use super::tokenize::is_space;

/// The longest character sequences that count.
pub const CHAR_ORDER: usize = 6;

/// The square of beta, the weight of recall against precision.
const BETA_SQUARED: f64 = 4.0;

/// A chrF score. Prints as sacrebleu's line does: `chrF2 = 61.35`.
#[derive(Clone, Debug, PartialEq)]
pub struct Chrf {
    /// The score, from 0 to 100.
    pub score: f64,
    /// How it was computed, in the manner of sacrebleu's signatures.
    pub signature: String,
}

/// chrF2 over all segments together. Of several references, the one that gives the segment its best
/// score counts.
///
/// ```
/// use spotlight::metrics::{Segments, chrf};
/// let score = chrf(&Segments::single(&["猫が座った"], &["猫は座った"])?);
/// assert_eq!(score.to_string(), "chrF2 = 32.67");
/// # Ok::<(), spotlight::metrics::MetricError>(())
/// ```
pub fn chrf(segments: &Segments) -> Chrf {
    let mut corpus = Counts::default();
    for segment in segments.iter() {
        let hypothesis = letters(segment.hypothesis);
        let mut best: Option<(f64, Counts)> = None;
        for reference in &segment.references {
            let counts = Counts::of(&hypothesis, &letters(reference));
            let score = counts.score();
            if best.as_ref().is_none_or(|&(best_score, _)| score > best_score) {
                best = Some((score, counts));
            }
        }
        if let Some((_, counts)) = best {
            corpus.add(&counts);
        }
    }
    let signature = format!(
        "nrefs:{}|case:mixed|eff:yes|nc:{CHAR_ORDER}|nw:0|space:no|version:spotlight-{}",
        segments.reference_count(),
        env!("CARGO_PKG_VERSION"),
    );
    Chrf { score: corpus.score(), signature }
}

fn letters(text: &str) -> Vec<char> {
    text.chars().filter(|&c| !is_space(c)).collect()
}

/// How often each sequence of `order` characters occurs.
fn ngrams(letters: &[char], order: usize) -> HashMap<&[char], usize> {
    let mut counts = HashMap::new();
    for ngram in letters.windows(order) {
        *counts.entry(ngram).or_default() += 1;
    }
    counts
}

/// Sequences of each length: in the hypothesis, in the reference, in both.
#[derive(Clone, Copy, Default)]
struct OrderCounts {
    hypothesis: usize,
    reference: usize,
    matched: usize,
}

#[derive(Default)]
struct Counts([OrderCounts; CHAR_ORDER]);

impl Counts {
    fn of(hypothesis: &[char], reference: &[char]) -> Self {
        let mut counts = Self::default();
        for (index, order) in counts.0.iter_mut().enumerate() {
            let ours = ngrams(hypothesis, index + 1);
            let theirs = ngrams(reference, index + 1);
            // Where the reference is too short for this order, nothing could be matched, and the
            // hypothesis is not blamed.
            order.hypothesis = if theirs.is_empty() { 0 } else { ours.values().sum() };
            order.reference = theirs.values().sum();
            order.matched = ours.iter().map(|(ngram, &count)| count.min(theirs.get(ngram).copied().unwrap_or(0))).sum();
        }
        counts
    }

    fn add(&mut self, other: &Self) {
        for (sum, order) in self.0.iter_mut().zip(&other.0) {
            sum.hypothesis += order.hypothesis;
            sum.reference += order.reference;
            sum.matched += order.matched;
        }
    }

    /// (1 + β²) P R / (β² P + R), in percent, of the mean precision P and the mean recall R.
    fn score(&self) -> f64 {
        let (mut precision, mut recall, mut orders) = (0.0, 0.0, 0.0);
        for order in self.0.iter().filter(|order| order.hypothesis > 0 && order.reference > 0) {
            precision += order.matched as f64 / order.hypothesis as f64;
            recall += order.matched as f64 / order.reference as f64;
            orders += 1.0;
        }
        if precision + recall == 0.0 {
            return 0.0;
        }
        let (precision, recall) = (precision / orders, recall / orders);
        100.0 * (1.0 + BETA_SQUARED) * precision * recall / (BETA_SQUARED * precision + recall)
    }
}

impl fmt::Display for Chrf {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "chrF2 = {:.2}", self.score)
    }
}
