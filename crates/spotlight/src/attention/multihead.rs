//! Multi-head attention: every row of a sequence asks, several heads at once. Vaswani and others, 2017, section 3.2.2.
//!
//! Query, key and value are projections of `E` features each, cut into heads of `E / heads`; every head scores, normalises and mixes its own share, and one more
//! projection joins them. Names and layouts are those of `torch.nn.MultiheadAttention`, so its weights load as they are. Around another score than the scaled
//! product, every head has a score of its own, `name.score.0.` and so on.

use serde::{Deserialize, Serialize};
use spotlight_kernels::Float;
use spotlight_kernels::gemm::{Onto, View, product};

use super::score::{Sizes, dot_pairs};
use super::{
    Asker, Attended, AttentionConfig, Mask, Normaliser, Place, Question, Score, ScoreConfig, ScoreKind, SoftmaxConfig, mix,
    streaming_attention,
};
use crate::nn::Linear;
use crate::params::{Init, ParamId, Params};
use crate::tape::{Tape, Var};
use crate::{Error, Result};

const OP: &str = "multi-head attention";

/// Multi-head attention, as a user configures it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct MultiHeadConfig {
    /// The first box, for each head.
    pub score: ScoreConfig,
    /// The second box.
    pub softmax: SoftmaxConfig,
    /// Heads; they share the features evenly.
    pub heads: usize,
    /// Whether a query may look only at its own position and those before.
    pub causal: bool,
    /// If given, how far to each side a query may look.
    pub window: Option<usize>,
}

impl Default for MultiHeadConfig {
    fn default() -> Self {
        MultiHeadConfig { score: ScoreKind::ScaledDot.into(), softmax: SoftmaxConfig::default(), heads: 1, causal: false, window: None }
    }
}

/// Where the projections of query, key and value stand.
#[derive(Clone, Copy, Debug)]
enum Projections {
    /// One below the other: `3E x E`.
    Stacked(ParamId),
    /// `E x E`, `E x key width`, `E x value width`.
    Apart([ParamId; 3]),
}

/// Multi-head attention.
#[derive(Clone, Debug)]
pub struct MultiHead {
    config: MultiHeadConfig,
    embed: usize,
    projections: Projections,
    bias: ParamId,
    out: Linear,
    /// One per head; none for the products, which need no parameters.
    scores: Vec<Score>,
    normaliser: Normaliser,
}

impl MultiHead {
    /// Makes the parameters under `name.`: `embed` features of the queries and of what comes out, `key` and `value` features of the memory.
    pub fn new<T: Float>(
        params: &mut Params<T>,
        name: &str,
        config: &MultiHeadConfig,
        embed: usize,
        key: usize,
        value: usize,
    ) -> Result<Self> {
        let boxes = AttentionConfig { score: config.score, softmax: config.softmax, heads: config.heads, ..AttentionConfig::default() };
        boxes.check(Place { asker: Asker::Rows, query: embed, memory: embed, coverage: false })?;
        let projections = if key == embed && value == embed {
            Projections::Stacked(params.add(format!("{name}.in_proj_weight"), &[3 * embed, embed], Init::Glorot))
        } else {
            let mut add = |part: &str, width: usize| params.add(format!("{name}.{part}_proj_weight"), &[embed, width], Init::Glorot);
            Projections::Apart([add("q", embed), add("k", key), add("v", value)])
        };
        let bias = params.add(format!("{name}.in_proj_bias"), &[3 * embed], Init::Zeros);
        let out = Linear::new(params, &format!("{name}.out_proj"), embed, embed);
        let size = embed / config.heads;
        let sizes = Sizes { query: size, memory: size, coverage: false };
        let own = if config.score.kind.factor(size).is_some() { 0 } else { config.heads };
        let scores =
            (0..own).map(|head| Score::new(params, &format!("{name}.score.{head}"), &config.score, sizes)).collect::<Result<_>>()?;
        let normaliser = Normaliser::new(params, name, config.softmax, embed)?;
        Ok(MultiHead { config: *config, embed, projections, bias, out, scores, normaliser })
    }

    /// Every row of `x` looks at its own sequence.
    pub fn self_attention<T: Float>(&self, tape: &Tape<T>, x: Var, mask: Option<&Mask>) -> Result<Attended> {
        self.forward(tape, x, x, x, mask)
    }

    /// Every row of `query` looks at the same sequence of `key` and `value`. Context and queries are on the same axis; weights have one column per head.
    ///
    /// `mask` comes in addition to what the configuration says.
    pub fn forward<T: Float>(&self, tape: &Tape<T>, query: Var, key: Var, value: Var, mask: Option<&Mask>) -> Result<Attended> {
        let (queries, keys) = (tape.need_axis(OP, query)?, tape.need_axis(OP, key)?);
        let [q, k, v] = self.project(tape, query, key, value)?;
        let mut question = Question::of_axes(Some(q), &queries, &keys)?;
        if self.config.causal {
            question = question.clone().masked(&Mask::causal(&question.pairs, &question.positions)?)?;
        }
        if let Some(window) = self.config.window {
            question = question.clone().masked(&Mask::window(&question.pairs, &question.positions, window)?)?;
        }
        if let Some(mask) = mask {
            question = question.masked(mask)?;
        }
        let scores = self.scores(tape, q, k, &question)?;
        let weights = self.normaliser.weights(tape, scores, &question)?;
        let mixed = mix(tape, weights.weights, v, &question.pairs)?;
        let context = tape.on_axis(self.out.forward(tape, mixed)?, &queries)?;
        Ok(Attended { context, weights: weights.weights, scores, log_probs: weights.log_probs })
    }

