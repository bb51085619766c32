//! The whole additive attention decoder under teacher forcing as one node of the tape.
//!
//! Bahdanau's order: attend with the previous state, then step. The formulas stand in [`spotlight_kernels::decoder`].

use spotlight_kernels::Float;
use spotlight_kernels::decoder::{self, BackwardWeights, ForwardWeights, Gradients, Layout, Memory, Trace};
use spotlight_kernels::gemm::{Packed, View, product};
use spotlight_kernels::map;
use spotlight_kernels::pairs::Span;
use spotlight_kernels::scan::Steps;

use crate::axis::Pairs;
use crate::params::ParamId;
use crate::tape::{GateGradient, add_initial, copy_rows, fill_rows, scatter_rows, shift_states};
use crate::tape::{Recurrent, Tape, Var};
use crate::{Error, Result};

/// Parameters of the fused decoder.
#[derive(Clone, Copy, Debug)]
pub struct AdditiveDecoder {
    /// `W`: `A x H`
    pub query: ParamId,
    /// `v`: `A`
    pub v: ParamId,
    /// The cell; its input is the target's embedding, then the context.
    pub cell: Recurrent,
}

/// What the decoder gives.
#[derive(Clone, Debug)]
pub struct Decoded {
    /// `s_i` at every target position.
    pub states: Var,
    /// `c_i` at every target position.
    pub contexts: Var,
    /// The weights of every target position over its memory rows: one column on the axis of `pairs`.
    pub weights: Var,
    /// Which weight belongs to which pair of a target position and a row of its memory.
    pub pairs: Pairs,
}

