//! Pictures as PNG: the SVG of [`svg`] or [`curves`](super::curves), set in embedded fonts, so that every machine makes the
//! same pixels.
//!
//! The fonts are subsets of DejaVu Sans and DejaVu Sans Mono: Latin, Greek, Cyrillic, Hebrew, Arabic, the IPA, accents, punctuation,
//! arrows and symbols. Other scripts show as boxes here, and as themselves in the SVG and the page.

use super::{Error, Page, svg};
use resvg::{tiny_skia, usvg};
use std::sync::{Arc, OnceLock};

static SANS: &[u8] = include_bytes!("fonts/DejaVuSans-subset.ttf");
static MONO: &[u8] = include_bytes!("fonts/DejaVuSansMono-subset.ttf");

/// A larger image would take more than half a gigabyte to draw.
const MOST_PIXELS: u64 = 1 << 27;

/// Draws a page; `scale` is the number of pixels to a unit of the SVG, 2 for sharp print and screens.
pub fn draw(page: &Page, scale: f32) -> Result<Vec<u8>, Error> {
    render(&svg::draw(page), scale)
}

/// Turns an SVG into a PNG.
pub fn render(svg: &str, scale: f32) -> Result<Vec<u8>, Error> {
    if !(scale.is_finite() && scale > 0.0) {
        return Err(Error::Scale(scale));
    }
    let options = usvg::Options { fontdb: fonts(), font_family: "DejaVu Sans".to_string(), ..usvg::Options::default() };
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

/// The embedded fonts, read once.
fn fonts() -> Arc<usvg::fontdb::Database> {
    static FONTS: OnceLock<Arc<usvg::fontdb::Database>> = OnceLock::new();
    let load = || {
        let mut fonts = usvg::fontdb::Database::new();
        fonts.load_font_source(usvg::fontdb::Source::Binary(Arc::new(SANS)));
        fonts.load_font_source(usvg::fontdb::Source::Binary(Arc::new(MONO)));
        Arc::new(fonts)
    };
    FONTS.get_or_init(load).clone()
}
