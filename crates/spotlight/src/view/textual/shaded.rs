//! Texts with their weights: tokens flow over lines, weights stand under the words.

use super::block::{Line, flow};
use super::matrix::{Grid, cut};
use super::{Label, Paint, decision, evenness, wrap};
use crate::view::page::{Page, SCORE_OF_MATCH};
use crate::view::picture::{Part, portions};
use crate::view::scale::{Figures, Scale, Tone};
use crate::view::{Match, Shaded, Weighted};

const LONGEST_TOKEN: usize = 24;

pub(super) fn draw(shaded: &Shaded, scale: Scale, paint: &dyn Paint, width: usize) -> Vec<Line> {
    let mut lines = decision(&shaded.label, shaded.truth.as_deref(), &shaded.probabilities, paint, width);
    lines.push(Line::default());
    lines.extend(text(&shaded.text, scale, paint, width));
    lines
}

pub(super) fn draw_match(matched: &Match, page: &Page, paint: &dyn Paint, width: usize) -> Vec<Line> {
    let mut lines = vec![Line::new(&paint.strong(&format!("score {:.4}", matched.score)), 0)];
    lines.extend(wrap(SCORE_OF_MATCH, width).iter().map(|line| Line::new(&paint.dim(line), line.len())));
    for (name, weighted) in [("question", &matched.question), ("answer", &matched.answer)] {
        lines.push(Line::default());
        lines.push(Line::new(&paint.dim(name), name.len()));
        lines.extend(text(weighted, page.scale_of(Part::Text), paint, width));
    }
    if let Some(cross) = &matched.cross
        && !matched.question.tokens.is_empty()
        && !matched.answer.tokens.is_empty()
    {
        let evens = matched.cross_evens();
        let grid = Grid {
            name: "",
            source: &matched.answer.tokens,
            output: &matched.question.tokens,
            weights: cross,
            probabilities: None,
            scale: page.scale_of(Part::Matrix),
            evens: &evens,
        };
        lines.push(Line::default());
        lines.push(Line::new(&paint.dim(&paint.axes("question", "answer")), 0));
        lines.extend(flow(&grid.panels(paint, width), width, 3));
        lines.extend(evenness(evens.portions(cross), paint, width));
    }
    lines
}

fn text(weighted: &Weighted, scale: Scale, paint: &dyn Paint, width: usize) -> Vec<Line> {
    if weighted.tokens.is_empty() {
        return vec![Line::new("(empty text)", 12)];
    }
    let heads = weighted.named_heads();
    let margin = heads.iter().map(|(name, _)| name.len()).max().map_or(0, |widest| if widest > 0 { widest + 1 } else { 0 });
    let tokens: Vec<Label> =
        weighted.tokens.iter().map(|token| paint.unit(token, LONGEST_TOKEN.min(width.saturating_sub(margin + 1)))).collect();
    let (evens, mean) = (weighted.evens(), weighted.mean());
    let figures = Figures::of_text(scale, &mean);
    let tones = |weights: &[f32]| -> Vec<Tone> { portions(weights, &evens).map(|portion| scale.tone(portion, figures)).collect() };
    let mean = tones(&mean);
    let strips: Vec<(&str, Vec<Tone>)> = heads.iter().map(|(name, weights)| (name.as_str(), tones(weights))).collect();
    // Every number has as much room as the widest, so that they stand in rows.
    let number = strips.iter().flat_map(|(_, tones)| tones).map(|tone| paint.strip_width(tone)).max().unwrap_or(0);
    let column = |token: &Label| token.width.max(number);

    let widths: Vec<usize> = tokens.iter().map(|token| column(token) + 1).collect();
    let mut lines = Vec::new();
    // The space after the last token of a line may stick out.
    for range in cut(&widths, width + 1 - margin) {
        if range.start > 0 {
            lines.push(Line::default());
        }
        let mut words = Line::default().pad(margin);
        for (index, token) in tokens[range.clone()].iter().enumerate() {
            let token = centred(token, column(token));
            let shown = mean.get(range.start + index).map_or(token.text.clone(), |tone| paint.token(&token, tone));
            words = words.then(&shown, token.width).then(" ", 1);
        }
        lines.push(words);
        for (name, tones) in &strips {
            let mut strip = Line::new(&paint.dim(name), name.len()).pad(margin);
            for (token, tone) in tokens[range.clone()].iter().zip(&tones[range.clone()]) {
                let width = column(token);
                strip = strip.then(&paint.strip(tone, width), width).then(" ", 1);
            }
            lines.push(strip);
        }
    }
    lines.extend(evenness(weighted.portions(), paint, width));
    lines
}

fn centred(token: &Label, column: usize) -> Label {
    let before = (column - token.width) / 2;
    let line = Line::default().pad(before).then(&token.text, token.width).pad(column);
    Label { text: line.text, width: line.width }
}
