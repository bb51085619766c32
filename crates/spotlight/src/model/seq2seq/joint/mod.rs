//! Counting beside the network: an n-gram model over units of the source joined to what they write.
//!
//! ```text
//! p(x, y) = Σ over all ways to cut y into pieces  Π p(x_i:y_i | the six before)
//! ```
//!
//! Every unit of the source and the piece of the target that it writes are one *gram*; a word is a sequence of them, and its probability that of any text under an n-gram model. Bisani and Ney, 2008, found
//! this the best model of pronunciation before networks were, and it errs elsewhere than a network does: what it counts it has seen letter by letter, and what it has not seen it does not dream of.
//! So the two judge answers together ([`beside`](super::beside)). It is made in a second, by counting.
//!
//! The rooms: `align` finds what each unit writes, `grams` counts what follows what, here words are scored, and `say` has what the counts would say themselves.

mod align;
mod grams;
mod say;

use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::Path;
use std::sync::OnceLock;

use align::{Gram, align, edged};
use grams::{Grams, History};

use super::data::Vocabularies;
use super::hard::log_sum;
use crate::folder::JOINT;
use crate::text::Pair;
use crate::text::vocab::UNKNOWN;
use crate::weights::write_whole;
use crate::{Error, Result};

/// Ways to cut a target that are followed at a time.
const WAYS: usize = 12;

/// A joint n-gram model of training pairs.
///
/// ```
/// use spotlight::model::seq2seq::{Config, Joint, Vocabularies};
/// use spotlight::text::Pair;
///
/// let pairs = [("chat", "sha"), ("chou", "shu"), ("rat", "ra"), ("tour", "tur")];
/// let pairs = pairs.map(|(s, t)| Pair { source: s.into(), target: t.into(), features: None, line: 1 });
/// let units = Vocabularies::train(&Config::default(), &pairs)?;
/// let joint = Joint::of(&pairs, &units);
/// // Nobody has seen this word, but its letters.
/// let say = |target: &str| joint.score(&units.source.ids("chour"), &units.target.ids(target)).unwrap();
/// assert!(say("shur") > say("shtur") + 3.0);
/// // Something has no letter that it could have been written by.
/// assert_eq!(say("aaaa"), f64::NEG_INFINITY);
/// # Ok::<(), spotlight::Error>(())
/// ```
#[derive(Debug, Default)]
pub struct Joint {
    /// Training pairs as grams, each of them once.
    words: BTreeSet<Vec<Gram>>,
    /// What follows from them, when it is first needed.
    counted: OnceLock<Counted>,
}

impl PartialEq for Joint {
    fn eq(&self, other: &Self) -> bool {
        self.words == other.words
    }
}

/// The same, numbered and counted.
#[derive(Debug, Default)]
struct Counted {
    /// For each unit of the source, what it may write, with the number of the gram.
    pieces: HashMap<u32, Vec<(u32, Gram)>>,
    grams: Grams,
    /// All grams, by their numbers.
    every: Vec<Gram>,
    /// The first gram of each word, and how many the longest word has.
    starts: Vec<u32>,
    longest: usize,
    /// Sources and targets of the pairs.
    sources: HashSet<Vec<u32>>,
    targets: HashSet<Vec<u32>>,
}

impl Joint {
    /// Counts pairs. Those with unknown units, and those that cannot be cut, are left out.
    pub fn of(pairs: &[Pair], vocabularies: &Vocabularies) -> Self {
        let (source, target) = (&vocabularies.source, &vocabularies.target);
        let ids: BTreeSet<(Vec<u32>, Vec<u32>)> = pairs.iter().map(|p| (source.ids(&p.source), target.ids(&p.target))).collect();
        let known = |pair: &(Vec<u32>, Vec<u32>)| !pair.0.contains(&UNKNOWN) && !pair.1.contains(&UNKNOWN);
        let ids: Vec<(Vec<u32>, Vec<u32>)> = ids.into_iter().filter(known).collect();
        let same = |a: u32, b: u32| source.text(a).is_some_and(|text| Some(text) == target.text(b));
        Joint { words: align(&ids, same).into_iter().collect(), counted: OnceLock::new() }
    }

