//! BLEU of a corpus: how many word sequences of the hypotheses stand in their references.
//!
//! Papineni et al. (2002), *BLEU: a Method for Automatic Evaluation of Machine Translation*, as
//! sacrebleu computes it by default (Post 2018): sequences of one to four words, counts clipped by
//! the reference that has most of them, the length of the closest reference, and the exponential
//! smoothing of the NIST script, where the k-th order without any match counts as 1/2^k matches.

use std::collections::HashMap;
use std::fmt;

use super::segments::Segment;
use super::tokenize::split_words;
use super::{Segments, Tallies, Tokenizer};

/// The longest word sequences that count.
pub const MAX_ORDER: usize = 4;

/// A BLEU score with everything it was made of.
///
/// Prints as sacrebleu's line does: `BLEU = 41.50 60.0/50.0/40.0/25.0 (BP = 1.000 ratio = 1.000
/// hyp_len = 10 ref_len = 10)`.
#[derive(Clone, Debug, PartialEq)]
pub struct Bleu {
    /// The score, from 0 to 100.
    pub score: f64,
    /// The precision of each order in percent, smoothed.
    pub precisions: [f64; MAX_ORDER],
    /// The factor below 1 by which hypotheses that are too short are marked down.
    pub brevity_penalty: f64,
    /// Number of words in all hypotheses.
    pub hypothesis_length: usize,
    /// Number of words in the references closest in length.
    pub reference_length: usize,
    /// How it was computed, in the manner of sacrebleu's signatures.
    pub signature: String,
}

/// BLEU over all segments together.
///
/// ```
/// use spotlight::metrics::{Segments, Tokenizer, bleu};
///
/// let hypotheses = ["The cat sat on the mat."];
/// let references = [["The cat sat on a mat.", "A cat was sitting on the mat."]];
/// let score = bleu(&Segments::new(&hypotheses, &references)?, Tokenizer::V13a);
/// assert_eq!(
///     score.to_string(),
///     "BLEU = 79.53 100.0/100.0/80.0/50.0 (BP = 1.000 ratio = 1.000 hyp_len = 7 ref_len = 7)"
/// );
/// # Ok::<(), spotlight::metrics::MetricError>(())
/// ```
pub fn bleu(segments: &Segments, tokenizer: Tokenizer) -> Bleu {
    let mut counts = Counts::default();
    for segment in segments.iter() {
        let hypothesis = tokenizer.apply(segment.hypothesis);
        let references: Vec<_> = segment.references.iter().map(|reference| tokenizer.apply(reference)).collect();
        counts.add(&hypothesis, &references);
    }
    let signature = format!(
        "nrefs:{}|case:mixed|eff:no|tok:{}|smooth:exp|version:spotlight-{}",
        segments.reference_count(),
        tokenizer.name(),
        env!("CARGO_PKG_VERSION"),
    );
    counts.score(signature)
}

/// BLEU over all segments together, segment by segment: its ten counts.
pub(super) fn tallies(segments: &Segments) -> Tallies {
    let row = |segment: &Segment| {
        let mut counts = Counts::default();
        let references: Vec<_> = segment.references.iter().map(|reference| Tokenizer::V13a.apply(reference)).collect();
        counts.add(&Tokenizer::V13a.apply(segment.hypothesis), &references);
        let lengths = [counts.hypothesis_length, counts.reference_length];
        let all = counts.matched.iter().chain(&counts.total).chain(&lengths);
        all.enumerate().map(|(place, &count)| (place, count as f64)).collect()
    };
    let score = |sums: &[f64]| {
        let of = |from: usize| std::array::from_fn(|order| sums[from + order] as usize);
        let (hypothesis_length, reference_length) = (sums[2 * MAX_ORDER] as usize, sums[2 * MAX_ORDER + 1] as usize);
        Counts { matched: of(0), total: of(MAX_ORDER), hypothesis_length, reference_length }.score(String::new()).score
    };
    Tallies::new("BLEU", 2 * MAX_ORDER + 2, segments.iter().map(row).collect(), score).in_points()
}

