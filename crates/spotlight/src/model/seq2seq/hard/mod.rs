//! Hard monotonic attention that is trained exactly: every unit is written at one position of the source, positions never go back, and the loss sums over all ways to walk.
//! Wu and Cotterell, 2019.
//!
//! The state of the decoder depends on what was written and not on where, so that the sum is exact (`paths.rs`). At state `h_i` and position `m_j`:
//!
//! ```text
//! s_ij    = h_i · W m_j                              where to go
//! e_ij(u) = softmax(V tanh(A h_i + B m_j + c))(u)    what is written there
//! ```

mod paths;
#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};
use spotlight_kernels::Float;
use spotlight_kernels::loss::log_softmax;

pub(super) use self::paths::log_sum;
use self::paths::{Walks, arriving, start};
use crate::Result;
use crate::axis::{Axis, Pairs};
use crate::nn::Linear;
use crate::params::{Init, ParamId, Params};
use crate::tape::{Tape, Var};

/// Lengths of a move that are told from each other.
const MOVES: usize = 8;

/// What a step of a walk depends on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Hard {
    /// Attention is soft.
    #[default]
    Off,
    /// On the state and on the positions that are left.
    Zeroth,
    /// On the length of the move, too.
    First,
}

/// The layers.
#[derive(Clone, Debug)]
pub(super) struct HardAttention {
    score: Linear,
    state: Linear,
    memory: Linear,
    moves: Option<ParamId>,
    dropout: f64,
}

/// What a step gives: where it is, and what is written at each place.
pub(super) struct Walked {
    /// The log-probability of each unit, row after row.
    pub(super) log_probs: Vec<f32>,
    /// For each row the probability of each position of its source, row after row.
    pub(super) weights: Vec<f32>,
    /// For each row, position by position, the log-probability of being there and writing each unit: what the next step needs.
    pub(super) joint: Vec<f32>,
}

impl HardAttention {
    /// Makes `hard.score.weight`, `hard.state.weight`, `hard.memory.weight`, `hard.memory.bias` and, for the first order, `hard.moves`.
    pub(super) fn new<T: Float>(params: &mut Params<T>, hard: Hard, hidden: usize, memory: usize, dropout: f64) -> Self {
        HardAttention {
            score: Linear::without_bias(params, "hard.score", memory, hidden),
            state: Linear::without_bias(params, "hard.state", hidden, hidden),
            memory: Linear::new(params, "hard.memory", memory, hidden),
            moves: (hard == Hard::First).then(|| params.add("hard.moves", &[1, MOVES], Init::Zeros)),
            dropout,
        }
    }

    /// For all pairs of a state and a position: `s`, and what the output layer reads.
    fn pairs<T: Float>(&self, tape: &Tape<T>, states: Var, memory: Var, pairs: &Pairs) -> Result<(Var, Var)> {
        let (mut queries, mut keys) = (Vec::new(), Vec::new());
        for (query, span) in pairs.spans().iter().enumerate() {
            queries.extend(std::iter::repeat_n(query, span.count));
            keys.extend(span.first..span.first + span.count);
        }
        let (states, memory) = (tape.off_axis(states), tape.off_axis(memory));
        let at = |x: Var, rows: &[usize]| tape.gather(x, rows);
        let scores = tape.dot(at(states, &queries)?, at(self.score.forward(tape, memory)?, &keys)?)?;
        let (h, m) = (at(self.state.forward(tape, states)?, &queries)?, at(self.memory.forward(tape, memory)?, &keys)?);
        Ok((scores, tape.dropout(tape.tanh(tape.add(h, m)?), self.dropout)?))
    }

    /// `-ln p` of known targets on their axis, summed and multiplied by `scale`. `logits` is the output layer. From an empty source nothing is learnt.
    #[allow(clippy::too_many_arguments, reason = "all that the formula reads")]
    pub(super) fn loss<T: Float>(
        &self,
        tape: &Tape<T>,
        states: Var,
        memory: Var,
        (source, target): (&Axis, &Axis),
        targets: &[u32],
        logits: impl Fn(Var) -> Result<Var>,
        scale: f64,
    ) -> Result<Var> {
        let pairs = Pairs::new(target, source)?;
        let (scores, read) = self.pairs(tape, states, memory, &pairs)?;
        let log_probs = tape.row_log_softmax(logits(read)?);
        let (rows, units) = tape.shape(log_probs);
        let mut chosen = T::zeros(rows * units);
        for (span, &unit) in pairs.spans().iter().zip(targets) {
            (span.pair..span.pair + span.count).for_each(|pair| chosen[pair * units + unit as usize] = T::ONE);
        }
        let emissions = tape.row_sum(tape.mul(log_probs, tape.table(rows, units, chosen)?)?)?;
        all_walks(tape, emissions, scores, self.moves.map(|moves| tape.param(moves)), (source, target), scale)
    }

