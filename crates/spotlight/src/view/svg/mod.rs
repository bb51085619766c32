//! Pictures as SVG: self-contained, text as text, right on light and dark pages.
//!
//! The picture brings its own background and follows the reader's preference for light or dark, so it never depends on the page
//! around it. Labels are set in a monospaced face, whose widths are known without measuring. Each cell of a small matrix carries
//! its exact weight as a tooltip; the `<metadata>` of every picture holds all its numbers in full precision as JSON. Large
//! matrices are drawn as runs of equal colour.

mod bag;
mod cells;
pub(super) mod colours;
mod matrix;
pub(super) mod pen;
mod shaded;
mod stack;

use super::picture::Part;
use super::scale::{self, Scale};
use super::{End, Masked, Page, Picture, Weights};
use colours::Colours;
use pen::{Fragment, Style};
use serde::Serialize;

/// Room around the drawing and between pictures.
const MARGIN: f64 = 24.0;

/// The widest a picture grows before its parts flow onto the next line. A single matrix may be wider.
const WIDEST: f64 = 800.0;

/// Draws a page, its pictures one below the other.
pub fn draw(page: &Page) -> String {
    draw_noting(page, &[])
}

/// The same with more lines under the legend.
pub(super) fn draw_noting(page: &Page, notes: &[String]) -> String {
    let mut drawing = Fragment::default();
    let mut numbers = Vec::new();
    let colours = Colours::of(page);
    let texts = Look { scale: page.scale_of(Part::Text), colours };
    let matrices = Look { scale: page.scale_of(Part::Matrix), colours };
    for picture in page.pictures() {
        let part = match picture {
            Picture::Matrix(matrix) => matrix::draw(matrix, matrices),
            Picture::Shaded(shaded) => shaded::draw(shaded, texts),
            Picture::Match(matched) => shaded::draw_match(matched, texts, matrices),
            Picture::Bag(bag) => bag::draw(bag, texts),
            Picture::Stack(stack) => stack::draw(stack, matrices),
        };
        drawing.below(part, if numbers.is_empty() { 0.0 } else { 2.0 * MARGIN });
        numbers.push(Numbers::of(picture));
    }
    if numbers.is_empty() {
        let mut note = Fragment::default();
        note.text(0.0, 14.0, 14.0, Style::Soft, "no pictures");
        drawing.below(note, 0.0);
    }
    drawing.below(legend(page, notes, colours), MARGIN);
    let numbers = serde_json::to_string(&numbers).unwrap_or_default(); // Lists of finite numbers can always be written.
    pen::document(drawing, MARGIN, ("Spotlight: where a model looks", page.note()), &numbers, colours)
}

/// How weights are shown.
#[derive(Clone, Copy)]
struct Look {
    scale: Scale,
    colours: Colours,
}

/// A line of text that stands back.
fn caption(text: &str) -> Fragment {
    let mut caption = Fragment::default();
    caption.text(0.0, 12.0, 12.0, Style::Soft, text);
    caption.grow(pen::text_width(text.chars().count(), 12.0), 16.0);
    caption
}

/// What is to be said of weights that do not differ, under a part.
fn note_evenness(part: &mut Fragment, portions: impl Iterator<Item = scale::Portion>) {
    if let Some(most) = scale::nearly_uniform(portions) {
        part.below(caption(&scale::nearly_uniform_note(most)), 4.0);
    }
}

/// The scales, how words were merged, and what the picture does not show.
fn legend(page: &Page, notes: &[String], colours: Colours) -> Fragment {
    let mut legend = Fragment::default();
    for scale in page.scales() {
        legend.below(ramp(scale, colours), if legend.height > 0.0 { 8.0 } else { 0.0 });
    }
    let said = in_lines(page.note());
    for note in page.notes().into_iter().chain(notes.iter().chain(&said).map(String::as_str)) {
        let mut line = Fragment::default();
        line.text(0.0, 11.0, 11.0, Style::Soft, note);
        line.grow(pen::text_width(note.len(), 11.0), 14.0);
        legend.below(line, 6.0);
    }
    legend
}

/// A scale from end to end, and its name.
fn ramp(scale: Scale, colours: Colours) -> Fragment {
    const WIDTH: f64 = 202.0;
    let mut part = Fragment::default();
    let (low, high) = scale.ends();
    let left = (pen::text_width(low.len(), 11.0) + 5.0).ceil();
    part.text(0.0, 10.0, 11.0, Style::Soft, &low);
    let steps: Vec<usize> = (0..scale::STEPS).collect();
    part.raw(&cells::runs(&[steps], left, 0.0, WIDTH / scale::STEPS as f64, 12.0, |step| colours.stroke(scale.ramp(), step)));
    part.text(left + WIDTH + 5.0, 10.0, 11.0, Style::Soft, &high);
    let name = left + WIDTH + 5.0 + pen::text_width(high.len(), 11.0) + 14.0;
    part.text(name, 10.0, 11.0, Style::Soft, scale.name());
    part.grow(name + pen::text_width(scale.name().len(), 11.0), 13.0);
    part
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
    Matrix {
        heads: &'a [Weights],
        probabilities: &'a Option<Vec<f32>>,
        score: Option<f32>,
        #[serde(skip_serializing_if = "Option::is_none")]
        end: &'a Option<End>,
    },
    Shaded {
        heads: &'a Weights,
        probabilities: Vec<f32>,
    },
    Match {
        question: &'a Weights,
        answer: &'a Weights,
        cross: &'a Option<Weights>,
        score: f32,
    },
    Bag {
        weights: &'a [f32],
        probabilities: Vec<f32>,
    },
    Stack {
        layers: Vec<Vec<&'a Masked>>,
    },
}

impl Numbers<'_> {
    fn of(picture: &Picture) -> Numbers<'_> {
        let values = |probabilities: &[(String, f32)]| probabilities.iter().map(|(_, value)| *value).collect();
        match picture {
            Picture::Matrix(it) => Numbers::Matrix { heads: &it.heads, probabilities: &it.probabilities, score: it.score, end: &it.end },
            Picture::Shaded(it) => Numbers::Shaded { heads: &it.text.heads, probabilities: values(&it.probabilities) },
            Picture::Match(it) => {
                Numbers::Match { question: &it.question.heads, answer: &it.answer.heads, cross: &it.cross, score: it.score }
            }
            Picture::Bag(it) => Numbers::Bag { weights: &it.weights, probabilities: values(&it.probabilities) },
            Picture::Stack(it) => {
                let layers = it.layers.iter().map(|layer| layer.panels.iter().map(|panel| &panel.weights).collect()).collect();
                Numbers::Stack { layers }
            }
        }
    }
}
