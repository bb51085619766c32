//! Rotary positions. Su and others, 2021, equation 34.
//!
//! The features of a head are pairs, `2i` and `2i + 1`, and each is turned by the angle `position * θ_i`, `θ_i = 10000^(-2i / size)`. The product of two vectors so
//! turned depends on the distance of their positions and on nothing else of them.

use crate::Float;

/// Cosine and sine of `position * 10000^(-2i / size)` for the pair `i`, position after position: `size` numbers each, cosine and sine in turn.
pub fn angles<T: Float>(positions: &[usize], size: usize, to: &mut [T]) {
    for (&position, to) in positions.iter().zip(to.chunks_exact_mut(size.max(1))) {
        for (i, to) in to.chunks_exact_mut(2).enumerate() {
            let angle = position as f64 * 10_000f64.powf(-((2 * i) as f64) / size as f64);
            to.copy_from_slice(&[T::from_f64(angle.cos()), T::from_f64(angle.sin())]);
        }
    }
}

simd! {
    /// Turns the first `heads * size` numbers of each row (rows `stride` apart) by its own angles, `which[row]` of `angles`; backwards if `back`.
    pub fn rotate<T>(which: &[usize], angles: &[T], heads: usize, size: usize, stride: usize, back: bool, x: &mut [T]) {
        let sign = if back { -T::ONE } else { T::ONE };
        for (row, &which) in x.chunks_exact_mut(stride.max(1)).zip(which) {
            let angles = &angles[which * size..(which + 1) * size];
            for head in row[..heads * size].chunks_exact_mut(size.max(1)) {
                for (x, angle) in head.as_chunks_mut::<2>().0.iter_mut().zip(angles.as_chunks::<2>().0) {
                    let (cos, sin) = (angle[0], sign * angle[1]);
                    *x = [x[0] * cos - x[1] * sin, x[0] * sin + x[1] * cos];
                }
            }
        }
    }
}
