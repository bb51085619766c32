//! Softmax, log-sum-exp and sums over a dynamic axis.
//!
//! `offsets` cuts the rows of a table into segments: segment `b` is the rows `offsets[b]..offsets[b + 1]`. Each column is on its own. An empty
//! segment has no weights, the sum 0 and the log-sum-exp −∞. A table without columns is a table too, hence the `cols.max(1)`: its chunks are
//! those of an empty slice.

use crate::Float;

/// The rows of each segment as ranges of numbers in a table of `cols` columns.
fn ranges(offsets: &[usize], cols: usize) -> impl Iterator<Item = std::ops::Range<usize>> + '_ {
    offsets.windows(2).map(move |w| w[0] * cols..w[1] * cols)
}

simd! {
    /// Turns the scores of one segment into weights, in place.
    ///
    /// A score of −∞ is a position that is not allowed; a segment with no allowed position gets zeros. One NaN among the scores makes all weights NaN.
    pub fn softmax_one<T>(scores: &mut [T]) {
        let mut largest = T::NEG_INFINITY;
        for &s in scores.iter() {
            largest = T::max(s, largest);
        }
        if largest == T::NEG_INFINITY {
            // A NaN is never the largest.
            let lost = scores.iter().copied().find(|s| s.is_nan());
            scores.fill(lost.unwrap_or(T::ZERO));
            return;
        }
        let mut total = T::ZERO;
        for s in scores.iter_mut() {
            *s = (*s - largest).exp_nonpositive::<FMA>();
        }
        for &s in scores.iter() {
            total += s;
        }
        let scale = T::ONE / total;
        for s in scores.iter_mut() {
            *s *= scale;
        }
    }
}

/// Softmax over each segment, column by column, in place. See [`softmax_one`] for −∞ and NaN.
pub fn softmax_forward<T: Float>(offsets: &[usize], cols: usize, y: &mut [T]) {
    let mut column = Vec::new();
    for range in ranges(offsets, cols) {
        let y = &mut y[range];
        if cols == 1 {
            softmax_one(y);
            continue;
        }
        for c in 0..cols {
            column.clear();
            column.extend(y[c.min(y.len())..].iter().step_by(cols));
            softmax_one(&mut column);
            for (y, &w) in y.iter_mut().skip(c).step_by(cols).zip(&column) {
                *y = w;
            }
        }
    }
}

/// `dx += y (dy - Σ y dy)`
pub fn softmax_backward<T: Float>(offsets: &[usize], cols: usize, y: &[T], dy: &[T], dx: &mut [T]) {
    let mut inner = vec![T::ZERO; cols];
    for range in ranges(offsets, cols) {
        inner.fill(T::ZERO);
        let (y, dy, dx) = (&y[range.clone()], &dy[range.clone()], &mut dx[range]);
        for (y, dy) in y.chunks_exact(cols.max(1)).zip(dy.chunks_exact(cols.max(1))) {
            for ((inner, &y), &dy) in inner.iter_mut().zip(y).zip(dy) {
                *inner += y * dy;
            }
        }
        for ((y, dy), dx) in y.chunks_exact(cols.max(1)).zip(dy.chunks_exact(cols.max(1))).zip(dx.chunks_exact_mut(cols.max(1))) {
            for (((dx, &y), &dy), &inner) in dx.iter_mut().zip(y).zip(dy).zip(&inner) {
                *dx += y * (dy - inner);
            }
        }
    }
}

/// `y[b] = ln Σ e^x` over each segment; NaN if one of them is.
pub fn log_sum_exp_forward<T: Float>(offsets: &[usize], cols: usize, x: &[T], y: &mut [T]) {
    let mut largest = vec![T::NEG_INFINITY; cols];
    for (range, y) in ranges(offsets, cols).zip(y.chunks_exact_mut(cols.max(1))) {
        largest.fill(T::NEG_INFINITY);
        y.fill(T::ZERO);
        for row in x[range.clone()].chunks_exact(cols.max(1)) {
            for (l, &x) in largest.iter_mut().zip(row) {
                *l = T::max(x, *l);
            }
        }
        for row in x[range].chunks_exact(cols.max(1)) {
            for ((y, &l), &x) in y.iter_mut().zip(&largest).zip(row) {
                if l > T::NEG_INFINITY {
                    *y += (x - l).exp();
                } else if x.is_nan() {
                    *y = x;
                }
            }
        }
        for (y, &l) in y.iter_mut().zip(&largest) {
            *y = if l > T::NEG_INFINITY {
                y.ln() + l
            } else if y.is_nan() {
                *y
            } else {
                l
            };
        }
    }
}

