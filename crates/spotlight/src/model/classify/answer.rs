//! What a classifier says of a text.

use serde::Serialize;

use crate::model::answer::{self, Drawing, Layers, by_label, one_or_all};
use crate::model::layers::Reading;
use crate::view::{Picture, Shaded, Weighted, groups};

/// What the model says of one text.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// The text as typed.
    pub text: String,
    /// Its units as they are shown.
    pub tokens: Vec<String>,
    /// For each unit, the word it belongs to, to merge subwords in pictures.
    #[serde(skip)]
    pub words: Vec<usize>,
    /// The most probable label.
    pub label: String,
    /// The right label, if the question came with it. Only pictures show it.
    #[serde(skip)]
    pub truth: Option<String>,
    /// The probability of every label, in alphabetical order of the labels.
    #[serde(serialize_with = "by_label")]
    pub probabilities: Vec<(String, f32)>,
    /// Heads by units; no heads if the last state was taken.
    #[serde(serialize_with = "one_or_all")]
    pub attention: Vec<Vec<f32>>,
    /// Of an ensemble the numbers of the members, from 1, that the heads are of.
    #[serde(skip)]
    pub members: Vec<usize>,
    /// Units by labels: what each adds to the logit of each label, in alphabetical order of the labels. Together with a constant of each label they are the logits. Empty if the
    /// model cannot tell.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub contributions: Vec<Vec<f32>>,
    /// The self-attention of all layers, of an encoder that has any, if somebody asked for it.
    #[serde(skip)]
    pub reading: Option<Reading>,
}

impl Answer {
    /// As a picture.
    pub fn picture(&self) -> Shaded {
        let text = Weighted { members: self.members.clone(), ..Weighted::new(self.tokens.clone(), self.attention.clone()) };
        Shaded { label: self.label.clone(), truth: self.truth.clone(), probabilities: self.probabilities.clone(), text }
    }

    /// The probability of the label that was chosen.
    pub fn probability(&self) -> f32 {
        self.probabilities.iter().map(|(_, p)| *p).fold(0.0, f32::max)
    }
}

impl answer::Answer for Answer {
    /// Label and probability.
    fn text(&self) -> String {
        format!("{}\t{:.4}", self.label, self.probability())
    }

    /// Labels from the most probable, each with the number of the text.
    fn list(&self, number: usize) -> Vec<String> {
        let mut sorted: Vec<&(String, f32)> = self.probabilities.iter().collect();
        sorted.sort_by(|a, b| b.1.total_cmp(&a.1));
        sorted.iter().map(|(label, p)| format!("{number}\t{label}\t{p:.4}")).collect()
    }

    fn confidence(&self) -> Option<f64> {
        Some(self.probability().into())
    }

    fn heads(&self) -> usize {
        self.attention.len()
    }

    fn layers(&self) -> Option<Layers> {
        self.reading.as_ref().map(Reading::layers)
    }

    /// The text shaded by its weights.
    fn pictures(&self, drawing: &Drawing) -> Vec<Picture> {
        if let Some(view) = drawing.view {
            let judged = format!("{} ({:.2})", self.label, self.probability());
            let stack = self.reading.as_ref().and_then(|it| it.stack(view, drawing, &self.text, &judged, &self.tokens));
            return stack.into_iter().map(Picture::from).collect();
        }
        let mut picture = self.picture();
        picture.text.heads = drawing.heads(&picture.text.heads);
        picture.text.members = drawing.heads(&picture.text.members);
        if drawing.words {
            picture.text = picture.text.merge_subwords(&groups(&self.words));
        }
        vec![picture.into()]
    }
}
