//! Playing with the candidates of a question: weights put in, other views of the answer's words, and what a score is the sum of.

use super::{Answer, Evidence, EvidenceNet, Matcher, Net, TowerNet};
use crate::Result;
use crate::model::nearest::{Context, Contexts};
use crate::model::probe::Probe;
use crate::model::touch::{self, Part, Saying, Touch, Touched, Views};
use crate::text::Question;
use crate::text::read::question_groups;

impl Matcher {
    pub(super) fn touched(&self, rows: &[Question], touch: &Touch, seen: Option<&Contexts>) -> Result<Vec<Touched>> {
        match &self.net {
            Net::Evidence(net) => self.weighed(net, rows, touch, seen),
            Net::Pooled(net) => self.attended(net, rows, touch, seen),
        }
    }

    /// The candidates of an encoder, by the closed form of its attention to the answer.
    fn attended(&self, net: &TowerNet, rows: &[Question], touch: &Touch, seen: Option<&Contexts>) -> Result<Vec<Touched>> {
        // The logit of being right is the score, unless that is a probability.
        let score = |p: &[f64]| if net.is_probability() { p[1] as f32 } else { (p[1] / p[0]).ln() as f32 };
        let say = Saying { calibrate: &|_| {}, score: Some(&score), by_words: false };
        let plain = self.closed().is_some() && touch.edits.is_empty() && touch.heads_off.is_empty() && touch.nearest == 0;
        let mut found = match plain {
            // Of a matcher that does not look, the parts of its scores can be told all the same.
            true => rows.iter().map(|_| Touched::default()).collect(),
            false => in_order(rows, touch::pooled(self, &self.asked(&in_groups(rows))?, &in_group_order(rows, touch), seen, &say)?),
        };
        if touch.views {
            let answers = self.answer(&rows.iter().map(|row| (&row.question, &row.answer)).collect::<Vec<_>>())?;
            for ((row, answer), found) in rows.iter().zip(answers).zip(&mut found) {
                let all = self.overlap.score(&row.question, &row.question);
                let overlap = if all > 0.0 { (self.overlap.score(&row.question, &row.answer) / all) as f32 } else { 0.0 };
                let ((scale, shift), (_, bias)) = (net.scale_of(&self.params, overlap), net.scale_of(&self.params, 0.0));
                found.parts = vec![Part { name: "cosine of the two texts", value: (scale * answer.cosine).into() }];
                found.parts.push(Part { name: "shared words", value: (shift - bias).into() });
                found.parts.push(Part { name: "constant", value: bias.into() });
            }
        }
        Ok(found)
    }

    /// The candidates of evidence: nothing is mixed, so no weights can be put in. What each word of the answer contributes is its gradient times its input, for the score is a sum.
    fn weighed(&self, net: &EvidenceNet, rows: &[Question], touch: &Touch, seen: Option<&Contexts>) -> Result<Vec<Touched>> {
        if !touch.edits.is_empty() || !touch.heads_off.is_empty() {
            return Err(touch::refused(
                "a matcher of evidence has no attention that mixes: what each word adds can be read off, not put in".into(),
            ));
        }
        let mut found = Vec::with_capacity(rows.len());
        for group in rows.chunk_by(|a, b| a.question == b.question) {
            let answers: Vec<&str> = group.iter().map(|row| row.answer.as_str()).collect();
            for (at, answer) in self.weigh(net, &group[0].question, answers.clone()).into_iter().enumerate() {
                let mut touched = Touched::default();
                if let (true, Some(evidence)) = (touch.views, &answer.evidence) {
                    touched.parts = parts(evidence);
                    touched.views = Some(self.views_of(net, &answer, evidence, &answers, at));
                }
                if let (Some(seen), true) = (seen, touch.nearest > 0) {
                    touched.nearest = seen.nearest(&words(&answer), touch.nearest);
                }
                found.push(touched);
            }
        }
        Ok(found)
    }

    /// What each word of one of the answers adds, and what its score loses without it. The other candidates stay where they are.
    fn views_of(&self, net: &EvidenceNet, answer: &Answer, evidence: &Evidence, answers: &[&str], at: usize) -> Views {
        let columns = answer.answer_tokens.len();
        let added = |j: usize| f64::from(evidence.answer[j]) + evidence.matches.iter().map(|row| f64::from(row[j])).sum::<f64>();
        let without = |j: usize| {
            let left: Vec<&str> = (0..columns).filter(|&k| k != j).map(|k| answer.answer_tokens[k].as_str()).collect();
            let left = left.join(" ");
            let mut all = answers.to_vec();
            all[at] = &left;
            f64::from(answer.score) - self.weigh(net, &answer.question, all).get(at).map_or(0.0, |other| f64::from(other.score))
        };
        let looked = answer.answer_attention.first().into_iter().flatten().map(|&w| f64::from(w)).collect();
        Views::new("score".into(), answer.score.into(), looked, (0..columns).map(added).collect(), (0..columns).map(without).collect())
    }

    pub(super) fn seen_before(&self, rows: &[Question]) -> Result<Contexts> {
        let said = |row: &Question| {
            let right = if row.relevant { "right" } else { "wrong" };
            (format!("{}\t{}", row.question, row.answer), right.to_string())
        };
        match &self.net {
            Net::Evidence(_) => {
                let answers = self.answer(&rows.iter().map(|row| (&row.question, &row.answer)).collect::<Vec<_>>())?;
                let mut all = Contexts::default();
                rows.iter().zip(&answers).for_each(|(row, answer)| all.add(said(row), words(answer)));
                Ok(all)
            }
            Net::Pooled(_) => {
                let rows = in_groups(rows);
                touch::seen(self, &self.asked(&rows)?, false, rows.iter().map(said))
            }
        }
    }
}

/// The words of an answer as they are looked at.
fn words(answer: &Answer) -> Context {
    let weights = answer.answer_attention.first().into_iter().flatten().copied();
    Context::of_words(answer.answer_tokens.iter().map(String::as_str).zip(weights))
}

/// The sum that a score of evidence is.
fn parts(evidence: &Evidence) -> Vec<Part> {
    let sum = |numbers: &[f32]| numbers.iter().map(|&x| f64::from(x)).sum::<f64>();
    let mut parts = vec![
        Part { name: "words of the question found in the answer", value: evidence.matches.iter().map(|row| sum(row)).sum() },
        Part { name: "words of the answer by being there", value: sum(&evidence.answer) },
        Part { name: "length of the answer", value: evidence.length.into() },
    ];
    parts.extend(evidence.place.map(|place| Part { name: "place among the candidates", value: place.into() }));
    parts
}

/// Rows of one question together, as the experiments want them.
fn in_groups(rows: &[Question]) -> Vec<Question> {
    question_groups(rows).into_iter().flatten().map(|row| rows[row].clone()).collect()
}

/// What was found of rows that were put together, as the rows stand.
fn in_order(rows: &[Question], found: Vec<Touched>) -> Vec<Touched> {
    let mut placed: Vec<(usize, Touched)> = question_groups(rows).into_iter().flatten().zip(found).collect();
    placed.sort_by_key(|(row, _)| *row);
    placed.into_iter().map(|(_, touched)| touched).collect()
}

/// Edits by the places that rows have when they are put together.
fn in_group_order(rows: &[Question], touch: &Touch) -> Touch {
    let order: Vec<usize> = question_groups(rows).into_iter().flatten().collect();
    let mut touch = touch.clone();
    for edit in &mut touch.edits {
        edit.step = order.iter().position(|&row| row == edit.step).unwrap_or(edit.step);
    }
    touch
}
