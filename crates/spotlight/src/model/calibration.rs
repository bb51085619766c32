//! Probabilities that mean what they say.
//!
//! A model that has learnt its examples by heart is surer than it should be. What to do about it is found on the development examples, when everything else is learnt, and kept in
//! `calibration.toml`. The order of the answers stays: only how sure they are changes.
//!
//! - Over labels one *temperature* `T` (Guo and others, 2017): `p' ∝ p^(1/T)`, the softmax of the logits divided by `T`.
//! - Of a written answer, whose probability is that of one text among endlessly many, a logistic curve (Platt, 1999): `σ(a ln p + b)` is the probability that it is right. It is fitted to a little
//!   less than was seen, as if one more answer had been right and one more wrong: `r` right answers say `(r + 1) / (r + 2)` instead of 1, `w` wrong ones `1 / (w + 2)` instead of 0. So answers that
//!   are all right make no model sure of everything.

use std::path::Path;

use serde::{Deserialize, Serialize};

use crate::folder::{CALIBRATION, read_if_there};
use crate::metrics::{Confident, Report, Style, accuracy_of_surest, calibration_error};
use crate::model::head;
use crate::{Error, Result};

/// With fewer development examples than this nothing is changed: they could not tell.
const LEAST: usize = 20;
/// A probability below this says no less.
const TINY: f64 = 1e-12;

/// How a model's probabilities become ones that can be trusted.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "lowercase", deny_unknown_fields)]
pub enum Calibration {
    /// Of labels.
    Temperature {
        /// Above 1 for a model that is too sure.
        temperature: f64,
    },
    /// Of whole answers.
    Logistic {
        /// `a`, not below 0.
        slope: f64,
        /// `b`
        offset: f64,
    },
}

impl Calibration {
    /// The temperature that makes the right labels most probable; none for too few examples. Each example has the probabilities of all labels.
    pub fn of_labels(probabilities: &[Vec<f32>], right: &[u32]) -> Option<Self> {
        let cost = |log: f64| {
            let heat = log.exp();
            let one = |(p, &label): (&Vec<f32>, &u32)| {
                let logs: Vec<f64> = p.iter().map(|&p| f64::from(p).max(TINY).ln() / heat).collect();
                let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                most + logs.iter().map(|l| (l - most).exp()).sum::<f64>().ln() - logs[label as usize]
            };
            probabilities.iter().zip(right).map(one).sum::<f64>()
        };
        (probabilities.len() >= LEAST).then(|| Calibration::Temperature { temperature: lowest(cost, -1.5, 1.5).exp() })
    }

    /// The logistic curve that makes what happened most probable, by Newton's method; none for too few answers. `answers` are the logarithm of the probability and whether it was right.
    pub fn of_answers(answers: &[(f64, bool)]) -> Option<Self> {
        if answers.len() < LEAST {
            return None;
        }
        let right = answers.iter().filter(|a| a.1).count() as f64;
        let wrong = answers.len() as f64 - right;
        let (sure, unsure) = ((right + 1.0) / (right + 2.0), 1.0 / (wrong + 2.0));
        let (mut a, mut b) = (1.0, 0.0);
        for _ in 0..50 {
            // A little weight on (1, 0), so that answers that can be told apart without a mistake do not make the curve a step.
            const PRIOR: f64 = 0.1;
            let (mut ga, mut gb) = (PRIOR * (a - 1.0), PRIOR * b);
            let (mut haa, mut hab, mut hbb) = (PRIOR, 0.0, PRIOR);
            for &(x, right) in answers {
                let p = logistic(a * x + b);
                let (d, w) = (p - if right { sure } else { unsure }, (p * (1.0 - p)).max(1e-9));
                ga += d * x;
                gb += d;
                haa += w * x * x;
                hab += w * x;
                hbb += w;
            }
            let det = haa * hbb - hab * hab;
            let (da, db) = ((hbb * ga - hab * gb) / det, (haa * gb - hab * ga) / det);
            // Long steps are cut, so that Newton's method cannot run away from a flat start.
            let cut = (4.0 / da.abs().max(db.abs())).min(1.0);
            (a, b) = (a - cut * da, b - cut * db);
            if da.abs().max(db.abs()) < 1e-9 {
                break;
            }
        }
        // Sure answers are not less often right; if these few say so, their order is left alone.
        (a.is_finite() && b.is_finite()).then_some(Calibration::Logistic { slope: a.max(0.0), offset: b })
    }

