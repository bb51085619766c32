//! A matrix of characters: source units across the top, output units down the side, cut into panels where it is too wide.

use super::block::{Block, Line, flow};
use super::stack::cells;
use super::{Label, Paint, evenness, wrap};
use crate::view::picture::{Evens, Matrix};
use crate::view::scale::{Portion, Scale};
use std::ops::Range;

const LONGEST_ROW_LABEL: usize = 16;
const LONGEST_COLUMN_LABEL: usize = 12;

pub(super) fn draw(matrix: &Matrix, scale: Scale, paint: &dyn Paint, width: usize) -> Vec<Line> {
    let matrix = &matrix.with_end_row();
    let mut lines = vec![titled(&matrix.input, &matrix.text, paint, width)];
    if let Some(score) = matrix.score {
        let says = format!("score {score:.4}: {}", matrix.score_is());
        lines.extend(wrap(&says, width).iter().map(|line| Line::new(&paint.dim(line), 0)));
    }
    let legend = matrix.legend().into_iter().flat_map(|legend| wrap(legend, width));
    lines.extend(legend.map(|line| Line::new(&paint.dim(&line), 0)));
    lines.push(Line::default());
    let heads = matrix.named_heads();
    if heads.is_empty() || matrix.source.is_empty() || matrix.output.is_empty() {
        lines.extend(empty(matrix, paint, width));
        return lines;
    }
    let (mut blocks, evens) = (Vec::new(), matrix.cell_evens());
    for (name, weights) in &heads {
        let grid = Grid {
            name,
            source: &matrix.source,
            output: &matrix.output,
            weights,
            probabilities: matrix.probabilities.as_deref(),
            scale,
            evens: &evens,
        };
        blocks.extend(grid.panels(paint, width));
    }
    lines.push(Line::new(&paint.dim(&paint.axes("writes", "reads")), 0));
    lines.extend(flow(&blocks, width, 3));
    lines.extend(evenness(matrix.heads.iter().flat_map(|head| evens.portions(head)), paint, width));
    lines
}

/// What was read and what was written.
pub(super) fn titled(input: &str, text: &str, paint: &dyn Paint, width: usize) -> Line {
    let (whole_input, whole_text) = (input, text);
    let arrow = paint.arrow();
    let room = width.saturating_sub(arrow.chars().count() + 2);
    // Each side may take what the other leaves, and half in any case.
    let input = paint.text(whole_input, room);
    let text = paint.text(whole_text, room.saturating_sub(input.width).max(room / 2));
    let input = paint.text(whole_input, room - text.width);
    let line = format!("{} {arrow} {}", input.text, text.text);
    Line::new(&paint.strong(&line), input.width + text.width + 2 + arrow.chars().count())
}

/// Without columns, rows or heads the labels and probabilities that exist are still worth seeing.
fn empty(matrix: &Matrix, paint: &dyn Paint, width: usize) -> Vec<Line> {
    let count = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let (source, output) = (count(matrix.source.len(), "source unit"), count(matrix.output.len(), "output unit"));
    let note = format!("no weights: {source}, {output}");
    let mut lines: Vec<Line> = wrap(&note, width).iter().map(|line| Line::new(line, line.len())).collect();
    for (index, unit) in matrix.output.iter().enumerate() {
        let label = paint.row_unit(unit, LONGEST_ROW_LABEL.min(width / 2));
        let probability = matrix.probabilities.as_ref().and_then(|each| each.get(index));
        let probability = probability.map_or(String::new(), |p| format!("  {p:.2}"));
        lines.push(Line::new("  ", 2).then(&label.text, label.width).then(&probability, probability.len()));
    }
    lines
}

/// One table of weights with its labels.
pub(super) struct Grid<'a> {
    pub name: &'a str,
    pub source: &'a [String],
    pub output: &'a [String],
    pub weights: &'a [Vec<f32>],
    pub probabilities: Option<&'a [f32]>,
    pub scale: Scale,
    pub evens: &'a Evens,
}

/// The labels of a grid as they are drawn, and the columns they take.
struct Layout {
    rows: Vec<Label>,
    columns: Vec<Label>,
    widths: Vec<usize>,
    left: usize,
}

