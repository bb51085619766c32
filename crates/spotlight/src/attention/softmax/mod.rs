//! The second box: from scores to weights.
//!
//! The plain one is the softmax over the positions of each query, exact for every length: `a_j = e^(s_j / τ) / Σ e^(s_i / τ)`. The largest score is subtracted
//! first, so scores of any size that is a number do no harm. A position that a [`Mask`] forbids gets exactly 0, and no gradient; a query that may look nowhere gets
//! zeros everywhere. A score that is NaN and may be looked at makes all weights of its query NaN, in every kind (but those that a monotonic walk has passed before it):
//! what went wrong is seen, and does not turn into a harmless 0.
//!
//! [`SoftmaxKind`] lists what can stand in its place.

mod entmax;
mod hard;
mod local;
mod mask;
mod monotonic;
mod sparse;
mod sparsemax;

use serde::{Deserialize, Serialize};
use spotlight_kernels::Float;

pub use entmax::{entmax, entmax_loss};
pub use hard::Baseline;
pub use mask::Mask;

use super::Question;
use super::config::Refused;
use crate::params::Params;
use crate::tape::{Tape, Var};
use crate::{Error, Result};

/// A way from scores to weights: what it can do, and how it does it.
pub trait Weighting {
    /// Whether every column of scores gets weights of its own, so that heads can stand side by side.
    const HEADS: bool = true;
    /// Whether it minds the step of a query in its sequence.
    const MINDS_STEPS: bool = false;
    /// Whether it needs the weights of the step before.
    const LOOKS_BACK: bool = false;
    /// Whether it learns by rewards that its user gives ([`Baseline::surrogate`]) and not by a gradient.
    const NEEDS_REWARDS: bool = false;
    /// Whether the fused kernels (the additive decoder, streaming attention) compute it, at temperature 1.
    const FUSED: bool = false;

    /// The weights of scores that have been divided by the temperature and masked, on the axis of the pairs.
    fn weights<T: Float>(normaliser: &Normaliser, tape: &Tape<T>, scores: Var, question: &Question) -> Result<Weights>;
}

/// The plain softmax.
struct Softmax;

impl Weighting for Softmax {
    const FUSED: bool = true;

    fn weights<T: Float>(_: &Normaliser, tape: &Tape<T>, scores: Var, _: &Question) -> Result<Weights> {
        Ok(tape.softmax(scores)?.into())
    }
}

