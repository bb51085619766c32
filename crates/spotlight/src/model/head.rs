//! A head over labels: from one row to a probability for each label, and how well they were told apart.

use rayon::prelude::*;
use serde::{Deserialize, Serialize};
use spotlight_kernels::Float;

use super::describe::Baseline;
use super::pooling::{PooledRows, weights_by_item};
use crate::axis::Axis;
use crate::metrics::{Confusion, MetricError, roc_auc};
use crate::nn::Linear;
use crate::params::Params;
use crate::tape::{Tape, Var};
use crate::text::Inventory;
use crate::text::batch::{Lengths, by_length, in_original_order};
use crate::train::Measure;
use crate::view::Weighted;
use crate::{Error, Result};

/// Positions in a batch while answering.
const BATCH: usize = 4000;

/// How much the examples of a class count.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClassWeights {
    /// Every example the same.
    None,
    /// Every class the same: an example of one that is half as frequent counts twice.
    Balanced,
}

/// What a head must know of the training labels.
#[derive(Clone, Debug, PartialEq)]
pub struct LabelCounts {
    /// Examples of each label.
    pub counts: Vec<usize>,
}

impl LabelCounts {
    /// Counts labels from 0 to below `labels`.
    pub fn of(labels: usize, examples: impl Iterator<Item = u32>) -> Self {
        let mut counts = vec![0; labels];
        for label in examples {
            counts[label as usize] += 1;
        }
        LabelCounts { counts }
    }

    /// How much an example of each label counts; the mean over all examples is 1. For `Balanced`, examples / (labels x examples of the label).
    pub fn weights(&self, weights: ClassWeights) -> Vec<f64> {
        let total: usize = self.counts.iter().sum();
        let balanced = |&n: &usize| total as f64 / (self.counts.len() * n.max(1)) as f64;
        match weights {
            ClassWeights::None => vec![1.0; self.counts.len()],
            ClassWeights::Balanced => self.counts.iter().map(balanced).collect(),
        }
    }
}

/// A linear layer and a softmax.
#[derive(Clone, Debug)]
pub struct Head {
    layer: Linear,
    labels: usize,
}

impl Head {
    /// Makes the parameters `output.weight` and `output.bias`.
    pub fn new<T: Float>(params: &mut Params<T>, width: usize, labels: usize) -> Self {
        Head { layer: Linear::new(params, "output", width, labels), labels }
    }

    /// Lets the bias begin at the logarithms of the labels' shares: what a model says that has read nothing.
    pub fn begin_at_shares(&self, params: &mut Params<f32>, counts: &LabelCounts, weights: &[f64]) {
        let Some(bias) = self.layer.bias else { return };
        let total: f64 = counts.counts.iter().zip(weights).map(|(&n, w)| n as f64 * w).sum();
        for ((bias, &n), w) in params.get_mut(bias).iter_mut().zip(&counts.counts).zip(weights) {
            *bias = ((n as f64 * w).max(0.5) / total.max(1.0)).ln() as f32;
        }
    }

    /// The sum over the rows of their cross-entropy, each times the weight of its label, times `scale`.
    pub fn loss<T: Float>(&self, tape: &Tape<T>, x: Var, labels: &[u32], weights: &[f64], smoothing: f64, scale: f64) -> Result<Var> {
        let loss = |x: Var, labels: &[u32], scale: f64| tape.cross_entropy(x, self.layer.weight, self.layer.bias, labels, smoothing, scale);
        if weights.iter().all(|&w| w == 1.0) {
            return loss(x, labels, scale);
        }
        // Rows of one label share their weight, so each label is a loss of its own.
        let mut total = tape.scalar(0.0);
        for (label, weight) in (0..self.labels as u32).zip(weights) {
            let rows: Vec<usize> = (0..labels.len()).filter(|&row| labels[row] == label).collect();
            if !rows.is_empty() {
                total = tape.add(total, loss(tape.gather(x, &rows)?, &vec![label; rows.len()], scale * weight)?)?;
            }
        }
        Ok(total)
    }

    /// The logits of pooled rows.
    pub(super) fn logits<T: Float>(&self, tape: &Tape<T>, x: Var) -> Result<Var> {
        self.layer.forward(tape, x)
    }

    /// What each row of `values` would say if it alone were pooled, for each of the heads whose mixes stand side by side; without the bias.
    pub(super) fn by_head<T: Float>(&self, tape: &Tape<T>, values: Var, heads: usize) -> Result<Vec<Var>> {
        let width = tape.shape(values).1;
        (0..heads).map(|head| tape.linear_columns(values, self.layer.weight, head * width, None)).collect()
    }

