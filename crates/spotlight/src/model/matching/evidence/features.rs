//! What is known of a question and an answer: which words of the question the answer has, and what the answer is made of beside the question's first words.
//!
//! ```text
//! share_i = idf_i / Σ idf            of the question's words; marks of punctuation have none
//! m_i     = how much word i agrees with the answer's word most like it; below 0.35 it is 0
//!
//! overlap = Σ share_i [m_i = 1]      soft = Σ share_i m_i
//! pairs   = Σ (share_i + share_(i+1)) / 2, over the pairs of neighbours that the answer has too
//! length  = ln(n + 1),  (ln(n + 1) - 3)²      n words in the answer
//! ```
//!
//! And sparse ones, each with a row of its own: the word of the question that is matched (3 share_i m_i), and every unit of the answer (its words, pairs, and what they look like)
//! alone, with the question's first word, and with its first two words; and every word of the question with every other word of the answer, for what is asked in other words than it is answered in.

use std::collections::HashMap;

use super::words::{Words, shapes};
use crate::metrics::IdfOverlap;
use crate::model::hashed::{HashRows, hash, join};
use crate::model::linear::Sparse;

/// Below this, two words have nothing in common.
const AGREES: f64 = 0.35;
/// A feature that fewer candidates have has no weight.
const SEEN: u32 = 3;
/// How strong a matched word of the question is as a feature of its own.
const MATCHED: f64 = 3.0;
/// The same for what an answer's words look like, with the question's first words.
const SHAPED: f64 = 0.5;
/// How strong all words of a question with all words of an answer are together.
const CROSSED: f64 = 2.0;
/// Dense features: overlap, soft, pairs, two of the length, two of the place.
pub const DENSE: usize = 7;

/// A question and an answer, ready to be scored.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Features {
    /// In the order above; those of the place are 0 unless they are asked for.
    pub dense: [f64; DENSE],
    /// Row and number.
    pub sparse: Sparse,
}

/// A word of the question, and where it was found.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Found {
    /// How much of the question it is.
    pub share: f64,
    /// How much the best word of the answer agrees with it; 0 if none does.
    pub strength: f64,
    /// Where that word stands in the answer.
    pub at: Vec<usize>,
}

/// Two neighbours of the question that are neighbours in the answer.
#[derive(Clone, Debug, PartialEq)]
pub struct FoundPair {
    /// The words of the question.
    pub words: [usize; 2],
    /// How much of the question they are.
    pub share: f64,
    /// Where they stand in the answer: the first and the second word of each place.
    pub at: Vec<[usize; 2]>,
}

/// What both texts have to do with each other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Alignment {
    /// Each word of the question.
    pub words: Vec<Found>,
    /// Neighbours.
    pub pairs: Vec<FoundPair>,
}

impl Alignment {
    /// Looks for the words of a question in an answer.
    pub fn new(question: &Words, answer: &Words, idf: &IdfOverlap) -> Self {
        let rare: Vec<f64> = (0..question.len()).map(|i| if question.is_word[i] { idf.idf(&question.words[i]) } else { 0.0 }).collect();
        let total = rare.iter().sum::<f64>() + 1e-9;
        let words: Vec<Found> = (0..question.len())
            .map(|i| {
                let mut best = (AGREES, None);
                for j in 0..answer.len() {
                    let strength = if question.is_word[i] { question.agreement(i, answer, j) } else { 0.0 };
                    if strength > best.0 {
                        best = (strength, Some(j));
                    }
                }
                let same = |first: usize| (0..answer.len()).filter(|&j| answer.words[j] == answer.words[first]).collect();
                let (strength, at) = best.1.map_or((0.0, Vec::new()), |j| (best.0, same(j)));
                Found { share: rare[i] / total, strength, at }
            })
            .collect();
        let asked: Vec<usize> = (0..question.len()).filter(|&i| question.is_word[i]).collect();
        let pairs = asked.windows(2).filter_map(|pair| {
            let &[a, b] = pair else { return None };
            let is_here = |j: &usize| answer.words[*j] == question.words[a] && answer.words[*j + 1] == question.words[b];
            let at: Vec<[usize; 2]> = (0..answer.len().saturating_sub(1)).filter(is_here).map(|j| [j, j + 1]).collect();
            (!at.is_empty()).then(|| FoundPair { words: [a, b], share: 0.5 * (words[a].share + words[b].share), at })
        });
        let pairs = pairs.collect();
        Alignment { words, pairs }
    }

    /// The same words found, each as much of the question as the other: the control of an audit.
    pub(super) fn evened(mut self, question: &Words) -> Self {
        let share = 1.0 / question.is_word.iter().filter(|is_word| **is_word).count().max(1) as f64;
        self.words.iter_mut().zip(&question.is_word).for_each(|(found, &is_word)| found.share = if is_word { share } else { 0.0 });
        self.pairs.iter_mut().for_each(|pair| pair.share = share);
        self
    }

