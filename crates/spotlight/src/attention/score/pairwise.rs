//! What the scores are made of: products and hidden layers of all pairs as single nodes on the tape.

use spotlight_kernels::Float;
use spotlight_kernels::pairs::{self, Heads};

use crate::axis::Pairs;
use crate::tape::{Tape, Var};
use crate::{Error, Result};

/// Checks that `queries` has a row for every query, `keys` one for every key, and both the same width, cut evenly into heads.
fn widths<T: Float>(op: &'static str, tape: &Tape<T>, queries: Var, keys: Var, pairs: &Pairs, heads: usize) -> Result<Heads> {
    let (q, k) = (tape.shape(queries), tape.shape(keys));
    if q.0 != pairs.queries() {
        return Err(Error::Shape { op, expected: format!("{} rows, one per query", pairs.queries()), got: q });
    }
    if k.0 != pairs.keys().rows() {
        return Err(Error::Shape { op, expected: format!("{} rows, one per position of the memory", pairs.keys().rows()), got: k });
    }
    if q.1 != k.1 || q.1 == 0 || heads == 0 || !q.1.is_multiple_of(heads) {
        return Err(Error::Shapes { op, left: q, right: k });
    }
    Ok(Heads { heads, size: q.1 / heads })
}

/// `scale q . k` for every pair and head.
pub(crate) fn dot_pairs<T: Float>(tape: &Tape<T>, queries: Var, keys: Var, pairs: &Pairs, heads: usize, scale: f64) -> Result<Var> {
    let shape = widths("score (product)", tape, queries, keys, pairs, heads)?;
    let (rows, scale) = (pairs.axis().rows(), T::from_f64(scale));
    let mut scores = tape.buffer(rows * heads);
    pairs::dot_forward(pairs.spans(), shape, scale, &tape.value(queries), &tape.value(keys), &mut scores);
    let pairs = pairs.clone();
    Ok(tape.push(scores, rows, heads, Some(pairs.axis().clone()), &[queries, keys], |_| {
        Box::new(move |back, dy| {
            let (mut dq, mut dk) = (back.grads.take(queries), back.grads.take(keys));
            let (q, k) = (back.values.get(queries), back.values.get(keys));
            pairs::dot_backward(pairs.spans(), shape, scale, q, k, dy, &mut dq, &mut dk);
            back.grads.put(queries, dq);
            back.grads.put(keys, dk);
        })
    }))
}

/// `v . tanh(q + k + x)` for every pair, with `q` and `k` already projected to the alignment size. `x`, if given, has a row for each pair.
pub(crate) fn additive_pairs<T: Float>(tape: &Tape<T>, queries: Var, keys: Var, beside: Option<Var>, v: Var, pairs: &Pairs) -> Result<Var> {
    let shape = widths("score (additive)", tape, queries, keys, pairs, 1)?;
    tape.expect_shape("score (v)", v, (1, shape.size))?;
    let rows = pairs.axis().rows();
    let (mut hidden, mut scores) = (tape.buffer(rows * shape.size), tape.buffer(rows));
    match beside {
        Some(beside) => {
            tape.expect_shape("score (terms of the pairs)", beside, (rows, shape.size))?;
            hidden.copy_from_slice(&tape.value(beside));
            pairs::additive_hidden_beside(pairs.spans(), shape.size, &tape.value(queries), &tape.value(keys), &mut hidden);
        }
        None => pairs::additive_hidden(pairs.spans(), shape.size, &tape.value(queries), &tape.value(keys), &mut hidden),
    }
    pairs::weigh_forward(shape, &tape.value(v), &hidden, &mut scores);
    let pairs = pairs.clone();
    let parents: Vec<Var> = [queries, keys, v].into_iter().chain(beside).collect();
    Ok(tape.push(scores, rows, 1, Some(pairs.axis().clone()), &parents, |_| {
        Box::new(move |back, dy| {
            let (mut dq, mut dk, mut dv) = (back.grads.take(queries), back.grads.take(keys), back.grads.take(v));
            pairs::additive_backward(pairs.spans(), shape, back.values.get(v), &hidden, dy, &mut dq, &mut dk, &mut dv);
            if let Some(beside) = beside {
                let mut dx = back.grads.take(beside);
                pairs::additive_beside_backward(shape, back.values.get(v), &hidden, dy, &mut dx);
                back.grads.put(beside, dx);
            }
            for (var, gradient) in [(queries, dq), (keys, dk), (v, dv)] {
                back.grads.put(var, gradient);
            }
            back.grads.recycle(hidden);
        })
    }))
}

/// Each pair gets the row of its query.
pub(crate) fn of_queries<T: Float>(tape: &Tape<T>, queries: Var, pairs: &Pairs) -> Result<Var> {
    tape.broadcast(tape.off_axis(queries), pairs.axis())
}

/// Each pair gets the row of its key.
pub(crate) fn of_keys<T: Float>(tape: &Tape<T>, keys: Var, pairs: &Pairs) -> Result<Var> {
    let rows: Vec<usize> = pairs.spans().iter().flat_map(|span| span.first..span.first + span.count).collect();
    tape.on_axis(tape.gather(keys, &rows)?, pairs.axis())
}
