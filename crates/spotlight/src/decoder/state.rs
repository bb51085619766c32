//! What a decoder carries from step to step.

use spotlight_kernels::Float;

use crate::tape::{Tape, Var};
use crate::{Error, Result};

/// The state of some hypotheses on a tape. Only the decoder that made it knows which table is what; that every table has one row per hypothesis is all that others
/// need to know.
#[derive(Clone, Debug)]
pub struct State {
    /// Steps taken.
    pub step: usize,
    /// One row per hypothesis in each.
    pub tables: Vec<Var>,
}

impl State {
    /// Its numbers, without the tape.
    pub fn tables<T: Float>(&self, tape: &Tape<T>) -> DecoderState<T> {
        let table = |&x: &Var| {
            let (rows, cols) = tape.shape(x);
            Table { rows, cols, data: tape.to_vec(x) }
        };
        DecoderState { step: self.step, tables: self.tables.iter().map(table).collect() }
    }
}

/// A table of numbers.
#[derive(Clone, Debug, PartialEq)]
pub struct Table<T> {
    /// Rows.
    pub rows: usize,
    /// Columns.
    pub cols: usize,
    /// The numbers, row after row.
    pub data: Vec<T>,
}

impl<T: Float> Table<T> {
    /// Rows by number, in any order and as often as wanted.
    pub fn gather(&self, rows: &[usize]) -> Result<Self> {
        if let Some(&index) = rows.iter().find(|&&row| row >= self.rows) {
            return Err(Error::Index { op: "gather", index, len: self.rows });
        }
        let data = rows.iter().flat_map(|row| &self.data[row * self.cols..(row + 1) * self.cols]).copied().collect();
        Ok(Table { rows: rows.len(), cols: self.cols, data })
    }
}

/// The state of some hypotheses as plain numbers: what a search keeps between steps, chooses from, and puts on the tape of the next.
#[derive(Clone, Debug, Default)]
pub struct DecoderState<T> {
    /// Steps taken.
    pub step: usize,
    /// One row per hypothesis in each.
    pub tables: Vec<Table<T>>,
}

impl<T: Float> DecoderState<T> {
    /// Hypotheses.
    pub fn rows(&self) -> usize {
        self.tables.first().map_or(0, |table| table.rows)
    }

    /// The states of these hypotheses, in any order and as often as wanted.
    pub fn gather(&self, hypotheses: &[usize]) -> Result<Self> {
        let tables = self.tables.iter().map(|table| table.gather(hypotheses)).collect::<Result<_>>()?;
        Ok(DecoderState { step: self.step, tables })
    }

    /// The same, where the states before are not needed any more: nothing is copied if all go on in their order.
    pub fn gathered(self, hypotheses: &[usize]) -> Result<Self> {
        if hypotheses.iter().copied().eq(0..self.rows()) { Ok(self) } else { self.gather(hypotheses) }
    }

    /// The state on a tape.
    pub fn on(self, tape: &Tape<T>) -> Result<State> {
        let tables = self.tables.into_iter().map(|table| tape.table(table.rows, table.cols, table.data)).collect::<Result<_>>()?;
        Ok(State { step: self.step, tables })
    }
}
