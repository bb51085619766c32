//! What speaks beside the network when answers are chosen: pairs that are [remembered](super::remembered), and of spelt words a [joint n-gram model](super::joint).
//!
//! A search finds the network's best answers, and they are judged together:
//!
//! ```text
//! q(y) ∝ exp(a ln p_network(y | x) + b ln p_joint(x, y) + c [y is the target of a training pair])      over the answers that were found
//! ```
//!
//! Of a source with a letter that was never seen the counts say nothing, and `a ln p_network(y | x)` is all there is. The three weights are those that make the right answers of the development part most probable ([`Voices::fit`]); if they become no more probable, or clearly fewer, nothing changes. A source that is remembered needs no
//! guess by its letters: its pairs are counted on top of what the network says.

use std::collections::HashMap;
use std::path::Path;
use std::sync::Arc;

use rayon::prelude::*;
use serde::{Deserialize, Serialize};

use super::hard::log_sum;
use super::neighbours::{Neighbour, of};
use super::{Joint, Remembered};
use crate::folder::{VOICES, read_if_there};
use crate::search::{Hypothesis, Lexicon, Request, SearchOptions, Writer, force, search};
use crate::{Error, Result};

/// With fewer development examples than this the network speaks alone: they could not tell.
const LEAST: usize = 50;
/// By how much the logarithm of the probability of all right answers must rise for counts to have a say. Two weights that mean nothing raise it by 1 in the mean.
const GAIN: f64 = 2.0;
/// The weights to begin with, those of pronunciation in several languages, and how firmly each is held.
const BEFORE: Said = [0.7, 0.3, 0.0];
const WORTH: Said = [1.0, 20.0, 0.1];
/// An answer that the counts think impossible is worth this much less, in logarithms, than the least that they think possible.
const IMPOSSIBLE: f64 = 5.0;

/// How many voices there are.
const VOICES_COUNT: usize = 3;

/// What the voices say of an answer: logarithms of probabilities by the network and by the counts, and 1 for the target of a training pair.
type Said = [f64; VOICES_COUNT];

/// How much each voice counts.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Voices {
    /// `a`, of the network.
    pub network: f64,
    /// `b`, of the joint n-gram model.
    pub joint: f64,
    /// `c`, of having been the target of a training pair.
    pub known: f64,
}

impl Voices {
    /// The weights that make the right answers most probable; none if they become no more probable by the counts, or clearly fewer answers are right, or there are too few examples to tell. For each example its answers, and which of them are right.
    ///
    /// Clearly: by more than two standard deviations of chance. The network was chosen among many epochs by how many of these very answers it has right, and is flattered by that; how probable they are did not choose it.
    pub fn fit(lists: &[Vec<(Said, bool)>]) -> Option<Self> {
        let telling: Vec<&Vec<(Said, bool)>> = lists.iter().filter(|list| list.len() > 1 && list.iter().any(|one| one.1)).collect();
        if lists.len() < LEAST || telling.is_empty() {
            return None;
        }
        let (_, alone) = most_probable(&telling, [true, false, false]);
        // A voice that speaks against what it counts has heard nothing but chance.
        let tries = [[true, true, true], [true, true, false]];
        let (weights, reached) =
            tries.map(|used| most_probable(&telling, used)).into_iter().find(|found| found.0.iter().all(|w| *w >= 0.0))?;
        let [network, joint, known] = weights;
        let (now, before) = (best_are_right(&telling, &weights), best_are_right(&telling, &[1.0, 0.0, 0.0]));
        let [won, lost] =
            [true, false].map(|to| now.iter().zip(&before).filter(|(now, before)| now != before && **now == to).count() as f64);
        let clearly_fewer = lost - won > 2.0 * (won + lost).sqrt();
        (!clearly_fewer && reached > alone + GAIN && network > 0.0).then_some(Voices { network, joint, known })
    }

    /// What a model's folder says, if it says anything.
    pub fn load(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(VOICES);
        let Some(text) = read_if_there(&path)? else { return Ok(None) };
        let voices: Option<Voices> = toml::from_str(&text).ok();
        let good = voices.filter(|v| v.weights().iter().all(|weight| weight.is_finite() && *weight >= 0.0));
        let wrong = || Error::Value {
            what: path.display().to_string(),
            got: format!("{text:?}"),
            expected: "network, joint and known, each a number that is not below 0".into(),
        };
        good.ok_or_else(wrong).map(Some)
    }

