//! Copying: at every step a gate chooses between writing a unit of the vocabulary and copying one that the attention looks at. See, Liu and Manning, 2017, equations 8 and 9.
//!
//! ```text
//! g    = σ(w · [c; s; y] + b)            context, state, vector of the unit before
//! k_j  = (1 - g) a_j                     for the places j of the source that can be copied
//! p(u) = (1 - Σ k_j) softmax(u) + Σ k_j of the places where u stands
//! ```
//!
//! Features of a third column cannot be copied. What the attention has on them is left to the vocabulary, so that all is 1 in sum.

use spotlight_kernels::Float;
use spotlight_kernels::loss::log_softmax;

use super::copies::Copies;
use crate::attention::{Memory, mix};
use crate::axis::{Axis, Pairs};
use crate::decoder::{DecoderOutput, Stepped};
use crate::nn::Linear;
use crate::params::Params;
use crate::search::Copied;
use crate::tape::{Tape, Var};
use crate::{Error, Result};

/// The gate, and what can be copied.
#[derive(Clone, Debug)]
pub(super) struct Copying {
    gate: Linear,
    copies: Copies,
    /// Heads whose mean is the attention that copies: the last ones, of a Transformer those of its last layer.
    heads: usize,
    /// The table of a step's state that holds `s`; none if it is what is read out.
    state: Option<usize>,
}

/// The sizes of what the gate reads.
pub(super) struct GateSizes {
    pub(super) context: usize,
    pub(super) state: usize,
    pub(super) input: usize,
}

/// The units of some sources as they can be copied, row by row of their axis.
#[derive(Clone, Debug)]
pub(super) struct Places {
    numbers: Vec<Option<u32>>,
    /// The most temporary numbers that any of the sources needs.
    beyond: usize,
}

/// What the gate gives.
struct Gated {
    /// `(1 - g) a_j`: one row per pair, whether it can be copied or not.
    masses: Var,
    pairs: Pairs,
}

impl Copying {
    /// Makes `copy.weight` and `copy.bias`.
    pub(super) fn new<T: Float>(params: &mut Params<T>, sizes: GateSizes, heads: usize, state: Option<usize>, copies: Copies) -> Self {
        let gate = Linear::new(params, "copy", sizes.context + sizes.state + sizes.input, 1);
        Copying { gate, copies, heads, state }
    }

    /// The units of sources on their axis.
    pub(super) fn places(&self, source: &[u32], axis: &Axis, targets: usize) -> Places {
        let numbers: Vec<Option<u32>> = (0..axis.items()).flat_map(|item| self.copies.of(&source[axis.range(item)])).collect();
        let most = numbers.iter().flatten().map(|&number| number as usize + 1).max().unwrap_or(0);
        Places { numbers, beyond: most.saturating_sub(targets) }
    }

    /// The mean of the heads that copy: one number per pair.
    fn mean_weights<T: Float>(&self, tape: &Tape<T>, weights: Var, pairs: &Pairs) -> Result<Var> {
        let columns = tape.shape(weights).1;
        let own = match columns == self.heads {
            true => weights,
            false => tape.slice(weights, columns.saturating_sub(self.heads), self.heads)?,
        };
        let mean = if self.heads == 1 { own } else { tape.scale(tape.row_sum(own)?, 1.0 / self.heads as f64) };
        tape.on_axis(tape.off_axis(mean), pairs.axis())
    }

    #[allow(clippy::too_many_arguments, reason = "all that the formula reads")]
    fn gated<T: Float>(
        &self,
        tape: &Tape<T>,
        context: Option<Var>,
        state: Var,
        input: Var,
        weights: Option<Var>,
        pairs: Pairs,
        memories: &[Memory],
    ) -> Result<Gated> {
        let (Some(weights), Some(memory)) = (weights, memories.last()) else {
            return Err(Error::Index { op: "copying (attention)", index: 0, len: 0 });
        };
        let mean = self.mean_weights(tape, weights, &pairs)?;
        let context = context.map_or_else(|| mix(tape, mean, memory.values, &pairs), Ok)?;
        let read = [context, state, input].map(|x| tape.off_axis(x));
        let gate = tape.sigmoid(self.gate.forward(tape, tape.concat(&read)?)?);
        let copy = tape.broadcast(tape.sub(tape.scalar(1.0), gate)?, pairs.axis())?;
        Ok(Gated { masses: tape.mul(copy, mean)?, pairs })
    }