    pub(super) fn dense(&self, length: usize, place: Option<(usize, usize)>) -> [f64; DENSE] {
        let long = (length as f64 + 1.0).ln();
        let exact = self.words.iter().filter(|w| w.strength == 1.0).map(|w| w.share).sum();
        let soft = self.words.iter().map(|w| w.share * w.strength).sum();
        let pairs = self.pairs.iter().map(|p| p.share).sum();
        let (first, later) = place.map_or((0.0, 0.0), |(k, all)| (1.0 / (k as f64 + 1.0), k as f64 / all.max(1) as f64));
        [exact, soft, pairs, long, (long - 3.0).powi(2), first, later]
    }
}

/// The hash of a word of the question that is matched.
pub fn matched(word: &str) -> u64 {
    hash(b'm', &[word])
}

/// What a matched word of the question is as a feature.
pub fn matched_value(found: &Found) -> f64 {
    MATCHED * found.share * found.strength
}

/// Every sparse feature of an answer: its hash, its number, and the words of the answer that it belongs to.
pub fn each_unit(question: &Words, answer: &Words, mut see: impl FnMut(u64, f64, &[usize])) {
    // Units with their places; a unit that stands twice is one.
    let mut units: Vec<(u64, bool, usize)> = Vec::new();
    let ends = (0..answer.len() + 1).filter(|_| !answer.is_empty());
    for j in ends {
        let word = |at: Option<usize>, end: &'static str| at.and_then(|at| answer.words.get(at)).map_or(end, String::as_str);
        // A pair belongs to its first word; the beginning of the text belongs to the word after it.
        units.push((hash(b'p', &[word(j.checked_sub(1), "\u{2}"), " ", word(Some(j), "\u{3}")]), false, j.saturating_sub(1)));
    }
    for (j, word) in answer.words.iter().enumerate() {
        units.push((hash(b'w', &[word]), false, j));
        units.extend(shapes(word).map(|shape| (hash(b's', &[shape]), true, j)));
    }
    units.sort_unstable();
    let groups = || units.chunk_by(|a, b| a.0 == b.0);
    let features: usize = groups().map(|unit| if unit[0].1 { 5 } else { 3 }).sum();
    let value = 1.0 / (features as f64 + 1.0).sqrt();
    let asked: Vec<&str> = (0..question.len()).filter(|&i| question.is_word[i]).take(2).map(|i| question.words[i].as_str()).collect();
    let first = hash(b'1', &asked[..asked.len().min(1)]);
    let both = hash(b'2', &[asked.first().copied().unwrap_or_default(), " ", asked.get(1).copied().unwrap_or_default()]);
    let mut places = Vec::new();
    for unit in groups() {
        places.clear();
        places.extend(unit.iter().map(|u| u.2));
        places.dedup();
        see(unit[0].0, value, &places);
        see(join(b'u', first, unit[0].0), value, &places);
        see(join(b'u', both, unit[0].0), value, &places);
        if unit[0].1 {
            see(join(b'x', first, unit[0].0), SHAPED, &places);
            see(join(b'x', both, unit[0].0), SHAPED, &places);
        }
    }
    each_crossing(question, answer, &mut see);
}

/// Every word of the question with every other word of the answer: for what is asked in other words than it is answered in.
fn each_crossing(question: &Words, answer: &Words, see: &mut impl FnMut(u64, f64, &[usize])) {
    let (asked, answered) = (question.places(), answer.places());
    let value = CROSSED / ((asked.len() * answered.len()) as f64 + 1.0).sqrt();
    for word in asked.keys() {
        let asked = hash(b'q', &[word]);
        for (other, places) in answered.iter().filter(|(other, _)| *other != word) {
            see(join(b'c', asked, hash(b'w', &[other])), value, places);
        }
    }
}

/// The features that have a row.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Known {
    /// By their hashes.
    pub rows: HashRows,
}

