//! How a matcher learns, and what is measured.

use std::sync::atomic::{AtomicBool, Ordering};

use rayon::prelude::*;
use spotlight_kernels::Float;

use super::config::{Config, Loss};
use super::evidence::solve::{List, solve};
use super::evidence::{EvidenceNet, Features};
use super::net::{Net, Scored, Side, TowerNet};
use crate::Result;
use crate::axis::Axis;
use crate::metrics::{self, Unanswered, rank_scores};
use crate::model::encoder::side_by_side;
use crate::model::head::nothing_to_measure;
use crate::model::pooling::weights_by_item;
use crate::params::{ParamId, Params};
use crate::tape::{Tape, Var};
use crate::text::batch::{Lengths, by_length, in_original_order};
use crate::train::{Learner, Measure, Solution};

/// Positions in a batch while answering.
const BATCH: usize = 4000;

/// A question with its candidate answers, ready for the network.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    /// Units of the question.
    pub question: Vec<u32>,
    /// Its candidates; it is read once for all of them.
    pub candidates: Vec<Candidate>,
    /// Line of its first candidate.
    pub line: usize,
}

/// A candidate answer, ready for the network.
#[derive(Clone, Debug, PartialEq)]
pub struct Candidate {
    /// Its units.
    pub ids: Vec<u32>,
    /// Whether it is right.
    pub relevant: bool,
    /// How much of the question stands in it, from 0 to 1: the idf of the words they share by the idf of all words of the question.
    pub overlap: f32,
    /// Whether it answers another question: what a question is ranked against that has right answers only.
    pub borrowed: bool,
    /// What it is scored by, in the form of evidence.
    pub features: Features,
}

/// A matcher as the training loop sees it.
#[derive(Clone, Debug)]
pub struct MatchLearner {
    net: Net,
    loss: Loss,
    margin: f64,
    wrong: usize,
    penalty: f64,
}

impl MatchLearner {
    pub(super) fn new(config: &Config, net: Net) -> Self {
        let m = &config.model;
        MatchLearner { net, loss: m.loss, margin: m.margin, wrong: m.wrong, penalty: m.penalty }
    }

    /// Whether every pair is right or wrong on its own.
    fn is_pointwise(&self) -> bool {
        matches!(self.net, Net::Pooled(_)) && self.loss == Loss::CrossEntropy
    }

    /// The candidates an example is learnt from: all of them, or every right one with some wrong ones drawn for it.
    fn drawn<'a, T: Float>(&self, tape: &Tape<T>, example: &'a Example) -> Vec<&'a Candidate> {
        let (right, wrong): (Vec<&Candidate>, Vec<&Candidate>) = example.candidates.iter().partition(|c| c.relevant);
        match self.loss {
            Loss::CrossEntropy => example.candidates.iter().collect(),
            Loss::Hinge if wrong.is_empty() => Vec::new(),
            Loss::Hinge => {
                let draw = |_| wrong[(tape.uniform() * wrong.len() as f64) as usize];
                right.into_iter().flat_map(|r| std::iter::once(r).chain((0..self.wrong).map(draw).collect::<Vec<_>>())).collect()
            }
        }
    }
}

impl Learner for MatchLearner {
    type Example = Example;

    fn frozen(&self, epoch: u64) -> Vec<ParamId> {
        let Net::Pooled(net) = &self.net else { return Vec::new() };
        let mut frozen: Vec<ParamId> = net.encoders().into_iter().filter_map(|encoder| encoder.frozen(epoch)).collect();
        // Two towers may share their vectors.
        frozen.dedup();
        frozen
    }

    fn lengths(&self, example: &Example) -> Lengths {
        match &self.net {
            Net::Evidence(_) => Lengths { source: example.candidates.len(), target: 0 },
            Net::Pooled(_) => lengths(example),
        }
    }

    fn targets(&self, example: &Example) -> usize {
        match self.loss {
            _ if matches!(self.net, Net::Evidence(_)) => usize::from(is_telling(example)),
            Loss::CrossEntropy => example.candidates.len(),
            Loss::Hinge => example.candidates.iter().filter(|c| c.relevant).count() * self.wrong,
        }
    }

    fn line(&self, example: &Example) -> usize {
        example.line
    }

    fn loss<T: Float>(&self, tape: &Tape<T>, examples: &[&Example], scale: f64) -> Result<Var> {
        let net = match &self.net {
            Net::Evidence(net) => return list_loss(net, tape, examples, scale),
            Net::Pooled(net) => net,
        };
        let drawn: Vec<(&[u32], Vec<&Candidate>)> = examples.iter().map(|e| (e.question.as_slice(), self.drawn(tape, e))).collect();
        let scored = run(net, tape, &drawn)?.0;
        let relevant: Vec<bool> = drawn.iter().flat_map(|(_, candidates)| candidates.iter().map(|c| c.relevant)).collect();
        match self.loss {
            Loss::CrossEntropy => {
                let targets: Vec<T> = relevant.iter().map(|&r| if r { T::ONE } else { T::ZERO }).collect();
                tape.binary_cross_entropy(scored.score, &targets, scale)
            }
            Loss::Hinge => {
                // Each right one stands before its wrong ones.
                let wrong: Vec<usize> = (0..relevant.len()).filter(|&i| !relevant[i]).collect();
                let right: Vec<usize> = wrong.iter().enumerate().map(|(n, _)| n / self.wrong * (self.wrong + 1)).collect();
                tape.ranking(tape.gather(scored.score, &right)?, tape.gather(scored.score, &wrong)?, self.margin, scale)
            }
        }
    }