    /// The mean of several, if all are there and of one kind.
    pub fn mean(several: &[Option<Self>]) -> Option<Self> {
        let numbers = |one: &Option<Self>| match (*one)? {
            Calibration::Temperature { temperature } => Some((false, temperature, 0.0)),
            Calibration::Logistic { slope, offset } => Some((true, slope, offset)),
        };
        let all = several.iter().map(numbers).collect::<Option<Vec<_>>>()?;
        let mean = |number: fn(&(bool, f64, f64)) -> f64| all.iter().map(number).sum::<f64>() / all.len() as f64;
        match all.first()?.0 {
            first if all.iter().any(|one| one.0 != first) => None,
            true => Some(Calibration::Logistic { slope: mean(|one| one.1), offset: mean(|one| one.2) }),
            false => Some(Calibration::Temperature { temperature: mean(|one| one.1) }),
        }
    }

    /// Changes the probabilities of labels.
    pub fn apply(&self, probabilities: &mut [f32]) {
        let Calibration::Temperature { temperature } = *self else { return };
        let logs: Vec<f64> = probabilities.iter().map(|&p| f64::from(p).max(TINY).ln() / temperature).collect();
        let most = logs.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let sum: f64 = logs.iter().map(|l| (l - most).exp()).sum();
        probabilities.iter_mut().zip(logs).for_each(|(p, l)| *p = ((l - most).exp() / sum) as f32);
    }

    /// The probability that an answer with this log-probability is right.
    pub fn confidence(&self, log_prob: f64) -> f64 {
        match *self {
            Calibration::Temperature { .. } => log_prob.exp(),
            Calibration::Logistic { slope, offset } => logistic(slope * log_prob + offset),
        }
    }

    /// What a model's folder says, if it says anything.
    pub fn load(folder: &Path) -> Result<Option<Self>> {
        let path = folder.join(CALIBRATION);
        let Some(text) = read_if_there(&path)? else { return Ok(None) };
        let calibration: Calibration = toml::from_str(&text).map_err(|e| broken(&path, e.message()))?;
        match calibration {
            Calibration::Temperature { temperature } if !(temperature > 0.0 && temperature.is_finite()) => {
                Err(broken(&path, &format!("the temperature must be above 0, is {temperature}")))
            }
            Calibration::Logistic { slope, offset } if !(slope >= 0.0 && slope.is_finite() && offset.is_finite()) => {
                Err(broken(&path, &format!("the curve must not fall, is {slope} x + {offset}")))
            }
            good => Ok(Some(good)),
        }
    }

    /// As the file that is kept.
    pub fn file(&self) -> (&'static str, Vec<u8>) {
        (CALIBRATION, toml::to_string(self).unwrap_or_default().into_bytes())
    }
}

fn broken(path: &Path, problem: &str) -> Error {
    Error::Io { path: path.to_path_buf(), source: std::io::Error::new(std::io::ErrorKind::InvalidData, problem.to_string()) }
}

fn logistic(x: f64) -> f64 {
    1.0 / (1.0 + (-x).exp())
}

/// The lowest point of a curve with one valley, by golden section.
fn lowest(curve: impl Fn(f64) -> f64, mut low: f64, mut high: f64) -> f64 {
    let golden = (5f64.sqrt() - 1.0) / 2.0;
    let (mut a, mut b) = (high - golden * (high - low), low + golden * (high - low));
    let (mut at_a, mut at_b) = (curve(a), curve(b));
    while high - low > 1e-6 {
        if at_a <= at_b {
            (high, b, at_b) = (b, a, at_a);
            a = high - golden * (high - low);
            at_a = curve(a);
        } else {
            (low, a, at_a) = (a, b, at_b);
            b = low + golden * (high - low);
            at_b = curve(b);
        }
    }
    (low + high) / 2.0
}

/// Adds to a report how far probabilities of labels can be trusted, as they were `said` and as they are calibrated.
pub(super) fn report_labels(to: &mut Report, calibration: Option<Calibration>, said: &[Vec<f32>], right: &[u32]) {
    let calibrated = calibration.map(|calibration| {
        let mut probabilities = said.to_vec();
        probabilities.iter_mut().for_each(|p| calibration.apply(p));
        confident(&probabilities, right)
    });
    report(to, &confident(said, right), calibrated.as_deref());
}

/// Answers of a classifier, as sure as it says.
fn confident(probabilities: &[Vec<f32>], right: &[u32]) -> Vec<Confident> {
    let one = |(p, &label): (&Vec<f32>, &u32)| {
        let best = head::best(p);
        Confident { probability: p.get(best as usize).copied().unwrap_or(0.0).into(), right: best == label }
    };
    probabilities.iter().zip(right).map(one).collect()
}

