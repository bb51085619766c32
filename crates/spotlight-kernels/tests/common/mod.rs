//! Helpers of the property tests: numbers that follow from a seed, so that a failing case shrinks to its shapes.
#![allow(dead_code)]

use proptest::prelude::*;
use spotlight_kernels::Float;

/// Numbers between -1 and 1 that look random.
pub fn numbers<T: Float>(seed: u64, len: usize) -> Vec<T> {
    let mut state = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(0x1234_5678_9abc_def1);
    (0..len)
        .map(|_| {
            // Steele, Lea and Flood, 2014 (SplitMix64).
            state = state.wrapping_add(0x9e37_79b9_7f4a_7c15);
            let mut z = state;
            z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
            z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
            T::from_f64((z ^ (z >> 31)) as f64 / (1u64 << 63) as f64 - 1.0)
        })
        .collect()
}

pub fn as_f64<T: Float>(x: &[T]) -> Vec<f64> {
    x.iter().map(|x| x.to_f64()).collect()
}

/// Rounding errors of sums of a few hundred numbers of size 1.
pub fn tolerance<T: Float>() -> f64 {
    if T::BYTES == 8 { 1e-12 } else { 1e-4 }
}

/// Panics unless all numbers agree, relative to their size or to 1, whichever is larger; infinities and NaN must agree exactly.
pub fn assert_close<T: Float>(what: &str, got: &[T], want: &[f64]) {
    assert_eq!(got.len(), want.len(), "{what}");
    for (i, (got, &want)) in got.iter().zip(want).enumerate() {
        let got = got.to_f64();
        let fits = if want.is_finite() { (got - want).abs() <= tolerance::<T>() * want.abs().max(1.0) } else { got == want };
        assert!(fits, "{what} [{i}]: {got} instead of {want}");
    }
}

/// Lengths of sequences: short ones, empty ones, at times a long one among them, at times none.
pub fn lengths() -> impl Strategy<Value = Vec<usize>> {
    let one = prop_oneof![4 => 0usize..6, 1 => Just(0), 1 => Just(1), 1 => 90usize..150];
    prop::collection::vec(one, 0..6)
}

/// Where each sequence begins, and at the end the number of rows.
pub fn offsets(lengths: &[usize]) -> Vec<usize> {
    let mut offsets = vec![0];
    for length in lengths {
        offsets.push(offsets[offsets.len() - 1] + length);
    }
    offsets
}
