//! Hypotheses: as a tree while the search goes on, as whole answers at its end.

use super::{SearchOptions, Stepped};

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
    /// The step at which it ended; none if it was cut off at the greatest length.
    pub end: Option<Ended>,
    /// For each unit the probability that something was written and not copied. Empty if the model cannot copy.
    pub gates: Vec<f32>,
    /// For each unit the share of its own probability that came by copying. Empty likewise.
    pub copied: Vec<f32>,
}

/// The step at which an answer ended.
#[derive(Clone, Debug, PartialEq)]
pub struct Ended {
    /// The probability of the end.
    pub probability: f32,
    /// For each head, its weights over the source units. Empty without attention.
    pub heads: Vec<Vec<f32>>,
}

impl Ended {
    /// From what a step says of the end: the logarithm of its probability, and the weights of its row.
    pub(super) fn of(log_prob: f32, step: &Stepped, weights: std::ops::Range<usize>) -> Self {
        let weights = step.weights.get(weights).unwrap_or_default();
        Ended { probability: log_prob.exp(), heads: (0..step.heads).map(|head| of_head(weights, head, step.heads)).collect() }
    }
}

/// The weights of one head: `weights` holds the positions one after the other, one number per head at each.
fn of_head(weights: &[f32], head: usize, heads: usize) -> Vec<f32> {
    weights.iter().copied().skip(head).step_by(heads).collect()
}

impl Hypothesis {
    /// The answer to nothing.
    pub fn empty() -> Self {
        Hypothesis {
            ids: Vec::new(),
            log_prob: 0.0,
            score: 0.0,
            probabilities: Vec::new(),
            attention: Vec::new(),
            heads: Vec::new(),
            end: None,
            gates: Vec::new(),
            copied: Vec::new(),
        }
    }

    /// Notes where each head looked when a unit was written: `weights` holds the positions one after the other, one number per head at each.
    fn look(&mut self, weights: &[f32], heads: usize) {
        if heads == 0 {
            return;
        }
        if heads == 1 {
            return self.attention.push(weights.to_vec());
        }
        let share = 1.0 / heads as f32;
        self.attention.push(weights.chunks_exact(heads).map(|position| position.iter().sum::<f32>() * share).collect());
        self.heads.resize(heads, Vec::new());
        self.heads.iter_mut().enumerate().for_each(|(head, all)| all.push(of_head(weights, head, heads)));
    }

    /// Wu and others, 2016, equation 14.
    pub(super) fn ranked(mut self, options: &SearchOptions, source: usize) -> Self {
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

/// A unit that was written, and the one before it.
struct Link {
    before: Option<usize>,
    unit: u32,
    log_prob: f32,
    weights: Vec<f32>,
    /// The gate, and the share that was copied.
    copied: Option<(f32, f32)>,
}

/// All units that were written by hypotheses that are alive, have ended, or were given up.
#[derive(Default)]
pub(super) struct Tree {
    links: Vec<Link>,
    heads: usize,
}

impl Tree {
    /// Adds a unit that `row` of a step writes after `before`; `weights` is the place of the row's weights.
    pub(super) fn add(
        &mut self,
        before: Option<usize>,
        (row, unit): (usize, u32),
        log_prob: f32,
        step: &Stepped,
        weights: std::ops::Range<usize>,
    ) -> usize {
        self.heads = step.heads;
        let copied = step.copied.as_ref().map(|copied| {
            let mass = copied.masses.get(row * step.units + unit as usize).copied().unwrap_or(0.0);
            (copied.gates[row], (mass / log_prob.exp().max(f32::MIN_POSITIVE)).min(1.0))
        });
        self.links.push(Link { before, unit, log_prob, weights: step.weights.get(weights).unwrap_or_default().to_vec(), copied });
        self.links.len() - 1
    }

    /// The units from the first to this link as an answer with this log-probability.
    pub(super) fn hypothesis(&self, end: Option<usize>, log_prob: f64) -> Hypothesis {
        let mut path = Vec::new();
        let mut at = end;
        while let Some(link) = at {
            path.push(link);
            at = self.links[link].before;
        }
        let mut hypothesis = Hypothesis { log_prob, score: log_prob, ..Hypothesis::empty() };
        for &link in path.iter().rev() {
            let link = &self.links[link];
            hypothesis.ids.push(link.unit);
            hypothesis.probabilities.push(link.log_prob.exp());
            hypothesis.look(&link.weights, self.heads);
            hypothesis.gates.extend(link.copied.map(|(gate, _)| gate));
            hypothesis.copied.extend(link.copied.map(|(_, share)| share));
        }
        hypothesis
    }

    /// The unit of a link.
    pub(super) fn unit(&self, link: usize) -> u32 {
        self.links[link].unit
    }
}
