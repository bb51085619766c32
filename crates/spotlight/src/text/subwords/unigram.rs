//! Training a unigram language model over pieces (Kudo 2018, section 3.2).
//!
//! Every piece has a probability, and a word's probability is the sum over all ways to cut it into pieces. Training starts
//! with many more pieces than wanted, then takes turns: expectation maximisation makes the words as likely as the pieces
//! allow, and the pieces whose loss would hurt least are dropped.
//!
//! It runs over sorted words on one thread, so that the same words give the same table.

use std::collections::HashMap;

use super::corpus::Corpus;
use super::scores::Scores;
use super::{Model, SPECIAL_NAMES};

/// The most characters of a piece.
const MAX_PIECE: usize = 16;
/// How many pieces training starts with for each one wanted.
const SEEDS_PER_PIECE: usize = 10;
/// Rounds of expectation maximisation before pieces are dropped.
const ROUNDS: usize = 2;
/// A longer piece that is expected to be used fewer times than this in the whole corpus is dropped.
const LEAST_USE: f64 = 0.5;

/// Learns pieces until there are `vocab_size` units, or fewer if the words have no more. The size must have room for the
/// alphabet. The units in the order of their numbers, and the model.
pub(super) fn train(corpus: &Corpus, vocab_size: usize) -> (Vec<String>, Model) {
    let wanted = vocab_size - SPECIAL_NAMES.len();
    let mut pieces = Pieces::seeds(corpus, wanted.saturating_mul(SEEDS_PER_PIECE));
    loop {
        let mut uses = Vec::new();
        for _ in 0..ROUNDS {
            uses = pieces.reestimate(corpus);
        }
        if pieces.list.len() <= wanted {
            break;
        }
        pieces.prune(&uses, wanted.max(pieces.list.len() / 4 * 3));
    }
    let mut list = pieces.list;
    list.sort_by(|a, b| b.log_prob.total_cmp(&a.log_prob).then_with(|| a.text.cmp(&b.text)));
    let specials = SPECIAL_NAMES.map(|name| (name.to_owned(), 0.0)).into_iter();
    let learnt = list.into_iter().map(|piece| (piece.text, piece.log_prob));
    let (pieces, scores): (Vec<String>, Vec<f64>) = specials.chain(learnt).unzip();
    let model = Model::Unigram(Scores::new(scores, &pieces));
    (pieces, model)
}

struct Piece {
    text: String,
    log_prob: f64,
    /// Single characters are never dropped, so that every word can be cut.
    is_char: bool,
}

struct Pieces {
    list: Vec<Piece>,
    numbers: HashMap<String, usize>,
}

/// A piece found in a word: from one character boundary to another.
struct Edge {
    from: usize,
    to: usize,
    piece: usize,
}

impl Pieces {
    /// All characters, and the substrings that occur more than once and cover most text, `limit` in all.
    fn seeds(corpus: &Corpus, limit: usize) -> Self {
        let mut counts: HashMap<&str, u64> = HashMap::new();
        for (word, count) in &corpus.fragments {
            let bounds = boundaries(word);
            for (from, to) in spans(bounds.len() - 1) {
                *counts.entry(&word[bounds[from]..bounds[to]]).or_default() += count;
            }
        }
        let mut covers: Vec<(u64, &str)> = counts
            .into_iter()
            .map(|(text, count)| (count, text, text.chars().count() as u64))
            .filter(|&(count, _, length)| length == 1 || count > 1)
            .map(|(count, text, length)| (if length == 1 { u64::MAX } else { count * length }, text))
            .collect();
        covers.sort_unstable_by(|(a, a_text), (b, b_text)| b.cmp(a).then(a_text.cmp(b_text)));
        covers.truncate(limit.max(corpus.alphabet.len()));
        // The first estimate makes all pieces equally likely.
        let log_prob = -(covers.len() as f64).ln();
        let piece = |(_, text): (u64, &str)| Piece { text: text.to_owned(), log_prob, is_char: text.chars().count() == 1 };
        Self::numbered(covers.into_iter().map(piece).collect())
    }

