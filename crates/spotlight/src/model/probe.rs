//! Hooks for experiments with a model's attention: what it would answer with other weights, without some units, and how its answer leans on its inputs.
//!
//! A model whose attention makes one row of many offers [`Probe`]; the [`audit`](crate::audit) asks nothing else of it. A case is opened on a tape: inputs, weights, and the values that
//! the weights mix. As everything after the mix is a sum or a cosine, what other weights would do is known in closed form, as a [`Mixture`].

use spotlight_kernels::Float;

use crate::Result;
use crate::axis::Axis;
use crate::params::Params;
use crate::tape::{Tape, Var};

/// One thing that the model is asked.
#[derive(Clone, Debug)]
pub struct Asked<C> {
    /// As the network takes it.
    pub case: C,
    /// Its units as they are shown.
    pub units: Vec<String>,
    /// The number of the right label.
    pub gold: usize,
    /// The label whose probability is studied; none for the one that the model chooses.
    pub target: Option<usize>,
    /// Whether it is studied unit by unit; the others are only answered.
    pub studied: bool,
    /// What it belongs to, where answers are ranked against each other.
    pub group: usize,
}

/// Cases on a tape.
pub struct Opened {
    /// The vectors of the units, made by [`Tape::input`]; one row per unit in each.
    pub inputs: Vec<Var>,
    /// The units of each case.
    pub axis: Axis,
    /// One row per unit, one column per head.
    pub weights: Var,
    /// What is mixed: one row per unit.
    pub values: Var,
    /// The states that the weights choose among, if they have a direction to speak of.
    pub states: Option<Var>,
    /// What the answer depends on beside the mix: one row per case.
    pub beside: Option<Var>,
}

/// Cases as a network that learns sees them.
#[derive(Clone, Copy, Debug)]
pub struct Looked {
    /// One row per case, one column per label.
    pub logits: Var,
    /// One row per unit, one column per head.
    pub weights: Var,
}

/// A model whose attention can be experimented with.
pub trait Probe: Sized + Sync {
    /// An example as it is read from a file.
    type Row;
    /// An example as the network takes it.
    type Case: Clone + Send + Sync;

    /// What a unit is called: a word, a row.
    const UNIT: &'static str;
    /// What counts as right, by name.
    const FIGURE: &'static str = "accuracy";

    /// The labels in order.
    fn labels(&self) -> Vec<String>;

    /// What a label of a case is called.
    fn label(&self, _case: &Self::Case, number: usize) -> String {
        self.labels().get(number).cloned().unwrap_or_default()
    }

    /// The numbers of the network.
    fn numbers(&self) -> &Params<f32>;

    /// Why the weights cannot be experimented with, if they cannot.
    fn closed(&self) -> Option<String>;

    /// Examples as cases.
    fn asked(&self, rows: &[Self::Row]) -> Result<Vec<Asked<Self::Case>>>;

    /// Units of a case.
    fn length(&self, case: &Self::Case) -> usize;

    /// How much a case counts in a batch that is learnt from: its units, unless told.
    fn size(&self, case: &Self::Case) -> usize {
        self.length(case)
    }

    /// What is left of a case when only some of its units are kept.
    fn left(&self, case: &Self::Case, keep: &[bool]) -> Self::Case;

    /// Puts cases on a tape, the vectors of their units times `scale`.
    fn open(&self, tape: &Tape<f32>, cases: &[&Self::Case], scale: f32) -> Result<Opened>;

    /// The logits of the labels, one row per case, with these weights.
    fn logits(&self, tape: &Tape<f32>, opened: &Opened, weights: Var) -> Result<Var>;

    /// The cases with all that follows the weights in closed form.
    fn mixtures(&self, tape: &Tape<f32>, opened: &Opened) -> Result<Vec<Mixture>>;

    /// Runs cases through the network as it does while it learns: what [`Probe::open`] and [`Probe::logits`] say, but with dropout, and with gradients that reach every number. None if
    /// the model is not learnt by gradients.
    fn look<T: Float>(&self, tape: &Tape<T>, cases: &[&Self::Case]) -> Result<Option<Looked>>;

    /// Why these cases say nothing of who is right, if they say nothing: all have the same label.
    fn one_sided(&self, asked: &[Asked<Self::Case>]) -> Option<String> {
        let first = asked.first()?;
        asked.iter().all(|a| a.gold == first.gold).then(|| format!("only the label {:?}", self.label(&first.case, first.gold)))
    }