    /// The context of [`forward`](Self::forward) alone. A plain softmax over products then never builds its weights, and memory grows with the length instead of
    /// its square (see [`streaming_attention`]); with any other score or softmax, a window or a mask, the weights are built and let go.
    pub fn context<T: Float>(&self, tape: &Tape<T>, query: Var, key: Var, value: Var, mask: Option<&Mask>) -> Result<Var> {
        let plain = self.scores.is_empty() && self.config.softmax.is_fused();
        if !plain || self.config.window.is_some() || mask.is_some() {
            return Ok(self.forward(tape, query, key, value, mask)?.context);
        }
        let [q, k, v] = self.project(tape, query, key, value)?;
        let mixed = streaming_attention(tape, q, k, v, self.config.heads, self.scale(), self.config.causal)?;
        tape.on_axis(self.out.forward(tape, mixed)?, &tape.need_axis(OP, query)?)
    }

    /// The projections of query, key and value, each on the axis of what it is made of.
    fn project<T: Float>(&self, tape: &Tape<T>, query: Var, key: Var, value: Var) -> Result<[Var; 3]> {
        tape.common_axis(OP, key, value)?;
        let e = self.embed;
        Ok(match self.projections {
            // One product for all three.
            Projections::Stacked(weight) if query == key && key == value => {
                let all = tape.linear(query, weight, Some(self.bias))?;
                [tape.slice(all, 0, e)?, tape.slice(all, e, e)?, tape.slice(all, 2 * e, e)?]
            }
            Projections::Stacked(weight) => {
                let part = |x, i| linear_rows(tape, x, weight, i * e, self.bias, i * e, e);
                [part(query, 0)?, part(key, 1)?, part(value, 2)?]
            }
            Projections::Apart([wq, wk, wv]) => {
                let part = |x, weight, i| linear_rows(tape, x, weight, 0, self.bias, i * e, e);
                [part(query, wq, 0)?, part(key, wk, 1)?, part(value, wv, 2)?]
            }
        })
    }

    /// The factor of a product, for those.
    fn scale(&self) -> f64 {
        self.config.score.kind.factor(self.embed / self.config.heads).unwrap_or(1.0)
    }

    /// One column per head.
    fn scores<T: Float>(&self, tape: &Tape<T>, q: Var, k: Var, question: &Question) -> Result<Var> {
        let (heads, size) = (self.config.heads, self.embed / self.config.heads);
        if self.scores.is_empty() {
            return dot_pairs(tape, q, k, &question.pairs, heads, self.scale());
        }
        let mut columns = Vec::with_capacity(heads);
        for (head, score) in self.scores.iter().enumerate() {
            let keys = score.keys(tape, tape.slice(k, head * size, size)?)?;
            let query = Some(tape.slice(q, head * size, size)?);
            columns.push(score.scores(tape, keys, &Question { query, ..question.clone() })?);
        }
        if let [one] = columns[..] { Ok(one) } else { tape.concat(&columns) }
    }
}

/// `x W[from..from + count]ᵀ + b[bias_from..bias_from + count]`: some rows of a weight that was made for several outputs.
fn linear_rows<T: Float>(
    tape: &Tape<T>,
    x: Var,
    weight: ParamId,
    from: usize,
    bias: ParamId,
    bias_from: usize,
    count: usize,
) -> Result<Var> {
    let (w, b) = (tape.param(weight), tape.param(bias));
    let ((rows, input), shape) = (tape.shape(x), tape.shape(w));
    if input != shape.1 {
        return Err(Error::Shapes { op: "multi-head attention (projection)", left: (rows, input), right: shape });
    }
    let mut value = tape.buffer(rows * count);
    {
        let (x, w, b) = (tape.value(x), tape.value(w), tape.value(b));
        let right = View::new(&w[from * input..(from + count) * input], count, input).t();
        product(View::new(&x, rows, input), right, &mut value, count, Onto::Row(&b[bias_from..bias_from + count]));
    }
    Ok(tape.push(value, rows, count, tape.axis(x), &[x, w, b], |_| {
        Box::new(move |back, dy| {
            let gradient = View::new(dy, rows, count);
            if back.grads.wants(x) {
                let right = View::new(&back.values.get(w)[from * input..(from + count) * input], count, input);
                let (dx, add) = back.grads.write(x);
                product(gradient, right, dx, input, add);
            }
            if back.grads.wants(w) {
                let right = View::new(back.values.get(x), rows, input);
                product(gradient.t(), right, &mut back.grads.of(w)[from * input..(from + count) * input], input, true);
            }
            if back.grads.wants(b) {
                spotlight_kernels::map::add_rows(dy, &mut back.grads.of(b)[bias_from..bias_from + count]);
            }
        })
    }))
}
