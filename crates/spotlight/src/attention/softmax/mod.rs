//! The second box: from scores to weights.
//!
//! The plain one is the softmax over the positions of each query, exact for every length: `a_j = e^(s_j / τ) / Σ e^(s_i / τ)`. The largest score is subtracted
//! first, so scores of any size that is a number do no harm. A position that a [`Mask`] forbids gets exactly 0, and no gradient; a query that may look nowhere gets
//! zeros everywhere.
//!
//! [`SoftmaxKind`] lists what can stand in its place.

mod hard;
mod local;
mod mask;
mod monotonic;
mod sparsemax;

use serde::{Deserialize, Serialize};
use spotlight_kernels::Float;

pub use hard::Baseline;
pub use mask::Mask;

use super::Question;
use crate::params::Params;
use crate::tape::{Tape, Var};
use crate::{Error, Result};

/// The ways from scores to weights.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum SoftmaxKind {
    /// All positions, each with a weight above 0.
    Softmax,
    /// The nearest point of the simplex: many weights are exactly 0. Martins and Astudillo, 2016.
    Sparsemax,
    /// The position with the largest score gets 1. For answers: it has no gradient.
    Hard,
    /// While learning, one position drawn by the softmax gets 1, and the gradient is that of the softmax that drew it (straight-through Gumbel-softmax: Jang, Gu
    /// and Poole, 2017); else as `Hard`.
    Gumbel,
    /// While learning, one position drawn by the softmax gets 1, and the logarithm of its probability is given out, for [`Baseline::surrogate`] to learn from
    /// (REINFORCE: Williams, 1992; for attention Xu and others, 2015); else as `Hard`.
    Reinforce,
    /// Softmax over the positions near the current step. Luong, Pham and Manning, 2015, section 3.2, local-m.
    LocalM,
    /// Softmax over the positions near a centre predicted from the query, times a Gaussian around it. The same, local-p, equations 9 and 10.
    LocalP,
    /// A walk along the memory that stops at each position with the probability `σ(score)` and goes on from there at the next step: the weights are the
    /// expected stops. Raffel and others, 2017, equations 8 to 10.
    Monotonic,
    /// The same walk, stopping at the first score above 0. For answers: it has no gradient.
    HardMonotonic,
}

/// From scores to weights, as a user configures it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct SoftmaxConfig {
    /// Which way.
    pub kind: SoftmaxKind,
    /// `τ`: scores are divided by it first. Small ones sharpen.
    pub temperature: f64,
    /// `D`, for local attention: positions to each side of the centre.
    pub half_width: usize,
    /// For local-p: hidden size of the predictor of the centre; as wide as the query unless told.
    pub centre: Option<usize>,
}

impl Default for SoftmaxConfig {
    fn default() -> Self {
        SoftmaxConfig { kind: SoftmaxKind::Softmax, temperature: 1.0, half_width: 10, centre: None }
    }
}

impl From<SoftmaxKind> for SoftmaxConfig {
    fn from(kind: SoftmaxKind) -> Self {
        SoftmaxConfig { kind, ..Default::default() }
    }
}

impl SoftmaxConfig {
    fn check(&self) -> Result<()> {
        if !(self.temperature > 0.0 && self.temperature.is_finite()) {
            return Err(Error::Value { what: "the temperature".into(), got: self.temperature.to_string(), expected: "above 0".into() });
        }
        if self.kind == SoftmaxKind::LocalP && self.half_width == 0 {
            return Err(Error::Value {
                what: "the half width of local-p attention".into(),
                got: "0".into(),
                expected: "at least 1".into(),
            });
        }
        Ok(())
    }
}

/// From scores to weights, with what it learned.
#[derive(Clone, Copy, Debug)]
pub struct Normaliser {
    config: SoftmaxConfig,
    /// The predictor of local-p, and of no other.
    centre: Option<local::Centre>,
}

/// What comes out of the second box.
#[derive(Clone, Copy, Debug)]
pub struct Weights {
    /// One row a pair, one column a head.
    pub weights: Var,
    /// For [`SoftmaxKind::Reinforce`] while learning: the log-probability of the drawn position, one row a query, one column a head.
    pub log_probs: Option<Var>,
}

impl Normaliser {
    /// Checks the configuration and makes the parameters of local-p under `name.` for queries of `query` features.
    pub fn new<T: Float>(params: &mut Params<T>, name: &str, config: SoftmaxConfig, query: usize) -> Result<Self> {
        config.check()?;
        let centre = match config.kind {
            SoftmaxKind::LocalP => Some(local::Centre::new(params, name, query, config.centre.unwrap_or(query))?),
            _ => None,
        };
        Ok(Normaliser { config, centre })
    }

    /// How it was configured.
    pub fn config(&self) -> SoftmaxConfig {
        self.config
    }

    /// What a search uses: the walk of monotonic attention is walked, not expected.
    pub fn for_search(mut self) -> Self {
        if self.config.kind == SoftmaxKind::Monotonic {
            self.config.kind = SoftmaxKind::HardMonotonic;
        }
        self
    }

    /// Whether the weights of a step depend on those of the step before.
    pub fn looks_back(&self) -> bool {
        matches!(self.config.kind, SoftmaxKind::Monotonic | SoftmaxKind::HardMonotonic)
    }

    /// The weights of all pairs, column by column.
    pub fn weights<T: Float>(&self, tape: &Tape<T>, scores: Var, question: &Question) -> Result<Weights> {
        let shape = tape.shape(scores);
        if shape.0 != question.pairs.axis().rows() {
            let expected = format!("{} rows, one a pair", question.pairs.axis().rows());
            return Err(Error::Shape { op: "softmax", expected, got: shape });
        }
        let mut scores = tape.on_axis(scores, question.pairs.axis())?;
        if self.config.temperature != 1.0 {
            scores = tape.scale(scores, 1.0 / self.config.temperature);
        }
        if let Some(mask) = &question.mask {
            scores = mask.apply(tape, scores)?;
        }
        let mut log_probs = None;
        let weights = match self.config.kind {
            SoftmaxKind::Softmax => tape.softmax(scores)?,
            SoftmaxKind::Sparsemax => sparsemax::sparsemax(tape, scores)?,
            SoftmaxKind::Gumbel if tape.is_training() => hard::gumbel(tape, scores)?,
            SoftmaxKind::Reinforce if tape.is_training() => {
                let (weights, of_choices) = hard::sample(tape, tape.softmax(scores)?)?;
                log_probs = Some(of_choices);
                weights
            }
            SoftmaxKind::Hard | SoftmaxKind::Gumbel | SoftmaxKind::Reinforce => hard::argmax(tape, scores)?,
            SoftmaxKind::LocalM => local::around_step(tape, scores, question, self.config.half_width)?,
            SoftmaxKind::LocalP => local::around_centre(tape, scores, question, self.config.half_width, self.centre)?,
            SoftmaxKind::Monotonic => monotonic::expected(tape, scores, question)?,
            SoftmaxKind::HardMonotonic => monotonic::hard(tape, scores, question)?,
        };
        Ok(Weights { weights, log_probs })
    }
}
