//! Operations along a dynamic axis: from positions to items, from items to positions, and between positions.

use std::sync::Arc;

use spotlight_kernels::{Float, map, segment};

use super::{Tape, Var};
use crate::axis::Axis;
use crate::{Error, Result};

impl<'p, T: Float> Tape<'p, T> {
    /// Softmax over each sequence, column by column. A score of −∞ gets the weight 0; a sequence of nothing else gets zeros. A NaN
    /// makes all weights of its sequence NaN.
    pub fn softmax(&self, x: Var) -> Result<Var> {
        let axis = self.need_axis("softmax", x)?;
        let (rows, cols) = self.shape(x);
        let mut value = self.copy_of(x);
        segment::softmax_forward(axis.offsets(), cols, &mut value);
        Ok(self.push(value, rows, cols, Some(axis.clone()), &[x], |y| {
            Box::new(move |back, dy| {
                segment::softmax_backward(axis.offsets(), cols, back.values.get(y), dy, back.grads.of(x));
            })
        }))
    }

    /// `ln Σ e^x` of each sequence: one row per item; −∞ for an empty one.
    pub fn log_sum_exp(&self, x: Var) -> Result<Var> {
        let axis = self.need_axis("log_sum_exp", x)?;
        let cols = self.shape(x).1;
        let mut value = self.buffer(axis.items() * cols);
        segment::log_sum_exp_forward(axis.offsets(), cols, &self.value(x), &mut value);
        Ok(self.push(value, axis.items(), cols, None, &[x], |y| {
            Box::new(move |back, dy| {
                let (xs, ys) = (back.values.get(x), back.values.get(y));
                segment::log_sum_exp_backward(axis.offsets(), cols, xs, ys, dy, back.grads.of(x));
            })
        }))
    }

    /// The sum of each sequence: one row per item; 0 for an empty one.
    pub fn sum(&self, x: Var) -> Result<Var> {
        let axis = self.need_axis("sum", x)?;
        let cols = self.shape(x).1;
        let mut value = self.buffer(axis.items() * cols);
        segment::sum_forward(axis.offsets(), cols, &self.value(x), &mut value);
        Ok(self.push(value, axis.items(), cols, None, &[x], |_| {
            Box::new(move |back, dy| segment::broadcast_add(axis.offsets(), cols, dy, back.grads.of(x)))
        }))
    }

    /// The mean of each sequence: one row per item; 0 for an empty one.
    pub fn mean(&self, x: Var) -> Result<Var> {
        let axis = self.need_axis("mean", x)?;
        let shares = axis.lengths().iter().map(|&n| T::from_f64(1.0 / n.max(1) as f64)).collect();
        self.mul(self.sum(x)?, self.table(axis.items(), 1, shares)?)
    }

    /// The largest number of each column of each sequence: one row per item; 0 for an empty one. The gradient goes to the first of equal ones.
    pub fn max(&self, x: Var) -> Result<Var> {
        let axis = self.need_axis("max", x)?;
        let cols = self.shape(x).1;
        let mut value = T::zeros(axis.items() * cols);
        let mut rows = vec![usize::MAX; axis.items() * cols];
        segment::max_forward(axis.offsets(), cols, &self.value(x), &mut value, &mut rows);
        Ok(self.push(value, axis.items(), cols, None, &[x], |_| {
            Box::new(move |back, dy| {
                let dx = back.grads.of(x);
                for (i, (&row, &dy)) in rows.iter().zip(dy).enumerate() {
                    if row != usize::MAX {
                        dx[row * cols + i % cols] += dy;
                    }
                }
            })
        }))
    }

    /// Rows by number, in any order and as often as wanted; `None` gives a row of zeros. The result is on `axis`.
    fn pick(&self, op: &'static str, x: Var, index: Vec<Option<usize>>, axis: Option<Axis>) -> Result<Var> {
        let (rows, cols) = self.shape(x);
        if let Some(&index) = index.iter().flatten().find(|&&i| i >= rows) {
            return Err(Error::Index { op, index, len: rows });
        }
        let mut value = self.buffer(index.len() * cols);
        {
            let from = self.value(x);
            for (to, &i) in value.chunks_exact_mut(cols.max(1)).zip(&index) {
                match i {
                    Some(i) => to.copy_from_slice(&from[i * cols..(i + 1) * cols]),
                    None => to.fill(T::ZERO),
                }
            }
        }
        let count = index.len();
        Ok(self.push(value, count, cols, axis, &[x], |_| {
            Box::new(move |back, dy| {
                let dx = back.grads.of(x);
                for (dy, i) in dy.chunks_exact(cols.max(1)).zip(index) {
                    if let Some(i) = i {
                        map::add_assign(&mut dx[i * cols..(i + 1) * cols], dy);
                    }
                }
            })
        }))
    }

