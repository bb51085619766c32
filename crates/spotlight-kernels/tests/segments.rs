//! Softmax, log-sum-exp, sums and the largest over a dynamic axis, against plain loops: empty sequences, one long among short ones, scores of any size.

use crate::common::{as_f64, assert_close, lengths, numbers, offsets};
use proptest::prelude::*;
use spotlight_kernels::{Float, segment};

/// Scores, some of them −∞, with the offsets and columns they belong to.
fn scores<T: Float>(lengths: &[usize], cols: usize, seed: u64, size: f64, forbidden: u64) -> (Vec<usize>, Vec<T>) {
    let offsets = offsets(lengths);
    let mut x = numbers::<T>(seed, offsets[lengths.len()] * cols);
    for (i, x) in x.iter_mut().enumerate() {
        let gone = forbidden > 0 && (i as u64 * 7 + seed) % 10 < forbidden;
        *x = if gone { T::NEG_INFINITY } else { *x * T::from_f64(size) };
    }
    (offsets, x)
}

/// Runs `f` on the numbers of each column of each segment; it gets the places of the column's numbers.
fn each(offsets: &[usize], cols: usize, mut f: impl FnMut(usize, Vec<usize>)) {
    for (b, w) in offsets.windows(2).enumerate() {
        for c in 0..cols {
            f(b * cols + c, (w[0]..w[1]).map(|row| row * cols + c).collect());
        }
    }
}

fn largest(x: &[f64], places: &[usize]) -> f64 {
    places.iter().map(|&i| x[i]).fold(f64::NEG_INFINITY, f64::max)
}

fn check<T: Float>(lengths: &[usize], cols: usize, seed: u64, size: f64, forbidden: u64) {
    let (offsets, x) = scores::<T>(lengths, cols, seed, size, forbidden);
    let (items, exact) = (lengths.len() * cols, as_f64(&x));
    let (mut weights, mut log_sums, mut sums, mut tops) = (vec![0.0; x.len()], vec![0.0; items], vec![0.0; items], vec![0.0; items]);
    let mut top_places = vec![usize::MAX; items];
    each(&offsets, cols, |at, places| {
        let top = largest(&exact, &places);
        let total: f64 = places.iter().map(|&i| (exact[i] - top).exp()).sum();
        for &i in &places {
            weights[i] = if top == f64::NEG_INFINITY { 0.0 } else { (exact[i] - top).exp() / total };
        }
        log_sums[at] = if top == f64::NEG_INFINITY { top } else { top + total.ln() };
        sums[at] = places.iter().map(|&i| exact[i]).sum();
        if let Some(&place) = places.iter().find(|&&i| exact[i] == top) {
            (tops[at], top_places[at]) = (top, place / cols);
        }
    });

    let mut y = x.clone();
    segment::softmax_forward(&offsets, cols, &mut y);
    assert_close("softmax", &y, &weights);
    let (mut l, mut s, mut m) = (T::zeros(items), T::zeros(items), T::zeros(items));
    segment::log_sum_exp_forward(&offsets, cols, &x, &mut l);
    assert_close("log_sum_exp", &l, &log_sums);
    segment::sum_forward(&offsets, cols, &x, &mut s);
    if size == 1.0 {
        assert_close("sum", &s, &sums);
    }
    let mut rows = vec![0; items];
    segment::max_forward(&offsets, cols, &x, &mut m, &mut rows);
    assert_close("max", &m, &tops);
    assert_eq!(rows, top_places);

    // Backward passes add to what is there.
    let before = numbers::<T>(seed + 1, x.len());
    let (dy, d_item) = (numbers::<T>(seed + 2, x.len()), numbers::<T>(seed + 3, items));
    let (dy64, d_item64) = (as_f64(&dy), as_f64(&d_item));
    let (mut d_softmax, mut d_log, mut d_sum) = (as_f64(&before), as_f64(&before), as_f64(&before));
    each(&offsets, cols, |at, places| {
        let inner: f64 = places.iter().map(|&i| weights[i] * dy64[i]).sum();
        for &i in &places {
            d_softmax[i] += weights[i] * (dy64[i] - inner);
            // The slope of a log-sum-exp is the softmax.
            d_log[i] += d_item64[at] * weights[i];
            d_sum[i] += d_item64[at];
        }
    });
    let mut dx = before.clone();
    segment::softmax_backward(&offsets, cols, &y, &dy, &mut dx);
    assert_close("softmax backward", &dx, &d_softmax);
    let mut dx = before.clone();
    segment::log_sum_exp_backward(&offsets, cols, &x, &l, &d_item, &mut dx);
    assert_close("log_sum_exp backward", &dx, &d_log);
    let mut dx = before;
    segment::broadcast_add(&offsets, cols, &d_item, &mut dx);
    assert_close("sum backward", &dx, &d_sum);
}