    /// As the file that is kept.
    pub fn file(&self) -> (&'static str, Vec<u8>) {
        (VOICES, toml::to_string(self).unwrap_or_default().into_bytes())
    }

    /// The mean of several.
    pub fn mean(several: &[Voices]) -> Option<Self> {
        let of = |weight: fn(&Voices) -> f64| several.iter().map(weight).sum::<f64>() / several.len() as f64;
        (!several.is_empty()).then(|| Voices { network: of(|v| v.network), joint: of(|v| v.joint), known: of(|v| v.known) })
    }

    fn weights(&self) -> Said {
        [self.network, self.joint, self.known]
    }
}

fn dot(a: &Said, b: &Said) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// For each list whether its best answer is right.
fn best_are_right(lists: &[&Vec<(Said, bool)>], weights: &Said) -> Vec<bool> {
    let best = |list: &&Vec<(Said, bool)>| {
        let scores = list.iter().map(|one| (dot(weights, &one.0), one.1));
        scores.max_by(|a, b| a.0.total_cmp(&b.0)).is_some_and(|best| best.1)
    };
    lists.iter().map(best).collect()
}

/// The logarithms of the shares that these scores give. Where all are impossible, nobody has any.
fn log_shares(scores: &[f64]) -> Vec<f64> {
    let whole = log_sum(scores.iter().copied());
    scores.iter().map(|score| if whole.is_finite() { score - whole } else { f64::NEG_INFINITY }).collect()
}

/// The weights of the voices that are used which make the right answers most probable, by Newton's method, and the logarithm of that probability.
fn most_probable(lists: &[&Vec<(Said, bool)>], used: [bool; VOICES_COUNT]) -> (Said, f64) {
    let first: Said = std::array::from_fn(|i| if used[i] { BEFORE[i] } else { 0.0 });
    let (mut weights, mut reached) = (first, f64::NEG_INFINITY);
    for _ in 0..100 {
        let mut slope: Said = std::array::from_fn(|i| WORTH[i] * (weights[i] - first[i]));
        let mut bend = [[0.0; VOICES_COUNT]; VOICES_COUNT];
        (0..VOICES_COUNT).for_each(|i| bend[i][i] = WORTH[i]);
        reached = 0.0;
        for list in lists {
            let shares = log_shares(&list.iter().map(|one| dot(&weights, &one.0)).collect::<Vec<_>>());
            // Of several right ones the most probable.
            let right = (0..list.len()).filter(|&i| list[i].1).max_by(|&i, &j| shares[i].total_cmp(&shares[j]));
            let Some(right) = right else { continue };
            reached += shares[right];
            let mean: Said = std::array::from_fn(|i| list.iter().zip(&shares).map(|(one, share)| share.exp() * one.0[i]).sum());
            for i in 0..VOICES_COUNT {
                slope[i] += mean[i] - list[right].0[i];
                for j in 0..VOICES_COUNT {
                    bend[i][j] +=
                        list.iter().zip(&shares).map(|(one, share)| share.exp() * (one.0[i] - mean[i]) * (one.0[j] - mean[j])).sum::<f64>();
                }
            }
        }
        for i in (0..VOICES_COUNT).filter(|&i| !used[i]) {
            slope[i] = 0.0;
            (0..VOICES_COUNT).for_each(|j| (bend[i][j], bend[j][i]) = (0.0, 0.0));
            bend[i][i] = 1.0;
        }
        let step = solved(bend, slope);
        let longest = step.iter().fold(0.0, |longest: f64, s| longest.max(s.abs()));
        if !longest.is_finite() || longest < 1e-9 {
            break;
        }
        // Long steps are cut, so that Newton's method cannot run away from a flat start.
        let cut = (0.5 / longest).min(1.0);
        (0..VOICES_COUNT).for_each(|i| weights[i] -= cut * step[i]);
    }
    (weights, reached)
}

/// `x` of `A x = b`, for an `A` that is positive definite.
fn solved(mut a: [[f64; VOICES_COUNT]; VOICES_COUNT], mut b: Said) -> Said {
    for i in 0..VOICES_COUNT {
        for below in i + 1..VOICES_COUNT {
            let times = a[below][i] / a[i][i];
            (i..VOICES_COUNT).for_each(|j| a[below][j] -= times * a[i][j]);
            b[below] -= times * b[i];
        }
    }
    for i in (0..VOICES_COUNT).rev() {
        let known: f64 = (i + 1..VOICES_COUNT).map(|j| a[i][j] * b[j]).sum();
        b[i] = (b[i] - known) / a[i][i];
    }
    b
}

