//! The matcher of `examples/matcher.rs`: its softmax by recurrence is the built-in one, and it learns.

#[path = "../examples/matcher.rs"]
mod matcher;

use spotlight::Result;
use spotlight::axis::Axis;
use spotlight::params::{Gradients, Init, Params};
use spotlight::tape::{Tape, Var};

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
            let (by_recurrence, slopes) = measure(lengths, size, matcher::attention);
            let (built_in, built_in_slopes) = measure(lengths, size, |t, z, _| t.softmax(z));
            for (name, got, want) in [("weight", by_recurrence, built_in), ("gradient", slopes, built_in_slopes)] {
                for (i, (got, want)) in got.iter().zip(&want).enumerate() {
                    assert!((got - want).abs() < 1e-12, "{lengths:?}, scores of size {size}: {name} {i} is {got} instead of {want}");
                }
            }
        }
    }
}

#[test]
fn it_learns_which_answer_goes_with_which_question() {
    let share = matcher::learn(60).unwrap();
    assert!(share > 0.9, "{share}");
}
