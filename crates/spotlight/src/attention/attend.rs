//! Score, softmax and mix in a row.

use std::sync::Arc;

use spotlight_kernels::Float;

use super::score::Sizes;
use super::{Asker, AttentionConfig, Intervening, Intervention, Mask, Normaliser, Place, Score, mix};
use crate::axis::{Axis, Pairs};
use crate::nn::Linear;
use crate::params::Params;
use crate::tape::{Tape, Var};
use crate::{Error, Result};

/// The three boxes with their parameters.
#[derive(Clone, Debug)]
pub struct Attention {
    /// The first box, one per head.
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
    /// Who changes the weights of every look, if anybody.
    pub(crate) intervening: Option<Intervening>,
    /// The values, taken through weights that every context would go through: `W (Σ a v) = Σ a (W v)`. For a search, where one memory meets many steps.
    pub(crate) projected: Option<Var>,
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
        Ok(Memory { keys: memory, values: memory, axis, allowed: None, intervening: None, projected: None })
    }

    /// The same memory with rows that nobody may look at.
    pub fn only(mut self, allowed: Vec<bool>) -> Result<Self> {
        if allowed.len() != self.axis.rows() {
            let expected = format!("{} answers, one per row of the memory", self.axis.rows());
            return Err(Error::Shape { op: "memory", expected, got: (allowed.len(), 1) });
        }
        self.allowed = Some(Arc::new(allowed));
        Ok(self)
    }

    /// The same memory, with somebody who changes the weights of every look at it.
    pub fn intervened(mut self, intervention: Arc<dyn Intervention>) -> Self {
        self.intervening = Some(Intervening(intervention));
        self
    }

    /// Whether every look is free: no row is forbidden, and nobody changes weights.
    pub(crate) fn is_plain(&self) -> bool {
        self.allowed.is_none() && self.intervening.is_none()
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
        Ok(Memory { keys, values, axis: self.axis.clone(), allowed: self.allowed.clone(), intervening: None, projected: None })
    }
}

/// What is asked of a memory: some queries, each about one of its sequences.
#[derive(Clone, Debug)]
pub struct Question {
    /// Which query meets which rows.
    pub pairs: Pairs,
    /// The step of each query in its sequence, from 0.
    pub positions: Vec<usize>,
    /// One row per query, if the score reads it.
    pub query: Option<Var>,
    /// The axis of the queries, if they have one.
    pub axis: Option<Axis>,
    /// The weights of the step before, one number per pair, for what depends on them.
    pub previous: Option<Var>,
    /// The sum of the weights of all steps before, one number per pair, for a score that reads it.
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
    /// One row per query: the mix.
    pub context: Var,
    /// One row per pair, one column per head, on the axis of the pairs.
    pub weights: Var,
    /// The same before the softmax.
    pub scores: Var,
    /// One number per query, for [`SoftmaxKind::Reinforce`](super::SoftmaxKind::Reinforce) while learning.
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
        config.check(Place { asker: Asker::Decoder, query, memory, coverage })?;
        let mut project =
            |part: &str, size: Option<usize>| size.map(|size| Linear::without_bias(params, &format!("{name}.{part}"), memory, size));
        let values = config.projected_values(memory);
        let width = values.unwrap_or(memory);
        let (keys, values) = (project("key", config.keys), project("value", values));
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
        Ok(Memory { keys, values, axis, allowed: None, intervening: None, projected: None })
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
        let mut weights = self.normaliser.weights(tape, scores, &question)?;
        if let Some(intervening) = &memory.intervening {
            weights.weights = intervening.changed(tape, weights.weights, &question, 0)?;
        }
        let mut context = mix(tape, weights.weights, memory.values, &question.pairs)?;
        if let Some(axis) = &question.axis {
            context = tape.on_axis(context, axis)?;
        }
        Ok(Attended { context, weights: weights.weights, scores, log_probs: weights.log_probs })
    }
}
