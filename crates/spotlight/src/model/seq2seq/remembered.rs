//! What training pairs answered: in running text the same sources come again and again, and how often each target stood beside one says more than any network.
//!
//! The network is the prior, worth [`WORTH`] pairs, and the pairs are counted on top of it:
//!
//! ```text
//! p(y | x) = (c(x, y) + k q(y | x)) / (n(x) + k)      c pairs of this source and target, n pairs of this source, q the network, k what it is worth
//! ```
//!
//! Of a source that no pair has, the network says all. What stands around a source can be counted in, too ([`neighbours`]). That known words be looked up and only others be written by a model is what Robertson and Goldwater, 2018, and Bollmann, 2019, found best for old spellings.

use std::collections::{BTreeMap, HashMap};
use std::path::Path;

use serde::Deserialize;
use serde_json::json;

use super::data::Vocabularies;
use super::neighbours::{self, Neighbour, of_pairs, on_top};
use crate::folder::REMEMBERED;
use crate::search::Hypothesis;
use crate::text::Pair;
use crate::text::vocab::UNKNOWN;
use crate::weights::write_whole;
use crate::{Error, Result};

/// How many pairs the network counts for.
pub const WORTH: f64 = 2.0;

/// How often each target was the answer to each source of the training pairs.
///
/// ```
/// use spotlight::model::seq2seq::{Config, Transducer};
/// use spotlight::text::Pair;
///
/// let pair = |target: &str, line| Pair { source: "vnd".into(), target: target.into(), features: None, line };
/// let pairs = [pair("und", 1), pair("und", 2), pair("uns", 3)];
/// let mut config = Config::default();
/// config.model.remember = true;
/// // A network that has learnt nothing does not matter beside three pairs.
/// let model = Transducer::new(config, &pairs)?;
/// let answer = &model.answer(&[("vnd", None)], &model.search_options(), false)?[0].hypotheses[0];
/// assert_eq!((answer.text.as_str(), answer.remembered), ("und", Some([2, 3])));
/// # Ok::<(), spotlight::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Remembered {
    counts: BTreeMap<Asked, BTreeMap<String, u32>>,
    /// The same in units.
    units: HashMap<Vec<u32>, Known>,
}

/// The targets of a source, and those that it had beside each neighbour.
#[derive(Clone, Debug, Default, PartialEq)]
struct Known {
    alone: Targets,
    beside: HashMap<Neighbour, Targets>,
}

/// What was asked: a source with its features, and beside what, if that is counted.
type Asked = (String, Option<String>, Option<Neighbour>);
/// Targets in units, and how often each was the answer, the most frequent first.
type Targets = Vec<(Vec<u32>, u32)>;

/// A line of the file: source, features, target, how often; and of what stood beside it where, and what it was.
#[derive(Deserialize)]
#[serde(untagged)]
enum Entry {
    Alone(String, Option<String>, String, u32),
    Beside(String, Option<String>, String, u32, isize, String),
}

impl Remembered {
    /// Counts pairs; with `neighbours` those of sources that have several targets also beside what stands around them.
    pub fn of(pairs: &[Pair], vocabularies: &Vocabularies, neighbours: bool) -> Self {
        let mut remembered = Self::default();
        let asked = |pair: &Pair, beside| (pair.source.clone(), pair.features.clone(), beside);
        for pair in pairs {
            remembered.add(asked(pair, None), pair.target.clone(), 1);
        }
        if neighbours {
            for (pair, around) in pairs.iter().zip(of_pairs(pairs)) {
                if remembered.counts[&asked(pair, None)].len() > 1 {
                    around.into_iter().for_each(|beside| remembered.add(asked(pair, Some(beside)), pair.target.clone(), 1));
                }
            }
        }
        remembered.in_units(vocabularies)
    }

    /// What was remembered before, too. A pair that both have counted counts as often as where it came more often: it may be the same one, learnt again.
    pub fn with(mut self, before: &Remembered, vocabularies: &Vocabularies) -> Self {
        for (asked, targets) in &before.counts {
            let own = self.counts.entry(asked.clone()).or_default();
            for (target, &times) in targets {
                let count = own.entry(target.clone()).or_default();
                *count = times.max(*count);
            }
        }
        self.in_units(vocabularies)
    }

    fn add(&mut self, asked: Asked, target: String, times: u32) {
        let count = self.counts.entry(asked).or_default().entry(target).or_default();
        *count = count.saturating_add(times);
    }

