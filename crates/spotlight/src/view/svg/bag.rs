//! A bag: a bar per row, or the rows' images framed by the colour of their weights.

use super::pen::{Fragment, Style, flow, text_width};
use super::shaded::decision;
use super::{WIDEST, cells};
use crate::view::label::{self, Label};
use crate::view::scale::{Rgb, Scale};
use crate::view::{Bag, Images};

const LONGEST_LABEL: usize = 32;
const BAR: f64 = 360.0;

pub(super) fn draw(bag: &Bag, scale: Scale) -> Fragment {
    let mut picture = Fragment::default();
    let id = label::shorten_text(&bag.id, 72);
    picture.text(0.0, 12.0, 12.0, Style::Soft, &id.text);
    picture.grow(text_width(id.width, 12.0), 16.0);
    picture.below(decision(&bag.label, &bag.probabilities), 8.0);
    let rows = match &bag.images {
        _ if bag.rows.is_empty() => {
            let mut note = Fragment::default();
            note.text(0.0, 12.0, 12.0, Style::Soft, "(empty bag)");
            note.grow(0.0, 16.0);
            note
        }
        Some(images) if images.width > 0 && images.height > 0 => {
            flow((0..bag.rows.len()).map(|row| tile(bag, images, row, scale)).collect(), WIDEST, 14.0)
        }
        _ => bars(bag, scale),
    };
    picture.below(rows, 18.0);
    picture
}

fn tooltip(bag: &Bag, row: usize) -> String {
    format!("{}: {}", label::shorten_text(&bag.rows[row], 200).text, bag.weights[row])
}

fn bars(bag: &Bag, scale: Scale) -> Fragment {
    let labels: Vec<Label> = bag.rows.iter().map(|row| label::shorten_text(row, LONGEST_LABEL)).collect();
    let left = text_width(labels.iter().map(|label| label.width).max().unwrap_or(0), 12.0) + 10.0;
    let mut part = Fragment::default();
    for (row, (label, &weight)) in labels.iter().zip(&bag.weights).enumerate() {
        let y = 20.0 * row as f64;
        let fill = format!("fill=\"{}\"", scale.colour(weight).hex());
        part.text_end(left - 10.0, y + 12.0, 12.0, Style::Mono, &label.text);
        part.rect((left, y + 1.0, BAR, 14.0), 2.0, "class=\"track\"", "");
        part.rect((left, y + 1.0, BAR * f64::from(scale.share(weight).clamp(0.0, 1.0)), 14.0), 2.0, &fill, &tooltip(bag, row));
        part.text(left + BAR + 10.0, y + 12.0, 11.0, Style::SoftMono, &format!("{weight:.4}"));
        part.grow(left + BAR + 10.0 + text_width(6, 11.0), y + 20.0);
    }
    part
}

fn tile(bag: &Bag, images: &Images, row: usize, scale: Scale) -> Fragment {
    const FRAME: f64 = 4.0;
    const SIDE: f64 = 72.0;
    let pixel = (SIDE / images.width.max(images.height) as f64).floor().max(1.0);
    let (width, height) = (pixel * images.width as f64, pixel * images.height as f64);
    let frame = scale.colour(bag.weights[row]).hex();
    let mut tile = Fragment::default();
    tile.rect((0.0, 0.0, width + 2.0 * FRAME, height + 2.0 * FRAME), 3.0, &format!("fill=\"{frame}\""), "");
    let pixels: Vec<Vec<f32>> = images.grey(row).chunks(images.width).map(<[f32]>::to_vec).collect();
    tile.raw(&cells::runs(&pixels, FRAME, FRAME, pixel, pixel, |grey| {
        let level = (grey * 255.0).round() as u8;
        Rgb { r: level, g: level, b: level }
    }));
    // Nothing painted, but there for the pointer to find.
    let whole = (0.0, 0.0, width + 2.0 * FRAME, height + 2.0 * FRAME);
    tile.rect(whole, 0.0, "fill-opacity=\"0\"", &tooltip(bag, row));
    let middle = FRAME + width / 2.0;
    let name = label::shorten_text(&bag.rows[row], ((width + 2.0 * FRAME) / text_width(1, 11.0)) as usize);
    tile.text_middle(middle, height + 2.0 * FRAME + 14.0, 11.0, Style::Mono, &name.text);
    tile.text_middle(middle, height + 2.0 * FRAME + 28.0, 11.0, Style::SoftMono, &format!("{:.3}", bag.weights[row]));
    tile.grow(width + 2.0 * FRAME, height + 2.0 * FRAME + 32.0);
    tile
}
