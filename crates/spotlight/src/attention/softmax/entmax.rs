//! Entmax 1.5: between softmax, which never says 0, and sparsemax, which often says nothing else. Peters, Niculae and Martins, 2019.
//!
//! `a_j = max(s_j / 2 - t, 0)²` with the threshold `t` that makes the weights sum to one. With `r_j = sqrt(a_j)` the derivative is that of subtracting a mean that is weighted
//! by `r`, times `r`: `ds_j = r_j (da_j - Σ r_i da_i / Σ r_i)`.

use spotlight_kernels::Float;

use super::{Normaliser, Weighting, Weights};
use crate::Result;
use crate::attention::Question;
use crate::tape::{Tape, Var};

/// See [`SoftmaxKind::Entmax`](super::SoftmaxKind::Entmax).
pub(super) struct Entmax;

impl Weighting for Entmax {
    fn weights<T: Float>(_: &Normaliser, tape: &Tape<T>, scores: Var, _: &Question) -> Result<Weights> {
        Ok(entmax(tape, scores)?.into())
    }
}

/// Entmax over each sequence, column by column. A score of −∞ gets the weight 0; a sequence of nothing else gets zeros. A NaN makes all weights NaN.
fn entmax<T: Float>(tape: &Tape<T>, scores: Var) -> Result<Var> {
    let axis = tape.need_axis("entmax", scores)?;
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
                let root = threshold.map_or(T::ZERO, |(largest, t)| T::max((weights[i] - largest) * T::from_f64(0.5) - t, T::ZERO));
                weights[i] = root * root;
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
                    let roots = support().map(|i| weights[i].sqrt()).sum::<T>();
                    let mean = support().map(|i| weights[i].sqrt() * dy[i]).sum::<T>() / roots;
                    support().for_each(|i| ds[i] += weights[i].sqrt() * (dy[i] - mean));
                }
            }
        })
    }))
}

/// The largest score and the `t` for which `Σ max((s - largest) / 2 - t, 0)² = 1`; none if no score is above −∞.
///
/// With `k` positions above the threshold, their mean `m` and mean square `q`, `t` solves `k (q - 2 m t + t²) = 1`: `t = m - sqrt(1/k - (q - m²))`. The right `k` is the
/// largest whose smallest score is still above its `t`. Everything is counted from the largest score, so that large ones lose no digits.
fn threshold<T: Float>(scores: impl Iterator<Item = T>) -> Option<(T, T)> {
    let mut sorted: Vec<T> = scores.filter(|&s| s > T::NEG_INFINITY).collect();
    sorted.sort_by(|a, b| b.partial_cmp(a).unwrap_or(std::cmp::Ordering::Equal));
    let &largest = sorted.first()?;
    let (mut sum, mut squares, mut found) = (T::ZERO, T::ZERO, -T::ONE);
    for (count, &s) in (1..).zip(&sorted) {
        let (x, count) = ((s - largest) * T::from_f64(0.5), T::from_f64(count as f64));
        // The largest weight is at most 1, so the threshold is at least -1. Squares of what lies below might be too large.
        if x <= -T::ONE {
            break;
        }
        sum += x;
        squares += x * x;
        let (mean, square) = (sum / count, squares / count);
        let left = T::ONE / count - (square - mean * mean);
        let t = mean - T::max(left, T::ZERO).sqrt();
        if left < T::ZERO || t > x {
            break;
        }
        found = t;
    }
    Some((largest, found))
}