    /// One step of some hypotheses: `units` are the ones before, `joint` what the step before left, `first` whether there was none.
    #[allow(clippy::too_many_arguments, reason = "a step is told where it stands, what came before, and what it may look at")]
    pub(super) fn step(
        &self,
        tape: &Tape<'_, f32>,
        states: Var,
        memory: Var,
        (source, items): (&Axis, &[usize]),
        units: &[u32],
        (joint, first): (&[f32], bool),
        logits: impl Fn(Var) -> Result<Var>,
    ) -> Result<Walked> {
        let pairs = Pairs::for_items(items, source);
        let (scores, read) = self.pairs(tape, states, memory, &pairs)?;
        let logits = logits(read)?;
        let known = tape.shape(logits).1;
        let moves: Vec<f64> =
            self.moves.map_or_else(Vec::new, |moves| tape.value(tape.param(moves)).iter().map(|x| f64::from(*x)).collect());
        let width = source.steps() * known;
        let (mut log_probs, mut weights) = (vec![f32::NEG_INFINITY; items.len() * known], Vec::new());
        let mut all = vec![f32::NEG_INFINITY; items.len() * width];
        let (scores, mut emissions) = (tape.to_vec(scores), tape.to_vec(logits));
        emissions.chunks_exact_mut(known.max(1)).for_each(log_softmax);
        for (row, span) in pairs.spans().iter().enumerate() {
            let before = match first {
                true => start(span.count),
                false => {
                    let unit = units[row] as usize;
                    let at: Vec<f64> = (0..span.count).map(|j| f64::from(joint[row * width + j * known + unit])).collect();
                    let sum = log_sum(at.iter().copied());
                    at.iter().map(|x| if sum == f64::NEG_INFINITY { *x } else { x - sum }).collect()
                }
            };
            let own: Vec<f64> = scores[span.pair..span.pair + span.count].iter().map(|s| f64::from(*s)).collect();
            let here = arriving(&before, &own, &moves);
            weights.extend(here.iter().map(|x| x.exp() as f32));
            let of_row = &mut log_probs[row * known..(row + 1) * known];
            for (j, place) in here.iter().enumerate() {
                let written = &emissions[(span.pair + j) * known..(span.pair + j + 1) * known];
                let joint = &mut all[row * width + j * known..][..known];
                joint.iter_mut().zip(written).for_each(|(to, e)| *to = (*place + f64::from(*e)) as f32);
            }
            for (unit, log_prob) in of_row.iter_mut().enumerate() {
                *log_prob = log_sum((0..span.count).map(|j| f64::from(all[row * width + j * known + unit]))) as f32;
            }
        }
        Ok(Walked { log_probs, weights, joint: all })
    }
}

/// `-ln p` of all pairs, times `scale`: emissions and scores have a row for each pair of a target position and a position of its source.
pub(super) fn all_walks<T: Float>(
    tape: &Tape<T>,
    emissions: Var,
    scores: Var,
    moves: Option<Var>,
    (source, target): (&Axis, &Axis),
    scale: f64,
) -> Result<Var> {
    let numbers = |x: Var| tape.value(x).iter().map(|x| x.to_f64()).collect::<Vec<f64>>();
    let (e, s, b) = (numbers(emissions), numbers(scores), moves.map_or_else(Vec::new, numbers));
    let (mut total, mut d_emissions, mut d_scores, mut d_moves) = (0.0, vec![0.0; e.len()], vec![0.0; s.len()], vec![0.0; b.len()]);
    let mut first = 0;
    for item in 0..source.items() {
        let (steps, places) = (target.lengths()[item], source.lengths()[item]);
        let own = first..first + steps * places;
        first = own.end;
        if own.is_empty() {
            continue;
        }
        let walks = Walks { steps, places, emissions: &e[own.clone()], scores: &s[own.clone()], moves: &b };
        if !tape.is_training() {
            total -= walks.log_prob();
            continue;
        }
        let slopes = walks.slopes();
        total -= slopes.log_prob;
        d_emissions[own.clone()].copy_from_slice(&slopes.emissions);
        d_scores[own].copy_from_slice(&slopes.scores);
        d_moves.iter_mut().zip(&slopes.moves).for_each(|(d, slope)| *d += slope);
    }
    let parents: Vec<Var> = [emissions, scores].into_iter().chain(moves).collect();
    tape.operation(vec![T::from_f64(total * scale)], (1, 1), None, &parents, move |back, dy| {
        let factor = -dy[0].to_f64() * scale;
        let mut add = |x: Var, d: &[f64]| {
            let d: Vec<T> = d.iter().map(|d| T::from_f64(d * factor)).collect();
            back.grads.add(x, &d);
        };
        add(emissions, &d_emissions);
        add(scores, &d_scores);
        if let Some(moves) = moves {
            add(moves, &d_moves);
        }
    })
}
