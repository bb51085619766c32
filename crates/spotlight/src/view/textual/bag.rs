//! A bag: a bar per row, or the rows' images with their weights.

use super::block::{Block, Line, flow};
use super::{Paint, decision};
use crate::view::Bag;

const LONGEST_LABEL: usize = 24;
const LONGEST_BAR: usize = 50;

pub(super) fn draw(bag: &Bag, paint: &dyn Paint, width: usize) -> Vec<Line> {
    let id = paint.text(&bag.id, width);
    let mut lines = vec![Line::new(&paint.dim(&id.text), id.width)];
    lines.extend(decision(&bag.label, &bag.probabilities, paint, width));
    lines.push(Line::default());
    if bag.rows.is_empty() {
        lines.push(Line::new("(empty bag)", 11));
        return lines;
    }
    match &bag.images {
        Some(images) if images.width > 0 && images.height > 0 && 2 * images.width <= width => {
            let blocks: Vec<Block> = (0..bag.rows.len()).map(|row| image(bag, row, images.width, &images.grey(row), paint)).collect();
            lines.extend(flow(&blocks, width, 3));
        }
        _ => lines.extend(bars(bag, paint, width)),
    }
    lines
}

fn image(bag: &Bag, row: usize, pixels_across: usize, grey: &[f32], paint: &dyn Paint) -> Block {
    let columns = (2 * pixels_across).max(5);
    let label = paint.text(&bag.rows[row], columns);
    let mut block = Block { lines: vec![Line::new(&label.text, label.width)] };
    for line in grey.chunks(pixels_across) {
        block.lines.push(line.iter().fold(Line::default(), |line, &pixel| line.then(&paint.pixel(pixel), 2)));
    }
    block.lines.push(Line::new(&paint.strip(bag.weights[row], columns), columns));
    block
}

fn bars(bag: &Bag, paint: &dyn Paint, width: usize) -> Vec<Line> {
    let labels: Vec<_> = bag.rows.iter().map(|row| paint.text(row, LONGEST_LABEL.min(width / 3))).collect();
    let left = labels.iter().map(|label| label.width).max().unwrap_or(0);
    let edge = paint.edge();
    let bar = width.saturating_sub(left + 2 * edge.chars().count() + 8).clamp(1, LONGEST_BAR);
    let row = |(label, &weight): (&super::Label, &f32)| {
        let line = Line::default().pad(left - label.width).then(&label.text, label.width).then(" ", 1).then(edge, 0);
        line.then(&paint.bar(weight, bar), bar).then(edge, 0).then(&format!(" {weight:.4}"), 7)
    };
    labels.iter().zip(&bag.weights).map(row).collect()
}
