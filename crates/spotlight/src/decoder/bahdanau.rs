//! Bahdanau's order: attend with the state before, then step. Bahdanau, Cho and Bengio, 2015, section 3.1 and appendix A.
//!
//! `c_i = attend(s_(i-1))`, `s_i = cell([y_i; c_i], s_(i-1))`; read out: `[s_i; c_i]`.

use spotlight_kernels::Float;

use super::recurrent::{Look, Moved, Parts, RecurrentDecoder, beside, top, weights_of};
use super::{AdditiveDecoder, DecoderOutput, State};
use crate::Result;
use crate::attention::Memory;
use crate::tape::{Tape, Var};

/// One step.
pub(super) fn step<T: Float>(
    decoder: &RecurrentDecoder,
    tape: &Tape<T>,
    y: Var,
    before: &Parts,
    look: impl Fn(Var) -> Result<Option<Look>>,
) -> Result<Moved> {
    let look = look(top(&before.layers, "decoder")?)?;
    let context = look.as_ref().map(|look| look.context);
    let run = decoder.rnn.step(tape, beside(tape, &[Some(y), context])?, &before.layers, &before.memories)?;
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
    let (weights, pairs) = weights_of(tape, &tape.need_axis("decoder", y)?, memory, out.weights)?;
    let readout = tape.dropout(tape.concat(&[out.states, out.contexts])?, decoder.config.dropout)?;
    Ok(DecoderOutput {
        states: out.states,
        readout,
        contexts: Some(out.contexts),
        weights: Some(weights),
        pairs: Some(pairs),
        coverage_penalty: None,
        log_probs: None,
    })
}
