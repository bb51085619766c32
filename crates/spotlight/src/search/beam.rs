//! The loop over hypotheses: greedy, beam, sampling, with or without a forced prefix.

use std::ops::Range;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::hypothesis::{Ended, Tree};
use super::trace::{Fate, Trace};
use super::{Hypothesis, Lexicon, Request, SearchOptions, Stepped, Writer};
use crate::Result;
use crate::tape::Pool;
use crate::text::vocab::{END, START};

/// A hypothesis under way.
struct Live {
    item: usize,
    /// Its last unit in the tree.
    link: Option<usize>,
    /// Units written.
    length: usize,
    log_prob: f64,
    /// Its row in the table of the last step.
    row: usize,
    /// Where it stands in the lexicon, if there is one.
    node: usize,
    /// Its last unit among what was thought of, if that is noted.
    thought: Option<usize>,
    /// Where its draws come from, if it is drawn.
    random: Option<ChaCha8Rng>,
}

/// `requests`: each with its number among all that are asked for. What is thought of on the way is noted in `trace`; memory comes from `pool`.
pub(super) fn search_batch(
    writer: &dyn Writer,
    requests: &[(usize, Request)],
    options: &SearchOptions,
    mut trace: Option<&mut Trace>,
    pool: &Pool<f32>,
) -> Result<Vec<Vec<Hypothesis>>> {
    let mut finished: Vec<Vec<Hypothesis>> = vec![Vec::new(); requests.len()];
    let mut live = begin(requests, options, &mut finished);
    if live.is_empty() {
        return Ok(finished);
    }
    // Only sources that are not empty are read; a hypothesis begins at the row of its source among them.
    let read: Vec<&[u32]> = requests.iter().map(|(_, r)| r.source).filter(|s| !s.is_empty()).collect();
    let mut session = writer.begin(&read, options.width(), pool)?;
    let mut tree = Tree::default();
    let limit = writer.longest().unwrap_or(usize::MAX);
    while !live.is_empty() {
        let rows: Vec<usize> = live.iter().map(|l| l.row).collect();
        let last: Vec<u32> = live.iter().map(|l| l.link.map_or(START, |link| tree.unit(link))).collect();
        let mut step = session.step(&rows, &last)?;
        for (row, hypothesis) in step.log_probs.chunks_exact_mut(step.units.max(1)).zip(&live) {
            // The start is never written.
            row[START as usize] = f32::NEG_INFINITY;
            if hypothesis.length < options.min_length {
                row[END as usize] = f32::NEG_INFINITY;
            }
            if let Some(lexicon) = &options.lexicon {
                lexicon.mask(hypothesis.node, row);
            }
        }
        let weights = weight_ranges(&live, requests, step.heads);
        let mut going = Vec::with_capacity(live.len());
        let mut row = 0;
        while row < live.len() {
            let item = live[row].item;
            let own = row..row + live[row..].iter().take_while(|l| l.item == item).count();
            row = own.end;
            let request = &requests[item].1;
            let length = live[own.start].length;
            let chosen: Vec<(usize, u32)> = match (request.prefix.get(length), options.sample) {
                (Some(&unit), _) => own.clone().map(|row| (row, unit)).collect(),
                (None, Some((temperature, _))) => {
                    own.clone().filter_map(|row| Some((row, drawn(&mut live[row], log_probs(&step, row), temperature)?))).collect()
                }
                (None, None) => best(own.clone(), &live, &step, options.beam.saturating_sub(finished[item].len())),
            };
            if let Some(trace) = &mut trace {
                for row in own.clone() {
                    let chosen: Vec<u32> = chosen.iter().filter(|(of, _)| *of == row).map(|(_, unit)| *unit).collect();
                    trace.note(live[row].thought, live[row].log_prob, log_probs(&step, row), &chosen);
                }
            }
            let most = options.longest(request.source.len()).max(request.prefix.len() + 1).min(limit);
            let longest = length + 1 >= most;
            let first = going.len();
            for (row, unit) in chosen {
                let before = &live[row];
                // What a prefix forces out of the lexicon is no answer.
                let node = options.lexicon.as_ref().map_or(Some(Lexicon::ROOT), |lexicon| lexicon.after(before.node, unit));
                let Some(node) = node else { continue };
                let log_prob = log_probs(&step, row)[unit as usize];
                let total = before.log_prob + log_prob as f64;
                let link = match unit {
                    END => before.link,
                    _ => Some(tree.add(before.link, (row, unit), log_prob, &step, weights[row].clone())),
                };
                let fate = if unit == END {
                    Fate::Ended
                } else if longest {
                    Fate::Longest
                } else {
                    Fate::Kept
                };
                // Nor is one that had to be cut before it was all that is asked for.
                let least = request.prefix.len().max(options.min_length);
                let whole = |lexicon: &Lexicon| lexicon.ends(node) && length + 1 >= least;
                if fate == Fate::Longest && options.lexicon.as_deref().is_some_and(|lexicon| !whole(lexicon)) {
                    continue;
                }
                let end = (unit == END).then(|| Ended::of(log_prob, &step, weights[row].clone()));
                let hypothesis =
                    (fate != Fate::Kept).then(|| Hypothesis { end, ..tree.hypothesis(link, total) }.ranked(options, request.source.len()));
                let score = hypothesis.as_ref().map(|hypothesis| hypothesis.score);
                let thought = trace.as_mut().and_then(|trace| trace.settle(before.thought, unit, fate, score));
                match hypothesis {
                    Some(hypothesis) => finished[item].push(hypothesis),
                    None => going.push(Live {
                        item,
                        link,
                        length: length + 1,
                        log_prob: total,
                        row,
                        node,
                        thought,
                        random: before.random.clone(),
                    }),
                }
            }
            // Whoever wants to see all that was thought of gets all of it; what is drawn ends by itself.
            if trace.is_none() && options.sample.is_none() && settled(&finished[item], &going[first..], options, most) {
                going.truncate(first);
            }
        }
        live = going;
    }
    for hypotheses in &mut finished {
        // Stable, so that equal scores stay in the order they were found.
        hypotheses.sort_by(|a, b| b.score.total_cmp(&a.score));
        hypotheses.truncate(options.n_best.max(1));
    }
    Ok(finished)
}