proptest! {
    #[test]
    fn segments_are_plain_loops(lengths in lengths(), cols in 0usize..4, seed in 0u64..1000, forbidden in 0u64..11) {
        check::<f64>(&lengths, cols, seed, 1.0, forbidden);
        check::<f32>(&lengths, cols, seed, 1.0, forbidden);
    }

    /// Scores so large that any exponential of them overflows. Between them lie gaps that no exponential survives, so the weights are exactly 0 or 1 but
    /// for ties, in either type.
    #[test]
    fn scores_of_any_size(lengths in lengths(), cols in 1usize..3, seed in 0u64..1000, forbidden in 0u64..11) {
        check::<f64>(&lengths, cols, seed, 1e30, forbidden);
        check::<f32>(&lengths, cols, seed, 1e30, forbidden);
    }
}

#[test]
fn nothing_allowed_gives_zeros() {
    let mut scores = [f32::NEG_INFINITY; 5];
    segment::softmax_forward(&[0, 0, 2, 5], 1, &mut scores);
    assert_eq!(scores, [0.0; 5]);
    let mut sums = [0.0f32; 3];
    segment::log_sum_exp_forward(&[0, 0, 2, 5], 1, &[f32::NEG_INFINITY; 5], &mut sums);
    assert_eq!(sums, [f32::NEG_INFINITY; 3]);
    let mut dx = [0.0f32; 5];
    segment::log_sum_exp_backward(&[0, 0, 2, 5], 1, &[f32::NEG_INFINITY; 5], &sums, &[1.0; 3], &mut dx);
    assert_eq!(dx, [0.0; 5]);
}

/// A NaN among the scores of a segment makes all its weights NaN, even if it is alone or among forbidden ones; other segments and columns know nothing of it.
#[test]
fn a_nan_is_seen_in_its_own_segment_and_column() {
    let (lost, none) = (f32::NAN, f32::NEG_INFINITY);
    for scores in [[lost, lost], [lost, none], [none, lost], [1.0, lost], [lost, 1.0]] {
        let mut y = [scores[0], 1.0, scores[1], 1.0, 0.0, 0.0];
        segment::softmax_forward(&[0, 2, 3], 2, &mut y);
        assert!(y[0].is_nan() && y[2].is_nan(), "{scores:?}: {y:?}");
        assert_eq!([y[1], y[3], y[4], y[5]], [0.5, 0.5, 1.0, 1.0]);
        let mut sums = [0.0; 4];
        segment::log_sum_exp_forward(&[0, 2, 3], 2, &[scores[0], 1.0, scores[1], 1.0, 0.0, 0.0], &mut sums);
        assert!(sums[0].is_nan() && sums[1..].iter().all(|s| s.is_finite()), "{scores:?}: {sums:?}");
        let mut rows = [scores[0], scores[1], 1.0, 1.0];
        segment::row_softmax_forward(2, &mut rows);
        assert!(rows[0].is_nan() && rows[1].is_nan() && rows[2..] == [0.5, 0.5], "{rows:?}");
        let mut rows = [scores[0], scores[1], 1.0, 1.0];
        segment::row_log_softmax_forward(2, &mut rows);
        assert!(rows[..2].iter().any(|x| x.is_nan()) && (rows[2] + 2f32.ln()).abs() < 1e-6, "{rows:?}");
    }
}

/// Over the columns of a row it is the same softmax as over a segment of one column.
#[test]
fn rows_are_segments_lying_down() {
    let x = numbers::<f64>(3, 12);
    let offsets = [0, 4, 8, 12];
    let (mut rows, mut columns) = (x.clone(), x.clone());
    segment::row_softmax_forward(4, &mut rows);
    segment::softmax_forward(&offsets, 1, &mut columns);
    assert_eq!(rows, columns);
    let mut logs = x.clone();
    segment::row_log_softmax_forward(4, &mut logs);
    assert_close("log", &logs.iter().map(|x| x.exp()).collect::<Vec<f64>>(), &rows);
    let dy = numbers::<f64>(5, 12);
    let (mut by_row, mut by_column) = (vec![0.0; 12], vec![0.0; 12]);
    segment::row_softmax_backward(4, &rows, &dy, &mut by_row);
    segment::softmax_backward(&offsets, 1, &columns, &dy, &mut by_column);
    assert_close("backward", &by_row, &by_column);
    // A row that may be nothing.
    let mut nothing = [f64::NEG_INFINITY; 2];
    segment::row_log_softmax_forward(2, &mut nothing);
    assert_eq!(nothing, [f64::NEG_INFINITY; 2]);
}