/// All that speaks beside a network.
#[derive(Clone, Debug, Default)]
pub struct Beside {
    /// What the training pairs answered, if it is to be counted in.
    pub remembered: Option<Arc<Remembered>>,
    /// The joint n-gram model, if there is one.
    pub joint: Option<Arc<Joint>>,
    /// How much each voice counts; without this the joint model has no say.
    pub voices: Option<Voices>,
}

impl Beside {
    /// Searches, and judges what was found by all voices. Answers that are drawn stay the network's own. `around` has the neighbours of each source, or nothing if nobody has any.
    pub fn search(
        &self,
        writer: &dyn Writer,
        requests: &[Request],
        around: &[&[Neighbour]],
        options: &SearchOptions,
    ) -> Result<Vec<Vec<Hypothesis>>> {
        let found = search(writer, requests, &self.wide(options))?;
        self.judge(writer, requests, around, options, found)
    }

    /// The joint model and the weights, if it has a say.
    fn counts(&self) -> Option<(&Joint, Voices)> {
        self.joint.as_deref().zip(self.voices)
    }

    /// What the counts say of an answer, if they have a say and know its letters.
    pub(super) fn counted(&self, source: &[u32], answer: &[u32]) -> Option<f64> {
        let (joint, _) = self.counts().filter(|_| !self.remembers(source))?;
        joint.score(source, answer).filter(|log| log.is_finite())
    }

    fn remembers(&self, source: &[u32]) -> bool {
        self.remembered.as_deref().is_some_and(|remembered| remembered.has(source))
    }

    /// The search that [`Beside::judge`] wants to have been made: every hypothesis is worth a second look.
    pub(super) fn wide(&self, options: &SearchOptions) -> SearchOptions {
        let all = self.counts().is_some() && options.sample.is_none();
        SearchOptions { n_best: if all { options.n_best.max(options.beam) } else { options.n_best }, ..options.clone() }
    }

    /// What a search found, and what is remembered, each with its new probability, the best first.
    pub(super) fn judge(
        &self,
        writer: &dyn Writer,
        requests: &[Request],
        around: &[&[Neighbour]],
        options: &SearchOptions,
        mut found: Vec<Vec<Hypothesis>>,
    ) -> Result<Vec<Vec<Hypothesis>>> {
        if options.sample.is_some() || (self.remembered.is_none() && self.counts().is_none()) {
            return Ok(found);
        }
        if let Some(remembered) = &self.remembered {
            recall(remembered, writer, requests, around, options, &mut found)?;
        }
        requests.par_iter().zip(&mut found).enumerate().for_each(|(i, (request, found))| {
            if self.weigh(request.source, of(around, i), found) {
                // Stable, so that answers that are as probable stay in the order of the search.
                found.sort_by(|a, b| b.log_prob.total_cmp(&a.log_prob));
            }
            found.truncate(options.n_best.max(1));
        });
        Ok(found)
    }

    /// Gives answers to a source their probabilities; whether these are other than the search's.
    ///
    /// Where counts have a say, every probability is a share of those that were found: also of a source that they know nothing of, so that what is sure there and here can be compared.
    fn weigh(&self, source: &[u32], around: &[Neighbour], found: &mut [Hypothesis]) -> bool {
        if let Some(remembered) = self.remembered.as_deref().filter(|remembered| remembered.has(source)) {
            found.iter_mut().for_each(|answer| remembered.count_in(source, around, answer));
            return true;
        }
        let Some((joint, voices)) = self.counts().filter(|_| !source.is_empty()) else { return false };
        let said = said(joint, source, found).unwrap_or_else(|| found.iter().map(|answer| [answer.log_prob, 0.0, 0.0]).collect());
        let shares = log_shares(&said.iter().map(|said| dot(&voices.weights(), said)).collect::<Vec<_>>());
        for (answer, share) in found.iter_mut().zip(shares) {
            (answer.log_prob, answer.score) = (share, share);
        }
        true
    }

