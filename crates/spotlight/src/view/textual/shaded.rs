//! Texts with their weights: tokens flow over lines, weights stand under the words.

use super::block::{Line, flow};
use super::matrix::{Grid, cut};
use super::{Label, Paint, decision};
use crate::view::{Match, Shaded, Weighted};

/// The columns of the shortest number under a word.
const NUMBER: usize = 5;
const LONGEST_TOKEN: usize = 24;

pub(super) fn draw(shaded: &Shaded, paint: &dyn Paint, width: usize) -> Vec<Line> {
    let mut lines = decision(&shaded.label, &shaded.probabilities, paint, width);
    lines.push(Line::default());
    lines.extend(text(&shaded.text, paint, width));
    lines
}

pub(super) fn draw_match(matched: &Match, paint: &dyn Paint, width: usize) -> Vec<Line> {
    let mut lines = vec![Line::new(&paint.strong(&format!("score {:.4}", matched.score)), 0)];
    for (name, weighted) in [("question", &matched.question), ("answer", &matched.answer)] {
        lines.push(Line::default());
        lines.push(Line::new(&paint.dim(name), name.len()));
        lines.extend(text(weighted, paint, width));
    }
    if let Some(cross) = &matched.cross
        && !matched.question.tokens.is_empty()
        && !matched.answer.tokens.is_empty()
    {
        let grid = Grid {
            name: "question by answer",
            source: &matched.answer.tokens,
            output: &matched.question.tokens,
            weights: cross,
            probabilities: None,
        };
        lines.push(Line::default());
        lines.extend(flow(&grid.panels(paint, width), width, 3));
    }
    lines
}

fn text(weighted: &Weighted, paint: &dyn Paint, width: usize) -> Vec<Line> {
    if weighted.tokens.is_empty() {
        return vec![Line::new("(empty text)", 12)];
    }
    let heads = weighted.named_heads();
    let margin = heads.iter().map(|(name, _)| name.len()).max().map_or(0, |widest| if widest > 0 { widest + 1 } else { 0 });
    let mean = weighted.mean();
    let tokens: Vec<Label> =
        weighted.tokens.iter().map(|token| paint.unit(token, LONGEST_TOKEN.min(width.saturating_sub(margin + 1)))).collect();

    let widths: Vec<usize> = tokens.iter().map(|token| column(token) + 1).collect();
    let mut lines = Vec::new();
    // The space after the last token of a line may stick out.
    for range in cut(&widths, width + 1 - margin) {
        if range.start > 0 {
            lines.push(Line::default());
        }
        let mut words = Line::default().pad(margin);
        for (index, token) in tokens[range.clone()].iter().enumerate() {
            let token = centred(token);
            let weight = mean.get(range.start + index).copied().unwrap_or(0.0);
            words = words.then(&paint.token(&token, weight), token.width).then(" ", 1);
        }
        lines.push(words);
        for (name, weights) in &heads {
            let mut strip = Line::new(&paint.dim(name), name.len()).pad(margin);
            for (token, &weight) in tokens[range.clone()].iter().zip(&weights[range.clone()]) {
                let width = column(token);
                strip = strip.then(&paint.strip(weight, width), width).then(" ", 1);
            }
            lines.push(strip);
        }
    }
    lines
}

fn column(token: &Label) -> usize {
    token.width.max(NUMBER)
}

fn centred(token: &Label) -> Label {
    let before = (column(token) - token.width) / 2;
    let line = Line::default().pad(before).then(&token.text, token.width).pad(column(token));
    Label { text: line.text, width: line.width }
}