    /// The bias of each label.
    pub(super) fn bias<'p>(&self, params: &'p Params<f32>) -> &'p [f32] {
        self.layer.bias.map_or(&[], |bias| params.get(bias))
    }

    /// For each row, the probability of each label.
    pub fn probabilities(&self, tape: &Tape<f32>, x: Var) -> Result<Vec<Vec<f32>>> {
        let logits = self.layer.forward(tape, x)?;
        let softmax = |row: &[f32]| {
            let most = row.iter().copied().fold(f32::NEG_INFINITY, f32::max) as f64;
            let parts: Vec<f64> = row.iter().map(|&x| (x as f64 - most).exp()).collect();
            let sum: f64 = parts.iter().sum();
            parts.iter().map(|p| (p / sum) as f32).collect()
        };
        Ok(tape.value(logits).chunks_exact(self.labels).map(softmax).collect())
    }
}

/// What a model says of one text or bag.
#[derive(Clone, Debug, PartialEq)]
pub struct Decision {
    /// The probability of each label.
    pub probabilities: Vec<f32>,
    /// Heads by positions; no heads if the last state was taken.
    pub attention: Vec<Vec<f32>>,
    /// Of an ensemble the numbers of the members, from 1, that the heads are of: one of each.
    pub members: Vec<usize>,
    /// Positions by labels: what each position adds to the logits, where the model can tell.
    pub contributions: Vec<Vec<f32>>,
}

/// What several models say together: probabilities are averaged, and each member is a head, the mean of its heads, so that each counts the same. What each position adds to the logits is known of each of them alone.
pub(super) fn mean(own: Vec<Decision>, others: impl Iterator<Item = Result<Vec<Decision>>>) -> Result<Vec<Decision>> {
    let mut others = others.zip(1..).peekable();
    let first = match others.peek() {
        Some(_) => own.into_iter().map(|decision| decision.of_member(1)).collect(),
        None => own,
    };
    let join = |all: Vec<Decision>, (other, count): (Result<Vec<Decision>>, usize)| {
        Ok(all.into_iter().zip(other?).map(|(all, other)| all.and(other.of_member(count + 1), count as f64)).collect())
    };
    others.try_fold(first, join)
}

impl Decision {
    /// As that of a member: its heads are one.
    fn of_member(self, number: usize) -> Decision {
        if self.attention.is_empty() {
            return self;
        }
        let mean = Weighted::new(Vec::new(), self.attention).mean();
        Decision { attention: vec![mean], members: vec![number], ..self }
    }

    /// The mean of this decision, which stands for `count`, and another.
    fn and(mut self, other: Decision, count: f64) -> Decision {
        for (own, other) in self.probabilities.iter_mut().zip(other.probabilities) {
            *own = ((f64::from(*own) * count + f64::from(other)) / (count + 1.0)) as f32;
        }
        let positions = self.attention.first().map_or(0, Vec::len);
        if other.attention.iter().all(|head| head.len() == positions) {
            self.attention.extend(other.attention);
            self.members.extend(other.members);
        }
        self.contributions.clear();
        self
    }
}

/// Decisions on items of these lengths, in their order. `pool` gets the numbers of some items and makes one row of each.
pub fn decide(
    head: &Head,
    params: &Params<f32>,
    lengths: impl Iterator<Item = usize>,
    pool: impl Fn(&Tape<f32>, &[usize]) -> Result<(PooledRows, Axis)> + Sync,
) -> Result<Vec<Decision>> {
    let lengths: Vec<Lengths> = lengths.map(|source| Lengths { source, target: 0 }).collect();
    let batches = by_length(&lengths, BATCH);
    let found = batches
        .par_iter()
        .map(|members| {
            let tape = Tape::new(params);
            let (pooled, axis) = pool(&tape, members)?;
            let attention = weights_by_item(&tape, pooled.weights, &axis);
            let probabilities = head.probabilities(&tape, pooled.context)?;
            Ok(probabilities
                .into_iter()
                .zip(attention)
                .map(|(probabilities, attention)| Decision { probabilities, attention, members: Vec::new(), contributions: Vec::new() })
                .collect())
        })
        .collect::<Result<Vec<Vec<Decision>>>>()?;
    Ok(in_original_order(&batches, found.into_iter().flatten()))
}

/// The label with the largest probability; the first of equal ones.
pub fn best(probabilities: &[f32]) -> u32 {
    (1..probabilities.len()).fold(0, |best, i| if probabilities[i] > probabilities[best] { i } else { best }) as u32
}