/// Adds to a report how far the probabilities can be trusted: the calibration error before and after, and how often the surest answers are right.
pub(super) fn report(report: &mut Report, before: &[Confident], after: Option<&[Confident]>) {
    let named = if after.is_some() { "calibration error, uncalibrated" } else { "calibration error" };
    if let Some(error) = calibration_error(before) {
        report.number(named, error, Style::Share);
    }
    if let Some(error) = after.and_then(calibration_error) {
        report.number("calibration error", error, Style::Share);
    }
    for percent in [50, 80, 90, 95] {
        if let Some(accuracy) = accuracy_of_surest(after.unwrap_or(before), f64::from(percent) / 100.0) {
            report.number(&format!("accuracy at {percent} percent answered"), accuracy, Style::Share);
        }
    }
    report.answers = after.unwrap_or(before).to_vec();
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_temperature_undoes_too_much_sureness() {
        // Right three times of four, and says .75 at temperature 1; said at temperature 1/3 it is far too sure.
        let honest = [0.75f64, 0.25];
        let sharp: Vec<f64> = honest.iter().map(|p| p.powi(3)).collect();
        let said = vec![(sharp[0] / (sharp[0] + sharp[1])) as f32, (sharp[1] / (sharp[0] + sharp[1])) as f32];
        let right: Vec<u32> = (0..40).map(|i| u32::from(i % 4 == 0)).collect();
        let calibration = Calibration::of_labels(&vec![said.clone(); 40], &right).unwrap();
        let Calibration::Temperature { temperature } = calibration else { panic!() };
        assert!((temperature - 3.0).abs() < 1e-3, "{temperature}");
        let mut now = said;
        calibration.apply(&mut now);
        assert!((now[0] - 0.75).abs() < 1e-4 && (now[0] + now[1] - 1.0).abs() < 1e-6);
        assert_eq!(Calibration::of_labels(&vec![vec![0.5, 0.5]; LEAST - 1], &[0; LEAST - 1]), None);
    }

    #[test]
    fn the_curve_follows_what_happened() {
        // Answers with ln p = -1 are right 9 times of 10, with ln p = -3 twice of 10.
        let answers: Vec<(f64, bool)> = (0..400).map(|i| if i % 2 == 0 { (-1.0, i % 20 != 0) } else { (-3.0, i % 20 < 4) }).collect();
        let calibration = Calibration::of_answers(&answers).unwrap();
        assert!((calibration.confidence(-1.0) - 0.9).abs() < 0.01, "{}", calibration.confidence(-1.0));
        assert!((calibration.confidence(-3.0) - 0.2).abs() < 0.01, "{}", calibration.confidence(-3.0));
        assert_eq!(Calibration::of_answers(&answers[..LEAST - 1]), None);
    }

    /// The more there are, the surer they make: as sure as (n + 1) / (n + 2), of the answers that are as probable as these.
    #[test]
    fn answers_that_are_all_right_or_all_wrong_say_so() {
        for n in [LEAST, 500] {
            let all = |right: bool| -> Vec<(f64, bool)> { (0..n).map(|i| (-0.01 * (i % 10) as f64, right)).collect() };
            let expected = (n as f64 + 1.0) / (n as f64 + 2.0);
            let (sure, unsure) = (Calibration::of_answers(&all(true)).unwrap(), Calibration::of_answers(&all(false)).unwrap());
            let (yes, no) = (sure.confidence(-0.05), unsure.confidence(-0.05));
            assert!((yes - expected).abs() < 0.03 && yes < 1.0, "{n}: {yes} {expected}");
            assert!((no - (1.0 - expected)).abs() < 0.03 && no > 0.0, "{n}: {no}");
            // What is far less probable than all that was right is not as sure.
            assert!(sure.confidence(-5.0) < yes);
        }
    }

    #[test]
    fn a_file_comes_back_and_nonsense_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        assert_eq!(Calibration::load(folder.path()).unwrap(), None);
        let whole = Calibration::Logistic { slope: 0.5, offset: -1.25 };
        let (name, bytes) = whole.file();
        std::fs::write(folder.path().join(name), bytes).unwrap();
        assert_eq!(Calibration::load(folder.path()).unwrap(), Some(whole));
        for text in ["kind = \"temperature\"\ntemperature = -1.0", "kind = \"logistic\"\nslope = nan\noffset = 0.0", "what"] {
            std::fs::write(folder.path().join(name), text).unwrap();
            assert!(Calibration::load(folder.path()).unwrap_err().to_string().contains("calibration.toml"), "{text}");
        }
    }

    #[test]
    fn several_of_one_kind_have_a_mean() {
        let (warm, hot) = (Calibration::Temperature { temperature: 1.0 }, Calibration::Temperature { temperature: 2.0 });
        let curves = [(1.0, 0.5), (3.0, -0.5)].map(|(slope, offset)| Some(Calibration::Logistic { slope, offset }));
        assert_eq!(Calibration::mean(&[Some(warm), Some(hot)]), Some(Calibration::Temperature { temperature: 1.5 }));
        assert_eq!(Calibration::mean(&curves), Some(Calibration::Logistic { slope: 2.0, offset: 0.0 }));
        for none in [&[][..], &[Some(warm), None], &[Some(warm), curves[0]]] {
            assert_eq!(Calibration::mean(none), None);
        }
    }
}
