//! Experiments with the attention of a matcher.
//!
//! Of two towers: where it looks in the answer. What it makes of the question stays as it is, and so does the overlap of the two. Of the form of evidence: which words of the question it
//! looks for ([`asking`](super::asking)).

use spotlight_kernels::Float;

use super::asking::Asking;
use super::net::Side;
use super::{Matcher, Net, TowerNet};
use crate::Result;
use crate::encoder::EncoderName;
use crate::model::AttentionSection;
use crate::model::encoder::side_by_side;
use crate::model::pooling::{PoolingKind, mixed};
use crate::model::probe::{Asked, Differs, Looked, Mixture, Opened, Probe, Then};
use crate::params::Params;
use crate::tape::{Tape, Var};
use crate::text::Question;
use crate::text::read::question_groups;

/// What words can be taken from.
#[derive(Clone, Debug)]
pub enum Case {
    /// An answer, with its question.
    Answer(Pair),
    /// A question, with all its candidates.
    Question(Asking),
}

/// An answer with its question, for two towers.
#[derive(Clone, Debug)]
pub struct Pair {
    question: Vec<u32>,
    answer: Vec<u32>,
    overlap: f32,
}

/// The questions and the answers of pairs, side by side.
fn sides(pairs: &[&Pair]) -> (Side, Side) {
    let side = |(ids, axis)| Side { ids, axis };
    let questions = side_by_side(pairs.iter().map(|pair| pair.question.as_slice()));
    (side(questions), side(side_by_side(pairs.iter().map(|pair| pair.answer.as_slice()))))
}

fn pairs<'c>(cases: &[&'c Case]) -> Vec<&'c Pair> {
    cases.iter().filter_map(|case| if let Case::Answer(pair) = case { Some(pair) } else { None }).collect()
}

fn questions<'c>(cases: &[&'c Case]) -> Vec<&'c Asking> {
    cases.iter().filter_map(|case| if let Case::Question(asking) = case { Some(asking) } else { None }).collect()
}

impl Matcher {
    /// Answers with their questions on a tape; what is added to each cosine stands behind the pooled question.
    fn open_towers(&self, net: &TowerNet, tape: &Tape<f32>, cases: &[&Case], scale: f32) -> Result<Opened> {
        let pairs = pairs(cases);
        let (questions, answers) = sides(&pairs);
        let mut opened = net.open(tape, &questions, &answers, scale)?;
        let shifts = pairs.iter().map(|pair| net.scale_of(&self.params, pair.overlap).1).collect();
        if let Some(asking) = opened.beside {
            opened.beside = Some(tape.concat(&[asking, tape.table(cases.len(), 1, shifts)?])?);
        }
        Ok(opened)
    }

    fn tower_mixtures(&self, net: &TowerNet, tape: &Tape<f32>, opened: &Opened) -> Vec<Mixture> {
        let (weights, values) = (tape.to_vec(opened.weights), tape.to_vec(opened.values));
        let beside = opened.beside.map_or_else(Vec::new, |beside| tape.to_vec(beside));
        let width = tape.shape(opened.values).1;
        let wide = |x: &[f32]| x.iter().map(|&x| x as f64).collect::<Vec<f64>>();
        let scale = net.scale_of(&self.params, 0.0).0 as f64;
        let one = |item: usize| {
            let rows = opened.axis.range(item);
            let own = &beside[item * (width + 1)..(item + 1) * (width + 1)];
            let then = Then::Cosine { with: wide(&own[..width]), scale, shift: own[width] as f64 };
            let (weights, values) = (wide(&weights[rows.clone()]), wide(&values[rows.start * width..rows.end * width]));
            Mixture { weights, heads: 1, values, width, then }
        };
        (0..opened.axis.items()).map(one).collect()
    }

