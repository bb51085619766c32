//! One figure from several runs.

use std::fmt;

/// The mean of a figure over seeds or folds, and how far apart the runs lie.
///
/// Prints as `0.8120 ± 0.0060 (n = 3)`; a precision may be asked for as with any number.
///
/// ```
/// use spotlight::metrics::Spread;
///
/// let accuracy = Spread::of(&[0.81, 0.80, 0.85]).unwrap();
/// assert_eq!(format!("{accuracy:.3}"), "0.820 ± 0.026 (n = 3)");
/// assert_eq!(Spread::of(&[0.81]).unwrap().to_string(), "0.8100 (n = 1)");
/// assert_eq!(Spread::of(&[]), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Spread {
    /// The mean of all runs.
    pub mean: f64,
    /// The sample standard deviation (dividing by n - 1); a single run has none.
    pub deviation: Option<f64>,
    /// Number of runs.
    pub runs: usize,
}

impl Spread {
    /// Mean and spread of the runs, or nothing if there are none.
    pub fn of(values: &[f64]) -> Option<Self> {
        let runs = values.len();
        if runs == 0 {
            return None;
        }
        let mean = values.iter().sum::<f64>() / runs as f64;
        let deviation = (runs > 1).then(|| {
            let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
            (squares / (runs - 1) as f64).sqrt()
        });
        Some(Self { mean, deviation, runs })
    }
}

impl fmt::Display for Spread {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let digits = f.precision().unwrap_or(4);
        write!(f, "{:.digits$}", self.mean)?;
        if let Some(deviation) = self.deviation {
            write!(f, " ± {deviation:.digits$}")?;
        }
        write!(f, " (n = {})", self.runs)
    }
}