    /// Sources and targets with unknown units are left out: others would look the same.
    fn in_units(mut self, vocabularies: &Vocabularies) -> Self {
        let known = |ids: &[u32]| !ids.contains(&UNKNOWN);
        type InUnits<'a> = (Vec<u32>, &'a Option<Neighbour>);
        let mut units: BTreeMap<InUnits, BTreeMap<Vec<u32>, u32>> = BTreeMap::new();
        for ((source, features, beside), targets) in &self.counts {
            let source: Vec<u32> = vocabularies.source_units(source, features.as_deref()).iter().map(|unit| unit.id).collect();
            for (target, times) in targets {
                let target = vocabularies.target.ids(target);
                if !source.is_empty() && known(&source) && known(&target) {
                    *units.entry((source.clone(), beside)).or_default().entry(target).or_default() += times;
                }
            }
        }
        let mut all: HashMap<Vec<u32>, Known> = HashMap::new();
        for ((source, beside), targets) in units {
            let mut targets: Targets = targets.into_iter().collect();
            targets.sort_by_key(|target| std::cmp::Reverse(target.1));
            let own = all.entry(source).or_default();
            match beside {
                None => own.alone = targets,
                Some(beside) => _ = own.beside.insert(beside.clone(), targets),
            }
        }
        self.units = all;
        self
    }

    /// How often a target was the answer to a source, and how often the source came; none for a source that never did.
    pub fn times(&self, source: &[u32], target: &[u32]) -> Option<[u32; 2]> {
        Some(counted(&self.units.get(source)?.alone, target))
    }

    /// The same of a source beside a neighbour.
    pub fn times_beside(&self, source: &[u32], beside: &Neighbour, target: &[u32]) -> Option<[u32; 2]> {
        Some(counted(self.units.get(source)?.beside.get(beside)?, target))
    }

    /// The probability of an answer, from what the network says of it, with these neighbours.
    pub(super) fn count_in(&self, source: &[u32], around: &[Neighbour], answer: &mut Hypothesis) {
        let Some(times) = self.times(source, &answer.ids) else { return };
        let mut probability = on_top(times, WORTH, answer.log_prob.exp());
        for times in around.iter().filter_map(|beside| self.times_beside(source, beside, &answer.ids)) {
            probability = on_top(times, neighbours::WORTH, probability);
        }
        answer.log_prob = probability.ln();
        answer.score = answer.log_prob;
    }

    /// Whether a pair has this source.
    pub(super) fn has(&self, source: &[u32]) -> bool {
        self.units.contains_key(source)
    }

    /// The targets of a source, the most frequent first.
    pub(super) fn targets(&self, source: &[u32]) -> impl Iterator<Item = &[u32]> {
        self.units.get(source).into_iter().flat_map(|known| &known.alone).map(|target| target.0.as_slice())
    }

    /// The targets that a source had beside one of these neighbours; some may come more than once.
    pub(super) fn targets_beside(&self, source: &[u32], around: &[Neighbour]) -> impl Iterator<Item = &[u32]> {
        let known = self.units.get(source).into_iter();
        known.flat_map(|known| around.iter().filter_map(|beside| known.beside.get(beside)).flatten()).map(|target| target.0.as_slice())
    }

    /// Writes what is remembered into a model's folder.
    pub fn save(&self, folder: &Path) -> Result<()> {
        let mut lines = String::new();
        for ((source, features, beside), targets) in &self.counts {
            for (target, times) in targets {
                let entry = match beside {
                    None => json!([source, features, target, times]),
                    Some((place, neighbour)) => json!([source, features, target, times, place, neighbour]),
                };
                lines += &format!("{entry}\n");
            }
        }
        write_whole(&folder.join(REMEMBERED), lines.as_bytes())
    }

    /// Reads what [`Remembered::save`] wrote.
    pub fn load(folder: &Path, vocabularies: &Vocabularies) -> Result<Self> {
        let path = folder.join(REMEMBERED);
        let text = std::fs::read_to_string(&path).map_err(|source| Error::Io { path: path.clone(), source })?;
        let mut remembered = Self::default();
        for (number, line) in text.lines().enumerate() {
            let entry: Entry = serde_json::from_str(line).map_err(|_| Error::Value {
                what: format!("line {} of {}", number + 1, path.display()),
                got: format!("{line:?}"),
                expected: "source, features or null, target and how often, and of a neighbour how far and what, as a list in JSON".into(),
            })?;
            match entry {
                Entry::Alone(source, features, target, times) => remembered.add((source, features, None), target, times),
                Entry::Beside(source, features, target, times, place, neighbour) => {
                    remembered.add((source, features, Some((place, neighbour))), target, times);
                }
            }
        }
        Ok(remembered.in_units(vocabularies))
    }
}

