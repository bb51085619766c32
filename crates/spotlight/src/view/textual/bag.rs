//! A bag: a bar per row, or the rows' images with their weights.

use super::block::{Block, Line, flow};
use super::{Label, Paint, decision, evenness};
use crate::view::Bag;
use crate::view::scale::{Figures, Portion, Scale, ScaleKind, Tone, times};

const LONGEST_LABEL: usize = 24;
const LONGEST_BAR: usize = 40;

pub(super) fn draw(bag: &Bag, scale: Scale, paint: &dyn Paint, width: usize) -> Vec<Line> {
    let id = paint.text(&bag.id, width.saturating_sub(4));
    let mut lines = vec![Line::new(&paint.dim(&format!("bag {}", id.text)), id.width + 4)];
    lines.extend(decision(&bag.label, bag.truth.as_deref(), &bag.probabilities, paint, width));
    lines.push(Line::default());
    if bag.rows.is_empty() {
        lines.push(Line::new("(empty bag)", 11));
        return lines;
    }
    let (portions, figures) = (bag.portions(), Figures::of_text(scale, &bag.weights));
    let tones: Vec<Tone> = portions.iter().map(|&portion| scale.tone(portion, figures)).collect();
    match &bag.images {
        Some(images) if images.width > 0 && images.height > 0 && 2 * images.width <= width => {
            let image = |(row, tone): (usize, &Tone)| image(&bag.rows[row], tone, images.width, &images.grey(row), paint);
            lines.extend(flow(&tones.iter().enumerate().map(image).collect::<Vec<Block>>(), width, 3));
        }
        _ => lines.extend(bars(bag, scale, &portions, &tones, paint, width)),
    }
    lines.extend(evenness(portions.into_iter(), paint, width));
    lines
}

fn image(name: &str, tone: &Tone, pixels_across: usize, grey: &[f32], paint: &dyn Paint) -> Block {
    let columns = (2 * pixels_across).max(paint.strip_width(tone));
    let label = paint.text(name, columns);
    let mut block = Block { lines: vec![Line::new(&label.text, label.width)] };
    for line in grey.chunks(pixels_across) {
        block.lines.push(line.iter().fold(Line::default(), |line, &pixel| line.then(&paint.pixel(pixel), 2)));
    }
    block.lines.push(Line::new(&paint.strip(tone, columns), columns));
    block
}

/// Name, bar, weight and times uniform of each row, with headings. In times uniform the bars end at the heaviest row.
fn bars(bag: &Bag, scale: Scale, portions: &[Portion], tones: &[Tone], paint: &dyn Paint, width: usize) -> Vec<Line> {
    const WEIGHT: usize = 7;
    const TIMES: usize = 8;
    let labels: Vec<Label> = bag.rows.iter().map(|row| paint.text(row, LONGEST_LABEL.min(width / 3))).collect();
    let left = labels.iter().map(|label| label.width).max().unwrap_or(0);
    let edge = paint.edge();
    let edges = 2 * edge.chars().count();
    let bar = width.saturating_sub(left + 1 + edges + WEIGHT + TIMES).clamp(1, LONGEST_BAR);
    let largest = bag.weights.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
    let heading = Line::default().pad(left + 1 + edges + bar).then(&paint.dim(" weight  times"), 14);
    let row = |index: usize| {
        let (label, weight) = (&labels[index], bag.weights[index]);
        let part = if scale.kind() == ScaleKind::Uniform { weight / largest } else { tones[index].place };
        let line = Line::default().pad(left - label.width).then(&label.text, label.width).then(" ", 1).then(edge, edges / 2);
        let line = line.then(&paint.bar(part, &tones[index], bar), bar).then(edge, edges / 2);
        let times = paint.number(&times(portions[index].times()));
        line.then(&format!(" {weight:.4} {times:>6}"), WEIGHT + 7)
    };
    std::iter::once(heading).chain((0..labels.len().min(tones.len())).map(row)).collect()
}