    /// The rows of a question, each an answer to be studied.
    fn asked_pairs(&self, rows: &[Question], group: usize, members: &[usize]) -> Vec<Asked<Case>> {
        let one = |row: &usize| {
            let Question { question, answer, relevant, .. } = &rows[*row];
            let (all, shared) = (self.overlap.score(question, question), self.overlap.score(question, answer));
            let overlap = if all > 0.0 { (shared / all) as f32 } else { 0.0 };
            let encoded = self.tokenizer.as_ref().map_or_else(Vec::new, |tokenizer| tokenizer.encode(answer));
            Asked {
                case: Case::Answer(Pair { question: self.ids(question), answer: self.ids(answer), overlap }),
                units: encoded.into_iter().map(|unit| unit.text).collect(),
                gold: usize::from(*relevant),
                target: Some(1),
                studied: *relevant,
                group,
            }
        };
        members.iter().map(one).collect()
    }
}

/// For a right answer, the share of the wrong ones that it stands above.
fn above(own: f64, wrong: &[f64]) -> Option<f64> {
    let stands = |p: &f64| if own > *p { 1.0 } else { f64::from(u8::from(own == *p)) * 0.5 };
    (!wrong.is_empty()).then(|| wrong.iter().map(stands).sum::<f64>() / wrong.len() as f64)
}

impl Probe for Matcher {
    type Row = Question;
    type Case = Case;

    const UNIT: &'static str = "word";
    const FIGURE: &'static str = "right answers above wrong ones";

    fn labels(&self) -> Vec<String> {
        vec!["wrong".into(), "right".into()]
    }

    fn label(&self, case: &Case, number: usize) -> String {
        match case {
            Case::Answer(_) => self.labels().get(number).cloned().unwrap_or_default(),
            Case::Question(asking) => asking.named(number),
        }
    }

    fn numbers(&self) -> &Params<f32> {
        &self.params
    }

    fn closed(&self) -> Option<String> {
        if let Net::Evidence(_) = self.net {
            return None;
        }
        let asked = self.config.asked();
        let heads = asked.map_or(self.config.attention.heads, |asked| asked.heads);
        match self.config.model.pooling {
            _ if heads > 1 => Some("no experiments are known for a matcher with several heads".into()),
            PoolingKind::Attention => None,
            _ if asked.is_some() => None,
            _ => Some("every word of an answer has the same weight, or only the last state counts: there is no attention to audit".into()),
        }
    }

    fn asked(&self, rows: &[Question]) -> Result<Vec<Asked<Case>>> {
        let of_group = |(group, members): (usize, Vec<usize>)| match &self.net {
            Net::Pooled(_) => self.asked_pairs(rows, group, &members),
            Net::Evidence(_) => {
                let asking = Asking::new(&members.iter().map(|&row| &rows[row]).collect::<Vec<_>>());
                let (units, gold, studied) = (asking.shown(), asking.first_right(), asking.is_telling());
                vec![Asked { case: Case::Question(asking), units, gold, target: None, studied, group }]
            }
        };
        Ok(question_groups(rows).into_iter().enumerate().flat_map(of_group).collect())
    }

    fn one_sided(&self, asked: &[Asked<Case>]) -> Option<String> {
        let first = asked.first()?;
        match first.case {
            Case::Question(_) => (!asked.iter().any(|a| a.studied)).then(|| "no question with both a right and a wrong answer".into()),
            Case::Answer(_) => {
                asked.iter().all(|a| a.gold == first.gold).then(|| format!("only the label {:?}", self.label(&first.case, first.gold)))
            }
        }
    }

    fn length(&self, case: &Case) -> usize {
        match case {
            Case::Answer(pair) => pair.answer.len(),
            Case::Question(asking) => asking.len(),
        }
    }

    fn size(&self, case: &Case) -> usize {
        match case {
            Case::Answer(pair) => pair.question.len() + pair.answer.len(),
            Case::Question(asking) => asking.len(),
        }
    }

    fn left(&self, case: &Case, keep: &[bool]) -> Case {
        match case {
            Case::Answer(pair) => {
                let answer = pair.answer.iter().zip(keep).filter(|(_, keep)| **keep).map(|(&id, _)| id).collect();
                Case::Answer(Pair { answer, ..pair.clone() })
            }
            Case::Question(asking) => Case::Question(asking.only(keep)),
        }
    }

