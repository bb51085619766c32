//! Local attention: a window, around the current step or around a predicted centre. Luong, Pham and Manning, 2015, section 3.2.
//!
//! Positions count from 0. A window that lies outside the memory gives zeros.

use spotlight_kernels::Float;

use super::{Mask, Normaliser, Weighting, Weights};
use crate::attention::Question;
use crate::attention::score::of_queries;
use crate::axis::Pairs;
use crate::params::{Init, ParamId, Params};
use crate::tape::{Tape, Var};
use crate::{Error, Result};

/// See [`SoftmaxKind::LocalM`](super::SoftmaxKind::LocalM).
pub(super) struct LocalM;

impl Weighting for LocalM {
    const MINDS_STEPS: bool = true;

    fn weights<T: Float>(normaliser: &Normaliser, tape: &Tape<T>, scores: Var, question: &Question) -> Result<Weights> {
        Ok(around_step(tape, scores, question, normaliser.config.half_width)?.into())
    }
}

/// See [`SoftmaxKind::LocalP`](super::SoftmaxKind::LocalP).
pub(super) struct LocalP;

impl Weighting for LocalP {
    const MINDS_STEPS: bool = true;

    fn weights<T: Float>(normaliser: &Normaliser, tape: &Tape<T>, scores: Var, question: &Question) -> Result<Weights> {
        Ok(around_centre(tape, scores, question, normaliser.config.half_width, normaliser.centre)?.into())
    }
}

/// local-m: softmax over the keys at most `half_width` away from the query's own step.
fn around_step<T: Float>(tape: &Tape<T>, scores: Var, question: &Question, half_width: usize) -> Result<Var> {
    let window = Mask::window(&question.pairs, &question.positions, half_width)?;
    tape.softmax(window.apply(tape, scores)?)
}

/// local-p: softmax over the keys with `|s - p| <= D`, times `exp(-(s - p)² / 2σ²)` with `σ = D / 2`.
///
/// The weights do not sum to one again. The window itself has no gradient; the Gaussian has.
fn around_centre<T: Float>(tape: &Tape<T>, scores: Var, question: &Question, half_width: usize, centre: Option<Centre>) -> Result<Var> {
    let (Some(centre), Some(query)) = (centre, question.query) else {
        return Err(Error::Value {
            what: "the query of local-p attention, or the predictor of its centre".into(),
            got: "missing".into(),
            expected: "given".into(),
        });
    };
    let pairs = &question.pairs;
    let centres = of_queries(tape, centre.centres(tape, query, pairs)?, pairs)?;
    let places = pairs.axis().lengths().iter().flat_map(|&n| 0..n).map(|s| T::from_f64(s as f64)).collect();
    let distances = tape.sub(tape.on_axis(tape.table(pairs.axis().rows(), 1, places)?, pairs.axis())?, centres)?;
    let width = T::from_f64(half_width as f64);
    let inside = tape.value(distances).iter().map(|d| d.abs() <= width).collect();
    let weights = tape.softmax(Mask::pairs(pairs, inside)?.apply(tape, scores)?)?;
    let sigma = half_width as f64 / 2.0;
    let gaussian = tape.exp(tape.scale(tape.mul(distances, distances)?, -1.0 / (2.0 * sigma * sigma)));
    tape.mul(weights, gaussian)
}

/// Predicts the centre `p = S σ(v . tanh(W q))` in a memory of `S` positions.
#[derive(Clone, Copy, Debug)]
pub(super) struct Centre {
    /// `W`: `A x Q`
    weight: ParamId,
    /// `v`: `A`
    v: ParamId,
}

impl Centre {
    pub(super) fn new<T: Float>(params: &mut Params<T>, name: &str, query: usize, size: usize) -> Result<Self> {
        if query == 0 || size == 0 {
            return Err(Error::Value {
                what: "a size of the predictor of local-p attention".into(),
                got: "0".into(),
                expected: "a state to predict the centre from, and a hidden layer".into(),
            });
        }
        Ok(Centre {
            weight: params.add(format!("{name}.centre.weight"), &[size, query], Init::Glorot),
            v: params.add(format!("{name}.centre.v"), &[size], Init::Glorot),
        })
    }

    /// The centre of each query, one column.
    fn centres<T: Float>(&self, tape: &Tape<T>, query: Var, pairs: &Pairs) -> Result<Var> {
        let share = tape.sigmoid(tape.linear(tape.tanh(tape.linear(query, self.weight, None)?), self.v, None)?);
        let lengths = pairs.spans().iter().map(|span| T::from_f64(span.count as f64)).collect();
        tape.mul(tape.off_axis(share), tape.table(pairs.queries(), 1, lengths)?)
    }
}
