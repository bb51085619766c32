//! What sparsemax and entmax share: weights that are exactly 0 below a threshold.
//!
//! A weight is a function of how far its score lies above the threshold `t`, for which the weights of a sequence sum to one. The derivative is that of subtracting a mean over the
//! positions above the threshold, in which each counts by its slope `r`: `ds_j = r_j (da_j - Σ r_i da_i / Σ r_i)`.

use spotlight_kernels::Float;

use crate::Result;
use crate::tape::{Tape, Var};

/// A way to cut off low scores. Scores are counted from the largest of their sequence, so that large ones lose no digits.
pub(super) trait Cut {
    /// Its name in messages.
    const NAME: &'static str;

    /// The threshold of the scores of a sequence, the largest (0) first.
    fn threshold<T: Float>(sorted: impl Iterator<Item = T>) -> T;

    /// The weight of a score.
    fn weight<T: Float>(score: T, threshold: T) -> T;

    /// The slope of a weight that is above 0.
    fn slope<T: Float>(weight: T) -> T;
}

/// Turns the scores of one sequence into its weights; see [`weights`].
pub(super) fn cut<C: Cut, T: Float>(scores: &mut [T]) {
    if let Some(lost) = scores.iter().copied().find(|s| s.is_nan()) {
        return scores.fill(lost);
    }
    let mut sorted: Vec<T> = scores.iter().copied().filter(|&s| s > T::NEG_INFINITY).collect();
    sorted.sort_by(|a, b| b.partial_cmp(a).unwrap_or(std::cmp::Ordering::Equal));
    let threshold = sorted.first().map(|&largest| (largest, C::threshold(sorted.iter().map(|&s| s - largest))));
    scores.iter_mut().for_each(|s| *s = threshold.map_or(T::ZERO, |(largest, t)| C::weight(*s - largest, t)));
}

/// The weights over each sequence, column by column. A score of −∞ gets the weight 0; a sequence of nothing else gets zeros. A NaN makes all weights NaN.
pub(super) fn weights<C: Cut, T: Float>(tape: &Tape<T>, scores: Var) -> Result<Var> {
    let axis = tape.need_axis(C::NAME, scores)?;
    let (rows, cols) = tape.shape(scores);
    let mut weights = tape.to_vec(scores);
    for item in 0..axis.items() {
        for col in 0..cols {
            let places = || axis.range(item).map(|row| row * cols + col);
            let mut own: Vec<T> = places().map(|i| weights[i]).collect();
            cut::<C, T>(&mut own);
            places().zip(own).for_each(|(i, weight)| weights[i] = weight);
        }
    }
    Ok(tape.push(weights, rows, cols, Some(axis.clone()), &[scores], |y| {
        Box::new(move |back, dy| {
            let weights = back.values.get(y);
            let ds = back.grads.of(scores);
            for item in 0..axis.items() {
                for col in 0..cols {
                    let support = || axis.range(item).map(|row| row * cols + col).filter(|&i| weights[i] > T::ZERO);
                    let slopes = support().map(|i| C::slope(weights[i])).sum::<T>();
                    let mean = support().map(|i| C::slope(weights[i]) * dy[i]).sum::<T>() / slopes;
                    support().for_each(|i| ds[i] += C::slope(weights[i]) * (dy[i] - mean));
                }
            }
        })
    }))
}
