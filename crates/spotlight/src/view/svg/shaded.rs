//! Texts shaded by their weights: a box per token, its number below; several heads as strips under the words.

use super::matrix::Grid;
use super::pen::{Fragment, Style, text_width};
use super::{Look, WIDEST, caption, note_evenness};
use crate::view::label::{self, Label};
use crate::view::page::SCORE_OF_MATCH;
use crate::view::picture::portions;
use crate::view::scale::{Figures, Tone};
use crate::view::{Match, Shaded, Weighted};

const SIZE: f64 = 15.0;
const PADDING: f64 = 6.0;
const GAP: f64 = 4.0;
const BOX: f64 = 28.0;
const STRIP: f64 = 15.0;
const LONGEST_TOKEN: usize = 30;

pub(super) fn draw(shaded: &Shaded, look: Look) -> Fragment {
    let mut picture = decision(&shaded.label, shaded.truth.as_deref(), &shaded.probabilities);
    picture.below(text(&shaded.text, look), 16.0);
    picture
}

pub(super) fn draw_match(matched: &Match, texts: Look, matrices: Look) -> Fragment {
    let mut picture = Fragment::default();
    let score = format!("score {:.4}", matched.score);
    picture.text(0.0, 17.0, 17.0, Style::Ink, &score);
    picture.grow(text_width(score.len(), 17.0), 22.0);
    picture.below(caption(SCORE_OF_MATCH), 2.0);
    for (name, weighted) in [("question", &matched.question), ("answer", &matched.answer)] {
        picture.below(caption(name), 14.0);
        picture.below(text(weighted, texts), 6.0);
    }
    if let Some(cross) = &matched.cross
        && !matched.question.tokens.is_empty()
        && !matched.answer.tokens.is_empty()
    {
        let evens = matched.cross_evens();
        let grid = Grid {
            name: "",
            axes: ("question", "answer"),
            source: &matched.answer.tokens,
            output: &matched.question.tokens,
            weights: cross,
            probabilities: None,
            small: false,
            look: matrices,
            evens: &evens,
            as_runs: false,
        };
        let mut part = grid.draw();
        note_evenness(&mut part, evens.portions(cross));
        picture.below(part, 18.0);
    }
    picture
}

