//! Weights put in by hand: what would have been said, had the model looked elsewhere?
//!
//! An [`Intervention`] stands at a [`Memory`](super::Memory) and sees the weights of every look before anything is mixed by them. What it leaves there is what the context is made of,
//! what the step reports, and what the next step remembers. No gradient goes through changed weights.

use std::fmt;
use std::sync::Arc;

use spotlight_kernels::Float;

use super::Question;
use crate::tape::{Tape, Var};
use crate::{Error, Result};

/// One look at a memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Glance {
    /// The step of the output that looks, from 0.
    pub step: usize,
    /// The sequence of the memory that is looked at.
    pub item: usize,
    /// The row of the table of hypotheses; several rows may look at one item.
    pub row: usize,
    /// Heads that look side by side.
    pub heads: usize,
    /// The layer of the decoder that looks, from 0: a Transformer looks in each of its layers, one after the other.
    pub layer: usize,
}

/// Changes weights.
pub trait Intervention: Send + Sync {
    /// Changes the weights of one look in place: the positions one after the other, one number per head at each. They need not sum to one afterwards, but must be numbers from 0 on.
    fn change(&self, glance: Glance, weights: &mut [f32]);
}

/// Any function is one.
impl<F: Fn(Glance, &mut [f32]) + Send + Sync> Intervention for F {
    fn change(&self, glance: Glance, weights: &mut [f32]) {
        self(glance, weights);
    }
}

/// An intervention as a memory holds it.
#[derive(Clone)]
pub struct Intervening(pub Arc<dyn Intervention>);

impl fmt::Debug for Intervening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Intervening")
    }
}

impl Intervening {
    /// Weights of a layer's question, one row per pair and one column per head, as they are after the intervention.
    pub(crate) fn changed<T: Float>(&self, tape: &Tape<T>, weights: Var, question: &Question, layer: usize) -> Result<Var> {
        let (rows, heads) = tape.shape(weights);
        let mut numbers: Vec<f32> = tape.value(weights).iter().map(|w| w.to_f64() as f32).collect();
        let items = question.pairs.items();
        for (row, &item) in items.iter().enumerate() {
            let range = question.pairs.axis().range(row);
            let own = &mut numbers[range.start * heads..range.end * heads];
            self.0.change(Glance { step: question.positions[row], item, row, heads, layer }, own);
            if let Some(wrong) = own.iter().find(|w| !(w.is_finite() && **w >= 0.0)) {
                let what = format!("a weight put in at step {}", question.positions[row]);
                return Err(Error::Value { what, got: wrong.to_string(), expected: "a number from 0 on".into() });
            }
        }
        let changed = tape.table(rows, heads, numbers.iter().map(|&w| T::from_f64(w as f64)).collect())?;
        match tape.axis(weights) {
            Some(axis) => tape.on_axis(changed, &axis),
            None => Ok(changed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attention::{Attention, AttentionConfig, ScoreKind};
    use crate::axis::Axis;
    use crate::params::Params;

    /// Two rows look at item 1, one at item 0; what is put in is mixed, and each look says where it stands.
    #[test]
    fn what_is_put_in_is_mixed() {
        let mut params = Params::<f64>::new(1);
        let attention = Attention::new(&mut params, "a", &AttentionConfig::new(ScoreKind::Dot), 2, 2).unwrap();
        let tape = Tape::new(&params);
        let axis = Axis::new([3, 2]);
        let rows = tape.table(5, 2, vec![1.0, 0.0, 0.0, 1.0, 2.0, 2.0, 5.0, 0.0, 0.0, 7.0]).unwrap();
        let memory = attention.prepare(&tape, tape.on_axis(rows, &axis).unwrap()).unwrap();
        let last = |glance: Glance, weights: &mut [f32]| {
            assert_eq!((glance.step, glance.item, glance.heads), (4, [1, 0, 1][glance.row], 1));
            weights.fill(0.0);
            weights[weights.len() - 1] = 1.0;
        };
        let query = tape.table(3, 2, vec![0.3; 6]).unwrap();
        let question = Question::of_items(Some(query), &[1, 0, 1], &axis, 4).unwrap();
        let plain = attention.attend(&tape, &memory, &question).unwrap();
        let looked = attention.attend(&tape, &memory.clone().intervened(Arc::new(last)), &question).unwrap();
        assert_eq!(tape.to_vec(looked.context), [0.0, 7.0, 2.0, 2.0, 0.0, 7.0]);
        assert_eq!(tape.to_vec(looked.weights), [0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 1.0]);
        assert_ne!(tape.to_vec(plain.weights), tape.to_vec(looked.weights));

        let broken = memory.intervened(Arc::new(|_: Glance, weights: &mut [f32]| weights[0] = f32::NAN));
        let error = attention.attend(&tape, &broken, &question).unwrap_err().to_string();
        assert!(error.contains("a weight put in at step 4"), "{error}");
    }
}
