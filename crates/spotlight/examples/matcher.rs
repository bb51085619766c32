//! Does this answer go with this question? Two bidirectional LSTMs, attention written as a recurrence over the dynamic axis, and a cosine.
//! `docs/engine.md` says what each line was called in CNTK. Run it with `cargo run --release -p spotlight --example matcher`.

use spotlight::axis::Axis;
use spotlight::nn::{Embedding, Linear, Rnn, RnnConfig};
use spotlight::params::{Gradients, Init, ParamId, Params};
use spotlight::tape::{Tape, Var};
use spotlight::train::optim::{Optimiser, Rule};
use spotlight::{Cell, Float, Result};

/// What reads one of the two texts: embedding, bidirectional LSTM, dense layer, and one score a position.
pub struct Side(Embedding, Rnn, Linear, ParamId);

impl Side {
    pub fn new<T: Float>(params: &mut Params<T>, name: &str, units: usize) -> Self {
        let embedding = Embedding::new(params, &format!("{name}.embedding"), units, 50);
        let both_ways = RnnConfig { bidirectional: true, ..RnnConfig::new(Cell::Lstm, 50, 30) };
        let lstm = Rnn::new(params, &format!("{name}.lstm"), both_ways);
        let dense = Linear::new(params, &format!("{name}.dense"), 60, 20);
        Side(embedding, lstm, dense, params.add(format!("{name}.w"), &[1, 20], Init::GlorotNormal))
    }

    /// The sum of a text's rows, weighted by attention.
    pub fn attended<T: Float>(&self, t: &Tape<T>, ids: &[u32], axis: &Axis) -> Result<Var> {
        let x = t.on_axis(self.0.forward(t, ids)?, axis)?;
        let embed = self.2.forward(t, self.1.forward(t, x)?.states)?;
        t.sum(t.mul(attention(t, t.linear(embed, self.3, None)?, axis)?, embed)?)
    }
}

/// Weights over each sequence from scores: `e^(z - log Σ e^z)`, the sum by a recurrence.
pub fn attention<T: Float>(t: &Tape<T>, z: Var, axis: &Axis) -> Result<Var> {
    let log_cumsum_exp = t.scan(axis, &[z, t.is_first(z)?], &[t.scalar(0.0)], |_, now, past| {
        let prev_or_tiny = t.select(now[1], t.scalar(-1e30), past[0])?;
        Ok(vec![t.log_add_exp(now[0], prev_or_tiny)?])
    })?;
    let log_sum_exp = t.last(log_cumsum_exp.states[0])?;
    Ok(t.exp(t.sub(z, t.broadcast_as(log_sum_exp, z)?)?))
}

#[allow(dead_code, reason = "a test uses this file as a module")]
fn main() -> Result<()> {
    let mut params = Params::<f32>::new(1);
    let [q, a] = ["question", "answer"].map(|name| Side::new(&mut params, name, 10));
    let (mut gradients, mut adam) = (Gradients::new(&params), Optimiser::new(Rule::ADAM, params.len()));
    for step in 0..=20 {
        gradients.begin();
        let t = Tape::training(&params, &mut gradients, step);
        // Two questions, of three units and of two; a right answer and a wrong one to each.
        let asked = q.attended(&t, &[1, 2, 3, 4, 5], &Axis::new(vec![3, 2]))?;
        let right = t.cosine(asked, a.attended(&t, &[3, 6, 5], &Axis::new(vec![2, 1]))?)?;
        let wrong = t.cosine(asked, a.attended(&t, &[7, 8, 8, 9], &Axis::new(vec![1, 3]))?)?;
        println!("step {step}: right {:.3?} wrong {:.3?}", t.to_vec(right), t.to_vec(wrong));
        let loss = t.ranking(right, wrong, 0.5, 0.5)?;
        t.backward(loss)?;
        adam.step(params.flat_mut(), gradients.flat(), 5e-3, 1.0);
    }
    Ok(())
}
