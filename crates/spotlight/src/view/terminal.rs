//! Pictures for a terminal, in as many colours as it has.
//!
//! The caller reads the environment and decides: [`Color::detect`] from `COLORTERM` and `TERM`, [`Color::None`] for `NO_COLOR` and
//! pipes. Lines never exceed the width, so nothing wraps; a matrix that is too wide is cut into panels.

use super::label::{self, Label};
use super::scale::{self, Rgb, Scale, short};
use super::{Page, textual};

/// The colours a terminal has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Color {
    /// 24 bits: the table as it is.
    True,
    /// The 256 colours of xterm: the nearest to the table's.
    Ansi256,
    /// None: shades of block characters, and no escape sequences at all.
    #[default]
    None,
}

impl Color {
    /// What a terminal that sets these variables can show.
    ///
    /// ```
    /// use spotlight::view::terminal::Color;
    /// assert_eq!(Color::detect(Some("truecolor"), Some("xterm-256color")), Color::True);
    /// assert_eq!(Color::detect(None, Some("screen-256color")), Color::Ansi256);
    /// assert_eq!(Color::detect(None, Some("dumb")), Color::None);
    /// ```
    pub fn detect(colorterm: Option<&str>, term: Option<&str>) -> Color {
        let term = term.unwrap_or_default();
        match colorterm {
            _ if term == "dumb" => Color::None,
            Some("truecolor" | "24bit") => Color::True,
            _ if term.ends_with("-direct") => Color::True,
            _ if term.contains("256color") => Color::Ansi256,
            _ => Color::None,
        }
    }

    /// The escape sequence that selects a colour: as foreground with 38, as background with 48.
    pub(super) fn select(self, ground: u8, Rgb { r, g, b }: Rgb) -> String {
        match self {
            Color::True => format!("\u{1b}[{ground};2;{r};{g};{b}m"),
            Color::Ansi256 => format!("\u{1b}[{ground};5;{}m", nearest_256(Rgb { r, g, b })),
            Color::None => String::new(),
        }
    }
}

/// Draws a page in at most `width` columns.
pub fn draw(page: &Page, width: usize, color: Color) -> String {
    textual::draw(page, &Blocks { color, scale: page.scale() }, width)
}

/// The shades of a terminal without colours, a quarter of the scale each.
const BLOCKS: [char; 5] = [' ', '░', '▒', '▓', '█'];

fn block(weight: f32) -> char {
    BLOCKS[((weight * 4.0).round() as usize).min(BLOCKS.len() - 1)]
}

struct Blocks {
    color: Color,
    scale: Scale,
}

impl Blocks {
    /// `text` on the colour of `weight`, in ink that reads on it.
    fn on(&self, text: &str, paper: Rgb) -> String {
        format!("{}{}{text}\u{1b}[0m", self.color.select(48, paper), self.color.select(38, paper.ink()))
    }

    fn plain(&self) -> bool {
        self.color == Color::None
    }
}

impl textual::Paint for Blocks {
    fn unit(&self, unit: &str, columns: usize) -> Label {
        label::shorten(unit, columns)
    }

    fn text(&self, text: &str, columns: usize) -> Label {
        label::shorten_text(text, columns)
    }

    fn dim(&self, text: &str) -> String {
        if self.plain() || text.is_empty() { text.to_string() } else { format!("\u{1b}[2m{text}\u{1b}[0m") }
    }

    fn strong(&self, text: &str) -> String {
        if self.plain() || text.is_empty() { text.to_string() } else { format!("\u{1b}[1m{text}\u{1b}[0m") }
    }

    fn column(&self, label: usize, narrow: bool) -> usize {
        match narrow {
            true if label <= 2 => 2,
            true => label + 1,
            false => label.max(4) + 1,
        }
    }

    fn narrow(&self) -> usize {
        2
    }

