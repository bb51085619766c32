//! Standardisation: every feature to mean 0 and deviation 1, as they are in the training part.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::config::ConfigError;
use crate::weights::write_whole;
use crate::{Error, Result};

/// Mean and deviation of each feature.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Standard {
    /// The mean over all rows of all bags.
    pub mean: Vec<f64>,
    /// The deviation; 1 for a feature that never changes.
    pub deviation: Vec<f64>,
}

impl Standard {
    /// Learns from rows of one width.
    pub fn learn<'a>(rows: impl Iterator<Item = &'a [f32]> + Clone) -> Self {
        let count = rows.clone().count().max(1) as f64;
        let width = rows.clone().next().map_or(0, <[f32]>::len);
        let sum = |f: &dyn Fn(usize, f64) -> f64| {
            let mut sums = vec![0.0; width];
            for row in rows.clone() {
                sums.iter_mut().zip(row).enumerate().for_each(|(i, (sum, &x))| *sum += f(i, x as f64));
            }
            sums.iter().map(|sum| sum / count).collect::<Vec<f64>>()
        };
        let mean = sum(&|_, x| x);
        let variance = sum(&|i, x| (x - mean[i]).powi(2));
        // Below the rounding of an f32, a feature is constant.
        let deviation = |(v, m): (&f64, &f64)| if v.sqrt() > 1e-6 * m.abs().max(1e-30) { v.sqrt() } else { 1.0 };
        let deviation = variance.iter().zip(&mean).map(deviation).collect();
        Standard { mean, deviation }
    }

    /// Features of a row.
    pub fn width(&self) -> usize {
        self.mean.len()
    }

    /// Brings a row to the standard.
    pub fn apply<'a>(&'a self, row: &'a [f32]) -> impl Iterator<Item = f32> + 'a {
        row.iter().zip(self.mean.iter().zip(&self.deviation)).map(|(&x, (mean, deviation))| ((x as f64 - mean) / deviation) as f32)
    }

    /// Writes it as TOML.
    pub fn save(&self, path: &Path) -> Result<()> {
        let text = toml::to_string(self).map_err(|e| ConfigError::Syntax(e.to_string()))?;
        write_whole(path, text.as_bytes())
    }

    /// Reads what [`Standard::save`] wrote.
    pub fn load(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|source| Error::Io { path: path.to_path_buf(), source })?;
        let broken = |problem: String| Error::Weights { path: path.to_path_buf(), problem };
        let standard: Standard = toml::from_str(&text).map_err(|e| broken(e.to_string()))?;
        let right = standard.deviation.len() == standard.mean.len()
            && standard.mean.iter().all(|m| m.is_finite())
            && standard.deviation.iter().all(|d| d.is_finite() && *d > 0.0);
        if right { Ok(standard) } else { Err(broken("a mean and a deviation above 0 are needed for each feature".into())) }
    }
}
