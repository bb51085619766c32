//! Colours: a table for weights from little to much, another for less and more than an even spread, and ink that reads on them.

/// How many colours a table has. A hundredth of the scale is finer than the eye tells apart in a cell, and equal
/// neighbours can be drawn in one stroke.
pub const STEPS: usize = 101;

/// The step of a diverging table that is neither less nor more.
pub const NEUTRAL: usize = STEPS / 2;

/// A colour of a table.
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

    /// Relative luminance, from 0 for black to 1 for white.
    pub(super) fn luminance(self) -> f64 {
        let [r, g, b] = self.linear();
        0.2126 * r + 0.7152 * g + 0.0722 * b
    }

    /// Light of the three channels, from 0 to 1.
    pub(super) fn linear(self) -> [f64; 3] {
        [self.r, self.g, self.b].map(|channel| {
            let value = f64::from(channel) / 255.0;
            if value <= 0.04045 { value / 12.92 } else { ((value + 0.055) / 1.055).powf(2.4) }
        })
    }

    /// The colour a part of the way to another.
    fn toward(self, other: Rgb, part: f64) -> Rgb {
        let mix = |from: u8, to: u8| (f64::from(from) + part * (f64::from(to) - f64::from(from))).round() as u8;
        Rgb { r: mix(self.r, other.r), g: mix(self.g, other.g), b: mix(self.b, other.b) }
    }
}

impl From<colorous::Color> for Rgb {
    fn from(colorous::Color { r, g, b }: colorous::Color) -> Self {
        Rgb { r, g, b }
    }
}

/// What the colours of a table say.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ramp {
    /// From little to much.
    Sequential,
    /// From less than an even spread over as much to more.
    Diverging,
}

/// The ground a drawing stands on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Ground {
    /// Dark ink on light paper.
    Light,
    /// Light ink on dark paper.
    Dark,
}

/// Light or dark paper.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Theme {
    /// As the reader prefers, where the form can know; else light.
    #[default]
    Auto,
    /// Light.
    Light,
    /// Dark.
    Dark,
}

impl Theme {
    /// The ground where nobody can be asked what they prefer.
    pub fn ground(self) -> Ground {
        match self {
            Theme::Auto | Theme::Light => Ground::Light,
            Theme::Dark => Ground::Dark,
        }
    }
}

/// Where a step lies on a table that runs from more over the middle to less. Less goes only part of the way: where a model looks at
/// one word, all others have less, and they shall not outshine it.
fn light(step: usize) -> f64 {
    const LEAST: f64 = 0.72;
    let far = (step as f64 - NEUTRAL as f64) / NEUTRAL as f64;
    if far < 0.0 { 0.5 - far * (LEAST - 0.5) } else { 0.5 - far * 0.5 }
}

/// A pair of tables.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Palette {
    /// From dark violet over green to yellow; less is blue and more is red.
    #[default]
    Viridis,
    /// From dark blue to yellow, made for eyes that do not tell red from green; less is blue and more is orange.
    Cividis,
    /// From white to dark blue, for print; less is blue and more is red.
    Light,
    /// From white to black, for print without colours.
    Grey,
}

