//! The two number types, and the functions of one number that the loops are made of.

use std::cell::RefCell;
use std::fmt::{Debug, Display};
use std::iter::Sum;
use std::ops::{Add, AddAssign, Div, DivAssign, Mul, MulAssign, Neg, Sub, SubAssign};

/// `f32` or `f64`.
///
/// Models run in `f32`. `f64` exists so that every backward pass can be checked by central differences; its `exp` and `tanh` are
/// those of the standard library. The ones of `f32` are written without branches so that whole loops vectorise.
pub trait Float:
    Copy
    + Default
    + PartialOrd
    + Debug
    + Display
    + Send
    + Sync
    + Sum
    + Add<Output = Self>
    + Sub<Output = Self>
    + Mul<Output = Self>
    + Div<Output = Self>
    + Neg<Output = Self>
    + AddAssign
    + SubAssign
    + MulAssign
    + DivAssign
    + 'static
{
    /// 0
    const ZERO: Self;
    /// 1
    const ONE: Self;
    /// −∞
    const NEG_INFINITY: Self;
    /// Bytes of one number.
    const BYTES: usize;

    /// The nearest number to `x`.
    fn from_f64(x: f64) -> Self;
    /// This number as `f64`, exactly.
    fn to_f64(self) -> f64;
    /// `a * b + c`, fused if `FMA`.
    fn fma<const FMA: bool>(a: Self, b: Self, c: Self) -> Self;
    /// `sums + x b`, for the sixteen numbers of a tile's row; one instruction if `WIDEST`.
    #[inline(always)]
    fn fma_lanes<const FMA: bool, const WIDEST: bool>(x: Self, b: &[Self; 16], sums: &mut [Self; 16]) {
        lanes::<Self, FMA>(x, b, sums);
    }
    /// Eight rows of eight numbers, turned: what comes out has the columns as rows. Without a memory between if `WIDEST`.
    #[inline(always)]
    fn turned<const WIDEST: bool>(rows: [&[Self; 8]; 8]) -> [[Self; 8]; 8] {
        columns(rows)
    }
    /// e to the power of this number.
    fn exp(self) -> Self;
    /// e to the power of this number, which is not above 0: what a softmax needs, with fused multiply-adds if `FMA`.
    fn exp_nonpositive<const FMA: bool>(self) -> Self;
    /// Hyperbolic tangent.
    fn tanh(self) -> Self;
    /// Natural logarithm.
    fn ln(self) -> Self;
    /// Square root.
    fn sqrt(self) -> Self;
    /// Absolute value.
    fn abs(self) -> Self;
    /// The error function, to the last place.
    fn erf(self) -> Self;
    /// The share of the normal distribution below this number, and its density there.
    fn normal<const FMA: bool>(self) -> (Self, Self);
    /// Whether this is neither infinite nor NaN.
    fn is_finite(self) -> bool;
    /// Whether this is not a number.
    fn is_nan(self) -> bool;
    /// Runs `f` with this thread's scratch buffer number `slot`, grown to at least `len` numbers. Its content is arbitrary.
    ///
    /// Calls with different slots may be nested; `f` must not ask for the slot it was given.
    fn with_scratch<R>(slot: Scratch, len: usize, f: impl FnOnce(&mut [Self]) -> R) -> R;

    /// The larger of two numbers; `b` if `a` is NaN.
    #[inline(always)]
    fn max(a: Self, b: Self) -> Self {
        if a > b { a } else { b }
    }
    /// `1 / (1 + e^-x)`
    #[inline(always)]
    fn sigmoid(self) -> Self {
        Self::ONE / (Self::ONE + (-self).exp())
    }
    /// Zeros.
    fn zeros(len: usize) -> Vec<Self> {
        vec![Self::ZERO; len]
    }
}

/// `sums + x b` as a plain loop.
#[inline(always)]
fn lanes<T: Float, const FMA: bool>(x: T, b: &[T; 16], sums: &mut [T; 16]) {
    for (sum, &b) in sums.iter_mut().zip(b) {
        *sum = T::fma::<FMA>(x, b, *sum);
    }
}

/// The columns of eight rows, as a plain loop.
#[inline(always)]
fn columns<T: Float>(rows: [&[T; 8]; 8]) -> [[T; 8]; 8] {
    std::array::from_fn(|column| rows.map(|row| row[column]))
}

