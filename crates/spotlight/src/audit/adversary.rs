//! Other weights that give the same answer: as far away as they can be found (Jain and Wallace, 2019).
//!
//! Several sets of weights begin at random and move away from the model's own, and from each other, while the answer may change by no more than a hair:
//!
//! ```text
//! loss = -Σ_k JSD(a_k, a) + 500 Σ_k max(0, |p(a_k) - p(a)| - 0.01) - mean over pairs of JSD(a_k, a_l)
//! ```
//!
//! by 500 steps of Adam (its AMSGrad, rate 0.01). What counts is the largest divergence of a set that keeps the answer to within 0.05.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

use super::divergence::{divergence, divergence_slope, total_variation};
use crate::model::probe::{Mixture, softmax};

/// How to look for other weights.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Adversary {
    /// Sets of weights side by side.
    pub sets: usize,
    /// Steps of Adam.
    pub steps: usize,
    /// The most that the answer may change.
    pub tolerance: f64,
}

impl Default for Adversary {
    fn default() -> Self {
        Adversary { sets: 5, steps: 500, tolerance: 0.05 }
    }
}

/// What costs nothing.
const SLACK: f64 = 0.01;
/// The price of more.
const PRICE: f64 = 500.0;
const RATE: f64 = 0.01;

/// Weights that were found.
#[derive(Clone, Debug, PartialEq)]
pub struct Found {
    /// Their divergence from the model's own, the mean of the heads.
    pub divergence: f64,
    /// The weights, head after head.
    pub weights: Vec<f64>,
}

impl Adversary {
    /// The most different weights that keep the answer; none if every set lost it.
    pub fn find(&self, mixture: &Mixture, seed: u64) -> Option<Found> {
        let (own, whole) = (&mixture.weights, mixture.probabilities(&mixture.weights));
        let n = mixture.units();
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        let mut logits: Vec<Vec<f64>> = (0..self.sets).map(|_| (0..own.len()).map(|_| 3.0 * normal(&mut random)).collect()).collect();
        let mut adam: Vec<[Vec<f64>; 3]> = vec![[(); 3].map(|()| vec![0.0; own.len()]); self.sets];
        let mut weights: Vec<Vec<f64>> = logits.iter().map(|x| by_head(x, n)).collect();
        for step in 1..=self.steps {
            let slopes = self.slopes(mixture, &whole, &weights);
            let (first, second) = (1.0 - 0.9f64.powi(step as i32), 1.0 - 0.999f64.powi(step as i32));
            for ((x, slope), [m, v, most]) in logits.iter_mut().zip(slopes).zip(&mut adam) {
                for i in 0..x.len() {
                    m[i] = 0.9 * m[i] + 0.1 * slope[i];
                    v[i] = 0.999 * v[i] + 0.001 * slope[i] * slope[i];
                    most[i] = most[i].max(v[i]);
                    x[i] -= RATE * (m[i] / first) / ((most[i] / second).sqrt() + 1e-8);
                }
            }
            weights = logits.iter().map(|x| by_head(x, n)).collect();
        }
        let kept = weights.into_iter().filter(|w| total_variation(&mixture.probabilities(w), &whole) <= self.tolerance);
        let found = kept.map(|weights| Found { divergence: apart(&weights, own, n), weights });
        found.fold(None, |best: Option<Found>, next| match best {
            Some(best) if best.divergence >= next.divergence => Some(best),
            _ => Some(next),
        })
    }

    /// The slope of the loss with respect to the logits of each set.
    fn slopes(&self, mixture: &Mixture, whole: &[f64], weights: &[Vec<f64>]) -> Vec<Vec<f64>> {
        let n = mixture.units();
        let heads = mixture.heads.max(1) as f64;
        let pairs = (self.sets * self.sets.saturating_sub(1)).max(1) as f64 / 2.0;
        let one = |k: usize| {
            let w = &weights[k];
            let mut by_weight: Vec<f64> = divergence_slope(w, &mixture.weights).iter().map(|d| -d / heads).collect();
            for other in weights.iter().enumerate().filter(|(l, _)| *l != k).map(|(_, other)| other) {
                by_weight.iter_mut().zip(divergence_slope(w, other)).for_each(|(to, d)| *to -= d / (heads * pairs));
            }
            let p = mixture.probabilities(w);
            if total_variation(&p, whole) > SLACK {
                let by_probability: Vec<f64> = p.iter().zip(whole).map(|(p, q)| PRICE * 0.5 * (p - q).signum()).collect();
                by_weight.iter_mut().zip(mixture.slope(w, &by_probability)).for_each(|(to, d)| *to += d);
            }
            // Back through the softmax of each head.
            let mut by_logit = by_weight;
            for (own, d) in w.chunks(n.max(1)).zip(by_logit.chunks_mut(n.max(1))) {
                let inner: f64 = own.iter().zip(d.iter()).map(|(a, d)| a * d).sum();
                d.iter_mut().zip(own).for_each(|(d, a)| *d = a * (*d - inner));
            }
            by_logit
        };
        (0..weights.len()).map(one).collect()
    }
}

