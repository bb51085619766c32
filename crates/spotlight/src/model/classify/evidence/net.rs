//! The network of evidence: every word says something for or against each label, and attention decides how much it counts.
//!
//! ```text
//! h_i   = Σ_f u_if T[f]                         the units f of word i; T[f] = [E (a number per label) | s | l | r]
//! z_i   = ln p_i + s_i + l_(i-1) + r_(i+1)      p_i: the word's share of the text's TF-IDF vector
//! a     = softmax(z)                            over the words
//! logit = b + P Σ_i a_i E_i                     P = Σ p_i
//! ```
//!
//! What a word contributes to a label is exactly `P a_i E_i`. With `s = l = r = 0` the weights are the words' shares of the TF-IDF vector, and the logits are those of logistic
//! regression over it. So the table is learnt twice: as that regression, which is convex and needs no chance ([`crate::model::linear`]), and with attention by gradient descent; the
//! model that answers takes the mean of both evidences, under the attention.

use spotlight_kernels::Float;

use super::units::EvidenceText;
use crate::Result;
use crate::axis::Axis;
use crate::model::head::LabelCounts;
use crate::model::linear::{Linear, Sparse};
use crate::params::{Init, ParamId, Params};
use crate::tape::{Bags, Tape, Var};

/// The bias learns at this share of the rate: under Adagrad a factor of a parameter is a factor of its rate.
const BIAS_RATE: f64 = 0.2;

/// `C` of the logistic regression: what is usual for TF-IDF vectors.
const STRENGTH: f64 = 10.0;

/// The layers; their numbers are in a [`Params`].
#[derive(Clone, Debug)]
pub struct EvidenceNet {
    /// `[rows, labels + 3]`: evidence of a unit, its score, and what it adds to the scores of the next word and of the one before.
    pub table: ParamId,
    /// `[labels]`
    pub bias: ParamId,
    /// `[rows, labels]`: the evidence of logistic regression. Not learnt by gradient descent.
    pub linear: ParamId,
    /// `[labels]`
    pub linear_bias: ParamId,
    /// `[rows]`: how rare the unit of a row is. Not learnt.
    pub idf: ParamId,
    labels: usize,
    /// Share of a word's units that are left out while learning.
    unit_dropout: f64,
    /// Share of the words that are left out while learning.
    word_dropout: f64,
    /// Whether every word has the same weight: the control of an audit.
    pub(in crate::model::classify) uniform: bool,
}

/// What the network says of some texts.
#[derive(Clone, Copy, Debug)]
pub struct Judged {
    /// One row per text, one column per label.
    pub logits: Var,
    /// One row per word: its weight.
    pub weights: Var,
    /// One row per word, one column per label: what it adds to the logits.
    pub contributions: Var,
    /// The same before it is weighed.
    pub(in crate::model::classify) evidence: Var,
    /// One row per word: `P` of its text.
    pub(in crate::model::classify) totals: Var,
    /// One number per label.
    pub(in crate::model::classify) bias: Var,
}

impl EvidenceNet {
    /// Makes the parameters for a table of `rows`; all begin at zero.
    pub fn new<T: Float>(params: &mut Params<T>, rows: usize, labels: usize, unit_dropout: f64, word_dropout: f64) -> Self {
        let mut add = |name: &str, shape: &[usize]| params.add(name, shape, Init::Zeros);
        EvidenceNet {
            table: add("evidence.weight", &[rows, labels + 3]),
            bias: add("evidence.bias", &[labels]),
            linear: add("linear.weight", &[rows, labels]),
            linear_bias: add("linear.bias", &[labels]),
            idf: add("idf", &[rows]),
            labels,
            unit_dropout,
            word_dropout,
            uniform: false,
        }
    }

    /// Learns what needs no gradient descent: logistic regression over the texts' TF-IDF vectors. `counts` are the texts of each label, `weights` how much one counts.
    pub fn begin(
        &self,
        params: &mut Params<f32>,
        idf: &[f32],
        texts: &[EvidenceText],
        answers: &[u32],
        counts: &LabelCounts,
        weights: &[f64],
    ) {
        let vectors: Vec<Sparse> = texts.iter().map(|text| text.vector().collect()).collect();
        let linear = Linear::learn(&vectors, answers, idf.len(), weights, STRENGTH);
        params.get_mut(self.idf).copy_from_slice(idf);
        params.get_mut(self.linear).copy_from_slice(&linear.weights);
        params.get_mut(self.linear_bias).copy_from_slice(&linear.bias);
        self.begin_at_shares(params, counts, weights);
    }

