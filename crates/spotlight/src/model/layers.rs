//! The attention of every layer of a Transformer: as tables, and as the pictures that are made of them.

use super::answer::{Drawing, Layers, View};
use super::encoder::TextEncoder;
use crate::Result;
use crate::axis::Axis;
use crate::memory;
use crate::params::Params;
use crate::tape::{Tape, Var};
use crate::view::{Layer, Panel, Stack, Weights};

/// For each layer its heads, each a table of a row for every position that looks.
pub(super) type Heads = Vec<Vec<Weights>>;

/// The views of what is read, by what a drawing says of them.
pub(super) const ENCODER: &str = "encoder self-attention: what is read looks at all that is read";
pub(super) const ROLLOUT: &str = "rollout of the encoder's attention: a product over the layers, not weights of any of them";

/// An error if these weights, taken off a tape and drawn, do not fit into the memory that is left.
pub(super) fn fit<'a>(tape: &Tape<f32>, weights: impl Iterator<Item = &'a Var>) -> Result<()> {
    // As tables, and in drawings, where a weight may be hidden.
    const BYTES: usize = size_of::<f32>() + size_of::<Option<f32>>();
    let numbers = weights.map(|&pairs| <[usize; 2]>::from(tape.shape(pairs))).map(|shape| memory::elements(&shape)).sum();
    memory::fits(|| "the attention of all layers, to be drawn,".into(), numbers, BYTES)
}

/// Some heads of one sequence of pairs, from the column `first` on: a table each, with `keys` columns.
pub(super) fn tables(tape: &Tape<f32>, pairs: Var, first: usize, heads: usize, keys: usize) -> Vec<Weights> {
    let (all, columns) = (tape.to_vec(pairs), tape.shape(pairs).1);
    let head = |head: usize| {
        let of_query = |query: &[f32]| query.chunks_exact(columns).map(|pair| pair[first + head]).collect();
        all.chunks_exact((keys * columns).max(1)).map(of_query).collect()
    };
    (0..heads).map(head).collect()
}

/// The self-attention of layers over one sequence of so many positions.
pub(super) fn of_itself(tape: &Tape<f32>, layers: &[Var], positions: usize) -> Heads {
    layers.iter().map(|&pairs| tables(tape, pairs, 0, tape.shape(pairs).1, positions)).collect()
}

/// The mean of some heads.
fn mean(heads: &[Weights]) -> Weights {
    let Some(first) = heads.first() else { return Weights::new() };
    let share = 1.0 / heads.len() as f32;
    let at = |i: usize, j: usize| heads.iter().map(|head| head[i][j]).sum::<f32>() * share;
    (0..first.len()).map(|i| (0..first[i].len()).map(|j| at(i, j)).collect()).collect()
}

/// Rollout over the layers of an encoder, the first applied first:
///
/// ```text
/// R = A_L ... A_2 A_1    with    A_l = (I + mean of the heads of layer l) / 2
/// ```
///
/// The half of `I` stands for the residual connection. Abnar and Zuidema, 2020, section 3.
pub(super) fn rollout(layers: &[Vec<Weights>]) -> Weights {
    let positions = layers.first().and_then(|heads| heads.first()).map_or(0, Vec::len);
    let mut all: Weights = (0..positions).map(|i| (0..positions).map(|j| f32::from(i == j)).collect()).collect();
    for heads in layers {
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

/// What a drawing shows of the layers of a view: all heads; of one layer the mean of its heads, or one head; or the rollout.
pub(super) fn drawn(layers: &Heads, view: View, drawing: &Drawing) -> Vec<Layer> {
    let masked = |weights: &Weights| {
        let hidden = |i: usize, j: usize| view == View::Decoder && j > i;
        let row = |(i, row): (usize, &Vec<f32>)| row.iter().enumerate().map(|(j, &w)| (!hidden(i, j)).then_some(w)).collect();
        weights.iter().enumerate().map(row).collect()
    };
    let panel = |name: String, weights: &Weights| Panel { name, weights: masked(weights) };
    if view == View::Rollout {
        let name = format!("rollout over {} layer{}", layers.len(), if layers.len() == 1 { "" } else { "s" });
        return vec![Layer { name: String::new(), panels: vec![panel(name, &rollout(layers))] }];
    }
    let layer = |(l, heads): (usize, &Vec<Weights>)| {
        let head = |h: usize| panel(format!("head {}", h + 1), &heads[h]);
        let panels = match (drawing.layer, drawing.head) {
            (_, Some(only)) => (only..heads.len()).take(1).map(head).collect(),
            (Some(_), None) if heads.len() > 1 => vec![panel(format!("mean of {} heads", heads.len()), &mean(heads))],
            _ => (0..heads.len()).map(head).collect(),
        };
        Layer { name: format!("layer {}", l + 1), panels }
    };
    layers.iter().enumerate().filter(|(l, _)| drawing.layer.is_none_or(|only| only == *l)).map(layer).collect()
}

/// The self-attention over one text of a model that reads and judges.
#[derive(Clone, Debug, PartialEq)]
pub struct Reading {
    layers: Heads,
}

impl Reading {
    /// Reads a text; nothing if its encoder has no attention, or the text no units.
    pub(super) fn of(encoder: &TextEncoder, params: &Params<f32>, ids: &[u32]) -> Result<Option<Self>> {
        let axis = Axis::new([ids.len()]);
        let tape = Tape::new(params);
        let read = encoder.look(&tape, ids, &axis)?;
        fit(&tape, read.weights.iter())?;
        let layers = of_itself(&tape, &read.weights, ids.len());
        Ok(Some(Reading { layers }).filter(|reading| !ids.is_empty() && !reading.layers.is_empty()))
    }

    /// How many layers and heads there are.
    pub(super) fn layers(&self) -> Layers {
        Layers { encoder: self.layers.len(), decoder: 0, heads: self.layers.first().map_or(0, Vec::len) }
    }

    /// As a picture of a text: what it was judged to be, and its units. Nothing for a view that models which write have.
    pub(super) fn stack(&self, view: View, drawing: &Drawing, input: &str, judged: &str, units: &[String]) -> Option<Stack> {
        let name = match view {
            View::Encoder => ENCODER,
            View::Rollout => ROLLOUT,
            View::Cross | View::Decoder => return None,
        };
        Some(Stack {
            view: name.into(),
            input: input.into(),
            text: judged.into(),
            source: units.to_vec(),
            output: units.to_vec(),
            layers: drawn(&self.layers, view, drawing),
        })
    }
}
