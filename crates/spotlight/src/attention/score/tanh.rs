//! The smallest score that learns what matters: `tanh(w . k + b)`, without a query.
//!
//! One neuron read at every position. With a memory of 100 features it adds 101 parameters to a model, however long the sequences are.

use spotlight_kernels::Float;

use super::{ScoreConfig, Scoring, Sizes, of_keys};
use crate::Result;
use crate::attention::Question;
use crate::params::{Init, ParamId, Params};
use crate::tape::{Tape, Var};

/// `tanh(w . k + b)`; `M + 1` parameters.
#[derive(Clone, Copy, Debug)]
pub struct Tanh {
    /// `w`: `M`
    pub w: ParamId,
    /// `b`: 1
    pub b: ParamId,
}

impl Scoring for Tanh {
    const ASKS: bool = false;

    fn new<T: Float>(params: &mut Params<T>, name: &str, _: &ScoreConfig, sizes: Sizes) -> Result<Self> {
        let w = params.add(format!("{name}.w"), &[sizes.memory], Init::Glorot);
        Ok(Tanh { w, b: params.add(format!("{name}.b"), &[1], Init::Zeros) })
    }

    /// The scores themselves: no query changes them.
    fn keys<T: Float>(&self, tape: &Tape<T>, memory: Var) -> Result<Var> {
        Ok(tape.tanh(tape.linear(memory, self.w, Some(self.b))?))
    }

    fn scores<T: Float>(&self, tape: &Tape<T>, keys: Var, question: &Question) -> Result<Var> {
        of_keys(tape, keys, &question.pairs)
    }
}
