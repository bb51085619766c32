//! What the tape of a search has besides: weights made ready once, small tables taken through a weight as a whole, and logs that outlive a step.

use std::cell::RefCell;
use std::collections::HashMap;
use std::ops::Range;
use std::rc::Rc;
use std::sync::Arc;

use spotlight_kernels::Float;
use spotlight_kernels::attend;
use spotlight_kernels::bytes::{Bytes, product_bytes};
use spotlight_kernels::gemm::{Onto, Packed, View, product_packed};
use spotlight_kernels::pairs::Heads;

use super::{Part, Tape, Value, Var, fill_rows};
use crate::params::ParamId;
use crate::{Error, Result};

/// What was made once, by what it was made of.
type Cache<K, V> = RefCell<HashMap<K, Rc<V>>>;

/// What the tape of a search keeps, because the same layers come again and again.
pub(super) struct Searching<T> {
    /// Hypotheses that meet one source.
    width: usize,
    /// Whether weights of linear layers are bytes.
    in_bytes: bool,
    /// Small tables of vectors, all taken through columns of a weight: by table, weight and first column.
    projected: Cache<(Var, Var, usize), Vec<T>>,
    /// Tables that only grow, by number.
    logs: RefCell<Vec<Vec<T>>>,
    /// Room for rows as bytes.
    room: RefCell<Vec<u8>>,
}

impl<T> Searching<T> {
    pub(super) fn new(width: usize, in_bytes: bool) -> Self {
        Searching { width, in_bytes, projected: RefCell::default(), logs: RefCell::default(), room: RefCell::default() }
    }
}

/// A node whose rows were looked up in a table of vectors.
pub(super) struct Lookup {
    table: Var,
    ids: Vec<u32>,
}

/// Largest table that a search takes through a weight as a whole, in rows: fewer than the rows that will be looked up in it.
const SMALL_TABLE: usize = 256;

/// Steps for which a log has room before it grows.
const FIRST_STEPS: usize = 8;

/// How much of a tape there was, to go back to; see [`Tape::rewind`].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Mark(usize);

/// A weight made ready as the right side of a product.
pub(super) enum Right<T> {
    Numbers(Arc<Packed<T>>),
    Bytes(Arc<Bytes>),
}

impl<'p, T: Float> Tape<'p, T> {
    /// On the tape of a search: how many hypotheses will meet each source, so that it can pay to prepare the source for them.
    pub(crate) fn search_width(&self) -> Option<usize> {
        self.searching.as_ref().map(|searching| searching.width)
    }

    /// Where the tape stands, for [`Tape::rewind`].
    pub(crate) fn mark(&self) -> Mark {
        Mark(self.nodes.borrow().len())
    }

    /// Forgets all nodes added since `mark`, and keeps their memory for the next ones. What refers to them must not be used any more.
    pub(crate) fn rewind(&self, mark: Mark) {
        for node in self.nodes.borrow_mut().drain(mark.0..) {
            if let (Value::Own(value), Some(pool)) = (node.value, self.pool) {
                pool.put(value);
            }
        }
    }

    /// Forgets all but the parameters, and gives the memory back.
    pub(crate) fn clear(&self) {
        self.rewind(Mark(self.params.entries().len()));
        if let (Some(searching), Some(pool)) = (&self.searching, self.pool) {
            searching.logs.borrow_mut().drain(..).for_each(|log| pool.put(log));
        }
    }

    /// Notes that the rows of `x` were looked up in a table, for [`Tape::projected_rows`].
    pub(crate) fn note_lookup(&self, x: Var, table: Var, ids: &[u32]) {
        if self.searching.is_some() && self.shape(table).0 <= SMALL_TABLE {
            self.nodes.borrow_mut()[x.0].lookup = Some(Rc::new(Lookup { table, ids: ids.to_vec() }));
        }
    }

    /// Whether the rows of `x` were looked up in a small table.
    pub(super) fn is_looked_up(&self, x: Var) -> bool {
        self.nodes.borrow()[x.0].lookup.is_some()
    }

    /// `base + x W[:, from..]ᵀ`, on the tape of a search: there is no way back.
    pub(crate) fn plus_columns(&self, base: Var, x: Var, weight: ParamId, from: usize) -> Result<Var> {
        let (weight, (rows, input)) = (self.param(weight), self.shape(x));
        let (output, width) = self.shape(weight);
        if from + input > width {
            return Err(Error::Shapes { op: "linear", left: (rows, input), right: (output, width) });
        }
        self.expect_shape("linear (added to)", base, (rows, output))?;
        let mut value = self.copy_of(base);
        match self.right_side(weight, 0..output, from..from + input) {
            Some(right) => self.times(&self.value(x), input, &right, &mut value, output, true),
            None => {
                return Err(Error::Value { what: "the tape".into(), got: "one that learns".into(), expected: "that of a search".into() });
            }
        }
        Ok(self.push(value, rows, output, None, &[], |_| Box::new(|_, _| {})))
    }

