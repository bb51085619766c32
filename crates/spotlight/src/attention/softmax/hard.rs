//! Hard attention: one position gets all the weight.

use spotlight_kernels::Float;

use super::{Normaliser, Weighting, Weights};
use crate::attention::Question;
use crate::axis::Axis;
use crate::tape::{Tape, Var};
use crate::{Error, Result};

/// See [`SoftmaxKind::Hard`](super::SoftmaxKind::Hard).
pub(super) struct Hard;

impl Weighting for Hard {
    fn weights<T: Float>(_: &Normaliser, tape: &Tape<T>, scores: Var, _: &Question) -> Result<Weights> {
        Ok(argmax(tape, scores)?.into())
    }
}

/// See [`SoftmaxKind::Gumbel`](super::SoftmaxKind::Gumbel).
pub(super) struct Gumbel;

impl Weighting for Gumbel {
    fn weights<T: Float>(_: &Normaliser, tape: &Tape<T>, scores: Var, _: &Question) -> Result<Weights> {
        Ok(if tape.is_training() { gumbel(tape, scores)? } else { argmax(tape, scores)? }.into())
    }
}

/// See [`SoftmaxKind::Reinforce`](super::SoftmaxKind::Reinforce).
pub(super) struct Reinforce;

impl Weighting for Reinforce {
    const NEEDS_REWARDS: bool = true;

    fn weights<T: Float>(_: &Normaliser, tape: &Tape<T>, scores: Var, _: &Question) -> Result<Weights> {
        if !tape.is_training() {
            return Ok(argmax(tape, scores)?.into());
        }
        let (weights, log_probs) = sample(tape, tape.softmax(scores)?)?;
        Ok(Weights { weights, log_probs: Some(log_probs) })
    }
}

/// 1 at the chosen row of each sequence and column, else 0. `None` leaves zeros. Where one of `values` is NaN there is no choice: all weights are NaN.
fn one_hot<T: Float>(
    values: &[T],
    axis: &Axis,
    cols: usize,
    mut choose: impl FnMut(usize, usize) -> Option<usize>,
) -> (Vec<T>, Vec<Option<usize>>) {
    let mut weights = T::zeros(axis.rows() * cols);
    let mut choices = Vec::with_capacity(axis.items() * cols);
    for item in 0..axis.items() {
        for col in 0..cols {
            let places = || axis.range(item).map(|row| row * cols + col);
            if let Some(lost) = places().map(|i| values[i]).find(|x| x.is_nan()) {
                places().for_each(|i| weights[i] = lost);
                choices.push(None);
                continue;
            }
            let choice = choose(item, col).map(|row| row * cols + col);
            if let Some(place) = choice {
                weights[place] = T::ONE;
            }
            choices.push(choice);
        }
    }
    (weights, choices)
}

/// The row with the largest number above −∞ in one column of one sequence; the first of equal ones.
fn largest<T: Float>(values: &[T], axis: &Axis, cols: usize, item: usize, col: usize) -> Option<usize> {
    let mut best: Option<(usize, T)> = None;
    for row in axis.range(item) {
        let value = values[row * cols + col];
        if value > best.map_or(T::NEG_INFINITY, |(_, value)| value) {
            best = Some((row, value));
        }
    }
    best.map(|(row, _)| row)
}

/// 1 for the largest score of each sequence; no gradient goes back.
fn argmax<T: Float>(tape: &Tape<T>, scores: Var) -> Result<Var> {
    let axis = tape.need_axis("hard attention", scores)?;
    let (rows, cols) = tape.shape(scores);
    let (weights, _) = {
        let scores = tape.value(scores);
        one_hot(&scores, &axis, cols, |item, col| largest(&scores, &axis, cols, item, col))
    };
    tape.on_axis(tape.table(rows, cols, weights)?, &axis)
}

