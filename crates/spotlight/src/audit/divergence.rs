//! How far apart two distributions are.

/// `Σ p ln(p / q)`, with 0 ln 0 = 0.
fn relative_entropy(p: &[f64], q: impl Iterator<Item = f64>) -> f64 {
    p.iter().zip(q).map(|(&p, q)| if p > 0.0 { p * (p / q).ln() } else { 0.0 }).sum()
}

/// The Jensen-Shannon divergence `½ KL(p ‖ m) + ½ KL(q ‖ m)` with `m = ½ (p + q)`, in nats: from 0 to `ln 2 = 0.693`.
///
/// ```
/// use spotlight::audit::divergence;
///
/// assert_eq!(divergence(&[0.5, 0.5], &[0.5, 0.5]), 0.0);
/// assert!((divergence(&[1.0, 0.0], &[0.0, 1.0]) - 2f64.ln()).abs() < 1e-15);
/// ```
pub fn divergence(p: &[f64], q: &[f64]) -> f64 {
    let middle = || p.iter().zip(q).map(|(p, q)| 0.5 * (p + q));
    (0.5 * (relative_entropy(p, middle()) + relative_entropy(q, middle()))).max(0.0)
}

/// Its slope with respect to `p`: `½ ln(p / m)`.
pub(super) fn divergence_slope(p: &[f64], q: &[f64]) -> Vec<f64> {
    p.iter().zip(q).map(|(&p, &q)| 0.5 * (p.max(1e-30) / (0.5 * (p + q)).max(1e-30)).ln()).collect()
}

/// The total variation `½ Σ |p - q|`: what the largest change of any answer's probability is. For two labels `|Δp|`.
pub fn total_variation(p: &[f64], q: &[f64]) -> f64 {
    0.5 * p.iter().zip(q).map(|(p, q)| (p - q).abs()).sum::<f64>()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn by_hand() {
        // m = (3/4, 1/4): ½ ln(4/3) + ½ (½ ln(2/3) + ½ ln 2)
        let wanted = 0.5 * (4.0f64 / 3.0).ln() + 0.25 * (2.0f64 / 3.0).ln() + 0.25 * 2f64.ln();
        assert!((divergence(&[1.0, 0.0], &[0.5, 0.5]) - wanted).abs() < 1e-15);
        assert!((total_variation(&[0.9, 0.1], &[0.4, 0.6]) - 0.5).abs() < 1e-15);
    }

    #[test]
    fn the_slope_is_that_of_central_differences() {
        let (p, q) = ([0.2, 0.5, 0.3], [0.6, 0.1, 0.3]);
        let slope = divergence_slope(&p, &q);
        for i in 0..3 {
            let at = |step: f64| {
                let mut p = p;
                p[i] += step;
                divergence(&p, &q)
            };
            let wanted = (at(1e-6) - at(-1e-6)) / 2e-6;
            assert!((slope[i] - wanted).abs() < 1e-7, "{i}: {} instead of {wanted}", slope[i]);
        }
    }
}
