//! Pictures as PNG: the SVG of [`svg`] or [`curves`](super::curves), set in embedded [`Fonts`], so that every machine makes the
//! same pixels.
//!
//! Characters that no font has are not drawn as boxes: a dot stands for each of their columns, and the picture says so. Other fonts
//! can be given, or looked for on the machine.

pub use super::fonts::Fonts;
use super::fonts::{note, without};
use super::{Error, Page, svg};
use resvg::{tiny_skia, usvg};
use std::sync::{Arc, OnceLock};

/// A larger image would take more than half a gigabyte to draw.
const MOST_PIXELS: u64 = 1 << 27;

/// Draws a page; `scale` is the number of pixels to a unit of the SVG, 2 for sharp print and screens.
pub fn draw(page: &Page, scale: f32) -> Result<Vec<u8>, Error> {
    draw_with(page, scale, Fonts::embedded())
}

/// Draws a page with other fonts besides.
pub fn draw_with(page: &Page, scale: f32, mut fonts: Fonts) -> Result<Vec<u8>, Error> {
    let drawing = svg::draw(page);
    let missing = fonts.missing(&drawing);
    let missing = if missing.is_empty() { missing } else { fonts.find(missing) };
    let drawing = if missing.is_empty() { drawing } else { without(&svg::draw_noting(page, &[note(&missing)]), &missing) };
    pixels(&drawing, scale, fonts.database())
}

/// Turns an SVG into a PNG.
pub fn render(svg: &str, scale: f32) -> Result<Vec<u8>, Error> {
    static FONTS: OnceLock<Arc<usvg::fontdb::Database>> = OnceLock::new();
    pixels(svg, scale, FONTS.get_or_init(|| Fonts::embedded().database()).clone())
}

fn pixels(svg: &str, scale: f32, fonts: Arc<usvg::fontdb::Database>) -> Result<Vec<u8>, Error> {
    if !(scale.is_finite() && scale > 0.0) {
        return Err(Error::Scale(scale));
    }
    let options = usvg::Options { fontdb: fonts, font_family: "DejaVu Sans".to_string(), ..usvg::Options::default() };
    let tree = usvg::Tree::from_str(svg, &options).map_err(|error| Error::Svg(error.to_string()))?;
    // Float to integer conversions saturate, so that a huge scale is too large and nothing worse.
    let pixels = |length: f32| (f64::from(length) * f64::from(scale)).ceil() as u64;
    let (width, height) = (pixels(tree.size().width()), pixels(tree.size().height()));
    let too_large = || Error::TooLarge { width, height };
    if width.saturating_mul(height) > MOST_PIXELS {
        return Err(too_large());
    }
    let side = |length: u64| u32::try_from(length.max(1)).map_err(|_| too_large());
    let mut pixmap = tiny_skia::Pixmap::new(side(width)?, side(height)?).ok_or_else(too_large)?;
    resvg::render(&tree, tiny_skia::Transform::from_scale(scale, scale), &mut pixmap.as_mut());
    pixmap.encode_png().map_err(|error| Error::Png(error.to_string()))
}
