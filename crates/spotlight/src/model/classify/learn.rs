//! How a classifier learns, and what is measured.

use rayon::prelude::*;
use spotlight_kernels::Float;

use super::evidence::{EvidenceNet, EvidenceText};
use super::net::Net;
use crate::Result;
use crate::model::Calibration;
use crate::model::encoder::side_by_side;
use crate::model::head::{self, Decision, label_measure_names, label_measures};
use crate::params::{ParamId, Params};
use crate::tape::{Tape, Var};
use crate::text::Inventory;
use crate::text::batch::Lengths;
use crate::train::{Learner, Measure};

/// Texts judged at once.
const JUDGED_TOGETHER: usize = 256;

/// A text, ready for the network of either form.
#[derive(Clone, Debug, PartialEq)]
pub enum Text {
    /// Units of each word.
    Evidence(EvidenceText),
    /// Units of the vocabulary.
    Pooled(Vec<u32>),
}

impl Text {
    /// Positions that the attention can look at.
    pub fn len(&self) -> usize {
        match self {
            Text::Evidence(text) => text.words(),
            Text::Pooled(ids) => ids.len(),
        }
    }

    /// Whether there is nothing to look at.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    fn evidence(&self) -> Option<&EvidenceText> {
        if let Text::Evidence(text) = self { Some(text) } else { None }
    }

    pub(super) fn ids(&self) -> &[u32] {
        if let Text::Pooled(ids) = self { ids } else { &[] }
    }
}

/// A labelled text, ready for the network.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    /// Its units.
    pub text: Text,
    /// The number of its label.
    pub label: u32,
    /// Line of the file.
    pub line: usize,
}

/// A classifier as the training loop sees it.
#[derive(Clone, Debug)]
pub struct ClassifyLearner {
    pub(super) net: Net,
    pub(super) labels: Inventory,
    /// How much an example of each label counts.
    pub(super) weights: Vec<f64>,
    pub(super) smoothing: f64,
}

impl Learner for ClassifyLearner {
    type Example = Example;

    fn frozen(&self, epoch: u64) -> Vec<ParamId> {
        match &self.net {
            Net::Evidence(_) => Vec::new(),
            Net::Pooled(net) => net.encoder.frozen(epoch).into_iter().collect(),
        }
    }

    fn lengths(&self, example: &Example) -> Lengths {
        match &self.net {
            // A batch is a number of texts.
            Net::Evidence(_) => Lengths { source: 1, target: 0 },
            Net::Pooled(_) => Lengths { source: example.text.len(), target: 0 },
        }
    }

    fn targets(&self, _: &Example) -> usize {
        1
    }

    fn line(&self, example: &Example) -> usize {
        example.line
    }

    fn loss<T: Float>(&self, tape: &Tape<T>, examples: &[&Example], scale: f64) -> Result<Var> {
        let labels: Vec<u32> = examples.iter().map(|e| e.label).collect();
        match &self.net {
            Net::Evidence(net) => {
                let texts: Vec<&EvidenceText> = examples.iter().filter_map(|e| e.text.evidence()).collect();
                let judged = net.forward(tape, &texts)?;
                self.evidence_loss(tape, judged.logits, &labels, scale)
            }
            Net::Pooled(net) => {
                let (ids, axis) = side_by_side(examples.iter().map(|e| e.text.ids()));
                let (rows, alike) = net.forward_to_learn(tape, &ids, &axis)?;
                let loss = net.head.loss(tape, rows.context, &labels, &self.weights, self.smoothing, scale)?;
                alike.map_or(Ok(loss), |alike| tape.add(loss, tape.scale(alike, scale)))
            }
        }
    }

