//! The whole attention decoder under teacher forcing: additive scores in Bahdanau's order around any cell.
//!
//! At every step `i` of a sequence with memory rows `h_j` and their keys `k_j = U h_j`:
//!
//! ```text
//! e_ij = v . tanh(W s_{i-1} + k_j)       score
//! a_i  = softmax(e_i)                    over the rows of this sequence alone
//! c_i  = Σ_j a_ij h_j                    mix
//! s_i  = cell([y_i ; c_i], s_{i-1})
//! ```
//!
//! Bahdanau, Cho and Bengio, 2015, equations 5 and 6 and appendix A.1.2. Rows are in step order, see [`scan`](crate::scan). The part of the cell's input
//! projection that comes from `y` has been computed for all steps at once; the weight gradients are products over all rows after the loop. One
//! function runs each direction, with everything it needs handed in.

use crate::Float;
use crate::cell::{self, Cell};
use crate::gemm::{Packed, View, product_packed};
use crate::map;
use crate::pairs::{self, Heads, Span};
use crate::scan::Steps;
use crate::segment;

/// Sizes and layout of a batch.
#[derive(Clone, Copy, Debug)]
pub struct Layout<'a> {
    /// The recurrent cell.
    pub cell: Cell,
    /// `H`
    pub size: usize,
    /// `A`
    pub alignment: usize,
    /// `M`
    pub width: usize,
    /// The target's steps.
    pub steps: Steps<'a>,
    /// For every target row, in step order, the memory rows it may look at.
    pub spans: &'a [Span],
}

impl Layout<'_> {
    /// The pairs of the rows `first..first + count`.
    fn pairs(&self, first: usize, count: usize) -> std::ops::Range<usize> {
        match (self.spans.get(first), self.spans.get(first + count - 1)) {
            (Some(a), Some(b)) => a.pair..b.pair + b.count,
            _ => 0..0,
        }
    }
}

/// The memory side, and the states before the first step.
#[derive(Clone, Copy, Debug)]
pub struct Memory<'a, T> {
    /// `U h`, one row of `A` a memory row.
    pub keys: &'a [T],
    /// `h`, one row of `M` a memory row.
    pub values: &'a [T],
    /// `B x H`
    pub state0: &'a [T],
    /// `B x H`, empty unless the cell has it.
    pub memory0: &'a [T],
}

/// Weights of the forward pass, packed as right sides.
#[derive(Debug)]
pub struct ForwardWeights<'a, T> {
    /// `W`, transposed: `H x A`
    pub query: Packed<T>,
    /// The cell's input weights for the context, transposed: `M x gates H`
    pub context: Packed<T>,
    /// The cell's hidden weights, transposed: `H x gates H`
    pub hidden: Packed<T>,
    /// The bias of the hidden weights.
    pub hidden_bias: &'a [T],
    /// `v`
    pub v: &'a [T],
}

/// What the forward pass writes; tables of `N` rows in step order.
#[derive(Clone, Debug, Default)]
pub struct Trace<T> {
    /// `N x gates H`: comes in as the projections of `y`, leaves as the activated gates.
    pub gates: Vec<T>,
    /// `N x extra H`
    pub extra: Vec<T>,
    /// `N x H`
    pub states: Vec<T>,
    /// `N x M`
    pub contexts: Vec<T>,
    /// The attention weights of all pairs.
    pub weights: Vec<T>,
    /// `tanh(W s + k)` of all pairs, a row of `A` each.
    pub hidden: Vec<T>,
}

/// Runs the decoder over all steps.
pub fn forward<T: Float>(l: Layout, memory: Memory<T>, weights: &ForwardWeights<T>, trace: &mut Trace<T>) {
    let (h, gh, eh) = (l.size, l.cell.gates() * l.size, l.cell.extra() * l.size);
    let items = l.steps.counts.first().copied().unwrap_or(0);
    let mut query = T::zeros(items * l.alignment);
    let mut hidden = T::zeros(items * gh);
    for (t, (before, first, count)) in l.steps.blocks().enumerate() {
        let (past, now) = trace.states.split_at_mut(first * h);
        let previous = if t == 0 { &memory.state0[..count * h] } else { &past[before * h..(before + count) * h] };
        let (past_extra, extra) = trace.extra.split_at_mut(first * eh);
        let cell_memory = match (l.cell.has_memory(), t) {
            (false, _) => &[][..],
            (true, 0) => &memory.memory0[..count * h],
            (true, _) => &past_extra[before * h..(before + count) * h],
        };

        // Score, softmax, mix.
        let spans = &l.spans[first..first + count];
        let pairs = l.pairs(first, count);
        let query = &mut query[..count * l.alignment];
        product_packed(View::new(previous, count, h), &weights.query, query, l.alignment, false);
        pairs::additive_hidden(spans, l.alignment, query, memory.keys, &mut trace.hidden);
        let shape = Heads { heads: 1, size: l.alignment };
        let tanhs = &trace.hidden[pairs.start * l.alignment..pairs.end * l.alignment];
        pairs::weigh_forward(shape, weights.v, tanhs, &mut trace.weights[pairs]);
        for span in spans {
            segment::softmax_one(&mut trace.weights[span.pair..span.pair + span.count]);
        }
        let context = &mut trace.contexts[first * l.width..(first + count) * l.width];
        pairs::mix_forward(spans, Heads { heads: 1, size: l.width }, &trace.weights, memory.values, context);

        // Step.
        let gates = &mut trace.gates[first * gh..(first + count) * gh];
        product_packed(View::new(context, count, l.width), &weights.context, gates, gh, true);
        let hidden = &mut hidden[..count * gh];
        for row in hidden.chunks_exact_mut(gh) {
            row.copy_from_slice(weights.hidden_bias);
        }
        product_packed(View::new(previous, count, h), &weights.hidden, hidden, gh, true);
        cell::forward(l.cell, h, gates, hidden, previous, cell_memory, &mut now[..count * h], &mut extra[..count * eh]);
    }
}

