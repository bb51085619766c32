//! Pictures for a terminal, in as many colours as it has.
//!
//! The caller reads the environment and decides: [`Color::detect`] from `COLORTERM` and `TERM`, [`Color::None`] for `NO_COLOR` and
//! pipes. Lines never exceed the width, so nothing wraps; a matrix that is too wide is cut into panels.

use super::label::{self, Label};
use super::palette::{Ground, Palette, Ramp, Theme};
use super::scale::{self, Rgb, Scale, Tone};
use super::textual::{self, Line};
use super::{Page, ansi};

/// The colours a terminal has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Color {
    /// 24 bits: the table as it is.
    True,
    /// The 256 colours of xterm: the nearest to the table's whose lightness goes the same way.
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
            Color::Ansi256 => format!("\u{1b}[{ground};5;{}m", ansi::nearest(Rgb { r, g, b })),
            Color::None => String::new(),
        }
    }
}

/// Draws a page in at most `width` columns.
pub fn draw(page: &Page, width: usize, color: Color) -> String {
    // Most terminals are dark; what is neutral has no colour of its own, so that it is right on any.
    let ground = if page.theme() == Theme::Light { Ground::Light } else { Ground::Dark };
    textual::draw(page, &Blocks::new(color, page.palette(), ground), width)
}

/// The shades of a terminal without colours, a quarter of the scale each.
const BLOCKS: [char; 5] = [' ', '░', '▒', '▓', '█'];

fn block(weight: f32) -> char {
    BLOCKS[((weight * 4.0).round() as usize).min(BLOCKS.len() - 1)]
}

struct Blocks {
    color: Color,
    /// The colours of both tables, and as which of 256 they are shown.
    sequential: Vec<(Rgb, u8)>,
    diverging: Vec<(Rgb, u8)>,
}

impl Blocks {
    fn new(color: Color, palette: Palette, ground: Ground) -> Blocks {
        let [sequential, diverging] = [Ramp::Sequential, Ramp::Diverging].map(|ramp| palette.table(ramp, ground));
        if color != Color::Ansi256 {
            let plain = |table: Vec<Rgb>| table.into_iter().map(|colour| (colour, 0)).collect();
            return Blocks { color, sequential: plain(sequential), diverging: plain(diverging) };
        }
        // Ink is chosen for the colour that is shown, not for the one that was meant.
        let shown = |entries: Vec<u8>| entries.into_iter().map(|entry| (ansi::xterm(entry), entry)).collect();
        Blocks { color, sequential: shown(ansi::sequential(&sequential)), diverging: shown(ansi::diverging(&diverging)) }
    }

    fn colour(&self, ramp: Ramp, place: f32) -> (Rgb, u8) {
        let table = if ramp == Ramp::Sequential { &self.sequential } else { &self.diverging };
        table.get(scale::step(place)).copied().unwrap_or((Rgb { r: 0, g: 0, b: 0 }, 16))
    }

    /// The escape sequence for a colour of a table.
    fn select(&self, ground: u8, (colour, entry): (Rgb, u8)) -> String {
        match self.color {
            Color::Ansi256 => format!("\u{1b}[{ground};5;{entry}m"),
            _ => self.color.select(ground, colour),
        }
    }

    /// `text` on a colour of a table, in ink that reads on it.
    fn on_step(&self, text: &str, paper: (Rgb, u8)) -> String {
        format!("{}{}{text}\u{1b}[0m", self.select(48, paper), self.color.select(38, paper.0.ink()))
    }

    /// `text` on the colour of a weight.
    fn toned(&self, text: &str, tone: &Tone) -> String {
        if tone.neutral() { text.to_string() } else { self.on_step(text, self.colour(tone.ramp, tone.place)) }
    }

    /// `text` on a colour, in ink that reads on it.
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

    fn cells(&self, tones: &[Tone], widths: &[usize]) -> String {
        let cells: Vec<(&Tone, usize)> = tones.iter().zip(widths.iter().copied()).collect();
        if self.plain() {
            return cells.iter().map(|&(tone, width)| String::from(block(tone.place)).repeat(width)).collect();
        }
        let number = |&(tone, width): &(&Tone, usize)| {
            // Zeros say nothing that their colour does not.
            let shown = width > 2 && !tone.silent;
            format!("{:^width$}", if shown { tone.number.as_str() } else { "" })
        };
        // Neighbours of one colour need its escape sequence only once.
        let run = |run: &[(&Tone, usize)]| {
            let text: String = run.iter().map(number).collect();
            self.toned(&text, run[0].0) // A chunk is never empty.
        };
        let same = |a: &Tone, b: &Tone| a.neutral() == b.neutral() && scale::step(a.place) == scale::step(b.place);
        cells.chunk_by(|a, b| same(a.0, b.0)).map(run).collect()
    }

    fn token(&self, token: &Label, tone: &Tone) -> String {
        if self.plain() { token.text.clone() } else { self.toned(&token.text, tone) }
    }

    fn strip(&self, tone: &Tone, width: usize) -> String {
        match self.plain() {
            true => format!("{:^width$}", format!("{} {}", block(tone.place), tone.number)),
            false => self.toned(&format!("{:^width$}", tone.number), tone),
        }
    }

    fn strip_width(&self, tone: &Tone) -> usize {
        tone.number.chars().count() + if self.plain() { 2 } else { 0 }
    }

    fn bar(&self, part: f32, tone: &Tone, width: usize) -> String {
        const EIGHTHS: [&str; 8] = ["", "▏", "▎", "▍", "▌", "▋", "▊", "▉"];
        let eighths = ((part * 8.0 * width as f32).round() as usize).min(8 * width);
        let bar = format!("{}{}", "█".repeat(eighths / 8), EIGHTHS[eighths % 8]);
        let rest = " ".repeat(width - eighths.div_ceil(8));
        match self.plain() || bar.is_empty() || tone.neutral() {
            true => bar + &rest,
            false => format!("{}{bar}\u{1b}[0m{rest}", self.select(38, self.colour(tone.ramp, tone.place))),
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

    fn axes(&self, down: &str, across: &str) -> String {
        format!("{down} ↓  {across} →")
    }

    fn legend(&self, scale: Scale, width: usize) -> Line {
        let (low, high) = scale.ends();
        let ends = low.len() + high.len() + 2;
        let across = width.saturating_sub(ends).clamp(2, 20);
        if self.plain() {
            return Line::new(&format!("{low} │{}│ {high}", BLOCKS.iter().collect::<String>()), ends + BLOCKS.len() + 2);
        }
        let place = |i: usize| i as f32 / (across - 1) as f32;
        let colours: String = (0..across).map(|i| self.on_step(" ", self.colour(scale.ramp(), place(i)))).collect();
        Line::new(&format!("{low} {colours} {high}"), ends + across)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn other_terminals_get_no_colours() {
        assert_eq!(Color::detect(None, None), Color::None);
        assert_eq!(Color::detect(Some(""), Some("xterm")), Color::None);
        assert_eq!(Color::detect(Some("24bit"), Some("dumb")), Color::None);
        assert_eq!(Color::detect(None, Some("xterm-direct")), Color::True);
    }
}
