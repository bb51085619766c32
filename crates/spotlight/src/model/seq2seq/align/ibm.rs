//! IBM model 1: which word of the source each word of a target comes from, if order means nothing. Brown and others, 1993, section 4.
//!
//! ```text
//! p(t | s) ∝ Π_j Σ_i p(t_j | s_i)      over all words of the source and a word that is none
//! ```
//!
//! The table is learnt by expectation-maximisation from pairs alone. It is here to be compared with, and to make links for texts that nobody has linked.

use std::collections::{BTreeSet, HashMap};

use super::{Gold, Link};

/// What is left of a prior for words on the diagonal: `exp(-steepness |i/n - j/m|)`. Dyer, Chahuneau and Smith, 2013.
const STEEPNESS: f64 = 4.0;
/// The probability of a pair of words that never met.
const NEVER: f64 = 1e-9;

/// The table of translations.
#[derive(Clone, Debug)]
pub struct Ibm1 {
    source: HashMap<String, u32>,
    target: HashMap<String, u32>,
    /// `p(target | source)`; source 0 is the word that is none.
    table: HashMap<(u32, u32), f64>,
    diagonal: bool,
}

fn numbers<'w>(all: &mut HashMap<String, u32>, words: &[&'w str]) -> Vec<u32> {
    let number = |word: &&'w str| {
        let next = all.len() as u32 + 1;
        *all.entry(word.to_string()).or_insert(next)
    };
    words.iter().map(number).collect()
}

impl Ibm1 {
    /// Learns from pairs of word lists in some rounds. With `diagonal` words at about the same place are preferred, which is no longer model 1.
    pub fn learn(pairs: &[(Vec<&str>, Vec<&str>)], rounds: usize, diagonal: bool) -> Self {
        let (mut source, mut target) = (HashMap::new(), HashMap::new());
        let rows: Vec<(Vec<u32>, Vec<u32>)> = pairs.iter().map(|(s, t)| (numbers(&mut source, s), numbers(&mut target, t))).collect();
        let mut model = Ibm1 { source, target, table: HashMap::new(), diagonal };
        for round in 0..rounds {
            let (mut counts, mut totals) = (HashMap::<(u32, u32), f64>::new(), HashMap::<u32, f64>::new());
            for (s, t) in &rows {
                for (j, &word) in t.iter().enumerate() {
                    // In the first round all translations are equal.
                    let shares = model.shares(s, word, j, t.len(), round == 0);
                    let sum: f64 = shares.iter().sum();
                    for (i, share) in shares.iter().enumerate() {
                        let from = if i < s.len() { s[i] } else { 0 };
                        *counts.entry((from, word)).or_default() += share / sum;
                        *totals.entry(from).or_default() += share / sum;
                    }
                }
            }
            for (&(from, _), count) in &mut counts {
                *count /= totals[&from];
            }
            model.table = counts;
        }
        model
    }

    /// For each word of the source, and for none at the end, how probable it is to be where a word comes from; not normalised.
    fn shares(&self, source: &[u32], word: u32, place: usize, length: usize, equal: bool) -> Vec<f64> {
        let n = source.len().max(1) as f64;
        let here = (place as f64 + 0.5) / length.max(1) as f64;
        let prior = |i: usize| match self.diagonal {
            true => (-STEEPNESS * ((i as f64 + 0.5) / n - here).abs()).exp(),
            false => 1.0,
        };
        let of = |from: u32| if equal { 1.0 } else { self.table.get(&(from, word)).copied().unwrap_or(NEVER).max(NEVER) };
        let mean = (0..source.len()).map(prior).sum::<f64>() / n;
        source.iter().enumerate().map(|(i, &from)| of(from) * prior(i)).chain([of(0) * mean]).collect()
    }

    /// The most probable link of each target word; none for words that come from none.
    pub fn links(&self, source: &[&str], target: &[&str]) -> BTreeSet<Link> {
        let known = |all: &HashMap<String, u32>, words: &[&str]| -> Vec<u32> {
            words.iter().map(|word| all.get(*word).copied().unwrap_or(u32::MAX)).collect()
        };
        let (s, t) = (known(&self.source, source), known(&self.target, target));
        let best = |(j, &word): (usize, &u32)| {
            let shares = self.shares(&s, word, j, t.len(), false);
            let best = (1..shares.len()).fold(0, |best, i| if shares[i] > shares[best] { i } else { best });
            (best < s.len()).then_some((best, j))
        };
        t.iter().enumerate().filter_map(best).collect()
    }
}

/// Rounds of learning.
pub const ROUNDS: usize = 5;

/// Links that nobody made: those that the model finds in both directions, and those beside them that it finds in one, as long as a word has none. Learnt from the same pairs.
pub fn symmetric(pairs: &[(Vec<&str>, Vec<&str>)]) -> Vec<Gold> {
    let turned: Vec<(Vec<&str>, Vec<&str>)> = pairs.iter().map(|(s, t)| (t.clone(), s.clone())).collect();
    let (there, back) = (Ibm1::learn(pairs, ROUNDS, true), Ibm1::learn(&turned, ROUNDS, true));
    let of_pair = |(s, t): &(Vec<&str>, Vec<&str>)| {
        let there = there.links(s, t);
        let back: BTreeSet<Link> = back.links(t, s).into_iter().map(|(j, i)| (i, j)).collect();
        Gold::sure(grown(&there, &back))
    };
    pairs.iter().map(of_pair).collect()
}

/// The intersection, and step by step those links of the union that are beside one and whose word, on either side, has none yet. Koehn, Och and Marcu, 2003, section 4.5.
fn grown(there: &BTreeSet<Link>, back: &BTreeSet<Link>) -> BTreeSet<Link> {
    let mut links: BTreeSet<Link> = there.intersection(back).copied().collect();
    let union: BTreeSet<Link> = there.union(back).copied().collect();
    let beside = |a: Link, b: Link| a.0.abs_diff(b.0) <= 1 && a.1.abs_diff(b.1) <= 1;
    loop {
        let free = |link: &Link, links: &BTreeSet<Link>| links.iter().all(|l| l.0 != link.0) || links.iter().all(|l| l.1 != link.1);
        let next = union.iter().find(|&link| !links.contains(link) && free(link, &links) && links.iter().any(|&l| beside(l, *link)));
        match next {
            Some(&link) => links.insert(link),
            None => return links,
        };
    }
}
