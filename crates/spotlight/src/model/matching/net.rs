//! The network of a matcher: two towers, attention, and the cosine of what it made of both.
//!
//! ```text
//! question -> embedding -> recurrence -> dense -> attention --+
//!                                                             cosine -> score
//! answer   -> embedding -> recurrence -> dense -> attention --+
//! ```

use spotlight_kernels::Float;

use super::config::{Config, Loss, Towers};
use super::evidence::EvidenceNet;
use crate::Result;
use crate::attention::{Attention, Question};
use crate::axis::Axis;
use crate::model::encoder::TextEncoder;
use crate::model::pooling::{PooledRows, Pooling};
use crate::model::probe::Opened;
use crate::nn::Linear;
use crate::params::{Init, ParamId, Params};
use crate::tape::{Tape, Var};

/// The factor of the cosine to begin with: a probability must be able to leave the middle.
const FIRST_SCALE: f64 = 5.0;

/// The network of either form.
#[derive(Clone, Debug)]
#[allow(clippy::large_enum_variant, reason = "a model has one of them")]
pub enum Net {
    /// A sum of what words contribute.
    Evidence(EvidenceNet),
    /// Two towers.
    Pooled(TowerNet),
}

/// The layers; their numbers are in a [`Params`].
#[derive(Clone, Debug)]
pub struct TowerNet {
    question: Tower,
    answer: Tower,
    question_pooling: Pooling,
    answer_pooling: AnswerPooling,
    /// Factor and addend of the cosine, for cross-entropy.
    scale: Option<(ParamId, ParamId)>,
    /// Factor of the overlap.
    overlap: Option<ParamId>,
}

/// Reads one side.
#[derive(Clone, Debug)]
struct Tower {
    encoder: TextEncoder,
    dense: Option<Linear>,
}

#[derive(Clone, Debug)]
enum AnswerPooling {
    /// Like the question.
    Alone(Pooling),
    /// The pooled question asks.
    Asked(Attention),
}

/// Texts of one side of a batch.
#[derive(Clone, Debug)]
pub struct Side {
    /// Units, text after text.
    pub ids: Vec<u32>,
    /// Where each text begins and ends.
    pub axis: Axis,
}

/// What the network says of some answers.
#[derive(Clone, Copy, Debug)]
pub struct Scored {
    /// One number per answer, to rank by. For cross-entropy the logit of being right.
    pub score: Var,
    /// The cosine alone.
    pub cosine: Var,
    /// One row per unit of the questions, one column per head; none if the last state was taken.
    pub question_weights: Option<Var>,
    /// The same for the answers.
    pub answer_weights: Option<Var>,
}

impl Tower {
    fn new<T: Float>(params: &mut Params<T>, name: &str, config: &Config, units: usize) -> Result<Self> {
        let (section, dense) = (&config.model.encoder, config.model.dense);
        let encoder = TextEncoder::new(params, name, section, &config.transformer, units)?;
        let dense = (dense > 0).then(|| Linear::new(params, &format!("{name}.dense"), encoder.width(), dense));
        Ok(Tower { encoder, dense })
    }

    /// States of every unit, and the last state of every text.
    fn read<T: Float>(&self, tape: &Tape<T>, side: &Side) -> Result<(Var, Var)> {
        let read = self.encoder.forward(tape, &side.ids, &side.axis)?;
        let (states, last) = (read.states, read.last(tape)?);
        match &self.dense {
            Some(dense) => Ok((dense.forward(tape, states)?, dense.forward(tape, last)?)),
            None => Ok((states, last)),
        }
    }
}

impl TowerNet {
    /// Makes the parameters `question.*` and `answer.*` (`text.*` for shared towers), and those of the score, for a vocabulary of `units`.
    pub fn new<T: Float>(params: &mut Params<T>, config: &Config, units: usize) -> Result<Self> {
        let m = &config.model;
        let width = config.width();
        let (question_name, answer_name) = match m.towers {
            Towers::Separate => ("question", "answer"),
            Towers::Shared => ("text", "text"),
        };
        let question = Tower::new(params, question_name, config, units)?;
        let question_pooling = Pooling::new(params, &format!("{question_name}.attention"), m.pooling, &config.attention, width)?;
        let answer = match m.towers {
            Towers::Separate => Tower::new(params, answer_name, config, units)?,
            Towers::Shared => question.clone(),
        };
        let answer_pooling = match (config.asked(), m.towers) {
            (Some(asked), _) => AnswerPooling::Asked(Attention::new(params, "answer.asked", &asked, question_pooling.width(width), width)?),
            (None, Towers::Separate) => {
                AnswerPooling::Alone(Pooling::new(params, "answer.attention", m.pooling, &config.attention, width)?)
            }
            (None, Towers::Shared) => AnswerPooling::Alone(question_pooling.clone()),
        };
        let mut number = |name: &str, first: f64| params.add(format!("score.{name}"), &[1], Init::Constant(first));
        let scale = (m.loss == Loss::CrossEntropy).then(|| (number("scale", FIRST_SCALE), number("bias", 0.0)));
        let overlap = m.overlap.then(|| number("overlap", 1.0));
        Ok(TowerNet { question, answer, question_pooling, answer_pooling, scale, overlap })
    }

