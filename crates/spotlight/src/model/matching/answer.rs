//! What a matcher says of a question and an answer.

use serde::{Serialize, Serializer};

use crate::model::answer::{self, Drawing, Layers, one_or_all};
use crate::model::layers::Reading;
use crate::view::{Match, Picture, Weighted, groups};

/// What the model says of one pair.
#[derive(Clone, Debug, PartialEq)]
pub struct Answer {
    /// The question as typed.
    pub question: String,
    /// The answer as typed.
    pub answer: String,
    /// Its place among the answers to the same question, from 1, if they have been ranked.
    pub rank: Option<usize>,
    /// What it is ranked by. For a model of cross-entropy, the probability of being right.
    pub score: f32,
    /// The cosine of the two attended rows.
    pub cosine: f32,
    /// Units of the question as they are shown.
    pub question_tokens: Vec<String>,
    /// For each, the word it belongs to.
    pub question_words: Vec<usize>,
    /// Heads by units of the question; no heads if the last state was taken.
    pub question_attention: Vec<Vec<f32>>,
    /// Units of the answer as they are shown.
    pub answer_tokens: Vec<String>,
    /// For each, the word it belongs to.
    pub answer_words: Vec<usize>,
    /// Heads by units of the answer; no heads if the last state was taken.
    pub answer_attention: Vec<Vec<f32>>,
    /// Of an ensemble the numbers of the members, from 1, that the heads are of.
    pub members: Vec<usize>,
    /// Whether the question asked the answer, so that a picture crosses the two.
    pub crossed: bool,
    /// What the score is the sum of, in the form of evidence.
    pub evidence: Option<Evidence>,
    /// The self-attention of all layers over question and answer, of towers that have any, if somebody asked for it.
    pub readings: [Option<Reading>; 2],
}

/// What a score of evidence is the sum of: all `matches`, all of `answer`, `length`, and `place` if it counts.
#[derive(Clone, Debug, PartialEq)]
pub struct Evidence {
    /// Words of the question by words of the answer: how far each agrees with the word it was found as, from 0 to 1; a word found in several places has a part in each.
    pub alignment: Vec<Vec<f32>>,
    /// Words of the question by words of the answer: what the match adds to the score.
    pub matches: Vec<Vec<f32>>,
    /// Words of the answer: what each adds by being there, whether asked for or not.
    pub answer: Vec<f32>,
    /// What the length of the answer adds.
    pub length: f32,
    /// What its place among the candidates adds, if it counts.
    pub place: Option<f32>,
}

impl Answer {
    /// As a picture of the two texts, and in the form of evidence of what agrees in them.
    pub fn picture(&self) -> Match {
        let side = |tokens: &[String], heads: &[Vec<f32>]| Weighted {
            members: self.members.clone(),
            ..Weighted::new(tokens.to_vec(), heads.to_vec())
        };
        Match {
            score: self.score,
            question: side(&self.question_tokens, &self.question_attention),
            answer: side(&self.answer_tokens, &self.answer_attention),
            cross: self.cross(),
        }
    }

    /// Words of the question by words of the answer, if the model compares them: how far they agree, times how much the word is looked for.
    fn cross(&self) -> Option<Vec<Vec<f32>>> {
        let (evidence, sought) = (self.evidence.as_ref()?, self.question_attention.first()?);
        Some(evidence.alignment.iter().zip(sought).map(|(row, weight)| row.iter().map(|strength| strength * weight).collect()).collect())
    }
}

impl answer::Answer for Answer {
    /// Rank if there is one, score, question, answer.
    fn text(&self) -> String {
        let rank = self.rank.map_or(String::new(), |rank| format!("{rank}\t"));
        format!("{rank}{:.4}\t{}\t{}", self.score, self.question, self.answer)
    }

    fn heads(&self) -> usize {
        self.question_attention.len()
    }

    fn layers(&self) -> Option<Layers> {
        self.readings.iter().flatten().map(Reading::layers).next()
    }

    /// Both texts shaded by their weights; if the question asks the answer, or its words are compared with those of the answer, also each pair of
    /// their units.
    fn pictures(&self, drawing: &Drawing) -> Vec<Picture> {
        if let Some(view) = drawing.view {
            let sides = [(&self.question, "question", &self.question_tokens), (&self.answer, "answer", &self.answer_tokens)];
            let stack = |(reading, (text, side, units)): (&Option<Reading>, (&String, &str, &Vec<String>))| {
                reading.as_ref()?.stack(view, drawing, text, &format!("score {:.2} ({side})", self.score), units)
            };
            return self.readings.iter().zip(sides).filter_map(stack).map(Picture::from).collect();
        }
        let mut picture = self.picture();
        for (side, words) in [(&mut picture.question, &self.question_words), (&mut picture.answer, &self.answer_words)] {
            side.heads = drawing.heads(&side.heads);
            side.members = drawing.heads(&side.members);
            if drawing.words {
                *side = side.merge_subwords(&groups(words));
            }
        }
        if self.crossed {
            picture.cross = Some(picture.pairs());
        }
        vec![picture.into()]
    }
}

impl Serialize for Answer {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Both<'a> {
            #[serde(serialize_with = "one_or_all")]
            question: &'a [Vec<f32>],
            #[serde(serialize_with = "one_or_all")]
            answer: &'a [Vec<f32>],
        }
        #[derive(Serialize)]
        struct Object<'a> {
            question: &'a str,
            answer: &'a str,
            score: f32,
            question_tokens: &'a [String],
            answer_tokens: &'a [String],
            attention: Both<'a>,
            #[serde(skip_serializing_if = "Option::is_none")]
            alignment: Option<&'a [Vec<f32>]>,
            #[serde(skip_serializing_if = "Option::is_none")]
            contributions: Option<Sum<'a>>,
        }
        #[derive(Serialize)]
        struct Sum<'a> {
            matches: &'a [Vec<f32>],
            answer: &'a [f32],
            length: f32,
            #[serde(skip_serializing_if = "Option::is_none")]
            place: Option<f32>,
        }
        let alignment = self.evidence.as_ref().map(|e| e.alignment.as_slice());
        let attention = Both { question: &self.question_attention, answer: &self.answer_attention };
        let (question_tokens, answer_tokens) = (&self.question_tokens, &self.answer_tokens);
        Object {
            question: &self.question,
            answer: &self.answer,
            score: self.score,
            question_tokens,
            answer_tokens,
            attention,
            alignment,
            contributions: self.evidence.as_ref().map(|e| Sum { matches: &e.matches, answer: &e.answer, length: e.length, place: e.place }),
        }
        .serialize(serializer)
    }
}