    fn open(&self, tape: &Tape<f32>, cases: &[&Case], scale: f32) -> Result<Opened> {
        match &self.net {
            Net::Pooled(net) => self.open_towers(net, tape, cases, scale),
            Net::Evidence(net) => {
                let mixtures: Vec<Mixture> =
                    questions(cases).iter().map(|asking| asking.mixture(net, &self.params, &self.overlap)).collect();
                super::asking::open(tape, &mixtures, scale)
            }
        }
    }

    fn logits(&self, tape: &Tape<f32>, opened: &Opened, weights: Var) -> Result<Var> {
        let mix = mixed(tape, weights, opened.values, &opened.axis)?;
        let (rows, width) = tape.shape(mix);
        let beside = opened.beside.unwrap_or(mix);
        match &self.net {
            Net::Evidence(_) => tape.add(mix, beside),
            Net::Pooled(net) => {
                let scale = net.scale_of(&self.params, 0.0).0 as f64;
                let cosine = tape.scale(tape.cosine(tape.slice(beside, 0, width)?, mix)?, scale);
                tape.concat(&[tape.zeros(rows, 1), tape.add(cosine, tape.slice(beside, width, 1)?)?])
            }
        }
    }

    fn mixtures(&self, tape: &Tape<f32>, opened: &Opened) -> Result<Vec<Mixture>> {
        match &self.net {
            Net::Pooled(net) => Ok(self.tower_mixtures(net, tape, opened)),
            Net::Evidence(_) => Ok(super::asking::mixtures(tape, opened)),
        }
    }

    fn look<T: Float>(&self, tape: &Tape<T>, cases: &[&Case]) -> Result<Option<Looked>> {
        let Net::Pooled(net) = &self.net else { return Ok(None) };
        let pairs = pairs(cases);
        let (questions, answers) = sides(&pairs);
        let overlap: Vec<f32> = pairs.iter().map(|pair| pair.overlap).collect();
        let scored = net.forward(tape, &questions, &answers, &(0..pairs.len()).collect::<Vec<_>>(), &overlap)?;
        let logits = tape.concat(&[tape.zeros(pairs.len(), 1), scored.score])?;
        Ok(scored.answer_weights.map(|weights| Looked { logits, weights }))
    }

    /// For each right answer, the share of the wrong ones of its question that it stands above; of a question with several the mean.
    fn right(asked: &[Asked<Case>], probabilities: &[Vec<f64>]) -> Vec<Option<f64>> {
        let one = |(i, a): (usize, &Asked<Case>)| match &a.case {
            Case::Question(asking) => asking.right(&probabilities[i], above),
            Case::Answer(_) => {
                let others = asked.iter().zip(probabilities).filter(|(b, _)| b.group == a.group && b.gold == 0);
                let wrong: Vec<f64> = others.map(|(_, p)| p[1]).collect();
                above(probabilities[i][1], &wrong).filter(|_| a.gold == 1)
            }
        };
        asked.iter().enumerate().map(one).collect()
    }

    fn sibling(&self, differs: Differs, rows: &[Question]) -> Result<Option<Self>> {
        let mut config = self.config.clone();
        config.seed = differs.seed();
        match (&self.net, differs) {
            (_, Differs::Seed(_)) | (Net::Pooled(_), Differs::Adversary(_)) => {}
            (Net::Evidence(_), Differs::Uniform(_)) => {
                let mut model = Matcher::new(config, rows)?;
                if let Net::Evidence(net) = &mut model.net {
                    net.uniform = true;
                }
                return Ok(Some(model));
            }
            (Net::Pooled(_), Differs::Uniform(_)) => {
                (config.model.pooling, config.attention.heads, config.asked) = (PoolingKind::Mean, 1, AttentionSection::none());
            }
            (Net::Pooled(_), Differs::Average(_)) if config.model.encoder.cell != EncoderName::Average => {
                (config.model.encoder.cell, config.model.encoder.layers) = (EncoderName::Average, 1);
            }
            // Evidence has no states, and its weights are computed: nothing can be taught to look elsewhere.
            (_, Differs::Average(_) | Differs::Adversary(_)) => return Ok(None),
        }
        Matcher::new(config, rows).map(Some)
    }
}
