//! Logistic regression over sparse vectors: what a text classifier must beat, and half of the one that does.
//!
//! `min_W,b  Σ_n -ln softmax(W x_n + b)[y_n] + ‖W‖² / (2 C)`, the bias free: convex, so the answer is the data's alone. Solved by L-BFGS
//! ([`lbfgs`](super::lbfgs)). For two labels one column is learnt, and the labels get half of it each, against and for: the same model, counted once.

use rayon::prelude::*;

use super::lbfgs::{Objective, minimise};

/// Iterations at most.
const ITERATIONS: usize = 200;
/// Parts of the examples whose sums are made side by side; fixed, so that threads change no bit.
const PARTS: usize = 4;

/// A sparse vector: (place, number), a place possibly several times.
pub type Sparse = Vec<(u32, f32)>;

/// Weights of a logistic regression.
#[derive(Clone, Debug, PartialEq)]
pub struct Linear {
    /// Places by labels.
    pub weights: Vec<f32>,
    /// One number per label.
    pub bias: Vec<f32>,
}

impl Linear {
    /// Learns from vectors with places below `places` and their labels below `labels`. An example counts as much as the weight of its label. `strength` is `C`: the larger, the
    /// less the weights are held back.
    pub fn learn(vectors: &[Sparse], answers: &[u32], places: usize, weights: &[f64], strength: f64) -> Self {
        let labels = weights.len();
        let columns = if labels == 2 { 1 } else { labels };
        let problem = Problem { vectors, answers, places, columns, counts: weights, penalty: 1.0 / strength };
        let solution = minimise(&problem, ITERATIONS, &|| false);
        let (weights, bias) = solution.split_at(places * columns);
        let spread = |x: &[f64]| -> Vec<f32> {
            match labels {
                2 => x.iter().flat_map(|&w| [(-w / 2.0) as f32, (w / 2.0) as f32]).collect(),
                _ => x.iter().map(|&w| w as f32).collect(),
            }
        };
        Linear { weights: spread(weights), bias: spread(bias) }
    }

    /// The logits of a vector.
    pub fn logits(&self, vector: &[(u32, f32)]) -> Vec<f64> {
        let mut logits: Vec<f64> = self.bias.iter().map(|&b| b as f64).collect();
        for &(place, x) in vector {
            let row = &self.weights[place as usize * logits.len()..][..logits.len()];
            logits.iter_mut().zip(row).for_each(|(logit, &w)| *logit += x as f64 * w as f64);
        }
        logits
    }
}

struct Problem<'a> {
    vectors: &'a [Sparse],
    answers: &'a [u32],
    places: usize,
    /// One for two labels, else one per label.
    columns: usize,
    /// How much an example of each label counts.
    counts: &'a [f64],
    penalty: f64,
}

impl Objective for Problem<'_> {
    fn size(&self) -> usize {
        (self.places + 1) * self.columns
    }

    /// The value and the slope at `w`: weights, then biases.
    fn at(&self, w: &[f64]) -> (f64, Vec<f64>) {
        let size = self.vectors.len().div_ceil(PARTS).max(1);
        let parts: Vec<(f64, Vec<f64>)> = self
            .vectors
            .par_chunks(size)
            .zip(self.answers.par_chunks(size))
            .map(|(vectors, answers)| self.part(w, vectors, answers))
            .collect();
        let (mut value, mut slope) = (0.0, vec![0.0; self.size()]);
        for (v, s) in parts {
            value += v;
            slope.iter_mut().zip(s).for_each(|(all, s)| *all += s);
        }
        for (s, &w) in slope.iter_mut().zip(w).take(self.places * self.columns) {
            value += 0.5 * self.penalty * w * w;
            *s += self.penalty * w;
        }
        (value, slope)
    }
}

