//! The matcher of `examples/matcher.rs`: its softmax by recurrence is the built-in one, and it learns.

#[path = "../examples/matcher.rs"]
mod example;

use example::Side;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use spotlight::Result;
use spotlight::axis::Axis;
use spotlight::params::{Gradients, Init, Params};
use spotlight::tape::{Tape, Var};
use spotlight::train::optim::{Optimiser, Rule};

/// Weights from scores of this size, and the gradients of a weighted sum of them.
fn measure(lengths: &[usize], size: f64, weigh: impl Fn(&Tape<f64>, Var, &Axis) -> Result<Var>) -> (Vec<f64>, Vec<f64>) {
    let axis = Axis::new(lengths);
    let mut params = Params::new(4);
    let z = params.add("z", &[axis.rows(), 1], Init::Uniform(size));
    let mut gradients = Gradients::new(&params);
    let t = Tape::training(&params, &mut gradients, 0);
    let weights = weigh(&t, t.on_axis(t.param(z), &axis).unwrap(), &axis).unwrap();
    let value = t.to_vec(weights);
    t.backward_with(&[(weights, (0..axis.rows()).map(|i| (i as f64).sin()).collect())], &[]).unwrap();
    (value, gradients.flat().to_vec())
}

#[test]
fn softmax_by_recurrence_is_softmax() {
    for lengths in [&[3, 0, 1, 7, 2][..], &[1], &[0, 0], &[], &[40, 1, 1]] {
        for size in [1.0, 30.0, 1e4] {
            let (by_recurrence, slopes) = measure(lengths, size, example::attention);
            let (built_in, built_in_slopes) = measure(lengths, size, |t, z, _| t.softmax(z));
            for (name, got, want) in [("weight", by_recurrence, built_in), ("gradient", slopes, built_in_slopes)] {
                for (i, (got, want)) in got.iter().zip(&want).enumerate() {
                    assert!((got - want).abs() < 1e-12, "{lengths:?}, scores of size {size}: {name} {i} is {got} instead of {want}");
                }
            }
        }
    }
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
fn learn(steps: u64) -> Result<f64> {
    let mut params = Params::<f32>::new(1);
    let (q, a) = (Side::new(&mut params, "question", UNITS as usize), Side::new(&mut params, "answer", UNITS as usize));
    let scores = |t: &Tape<f32>, rng: &mut ChaCha8Rng| -> Result<[Var; 2]> {
        let kinds: Vec<u32> = (0..32).map(|_| rng.random_range(0..KINDS)).collect();
        let others: Vec<u32> = kinds.iter().map(|k| (k + rng.random_range(1..KINDS)) % KINDS).collect();
        let (question, q_axis) = sequences(rng, &kinds);
        let (right, wrong) = (sequences(rng, &kinds), sequences(rng, &others));
        let asked = q.attended(t, &question, &q_axis)?;
        let to = |(ids, axis): &(Vec<u32>, Axis)| t.cosine(asked, a.attended(t, ids, axis)?);
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

#[test]
fn it_learns_which_answer_goes_with_which_question() {
    let share = learn(60).unwrap();
    assert!(share > 0.9, "{share}");
}
