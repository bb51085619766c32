//! Pooling: a whole sequence, or any set of rows, into one row.
//!
//! With a query-free score (`linear`, `tanh`, `gated`) the score itself has learned what matters. With any other score the query is a parameter: the one question
//! the task asks (Yang and others, 2016). With several heads each has a score and a query of its own and mixes whole rows, so the result has the heads' contexts side
//! by side (Lin and others, 2017).

use spotlight_kernels::Float;

use super::score::Sizes;
use super::{Asker, AttentionConfig, Mask, Normaliser, Place, Question, Score, mix_whole};
use crate::Result;
use crate::nn::Linear;
use crate::params::{Init, ParamId, Params};
use crate::tape::{Tape, Var};

/// Attention that pools.
#[derive(Clone, Debug)]
pub struct Pool {
    heads: Vec<(Score, Option<ParamId>)>,
    normaliser: Normaliser,
    /// Projections for the score and for the mix.
    keys: Option<Linear>,
    values: Option<Linear>,
    width: usize,
}

/// What pooling gives.
#[derive(Clone, Copy, Debug)]
pub struct Pooled {
    /// One row per item, the heads side by side; zeros for an empty sequence.
    pub context: Var,
    /// One row per position of the memory, one column per head.
    pub weights: Var,
    /// One row per item, one column per head, for [`SoftmaxKind::Reinforce`](super::SoftmaxKind::Reinforce) while learning.
    pub log_probs: Option<Var>,
}

impl Pool {
    /// Makes the parameters under `name.` (with several heads `name.0.`, `name.1.` and so on) for a memory of `memory` features.
    pub fn new<T: Float>(params: &mut Params<T>, name: &str, config: &AttentionConfig, memory: usize) -> Result<Self> {
        let read = config.keys.unwrap_or(memory);
        let place = Self::place(config, memory);
        let query = place.query;
        config.check(place)?;
        let mut project =
            |part: &str, size: Option<usize>| size.map(|size| Linear::without_bias(params, &format!("{name}.{part}"), memory, size));
        let (keys, values) = (project("key", config.keys), project("value", config.values));
        let mut heads = Vec::with_capacity(config.heads);
        for head in 0..config.heads {
            let name = if config.heads == 1 { name.to_string() } else { format!("{name}.{head}") };
            let score = Score::new(params, &name, &config.score, Sizes { query, memory: read, coverage: false })?;
            let query = (query > 0).then(|| params.add(format!("{name}.query"), &[query], Init::Normal(1.0)));
            heads.push((score, query));
        }
        let width = config.heads * config.values.unwrap_or(memory);
        Ok(Pool { heads, normaliser: Normaliser::new(params, name, config.softmax, query)?, keys, values, width })
    }

    /// Where it is used: the query that it learns is as wide as what the score reads.
    pub(crate) fn place(config: &AttentionConfig, memory: usize) -> Place {
        let query = if config.score.kind.asks() { config.keys.unwrap_or(memory) } else { 0 };
        Place { asker: Asker::Pool, query, memory, coverage: false }
    }

    /// Features of a pooled row.
    pub fn width(&self) -> usize {
        self.width
    }

    /// What the weights mix: the rows of `memory`, or their projection.
    pub fn values<T: Float>(&self, tape: &Tape<T>, memory: Var) -> Result<Var> {
        self.values.as_ref().map_or(Ok(memory), |layer| layer.forward(tape, memory))
    }

    /// One row for each sequence of `memory`. `allowed` says of each row whether it may be looked at; all may, if it is not given.
    pub fn forward<T: Float>(&self, tape: &Tape<T>, memory: Var, allowed: Option<&[bool]>) -> Result<Pooled> {
        let axis = tape.need_axis("pool", memory)?;
        let items: Vec<usize> = (0..axis.items()).collect();
        let mut question = Question::of_items(None, &items, &axis, 0)?;
        if let Some(allowed) = allowed {
            question = question.clone().masked(&Mask::keys(&question.pairs, allowed)?)?;
        }
        let projected = |layer: &Option<Linear>| layer.as_ref().map_or(Ok(memory), |layer| layer.forward(tape, memory));
        let (read, values) = (projected(&self.keys)?, projected(&self.values)?);
        let mut columns = Vec::with_capacity(self.heads.len());
        for (score, query) in &self.heads {
            question.query = match query {
                Some(query) => Some(tape.gather(tape.param(*query), &vec![0; items.len()])?),
                None => None,
            };
            columns.push(score.scores(tape, score.keys(tape, read)?, &question)?);
        }
        let scores = if let [one] = columns[..] { one } else { tape.concat(&columns)? };
        let weights = self.normaliser.weights(tape, scores, &question)?;
        let context = mix_whole(tape, weights.weights, values, &question.pairs)?;
        Ok(Pooled { context, weights: weights.weights, log_probs: weights.log_probs })
    }
}
