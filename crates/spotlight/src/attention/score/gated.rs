//! The gated score of attention-based multiple instance learning: `w . (tanh(V k) * σ(U k))`, without a query.
//!
//! `tanh` alone is nearly linear around 0; the gate gives the score a bend. Ilse, Tomczak and Welling, 2018, equation 9.

use spotlight_kernels::Float;

use super::{ScoreConfig, Scoring, Sizes, of_keys};
use crate::Result;
use crate::attention::Question;
use crate::params::{Init, ParamId, Params};
use crate::tape::{Tape, Var};

/// `w . (tanh(V k) * σ(U k))`; `2 A M + A` parameters.
#[derive(Clone, Copy, Debug)]
pub struct Gated {
    /// `V`: `A x M`
    pub tanh: ParamId,
    /// `U`: `A x M`
    pub gate: ParamId,
    /// `w`: `A`
    pub w: ParamId,
}

impl Scoring for Gated {
    const ASKS: bool = false;

    fn new<T: Float>(params: &mut Params<T>, name: &str, config: &ScoreConfig, sizes: Sizes) -> Result<Self> {
        let a = config.alignment(sizes.memory);
        Ok(Gated {
            tanh: params.add(format!("{name}.tanh.weight"), &[a, sizes.memory], Init::Glorot),
            gate: params.add(format!("{name}.gate.weight"), &[a, sizes.memory], Init::Glorot),
            w: params.add(format!("{name}.w"), &[a], Init::Glorot),
        })
    }

    /// The scores themselves: no query changes them.
    fn keys<T: Float>(&self, tape: &Tape<T>, memory: Var) -> Result<Var> {
        let content = tape.tanh(tape.linear(memory, self.tanh, None)?);
        let gate = tape.sigmoid(tape.linear(memory, self.gate, None)?);
        tape.linear(tape.mul(content, gate)?, self.w, None)
    }

    fn scores<T: Float>(&self, tape: &Tape<T>, keys: Var, question: &Question) -> Result<Var> {
        of_keys(tape, keys, &question.pairs)
    }
}
