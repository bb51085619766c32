//! What the tests of several models need.

use crate::numeric::numeric_gradient;
use crate::params::{Gradients, Params};
use crate::tape::Tape;
use crate::train::Learner;

/// Compares the gradient of a learner's loss with central differences.
pub fn check_gradient<L: Learner>(params: &Params<f32>, learner: &L, examples: &[L::Example]) {
    let params: Params<f64> = params.cast();
    let examples: Vec<&L::Example> = examples.iter().collect();
    let mut gradients = Gradients::new(&params);
    gradients.begin();
    let tape = Tape::training(&params, &mut gradients, 3);
    let loss = learner.loss(&tape, &examples, 0.5).unwrap();
    tape.backward(loss).unwrap();
    let found = gradients.flat().to_vec();
    let wanted = numeric_gradient(&params, 1e-5, |p| {
        // A tape that learns, so that what is drawn while learning is drawn here too.
        let mut unused = Gradients::new(p);
        let tape = Tape::training(p, &mut unused, 3);
        let loss = learner.loss(&tape, &examples, 0.5)?;
        Ok(tape.item(loss))
    })
    .unwrap();
    for entry in params.entries() {
        for i in entry.range.clone() {
            let (found, wanted) = (found[i], wanted[i]);
            let bound = 1e-6 * found.abs().max(wanted.abs()) + 1e-8;
            assert!((found - wanted).abs() <= bound, "{} [{}]: {found} instead of {wanted}", entry.name, i - entry.range.start);
        }
    }
}
