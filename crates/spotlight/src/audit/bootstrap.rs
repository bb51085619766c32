//! How far a figure would move with other texts of the same kind: the bootstrap (Efron, 1979).

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use serde::{Deserialize, Serialize};

/// Samples drawn.
const SAMPLES: usize = 1000;

/// A figure, and where it lies in 95 of 100 samples.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct Interval {
    /// The figure itself.
    pub value: f64,
    /// Its lower end.
    pub low: f64,
    /// Its upper end.
    pub high: f64,
}

impl Interval {
    /// Whether all of it lies above `x`.
    pub fn above(&self, x: f64) -> bool {
        self.low > x
    }
}

impl std::fmt::Display for Interval {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // No -0.000.
        let [value, low, high] = [self.value, self.low, self.high].map(|x| if x.abs() < 0.0005 { 0.0 } else { x });
        write!(f, "{value:.3} [{low:.3}, {high:.3}]")
    }
}

/// A figure of `n` things with its interval: `figure` gets the numbers of the things in a sample, drawn with replacement. A sample for which there is no figure is not counted.
pub fn bootstrap(n: usize, seed: u64, figure: impl Fn(&[usize]) -> Option<f64>) -> Option<Interval> {
    let value = figure(&(0..n).collect::<Vec<_>>())?;
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut sample = vec![0; n];
    let mut found = Vec::with_capacity(SAMPLES);
    for _ in 0..SAMPLES {
        sample.iter_mut().for_each(|i| *i = ((random.random::<f64>() * n as f64) as usize).min(n - 1));
        found.extend(figure(&sample).filter(|x| x.is_finite()));
    }
    found.sort_by(f64::total_cmp);
    let at = |share: f64| found.get(((found.len() as f64 * share) as usize).min(found.len().saturating_sub(1))).copied().unwrap_or(value);
    Some(Interval { value, low: at(0.025), high: at(0.975) })
}

/// The mean of some numbers with its interval; none of none.
pub fn mean(numbers: &[f64], seed: u64) -> Option<Interval> {
    bootstrap(numbers.len(), seed, |sample| mean_of(sample.iter().map(|&i| numbers[i])))
}

/// The plain mean; none of none.
pub fn mean_of(numbers: impl Iterator<Item = f64>) -> Option<f64> {
    let (sum, count) = numbers.fold((0.0, 0usize), |(sum, count), x| (sum + x, count + 1));
    (count > 0).then(|| sum / count as f64)
}

/// The median: of an even number the mean of the two in the middle.
pub fn median(numbers: &mut [f64]) -> Option<f64> {
    numbers.sort_by(f64::total_cmp);
    let half = numbers.len() / 2;
    match numbers.len() {
        0 => None,
        n if n % 2 == 1 => Some(numbers[half]),
        _ => Some(0.5 * (numbers[half - 1] + numbers[half])),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_interval_of_a_mean_is_that_of_its_standard_error() {
        // 0 and 1 in turn: the mean of 400 has a standard error of 0.025, and 1.96 of it is 0.049.
        let numbers: Vec<f64> = (0..400).map(|i| f64::from(i % 2)).collect();
        let found = mean(&numbers, 1).unwrap();
        assert_eq!(found.value, 0.5);
        assert!((found.low - 0.451).abs() < 0.01 && (found.high - 0.549).abs() < 0.01, "{found:?}");
        assert_eq!(mean(&numbers, 1), mean(&numbers, 1));
        assert_ne!(mean(&numbers, 1), mean(&numbers, 2));
        assert_eq!(mean(&[], 1), None);
        assert_eq!(mean(&[0.25], 1), Some(Interval { value: 0.25, low: 0.25, high: 0.25 }));
    }

    #[test]
    fn the_median() {
        assert_eq!((median(&mut [3.0, 1.0, 2.0]), median(&mut [4.0, 1.0, 2.0, 3.0]), median(&mut [])), (Some(2.0), Some(2.5), None));
    }
}
