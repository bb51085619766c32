//! Experiments with the attention of a matcher: where it looks in the answer. What it makes of the question stays as it is, and so does the overlap of the two.

use super::net::Side;
use super::{Matcher, Net};
use crate::Result;
use crate::encoder::EncoderName;
use crate::model::AttentionSection;
use crate::model::encoder::side_by_side;
use crate::model::pooling::{PoolingKind, mixed};
use crate::model::probe::{Asked, Differs, Mixture, Opened, Probe, Then};
use crate::params::Params;
use crate::tape::{Tape, Var};
use crate::text::Question;
use crate::text::read::question_groups;

/// An answer that words can be taken from, with its question.
#[derive(Clone, Debug)]
pub struct Case {
    question: Vec<u32>,
    answer: Vec<u32>,
    overlap: f32,
}

impl Matcher {
    /// Factor of the cosine, and what is added to it for an answer.
    fn scale(&self, overlap: f32) -> (f32, f32) {
        match &self.net {
            Net::Pooled(net) => net.scale_of(&self.params, overlap),
            Net::Evidence(_) => (1.0, 0.0),
        }
    }
}

impl Probe for Matcher {
    type Row = Question;
    type Case = Case;

    const UNIT: &'static str = "word";
    const FIGURE: &'static str = "right answers above wrong ones";

    fn labels(&self) -> Vec<String> {
        vec!["wrong".into(), "right".into()]
    }

    fn numbers(&self) -> &Params<f32> {
        &self.params
    }

    fn closed(&self) -> Option<String> {
        if let Net::Evidence(_) = self.net {
            return Some(
                "a matcher of evidence has no attention that mixes: its score is the sum of the contributions that it shows".into(),
            );
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
        let Some(tokenizer) = &self.tokenizer else { return Ok(Vec::new()) };
        let of_group = |(group, members): (usize, Vec<usize>)| {
            let one = |row: &usize| {
                let Question { question, answer, relevant, .. } = &rows[*row];
                let (all, shared) = (self.overlap.score(question, question), self.overlap.score(question, answer));
                let overlap = if all > 0.0 { (shared / all) as f32 } else { 0.0 };
                Asked {
                    case: Case { question: tokenizer.ids(question), answer: tokenizer.ids(answer), overlap },
                    units: tokenizer.encode(answer).into_iter().map(|unit| unit.text).collect(),
                    gold: usize::from(*relevant),
                    target: Some(1),
                    studied: *relevant,
                    group,
                }
            };
            members.iter().map(one).collect::<Vec<_>>()
        };
        Ok(question_groups(rows).into_iter().enumerate().flat_map(of_group).collect())
    }

    fn length(&self, case: &Case) -> usize {
        case.answer.len()
    }

    fn left(&self, case: &Case, keep: &[bool]) -> Case {
        let answer = case.answer.iter().zip(keep).filter(|(_, keep)| **keep).map(|(&id, _)| id).collect();
        Case { answer, ..case.clone() }
    }

    fn open(&self, tape: &Tape<f32>, cases: &[&Case], scale: f32) -> Result<Opened> {
        let side = |(ids, axis)| Side { ids, axis };
        let questions = side(side_by_side(cases.iter().map(|case| case.question.as_slice())));
        let answers = side(side_by_side(cases.iter().map(|case| case.answer.as_slice())));
        match &self.net {
            Net::Pooled(net) => {
                let mut opened = net.open(tape, &questions, &answers, scale)?;
                let shifts = cases.iter().map(|case| self.scale(case.overlap).1).collect();
                if let Some(asking) = opened.beside {
                    opened.beside = Some(tape.concat(&[asking, tape.table(cases.len(), 1, shifts)?])?);
                }
                Ok(opened)
            }
            Net::Evidence(_) => Err(crate::Error::Audit(self.closed().unwrap_or_default())),
        }
    }

    fn logits(&self, tape: &Tape<f32>, opened: &Opened, weights: Var) -> Result<Var> {
        let mix = mixed(tape, weights, opened.values, &opened.axis)?;
        let (rows, width) = tape.shape(mix);
        let beside = opened.beside.unwrap_or(mix);
        let cosine = tape.scale(tape.cosine(tape.slice(beside, 0, width)?, mix)?, self.scale(0.0).0 as f64);
        tape.concat(&[tape.zeros(rows, 1), tape.add(cosine, tape.slice(beside, width, 1)?)?])
    }

    fn mixtures(&self, tape: &Tape<f32>, opened: &Opened) -> Result<Vec<Mixture>> {
        let (weights, values) = (tape.to_vec(opened.weights), tape.to_vec(opened.values));
        let beside = opened.beside.map_or_else(Vec::new, |beside| tape.to_vec(beside));
        let width = tape.shape(opened.values).1;
        let wide = |x: &[f32]| x.iter().map(|&x| x as f64).collect::<Vec<f64>>();
        let one = |item: usize| {
            let rows = opened.axis.range(item);
            let own = &beside[item * (width + 1)..(item + 1) * (width + 1)];
            let then = Then::Cosine { with: wide(&own[..width]), scale: self.scale(0.0).0 as f64, shift: own[width] as f64 };
            Mixture {
                weights: wide(&weights[rows.clone()]),
                heads: 1,
                values: wide(&values[rows.start * width..rows.end * width]),
                width,
                then,
            }
        };
        Ok((0..opened.axis.items()).map(one).collect())
    }

    /// For each right answer, the share of the wrong ones of its question that it stands above.
    fn right(asked: &[Asked<Case>], probabilities: &[Vec<f64>]) -> Vec<Option<f64>> {
        let one = |(i, a): (usize, &Asked<Case>)| {
            let wrong: Vec<f64> =
                asked.iter().zip(probabilities).filter(|(b, _)| b.group == a.group && b.gold == 0).map(|(_, p)| p[1]).collect();
            let own = probabilities[i][1];
            let above = wrong
                .iter()
                .map(|p| {
                    if own > *p {
                        1.0
                    } else if own == *p {
                        0.5
                    } else {
                        0.0
                    }
                })
                .sum::<f64>();
            (a.gold == 1 && !wrong.is_empty()).then(|| above / wrong.len() as f64)
        };
        asked.iter().enumerate().map(one).collect()
    }

    fn sibling(&self, differs: Differs, rows: &[Question]) -> Result<Option<Self>> {
        let mut config = self.config.clone();
        config.seed = differs.seed();
        match differs {
            Differs::Seed(_) => {}
            Differs::Uniform(_) => {
                (config.model.pooling, config.attention.heads, config.asked) = (PoolingKind::Mean, 1, AttentionSection::none());
            }
            Differs::Average(_) if config.model.encoder.cell != EncoderName::Average => {
                (config.model.encoder.cell, config.model.encoder.layers) = (EncoderName::Average, 1);
            }
            Differs::Average(_) => return Ok(None),
        }
        Matcher::new(config, rows).map(Some)
    }
}
