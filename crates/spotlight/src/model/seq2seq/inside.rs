//! The attention of every layer of a Transformer while it read a source and wrote an answer.

use super::answer::{Answer, AnswerText};
use super::task::Source;
use super::{Net, Transducer};
use crate::Result;
use crate::axis::Axis;
use crate::decoder::Decoder;
use crate::model::answer::{Drawing, Layers, View};
use crate::params::Params;
use crate::tape::{Tape, Var};
use crate::text::vocab::START;
use crate::view::{Layer, Panel, Stack, Weights};

/// For each layer its heads, each a table of a row for every position that looks.
type Heads = Vec<Vec<Weights>>;

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
        let table = |x: Var, first: usize, heads: usize, keys: usize| -> Vec<Weights> {
            let (all, columns) = (tape.to_vec(x), tape.shape(x).1);
            let head = |head: usize| {
                let of_query = |query: &[f32]| query.chunks_exact(columns).map(|pair| pair[first + head]).collect();
                all.chunks_exact((keys * columns).max(1)).map(of_query).collect()
            };
            (0..heads).map(head).collect()
        };
        let own = |x: &Var, keys: usize| table(*x, 0, tape.shape(*x).1, keys);
        let layers = decoded.own.len().max(1);
        let cross = decoded.weights.map_or_else(Vec::new, |weights| {
            let heads = tape.shape(weights).1 / layers;
            (0..layers).map(|layer| table(weights, layer * heads, heads, source.len())).collect()
        });
        Ok(Inside {
            encoder: read.weights.iter().map(|x| own(x, source.len())).collect(),
            decoder: decoded.own.iter().map(|x| own(x, inputs.len())).collect(),
            cross,
        })
    }

    /// How many layers and heads there are.
    pub fn layers(&self) -> Layers {
        let heads = self.decoder.first().or(self.encoder.first()).map_or(0, Vec::len);
        Layers { encoder: self.encoder.len(), decoder: self.decoder.len(), heads }
    }

    /// Rollout over the layers of the encoder, the first applied first:
    ///
    /// ```text
    /// R = A_L ... A_2 A_1    with    A_l = (I + mean of the heads of layer l) / 2
    /// ```
    ///
    /// The half of `I` stands for the residual connection. Abnar and Zuidema, 2020, section 3.
    pub fn rollout(&self) -> Weights {
        let positions = self.encoder.first().and_then(|heads| heads.first()).map_or(0, Vec::len);
        let mut all: Weights = (0..positions).map(|i| (0..positions).map(|j| f32::from(i == j)).collect()).collect();
        for heads in &self.encoder {
            let mut step = mean(heads);
            for (i, row) in step.iter_mut().enumerate() {
                row.iter_mut().enumerate().for_each(|(j, weight)| *weight = 0.5 * (*weight + f32::from(i == j)));
            }
            let through =
                |row: &Vec<f32>| (0..positions).map(|j| row.iter().zip(&all).map(|(weight, below)| weight * below[j]).sum()).collect();
            all = step.iter().map(through).collect();
        }
        all
    }
}

/// The mean of some heads.
fn mean(heads: &[Weights]) -> Weights {
    let Some(first) = heads.first() else { return Weights::new() };
    let share = 1.0 / heads.len() as f32;
    let at = |i: usize, j: usize| heads.iter().map(|head| head[i][j]).sum::<f32>() * share;
    (0..first.len()).map(|i| (0..first[i].len()).map(|j| at(i, j)).collect()).collect()
}

impl Transducer {
    /// Adds the attention of all layers to answers.
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
            View::Encoder => ("encoder self-attention: what is read looks at all that is read", read(), read(), &inside.encoder),
            View::Rollout => (
                "rollout of the encoder's attention: a product over the layers, not weights of any of them",
                read(),
                read(),
                &inside.encoder,
            ),
        };
        let masked = |weights: &Weights| {
            let hidden = |i: usize, j: usize| view == View::Decoder && j > i;
            let row = |(i, row): (usize, &Vec<f32>)| row.iter().enumerate().map(|(j, &w)| (!hidden(i, j)).then_some(w)).collect();
            weights.iter().enumerate().map(row).collect()
        };
        let panel = |name: String, weights: &Weights| Panel { name, weights: masked(weights) };
        let layers = if view == View::Rollout {
            vec![Layer {
                name: String::new(),
                panels: vec![panel(
                    format!("rollout over {} layer{}", heads.len(), if heads.len() == 1 { "" } else { "s" }),
                    &inside.rollout(),
                )],
            }]
        } else {
            let layer = |(l, heads): (usize, &Vec<Weights>)| {
                let head = |h: usize| panel(format!("head {}", h + 1), &heads[h]);
                let panels = match (drawing.layer, drawing.head) {
                    (_, Some(only)) => (only..heads.len()).take(1).map(head).collect(),
                    (Some(_), None) if heads.len() > 1 => vec![panel(format!("mean of {} heads", heads.len()), &mean(heads))],
                    _ => (0..heads.len()).map(head).collect(),
                };
                Layer { name: format!("layer {}", l + 1), panels }
            };
            heads.iter().enumerate().filter(|(l, _)| drawing.layer.is_none_or(|only| only == *l)).map(layer).collect()
        };
        Stack { view: name.into(), input: self.source.clone(), text: text.text.clone(), source, output, layers }
    }
}
