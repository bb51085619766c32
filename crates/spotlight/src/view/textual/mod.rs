//! The layout of pictures made of characters, shared by [`ascii`](super::ascii) and [`terminal`](super::terminal).
//!
//! A picture becomes [`Block`]s of lines with known widths; blocks stand side by side while the width allows. How a cell, a label
//! or a bar looks is left to a [`Paint`], so that both forms say the same.

mod bag;
mod block;
mod matrix;
mod shaded;
mod stack;

use super::label::Label;
use super::picture::Part;
use super::scale::{Portion, Scale, Tone, nearly_uniform, nearly_uniform_note};
use super::{Page, Picture};
pub(super) use block::Line;

/// How the parts of a picture look. Every part keeps to the width it is given.
pub(super) trait Paint {
    /// A unit in at most `columns` columns.
    fn unit(&self, unit: &str, columns: usize) -> Label;
    /// A unit beside its row.
    fn row_unit(&self, unit: &str, columns: usize) -> Label {
        self.unit(unit, columns)
    }
    /// Running text in at most `columns` columns.
    fn text(&self, text: &str, columns: usize) -> Label;
    /// Text that stands back.
    fn dim(&self, text: &str) -> String {
        text.to_string()
    }
    /// Text that stands out.
    fn strong(&self, text: &str) -> String {
        text.to_string()
    }
    /// The width of a column of a matrix whose label has this width; `narrow` if most labels of the matrix fit narrow columns.
    fn column(&self, label: usize, narrow: bool) -> usize;
    /// The widest label of a narrow column.
    fn narrow(&self) -> usize;
    /// The cells of a row of a matrix.
    fn cells(&self, tones: &[Tone], widths: &[usize]) -> String;
    /// A unit of a text, shaded by its weight where the form allows.
    fn token(&self, token: &Label, tone: &Tone) -> String;
    /// A weight as number and shade, in `width` columns, at least `strip_width`.
    fn strip(&self, tone: &Tone, width: usize) -> String;
    /// The columns of such a number.
    fn strip_width(&self, tone: &Tone) -> usize;
    /// A number as this form can write it.
    fn number(&self, number: &str) -> String {
        number.to_string()
    }
    /// A bar over a part of `width` columns, in the shade of a weight.
    fn bar(&self, part: f32, tone: &Tone, width: usize) -> String;
    /// A pixel of an image, two columns wide.
    fn pixel(&self, grey: f32) -> String;
    /// What stands between the row labels, the cells and what follows.
    fn edge(&self) -> &'static str;
    /// What is drawn under the column labels, if anything.
    fn rule(&self) -> Option<char>;
    /// Arrow from input to output.
    fn arrow(&self) -> &'static str;
    /// What stands along a matrix: what is read runs across, what is written down.
    fn axes(&self, down: &str, across: &str) -> String;
    /// A scale from end to end, in at most `width` columns.
    fn legend(&self, scale: Scale, width: usize) -> Line;
}

/// The narrowest drawing: room for a label, an edge, a cell and a probability.
const NARROWEST: usize = 24;

/// Draws a page in at most `width` columns.
pub(super) fn draw(page: &Page, paint: &dyn Paint, width: usize) -> String {
    let width = width.max(NARROWEST);
    let mut lines = Vec::new();
    let count = page.pictures().len();
    for (index, picture) in page.pictures().iter().enumerate() {
        if count > 1 {
            lines.push(Line::new(&paint.dim(&format!("{} of {count}", index + 1)), 0));
        }
        lines.extend(match picture {
            Picture::Matrix(matrix) => matrix::draw(matrix, page.scale_of(Part::Matrix), paint, width),
            Picture::Shaded(shaded) => shaded::draw(shaded, page.scale_of(Part::Text), paint, width),
            Picture::Match(matched) => shaded::draw_match(matched, page, paint, width),
            Picture::Bag(bag) => bag::draw(bag, page.scale_of(Part::Text), paint, width),
            Picture::Stack(stack) => stack::draw(stack, page.scale_of(Part::Matrix), paint, width),
        });
        lines.push(Line::default());
    }
    if count == 0 {
        lines.push(Line::new("no pictures", 0));
    }
    for scale in page.scales() {
        let legend = paint.legend(scale, width);
        match legend.width + 3 + scale.name().len() <= width {
            true => lines.push(legend.then("   ", 3).then(scale.name(), scale.name().len())),
            false => {
                lines.push(legend);
                lines.extend(wrap(scale.name(), width).iter().map(|line| Line::new(line, line.len())));
            }
        }
    }
    for note in page.notes().into_iter().chain([page.note()]) {
        lines.extend(wrap(note, width).into_iter().map(|line| Line::new(&paint.dim(&line), 0)));
    }
    lines.iter().fold(String::new(), |text, line| text + line.text.trim_end() + "\n")
}

/// Breaks plain words into lines.
pub(super) fn wrap(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split(' ') {
        // Never empty: it starts with one line.
        let last = lines.len() - 1;
        let line = &mut lines[last];
        if line.is_empty() {
            line.push_str(word);
        } else if line.len() + 1 + word.len() <= width {
            line.push(' ');
            line.push_str(word);
        } else {
            lines.push(word.to_string());
        }
    }
    lines
}

/// What is to be said of weights that do not differ.
fn evenness(portions: impl Iterator<Item = Portion>, paint: &dyn Paint, width: usize) -> Vec<Line> {
    let note = nearly_uniform(portions).map(nearly_uniform_note).unwrap_or_default();
    let lines = wrap(&note, width).into_iter().filter(|line| !line.is_empty());
    lines.map(|line| Line::new(&paint.dim(&line), line.len())).collect()
}

/// The label a model chose, the right one if it is known, and the probability of each, as far as they fit.
fn decision(label: &str, truth: Option<&str>, probabilities: &[(String, f32)], paint: &dyn Paint, width: usize) -> Vec<Line> {
    let chosen = paint.text(label, width);
    let mut lines = vec![Line::new(&paint.strong(&chosen.text), chosen.width)];
    if let Some(truth) = truth {
        let says = if truth == label { "right: " } else { "wrong, it is " };
        let name = paint.text(truth, width.saturating_sub(says.len()));
        lines.push(Line::new(says, says.len()).then(&name.text, name.width));
    }
    let mut rest = Line::default();
    for (name, probability) in probabilities {
        let name = paint.text(name, width.saturating_sub(10).min(32));
        let item = format!("{} {probability:.3}", name.text);
        let item_width = name.width + 6;
        if rest.width > 0 && rest.width + 3 + item_width > width {
            lines.push(std::mem::take(&mut rest));
        }
        if rest.width > 0 {
            rest = rest.then("   ", 3);
        }
        rest = rest.then(&item, item_width);
    }
    lines.push(rest);
    lines.retain(|line| line.width > 0);
    lines
}
