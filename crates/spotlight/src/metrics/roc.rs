//! The area under the ROC curve.

use super::MetricError;
use super::error::same_length;

/// The chance that a random positive example is scored above a random negative one, equal scores
/// counting one half.
///
/// This equals the area under the ROC curve with straight lines across ties (scikit-learn's
/// `roc_auc_score`): 1 for a perfect order, 0.5 for scores that say nothing.
///
/// ```
/// use spotlight::metrics::roc_auc;
/// let area = roc_auc(&[false, false, true, true], &[0.1, 0.4, 0.35, 0.8])?;
/// assert_eq!(area, 0.75);
/// # Ok::<(), spotlight::metrics::MetricError>(())
/// ```
pub fn roc_auc(gold: &[bool], scores: &[f64]) -> Result<f64, MetricError> {
    same_length("right labels", gold.len(), "scores", scores.len())?;
    if let Some(position) = scores.iter().position(|score| score.is_nan()) {
        return Err(MetricError::NotANumber { position: position + 1 });
    }
    let positive = gold.iter().filter(|&&gold| gold).count();
    let negative = gold.len() - positive;
    if positive == 0 || negative == 0 {
        return Err(MetricError::OneClass { positive, negative });
    }

    let mut ascending: Vec<(f64, bool)> = scores.iter().copied().zip(gold.iter().copied()).collect();
    ascending.sort_by(|(a, _), (b, _)| a.total_cmp(b));
    // Each positive wins against the negatives below its score and draws with those that share it.
    let (mut wins, mut draws, mut negatives_below) = (0, 0, 0);
    for tied in ascending.chunk_by(|(a, _), (b, _)| a == b) {
        let positives = tied.iter().filter(|(_, gold)| *gold).count();
        let negatives = tied.len() - positives;
        wins += positives * negatives_below;
        draws += positives * negatives;
        negatives_below += negatives;
    }
    Ok((wins as f64 + draws as f64 / 2.0) / (positive as f64 * negative as f64))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn needs_both_classes_and_real_numbers() {
        assert_eq!(roc_auc(&[true, true], &[0.1, 0.2]), Err(MetricError::OneClass { positive: 2, negative: 0 }));
        assert_eq!(roc_auc(&[true, false], &[0.1, f64::NAN]), Err(MetricError::NotANumber { position: 2 }));
        assert!(roc_auc(&[true], &[]).is_err());
    }

    #[test]
    fn minus_zero_ties_with_zero() {
        assert_eq!(roc_auc(&[true, false, true, false], &[-0.0, 0.0, 0.0, -0.0]), Ok(0.5));
    }
}