impl Known {
    /// Those that enough candidates have; each is given with its question.
    pub fn learn<'a>(candidates: impl Iterator<Item = (&'a Words, &'a Words)>) -> Self {
        let mut counts: HashMap<u64, u32> = HashMap::new();
        for (question, answer) in candidates {
            let mut count = |hash: u64| *counts.entry(hash).or_default() += 1;
            each_unit(question, answer, |hash, _, _| count(hash));
            (0..question.len()).filter(|&i| question.is_word[i]).for_each(|i| count(matched(&question.words[i])));
        }
        Known { rows: HashRows::of_counts(counts, SEEN).0 }
    }

    /// A question and an answer as features. `place` is the answer's place among the candidates, from 0, and their number.
    pub fn features(&self, question: &Words, answer: &Words, idf: &IdfOverlap, place: Option<(usize, usize)>) -> Features {
        let alignment = Alignment::new(question, answer, idf);
        let rest = self.without_words(question, answer, &alignment, place);
        let mut sparse = Sparse::new();
        for (found, word) in alignment.words.iter().zip(&question.words).filter(|(found, _)| found.strength > 0.0) {
            sparse.extend(self.rows.row(matched(word)).map(|row| (row, matched_value(found) as f32)));
        }
        sparse.extend(rest.sparse);
        Features { sparse, ..rest }
    }

    /// The same without the words of the question that are matched: none of them counts more than its share says.
    pub(super) fn without_words(&self, question: &Words, answer: &Words, alignment: &Alignment, place: Option<(usize, usize)>) -> Features {
        let mut sparse = Sparse::new();
        each_unit(question, answer, |hash, value, _| sparse.extend(self.rows.row(hash).map(|row| (row, value as f32))));
        Features { dense: alignment.dense(answer.len(), place), sparse }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn idf() -> IdfOverlap {
        IdfOverlap::learn(["the sea is deep", "the cave is dark", "the glacier is cold", "ice is cold"])
    }

    #[test]
    fn words_are_found_where_they_stand() {
        let (question, answer) = (Words::new("How cold is the glacier ?"), Words::new("glaciers , it is said , are cold as the ice"));
        let found = Alignment::new(&question, &answer, &idf());
        let at: Vec<&[usize]> = found.words.iter().map(|w| w.at.as_slice()).collect();
        assert_eq!(at, [&[][..], &[7], &[3], &[9], &[0], &[]]);
        assert!((found.words.iter().map(|w| w.share).sum::<f64>() - 1.0).abs() < 1e-6);
        assert_eq!((found.words[5].share, found.words[1].strength), (0.0, 1.0));
        assert!(found.words[4].strength > 0.5 && found.words[4].strength < 1.0);
        assert!(found.pairs.is_empty());
        let dense = found.dense(answer.len(), Some((1, 4)));
        assert!(dense[1] > dense[0] && dense[0] > 0.0);
        assert_eq!((dense[3], dense[5], dense[6]), (12f64.ln(), 0.5, 0.25));

        let found = Alignment::new(&Words::new("the sea ?"), &Words::new("the sea : the sea"), &idf());
        assert_eq!((found.pairs.len(), &found.pairs[0].at), (1, &vec![[0, 1], [3, 4]]));
        assert!((found.pairs[0].share - 0.5).abs() < 1e-6);
    }

    #[test]
    fn units_belong_to_words_of_the_answer() {
        let mut seen: HashMap<u64, (f64, Vec<usize>)> = HashMap::new();
        each_unit(&Words::new("when was it ?"), &Words::new("in 1815 , in june"), |hash, value, at| {
            assert!(seen.insert(hash, (value, at.to_vec())).is_none());
        });
        // Words in, 1815, the comma, june; six pairs; year, digits, month, each with two features more. Three words with three.
        let units = 3 * (4 + 6 + 3) + 2 * 3;
        assert_eq!(seen.len(), units + 3 * 3);
        let value = 1.0 / (units as f64 + 1.0).sqrt();
        assert_eq!(seen[&hash(b'w', &["in"])], (value, vec![0, 3]));
        assert_eq!(seen[&hash(b'p', &["\u{2}", " ", "in"])], (value, vec![0]));
        assert_eq!(seen[&hash(b'p', &["june", " ", "\u{3}"])], (value, vec![4]));
        let year = hash(b's', &["year"]);
        assert_eq!(seen[&join(b'u', hash(b'1', &["when"]), year)], (value, vec![1]));
        assert_eq!(seen[&join(b'x', hash(b'2', &["when", " ", "was"]), year)], (SHAPED, vec![1]));
        let crossed = |asked: &str, word: &str| seen.get(&join(b'c', hash(b'q', &[asked]), hash(b'w', &[word])));
        assert_eq!(crossed("was", "in"), Some(&(CROSSED / 10f64.sqrt(), vec![0, 3])));
        assert_eq!((crossed("?", "in"), crossed("was", ",")), (None, None));
        each_unit(&Words::new("when"), &Words::new(""), |_, _, _| panic!("nothing has no units"));
    }

    #[test]
    fn what_is_seen_too_rarely_has_no_row() {
        let texts: Vec<(Words, Words)> =
            ["a deep sea", "deep", "so deep"].iter().map(|a| (Words::new("how deep ?"), Words::new(a))).collect();
        let known = Known::learn(texts.iter().map(|(q, a)| (q, a)));
        // The word "deep" and "deep" at the end? Once as "deep" alone at both ends, once after "so": twice. The word three times, with and without the question's first words.
        let deep = hash(b'w', &["deep"]);
        assert!(known.rows.row(deep).is_some() && known.rows.row(join(b'u', hash(b'1', &["how"]), deep)).is_some());
        assert!(known.rows.row(matched("how")).is_some() && known.rows.row(matched("?")).is_none());
        assert!(known.rows.row(hash(b'w', &["so"])).is_none());
        let features = known.features(&texts[0].0, &texts[2].1, &idf(), None);
        let row = known.rows.row(matched("deep")).unwrap();
        assert!(features.sparse.iter().any(|&(r, x)| r == row && x > 0.0));
        assert_eq!(features.dense[5..], [0.0, 0.0]);
    }
}