    /// Gives answers that are given their probabilities: where counts have a say, among those that would be found.
    pub(super) fn judge_given(
        &self,
        writer: &dyn Writer,
        sources: &[Vec<u32>],
        around: &[&[Neighbour]],
        options: &SearchOptions,
        given: &mut [Hypothesis],
    ) -> Result<()> {
        let by_letters = |&i: &usize| self.counts().is_some() && !self.remembers(&sources[i]);
        let asked: Vec<usize> = (0..sources.len()).filter(by_letters).collect();
        let requests: Vec<Request> = asked.iter().map(|&i| Request::new(&sources[i])).collect();
        let free = SearchOptions { n_best: options.beam, look: false, ..options.clone() };
        let found = search(writer, &requests, &free)?;
        let mut others: HashMap<usize, Vec<Hypothesis>> = asked.into_iter().zip(found).collect();
        for (i, (source, answer)) in sources.iter().zip(given).enumerate() {
            let mut list = vec![answer.clone()];
            list.extend(others.remove(&i).unwrap_or_default().into_iter().filter(|other| other.ids != answer.ids));
            self.weigh(source, of(around, i), &mut list);
            *answer = list.swap_remove(0);
        }
        Ok(())
    }

    /// What the voices say of the network's best answers to each source that no training pair has, and what of it is right: what [`Voices::fit`] learns from.
    pub(super) fn lists(
        &self,
        writer: &dyn Writer,
        sources: &[&[u32]],
        options: &SearchOptions,
        right: impl Fn(usize, &[u32]) -> bool,
    ) -> Result<Vec<Vec<(Said, bool)>>> {
        let Some(joint) = self.joint.as_deref() else { return Ok(Vec::new()) };
        let new: Vec<usize> = (0..sources.len()).filter(|&i| !sources[i].is_empty() && !joint.has_seen(sources[i])).collect();
        let requests: Vec<Request> = new.iter().map(|&i| Request::new(sources[i])).collect();
        let free = SearchOptions { n_best: options.beam, look: false, ..options.clone() };
        let found = search(writer, &requests, &free)?;
        let judged = new.iter().zip(&found).filter_map(|(&i, found)| {
            let said = said(joint, sources[i], found)?;
            Some(said.into_iter().zip(found).map(|(said, answer)| (said, right(i, &answer.ids))).collect())
        });
        Ok(judged.collect())
    }
}

/// Adds to what was found what is remembered, if it may be answered, as the network would write it.
fn recall(
    remembered: &Remembered,
    writer: &dyn Writer,
    requests: &[Request],
    around: &[&[Neighbour]],
    options: &SearchOptions,
    found: &mut [Vec<Hypothesis>],
) -> Result<()> {
    let mut missing: Vec<(usize, &[u32])> = Vec::new();
    for (item, (request, found)) in requests.iter().zip(&*found).enumerate() {
        let other = |target: &&[u32]| allowed(target, request, options) && found.iter().all(|h| h.ids != *target);
        let mut own: Vec<&[u32]> = remembered.targets(request.source).filter(other).take(options.n_best).collect();
        // What was said beside these neighbours may now be the best.
        for target in remembered.targets_beside(request.source, of(around, item)).filter(other) {
            if !own.contains(&target) {
                own.push(target);
            }
        }
        missing.extend(own.into_iter().map(|target| (item, target)));
    }
    let pairs: Vec<(&[u32], &[u32])> = missing.iter().map(|&(item, target)| (requests[item].source, target)).collect();
    let written = force(writer, &pairs)?;
    missing.iter().zip(written).for_each(|(&(item, _), answer)| found[item].push(answer));
    Ok(())
}

/// What the voices say of answers to a source; none if the counts know nothing of it.
fn said(joint: &Joint, source: &[u32], found: &[Hypothesis]) -> Option<Vec<Said>> {
    let counted = found.iter().map(|answer| joint.score(source, &answer.ids)).collect::<Option<Vec<f64>>>()?;
    let least = counted.iter().copied().filter(|log| log.is_finite()).reduce(f64::min)?;
    let one = |(answer, counted): (&Hypothesis, f64)| {
        [answer.log_prob, counted.max(least - IMPOSSIBLE), f64::from(u8::from(joint.has_written(&answer.ids)))]
    };
    Some(found.iter().zip(counted).map(one).collect())
}