/// A softmax over the units of each head.
fn by_head(logits: &[f64], n: usize) -> Vec<f64> {
    logits.chunks(n.max(1)).flat_map(softmax).collect()
}

/// The divergence of two sets of weights: the mean of the heads.
pub fn apart(a: &[f64], b: &[f64], n: usize) -> f64 {
    let heads = a.len() / n.max(1);
    a.chunks(n.max(1)).zip(b.chunks(n.max(1))).map(|(a, b)| divergence(a, b)).sum::<f64>() / heads.max(1) as f64
}

/// A draw from the normal distribution (Box and Muller, 1958).
fn normal(random: &mut ChaCha8Rng) -> f64 {
    let (a, b): (f64, f64) = (random.random(), random.random());
    (-2.0 * (1.0 - a).ln()).sqrt() * (std::f64::consts::TAU * b).cos()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::probe::Then;

    fn mixture(values: Vec<f64>) -> Mixture {
        Mixture { weights: vec![0.7, 0.1, 0.1, 0.1], heads: 1, values, width: 2, then: Then::Add(vec![0.0, 0.3]) }
    }

    #[test]
    fn the_slope_is_that_of_the_loss() {
        let mixture = mixture(vec![1.0, -1.0, -0.5, 0.5, 0.2, 0.1, 2.0, -2.0]);
        let adversary = Adversary { sets: 2, ..Adversary::default() };
        let whole = mixture.probabilities(&mixture.weights);
        let logits = [vec![0.1, -0.4, 0.9, 0.2], vec![-1.0, 0.3, 0.0, 0.4]];
        let loss = |logits: &[Vec<f64>; 2]| {
            let w: Vec<Vec<f64>> = logits.iter().map(|x| by_head(x, 4)).collect();
            let keep = |w: &Vec<f64>| PRICE * (total_variation(&mixture.probabilities(w), &whole) - SLACK).max(0.0);
            w.iter().map(|w| keep(w) - divergence(w, &mixture.weights)).sum::<f64>() - divergence(&w[0], &w[1])
        };
        let weights: Vec<Vec<f64>> = logits.iter().map(|x| by_head(x, 4)).collect();
        let found = adversary.slopes(&mixture, &whole, &weights);
        for k in 0..2 {
            for i in 0..4 {
                let at = |step: f64| {
                    let mut logits = logits.clone();
                    logits[k][i] += step;
                    loss(&logits)
                };
                let wanted = (at(1e-6) - at(-1e-6)) / 2e-6;
                assert!((found[k][i] - wanted).abs() < 1e-5 * wanted.abs().max(1.0), "{k} {i}: {} instead of {wanted}", found[k][i]);
            }
        }
    }

    #[test]
    fn other_weights_are_found_where_there_are_some() {
        // All units say the same: the weights may go anywhere.
        let alike = Adversary::default().find(&mixture([0.5, -0.5].repeat(4)), 1).unwrap();
        assert!(alike.divergence > 0.3, "{}", alike.divergence);
        // Only the first speaks, and it is far from the flat end of the softmax: its weight must stay.
        let bound = Adversary::default().find(&mixture(vec![1.5, -1.5, 0.0, 0.0, 0.0, 0.0, 0.0, 0.0]), 1);
        assert!(bound.as_ref().is_none_or(|found| (found.weights[0] - 0.7).abs() < 0.12), "{bound:?}");
        assert_eq!(Adversary::default().find(&mixture([0.5, -0.5].repeat(4)), 1).unwrap(), alike);
    }
}
