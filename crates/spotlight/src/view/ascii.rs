//! Pictures in pure ASCII: ten shades, one character per source unit where the units are characters.
//!
//! ```text
//!     march 15, 2024
//!     --------------
//! '2' |          ##  | 0.99
//! ```

use super::label::{self, Label};
use super::scale::{SHADES, Scale, shade, short};
use super::{Page, textual};

/// Draws a page in at most `width` columns. Other characters than ASCII are escaped, as in `\u{e9}`.
pub fn draw(page: &Page, width: usize) -> String {
    textual::draw(page, &Shades { scale: page.scale() }, width)
}

struct Shades {
    scale: Scale,
}

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

    fn cells(&self, weights: &[f32], widths: &[usize]) -> String {
        let cell = |(&weight, &width): (&f32, &usize)| {
            // Columns of words keep a gap between them.
            let gap = usize::from(width > 1);
            String::from(shade(self.scale.share(weight))).repeat(width - gap) + &" ".repeat(gap)
        };
        weights.iter().zip(widths).map(cell).collect()
    }

    fn token(&self, token: &Label, _: f32) -> String {
        token.text.clone()
    }

    fn strip(&self, weight: f32, width: usize) -> String {
        format!("{:^width$}", format!("{} {}", shade(self.scale.share(weight)), short(weight)))
    }

    fn bar(&self, weight: f32, width: usize) -> String {
        let filled = ((self.scale.share(weight) * width as f32).round() as usize).min(width);
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

    fn legend(&self) -> String {
        let shades: String = SHADES.iter().collect();
        format!("0 \"{shades}\" {}", self.scale.top())
    }
}
