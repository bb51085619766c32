//! Sparsemax: the nearest point of the simplex. Martins and Astudillo, 2016.
//!
//! `a_j = max(s_j - t, 0)` with the threshold `t` that makes the weights sum to one. Its derivative is that of subtracting the mean, over the positions above the
//! threshold.

use spotlight_kernels::Float;

use super::{Normaliser, Weighting, Weights};
use crate::Result;
use crate::attention::Question;
use crate::tape::{Tape, Var};

/// See [`SoftmaxKind::Sparsemax`](super::SoftmaxKind::Sparsemax).
pub(super) struct Sparsemax;

impl Weighting for Sparsemax {
    fn weights<T: Float>(_: &Normaliser, tape: &Tape<T>, scores: Var, _: &Question) -> Result<Weights> {
        Ok(sparsemax(tape, scores)?.into())
    }
}

/// Sparsemax over each sequence, column by column. A score of −∞ gets the weight 0; a sequence of nothing else gets zeros. A NaN makes all weights NaN.
fn sparsemax<T: Float>(tape: &Tape<T>, scores: Var) -> Result<Var> {
    let axis = tape.need_axis("sparsemax", scores)?;
    let (rows, cols) = tape.shape(scores);
    let mut weights = tape.to_vec(scores);
    for item in 0..axis.items() {
        for col in 0..cols {
            let places = || axis.range(item).map(|row| row * cols + col);
            if let Some(lost) = places().map(|i| weights[i]).find(|s| s.is_nan()) {
                places().for_each(|i| weights[i] = lost);
                continue;
            }
            let threshold = threshold(places().map(|i| weights[i]));
            places().for_each(|i| {
                weights[i] = threshold.map_or(T::ZERO, |(largest, t)| T::max(weights[i] - largest - t, T::ZERO));
            });
        }
    }
    Ok(tape.push(weights, rows, cols, Some(axis.clone()), &[scores], |y| {
        Box::new(move |back, dy| {
            let weights = back.values.get(y);
            let ds = back.grads.of(scores);
            for item in 0..axis.items() {
                for col in 0..cols {
                    let support = || axis.range(item).map(|row| row * cols + col).filter(|&i| weights[i] > T::ZERO);
                    let mean = support().map(|i| dy[i]).sum::<T>() / T::from_f64(support().count().max(1) as f64);
                    support().for_each(|i| ds[i] += dy[i] - mean);
                }
            }
        })
    }))
}

/// The largest score and the `t` for which `Σ max(s - largest - t, 0) = 1`; none if no score is above −∞.
///
/// Everything is counted from the largest score, so that large ones lose no digits.
fn threshold<T: Float>(scores: impl Iterator<Item = T>) -> Option<(T, T)> {
    let mut sorted: Vec<T> = scores.filter(|&s| s > T::NEG_INFINITY).collect();
    sorted.sort_by(|a, b| b.partial_cmp(a).unwrap_or(std::cmp::Ordering::Equal));
    let &largest = sorted.first()?;
    let (mut sum, mut threshold) = (T::ZERO, -T::ONE);
    for (count, &s) in (1..).zip(&sorted) {
        let (s, count) = (s - largest, T::from_f64(count as f64));
        sum += s;
        if T::ONE + count * s > sum {
            threshold = (sum - T::ONE) / count;
        }
    }
    Some((largest, threshold))
}
