//! Playing with an answer of a model that reads and judges: weights put in by hand, heads switched off, what other views say of its units, and what was seen before.
//!
//! As everything after the mix is known in closed form ([`Mixture`](super::probe::Mixture)), other weights need no other run of the network. The views are those of the
//! [`audit`], for one text.
//!
//! ```
//! use spotlight::model::classify::{Classifier, Config};
//! use spotlight::model::{AnyModel, Edit, Input, Touch};
//! use spotlight::text::Labelled;
//!
//! let row = |text: &str, label: &str, line| Labelled { text: text.into(), label: label.into(), line };
//! let model = Classifier::new(Config::default(), &[row("a fine film", "good", 1), row("dull", "bad", 2)])?;
//! // Only `dull` is looked at, in the first text.
//! let touch = Touch { edits: vec![Edit { step: 0, head: None, weights: vec![0.0, 0.0, 1.0] }], views: true, ..Touch::default() };
//! let touched = AnyModel::touch(&model, Input::Content("fine not dull\n"), &touch, None)?;
//! assert_eq!(touched[0].edited.as_ref().unwrap().attention, [[0.0, 0.0, 1.0]]);
//! assert_eq!(touched[0].views.as_ref().unwrap().leave_one_out.len(), 3);
//! # Ok::<(), spotlight::Error>(())
//! ```

use serde::{Deserialize, Serialize};

use super::answer::{by_label, one_or_all};
use super::nearest::{Context, Contexts, Seen};
use super::pooling::mixed;
use super::probe::{Asked, Probe, best};
use crate::audit::pooled::leave_one_out;
use crate::audit::{self, Reading, kendall, slopes};
use crate::{Error, Result};

/// A row of weights put in by hand.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Edit {
    /// For a model that writes, when the unit of this number is written; for one that judges, in the text, candidate or bag of this number. From 0.
    pub step: usize,
    /// Of several heads only this one, from 0.
    #[serde(default)]
    pub head: Option<usize>,
    /// One for each unit that is looked at. They are made to sum to 1.
    pub weights: Vec<f32>,
}

impl Edit {
    /// The same with weights that sum to 1; an error unless there is one for each of `units` (`of` says what these are), none below 0, and not all of them 0.
    pub(super) fn normalised(mut self, units: usize, of: &str) -> Result<Self> {
        let refuse = |got: String, expected: String| {
            let what = format!("the weights of step {}", self.step);
            Err(Error::Value { what, got, expected })
        };
        if self.weights.len() != units {
            return refuse(format!("{} numbers", self.weights.len()), format!("{units}, one for each unit of {of}"));
        }
        let sum: f64 = self.weights.iter().map(|&w| w as f64).sum();
        if !(sum > 0.0 && sum.is_finite()) || self.weights.iter().any(|w| *w < 0.0) {
            return refuse(format!("a sum of {sum}"), "numbers from 0 on, not all of them 0".into());
        }
        self.weights.iter_mut().for_each(|w| *w = (*w as f64 / sum) as f32);
        Ok(self)
    }
}

/// What to do with the answers of a model that judges.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Touch {
    /// Weights put in by hand.
    pub edits: Vec<Edit>,
    /// Heads whose weights are all 0, counted from 0.
    pub heads_off: Vec<usize>,
    /// Whether other views of the units are told.
    pub views: bool,
    /// How many training rows are told whose context is nearest.
    pub nearest: usize,
}

/// What came of it for one text, candidate or bag.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Touched {
    /// The answer with the weights that were put in, if any were.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub edited: Option<Edited>,
    /// What other views say.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub views: Option<Views>,
    /// What the score of a candidate is the sum of; for a score that is a probability, what its logit is. With the views.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub parts: Vec<Part>,
    /// Training rows whose context is nearest.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nearest: Vec<Seen>,
}

/// A part of a score.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Part {
    /// What adds it.
    pub name: &'static str,
    /// How much.
    pub value: f64,
}

/// An answer with weights that were put in.
#[derive(Clone, Debug, Serialize)]
pub struct Edited {
    /// Heads by units: the weights that were used.
    #[serde(serialize_with = "one_or_all")]
    pub attention: Vec<Vec<f32>>,
    /// The most probable label.
    pub label: String,
    /// The probability of every label.
    #[serde(serialize_with = "by_label")]
    pub probabilities: Vec<(String, f32)>,
    /// For a candidate, what it is ranked by.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f32>,
    /// By how much the logarithm of the probability of the label changed that the model chose by itself (for a candidate: of being right).
    pub change: f64,
}

