//! A bag: a bar per row, or the rows' images framed by the colour of their weights.

use super::pen::{Fragment, Style, flow, n, text_width};
use super::shaded::decision;
use super::{Look, WIDEST, caption, cells, note_evenness};
use crate::view::label::{self, Label};
use crate::view::scale::{Figures, Portion, ScaleKind, Tone, times};
use crate::view::{Bag, Images};

const LONGEST_LABEL: usize = 32;
const BAR: f64 = 360.0;

pub(super) fn draw(bag: &Bag, look: Look) -> Fragment {
    let mut picture = caption(&format!("bag {}", label::shorten_text(&bag.id, 72).text));
    picture.below(decision(&bag.label, bag.truth.as_deref(), &bag.probabilities), 8.0);
    let portions = bag.portions();
    let figures = Figures::of_text(look.scale, &bag.weights);
    let tones: Vec<Tone> = portions.iter().map(|&portion| look.scale.tone(portion, figures)).collect();
    let mut rows = match &bag.images {
        _ if bag.rows.is_empty() => caption("(empty bag)"),
        Some(images) if images.width > 0 && images.height > 0 => {
            flow((0..bag.rows.len()).map(|row| tile(bag, images, row, &tones[row], look)).collect(), WIDEST, 14.0)
        }
        _ => bars(bag, &portions, &tones, look),
    };
    note_evenness(&mut rows, portions.into_iter());
    picture.below(rows, 18.0);
    picture
}

fn tooltip(bag: &Bag, row: usize) -> String {
    format!("{}: {}", label::shorten_text(&bag.rows[row], 200).text, bag.weights[row])
}

/// Name, bar, weight and times uniform of each row, with headings. In times uniform the bars end at the heaviest row, and a rule
/// stands where an even spread ends.
fn bars(bag: &Bag, portions: &[Portion], tones: &[Tone], look: Look) -> Fragment {
    const TOP: f64 = 20.0;
    let labels: Vec<Label> = bag.rows.iter().map(|row| label::shorten_text(row, LONGEST_LABEL)).collect();
    let left = text_width(labels.iter().map(|label| label.width).max().unwrap_or(0), 12.0) + 10.0;
    let by_times = look.scale.kind() == ScaleKind::Uniform;
    let largest = bag.weights.iter().copied().fold(f32::MIN_POSITIVE, f32::max);
    let [weights, multiples] = [left + BAR + 10.0 + text_width(6, 11.0), left + BAR + 24.0 + text_width(12, 11.0)];
    let mut part = Fragment::default();
    part.text_end(weights, 11.0, 11.0, Style::Soft, "weight");
    part.text_end(multiples, 11.0, 11.0, Style::Soft, "times");
    for (row, (label, &weight)) in labels.iter().zip(&bag.weights).enumerate() {
        let y = TOP + 20.0 * row as f64;
        let length = if by_times { weight / largest } else { tones[row].place };
        part.text_end(left - 10.0, y + 12.0, 12.0, Style::Mono, &label.text);
        part.rect((left, y + 1.0, BAR, 14.0), 2.0, "class=\"track\"", "");
        let bar = (left, y + 1.0, BAR * f64::from(length.clamp(0.0, 1.0)), 14.0);
        part.rect(bar, 2.0, &look.colours.fill_tone(&tones[row]), &tooltip(bag, row));
        part.text_end(weights, y + 12.0, 11.0, Style::SoftMono, &format!("{weight:.4}"));
        part.text_end(multiples, y + 12.0, 11.0, Style::SoftMono, &times(portions[row].times()));
        part.grow(multiples, y + 20.0);
    }
    if by_times && let Some(portion) = portions.first() {
        let x = left + BAR * f64::from((portion.even / largest).min(1.0));
        part.raw(&format!("<path class=\"mark\" stroke-dasharray=\"3 3\" d=\"M{} {}V{}\"/>\n", n(x), n(TOP - 2.0), n(part.height - 2.0)));
        part.text_middle(x, 11.0, 10.0, Style::Soft, "even");
    }
    part
}

fn tile(bag: &Bag, images: &Images, row: usize, tone: &Tone, look: Look) -> Fragment {
    const FRAME: f64 = 4.0;
    const SIDE: f64 = 72.0;
    let pixel = (SIDE / images.width.max(images.height) as f64).floor().max(1.0);
    let (width, height) = (pixel * images.width as f64, pixel * images.height as f64);
    let mut tile = Fragment::default();
    tile.rect((0.0, 0.0, width + 2.0 * FRAME, height + 2.0 * FRAME), 3.0, &look.colours.fill_tone(tone), "");
    let pixels: Vec<Vec<f32>> = images.grey(row).chunks(images.width).map(<[f32]>::to_vec).collect();
    tile.raw(&cells::runs(&pixels, FRAME, FRAME, pixel, pixel, |grey| {
        let level = (grey * 255.0).round() as u8;
        format!("stroke=\"#{level:02x}{level:02x}{level:02x}\"")
    }));
    // Nothing painted, but there for the pointer to find.
    let whole = (0.0, 0.0, width + 2.0 * FRAME, height + 2.0 * FRAME);
    tile.rect(whole, 0.0, "fill-opacity=\"0\"", &tooltip(bag, row));
    let middle = FRAME + width / 2.0;
    let name = label::shorten_text(&bag.rows[row], ((width + 2.0 * FRAME) / text_width(1, 11.0)) as usize);
    tile.text_middle(middle, height + 2.0 * FRAME + 14.0, 11.0, Style::Mono, &name.text);
    tile.text_middle(middle, height + 2.0 * FRAME + 28.0, 11.0, Style::SoftMono, &tone.number);
    tile.grow(width + 2.0 * FRAME, height + 2.0 * FRAME + 32.0);
    tile
}
