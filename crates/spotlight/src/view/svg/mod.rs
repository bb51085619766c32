//! Pictures as SVG: self-contained, text as text, right on light and dark pages.
//!
//! The picture brings its own background and follows the reader's preference for light or dark, so it never depends on the page
//! around it. Labels are set in a monospaced face, whose widths are known without measuring. Each cell of a small matrix carries
//! its exact weight as a tooltip; the `<metadata>` of every picture holds all its numbers in full precision as JSON. Large
//! matrices are drawn as runs of equal colour.

mod bag;
mod cells;
mod matrix;
pub(super) mod pen;
mod shaded;

use super::scale::{self, Scale};
use super::{Page, Picture, Weights};
use pen::{Fragment, Style};
use serde::Serialize;

/// Room around the drawing and between pictures.
const MARGIN: f64 = 24.0;

/// The widest a picture grows before its parts flow onto the next line. A single matrix may be wider.
const WIDEST: f64 = 800.0;

/// Draws a page, its pictures one below the other.
pub fn draw(page: &Page) -> String {
    let mut drawing = Fragment::default();
    let mut numbers = Vec::new();
    for picture in page.pictures() {
        let part = match picture {
            Picture::Matrix(matrix) => matrix::draw(matrix, page.scale()),
            Picture::Shaded(shaded) => shaded::draw(shaded, page.scale()),
            Picture::Match(matched) => shaded::draw_match(matched, page.scale()),
            Picture::Bag(bag) => bag::draw(bag, page.scale()),
        };
        drawing.below(part, if numbers.is_empty() { 0.0 } else { 2.0 * MARGIN });
        numbers.push(Numbers::of(picture));
    }
    if numbers.is_empty() {
        let mut note = Fragment::default();
        note.text(0.0, 14.0, 14.0, Style::Soft, "no pictures");
        drawing.below(note, 0.0);
    }
    drawing.below(legend(page.scale(), page.note()), MARGIN);
    let numbers = serde_json::to_string(&numbers).unwrap_or_default(); // Lists of finite numbers can always be written.
    pen::document(drawing, MARGIN, "Spotlight: where a model looks", &numbers)
}

/// The scale and what the picture does not show.
fn legend(scale: Scale, note: &str) -> Fragment {
    const WIDTH: f64 = 202.0;
    let mut legend = Fragment::default();
    let steps: Vec<f32> = (0..scale::STEPS).map(|step| step as f32 / 100.0).collect();
    legend.text(0.0, 10.0, 11.0, Style::Soft, "0");
    legend.raw(&cells::runs(&[steps], 12.0, 0.0, WIDTH / scale::STEPS as f64, 12.0, |weight| scale::colour(scale::step(weight))));
    legend.text(WIDTH + 17.0, 10.0, 11.0, Style::Soft, &format!("{}   weight", scale.top()));
    for (line, part) in in_lines(note).iter().enumerate() {
        let y = 31.0 + 15.0 * line as f64;
        legend.text(0.0, y, 11.0, Style::Soft, part);
        legend.grow(pen::text_width(part.len(), 11.0), y + 3.0);
    }
    legend
}

/// A note in lines that are no wider than most pictures.
fn in_lines(note: &str) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in note.split(' ') {
        let last = lines.len() - 1;
        if lines[last].is_empty() {
            lines[last] = word.to_string();
        } else if lines[last].len() + word.len() < NOTE_WIDTH {
            lines[last] += " ";
            lines[last] += word;
        } else {
            lines.push(word.to_string());
        }
    }
    lines
}

/// Characters in a line of the note.
const NOTE_WIDTH: usize = 90;

/// The numbers of a picture, without its texts.
#[derive(Serialize)]
#[serde(untagged)]
enum Numbers<'a> {
    Matrix { heads: &'a [Weights], probabilities: &'a Option<Vec<f32>>, score: Option<f32> },
    Shaded { heads: &'a Weights, probabilities: Vec<f32> },
    Match { question: &'a Weights, answer: &'a Weights, cross: &'a Option<Weights>, score: f32 },
    Bag { weights: &'a [f32], probabilities: Vec<f32> },
}

impl Numbers<'_> {
    fn of(picture: &Picture) -> Numbers<'_> {
        let values = |probabilities: &[(String, f32)]| probabilities.iter().map(|(_, value)| *value).collect();
        match picture {
            Picture::Matrix(it) => Numbers::Matrix { heads: &it.heads, probabilities: &it.probabilities, score: it.score },
            Picture::Shaded(it) => Numbers::Shaded { heads: &it.text.heads, probabilities: values(&it.probabilities) },
            Picture::Match(it) => {
                Numbers::Match { question: &it.question.heads, answer: &it.answer.heads, cross: &it.cross, score: it.score }
            }
            Picture::Bag(it) => Numbers::Bag { weights: &it.weights, probabilities: values(&it.probabilities) },
        }
    }
}
