//! The dot product: `q . k`. Luong, Pham and Manning, 2015, section 3.1.

use spotlight_kernels::Float;

use super::{ScoreConfig, Scoring, Sizes, dot_pairs, query};
use crate::Result;
use crate::attention::Question;
use crate::params::Params;
use crate::tape::{Tape, Var};

/// `q . k`; no parameters.
#[derive(Clone, Copy, Debug)]
pub struct Dot;

impl Scoring for Dot {
    const ASKS: bool = true;
    const LEARNS: bool = false;
    const EQUAL_WIDTHS: bool = true;

    fn factor(_: usize) -> Option<f64> {
        Some(1.0)
    }

    fn new<T: Float>(_: &mut Params<T>, _: &str, _: &ScoreConfig, _: Sizes) -> Result<Self> {
        Ok(Dot)
    }

    fn scores<T: Float>(&self, tape: &Tape<T>, keys: Var, question: &Question) -> Result<Var> {
        dot_pairs(tape, query(question)?, keys, &question.pairs, 1, 1.0)
    }
}