    fn measures(&self, examples: &[Example]) -> Option<Vec<&'static str>> {
        Some(label_measure_names(&self.labels, examples.iter().map(|e| e.label)))
    }

    /// `loss`, `accuracy`, `macro_f1`, and for two labels `auc`; see [`label_measures`].
    fn measure(&self, params: &Params<f32>, examples: &[Example]) -> Result<Vec<Measure>> {
        let gold: Vec<u32> = examples.iter().map(|e| e.label).collect();
        let texts: Vec<&Text> = examples.iter().map(|e| &e.text).collect();
        let probabilities: Vec<Vec<f32>> = decide(&self.net, params, &texts)?.into_iter().map(|d| d.probabilities).collect();
        label_measures(&self.labels, &gold, &probabilities)
    }

    /// How sure the model may be.
    fn closing(&self, params: &Params<f32>, examples: &[Example]) -> Result<Vec<(&'static str, Vec<u8>)>> {
        let gold: Vec<u32> = examples.iter().map(|e| e.label).collect();
        let texts: Vec<&Text> = examples.iter().map(|e| &e.text).collect();
        let probabilities: Vec<Vec<f32>> = decide(&self.net, params, &texts)?.into_iter().map(|d| d.probabilities).collect();
        Ok(Calibration::of_labels(&probabilities, &gold).iter().map(Calibration::file).collect())
    }
}

impl ClassifyLearner {
    /// Cross-entropy of logits, each text times the weight of its label.
    fn evidence_loss<T: Float>(&self, tape: &Tape<T>, logits: Var, labels: &[u32], scale: f64) -> Result<Var> {
        let logs = tape.row_log_softmax(logits);
        let (rows, cols) = tape.shape(logs);
        let share = self.smoothing / cols as f64;
        let target = |i: usize| {
            let (row, label) = (i / cols, (i % cols) as u32);
            let own = if labels[row] == label { 1.0 - self.smoothing } else { 0.0 };
            T::from_f64(-scale * self.weights[labels[row] as usize] * (own + share))
        };
        tape.sum_all(tape.mul(logs, tape.table(rows, cols, (0..rows * cols).map(target).collect())?)?)
    }
}

/// Decisions on texts, in their order.
pub fn decide(net: &Net, params: &Params<f32>, texts: &[&Text]) -> Result<Vec<Decision>> {
    match net {
        Net::Evidence(net) => judge(net, params, texts),
        Net::Pooled(net) => head::decide(&net.head, params, texts.iter().map(|t| t.len()), |tape, members| {
            let (ids, axis) = side_by_side(members.iter().map(|&i| texts[i].ids()));
            Ok((net.forward(tape, &ids, &axis)?, axis))
        }),
    }
}

/// Decisions of the network of evidence, with what every word contributed.
fn judge(net: &EvidenceNet, params: &Params<f32>, texts: &[&Text]) -> Result<Vec<Decision>> {
    let found = texts
        .par_chunks(JUDGED_TOGETHER)
        .map(|texts| {
            let texts: Vec<&EvidenceText> = texts.iter().filter_map(|t| t.evidence()).collect();
            let tape = Tape::new(params);
            let judged = net.forward(&tape, &texts)?;
            let labels = tape.shape(judged.logits).1;
            let probabilities = tape.to_vec(tape.row_softmax(judged.logits));
            let (weights, contributions) = (tape.to_vec(judged.weights), tape.to_vec(judged.contributions));
            let mut first = 0;
            let one = |(text, probabilities): (&&EvidenceText, &[f32])| {
                let words = first..first + text.words();
                first = words.end;
                Decision {
                    probabilities: probabilities.to_vec(),
                    attention: vec![weights[words.clone()].to_vec()],
                    members: Vec::new(),
                    contributions: contributions[words.start * labels..words.end * labels]
                        .chunks_exact(labels)
                        .map(<[f32]>::to_vec)
                        .collect(),
                }
            };
            Ok(texts.iter().zip(probabilities.chunks_exact(labels)).map(one).collect())
        })
        .collect::<Result<Vec<Vec<Decision>>>>()?;
    Ok(found.into_iter().flatten().collect())
}