/// How often each sequence of one to four words occurs.
type Ngrams<'a, 'b> = HashMap<&'a [&'b str], usize>;

fn ngrams<'a, 'b>(words: &'a [&'b str]) -> Ngrams<'a, 'b> {
    let mut counts = HashMap::new();
    for order in 1..=MAX_ORDER {
        for ngram in words.windows(order) {
            *counts.entry(ngram).or_default() += 1;
        }
    }
    counts
}

/// All that the score depends on, summed over the corpus.
#[derive(Default)]
struct Counts {
    matched: [usize; MAX_ORDER],
    total: [usize; MAX_ORDER],
    hypothesis_length: usize,
    reference_length: usize,
}

impl Counts {
    fn add(&mut self, hypothesis: &str, references: &[String]) {
        let words: Vec<&str> = split_words(hypothesis).collect();
        let references: Vec<Vec<&str>> = references.iter().map(|reference| split_words(reference).collect()).collect();

        let mut allowed = Ngrams::new();
        for reference in &references {
            for (ngram, count) in ngrams(reference) {
                let most = allowed.entry(ngram).or_default();
                *most = count.max(*most);
            }
        }
        for (ngram, count) in ngrams(&words) {
            let order = ngram.len() - 1;
            self.total[order] += count;
            self.matched[order] += count.min(allowed.get(ngram).copied().unwrap_or(0));
        }

        self.hypothesis_length += words.len();
        // The closest length, of two equally close ones the shorter; a segment has at least one
        // reference.
        let lengths = references.iter().map(Vec::len);
        self.reference_length += lengths.min_by_key(|&length| (length.abs_diff(words.len()), length)).unwrap_or(0);
    }

    fn score(self, signature: String) -> Bleu {
        let brevity_penalty = match (self.hypothesis_length, self.reference_length) {
            (hypothesis, reference) if hypothesis >= reference => 1.0,
            (0, _) => 0.0,
            (hypothesis, reference) => (1.0 - reference as f64 / hypothesis as f64).exp(),
        };
        let precisions = self.precisions();
        let log_mean = precisions.iter().map(|p| p.ln()).sum::<f64>() / MAX_ORDER as f64;
        Bleu {
            // ln 0 is -inf and exp(-inf) is 0: an order without words gives 0.
            score: brevity_penalty * log_mean.exp(),
            precisions,
            brevity_penalty,
            hypothesis_length: self.hypothesis_length,
            reference_length: self.reference_length,
            signature,
        }
    }

    /// Percent per order. Smoothing only helps a corpus that matches something; orders no
    /// hypothesis is long enough for are 0.
    fn precisions(&self) -> [f64; MAX_ORDER] {
        let mut precisions = [0.0; MAX_ORDER];
        if self.matched.iter().all(|&matched| matched == 0) {
            return precisions;
        }
        let mut credit = 1.0;
        for ((precision, &matched), &total) in precisions.iter_mut().zip(&self.matched).zip(&self.total) {
            if total == 0 {
                break;
            }
            *precision = if matched > 0 {
                100.0 * matched as f64 / total as f64
            } else {
                credit /= 2.0;
                100.0 * credit / total as f64
            };
        }
        precisions
    }
}

impl fmt::Display for Bleu {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let precisions = self.precisions.map(|precision| format!("{precision:.1}")).join("/");
        let ratio = match self.reference_length {
            0 => 0.0,
            length => self.hypothesis_length as f64 / length as f64,
        };
        write!(
            f,
            "BLEU = {:.2} {precisions} (BP = {:.3} ratio = {ratio:.3} hyp_len = {} ref_len = {})",
            self.score, self.brevity_penalty, self.hypothesis_length, self.reference_length
        )
    }
}
