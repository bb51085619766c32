//! Sparsemax: the nearest point of the simplex. Martins and Astudillo, 2016.
//!
//! `a_j = max(s_j - t, 0)` with the threshold `t` that makes the weights sum to one; every slope is 1.

use spotlight_kernels::Float;

use super::sparse::{self, Cut};
use super::{Normaliser, Weighting, Weights};
use crate::Result;
use crate::attention::Question;
use crate::tape::{Tape, Var};

/// See [`SoftmaxKind::Sparsemax`](super::SoftmaxKind::Sparsemax).
pub(super) struct Sparsemax;

impl Weighting for Sparsemax {
    fn weights<T: Float>(_: &Normaliser, tape: &Tape<T>, scores: Var, _: &Question) -> Result<Weights> {
        Ok(sparse::weights::<Self, T>(tape, scores)?.into())
    }
}

impl Cut for Sparsemax {
    const NAME: &'static str = "sparsemax";

    /// The `t` for which `Σ max(s - t, 0) = 1`.
    fn threshold<T: Float>(sorted: impl Iterator<Item = T>) -> T {
        let (mut sum, mut threshold) = (T::ZERO, -T::ONE);
        for (count, s) in (1..).zip(sorted) {
            let count = T::from_f64(count as f64);
            sum += s;
            if T::ONE + count * s > sum {
                threshold = (sum - T::ONE) / count;
            }
        }
        threshold
    }

    fn weight<T: Float>(score: T, threshold: T) -> T {
        T::max(score - threshold, T::ZERO)
    }

    fn slope<T: Float>(_: T) -> T {
        T::ONE
    }
}
