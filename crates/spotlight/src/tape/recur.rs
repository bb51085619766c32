//! A recurrent layer over packed sequences as one node of the tape.

use std::sync::Arc;

use spotlight_kernels::cell::Cell;
use spotlight_kernels::gemm::{Packed, View, product, product_packed};
use spotlight_kernels::scan::{self, Kept, Saved, Steps};
use spotlight_kernels::{Float, map};

use super::{Grads, Tape, Var};
use crate::axis::Axis;
use crate::params::ParamId;
use crate::{Error, Result};

/// One recurrent layer in one direction, with PyTorch's weights: one block of `H` rows a gate.
#[derive(Clone, Copy, Debug)]
pub struct Recurrent {
    /// Which cell.
    pub cell: Cell,
    /// `gates H x D`
    pub weight_ih: ParamId,
    /// `gates H x H`
    pub weight_hh: ParamId,
    /// `gates H`
    pub bias_ih: ParamId,
    /// `gates H`
    pub bias_hh: ParamId,
    /// Whether sequences are read from their ends.
    pub reversed: bool,
}

/// What a recurrent layer gives.
#[derive(Clone, Copy, Debug)]
pub struct States {
    /// The state at every position.
    pub states: Var,
    /// The state after the whole sequence, one row an item; the initial state for an empty sequence.
    pub last: Var,
    /// An LSTM's cell state after the whole sequence.
    pub memory: Option<Var>,
}

