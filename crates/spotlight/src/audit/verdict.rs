//! From measures to one word, by a rule that is printed with it.

use serde::{Deserialize, Serialize};

use super::bootstrap::Interval;
use super::report::{Needed, OrderReport, Stable};

/// Examples below which nothing is decided.
pub const FEWEST: usize = 100;
/// An interval wider than this, with 0 in it, decides nothing.
pub const WIDEST: f64 = 0.10;
/// The part of the way from chance to leave-one-out that makes a guide.
pub const HALF_WAY: f64 = 0.5;

/// How far a picture of attention can be trusted. None of them says that it explains a decision.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Grade {
    /// Uniform weights do as well.
    Decoration,
    /// The order of the weights beats chance.
    Hint,
    /// It is at least half way from chance to leave-one-out, and another seed draws much the same.
    Guide,
    /// Too few examples, or too wide an interval.
    NotDecided,
}

impl Grade {
    /// As it is printed.
    pub fn name(self) -> &'static str {
        match self {
            Grade::Decoration => "decoration",
            Grade::Hint => "hint",
            Grade::Guide => "guide",
            Grade::NotDecided => "not decided",
        }
    }
}

/// The rule of models whose attention makes one row of many.
pub const RULE: &str = "decoration: uniform weights do as well, put in or trained with. \
hint: attention is needed, and taking units away in its order costs more than in a random one, the whole interval. \
guide: a hint whose order is at least half way from random to leave-one-out (lower end of the interval), and whose \
divergence between seeds is less than half that of random weights. not decided: under 100 examples, or an interval wider than 0.10 around 0.";

/// The rule of models that write.
pub const RULE_WRITTEN: &str = "decoration: answers with uniform weights are as often right. \
hint: they are not, and the weights of a step agree better with what erasing a source unit costs it than the diagonal does, \
the whole interval. guide: and the most looked at unit is the costliest one in at least half of the steps (lower end). \
not decided: under 100 examples, or an interval wider than 0.10 around 0.";

/// One word and a sentence.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Verdict {
    /// The word.
    pub grade: Grade,
    /// Why.
    pub reason: String,
    /// The rule that it follows from.
    pub rule: String,
}

impl Verdict {
    fn new(grade: Grade, rule: &str, reason: impl Into<String>) -> Self {
        Verdict { grade, reason: reason.into(), rule: rule.into() }
    }

    /// In a line, as it stands under pictures.
    pub fn line(&self) -> String {
        format!("audit: {}: {}", self.grade.name(), self.reason)
    }
}

/// Whether uniform weights do as well: a loss whose interval touches 0. None if it cannot be told.
fn does_as_well(lost: &Interval) -> Option<bool> {
    match lost {
        lost if lost.above(0.0) => Some(false),
        lost if lost.high - lost.low > WIDEST => None,
        _ => Some(true),
    }
}

fn too_few(studied: usize) -> String {
    match studied {
        1 => format!("one example is too few to tell, {FEWEST} are needed"),
        _ => format!("{studied} examples are too few to tell, {FEWEST} are needed"),
    }
}

/// The verdict on a model whose attention makes one row of many, from the examples that were studied.
pub fn judge(studied: usize, needed: &Needed, order: &OrderReport, stable: Option<&Stable>) -> Verdict {
    let say = |grade, reason: String| Verdict::new(grade, RULE, reason);
    if studied < FEWEST {
        return say(Grade::NotDecided, too_few(studied));
    }
    match does_as_well(&needed.lost) {
        Some(true) => return say(Grade::Decoration, format!("with uniform weights put in it is as often right (loss {})", needed.lost)),
        None => return say(Grade::NotDecided, format!("the loss by uniform weights is uncertain ({})", needed.lost)),
        Some(false) => {}
    }
    if let Some(trained) = needed.trained.as_ref().filter(|trained| !trained.gap.above(0.0)) {
        return say(Grade::Decoration, format!("models trained with uniform weights are as often right (gap {})", trained.gap));
    }
    let Some(gain) = order.gain.filter(|gain| gain.above(0.0)) else {
        return say(Grade::NotDecided, "its order costs no more than a random one, though attention is needed".into());
    };
    let share = order.share.filter(|share| share.low >= HALF_WAY);
    match (share, stable) {
        (Some(share), Some(stable)) if stable.divergence.high < 0.5 * stable.random => {
            say(Grade::Guide, format!("its order goes {share} of the way from chance to leave-one-out, and other seeds draw much the same"))
        }
        (Some(share), Some(_)) => {
            say(Grade::Hint, format!("its order goes {share} of the way to leave-one-out, but another seed draws another picture"))
        }
        (Some(share), None) => {
            say(Grade::Hint, format!("its order goes {share} of the way to leave-one-out; whether other seeds agree was not measured"))
        }
        (None, _) => say(Grade::Hint, format!("its order beats chance (by {gain})")),
    }
}

