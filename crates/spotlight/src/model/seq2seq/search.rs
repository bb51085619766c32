//! Answers: greedy, beam and sampling are one loop over hypotheses.
//!
//! A batch of sources is decoded together, each with its own hypotheses. At every step all hypotheses of all sources are rows of one table; then each source keeps its
//! best. The attention weights of a hypothesis come along with it, under beam too.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::config;
use super::net::Net;
use crate::Result;
use crate::axis::Axis;
use crate::params::Params;
use crate::tape::Tape;
use crate::text::batch::{Lengths, by_length, in_original_order};
use crate::text::vocab::{END, START};

/// Positions of the sources decoded together, divided by the hypotheses of each.
const BATCH: usize = 2000;

/// How to search.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchOptions {
    /// Hypotheses kept for each source; 1 is greedy.
    pub beam: usize,
    /// Answers given for each source, at most `beam` (or any number, if sampling).
    pub n_best: usize,
    /// Exponent of the length normalisation; 0 for none.
    pub length_penalty: f64,
    /// Weight of the coverage penalty; 0 for none.
    pub coverage_penalty: f64,
    /// Longest answer for each unit of the source; 10 more are allowed.
    pub max_ratio: f64,
    /// If given, answers are drawn: the temperature, and the seed.
    pub sample: Option<(f64, u64)>,
    /// Number of the first source among all of an input that is answered in parts: what is drawn for a source depends on its number.
    pub first: usize,
}

impl From<&config::Search> for SearchOptions {
    fn from(search: &config::Search) -> Self {
        SearchOptions {
            beam: search.beam,
            n_best: 1,
            length_penalty: search.length_penalty,
            coverage_penalty: search.coverage_penalty,
            max_ratio: search.max_ratio,
            sample: None,
            first: 0,
        }
    }
}

/// One answer.
#[derive(Clone, Debug, PartialEq)]
pub struct Hypothesis {
    /// Its units, without the end.
    pub ids: Vec<u32>,
    /// The logarithm of its probability, the end included.
    pub log_prob: f64,
    /// What it was ranked by: `log_prob` with the penalties.
    pub score: f64,
    /// The probability of each unit.
    pub probabilities: Vec<f32>,
    /// For each unit, its weights over the source units: the mean of the heads. Empty without attention.
    pub attention: Vec<Vec<f32>>,
    /// The same of each head on its own, if there are several.
    pub heads: Vec<Vec<Vec<f32>>>,
}

impl Hypothesis {
    fn empty() -> Self {
        Hypothesis { ids: Vec::new(), log_prob: 0.0, score: 0.0, probabilities: Vec::new(), attention: Vec::new(), heads: Vec::new() }
    }

    /// Notes where each head looked when a unit was written.
    fn look(&mut self, heads: &[Vec<f32>]) {
        match heads {
            [] => {}
            [one] => self.attention.push(one.clone()),
            several => {
                let share = 1.0 / several.len() as f32;
                self.attention.push((0..several[0].len()).map(|j| several.iter().map(|head| head[j]).sum::<f32>() * share).collect());
                self.heads.resize(several.len(), Vec::new());
                self.heads.iter_mut().zip(several).for_each(|(all, row)| all.push(row.clone()));
            }
        }
    }

    /// Wu and others, 2016, equation 14.
    fn ranked(mut self, options: &SearchOptions, source: usize) -> Self {
        let length = ((6.0 + self.ids.len() as f64) / 6.0).powf(options.length_penalty);
        self.score = self.log_prob / length;
        if options.coverage_penalty > 0.0 && !self.attention.is_empty() {
            let seen = (0..source).map(|j| self.attention.iter().map(|row| row[j] as f64).sum::<f64>());
            // A position never looked at would cost infinitely much; it costs as much as one looked at very little.
            self.score += options.coverage_penalty * seen.map(|s| s.clamp(1e-6, 1.0).ln()).sum::<f64>();
        }
        self
    }
}

/// Answers to sources, in their order, the best first; an empty source is answered with nothing.
pub fn search_all(net: &Net, params: &Params<f32>, sources: &[Vec<u32>], options: &SearchOptions) -> Result<Vec<Vec<Hypothesis>>> {
    let width = if options.sample.is_some() { options.n_best } else { options.beam };
    let lengths: Vec<Lengths> = sources.iter().map(|s| Lengths { source: s.len(), target: 0 }).collect();
    let batches = by_length(&lengths, (BATCH / width.max(1)).max(1));
    let found = batches
        .par_iter()
        .map(|members| {
            let own: Vec<(usize, &[u32])> = members.iter().map(|&i| (i, sources[i].as_slice())).collect();
            search_batch(net, params, &own, options)
        })
        .collect::<Result<Vec<_>>>()?;
    Ok(in_original_order(&batches, found.into_iter().flatten()))
}

/// A hypothesis under way.
struct Live {
    item: usize,
    hypothesis: Hypothesis,
    /// Its row in the table of the last step.
    row: usize,
}

