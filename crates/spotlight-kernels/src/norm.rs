//! Layer norm: every row to mean 0 and variance 1, then scaled and shifted. Ba, Kiros and Hinton, 2016.
//!
//! A row's mean and `1 / √(variance + epsilon)` are kept, and the way back forms the normal row again: cheaper than to store it.

use crate::Float;

/// Sums run in this many lanes of fixed order.
const LANES: usize = 16;

/// The sum of `f` over a row.
#[inline(always)]
fn sum<T: Float>(row: &[T], f: impl Fn(T) -> T) -> T {
    let (wide, rest) = row.as_chunks::<LANES>();
    let mut lanes = [T::ZERO; LANES];
    for row in wide {
        for l in 0..LANES {
            lanes[l] += f(row[l]);
        }
    }
    fold(lanes) + rest.iter().map(|&x| f(x)).sum()
}

#[inline(always)]
fn fold<T: Float>(mut lanes: [T; LANES]) -> T {
    for width in [8, 4, 2, 1] {
        for l in 0..width {
            let upper = lanes[l + width];
            lanes[l] += upper;
        }
    }
    lanes[0]
}

simd! {
    /// `y = (x - mean) / √(variance + epsilon) * scale + shift`, row by row. Keeps `mean` and `1 / √…` of each row in `kept`.
    pub fn layer_norm_forward<T>(x: &[T], scale: &[T], shift: &[T], epsilon: T, y: &mut [T], kept: &mut [[T; 2]]) {
        let d = scale.len();
        let count = T::from_f64(d as f64);
        for ((x, y), kept) in x.chunks_exact(d.max(1)).zip(y.chunks_exact_mut(d.max(1))).zip(kept) {
            let mean = sum(x, |x| x) / count;
            let variance = sum(x, |x| (x - mean) * (x - mean)) / count;
            let inverse = T::ONE / (variance + epsilon).sqrt();
            *kept = [mean, inverse];
            for (((y, &x), &scale), &shift) in y.iter_mut().zip(x).zip(scale).zip(shift) {
                *y = T::fma::<FMA>((x - mean) * inverse, scale, shift);
            }
        }
    }
}

simd! {
    /// The gradients of [`layer_norm_forward`], added to `d_scale` and `d_shift`, and to `dx` or, unless `add`, written there.
    ///
    /// With `n` the normal row and `g = dy * scale`:
    ///
    /// ```text
    /// dx = (g - mean(g) - n mean(g n)) / √…
    /// ```
    pub fn layer_norm_backward<T>(x: &[T], kept: &[[T; 2]], scale: &[T], dy: &[T], add: bool, dx: &mut [T], d_scale: &mut [T], d_shift: &mut [T]) {
        let d = scale.len();
        let count = T::from_f64(d as f64);
        let rows = x.chunks_exact(d.max(1)).zip(dy.chunks_exact(d.max(1))).zip(dx.chunks_exact_mut(d.max(1)));
        for (((x, dy), dx), &[mean, inverse]) in rows.zip(kept) {
            let (mut total, mut along) = ([T::ZERO; LANES], [T::ZERO; LANES]);
            let mut at = 0;
            while at < d {
                let here = LANES.min(d - at);
                let (x, dy) = (&x[at..at + here], &dy[at..at + here]);
                let (scale, d_scale, d_shift) = (&scale[at..at + here], &mut d_scale[at..at + here], &mut d_shift[at..at + here]);
                for l in 0..here {
                    let (normal, g) = ((x[l] - mean) * inverse, dy[l] * scale[l]);
                    total[l] += g;
                    along[l] = T::fma::<FMA>(g, normal, along[l]);
                    d_scale[l] = T::fma::<FMA>(dy[l], normal, d_scale[l]);
                    d_shift[l] += dy[l];
                }
                at += here;
            }
            let (total, along) = (fold(total) / count, fold(along) / count);
            for (((dx, &x), &dy), &scale) in dx.iter_mut().zip(x).zip(dy).zip(scale) {
                let normal = (x - mean) * inverse;
                let g = inverse * (dy * scale - total - normal * along);
                *dx = if add { *dx + g } else { g };
            }
        }
    }
}
