//! Luong's order: step, then attend. Luong, Pham and Manning, 2015, sections 3 and 3.3.
//!
//! `s_i = cell(y_i, s_(i-1))`, `c_i = attend(s_i)`; read out: `h_i = tanh(Wc [c_i; s_i])`. With input feeding the cell reads `[y_i; h_(i-1)]`.

use spotlight_kernels::Float;

use super::recurrent::{Look, Moved, Parts, RecurrentDecoder, beside};
use super::{DecoderOutput, State};
use crate::Result;
use crate::attention::{Memory, Question};
use crate::tape::{Tape, Var};

/// One step.
pub(super) fn step<T: Float>(
    decoder: &RecurrentDecoder,
    tape: &Tape<T>,
    y: Var,
    before: &Parts,
    look: impl Fn(Var) -> Result<Option<Look>>,
) -> Result<Moved> {
    let run = decoder.rnn.step(tape, beside(tape, &[Some(y), before.fed])?, &before.layers, &before.memories)?;
    let state = tape.off_axis(run.states);
    let look = look(state)?;
    let readout = combine(decoder, tape, state, look.as_ref().map(|look| look.context))?;
    Ok(Moved { run, readout, look })
}

/// `tanh(Wc [c; s])`, or the state alone if nothing was looked at.
fn combine<T: Float>(decoder: &RecurrentDecoder, tape: &Tape<T>, state: Var, context: Option<Var>) -> Result<Var> {
    match (&decoder.combine, context) {
        (Some(combine), Some(context)) => Ok(tape.tanh(combine.forward(tape, tape.concat(&[context, state])?)?)),
        _ => Ok(state),
    }
}

/// All steps of the cells, then all looks: no step needs the look of another.
pub(super) fn all_at_once<T: Float>(
    decoder: &RecurrentDecoder,
    tape: &Tape<T>,
    y: Var,
    memory: &Memory,
    start: &State,
) -> Result<DecoderOutput> {
    let start = decoder.parts(start)?;
    let run = decoder.rnn.forward_from(tape, y, &start.layers, &start.memories)?;
    let mut out = DecoderOutput {
        states: run.states,
        readout: run.states,
        contexts: None,
        weights: None,
        own: Vec::new(),
        pairs: None,
        coverage_penalty: None,
        log_probs: None,
    };
    if let Some(attention) = &decoder.attention {
        let question = Question::of_axes(Some(run.states), &tape.need_axis("decoder", y)?, &memory.axis)?;
        let attended = attention.attend(tape, memory, &question)?;
        (out.contexts, out.weights, out.log_probs) = (Some(attended.context), Some(attended.weights), attended.log_probs);
        out.pairs = Some(question.pairs);
    }
    out.readout = tape.dropout(combine(decoder, tape, run.states, out.contexts)?, decoder.config.dropout)?;
    Ok(out)
}