impl Palette {
    /// All of them.
    pub const ALL: [Palette; 4] = [Palette::Viridis, Palette::Cividis, Palette::Light, Palette::Grey];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Palette::Viridis => "viridis",
            Palette::Cividis => "cividis",
            Palette::Light => "light",
            Palette::Grey => "grey",
        }
    }

    /// The colour of a step of a table.
    pub fn colour(self, ramp: Ramp, ground: Ground, step: usize) -> Rgb {
        let step = step.min(STEPS - 1);
        match ramp {
            Ramp::Sequential => self.sequential(step),
            Ramp::Diverging => self.diverging(step, ground),
        }
    }

    /// A whole table.
    pub fn table(self, ramp: Ramp, ground: Ground) -> Vec<Rgb> {
        (0..STEPS).map(|step| self.colour(ramp, ground, step)).collect()
    }

    fn sequential(self, step: usize) -> Rgb {
        let table = match self {
            Palette::Viridis => colorous::VIRIDIS,
            Palette::Cividis => colorous::CIVIDIS,
            Palette::Light => colorous::BLUES,
            Palette::Grey => colorous::GREYS,
        };
        table.eval_rational(step, STEPS).into()
    }

    /// As much as an even spread gives is the colour of the paper, or nearly.
    fn diverging(self, step: usize, ground: Ground) -> Rgb {
        let (less, more) = match (self, ground) {
            (Palette::Grey, _) => return self.sequential(step),
            // This table runs the other way.
            (Palette::Cividis, Ground::Light) => return colorous::PURPLE_ORANGE.eval_continuous(1.0 - light(step)).into(),
            (_, Ground::Light) => return colorous::RED_BLUE.eval_continuous(light(step)).into(),
            (Palette::Cividis, Ground::Dark) => (Rgb { r: 0x62, g: 0x5c, b: 0x99 }, Rgb { r: 0xff, g: 0xb0, b: 0x3b }),
            (_, Ground::Dark) => (Rgb { r: 0x3f, g: 0x66, b: 0x8f }, Rgb { r: 0xff, g: 0x86, b: 0x5e }),
        };
        const MIDDLE: Rgb = Rgb { r: 0x2e, g: 0x30, b: 0x37 };
        let far = (step as f64 - NEUTRAL as f64) / NEUTRAL as f64;
        MIDDLE.toward(if far < 0.0 { less } else { more }, far.abs())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const GROUNDS: [Ground; 2] = [Ground::Light, Ground::Dark];

    #[test]
    fn the_first_table_is_viridis_from_end_to_end() {
        let viridis = Palette::default().table(Ramp::Sequential, Ground::Light);
        assert_eq!((viridis[0].hex(), viridis[100].hex(), viridis.len()), ("#440154".into(), "#fde725".into(), STEPS));
        assert_eq!(Palette::Viridis.colour(Ramp::Sequential, Ground::Dark, usize::MAX), viridis[100]);
    }

    #[test]
    fn brightness_goes_one_way_along_a_sequential_table() {
        for palette in Palette::ALL {
            let table = palette.table(Ramp::Sequential, Ground::Light);
            let rising = table[100].luminance() > table[0].luminance();
            for (step, pair) in table.windows(2).enumerate() {
                assert_eq!(pair[1].luminance() > pair[0].luminance(), rising, "{} at {step}", palette.name());
            }
        }
    }

    #[test]
    fn a_diverging_table_leaves_the_colour_of_the_paper_both_ways() {
        for (palette, ground) in [Palette::Viridis, Palette::Cividis, Palette::Light].into_iter().flat_map(|p| GROUNDS.map(|g| (p, g))) {
            let table = palette.table(Ramp::Diverging, ground);
            // The flat top of a table may lie a step or two beside its middle; the eye does not see that.
            const FLAT: f64 = 0.01;
            let away = |step: usize| (table[step].luminance() - table[NEUTRAL].luminance()).abs();
            for far in 1..=NEUTRAL {
                assert!(away(NEUTRAL - far) + FLAT >= away(NEUTRAL + 1 - far), "{} less, {far}", palette.name());
                assert!(away(NEUTRAL + far) + FLAT >= away(NEUTRAL + far - 1), "{} more, {far}", palette.name());
            }
            assert!(table[0].b > table[0].r && table[100].r > table[100].b, "{}: less is cold, more is warm", palette.name());
            assert_eq!(table[NEUTRAL].luminance() > 0.5, ground == Ground::Light);
        }
    }

    #[test]
    fn ink_reads_on_every_colour() {
        for (palette, ground) in Palette::ALL.into_iter().flat_map(|p| GROUNDS.map(|g| (p, g))) {
            for ramp in [Ramp::Sequential, Ramp::Diverging] {
                for colour in palette.table(ramp, ground) {
                    let (paper, ink) = (colour.luminance(), colour.ink().luminance());
                    let contrast = (paper.max(ink) + 0.05) / (paper.min(ink) + 0.05);
                    assert!(contrast >= 4.5, "{contrast} on {} of {}", colour.hex(), palette.name());
                }
            }
        }
    }
}
