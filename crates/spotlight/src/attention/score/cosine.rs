//! The cosine of the angle between query and key. Graves, Wayne and Danihelka, 2014, equation 6.
//!
//! Scores lie between -1 and 1, so a softmax over many positions stays flat; a temperature below 1 sharpens it.

use spotlight_kernels::Float;
use spotlight_kernels::map;

use super::{ScoreConfig, Scoring, Sizes, dot_pairs, query};
use crate::Result;
use crate::attention::Question;
use crate::params::Params;
use crate::tape::{Tape, Var};

/// `q . k / (|q| |k|)`, 0 where one of them is 0; no parameters.
#[derive(Clone, Copy, Debug)]
pub struct Cosine;

impl Scoring for Cosine {
    const ASKS: bool = true;
    const LEARNS: bool = false;
    const EQUAL_WIDTHS: bool = true;

    fn new<T: Float>(_: &mut Params<T>, _: &str, _: &ScoreConfig, _: Sizes) -> Result<Self> {
        Ok(Cosine)
    }

    /// `k / |k|`
    fn keys<T: Float>(&self, tape: &Tape<T>, memory: Var) -> Result<Var> {
        Ok(unit_rows(tape, memory))
    }

    fn scores<T: Float>(&self, tape: &Tape<T>, keys: Var, question: &Question) -> Result<Var> {
        dot_pairs(tape, unit_rows(tape, query(question)?), keys, &question.pairs, 1, 1.0)
    }
}

/// Every row divided by its length; a row of zeros stays one and gets no gradient.
fn unit_rows<T: Float>(tape: &Tape<T>, x: Var) -> Var {
    let (rows, cols) = tape.shape(x);
    let mut units = tape.to_vec(x);
    let mut inverse = Vec::with_capacity(rows);
    for row in units.chunks_exact_mut(cols.max(1)) {
        let length = row.iter().map(|&x| x * x).sum::<T>().sqrt();
        let factor = if length > T::ZERO { T::ONE / length } else { T::ZERO };
        row.iter_mut().for_each(|x| *x *= factor);
        inverse.push(factor);
    }
    tape.push(units, rows, cols, tape.axis(x), &[x], |y| {
        // dx = (dy - y (y . dy)) / |x|
        Box::new(move |back, dy| {
            let units = back.values.get(y);
            let dx = back.grads.of(x);
            for (row, &factor) in inverse.iter().enumerate() {
                let at = row * cols..(row + 1) * cols;
                let (y, dy) = (&units[at.clone()], &dy[at.clone()]);
                let along: T = y.iter().zip(dy).map(|(&y, &dy)| y * dy).sum();
                let turned: Vec<T> = y.iter().zip(dy).map(|(&y, &dy)| (dy - y * along) * factor).collect();
                map::add_assign(&mut dx[at], &turned);
            }
        })
    })
}