/// What several views say of the units of one text about the probability of one label. The definitions are those of the audit: the probability is the network's own, before calibration.
#[derive(Clone, Debug, Serialize)]
pub struct Views {
    /// The label.
    pub label: String,
    /// Its probability; of a score that is none, the score.
    pub probability: f64,
    /// Each unit's weight, the mean of the heads.
    pub attention: Vec<f64>,
    /// `Σ_d x_d ∂p/∂x_d` with the weights held: what the probability leans on.
    pub gradient: Vec<f64>,
    /// How much the probability falls without the unit.
    pub leave_one_out: Vec<f64>,
    /// Kendall's τ of the attention with the size of each of the other two; none where all are equal.
    pub agreement: Agreement,
}

/// How far the order by attention agrees with the others.
#[derive(Clone, Copy, Debug, Serialize)]
pub struct Agreement {
    /// With gradient x input.
    pub gradient: Option<f64>,
    /// With leave-one-out.
    pub leave_one_out: Option<f64>,
}

impl Views {
    pub(super) fn new(label: String, probability: f64, attention: Vec<f64>, gradient: Vec<f64>, leave_one_out: Vec<f64>) -> Self {
        let size = |x: &[f64]| x.iter().map(|x| x.abs()).collect::<Vec<f64>>();
        let agreement =
            Agreement { gradient: kendall(&attention, &size(&gradient)), leave_one_out: kendall(&attention, &size(&leave_one_out)) };
        Views { label, probability, attention, gradient, leave_one_out, agreement }
    }
}

/// From the network's probabilities to a score.
type Scoring<'a> = &'a dyn Fn(&[f64]) -> f32;

/// How a task says what the network says.
pub(super) struct Saying<'a> {
    /// Changes the network's probabilities into those of answers.
    pub calibrate: &'a dyn Fn(&mut [f32]),
    /// The score of a candidate, of the network's probabilities.
    pub score: Option<Scoring<'a>>,
    /// Whether the context of a text is its words as they are looked at, because nothing is mixed before the labels.
    pub by_words: bool,
}

/// Plays with cases, one after the other as they were asked.
pub(super) fn pooled<P: Probe>(
    probe: &P,
    asked: &[Asked<P::Case>],
    touch: &Touch,
    seen: Option<&Contexts>,
    say: &Saying,
) -> Result<Vec<Touched>> {
    if let Some(reason) = probe.closed() {
        return Err(refused(reason));
    }
    let cases: Vec<&P::Case> = asked.iter().map(|a| &a.case).collect();
    let readings = audit::read(probe, &cases)?;
    let labels = probe.labels();
    let targets: Vec<usize> = asked.iter().zip(&readings).map(|(a, r)| a.target.unwrap_or_else(|| best(&r.probabilities))).collect();
    let mut found: Vec<Touched> = asked.iter().map(|_| Touched::default()).collect();
    let normalised = |edit: &Edit| match asked.get(edit.step) {
        Some(a) => edit.clone().normalised(a.units.len(), "the text"),
        None => {
            let expected = format!("below {}", asked.len());
            Err(Error::Value { what: "the number of a text to put weights in".into(), got: edit.step.to_string(), expected })
        }
    };
    let edits = touch.edits.iter().map(normalised).collect::<Result<Vec<Edit>>>()?;
    for (at, reading) in readings.iter().enumerate() {
        let own: Vec<&Edit> = edits.iter().filter(|edit| edit.step == at).collect();
        if let Some(weights) = put_in(&own, &touch.heads_off, reading)? {
            found[at].edited = Some(edited(&labels, reading, &weights, targets[at], say));
        }
    }
    if touch.views {
        // A text without units has nothing to look at.
        let gradients = slopes(probe, &cases, &targets, 1.0, true)?;
        let without = leave_one_out(probe, &cases)?;
        let parts = readings.iter().zip(&targets).zip(gradients).zip(without).zip(&mut found);
        for ((((reading, &target), gradient), without), found) in parts {
            let p = reading.probabilities[target];
            let lost = without.iter().map(|left| p - left[target]).collect();
            found.views = Some(Views::new(labels[target].clone(), p, reading.mixture.attention(), gradient, lost));
        }
    }
    if let (Some(seen), true) = (seen, touch.nearest > 0) {
        let contexts = if say.by_words { words_of(asked, &readings) } else { mixes(probe, &cases)? };
        for (context, found) in contexts.iter().zip(&mut found) {
            found.nearest = seen.nearest(context, touch.nearest);
        }
    }
    Ok(found)
}

