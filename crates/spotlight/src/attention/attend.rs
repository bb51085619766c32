//! Score, softmax and mix in a row.

use std::sync::Arc;

use serde::{Deserialize, Serialize};
use spotlight_kernels::Float;

use super::score::Sizes;
use super::{Mask, Normaliser, Score, ScoreConfig, ScoreKind, SoftmaxConfig, SoftmaxKind, mix};
use crate::axis::{Axis, Pairs};
use crate::nn::Linear;
use crate::params::Params;
use crate::tape::{Tape, Var};
use crate::{Error, Result};

/// What goes into the boxes, as a user configures it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AttentionConfig {
    /// The first box.
    pub score: ScoreConfig,
    /// The second box.
    pub softmax: SoftmaxConfig,
    /// If given, the score reads a projection of the memory to this size instead of the memory.
    pub keys: Option<usize>,
    /// If given, the context mixes a projection of the memory to this size instead of the memory.
    pub values: Option<usize>,
    /// Scores side by side, each with parameters and weights of its own. Several share the features of a projection of the memory: each mixes its part of them.
    pub heads: usize,
}

impl Default for AttentionConfig {
    fn default() -> Self {
        AttentionConfig { score: ScoreConfig::default(), softmax: SoftmaxConfig::default(), keys: None, values: None, heads: 1 }
    }
}

impl AttentionConfig {
    /// This score with the plain softmax over the memory itself.
    pub fn new(score: ScoreKind) -> Self {
        AttentionConfig { score: score.into(), ..Default::default() }
    }

    /// The projection that the context mixes, if there is one: several heads need one, so that each can choose what to mix.
    pub(crate) fn projected_values(&self, memory: usize) -> Option<usize> {
        self.values.or((self.heads > 1).then_some(memory))
    }

    fn check(&self, values: usize) -> Result<()> {
        let refuse = |expected: &str| {
            Err(Error::Value { what: "the number of heads".into(), got: self.heads.to_string(), expected: expected.into() })
        };
        match self.heads {
            1 => Ok(()),
            0 => refuse("at least 1"),
            heads if !values.is_multiple_of(heads) => refuse(&format!("a divisor of the {values} features that they share")),
            _ if matches!(self.score.kind, ScoreKind::Dot | ScoreKind::ScaledDot | ScoreKind::Cosine) => {
                refuse("1 for a score without parameters, whose heads would all look at the same place; or use general")
            }
            _ if self.score.kind.looks_back() => refuse("1 for a score that minds where it looked"),
            _ if !matches!(self.softmax.kind, SoftmaxKind::Softmax | SoftmaxKind::Sparsemax) => refuse("1, but with softmax or sparsemax"),
            _ => Ok(()),
        }
    }
}

/// The three boxes with their parameters.
#[derive(Clone, Debug)]
pub struct Attention {
    /// The first box, one a head.
    pub scores: Vec<Score>,
    /// The second box.
    pub normaliser: Normaliser,
    /// Projections for the score and for the mix.
    pub keys: Option<Linear>,
    /// See `keys`.
    pub values: Option<Linear>,
    /// Features of a context.
    pub width: usize,
}

/// A memory made ready: what depends on it alone is computed.
#[derive(Clone, Debug)]
pub struct Memory {
    /// What the scores read, head by head.
    pub keys: Var,
    /// What the context is mixed of.
    pub values: Var,
    /// The memory's sequences.
    pub axis: Axis,
    /// For each row, whether anybody may look at it.
    allowed: Option<Arc<Vec<bool>>>,
}

/// The numbers of a [`Memory`], to move it to another tape.
#[derive(Clone, Debug)]
pub struct MemoryTables<T> {
    keys: (usize, Vec<T>),
    values: (usize, Vec<T>),
    axis: Axis,
    allowed: Option<Arc<Vec<bool>>>,
}