/// `sources`: (number among all sources, units).
fn search_batch(net: &Net, params: &Params<f32>, sources: &[(usize, &[u32])], options: &SearchOptions) -> Result<Vec<Vec<Hypothesis>>> {
    let mut finished: Vec<Vec<Hypothesis>> = vec![Vec::new(); sources.len()];
    let tape = Tape::new(params);
    let axis = Axis::new(sources.iter().map(|(_, s)| s.len()).collect::<Vec<_>>());
    let ids: Vec<u32> = sources.iter().flat_map(|(_, s)| s.iter().copied()).collect();
    let encoded = net.encode(&tape, &ids, &axis)?;
    let memory = encoded.memory.tables(&tape);
    let mut state = encoded.start.tables(&tape);
    drop(tape);

    let limit = |item: usize| (sources[item].1.len() as f64 * options.max_ratio.max(1.0)) as usize + 10;
    let drawn = options.sample.map_or(1, |_| options.n_best);
    let mut random: Vec<ChaCha8Rng> = Vec::new();
    let mut live: Vec<Live> = Vec::new();
    for (item, (number, source)) in sources.iter().enumerate() {
        if source.is_empty() {
            finished[item].push(Hypothesis::empty());
            continue;
        }
        for draw in 0..drawn {
            if let Some((_, seed)) = options.sample {
                let mut generator = ChaCha8Rng::seed_from_u64(seed);
                generator.set_stream(((options.first + number) as u64) << 16 | draw as u64);
                random.push(generator);
            }
            live.push(Live { item, hypothesis: Hypothesis::empty(), row: item });
        }
    }

    while !live.is_empty() {
        // A fresh tape each step: what was computed before is not needed again.
        let tape = Tape::new(params);
        let memory = memory.on(&tape)?;
        let before = state.gather(&live.iter().map(|l| l.row).collect::<Vec<_>>())?.on(&tape)?;
        let last: Vec<u32> = live.iter().map(|l| l.hypothesis.ids.last().copied().unwrap_or(START)).collect();
        let items: Vec<usize> = live.iter().map(|l| l.item).collect();
        let stepped = net.decoder().step(&tape, net.embed_targets(&tape, &last)?, &before, &memory, &items)?;
        let logits = net.logits(&tape, stepped.readout)?;
        let mut logits_rows = tape.to_vec(logits);
        let units = tape.shape(logits).1;
        // One list a head.
        let mut weights: Vec<Vec<Vec<f32>>> = vec![Vec::new(); live.len()];
        if let Some(w) = stepped.weights {
            let (all, heads) = (tape.to_vec(w), tape.shape(w).1);
            let mut at = 0;
            for (row, l) in live.iter().enumerate() {
                let len = axis.lengths()[l.item];
                let own = &all[at * heads..(at + len) * heads];
                weights[row] = (0..heads).map(|head| own.iter().copied().skip(head).step_by(heads).collect()).collect();
                at += len;
            }
        }
        state = stepped.state.tables(&tape);
        for row in logits_rows.chunks_exact_mut(units) {
            log_softmax(row);
            // The start is never written.
            row[START as usize] = f32::NEG_INFINITY;
        }
        let next = |l: &Live, row: usize, unit: u32| {
            let log_prob = logits_rows[row * units + unit as usize];
            let mut h = l.hypothesis.clone();
            h.log_prob += log_prob as f64;
            if unit != END {
                h.ids.push(unit);
                h.probabilities.push(log_prob.exp());
                h.look(&weights[row]);
            }
            Live { item: l.item, hypothesis: h, row }
        };

        let mut going = Vec::with_capacity(live.len());
        let mut row = 0;
        while row < live.len() {
            let item = live[row].item;
            let count = live[row..].iter().take_while(|l| l.item == item).count();
            let own = row..row + count;
            let source = sources[item].1.len();
            let mut chosen: Vec<(usize, u32)> = match options.sample {
                Some((temperature, _)) => {
                    let mut pick = |r: usize| draw(&logits_rows[r * units..(r + 1) * units], temperature, &mut random[r]);
                    own.clone().map(|r| (r, pick(r))).collect()
                }
                None => best(own.clone(), &live, &logits_rows, units, options.beam.saturating_sub(finished[item].len())),
            };
            let long = live[row].hypothesis.ids.len() + 1 >= limit(item);
            chosen.retain(|&(r, unit)| {
                let ended = unit == END || long;
                if ended {
                    finished[item].push(next(&live[r], r, unit).hypothesis.ranked(options, source));
                }
                !ended
            });
            going.extend(chosen.into_iter().map(|(r, unit)| (r, next(&live[r], r, unit))));
            row += count;
        }
        if options.sample.is_some() {
            random = going.iter().map(|(r, _)| random[*r].clone()).collect();
        }
        live = going.into_iter().map(|(_, l)| l).collect();
    }
    for hypotheses in &mut finished {
        // Stable, so that equal scores stay in the order they were found.
        hypotheses.sort_by(|a, b| b.score.total_cmp(&a.score));
        hypotheses.truncate(options.n_best.max(1));
    }
    Ok(finished)
}

/// The `count` best continuations of one source's hypotheses: (row, unit), the best first.
fn best(rows: std::ops::Range<usize>, live: &[Live], logits: &[f32], units: usize, count: usize) -> Vec<(usize, u32)> {
    let mut top: Vec<(f64, usize, u32)> = Vec::with_capacity(count + 1);
    for row in rows {
        for (unit, &log_prob) in logits[row * units..(row + 1) * units].iter().enumerate() {
            let score = live[row].hypothesis.log_prob + log_prob as f64;
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

/// A unit drawn with probability `p^(1 / temperature)`, normalised.
fn draw(log_probs: &[f32], temperature: f64, random: &mut ChaCha8Rng) -> u32 {
    let weights: Vec<f64> = log_probs.iter().map(|&l| (l as f64 / temperature).exp()).collect();
    let mut left = random.random::<f64>() * weights.iter().sum::<f64>();
    for (unit, weight) in weights.iter().enumerate() {
        left -= weight;
        if left < 0.0 {
            return unit as u32;
        }
    }
    END
}

fn log_softmax(row: &mut [f32]) {
    let largest = row.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    let total: f64 = row.iter().map(|&x| ((x - largest) as f64).exp()).sum();
    let shift = largest + total.ln() as f32;
    row.iter_mut().for_each(|x| *x -= shift);
}
