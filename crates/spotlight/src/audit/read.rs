//! Asking a model about many cases at once: answers in closed form, and how they lean on their inputs.

use rayon::prelude::*;

use crate::Result;
use crate::model::probe::{Mixture, Opened, Probe};
use crate::tape::Tape;
use crate::text::batch::{Lengths, by_length, in_original_order};

use super::conicity::conicity;

/// Positions read together.
const BATCH: usize = 4000;

/// One case as the model read it.
#[derive(Clone, Debug)]
pub struct Reading {
    /// Weights, values, and what they say.
    pub mixture: Mixture,
    /// The probabilities of the labels.
    pub probabilities: Vec<f64>,
    /// How alike the states are.
    pub conicity: Option<f64>,
}

/// Opens cases, some of similar length at a time; `read` gets what was opened and the numbers of the cases in it, and gives something for each.
pub(crate) fn in_batches<P: Probe, R: Send>(
    probe: &P,
    cases: &[&P::Case],
    scale: f32,
    read: impl Fn(Tape<f32>, &Opened, &[usize]) -> Result<Vec<R>> + Sync,
) -> Result<Vec<R>> {
    let lengths: Vec<Lengths> = cases.iter().map(|case| Lengths { source: probe.length(case), target: 0 }).collect();
    let batches = by_length(&lengths, BATCH);
    let found = batches
        .par_iter()
        .map(|members| {
            let tape = Tape::new(probe.numbers());
            let own: Vec<&P::Case> = members.iter().map(|&i| cases[i]).collect();
            let opened = probe.open(&tape, &own, scale)?;
            read(tape, &opened, members)
        })
        .collect::<Result<Vec<Vec<R>>>>()?;
    Ok(in_original_order(&batches, found.into_iter().flatten()))
}

/// Reads cases.
pub fn read<P: Probe>(probe: &P, cases: &[&P::Case]) -> Result<Vec<Reading>> {
    in_batches(probe, cases, 1.0, |tape, opened, _| {
        let states = opened.states.map(|states| (tape.to_vec(states), tape.shape(states).1));
        let reading = |(item, mut mixture): (usize, Mixture)| {
            // A text of which nothing is known has no weights to speak of.
            mixture.weights.iter_mut().filter(|w| !w.is_finite()).for_each(|w| *w = 0.0);
            let rows = opened.axis.range(item);
            let conicity = states.as_ref().and_then(|(all, width)| conicity(&all[rows.start * width..rows.end * width], *width));
            let probabilities = mixture.probabilities(&mixture.weights);
            Reading { mixture, probabilities, conicity }
        };
        Ok(probe.mixtures(&tape, opened)?.into_iter().enumerate().map(reading).collect())
    })
}

/// For each unit `Σ_d x_d ∂p/∂x_d`: its vector times the slope of the probability of the target, at vectors times `scale`. `held`: the weights stay as they are, as if they did not
/// depend on the vectors.
pub fn slopes<P: Probe>(probe: &P, cases: &[&P::Case], targets: &[usize], scale: f32, held: bool) -> Result<Vec<Vec<f64>>> {
    in_batches(probe, cases, scale, |tape, opened, members| {
        let weights = match held {
            true => {
                let (rows, heads) = tape.shape(opened.weights);
                tape.on_axis(tape.table(rows, heads, tape.to_vec(opened.weights))?, &opened.axis)?
            }
            false => opened.weights,
        };
        let probabilities = tape.row_softmax(probe.logits(&tape, opened, weights)?);
        let labels = tape.shape(probabilities).1;
        let mut wanted = vec![0.0; members.len() * labels];
        members.iter().enumerate().for_each(|(row, &i)| wanted[row * labels + targets[i]] = 1.0);
        let inputs: Vec<(Vec<f32>, usize)> = opened.inputs.iter().map(|&x| (tape.to_vec(x), tape.shape(x).1)).collect();
        let slopes = tape.backward_with(&[(probabilities, wanted)], &opened.inputs)?;
        let of_row = |row: usize| {
            let product = |((x, width), slope): (&(Vec<f32>, usize), &Vec<f32>)| {
                let own = row * width..(row + 1) * width;
                x[own.clone()].iter().zip(&slope[own]).map(|(x, d)| *x as f64 * *d as f64).sum::<f64>()
            };
            inputs.iter().zip(&slopes).map(product).sum::<f64>() / scale as f64
        };
        Ok((0..opened.axis.items()).map(|item| opened.axis.range(item).map(of_row).collect()).collect())
    })
}

/// Integrated gradients (Sundararajan and others, 2017) from vectors of zeros, the integral as a sum of `steps` midpoints: together they are the difference between the answer to the text and
/// the answer to nothing.
pub fn integrated<P: Probe>(probe: &P, cases: &[&P::Case], targets: &[usize], steps: usize) -> Result<Vec<Vec<f64>>> {
    let mut total: Vec<Vec<f64>> = cases.iter().map(|case| vec![0.0; probe.length(case)]).collect();
    for step in 0..steps {
        let found = slopes(probe, cases, targets, (step as f32 + 0.5) / steps as f32, false)?;
        for (total, found) in total.iter_mut().zip(found) {
            total.iter_mut().zip(found).for_each(|(total, x)| *total += x / steps as f64);
        }
    }
    Ok(total)
}
