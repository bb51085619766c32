//! The attention of every layer of a Transformer while it read a source and wrote an answer.

use super::answer::{Answer, AnswerText};
use super::task::Source;
use super::{Net, Transducer};
use crate::Result;
use crate::axis::Axis;
use crate::decoder::Decoder;
use crate::model::answer::{Drawing, Layers, View};
use crate::model::layers::{self, ENCODER, Heads, ROLLOUT, drawn, fit, of_itself, tables};
use crate::params::Params;
use crate::tape::Tape;
use crate::text::vocab::START;
use crate::view::{Stack, Weights};

/// The weights of one source and one answer. The answer is read as a known target: the numbers are those of the search, to rounding.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Inside {
    /// Source by source.
    pub encoder: Heads,
    /// Answer by what came before: column 0 is the start, column `i` the answer's unit `i`; 0 ahead of a row.
    pub decoder: Heads,
    /// Answer by source.
    pub cross: Heads,
}

impl Inside {
    /// Reads a source and an answer without its end.
    pub fn of(net: &Net, params: &Params<f32>, source: &[u32], answer: &[u32]) -> Result<Self> {
        let tape = Tape::new(params);
        let read = net.read(&tape, source, &Axis::new([source.len()]), true)?;
        let begun = net.decoder().begin(&tape, &read)?;
        let inputs: Vec<u32> = std::iter::once(START).chain(answer.iter().copied()).take(answer.len()).collect();
        let decoded = net.decode(&tape, &begun, &inputs, &Axis::new([inputs.len()]), true)?;
        fit(&tape, read.weights.iter().chain(&decoded.own).chain(&decoded.weights))?;
        let layers = decoded.own.len().max(1);
        let cross = decoded.weights.map_or_else(Vec::new, |weights| {
            let heads = tape.shape(weights).1 / layers;
            (0..layers).map(|layer| tables(&tape, weights, layer * heads, heads, source.len())).collect()
        });
        Ok(Inside { encoder: of_itself(&tape, &read.weights, source.len()), decoder: of_itself(&tape, &decoded.own, inputs.len()), cross })
    }

    /// How many layers and heads there are.
    pub fn layers(&self) -> Layers {
        let heads = self.decoder.first().or(self.encoder.first()).map_or(0, Vec::len);
        Layers { encoder: self.encoder.len(), decoder: self.decoder.len(), heads }
    }

    /// Rollout over the layers of the encoder. Abnar and Zuidema, 2020.
    pub fn rollout(&self) -> Weights {
        layers::rollout(&self.encoder)
    }
}

impl Transducer {
    /// Adds the attention of all layers to answers; of an ensemble that of its first member.
    pub(super) fn look_inside(&self, sources: &[Source], answers: &mut [Answer]) -> Result<()> {
        for ((source, features), answer) in sources.iter().zip(answers) {
            let units = self.vocabularies.source_units(source, features.as_deref());
            let ids: Vec<u32> = units.iter().map(|unit| unit.id).collect();
            for text in answer.hypotheses.iter_mut().filter(|_| !ids.is_empty()) {
                let inside = Inside::of(&self.net, &self.params, &ids, &text.hypothesis.ids)?;
                text.inside = Some(inside).filter(|inside| inside.layers().heads > 0);
            }
        }
        Ok(())
    }
}

impl Answer {
    /// Layers by heads of a view; of one layer the mean of its heads, or one head.
    pub(super) fn stack(&self, text: &AnswerText, inside: &Inside, view: View, drawing: &Drawing) -> Stack {
        let written = || text.tokens.clone();
        let before = || std::iter::once("<s>".to_string()).chain(text.tokens.iter().cloned()).take(text.tokens.len()).collect();
        let read = || self.source_tokens.clone();
        let (name, output, source, heads) = match view {
            View::Cross => ("cross-attention: what is written looks at what was read", written(), read(), &inside.cross),
            View::Decoder => {
                ("decoder self-attention: what is written looks at what was written before", written(), before(), &inside.decoder)
            }
            View::Encoder => (ENCODER, read(), read(), &inside.encoder),
            View::Rollout => (ROLLOUT, read(), read(), &inside.encoder),
        };
        let layers = drawn(heads, view, drawing);
        Stack { view: name.into(), input: self.source.clone(), text: text.text.clone(), source, output, layers }
    }
}
