//! Recurrent layers, one or two directions, stacked.

use spotlight_kernels::Float;
use spotlight_kernels::cell::Cell;

use crate::axis::Axis;
use crate::params::{Init, Params};
use crate::tape::{Recurrent, States, Tape, Var};
use crate::{Error, Result};

/// Shape of an [`Rnn`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct RnnConfig {
    /// Which cell.
    pub cell: Cell,
    /// Features going in.
    pub input: usize,
    /// Hidden size of each direction.
    pub hidden: usize,
    /// Layers on top of each other.
    pub layers: usize,
    /// Whether each layer also reads the sequences from their ends.
    pub bidirectional: bool,
    /// Dropout between the layers, while learning.
    pub dropout: f64,
    /// What the forget gate of an LSTM is inclined to at first; 1 makes it remember. Jozefowicz and others, 2015.
    pub forget_bias: f64,
}

impl RnnConfig {
    /// One layer in one direction, no dropout, forget bias 1.
    pub fn new(cell: Cell, input: usize, hidden: usize) -> Self {
        RnnConfig { cell, input, hidden, layers: 1, bidirectional: false, dropout: 0.0, forget_bias: 1.0 }
    }
}

/// A stack of recurrent layers.
#[derive(Clone, Debug)]
pub struct Rnn {
    /// Its shape.
    pub config: RnnConfig,
    /// For each layer, its directions.
    pub layers: Vec<Vec<Recurrent>>,
}

/// What an [`Rnn`] gives.
#[derive(Clone, Debug)]
pub struct RnnOutput {
    /// The states of the top layer at every position, both directions side by side.
    pub states: Var,
    /// For each layer and direction (forwards, then backwards), its states.
    pub layers: Vec<States>,
}

impl RnnOutput {
    /// The last states of the top layer's directions side by side, one row an item.
    pub fn last<T: Float>(&self, tape: &Tape<T>) -> Result<Var> {
        let top: Vec<Var> = self.top(tape).iter().map(|s| s.last).collect();
        tape.concat(&top)
    }

    /// The last cell states of the top layer's directions side by side, for an LSTM.
    pub fn last_memory<T: Float>(&self, tape: &Tape<T>) -> Result<Option<Var>> {
        let top: Vec<Var> = self.top(tape).iter().filter_map(|s| s.memory).collect();
        if top.is_empty() { Ok(None) } else { tape.concat(&top).map(Some) }
    }

    /// The top layer's directions.
    fn top<T: Float>(&self, tape: &Tape<T>) -> &[States] {
        let width = self.layers.first().map_or(0, |s| tape.shape(s.last).1);
        let directions = tape.shape(self.states).1.checked_div(width).unwrap_or(0);
        &self.layers[self.layers.len().saturating_sub(directions)..]
    }
}

impl Rnn {
    /// Input weights by Glorot, hidden weights orthogonal, biases zero but for an LSTM's forget gate. Names are those of `torch.nn.RNN`, `GRU` and `LSTM`
    /// after `name.`.
    pub fn new<T: Float>(params: &mut Params<T>, name: &str, config: RnnConfig) -> Self {
        let (h, gates) = (config.hidden, config.cell.gates());
        let directions: &[bool] = if config.bidirectional { &[false, true] } else { &[false] };
        let mut layers = Vec::with_capacity(config.layers);
        for layer in 0..config.layers {
            let input = if layer == 0 { config.input } else { h * directions.len() };
            let mut make = |reversed: bool| {
                let suffix = format!("l{layer}{}", if reversed { "_reverse" } else { "" });
                let recurrent = Recurrent {
                    cell: config.cell,
                    weight_ih: params.add(format!("{name}.weight_ih_{suffix}"), &[gates * h, input], Init::Glorot),
                    weight_hh: params.add(format!("{name}.weight_hh_{suffix}"), &[gates * h, h], Init::Orthogonal),
                    bias_ih: params.add(format!("{name}.bias_ih_{suffix}"), &[gates * h], Init::Zeros),
                    bias_hh: params.add(format!("{name}.bias_hh_{suffix}"), &[gates * h], Init::Zeros),
                    reversed,
                };
                if config.cell == Cell::Lstm {
                    params.get_mut(recurrent.bias_ih)[h..2 * h].fill(T::from_f64(config.forget_bias));
                }
                recurrent
            };
            layers.push(directions.iter().map(|&reversed| make(reversed)).collect());
        }
        Rnn { config, layers }
    }

