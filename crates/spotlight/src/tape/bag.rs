//! Bags of table rows: the weighted sum of some rows of a table for each row that comes out.

use spotlight_kernels::{Float, map};

use super::{Tape, Var};
use crate::params::ParamId;
use crate::{Error, Result};

/// Some rows of a table, each with a weight.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Bags<T> {
    /// Numbers of the rows, bag after bag.
    pub ids: Vec<u32>,
    /// Their weights.
    pub weights: Vec<T>,
    /// Where each bag begins, and at the end the number of all rows in bags.
    pub offsets: Vec<usize>,
}

impl<T> Bags<T> {
    /// Bags.
    pub fn len(&self) -> usize {
        self.offsets.len().saturating_sub(1)
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<'p, T: Float> Tape<'p, T> {
    /// `Σ_j w_j table[id_j]` over the rows of each bag: one row per bag, zeros for an empty one. The gradient touches only the rows used.
    pub fn embedding_bag(&self, table: ParamId, bags: Bags<T>) -> Result<Var> {
        let table = self.param(table);
        let (len, cols) = self.shape(table);
        if let Some(&index) = bags.ids.iter().find(|&&id| id as usize >= len) {
            return Err(Error::Index { op: "embedding_bag", index: index as usize, len });
        }
        let rows = bags.len();
        let whole =
            bags.offsets.is_sorted() && bags.offsets.last().copied().unwrap_or(0) == bags.ids.len() && bags.weights.len() == bags.ids.len();
        if !whole {
            return Err(Error::Shape {
                op: "embedding_bag",
                expected: "a weight for every row, and bags one after the other".into(),
                got: (rows, bags.ids.len()),
            });
        }
        let mut value = self.buffer(rows * cols);
        value.fill(T::ZERO);
        {
            let numbers = self.value(table);
            for (to, range) in value.chunks_exact_mut(cols.max(1)).zip(bags.offsets.windows(2)) {
                for j in range[0]..range[1] {
                    map::axpy(bags.weights[j], &numbers[bags.ids[j] as usize * cols..][..cols], to);
                }
            }
        }
        Ok(self.push(value, rows, cols, None, &[table], |_| {
            Box::new(move |back, dy| {
                let mut parts = back.grads.buffer(bags.ids.len() * cols);
                let mut to = parts.chunks_exact_mut(cols.max(1));
                for (dy, range) in dy.chunks_exact(cols.max(1)).zip(bags.offsets.windows(2)) {
                    for (&weight, to) in bags.weights[range[0]..range[1]].iter().zip(to.by_ref()) {
                        to.iter_mut().zip(dy).for_each(|(to, &dy)| *to = weight * dy);
                    }
                }
                back.grads.add_rows(table, &bags.ids, cols, &parts);
                back.grads.recycle(parts);
            })
        }))
    }
}
