//! A matrix: source units across the top, output units down the side, the probability of each output unit beside its row.

use super::cells;
use super::pen::{Fragment, Style, flow, text_width};
use super::stack;
use super::{Look, MARGIN, WIDEST, caption, note_evenness};
use crate::view::label::{self, Label};
use crate::view::picture::{Evens, Matrix};
use crate::view::scale::{self, Figures};
use std::ops::Range;

const TITLE: f64 = 15.0;
const LONGEST_TITLE: usize = 90;
const LONGEST_LABEL: usize = 18;
/// The size of the names of the axes.
const AXIS: f64 = 11.0;
/// Matrices with more cells are drawn as runs, without a tooltip for each cell.
const MOST_TOOLTIPS: usize = 4096;
/// Matrices with more columns are cut into bands of at most so many, under a map of the whole, ...
const WIDE: usize = 120;
const BAND: usize = 60;
/// ... unless they have so many rows that bands would lie too far apart.
const TALL: usize = 150;

pub(super) fn draw(matrix: &Matrix, look: Look) -> Fragment {
    let matrix = &matrix.with_end_row();
    let mut picture = heading(matrix);
    let heads = matrix.named_heads();
    if heads.is_empty() || matrix.source.is_empty() || matrix.output.is_empty() {
        picture.below(empty(matrix), 14.0);
        return picture;
    }
    let several = heads.len() > 1;
    let evens = matrix.cell_evens();
    let grids = heads.iter().map(|(name, weights)| {
        let grid = Grid {
            name,
            axes: ("writes", "reads"),
            source: &matrix.source,
            output: &matrix.output,
            weights,
            probabilities: matrix.probabilities.as_deref(),
            small: several,
            look,
            evens: &evens,
            as_runs: false,
        };
        grid.draw()
    });
    let mut grids = flow(grids.collect(), WIDEST, MARGIN);
    note_evenness(&mut grids, matrix.heads.iter().flat_map(|head| evens.portions(head)));
    picture.below(grids, 18.0);
    picture
}

fn heading(matrix: &Matrix) -> Fragment {
    let mut heading = titled(&matrix.input, &matrix.text);
    if let Some(score) = matrix.score {
        let says = matrix.score_is();
        heading.text(0.0, TITLE + 19.0, 12.0, Style::Soft, &format!("score {score:.4}: {says}"));
        heading.grow(text_width(says.len() + 15, 12.0), TITLE + 23.0);
    }
    if let Some(legend) = matrix.legend() {
        heading.below(caption(legend), 2.0);
    }
    heading
}

/// What was read and what was written.
pub(super) fn titled(whole_input: &str, whole_text: &str) -> Fragment {
    // Each side may take what the other leaves, and half in any case.
    let input = label::shorten_text(whole_input, LONGEST_TITLE);
    let text = label::shorten_text(whole_text, (LONGEST_TITLE - input.width).max(LONGEST_TITLE / 2));
    let input = label::shorten_text(whole_input, LONGEST_TITLE - text.width);
    let mut heading = Fragment::default();
    heading.text(0.0, TITLE, TITLE, Style::Ink, &format!("{} → {}", input.text, text.text));
    heading.grow(text_width(input.width + text.width + 3, TITLE), TITLE + 4.0);
    heading
}

/// Without columns, rows or heads the labels and probabilities that exist are still worth seeing.
fn empty(matrix: &Matrix) -> Fragment {
    let mut note = Fragment::default();
    let count = |count: usize, what: &str| format!("{count} {what}{}", if count == 1 { "" } else { "s" });
    let text = format!("no weights: {}, {}", count(matrix.source.len(), "source unit"), count(matrix.output.len(), "output unit"));
    note.text(0.0, 12.0, 12.0, Style::Soft, &text);
    note.grow(text_width(text.len(), 12.0), 16.0);
    for (index, unit) in matrix.output.iter().enumerate() {
        let y = note.height + 16.0;
        let unit = label::shorten(unit, LONGEST_LABEL);
        note.text(0.0, y, 13.0, Style::Mono, &unit.text);
        if let Some(probability) = matrix.probabilities.as_ref().and_then(|each| each.get(index)) {
            note.text(text_width(unit.width + 1, 13.0), y, 11.0, Style::SoftMono, &format!("{probability:.2}"));
        }
        note.grow(text_width(unit.width + 6, 13.0), y + 4.0);
    }
    note
}

/// One table of weights with its labels.
pub(super) struct Grid<'a> {
    pub name: &'a str,
    /// What runs down the side and across the top.
    pub axes: (&'a str, &'a str),
    pub source: &'a [String],
    pub output: &'a [String],
    pub weights: &'a [Vec<f32>],
    pub probabilities: Option<&'a [f32]>,
    /// One of several, so drawn small.
    pub small: bool,
    pub look: Look,
    pub evens: &'a Evens,
    /// Drawn as runs however small, for it is part of something large.
    pub as_runs: bool,
}