    /// How right each answer is, from 0 to 1, given the probabilities of the labels; none where that says nothing. Whether the most probable label is the right one, unless told.
    fn right(asked: &[Asked<Self::Case>], probabilities: &[Vec<f64>]) -> Vec<Option<f64>> {
        let right = |(asked, p): (&Asked<Self::Case>, &Vec<f64>)| Some(f64::from(u8::from(best(p) == asked.gold)));
        asked.iter().zip(probabilities).map(right).collect()
    }

    /// A new model for the same examples that differs in one thing; none if there is no such thing.
    fn sibling(&self, differs: Differs, rows: &[Self::Row]) -> Result<Option<Self>>;
}

/// In what a model differs from another.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Differs {
    /// By its seed alone.
    Seed(u64),
    /// Every unit has the same weight.
    Uniform(u64),
    /// Every unit is read on its own, so that its state is its own.
    Average(u64),
    /// By what it learns: to answer as the other does, and to look elsewhere.
    Adversary(u64),
}

impl Differs {
    /// Its seed.
    pub fn seed(self) -> u64 {
        match self {
            Differs::Seed(seed) | Differs::Uniform(seed) | Differs::Average(seed) | Differs::Adversary(seed) => seed,
        }
    }
}

/// A case in closed form: weights, the values they mix, and what the mix says.
#[derive(Clone, Debug)]
pub struct Mixture {
    /// The weights of each unit, head after head.
    pub weights: Vec<f64>,
    /// Heads.
    pub heads: usize,
    /// For each weight a row of `width` numbers.
    pub values: Vec<f64>,
    /// Numbers in a row.
    pub width: usize,
    /// From the mix to logits.
    pub then: Then,
}

/// From a mix to the logits of the labels.
#[derive(Clone, Debug)]
pub enum Then {
    /// The mix is the logits, but for a constant.
    Add(Vec<f64>),
    /// Two labels: the logit of the second is `scale cos(mix, with) + shift`, that of the first 0.
    Cosine {
        /// What the mix is compared with.
        with: Vec<f64>,
        /// Factor of the cosine.
        scale: f64,
        /// What is added to it.
        shift: f64,
    },
}

impl Mixture {
    /// Units.
    pub fn units(&self) -> usize {
        self.weights.len() / self.heads.max(1)
    }

    /// The weight of each unit: the mean of the heads.
    pub fn attention(&self) -> Vec<f64> {
        self.mean(&self.weights)
    }

    /// The mean of the heads.
    pub fn mean(&self, weights: &[f64]) -> Vec<f64> {
        let n = self.units();
        (0..n).map(|i| (0..self.heads).map(|h| weights[h * n + i]).sum::<f64>() / self.heads as f64).collect()
    }

    /// The same weight for every unit.
    pub fn uniform(&self) -> Vec<f64> {
        vec![1.0 / self.units().max(1) as f64; self.weights.len()]
    }

    fn mixed(&self, weights: &[f64]) -> Vec<f64> {
        let mut mix = vec![0.0; self.width];
        for (w, row) in weights.iter().zip(self.values.chunks_exact(self.width.max(1))) {
            mix.iter_mut().zip(row).for_each(|(m, v)| *m += w * v);
        }
        mix
    }

    fn logits(&self, mix: &[f64]) -> Vec<f64> {
        match &self.then {
            Then::Add(constant) => mix.iter().zip(constant).map(|(m, c)| m + c).collect(),
            Then::Cosine { with, scale, shift } => vec![0.0, scale * cosine(mix, with) + shift],
        }
    }

    /// The probabilities of the labels with these weights.
    pub fn probabilities(&self, weights: &[f64]) -> Vec<f64> {
        softmax(&self.logits(&self.mixed(weights)))
    }

    /// The slope with respect to the weights of something whose slopes with respect to the probabilities are given.
    pub fn slope(&self, weights: &[f64], by_probabilities: &[f64]) -> Vec<f64> {
        let mix = self.mixed(weights);
        let p = softmax(&self.logits(&mix));
        let inner: f64 = p.iter().zip(by_probabilities).map(|(p, d)| p * d).sum();
        let by_logits: Vec<f64> = p.iter().zip(by_probabilities).map(|(p, d)| p * (d - inner)).collect();
        let by_mix: Vec<f64> = match &self.then {
            Then::Add(_) => by_logits,
            Then::Cosine { with, scale, .. } => {
                // ∂cos(m, q)/∂m = (q/|q| - cos m/|m|) / |m|
                let (m, q, c) = (length(&mix), length(with), cosine(&mix, with));
                let d = scale * by_logits.get(1).copied().unwrap_or(0.0);
                if m * q > 0.0 { mix.iter().zip(with).map(|(x, y)| d * (y / q - c * x / m) / m).collect() } else { vec![0.0; mix.len()] }
            }
        };
        self.values.chunks_exact(self.width.max(1)).map(|row| row.iter().zip(&by_mix).map(|(v, d)| v * d).sum()).collect()
    }