    fn numbered(list: Vec<Piece>) -> Self {
        let numbers = list.iter().enumerate().map(|(number, piece)| (piece.text.clone(), number)).collect();
        Self { list, numbers }
    }

    /// One round of expectation maximisation; the expected uses of the pieces that are left.
    fn reestimate(&mut self, corpus: &Corpus) -> Vec<f64> {
        let mut uses = vec![0.0; self.list.len()];
        for (word, &count) in &corpus.fragments {
            self.add_expected_uses(word, count as f64, &mut uses);
        }
        let list = std::mem::take(&mut self.list).into_iter().zip(uses);
        let kept = list.filter(|(piece, used)| piece.is_char || *used >= LEAST_USE);
        let (mut list, uses): (Vec<Piece>, Vec<f64>) = kept.map(|(piece, used)| (piece, used.max(LEAST_USE))).unzip();
        // The digamma function in place of the logarithm favours few pieces (Liang and Klein 2007), as SentencePiece has it.
        let total = digamma(uses.iter().sum());
        for (piece, used) in list.iter_mut().zip(&uses) {
            piece.log_prob = digamma(*used) - total;
        }
        *self = Self::numbered(list);
        uses
    }

    /// Adds how often each piece is used in `count` copies of a word, on average over all ways to cut it.
    fn add_expected_uses(&self, word: &str, count: f64, uses: &mut [f64]) {
        let bounds = boundaries(word);
        let end = bounds.len() - 1;
        let edges = self.edges(word, &bounds);
        // The log probability of everything before a boundary, and of everything behind it.
        let mut before = vec![f64::NEG_INFINITY; end + 1];
        let mut behind = before.clone();
        (before[0], behind[end]) = (0.0, 0.0);
        for edge in &edges {
            before[edge.to] = log_add(before[edge.to], before[edge.from] + self.list[edge.piece].log_prob);
        }
        for edge in edges.iter().rev() {
            behind[edge.from] = log_add(behind[edge.from], behind[edge.to] + self.list[edge.piece].log_prob);
        }
        for edge in edges {
            let log_prob = before[edge.from] + self.list[edge.piece].log_prob + behind[edge.to] - before[end];
            uses[edge.piece] += count * log_prob.exp();
        }
    }

    /// Keeps characters, and of the other pieces those without which the words would become least likely; `size` in all.
    fn prune(&mut self, uses: &[f64], size: usize) {
        let mut losses: Vec<(f64, usize)> = Vec::new();
        for (number, piece) in self.list.iter().enumerate() {
            let loss = match piece.is_char {
                true => f64::INFINITY,
                false => uses[number] * (piece.log_prob - self.best_without(number)),
            };
            losses.push((loss, number));
        }
        losses.sort_by(|(a, a_number), (b, b_number)| b.total_cmp(a).then(a_number.cmp(b_number)));
        let mut keep = vec![false; self.list.len()];
        losses.iter().take(size).for_each(|&(_, number)| keep[number] = true);
        let list = std::mem::take(&mut self.list).into_iter().zip(keep);
        *self = Self::numbered(list.filter(|(_, keep)| *keep).map(|(piece, _)| piece).collect());
    }

    /// The log probability of the best way to cut a piece into others.
    fn best_without(&self, number: usize) -> f64 {
        let text = &self.list[number].text;
        let bounds = boundaries(text);
        let mut best = vec![f64::NEG_INFINITY; bounds.len()];
        best[0] = 0.0;
        for edge in self.edges(text, &bounds).into_iter().filter(|edge| edge.piece != number) {
            best[edge.to] = best[edge.to].max(best[edge.from] + self.list[edge.piece].log_prob);
        }
        best[bounds.len() - 1]
    }

    /// All pieces in a word, by where they begin.
    fn edges(&self, word: &str, bounds: &[usize]) -> Vec<Edge> {
        let edge = |(from, to): (usize, usize)| {
            let piece = *self.numbers.get(&word[bounds[from]..bounds[to]])?;
            Some(Edge { from, to, piece })
        };
        spans(bounds.len() - 1).filter_map(edge).collect()
    }
}

