//! Bahdanau's order: attend with the state before, then step. Bahdanau, Cho and Bengio, 2015, section 3.1 and appendix A.
//!
//! `c_i = attend(s_(i-1))`, `s_i = cell([y_i; c_i], s_(i-1))`; read out: `[s_i; c_i]`.

use spotlight_kernels::Float;

use super::recurrent::{Look, Moved, Parts, RecurrentDecoder, beside, top};
use super::{AdditiveDecoder, DecoderOutput, State};
use crate::Result;
use crate::attention::{Memory, mix};
use crate::tape::{Tape, Var};

/// One step.
pub(super) fn step<T: Float>(
    decoder: &RecurrentDecoder,
    tape: &Tape<T>,
    y: Var,
    before: &Parts,
    memory: &Memory,
    look: impl Fn(Var) -> Result<Option<Look>>,
) -> Result<Moved> {
    let look = look(top(&before.layers, "decoder")?)?;
    let context = look.as_ref().map(|look| look.context);
    let run = match (memory.projected, &look) {
        (Some(projected), Some(look)) => {
            // W_ih [y; c] = W_y y + Σ a (W_c v)
            let cell = &decoder.rnn.layers[0][0];
            let from_y = tape.linear_columns(y, cell.weight_ih, 0, Some(cell.bias_ih))?;
            let gates = tape.add(from_y, mix(tape, look.weights, projected, &look.pairs)?)?;
            decoder.rnn.step_from_gates(tape, gates, &before.layers, &before.memories)?
        }
        // Units that were looked up are taken through the weight as a table; only the context is multiplied.
        (None, Some(look)) if tape.search_width().is_some() => {
            let cell = &decoder.rnn.layers[0][0];
            let from_y = tape.linear_columns(y, cell.weight_ih, 0, Some(cell.bias_ih))?;
            let gates = tape.plus_columns(from_y, look.context, cell.weight_ih, decoder.config.input)?;
            decoder.rnn.step_from_gates(tape, gates, &before.layers, &before.memories)?
        }
        _ => decoder.rnn.step(tape, beside(tape, &[Some(y), context])?, &before.layers, &before.memories)?,
    };
    let readout = beside(tape, &[Some(tape.off_axis(run.states)), context])?;
    Ok(Moved { run, readout, look })
}

/// All steps as one node.
pub(super) fn all_at_once<T: Float>(
    decoder: &RecurrentDecoder,
    fused: &AdditiveDecoder,
    tape: &Tape<T>,
    y: Var,
    memory: &Memory,
    start: &State,
) -> Result<DecoderOutput> {
    let start = decoder.parts(start)?;
    let state = top(&start.layers, "decoder")?;
    let out = fused.forward(tape, y, memory.keys, memory.values, state, start.memories.last().copied())?;
    let readout = tape.dropout(tape.concat(&[out.states, out.contexts])?, decoder.config.dropout)?;
    Ok(DecoderOutput {
        states: out.states,
        readout,
        contexts: Some(out.contexts),
        weights: Some(out.weights),
        own: Vec::new(),
        pairs: Some(out.pairs),
        coverage_penalty: None,
        log_probs: None,
    })
}
