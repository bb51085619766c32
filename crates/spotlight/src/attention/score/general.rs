//! Luong's general score: `q W k`. Luong, Pham and Manning, 2015, section 3.1.

use spotlight_kernels::Float;

use super::{ScoreConfig, Scoring, Sizes, dot_pairs, query};
use crate::Result;
use crate::attention::Question;
use crate::params::{Init, ParamId, Params};
use crate::tape::{Tape, Var};

/// `q W k`; `Q M` parameters.
#[derive(Clone, Copy, Debug)]
pub struct General {
    /// `W`: `Q x M`
    pub weight: ParamId,
}

impl Scoring for General {
    const ASKS: bool = true;

    fn new<T: Float>(params: &mut Params<T>, name: &str, _: &ScoreConfig, sizes: Sizes) -> Result<Self> {
        Ok(General { weight: params.add(format!("{name}.weight"), &[sizes.query, sizes.memory], Init::Glorot) })
    }

    /// `W k`
    fn keys<T: Float>(&self, tape: &Tape<T>, memory: Var) -> Result<Var> {
        tape.linear(memory, self.weight, None)
    }

    fn scores<T: Float>(&self, tape: &Tape<T>, keys: Var, question: &Question) -> Result<Var> {
        dot_pairs(tape, query(question)?, keys, &question.pairs, 1, 1.0)
    }
}
