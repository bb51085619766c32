//! Layers by heads in characters.

use super::block::{Block, Line, flow};
use super::matrix::{self, Grid, cut};
use super::{Paint, wrap};
use crate::view::scale::{Figures, Portion, Scale, Tone};
use crate::view::stack::{HIDDEN, Stack, plain};

pub(super) fn draw(stack: &Stack, scale: Scale, paint: &dyn Paint, width: usize) -> Vec<Line> {
    let mut lines = vec![matrix::titled(&stack.input, &stack.text, paint, width)];
    let mask = stack.is_masked().then(|| format!("/ {HIDDEN}"));
    for note in [Some(stack.view.clone()), mask].into_iter().flatten() {
        lines.extend(wrap(&note, width).into_iter().map(|line| Line::new(&paint.dim(&line), 0)));
    }
    lines.push(Line::default());
    if stack.source.is_empty() || stack.output.is_empty() {
        lines.push(Line::new("no weights", 10));
        return lines;
    }
    if let Some((name, panel)) = stack.only() {
        let weights = plain(&panel.weights);
        let (source, output, evens) = (&stack.source, &stack.output, &stack.evens());
        let grid = Grid { name: &name, source, output, weights: &weights, probabilities: None, scale, evens };
        lines.extend(flow(&grid.panels(paint, width), width, 3));
        return lines;
    }
    for layer in &stack.layers {
        let mut blocks = Vec::new();
        for panel in &layer.panels {
            let weights = plain(&panel.weights);
            let name = if layer.name.is_empty() { panel.name.clone() } else { format!("{}, {}", layer.name, panel.name) };
            let edge = 2 * paint.edge().chars().count();
            for range in cut(&vec![1; stack.source.len()], width.saturating_sub(edge)) {
                let evens = stack.evens();
                let row = |(y, row): (usize, &Vec<f32>)| {
                    let portions: Vec<Portion> = range.clone().map(|x| evens.portion(y, x, row[x])).collect();
                    let painted = cells(paint, scale, &portions, &vec![1; range.len()]);
                    Line::new(paint.edge(), edge / 2).then(&painted, range.len()).then(paint.edge(), edge / 2)
                };
                let title = paint.text(&name, (range.len() + edge).max(16));
                let title = Line::new(&paint.dim(&title.text), title.width);
                blocks.push(Block { lines: std::iter::once(title).chain(weights.iter().enumerate().map(row)).collect() });
            }
        }
        lines.extend(flow(&blocks, width, 2));
        lines.push(Line::default());
    }
    lines.pop();
    lines
}

/// The cells of a row; what is not a number was hidden, and is drawn as that.
pub(super) fn cells(paint: &dyn Paint, scale: Scale, portions: &[Portion], widths: &[usize]) -> String {
    let mut at = 0;
    let run = |run: &[Portion]| {
        let widths = &widths[at..at + run.len()];
        at += run.len();
        match run.first() {
            Some(first) if first.weight.is_nan() => paint.dim(&"/".repeat(widths.iter().sum())),
            _ => paint.cells(&run.iter().map(|&portion| scale.tone(portion, Figures::of_matrix(scale))).collect::<Vec<Tone>>(), widths),
        }
    };
    portions.chunk_by(|a, b| a.weight.is_nan() == b.weight.is_nan()).map(run).collect()
}
