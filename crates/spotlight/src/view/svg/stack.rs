//! Layers by heads: a row of thumbnails for each layer, all on one scale; or one head large.

use super::colours::Colours;
use super::matrix::{Grid, titled};
use super::pen::{Fragment, Style, flow, text_width};
use super::{Look, MARGIN, WIDEST, cells};
use crate::view::scale::{Rgb, Scale};
use crate::view::stack::{HIDDEN, Panel, Stack, plain};

/// The colour of what was hidden: none of the table's, on light and dark pages.
pub(super) const MASK: Rgb = Rgb { r: 0x9c, g: 0xa0, b: 0xaa };

pub(super) fn draw(stack: &Stack, look: Look) -> Fragment {
    let mut picture = titled(&stack.input, &stack.text);
    let mask = stack.is_masked().then(|| format!("grey is {HIDDEN}"));
    for note in [Some(stack.view.clone()), mask].into_iter().flatten() {
        let y = picture.height + 15.0;
        picture.text(0.0, y, 12.0, Style::Soft, &note);
        picture.grow(text_width(note.chars().count(), 12.0), y + 2.0);
    }
    if let Some((name, panel)) = stack.only().filter(|_| !stack.source.is_empty() && !stack.output.is_empty()) {
        let weights = plain(&panel.weights);
        let (source, output) = (&stack.source, &stack.output);
        let evens = &stack.evens();
        let axes = ("looks", "looked at");
        let grid =
            Grid { name: &name, axes, source, output, weights: &weights, probabilities: None, small: false, look, evens, as_runs: false };
        picture.below(grid.draw(), 18.0);
        return picture;
    }
    for layer in &stack.layers {
        let mut row = Fragment::default();
        row.text(0.0, 12.0, 12.0, Style::Ink, &layer.name);
        row.grow(text_width(layer.name.chars().count(), 12.0), 16.0);
        let panels = layer.panels.iter().map(|panel| thumbnail(panel, stack, look)).collect();
        row.below(flow(panels, WIDEST, MARGIN / 2.0), 2.0);
        picture.below(row, 14.0);
    }
    picture
}

fn thumbnail(panel: &Panel, stack: &Stack, look: Look) -> Fragment {
    let cell = match stack.source.len().max(stack.output.len()) {
        0..=16 => 10.0,
        17..=40 => 5.0,
        41..=120 => 3.0,
        _ => 1.0,
    };
    let mut drawn = Fragment::default();
    drawn.text(0.0, 11.0, 10.0, Style::Soft, &panel.name);
    drawn.grow(text_width(panel.name.chars().count(), 10.0), 15.0);
    let top = drawn.height;
    let evens = stack.evens();
    let row = |(y, row): (usize, &Vec<Option<f32>>)| -> Vec<Option<usize>> {
        row.iter().enumerate().map(|(x, weight)| weight.map(|weight| look.scale.step(evens.portion(y, x, weight)))).collect()
    };
    let steps: Vec<Vec<Option<usize>>> = panel.weights.iter().enumerate().map(row).collect();
    drawn.raw(&cells::runs(&steps, 0.0, top, cell, cell, |step| stroke(look.colours, look.scale, step)));
    drawn.grow(cell * stack.source.len() as f64, top + cell * stack.output.len() as f64);
    drawn
}

/// The stroke of a step of the scale; what has none was hidden.
pub(super) fn stroke(colours: Colours, scale: Scale, step: Option<usize>) -> String {
    step.map_or_else(|| format!("stroke=\"{}\"", MASK.hex()), |step| colours.stroke(scale.ramp(), step))
}