/// Declares the list of kinds, each with the type that says what it can do.
macro_rules! softmaxes {
    ($($(#[$doc:meta])* $name:literal => $Kind:ident: $Type:ty,)*) => {
        /// The ways from scores to weights.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum SoftmaxKind {
            $($(#[$doc])* #[serde(rename = $name)] $Kind,)*
        }

        impl SoftmaxKind {
            /// All of them.
            pub const ALL: &[SoftmaxKind] = &[$(SoftmaxKind::$Kind,)*];

            /// Its name in configuration.
            pub fn name(self) -> &'static str {
                match self { $(SoftmaxKind::$Kind => $name,)* }
            }

            /// Whether heads can stand side by side.
            pub fn has_heads(self) -> bool {
                match self { $(SoftmaxKind::$Kind => <$Type>::HEADS,)* }
            }

            /// Whether it minds the step of a query in its sequence.
            pub fn minds_steps(self) -> bool {
                match self { $(SoftmaxKind::$Kind => <$Type>::MINDS_STEPS,)* }
            }

            /// Whether it needs the weights of the step before.
            pub fn looks_back(self) -> bool {
                match self { $(SoftmaxKind::$Kind => <$Type>::LOOKS_BACK,)* }
            }

            /// Whether it learns by rewards that its user gives.
            pub fn needs_rewards(self) -> bool {
                match self { $(SoftmaxKind::$Kind => <$Type>::NEEDS_REWARDS,)* }
            }

            /// Whether the fused kernels compute it, at temperature 1.
            fn is_fused(self) -> bool {
                match self { $(SoftmaxKind::$Kind => <$Type>::FUSED,)* }
            }

            fn weights<T: Float>(self, normaliser: &Normaliser, tape: &Tape<T>, scores: Var, question: &Question) -> Result<Weights> {
                match self { $(SoftmaxKind::$Kind => <$Type>::weights(normaliser, tape, scores, question),)* }
            }
        }
    };
}

softmaxes! {
    /// All positions, each with a weight above 0.
    "softmax" => Softmax: Softmax,
    /// The nearest point of the simplex: many weights are exactly 0. Martins and Astudillo, 2016.
    "sparsemax" => Sparsemax: sparsemax::Sparsemax,
    /// Between the two: `max(s / 2 - t, 0)²`. Unlikely positions get exactly 0, likely ones share. Peters, Niculae and Martins, 2019.
    "entmax" => Entmax: entmax::Entmax,
    /// The position with the largest score gets 1. For answers: it has no gradient.
    "hard" => Hard: hard::Hard,
    /// While learning, one position drawn by the softmax gets 1, and the gradient is that of the softmax that drew it (straight-through Gumbel-softmax: Jang, Gu
    /// and Poole, 2017); else as `Hard`.
    "gumbel" => Gumbel: hard::Gumbel,
    /// While learning, one position drawn by the softmax gets 1, and the logarithm of its probability is given out, for [`Baseline::surrogate`] to learn from
    /// (REINFORCE: Williams, 1992; for attention Xu and others, 2015); else as `Hard`.
    "reinforce" => Reinforce: hard::Reinforce,
    /// Softmax over the positions near the current step. Luong, Pham and Manning, 2015, section 3.2, local-m.
    "local-m" => LocalM: local::LocalM,
    /// Softmax over the positions near a centre predicted from the query, times a Gaussian around it. The same, local-p, equations 9 and 10.
    "local-p" => LocalP: local::LocalP,
    /// A walk along the memory that stops at each position with the probability `σ(score)` and goes on from there at the next step: the weights are the
    /// expected stops. Raffel and others, 2017, equations 8 to 10.
    "monotonic" => Monotonic: monotonic::Monotonic,
    /// The same walk, stopping at the first score above 0. For answers: it has no gradient.
    "hard-monotonic" => HardMonotonic: monotonic::HardMonotonic,
}

impl std::fmt::Display for SoftmaxKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
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
    /// Whether it is what the fused kernels compute.
    pub(crate) fn is_fused(&self) -> bool {
        self.kind.is_fused() && self.temperature == 1.0
    }

    /// Whether the numbers can be used.
    pub(super) fn check(&self) -> Result<(), Refused> {
        if !(self.temperature > 0.0 && self.temperature.is_finite()) {
            return Err(Refused::new("temperature", "the temperature", self.temperature, "above 0"));
        }
        if self.kind == SoftmaxKind::LocalP && self.half_width == 0 {
            return Err(Refused::new("half_width", "the half width of local-p attention", 0, "at least 1"));
        }
        if self.centre == Some(0) {
            return Err(Refused::new("centre", "the size of the predictor of the centre", 0, "at least 1"));
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
    /// One row per pair, one column per head.
    pub weights: Var,
    /// For [`SoftmaxKind::Reinforce`] while learning: the log-probability of the drawn position, one row per query, one column per head.
    pub log_probs: Option<Var>,
}

impl From<Var> for Weights {
    fn from(weights: Var) -> Self {
        Weights { weights, log_probs: None }
    }
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
        self.config.kind.looks_back()
    }

    /// The weights of all pairs, column by column.
    pub fn weights<T: Float>(&self, tape: &Tape<T>, scores: Var, question: &Question) -> Result<Weights> {
        let shape = tape.shape(scores);
        if shape.0 != question.pairs.axis().rows() {
            let expected = format!("{} rows, one per pair", question.pairs.axis().rows());
            return Err(Error::Shape { op: "softmax", expected, got: shape });
        }
        let mut scores = tape.on_axis(scores, question.pairs.axis())?;
        if self.config.temperature != 1.0 {
            scores = tape.scale(scores, 1.0 / self.config.temperature);
        }
        if let Some(mask) = &question.mask {
            scores = mask.apply(tape, scores)?;
        }
        self.config.kind.weights(self, tape, scores, question)
    }
}