impl Problem<'_> {
    fn part(&self, w: &[f64], vectors: &[Sparse], answers: &[u32]) -> (f64, Vec<f64>) {
        let c = self.columns;
        let bias = self.places * c;
        let (mut value, mut slope) = (0.0, vec![0.0; self.size()]);
        let mut logits = vec![0.0; c];
        for (vector, &answer) in vectors.iter().zip(answers) {
            logits.copy_from_slice(&w[bias..]);
            for &(place, x) in vector {
                let row = &w[place as usize * c..][..c];
                logits.iter_mut().zip(row).for_each(|(logit, w)| *logit += x as f64 * w);
            }
            let weight = self.counts[answer as usize];
            // From here on the logits are their own slopes.
            if c == 1 {
                let target = f64::from(answer);
                let logit = logits[0];
                value += weight * (logit.max(0.0) - logit * target + (-logit.abs()).exp().ln_1p());
                logits[0] = weight * (1.0 / (1.0 + (-logit).exp()) - target);
            } else {
                let most = logits.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let total: f64 = logits.iter().map(|l| (l - most).exp()).sum();
                value += weight * (most + total.ln() - logits[answer as usize]);
                logits.iter_mut().for_each(|l| *l = weight * (*l - most).exp() / total);
                logits[answer as usize] -= weight;
            }
            for &(place, x) in vector {
                let row = &mut slope[place as usize * c..][..c];
                row.iter_mut().zip(&logits).for_each(|(s, d)| *s += x as f64 * d);
            }
            slope[bias..].iter_mut().zip(&logits).for_each(|(s, d)| *s += d);
        }
        (value, slope)
    }
}

#[cfg(test)]
mod tests {
    use super::super::lbfgs::FLAT;
    use super::*;
    use crate::model::testing::check_slopes;

    fn vectors() -> Vec<Sparse> {
        vec![vec![(0, 1.0)], vec![(1, 1.0)], vec![(0, 1.0), (1, 1.0)], vec![(0, 1.0), (0, 1.0), (1, 1.0)], vec![]]
    }

    fn slope_at(linear: &Linear, answers: &[u32], labels: usize, strength: f64) -> f64 {
        let columns = if labels == 2 { 1 } else { labels };
        let problem = Problem { vectors: &vectors(), answers, places: 2, columns, counts: &vec![1.0; labels], penalty: 1.0 / strength };
        let one = |x: &[f32]| {
            x.chunks(labels)
                .flat_map(|row| if labels == 2 { vec![(row[1] - row[0]) as f64] } else { row.iter().map(|&w| w as f64).collect() })
                .collect::<Vec<_>>()
        };
        let w = [one(&linear.weights), one(&linear.bias)].concat();
        problem.at(&w).1.iter().map(|s| s.abs()).fold(0.0, f64::max)
    }

    #[test]
    fn the_slope_at_the_answer_is_none() {
        for (answers, labels) in [(&[0, 1, 1, 1, 0][..], 2), (&[0, 1, 2, 1, 2], 3)] {
            let linear = Linear::learn(&vectors(), answers, 2, &vec![1.0; labels], 2.0);
            assert!(slope_at(&linear, answers, labels, 2.0) < 2.0 * FLAT);
            assert_ne!(linear.weights, vec![0.0; 2 * labels]);
        }
    }

    #[test]
    fn slopes_are_those_of_the_value() {
        let problem =
            Problem { vectors: &vectors(), answers: &[0, 1, 2, 1, 2], places: 2, columns: 3, counts: &[1.0, 0.3, 2.0], penalty: 0.5 };
        check_slopes(&problem);
    }

    #[test]
    fn a_label_that_counts_more_is_given_more_often() {
        let vectors = vec![vec![(0, 1.0)]; 4];
        let bias = |weights: &[f64]| {
            let linear = Linear::learn(&vectors, &[0, 0, 0, 1], 1, weights, 10.0);
            let logits = linear.logits(&vectors[0]);
            logits[1] - logits[0]
        };
        // One of four, and as one of two if it counts three times.
        assert!((bias(&[1.0, 1.0]) + 3f64.ln()).abs() < 0.02 && bias(&[1.0, 3.0]).abs() < 0.02);
    }

    #[test]
    fn separable_vectors_are_separated() {
        let linear = Linear::learn(&vectors(), &[0, 1, 1, 1, 0], 2, &[1.0; 2], 100.0);
        for (vector, answer) in vectors().iter().zip([0, 1, 1, 1, 0]) {
            let logits = linear.logits(vector);
            assert_eq!(u32::from(logits[1] > logits[0]), answer, "{vector:?}");
        }
    }
}