impl Grid<'_> {
    /// The matrix; a wide one as a map of the whole, and bands of columns under it.
    pub fn draw(&self) -> Fragment {
        let columns = self.source.len();
        if self.small || columns <= WIDE || self.output.len() > TALL {
            return self.draw_whole();
        }
        let mut drawing = self.map();
        let bands = columns.div_ceil(BAND);
        for band in 0..bands {
            let range = band * columns / bands..(band + 1) * columns / bands;
            drawing.below(self.band(range), 14.0);
        }
        drawing
    }

    fn band(&self, range: Range<usize>) -> Fragment {
        let weights: Vec<Vec<f32>> = self.weights.iter().map(|row| row[range.clone()].to_vec()).collect();
        let evens = Evens { rows: self.evens.rows.clone(), columns: self.evens.columns[range.clone()].to_vec() };
        let name = format!("columns {}-{} of {}", range.start + 1, range.end, self.source.len());
        let as_runs = self.as_runs || self.weights.len() * self.source.len() > MOST_TOOLTIPS;
        Grid { name: &name, source: &self.source[range], weights: &weights, evens: &evens, as_runs, ..*self }.draw_whole()
    }

    /// The whole matrix, small.
    fn map(&self) -> Fragment {
        let mut map = caption(&format!("the whole: {} columns, {} rows", self.source.len(), self.output.len()));
        let (width, height) = (WIDEST / self.source.len() as f64, (160.0 / self.output.len() as f64).clamp(1.0, 6.0));
        let mut cells = Fragment::default();
        cells.raw(&self.runs(0.0, 0.0, width, height));
        cells.grow(WIDEST, height * self.output.len() as f64);
        map.below(cells, 6.0);
        map
    }

    /// The cells as runs of equal colour.
    fn runs(&self, left: f64, top: f64, width: f64, height: f64) -> String {
        let Look { scale, colours } = self.look;
        let leftward = self.leftward();
        let step = |(y, row): (usize, &Vec<f32>)| -> Vec<Option<usize>> {
            let seen = |x: usize, weight: f32| (!weight.is_nan()).then(|| scale.step(self.evens.portion(y, x, weight)));
            let mut steps: Vec<Option<usize>> = row.iter().enumerate().map(|(x, &weight)| seen(x, weight)).collect();
            if leftward {
                steps.reverse();
            }
            steps
        };
        let steps: Vec<Vec<Option<usize>>> = self.weights.iter().enumerate().map(step).collect();
        cells::runs(&steps, left, top, width, height, |step| stack::stroke(colours, scale, step))
    }

    /// Whether the columns run from right to left, as their text does.
    fn leftward(&self) -> bool {
        label::is_right_to_left(self.source)
    }

    /// The place of a column from the left.
    fn place(&self, column: usize) -> f64 {
        (if self.leftward() { self.source.len() - 1 - column } else { column }) as f64
    }

    fn draw_whole(&self) -> Fragment {
        let cell = self.cell();
        let size = (cell * 0.56).clamp(6.5, 13.0);
        let rows: Vec<Label> = self.output.iter().map(|unit| label::shorten(unit, LONGEST_LABEL)).collect();
        let columns: Vec<Label> = self.source.iter().map(|unit| label::shorten(unit, LONGEST_LABEL)).collect();
        let widest = |labels: &[Label]| text_width(labels.iter().map(|label| label.width).max().unwrap_or(0), size);

        // Whole numbers keep the edges of cells sharp.
        let leftward = self.leftward();
        let down = format!("{} ↓", self.axes.0);
        let across = if leftward { format!("← {}", self.axes.1) } else { format!("{} →", self.axes.1) };
        let left = widest(&rows).max(text_width(down.chars().count(), AXIS)).ceil() + 8.0;
        let (header, overhang) = self.header_room(widest(&columns), cell, size);
        let name = if self.name.is_empty() { 0.0 } else { 20.0 };
        let top = (name + AXIS + 4.0 + header).ceil();
        let (width, height) = (cell * columns.len() as f64, cell * rows.len() as f64);

        let mut grid = Fragment::default();
        grid.grow(left + width + overhang, top + height);
        if name > 0.0 {
            grid.text(left, 12.0, 12.0, Style::Soft, self.name);
            grid.grow(left + text_width(self.name.len(), 12.0), 0.0);
        }
        grid.text(left, name + AXIS, AXIS, Style::Soft, &across);
        grid.text_end(left - 7.0, top - 6.0, AXIS, Style::Soft, &down);
        grid.grow(left + text_width(across.chars().count(), AXIS), 0.0);
        for (index, label) in columns.iter().enumerate() {
            let place = if leftward { columns.len() - 1 - index } else { index };
            let x = left + cell * (place as f64 + 0.5);
            match Turn::of(widest(&columns), cell) {
                Turn::Upright => grid.text_middle(x, top - 6.0, size, Style::Mono, &label.text),
                Turn::Slanted => grid.text_rising(x, top - 5.0, 45.0, size, Style::Mono, &label.text),
                Turn::Standing => grid.text_rising(x + size * 0.35, top - 4.0, 90.0, size, Style::Mono, &label.text),
            }
        }
        for (index, label) in rows.iter().enumerate() {
            let y = top + cell * (index as f64 + 0.5) + size * 0.35;
            grid.text_end(left - 7.0, y, size, Style::Mono, &label.text);
        }
        self.cells(&mut grid, left, top, cell);
        self.beside(&mut grid, left + width + 8.0, top, cell, size);
        grid
    }

    /// The side of a cell: large while the matrix is small.
    fn cell(&self) -> f64 {
        let longest = self.source.len().max(self.output.len());
        match (self.small, longest) {
            (false, 0..=26) => 28.0,
            (false, 27..=50) => 20.0,
            (false, 51..=120) => 12.0,
            (false, _) => 8.0,
            (true, 0..=12) => 20.0,
            (true, 13..=26) => 14.0,
            (true, _) => 8.0,
        }
    }

    /// The height of the column labels, and how far the last one reaches beyond its column.
    fn header_room(&self, widest: f64, cell: f64, size: f64) -> (f64, f64) {
        let diagonal = std::f64::consts::FRAC_1_SQRT_2;
        match Turn::of(widest, cell) {
            Turn::Upright => (size + 8.0, 0.0),
            Turn::Slanted => ((widest + size) * diagonal + 6.0, (widest * diagonal - cell / 2.0).max(0.0)),
            Turn::Standing => (widest + 8.0, 0.0),
        }
    }

    fn cells(&self, grid: &mut Fragment, left: f64, top: f64, cell: f64) {
        let Look { scale, colours } = self.look;
        if self.as_runs || self.weights.len() * self.source.len() > MOST_TOOLTIPS {
            grid.raw(&self.runs(left, top, cell, cell));
            return;
        }
        let names = |labels: &[String]| -> Vec<String> { labels.iter().map(|unit| label::shorten(unit, 200).text).collect() };
        let (source, output) = (names(self.source), names(self.output));
        let (gap, radius) = if cell >= 20.0 { (1.0, 2.0) } else { (0.0, 0.0) };
        grid.raw(if gap > 0.0 { "<g>\n" } else { "<g shape-rendering=\"crispEdges\">\n" });
        for (y, row) in self.weights.iter().enumerate() {
            for (x, &weight) in row.iter().enumerate() {
                let (px, py) = (left + cell * self.place(x), top + cell * y as f64);
                let tone = scale.tone(self.evens.portion(y, x, weight), Figures::of_matrix(scale));
                // What is not a number was hidden.
                let (said, fill) = match weight.is_nan() {
                    true => ("hidden".to_string(), format!("fill=\"{}\"", stack::MASK.hex())),
                    false => (weight.to_string(), colours.fill_tone(&tone)),
                };
                let tooltip = format!("{} ← {}: {said}", output[y], source[x]);
                grid.rect((px, py, cell - gap, cell - gap), radius, &fill, &tooltip);
                // Numbers where there is room; zeros say nothing that their colour does not.
                if cell >= 28.0 && !tone.silent && !weight.is_nan() {
                    grid.text_on(px + (cell - gap) / 2.0, py + cell / 2.0 + 3.0, 9.5, &colours.ink(&tone), &tone.number);
                }
            }
        }
        grid.raw("</g>\n");
    }

    /// The probabilities, to the right of their rows.
    fn beside(&self, grid: &mut Fragment, x: f64, top: f64, cell: f64, size: f64) {
        let Some(probabilities) = self.probabilities else {
            return;
        };
        let size = size.min(11.0);
        if cell >= 12.0 {
            grid.text(x, top - 6.0, size, Style::Soft, "p");
        }
        for (index, &probability) in probabilities.iter().enumerate() {
            let y = top + cell * (index as f64 + 0.5) + size * 0.35;
            grid.text(x, y, size, Style::SoftMono, &scale::short(probability));
        }
        grid.grow(x + text_width(3, size), 0.0);
    }
}

/// How column labels are set.
enum Turn {
    Upright,
    Slanted,
    Standing,
}

impl Turn {
    fn of(widest: f64, cell: f64) -> Turn {
        if widest <= cell {
            Turn::Upright
        } else if cell >= 14.0 {
            Turn::Slanted
        } else {
            Turn::Standing
        }
    }
}
