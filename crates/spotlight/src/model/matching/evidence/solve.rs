//! The weights of evidence: those under which each question's right answers stand out most among its candidates.
//!
//! ```text
//! min_w  Σ_q -ln( Σ_right e^(s_k) / Σ_all e^(s_k) ) + ½ Σ_dense (σ_d w_d)² + ½ penalty Σ_units w_u²
//! ```
//!
//! with `s_k` the score of candidate `k` and `σ_d` the deviation of a dense feature, so that features of different scale are held back alike. Solved by L-BFGS from
//! zero: no chance, no development part, the same bits on any number of threads.

use rayon::prelude::*;

use super::features::{DENSE, Features};
use crate::model::lbfgs::{Objective, minimise};

/// Iterations at most.
const ITERATIONS: usize = 100;
/// Parts of the questions whose sums are made side by side; fixed, so that threads change no bit.
const PARTS: usize = 4;

/// The candidates of a question: their features, and whether they are right.
pub type List<'a> = Vec<(&'a Features, bool)>;

/// Weights of the dense and of the sparse features.
#[derive(Clone, Debug, PartialEq)]
pub struct Weights {
    /// Of the dense ones.
    pub dense: [f64; DENSE],
    /// Of each row.
    pub units: Vec<f64>,
    /// The mean loss of a question under them.
    pub loss: f64,
}

/// Finds the weights. Lists without a right or without a wrong candidate say nothing. None if it was stopped before.
pub fn solve(lists: &[List], rows: usize, penalty: f64, stop: &(dyn Fn() -> bool + Sync)) -> Option<Weights> {
    let telling: Vec<&List> = lists.iter().filter(|l| l.iter().any(|c| c.1) && l.iter().any(|c| !c.1)).collect();
    let scale = scales(telling.iter().flat_map(|list| list.iter().map(|c| &c.0.dense)));
    let problem = Problem { lists: &telling, rows, penalty, scale };
    let found = minimise(&problem, ITERATIONS, stop);
    if stop() {
        return None;
    }
    let loss = problem.parts(&found).iter().map(|part| part.0).sum::<f64>() / telling.len().max(1) as f64;
    Some(Weights { dense: std::array::from_fn(|d| found[d] * scale[d]), units: found[DENSE..].to_vec(), loss })
}

/// One over the deviation of each dense feature; 0 for one that never changes.
fn scales<'a>(rows: impl Iterator<Item = &'a [f64; DENSE]> + Clone) -> [f64; DENSE] {
    let count = rows.clone().count().max(1) as f64;
    let mean: [f64; DENSE] = std::array::from_fn(|d| rows.clone().map(|r| r[d]).sum::<f64>() / count);
    std::array::from_fn(|d| {
        let deviation = (rows.clone().map(|r| (r[d] - mean[d]).powi(2)).sum::<f64>() / count).sqrt();
        if deviation > 1e-9 { 1.0 / deviation } else { 0.0 }
    })
}

struct Problem<'a> {
    lists: &'a [&'a List<'a>],
    rows: usize,
    penalty: f64,
    scale: [f64; DENSE],
}

impl Problem<'_> {
    /// Losses and slopes of the parts, without the penalty.
    fn parts(&self, w: &[f64]) -> Vec<(f64, Vec<f64>)> {
        let size = self.lists.len().div_ceil(PARTS).max(1);
        self.lists.par_chunks(size).map(|lists| self.part(w, lists)).collect()
    }

    fn part(&self, w: &[f64], lists: &[&List]) -> (f64, Vec<f64>) {
        let (mut value, mut slope) = (0.0, vec![0.0; self.size()]);
        let mut scores = Vec::new();
        for list in lists {
            scores.clear();
            scores.extend(list.iter().map(|(features, _)| self.score(w, features)));
            let most = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
            let (mut all, mut right) = (0.0, 0.0);
            for (s, (_, is_right)) in scores.iter_mut().zip(list.iter()) {
                *s = (*s - most).exp();
                all += *s;
                right += if *is_right { *s } else { 0.0 };
            }
            // A right answer may be so far behind that its part is 0 in these digits.
            let right = right.max(1e-300);
            value += (all / right).ln();
            for (&e, (features, is_right)) in scores.iter().zip(list.iter()) {
                let d = e / all - if *is_right { e / right } else { 0.0 };
                for ((slope, x), scale) in slope.iter_mut().zip(&features.dense).zip(&self.scale) {
                    *slope += d * x * scale;
                }
                features.sparse.iter().for_each(|&(row, x)| slope[DENSE + row as usize] += d * x as f64);
            }
        }
        (value, slope)
    }

    fn score(&self, w: &[f64], features: &Features) -> f64 {
        let dense: f64 = (0..DENSE).map(|k| w[k] * features.dense[k] * self.scale[k]).sum();
        dense + features.sparse.iter().map(|&(row, x)| w[DENSE + row as usize] * x as f64).sum::<f64>()
    }
}

