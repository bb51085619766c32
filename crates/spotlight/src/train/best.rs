//! Which of the models measured so far is kept, and how long none has been better.

use super::checkpoint::Progress;
use super::learner::{Bound, Measure};

/// What an evaluation means for the run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Verdict {
    /// The model is the best so far.
    pub best: bool,
    /// It says something of whether the run gets anywhere: it counts for patience and for the plateau.
    pub telling: bool,
}

/// Judges the model that has just been measured.
///
/// The better measure wins; between equal ones, the lower loss. Patience counts the evaluations in which the measure has not become better. A measure at its worst (no
/// answer is right yet) says nothing of whether the model learns and is not counted; neither is one at its best as long as the loss still falls.
pub(super) fn judge(p: &mut Progress, deciding: &Measure, loss: f64) -> Verdict {
    let merit = deciding.merit();
    let better = p.best.is_none_or(|best| merit > best);
    let surer = p.best == Some(merit) && p.best_loss.is_none_or(|best| loss < best);
    if better || surer {
        (p.best, p.best_loss, p.best_epoch) = (Some(merit), Some(loss), p.epoch);
    }
    if deciding.rising && deciding.most.is_finite() {
        p.shares.push((p.epoch, deciding.value / deciding.most));
    }
    let telling = match deciding.bound() {
        _ if better => true,
        Some(Bound::Worst) => false,
        Some(Bound::Best) => !surer,
        None => true,
    };
    if better {
        p.waited = 0;
    } else if telling {
        p.waited += 1;
    }
    Verdict { best: better || surer, telling }
}

/// The last epoch that was as good as the best: its share of `count` examples was less than a standard error below. Of epochs that few examples cannot tell apart the last has learnt most, and its rate was the smallest.
pub(super) fn last_as_good(p: &Progress, count: usize) -> u64 {
    let best = p.shares.iter().map(|(_, share)| *share).fold(0.0, f64::max);
    let error = (best * (1.0 - best) / count.max(1) as f64).sqrt();
    p.shares.iter().rev().find(|(_, share)| *share >= best - error).map_or(p.best_epoch, |(epoch, _)| *epoch)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Epochs that are kept and evaluations waited for after each of these values and losses.
    fn course(values: &[(f64, f64)], measure: impl Fn(f64) -> Measure) -> (Vec<u64>, Vec<u32>) {
        let mut p = Progress::default();
        let mut kept = Vec::new();
        let waited = values.iter().map(|&(value, loss)| {
            p.epoch += 1;
            if judge(&mut p, &measure(value), loss).best {
                kept.push(p.epoch);
            }
            p.waited
        });
        let waited = waited.collect();
        assert_eq!(kept.last(), Some(&p.best_epoch));
        (kept, waited)
    }

    fn accuracy(value: f64) -> Measure {
        Measure::rising("accuracy", value)
    }

    #[test]
    fn between_equal_measures_the_lower_loss_is_kept_but_patience_goes_on() {
        let values = [(0.5, 1.0), (0.5, 0.8), (0.5, 0.9), (0.5, 0.7), (0.4, 0.1), (0.6, 2.0)];
        assert_eq!(course(&values, accuracy), (vec![1, 2, 4, 6], vec![0, 1, 2, 3, 4, 0]));
    }

    #[test]
    fn a_measure_at_its_worst_does_not_stop_a_run() {
        let values = [(0.0, 3.0), (0.0, 2.9), (0.0, 3.1), (0.0, 3.2), (0.1, 3.0), (0.0, 3.0), (0.05, 2.0)];
        assert_eq!(course(&values, accuracy), (vec![1, 2, 5], vec![0, 0, 0, 0, 0, 0, 1]));
        // The same of errors: all of them.
        let errors = |value: f64| Measure::falling("errors", 1.0 - value).up_to(1.0);
        assert_eq!(course(&values, errors), (vec![1, 2, 5], vec![0, 0, 0, 0, 0, 0, 1]));
    }

    #[test]
    fn a_measure_at_its_best_stops_a_run_when_the_loss_has_stopped_falling() {
        let values = [(0.9, 1.0), (1.0, 0.9), (1.0, 0.8), (1.0, 0.85), (1.0, 0.7), (1.0, 0.75), (1.0, 0.8)];
        assert_eq!(course(&values, accuracy), (vec![1, 2, 3, 5], vec![0, 0, 0, 1, 1, 2, 3]));
    }

    #[test]
    fn a_loss_decides_by_itself() {
        let values = [(3.0, 3.0), (2.0, 2.0), (2.0, 2.0), (2.5, 2.5)];
        assert_eq!(course(&values, |v| Measure::falling("loss", v)), (vec![1, 2], vec![0, 0, 1, 2]));
    }

    /// A run from before losses were remembered goes on; the first equal measure is taken.
    #[test]
    fn an_old_checkpoint_has_no_loss_to_compare() {
        let old = r#"{"epoch":3,"batch":0,"step":9,"loss":0.0,"targets":0,"best":0.5,"best_epoch":2,"waited":1,"plateau":[1.0,null,0],"seconds":1.0,"fingerprint":"x"}"#;
        let mut p: Progress = serde_json::from_str(old).unwrap();
        assert!(judge(&mut p, &accuracy(0.5), 2.0).best);
        assert!(!judge(&mut p, &accuracy(0.5), 2.0).best);
    }

    #[test]
    fn epochs_that_few_examples_cannot_tell_apart_are_as_good() {
        let after = |values: &[f64], count: usize| {
            let mut p = Progress::default();
            for value in values {
                p.epoch += 4;
                judge(&mut p, &accuracy(*value), 1.0);
            }
            last_as_good(&p, count)
        };
        let values = [0.257, 0.571, 0.743, 0.714, 0.714, 0.5];
        // One answer of 35 is chance, 29 of 1,000 are not.
        assert_eq!((after(&values, 35), after(&values, 1000)), (20, 12));
        assert_eq!((after(&[0.0, 0.0], 10), after(&[1.0, 0.9, 1.0, 0.9], 10)), (8, 12));
        // A measure without bounds has no chance that could be told.
        let mut p = Progress { epoch: 3, ..Progress::default() };
        judge(&mut p, &Measure::falling("loss", 0.5), 0.5);
        assert_eq!((last_as_good(&p, 10), p.shares.len()), (3, 0));
    }
}
