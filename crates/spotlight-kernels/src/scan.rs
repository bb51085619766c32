//! A whole recurrent layer over packed sequences, forward and backward.
//!
//! Rows come in *step order*: first the rows of step 0 of all sequences, then those of step 1 of the sequences that have one, and so on, with
//! the longest sequence first. The rows of a step are then one contiguous block, and the sequences alive at a step are always the first ones
//! of the step before. No row is padding.
//!
//! The input projection has been done for all rows at once before the scan, and the weight gradients are products over all rows after it.
//! Between the two, each step costs one product with the packed hidden weights.

use crate::Float;
use crate::cell::{self, Cell};
use crate::gemm::{Packed, View, product_packed};

/// The blocks of rows of the steps.
#[derive(Clone, Copy, Debug)]
pub struct Steps<'a> {
    /// Sequences alive at each step; never growing.
    pub counts: &'a [usize],
}

impl Steps<'_> {
    /// Rows in all.
    pub fn rows(&self) -> usize {
        self.counts.iter().sum()
    }

    /// For each step: (first row of the step before, first row, rows).
    pub fn blocks(&self) -> std::vec::IntoIter<(usize, usize, usize)> {
        let mut blocks = Vec::with_capacity(self.counts.len());
        let (mut before, mut first) = (0, 0);
        for &count in self.counts {
            blocks.push((before, first, count));
            before = first;
            first += count;
        }
        blocks.into_iter()
    }
}

/// What the forward pass keeps for the backward pass; all tables in step order.
#[derive(Debug)]
pub struct Kept<'a, T> {
    /// `N x gates H`: the input projections coming in, the activated gates going out.
    pub gates: &'a mut [T],
    /// `N x extra H`, see [`Cell::extra`]; an LSTM's cell states.
    pub extra: &'a mut [T],
    /// `N x H`, the states.
    pub states: &'a mut [T],
}

/// Runs the layer.
///
/// `weights` is the packed transpose of the hidden weights (`H x gates H`), `bias` their bias, `state0` and `memory0` (`B x H`) the states before the
/// first step, the second one empty unless the cell has it. `hidden` is scratch of `B x gates H`.
pub fn forward<T: Float>(
    cell: Cell,
    size: usize,
    steps: Steps,
    weights: &Packed<T>,
    bias: &[T],
    state0: &[T],
    memory0: &[T],
    kept: Kept<T>,
    hidden: &mut [T],
) {
    let (gh, eh) = (cell.gates() * size, cell.extra() * size);
    for (t, (before, first, count)) in steps.blocks().enumerate() {
        let (past, now) = kept.states.split_at_mut(first * size);
        let previous = if t == 0 { &state0[..count * size] } else { &past[before * size..(before + count) * size] };
        let (past_extra, extra) = kept.extra.split_at_mut(first * eh);
        let memory = match (cell.has_memory(), t) {
            (false, _) => &[][..],
            (true, 0) => &memory0[..count * size],
            (true, _) => &past_extra[before * size..(before + count) * size],
        };
        let hidden = &mut hidden[..count * gh];
        for row in hidden.chunks_exact_mut(gh) {
            row.copy_from_slice(bias);
        }
        product_packed(View::new(previous, count, size), weights, hidden, gh, true);
        let gates = &mut kept.gates[first * gh..(first + count) * gh];
        cell::forward(cell, size, gates, hidden, previous, memory, &mut now[..count * size], &mut extra[..count * eh]);
    }
}

/// What the forward pass kept, read only.
#[derive(Clone, Copy, Debug)]
pub struct Saved<'a, T> {
    /// See [`Kept::gates`].
    pub gates: &'a [T],
    /// See [`Kept::extra`].
    pub extra: &'a [T],
    /// See [`Kept::states`].
    pub states: &'a [T],
    /// `B x H`
    pub state0: &'a [T],
    /// `B x H`, empty unless the cell has it.
    pub memory0: &'a [T],
}

/// Runs the layer backwards.
///
/// `d_states` is the gradient of all states (`N x H`), consumed. `d_state` and `d_memory` (`B x H`) come in as zeros and leave as the gradients
/// of the initial states. `d_memories` is an optional gradient of the cell states, `N x H`. `d_gates` (`N x gradient_gates H`) is written.
/// `weights` is the packed hidden weights (`gates H x H`).
pub fn backward<T: Float>(
    cell: Cell,
    size: usize,
    steps: Steps,
    weights: &Packed<T>,
    saved: Saved<T>,
    d_states: &[T],
    d_memories: &[T],
    d_gates: &mut [T],
    d_state: &mut [T],
    d_memory: &mut [T],
) {
    let (gh, eh, dh) = (cell.gates() * size, cell.extra() * size, cell.gradient_gates() * size);
    for (t, (before, first, count)) in steps.blocks().enumerate().rev() {
        let rows = first * size..(first + count) * size;
        let past = before * size..(before + count) * size;
        let (previous, memory) = match (t, cell.has_memory()) {
            (0, false) => (&saved.state0[..count * size], &[][..]),
            (0, true) => (&saved.state0[..count * size], &saved.memory0[..count * size]),
            (_, false) => (&saved.states[past], &[][..]),
            (_, true) => (&saved.states[past.clone()], &saved.extra[past]),
        };
        let d_state = &mut d_state[..count * size];
        let d_memory = if cell.has_memory() { &mut d_memory[..count * size] } else { &mut [] };
        crate::map::add_assign(d_state, &d_states[rows.clone()]);
        if !d_memories.is_empty() {
            crate::map::add_assign(d_memory, &d_memories[rows.clone()]);
        }
        let d_gates = &mut d_gates[first * dh..(first + count) * dh];
        cell::backward(
            cell,
            size,
            &saved.gates[first * gh..(first + count) * gh],
            &saved.extra[first * eh..(first + count) * eh],
            previous,
            memory,
            &saved.states[rows],
            d_state,
            d_memory,
            d_gates,
        );
        product_packed(View::strided(d_gates, count, gh, dh), weights, d_state, size, true);
    }
}