/// `dx += dy e^(x - y)`
pub fn log_sum_exp_backward<T: Float>(offsets: &[usize], cols: usize, x: &[T], y: &[T], dy: &[T], dx: &mut [T]) {
    for (b, range) in ranges(offsets, cols).enumerate() {
        let (y, dy) = (&y[b * cols..(b + 1) * cols], &dy[b * cols..(b + 1) * cols]);
        for (x, dx) in x[range.clone()].chunks_exact(cols.max(1)).zip(dx[range].chunks_exact_mut(cols.max(1))) {
            for c in 0..cols {
                if y[c] > T::NEG_INFINITY {
                    dx[c] += dy[c] * (x[c] - y[c]).exp();
                }
            }
        }
    }
}

/// `y[b] = Σ x` over each segment.
pub fn sum_forward<T: Float>(offsets: &[usize], cols: usize, x: &[T], y: &mut [T]) {
    for (range, y) in ranges(offsets, cols).zip(y.chunks_exact_mut(cols.max(1))) {
        y.fill(T::ZERO);
        crate::map::add_rows(&x[range], y);
    }
}

/// `y[row] += x[b]` for every row of segment `b`: the backward pass of a sum, and the forward pass of a broadcast into zeros.
pub fn broadcast_add<T: Float>(offsets: &[usize], cols: usize, x: &[T], y: &mut [T]) {
    for (range, x) in ranges(offsets, cols).zip(x.chunks_exact(cols.max(1))) {
        for row in y[range].chunks_exact_mut(cols.max(1)) {
            crate::map::add_assign(row, x);
        }
    }
}

/// The largest of each column of each segment, and the row it stands in (the first, if several); `usize::MAX` for an empty segment.
pub fn max_forward<T: Float>(offsets: &[usize], cols: usize, x: &[T], y: &mut [T], rows: &mut [usize]) {
    for (b, w) in offsets.windows(2).enumerate() {
        let (y, rows) = (&mut y[b * cols..(b + 1) * cols], &mut rows[b * cols..(b + 1) * cols]);
        rows.fill(usize::MAX);
        for row in w[0]..w[1] {
            for (c, &x) in x[row * cols..(row + 1) * cols].iter().enumerate() {
                if rows[c] == usize::MAX || x > y[c] {
                    (y[c], rows[c]) = (x, row);
                }
            }
        }
    }
}

/// Softmax over the columns of each row, in place: a head over labels, or a distribution over units. See [`softmax_one`] for −∞ and NaN.
pub fn row_softmax_forward<T: Float>(cols: usize, y: &mut [T]) {
    y.chunks_exact_mut(cols.max(1)).for_each(softmax_one);
}

/// `dx += y (dy - Σ y dy)`, row by row.
pub fn row_softmax_backward<T: Float>(cols: usize, y: &[T], dy: &[T], dx: &mut [T]) {
    for ((y, dy), dx) in y.chunks_exact(cols.max(1)).zip(dy.chunks_exact(cols.max(1))).zip(dx.chunks_exact_mut(cols.max(1))) {
        let inner = crate::map::dot(y, dy);
        for ((dx, &y), &dy) in dx.iter_mut().zip(y).zip(dy) {
            *dx += y * (dy - inner);
        }
    }
}

/// `y = x - ln Σ e^x` over the columns of each row, in place. A row of nothing but −∞ stays as it is.
pub fn row_log_softmax_forward<T: Float>(cols: usize, y: &mut [T]) {
    for row in y.chunks_exact_mut(cols.max(1)) {
        let mut total = [T::ZERO];
        log_sum_exp_forward(&[0, row.len()], 1, row, &mut total);
        if total[0] != T::NEG_INFINITY {
            row.iter_mut().for_each(|x| *x -= total[0]);
        }
    }
}

/// `dx += dy - e^y Σ dy`, row by row.
pub fn row_log_softmax_backward<T: Float>(cols: usize, y: &[T], dy: &[T], dx: &mut [T]) {
    for ((y, dy), dx) in y.chunks_exact(cols.max(1)).zip(dy.chunks_exact(cols.max(1))).zip(dx.chunks_exact_mut(cols.max(1))) {
        let total: T = dy.iter().copied().sum();
        for ((dx, &y), &dy) in dx.iter_mut().zip(y).zip(dy) {
            *dx += dy - y.exp() * total;
        }
    }
}