impl<'p, T: Float> Tape<'p, T> {
    /// Runs a recurrent layer over every sequence of `x`, from zeros or from the given states (one row an item; `memory` for an LSTM only).
    pub fn recurrent(&self, layer: &Recurrent, x: Var, state: Option<Var>, memory: Option<Var>) -> Result<States> {
        let axis = self.need_axis("recurrent", x)?;
        let (n, d) = self.shape(x);
        let (w_ih, w_hh) = (self.param(layer.weight_ih), self.param(layer.weight_hh));
        let (b_ih, b_hh) = (self.param(layer.bias_ih), self.param(layer.bias_hh));
        let h = self.shape(w_hh).1;
        let (cell, items) = (layer.cell, axis.items());
        let (gh, eh) = (cell.gates() * h, cell.extra() * h);
        if h == 0 {
            return Err(Error::Value { what: "the hidden size".into(), got: "0".into(), expected: "at least 1".into() });
        }
        self.expect_shape("recurrent (hidden weights)", w_hh, (gh, h))?;
        if self.shape(w_ih) != (gh, d) {
            return Err(Error::Shapes { op: "recurrent (input weights)", left: (n, d), right: self.shape(w_ih) });
        }
        self.expect_shape("recurrent (input bias)", b_ih, (1, gh))?;
        self.expect_shape("recurrent (hidden bias)", b_hh, (1, gh))?;
        for given in [state, memory].into_iter().flatten() {
            self.expect_shape("recurrent (initial state)", given, (items, h))?;
        }
        let memory = memory.filter(|_| cell.has_memory());
        let reversed = layer.reversed;

        let mut xs = self.buffer(n * d);
        copy_rows(&self.value(x), axis.step_rows(reversed), d, &mut xs);
        let mut gates = self.buffer(n * gh);
        fill_rows(&mut gates, &self.value(b_ih));
        let inputs = View::new(&xs, n, d);
        let places = self.search_width().map(|_| places_of(axis.step_rows(reversed)));
        let add_row = |row: usize, projected: &[T]| {
            let place = places.as_ref().map_or(row, |places| places[row]);
            map::add_assign(&mut gates[place * gh..(place + 1) * gh], projected);
        };
        match self.packed_columns(w_ih, 0, d) {
            Some(_) if self.projected_rows(x, w_ih, 0, add_row) => {}
            Some(packed) => product_packed(inputs, &packed, &mut gates, gh, true),
            None => product(inputs, View::new(&self.value(w_ih), gh, d).t(), &mut gates, gh, true),
        }
        let state0 = self.initial(state, &axis, h);
        let memory0 = if cell.has_memory() { self.initial(memory, &axis, h) } else { Vec::new() };
        let (mut extra, mut states, mut hidden) = (self.buffer(n * eh), self.buffer(n * h), self.buffer(items * gh));
        let packed = self.packed_columns(w_hh, 0, h).unwrap_or_else(|| Arc::new(Packed::new(View::new(&self.value(w_hh), gh, h).t())));
        scan::forward(
            cell,
            h,
            Steps { counts: axis.counts() },
            &packed,
            &self.value(b_hh),
            &state0,
            &memory0,
            Kept { gates: &mut gates, extra: &mut extra, states: &mut states },
            &mut hidden,
        );

        let mut value = self.buffer(n * h);
        scatter_rows(&states, axis.step_rows(reversed), h, &mut value);
        let ends = last_step_rows(&axis);
        let end_of = |rows: &[T], initial: &[T]| {
            let mut last = self.buffer(items * h);
            for (place, &item) in axis.order().iter().enumerate() {
                let to = &mut last[item * h..(item + 1) * h];
                match ends[place] {
                    Some(row) => to.copy_from_slice(&rows[row * h..(row + 1) * h]),
                    None => to.copy_from_slice(&initial[place * h..(place + 1) * h]),
                }
            }
            last
        };
        let last = end_of(&states, &state0);
        let last_memory = cell.has_memory().then(|| end_of(&extra, &memory0));

        let parents: Vec<Var> = [x, w_ih, w_hh, b_ih, b_hh].into_iter().chain(state).chain(memory).collect();
        let main_axis = axis.clone();
        let main = self.push(value, n, h, Some(main_axis), &parents, |main| {
            let (last, last_memory) = (main.beside(1), main.beside(2));
            Box::new(move |back, dy| {
                let rows = axis.step_rows(reversed);
                // The gradients of the states, in step order, the last ones' added.
                let mut d_states = back.grads.buffer(n * h);
                copy_rows(dy, rows, h, &mut d_states);
                let mut d_state = back.grads.zeros(items * h);
                let mut d_memory = back.grads.zeros(if cell.has_memory() { items * h } else { 0 });
                let mut d_memories = Vec::new();
                let d_last = back.grads.take(last);
                add_ends(&d_last, &axis, h, &mut d_states, &mut d_state);
                back.grads.recycle(d_last);
                if cell.has_memory() {
                    let d_last = back.grads.take(last_memory);
                    if d_last.iter().any(|&d| d != T::ZERO) {
                        d_memories = back.grads.zeros(n * h);
                        add_ends(&d_last, &axis, h, &mut d_memories, &mut d_memory);
                    }
                    back.grads.recycle(d_last);
                }

                let dh = cell.gradient_gates() * h;
                let mut d_gates = back.grads.buffer(n * dh);
                let packed = Packed::new(View::new(back.values.get(w_hh), gh, h));
                let saved = Saved { gates: &gates, extra: &extra, states: &states, state0: &state0, memory0: &memory0 };
                let steps = Steps { counts: axis.counts() };
                scan::backward(cell, h, steps, &packed, saved, &d_states, &d_memories, &mut d_gates, &mut d_state, &mut d_memory);

                // Reuse the buffer for the states before each step.
                let mut before = d_states;
                shift_states(steps, h, &states, &state0, &mut before);
                let gradient = GateGradient { cell, size: h, rows: n, data: &d_gates };
                gradient.hidden_weights(back.grads, w_hh, b_hh, &before);
                gradient.input_weights(back.grads, w_ih, d, &[(0, &xs, d)]);
                gradient.input_bias(back.grads, b_ih);
                if back.grads.wants(x) {
                    let mut dxs = back.grads.buffer(n * d);
                    gradient.input(back.values.get(w_ih), d, 0, &mut dxs, d, false);
                    let dx = back.grads.of(x);
                    for (from, &row) in dxs.chunks_exact(d.max(1)).zip(rows) {
                        map::add_assign(&mut dx[row * d..(row + 1) * d], from);
                    }
                    back.grads.recycle(dxs);
                }
                for (given, gradient) in [(state, &d_state), (memory, &d_memory)] {
                    if let Some(given) = given {
                        add_initial(back.grads, given, &axis, h, gradient);
                    }
                }
                for buffer in [xs, gates, extra, states, state0, memory0, before, d_gates, d_state, d_memory, d_memories] {
                    back.grads.recycle(buffer);
                }
            })
        });
        let last = self.push_beside(last, items, h, None, main);
        let memory = last_memory.map(|m| self.push_beside(m, items, h, None, main));
        Ok(States { states: main, last, memory })
    }

