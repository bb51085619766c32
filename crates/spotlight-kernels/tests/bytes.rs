//! Products with weights of one byte: against plain whole numbers, and against products of the numbers they stand for.

use proptest::prelude::*;
use spotlight_kernels::bytes::{Bytes, INPUT, WEIGHT, product_bytes};
use spotlight_kernels::gemm::View;

/// The same in three lines: whole numbers, summed, times both factors.
fn plain(a: &[f32], w: &[f32], k: usize, n: usize) -> Vec<f32> {
    let whole = |row: &[f32], most: i32| {
        let largest = row.iter().fold(0.0f32, |m, x| m.max(x.abs()));
        let inverse = if largest > 0.0 { most as f32 / largest } else { 0.0 };
        (row.iter().map(|x| x * inverse).collect::<Vec<f32>>(), largest / most as f32)
    };
    let mut c = Vec::new();
    for a in a.chunks_exact(k) {
        let (a, t) = whole(a, INPUT);
        let a: Vec<i64> = a.iter().map(|x| x.round_ties_even() as i64).collect();
        for w in w.chunks_exact(k).take(n) {
            let (w, s) = whole(w, WEIGHT);
            let sum: i64 = a.iter().zip(&w).map(|(a, w)| a * w.round() as i64).sum();
            c.push(sum as f32 * (s * t));
        }
    }
    c
}

fn numbers(seed: u64, len: usize) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15) | 1;
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        ((state >> 33) as f32 / (1u64 << 31) as f32) * 2.0 - 1.0
    };
    (0..len).map(|_| next() * next()).collect()
}

proptest! {
    #[test]
    fn whole_numbers_are_summed_exactly(rows in 0usize..13, k in 1usize..70, n in 0usize..40, add: bool, seed: u64) {
        let (a, w) = (numbers(seed, rows * k), numbers(seed ^ 77, n * k));
        let stride = n + 3;
        let before = numbers(seed ^ 5, rows * stride);
        let mut c = before.clone();
        product_bytes(&a, &Bytes::new(View::new(&w, n, k)), &mut c, stride, add, &mut Vec::new());
        let expected = plain(&a, &w, k, n);
        for i in 0..rows {
            for j in 0..n {
                let want = expected[i * n + j] + if add { before[i * stride + j] } else { 0.0 };
                prop_assert!((c[i * stride + j] - want).abs() <= 1e-6 * want.abs().max(1.0), "{} and {want}", c[i * stride + j]);
            }
            prop_assert_eq!(&c[i * stride + n..(i + 1) * stride], &before[i * stride + n..(i + 1) * stride]);
        }
    }

    /// Half a step on each side is all that is lost.
    #[test]
    fn near_the_product_of_numbers(rows in 1usize..7, k in 1usize..300, n in 1usize..20, seed: u64) {
        let (a, w) = (numbers(seed, rows * k), numbers(seed ^ 9, n * k));
        let mut c = vec![0.0; rows * n];
        product_bytes(&a, &Bytes::new(View::new(&w, n, k)), &mut c, n, false, &mut Vec::new());
        for (i, a) in a.chunks_exact(k).enumerate() {
            let most = |row: &[f32]| row.iter().fold(0.0f32, |m, x| m.max(x.abs())) as f64;
            for (j, w) in w.chunks_exact(k).enumerate() {
                let exact: f64 = a.iter().zip(w).map(|(&a, &w)| a as f64 * w as f64).sum();
                let (da, dw) = (0.51 * most(a) / INPUT as f64, 0.51 * most(w) / WEIGHT as f64);
                let bound: f64 = a.iter().zip(w).map(|(&a, &w)| a.abs() as f64 * dw + w.abs() as f64 * da + da * dw).sum();
                prop_assert!((c[i * n + j] as f64 - exact).abs() <= bound + 1e-6);
            }
        }
    }
}

/// The largest numbers everywhere: neighbours of equal sign would be cut off in 16 bits if there were more bits of weight.
#[test]
fn nothing_is_cut_off() {
    for sign in [1.0f32, -1.0] {
        let (k, n) = (1024, 17);
        let mut c = vec![0.0; n];
        product_bytes(&vec![1.0f32; k], &Bytes::new(View::new(&vec![sign * 2.0; n * k], n, k)), &mut c, n, false, &mut Vec::new());
        assert!(c.iter().all(|x| (x - sign * 2048.0).abs() < 1e-2), "{c:?}");
    }
}

#[test]
fn zeros_stay_zeros_and_what_is_no_number_makes_none() {
    let w = Bytes::new(View::new(&[1.0f32, -2.0, 0.0, 0.0, f32::NAN, 1.0], 3, 2));
    let mut c = [9.0f32; 6];
    product_bytes(&[0.0f32, 0.0, f32::INFINITY, 1.0], &w, &mut c, 3, false, &mut Vec::new());
    assert_eq!(c[..2], [0.0, 0.0]);
    assert!(c[2..].iter().all(|x| x.is_nan()), "{c:?}");
    assert_eq!((w.rows(), w.cols(), w.get(0, 1), w.get(1, 0)), (3, 2, -2.0, 0.0));
}
