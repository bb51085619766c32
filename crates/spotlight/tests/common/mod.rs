//! Helpers of the numeric tests.
#![allow(dead_code)]

pub mod golden;
pub mod skip;

use spotlight::Result;
use spotlight::numeric::numeric_gradient;
use spotlight::params::{Gradients, Init, ParamId, Params};
use spotlight::tape::{Tape, Var};

/// Sets of lengths with an empty sequence, length 1, one item, very uneven ones, and nothing at all.
pub fn lengths() -> Vec<Vec<usize>> {
    vec![vec![2, 0, 3, 1], vec![1], vec![9, 1, 1], vec![0, 0], vec![], vec![4, 4], vec![0, 5]]
}

/// Parameters of a function to check; its inputs are parameters too.
pub struct Check {
    name: String,
    pub params: Params<f64>,
}

impl Check {
    pub fn new(name: &str) -> Self {
        Check { name: name.into(), params: Params::new(11) }
    }

    pub fn input(&mut self, rows: usize, cols: usize) -> ParamId {
        let name = format!("input {}", self.params.entries().len());
        self.params.add(name, &[rows, cols], Init::Uniform(1.0))
    }
}

/// Compares the gradients of a weighted sum of what `f` gives with central differences: relative error below 1e-6.
pub fn check(check: Check, f: impl Fn(&Tape<f64>) -> Result<Var> + Sync) {
    let Check { name, params } = check;
    let loss = |tape: &Tape<f64>| {
        let y = f(tape)?;
        let (rows, cols) = tape.shape(y);
        let weights = (0..rows * cols).map(|i| ((i * 37 + 11) % 23) as f64 / 11.0 - 1.0).collect();
        tape.sum_all(tape.mul(tape.off_axis(y), tape.table(rows, cols, weights)?)?)
    };
    let mut gradients = Gradients::new(&params);
    // Twice, so that what the first run left over is in the way if it is ever taken for a gradient.
    for _ in 0..2 {
        gradients.begin();
        let tape = Tape::training(&params, &mut gradients, 0);
        let value = loss(&tape).unwrap();
        tape.backward(value).unwrap();
    }
    let found = gradients.flat().to_vec();
    let wanted = numeric_gradient(&params, 1e-5, |p| {
        let tape = Tape::new(p);
        let value = loss(&tape)?;
        Ok(tape.item(value))
    })
    .unwrap();
    for entry in params.entries() {
        for i in entry.range.clone() {
            let (found, wanted) = (found[i], wanted[i]);
            let error = (found - wanted).abs();
            let bound = 1e-6 * found.abs().max(wanted.abs()) + 1e-9;
            assert!(error <= bound, "{name}: {} [{}]: {found} instead of {wanted}", entry.name, i - entry.range.start);
        }
    }
}