/// Where characters begin, and the end.
fn boundaries(word: &str) -> Vec<usize> {
    word.char_indices().map(|(at, _)| at).chain([word.len()]).collect()
}

/// All spans of a word of `length` characters that a piece can have, by where they begin.
fn spans(length: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..length).flat_map(move |from| (from + 1..=length.min(from + MAX_PIECE)).map(move |to| (from, to)))
}

/// ln(exp(a) + exp(b))
fn log_add(a: f64, b: f64) -> f64 {
    let (low, high) = if a < b { (a, b) } else { (b, a) };
    if low == f64::NEG_INFINITY { high } else { high + (low - high).exp().ln_1p() }
}

/// The derivative of ln Γ for positive `x`: shifted up to 6 by ψ(x) = ψ(x + 1) - 1/x, then the asymptotic series. Its error
/// is below 1e-8.
fn digamma(mut x: f64) -> f64 {
    let mut shift = 0.0;
    while x < 6.0 {
        shift -= 1.0 / x;
        x += 1.0;
    }
    let inverse = 1.0 / (x * x);
    shift + x.ln() - 0.5 / x - inverse * (1.0 / 12.0 - inverse * (1.0 / 120.0 - inverse * (1.0 / 252.0 - inverse / 240.0)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digamma_has_its_known_values() {
        let known = [(1.0, -0.577_215_664_901_532_9), (0.5, -1.963_510_026_021_423_5), (10.0, 2.251_752_589_066_721)];
        for (x, value) in known {
            assert!((digamma(x) - value).abs() < 1e-8, "{x}: {} {value}", digamma(x));
        }
    }

    fn pieces(list: &[(&str, f64)]) -> Pieces {
        let piece = |&(text, prob): &(&str, f64)| Piece { text: text.into(), log_prob: prob.ln(), is_char: text.len() == 1 };
        Pieces::numbered(list.iter().map(piece).collect())
    }

    #[test]
    fn expected_uses_are_averages_over_all_cuts() {
        let pieces = pieces(&[("a", 0.5), ("b", 0.2), ("ab", 0.2), ("aba", 0.1)]);
        // The ways to cut "aba": a+b+a 0.05, ab+a 0.1, aba 0.1.
        let mut uses = [0.0; 4];
        pieces.add_expected_uses("aba", 5.0, &mut uses);
        for (used, expected) in uses.iter().zip([4.0, 1.0, 2.0, 2.0]) {
            assert!((used - expected).abs() < 1e-12, "{uses:?}");
        }
    }

    #[test]
    fn the_piece_that_is_easiest_to_replace_goes_first() {
        let mut pieces = pieces(&[("a", 0.4), ("b", 0.4), ("ab", 0.15), ("ba", 0.05)]);
        assert!((pieces.best_without(2) - 0.16f64.ln()).abs() < 1e-12);
        pieces.prune(&[1.0; 4], 3);
        assert_eq!(pieces.list.iter().map(|piece| piece.text.as_str()).collect::<Vec<_>>(), ["a", "b", "ab"]);
        assert_eq!(pieces.numbers["ab"], 2);
    }

    #[test]
    fn the_size_is_kept_and_probabilities_sum_to_about_one() {
        let corpus = Corpus::count(["she sells sea shells by the sea shore the shells she sells are sea shells"], 1);
        let (_, Model::Unigram(scores)) = train(&corpus, 25) else { unreachable!() };
        let learnt = &scores.by_unit[SPECIAL_NAMES.len()..];
        assert!((corpus.alphabet.len() + 1..=22).contains(&learnt.len()), "{}", learnt.len());
        assert!(learnt.is_sorted_by(|a, b| a >= b));
        let sum: f64 = learnt.iter().map(|score| score.exp()).sum();
        assert!((0.5..=1.0).contains(&sum), "{sum}");
    }
}
