//! Pooling: a whole sequence, or any set of rows, into one row.
//!
//! With a query-free score (`linear`, `tanh`, `gated`) the score itself has learned what matters. With any other score the query is a parameter: the one question
//! the task asks (Yang and others, 2016). With several heads each has a score and a query of its own and mixes whole rows, so the result has the heads' contexts side
//! by side (Lin and others, 2017).

use serde::{Deserialize, Serialize};
use spotlight_kernels::Float;

use super::score::Sizes;
use super::{Mask, Normaliser, Question, Score, ScoreConfig, ScoreKind, SoftmaxConfig, SoftmaxKind, mix_whole};
use crate::params::{Init, ParamId, Params};
use crate::tape::{Tape, Var};
use crate::{Error, Result};

/// How to pool, as a user configures it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct PoolConfig {
    /// The first box.
    pub score: ScoreConfig,
    /// The second box.
    pub softmax: SoftmaxConfig,
    /// Scores side by side.
    pub heads: usize,
}

impl Default for PoolConfig {
    fn default() -> Self {
        PoolConfig { score: ScoreKind::Tanh.into(), softmax: SoftmaxConfig::default(), heads: 1 }
    }
}

/// Attention that pools.
#[derive(Clone, Debug)]
pub struct Pool {
    heads: Vec<(Score, Option<ParamId>)>,
    normaliser: Normaliser,
}

/// What pooling gives.
#[derive(Clone, Copy, Debug)]
pub struct Pooled {
    /// One row an item, the heads side by side; zeros for an empty sequence.
    pub context: Var,
    /// One row a position of the memory, one column a head.
    pub weights: Var,
    /// One row an item, one column a head, for [`SoftmaxKind::Reinforce`](super::SoftmaxKind::Reinforce) while learning.
    pub log_probs: Option<Var>,
}

impl Pool {
    /// Makes the parameters under `name.` (with several heads `name.0.`, `name.1.` and so on) for a memory of `memory` features.
    pub fn new<T: Float>(params: &mut Params<T>, name: &str, config: &PoolConfig, memory: usize) -> Result<Self> {
        if config.heads == 0 {
            return Err(Error::Value { what: "the number of heads".into(), got: "0".into(), expected: "at least 1".into() });
        }
        let local = matches!(config.softmax.kind, SoftmaxKind::LocalM | SoftmaxKind::LocalP);
        if config.score.kind.looks_back() || local {
            return Err(Error::Value {
                what: "the attention that pools".into(),
                got: if local { "local".into() } else { "location-aware".into() },
                expected: "one without steps: pooling looks once".into(),
            });
        }
        let query = if config.score.kind.asks() { memory } else { 0 };
        let mut heads = Vec::with_capacity(config.heads);
        for head in 0..config.heads {
            let name = if config.heads == 1 { name.to_string() } else { format!("{name}.{head}") };
            let score = Score::new(params, &name, &config.score, Sizes { query, memory, coverage: false })?;
            let query = (query > 0).then(|| params.add(format!("{name}.query"), &[query], Init::Normal(1.0)));
            heads.push((score, query));
        }
        Ok(Pool { heads, normaliser: Normaliser::new(params, name, config.softmax, query)? })
    }

    /// Features of a pooled row, for a memory of `memory` features.
    pub fn width(&self, memory: usize) -> usize {
        self.heads.len() * memory
    }

    /// One row for each sequence of `memory`. `allowed` says of each row whether it may be looked at; all may, if it is not given.
    pub fn forward<T: Float>(&self, tape: &Tape<T>, memory: Var, allowed: Option<&[bool]>) -> Result<Pooled> {
        let axis = tape.need_axis("pool", memory)?;
        let items: Vec<usize> = (0..axis.items()).collect();
        let mut question = Question::of_items(None, &items, &axis, 0)?;
        if let Some(allowed) = allowed {
            question = question.clone().masked(&Mask::keys(&question.pairs, allowed)?)?;
        }
        let mut columns = Vec::with_capacity(self.heads.len());
        for (score, query) in &self.heads {
            question.query = match query {
                Some(query) => Some(tape.gather(tape.param(*query), &vec![0; items.len()])?),
                None => None,
            };
            columns.push(score.scores(tape, score.keys(tape, memory)?, &question)?);
        }
        let scores = if let [one] = columns[..] { one } else { tape.concat(&columns)? };
        let weights = self.normaliser.weights(tape, scores, &question)?;
        let context = mix_whole(tape, weights.weights, memory, &question.pairs)?;
        Ok(Pooled { context, weights: weights.weights, log_probs: weights.log_probs })
    }
}
