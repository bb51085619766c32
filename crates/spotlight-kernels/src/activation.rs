//! The bend between the two products of a feed-forward layer, with dropout in the same pass.
//!
//! ```text
//! ReLU    y = max(x, 0)       y' = [x > 0]
//! GELU    y = x Φ(x)          y' = Φ(x) + x φ(x)        Φ, φ: the normal distribution and its density
//! ```
//!
//! The slope of a ReLU can be seen in its result, dropped or not; that of a GELU is kept, dropout included.

use crate::Float;
use crate::dropout::Dropout;

/// Which bend.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Activation {
    /// Negative numbers become 0.
    Relu,
    /// Every number times the share of a normal distribution below it. Hendrycks and Gimpel, 2016.
    Gelu,
}

impl Activation {
    /// Whether the way back needs slopes.
    pub fn keeps_slopes(self) -> bool {
        self == Activation::Gelu
    }
}

simd! {
    /// `y = f(y)`, with numbers dropped, in place; the place of the first number is `first`. `slopes` gets the derivatives, unless it is empty.
    pub fn forward<T>(kind: Activation, dropout: Option<Dropout<T>>, first: usize, y: &mut [T], slopes: &mut [T]) {
        match kind {
            Activation::Relu => {
                for y in y.iter_mut() {
                    // A NaN is not below 0 and stays one.
                    *y = if *y < T::ZERO { T::ZERO } else { *y };
                }
            }
            Activation::Gelu if slopes.is_empty() => {
                for y in y.iter_mut() {
                    *y *= y.normal::<FMA>().0;
                }
            }
            Activation::Gelu => {
                for (y, slope) in y.iter_mut().zip(slopes.iter_mut()) {
                    let (below, density) = y.normal::<FMA>();
                    *slope = T::fma::<FMA>(*y, density, below);
                    *y *= below;
                }
            }
        }
        if let Some(dropout) = dropout {
            for (i, y) in y.iter_mut().enumerate() {
                *y *= dropout.factor(first + i);
            }
            for (i, slope) in slopes.iter_mut().enumerate() {
                *slope *= dropout.factor(first + i);
            }
        }
    }
}

simd! {
    /// `d = f' d`, in place, for the `y` and the `slopes` that [`forward`] gave.
    pub fn backward<T>(kind: Activation, dropout: Option<Dropout<T>>, y: &[T], slopes: &[T], d: &mut [T]) {
        match kind {
            Activation::Relu => {
                let keep = dropout.map_or(T::ONE, |dropout| dropout.keep());
                for (d, &y) in d.iter_mut().zip(y) {
                    *d = if y > T::ZERO { keep * *d } else { T::ZERO };
                }
            }
            Activation::Gelu => {
                for (d, &slope) in d.iter_mut().zip(slopes) {
                    *d *= slope;
                }
            }
        }
    }
}

/// Share of the normal distribution below `x`, and its density there, in `f32`; both at most 2.5e-7 off.
///
/// With `t = 1 / (1 + 0.35 |x|)`, the share beyond `|x|` is the density times a polynomial of `t`: the form of Hastings, 1955. The polynomial is the one of seven terms
/// whose largest error is smallest, 5e-9; the rest is rounding.
#[inline(always)]
pub(crate) fn normal32<const FMA: bool>(x: f32) -> (f32, f32) {
    let a = f32::abs(x);
    let density = 0.398_942_3 * Float::exp_nonpositive::<FMA>(-0.5 * a * a);
    let t = 1.0 / f32::fma::<FMA>(0.35, a, 1.0);
    let p = f32::fma::<FMA>(t, 0.080_423_355, -0.315_998_8);
    let p = f32::fma::<FMA>(t, p, 0.248_161_52);
    let p = f32::fma::<FMA>(t, p, 0.306_900_64);
    let p = f32::fma::<FMA>(t, p, 0.198_700_7);
    let p = f32::fma::<FMA>(t, p, 0.390_536_64);
    let p = f32::fma::<FMA>(t, p, 0.344_590_13);
    let beyond = density * t * p;
    (if x > 0.0 { 1.0 - beyond } else { beyond }, density)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_normal_distribution_is_near() {
        let mut worst = [0.0f64; 2];
        for i in -120_000..=120_000 {
            let x = i as f32 * 1e-4;
            let (below, density) = (x as f64).normal::<false>();
            for (a, b) in [normal32::<false>(x), normal32::<true>(x)] {
                worst[0] = worst[0].max((a as f64 - below).abs());
                worst[1] = worst[1].max((b as f64 - density).abs());
            }
        }
        assert!(worst[0] < 2.5e-7 && worst[1] < 2.5e-7, "{worst:?}");
        assert_eq!(normal32::<true>(1e30), (1.0, 0.0));
        assert_eq!(normal32::<true>(-1e30), (0.0, 0.0));
        assert!(normal32::<true>(f32::NAN).0.is_nan());
    }

    /// A fault upstream must not be hidden by the bend.
    #[test]
    fn not_a_number_stays_one() {
        for kind in [Activation::Relu, Activation::Gelu] {
            let mut y = [f32::NAN, 1.0];
            forward(kind, None, 0, &mut y, &mut []);
            assert!(y[0].is_nan() && y[1] > 0.8, "{kind:?}: {y:?}");
        }
    }
}
