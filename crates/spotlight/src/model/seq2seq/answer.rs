//! What a transducer answers to a source.

use serde::{Serialize, Serializer};

use super::{Hypothesis, Inside};
use crate::model::answer::{self, Drawing};
use crate::text::units::composed;
use crate::view::{End, Matrix, Picture, groups};

/// The answers to one source.
#[derive(Clone, Debug, Serialize)]
pub struct Answer {
    /// The source as typed.
    pub source: String,
    /// Its units as they are shown.
    pub source_tokens: Vec<String>,
    /// For each source unit, the word it belongs to, to merge subwords in pictures.
    #[serde(skip)]
    pub source_words: Vec<usize>,
    /// For each source unit, the character it belongs to, if units are parts of characters.
    #[serde(skip)]
    pub source_characters: Option<Vec<usize>>,
    /// Of an ensemble the numbers of the members that look, from 1: each is a head.
    #[serde(skip)]
    pub members: Vec<usize>,
    /// The best first.
    pub hypotheses: Vec<AnswerText>,
}

/// One answer as text.
#[derive(Clone, Debug)]
pub struct AnswerText {
    /// The text.
    pub text: String,
    /// Its units as they are shown.
    pub tokens: Vec<String>,
    /// For each unit, the word it belongs to.
    pub words: Vec<usize>,
    /// For each unit, the character it belongs to, if units are parts of characters.
    pub characters: Option<Vec<usize>>,
    /// How probable it is that the answer is right, if the model was calibrated.
    pub confidence: Option<f64>,
    /// Its part of the probability of all hypotheses in the list, if there are several.
    pub share: Option<f64>,
    /// How often training pairs gave this answer to this source, and how often they had the source, if the model counts that in.
    pub remembered: Option<[u32; 2]>,
    /// The same of training pairs with one of its neighbours, for each that they had.
    pub neighbours: Vec<BesideNeighbour>,
    /// The logarithm of the probability of source and answer by the counts of letters, if they have a say.
    pub joint: Option<f64>,
    /// What the search found.
    pub hypothesis: Hypothesis,
    /// Whether its weights are of several layers, whose mean is what is drawn.
    pub stacked: bool,
    /// The attention of every layer, if it was asked for.
    pub inside: Option<Inside>,
}

/// What training pairs say of an answer whose source stood beside this neighbour.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct BesideNeighbour {
    /// How many rows further the neighbour stands; those before are below 0.
    pub place: isize,
    /// The neighbour.
    pub source: String,
    /// How often they gave this answer, and how often they had the source there.
    pub remembered: [u32; 2],
}

/// What marks a unit in a picture that was copied from the source.
pub const COPIED: &str = " =";

impl AnswerText {
    /// For each unit whether most of its probability came by copying; empty if the model cannot copy.
    pub fn copied(&self) -> Vec<bool> {
        self.hypothesis.copied.iter().map(|&share| share > 0.5).collect()
    }

    /// Heads by units by source units; without heads of their own, the weights are the one head.
    fn heads(&self) -> Vec<Vec<Vec<f32>>> {
        match &self.hypothesis.heads[..] {
            _ if self.stacked => vec![self.hypothesis.attention.clone()],
            [] => vec![self.hypothesis.attention.clone()],
            heads => heads.to_vec(),
        }
    }

    /// Where the model looked when it ended, for the heads that are drawn.
    fn end(&self, drawing: &Drawing) -> Option<End> {
        let end = self.hypothesis.end.as_ref()?;
        // Where the rows above are a mean, the last one is, too.
        let heads = match end.heads.as_slice() {
            [] => return None,
            heads if heads.len() == self.heads().len() => heads.to_vec(),
            heads => vec![(0..heads[0].len()).map(|at| heads.iter().map(|head| head[at]).sum::<f32>() / heads.len() as f32).collect()],
        };
        Some(End { heads: drawing.heads(&heads), probability: Some(end.probability) })
    }
}

