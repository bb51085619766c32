//! Does this answer go with this question? Attention by recurrence over a dynamic axis, word for word.
//!
//! Written as one would in CNTK: two bidirectional LSTMs read question and answer, a recurrence computes the correction that makes the exponentials of
//! the scores sum to one, and the cosine of the attended embeddings is the answer. What the words are called here:
//!
//! | CNTK | here |
//! |---|---|
//! | `Embedding(500)` | [`Embedding`] |
//! | `BiRecurrence(LSTM(300), LSTM(300))` | [`Rnn`] with `bidirectional: true` |
//! | `Dense(200)` | [`Linear`] |
//! | `C.parameter((200, 1), init=glorot_normal())`, `C.times` | `params.add(..., Init::GlorotNormal)`, `tape.linear` |
//! | `p = C.placeholder_variable(1)`, `C.past_value(p)`, `replace_placeholders` | `tape.scan`: its step gets the value before and returns the value now |
//! | `C.element_select(C.sequence.is_first(z), -1e30, ...)` | `tape.select(tape.is_first(z)?, ...)`, or the initial value of `scan` |
//! | `C.past_value(x)` of a finished sequence | `tape.previous(x, initial)` |
//! | `C.log_add_exp`, `C.exp` | `tape.log_add_exp`, `tape.exp` |
//! | `C.sequence.last`, `C.sequence.broadcast_as` | `tape.last`, `tape.broadcast_as` |
//! | `C.sequence.reduce_sum` | `tape.sum` |
//! | `C.cosine_distance` | `tape.cosine` |
//!
//! In a model of one's own `tape.softmax(z)` replaces the whole recurrence; `tests/matcher.rs` shows that both are the same, in value and gradient.
//!
//! ```text
//! cargo run --release -p spotlight --example matcher
//! ```

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use spotlight::axis::Axis;
use spotlight::nn::{Embedding, Linear, Rnn, RnnConfig};
use spotlight::params::{Gradients, Init, ParamId, Params};
use spotlight::tape::{Tape, Var};
use spotlight::train::optim::{Optimiser, Rule};
use spotlight::{Cell, Float, Result};

/// Embedding, bidirectional LSTM, dense layer, and one score a position.
pub struct Side {
    embedding: Embedding,
    lstm: Rnn,
    dense: Linear,
    w: ParamId,
}

impl Side {
    pub fn new<T: Float>(params: &mut Params<T>, name: &str, units: usize) -> Self {
        let lstm = RnnConfig { bidirectional: true, ..RnnConfig::new(Cell::Lstm, 50, 30) };
        Side {
            embedding: Embedding::new(params, &format!("{name}.embedding"), units, 50),
            lstm: Rnn::new(params, &format!("{name}.lstm"), lstm),
            dense: Linear::new(params, &format!("{name}.dense"), 60, 20),
            w: params.add(format!("{name}.w"), &[1, 20], Init::GlorotNormal),
        }
    }

    /// `q_embed`: one row a position.
    fn embed<T: Float>(&self, t: &Tape<T>, ids: &[u32], axis: &Axis) -> Result<Var> {
        let x = t.on_axis(self.embedding.forward(t, ids)?, axis)?;
        self.dense.forward(t, self.lstm.forward(t, x)?.states)
    }

    /// The sum of the embeddings, weighted by attention.
    fn attended<T: Float>(&self, t: &Tape<T>, ids: &[u32], axis: &Axis) -> Result<Var> {
        let embed = self.embed(t, ids, axis)?;
        let z = t.linear(embed, self.w, None)?;
        t.sum(t.mul(attention(t, z, axis)?, embed)?)
    }
}

/// Weights over each sequence from scores: `e^(z - log Σ e^z)`, the sum by a recurrence.
pub fn attention<T: Float>(t: &Tape<T>, z: Var, axis: &Axis) -> Result<Var> {
    let log_cumsum_exp = t.scan(axis, &[z, t.is_first(z)?], &[t.scalar(0.0)], |_, now, past| {
        let (z, is_first, past_value) = (now[0], now[1], past[0]);
        let prev_or_tiny = t.select(is_first, t.scalar(-1e30), past_value)?;
        Ok(vec![t.log_add_exp(z, prev_or_tiny)?])
    })?;
    let log_sum_exp = t.last(log_cumsum_exp.states[0])?;
    Ok(t.exp(t.sub(z, t.broadcast_as(log_sum_exp, z)?)?))
}

/// The cosine between attended question and attended answer, one number a pair.
pub fn cosine<T: Float>(t: &Tape<T>, sides: [&Side; 2], question: (&[u32], &Axis), answer: (&[u32], &Axis)) -> Result<Var> {
    let attended_q = sides[0].attended(t, question.0, question.1)?;
    let attended_a = sides[1].attended(t, answer.0, answer.1)?;
    t.cosine(attended_q, attended_a)
}

/// Kinds of things that are asked for; the other units are chatter.
const KINDS: u32 = 6;
const UNITS: u32 = 20;

/// Sequences of chatter, with one unit somewhere in each that matters: its kind.
fn sequences(rng: &mut ChaCha8Rng, kinds: &[u32]) -> (Vec<u32>, Axis) {
    let (mut ids, mut lengths) = (Vec::new(), Vec::new());
    for kind in kinds {
        let length = rng.random_range(1..8);
        let place = rng.random_range(0..length);
        ids.extend((0..length).map(|i| if i == place { *kind } else { rng.random_range(KINDS..UNITS) }));
        lengths.push(length);
    }
    (ids, Axis::new(lengths))
}

/// Learns to tell answers of the right kind from answers of another, and returns the share of new questions whose right answer scores higher.
pub fn learn(steps: u64) -> Result<f64> {
    let mut params = Params::<f32>::new(1);
    let sides = [Side::new(&mut params, "question", UNITS as usize), Side::new(&mut params, "answer", UNITS as usize)];
    let sides = [&sides[0], &sides[1]];
    let scores = |t: &Tape<f32>, rng: &mut ChaCha8Rng| -> Result<[Var; 2]> {
        let kinds: Vec<u32> = (0..32).map(|_| rng.random_range(0..KINDS)).collect();
        let others: Vec<u32> = kinds.iter().map(|k| (k + rng.random_range(1..KINDS)) % KINDS).collect();
        let (question, q_axis) = sequences(rng, &kinds);
        let (right, wrong) = (sequences(rng, &kinds), sequences(rng, &others));
        let to = |(ids, axis): &(Vec<u32>, Axis)| cosine(t, sides, (&question, &q_axis), (ids, axis));
        Ok([to(&right)?, to(&wrong)?])
    };
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let (mut gradients, mut adam) = (Gradients::new(&params), Optimiser::new(Rule::ADAM, params.len()));
    for step in 0..steps {
        gradients.begin();
        let tape = Tape::training(&params, &mut gradients, step);
        let [right, wrong] = scores(&tape, &mut rng)?;
        let loss = tape.ranking(right, wrong, 0.5, 1.0 / 32.0)?;
        tape.backward(loss)?;
        adam.step(params.flat_mut(), gradients.flat(), 1e-2, 1.0);
    }
    let tape = Tape::new(&params);
    let [right, wrong] = scores(&tape, &mut rng)?;
    let better = tape.value(right).iter().zip(tape.value(wrong).iter()).filter(|(r, w)| r > w).count();
    Ok(better as f64 / 32.0)
}

#[allow(dead_code, reason = "a test uses this file as a module")]
fn main() -> Result<()> {
    println!("right answers preferred: {:.0} % before, {:.0} % after 60 steps", 100.0 * learn(0)?, 100.0 * learn(60)?);
    Ok(())
}
