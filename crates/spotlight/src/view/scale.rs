//! The scale from 0 to 1: one table of colours, ten ASCII shades, and numbers of equal width.
//!
//! The scale is fixed, so that pictures can be compared and even weights look even. On demand it ends at a smaller weight, which the
//! legend names: a text of a hundred words has no word near 1.

/// The ten shades of the ASCII map, a tenth of the scale each.
pub const SHADES: [char; 10] = [' ', '.', ':', '-', '=', '+', '*', '#', '%', '@'];

/// How many colours the table has. A hundredth of the scale is finer than the eye tells apart in a cell, and equal
/// neighbours can be drawn in one stroke.
pub const STEPS: usize = 101;

/// A colour of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Rgb {
    /// Red.
    pub r: u8,
    /// Green.
    pub g: u8,
    /// Blue.
    pub b: u8,
}

impl Rgb {
    /// The colour as CSS and SVG write it.
    pub fn hex(self) -> String {
        format!("#{:02x}{:02x}{:02x}", self.r, self.g, self.b)
    }

    /// Black or white, whichever reads better on this colour (by WCAG's contrast ratio).
    pub fn ink(self) -> Rgb {
        let luminance = self.luminance();
        let on_white = 1.05 / (luminance + 0.05);
        let on_black = (luminance + 0.05) / 0.05;
        if on_white >= on_black { Rgb { r: 255, g: 255, b: 255 } } else { Rgb { r: 0, g: 0, b: 0 } }
    }

    fn luminance(self) -> f64 {
        let linear = |channel: u8| {
            let value = f64::from(channel) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        };
        0.2126 * linear(self.r) + 0.7152 * linear(self.g) + 0.0722 * linear(self.b)
    }
}

/// The two ends of the colours: 0 and `top`.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    top: f32,
}

impl Default for Scale {
    /// From 0 to 1.
    fn default() -> Self {
        Scale { top: 1.0 }
    }
}

impl Scale {
    /// The scale that ends at the first number of two digits that is no smaller than `largest`.
    ///
    /// ```
    /// use spotlight::view::scale::Scale;
    /// assert_eq!([0.0523, 0.3, 0.999, 1.0, 0.0].map(|largest| Scale::up_to(largest).top()), [0.053, 0.3, 1.0, 1.0, 1.0]);
    /// ```
    pub fn up_to(largest: f32) -> Self {
        if !(largest > 0.0 && largest < 1.0) {
            return Scale::default();
        }
        // A weight of 0.3 is a little more than that as f32; the slack is more than such errors and less than the eye tells apart.
        let unit = 10f64.powf(1.0 - f64::from(largest).log10().floor());
        Scale { top: ((f64::from(largest) * unit - 1e-4).ceil() / unit) as f32 }
    }

    /// The weight at the bright end.
    pub fn top(self) -> f32 {
        self.top
    }

    /// Where a weight lies between the ends, from 0 to 1.
    pub fn share(self, weight: f32) -> f32 {
        weight / self.top
    }

    /// The colour of a weight.
    pub fn colour(self, weight: f32) -> Rgb {
        colour(step(self.share(weight)))
    }
}

/// The entry of the colour table a weight falls on: the nearest hundredth.
pub fn step(weight: f32) -> usize {
    // `as` maps NaN and negative numbers to 0.
    ((weight * 100.0).round() as usize).min(STEPS - 1)
}

/// The colour of an entry of the table: viridis, dark at 0 and bright at 1.
pub fn colour(step: usize) -> Rgb {
    let colorous::Color { r, g, b } = colorous::VIRIDIS.eval_rational(step.min(STEPS - 1), STEPS);
    Rgb { r, g, b }
}

/// The ASCII shade of a weight.
///
/// ```
/// use spotlight::view::scale::shade;
/// assert_eq!([0.0, 0.05, 0.1, 0.55, 0.99, 1.0].map(shade), [' ', ' ', '.', '+', '@', '@']);
/// ```
pub fn shade(weight: f32) -> char {
    SHADES[((weight * 10.0) as usize).min(SHADES.len() - 1)]
}

/// A weight in three characters: `.00` to `.99`, and `1.0`.
///
/// ```
/// use spotlight::view::scale::short;
/// assert_eq!([0.0, 0.934, 0.999, 1.0].map(short), [".00", ".93", "1.0", "1.0"]);
/// ```
pub fn short(weight: f32) -> String {
    match step(weight) {
        100 => "1.0".to_string(),
        hundredths => format!(".{hundredths:02}"),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_table_is_viridis_from_end_to_end() {
        assert_eq!(colour(0).hex(), "#440154");
        assert_eq!(colour(100).hex(), "#fde725");
        assert_eq!(colour(usize::MAX), colour(100));
    }

    #[test]
    fn brightness_rises_along_the_table() {
        for step in 1..STEPS {
            assert!(colour(step).luminance() > colour(step - 1).luminance(), "at {step}");
        }
    }

    #[test]
    fn ink_reads_on_every_colour() {
        for step in 0..STEPS {
            let (paper, ink) = (colour(step).luminance(), colour(step).ink().luminance());
            let contrast = (paper.max(ink) + 0.05) / (paper.min(ink) + 0.05);
            assert!(contrast >= 4.5, "{contrast} at {step}");
        }
    }

    #[test]
    fn rounding_stays_on_the_scale() {
        assert_eq!([-0.001, 0.004, 0.006, 1.001, f32::NAN].map(step), [0, 0, 1, 100, 0]);
        assert_eq!([-0.001, 1.001, f32::NAN].map(shade), [' ', '@', ' ']);
    }
}
