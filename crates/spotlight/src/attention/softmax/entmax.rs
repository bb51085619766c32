//! Entmax 1.5: between softmax, which never says 0, and sparsemax, which often says nothing else. Peters, Niculae and Martins, 2019.
//!
//! `a_j = max(s_j / 2 - t, 0)²` with the threshold `t` that makes the weights sum to one; the slope of a weight is `sqrt(a_j)`.

use spotlight_kernels::Float;

use super::sparse::{self, Cut};
use super::{Normaliser, Weighting, Weights};
use crate::Result;
use crate::attention::Question;
use crate::tape::{Tape, Var};

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