impl Answer {
    /// One matrix for each hypothesis.
    pub fn matrices(&self, drawing: &Drawing) -> Vec<Matrix> {
        let one = |h: &AnswerText| {
            let matrix = Matrix {
                input: self.source.clone(),
                text: h.text.clone(),
                score: Some(h.hypothesis.score as f32),
                source: self.source_tokens.clone(),
                output: h.tokens.clone(),
                heads: drawing.heads(&h.heads()),
                members: drawing.heads(&self.members),
                probabilities: Some(h.hypothesis.probabilities.clone()),
                remembered: h.remembered,
                neighbours: Some(h.neighbours.len()).filter(|rows| *rows > 0),
                joint: h.joint,
                end: h.end(drawing),
                ..Matrix::default()
            };
            // Words if they are asked for, and characters in any case.
            let joined = |words: &[usize], characters: &Option<Vec<usize>>| match (drawing.words, characters) {
                (true, _) => Some(groups(words)),
                (false, characters) => characters.as_deref().map(groups),
            };
            let (columns, rows) = (joined(&self.source_words, &self.source_characters), joined(&h.words, &h.characters));
            let mut matrix = match (&columns, &rows) {
                (None, None) => matrix,
                _ => matrix.merge_subwords(columns.as_deref().unwrap_or_default(), rows.as_deref().unwrap_or_default()),
            };
            if self.source_characters.is_some() {
                matrix.source.iter_mut().for_each(|label| *label = composed(label));
            }
            if h.characters.is_some() {
                matrix.output.iter_mut().for_each(|label| *label = composed(label));
            }
            let copied = h.copied();
            for (row, label) in matrix.output.iter_mut().enumerate() {
                let pieces = rows.as_ref().map_or(row..row + 1, |rows| rows.get(row).cloned().unwrap_or_default());
                if copied.get(pieces).is_some_and(|pieces| !pieces.is_empty() && pieces.iter().all(|copied| *copied)) {
                    label.push_str(COPIED);
                    matrix.copied = true;
                }
            }
            matrix
        };
        self.hypotheses.iter().map(one).collect()
    }
}

impl answer::Answer for Answer {
    /// The text of the best hypothesis.
    fn text(&self) -> String {
        self.hypotheses.first().map_or_else(String::new, |h| h.text.clone())
    }

    /// For each hypothesis the number of the source, the text and the score.
    fn list(&self, number: usize) -> Vec<String> {
        self.hypotheses.iter().map(|h| format!("{number}\t{}\t{:.4}", h.text, h.hypothesis.score)).collect()
    }

    fn confidence(&self) -> Option<f64> {
        self.hypotheses.first().and_then(|h| h.confidence)
    }

    fn impossible(&self) -> bool {
        self.hypotheses.is_empty()
    }

    fn heads(&self) -> usize {
        self.hypotheses.iter().map(|h| h.heads().len()).min().unwrap_or(0)
    }

    fn layers(&self) -> Option<answer::Layers> {
        self.hypotheses.iter().find_map(|h| h.inside.as_ref()).map(Inside::layers)
    }

    /// A matrix for each hypothesis: its units down the side, the source's across the top.
    fn pictures(&self, drawing: &Drawing) -> Vec<Picture> {
        if let Some(view) = drawing.view {
            return self.hypotheses.iter().filter_map(|h| Some(self.stack(h, h.inside.as_ref()?, view, drawing).into())).collect();
        }
        self.matrices(drawing).into_iter().map(Picture::from).collect()
    }
}

impl Serialize for AnswerText {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        #[derive(Serialize)]
        struct Object<'a> {
            text: &'a str,
            tokens: &'a [String],
            probabilities: &'a [f32],
            log_prob: f64,
            score: f64,
            #[serde(skip_serializing_if = "Option::is_none")]
            confidence: Option<f64>,
            #[serde(skip_serializing_if = "Option::is_none")]
            share: Option<f64>,
            #[serde(skip_serializing_if = "Option::is_none")]
            remembered: Option<[u32; 2]>,
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            neighbours: &'a [BesideNeighbour],
            #[serde(skip_serializing_if = "Option::is_none")]
            joint: Option<f64>,
            attention: &'a [Vec<f32>],
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            heads: &'a [Vec<Vec<f32>>],
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            gates: &'a [f32],
            #[serde(skip_serializing_if = "<[_]>::is_empty")]
            copied: &'a [f32],
        }
        let Hypothesis { log_prob, score, probabilities, attention, heads, gates, copied, .. } = &self.hypothesis;
        let AnswerText { text, tokens, confidence, share, remembered, neighbours, joint, .. } = self;
        let (confidence, share, remembered, joint) = (*confidence, *share, *remembered, *joint);
        Object {
            text,
            tokens,
            probabilities,
            log_prob: *log_prob,
            score: *score,
            confidence,
            share,
            remembered,
            neighbours,
            joint,
            attention,
            heads,
            gates,
            copied,
        }
        .serialize(serializer)
    }
}