    /// `x W[:, from..]ᵀ` where the rows of `x` were looked up in a small table, on the tape of a search: the table is taken through the weight once. Gives `add` the number of each row
    /// and its product, and returns whether there was such a table.
    pub(crate) fn projected_rows(&self, x: Var, weight: Var, from: usize, mut add: impl FnMut(usize, &[T])) -> bool {
        let Some(searching) = &self.searching else { return false };
        let Some(lookup) = self.nodes.borrow()[x.0].lookup.clone() else { return false };
        let ((units, input), output) = (self.shape(lookup.table), self.shape(weight).0);
        let make = || {
            let mut all = T::zeros(units * output);
            if let Some(packed) = self.packed_columns(weight, from, input) {
                product_packed(View::new(&self.value(lookup.table), units, input), &packed, &mut all, output, false);
            }
            Rc::new(all)
        };
        let key = (lookup.table, weight, from);
        let known = searching.projected.borrow().get(&key).cloned();
        let all = known.unwrap_or_else(|| searching.projected.borrow_mut().entry(key).or_insert(make()).clone());
        for (row, &id) in lookup.ids.iter().enumerate() {
            add(row, &all[id as usize * output..][..output]);
        }
        true
    }

    /// All rows of a weight and its columns `from..from + count`, transposed and packed as the right side of a product; on the tape of a search only, where the same will be
    /// needed again.
    pub(crate) fn packed_columns(&self, weight: Var, from: usize, count: usize) -> Option<Arc<Packed<T>>> {
        self.packed_part(weight, 0..self.shape(weight).0, from..from + count)
    }

    /// The same of some rows and columns.
    fn packed_part(&self, weight: Var, rows: Range<usize>, cols: Range<usize>) -> Option<Arc<Packed<T>>> {
        self.searching.as_ref().filter(|_| weight.0 < self.params.entries().len())?;
        let make = || Packed::new(self.part_of(weight, &rows, &cols, &self.value(weight)).t());
        Some(self.params.packs().numbers((weight.0, rows.clone(), cols.clone()), make))
    }

    fn part_of<'v>(&self, weight: Var, rows: &Range<usize>, cols: &Range<usize>, value: &'v [T]) -> View<'v, T> {
        let width = self.shape(weight).1;
        View::strided(&value[rows.start * width + cols.start..], rows.len(), cols.len(), width)
    }

    /// Part of the weight of a linear layer as the right side of [`Tape::times`]; on the tape of a search only.
    pub(super) fn right_side(&self, weight: Var, rows: Range<usize>, cols: Range<usize>) -> Option<Right<T>> {
        let searching = self.searching.as_ref().filter(|_| weight.0 < self.params.entries().len())?;
        if !searching.in_bytes {
            return self.packed_part(weight, rows, cols).map(Right::Numbers);
        }
        let make = || Bytes::new(self.part_of(weight, &rows, &cols, &self.value(weight)));
        Some(Right::Bytes(self.params.packs().bytes((weight.0, rows.clone(), cols.clone()), make)))
    }

    /// `to = x Wᵀ`, added to what is said: rows of `input` numbers next to each other, the rows of the result `output` apart.
    pub(super) fn times<'r>(&self, x: &[T], input: usize, right: &Right<T>, to: &mut [T], output: usize, onto: impl Into<Onto<'r, T>>) {
        let (onto, rows) = (onto.into(), x.len() / input.max(1));
        match right {
            Right::Numbers(packed) => product_packed(View::new(x, rows, input), packed, to, output, onto),
            Right::Bytes(bytes) => {
                if let Onto::Row(row) = onto {
                    fill_rows(&mut to[..rows * output], row);
                }
                let (mut used, mut fresh) = (self.searching.as_ref().map(|searching| searching.room.borrow_mut()), Vec::new());
                let room = used.as_deref_mut().unwrap_or(&mut fresh);
                product_bytes(x, bytes, to, output, !matches!(onto, Onto::Nothing), room);
            }
        }
    }

    /// Rows of a log of this search whose rows have `cols` numbers.
    pub(crate) fn log_rows(&self, number: usize, cols: usize) -> usize {
        let rows = |searching: &Searching<T>| searching.logs.borrow().get(number).map_or(0, |log| log.len() / cols.max(1));
        self.searching.as_ref().map_or(0, rows)
    }

    /// Adds columns of the rows of `x` to the end of a log. It stays when the tape is rewound.
    pub(crate) fn append(&self, number: usize, x: Part, cols: usize) {
        let Some(searching) = &self.searching else { return };
        let mut logs = searching.logs.borrow_mut();
        let table = self.value(x.of);
        while logs.len() <= number {
            let mut log = self.buffer(FIRST_STEPS * table.len());
            log.clear();
            logs.push(log);
        }
        for row in table.chunks_exact(x.stride.max(1)) {
            logs[number].extend_from_slice(&row[x.first..x.first + cols]);
        }
    }

    /// Dot-product attention of one query a row, each to keys and values of its own at `places` of a log, `steps` of them for each row.
    pub(crate) fn attend_log(
        &self,
        number: usize,
        queries: Part,
        heads: usize,
        size: usize,
        places: &[usize],
        steps: usize,
    ) -> Result<Var> {
        let width = heads * size;
        let rows = self.shape(queries.of).0;
        let len = self.log_rows(number, 2 * width);
        if let Some(&index) = places.iter().find(|&&place| place >= len) {
            return Err(Error::Index { op: "attention (log)", index, len });
        }
        if places.len() != rows * steps {
            return Err(Error::Shape { op: "attention (log)", expected: format!("{rows} rows of {steps} places"), got: (1, places.len()) });
        }
        let mut context = self.buffer(rows * width);
        if let Some(searching) = &self.searching {
            let (logs, table) = (searching.logs.borrow(), self.value(queries.of));
            let scale = T::from_f64(1.0 / (size as f64).sqrt());
            attend::from_log(Heads { heads, size }, scale, queries.columns(&table), &logs[number], places, steps, &mut context);
        }
        Ok(self.push(context, rows, width, None, &[], |_| Box::new(|_, _| {})))
    }
}
