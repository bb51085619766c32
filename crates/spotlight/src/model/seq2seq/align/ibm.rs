//! IBM model 1: which word of the source each word of a target comes from, if order means nothing. Brown and others, 1993, section 4.
//!
//! ```text
//! p(t | s) ∝ Π_j Σ_i p(t_j | s_i)      over all words of the source and a word that is none
//! ```
//!
//! The table is learnt by expectation-maximisation from pairs alone. It is here to be compared with, and, with some [help](Help), to make links for texts that nobody has linked.

use std::collections::{BTreeSet, HashMap};

use super::{Gold, Link};

/// Rounds of learning.
pub const ROUNDS: usize = 8;
/// The probability of a pair of words that never met.
const NEVER: f64 = 1e-9;

/// What is assumed of words before anything is learnt, for few pairs are too few to learn all of it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Help {
    /// Words that begin with so many equal letters are one word: inflected forms.
    pub beginning: usize,
    /// How steeply the probability of a link falls with its distance from the diagonal, `exp(-steepness |i/n - j/m|)`. Dyer, Chahuneau and Smith, 2013.
    pub steepness: f64,
    /// How much more probable a link of two words that begin alike is, such as `europea` and `European`.
    pub alike: f64,
    /// The probability of a link to no word.
    pub none: f64,
    /// A translation that was never seen counts as this much, spread over all words.
    pub unseen: f64,
}

impl Default for Help {
    /// Chosen by the 200 linked pairs of Spanish and English that the figures are of.
    fn default() -> Self {
        Help { beginning: 5, steepness: 4.0, alike: 20.0, none: 0.08, unseen: 0.01 }
    }
}

/// The table of translations.
#[derive(Clone, Debug)]
pub struct Ibm1 {
    source: HashMap<String, u32>,
    target: HashMap<String, u32>,
    /// `p(target | source)`; source 0 is the word that is none.
    table: HashMap<(u32, u32), f64>,
    help: Option<Help>,
}

/// A word and its number; 0 for the word that is none.
type Known = (u32, String);

fn numbers(all: &mut HashMap<String, u32>, words: Vec<String>) -> Vec<Known> {
    let number = |word: String| {
        let next = all.len() as u32 + 1;
        (*all.entry(word.clone()).or_insert(next), word)
    };
    words.into_iter().map(number).collect()
}

/// The share of their letters that two words begin with alike, if these are three or more.
fn alike(a: &str, b: &str) -> f64 {
    let common = a.chars().zip(b.chars()).take_while(|(a, b)| a == b).count();
    let longer = a.chars().count().max(b.chars().count());
    if a == b || common >= 3 { common as f64 / longer.max(1) as f64 } else { 0.0 }
}

impl Ibm1 {
    /// Learns from pairs of word lists. With help it is no longer model 1.
    pub fn learn(pairs: &[(Vec<&str>, Vec<&str>)], help: Option<Help>) -> Self {
        let mut model = Ibm1 { source: HashMap::new(), target: HashMap::new(), table: HashMap::new(), help };
        let (mut source, mut target) = (HashMap::new(), HashMap::new());
        let rows: Vec<(Vec<Known>, Vec<Known>)> =
            pairs.iter().map(|(s, t)| (numbers(&mut source, model.forms(s)), numbers(&mut target, model.forms(t)))).collect();
        (model.source, model.target) = (source, target);
        for round in 0..ROUNDS {
            let (mut counts, mut totals) = (HashMap::<(u32, u32), f64>::new(), HashMap::<u32, f64>::new());
            for (s, t) in &rows {
                for (j, word) in t.iter().enumerate() {
                    // In the first round all translations are equal, but for those that are alike.
                    let shares = model.shares(s, word, j, t.len(), round == 0);
                    let sum: f64 = shares.iter().sum();
                    for (i, share) in shares.iter().enumerate() {
                        let from = if i < s.len() { s[i].0 } else { 0 };
                        *counts.entry((from, word.0)).or_default() += share / sum;
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

    /// Words as the table knows them.
    fn forms(&self, words: &[&str]) -> Vec<String> {
        let form = |word: &&str| match self.help {
            Some(help) => word.to_lowercase().chars().take(help.beginning).collect(),
            None => word.to_string(),
        };
        words.iter().map(form).collect()
    }

    /// For each word of the source, and for none at the end, how probable it is to be where a word comes from; not normalised.
    fn shares(&self, source: &[Known], word: &Known, place: usize, length: usize, equal: bool) -> Vec<f64> {
        let seen = |from: u32| self.table.get(&(from, word.0)).copied();
        let Some(help) = self.help else {
            let of = |from: u32| if equal { 1.0 } else { seen(from).unwrap_or(NEVER).max(NEVER) };
            return source.iter().map(|from| of(from.0)).chain([of(0)]).collect();
        };
        let (n, here) = (source.len().max(1) as f64, (place as f64 + 0.5) / length.max(1) as f64);
        let near: Vec<f64> = (0..source.len()).map(|i| (-help.steepness * ((i as f64 + 0.5) / n - here).abs()).exp()).collect();
        let all: f64 = near.iter().sum();
        let unseen = help.unseen / self.target.len().max(1) as f64;
        let of = |number: u32, more: f64| if equal { 1.0 + more } else { seen(number).unwrap_or(0.0) + unseen * (1.0 + more) };
        let words =
            source.iter().zip(&near).map(|(from, near)| (1.0 - help.none) * near / all * of(from.0, help.alike * alike(&from.1, &word.1)));
        words.chain([help.none * of(0, 0.0)]).collect()
    }

    /// The most probable link of each target word; none for words that come from none.
    pub fn links(&self, source: &[&str], target: &[&str]) -> BTreeSet<Link> {
        let known = |all: &HashMap<String, u32>, words: &[&str]| -> Vec<Known> {
            self.forms(words).into_iter().map(|word| (all.get(&word).copied().unwrap_or(u32::MAX), word)).collect()
        };
        let (s, t) = (known(&self.source, source), known(&self.target, target));
        let best = |(j, word): (usize, &Known)| {
            let shares = self.shares(&s, word, j, t.len(), false);
            let best = (1..shares.len()).fold(0, |best, i| if shares[i] > shares[best] { i } else { best });
            (best < s.len()).then_some((best, j))
        };
        t.iter().enumerate().filter_map(best).collect()
    }
}

/// Links that nobody made: those that the model finds in both directions, and those beside them that it finds in one, as long as a word has none. Learnt from the same pairs.
pub fn symmetric(pairs: &[(Vec<&str>, Vec<&str>)]) -> Vec<Gold> {
    let turned: Vec<(Vec<&str>, Vec<&str>)> = pairs.iter().map(|(s, t)| (t.clone(), s.clone())).collect();
    let [there, back] = [pairs, &turned].map(|pairs| Ibm1::learn(pairs, Some(Help::default())));
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
