//! Weights of one query as one row.
//!
//! What a decoder carries from step to step is a table with a row for each sequence. Weights have as many numbers as the sequence has positions, so here, and only
//! here, a row is as wide as the longest memory and ends in zeros.

use spotlight_kernels::Float;

use crate::Result;
use crate::axis::Pairs;
use crate::tape::{Tape, Var};

/// The number of each pair in the row of its query, at the place of its key.
pub(crate) fn to_rows<T: Float>(tape: &Tape<T>, column: Var, pairs: &Pairs) -> Result<Var> {
    let width = pairs.keys().steps();
    tape.expect_shape("weights as rows", column, (pairs.axis().rows(), 1))?;
    let mut rows = T::zeros(pairs.queries() * width);
    copy(pairs, width, &tape.value(column), &mut rows, |row, pair| (row, pair));
    let kept = pairs.clone();
    Ok(tape.push(rows, pairs.queries(), width, None, &[column], |_| {
        Box::new(move |back, dy| {
            let mut d = T::zeros(kept.axis().rows());
            copy(&kept, width, dy, &mut d, |row, pair| (pair, row));
            back.grads.add(column, &d);
        })
    }))
}

/// The reverse of [`to_rows`].
pub(crate) fn to_pairs<T: Float>(tape: &Tape<T>, rows: Var, pairs: &Pairs) -> Result<Var> {
    let width = pairs.keys().steps();
    tape.expect_shape("rows as weights", rows, (pairs.queries(), width))?;
    let mut column = T::zeros(pairs.axis().rows());
    copy(pairs, width, &tape.value(rows), &mut column, |row, pair| (pair, row));
    let kept = pairs.clone();
    Ok(tape.push(column, pairs.axis().rows(), 1, Some(pairs.axis().clone()), &[rows], |_| {
        Box::new(move |back, dy| {
            let mut d = T::zeros(kept.queries() * width);
            copy(&kept, width, dy, &mut d, |row, pair| (row, pair));
            back.grads.add(rows, &d);
        })
    }))
}

/// Copies for every pair; `direction` tells from the places (in the rows, among the pairs) which is written and which is read.
fn copy<T: Float>(pairs: &Pairs, width: usize, from: &[T], to: &mut [T], direction: impl Fn(usize, usize) -> (usize, usize)) {
    for (query, span) in pairs.spans().iter().enumerate() {
        for j in 0..span.count {
            let (write, read) = direction(query * width + j, span.pair + j);
            to[write] = from[read];
        }
    }
}