    fn cells(&self, weights: &[f32], widths: &[usize]) -> String {
        let cells: Vec<(f32, usize)> = weights.iter().copied().zip(widths.iter().copied()).collect();
        if self.plain() {
            return cells.iter().map(|&(weight, width)| String::from(block(self.scale.share(weight))).repeat(width)).collect();
        }
        let number = |&(weight, width): &(f32, usize)| {
            // Zeros say nothing that their colour does not.
            let shown = width > 2 && scale::step(weight) > 0;
            format!("{:^width$}", if shown { short(weight) } else { String::new() })
        };
        // Neighbours of one colour need its escape sequence only once.
        let run = |run: &[(f32, usize)]| {
            let text: String = run.iter().map(number).collect();
            self.on(&text, self.scale.colour(run[0].0)) // A chunk is never empty.
        };
        cells.chunk_by(|a, b| self.scale.colour(a.0) == self.scale.colour(b.0)).map(run).collect()
    }

    fn token(&self, token: &Label, weight: f32) -> String {
        if self.plain() { token.text.clone() } else { self.on(&token.text, self.scale.colour(weight)) }
    }

    fn strip(&self, weight: f32, width: usize) -> String {
        match self.plain() {
            true => format!("{:^width$}", format!("{} {}", block(self.scale.share(weight)), short(weight))),
            false => self.on(&format!("{:^width$}", short(weight)), self.scale.colour(weight)),
        }
    }

    fn bar(&self, weight: f32, width: usize) -> String {
        const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
        let eighths = ((self.scale.share(weight) * 8.0 * width as f32).round() as usize).min(8 * width);
        let bar = format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8]);
        let rest = " ".repeat(width - eighths.div_ceil(8));
        match self.plain() || bar.is_empty() {
            true => bar + &rest,
            false => format!("{}{bar}\u{1b}[0m{rest}", self.color.select(38, self.scale.colour(weight))),
        }
    }

    fn pixel(&self, grey: f32) -> String {
        if self.plain() {
            return String::from(block(grey)).repeat(2);
        }
        let level = (grey * 255.0).round() as u8;
        self.on("  ", Rgb { r: level, g: level, b: level })
    }

    fn edge(&self) -> &'static str {
        if self.plain() { "│" } else { "" }
    }

    fn rule(&self) -> Option<char> {
        None
    }

    fn arrow(&self) -> &'static str {
        "→"
    }

    fn legend(&self) -> String {
        if self.plain() {
            return format!("0 │{}│ {}", BLOCKS.iter().collect::<String>(), self.scale.top());
        }
        let colours: String = (0..20).map(|i| self.on(" ", scale::colour(100 * i / 19))).collect();
        format!("0 {colours} {}", self.scale.top())
    }
}

/// The entry of xterm's 6 x 6 x 6 cube or of its grey ramp that lies nearest.
fn nearest_256(Rgb { r, g, b }: Rgb) -> u8 {
    const LEVELS: [u8; 6] = [0, 95, 135, 175, 215, 255];
    let distance = |(x, y, z): (u8, u8, u8)| -> u32 {
        [(x, r), (y, g), (z, b)].iter().map(|&(one, other)| u32::from(one.abs_diff(other)).pow(2)).sum()
    };
    let cube = (0..216u8).map(|i| (16 + i, (LEVELS[usize::from(i / 36)], LEVELS[usize::from(i / 6 % 6)], LEVELS[usize::from(i % 6)])));
    let greys = (0..24u8).map(|i| (232 + i, (8 + 10 * i, 8 + 10 * i, 8 + 10 * i)));
    cube.chain(greys).min_by_key(|&(_, colour)| distance(colour)).map_or(16, |(entry, _)| entry)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_of_256_colours() {
        assert_eq!(nearest_256(Rgb { r: 255, g: 255, b: 255 }), 231);
        assert_eq!(nearest_256(Rgb { r: 0, g: 0, b: 0 }), 16);
        assert_eq!(nearest_256(Rgb { r: 130, g: 130, b: 130 }), 244);
        assert_eq!(nearest_256(Rgb { r: 250, g: 230, b: 40 }), 220);
    }

    #[test]
    fn other_terminals_get_no_colours() {
        assert_eq!(Color::detect(None, None), Color::None);
        assert_eq!(Color::detect(Some(""), Some("xterm")), Color::None);
        assert_eq!(Color::detect(Some("24bit"), Some("dumb")), Color::None);
        assert_eq!(Color::detect(None, Some("xterm-direct")), Color::True);
    }
}