/// The label a model chose, the right one if it is known, and the probability of each as a bar.
pub(super) fn decision(chosen: &str, truth: Option<&str>, probabilities: &[(String, f32)]) -> Fragment {
    const MOST: usize = 12;
    const BAR: f64 = 160.0;
    let mut part = Fragment::default();
    let title = label::shorten_text(chosen, 60);
    part.text(0.0, 17.0, 17.0, Style::Ink, &title.text);
    part.grow(text_width(title.width, 17.0), 24.0);
    if let Some(truth) = truth {
        let says = if truth == chosen { "right: " } else { "wrong, it is " };
        part.below(caption(&format!("{says}{}", label::shorten_text(truth, 60).text)), 2.0);
        part.grow(0.0, part.height + 6.0);
    }
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

fn text(weighted: &Weighted, Look { scale, colours }: Look) -> Fragment {
    if weighted.tokens.is_empty() {
        return caption("(empty text)");
    }
    // The tokens themselves show the mean; strips below show the heads, if there are several.
    let heads = weighted.named_heads();
    let (evens, mean) = (weighted.evens(), weighted.mean());
    let figures = Figures::of_text(scale, &mean);
    let tones = |weights: &[f32]| -> Vec<Tone> { portions(weights, &evens).map(|portion| scale.tone(portion, figures)).collect() };
    let strips: Vec<(&str, &[f32], Vec<Tone>)> =
        heads.iter().skip(1).map(|(name, weights)| (name.as_str(), weights.as_slice(), tones(weights))).collect();
    let shades = tones(&mean);
    let margin = if strips.is_empty() { 0.0 } else { text_width(8, 11.0) };
    let line = BOX + if strips.is_empty() { 18.0 } else { STRIP * strips.len() as f64 + 8.0 };
    let digits = |tones: &[Tone]| tones.iter().map(|tone| tone.number.chars().count()).max().unwrap_or(0);
    let number = text_width(digits(&shades).max(strips.iter().map(|strip| digits(&strip.2)).max().unwrap_or(0)), 10.0) + 4.0;

    let mut part = Fragment::default();
    let shown: Vec<Label> = weighted.tokens.iter().map(|token| label::shorten(token, LONGEST_TOKEN)).collect();
    let widths: Vec<f64> = shown.iter().map(|shown| (text_width(shown.width, SIZE) + 2.0 * PADDING).max(number)).collect();
    let places = places(&widths, margin, line + 8.0, label::is_right_to_left(&weighted.tokens));
    for (index, token) in weighted.tokens.iter().enumerate() {
        let (shown, width, (x, y)) = (&shown[index], widths[index], places[index]);
        let first = index == 0 || places[index - 1].1 < y;
        if first && !strips.is_empty() {
            names(&mut part, &heads, y);
        }
        let middle = x + width / 2.0;
        let name = label::shorten(token, 200).text;
        // Without heads there are words and no weights.
        match shades.get(index) {
            Some(tone) => {
                let tooltip = format!("{name}: {}", mean[index]);
                part.rect((x, y, width, BOX), 3.0, &colours.fill_tone(tone), &tooltip);
                part.text_on(middle, y + BOX / 2.0 + SIZE * 0.35, SIZE, &colours.ink(tone), &shown.text);
                if strips.is_empty() {
                    part.text_middle(middle, y + BOX + 13.0, 10.0, Style::SoftMono, &tone.number);
                }
            }
            None => part.text_middle(middle, y + BOX / 2.0 + SIZE * 0.35, SIZE, Style::Mono, &shown.text),
        }
        for (row, (head, weights, tones)) in strips.iter().enumerate() {
            let (top, tone) = (y + BOX + 3.0 + STRIP * row as f64, &tones[index]);
            let tooltip = format!("{head}, {name}: {}", weights[index]);
            part.rect((x, top, width, STRIP - 1.0), 1.0, &colours.fill_tone(tone), &tooltip);
            part.text_on(middle, top + 10.5, 9.5, &colours.ink(tone), &tone.number);
        }
        part.grow(x + width, y + line);
    }
    note_evenness(&mut part, weighted.portions());
    part
}

/// Where boxes of these widths stand: in lines from the margin on, or, of a text that runs from right to left, in lines that begin at
/// the right.
fn places(widths: &[f64], margin: f64, line: f64, leftward: bool) -> Vec<(f64, f64)> {
    let (mut x, mut y) = (margin, 0.0);
    let mut places = Vec::with_capacity(widths.len());
    for width in widths {
        if x > margin && x + width > WIDEST {
            (x, y) = (margin, y + line);
        }
        places.push((x, y));
        x += width + GAP;
    }
    if leftward {
        let right = places.iter().zip(widths).map(|(place, width)| place.0 + width).fold(margin, f64::max);
        places.iter_mut().zip(widths).for_each(|(place, width)| place.0 = margin + right - place.0 - width);
    }
    places
}

/// The names of the heads at the start of a line of text.
fn names(part: &mut Fragment, heads: &[(String, Vec<f32>)], y: f64) {
    for (row, (name, _)) in heads.iter().enumerate() {
        let baseline = if row == 0 { y + BOX / 2.0 + 4.0 } else { y + BOX + 3.0 + STRIP * (row - 1) as f64 + 10.5 };
        part.text(0.0, baseline, 11.0, Style::Soft, name);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn boxes_run_the_way_the_text_does() {
        assert_eq!(places(&[100.0, 50.0], 0.0, 60.0, false), [(0.0, 0.0), (104.0, 0.0)]);
        assert_eq!(places(&[100.0, 50.0], 0.0, 60.0, true), [(54.0, 0.0), (0.0, 0.0)]);
        let lines = places(&[500.0, 400.0], 10.0, 60.0, true);
        assert_eq!(lines, [(10.0, 0.0), (110.0, 60.0)], "a shorter line ends at the right, too");
    }
}