    /// Rows by number, in any order and as often as wanted. The result is on no axis; give it one with [`Tape::on_axis`].
    pub fn gather(&self, x: Var, rows: &[usize]) -> Result<Var> {
        self.pick("gather", x, rows.iter().copied().map(Some).collect(), None)
    }

    /// The other way round: a table of `count` rows, to whose row `rows[i]` the row `i` of `x` is added. Rows that are not named are zeros; those named several
    /// times are sums. The result is on no axis.
    ///
    /// So the weights of the places where a unit stands become the weight of the unit.
    pub fn scatter_add(&self, x: Var, rows: &[usize], count: usize) -> Result<Var> {
        let (given, cols) = self.shape(x);
        if rows.len() != given {
            return Err(Error::Shape { op: "scatter_add", expected: format!("{} rows, one per index", rows.len()), got: (given, cols) });
        }
        if let Some(&index) = rows.iter().find(|&&row| row >= count) {
            return Err(Error::Index { op: "scatter_add", index, len: count });
        }
        let mut value = T::zeros(count * cols);
        for (from, &row) in self.value(x).chunks_exact(cols.max(1)).zip(rows) {
            map::add_assign(&mut value[row * cols..(row + 1) * cols], from);
        }
        let rows = rows.to_vec();
        Ok(self.push(value, count, cols, None, &[x], |_| {
            Box::new(move |back, dy| {
                for (dx, row) in back.grads.of(x).chunks_exact_mut(cols.max(1)).zip(rows) {
                    map::add_assign(dx, &dy[row * cols..(row + 1) * cols]);
                }
            })
        }))
    }

    /// The rows for which `keep` is true, on an axis of what is left of each sequence.
    pub fn select_rows(&self, x: Var, keep: &[bool]) -> Result<Var> {
        let axis = self.need_axis("select_rows", x)?;
        if keep.len() != axis.rows() {
            return Err(Error::Shape { op: "select_rows", expected: format!("{} rows", keep.len()), got: self.shape(x) });
        }
        let lengths: Vec<usize> = (0..axis.items()).map(|i| keep[axis.range(i)].iter().filter(|&&k| k).count()).collect();
        let index = (0..keep.len()).filter(|&row| keep[row]).map(Some).collect();
        self.pick("select_rows", x, index, Some(Axis::new(lengths)))
    }

    /// The first row of each sequence: one row per item; zeros for an empty one.
    pub fn first(&self, x: Var) -> Result<Var> {
        let axis = self.need_axis("first", x)?;
        let index = (0..axis.items()).map(|i| axis.range(i).next()).collect();
        self.pick("first", x, index, None)
    }

    /// The last row of each sequence: one row per item; zeros for an empty one.
    pub fn last(&self, x: Var) -> Result<Var> {
        let axis = self.need_axis("last", x)?;
        let index = (0..axis.items()).map(|i| axis.range(i).next_back()).collect();
        self.pick("last", x, index, None)
    }

    /// 1 at the first position of each sequence, else 0: one column on the axis of `x`.
    pub fn is_first(&self, x: Var) -> Result<Var> {
        let axis = self.need_axis("is_first", x)?;
        let mut marks = T::zeros(axis.rows());
        for item in 0..axis.items() {
            if let Some(row) = axis.range(item).next() {
                marks[row] = T::ONE;
            }
        }
        self.on_axis(self.table(axis.rows(), 1, marks)?, &axis)
    }

    /// Each position gets the row before it; the first position of a sequence gets its item's row of `initial` (one row per item, or one for all).
    pub fn previous(&self, x: Var, initial: Var) -> Result<Var> {
        self.neighbour("previous", x, initial, false)
    }