    /// Ways in which each layer reads: 1, or 2.
    pub fn directions(&self) -> usize {
        if self.config.bidirectional { 2 } else { 1 }
    }

    /// Runs over every sequence of `x`, from zeros.
    pub fn forward<T: Float>(&self, tape: &Tape<T>, x: Var) -> Result<RnnOutput> {
        self.forward_from(tape, x, &[], &[])
    }

    /// Runs over every sequence of `x` from given states: one for each layer and direction (forwards, then backwards), or none.
    pub fn forward_from<T: Float>(&self, tape: &Tape<T>, x: Var, states: &[Var], memories: &[Var]) -> Result<RnnOutput> {
        let scans = self.layers.iter().map(Vec::len).sum::<usize>();
        for (what, given) in [("initial states", states.len()), ("initial cell states", memories.len())] {
            if given != 0 && given != scans {
                let expected = format!("{scans}, one for each layer and direction, or 0");
                return Err(Error::Value { what: format!("the number of {what}"), got: given.to_string(), expected });
            }
        }
        let mut all = Vec::new();
        let mut x = x;
        for (i, layer) in self.layers.iter().enumerate() {
            if i > 0 {
                x = tape.dropout(x, self.config.dropout)?;
            }
            let mut tops = Vec::with_capacity(2);
            for direction in layer {
                let at = all.len();
                let run = tape.recurrent(direction, x, states.get(at).copied(), memories.get(at).copied())?;
                tops.push(run.states);
                all.push(run);
            }
            x = if let [one] = tops[..] { one } else { tape.concat(&tops)? };
        }
        Ok(RnnOutput { states: x, layers: all })
    }

    /// One step for decoding: `x` has one row an item. Returns the output and the new states of each layer.
    ///
    /// A step is a sequence of length 1; a stack read in both directions has no single step, and that is an error.
    pub fn step<T: Float>(&self, tape: &Tape<T>, x: Var, states: &[Var], memories: &[Var]) -> Result<RnnOutput> {
        if self.config.bidirectional {
            let (what, got) = ("the number of directions of a recurrent layer that takes single steps".into(), "2".into());
            return Err(Error::Value { what, got, expected: "1".into() });
        }
        let axis = Axis::new(vec![1; tape.shape(x).0]);
        self.forward_from(tape, tape.on_axis(x, &axis)?, states, memories)
    }

    /// One step for a search, where the bottom layer's input has been through its weights already: `gates` are `x W_ihᵀ + b_ih`.
    pub(crate) fn step_from_gates<T: Float>(&self, tape: &Tape<T>, gates: Var, states: &[Var], memories: &[Var]) -> Result<RnnOutput> {
        let [Some(&state), memory] = [states.first(), memories.first()] else {
            return Err(Error::Index { op: "recurrent step (state)", index: 0, len: 0 });
        };
        let bottom = tape.recurrent_step(&self.layers[0][0], gates, state, memory.copied())?;
        let mut run = RnnOutput { states: bottom.states, layers: vec![bottom] };
        if self.layers.len() > 1 {
            let rest = Rnn { config: self.config, layers: self.layers[1..].to_vec() };
            let above = rest.step(tape, run.states, &states[1..], memories.get(1..).unwrap_or_default())?;
            run.states = above.states;
            run.layers.extend(above.layers);
        }
        Ok(run)
    }
}
