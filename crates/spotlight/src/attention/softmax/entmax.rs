//! Entmax 1.5: between softmax, which never says 0, and sparsemax, which often says nothing else. Peters, Niculae and Martins, 2019.
//!
//! `a_j = max(s_j / 2 - t, 0)²` with the threshold `t` that makes the weights sum to one; the slope of a weight is `sqrt(a_j)`.

use spotlight_kernels::Float;

use super::sparse::{self, Cut};
use super::{Normaliser, Weighting, Weights};
use crate::attention::Question;
use crate::tape::{Tape, Var};
use crate::{Error, Result};

/// Turns a row of logits into probabilities by entmax 1.5: many of them are exactly 0.
///
/// ```
/// let mut row = [1.0, 0.0, -3.0];
/// spotlight::attention::softmax::entmax(&mut row);
/// assert!((row[0] - 0.831_f64).abs() < 1e-3 && row[2] == 0.0 && (row[0] + row[1] - 1.0).abs() < 1e-12);
/// ```
pub fn entmax<T: Float>(row: &mut [T]) {
    sparse::cut::<Entmax, T>(row);
}

/// The loss that belongs to entmax 1.5, as cross-entropy belongs to softmax: the sum over the rows, times `scale`, of
///
/// ```text
/// L = Σ_u (p_u - q_u) z_u + H(p) - H(q)      p = entmax(z), H(p) = 4/3 (1 - Σ p^1.5), slope p - q
/// ```
///
/// Peters, Niculae and Martins, 2019, equation 8. `q` is the target, `smoothing` of it spread evenly. The loss is 0 as soon as the target's logit is 2 above all others.
pub fn entmax_loss<T: Float>(tape: &Tape<T>, logits: Var, targets: &[u32], smoothing: f64, scale: f64) -> Result<Var> {
    let (rows, units) = tape.shape(logits);
    let op = "entmax_loss";
    if targets.len() != rows {
        return Err(Error::Shape { op, expected: format!("{} rows, one per target", targets.len()), got: (rows, units) });
    }
    if let Some(&index) = targets.iter().find(|&&t| t as usize >= units) {
        return Err(Error::Index { op, index: index as usize, len: units });
    }
    let even = smoothing / units.max(1) as f64;
    let wanted = |unit: usize, target: u32| if unit == target as usize { 1.0 - smoothing + even } else { even };
    let entropy = |sum: f64| 4.0 / 3.0 * (1.0 - sum);
    let of_target = entropy(wanted(0, 0).powf(1.5) + units.saturating_sub(1) as f64 * even.powf(1.5));
    let mut slopes = tape.to_vec(logits);
    let mut total = 0.0;
    {
        let z = tape.value(logits);
        for (row, &target) in targets.iter().enumerate() {
            let own = row * units..(row + 1) * units;
            entmax(&mut slopes[own.clone()]);
            let mut powers = 0.0;
            for (unit, (p, z)) in slopes[own.clone()].iter_mut().zip(&z[own]).enumerate() {
                let probability = p.to_f64();
                let apart = probability - wanted(unit, target);
                powers += probability.powf(1.5);
                total += apart * z.to_f64();
                *p = T::from_f64(apart);
            }
            total += entropy(powers) - of_target;
        }
    }
    let scale = T::from_f64(scale);
    tape.operation(vec![T::from_f64(total) * scale], (1, 1), None, &[logits], move |back, dy| {
        let slopes: Vec<T> = slopes.iter().map(|&slope| slope * scale * dy[0]).collect();
        back.grads.add(logits, &slopes);
    })
}

/// See [`SoftmaxKind::Entmax`](super::SoftmaxKind::Entmax).
pub(super) struct Entmax;

impl Weighting for Entmax {
    fn weights<T: Float>(_: &Normaliser, tape: &Tape<T>, scores: Var, _: &Question) -> Result<Weights> {
        Ok(sparse::weights::<Self, T>(tape, scores)?.into())
    }
}

impl Cut for Entmax {
    const NAME: &'static str = "entmax";

    /// The `t` for which `Σ max(s / 2 - t, 0)² = 1`.
    ///
    /// With `k` positions above the threshold, their mean `m` and mean square `q`, `t` solves `k (q - 2 m t + t²) = 1`: `t = m - sqrt(1/k - (q - m²))`. The right `k` is the
    /// largest whose smallest score is still above its `t`.
    fn threshold<T: Float>(sorted: impl Iterator<Item = T>) -> T {
        let (mut sum, mut squares, mut found) = (T::ZERO, T::ZERO, -T::ONE);
        for (count, s) in (1..).zip(sorted) {
            let (x, count) = (s * T::from_f64(0.5), T::from_f64(count as f64));
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
        found
    }

    fn weight<T: Float>(score: T, threshold: T) -> T {
        let root = T::max(score * T::from_f64(0.5) - threshold, T::ZERO);
        root * root
    }

    fn slope<T: Float>(weight: T) -> T {
        weight.sqrt()
    }
}
