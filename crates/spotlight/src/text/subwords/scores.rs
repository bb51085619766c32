//! A unigram language model at work: of all ways to cut a word into pieces, the most likely one (Viterbi 1967).

use super::{Cut, Numbers, UNKNOWN};

/// How much less likely a character without a piece is than the least likely piece, in natural logarithms: as SentencePiece has it.
const UNKNOWN_PENALTY: f64 = 10.0;

/// The log probability of every unit by its number.
#[derive(Debug, Clone)]
pub(super) struct Scores {
    pub(super) by_unit: Vec<f64>,
    unknown: f64,
    /// Characters of the longest piece.
    longest: usize,
}

/// The best way to cut what stands before a boundary.
#[derive(Clone, Copy)]
struct Best {
    score: f64,
    /// The last piece, and where it begins.
    unit: u32,
    from: usize,
}

impl Scores {
    /// For these pieces, which are in the order of their numbers.
    pub(super) fn new(by_unit: Vec<f64>, pieces: &[String]) -> Self {
        let least = by_unit.iter().copied().fold(f64::INFINITY, f64::min);
        let longest = pieces.iter().map(|piece| piece.chars().count()).max().unwrap_or(0);
        Self { by_unit, unknown: least - UNKNOWN_PENALTY, longest }
    }

    /// The units of a word. Unknown neighbours are one unknown unit.
    ///
    /// ```text
    /// best(0) = 0        best(to) = max over pieces from..to of best(from) + ln p(piece)        of equals, the longest piece
    /// ```
    pub(super) fn cut(&self, word: &str, numbers: &Numbers) -> Vec<Cut> {
        // For every byte at which a character ends.
        let mut best: Vec<Option<Best>> = vec![None; word.len() + 1];
        for (from, c) in word.char_indices() {
            let before = best[from].map_or(0.0, |best| best.score);
            let mut improve = |to: usize, unit: u32, score: f64| {
                let score = before + score;
                if best[to].is_none_or(|best| score > best.score) {
                    best[to] = Some(Best { score, unit, from });
                }
            };
            let ends = word[from..].char_indices().map(|(at, c)| from + at + c.len_utf8());
            for to in ends.take(self.longest) {
                match numbers.get(&word[from..to]) {
                    Some(&unit) => improve(to, unit, self.by_unit[unit as usize]),
                    None if to == from + c.len_utf8() => improve(to, UNKNOWN, self.unknown),
                    None => {}
                }
            }
        }
        let mut cuts: Vec<Cut> = Vec::new();
        let mut end = word.len();
        while let Some(Best { unit, from, .. }) = best[end] {
            match cuts.last_mut() {
                Some(next) if unit == UNKNOWN && next.unit == UNKNOWN => next.bytes += end - from,
                _ => cuts.push(Cut { unit, bytes: end - from }),
            }
            end = from;
        }
        cuts.reverse();
        cuts
    }
}
