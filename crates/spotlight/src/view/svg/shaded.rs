//! Texts shaded by their weights: a box per token, its number below; several heads as strips under the words.

use super::WIDEST;
use super::matrix::Grid;
use super::pen::{Fragment, Style, text_width};
use crate::view::label::{self, Label};
use crate::view::scale::{self, Scale};
use crate::view::{Match, Shaded, Weighted};

const SIZE: f64 = 15.0;
const PADDING: f64 = 6.0;
const GAP: f64 = 4.0;
const BOX: f64 = 28.0;
const STRIP: f64 = 15.0;
const LONGEST_TOKEN: usize = 30;

pub(super) fn draw(shaded: &Shaded, scale: Scale) -> Fragment {
    let mut picture = decision(&shaded.label, &shaded.probabilities);
    picture.below(text(&shaded.text, scale), 16.0);
    picture
}

pub(super) fn draw_match(matched: &Match, scale: Scale) -> Fragment {
    let mut picture = Fragment::default();
    let score = format!("score {:.4}", matched.score);
    picture.text(0.0, 17.0, 17.0, Style::Ink, &score);
    picture.grow(text_width(score.len(), 17.0), 20.0);
    for (name, weighted) in [("question", &matched.question), ("answer", &matched.answer)] {
        picture.below(caption(name), 14.0);
        picture.below(text(weighted, scale), 6.0);
    }
    if let Some(cross) = &matched.cross
        && !matched.question.tokens.is_empty()
        && !matched.answer.tokens.is_empty()
    {
        picture.below(caption("question down, answer across"), 16.0);
        let grid = Grid {
            name: "",
            source: &matched.answer.tokens,
            output: &matched.question.tokens,
            weights: cross,
            probabilities: None,
            small: false,
            scale,
        };
        picture.below(grid.draw(), 6.0);
    }
    picture
}

fn caption(text: &str) -> Fragment {
    let mut caption = Fragment::default();
    caption.text(0.0, 12.0, 12.0, Style::Soft, text);
    caption.grow(text_width(text.len(), 12.0), 16.0);
    caption
}

/// The label a model chose, and the probability of each as a bar.
pub(super) fn decision(chosen: &str, probabilities: &[(String, f32)]) -> Fragment {
    const MOST: usize = 12;
    const BAR: f64 = 160.0;
    let mut part = Fragment::default();
    let title = label::shorten_text(chosen, 60);
    part.text(0.0, 17.0, 17.0, Style::Ink, &title.text);
    part.grow(text_width(title.width, 17.0), 24.0);
    let names: Vec<Label> = probabilities.iter().take(MOST).map(|(name, _)| label::shorten_text(name, 24)).collect();
    let left = text_width(names.iter().map(|name| name.width).max().unwrap_or(0), 12.0) + 10.0;
    for (name, &(_, probability)) in names.iter().zip(probabilities) {
        let y = part.height + 6.0;
        part.text_end(left - 10.0, y + 8.0, 12.0, Style::Mono, &name.text);
        part.rect((left, y, BAR, 8.0), 2.0, "class=\"track\"", "");
        part.rect((left, y, BAR * f64::from(probability.clamp(0.0, 1.0)), 8.0), 2.0, "class=\"meter\"", &probability.to_string());
        part.text(left + BAR + 10.0, y + 8.0, 11.0, Style::SoftMono, &format!("{probability:.3}"));
        part.grow(left + BAR + 10.0 + text_width(5, 11.0), y + 12.0);
    }
    if probabilities.len() > MOST {
        part.below(caption(&format!("and {} more", probabilities.len() - MOST)), 4.0);
    }
    part
}

fn text(weighted: &Weighted, scale: Scale) -> Fragment {
    if weighted.tokens.is_empty() {
        return caption("(empty text)");
    }
    // The tokens themselves show the mean; strips below show the heads, if there are several.
    let heads = weighted.named_heads();
    let strips = if heads.len() > 1 { &heads[1..] } else { &[] };
    let mean = weighted.mean();
    let weight = |index: usize| mean.get(index).copied().unwrap_or(0.0);
    let margin = if strips.is_empty() { 0.0 } else { text_width(8, 11.0) };
    let line = BOX + if strips.is_empty() { 18.0 } else { STRIP * strips.len() as f64 + 8.0 };

    let mut part = Fragment::default();
    let (mut x, mut y) = (margin, 0.0);
    for (index, token) in weighted.tokens.iter().enumerate() {
        let shown = label::shorten(token, LONGEST_TOKEN);
        let width = (text_width(shown.width, SIZE) + 2.0 * PADDING).max(text_width(3, 10.0) + 4.0);
        if x > margin && x + width > WIDEST {
            (x, y) = (margin, y + line + 8.0);
        }
        if x == margin && !strips.is_empty() {
            names(&mut part, &heads, y);
        }
        let middle = x + width / 2.0;
        let colour = scale.colour(weight(index));
        let tooltip = format!("{}: {}", label::shorten(token, 200).text, weight(index));
        part.rect((x, y, width, BOX), 3.0, &format!("fill=\"{}\"", colour.hex()), &tooltip);
        part.text_on(middle, y + BOX / 2.0 + SIZE * 0.35, SIZE, colour, &shown.text);
        if strips.is_empty() {
            part.text_middle(middle, y + BOX + 13.0, 10.0, Style::SoftMono, &scale::short(weight(index)));
        }
        for (row, (name, weights)) in strips.iter().enumerate() {
            let top = y + BOX + 3.0 + STRIP * row as f64;
            let colour = scale.colour(weights[index]);
            let tooltip = format!("{name}, {}: {}", label::shorten(token, 200).text, weights[index]);
            part.rect((x, top, width, STRIP - 1.0), 1.0, &format!("fill=\"{}\"", colour.hex()), &tooltip);
            part.text_on(middle, top + 10.5, 9.5, colour, &scale::short(weights[index]));
        }
        part.grow(x + width, y + line);
        x += width + GAP;
    }
    part
}

/// The names of the heads at the start of a line of text.
fn names(part: &mut Fragment, heads: &[(String, Vec<f32>)], y: f64) {
    for (row, (name, _)) in heads.iter().enumerate() {
        let baseline = if row == 0 { y + BOX / 2.0 + 4.0 } else { y + BOX + 3.0 + STRIP * (row - 1) as f64 + 10.5 };
        part.text(0.0, baseline, 11.0, Style::Soft, name);
    }
}
