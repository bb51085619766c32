//! `scan`: a loop over a dynamic axis around any step written with tape operations.

use spotlight_kernels::Float;

use super::{Tape, Var};
use crate::axis::Axis;
use crate::{Error, Result};

/// Where a scan stands.
#[derive(Clone, Copy, Debug)]
pub struct Step<'a> {
    /// The step, from 0.
    pub index: usize,
    /// The items that have this step, in the order of the rows the step sees.
    pub items: &'a [usize],
}

/// What a scan gives, one of each for every state.
#[derive(Clone, Debug)]
pub struct Scanned {
    /// The state at every position, on the axis.
    pub states: Vec<Var>,
    /// The state after the last position, one row an item; the initial state for an empty sequence.
    pub last: Vec<Var>,
}

impl<T: Float> Tape<'_, T> {
    /// Closes a loop over `axis`: `step` makes the states of a position from the inputs there and the states one position before.
    ///
    /// `inputs` are tables on the axis. `initial` are the states before the first position, one row an item or one row for all. Inside `step` all tables
    /// have one row for each item that has this position, and any operation may be used.
    ///
    /// A running sum, as the smallest loop:
    ///
    /// ```
    /// # use spotlight::{axis::Axis, params::Params, tape::Tape};
    /// let params = Params::<f64>::new(0);
    /// let t = Tape::new(&params);
    /// let axis = Axis::new([3, 0, 2]);
    /// let x = t.on_axis(t.table(5, 1, vec![1.0, 2.0, 3.0, 10.0, 20.0])?, &axis)?;
    /// let sums = t.scan(&axis, &[x], &[t.scalar(0.0)], |_, x, before| Ok(vec![t.add(x[0], before[0])?]))?;
    /// assert_eq!(t.to_vec(sums.states[0]), [1.0, 3.0, 6.0, 10.0, 30.0]);
    /// assert_eq!(t.to_vec(sums.last[0]), [6.0, 0.0, 30.0]);
    /// # Ok::<(), spotlight::Error>(())
    /// ```
    pub fn scan(
        &self,
        axis: &Axis,
        inputs: &[Var],
        initial: &[Var],
        mut step: impl FnMut(Step, &[Var], &[Var]) -> Result<Vec<Var>>,
    ) -> Result<Scanned> {
        let mut in_steps = Vec::with_capacity(inputs.len());
        for &x in inputs {
            match self.axis(x) {
                Some(other) if other != *axis => {
                    return Err(Error::Axes { op: "scan (an input)", left: axis.excerpt(), right: other.excerpt() });
                }
                _ => self.expect_shape("scan (an input)", x, (axis.rows(), self.shape(x).1))?,
            }
            in_steps.push(self.gather(x, axis.step_rows(false))?);
        }
        let inputs = in_steps;
        let mut states = Vec::with_capacity(initial.len());
        for &state in initial {
            let (rows, cols) = self.shape(state);
            let index = match rows {
                1 => vec![0; axis.items()],
                _ => {
                    self.expect_shape("scan (an initial state)", state, (axis.items(), cols))?;
                    axis.order().to_vec()
                }
            };
            states.push(self.gather(state, &index)?);
        }
        // For each state: the initial rows, then the rows of every step.
        let mut history: Vec<Vec<Var>> = states.iter().map(|&s| vec![s]).collect();
        let mut first = 0;
        for (index, &count) in axis.counts().iter().enumerate() {
            let now = inputs.iter().map(|&x| self.rows(x, first, count)).collect::<Result<Vec<_>>>()?;
            let before = states.iter().map(|&s| self.rows(s, 0, count)).collect::<Result<Vec<_>>>()?;
            states = step(Step { index, items: &axis.order()[..count] }, &now, &before)?;
            if states.len() != before.len() {
                let (what, got) = ("the number of states a step of scan gives".into(), states.len().to_string());
                return Err(Error::Value { what, got, expected: format!("{}, as many as it got", before.len()) });
            }
            for (history, (&state, &old)) in history.iter_mut().zip(states.iter().zip(&before)) {
                self.expect_shape("scan (a state)", state, (count, self.shape(old).1))?;
                history.push(state);
            }
            first += count;
        }
        let items = axis.items();
        let mut back_in_order = vec![0; axis.rows()];
        for (place, &row) in axis.step_rows(false).iter().enumerate() {
            back_in_order[row] = items + place;
        }
        let mut last_rows: Vec<usize> = vec![0; items];
        for (place, &item) in axis.order().iter().enumerate() {
            last_rows[item] = match axis.range(item).next_back() {
                Some(row) => back_in_order[row],
                None => place,
            };
        }
        let mut scanned = Scanned { states: Vec::new(), last: Vec::new() };
        for history in history {
            let all = self.stack(&history)?;
            scanned.states.push(self.on_axis(self.gather(all, &back_in_order)?, axis)?);
            scanned.last.push(self.gather(all, &last_rows)?);
        }
        Ok(scanned)
    }
}