impl Memory {
    /// A memory that nobody looks at.
    pub(crate) fn unread<T: Float>(tape: &Tape<T>, memory: Var) -> Result<Self> {
        let axis = tape.need_axis("memory", memory)?;
        Ok(Memory { keys: memory, values: memory, axis, allowed: None })
    }

    /// The same memory with rows that nobody may look at.
    pub fn only(mut self, allowed: Vec<bool>) -> Result<Self> {
        if allowed.len() != self.axis.rows() {
            let expected = format!("{} answers, one a row of the memory", self.axis.rows());
            return Err(Error::Shape { op: "memory", expected, got: (allowed.len(), 1) });
        }
        self.allowed = Some(Arc::new(allowed));
        Ok(self)
    }

    /// Whether some rows are forbidden.
    pub(crate) fn is_masked(&self) -> bool {
        self.allowed.is_some()
    }

    /// Its numbers, without the tape.
    pub fn tables<T: Float>(&self, tape: &Tape<T>) -> MemoryTables<T> {
        let table = |x| (tape.shape(x).1, tape.to_vec(x));
        MemoryTables { keys: table(self.keys), values: table(self.values), axis: self.axis.clone(), allowed: self.allowed.clone() }
    }
}

impl<T: Float> MemoryTables<T> {
    /// The memory on a tape.
    pub fn on(&self, tape: &Tape<T>) -> Result<Memory> {
        let table = |(cols, data): &(usize, Vec<T>)| tape.on_axis(tape.table(self.axis.rows(), *cols, data.clone())?, &self.axis);
        let (keys, values) = (table(&self.keys)?, table(&self.values)?);
        Ok(Memory { keys, values, axis: self.axis.clone(), allowed: self.allowed.clone() })
    }
}

/// What is asked of a memory: some queries, each about one of its sequences.
#[derive(Clone, Debug)]
pub struct Question {
    /// Which query meets which rows.
    pub pairs: Pairs,
    /// The step of each query in its sequence, from 0.
    pub positions: Vec<usize>,
    /// One row a query, if the score reads it.
    pub query: Option<Var>,
    /// The axis of the queries, if they have one.
    pub axis: Option<Axis>,
    /// The weights of the step before, one number a pair, for what depends on them.
    pub previous: Option<Var>,
    /// The sum of the weights of all steps before, one number a pair, for a score that reads it.
    pub coverage: Option<Var>,
    /// What is allowed.
    pub mask: Option<Mask>,
}

impl Question {
    /// Every row of the queries' sequences asks about the same sequence of the keys.
    pub fn of_axes(query: Option<Var>, queries: &Axis, keys: &Axis) -> Result<Self> {
        let pairs = Pairs::new(queries, keys)?;
        let positions = Mask::positions(queries);
        Ok(Question { pairs, positions, query, axis: Some(queries.clone()), previous: None, coverage: None, mask: None })
    }

    /// One query for each listed item of the keys, all at the step `position`. An item may be listed several times.
    pub fn of_items(query: Option<Var>, items: &[usize], keys: &Axis, position: usize) -> Result<Self> {
        if let Some(&index) = items.iter().find(|&&item| item >= keys.items()) {
            return Err(Error::Index { op: "question", index, len: keys.items() });
        }
        let pairs = Pairs::for_items(items, keys);
        let positions = vec![position; items.len()];
        Ok(Question { pairs, positions, query, axis: None, previous: None, coverage: None, mask: None })
    }

    /// The same question with a mask, in addition to those it has.
    pub fn masked(mut self, mask: &Mask) -> Result<Self> {
        self.mask = Some(match &self.mask {
            Some(already) => already.and(mask)?,
            None => mask.clone(),
        });
        Ok(self)
    }
}

/// What attention gives.
#[derive(Clone, Copy, Debug)]
pub struct Attended {
    /// One row a query: the mix.
    pub context: Var,
    /// One row a pair, one column a head, on the axis of the pairs.
    pub weights: Var,
    /// The same before the softmax.
    pub scores: Var,
    /// One number a query, for [`SoftmaxKind::Reinforce`](super::SoftmaxKind::Reinforce) while learning.
    pub log_probs: Option<Var>,
}

