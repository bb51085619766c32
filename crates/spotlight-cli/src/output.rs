//! What the commands print with.

use std::io::{self, IsTerminal, Write};
use std::path::Path;

use anyhow::Result;
use clap::ValueEnum;
pub use spotlight::model::describe::grouped;
use spotlight::view::terminal::Color;
use spotlight::weights::write_whole;

/// An error of the person who typed the command: exit code 2.
#[derive(Debug)]
pub struct WrongUsage(pub String);

impl std::fmt::Display for WrongUsage {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for WrongUsage {}

/// Prints a result to standard output.
pub fn say(text: impl std::fmt::Display) -> Result<()> {
    let mut out = io::stdout().lock();
    writeln!(out, "{text}")?;
    Ok(())
}

/// Prints a sentence or more as lines no wider than the terminal, all indented like the first.
pub fn tell(text: impl std::fmt::Display) -> Result<()> {
    let text = text.to_string();
    let indent = text.len() - text.trim_start_matches(' ').len();
    for line in wrapped(&text, width().min(100).saturating_sub(indent)) {
        say(format_args!("{:indent$}{line}", ""))?;
    }
    Ok(())
}

/// Says something on standard error: at a terminal in lines no wider than it is, elsewhere in one, as it is.
pub fn note(line: &str) {
    let wide = width();
    match io::stderr().is_terminal() && line.chars().count() > wide {
        true => wrapped(line, wide).iter().for_each(|line| eprintln!("{line}")),
        false => eprintln!("{line}"),
    }
}

/// Prints a result that brings its own line ends.
pub fn print(text: &str) -> Result<()> {
    let mut out = io::stdout().lock();
    out.write_all(text.as_bytes())?;
    out.flush()?;
    Ok(())
}

/// Columns of the terminal, 80 if there is none.
pub fn width() -> usize {
    terminal_size::terminal_size().map_or(80, |(w, _)| w.0 as usize).clamp(24, 400)
}

/// The colours standard output can show.
pub fn color() -> Color {
    let set = |name: &str| std::env::var(name).ok();
    if set("NO_COLOR").is_some_and(|v| !v.is_empty()) || !io::stdout().is_terminal() {
        return Color::None;
    }
    Color::detect(set("COLORTERM").as_deref(), set("TERM").as_deref())
}

/// Writes a file whole, or prints to standard output if there is none.
pub fn deliver(file: Option<&Path>, data: &[u8]) -> Result<()> {
    match file {
        Some(path) => {
            write_whole(path, data)?;
            eprintln!("wrote {} ({})", path.display(), bytes(data.len()));
        }
        None => {
            let mut out = io::stdout().lock();
            out.write_all(data)?;
            out.flush()?;
        }
    }
    Ok(())
}

/// The form of a picture: the one that was asked for, or the one that the extension of the file names, or else `otherwise`.
pub fn form<F: ValueEnum>(asked: Option<F>, file: Option<&Path>, otherwise: F) -> Result<F> {
    let (None, Some(file)) = (&asked, file) else { return Ok(asked.unwrap_or(otherwise)) };
    let extension = file.extension().map(|e| e.to_string_lossy().to_lowercase()).unwrap_or_default();
    match extension.as_str() {
        "txt" => Ok(otherwise),
        "htm" => Ok(F::from_str("html", true).unwrap_or(otherwise)),
        name => F::from_str(name, true).map_err(|_| {
            let names: Vec<String> =
                F::value_variants().iter().filter_map(|v| Some(v.to_possible_value()?.get_name().to_string())).collect();
            let problem = format!("{}: no picture is called so; say which form with --format ({})", file.display(), names.join(", "));
            WrongUsage(problem).into()
        }),
    }
}

/// A text in lines of at most `width` columns, broken between words. A word that is wider has a line of its own.
pub fn wrapped(text: &str, width: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    // Of several spaces, all but the last belong to the word after them.
    for word in text.trim().split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= width => {
                line.push(' ');
                line.push_str(word);
            }
            _ if word.is_empty() => {}
            _ => lines.push(word.into()),
        }
    }
    lines.iter().map(|line| line.trim_end().to_string()).collect()
}

/// Names and values as lines, the values below each other.
pub fn in_columns(rows: &[(String, String)]) -> impl Iterator<Item = String> + '_ {
    let width = rows.iter().map(|row| row.0.chars().count()).max().unwrap_or(0);
    rows.iter().map(move |(name, value)| format!("{name:width$}  {value}"))
}

/// A number of bytes for people.
pub fn bytes(n: usize) -> String {
    match n {
        0..10_000 => format!("{n} bytes"),
        10_000..10_000_000 => format!("{:.0} kB", n as f64 / 1e3),
        _ => format!("{:.0} MB", n as f64 / 1e6),
    }
}

/// Seconds for people.
pub fn duration(seconds: f64) -> String {
    let s = seconds.round() as u64;
    match s {
        0..60 => format!("{seconds:.1} s"),
        60..3600 => format!("{} min {:02} s", s / 60, s % 60),
        _ => format!("{} h {:02} min", s / 3600, s % 3600 / 60),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_stand_below_each_other() {
        let rows = [("task", "match"), ("dev accuracy", "0.5"), ("", "more")].map(|(name, value)| (name.to_string(), value.to_string()));
        assert_eq!(in_columns(&rows).collect::<Vec<_>>(), ["task          match", "dev accuracy  0.5", "              more"]);
    }

    #[test]
    fn lines_break_between_words() {
        assert_eq!(wrapped("one two  three four", 9), ["one two", "three", "four"]);
        assert_eq!(wrapped("right  no", 20), ["right  no"]);
        assert_eq!(wrapped("incomprehensibilities are long", 10), ["incomprehensibilities", "are long"]);
        assert_eq!(wrapped("  ", 10), Vec::<String>::new());
    }

    #[test]
    fn numbers_for_people() {
        assert_eq!((duration(3.21), duration(75.0), duration(3725.0)), ("3.2 s".into(), "1 min 15 s".into(), "1 h 02 min".into()));
        assert_eq!((bytes(12), bytes(12_345)), ("12 bytes".into(), "12 kB".into()));
    }
}