/// Whether a search with these options may answer so.
fn allowed(target: &[u32], request: &Request, options: &SearchOptions) -> bool {
    let listed = |lexicon: &Lexicon| {
        let end = target.iter().try_fold(Lexicon::ROOT, |node, &unit| lexicon.go(node, unit));
        end.is_some_and(|node| lexicon.ends(node))
    };
    target.starts_with(request.prefix) && target.len() >= options.min_length && options.lexicon.as_deref().is_none_or(listed)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Calibration;
    use crate::model::ask::AnswerOptions;
    use crate::model::seq2seq::Transducer;
    use crate::model::seq2seq::tests::{config, pair};
    use crate::text::Pair;

    /// Lists of two answers: the network prefers the first by `network`, the counts the second by `joint`; `right` is the one that is.
    fn list(network: f64, joint: f64, right: usize) -> Vec<(Said, bool)> {
        vec![([0.0, -joint, 0.0], right == 0), ([-network, 0.0, 0.0], right == 1)]
    }

    #[test]
    fn counts_have_a_say_where_they_help() {
        // Where the network is nearly sure it is right, where it doubts the counts are.
        let helpful: Vec<_> =
            (0..120).map(|i| if i % 3 == 0 { list(0.3, 4.0, 1) } else { list(5.0, 4.0, usize::from(i % 20 == 1)) }).collect();
        let voices = Voices::fit(&helpful).unwrap();
        assert!(voices.network > 0.0 && voices.joint > 0.0 && voices.known == 0.0, "{voices:?}");
        let best = |list: &Vec<(Said, bool)>| {
            let scores: Vec<f64> = list.iter().map(|one| dot(&voices.weights(), &one.0)).collect();
            usize::from(scores[1] > scores[0])
        };
        assert_eq!((best(&helpful[0]), best(&helpful[2])), (1, 0));
        // Counts that are right as often as not, too few examples, and none of them right: the network speaks alone.
        let useless: Vec<_> = (0..120)
            .map(|i| vec![([0.0, if i / 10 % 2 == 0 { -1.0 } else { 1.0 }, 0.0], i % 10 > 0), ([-2.0, 0.0, 0.0], i % 10 == 0)])
            .collect();
        assert_eq!(Voices::fit(&useless), None);
        // One that is lost where many become more probable is chance; many that are lost are not.
        let doubtful = |lost: usize| {
            [vec![list(0.2, -2.0, 0); 40], vec![list(2.0, 0.0, 0); 20], vec![list(2.0, 0.0, 1); 6], vec![list(0.2, 4.0, 0); lost]].concat()
        };
        assert!(Voices::fit(&doubtful(1)).is_some());
        assert_eq!(Voices::fit(&doubtful(6)), None);
        assert_eq!(Voices::fit(&helpful[..LEAST - 1]), None);
        assert_eq!(Voices::fit(&vec![list(1.0, 1.0, 2); 100]), None);
        assert_eq!(Voices::fit(&[]), None);
    }

    /// The weights that are found are those where no other are better.
    #[test]
    fn no_other_weights_make_right_answers_more_probable() {
        let number = |i: usize, of: usize| ((i * 7919 + of * 104_729) % 1000) as f64 / 250.0 - 2.0;
        let lists: Vec<Vec<(Said, bool)>> = (0..200)
            .map(|i| {
                (0..4)
                    .map(|j| ([number(i, 3 * j), number(i, 3 * j + 1), f64::from(u8::from((i + j) % 3 == 0))], j == (i * i) % 4))
                    .collect()
            })
            .collect();
        let all: Vec<&Vec<(Said, bool)>> = lists.iter().collect();
        let probability = |weights: &Said| -> f64 {
            let own = |list: &Vec<(Said, bool)>| {
                let shares = log_shares(&list.iter().map(|one| dot(weights, &one.0)).collect::<Vec<_>>());
                shares[list.iter().position(|one| one.1).unwrap()]
            };
            let prior: f64 = (0..3).map(|i| WORTH[i] / 2.0 * (weights[i] - BEFORE[i]).powi(2)).sum();
            all.iter().map(|list| own(list)).sum::<f64>() - prior
        };
        let (weights, _) = most_probable(&all, [true; 3]);
        let best = probability(&weights);
        for i in 0..3 {
            for step in [-1e-3, 1e-3] {
                let mut other = weights;
                other[i] += step;
                assert!(probability(&other) < best, "{weights:?} {i} {step}");
            }
        }
        let (alone, _) = most_probable(&all, [true, false, false]);
        assert_eq!(alone[1..], [0.0, 0.0]);
    }

    /// A network that has learnt nothing, and counts that have.
    fn counting(voices: Option<Voices>, settings: &[&str]) -> Transducer {
        let words = ["cat", "cot", "tac", "cacao", "toc", "coat", "oca", "taco"];
        let pairs: Vec<Pair> = words.iter().map(|word| pair(word, &word.replace('c', "k"), 1)).collect();
        let mut model = Transducer::new(config(&[&["model.joint=true", "search.beam=4"], settings].concat()), &pairs).unwrap();
        model.beside.voices = voices;
        model
    }

    const LOUD: Option<Voices> = Some(Voices { network: 0.1, joint: 1.0, known: 0.5 });

    #[test]
    fn answers_are_judged_by_all_voices() {
        let (quiet, loud) = (counting(None, &[]), counting(LOUD, &[]));
        let texts = |model: &Transducer, options: AnswerOptions| {
            let answers = model.answer(&[("co", None), ("", None)], &model.search_as(&options), false).unwrap();
            assert_eq!(answers[1].hypotheses[0].text, "");
            answers[0].hypotheses.iter().map(|h| h.text.clone()).collect::<Vec<_>>()
        };
        // As many hypotheses as there are texts of two letters, and more.
        let wide = || AnswerOptions { beam: Some(200), ..AnswerOptions::default() };
        assert_eq!(texts(&loud, wide()), ["ko"]);
        assert_ne!(texts(&quiet, wide()), ["ko"]);
        // Drawn answers are the network's own, and what is not allowed is not said.
        let drawn = AnswerOptions { sample: Some((1.0, 3)), n_best: Some(5), ..wide() };
        assert_eq!(texts(&loud, drawn.clone()), texts(&quiet, drawn));
        assert!(texts(&loud, AnswerOptions { min_length: 4, ..wide() })[0].chars().count() >= 4);
        // The shares of all that were judged add up.
        let listed = AnswerOptions { n_best: Some(200), ..wide() };
        let answers = loud.answer(&[("co", None)], &loud.search_as(&listed), false).unwrap();
        let sum: f64 = answers[0].hypotheses.iter().map(|h| h.hypothesis.log_prob.exp()).sum();
        assert!(answers[0].hypotheses.windows(2).all(|two| two[0].hypothesis.log_prob >= two[1].hypothesis.log_prob));
        assert!((sum - 1.0).abs() < 1e-9, "{sum}");
    }

    /// A letter that was never seen: the network speaks alone, and is as loud as it is elsewhere.
    #[test]
    fn of_what_counts_do_not_know_the_network_says_all() {
        let (quiet, loud) = (counting(None, &[]), counting(LOUD, &[]));
        let of = |model: &Transducer| -> Vec<Hypothesis> {
            let options = SearchOptions { beam: 4, n_best: 4, ..model.search_options() };
            let answers = model.answer(&[("cäb", None)], &options, false).unwrap().remove(0);
            answers.hypotheses.into_iter().map(|answer| answer.hypothesis).collect()
        };
        let (alone, shared) = (of(&quiet), of(&loud));
        let ids = |answers: &[Hypothesis]| answers.iter().map(|answer| answer.ids.clone()).collect::<Vec<_>>();
        assert_eq!(ids(&alone), ids(&shared));
        let weight = LOUD.unwrap().network;
        let shares = log_shares(&alone.iter().map(|answer| weight * answer.log_prob).collect::<Vec<_>>());
        for (answer, share) in shared.iter().zip(&shares) {
            assert!((answer.log_prob - share).abs() < 1e-9 && answer.score == answer.log_prob, "{} {share}", answer.log_prob);
        }
        assert!((shared.iter().map(|answer| answer.log_prob.exp()).sum::<f64>() - 1.0).abs() < 1e-9);
        // One that is given has its share beside them.
        let given = |model: &Transducer| model.score(&[("cäb", None)], &["kat"]).unwrap()[0].hypotheses[0].hypothesis.log_prob;
        assert!(alone.iter().all(|answer| answer.ids != quiet.vocabularies.target.ids("kat")));
        let with_given: Vec<f64> = std::iter::once(given(&quiet)).chain(alone.iter().map(|answer| answer.log_prob)).collect();
        let share = log_shares(&with_given.iter().map(|log_prob| weight * log_prob).collect::<Vec<_>>())[0];
        assert!((given(&loud) - share).abs() < 1e-5, "{} {share}", given(&loud));
    }

    /// What is drawn is no share of anything, and was not what said how sure the model may be.
    #[test]
    fn a_draw_beside_counts_is_neither_sure_nor_unsure() {
        let sure = |voices: Option<Voices>, sample: Option<(f64, u64)>| {
            let mut model = counting(voices, &[]);
            model.calibration = Some(Calibration::Logistic { slope: 1.0, offset: 0.0 });
            let options = SearchOptions { sample, ..model.search_options() };
            model.answer(&[("catoc", None)], &options, false).unwrap()[0].hypotheses[0].confidence.is_some()
        };
        let drawn = Some((1.0, 3));
        assert!(sure(LOUD, None) && !sure(LOUD, drawn) && sure(None, None) && sure(None, drawn));
        assert!(log_shares(&[f64::NEG_INFINITY; 2]).iter().all(|share| *share == f64::NEG_INFINITY));
    }

    #[test]
    fn a_given_answer_has_the_probability_that_it_would_have() {
        let model = counting(LOUD, &[]);
        let free = model.answer(&[("catoc", None)], &model.search_options(), false).unwrap();
        let best = &free[0].hypotheses[0];
        let given = model.score(&[("catoc", None); 3], &[&best.text, "ttttt", "katok"]).unwrap();
        let log = |i: usize| given[i].hypotheses[0].hypothesis.log_prob;
        assert!((log(0) - best.hypothesis.log_prob).abs() < 1e-5, "{} {}", log(0), best.hypothesis.log_prob);
        // The network found neither; the counts know which of them is right.
        assert!(log(2) > -0.1 && log(1) < -1.0, "{} {}", log(1), log(2));
        assert_eq!(given[1].hypotheses[0].text, "ttttt");
    }

    /// What was seen is remembered, what was not is judged by its letters.
    #[test]
    fn remembered_sources_need_no_guess() {
        let settings: &[&str] = &["model.remember=true"];
        let (quiet, loud) = (counting(None, settings), counting(LOUD, settings));
        let log = |model: &Transducer, source: &str, target: &str| {
            model.score(&[(source, None)], &[target]).unwrap()[0].hypotheses[0].hypothesis.log_prob
        };
        assert_eq!(log(&quiet, "cat", "kat"), log(&loud, "cat", "kat"));
        assert_ne!(log(&quiet, "catoc", "katok"), log(&loud, "catoc", "katok"));
    }

    #[test]
    fn what_was_found_out_is_kept() {
        let place = tempfile::tempdir().unwrap();
        assert_eq!(Voices::load(place.path()).unwrap(), None);
        let (name, data) = LOUD.unwrap().file();
        std::fs::write(place.path().join(name), data).unwrap();
        assert_eq!(Voices::load(place.path()).unwrap(), LOUD);
        std::fs::write(place.path().join(VOICES), "network = 1.0\njoint = -1.0\nknown = 0.0\n").unwrap();
        let error = Voices::load(place.path()).unwrap_err().to_string();
        assert!(error.contains("voices.toml") && error.contains("not below 0"), "{error}");
    }

    #[test]
    fn members_of_an_ensemble_have_one_joint_model() {
        let (one, other) = (counting(LOUD, &[]), counting(Some(Voices { network: 0.3, joint: 0.0, known: 0.5 }), &["seed=2"]));
        let both = Transducer::joined(vec![one.clone(), other]).unwrap().beside;
        assert!(both.joint.is_some());
        assert!(both.voices.is_some_and(|v| (v.network - 0.2).abs() < 1e-9 && (v.joint - 0.5).abs() < 1e-9 && v.known == 0.5));
        let undecided = Transducer::joined(vec![one, counting(None, &["seed=2"])]).unwrap().beside;
        assert_eq!(undecided.voices, None);
    }

    #[test]
    fn only_what_a_search_may_answer_is_offered() {
        let model = counting(None, &[]);
        let [k, t] = ["k", "t"].map(|unit| model.vocabularies.target.ids(unit)[0]);
        let request = Request { source: &[], prefix: &[k] };
        assert!(allowed(&[k, t], &request, &SearchOptions::GREEDY) && !allowed(&[t], &request, &SearchOptions::GREEDY));
        let listed = SearchOptions { lexicon: Some(Arc::new(Lexicon::new([[k].as_slice()]))), ..SearchOptions::GREEDY };
        assert!(allowed(&[k], &request, &listed) && !allowed(&[k, t], &request, &listed) && !allowed(&[], &request, &listed));
    }
}
