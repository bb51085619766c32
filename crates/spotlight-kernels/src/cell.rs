//! The gates of the recurrent cells: from projected inputs to a new state, and back.
//!
//! The products around a step (input projection, hidden projection) are done by whoever runs the cell, see [`scan`](crate::scan) and
//! [`decoder`](crate::decoder); a [`Cell`] is the elementwise part between them. Weights and gates follow PyTorch's order.

use crate::Float;

/// Which cell.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cell {
    /// `h' = tanh(x + W h)`
    Tanh,
    /// `r, z = σ(x + W h)`, `n = tanh(x + r (W h))`, `h' = (1 - z) n + z h`; gates in the order r, z, n.
    Gru,
    /// `i, f, o = σ(x + W h)`, `g = tanh(x + W h)`, `c' = f c + i g`, `h' = o tanh c'`; gates in the order i, f, g, o.
    Lstm,
}

impl Cell {
    /// Gates: the projections have `gates() * H` columns.
    pub fn gates(self) -> usize {
        match self {
            Cell::Tanh => 1,
            Cell::Gru => 3,
            Cell::Lstm => 4,
        }
    }

    /// Columns, in units of `H`, of the gate gradients that [`backward`] writes.
    ///
    /// The GRU's candidate sees the hidden projection through its reset gate, so its gradient differs between the two projections: columns
    /// 0, 1, 2 belong to the hidden one and 0, 1, 3 to the input one.
    pub fn gradient_gates(self) -> usize {
        match self {
            Cell::Tanh => 1,
            Cell::Gru | Cell::Lstm => 4,
        }
    }

    /// The gate gradients that belong to the input projection, in units of `H`: (first column of the gradient, first gate of the weights, gates).
    pub fn input_parts(self) -> &'static [(usize, usize, usize)] {
        match self {
            Cell::Tanh => &[(0, 0, 1)],
            Cell::Gru => &[(0, 0, 2), (3, 2, 1)],
            Cell::Lstm => &[(0, 0, 4)],
        }
    }

    /// Numbers per hidden unit that the forward pass keeps beside the gates: the GRU's hidden projection of the candidate, the LSTM's
    /// cell state.
    pub fn extra(self) -> usize {
        match self {
            Cell::Tanh => 0,
            Cell::Gru | Cell::Lstm => 1,
        }
    }

    /// Whether a second state (the LSTM's `c`) is carried from step to step.
    pub fn has_memory(self) -> bool {
        self == Cell::Lstm
    }
}

/// One step for some rows.
///
/// `gates` holds the input projection and is left with the activated gates; `hidden` is the projection of the previous state. `extra` is
/// written: for an LSTM it is the new cell state, and `memory` the previous one.
pub fn forward<T: Float>(
    cell: Cell,
    size: usize,
    gates: &mut [T],
    hidden: &[T],
    previous: &[T],
    memory: &[T],
    state: &mut [T],
    extra: &mut [T],
) {
    match cell {
        Cell::Tanh => tanh_rows_forward(gates, hidden, state),
        Cell::Gru => gru_rows_forward(size, gates, hidden, previous, state, extra),
        Cell::Lstm => lstm_rows_forward(size, gates, hidden, memory, state, extra),
    }
}

/// One step back for some rows.
///
/// `d_state` comes in as the gradient of the new state and leaves as the part of the previous state's gradient that does not pass
/// through the hidden projection; `d_memory` likewise for the LSTM's cell state. `d_gates` is written.
pub fn backward<T: Float>(
    cell: Cell,
    size: usize,
    gates: &[T],
    extra: &[T],
    previous: &[T],
    memory: &[T],
    state: &[T],
    d_state: &mut [T],
    d_memory: &mut [T],
    d_gates: &mut [T],
) {
    match cell {
        Cell::Tanh => tanh_rows_backward(state, d_state, d_gates),
        Cell::Gru => gru_rows_backward(size, gates, extra, previous, d_state, d_gates),
        Cell::Lstm => lstm_rows_backward(size, gates, extra, memory, d_state, d_memory, d_gates),
    }
}

simd! {
    fn tanh_rows_forward<T>(gates: &mut [T], hidden: &[T], state: &mut [T]) {
        for ((g, &h), s) in gates.iter_mut().zip(hidden).zip(state) {
            *g = (*g + h).tanh();
            *s = *g;
        }
    }
}

simd! {
    fn tanh_rows_backward<T>(state: &[T], d_state: &mut [T], d_gates: &mut [T]) {
        for ((d, dg), &s) in d_state.iter_mut().zip(d_gates).zip(state) {
            *dg = *d * (T::ONE - s * s);
            *d = T::ZERO;
        }
    }
}

