//! The least value of a smooth convex function: L-BFGS (Nocedal, 1980; Liu and Nocedal, 1989) with steps that satisfy Armijo's and Wolfe's conditions.
//!
//! No chance is in it, so whoever solves a problem again comes to the same bits.

use std::collections::VecDeque;

/// Pairs of differences that the curvature is known by.
const PAIRS: usize = 10;
/// The largest slope that counts as none.
pub(super) const FLAT: f64 = 1e-2;

/// A function of many numbers that has slopes.
pub trait Objective {
    /// How many numbers.
    fn size(&self) -> usize;

    /// The value and the slopes at `w`.
    fn at(&self, w: &[f64]) -> (f64, Vec<f64>);
}

fn dot(a: &[f64], b: &[f64]) -> f64 {
    a.iter().zip(b).map(|(a, b)| a * b).sum()
}

/// Goes down from zero, for so many iterations at most, or until somebody stops it.
pub fn minimise(problem: &dyn Objective, iterations: usize, stop: &dyn Fn() -> bool) -> Vec<f64> {
    let mut w = vec![0.0; problem.size()];
    let (mut value, mut slope) = problem.at(&w);
    let mut pairs: VecDeque<(Vec<f64>, Vec<f64>, f64)> = VecDeque::with_capacity(PAIRS);
    for _ in 0..iterations {
        if slope.iter().all(|s| s.abs() <= FLAT) || stop() {
            break;
        }
        let direction = descent(&slope, &pairs);
        let along = dot(&direction, &slope);
        // The first step is a guess of the scale; later ones have the right length.
        let mut step = if pairs.is_empty() { 1.0 / dot(&slope, &slope).sqrt().max(1.0) } else { 1.0 };
        let (mut low, mut high) = (0.0, f64::INFINITY);
        let mut next = None;
        for _ in 0..30 {
            let to: Vec<f64> = w.iter().zip(&direction).map(|(w, d)| w + step * d).collect();
            let (v, s) = problem.at(&to);
            if v > value + 1e-4 * step * along {
                high = step;
            } else if dot(&direction, &s) < 0.9 * along {
                low = step;
                next = Some((to, v, s));
            } else {
                next = Some((to, v, s));
                break;
            }
            step = if high.is_finite() { 0.5 * (low + high) } else { 2.0 * step };
        }
        let Some((to, v, s)) = next else { break };
        let moved: Vec<f64> = to.iter().zip(&w).map(|(a, b)| a - b).collect();
        let turned: Vec<f64> = s.iter().zip(&slope).map(|(a, b)| a - b).collect();
        let curvature = dot(&moved, &turned);
        if curvature > 1e-12 {
            if pairs.len() == PAIRS {
                pairs.pop_front();
            }
            pairs.push_back((moved, turned, 1.0 / curvature));
        }
        (w, value, slope) = (to, v, s);
    }
    w
}

/// The two loops of L-BFGS: the slope through the inverse of the curvature, downwards.
fn descent(slope: &[f64], pairs: &VecDeque<(Vec<f64>, Vec<f64>, f64)>) -> Vec<f64> {
    let mut q: Vec<f64> = slope.iter().map(|s| -s).collect();
    let mut shares = Vec::with_capacity(pairs.len());
    for (moved, turned, inverse) in pairs.iter().rev() {
        let share = inverse * dot(moved, &q);
        q.iter_mut().zip(turned).for_each(|(q, t)| *q -= share * t);
        shares.push(share);
    }
    if let Some((_, turned, inverse)) = pairs.back() {
        let scale = 1.0 / (inverse * dot(turned, turned));
        q.iter_mut().for_each(|q| *q *= scale);
    }
    for ((moved, turned, inverse), share) in pairs.iter().zip(shares.into_iter().rev()) {
        let other = inverse * dot(turned, &q);
        q.iter_mut().zip(moved).for_each(|(q, m)| *q += (share - other) * m);
    }
    q
}

#[cfg(test)]
mod tests {
    use super::*;

    /// `Σ_i (i + 1) (w_i - i)² / 2`
    struct Bowl;

    impl Objective for Bowl {
        fn size(&self) -> usize {
            3
        }

        fn at(&self, w: &[f64]) -> (f64, Vec<f64>) {
            let away = |i: usize| w[i] - i as f64;
            ((0..3).map(|i| 0.5 * (i + 1) as f64 * away(i).powi(2)).sum(), (0..3).map(|i| (i + 1) as f64 * away(i)).collect())
        }
    }

    #[test]
    fn it_finds_the_bottom_unless_stopped() {
        let found = minimise(&Bowl, 100, &|| false);
        assert!(found.iter().enumerate().all(|(i, w)| (w - i as f64).abs() <= FLAT), "{found:?}");
        assert_eq!(minimise(&Bowl, 100, &|| true), [0.0; 3]);
        assert_eq!(minimise(&Bowl, 0, &|| false), [0.0; 3]);
    }
}
