//! What a decoder carries from step to step.

use spotlight_kernels::Float;

use crate::tape::{Tape, Var};
use crate::{Error, Result};

/// The state of some hypotheses on a tape: one row each in every table.
#[derive(Clone, Debug)]
pub struct State {
    /// Steps taken.
    pub step: usize,
    /// The state of each layer, bottom first.
    pub layers: Vec<Var>,
    /// The cell state of each layer of an LSTM.
    pub memories: Vec<Var>,
    /// With input feeding: the combined state of the step before.
    pub fed: Option<Var>,
    /// For attention that minds where it looked: the weights of the step before, a row as wide as the longest memory.
    pub previous: Option<Var>,
    /// With coverage: the sum of all weights so far, likewise.
    pub coverage: Option<Var>,
}

impl State {
    /// All tables.
    pub(super) fn vars(&self) -> Vec<Var> {
        self.layers.iter().chain(&self.memories).copied().chain(self.fed).chain(self.previous).chain(self.coverage).collect()
    }

    /// A state of the same parts with other tables, in the order of [`State::vars`].
    pub(super) fn with_vars(&self, step: usize, vars: &[Var]) -> State {
        let (layers, rest) = vars.split_at(self.layers.len());
        let (memories, rest) = rest.split_at(self.memories.len());
        let mut rest = rest.iter().copied();
        let mut next = |part: Option<Var>| part.and_then(|_| rest.next());
        State {
            step,
            layers: layers.to_vec(),
            memories: memories.to_vec(),
            fed: next(self.fed),
            previous: next(self.previous),
            coverage: next(self.coverage),
        }
    }

    /// Its numbers, without the tape.
    pub fn tables<T: Float>(&self, tape: &Tape<T>) -> DecoderState<T> {
        let table = |&x: &Var| {
            let (rows, cols) = tape.shape(x);
            Table { rows, cols, data: tape.to_vec(x) }
        };
        DecoderState { tables: self.vars().iter().map(table).collect(), shape: self.clone() }
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

/// The state of some hypotheses as plain numbers: what a search keeps between steps, chooses from, and puts on the next tape.
#[derive(Clone, Debug)]
pub struct DecoderState<T> {
    /// One row each in every table.
    pub tables: Vec<Table<T>>,
    /// Which table is what.
    shape: State,
}

impl<T: Float> DecoderState<T> {
    /// Hypotheses.
    pub fn rows(&self) -> usize {
        self.tables.first().map_or(0, |table| table.rows)
    }

    /// The states of these hypotheses, in any order and as often as wanted.
    pub fn gather(&self, hypotheses: &[usize]) -> Result<Self> {
        let tables = self.tables.iter().map(|table| table.gather(hypotheses)).collect::<Result<_>>()?;
        Ok(DecoderState { tables, shape: self.shape.clone() })
    }

    /// The state on a tape.
    pub fn on(&self, tape: &Tape<T>) -> Result<State> {
        let vars = self.tables.iter().map(|table| tape.table(table.rows, table.cols, table.data.clone())).collect::<Result<Vec<_>>>()?;
        Ok(self.shape.with_vars(self.shape.step, &vars))
    }
}
