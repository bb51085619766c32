//! Softmax with cross-entropy, over a block of logits.

use crate::Float;

simd! {
    /// Turns a block of logits (`rows x V`) into their gradient, in place, and returns the block's loss.
    ///
    /// The target distribution of a row is `1 - smoothing` on its target plus `smoothing / V` on every unit. Loss and gradient are
    /// multiplied by `scale`.
    pub fn cross_entropy_block<T>(logits: &mut [T], vocabulary: usize, targets: &[u32], smoothing: T, scale: T) -> f64 {
        let mut loss = 0.0;
        let even = smoothing / T::from_f64(vocabulary as f64);
        for (row, &target) in logits.chunks_exact_mut(vocabulary).zip(targets) {
            let mut lanes = [T::NEG_INFINITY; 16];
            let (wide, rest) = row.as_chunks::<16>();
            for chunk in wide {
                for l in 0..16 {
                    lanes[l] = T::max(chunk[l], lanes[l]);
                }
            }
            let mut largest = T::NEG_INFINITY;
            for &x in lanes.iter().chain(rest) {
                largest = T::max(x, largest);
            }
            for x in row.iter_mut() {
                *x -= largest;
            }
            let at_target = row[target as usize];
            let sum_logits = if smoothing > T::ZERO { sum(row) } else { T::ZERO };
            for x in row.iter_mut() {
                *x = x.exp_nonpositive::<FMA>();
            }
            let total = sum(row);
            let log_total = total.ln();
            let row_loss = log_total - (T::ONE - smoothing) * at_target - even * sum_logits;
            loss += (row_loss * scale).to_f64();
            let factor = scale / total;
            let less = even * scale;
            for x in row.iter_mut() {
                *x = *x * factor - less;
            }
            row[target as usize] -= (T::ONE - smoothing) * scale;
        }
        loss
    }
}

simd! {
    /// Turns the logits of one row into the logarithms of their softmax, in place.
    pub fn log_softmax<T>(row: &mut [T]) {
        let mut largest = T::NEG_INFINITY;
        for &x in row.iter() {
            largest = T::max(x, largest);
        }
        let mut total = 0.0;
        for chunk in row.chunks(64) {
            let mut powers = [T::ZERO; 64];
            for (power, &x) in powers.iter_mut().zip(chunk) {
                *power = (x - largest).exp_nonpositive::<FMA>();
            }
            total += sum(&powers[..chunk.len()]).to_f64();
        }
        let shift = largest + T::from_f64(total.ln());
        for x in row.iter_mut() {
            *x -= shift;
        }
    }
}

/// The sum, in sixteen lanes.
#[inline(always)]
fn sum<T: Float>(x: &[T]) -> T {
    let mut lanes = [T::ZERO; 16];
    let (wide, rest) = x.as_chunks::<16>();
    for chunk in wide {
        for l in 0..16 {
            lanes[l] += chunk[l];
        }
    }
    lanes.iter().copied().sum::<T>() + rest.iter().copied().sum::<T>()
}

/// `-(t ln σ(x) + (1 - t) ln(1 - σ(x)))` and its derivative, without overflow for any `x`.
pub fn binary_cross_entropy<T: Float>(logit: T, target: T) -> (T, T) {
    // ln(1 + e^x) = max(x, 0) + ln(1 + e^-|x|)
    let loss = T::max(logit, T::ZERO) - logit * target + (T::ONE + (-logit.abs()).exp()).ln();
    (loss, logit.sigmoid() - target)
}