impl AdditiveDecoder {
    /// Runs over the target `y` (on its axis), looking at `memory` through `keys` (`U h`), both on the source axis, from the states `state` (and `memory0` for an
    /// LSTM), one row per item.
    pub fn forward<T: Float>(&self, tape: &Tape<T>, y: Var, keys: Var, memory: Var, state: Var, memory0: Option<Var>) -> Result<Decoded> {
        let op = "additive decoder";
        let (target, source) = (tape.need_axis(op, y)?, tape.need_axis(op, memory)?);
        if target.items() != source.items() {
            return Err(Error::Axes { op, left: target.excerpt(), right: source.excerpt() });
        }
        let cell = self.cell.cell;
        let (w_ih, w_hh) = (tape.param(self.cell.weight_ih), tape.param(self.cell.weight_hh));
        let (b_ih, b_hh) = (tape.param(self.cell.bias_ih), tape.param(self.cell.bias_hh));
        let (w_q, v) = (tape.param(self.query), tape.param(self.v));
        let ((n, e), (memory_rows, m), h, items) = (tape.shape(y), tape.shape(memory), tape.shape(w_hh).1, target.items());
        let (a, gh, eh) = (tape.shape(w_q).0, cell.gates() * h, cell.extra() * h);
        let columns = e + m;
        if [a, h, m].contains(&0) {
            let got = format!("{a}, {h} and {m}");
            let what = "the sizes of alignment, state and memory of an additive decoder".into();
            return Err(Error::Value { what, got, expected: "at least 1 each".into() });
        }
        tape.common_axis("additive decoder (keys and memory)", keys, memory)?;
        tape.expect_shape("additive decoder (keys)", keys, (memory_rows, a))?;
        tape.expect_shape("additive decoder (query weights)", w_q, (a, h))?;
        tape.expect_shape("additive decoder (v)", v, (1, a))?;
        tape.expect_shape("additive decoder (input weights)", w_ih, (gh, columns))?;
        tape.expect_shape("additive decoder (hidden weights)", w_hh, (gh, h))?;
        tape.expect_shape("additive decoder (input bias)", b_ih, (1, gh))?;
        tape.expect_shape("additive decoder (hidden bias)", b_hh, (1, gh))?;
        for state in [Some(state), memory0].into_iter().flatten() {
            tape.expect_shape("additive decoder (initial state)", state, (items, h))?;
        }
        let memory0 = memory0.filter(|_| cell.has_memory());

        let mut spans = Vec::with_capacity(n);
        let mut pairs = 0;
        for &count in target.counts() {
            for &item in &target.order()[..count] {
                spans.push(Span { first: source.offsets()[item], count: source.lengths()[item], pair: pairs });
                pairs += source.lengths()[item];
            }
        }
        let rows = target.step_rows(false);
        let mut ys = tape.buffer(n * e);
        copy_rows(&tape.value(y), rows, e, &mut ys);
        let mut trace = Trace {
            gates: tape.buffer(n * gh),
            extra: tape.buffer(n * eh),
            states: tape.buffer(n * h),
            contexts: tape.buffer(n * m),
            weights: tape.buffer(pairs),
            hidden: tape.buffer(pairs * a),
        };
        fill_rows(&mut trace.gates, &tape.value(b_ih));
        product(View::new(&ys, n, e), View::strided(&tape.value(w_ih), gh, e, columns).t(), &mut trace.gates, gh, true);
        let state0 = tape.initial(Some(state), &target, h);
        let cell_memory0 = if cell.has_memory() { tape.initial(memory0, &target, h) } else { Vec::new() };
        let layout = |spans| Layout { cell, size: h, alignment: a, width: m, steps: Steps { counts: target.counts() }, spans };
        {
            let (w_q, w_ih, w_hh) = (tape.value(w_q), tape.value(w_ih), tape.value(w_hh));
            let weights = ForwardWeights {
                query: Packed::new(View::new(&w_q, a, h).t()),
                context: Packed::new(View::strided(&w_ih[e..], gh, m, columns).t()),
                hidden: Packed::new(View::new(&w_hh, gh, h).t()),
                hidden_bias: &tape.value(b_hh),
                v: &tape.value(v),
            };
            let (keys, values) = (tape.value(keys), tape.value(memory));
            let memory = Memory { keys: &keys, values: &values, state0: &state0, memory0: &cell_memory0 };
            decoder::forward(layout(&spans), memory, &weights, &mut trace);
        }

        let (mut states, mut contexts) = (tape.buffer(n * h), tape.buffer(n * m));
        scatter_rows(&trace.states, rows, h, &mut states);
        scatter_rows(&trace.contexts, rows, m, &mut contexts);
        let mut in_order = vec![0; n];
        for (place, &row) in rows.iter().enumerate() {
            in_order[row] = place;
        }
        let of_row = |place: usize| spans[place].pair..spans[place].pair + spans[place].count;
        let weights: Vec<T> = in_order.iter().flat_map(|&place| &trace.weights[of_row(place)]).copied().collect();
        let grid = Pairs::new(&target, &source)?;

        let parents: Vec<Var> = [y, keys, memory, state, w_q, v, w_ih, w_hh, b_ih, b_hh].into_iter().chain(memory0).collect();
        let axis = target.clone();
        let main = tape.push(states, n, h, Some(target.clone()), &parents, |main| {
            let (context_var, weight_var) = (main.beside(1), main.beside(2));
            Box::new(move |back, dy| {
                let rows = axis.step_rows(false);
                // A loss on the weights themselves is rare; without one there is nothing to add.
                let mut d_weights = Vec::new();
                let given = back.grads.write(weight_var).1;
                let from_outside = back.grads.take(weight_var);
                if given {
                    d_weights = back.grads.buffer(pairs);
                    let mut left = &from_outside[..];
                    for place in in_order {
                        let (here, rest) = left.split_at(spans[place].count);
                        d_weights[spans[place].pair..][..here.len()].copy_from_slice(here);
                        left = rest;
                    }
                }
                back.grads.recycle(from_outside);
                let mut d_states = back.grads.buffer(n * h);
                copy_rows(dy, rows, h, &mut d_states);
                let from_outside = back.grads.take(context_var);
                let mut d_contexts = back.grads.buffer(n * m);
                copy_rows(&from_outside, rows, m, &mut d_contexts);
                back.grads.recycle(from_outside);
                let mut d_gates = back.grads.buffer(n * cell.gradient_gates() * h);
                let mut d_queries = back.grads.buffer(n * a);
                let (mut d_keys, mut d_values) = (back.grads.take(keys), back.grads.take(memory));
                let mut d_v = back.grads.zeros(a);
                let mut d_state = back.grads.zeros(items * h);
                let mut d_memory = back.grads.zeros(if cell.has_memory() { items * h } else { 0 });
                let w_ih_values = back.values.get(w_ih);
                let part = |&(_, gate, gates): &(usize, usize, usize)| {
                    Packed::new(View::strided(&w_ih_values[gate * h * columns + e..], gates * h, m, columns))
                };
                let weights = BackwardWeights {
                    query: Packed::new(View::new(back.values.get(w_q), a, h)),
                    context: cell.input_parts().iter().map(part).collect(),
                    hidden: Packed::new(View::new(back.values.get(w_hh), gh, h)),
                    v: back.values.get(v),
                };
                let layout = Layout { cell, size: h, alignment: a, width: m, steps: Steps { counts: axis.counts() }, spans: &spans };
                let sources =
                    Memory { keys: back.values.get(keys), values: back.values.get(memory), state0: &state0, memory0: &cell_memory0 };
                let gradients = Gradients {
                    contexts: &mut d_contexts,
                    weights: &d_weights,
                    gates: &mut d_gates,
                    queries: &mut d_queries,
                    keys: &mut d_keys,
                    values: &mut d_values,
                    v: &mut d_v,
                    state: &mut d_state,
                    memory: &mut d_memory,
                };
                decoder::backward(layout, sources, &weights, &trace, &d_states, gradients);
                back.grads.put(keys, d_keys);
                back.grads.put(memory, d_values);
                back.grads.add(v, &d_v);

                let mut before = d_states;
                shift_states(layout.steps, h, &trace.states, &state0, &mut before);
                if back.grads.wants(w_q) {
                    let (dw, add) = back.grads.write(w_q);
                    product(View::new(&d_queries, n, a).t(), View::new(&before, n, h), dw, h, add);
                }
                let gradient = GateGradient { cell, size: h, rows: n, data: &d_gates };
                gradient.hidden_weights(back.grads, w_hh, b_hh, &before);
                gradient.input_weights(back.grads, w_ih, columns, &[(0, &ys, e), (e, &trace.contexts, m)]);
                gradient.input_bias(back.grads, b_ih);
                if back.grads.wants(y) {
                    let mut dys = back.grads.buffer(n * e);
                    gradient.input(w_ih_values, columns, 0, &mut dys, e, false);
                    let dy = back.grads.of(y);
                    for (from, &row) in dys.chunks_exact(e.max(1)).zip(rows) {
                        map::add_assign(&mut dy[row * e..(row + 1) * e], from);
                    }
                    back.grads.recycle(dys);
                }
                add_initial(back.grads, state, &axis, h, &d_state);
                if let Some(memory0) = memory0 {
                    add_initial(back.grads, memory0, &axis, h, &d_memory);
                }
                let Trace { gates, extra, states, contexts, weights, hidden } = trace;
                for buffer in [
                    gates, extra, states, contexts, weights, hidden, ys, before, d_contexts, d_weights, d_gates, d_queries, d_state,
                    d_memory,
                ] {
                    back.grads.recycle(buffer);
                }
            })
        });
        let contexts = tape.push_beside(contexts, n, m, Some(target), main);
        let weights = tape.push_beside(weights, pairs, 1, Some(grid.axis().clone()), main);
        Ok(Decoded { states: main, contexts, weights, pairs: grid })
    }
}