    /// One step of a recurrent layer on a tape that does not learn: `gates` are `x W_ihᵀ + b_ih` of every row, however they came about; the layer's input weights are not read.
    pub(crate) fn recurrent_step(&self, layer: &Recurrent, gates: Var, state: Var, memory: Option<Var>) -> Result<States> {
        let (rows, gh) = self.shape(gates);
        let (w_hh, cell) = (self.param(layer.weight_hh), layer.cell);
        let h = self.shape(w_hh).1;
        self.expect_shape("recurrent step (gates)", gates, (rows, cell.gates() * h))?;
        for given in [Some(state), memory].into_iter().flatten() {
            self.expect_shape("recurrent step (state)", given, (rows, h))?;
        }
        debug_assert!(!self.is_training(), "a single step from given gates has no backward pass");
        let (mut kept, mut extra, mut states) = (self.copy_of(gates), self.buffer(rows * cell.extra() * h), self.buffer(rows * h));
        let packed = self.packed_columns(w_hh, 0, h).unwrap_or_else(|| Arc::new(Packed::new(View::new(&self.value(w_hh), gh, h).t())));
        let none = [];
        let memory0 = memory.map(|memory| self.value(memory));
        scan::forward(
            cell,
            h,
            Steps { counts: &[rows] },
            &packed,
            &self.value(self.param(layer.bias_hh)),
            &self.value(state),
            memory0.as_deref().unwrap_or(&none),
            Kept { gates: &mut kept, extra: &mut extra, states: &mut states },
            &mut self.buffer(rows * gh),
        );
        drop(memory0);
        let last = self.push(states, rows, h, None, &[], |_| Box::new(|_, _| {}));
        // The cell state of an LSTM is what it keeps beside its gates.
        let memory = cell.has_memory().then(|| self.push(extra, rows, h, None, &[], |_| Box::new(|_, _| {})));
        Ok(States { states: last, last, memory })
    }

    /// The given initial states with the longest sequence first, or zeros.
    pub(crate) fn initial(&self, given: Option<Var>, axis: &Axis, size: usize) -> Vec<T> {
        let mut state = self.buffer(axis.items() * size);
        match given {
            Some(given) => copy_rows(&self.value(given), axis.order(), size, &mut state),
            None => state.fill(T::ZERO),
        }
        state
    }
}

/// The gradient of the gates of all rows (`N x gradient_gates H`), and what follows from it by one product each.
pub(crate) struct GateGradient<'a, T> {
    pub(crate) cell: Cell,
    pub(crate) size: usize,
    pub(crate) rows: usize,
    pub(crate) data: &'a [T],
}

impl<T: Float> GateGradient<'_, T> {
    fn stride(&self) -> usize {
        self.cell.gradient_gates() * self.size
    }

    /// Hidden weights and their bias, from the states before each step.
    pub(crate) fn hidden_weights(&self, grads: &mut Grads<'_, T>, weight: Var, bias: Var, before: &[T]) {
        let (h, gh) = (self.size, self.cell.gates() * self.size);
        if grads.wants(weight) {
            let left = View::strided(self.data, self.rows, gh, self.stride()).t();
            let (dw, add) = grads.write(weight);
            product(left, View::new(before, self.rows, h), dw, h, add);
        }
        if grads.wants(bias) {
            let db = grads.of(bias);
            for row in self.data.chunks_exact(self.stride()) {
                map::add_assign(db, &row[..gh]);
            }
        }
    }

    /// Input weights with `columns` columns. `inputs` are the tables that they multiply side by side: (first column, rows, width); together they are all columns.
    pub(crate) fn input_weights(&self, grads: &mut Grads<'_, T>, weight: Var, columns: usize, inputs: &[(usize, &[T], usize)]) {
        if !grads.wants(weight) {
            return;
        }
        let h = self.size;
        let (dw, add) = grads.write(weight);
        for &(part, gate, gates) in self.cell.input_parts() {
            let left = View::strided(&self.data[(part * h).min(self.data.len())..], self.rows, gates * h, self.stride()).t();
            for &(from, rows, width) in inputs {
                product(left, View::new(rows, self.rows, width), &mut dw[gate * h * columns + from..], columns, add);
            }
        }
    }

    /// The bias of the input weights.
    pub(crate) fn input_bias(&self, grads: &mut Grads<'_, T>, bias: Var) {
        if !grads.wants(bias) {
            return;
        }
        let h = self.size;
        let db = grads.of(bias);
        for row in self.data.chunks_exact(self.stride()) {
            for &(part, gate, gates) in self.cell.input_parts() {
                map::add_assign(&mut db[gate * h..(gate + gates) * h], &row[part * h..(part + gates) * h]);
            }
        }
    }

    /// The inputs that columns `from..from + width` of the input weights multiply.
    pub(crate) fn input(&self, weight: &[T], columns: usize, from: usize, inputs: &mut [T], width: usize, add: bool) {
        let h = self.size;
        for (i, &(part, gate, gates)) in self.cell.input_parts().iter().enumerate() {
            let left = View::strided(&self.data[(part * h).min(self.data.len())..], self.rows, gates * h, self.stride());
            let right = View::strided(&weight[gate * h * columns + from..], gates * h, width, columns);
            product(left, right, inputs, width, add || i > 0);
        }
    }
}

