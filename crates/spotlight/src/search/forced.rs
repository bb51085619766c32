//! Scoring a target that is given: what a model says of each of its units, and where it looked.

use rayon::prelude::*;

use super::hypothesis::{Ended, Tree};
use super::{BATCH, Hypothesis, Writer};
use crate::Result;
use crate::tape::Pool;
use crate::text::batch::{Lengths, by_length, in_original_order};
use crate::text::vocab::{END, START};

/// For each (source, target without its end), the target as an answer: its log-probability with the end, the probability of each unit, and the attention it was written with. The score is
/// the log-probability. An empty source is answered with nothing.
pub fn force(writer: &dyn Writer, pairs: &[(&[u32], &[u32])]) -> Result<Vec<Hypothesis>> {
    let lengths: Vec<Lengths> = pairs.iter().map(|(s, t)| Lengths { source: s.len(), target: t.len() }).collect();
    let batches = by_length(&lengths, BATCH);
    let found = batches
        .par_iter()
        .map(|members| force_batch(writer, &members.iter().map(|&i| pairs[i]).collect::<Vec<_>>()))
        .collect::<Result<Vec<_>>>()?;
    Ok(in_original_order(&batches, found.into_iter().flatten()))
}

fn force_batch(writer: &dyn Writer, pairs: &[(&[u32], &[u32])]) -> Result<Vec<Hypothesis>> {
    let mut done = vec![Hypothesis::empty(); pairs.len()];
    let read: Vec<&[u32]> = pairs.iter().map(|(s, _)| *s).filter(|s| !s.is_empty()).collect();
    if read.is_empty() {
        return Ok(done);
    }
    let pool = Pool::new();
    let mut session = writer.begin(&read, 1, &pool)?;
    let mut tree = Tree::default();
    // Item, its row in the table before, its last link, its log-probability so far.
    let items = pairs.iter().enumerate().filter(|(_, (source, _))| !source.is_empty());
    let mut live: Vec<(usize, usize, Option<usize>, f64)> = items.enumerate().map(|(row, (item, _))| (item, row, None, 0.0)).collect();
    let mut written = 0;
    while !live.is_empty() {
        let rows: Vec<usize> = live.iter().map(|l| l.1).collect();
        let last: Vec<u32> = live.iter().map(|l| l.2.map_or(START, |link| tree.unit(link))).collect();
        let step = session.step(&rows, &last)?;
        let mut at = 0;
        let mut going = Vec::with_capacity(live.len());
        for (row, &(item, _, before, total)) in live.iter().enumerate() {
            let (source, target) = pairs[item];
            let weights = at..at + source.len() * step.heads;
            at = weights.end;
            let unit = target.get(written).copied().unwrap_or(END);
            // What can only be copied, but not from these sources, cannot be written at all.
            let known = (unit as usize) < step.units;
            let log_prob = if known { step.log_probs[row * step.units + unit as usize] } else { f32::NEG_INFINITY };
            let total = total + log_prob as f64;
            match unit {
                END => done[item] = Hypothesis { end: Some(Ended::of(log_prob, &step, weights)), ..tree.hypothesis(before, total) },
                _ => going.push((item, row, Some(tree.add(before, (row, unit), log_prob, &step, weights)), total)),
            }
        }
        live = going;
        written += 1;
    }
    Ok(done)
}
