//! One number at a time: elementwise functions and their derivatives.
//!
//! A backward function *adds* to the gradient it is given; derivatives are expressed in the output where that is cheaper.

use crate::Float;

simd! {
    /// `y = tanh x`, in place.
    pub fn tanh_forward<T>(y: &mut [T]) {
        for y in y {
            *y = y.tanh();
        }
    }
}

simd! {
    /// `dx += dy (1 - y²)`
    pub fn tanh_backward<T>(y: &[T], dy: &[T], dx: &mut [T]) {
        for ((dx, &dy), &y) in dx.iter_mut().zip(dy).zip(y) {
            *dx += dy * (T::ONE - y * y);
        }
    }
}

simd! {
    /// `y = 1 / (1 + e^-x)`, in place.
    pub fn sigmoid_forward<T>(y: &mut [T]) {
        for y in y {
            *y = y.sigmoid();
        }
    }
}

simd! {
    /// `dx += dy y (1 - y)`
    pub fn sigmoid_backward<T>(y: &[T], dy: &[T], dx: &mut [T]) {
        for ((dx, &dy), &y) in dx.iter_mut().zip(dy).zip(y) {
            *dx += dy * y * (T::ONE - y);
        }
    }
}

simd! {
    /// `y = e^x`, in place.
    pub fn exp_forward<T>(y: &mut [T]) {
        for y in y {
            *y = y.exp();
        }
    }
}

simd! {
    /// `y += x`
    pub fn add_assign<T>(y: &mut [T], x: &[T]) {
        for (y, &x) in y.iter_mut().zip(x) {
            *y += x;
        }
    }
}

simd! {
    /// `y += a x`
    pub fn axpy<T>(a: T, x: &[T], y: &mut [T]) {
        for (y, &x) in y.iter_mut().zip(x) {
            *y = T::fma::<FMA>(a, x, *y);
        }
    }
}

simd! {
    /// `y += a b`, elementwise: the backward pass of a product, for one of its sides.
    pub fn add_product<T>(y: &mut [T], a: &[T], b: &[T]) {
        for ((y, &a), &b) in y.iter_mut().zip(a).zip(b) {
            *y = T::fma::<FMA>(a, b, *y);
        }
    }
}

simd! {
    /// Adds every row of `x` to `sum`: the gradient of a bias.
    pub fn add_rows<T>(x: &[T], sum: &mut [T]) {
        if sum.is_empty() {
            return;
        }
        for row in x.chunks_exact(sum.len()) {
            for (s, &x) in sum.iter_mut().zip(row) {
                *s += x;
            }
        }
    }
}

simd! {
    /// Inner product, summed in sixteen lanes of fixed order.
    pub fn dot<T>(a: &[T], b: &[T]) -> T {
        inner::<T, FMA>(a, b)
    }
}

/// The body of [`dot`], for use inside other loops.
#[inline(always)]
pub(crate) fn inner<T: Float, const FMA: bool>(a: &[T], b: &[T]) -> T {
    let (a_wide, a_rest) = a.as_chunks::<16>();
    let (b_wide, b_rest) = b.as_chunks::<16>();
    let mut lanes = [T::ZERO; 16];
    for (a, b) in a_wide.iter().zip(b_wide) {
        for l in 0..16 {
            lanes[l] = T::fma::<FMA>(a[l], b[l], lanes[l]);
        }
    }
    let mut sum = T::ZERO;
    for (&a, &b) in a_rest.iter().zip(b_rest) {
        sum = T::fma::<FMA>(a, b, sum);
    }
    halved(lanes, |a, b| a + b) + sum
}

/// Sixteen lanes as one number: the upper half joined to the lower, and again. Halves are tables of their own, so that they stay in registers.
#[inline(always)]
pub(crate) fn halved<T: Float>(lanes: [T; 16], join: impl Fn(T, T) -> T) -> T {
    let lanes: [T; 8] = std::array::from_fn(|l| join(lanes[l], lanes[l + 8]));
    let lanes: [T; 4] = std::array::from_fn(|l| join(lanes[l], lanes[l + 4]));
    join(join(lanes[0], lanes[2]), join(lanes[1], lanes[3]))
}