    /// The weights of evidence are computed.
    fn solve(&self, params: &mut Params<f32>, examples: &[Example], stop: &AtomicBool) -> Result<Solution> {
        let Net::Evidence(net) = &self.net else { return Ok(Solution::BySteps) };
        let lists: Vec<List> = examples.iter().map(|e| e.candidates.iter().map(|c| (&c.features, c.relevant)).collect()).collect();
        let rows = params.get(net.units).len();
        let Some(found) = solve(&lists, rows, self.penalty, &|| stop.load(Ordering::Relaxed)) else { return Ok(Solution::Stopped) };
        for (id, numbers) in [(net.dense, &found.dense[..]), (net.units, &found.units[..])] {
            params.get_mut(id).iter_mut().zip(numbers).for_each(|(w, &x)| *w = x as f32);
        }
        Ok(Solution::Found(found.loss))
    }

    fn measures(&self, _: &[Example]) -> Option<Vec<&'static str>> {
        let of_loss: &[&str] = if self.loss == Loss::CrossEntropy { &["loss"] } else { &[] };
        Some([&["map", "mrr"][..], of_loss].concat())
    }

    /// `map` and `mrr` over the questions that have a right answer, and `loss`: for cross-entropy that of a pair, for evidence that of a question with wrong answers
    /// too.
    fn measure(&self, params: &Params<f32>, examples: &[Example]) -> Result<Vec<Measure>> {
        let scores = scores(&self.net, params, examples)?;
        let mut measures = rank_measures(&lists(examples, &scores))?;
        if let Net::Evidence(_) = self.net {
            measures.push(Measure::falling("loss", mean_list_loss(examples, &scores)));
        } else if self.is_pointwise() {
            let surprise = |(p, c): (&f64, &Candidate)| -(if c.relevant { *p } else { 1.0 - *p }).max(1e-12).ln();
            let all = examples.iter().flat_map(|e| &e.candidates);
            let total: f64 = scores.iter().zip(all).map(surprise).sum();
            measures.push(Measure::falling("loss", total / scores.len().max(1) as f64));
        }
        Ok(measures)
    }
}

/// Whether a question has a right and a wrong answer.
fn is_telling(example: &Example) -> bool {
    example.candidates.iter().any(|c| c.relevant) && example.candidates.iter().any(|c| !c.relevant)
}

/// The sum over questions of `ln Σ_all e^s - ln Σ_right e^s`, times `scale`: the loss of evidence on a tape.
fn list_loss<T: Float>(net: &EvidenceNet, tape: &Tape<T>, examples: &[&Example], scale: f64) -> Result<Var> {
    let telling: Vec<&Example> = examples.iter().copied().filter(|e| is_telling(e)).collect();
    if telling.is_empty() {
        return tape.sum_all(tape.scale(tape.param(net.dense), 0.0));
    }
    let candidates: Vec<&Candidate> = telling.iter().flat_map(|e| &e.candidates).collect();
    let axis = Axis::new(telling.iter().map(|e| e.candidates.len()).collect::<Vec<_>>());
    let scores = net.forward(tape, &candidates.iter().map(|c| &c.features).collect::<Vec<_>>(), &axis)?;
    let right: Vec<usize> = (0..candidates.len()).filter(|&i| candidates[i].relevant).collect();
    let counts = telling.iter().map(|e| e.candidates.iter().filter(|c| c.relevant).count()).collect::<Vec<_>>();
    let right = tape.on_axis(tape.gather(tape.off_axis(scores), &right)?, &Axis::new(counts))?;
    tape.sum_all(tape.scale(tape.sub(tape.log_sum_exp(scores)?, tape.log_sum_exp(right)?)?, scale))
}

/// The mean loss of the questions that have a right and a wrong answer.
fn mean_list_loss(examples: &[Example], scores: &[f64]) -> f64 {
    let (mut rest, mut total, mut count) = (scores, 0.0, 0usize);
    for example in examples {
        let (own, others) = rest.split_at(example.candidates.len());
        rest = others;
        if is_telling(example) {
            let most = own.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let sum = |right_only: bool| -> f64 {
                let counted = own.iter().zip(&example.candidates).filter(|(_, c)| c.relevant || !right_only);
                counted.map(|(s, _)| (s - most).exp()).sum()
            };
            total += (sum(false) / sum(true).max(1e-300)).ln();
            count += 1;
        }
    }
    total / count.max(1) as f64
}

