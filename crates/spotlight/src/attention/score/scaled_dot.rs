//! The scaled dot product: `q . k / √M`.
//!
//! A dot product of `M` independent terms has a spread of `√M`; dividing by it keeps the softmax away from where its gradient vanishes. Vaswani and
//! others, 2017, section 3.2.1.

use spotlight_kernels::Float;

use super::{ScoreConfig, Scoring, Sizes, dot_pairs, query};
use crate::Result;
use crate::attention::Question;
use crate::params::Params;
use crate::tape::{Tape, Var};

/// `q . k / √M`; no parameters.
#[derive(Clone, Copy, Debug)]
pub struct ScaledDot;

impl Scoring for ScaledDot {
    const ASKS: bool = true;
    const LEARNS: bool = false;
    const EQUAL_WIDTHS: bool = true;

    fn factor(width: usize) -> Option<f64> {
        Some(1.0 / (width as f64).sqrt())
    }

    fn new<T: Float>(_: &mut Params<T>, _: &str, _: &ScoreConfig, _: Sizes) -> Result<Self> {
        Ok(ScaledDot)
    }

    fn scores<T: Float>(&self, tape: &Tape<T>, keys: Var, question: &Question) -> Result<Var> {
        let factor = 1.0 / (tape.shape(keys).1 as f64).sqrt();
        dot_pairs(tape, query(question)?, keys, &question.pairs, 1, factor)
    }
}
