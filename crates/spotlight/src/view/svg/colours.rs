//! How a drawing is coloured: its palette, and paper that is light, dark, or as the reader prefers.
//!
//! A colour that differs between light and dark paper is written as an attribute for the light, which every renderer understands,
//! and with a class that a style sheet changes where the reader prefers dark.

use crate::view::Page;
use crate::view::palette::{Ground, Palette, Ramp, Rgb, STEPS, Theme};
use crate::view::scale::{self, Tone};

/// The colours of a drawing.
#[derive(Clone, Copy, Debug, Default)]
pub(in crate::view) struct Colours {
    palette: Palette,
    theme: Theme,
}

/// The dark rules of one step: what a class changes, and to which colour.
const RULES: [(char, &str); 3] = [('f', "fill"), ('s', "stroke"), ('k', "fill")];

impl Colours {
    pub fn of(page: &Page) -> Colours {
        Colours { palette: page.palette(), theme: page.theme() }
    }

    /// The usual palette on this paper.
    pub fn on(theme: Theme) -> Colours {
        Colours { theme, ..Colours::default() }
    }

    fn colour(self, ramp: Ramp, step: usize) -> Rgb {
        self.palette.colour(ramp, self.theme.ground(), step)
    }

    /// Whether a colour of this table waits for the reader.
    fn follows(self, ramp: Ramp) -> bool {
        self.theme == Theme::Auto && ramp == Ramp::Diverging && self.palette != Palette::Grey
    }

    fn attribute(self, name: &str, class: char, ramp: Ramp, step: usize, colour: Rgb) -> String {
        match self.follows(ramp) {
            true => format!("{name}=\"{}\" class=\"{class}{step}\"", colour.hex()),
            false => format!("{name}=\"{}\"", colour.hex()),
        }
    }

    /// Attributes of a shape filled with the colour of a step.
    pub fn fill(self, ramp: Ramp, step: usize) -> String {
        self.attribute("fill", 'f', ramp, step, self.colour(ramp, step))
    }

    /// Attributes of a stroke in the colour of a step.
    pub fn stroke(self, ramp: Ramp, step: usize) -> String {
        self.attribute("stroke", 's', ramp, step, self.colour(ramp, step))
    }

    /// The same as `fill` for a weight.
    pub fn fill_tone(self, tone: &Tone) -> String {
        self.fill(tone.ramp, scale::step(tone.place))
    }

    /// Attributes of text that reads on the colour of a weight.
    pub fn ink(self, tone: &Tone) -> String {
        let step = scale::step(tone.place);
        let ink = self.colour(tone.ramp, step).ink().hex();
        match self.follows(tone.ramp) {
            true => format!("class=\"mono k{step}\" fill=\"{ink}\""),
            false => format!("class=\"mono\" fill=\"{ink}\""),
        }
    }

    /// The rules of the style sheet for paper, ink and the classes that occur in a drawing.
    pub fn style(self, body: &str) -> String {
        let dark = format!("{DARK}{}", self.dark_steps(body));
        match self.theme {
            Theme::Light => LIGHT.to_string(),
            Theme::Dark => dark,
            Theme::Auto => format!("{LIGHT}@media (prefers-color-scheme: dark) {{\n{dark}}}\n"),
        }
    }

    fn dark_steps(self, body: &str) -> String {
        let mut rules = String::new();
        if !self.follows(Ramp::Diverging) {
            return rules;
        }
        for step in 0..STEPS {
            let colour = self.palette.colour(Ramp::Diverging, Ground::Dark, step);
            for (class, property) in RULES {
                if body.contains(&format!("{class}{step}\"")) {
                    let value = if class == 'k' { colour.ink() } else { colour };
                    rules.push_str(&format!(".spotlight .{class}{step} {{ {property}: {} }}\n", value.hex()));
                }
            }
        }
        rules
    }
}

const LIGHT: &str = "\
.spotlight .paper { fill: #ffffff }
.spotlight .ink { fill: #1d1e22 }
.spotlight .soft { fill: #5e626b }
.spotlight .track { fill: #e9eaee }
.spotlight .meter { fill: #7b8190 }
.spotlight .rule { stroke: #d5d7dd; fill: none }
.spotlight .mark { stroke: #1d1e22; fill: none }
";

const DARK: &str = "\
.spotlight .paper { fill: #17181c }
.spotlight .ink { fill: #e9eaee }
.spotlight .soft { fill: #a3a7b2 }
.spotlight .track { fill: #2b2d34 }
.spotlight .meter { fill: #8b909e }
.spotlight .rule { stroke: #3c3f48; fill: none }
.spotlight .mark { stroke: #e9eaee; fill: none }
";

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_what_differs_follows_the_reader() {
        let auto = Colours::default();
        assert_eq!(auto.fill(Ramp::Sequential, 0), "fill=\"#440154\"");
        let fill = auto.fill(Ramp::Diverging, 50);
        assert!(fill.ends_with("class=\"f50\""), "{fill}");
        let style = auto.style(&fill);
        assert!(style.contains(".f50 { fill: #2e3037 }") && !style.contains(".f51") && !style.contains(".s50"), "{style}");
        let dark = Colours { theme: Theme::Dark, ..auto };
        assert_eq!(dark.fill(Ramp::Diverging, 50), "fill=\"#2e3037\"");
        assert!(!dark.style("").contains("@media") && dark.style("").contains("#17181c"));
        let light = Colours { theme: Theme::Light, ..auto };
        assert!(!light.style("").contains("#17181c") && !light.fill(Ramp::Diverging, 50).contains("class"));
    }
}
