//! Whether a model knows how sure it may be.

/// An answer: how probable the model says it is, and whether it is right.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Confident {
    /// From 0 to 1.
    pub probability: f64,
    /// Whether it is right.
    pub right: bool,
}

/// Bins of the expected calibration error, as Guo and others (2017) count them.
const BINS: usize = 15;

/// The expected calibration error: how far, on average over the answers, the share of right ones lies from the probability that was said. Answers are put into 15 bins of equal width
/// by their probability: `Σ_b n_b / n |right_b - said_b|`. Nothing without answers.
///
/// ```
/// use spotlight::metrics::{Confident, calibration_error};
///
/// let answer = |probability, right| Confident { probability, right };
/// // Always sure, and right half of the time.
/// assert_eq!(calibration_error(&[answer(1.0, true), answer(1.0, false)]), Some(0.5));
/// assert_eq!(calibration_error(&[]), None);
/// ```
pub fn calibration_error(answers: &[Confident]) -> Option<f64> {
    let mut gaps = [0.0; BINS];
    for answer in answers {
        let bin = ((answer.probability * BINS as f64) as usize).min(BINS - 1);
        gaps[bin] += f64::from(u8::from(answer.right)) - answer.probability;
    }
    (!answers.is_empty()).then(|| gaps.iter().map(|gap| gap.abs()).sum::<f64>() / answers.len() as f64)
}

/// The share of right answers among the surest `share` of all. Of equally sure ones those that come first; nothing without answers.
///
/// ```
/// use spotlight::metrics::{Confident, accuracy_of_surest};
///
/// let answers = [(0.9, true), (0.8, true), (0.7, false), (0.6, false)].map(|(probability, right)| Confident { probability, right });
/// assert_eq!([0.5, 0.75, 1.0].map(|share| accuracy_of_surest(&answers, share)), [Some(1.0), Some(2.0 / 3.0), Some(0.5)]);
/// ```
pub fn accuracy_of_surest(answers: &[Confident], share: f64) -> Option<f64> {
    let surest = surest(answers, share);
    let right = surest.iter().filter(|answer| answer.right).count();
    (!surest.is_empty()).then(|| right as f64 / surest.len() as f64)
}

/// The surest `share` of all answers, the surest first; one at the least.
fn surest(answers: &[Confident], share: f64) -> Vec<Confident> {
    let mut sorted = answers.to_vec();
    sorted.sort_by(|a, b| b.probability.total_cmp(&a.probability));
    sorted.truncate(((answers.len() as f64 * share).round() as usize).max(1));
    sorted
}

/// How far a model can be trusted if it may leave unsure answers out.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Coverage {
    /// The share of the answers that are given, the surest ones.
    pub share: f64,
    /// How many of them are right.
    pub accuracy: f64,
    /// How many of them the model says are right.
    pub said: f64,
}

/// The accuracy of the surest answers, in steps of 5 percent of all.
///
/// ```
/// use spotlight::metrics::{Confident, coverage};
///
/// let answers = [(0.9, true), (0.5, false)].map(|(probability, right)| Confident { probability, right });
/// let curve = coverage(&answers);
/// assert_eq!(curve.len(), 20);
/// assert_eq!((curve[9].share, curve[9].accuracy, curve[9].said), (0.5, 1.0, 0.9));
/// assert_eq!((curve[19].share, curve[19].accuracy, curve[19].said), (1.0, 0.5, 0.7));
/// assert!(coverage(&[]).is_empty());
/// ```
pub fn coverage(answers: &[Confident]) -> Vec<Coverage> {
    let at = |step: u32| {
        let share = f64::from(step) / 20.0;
        let given = surest(answers, share);
        let said = given.iter().map(|answer| answer.probability).sum::<f64>() / given.len() as f64;
        Some(Coverage { share, accuracy: accuracy_of_surest(answers, share)?, said })
    };
    (1..=20).filter_map(at).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bins_are_weighed_by_what_is_in_them() {
        let answer = |probability, right| Confident { probability, right };
        // One bin: says .95 twice, is right once. Another: says .5 once, is right.
        let answers = [answer(0.95, true), answer(0.95, false), answer(0.5, true)];
        let expected = ((0.5f64 - 0.95).abs() * 2.0 + 0.5) / 3.0;
        assert!((calibration_error(&answers).unwrap() - expected).abs() < 1e-12);
        // Too sure and too unsure in one bin make up for each other: that is what a bin is.
        assert!(calibration_error(&[answer(0.94, true), answer(0.96, true)]).unwrap() < 0.051);
    }

    #[test]
    fn at_least_one_answer_is_given() {
        let one = [Confident { probability: 0.2, right: true }];
        assert_eq!(accuracy_of_surest(&one, 0.0), Some(1.0));
        assert_eq!(accuracy_of_surest(&[], 0.5), None);
    }
}
