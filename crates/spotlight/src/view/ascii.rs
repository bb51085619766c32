//! Pictures in pure ASCII: ten shades, one character per source unit where the units are characters.
//!
//! ```text
//!     march 15, 2024
//!     --------------
//! '2' |          ##  | 0.99
//! ```

use super::Page;
use super::label::{self, Label};
use super::scale::{SHADES, Scale, Tone, shade};
use super::textual::{self, Line};

/// Draws a page in at most `width` columns. Other characters than ASCII are escaped, as in `\u{e9}`.
pub fn draw(page: &Page, width: usize) -> String {
    textual::draw(page, &Shades, width)
}

struct Shades;

impl textual::Paint for Shades {
    fn unit(&self, unit: &str, columns: usize) -> Label {
        label::ascii(unit, columns)
    }

    fn row_unit(&self, unit: &str, columns: usize) -> Label {
        let label = label::ascii(unit, columns.saturating_sub(2));
        Label { text: format!("'{}'", label.text), width: label.width + 2 }
    }

    fn text(&self, text: &str, columns: usize) -> Label {
        label::ascii(text, columns)
    }

    fn column(&self, label: usize, narrow: bool) -> usize {
        if narrow && label <= 1 { 1 } else { label.max(1) + 1 }
    }

    fn narrow(&self) -> usize {
        1
    }

    fn cells(&self, tones: &[Tone], widths: &[usize]) -> String {
        let cell = |(tone, &width): (&Tone, &usize)| {
            // Columns of words keep a gap between them.
            let gap = usize::from(width > 1);
            String::from(shade(tone.place)).repeat(width - gap) + &" ".repeat(gap)
        };
        tones.iter().zip(widths).map(cell).collect()
    }

    fn token(&self, token: &Label, _: &Tone) -> String {
        token.text.clone()
    }

    fn strip(&self, tone: &Tone, width: usize) -> String {
        format!("{:^width$}", format!("{} {}", shade(tone.place), self.number(&tone.number)))
    }

    fn strip_width(&self, tone: &Tone) -> usize {
        2 + self.number(&tone.number).len()
    }

    /// `x` for times, `m` for thousandths.
    fn number(&self, number: &str) -> String {
        number.replace('×', "x").replace('‰', "m")
    }

    fn bar(&self, part: f32, _: &Tone, width: usize) -> String {
        let filled = ((part * width as f32).round() as usize).min(width);
        "#".repeat(filled) + &" ".repeat(width - filled)
    }

    fn pixel(&self, grey: f32) -> String {
        String::from(shade(grey)).repeat(2)
    }

    fn edge(&self) -> &'static str {
        "|"
    }

    fn rule(&self) -> Option<char> {
        Some('-')
    }

    fn arrow(&self) -> &'static str {
        "->"
    }

    fn axes(&self, down: &str, across: &str) -> String {
        format!("{down} v  {across} >")
    }

    fn legend(&self, scale: Scale, _: usize) -> Line {
        let shades: String = SHADES.iter().collect();
        let (low, high) = scale.ends();
        let legend = format!("{low} \"{shades}\" {high}");
        Line::new(&legend, legend.len())
    }
}
