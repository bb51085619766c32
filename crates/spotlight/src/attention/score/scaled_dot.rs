//! The scaled dot product: `q . k / √M`.
//!
//! A dot product of `M` independent terms has a spread of `√M`; dividing by it keeps the softmax away from where its gradient vanishes. Vaswani and
//! others, 2017, section 3.2.1.

use spotlight_kernels::Float;

use super::{ScoreConfig, ScoreKind, Scoring, Sizes, dot_pairs, need_equal_widths, query};
use crate::Result;
use crate::attention::Question;
use crate::params::Params;
use crate::tape::{Tape, Var};

/// `q . k / √M`; no parameters.
#[derive(Clone, Copy, Debug)]
pub struct ScaledDot;

impl ScaledDot {
    /// `1 / √size`
    pub(crate) fn scale(size: usize) -> f64 {
        1.0 / (size as f64).sqrt()
    }
}

impl Scoring for ScaledDot {
    const ASKS: bool = true;

    fn new<T: Float>(_: &mut Params<T>, _: &str, _: &ScoreConfig, sizes: Sizes) -> Result<Self> {
        need_equal_widths(ScoreKind::ScaledDot, sizes)?;
        Ok(ScaledDot)
    }

    fn scores<T: Float>(&self, tape: &Tape<T>, keys: Var, question: &Question) -> Result<Var> {
        dot_pairs(tape, query(question)?, keys, &question.pairs, 1, Self::scale(tape.shape(keys).1))
    }
}