/// Names of the per-thread scratch buffers, so that nested users do not meet.
#[derive(Clone, Copy)]
pub enum Scratch {
    /// Packed rows of a product's left side.
    Left,
    /// Packed panels of a product's right side.
    Right,
}

/// ln 2 in two parts: the first has few enough bits that `n * LN2_HIGH` is exact for the `n` that occur.
const LN2_HIGH: f32 = 0.693_359_4;
const LN2_LOW: f32 = -2.121_944_4e-4;
/// Adding 1.5 * 2^23 leaves the nearest integer in the low bits of an `f32`.
const ROUND: f32 = 12_582_912.0;

/// Splits `x` as `n ln 2 + r` with a whole `n` and returns `(n, e^r - 1)`; the series stops below half a unit in the last place.
#[inline(always)]
fn reduce(x: f32) -> (i32, f32) {
    let shifted = x * std::f32::consts::LOG2_E + ROUND;
    let n = shifted - ROUND;
    let exponent = shifted.to_bits() as i32 - ROUND.to_bits() as i32;
    let r = (x - n * LN2_HIGH) - n * LN2_LOW;
    let p = 1.0 / 5040.0;
    let p = p * r + 1.0 / 720.0;
    let p = p * r + 1.0 / 120.0;
    let p = p * r + 1.0 / 24.0;
    let p = p * r + 1.0 / 6.0;
    let p = p * r + 0.5;
    (exponent, p * r * r + r)
}

#[inline(always)]
fn power_of_two(exponent: i32) -> f32 {
    f32::from_bits(((exponent + 127) << 23) as u32)
}

thread_local! {
    static SCRATCH32: [RefCell<Vec<f32>>; 2] = const { [RefCell::new(Vec::new()), RefCell::new(Vec::new())] };
    static SCRATCH64: [RefCell<Vec<f64>>; 2] = const { [RefCell::new(Vec::new()), RefCell::new(Vec::new())] };
}

macro_rules! common {
    ($scratch:ident) => {
        const ZERO: Self = 0.0;
        const ONE: Self = 1.0;
        const NEG_INFINITY: Self = Self::NEG_INFINITY;
        const BYTES: usize = size_of::<Self>();

        #[inline(always)]
        fn from_f64(x: f64) -> Self {
            x as Self
        }
        #[inline(always)]
        fn to_f64(self) -> f64 {
            self as f64
        }
        #[inline(always)]
        fn fma<const FMA: bool>(a: Self, b: Self, c: Self) -> Self {
            if FMA { a.mul_add(b, c) } else { a * b + c }
        }
        #[inline(always)]
        fn ln(self) -> Self {
            Self::ln(self)
        }
        #[inline(always)]
        fn sqrt(self) -> Self {
            Self::sqrt(self)
        }
        #[inline(always)]
        fn abs(self) -> Self {
            Self::abs(self)
        }
        fn erf(self) -> Self {
            libm::erf(self as f64) as Self
        }
        #[inline(always)]
        fn is_finite(self) -> bool {
            Self::is_finite(self)
        }
        #[inline(always)]
        fn is_nan(self) -> bool {
            Self::is_nan(self)
        }
        fn with_scratch<R>(slot: Scratch, len: usize, f: impl FnOnce(&mut [Self]) -> R) -> R {
            $scratch.with(|buffers| {
                let mut buffer = buffers[slot as usize].borrow_mut();
                if buffer.len() < len {
                    buffer.resize(len, 0.0);
                }
                f(&mut buffer[..len])
            })
        }
    };
}

impl Float for f32 {
    common!(SCRATCH32);

    /// Said in so many words: of a plain loop over some heights of a tile the compiler makes one that is twenty times as slow.
    #[inline(always)]
    fn fma_lanes<const FMA: bool, const WIDEST: bool>(x: f32, b: &[f32; 16], sums: &mut [f32; 16]) {
        #[cfg(target_arch = "x86_64")]
        if WIDEST {
            use std::arch::x86_64::*;
            // SAFETY: `WIDEST` is only true in functions that run where AVX-512 was found; loads and store are of sixteen numbers each, and need no alignment.
            unsafe {
                let sum = _mm512_fmadd_ps(_mm512_set1_ps(x), _mm512_loadu_ps(b.as_ptr()), _mm512_loadu_ps(sums.as_ptr()));
                _mm512_storeu_ps(sums.as_mut_ptr(), sum);
            }
            return;
        }
        lanes::<f32, FMA>(x, b, sums);
    }