    /// Each position gets the row after it; the last position of a sequence gets its item's row of `initial`.
    pub fn next(&self, x: Var, initial: Var) -> Result<Var> {
        self.neighbour("next", x, initial, true)
    }

    fn neighbour(&self, op: &'static str, x: Var, initial: Var, after: bool) -> Result<Var> {
        let axis = self.need_axis(op, x)?;
        let (rows, cols) = self.shape(x);
        let given = self.shape(initial);
        if given.1 != cols || (given.0 != 1 && given.0 != axis.items()) {
            return Err(Error::Shapes { op, left: (rows, cols), right: given });
        }
        // Rows of `x` with those of `initial` below them, then one choice of rows.
        let stacked = self.stack(&[x, initial])?;
        let mut index = Vec::with_capacity(rows);
        for item in 0..axis.items() {
            let start = rows + if given.0 == 1 { 0 } else { item };
            let range = axis.range(item);
            for row in range.clone() {
                let edge = if after { row + 1 == range.end } else { row == range.start };
                index.push(Some(match (edge, after) {
                    (true, _) => start,
                    (false, true) => row + 1,
                    (false, false) => row - 1,
                }));
            }
        }
        self.pick(op, stacked, index, Some(axis))
    }

    /// Each sequence from its end to its beginning.
    pub fn reverse(&self, x: Var) -> Result<Var> {
        let axis = self.need_axis("reverse", x)?;
        let index = (0..axis.items()).flat_map(|i| axis.range(i).rev()).map(Some).collect();
        self.pick("reverse", x, index, Some(axis))
    }

    /// One row per item, given to every position of the item on the axis of `like`.
    pub fn broadcast_as(&self, x: Var, like: Var) -> Result<Var> {
        let axis = self.need_axis("broadcast_as", like)?;
        self.broadcast(x, &axis)
    }

    /// One row per item, given to every position of the item.
    pub fn broadcast(&self, x: Var, axis: &Axis) -> Result<Var> {
        let shape = self.shape(x);
        if shape.0 != axis.items() {
            return Err(Error::Shape { op: "broadcast", expected: format!("{} rows, one for each item", axis.items()), got: shape });
        }
        self.pick("broadcast", x, axis.item_of_rows().into_iter().map(Some).collect(), Some(axis.clone()))
    }

    /// The rows of several tables below one another.
    pub fn stack(&self, parts: &[Var]) -> Result<Var> {
        let cols = parts.first().map_or(0, |&p| self.shape(p).1);
        let mut counts = Vec::with_capacity(parts.len());
        for &part in parts {
            let shape = self.shape(part);
            if shape.1 != cols {
                return Err(Error::Shapes { op: "stack", left: self.shape(parts[0]), right: shape });
            }
            counts.push(shape.0);
        }
        let rows: usize = counts.iter().sum();
        let mut value = self.buffer(rows * cols);
        let mut at = 0;
        for &part in parts {
            let part = self.value(part);
            value[at..at + part.len()].copy_from_slice(&part);
            at += part.len();
        }
        let parts: Arc<[Var]> = parts.into();
        let kept = parts.clone();
        Ok(self.push(value, rows, cols, None, &parts, |_| {
            Box::new(move |back, dy| {
                let mut at = 0;
                for (&part, count) in kept.iter().zip(counts) {
                    back.grads.add(part, &dy[at..at + count * cols]);
                    at += count * cols;
                }
            })
        }))
    }

    /// The rows `from..from + count`, on no axis.
    pub fn rows(&self, x: Var, from: usize, count: usize) -> Result<Var> {
        let (rows, cols) = self.shape(x);
        if from.saturating_add(count) > rows {
            return Err(Error::Index { op: "rows", index: from.saturating_add(count), len: rows });
        }
        if count == rows && self.axis(x).is_none() {
            return Ok(x);
        }
        let mut value = self.buffer(count * cols);
        value.copy_from_slice(&self.value(x)[from * cols..(from + count) * cols]);
        Ok(self.push(value, count, cols, None, &[x], |_| {
            Box::new(move |back, dy| map::add_assign(&mut back.grads.of(x)[from * cols..(from + count) * cols], dy))
        }))
    }
}