impl Grid<'_> {
    /// The grid in as many panels as the width asks for, each with all rows and some of the columns.
    pub fn panels(&self, paint: &dyn Paint, width: usize) -> Vec<Block> {
        let row = |unit: &String| paint.row_unit(unit, LONGEST_ROW_LABEL.min(width / 4));
        let column = |unit: &String| paint.unit(unit, LONGEST_COLUMN_LABEL.min(width / 4));
        let rows: Vec<Label> = self.output.iter().map(row).collect();
        let columns: Vec<Label> = self.source.iter().map(column).collect();
        // Characters stay narrow beside a few longer units, such as features.
        let narrow = 2 * columns.iter().filter(|label| label.width <= paint.narrow()).count() > columns.len();
        let widths: Vec<usize> = columns.iter().map(|label| paint.column(label.width, narrow)).collect();
        let left = rows.iter().map(|label| label.width).max().unwrap_or(0) + 1;

        let probability = if self.probabilities.is_some() { 5 } else { 0 };
        let beside = 2 * paint.edge().chars().count() + probability;
        let ranges = cut_evenly(&widths, width.saturating_sub(left + beside));
        let layout = Layout { rows, columns, widths, left };
        ranges.into_iter().map(|range| self.panel(paint, &layout, range)).collect()
    }

    fn panel(&self, paint: &dyn Paint, layout: &Layout, range: Range<usize>) -> Block {
        let Layout { rows, columns, widths, left } = layout;
        let (labels, widths) = (&columns[range.clone()], &widths[range.clone()]);
        let total: usize = widths.iter().sum();
        let edge = paint.edge();
        let edge_width = edge.chars().count();

        let mut titles = vec![self.name.to_string()];
        if labels.len() < columns.len() {
            titles.push(format!("columns {}-{} of {}", range.start + 1, range.end, columns.len()));
        }
        titles.retain(|title| !title.is_empty());
        let mut lines: Vec<Line> = titles.iter().map(|title| Line::new(&paint.dim(title), title.len())).collect();

        let mut header = Line::default().pad(left + edge_width);
        for (label, &width) in labels.iter().zip(widths) {
            let (start, end) = (header.width + width.saturating_sub(label.width) / 2, header.width + width);
            header = header.pad(start).then(&label.text, label.width).pad(end);
        }
        if self.probabilities.is_some() {
            header = header.pad(left + total + 2 * edge_width).then(&paint.dim(" p"), 2);
        }
        lines.push(header);
        if let Some(rule) = paint.rule() {
            lines.push(Line::default().pad(left + edge_width).then(&String::from(rule).repeat(total), total));
        }
        for (index, (label, weights)) in rows.iter().zip(self.weights).enumerate() {
            let name = Line::default().pad(left - 1 - label.width).then(&label.text, label.width);
            let portions: Vec<Portion> = range.clone().map(|column| self.evens.portion(index, column, weights[column])).collect();
            let cells = cells(paint, self.scale, &portions, widths);
            let mut line = name.then(" ", 1).then(edge, edge_width).then(&cells, total).then(edge, edge_width);
            if let Some(probability) = self.probabilities.and_then(|each| each.get(index)) {
                line = line.then(&paint.dim(&format!(" {probability:.2}")), 5);
            }
            lines.push(line);
        }
        Block { lines }
    }
}

/// Ranges of columns that fit into `room`, at least one column each.
pub(super) fn cut(widths: &[usize], room: usize) -> Vec<Range<usize>> {
    let mut ranges = Vec::new();
    let (mut start, mut used) = (0, 0);
    for (index, width) in widths.iter().enumerate() {
        if index > start && used + width > room {
            ranges.push(start..index);
            (start, used) = (index, 0);
        }
        used += width;
    }
    if start < widths.len() {
        ranges.push(start..widths.len());
    }
    ranges
}

/// As many ranges as `cut` makes, but none much smaller than the others.
fn cut_evenly(widths: &[usize], room: usize) -> Vec<Range<usize>> {
    let ranges = cut(widths, room);
    let even = widths.iter().sum::<usize>().div_ceil(ranges.len().max(1));
    (even..room).map(|room| cut(widths, room)).find(|narrower| narrower.len() == ranges.len()).unwrap_or(ranges)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panels_hold_every_column_once() {
        assert_eq!(cut(&[2, 2, 2, 2, 2], 5), [0..2, 2..4, 4..5]);
        assert_eq!(cut(&[9, 1, 1], 5), [0..1, 1..3]);
        assert!(cut(&[], 5).is_empty());
        assert_eq!(cut_evenly(&[2, 2, 2, 2], 6), [0..2, 2..4]);
        assert_eq!(cut_evenly(&[1; 5], 9).len(), 1);
        assert_eq!(cut_evenly(&[9, 1], 5), [0..1, 1..2]);
        assert!(cut_evenly(&[], 5).is_empty());
    }
}
