//! Attention of several layers with several heads: all of them as thumbnails on one scale, or one of them large.

use serde::Serialize;

use super::picture::Evens;
use super::scale::Portion;

/// Weights in which a pair that was hidden is nothing, not 0.
pub type Masked = Vec<Vec<Option<f32>>>;

/// The attention of a stack of layers. With a single panel it is drawn large, with several as thumbnails, a row for each layer.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Stack {
    /// What is shown, such as `cross-attention`.
    pub view: String,
    /// The text that was read, as typed.
    pub input: String,
    /// The text that was written.
    pub text: String,
    /// Labels of the positions looked at, one per column.
    pub source: Vec<String>,
    /// Labels of the positions that look, one per row.
    pub output: Vec<String>,
    /// The layers, the first at the top.
    pub layers: Vec<Layer>,
}

/// One layer.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Layer {
    /// Its name; empty for what belongs to no single layer.
    pub name: String,
    /// What is shown of it.
    pub panels: Vec<Panel>,
}

/// One table of weights, rows of `output` by columns of `source`.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Panel {
    /// Its name, such as `head 1` or `mean`.
    pub name: String,
    /// The weights; `null` where a position was hidden.
    pub weights: Masked,
}

impl Stack {
    /// The only panel with its whole name, if there is just one.
    pub(super) fn only(&self) -> Option<(String, &Panel)> {
        let mut all = self.layers.iter().flat_map(|layer| layer.panels.iter().map(move |panel| (layer, panel)));
        let (layer, panel) = all.next()?;
        if all.next().is_some() {
            return None;
        }
        let name = [&layer.name, &panel.name].into_iter().filter(|name| !name.is_empty()).cloned().collect::<Vec<_>>().join(", ");
        Some((name, panel))
    }

    /// What an even spread would give, in each row over the positions that it sees.
    pub(super) fn evens(&self) -> Evens {
        let all = self.source.len().max(1) as f32;
        let panel = self.layers.iter().flat_map(|layer| &layer.panels).next();
        let seen = |row: &Vec<Option<f32>>| row.iter().flatten().count().max(1) as f32;
        let rows = panel.map_or_else(Vec::new, |panel| panel.weights.iter().map(|row| all / seen(row)).collect());
        Evens { rows, columns: vec![1.0 / all; self.source.len()] }
    }

    /// Every weight that was not hidden beside an even spread.
    pub(super) fn portions(&self) -> Vec<Portion> {
        let evens = self.evens();
        let panels = self.layers.iter().flat_map(|layer| &layer.panels);
        let cells = panels
            .flat_map(|panel| panel.weights.iter().enumerate())
            .flat_map(|(y, row)| row.iter().enumerate().filter_map(move |(x, weight)| Some((y, x, (*weight)?))));
        cells.map(|(y, x, weight)| evens.portion(y, x, weight)).collect()
    }

    /// Whether anything was hidden.
    pub(super) fn is_masked(&self) -> bool {
        self.weights().any(|weight| weight.is_none())
    }

    /// The largest weight; 0 without any.
    pub(super) fn largest(&self) -> f32 {
        self.weights().flatten().fold(0.0, f32::max)
    }

    fn weights(&self) -> impl Iterator<Item = Option<f32>> + '_ {
        self.layers.iter().flat_map(|layer| &layer.panels).flat_map(|panel| panel.weights.iter().flatten().copied())
    }
}

/// What a drawing says of hidden positions.
pub(super) const HIDDEN: &str = "hidden: a position does not see those after it";

/// For renderers that take plain numbers: a hidden weight is not a number.
pub(super) fn plain(weights: &Masked) -> Vec<Vec<f32>> {
    weights.iter().map(|row| row.iter().map(|weight| weight.unwrap_or(f32::NAN)).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Who sees a single position looks there, and that says nothing.
    #[test]
    fn an_even_spread_is_one_over_what_is_seen() {
        let weights = vec![vec![Some(1.0), None, None], vec![Some(0.5), Some(0.5), None], vec![Some(0.2), Some(0.2), Some(0.6)]];
        let panel = Panel { name: String::new(), weights };
        let labels = ["a", "b", "c"].map(String::from).to_vec();
        let layers = vec![Layer { name: String::new(), panels: vec![panel] }];
        let stack = Stack { source: labels.clone(), output: labels, layers, ..Stack::default() };
        let times: Vec<f32> = stack.portions().into_iter().map(|portion| (portion.times() * 10.0).round() / 10.0).collect();
        assert_eq!(times, [1.0, 1.0, 1.0, 0.6, 0.6, 1.8]);
        assert!(Stack::default().portions().is_empty());
    }
}