/// Draws a position by its softmax, as the largest of scores with Gumbel noise; the gradient is that of the softmax of those.
fn gumbel<T: Float>(tape: &Tape<T>, scores: Var) -> Result<Var> {
    let (rows, cols) = tape.shape(scores);
    // 1 - u lies above 0 and at most at 1; the tiny number keeps the outer logarithm finite.
    let noise = (0..rows * cols).map(|_| T::from_f64(-(-(1.0 - tape.uniform()).ln() + 1e-300).ln())).collect();
    let noise = tape.on_axis(tape.table(rows, cols, noise)?, &tape.need_axis("hard attention", scores)?)?;
    straight_through(tape, tape.softmax(tape.add(scores, noise)?)?)
}

/// 1 for the largest weight of each sequence, with the gradient going back as if it were the weights themselves.
fn straight_through<T: Float>(tape: &Tape<T>, soft: Var) -> Result<Var> {
    let axis = tape.need_axis("hard attention", soft)?;
    let (rows, cols) = tape.shape(soft);
    let (weights, _) = {
        let soft = tape.value(soft);
        one_hot(&soft, &axis, cols, |item, col| largest(&soft, &axis, cols, item, col).filter(|&row| soft[row * cols + col] > T::ZERO))
    };
    Ok(tape.push(weights, rows, cols, Some(axis), &[soft], |_| Box::new(move |back, dy| back.grads.add(soft, dy))))
}

/// Draws a position by its probability: the weights, and the logarithm of the probability of what was drawn (0 where nothing could be).
fn sample<T: Float>(tape: &Tape<T>, probabilities: Var) -> Result<(Var, Var)> {
    let axis = tape.need_axis("hard attention", probabilities)?;
    let (rows, cols) = tape.shape(probabilities);
    let (weights, choices) = {
        let p = tape.value(probabilities);
        one_hot(&p, &axis, cols, |item, col| {
            let mut left = tape.uniform();
            let mut drawn = None;
            for row in axis.range(item).filter(|row| p[row * cols + col] > T::ZERO) {
                // The last possible one, if rounding left a rest.
                drawn = Some(row);
                left -= p[row * cols + col].to_f64();
                if left < 0.0 {
                    break;
                }
            }
            drawn
        })
    };
    let logs = {
        let p = tape.value(probabilities);
        choices.iter().map(|choice| choice.map_or(T::ZERO, |place| p[place].ln())).collect()
    };
    let log_probs = tape.push(logs, axis.items(), cols, None, &[probabilities], |_| {
        Box::new(move |back, dy| {
            let p = back.values.get(probabilities);
            let dp = back.grads.of(probabilities);
            for (&dy, place) in dy.iter().zip(choices) {
                if let Some(place) = place {
                    dp[place] += dy / p[place];
                }
            }
        })
    });
    Ok((tape.on_axis(tape.table(rows, cols, weights)?, &axis)?, log_probs))
}

/// A moving average of rewards, against which a drawn choice is judged.
///
/// The expected gradient does not depend on it; its spread does. Williams, 1992.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Baseline {
    /// How much of the average stays at each update, from 0 to below 1.
    pub decay: f64,
    /// The average, after the first update.
    pub average: Option<f64>,
}

impl Default for Baseline {
    fn default() -> Self {
        Baseline { decay: 0.9, average: None }
    }
}

impl Baseline {
    /// A loss whose gradient is REINFORCE's: `-Σ (reward - average) ln p`, with one reward for each row of `log_probs`. Then moves the average.
    ///
    /// The reward is what the choice led to, larger being better: for a model trained on a likelihood, the log-likelihood of the row's target.
    pub fn surrogate<T: Float>(&mut self, tape: &Tape<T>, log_probs: Var, rewards: &[f64]) -> Result<Var> {
        let (rows, cols) = tape.shape(log_probs);
        if rewards.len() != rows {
            return Err(Error::Shape { op: "reinforce", expected: format!("{} rows, one per reward", rewards.len()), got: (rows, cols) });
        }
        let mean = rewards.iter().sum::<f64>() / rewards.len().max(1) as f64;
        let average = self.average.unwrap_or(mean);
        let advantages = rewards.iter().map(|r| T::from_f64(average - r)).collect();
        let loss = tape.sum_all(tape.mul(tape.off_axis(log_probs), tape.table(rows, 1, advantages)?)?)?;
        if !rewards.is_empty() {
            self.average = Some(self.decay * average + (1.0 - self.decay) * mean);
        }
        Ok(loss)
    }
}
