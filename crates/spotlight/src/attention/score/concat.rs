//! Luong's concat score: `v . tanh(W [q; k])`. Luong, Pham and Manning, 2015, section 3.1.
//!
//! One weight for query and key side by side. Its left columns multiply the query and its right ones the key, so the keys are projected once and the pair
//! is never put together.

use spotlight_kernels::Float;

use super::{ScoreConfig, Scoring, Sizes, additive_pairs, query};
use crate::Result;
use crate::attention::Question;
use crate::params::{Init, ParamId, Params};
use crate::tape::{Tape, Var};

/// `v . tanh(W [q; k])`; `A (Q + M) + A` parameters.
#[derive(Clone, Copy, Debug)]
pub struct Concat {
    /// `W`: `A x (Q + M)`
    pub weight: ParamId,
    /// `v`: `A`
    pub v: ParamId,
    /// `Q`, where the key's columns begin.
    pub query: usize,
}

impl Scoring for Concat {
    const ASKS: bool = true;

    fn new<T: Float>(params: &mut Params<T>, name: &str, config: &ScoreConfig, sizes: Sizes) -> Result<Self> {
        let a = config.alignment(sizes.query);
        let weight = params.add(format!("{name}.weight"), &[a, sizes.query + sizes.memory], Init::Glorot);
        Ok(Concat { weight, v: params.add(format!("{name}.v"), &[a], Init::Glorot), query: sizes.query })
    }

    fn keys<T: Float>(&self, tape: &Tape<T>, memory: Var) -> Result<Var> {
        tape.linear_columns(memory, self.weight, self.query, None)
    }

    fn scores<T: Float>(&self, tape: &Tape<T>, keys: Var, question: &Question) -> Result<Var> {
        let projected = tape.linear_columns(query(question)?, self.weight, 0, None)?;
        additive_pairs(tape, projected, keys, None, tape.param(self.v), &question.pairs)
    }
}