/// How often a target is among these, and how many they are.
fn counted(targets: &Targets, target: &[u32]) -> [u32; 2] {
    [targets.iter().find(|known| known.0 == target).map_or(0, |known| known.1), targets.iter().map(|known| known.1).sum()]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;
    use crate::model::ask::AnswerOptions;
    use crate::model::seq2seq::Transducer;
    use crate::model::seq2seq::tests::{config, pair};
    use crate::train::Learner;

    /// Of `ab` two of three say `x`, of `c` one `y`, and nobody knows `b`.
    fn pairs() -> Vec<Pair> {
        vec![pair("ab", "x", 1), pair("ab", "yx", 2), pair("ab", "x", 3), pair("c", "y", 4)]
    }

    fn model(remember: &str) -> Transducer {
        Transducer::new(config(&[remember]), &pairs()).unwrap()
    }

    #[test]
    fn pairs_are_counted_on_top_of_the_network() {
        let (blank, counting) = (model("model.remember=false"), model("model.remember=true"));
        let probability = |model: &Transducer, source, target| {
            let scored = model.score(&[(source, None)], &[target]).unwrap().remove(0).hypotheses.remove(0);
            (scored.hypothesis.log_prob.exp(), scored.remembered)
        };
        for (target, times) in [("x", 2), ("yx", 1), ("yy", 0)] {
            let (network, none) = probability(&blank, "ab", target);
            let (counted, remembered) = probability(&counting, "ab", target);
            assert!((counted - (f64::from(times) + 2.0 * network) / 5.0).abs() < 1e-9, "{target}: {network} {counted}");
            assert_eq!((none, remembered), (None, Some([times, 3])));
        }
        assert_eq!(probability(&counting, "b", "x"), probability(&blank, "b", "x"));
    }

    #[test]
    fn what_was_answered_most_often_is_answered_if_it_may_be() {
        let model = model("model.remember=true");
        let texts = |options: AnswerOptions| {
            let plan = model.search_as(&options);
            let answers = model.answer(&[("ab", None)], &plan, false).unwrap();
            answers[0].hypotheses.iter().map(|h| h.text.clone()).collect::<Vec<_>>()
        };
        assert_eq!(texts(AnswerOptions::default()), ["x"]);
        assert_eq!(texts(AnswerOptions { n_best: Some(2), ..AnswerOptions::default() }), ["x", "yx"]);
        assert_eq!(texts(AnswerOptions { min_length: 2, ..AnswerOptions::default() }), ["yx"]);
        let drawn = AnswerOptions { sample: Some((1.0, 3)), n_best: Some(40), ..AnswerOptions::default() };
        assert_eq!(texts(drawn.clone()), {
            let options = model.search_as(&drawn);
            let network = self::model("model.remember=false");
            network.answer(&[("ab", None)], &options, false).unwrap()[0].hypotheses.iter().map(|h| h.text.clone()).collect::<Vec<_>>()
        });
    }

    /// Measured while learning as it is answered later.
    #[test]
    fn measures_count_it_in() {
        let model = model("model.remember=true");
        let examples = model.examples(&pairs());
        let measured = model.learner().measure(&model.params, &examples).unwrap();
        let accuracy = measured.iter().find(|m| m.name == "accuracy").unwrap().value;
        assert_eq!(accuracy, 1.0, "with alternatives every answer of a source is right");
    }

    #[test]
    fn it_is_kept_and_grows() {
        let place = tempfile::tempdir().unwrap();
        let model = model("model.remember=true");
        let kept = model.beside.remembered.as_deref().unwrap();
        kept.save(place.path()).unwrap();
        assert_eq!(&Remembered::load(place.path(), &model.vocabularies).unwrap(), kept);
        std::fs::write(place.path().join(REMEMBERED), "[\"a\", null, \"b\", 1]\n[\"a\"]\n").unwrap();
        let error = Remembered::load(place.path(), &model.vocabularies).unwrap_err().to_string();
        assert!(error.contains("line 2 of") && error.contains("how often"), "{error}");
        // New pairs with a new unit, one of them old: what was counted before counts still, and not twice.
        let grown = model.grown(model.config.clone(), &[pair("ab", "z", 1), pair("ab", "yx", 2)]).unwrap();
        let times = |source: &str, target: &str| {
            let ids = |tokenizer: &crate::text::Tokenizer, text: &str| tokenizer.ids(text);
            grown
                .beside
                .remembered
                .as_deref()
                .unwrap()
                .times(&ids(&grown.vocabularies.source, source), &ids(&grown.vocabularies.target, target))
        };
        assert_eq!(
            [times("ab", "yx"), times("ab", "z"), times("c", "y"), times("b", "y")],
            [Some([1, 4]), Some([1, 4]), Some([1, 1]), None]
        );
    }

    #[test]
    fn members_that_learnt_from_other_pairs_remember_nothing_together() {
        let [one, other] = [1, 2].map(|seed| Transducer::new(config(&["model.remember=true", &format!("seed={seed}")]), &pairs()).unwrap());
        assert!(Transducer::joined(vec![one.clone(), other]).unwrap().beside.remembered.is_some());
        let fewer = Transducer::new(one.config.clone(), &[&pairs()[1..], &[pair("ab", "x", 9)], &[pair("c", "y", 9)]].concat()).unwrap();
        assert!(Transducer::joined(vec![one, fewer]).unwrap().beside.remembered.is_none());
    }
}
