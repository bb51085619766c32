//! Answers as values: every task has its own type, all of them can be written as a line of text, as JSON, and drawn.

use serde::ser::SerializeMap;
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Value;

use crate::view::Picture;

/// What a model says to one question.
pub trait Answer: ToJson + Send {
    /// As a line of text, columns apart by tabs.
    fn text(&self) -> String;

    /// As a list of alternatives, a line each, that begins with the number of the question; just the line if there are none.
    fn list(&self, _number: usize) -> Vec<String> {
        vec![self.text()]
    }

    /// How probable it is that the answer is right, if the model can say.
    fn confidence(&self) -> Option<f64> {
        None
    }

    /// Whether nothing of what may be answered was possible.
    fn impossible(&self) -> bool {
        false
    }

    /// Heads that can be drawn.
    fn heads(&self) -> usize;

    /// The layers that can be looked into, of a model that has layers of attention and was asked to show them.
    fn layers(&self) -> Option<Layers> {
        None
    }

    /// Where the model looked.
    fn pictures(&self, drawing: &Drawing) -> Vec<Picture>;
}

/// What can be serialised, as a value of JSON; an answer is one object.
pub trait ToJson {
    /// The fields in their order, numbers in full precision.
    fn to_json(&self) -> Value;
}

impl<S: Serialize> ToJson for S {
    fn to_json(&self) -> Value {
        // Answers are plain data with names as keys: nothing in them can fail.
        serde_json::to_value(self).unwrap_or_default()
    }
}

/// What to draw of an answer. What a kind of picture has no use for it does not read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Drawing {
    /// Whether subwords are merged to words.
    pub words: bool,
    /// Of several heads only this one, counted from 0.
    pub head: Option<usize>,
    /// Which attention of a Transformer; without it, what the answer took from its source.
    pub view: Option<View>,
    /// Of several layers only this one, counted from 0: the mean of its heads, or one head.
    pub layer: Option<usize>,
    /// The features of a row are the pixels of an image: so many across and down.
    pub image: Option<(usize, usize)>,
}

/// The attentions of a Transformer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum View {
    /// Of what is written to what was read.
    Cross,
    /// Of what was read to itself.
    Encoder,
    /// Of what is written to what was written before.
    Decoder,
    /// How much of each position read arrives at the top of the encoder, if attention were all that moves it. Abnar and Zuidema, 2020.
    Rollout,
}

/// How many layers and heads can be looked into.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub struct Layers {
    /// Of the encoder; 0 if it has no attention.
    pub encoder: usize,
    /// Of the decoder.
    pub decoder: usize,
    /// Heads of each.
    pub heads: usize,
}

impl Layers {
    /// Layers of a view.
    pub fn of(&self, view: View) -> usize {
        match view {
            View::Cross | View::Decoder => self.decoder,
            View::Encoder | View::Rollout => self.encoder,
        }
    }
}

impl Drawing {
    /// The heads to draw.
    pub(super) fn heads<T: Clone>(&self, all: &[T]) -> Vec<T> {
        match self.head {
            Some(head) => all.get(head).into_iter().cloned().collect(),
            None => all.to_vec(),
        }
    }
}

/// Probabilities as an object, `{label: p}`, in their order.
pub(super) fn by_label<S: Serializer>(probabilities: &[(String, f32)], serializer: S) -> Result<S::Ok, S::Error> {
    let mut map = serializer.serialize_map(Some(probabilities.len()))?;
    for (label, probability) in probabilities {
        map.serialize_entry(label, probability)?;
    }
    map.end()
}

/// Weights of one head as a list, of several as a list of lists.
pub(super) fn one_or_all<S: Serializer>(heads: &[Vec<f32>], serializer: S) -> Result<S::Ok, S::Error> {
    match heads {
        [one] => one.serialize(serializer),
        several => several.serialize(serializer),
    }
}