    /// `-ln p` of known targets, summed and multiplied by `scale`: `input` holds the vectors of the units before, `logits` what the output layer says.
    #[allow(clippy::too_many_arguments, reason = "all that the formula reads")]
    pub(super) fn loss<T: Float>(
        &self,
        tape: &Tape<T>,
        logits: Var,
        input: Var,
        decoded: &DecoderOutput,
        memories: &[Memory],
        places: &Places,
        targets: &[u32],
        smoothing: f64,
        scale: f64,
    ) -> Result<Var> {
        let pairs = decoded.pairs.clone().ok_or(Error::NoAxis { op: "copying" })?;
        let gated = self.gated(tape, decoded.contexts, decoded.states, input, decoded.weights, pairs, memories)?;
        let (mut copied, mut matched) = (T::zeros(gated.pairs.axis().rows()), T::zeros(gated.pairs.axis().rows()));
        for (span, target) in gated.pairs.spans().iter().zip(targets) {
            for (j, number) in places.numbers[span.first..span.first + span.count].iter().enumerate() {
                copied[span.pair + j] = if number.is_some() { T::ONE } else { T::ZERO };
                matched[span.pair + j] = if *number == Some(*target) { T::ONE } else { T::ZERO };
            }
        }
        let among = |chosen: Vec<T>| tape.sum(tape.mul(gated.masses, tape.table(chosen.len(), 1, chosen)?)?);
        let (copied, matched) = (among(copied)?, among(matched)?);
        let write = tape.sub(tape.scalar(1.0), copied)?;
        tape.copy_likelihood(tape.off_axis(logits), write, matched, targets, smoothing, scale)
    }

    /// What a step says of every unit: `log_probs` has the logits of each row, and gets the log-probabilities of all units, those with temporary numbers behind the vocabulary's.
    #[allow(clippy::too_many_arguments, reason = "all that the formula reads")]
    pub(super) fn spoken(
        &self,
        tape: &Tape<'_, f32>,
        logits: Var,
        input: Var,
        stepped: &Stepped,
        memories: &[Memory],
        items: &[usize],
        places: &Places,
    ) -> Result<(usize, Vec<f32>, Copied)> {
        let axis = &memories.first().ok_or(Error::Index { op: "copying (memory)", index: 0, len: 0 })?.axis;
        let state = self.state.map_or(stepped.readout, |table| stepped.state.tables[table]);
        let gated = self.gated(tape, stepped.context, state, input, stepped.weights, Pairs::for_items(items, axis), memories)?;
        let (logits, known) = (tape.value(logits), tape.shape(logits).1);
        let units = known + places.beyond;
        let mut log_probs = vec![f32::NEG_INFINITY; items.len() * units];
        let mut copied = Copied { gates: Vec::with_capacity(items.len()), masses: vec![0.0; items.len() * units] };
        let masses = tape.value(gated.masses);
        for (row, span) in gated.pairs.spans().iter().enumerate() {
            let (own, of_unit) = (&mut log_probs[row * units..(row + 1) * units], &mut copied.masses[row * units..(row + 1) * units]);
            let mut sum = 0.0;
            for (number, mass) in places.numbers[span.first..span.first + span.count].iter().zip(&masses[span.pair..]) {
                if let Some(number) = number {
                    of_unit[*number as usize] += mass;
                    sum += mass;
                }
            }
            own[..known].copy_from_slice(&logits[row * known..(row + 1) * known]);
            log_softmax(&mut own[..known]);
            let write = (1.0 - sum).max(0.0);
            for (log_prob, &mass) in own.iter_mut().zip(of_unit.iter()) {
                let written = *log_prob + write.ln();
                *log_prob = if mass > 0.0 { (written.exp() + mass).ln() } else { written };
            }
            copied.gates.push(write);
        }
        Ok((units, log_probs, copied))
    }
}