simd! {
    fn gru_rows_forward<T>(size: usize, gates: &mut [T], hidden: &[T], previous: &[T], state: &mut [T], extra: &mut [T]) {
        let rows = gates.chunks_exact_mut(3 * size).zip(hidden.chunks_exact(3 * size));
        let states = previous.chunks_exact(size).zip(state.chunks_exact_mut(size)).zip(extra.chunks_exact_mut(size));
        for ((gates, hidden), ((previous, state), extra)) in rows.zip(states) {
            let (rz, n) = gates.split_at_mut(2 * size);
            for (g, &h) in rz.iter_mut().zip(hidden) {
                *g = (*g + h).sigmoid();
            }
            let (r, z) = rz.split_at(size);
            extra.copy_from_slice(&hidden[2 * size..]);
            for ((n, &r), &e) in n.iter_mut().zip(r).zip(&*extra) {
                *n = T::fma::<FMA>(r, e, *n).tanh();
            }
            for (((s, &n), &z), &p) in state.iter_mut().zip(&*n).zip(z).zip(previous) {
                *s = T::fma::<FMA>(z, p - n, n);
            }
        }
    }
}

simd! {
    fn gru_rows_backward<T>(size: usize, gates: &[T], extra: &[T], previous: &[T], d_state: &mut [T], d_gates: &mut [T]) {
        let rows = gates.chunks_exact(3 * size).zip(extra.chunks_exact(size)).zip(previous.chunks_exact(size));
        let grads = d_state.chunks_exact_mut(size).zip(d_gates.chunks_exact_mut(4 * size));
        for (((gates, extra), previous), (d_state, d_gates)) in rows.zip(grads) {
            let (r, zn) = gates.split_at(size);
            let (z, n) = zn.split_at(size);
            let (dr, rest) = d_gates.split_at_mut(size);
            let (dz, rest) = rest.split_at_mut(size);
            let (dn_hidden, dn) = rest.split_at_mut(size);
            for j in 0..size {
                let d = d_state[j];
                let to_n = d * (T::ONE - z[j]) * (T::ONE - n[j] * n[j]);
                dz[j] = d * (previous[j] - n[j]) * z[j] * (T::ONE - z[j]);
                dn[j] = to_n;
                dn_hidden[j] = to_n * r[j];
                dr[j] = to_n * extra[j] * r[j] * (T::ONE - r[j]);
                d_state[j] = d * z[j];
            }
        }
    }
}

simd! {
    fn lstm_rows_forward<T>(size: usize, gates: &mut [T], hidden: &[T], memory: &[T], state: &mut [T], next_memory: &mut [T]) {
        let rows = gates.chunks_exact_mut(4 * size).zip(hidden.chunks_exact(4 * size));
        let states = memory.chunks_exact(size).zip(state.chunks_exact_mut(size)).zip(next_memory.chunks_exact_mut(size));
        for ((gates, hidden), ((memory, state), next)) in rows.zip(states) {
            for (g, &h) in gates.iter_mut().zip(hidden) {
                *g += h;
            }
            let (i_f, g_o) = gates.split_at_mut(2 * size);
            let (g, o) = g_o.split_at_mut(size);
            for x in i_f.iter_mut() {
                *x = x.sigmoid();
            }
            for x in g.iter_mut() {
                *x = x.tanh();
            }
            for x in o.iter_mut() {
                *x = x.sigmoid();
            }
            let (i, f) = i_f.split_at(size);
            for ((((c, &i), &f), &g), &m) in next.iter_mut().zip(i).zip(f).zip(&*g).zip(memory) {
                *c = T::fma::<FMA>(f, m, i * g);
            }
            for ((s, &o), &c) in state.iter_mut().zip(&*o).zip(&*next) {
                *s = o * c.tanh();
            }
        }
    }
}

simd! {
    fn lstm_rows_backward<T>(size: usize, gates: &[T], next_memory: &[T], memory: &[T], d_state: &mut [T], d_memory: &mut [T], d_gates: &mut [T]) {
        let rows = gates.chunks_exact(4 * size).zip(next_memory.chunks_exact(size)).zip(memory.chunks_exact(size));
        let grads = d_state.chunks_exact_mut(size).zip(d_memory.chunks_exact_mut(size)).zip(d_gates.chunks_exact_mut(4 * size));
        for (((gates, next), memory), ((d_state, d_memory), d_gates)) in rows.zip(grads) {
            let (i, rest) = gates.split_at(size);
            let (f, rest) = rest.split_at(size);
            let (g, o) = rest.split_at(size);
            let (di, rest) = d_gates.split_at_mut(size);
            let (df, rest) = rest.split_at_mut(size);
            let (dg, d_o) = rest.split_at_mut(size);
            for j in 0..size {
                let tanh_c = next[j].tanh();
                let d = d_state[j];
                let dc = d_memory[j] + d * o[j] * (T::ONE - tanh_c * tanh_c);
                d_o[j] = d * tanh_c * o[j] * (T::ONE - o[j]);
                di[j] = dc * g[j] * i[j] * (T::ONE - i[j]);
                df[j] = dc * memory[j] * f[j] * (T::ONE - f[j]);
                dg[j] = dc * i[j] * (T::ONE - g[j] * g[j]);
                d_memory[j] = dc * f[j];
                d_state[j] = T::ZERO;
            }
        }
    }
}
