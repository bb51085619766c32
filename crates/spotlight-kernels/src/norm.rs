//! Layer norm: every row to mean 0 and variance 1, then scaled and shifted. Ba, Kiros and Hinton, 2016.

use crate::Float;

/// `y = (x - mean) / √(variance + epsilon) * scale + shift`, row by row. Keeps `(x - mean) / √…` in `normal` and `1 / √…` in `inverse` (one per row).
pub fn layer_norm_forward<T: Float>(x: &[T], scale: &[T], shift: &[T], epsilon: T, y: &mut [T], normal: &mut [T], inverse: &mut [T]) {
    let d = scale.len();
    let count = T::from_f64(d as f64);
    for (((x, y), normal), inverse) in
        x.chunks_exact(d.max(1)).zip(y.chunks_exact_mut(d.max(1))).zip(normal.chunks_exact_mut(d.max(1))).zip(inverse)
    {
        let mean = x.iter().copied().sum::<T>() / count;
        let variance = x.iter().map(|&x| (x - mean) * (x - mean)).sum::<T>() / count;
        *inverse = T::ONE / (variance + epsilon).sqrt();
        for j in 0..d {
            normal[j] = (x[j] - mean) * *inverse;
            y[j] = normal[j] * scale[j] + shift[j];
        }
    }
}

/// The gradients of [`layer_norm_forward`], added to `dx`, `d_scale`, `d_shift`.
pub fn layer_norm_backward<T: Float>(
    normal: &[T],
    inverse: &[T],
    scale: &[T],
    dy: &[T],
    dx: &mut [T],
    d_scale: &mut [T],
    d_shift: &mut [T],
) {
    let d = scale.len();
    let count = T::from_f64(d as f64);
    for (((normal, &inverse), dy), dx) in
        normal.chunks_exact(d.max(1)).zip(inverse).zip(dy.chunks_exact(d.max(1))).zip(dx.chunks_exact_mut(d.max(1)))
    {
        let (mut mean, mut along) = (T::ZERO, T::ZERO);
        for j in 0..d {
            let dn = dy[j] * scale[j];
            mean += dn;
            along += dn * normal[j];
            d_scale[j] += dy[j] * normal[j];
            d_shift[j] += dy[j];
        }
        (mean, along) = (mean / count, along / count);
        for j in 0..d {
            dx[j] += inverse * (dy[j] * scale[j] - mean - normal[j] * along);
        }
    }
}