/// The first hypotheses: one for each source, or as many as are to be drawn. An empty source is answered at once.
fn begin(requests: &[(usize, Request)], options: &SearchOptions, finished: &mut [Vec<Hypothesis>]) -> Vec<Live> {
    let mut live = Vec::new();
    let mut row = 0;
    for (item, (number, request)) in requests.iter().enumerate() {
        if request.source.is_empty() {
            finished[item].push(Hypothesis::empty());
            continue;
        }
        for draw in 0..options.sample.map_or(1, |_| options.n_best) {
            let random = options.sample.map(|(_, seed)| {
                let mut generator = ChaCha8Rng::seed_from_u64(seed);
                generator.set_stream((*number as u64) << 16 | draw as u64);
                generator
            });
            live.push(Live { item, link: None, length: 0, log_prob: 0.0, row, node: Lexicon::ROOT, thought: None, random });
        }
        row += 1;
    }
    live
}

/// Whether nothing that is under way can come before the answers that will be given.
///
/// What is yet to be written costs, and so does what is not covered: a hypothesis ends with at most the logarithm it has, divided by what the longest answer is divided by.
fn settled(found: &[Hypothesis], live: &[Live], options: &SearchOptions, most: usize) -> bool {
    let wanted = options.n_best.max(1);
    if found.len() < wanted {
        return false;
    }
    let mut scores: Vec<f64> = found.iter().map(|hypothesis| hypothesis.score).collect();
    scores.sort_by(|a, b| b.total_cmp(a));
    let length = ((6.0 + most as f64) / 6.0).powf(options.length_penalty);
    live.iter().all(|hypothesis| scores[wanted - 1] >= hypothesis.log_prob / length)
}

/// Where the weights of each row stand.
fn weight_ranges(live: &[Live], requests: &[(usize, Request)], heads: usize) -> Vec<Range<usize>> {
    let mut at = 0;
    let next = |l: &Live| {
        let first = at;
        at += requests[l.item].1.source.len() * heads;
        first..at
    };
    live.iter().map(next).collect()
}

fn log_probs(step: &Stepped, row: usize) -> &[f32] {
    &step.log_probs[row * step.units..(row + 1) * step.units]
}

/// The `count` best continuations of one source's hypotheses: (row, unit), the best first.
fn best(rows: Range<usize>, live: &[Live], step: &Stepped, count: usize) -> Vec<(usize, u32)> {
    let mut top: Vec<(f64, usize, u32)> = Vec::with_capacity(count + 1);
    for row in rows {
        for (unit, &log_prob) in log_probs(step, row).iter().enumerate() {
            if log_prob == f32::NEG_INFINITY {
                continue;
            }
            let score = live[row].log_prob + log_prob as f64;
            if top.len() < count || top.last().is_some_and(|t| score > t.0) {
                // Kept in order by insertion: beams are small, and most units fall through the test above.
                let at = top.partition_point(|t| t.0 >= score);
                top.insert(at, (score, row, unit as u32));
                top.truncate(count);
            }
        }
    }
    top.into_iter().map(|(_, row, unit)| (row, unit)).collect()
}

/// A unit drawn with probability `p^(1 / temperature)`, normalised; none if none is possible.
fn drawn(live: &mut Live, log_probs: &[f32], temperature: f64) -> Option<u32> {
    let random = live.random.as_mut()?;
    let weights: Vec<f64> = log_probs.iter().map(|&l| (l as f64 / temperature).exp()).collect();
    let mut left = random.random::<f64>() * weights.iter().sum::<f64>();
    for (unit, weight) in weights.iter().enumerate() {
        left -= weight;
        if left < 0.0 {
            return Some(unit as u32);
        }
    }
    // What rounding leaves over falls to the last that is possible.
    weights.iter().rposition(|weight| *weight > 0.0).map(|unit| unit as u32)
}