impl Objective for Problem<'_> {
    fn size(&self) -> usize {
        DENSE + self.rows
    }

    fn at(&self, w: &[f64]) -> (f64, Vec<f64>) {
        let (mut value, mut slope) = (0.0, vec![0.0; self.size()]);
        for (v, s) in self.parts(w) {
            value += v;
            slope.iter_mut().zip(s).for_each(|(all, s)| *all += s);
        }
        for (k, (s, &w)) in slope.iter_mut().zip(w).enumerate() {
            let penalty = if k < DENSE { 1.0 } else { self.penalty };
            value += 0.5 * penalty * w * w;
            *s += penalty * w;
        }
        (value, slope)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::testing::check_slopes;

    fn features(overlap: f64, rows: &[u32]) -> Features {
        let mut dense = [0.0; DENSE];
        (dense[0], dense[3]) = (overlap, 1.0 + overlap * overlap);
        Features { dense, sparse: rows.iter().map(|&r| (r, 0.5)).collect() }
    }

    fn all() -> Vec<(Features, bool, usize)> {
        let rows: [(f64, &[u32], bool, usize); 8] = [
            (0.9, &[0], true, 0),
            (0.2, &[1], false, 0),
            (0.1, &[0, 2], true, 1),
            (0.3, &[1], false, 1),
            (0.8, &[], true, 1),
            (0.4, &[2], true, 2),
            (0.5, &[1, 1], false, 2),
            (0.5, &[0], true, 3),
        ];
        rows.iter().map(|&(o, r, right, q)| (features(o, r), right, q)).collect()
    }

    fn lists(all: &[(Features, bool, usize)]) -> Vec<List<'_>> {
        (0..4).map(|q| all.iter().filter(|c| c.2 == q).map(|c| (&c.0, c.1)).collect()).collect()
    }

    #[test]
    fn slopes_are_those_of_the_value() {
        let all = all();
        let lists = lists(&all);
        let telling: Vec<&List> = lists.iter().collect();
        let problem = Problem { lists: &telling, rows: 3, penalty: 0.3, scale: [2.0; DENSE] };
        check_slopes(&problem);
    }

    #[test]
    fn right_answers_come_to_stand_above() {
        let all = all();
        let lists = lists(&all);
        let found = solve(&lists, 3, 0.01, &|| false).unwrap();
        assert!(found.dense[0] > 0.0 && found.units[0] > 0.0 && found.units[1] < 0.0, "{found:?}");
        // Of seven dense features five never change.
        assert_eq!(found.dense[4..], [0.0; 3]);
        assert!(found.loss > 0.0 && found.loss < 0.2, "{}", found.loss);
        // The last question has nothing to tell.
        assert_eq!(solve(&lists[..3], 3, 0.01, &|| false).unwrap(), found);
        assert_eq!(solve(&lists, 3, 0.01, &|| true), None);
        let one = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
        assert_eq!(one.install(|| solve(&lists, 3, 0.01, &|| false)).unwrap(), found);
    }

    #[test]
    fn nothing_to_learn_from_is_no_evidence() {
        let found = solve(&[], 2, 0.3, &|| false).unwrap();
        assert_eq!((found.dense, found.units, found.loss), ([0.0; DENSE], vec![0.0; 2], 0.0));
    }
}