    /// What each unit adds to the logits of the labels, where the mix is a sum: units by labels.
    pub fn contributions(&self) -> Option<Vec<Vec<f64>>> {
        let Then::Add(_) = self.then else { return None };
        let n = self.units();
        let row = |at: usize| &self.values[at * self.width..(at + 1) * self.width];
        let one = |i: usize| (0..self.width).map(|l| (0..self.heads).map(|h| self.weights[h * n + i] * row(h * n + i)[l]).sum()).collect();
        Some((0..n).map(one).collect())
    }
}

fn length(x: &[f64]) -> f64 {
    x.iter().map(|x| x * x).sum::<f64>().sqrt()
}

fn cosine(a: &[f64], b: &[f64]) -> f64 {
    let lengths = length(a) * length(b);
    if lengths > 0.0 { a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>() / lengths } else { 0.0 }
}

/// `e^x / Σ e^x`
pub fn softmax(x: &[f64]) -> Vec<f64> {
    let most = x.iter().copied().fold(f64::NEG_INFINITY, f64::max);
    let parts: Vec<f64> = x.iter().map(|x| (x - most).exp()).collect();
    let sum: f64 = parts.iter().sum();
    parts.iter().map(|p| p / sum).collect()
}

/// The most probable label; the first of equal ones.
pub fn best(p: &[f64]) -> usize {
    (1..p.len()).fold(0, |best, i| if p[i] > p[best] { i } else { best })
}

/// Closed forms of cases whose mix is the logits but for `bias`: `by_head` has for each head a table with a row per unit and a column per label.
pub(super) fn sums(tape: &Tape<f32>, opened: &Opened, by_head: &[Var], bias: &[f32]) -> Vec<Mixture> {
    let heads = by_head.len();
    let (weights, tables): (Vec<f32>, Vec<Vec<f32>>) = (tape.to_vec(opened.weights), by_head.iter().map(|&x| tape.to_vec(x)).collect());
    let width = bias.len();
    let one = |item: usize| {
        let rows = opened.axis.range(item);
        Mixture {
            weights: (0..heads)
                .flat_map(|h| rows.clone().map(move |row| (h, row)))
                .map(|(h, row)| weights[row * heads + h] as f64)
                .collect(),
            heads,
            values: tables.iter().flat_map(|table| &table[rows.start * width..rows.end * width]).map(|&x| x as f64).collect(),
            width,
            then: Then::Add(bias.iter().map(|&b| b as f64).collect()),
        }
    };
    (0..opened.axis.items()).map(one).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// By central differences, for both forms.
    #[test]
    fn the_slope_of_an_answer() {
        let values: Vec<f64> = (0..12).map(|i| (i as f64 * 1.7).sin()).collect();
        let weights = vec![0.2, 0.5, 0.3, 0.1];
        let forms = [Then::Add(vec![0.3, -0.2, 0.1]), Then::Cosine { with: vec![0.4, -1.0, 0.7], scale: 3.0, shift: 0.2 }];
        for then in forms {
            let labels = if let Then::Add(_) = then { 3 } else { 2 };
            let mixture = Mixture { weights: weights.clone(), heads: 1, values: values.clone(), width: 3, then };
            let by: Vec<f64> = (0..labels).map(|i| 1.0 - 0.7 * i as f64).collect();
            let figure = |w: &[f64]| mixture.probabilities(w).iter().zip(&by).map(|(p, d)| p * d).sum::<f64>();
            for (i, found) in mixture.slope(&weights, &by).iter().enumerate() {
                let at = |step: f64| {
                    let mut w = weights.clone();
                    w[i] += step;
                    figure(&w)
                };
                let wanted = (at(1e-6) - at(-1e-6)) / 2e-6;
                assert!((found - wanted).abs() < 1e-8, "{i}: {found} instead of {wanted}");
            }
        }
    }

    #[test]
    fn contributions_are_the_logits() {
        let mixture = Mixture {
            weights: vec![0.25, 0.75, 1.0, 0.0],
            heads: 2,
            values: vec![1.0, 2.0, 3.0, 4.0, 5.0, 6.0, 7.0, 8.0],
            width: 2,
            then: Then::Add(vec![0.0, 1.0]),
        };
        let all = mixture.contributions().unwrap();
        assert_eq!(all, [[5.25, 6.5], [2.25, 3.0]]);
        assert_eq!(mixture.logits(&mixture.mixed(&mixture.weights)), [7.5, 10.5]);
        assert_eq!(mixture.attention(), [0.625, 0.375]);
    }
}
