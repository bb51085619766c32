//! From the rows of a sequence to one row: attention, or the last state or the plain mean to compare it with.

use serde::{Deserialize, Serialize};
use spotlight_kernels::Float;

use super::need;
use crate::Result;
use crate::attention::{Pool, PoolConfig, ScoreConfig, ScoreKind, SoftmaxConfig, SoftmaxKind};
use crate::axis::Axis;
use crate::config::ConfigError;
use crate::params::Params;
use crate::tape::{Tape, Var};

const LAST: &str = "last";
const MEAN: &str = "mean";

/// What `[model]` says of the pooling.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PoolingSection {
    /// The attention's score (`tanh`, `linear`, `gated`; or `additive`, `general`, `dot` and so on with a learned query), or `last` for the last state, or `mean`.
    pub pooling: String,
    /// Scores side by side; each adds a mix of its own.
    pub heads: usize,
    /// Size of the hidden layer of a score that has one; 0 for the size of a state.
    pub alignment: usize,
    /// From scores to weights: `softmax`, `sparsemax`, or `gumbel` to look at one position only.
    pub softmax: SoftmaxKind,
}

impl PoolingSection {
    /// One head with this score and the plain softmax.
    pub fn new(score: ScoreKind) -> Self {
        PoolingSection { pooling: score.name().into(), heads: 1, alignment: 0, softmax: SoftmaxKind::Softmax }
    }

    /// The first setting that cannot be used, if any. Rows without an order have no last one.
    pub fn check(&self, ordered: bool) -> Result<(), ConfigError> {
        let plain = self.pooling == MEAN || (self.pooling == LAST && ordered);
        if !plain && self.score().is_none_or(|s| s == ScoreKind::Location) {
            let scores = ScoreKind::ALL.iter().filter(|&&s| s != ScoreKind::Location).map(|s| s.name());
            let names: Vec<&str> = scores.chain([MEAN]).chain(ordered.then_some(LAST)).collect();
            need(false, "model.pooling", format!("must be one of {}, is {}", names.join(", "), self.pooling))?;
        }
        need(self.heads >= 1, "model.heads", format!("must be at least 1, is {}", self.heads))?;
        need(!plain || self.heads == 1, "model.heads", format!("must be 1 with pooling = \"{}\"", self.pooling))?;
        let known = matches!(self.softmax, SoftmaxKind::Softmax | SoftmaxKind::Sparsemax | SoftmaxKind::Gumbel);
        need(known, "model.softmax", "must be softmax, sparsemax or gumbel: pooling looks once, not step by step")
    }

    /// Why there is no attention to look at, if there is none.
    pub(super) fn blind(&self) -> Option<String> {
        let none = "the model takes the last state: there is no attention to look at (model.pooling = \"last\")";
        (self.pooling == LAST).then(|| none.into())
    }

    /// The score, if attention pools.
    fn score(&self) -> Option<ScoreKind> {
        ScoreKind::ALL.iter().copied().find(|s| s.name() == self.pooling)
    }
}

/// One of the ways to pool.
#[derive(Clone, Debug)]
pub enum Pooling {
    /// Learned weights.
    Attention(Pool),
    /// The last state.
    Last,
    /// The same weight for every row.
    Mean,
}

/// What pooling gives.
#[derive(Clone, Copy, Debug)]
pub struct PooledRows {
    /// One row an item.
    pub context: Var,
    /// One row a position, one column a head; none for the last state.
    pub weights: Option<Var>,
}

impl Pooling {
    /// Makes the parameters under `name.` for rows of `width` features.
    pub fn new<T: Float>(params: &mut Params<T>, name: &str, section: &PoolingSection, width: usize) -> Result<Self> {
        let Some(kind) = section.score() else {
            return Ok(if section.pooling == LAST { Pooling::Last } else { Pooling::Mean });
        };
        let score = ScoreConfig { alignment: (section.alignment > 0).then_some(section.alignment), ..ScoreConfig::from(kind) };
        let config = PoolConfig { score, softmax: SoftmaxConfig::from(section.softmax), heads: section.heads };
        Ok(Pooling::Attention(Pool::new(params, name, &config, width)?))
    }

    /// Features of a pooled row.
    pub fn width(&self, width: usize) -> usize {
        match self {
            Pooling::Attention(pool) => pool.width(width),
            Pooling::Last | Pooling::Mean => width,
        }
    }

    /// Pools every sequence of `states`; `last` are their last states.
    pub fn forward<T: Float>(&self, tape: &Tape<T>, states: Var, last: Var) -> Result<PooledRows> {
        match self {
            Pooling::Attention(pool) => {
                let pooled = pool.forward(tape, states, None)?;
                Ok(PooledRows { context: pooled.context, weights: Some(pooled.weights) })
            }
            Pooling::Last => Ok(PooledRows { context: last, weights: None }),
            Pooling::Mean => {
                let axis = tape.need_axis("mean", states)?;
                let shares = axis.lengths().iter().flat_map(|&n| std::iter::repeat_n(T::from_f64(1.0 / n as f64), n)).collect();
                Ok(PooledRows { context: tape.mean(states)?, weights: Some(tape.table(axis.rows(), 1, shares)?) })
            }
        }
    }
}

/// The weights of each item: heads by positions. Without weights, no heads.
pub fn weights_by_item(tape: &Tape<f32>, weights: Option<Var>, axis: &Axis) -> Vec<Vec<Vec<f32>>> {
    let Some(weights) = weights else { return vec![Vec::new(); axis.items()] };
    let heads = tape.shape(weights).1;
    let numbers = tape.value(weights);
    let of = |item: usize, head: usize| axis.range(item).map(|row| numbers[row * heads + head]).collect();
    (0..axis.items()).map(|item| (0..heads).map(|head| of(item, head)).collect()).collect()
}