    #[inline(always)]
    fn turned<const WIDEST: bool>(rows: [&[f32; 8]; 8]) -> [[f32; 8]; 8] {
        #[cfg(target_arch = "x86_64")]
        if WIDEST {
            use std::arch::x86_64::*;
            // SAFETY: `WIDEST` is only true in functions that run where AVX-512 was found, and so AVX; loads and stores are of eight numbers each, and need no alignment.
            unsafe {
                let rows = rows.map(|row| _mm256_loadu_ps(row.as_ptr()));
                // Pairs of rows, then fours, then both halves of the registers.
                let low: [__m256; 4] = std::array::from_fn(|i| _mm256_unpacklo_ps(rows[2 * i], rows[2 * i + 1]));
                let high: [__m256; 4] = std::array::from_fn(|i| _mm256_unpackhi_ps(rows[2 * i], rows[2 * i + 1]));
                let fours = |i: usize| {
                    [
                        _mm256_shuffle_ps::<0x44>(low[i], low[i + 1]),
                        _mm256_shuffle_ps::<0xee>(low[i], low[i + 1]),
                        _mm256_shuffle_ps::<0x44>(high[i], high[i + 1]),
                        _mm256_shuffle_ps::<0xee>(high[i], high[i + 1]),
                    ]
                };
                let (upper, lower) = (fours(0), fours(2));
                let mut turned = [[0.0; 8]; 8];
                for i in 0..4 {
                    _mm256_storeu_ps(turned[i].as_mut_ptr(), _mm256_permute2f128_ps::<0x20>(upper[i], lower[i]));
                    _mm256_storeu_ps(turned[i + 4].as_mut_ptr(), _mm256_permute2f128_ps::<0x31>(upper[i], lower[i]));
                }
                return turned;
            }
        }
        columns(rows)
    }

    /// At most 1.5 units in the last place from the true value; 0 below -86.98, infinite above 88.72.
    #[inline(always)]
    fn exp(self) -> f32 {
        // Comparisons written so that a NaN falls through and stays one.
        let x = if self > 89.0 { 89.0 } else { self };
        let x = if x < -88.0 { -88.0 } else { x };
        let (exponent, em1) = reduce(x);
        let y = (1.0 + em1) * power_of_two(exponent - 1) * 2.0;
        // Half of a result below this would not be a normal number.
        if self < -86.98 { 0.0 } else { y }
    }

    /// At most 1.2 units in the last place from the true value down to -8, 5 below; 0 below -87.69.
    #[inline(always)]
    fn exp_nonpositive<const FMA: bool>(self) -> f32 {
        // What is this small comes out as 0, since the exponent is then that of zero. A NaN falls through and stays one.
        let x = if self < -88.0 { -88.0 } else { self };
        let shifted = Self::fma::<FMA>(x, std::f32::consts::LOG2_E, ROUND);
        let n = shifted - ROUND;
        // Fused, the product is exact, and ln 2 as one number is good enough.
        let r = if FMA { n.mul_add(-std::f32::consts::LN_2, x) } else { (x - n * LN2_HIGH) - n * LN2_LOW };
        // The polynomial of its degree nearest to e^r in relative terms, with 1 + r as its beginning: 4e-9 off.
        let p = Self::fma::<FMA>(r, 1.381_454e-3, 8.368_745e-3);
        let p = Self::fma::<FMA>(r, p, 4.166_839e-2);
        let p = Self::fma::<FMA>(r, p, 1.666_652e-1);
        let p = Self::fma::<FMA>(r, p, 4.999_999_4e-1);
        let p = Self::fma::<FMA>(r, p, 1.0);
        let p = Self::fma::<FMA>(r, p, 1.0);
        // The low bits of `shifted` are the exponent; the others leave at the top.
        p * f32::from_bits((shifted.to_bits() << 23).wrapping_add(1.0f32.to_bits()))
    }

