//! Monotonic attention: a walk along the memory that never goes back. Raffel, Luong, Liu, Weiss and Eck, 2017.
//!
//! At each step the walk goes on from where it stopped before, and stops at position `j` with the probability `p_j = σ(s_j)`. Learning uses the expected stops,
//!
//! `arrive_j = arrive_(j-1) (1 - p_(j-1)) + before_j`, `a_j = p_j arrive_j`,
//!
//! where `before` are the weights of the step before; before the first step, the walk stands at position 0. A walk that never stops is lost: the weights may sum to
//! less than one. The recurrence is evaluated as it stands, without the division of the paper's closed form, and so has no trouble with `p = 1`.

use spotlight_kernels::Float;

use super::{Normaliser, Weighting, Weights};
use crate::attention::Question;
use crate::tape::{Tape, Var};
use crate::{Error, Result};

/// See [`SoftmaxKind::Monotonic`](super::SoftmaxKind::Monotonic).
pub(super) struct Monotonic;

impl Weighting for Monotonic {
    const HEADS: bool = false;
    const MINDS_STEPS: bool = true;
    const LOOKS_BACK: bool = true;

    fn weights<T: Float>(_: &Normaliser, tape: &Tape<T>, scores: Var, question: &Question) -> Result<Weights> {
        Ok(expected(tape, scores, question)?.into())
    }
}

/// See [`SoftmaxKind::HardMonotonic`](super::SoftmaxKind::HardMonotonic).
pub(super) struct HardMonotonic;

impl Weighting for HardMonotonic {
    const HEADS: bool = false;
    const MINDS_STEPS: bool = true;
    const LOOKS_BACK: bool = true;

    fn weights<T: Float>(_: &Normaliser, tape: &Tape<T>, scores: Var, question: &Question) -> Result<Weights> {
        Ok(hard(tape, scores, question)?.into())
    }
}

/// Where the walk of a query starts from.
#[derive(Clone, Copy)]
enum Before {
    /// At position 0.
    Start,
    /// At the given weights of the step before.
    Given,
    /// At the weights of the query before, which belongs to the same sequence.
    Query,
}

fn before(question: &Question, query: usize) -> Before {
    match (question.previous, question.positions[query]) {
        (Some(_), _) => Before::Given,
        (None, 0) => Before::Start,
        (None, _) => Before::Query,
    }
}

/// Checks that there is one column, with previous weights in the same place.
fn check<T: Float>(tape: &Tape<T>, scores: Var, question: &Question) -> Result<()> {
    let rows = question.pairs.axis().rows();
    tape.expect_shape("monotonic attention", scores, (rows, 1))?;
    if let Some(previous) = question.previous {
        tape.expect_shape("monotonic attention (previous weights)", previous, (rows, 1))?;
    }
    if question.positions.len() != question.pairs.queries() {
        let expected = format!("{} positions", question.pairs.queries());
        return Err(Error::Shape { op: "monotonic attention", expected, got: (question.positions.len(), 1) });
    }
    Ok(())
}

/// The expected stops.
fn expected<T: Float>(tape: &Tape<T>, scores: Var, question: &Question) -> Result<Var> {
    check(tape, scores, question)?;
    let axis = question.pairs.axis().clone();
    let kinds: Vec<Before> = (0..axis.items()).map(|query| before(question, query)).collect();
    let (previous, n) = (question.previous, axis.rows());
    let stops: Vec<T> = tape.value(scores).iter().map(|s| s.sigmoid()).collect();
    let (mut weights, mut arrivals) = (T::zeros(n), T::zeros(n));
    {
        let given = previous.map(|p| tape.value(p));
        for (query, &kind) in kinds.iter().enumerate() {
            let (range, mut arrive) = (axis.range(query), T::ZERO);
            let (first, length) = (range.start, range.len());
            for i in range {
                if i > first {
                    arrive *= T::ONE - stops[i - 1];
                }
                arrive += match (kind, &given) {
                    (Before::Given, Some(given)) => given[i],
                    (Before::Query, _) => weights[i - length],
                    _ if i == first => T::ONE,
                    _ => T::ZERO,
                };
                (arrivals[i], weights[i]) = (arrive, stops[i] * arrive);
            }
        }
    }
    let parents: Vec<Var> = [scores].into_iter().chain(previous).collect();
    Ok(tape.push(weights, n, 1, Some(axis.clone()), &parents, |_| {
        Box::new(move |back, dy| {
            // The gradient of a query's weights grows by what the next query's walk sends back.
            let mut d_weights = dy.to_vec();
            let mut d_scores = back.grads.take(scores);
            let mut d_previous = previous.map(|p| back.grads.take(p));
            for (query, kind) in kinds.iter().enumerate().rev() {
                let (range, mut d_arrive) = (axis.range(query), T::ZERO);
                let length = range.len();
                let mut d_stop_from_next = T::ZERO;
                for i in range.rev() {
                    // d_arrive comes in as the gradient of the arrival one position on, already times (1 - p_i).
                    let d_stop = d_weights[i] * arrivals[i] + d_stop_from_next;
                    d_arrive += d_weights[i] * stops[i];
                    d_scores[i] += d_stop * stops[i] * (T::ONE - stops[i]);
                    match (kind, &mut d_previous) {
                        (Before::Given, Some(d)) => d[i] += d_arrive,
                        (Before::Query, _) => d_weights[i - length] += d_arrive,
                        _ => {}
                    }
                    if i > axis.range(query).start {
                        d_stop_from_next = -d_arrive * arrivals[i - 1];
                        d_arrive *= T::ONE - stops[i - 1];
                    }
                }
            }
            back.grads.put(scores, d_scores);
            if let (Some(previous), Some(d)) = (previous, d_previous) {
                back.grads.put(previous, d);
            }
        })
    }))
}

/// The walk itself: stops at the first position from the one before with a score above 0; no gradient goes back.
fn hard<T: Float>(tape: &Tape<T>, scores: Var, question: &Question) -> Result<Var> {
    check(tape, scores, question)?;
    let axis = question.pairs.axis();
    let mut weights = T::zeros(axis.rows());
    {
        let (scores, given) = (tape.value(scores), question.previous.map(|p| tape.value(p)));
        let standing = |weights: &[T]| weights.iter().position(|&w| w > T::ZERO);
        for query in 0..axis.items() {
            let range = axis.range(query);
            let from = match (before(question, query), &given) {
                (Before::Given, Some(given)) => Some(&given[range.clone()]),
                (Before::Query, _) => Some(&weights[range.start - range.len()..range.start]),
                _ => None,
            };
            if let Some(lost) = from.and_then(|weights| weights.iter().copied().find(|w| w.is_nan())) {
                weights[range].fill(lost);
                continue;
            }
            let from = from.map_or(Some(0), standing);
            // A walk that was lost stays lost; one that meets a NaN does not know whether to stop.
            match from.and_then(|from| range.clone().skip(from).find(|&i| scores[i] > T::ZERO || scores[i].is_nan())) {
                Some(stop) if scores[stop].is_nan() => weights[range].fill(scores[stop]),
                Some(stop) => weights[stop] = T::ONE,
                None => {}
            }
        }
    }
    tape.on_axis(tape.table(axis.rows(), 1, weights)?, axis)
}