/// Row `index[i]` of `from` as row `i` of `to`.
pub(crate) fn copy_rows<T: Float>(from: &[T], index: &[usize], cols: usize, to: &mut [T]) {
    for (to, &row) in to.chunks_exact_mut(cols.max(1)).zip(index) {
        to.copy_from_slice(&from[row * cols..(row + 1) * cols]);
    }
}

/// Row `i` of `from` as row `index[i]` of `to`.
pub(crate) fn scatter_rows<T: Float>(from: &[T], index: &[usize], cols: usize, to: &mut [T]) {
    for (from, &row) in from.chunks_exact(cols.max(1)).zip(index) {
        to[row * cols..(row + 1) * cols].copy_from_slice(from);
    }
}

/// For each row, its place in an order of all rows.
fn places_of(order: &[usize]) -> Vec<usize> {
    let mut places = vec![0; order.len()];
    order.iter().enumerate().for_each(|(place, &row)| places[row] = place);
    places
}

/// `row` as every row of `to`.
pub(crate) fn fill_rows<T: Float>(to: &mut [T], row: &[T]) {
    to.chunks_exact_mut(row.len().max(1)).for_each(|to| to.copy_from_slice(row));
}

/// For each place in the order of the items, the row of its last step in step order.
fn last_step_rows(axis: &Axis) -> Vec<Option<usize>> {
    let mut last = vec![None; axis.items()];
    let mut first = 0;
    for &count in axis.counts() {
        for (place, last) in last.iter_mut().enumerate().take(count) {
            *last = Some(first + place);
        }
        first += count;
    }
    last
}

/// Adds the gradients of the last states to those of the steps they are, or of the initial state if there was no step.
fn add_ends<T: Float>(d_last: &[T], axis: &Axis, size: usize, d_states: &mut [T], d_initial: &mut [T]) {
    for (place, (&item, end)) in axis.order().iter().zip(last_step_rows(axis)).enumerate() {
        let to = match end {
            Some(row) => &mut d_states[row * size..(row + 1) * size],
            None => &mut d_initial[place * size..(place + 1) * size],
        };
        map::add_assign(to, &d_last[item * size..(item + 1) * size]);
    }
}

/// Adds the gradients of initial states, longest sequence first, to those of the given states.
pub(crate) fn add_initial<T: Float>(grads: &mut Grads<'_, T>, given: Var, axis: &Axis, size: usize, gradient: &[T]) {
    if grads.wants(given) {
        let to = grads.of(given);
        for (from, &item) in gradient.chunks_exact(size.max(1)).zip(axis.order()) {
            map::add_assign(&mut to[item * size..(item + 1) * size], from);
        }
    }
}

/// The state before each step, for all rows in step order.
pub(crate) fn shift_states<T: Float>(steps: Steps, size: usize, states: &[T], state0: &[T], before: &mut [T]) {
    for (t, (past, first, count)) in steps.blocks().enumerate() {
        let from = if t == 0 { &state0[..count * size] } else { &states[past * size..(past + count) * size] };
        before[first * size..(first + count) * size].copy_from_slice(from);
    }
}