    /// At most 2.5e-7 from the true values.
    #[inline(always)]
    fn normal<const FMA: bool>(self) -> (f32, f32) {
        crate::activation::normal32::<FMA>(self)
    }

    /// At most 3 units in the last place from the true value, for small arguments too.
    ///
    /// `tanh x = (e^2x - 1) / (e^2x + 1)`, with `e^2x - 1` computed without the cancellation near zero.
    #[inline(always)]
    fn tanh(self) -> f32 {
        let x = if self > 10.0 { 10.0 } else { self };
        let x = if x < -10.0 { -10.0 } else { x };
        let (exponent, em1) = reduce(x + x);
        let scale = power_of_two(exponent);
        let em1 = scale * em1 + (scale - 1.0);
        em1 / (em1 + 2.0)
    }
}

impl Float for f64 {
    common!(SCRATCH64);

    #[inline(always)]
    fn exp(self) -> f64 {
        f64::exp(self)
    }
    #[inline(always)]
    fn exp_nonpositive<const FMA: bool>(self) -> f64 {
        f64::exp(self)
    }
    fn normal<const FMA: bool>(self) -> (f64, f64) {
        let half = std::f64::consts::FRAC_1_SQRT_2;
        (0.5 * libm::erfc(-self * half), half / std::f64::consts::PI.sqrt() * f64::exp(-0.5 * self * self))
    }
    #[inline(always)]
    fn tanh(self) -> f64 {
        f64::tanh(self)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Distance in units of the last place of the true value.
    fn ulps(got: f32, want: f64) -> f64 {
        let nearest = want as f32;
        let ulp = f32::from_bits(nearest.abs().to_bits() + 1) - nearest.abs();
        ((got as f64 - want) / ulp as f64).abs()
    }

    #[test]
    fn exp_is_within_one_and_a_half_units() {
        let mut worst = 0.0f64;
        for i in -869_800..880_000 {
            let x = i as f32 * 1e-4;
            worst = worst.max(ulps(Float::exp(x), (x as f64).exp()));
        }
        assert!(worst < 1.5, "{worst}");
        assert_eq!(Float::exp(0.0f32), 1.0);
        assert_eq!(Float::exp(-1e30f32), 0.0);
        assert_eq!(Float::exp(f32::NEG_INFINITY), 0.0);
        assert_eq!(Float::exp(100f32), f32::INFINITY);
        assert!(Float::exp(f32::NAN).is_nan());
    }

    #[test]
    fn exp_nonpositive_is_near() {
        let (mut near, mut far) = (0.0f64, 0.0f64);
        for i in 0..873_000 {
            let x = i as f32 * -1e-4;
            let worst = if i <= 80_000 { &mut near } else { &mut far };
            *worst = worst.max(ulps(x.exp_nonpositive::<true>(), (x as f64).exp()));
            *worst = worst.max(ulps(x.exp_nonpositive::<false>(), (x as f64).exp()));
        }
        assert!(near < 1.2 && far < 5.0, "{near} {far}");
        for x in [-87.69f32, -88.0, -1e30, f32::NEG_INFINITY] {
            assert_eq!(x.exp_nonpositive::<false>(), 0.0);
            assert_eq!(x.exp_nonpositive::<true>(), 0.0);
        }
        assert_eq!(0.0f32.exp_nonpositive::<false>(), 1.0);
        assert!(f32::NAN.exp_nonpositive::<false>().is_nan());
    }

    #[test]
    fn tanh_is_within_three_units() {
        let mut worst = 0.0f64;
        for i in -1_200_000..1_200_000 {
            let x = i as f32 * 1e-5;
            worst = worst.max(ulps(Float::tanh(x), (x as f64).tanh()));
        }
        for e in -30..0 {
            let x = 1.7f32 * 2f32.powi(e);
            worst = worst.max(ulps(Float::tanh(x), (x as f64).tanh()));
        }
        assert!(worst < 3.0, "{worst}");
        assert_eq!(Float::tanh(0.0f32), 0.0);
        assert_eq!(Float::tanh(1e30f32), 1.0);
        assert_eq!(Float::tanh(f32::NEG_INFINITY), -1.0);
        assert!(Float::tanh(f32::NAN).is_nan());
    }
}
