//! The first box: how well does a position of the memory answer a query?
//!
//! A score is a type that implements [`Scoring`], one file each. To add one, write its file and put its name in the list at the end of this page:
//! configuration, errors, tests over all scores and `spotlight demo numbers` find it there.
//!
//! Letters: `q` a query (`Q` features), `k` a key, that is a row of the memory (`M` features), `A` the alignment size.

mod pairwise;

use serde::{Deserialize, Serialize};
use spotlight_kernels::Float;

pub(crate) use pairwise::{additive_pairs, dot_pairs, of_keys, of_queries};

use super::Question;
use super::config::Refused;
use crate::params::{ParamId, Params};
use crate::tape::{Tape, Var};
use crate::{Error, Result};

/// Which score, and the sizes a user may choose.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct ScoreConfig {
    /// The name in the list.
    pub kind: ScoreKind,
    /// `A`, for the scores with a hidden layer; as wide as the query (or the memory, without a query) unless told.
    pub alignment: Option<usize>,
    /// For the additive score: a bias inside, and `v` with a learned length of its own.
    pub normalised: bool,
    /// For the location score: the number of filters over the previous weights.
    pub filters: usize,
    /// For the location score: positions under a filter; odd.
    pub filter_width: usize,
}

impl Default for ScoreConfig {
    fn default() -> Self {
        ScoreConfig { kind: ScoreKind::Additive, alignment: None, normalised: false, filters: 10, filter_width: 15 }
    }
}

impl From<ScoreKind> for ScoreConfig {
    fn from(kind: ScoreKind) -> Self {
        ScoreConfig { kind, ..Default::default() }
    }
}

impl ScoreConfig {
    /// The alignment size.
    fn alignment(&self, otherwise: usize) -> usize {
        self.alignment.unwrap_or(otherwise)
    }

    /// Whether the score can meet these sizes, with these settings.
    pub(super) fn check(&self, sizes: Sizes) -> Result<(), Refused> {
        let kind = self.kind;
        let refuse = |expected: &str| {
            let mut got = format!("a query of {} and a memory of {} features", sizes.query, sizes.memory);
            if sizes.coverage {
                got += ", with coverage as a feature";
            }
            // The name first: in a recipe, what is wrong is the choice of the score.
            Err(Refused::new("score", format!("the input of the score \"{kind}\""), got, format!("{expected} for the score \"{kind}\"")))
        };
        if sizes.memory == 0 || (kind.asks() && sizes.query == 0) {
            return refuse("at least 1 feature each");
        }
        if kind.needs_equal_widths() && sizes.query != sizes.memory {
            return refuse("a query as wide as the memory (the score \"general\" compares different widths)");
        }
        if sizes.coverage && !kind.reads_coverage() {
            let able: Vec<String> = ScoreKind::ALL.iter().filter(|k| k.reads_coverage()).map(|k| format!("\"{k}\"")).collect();
            return refuse(&format!("without it ({} read coverage)", able.join(" and ")));
        }
        if self.alignment == Some(0) {
            return Err(Refused::new("alignment", "the alignment size", 0, "at least 1"));
        }
        kind.check(self)
    }
}

/// What a score will meet.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sizes {
    /// Features of a query; 0 if nobody asks.
    pub query: usize,
    /// Features of a row of the memory.
    pub memory: usize,
    /// Whether questions carry the coverage so far, to be read as a feature.
    pub coverage: bool,
}

/// A score: what it can do, its parameters, what it computes once for a memory, and what per pair.
pub trait Scoring: Sized {
    /// Whether it reads the query.
    const ASKS: bool;
    /// Whether it reads the weights of the step before, and so only works step by step.
    const LOOKS_BACK: bool = false;
    /// Whether it has parameters, so that several heads can learn to look at different places.
    const LEARNS: bool = true;
    /// Whether it compares query and key as they are, and so needs both equally wide.
    const EQUAL_WIDTHS: bool = false;
    /// Whether it can read the coverage as a feature.
    const READS_COVERAGE: bool = false;

    /// If it is nothing but a product, `factor q . k`: the factor, for keys of this width. All heads of such a score are computed at once, or streamed.
    fn factor(width: usize) -> Option<f64> {
        let _ = width;
        None
    }

    /// Whether its own settings can be used.
    fn check(config: &ScoreConfig) -> Result<(), Refused> {
        let _ = config;
        Ok(())
    }

    /// Makes its parameters under `name.`. Settings and sizes have been checked.
    fn new<T: Float>(params: &mut Params<T>, name: &str, config: &ScoreConfig, sizes: Sizes) -> Result<Self>;

    /// The `W` and `v` by which the fused decoder computes the same thing, if it can.
    fn fused(&self) -> Option<(ParamId, ParamId)> {
        None
    }

    /// What it needs of the memory, one row for each of its rows: computed once, however many queries come. The memory itself unless told.
    fn keys<T: Float>(&self, tape: &Tape<T>, memory: Var) -> Result<Var> {
        let _ = tape;
        Ok(memory)
    }

    /// The score of every pair: one column on the axis of the pairs.
    fn scores<T: Float>(&self, tape: &Tape<T>, keys: Var, question: &Question) -> Result<Var>;
}

