//! Several matchers as one: the score of a pair is the mean of theirs.

use super::{Answer, Evidence, Matcher, learn};
use crate::Result;
use crate::model::ensemble::first_and_peers;
use crate::text::Question;
use crate::train::Measure;
use crate::view::Weighted;

impl Matcher {
    /// Several models as one. An error if they are not of the same form.
    pub fn joined(members: Vec<Matcher>) -> Result<Matcher> {
        let other_form = |a: &Matcher, b: &Matcher| (a.config.model.form != b.config.model.form).then_some("matchers of different forms");
        let (mut first, peers) = first_and_peers(members, other_form)?;
        first.peers = peers;
        Ok(first)
    }

    /// What an ensemble reaches: every question has the candidates that its first member would give it.
    pub(super) fn joint_measures(&self, rows: &[Question]) -> Result<Vec<Measure>> {
        let seed = self.config.seed;
        let examples = self.examples_drawn(rows, seed);
        let mut scores = learn::scores(&self.net, &self.params, &examples)?;
        for peer in &self.peers {
            let own = learn::scores(&peer.net, &peer.params, &peer.examples_drawn(rows, seed))?;
            scores.iter_mut().zip(own).for_each(|(sum, score)| *sum += score);
        }
        learn::rank_measures(&learn::lists(&examples, &scores))
    }
}

/// The mean of what the members say of the same pairs. Towers keep the attention of each member that cuts texts into the same units, the mean of its heads, so that each counts the same; evidence adds up, so that its parts are averaged, too.
pub(super) fn mean(own: Vec<Answer>, peers: Vec<Vec<Answer>>) -> Vec<Answer> {
    let share = 1.0 / (peers.len() + 1) as f32;
    let mut own = own;
    for (at, answer) in own.iter_mut().enumerate() {
        if answer.evidence.is_none() && !peers.is_empty() && !answer.question_attention.is_empty() {
            answer.question_attention = one_head(&answer.question_attention);
            answer.answer_attention = one_head(&answer.answer_attention);
            answer.members = vec![1];
        }
        for (other, number) in peers.iter().filter_map(|peer| peer.get(at)).zip(2..) {
            answer.score += other.score;
            answer.cosine += other.cosine;
            match (&mut answer.evidence, &other.evidence) {
                (Some(evidence), Some(added)) => {
                    evidence.add(added);
                    sum(&mut answer.question_attention, &other.question_attention);
                    sum(&mut answer.answer_attention, &other.answer_attention);
                }
                _ if other.question_attention.is_empty() => {}
                _ if answer.question_tokens == other.question_tokens && answer.answer_tokens == other.answer_tokens => {
                    answer.question_attention.extend(one_head(&other.question_attention));
                    answer.answer_attention.extend(one_head(&other.answer_attention));
                    answer.members.push(number);
                }
                _ => {}
            }
        }
        answer.score *= share;
        answer.cosine *= share;
        if let Some(evidence) = &mut answer.evidence {
            evidence.scale(share);
            let attention = answer.question_attention.iter_mut().chain(&mut answer.answer_attention);
            attention.flatten().for_each(|weight| *weight *= share);
        }
    }
    own
}

/// The mean of several heads, as one.
fn one_head(heads: &[Vec<f32>]) -> Vec<Vec<f32>> {
    vec![Weighted::new(Vec::new(), heads.to_vec()).mean()]
}

fn sum(rows: &mut [Vec<f32>], others: &[Vec<f32>]) {
    rows.iter_mut().flatten().zip(others.iter().flatten()).for_each(|(a, b)| *a += b);
}

impl Evidence {
    fn add(&mut self, other: &Evidence) {
        sum(&mut self.alignment, &other.alignment);
        sum(&mut self.matches, &other.matches);
        self.answer.iter_mut().zip(&other.answer).for_each(|(a, b)| *a += b);
        self.length += other.length;
        self.place = self.place.zip(other.place).map(|(a, b)| a + b).or(self.place).or(other.place);
    }

    fn scale(&mut self, by: f32) {
        let words = self.alignment.iter_mut().chain(&mut self.matches).flatten().chain(&mut self.answer);
        words.for_each(|x| *x *= by);
        self.length *= by;
        self.place = self.place.map(|place| place * by);
    }
}
