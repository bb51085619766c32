//! From the rows of a sequence to one row: attention, or the last state or the plain mean to compare it with.

use serde::{Deserialize, Serialize};
use spotlight_kernels::Float;

use super::{AttentionSection, need};
use crate::Result;
use crate::attention::{Pool, mix_whole};
use crate::axis::{Axis, Pairs};
use crate::config::ConfigError;
use crate::params::Params;
use crate::tape::{Tape, Var};

/// `model.pooling` of a recipe: how the rows of a sequence become one.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PoolingKind {
    /// By learned weights: see `[attention]`.
    Attention,
    /// Every row has the same weight.
    Mean,
    /// The last state.
    Last,
}

impl PoolingKind {
    /// By what the rows are pooled, in a word: the score, if it is attention.
    pub fn name(self, attention: &AttentionSection) -> &'static str {
        match self {
            PoolingKind::Attention => attention.score.map_or("none", |score| score.name()),
            PoolingKind::Mean => "mean",
            PoolingKind::Last => "last",
        }
    }

    /// The first setting that cannot be used, if any, for rows of `width` features. Rows without an order have no last one.
    pub fn check(self, attention: &AttentionSection, width: usize, ordered: bool) -> Result<(), ConfigError> {
        need(ordered || self != PoolingKind::Last, "model.pooling", "must be attention or mean: rows without an order have no last one")?;
        match (self, attention.config()) {
            (PoolingKind::Attention, Some(config)) => attention.check("attention", Pool::place(&config, width)),
            (PoolingKind::Attention, None) => {
                need(false, "attention.score", "must be a score; without attention set model.pooling to mean or last")
            }
            (plain, _) => {
                let problem = format!("must be 1 with model.pooling = \"{}\"", plain.name(attention));
                need(attention.heads == 1, "attention.heads", problem)
            }
        }
    }

    /// Why there is no attention to look at, if there is none.
    pub(super) fn blind(self) -> Option<String> {
        let none = "the model takes the last state: there is no attention to look at (model.pooling = \"last\")";
        (self == PoolingKind::Last).then(|| none.into())
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
    /// One row per item.
    pub context: Var,
    /// One row per position, one column per head; none for the last state.
    pub weights: Option<Var>,
}

impl Pooling {
    /// Makes the parameters under `name.` for rows of `width` features.
    pub fn new<T: Float>(
        params: &mut Params<T>,
        name: &str,
        kind: PoolingKind,
        attention: &AttentionSection,
        width: usize,
    ) -> Result<Self> {
        match (kind, attention.config()) {
            (PoolingKind::Attention, Some(config)) => Ok(Pooling::Attention(Pool::new(params, name, &config, width)?)),
            (PoolingKind::Last, _) => Ok(Pooling::Last),
            (PoolingKind::Attention | PoolingKind::Mean, _) => Ok(Pooling::Mean),
        }
    }

    /// Features of a pooled row, for rows of `width` features.
    pub fn width(&self, width: usize) -> usize {
        match self {
            Pooling::Attention(pool) => pool.width(),
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

impl Pooling {
    /// The weights, and what they mix; none for the last state.
    pub(super) fn open<T: Float>(&self, tape: &Tape<T>, states: Var) -> Result<Option<(Var, Var)>> {
        let values = match self {
            Pooling::Attention(pool) => pool.values(tape, states)?,
            Pooling::Mean => states,
            Pooling::Last => return Ok(None),
        };
        let weights = self.forward(tape, states, states)?.weights;
        Ok(weights.map(|weights| (weights, values)))
    }
}

/// The mix of values by weights, heads side by side: one row per item of their axis.
pub(super) fn mixed<T: Float>(tape: &Tape<T>, weights: Var, values: Var, axis: &Axis) -> Result<Var> {
    mix_whole(tape, weights, values, &Pairs::for_items(&(0..axis.items()).collect::<Vec<_>>(), axis))
}

/// The weights of each item: heads by positions. Without weights, no heads.
pub fn weights_by_item(tape: &Tape<f32>, weights: Option<Var>, axis: &Axis) -> Vec<Vec<Vec<f32>>> {
    let Some(weights) = weights else { return vec![Vec::new(); axis.items()] };
    let heads = tape.shape(weights).1;
    let numbers = tape.value(weights);
    let of = |item: usize, head: usize| axis.range(item).map(|row| numbers[row * heads + head]).collect();
    (0..axis.items()).map(|item| (0..heads).map(|head| of(item, head)).collect()).collect()
}