    /// What was counted before, too; units keep their numbers.
    pub fn with(&self, before: &Joint) -> Self {
        Joint { words: self.words.union(&before.words).cloned().collect(), counted: OnceLock::new() }
    }

    fn counted(&self) -> &Counted {
        self.counted.get_or_init(|| {
            let mut numbers: HashMap<Gram, u32> = HashMap::new();
            let mut pieces: HashMap<u32, Vec<(u32, Gram)>> = HashMap::new();
            let mut words: Vec<Vec<u32>> = Vec::with_capacity(self.words.len());
            let mut every = Vec::new();
            for word in &self.words {
                let numbered = word.iter().map(|&gram| {
                    let next = numbers.len() as u32;
                    *numbers.entry(gram).or_insert_with(|| {
                        pieces.entry(gram.unit).or_default().push((next, gram));
                        every.push(gram);
                        next
                    })
                });
                words.push(numbered.collect());
            }
            let source = |word: &Vec<Gram>| word[1..word.len() - 1].iter().map(|gram| gram.unit).collect();
            let target = |word: &Vec<Gram>| word.iter().flat_map(|gram| gram.writes().to_vec()).collect();
            Counted {
                grams: Grams::of(&words, every.len()),
                pieces,
                every,
                starts: words.iter().map(|word| word[0]).collect(),
                longest: words.iter().map(Vec::len).max().unwrap_or_default(),
                sources: self.words.iter().map(source).collect(),
                targets: self.words.iter().map(target).collect(),
            }
        })
    }

    /// Whether a training pair has this source.
    pub fn has_seen(&self, source: &[u32]) -> bool {
        self.counted().sources.contains(source)
    }

    /// Whether a training pair has this target.
    pub fn has_written(&self, target: &[u32]) -> bool {
        self.counted().targets.contains(target)
    }

    /// The logarithm of the probability of a source and its target; none for a source with a unit that it never saw, and minus infinity for a target that cannot be cut so that every piece was seen.
    ///
    /// It goes along the source, unit by unit, and follows the most probable ways to cut the target.
    pub fn score(&self, source: &[u32], target: &[u32]) -> Option<f64> {
        let Counted { pieces, grams, .. } = self.counted();
        // Units of the target that are written, the grams before, and the logarithm of the probability.
        let mut ways: Vec<(usize, History, f64)> = vec![(0, History::default(), 0.0)];
        for (at, unit) in edged(source).enumerate() {
            let pieces = pieces.get(&unit)?;
            let mut next: HashMap<(usize, History), f64> = HashMap::new();
            for (written, history, log) in &ways {
                let known = grams.known(history);
                for (gram, piece) in pieces.iter().filter(|(_, piece)| target[*written..].starts_with(piece.writes())) {
                    // The first edge is where every word begins.
                    let own = if at == 0 { 0.0 } else { grams.probability(&known, *gram).ln() };
                    let all = next.entry((written + piece.writes().len(), history.after(*gram))).or_insert(f64::NEG_INFINITY);
                    *all = log_sum([*all, log + own].into_iter());
                }
            }
            ways = next.into_iter().map(|((written, history), log)| (written, history, log)).collect();
            ways.sort_by(|a, b| b.2.total_cmp(&a.2).then_with(|| (a.0, a.1).cmp(&(b.0, b.1))));
            ways.truncate(WAYS);
        }
        Some(log_sum(ways.iter().filter(|way| way.0 == target.len()).map(|way| way.2)))
    }

    /// Writes the words into a model's folder: one a line, each gram the number of a unit and of those that it writes.
    pub fn save(&self, folder: &Path) -> Result<()> {
        let mut lines = String::new();
        for word in &self.words {
            let grams: Vec<(u32, &[u32])> = word.iter().map(|gram| (gram.unit, gram.writes())).collect();
            lines += &format!("{}\n", serde_json::json!(grams));
        }
        write_whole(&folder.join(JOINT), lines.as_bytes())
    }

