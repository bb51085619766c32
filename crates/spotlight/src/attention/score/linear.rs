//! The linear score: `w . k`, without a query.

use spotlight_kernels::Float;

use super::{ScoreConfig, Scoring, Sizes, of_keys};
use crate::Result;
use crate::attention::Question;
use crate::params::{Init, ParamId, Params};
use crate::tape::{Tape, Var};

/// `w . k`; `M` parameters.
#[derive(Clone, Copy, Debug)]
pub struct Linear {
    /// `w`: `M`
    pub w: ParamId,
}

impl Scoring for Linear {
    const ASKS: bool = false;

    fn new<T: Float>(params: &mut Params<T>, name: &str, _: &ScoreConfig, sizes: Sizes) -> Result<Self> {
        Ok(Linear { w: params.add(format!("{name}.w"), &[sizes.memory], Init::Glorot) })
    }

    /// The scores themselves: no query changes them.
    fn keys<T: Float>(&self, tape: &Tape<T>, memory: Var) -> Result<Var> {
        tape.linear(memory, self.w, None)
    }

    fn scores<T: Float>(&self, tape: &Tape<T>, keys: Var, question: &Question) -> Result<Var> {
        of_keys(tape, keys, &question.pairs)
    }
}
