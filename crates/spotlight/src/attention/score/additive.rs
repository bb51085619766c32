//! Bahdanau's additive score: `v . tanh(W q + U k)`. Bahdanau, Cho and Bengio, 2015, appendix A.1.2.
//!
//! A hidden layer of the alignment size `A` that sees query and key. `U k` is computed once for a memory. With coverage, the sum of all earlier weights of a
//! position is one more input: `v . tanh(W q + U k + w c)` (See, Liu and Manning, 2017, equation 11).
//!
//! The normalised form is `g v/|v| . tanh(W q + U k + b)`: the length of `v` is a parameter of its own (Salimans and Kingma, 2016).

use spotlight_kernels::Float;

use super::{ScoreConfig, Scoring, Sizes, additive_pairs, query};
use crate::Result;
use crate::attention::Question;
use crate::nn;
use crate::params::{Init, ParamId, Params};
use crate::tape::{Tape, Var};

/// `v . tanh(W q + U k)`; `A (Q + M + 1)` parameters, normalised `A + 1` more, with coverage `A` more.
#[derive(Clone, Copy, Debug)]
pub struct Additive {
    /// `W`: `A x Q`
    pub query: nn::Linear,
    /// `U`: `A x M`, and `b` in the normalised form.
    pub memory: nn::Linear,
    /// `v`: `A`
    pub v: ParamId,
    /// `g`: 1, in the normalised form.
    pub g: Option<ParamId>,
    /// `w`: `A x 1`, to read the coverage.
    pub coverage: Option<nn::Linear>,
}

impl Additive {
    /// The score with a table of further terms inside the `tanh`, one row of `A` numbers per pair.
    pub(super) fn scores_with<T: Float>(&self, tape: &Tape<T>, keys: Var, question: &Question, more: Option<Var>) -> Result<Var> {
        let projected = self.query.forward(tape, query(question)?)?;
        let mut v = tape.param(self.v);
        if let Some(g) = self.g {
            v = tape.mul(v, tape.div(tape.param(g), tape.norm(v)?)?)?;
        }
        let mut beside = more;
        if let (Some(layer), Some(coverage)) = (&self.coverage, question.coverage) {
            let term = layer.forward(tape, coverage)?;
            beside = Some(beside.map_or(Ok(term), |more| tape.add(more, term))?);
        }
        additive_pairs(tape, projected, keys, beside, v, &question.pairs)
    }
}

impl Scoring for Additive {
    const ASKS: bool = true;
    const READS_COVERAGE: bool = true;

    fn new<T: Float>(params: &mut Params<T>, name: &str, config: &ScoreConfig, sizes: Sizes) -> Result<Self> {
        let a = config.alignment(sizes.query);
        let query = nn::Linear::without_bias(params, &format!("{name}.query"), sizes.query, a);
        let mut memory = nn::Linear::without_bias(params, &format!("{name}.memory"), sizes.memory, a);
        let v = params.add(format!("{name}.v"), &[a], Init::Glorot);
        let mut g = None;
        if config.normalised {
            memory.bias = Some(params.add(format!("{name}.bias"), &[a], Init::Zeros));
            // The length that a vector drawn like `v` has, so that both forms begin alike.
            let length = (2.0 * a as f64 / (a + 1) as f64).sqrt();
            g = Some(params.add(format!("{name}.g"), &[1], Init::Constant(length)));
        }
        let coverage = sizes.coverage.then(|| nn::Linear::without_bias(params, &format!("{name}.coverage"), 1, a));
        Ok(Additive { query, memory, v, g, coverage })
    }

    /// The plain form alone.
    fn fused(&self) -> Option<(ParamId, ParamId)> {
        (self.g.is_none() && self.coverage.is_none()).then_some((self.query.weight, self.v))
    }

    /// `U k`
    fn keys<T: Float>(&self, tape: &Tape<T>, memory: Var) -> Result<Var> {
        self.memory.forward(tape, memory)
    }

    fn scores<T: Float>(&self, tape: &Tape<T>, keys: Var, question: &Question) -> Result<Var> {
        self.scores_with(tape, keys, question, None)
    }
}
