//! How probable a gram is after those before it: interpolated Kneser-Ney (Kneser and Ney, 1995; Chen and Goodman, 1999).
//!
//! ```text
//! p_n(g | h) = max(c(h g) - D, 0) / c(h) + D t(h) / c(h) · p_(n-1)(g | h')      t grams were seen after h; h' is h without its first gram
//! ```
//!
//! `c` counts occurrences in the longest histories and in those that a word begins with; in shorter ones how many different grams stand before `h g`, for a gram that is frequent after one history alone
//! says little of others.

use std::collections::{HashMap, HashSet};
use std::hash::{BuildHasherDefault, Hasher};

/// Grams of a history, and one.
pub(super) const ORDER: usize = 7;
/// What is taken from every count.
const DISCOUNT: f64 = 0.8;

/// The last grams that were written, as many as matter.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct History {
    grams: [u32; ORDER - 1],
    length: usize,
}

impl History {
    pub fn after(mut self, gram: u32) -> Self {
        if self.length == self.grams.len() {
            self.grams.rotate_left(1);
            self.length -= 1;
        }
        self.grams[self.length] = gram;
        self.length += 1;
        self
    }

    fn last(&self, grams: usize) -> &[u32] {
        &self.grams[self.length - grams..self.length]
    }
}

/// A key that is as good as random already.
#[derive(Default)]
struct Mixed(u64);

impl Hasher for Mixed {
    fn write(&mut self, _: &[u8]) {
        unreachable!("keys are numbers");
    }

    fn write_u64(&mut self, key: u64) {
        self.0 = key;
    }

    fn finish(&self) -> u64 {
        self.0
    }
}

type Keyed<T> = HashMap<u64, T, BuildHasherDefault<Mixed>>;

fn mix(key: u64, gram: u32) -> u64 {
    let mut x = (key ^ u64::from(gram).wrapping_add(0x9e37_79b9_7f4a_7c15)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    x = (x ^ (x >> 29)).wrapping_mul(0x94d0_49bb_1331_11eb);
    x ^ (x >> 32)
}

fn key(history: &[u32]) -> u64 {
    history.iter().fold(mix(0, history.len() as u32), |key, &gram| mix(key, gram))
}

/// Counts of what followed what. Histories are known by 64 bits of their grams.
#[derive(Clone, Debug, Default)]
pub(super) struct Grams {
    /// How often a gram followed a history.
    counts: Keyed<u32>,
    /// Of a history: all that followed, and how many different ones.
    histories: Keyed<(u32, u32)>,
    kinds: usize,
}

impl Grams {
    /// Counts words of grams numbered below `kinds`; the first gram of each is only ever a history.
    pub fn of(words: &[Vec<u32>], kinds: usize) -> Self {
        let mut grams = Grams { kinds, ..Grams::default() };
        let mut seen: HashSet<u64, BuildHasherDefault<Mixed>> = HashSet::default();
        for word in words {
            for at in 1..word.len() {
                for length in 0..ORDER.min(at + 1) {
                    let history = key(&word[at - length..at]);
                    let whole = length == ORDER - 1 || length == at;
                    if whole || seen.insert(mix(key(&word[at - length - 1..at]), word[at])) {
                        grams.add(history, word[at]);
                    }
                }
            }
        }
        grams
    }

    fn add(&mut self, history: u64, gram: u32) {
        let count = self.counts.entry(mix(history, gram)).or_default();
        *count += 1;
        let new = u32::from(*count == 1);
        let (all, kinds) = self.histories.entry(history).or_default();
        *all += 1;
        *kinds += new;
    }

    /// The histories that are known, the shortest first: their keys, what followed, and how many different ones.
    pub fn known(&self, history: &History) -> Vec<(u64, f64, f64)> {
        let one = |length| {
            let key = key(history.last(length));
            self.histories.get(&key).map(|&(all, kinds)| (key, f64::from(all), f64::from(kinds)))
        };
        (0..=history.length).map_while(one).collect()
    }

    /// The probability of a gram after histories that are [known](Self::known).
    pub fn probability(&self, known: &[(u64, f64, f64)], gram: u32) -> f64 {
        known.iter().fold(1.0 / self.kinds.max(1) as f64, |shorter, &(history, all, kinds)| {
            let own = self.counts.get(&mix(history, gram)).map_or(0.0, |&count| f64::from(count));
            (own - DISCOUNT).max(0.0) / all + DISCOUNT * kinds / all * shorter
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// After every history, known or not, all grams share a probability of 1.
    #[test]
    fn probabilities_sum_to_one() {
        let words = [vec![0, 1, 2, 3], vec![0, 1, 2, 2, 1, 4, 3, 2, 1], vec![0, 4, 3], vec![0, 1, 2, 3]];
        let grams = Grams::of(&words, 6);
        for history in [vec![], vec![0], vec![0, 1], vec![1, 2], vec![5], vec![0, 1, 2, 2, 1, 4, 3, 2], vec![3, 3, 3]] {
            let known = grams.known(&history.iter().fold(History::default(), |h, &gram| h.after(gram)));
            let sum: f64 = (0..6).map(|gram| grams.probability(&known, gram)).sum();
            assert!((sum - 1.0).abs() < 1e-12, "{history:?}: {sum}");
        }
    }

    /// By hand: after `0` came `1` three times and `4` once.
    #[test]
    fn a_history_that_begins_a_word_is_counted_as_often_as_it_comes() {
        let words = [vec![0, 1, 2], vec![0, 1, 2], vec![0, 1, 3], vec![0, 4, 3]];
        let grams = Grams::of(&words, 5);
        // Without a history each gram counts once for each gram before it: 1 and 4 after 0, 2 after 1, 3 after 1 and after 4.
        let short = |own: f64| (own - 0.8f64).max(0.0) / 5.0 + 0.8 * 4.0 / 5.0 / 5.0;
        let known = grams.known(&History::default().after(0));
        assert_eq!(known.len(), 2);
        let expected = (3.0 - 0.8) / 4.0 + 0.8 * 2.0 / 4.0 * short(1.0);
        assert!((grams.probability(&known, 1) - expected).abs() < 1e-12);
        assert!((grams.probability(&known, 3) - 0.4 * short(2.0)).abs() < 1e-12);
    }

    #[test]
    fn only_the_last_grams_matter() {
        let long = (0..20).fold(History::default(), |h, gram| h.after(gram));
        assert_eq!(long.last(ORDER - 1), [14, 15, 16, 17, 18, 19]);
        assert_eq!(long.length, ORDER - 1);
    }
}