    /// Reads what [`Joint::save`] wrote.
    pub fn load(folder: &Path) -> Result<Self> {
        let path = folder.join(JOINT);
        let text = std::fs::read_to_string(&path).map_err(|source| Error::Io { path: path.clone(), source })?;
        let mut joint = Joint::default();
        for (number, line) in text.lines().enumerate() {
            let word = serde_json::from_str::<Vec<(u32, Vec<u32>)>>(line).ok();
            let word = word
                .filter(|word| word.len() >= 2)
                .and_then(|word| word.iter().map(|(unit, piece)| Gram::new(*unit, piece)).collect::<Option<Vec<Gram>>>());
            joint.words.insert(word.ok_or_else(|| Error::Value {
                what: format!("line {} of {}", number + 1, path.display()),
                got: format!("{line:?}"),
                expected: "units and what each writes, as lists of numbers in JSON".into(),
            })?);
        }
        Ok(joint)
    }
}

#[cfg(test)]
mod tests {
    use rand::SeedableRng;
    use rand_chacha::ChaCha8Rng;

    use super::*;
    use crate::model::seq2seq::tests::{config, pair};

    /// `c` is `k`, but `s` before `i`; `x` is two sounds, `h` none.
    const PAIRS: [(&str, &str); 9] = [
        ("cat", "kat"),
        ("cot", "kot"),
        ("cit", "sit"),
        ("tac", "tak"),
        ("taci", "tasi"),
        ("ox", "oks"),
        ("tax", "taks"),
        ("hit", "it"),
        ("hat", "at"),
    ];

    fn taught(pairs: &[(&str, &str)]) -> (Joint, Vocabularies) {
        let pairs: Vec<Pair> = pairs.iter().map(|(source, target)| pair(source, target, 1)).collect();
        let vocabularies = Vocabularies::train(&config(&[]), &pairs).unwrap();
        (Joint::of(&pairs, &vocabularies), vocabularies)
    }

    fn said(joint: &Joint, units: &Vocabularies, source: &str, target: &str) -> f64 {
        joint.score(&units.source.ids(source), &units.target.ids(target)).unwrap()
    }

    #[test]
    fn words_that_it_never_saw_are_judged_by_their_letters() {
        let (joint, units) = taught(&PAIRS);
        for (source, right, wrong) in [("coc", "kok", "sok"), ("coci", "kosi", "koki"), ("cax", "kaks", "saks"), ("hoc", "ok", "os")] {
            let (right, wrong) = (said(&joint, &units, source, right), said(&joint, &units, source, wrong));
            assert!(right > wrong, "{source}: {right} {wrong}");
        }
        assert_eq!(said(&joint, &units, "cit", "kkkkkkkk"), f64::NEG_INFINITY);
    }

    /// Of all sources of one length, if each letter writes one sound, all targets together: other lengths have the rest.
    #[test]
    fn probabilities_of_all_pairs_do_not_exceed_one() {
        let (joint, units) = taught(&[("ab", "xy"), ("ba", "yx"), ("aa", "xx")]);
        let words = |letters: [&str; 2]| letters.iter().flat_map(|a| letters.iter().map(move |b| format!("{a}{b}"))).collect::<Vec<_>>();
        let all = words(["a", "b"])
            .iter()
            .flat_map(|s| words(["x", "y"]).iter().map(|t| said(&joint, &units, s, t).exp()).collect::<Vec<_>>())
            .sum::<f64>();
        assert!(all > 0.25 && all < 1.0, "{all}");
    }

