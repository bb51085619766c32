//! Dot-product attention that never builds its weights, as one node on the tape.
//!
//! `softmax(scale Q Kᵀ) V` for several heads side by side (Vaswani et al., 2017, equation 1), computed block by block with a running log-sum-exp, so that
//! memory grows with the length and not with its square. How it is done stands in [`spotlight_kernels::streaming`]. It gives what scores, softmax and
//! mix give one after the other; choose it when nobody looks at the weights, or only at those of a few queries ([`streaming_weights`]).

use spotlight_kernels::streaming::{self, Gradients, KEPT, Layout, Tables};
use spotlight_kernels::{Float, map, segment};

use crate::axis::Axis;
use crate::tape::{Tape, Var};
use crate::{Error, Result};

/// Attention of every sequence of `queries` to its own sequence of `keys` and `values`.
///
/// Rows of queries and keys are `heads` vectors side by side, rows of values likewise (their vectors may have another size); so are the rows of the result,
/// which is on the axis of the queries. If `causal`, the query `i` of a sequence sees its keys `0..=i`, as in PyTorch's `scaled_dot_product_attention`, also where
/// there are more or fewer keys than queries. A query without keys gets zeros.
///
/// ```
/// use spotlight::attention::streaming_attention;
/// use spotlight::axis::Axis;
/// use spotlight::params::Params;
/// use spotlight::tape::Tape;
///
/// let params = Params::<f64>::new(0);
/// let tape = Tape::new(&params);
/// let (questions, memory) = (Axis::new([1, 1]), Axis::new([2, 0]));
/// let queries = tape.on_axis(tape.table(2, 1, vec![0.0, 7.0])?, &questions)?;
/// let keys = tape.on_axis(tape.table(2, 1, vec![1.0, 2.0])?, &memory)?;
/// let context = streaming_attention(&tape, queries, keys, keys, 1, 1.0, false)?;
/// // The first query has no preference; the second has nothing to look at.
/// assert_eq!(tape.to_vec(context), [1.5, 0.0]);
/// # Ok::<(), spotlight::Error>(())
/// ```
pub fn streaming_attention<T: Float>(
    tape: &Tape<T>,
    queries: Var,
    keys: Var,
    values: Var,
    heads: usize,
    scale: f64,
    causal: bool,
) -> Result<Var> {
    let op = "streaming attention";
    let shape = Shape::new(tape, op, queries, keys, heads, scale, causal)?;
    let (key_rows, value_cols) = (tape.shape(keys).0, tape.shape(values).1);
    let value_size = shape.per_head(op, tape, values)?;
    tape.expect_shape("streaming attention (values)", values, (key_rows, value_cols))?;
    tape.common_axis("streaming attention (keys, values)", keys, values)?;

    let rows = shape.queries.rows();
    let mut context = tape.buffer(rows * value_cols);
    let mut kept = tape.buffer(rows * heads * KEPT);
    {
        let (queries, keys, values) = (tape.value(queries), tape.value(keys), tape.value(values));
        let tables = Tables { queries: &queries, keys: &keys, values: &values };
        streaming::forward(shape.layout(value_size), tables, &mut context, &mut kept);
    }
    let axis = Some(shape.queries.clone());
    Ok(tape.push(context, rows, value_cols, axis, &[queries, keys, values], |context| {
        Box::new(move |back, dy| {
            let tables = Tables { queries: back.values.get(queries), keys: back.values.get(keys), values: back.values.get(values) };
            // The same value may stand in several places, so each place has a gradient of its own until the end.
            let mut d_queries = back.grads.zeros(tables.queries.len());
            let mut d_keys = back.grads.zeros(tables.keys.len());
            let mut d_values = back.grads.zeros(tables.values.len());
            let to = Gradients { queries: &mut d_queries, keys: &mut d_keys, values: &mut d_values };
            let layout = shape.layout(value_size);
            let mut room = back.grads.buffer(streaming::workspace(layout));
            streaming::backward(layout, tables, back.values.get(context), &kept, dy, to, &mut room);
            back.grads.put(queries, d_queries);
            back.grads.put(keys, d_keys);
            back.grads.put(values, d_values);
            back.grads.recycle(kept);
            back.grads.recycle(room);
        })
    }))
}