/// The query a score was promised.
fn query(question: &Question) -> Result<Var> {
    question.query.ok_or_else(|| Error::Value {
        what: "the query of a score that reads it".into(),
        got: "missing".into(),
        expected: "given".into(),
    })
}

/// Declares the modules, the list of kinds, and the enum of scores that stands for them all.
macro_rules! scores {
    ($($name:literal: $formula:literal => $file:ident::$Score:ident,)*) => {
        $(mod $file; pub use $file::$Score;)*

        /// The scores there are.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum ScoreKind {
            $(#[doc = concat!("`", $formula, "`")] #[serde(rename = $name)] $Score,)*
        }

        impl ScoreKind {
            /// All of them.
            pub const ALL: &[ScoreKind] = &[$(ScoreKind::$Score,)*];

            /// Its name in configuration.
            pub fn name(self) -> &'static str {
                match self { $(ScoreKind::$Score => $name,)* }
            }

            /// What it computes of a query `q` and a key `k`.
            pub fn formula(self) -> &'static str {
                match self { $(ScoreKind::$Score => $formula,)* }
            }

            /// Whether it reads the query.
            pub fn asks(self) -> bool {
                match self { $(ScoreKind::$Score => $Score::ASKS,)* }
            }

            /// Whether it reads the weights of the step before.
            pub fn looks_back(self) -> bool {
                match self { $(ScoreKind::$Score => $Score::LOOKS_BACK,)* }
            }

            /// Whether it has parameters.
            pub fn learns(self) -> bool {
                match self { $(ScoreKind::$Score => $Score::LEARNS,)* }
            }

            /// Whether query and key must be equally wide.
            pub fn needs_equal_widths(self) -> bool {
                match self { $(ScoreKind::$Score => $Score::EQUAL_WIDTHS,)* }
            }

            /// Whether it can read the coverage as a feature.
            pub fn reads_coverage(self) -> bool {
                match self { $(ScoreKind::$Score => $Score::READS_COVERAGE,)* }
            }

            /// The factor of a score that is nothing but a product; see [`Scoring::factor`].
            pub fn factor(self, width: usize) -> Option<f64> {
                match self { $(ScoreKind::$Score => $Score::factor(width),)* }
            }

            /// Whether its own settings can be used.
            fn check(self, config: &ScoreConfig) -> Result<(), Refused> {
                match self { $(ScoreKind::$Score => $Score::check(config),)* }
            }
        }

        /// Any score, with its parameters.
        #[derive(Clone, Copy, Debug)]
        pub enum Score {
            $(#[doc = concat!("`", $formula, "`")] $Score($Score),)*
        }

        impl Score {
            /// Makes the score's parameters under `name.`.
            pub fn new<T: Float>(params: &mut Params<T>, name: &str, config: &ScoreConfig, sizes: Sizes) -> Result<Self> {
                config.check(sizes)?;
                Ok(match config.kind { $(ScoreKind::$Score => Score::$Score($Score::new(params, name, config, sizes)?),)* })
            }

            /// Which score this is.
            pub fn kind(&self) -> ScoreKind {
                match self { $(Score::$Score(_) => ScoreKind::$Score,)* }
            }

            /// The parameters by which the fused decoder computes it; see [`Scoring::fused`].
            pub(crate) fn fused(&self) -> Option<(ParamId, ParamId)> {
                match self { $(Score::$Score(score) => score.fused(),)* }
            }

            /// What it needs of the memory; see [`Scoring::keys`].
            pub fn keys<T: Float>(&self, tape: &Tape<T>, memory: Var) -> Result<Var> {
                match self { $(Score::$Score(score) => score.keys(tape, memory),)* }
            }

            /// The score of every pair; see [`Scoring::scores`].
            pub fn scores<T: Float>(&self, tape: &Tape<T>, keys: Var, question: &Question) -> Result<Var> {
                match self { $(Score::$Score(score) => score.scores(tape, keys, question),)* }
            }
        }
    };
}

impl std::fmt::Display for ScoreKind {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.name())
    }
}

impl std::str::FromStr for ScoreKind {
    type Err = Error;

    fn from_str(name: &str) -> Result<Self> {
        ScoreKind::ALL.iter().copied().find(|kind| kind.name() == name).ok_or_else(|| {
            let names: Vec<&str> = ScoreKind::ALL.iter().map(|kind| kind.name()).collect();
            Error::Value { what: "the score".into(), got: format!("{name:?}"), expected: format!("one of {}", names.join(", ")) }
        })
    }
}

// Name, formula, and the file and type that compute it.
scores! {
    "linear": "w . k" => linear::Linear,
    "tanh": "tanh(w . k + b)" => tanh::Tanh,
    "gated": "w . (tanh(V k) * σ(U k))" => gated::Gated,
    "dot": "q . k" => dot::Dot,
    "scaled-dot": "q . k / √M" => scaled_dot::ScaledDot,
    "general": "q W k" => general::General,
    "concat": "v . tanh(W [q; k])" => concat::Concat,
    "additive": "v . tanh(W q + U k)" => additive::Additive,
    "cosine": "q . k / (|q| |k|)" => cosine::Cosine,
    "location": "v . tanh(W q + U k + L f)" => location::Location,
}