/// An error for a model whose answers cannot be played with.
pub(super) fn refused(reason: String) -> Error {
    Error::Value { what: "the attention to play with".into(), got: reason, expected: "attention that mixes".into() }
}

/// An error if there are not as many heads as edits, or heads that are switched off, would have.
pub(super) fn check_heads<'a>(edits: impl IntoIterator<Item = &'a Edit>, off: &[usize], heads: usize) -> Result<()> {
    let named = edits.into_iter().filter_map(|edit| edit.head).chain(off.iter().copied());
    match named.filter(|&head| head >= heads).max() {
        Some(head) => Err(Error::Value { what: "a head".into(), got: head.to_string(), expected: format!("below {heads}") }),
        None => Ok(()),
    }
}

/// The weights of a case, head after head, with what was put in and without what was switched off; none if nothing was.
fn put_in(edits: &[&Edit], off: &[usize], reading: &Reading) -> Result<Option<Vec<f64>>> {
    let (heads, units) = (reading.mixture.heads, reading.mixture.units());
    check_heads(edits.iter().copied(), off, heads)?;
    let mut weights = reading.mixture.weights.clone();
    for edit in edits {
        for head in edit.head.map_or(0..heads, |head| head..head + 1) {
            weights[head * units..(head + 1) * units].iter_mut().zip(&edit.weights).for_each(|(w, new)| *w = *new as f64);
        }
    }
    off.iter().for_each(|&head| weights[head * units..(head + 1) * units].fill(0.0));
    Ok((!edits.is_empty() || !off.is_empty()).then_some(weights))
}

fn edited(labels: &[String], reading: &Reading, weights: &[f64], target: usize, say: &Saying) -> Edited {
    let said = |p: &[f64]| {
        let mut said: Vec<f32> = p.iter().map(|&p| p as f32).collect();
        (say.calibrate)(&mut said);
        said
    };
    let now = reading.mixture.probabilities(weights);
    let (before, after) = (said(&reading.probabilities), said(&now));
    let units = reading.mixture.units();
    let log = |p: f32| f64::from(p.max(f32::MIN_POSITIVE)).ln();
    Edited {
        attention: weights.chunks(units.max(1)).map(|head| head.iter().map(|&w| w as f32).collect()).collect(),
        label: labels[best(&now)].clone(),
        change: log(after[target]) - log(before[target]),
        score: say.score.map(|score| score(&now)),
        probabilities: labels.iter().cloned().zip(after).collect(),
    }
}

/// The context of each case where nothing is mixed before the labels: its words as they are looked at.
fn words_of<C>(asked: &[Asked<C>], readings: &[Reading]) -> Vec<Context> {
    let looked = |(a, reading): (&Asked<C>, &Reading)| {
        Context::of_words(a.units.iter().map(String::as_str).zip(reading.mixture.attention().into_iter().map(|w| w as f32)))
    };
    asked.iter().zip(readings).map(looked).collect()
}

/// The context of each case where something is: its mix, heads side by side.
fn mixes<P: Probe>(probe: &P, cases: &[&P::Case]) -> Result<Vec<Context>> {
    audit::in_batches(probe, cases, 1.0, |tape, opened, members| {
        let mix = mixed(&tape, opened.weights, opened.values, &opened.axis)?;
        let (numbers, width) = (tape.to_vec(mix), tape.shape(mix).1);
        let one = |row: usize| Context::of_numbers(numbers[row * width..(row + 1) * width].to_vec());
        Ok((0..members.len()).map(one).collect())
    })
}

/// The contexts of training rows, each with what it is called.
pub(super) fn seen<P: Probe>(
    probe: &P,
    asked: &[Asked<P::Case>],
    by_words: bool,
    called: impl Iterator<Item = (String, String)>,
) -> Result<Contexts> {
    if let Some(reason) = probe.closed() {
        return Err(refused(reason));
    }
    let cases: Vec<&P::Case> = asked.iter().map(|a| &a.case).collect();
    let contexts = if by_words { words_of(asked, &audit::read(probe, &cases)?) } else { mixes(probe, &cases)? };
    let mut all = Contexts::default();
    called.zip(contexts).for_each(|(row, context)| all.add(row, context));
    Ok(all)
}

#[cfg(test)]
mod tests;