/// The weights that [`streaming_attention`] never built, for some of the queries.
///
/// For each of `rows` (rows of the table of queries): the weights over all keys of its sequence, key after key, `heads` numbers for each. A key that a causal
/// query may not see has the weight 0.
pub fn streaming_weights<T: Float>(
    tape: &Tape<T>,
    queries: Var,
    keys: Var,
    heads: usize,
    scale: f64,
    causal: bool,
    rows: &[usize],
) -> Result<Vec<Vec<T>>> {
    let op = "streaming weights";
    let shape = Shape::new(tape, op, queries, keys, heads, scale, causal)?;
    let (queries, keys) = (tape.value(queries), tape.value(keys));
    let width = heads * shape.size;
    let weights_of = |&row: &usize| {
        if row >= shape.queries.rows() {
            return Err(Error::Index { op, index: row, len: shape.queries.rows() });
        }
        // The last sequence that begins at or before the row: the one it belongs to, since empty ones before it begin no later.
        let item = shape.queries.offsets().partition_point(|&first| first <= row) - 1;
        let seen = if causal { row - shape.queries.offsets()[item] + 1 } else { usize::MAX };
        let range = shape.keys.range(item);
        let mut weights = T::zeros(range.len() * heads);
        for head in 0..heads {
            let part = |row: usize| row * width + head * shape.size..row * width + (head + 1) * shape.size;
            let query = &queries[part(row)];
            let mut scores: Vec<T> = range.clone().take(seen).map(|key| shape.scale * map::dot(query, &keys[part(key)])).collect();
            segment::softmax_one(&mut scores);
            for (to, score) in weights.iter_mut().skip(head).step_by(heads).zip(scores) {
                *to = score;
            }
        }
        Ok(weights)
    };
    rows.iter().map(weights_of).collect()
}

/// Checked sizes of one call.
struct Shape<T> {
    heads: usize,
    size: usize,
    scale: T,
    causal: bool,
    queries: Axis,
    keys: Axis,
}

impl<T: Float> Shape<T> {
    fn new(tape: &Tape<T>, op: &'static str, queries: Var, keys: Var, heads: usize, scale: f64, causal: bool) -> Result<Self> {
        let (query_axis, key_axis) = (tape.need_axis(op, queries)?, tape.need_axis(op, keys)?);
        if query_axis.items() != key_axis.items() {
            return Err(Error::Axes { op, left: query_axis.excerpt(), right: key_axis.excerpt() });
        }
        if tape.shape(queries).1 != tape.shape(keys).1 {
            return Err(Error::Shapes { op, left: tape.shape(queries), right: tape.shape(keys) });
        }
        let mut shape = Shape { heads, size: 0, scale: T::from_f64(scale), causal, queries: query_axis, keys: key_axis };
        shape.size = shape.per_head(op, tape, queries)?;
        Ok(shape)
    }

    /// Features of one head.
    fn per_head(&self, op: &'static str, tape: &Tape<T>, x: Var) -> Result<usize> {
        let (rows, cols) = tape.shape(x);
        if self.heads == 0 || cols == 0 || cols % self.heads != 0 {
            return Err(Error::Shape { op, expected: format!("columns for {} heads of the same size", self.heads), got: (rows, cols) });
        }
        Ok(cols / self.heads)
    }

    fn layout(&self, value_size: usize) -> Layout<'_, T> {
        Layout {
            heads: self.heads,
            size: self.size,
            value_size,
            scale: self.scale,
            causal: self.causal,
            queries: self.queries.offsets(),
            keys: self.keys.offsets(),
        }
    }
}
