//! Optimiser steps: one pass over the flat buffers.
//!
//! Every function handles a range of the parameters; ranges are independent of each other, so threads may divide them without changing a bit.

simd! {
    /// The sum of squares, in sixteen lanes of fixed order.
    pub fn sum_of_squares<T>(x: &[T]) -> f64 {
        // Blocks keep the lanes from growing past the precision of `T`.
        x.chunks(4096).map(|block| crate::map::inner::<T, FMA>(block, block).to_f64()).sum()
    }
}

simd! {
    /// `total += shard`: called for one shard after the other, in their order.
    pub fn add_shards<T>(total: &mut [T], shard: &[T]) {
        for (t, &s) in total.iter_mut().zip(shard) {
            *t += s;
        }
    }
}

/// Settings of [`adam`] for one step.
#[derive(Clone, Copy, Debug)]
pub struct Adam<T> {
    /// Learning rate.
    pub rate: T,
    /// Decay of the first moment.
    pub beta1: T,
    /// Decay of the second moment.
    pub beta2: T,
    /// Added to the root of the second moment.
    pub epsilon: T,
    /// `1 - beta1^t`
    pub correction1: T,
    /// `1 - beta2^t`
    pub correction2: T,
    /// Weight decay, decoupled from the gradient (AdamW); 0 for Adam.
    pub decay: T,
    /// Every gradient is multiplied by this first (clipping).
    pub scale: T,
}

simd! {
    /// Kingma and Ba, 2015; with decoupled decay Loshchilov and Hutter, 2019.
    pub fn adam<T>(s: Adam<T>, weights: &mut [T], gradient: &[T], first: &mut [T], second: &mut [T]) {
        let step = s.rate / s.correction1;
        let root = s.correction2.sqrt();
        let keep = T::ONE - s.rate * s.decay;
        for (((w, &g), m), v) in weights.iter_mut().zip(gradient).zip(first).zip(second) {
            let g = g * s.scale;
            *m = s.beta1 * *m + (T::ONE - s.beta1) * g;
            *v = s.beta2 * *v + (T::ONE - s.beta2) * g * g;
            *w = *w * keep - step * *m / (v.sqrt() / root + s.epsilon);
        }
    }
}

simd! {
    /// Gradient descent with momentum, as PyTorch does it: the velocity is `momentum * velocity + gradient`.
    pub fn sgd<T>(rate: T, momentum: T, scale: T, weights: &mut [T], gradient: &[T], velocity: &mut [T]) {
        if momentum == T::ZERO {
            for (w, &g) in weights.iter_mut().zip(gradient) {
                *w -= rate * (g * scale);
            }
        } else {
            for ((w, &g), v) in weights.iter_mut().zip(gradient).zip(velocity) {
                *v = momentum * *v + g * scale;
                *w -= rate * *v;
            }
        }
    }
}

simd! {
    /// Zeiler, 2012.
    pub fn adadelta<T>(rate: T, rho: T, epsilon: T, scale: T, weights: &mut [T], gradient: &[T], squares: &mut [T], updates: &mut [T]) {
        for (((w, &g), s), u) in weights.iter_mut().zip(gradient).zip(squares).zip(updates) {
            let g = g * scale;
            *s = rho * *s + (T::ONE - rho) * g * g;
            let step = (*u + epsilon).sqrt() / (*s + epsilon).sqrt() * g;
            *u = rho * *u + (T::ONE - rho) * step * step;
            *w -= rate * step;
        }
    }
}

simd! {
    /// Duchi, Hazan and Singer, 2011. A number whose gradient is zero does not move, so rows that were not touched need not be visited.
    pub fn adagrad<T>(rate: T, epsilon: T, scale: T, weights: &mut [T], gradient: &[T], squares: &mut [T]) {
        for ((w, &g), s) in weights.iter_mut().zip(gradient).zip(squares) {
            let g = g * scale;
            *s += g * g;
            *w -= rate * g / (s.sqrt() + epsilon);
        }
    }
}