/// Weights of the backward pass, packed as right sides.
#[derive(Debug)]
pub struct BackwardWeights<'a, T> {
    /// `W`: `A x H`
    pub query: Packed<T>,
    /// The cell's input weights for the context, `M` columns, one for each of [`Cell::input_parts`].
    pub context: Vec<Packed<T>>,
    /// The cell's hidden weights: `gates H x H`
    pub hidden: Packed<T>,
    /// `v`
    pub v: &'a [T],
}

/// Gradients; those of the memory side and of `v` are added to, the others written.
#[derive(Debug)]
pub struct Gradients<'a, T> {
    /// `N x M`: comes in as the gradient of the contexts from outside, leaves as the whole one.
    pub contexts: &'a mut [T],
    /// One number per pair, the gradient of the weights from outside; empty if there is none.
    pub weights: &'a [T],
    /// `N x gradient_gates H`
    pub gates: &'a mut [T],
    /// `N x A`
    pub queries: &'a mut [T],
    /// `N_memory x A`
    pub keys: &'a mut [T],
    /// `N_memory x M`
    pub values: &'a mut [T],
    /// `A`
    pub v: &'a mut [T],
    /// `B x H`: zeros coming in, the gradient of the initial state going out.
    pub state: &'a mut [T],
    /// `B x H`, likewise; empty unless the cell has it.
    pub memory: &'a mut [T],
}

/// Runs the decoder backwards; `d_states` is the gradient of all states from outside.
pub fn backward<T: Float>(l: Layout, memory: Memory<T>, weights: &BackwardWeights<T>, trace: &Trace<T>, d_states: &[T], d: Gradients<T>) {
    let (h, gh, eh, dh) = (l.size, l.cell.gates() * l.size, l.cell.extra() * l.size, l.cell.gradient_gates() * l.size);
    let shape = Heads { heads: 1, size: l.alignment };
    let mut d_weights = Vec::new();
    for (t, (before, first, count)) in l.steps.blocks().enumerate().rev() {
        let rows = first * h..(first + count) * h;
        let past = before * h..(before + count) * h;
        let (previous, cell_memory) = match (t, l.cell.has_memory()) {
            (0, false) => (&memory.state0[..count * h], &[][..]),
            (0, true) => (&memory.state0[..count * h], &memory.memory0[..count * h]),
            (_, false) => (&trace.states[past], &[][..]),
            (_, true) => (&trace.states[past.clone()], &trace.extra[past]),
        };
        let d_state = &mut d.state[..count * h];
        let d_memory = if l.cell.has_memory() { &mut d.memory[..count * h] } else { &mut [] };

        // Back through the step.
        map::add_assign(d_state, &d_states[rows.clone()]);
        let d_gates = &mut d.gates[first * dh..(first + count) * dh];
        cell::backward(
            l.cell,
            h,
            &trace.gates[first * gh..(first + count) * gh],
            &trace.extra[first * eh..(first + count) * eh],
            previous,
            cell_memory,
            &trace.states[rows],
            d_state,
            d_memory,
            d_gates,
        );
        product_packed(View::strided(d_gates, count, gh, dh), &weights.hidden, d_state, h, true);
        let d_context = &mut d.contexts[first * l.width..(first + count) * l.width];
        for (&(from, _, gates), weights) in l.cell.input_parts().iter().zip(&weights.context) {
            let part = View::strided(&d_gates[from * h..], count, gates * h, dh);
            product_packed(part, weights, d_context, l.width, true);
        }

        // Back through mix, softmax and score.
        let spans = &l.spans[first..first + count];
        let pairs = l.pairs(first, count);
        let local: Vec<Span> = spans.iter().map(|s| Span { pair: s.pair - pairs.start, ..*s }).collect();
        d_weights.clear();
        match d.weights {
            [] => d_weights.resize(pairs.len(), T::ZERO),
            from_outside => d_weights.extend_from_slice(&from_outside[pairs.clone()]),
        }
        let weights_now = &trace.weights[pairs.clone()];
        pairs::mix_backward(&local, Heads { heads: 1, size: l.width }, weights_now, memory.values, d_context, &mut d_weights, d.values);
        for span in &local {
            let at = span.pair..span.pair + span.count;
            softmax_backward_in_place(&weights_now[at.clone()], &mut d_weights[at]);
        }
        let d_query = &mut d.queries[first * l.alignment..(first + count) * l.alignment];
        d_query.fill(T::ZERO);
        let hidden = &trace.hidden[pairs.start * l.alignment..pairs.end * l.alignment];
        pairs::additive_backward(&local, shape, weights.v, hidden, &d_weights, d_query, d.keys, d.v);
        product_packed(View::new(d_query, count, l.alignment), &weights.query, d_state, h, true);
    }
}

/// `dw <- w (dw - Σ w dw)`
fn softmax_backward_in_place<T: Float>(w: &[T], dw: &mut [T]) {
    let inner = map::dot(w, dw);
    for (d, &w) in dw.iter_mut().zip(w) {
        *d = w * (*d - inner);
    }
}