    /// The layers that hold the units' vectors: one, or one for each side.
    pub fn encoders(&self) -> [&TextEncoder; 2] {
        [&self.question.encoder, &self.answer.encoder]
    }

    /// Scores each answer for the question `asked_by` names. `overlap` has one number per answer.
    pub fn forward<T: Float>(
        &self,
        tape: &Tape<T>,
        questions: &Side,
        answers: &Side,
        asked_by: &[usize],
        overlap: &[f32],
    ) -> Result<Scored> {
        let (states, last) = self.question.read(tape, questions)?;
        let question = self.question_pooling.forward(tape, states, last)?;
        let asking = tape.gather(question.context, asked_by)?;
        let (states, last) = self.answer.read(tape, answers)?;
        let answer = match &self.answer_pooling {
            AnswerPooling::Alone(pooling) => pooling.forward(tape, states, last)?,
            AnswerPooling::Asked(attention) => {
                let memory = attention.prepare(tape, states)?;
                let items: Vec<usize> = (0..answers.axis.items()).collect();
                let looked = attention.attend(tape, &memory, &Question::of_items(Some(asking), &items, &answers.axis, 0)?)?;
                PooledRows { context: looked.context, weights: Some(looked.weights) }
            }
        };
        let cosine = tape.cosine(asking, answer.context)?;
        let mut score = cosine;
        if let Some((scale, bias)) = self.scale {
            score = tape.add(tape.mul(score, tape.param(scale))?, tape.param(bias))?;
        }
        if let Some(factor) = self.overlap {
            let shares = tape.table(overlap.len(), 1, overlap.iter().map(|&x| T::from_f64(x as f64)).collect())?;
            score = tape.add(score, tape.mul(shares, tape.param(factor))?)?;
        }
        Ok(Scored { score, cosine, question_weights: question.weights, answer_weights: answer.weights })
    }

    /// Answers, each with its question, on a tape: the pooled questions stand beside them.
    pub(super) fn open(&self, tape: &Tape<f32>, questions: &Side, answers: &Side, scale: f32) -> Result<Opened> {
        let (states, last) = self.question.read(tape, questions)?;
        let asking = self.question_pooling.forward(tape, states, last)?.context;
        let (input, read) = self.answer.encoder.open(tape, &answers.ids, &answers.axis, scale)?;
        let states = self.answer.dense.as_ref().map_or(Ok(read.states), |dense| dense.forward(tape, read.states))?;
        let (weights, values) = match &self.answer_pooling {
            AnswerPooling::Alone(pooling) => pooling.open(tape, states)?.unwrap_or((states, states)),
            AnswerPooling::Asked(attention) => {
                let memory = attention.prepare(tape, states)?;
                let items: Vec<usize> = (0..answers.axis.items()).collect();
                let looked = attention.attend(tape, &memory, &Question::of_items(Some(asking), &items, &answers.axis, 0)?)?;
                (looked.weights, memory.values)
            }
        };
        Ok(Opened { inputs: vec![input], axis: answers.axis.clone(), weights, values, states: Some(states), beside: Some(asking) })
    }

    /// Factor of the cosine, and what is added to it for an answer with this overlap.
    pub(super) fn scale_of(&self, params: &Params<f32>, overlap: f32) -> (f32, f32) {
        let number = |id: ParamId| params.get(id)[0];
        let (scale, bias) = self.scale.map_or((1.0, 0.0), |(scale, bias)| (number(scale), number(bias)));
        (scale, bias + self.overlap.map_or(0.0, |factor| number(factor) * overlap))
    }

    /// Whether scores are logits.
    pub fn is_probability(&self) -> bool {
        self.scale.is_some()
    }
}