/// The number of the label of an example; a label that was not learnt is an error that names its line.
pub fn number_of(labels: &Inventory, label: &str, line: usize) -> Result<u32> {
    labels.position(label).ok_or_else(|| Error::Value {
        what: format!("the label on line {line}"),
        got: format!("{label:?}"),
        expected: format!("one the model has learnt: {}", labels.iter().collect::<Vec<_>>().join(", ")),
    })
}

/// `loss` (mean cross-entropy), `accuracy`, `macro_f1`, and for two labels `auc`: that of the second label, if both occur.
pub fn label_measures(labels: &Inventory, gold: &[u32], probabilities: &[Vec<f32>]) -> Result<Vec<Measure>> {
    let confusion = confusion(labels, gold, probabilities)?;
    let surprise = |(&label, p): (&u32, &Vec<f32>)| -(p[label as usize].max(f32::MIN_POSITIVE) as f64).ln();
    let loss = gold.iter().zip(probabilities).map(surprise).sum::<f64>() / gold.len() as f64;
    let mut measures = vec![
        Measure::falling("loss", loss),
        Measure::rising("accuracy", confusion.accuracy()),
        Measure::rising("macro_f1", confusion.macro_f1()),
    ];
    if labels.len() == 2 {
        let scores: Vec<f64> = probabilities.iter().map(|p| p[1] as f64).collect();
        let second: Vec<bool> = gold.iter().map(|&label| label == 1).collect();
        if let Ok(area) = roc_auc(&second, &scores) {
            measures.push(Measure::rising("auc", area));
        }
    }
    Ok(measures)
}

/// What always giving the most frequent label of these reaches.
pub(super) fn most_frequent(gold: &[u32]) -> Baseline {
    let labels = gold.iter().max().map_or(0, |&most| most as usize + 1);
    let most = LabelCounts::of(labels, gold.iter().copied()).counts.into_iter().max().unwrap_or(0);
    Baseline::new("most frequent label", vec![Measure::rising("accuracy", most as f64 / gold.len().max(1) as f64)])
}

/// What a simple way reaches that took some labels for others.
pub(super) fn of_confusion(confusion: &Confusion) -> Vec<Measure> {
    vec![Measure::rising("accuracy", confusion.accuracy()), Measure::rising("macro_f1", confusion.macro_f1())]
}

/// The names of [`label_measures`] for examples with these labels.
pub fn label_measure_names(labels: &Inventory, gold: impl Iterator<Item = u32> + Clone) -> Vec<&'static str> {
    let both = labels.len() == 2 && [0, 1].iter().all(|wanted| gold.clone().any(|label| label == *wanted));
    let of_two: &[&str] = if both { &["auc"] } else { &[] };
    [&["loss", "accuracy", "macro_f1"][..], of_two].concat()
}

/// Who was taken for whom.
pub fn confusion(labels: &Inventory, gold: &[u32], probabilities: &[Vec<f32>]) -> Result<Confusion> {
    let name = |label: u32| labels.get(label).unwrap_or_default();
    let right: Vec<&str> = gold.iter().map(|&label| name(label)).collect();
    let said: Vec<&str> = probabilities.iter().map(|p| name(best(p))).collect();
    Confusion::new(&right, &said).map_err(nothing_to_measure)
}

/// A measure's complaint as an error of the library.
pub(super) fn nothing_to_measure(error: MetricError) -> Error {
    Error::Value { what: "the examples to measure".into(), got: error.to_string(), expected: "at least one".into() }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// However many heads a member has, it counts as one; who does not look, or at other units, takes nobody's number.
    #[test]
    fn members_count_alike() {
        let said = |attention: Vec<Vec<f32>>| {
            vec![Decision { probabilities: vec![0.2, 0.8], attention, members: Vec::new(), contributions: Vec::new() }]
        };
        let others = [vec![vec![0.0, 1.0], vec![0.5, 0.5]], vec![], vec![vec![1.0]], vec![vec![0.4, 0.6]]];
        let all = mean(said(vec![vec![1.0, 0.0]]), others.into_iter().map(|other| Ok(said(other)))).unwrap().remove(0);
        assert_eq!((all.attention, all.members), (vec![vec![1.0, 0.0], vec![0.25, 0.75], vec![0.4, 0.6]], vec![1, 2, 5]));
        let alone = mean(said(vec![vec![1.0], vec![1.0]]), std::iter::empty()).unwrap().remove(0);
        assert_eq!((alone.attention.len(), alone.members), (2, vec![]));
    }
}