    /// Lets the bias begin at the centred logarithms of the labels' shares.
    fn begin_at_shares(&self, params: &mut Params<f32>, counts: &LabelCounts, weights: &[f64]) {
        let total = counts.counts.iter().sum::<usize>().max(1) as f64;
        let logs: Vec<f64> = counts.counts.iter().zip(weights).map(|(&n, w)| ((n as f64 + 1.0) * w / total).ln()).collect();
        let mean = logs.iter().sum::<f64>() / logs.len().max(1) as f64;
        for (bias, log) in params.get_mut(self.bias).iter_mut().zip(logs) {
            *bias = ((log - mean) / BIAS_RATE) as f32;
        }
    }

    /// Judges texts. While learning, by what is learnt by gradient descent alone, with dropout; else by the mean of both evidences.
    pub fn forward<T: Float>(&self, tape: &Tape<T>, texts: &[&EvidenceText]) -> Result<Judged> {
        let bags = self.bags(tape, texts);
        let linear = if tape.is_training() { None } else { Some(tape.embedding_bag(self.linear, bags.clone())?) };
        let rows = tape.embedding_bag(self.table, bags)?;
        self.judge(tape, texts, rows, linear)
    }

    /// Like [`forward`](Self::forward), from what the words are: one row of the table for each, and one of the regression's.
    pub(in crate::model::classify) fn judge<T: Float>(
        &self,
        tape: &Tape<T>,
        texts: &[&EvidenceText],
        rows: Var,
        linear: Option<Var>,
    ) -> Result<Judged> {
        let axis = Axis::new(texts.iter().map(|t| t.words()).collect::<Vec<_>>());
        let column = |numbers: Vec<T>| tape.table(numbers.len(), 1, numbers);
        let number = |x: f32| T::from_f64(x as f64);
        let rows = tape.on_axis(rows, &axis)?;

        let prior = texts.iter().flat_map(|t| t.prior.iter().map(|&p| self.kept(tape, t.words(), number(p)))).collect();
        let part = |at: usize| tape.slice(rows, self.labels + at, 1);
        let around = tape.add(tape.previous(part(1)?, tape.scalar(0.0))?, tape.next(part(2)?, tape.scalar(0.0))?)?;
        let scores = tape.add(tape.add(part(0)?, around)?, tape.on_axis(column(prior)?, &axis)?)?;
        let weights = if self.uniform {
            let same = axis.lengths().iter().flat_map(|&n| std::iter::repeat_n(T::from_f64(1.0 / n as f64), n)).collect();
            tape.on_axis(column(same)?, &axis)?
        } else {
            tape.softmax(scores)?
        };

        let mut evidence = tape.slice(rows, 0, self.labels)?;
        let mut bias = tape.scale(tape.param(self.bias), BIAS_RATE);
        if let Some(linear) = linear {
            evidence = tape.scale(tape.add(evidence, tape.on_axis(linear, &axis)?)?, 0.5);
            bias = tape.scale(tape.add(bias, tape.param(self.linear_bias))?, 0.5);
        }
        let totals = column(texts.iter().map(|t| number(t.total)).collect())?;
        let totals = tape.broadcast(totals, &axis)?;
        let contributions = tape.mul(evidence, tape.mul(weights, totals)?)?;
        let logits = tape.add(tape.sum(contributions)?, bias)?;
        Ok(Judged { logits, weights, contributions, evidence, totals, bias })
    }

    /// The units of all words, some left out while learning and the others counting more.
    pub(in crate::model::classify) fn bags<T: Float>(&self, tape: &Tape<T>, texts: &[&EvidenceText]) -> Bags<T> {
        let drop = if tape.is_training() { self.unit_dropout } else { 0.0 };
        let mut bags = Bags { ids: Vec::new(), weights: Vec::new(), offsets: vec![0] };
        for text in texts {
            for word in text.offsets.windows(2) {
                for at in word[0]..word[1] {
                    if drop == 0.0 || tape.uniform() >= drop {
                        bags.ids.push(text.ids[at]);
                        bags.weights.push(T::from_f64(text.weights[at] as f64 / (1.0 - drop)));
                    }
                }
                bags.offsets.push(bags.ids.len());
            }
        }
        bags
    }

    /// The prior of a word, or −∞ if it is left out; the only word of a text never is.
    fn kept<T: Float>(&self, tape: &Tape<T>, words: usize, prior: T) -> T {
        let dropped = tape.is_training() && words > 1 && self.word_dropout > 0.0 && tape.uniform() < self.word_dropout;
        if dropped { T::NEG_INFINITY } else { prior }
    }
}