/// `map` and `mrr` of candidates.
pub(super) fn rank_measures(lists: &[Vec<metrics::Candidate>]) -> Result<Vec<Measure>> {
    let ranks = rank_scores(lists, Unanswered::Drop).map_err(nothing_to_measure)?;
    Ok(vec![Measure::rising("map", ranks.map), Measure::rising("mrr", ranks.mrr)])
}

/// The candidates of each question that are measured, with their scores, one for each candidate of each question in order. Borrowed answers are left out, unless there
/// are no other wrong ones at all.
pub(super) fn lists(examples: &[Example], scores: &[f64]) -> Vec<Vec<metrics::Candidate>> {
    let only_borrowed = examples.iter().flat_map(|e| &e.candidates).all(|c| c.relevant || c.borrowed);
    let mut scores = scores.iter();
    let list = |e: &Example| {
        let scored = e.candidates.iter().zip(&mut scores);
        let counted = scored.filter(|(c, _)| only_borrowed || !c.borrowed);
        counted.map(|(c, &score)| metrics::Candidate { score, relevant: c.relevant }).collect()
    };
    examples.iter().map(list).collect()
}

/// Scores of all candidates of all questions, in their order.
pub(super) fn scores(net: &Net, params: &Params<f32>, examples: &[Example]) -> Result<Vec<f64>> {
    match net {
        Net::Evidence(net) => Ok(examples.iter().flat_map(|e| &e.candidates).map(|c| net.score(params, &c.features)).collect()),
        Net::Pooled(net) => Ok(decide(net, params, examples)?.into_iter().map(|d| d.score as f64).collect()),
    }
}

/// What the network says of one answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// What it is ranked by. For a model of cross-entropy, the probability of being right.
    pub score: f32,
    /// The cosine of the two attended rows.
    pub cosine: f32,
    /// Heads by units of the question.
    pub question: Vec<Vec<f32>>,
    /// Heads by units of the answer.
    pub answer: Vec<Vec<f32>>,
}

fn lengths(example: &Example) -> Lengths {
    Lengths { source: example.question.len(), target: example.candidates.iter().map(|c| c.ids.len()).sum() }
}

/// Runs questions with their candidates through the network.
fn run<T: Float>(net: &TowerNet, tape: &Tape<T>, batch: &[(&[u32], Vec<&Candidate>)]) -> Result<(Scored, Side, Side)> {
    let side = |(ids, axis)| Side { ids, axis };
    let questions = side(side_by_side(batch.iter().map(|(question, _)| *question)));
    let candidates = || batch.iter().flat_map(|(_, candidates)| candidates.iter());
    let answers = side(side_by_side(candidates().map(|c| c.ids.as_slice())));
    let asked_by: Vec<usize> = batch.iter().enumerate().flat_map(|(i, (_, c))| std::iter::repeat_n(i, c.len())).collect();
    let overlap: Vec<f32> = candidates().map(|c| c.overlap).collect();
    let scored = net.forward(tape, &questions, &answers, &asked_by, &overlap)?;
    Ok((scored, questions, answers))
}

/// Decisions on all candidates of all questions, in their order.
pub fn decide(net: &TowerNet, params: &Params<f32>, examples: &[Example]) -> Result<Vec<Decision>> {
    let batches = by_length(&examples.iter().map(lengths).collect::<Vec<_>>(), BATCH);
    let found = batches
        .par_iter()
        .map(|members| {
            let tape = Tape::new(params);
            let batch: Vec<(&[u32], Vec<&Candidate>)> =
                members.iter().map(|&i| (examples[i].question.as_slice(), examples[i].candidates.iter().collect())).collect();
            let (scored, questions, answers) = run(net, &tape, &batch)?;
            let question = weights_by_item(&tape, scored.question_weights, &questions.axis);
            let mut answer = weights_by_item(&tape, scored.answer_weights, &answers.axis).into_iter();
            let (scores, cosines) = (tape.to_vec(scored.score), tape.to_vec(scored.cosine));
            let mut numbers = scores.into_iter().zip(cosines);
            let logistic = |x: f32| (1.0 / (1.0 + (-x as f64).exp())) as f32;
            let one = |question: &Vec<Vec<f32>>, (score, cosine): (f32, f32), answer: Vec<Vec<f32>>| Decision {
                score: if net.is_probability() { logistic(score) } else { score },
                cosine,
                question: question.clone(),
                answer,
            };
            let counts = batch.iter().map(|(_, candidates)| candidates.len());
            let of_example =
                |(question, count)| numbers.by_ref().zip(answer.by_ref()).take(count).map(|(n, a)| one(question, n, a)).collect();
            Ok(question.iter().zip(counts).map(of_example).collect())
        })
        .collect::<Result<Vec<Vec<Vec<Decision>>>>>()?;
    Ok(in_original_order(&batches, found.into_iter().flatten()).into_iter().flatten().collect())
}