impl Attention {
    /// Makes the parameters under `name.`, for queries of `query` features and a memory of `memory` features.
    pub fn new<T: Float>(params: &mut Params<T>, name: &str, config: &AttentionConfig, query: usize, memory: usize) -> Result<Self> {
        Self::with_coverage(params, name, config, query, memory, false)
    }

    /// Like [`Attention::new`], with a score that reads the coverage.
    pub(crate) fn with_coverage<T: Float>(
        params: &mut Params<T>,
        name: &str,
        config: &AttentionConfig,
        query: usize,
        memory: usize,
        coverage: bool,
    ) -> Result<Self> {
        let mut project = |part: &str, size: Option<usize>| match size {
            Some(0) => Err(Error::Value { what: format!("the size of the {part}s"), got: "0".into(), expected: "at least 1".into() }),
            Some(size) => Ok(Some(Linear::without_bias(params, &format!("{name}.{part}"), memory, size))),
            None => Ok(None),
        };
        let values = config.projected_values(memory);
        let width = values.unwrap_or(memory);
        config.check(width)?;
        let (keys, values) = (project("key", config.keys)?, project("value", values)?);
        let sizes = Sizes { query, memory: config.keys.unwrap_or(memory), coverage };
        let named = |head: usize| if config.heads == 1 { name.to_string() } else { format!("{name}.{head}") };
        let scores = (0..config.heads).map(|head| Score::new(params, &named(head), &config.score, sizes)).collect::<Result<_>>()?;
        let normaliser = Normaliser::new(params, name, config.softmax, query)?;
        Ok(Attention { scores, normaliser, keys, values, width })
    }

    /// Whether the weights of a step depend on those of the step before.
    pub fn looks_back(&self) -> bool {
        self.normaliser.looks_back() || self.scores.iter().any(|score| score.kind().looks_back())
    }

    /// Computes what depends on the memory alone.
    pub fn prepare<T: Float>(&self, tape: &Tape<T>, memory: Var) -> Result<Memory> {
        let axis = tape.need_axis("attention (memory)", memory)?;
        let projected = |layer: &Option<Linear>| layer.as_ref().map_or(Ok(memory), |layer| layer.forward(tape, memory));
        let (read, values) = (projected(&self.keys)?, projected(&self.values)?);
        let keys = self.scores.iter().map(|score| score.keys(tape, read)).collect::<Result<Vec<_>>>()?;
        let keys = if let [one] = keys[..] { one } else { tape.concat(&keys)? };
        Ok(Memory { keys, values, axis, allowed: None })
    }

    /// Score, softmax, mix.
    pub fn attend<T: Float>(&self, tape: &Tape<T>, memory: &Memory, question: &Question) -> Result<Attended> {
        let mut question = question.clone();
        if let Some(allowed) = &memory.allowed {
            question = question.clone().masked(&Mask::keys(&question.pairs, allowed)?)?;
        }
        let scores = match &self.scores[..] {
            [score] => score.scores(tape, memory.keys, &question)?,
            heads => {
                let width = tape.shape(memory.keys).1 / heads.len().max(1);
                let of_head = |(h, score): (usize, &Score)| score.scores(tape, tape.slice(memory.keys, h * width, width)?, &question);
                tape.concat(&heads.iter().enumerate().map(of_head).collect::<Result<Vec<_>>>()?)?
            }
        };
        let weights = self.normaliser.weights(tape, scores, &question)?;
        let mut context = mix(tape, weights.weights, memory.values, &question.pairs)?;
        if let Some(axis) = &question.axis {
            context = tape.on_axis(context, axis)?;
        }
        Ok(Attended { context, weights: weights.weights, scores, log_probs: weights.log_probs })
    }
}