/// The verdict on a model that writes.
pub fn judge_written(studied: usize, lost: &Interval, over_diagonal: Option<&Interval>, top: Option<&Interval>) -> Verdict {
    let say = |grade, reason: String| Verdict::new(grade, RULE_WRITTEN, reason);
    if studied < FEWEST {
        return say(Grade::NotDecided, too_few(studied));
    }
    match does_as_well(lost) {
        Some(true) => return say(Grade::Decoration, format!("with uniform weights it is as often right (loss {lost})")),
        None => return say(Grade::NotDecided, format!("the loss by uniform weights is uncertain ({lost})")),
        Some(false) => {}
    }
    match (over_diagonal.filter(|gain| gain.above(0.0)), top.filter(|top| top.low >= HALF_WAY)) {
        (Some(_), Some(top)) => say(Grade::Guide, format!("in {top} of the steps it looks most at the unit whose erasure costs most")),
        (Some(gain), None) => {
            say(Grade::Hint, format!("its weights follow what erasing a unit costs better than the diagonal does (by {gain})"))
        }
        (None, _) => say(Grade::NotDecided, "its weights follow what erasing a unit costs no better than the diagonal does".into()),
    }
}

#[cfg(test)]
mod tests {
    use super::super::report::TrainedApart;
    use super::*;

    fn interval(low: f64, high: f64) -> Interval {
        Interval { value: 0.5 * (low + high), low, high }
    }

    fn needed(lost: Interval, gap: Option<Interval>) -> Needed {
        let trained = gap.map(|gap| TrainedApart { attention: vec![0.9], uniform: vec![0.8], gap });
        Needed { own: interval(0.9, 0.9), uniform: interval(0.8, 0.8), lost, trained, permuted: None }
    }

    fn order(gain: Interval, share: Interval) -> OrderReport {
        OrderReport { orders: Vec::new(), gain: Some(gain), share: Some(share) }
    }

    fn stable(divergence: f64) -> Stable {
        Stable { seeds: 5, divergence: interval(divergence, divergence), random: 0.2, bins: Vec::new() }
    }

    #[test]
    fn each_grade_by_the_rule() {
        let (clear, way) = (order(interval(0.1, 0.2), interval(0.6, 0.8)), interval(0.05, 0.1));
        let grade = |n, needed: &Needed, order: &OrderReport, stable: Option<&Stable>| judge(n, needed, order, stable).grade;
        assert_eq!(grade(99, &needed(way, None), &clear, Some(&stable(0.01))), Grade::NotDecided);
        assert_eq!(grade(100, &needed(interval(-0.01, 0.02), None), &clear, Some(&stable(0.01))), Grade::Decoration);
        assert_eq!(grade(100, &needed(interval(-0.1, 0.2), None), &clear, Some(&stable(0.01))), Grade::NotDecided);
        assert_eq!(grade(100, &needed(way, Some(interval(-0.01, 0.01))), &clear, Some(&stable(0.01))), Grade::Decoration);
        assert_eq!(grade(100, &needed(way, Some(way)), &clear, Some(&stable(0.01))), Grade::Guide);
        assert_eq!(grade(100, &needed(way, Some(way)), &clear, Some(&stable(0.15))), Grade::Hint);
        assert_eq!(grade(100, &needed(way, None), &clear, None), Grade::Hint);
        assert_eq!(grade(100, &needed(way, None), &order(interval(0.1, 0.2), interval(0.3, 0.8)), Some(&stable(0.01))), Grade::Hint);
        assert_eq!(grade(100, &needed(way, None), &order(interval(-0.1, 0.2), interval(0.6, 0.8)), None), Grade::NotDecided);
    }

    #[test]
    fn each_grade_of_a_writer() {
        let grade = |lost, gain: Interval, top: Interval| judge_written(200, &lost, Some(&gain), Some(&top)).grade;
        let clear = interval(0.1, 0.2);
        assert_eq!(grade(interval(0.0, 0.0), clear, interval(0.6, 0.7)), Grade::Decoration);
        assert_eq!(grade(clear, clear, interval(0.6, 0.7)), Grade::Guide);
        assert_eq!(grade(clear, clear, interval(0.4, 0.7)), Grade::Hint);
        assert_eq!(grade(clear, interval(-0.1, 0.1), interval(0.6, 0.7)), Grade::NotDecided);
        assert_eq!(judge_written(9, &clear, None, None).grade, Grade::NotDecided);
    }

    /// Whatever is found, nothing is said to explain.
    #[test]
    fn nothing_explains() {
        for text in [RULE, RULE_WRITTEN] {
            assert!(!text.contains("explain"));
        }
    }
}
