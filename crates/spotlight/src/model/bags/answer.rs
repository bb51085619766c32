//! What a model for bags says of a bag.

use serde::Serialize;

use crate::model::answer::{self, Drawing, by_label, one_or_all};
use crate::view::{self, Images, Picture};

/// What the model says of one bag.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Answer {
    /// The bag's name.
    pub bag: String,
    /// The most probable label.
    pub label: String,
    /// The right label, if the file tells it. Only pictures show it.
    #[serde(skip)]
    pub truth: Option<String>,
    /// The probability of every label, in alphabetical order of the labels.
    #[serde(serialize_with = "by_label")]
    pub probabilities: Vec<(String, f32)>,
    /// Heads by rows.
    #[serde(serialize_with = "one_or_all")]
    pub attention: Vec<Vec<f32>>,
    /// The rows as they were given, for pictures of them.
    #[serde(skip)]
    pub rows: Vec<Vec<f32>>,
}

impl Answer {
    /// A weight for each row: the mean over the heads.
    pub fn weights(&self) -> Vec<f32> {
        mean(&self.attention)
    }

    /// The probability of the label that was chosen.
    pub fn probability(&self) -> f32 {
        self.probabilities.iter().map(|(_, p)| *p).fold(0.0, f32::max)
    }

    /// As a picture, with rows numbered from 1.
    pub fn picture(&self) -> view::Bag {
        view::Bag {
            id: self.bag.clone(),
            label: self.label.clone(),
            truth: self.truth.clone(),
            probabilities: self.probabilities.clone(),
            rows: (1..=self.rows.len()).map(|row| format!("row {row}")).collect(),
            weights: self.weights(),
            images: None,
        }
    }
}

fn mean(heads: &[Vec<f32>]) -> Vec<f32> {
    view::Weighted::new(Vec::new(), heads.to_vec()).mean()
}

impl answer::Answer for Answer {
    /// Bag, label and probability.
    fn text(&self) -> String {
        format!("{}\t{}\t{:.4}", self.bag, self.label, self.probability())
    }

    fn confidence(&self) -> Option<f64> {
        Some(self.probability().into())
    }

    fn heads(&self) -> usize {
        self.attention.len()
    }

    /// The bag with a weight for each row.
    fn pictures(&self, drawing: &Drawing) -> Vec<Picture> {
        let images = drawing.image.map(|(width, height)| Images { width, height, pixels: self.rows.clone() });
        vec![view::Bag { weights: mean(&drawing.heads(&self.attention)), images, ..self.picture() }.into()]
    }
}