    /// Of all ways to write a word, the best has the best score.
    #[test]
    fn what_it_would_say_is_what_it_thinks_most_probable() {
        let (joint, units) = taught(&PAIRS);
        for (source, target) in [("coc", "kok"), ("coci", "kosi"), ("cax", "kaks"), ("hoc", "ok")] {
            let said = joint.best(&units.source.ids(source)).unwrap();
            assert_eq!(units.target.decode(&said), target);
        }
        assert_eq!(joint.best(&units.source.ids("")), Some(vec![]));
    }

    /// What it draws is spelt as what it counted: a letter that writes one thing or another does so by what stands around it.
    #[test]
    fn what_it_draws_knows_what_stands_before() {
        let syllables = [("ca", "ka"), ("ci", "si"), ("ta", "ta"), ("ti", "ti"), ("ra", "ra"), ("ri", "ri")];
        let words = syllables.iter().flat_map(|a| syllables.iter().map(move |b| (format!("{}{}", a.0, b.0), format!("{}{}", a.1, b.1))));
        let words: Vec<(String, String)> = words.collect();
        let (joint, units) = taught(&words.iter().map(|(source, target)| (source.as_str(), target.as_str())).collect::<Vec<_>>());
        let mut random = ChaCha8Rng::seed_from_u64(1);
        let drawn: Vec<(String, String)> = std::iter::from_fn(|| Some(joint.draw(&mut random)))
            .flatten()
            .take(300)
            .map(|(s, t)| (units.source.decode(&s), units.target.decode(&t)))
            .collect();
        let right = drawn.iter().filter(|(source, target)| source.replace("ci", "si").replace('c', "k") == *target).count();
        assert!(right > 270, "{right} of 300: {:?}", &drawn[..20]);
    }

    #[test]
    fn of_letters_that_it_never_saw_it_says_nothing() {
        let (joint, units) = taught(&PAIRS);
        assert_eq!((joint.score(&units.source.ids("cut"), &units.target.ids("kat")), joint.best(&units.source.ids("cut"))), (None, None));
        // Without any pair, of nothing at all.
        let nothing = Joint::default();
        assert_eq!((nothing.score(&[5], &[5]), nothing.score(&[], &[]), nothing.has_seen(&[5])), (None, None, false));
        assert_eq!((nothing.best(&[5]), nothing.draw(&mut ChaCha8Rng::seed_from_u64(1))), (None, None));
    }

    #[test]
    fn it_knows_what_it_has_seen() {
        let (joint, units) = taught(&PAIRS);
        let (source, target) = (|text| units.source.ids(text), |text| units.target.ids(text));
        assert!(joint.has_seen(&source("cat")) && !joint.has_seen(&source("tat")));
        assert!(joint.has_written(&target("kat")) && !joint.has_written(&target("kak")));
    }

    #[test]
    fn it_is_kept_and_grows() {
        let place = tempfile::tempdir().unwrap();
        let (joint, units) = taught(&PAIRS);
        joint.save(place.path()).unwrap();
        let kept = Joint::load(place.path()).unwrap();
        assert_eq!(kept, joint);
        assert_eq!(said(&kept, &units, "coci", "kosi"), said(&joint, &units, "coci", "kosi"));
        for line in ["[[1, [4]]]", "[[1, [4, 4, 4, 4, 4]], [2, []]]", "[1"] {
            std::fs::write(place.path().join(JOINT), format!("[[1, []], [2, []]]\n{line}\n")).unwrap();
            let error = Joint::load(place.path()).unwrap_err().to_string();
            assert!(error.contains("line 2 of") && error.contains("what each writes"), "{error}");
        }
        // `ch` is new, and what was known before stays.
        let more: Vec<Pair> = ["chat", "chot", "chit"].map(|source| pair(source, &source.replace("ch", "k"), 1)).into();
        let both = Joint::of(&more, &units).with(&joint);
        assert!(said(&both, &units, "chi", "ki") > said(&joint, &units, "chi", "ki"));
        assert!(said(&both, &units, "coci", "kosi") > said(&both, &units, "coci", "koki"));
        assert!(both.has_seen(&units.source.ids("cat")) && both.has_seen(&units.source.ids("chat")));
    }
}
