//! A question that words can be taken from, for experiments with a matcher of evidence.
//!
//! Its attention is what it looks for. With `e_i` what word `i` of the question would add to a score if the very word stood in the answer, and `c_ik` what it adds to the score of
//! candidate `k`:
//!
//! ```text
//! P       = Σ_i max(e_i, 0)         a_i = max(e_i, 0) / P
//! score_k = rest_k + Σ_i a_i v_ik   v_ik = P c_ik / e_i
//! ```
//!
//! The candidates are the labels: their probabilities are the softmax of the scores, which is what the model learns. Neighbours that are found together, what the answer is made of, and its
//! length are the rest. Marks of punctuation are never looked for, and are no units.

use std::sync::Arc;

use super::evidence::{EvidenceNet, Words};
use crate::Result;
use crate::axis::Axis;
use crate::metrics::IdfOverlap;
use crate::model::probe::{Mixture, Opened, Then};
use crate::params::Params;
use crate::tape::Tape;
use crate::text::Question;

/// The score of a candidate that is not there.
const NOBODY: f32 = -1e9;
/// Letters of an answer that name it.
const NAMED: usize = 60;

/// A question with its candidates.
#[derive(Clone, Debug)]
pub struct Asking {
    question: Words,
    answers: Arc<Vec<Words>>,
    relevant: Arc<Vec<bool>>,
}

impl Asking {
    /// The rows of one question.
    pub fn new(rows: &[&Question]) -> Self {
        Asking {
            question: Words::new(rows.first().map_or("", |row| row.question.as_str())),
            answers: Arc::new(rows.iter().map(|row| Words::new(&row.answer)).collect()),
            relevant: Arc::new(rows.iter().map(|row| row.relevant).collect()),
        }
    }

    /// Places of its units: the words that can be looked for.
    fn places(&self) -> impl Iterator<Item = usize> + '_ {
        (0..self.question.len()).filter(|&i| self.question.is_word[i])
    }

    /// How many they are.
    pub fn len(&self) -> usize {
        self.places().count()
    }

    /// They as they are shown.
    pub fn shown(&self) -> Vec<String> {
        self.places().map(|i| self.question.typed[i].clone()).collect()
    }

    /// The first right candidate.
    pub fn first_right(&self) -> usize {
        self.relevant.iter().position(|relevant| *relevant).unwrap_or(0)
    }

    /// Whether there is a right and a wrong one.
    pub fn is_telling(&self) -> bool {
        self.relevant.contains(&true) && self.relevant.contains(&false)
    }

    /// A candidate by the beginning of its text.
    pub fn named(&self, number: usize) -> String {
        let text = self.answers.get(number).map_or_else(String::new, |answer| answer.typed.join(" "));
        let short: String = text.chars().take(NAMED).collect();
        if short.len() < text.len() { format!("{short} ...") } else { short }
    }

    /// What is left when only some units are kept.
    pub fn only(&self, keep: &[bool]) -> Self {
        let gone: Vec<usize> = self.places().zip(keep).filter(|(_, keep)| !**keep).map(|(i, _)| i).collect();
        Asking { question: self.question.only(|i| !gone.contains(&i)), ..self.clone() }
    }

    /// How right these probabilities of the candidates are: the mean over the right ones of how far each stands `above` the wrong ones.
    pub fn right(&self, p: &[f64], above: impl Fn(f64, &[f64]) -> Option<f64>) -> Option<f64> {
        let of = |wanted: bool| p.iter().zip(self.relevant.iter()).filter(move |(_, is)| **is == wanted).map(|(p, _)| *p);
        let wrong: Vec<f64> = of(false).collect();
        let stand = of(true).map(|own| above(own, &wrong)).collect::<Option<Vec<f64>>>()?;
        (!stand.is_empty()).then(|| stand.iter().sum::<f64>() / stand.len() as f64)
    }

    /// In closed form.
    pub fn mixture(&self, net: &EvidenceNet, params: &Params<f32>, idf: &IdfOverlap) -> Mixture {
        let (places, count): (Vec<usize>, usize) = (self.places().collect(), self.answers.len());
        let mut rest = Vec::with_capacity(count);
        let mut values = vec![0.0; places.len() * count];
        let mut weights = vec![0.0; places.len()];
        for (k, answer) in self.answers.iter().enumerate() {
            let sought = net.sought(params, &self.question, answer, idf);
            let total: f64 = places.iter().map(|&i| sought[i].most.max(0.0)).sum();
            let mut score = net.score(params, &net.features(&self.question, answer, idf, (k, count)));
            for (unit, &i) in places.iter().enumerate() {
                let word = &sought[i];
                weights[unit] = if total > 0.0 { word.most.max(0.0) / total } else { 1.0 / places.len() as f64 };
                if word.most > 0.0 {
                    values[unit * count + k] = total * word.adds / word.most;
                    score -= word.adds;
                } else {
                    // Nobody looks for it; what it says to being found stays where it is.
                    values[unit * count + k] = total * word.strength;
                }
            }
            rest.push(score);
        }
        Mixture { weights, heads: 1, values, width: count, then: Then::Add(rest) }
    }
}

/// Questions on a tape: what is mixed are inputs. Those with fewer candidates than others have some that nobody would choose.
pub fn open(tape: &Tape<f32>, mixtures: &[Mixture], scale: f32) -> Result<Opened> {
    let axis = Axis::new(mixtures.iter().map(Mixture::units).collect::<Vec<_>>());
    let width = mixtures.iter().map(|m| m.width).max().unwrap_or(0);
    let padded = |row: &[f64], factor: f32, with: f32| {
        row.iter().map(|&x| x as f32 * factor).chain(std::iter::repeat_n(with, width - row.len())).collect::<Vec<f32>>()
    };
    let values = mixtures.iter().flat_map(|m| m.values.chunks_exact(m.width.max(1)).flat_map(|row| padded(row, scale, 0.0))).collect();
    let rest = mixtures.iter().flat_map(|m| if let Then::Add(rest) = &m.then { padded(rest, 1.0, NOBODY) } else { Vec::new() }).collect();
    let input = tape.input(axis.rows(), width, values)?;
    let weights = mixtures.iter().flat_map(|m| m.weights.iter().map(|&w| w as f32)).collect();
    Ok(Opened {
        inputs: vec![input],
        weights: tape.on_axis(tape.table(axis.rows(), 1, weights)?, &axis)?,
        values: tape.on_axis(input, &axis)?,
        axis,
        states: None,
        beside: Some(tape.table(mixtures.len(), width, rest)?),
    })
}

/// The closed forms of what was opened.
pub fn mixtures(tape: &Tape<f32>, opened: &Opened) -> Vec<Mixture> {
    let (weights, values) = (tape.to_vec(opened.weights), tape.to_vec(opened.values));
    let rest = opened.beside.map_or_else(Vec::new, |beside| tape.to_vec(beside));
    let width = tape.shape(opened.values).1;
    let wide = |x: &[f32]| x.iter().map(|&x| x as f64).collect::<Vec<f64>>();
    let one = |item: usize| {
        let rest: Vec<f32> = rest[item * width..(item + 1) * width].iter().copied().filter(|x| *x > NOBODY).collect();
        let rows = opened.axis.range(item);
        let of_unit = |row: usize| wide(&values[row * width..row * width + rest.len()]);
        Mixture {
            weights: wide(&weights[rows.clone()]),
            heads: 1,
            values: rows.flat_map(of_unit).collect(),
            width: rest.len(),
            then: Then::Add(wide(&rest)),
        }
    };
    (0..opened.axis.items()).map(one).collect()
}
