//! What was measured, in order, as a table or as JSON.

use std::fmt;

use serde_json::{Map, Value, json};
use unicode_width::UnicodeWidthStr;

use super::{Confident, Spread};

/// How a number is printed in a table. JSON always has all its digits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Style {
    /// A share from 0 to 1, four digits: `0.8231`.
    Share,
    /// A share from 0 to 1 printed in percent, two digits: `82.31 %`.
    Percent,
    /// Points up to 100, two digits, as BLEU and chrF: `34.07`.
    Points,
    /// A whole number: `1014`.
    Count,
}

impl Style {
    /// A number in this style.
    pub fn format(self, value: f64) -> String {
        match self {
            Style::Share => format!("{value:.4}"),
            Style::Percent => format!("{:.2} %", 100.0 * value),
            Style::Points => format!("{value:.2}"),
            Style::Count => format!("{value:.0}"),
        }
    }
}

#[derive(Clone, Debug, PartialEq)]
enum Entry {
    Number(f64, Style),
    Spread(Spread, Style),
    Text(String),
}

/// An ordered list of figures with their names.
///
/// [`Display`](fmt::Display) prints a table of two columns, numbers to the right;
/// [`Report::to_json`] gives an object with the same names in the same order, spaces replaced by
/// `_`.
///
/// ```
/// use spotlight::metrics::{Report, Style};
///
/// let mut report = Report::new();
/// report.count("words", 450);
/// report.number("exact match", 0.9133, Style::Share);
/// report.number("WER", 0.0867, Style::Percent);
/// report.text("units", "characters");
/// assert_eq!(
///     report.to_string(),
///     "words           450\n\
///      exact match  0.9133\n\
///      WER          8.67 %\n\
///      units        characters\n",
/// );
/// assert_eq!(
///     report.to_json().to_string(),
///     r#"{"words":450,"exact_match":0.9133,"WER":0.0867,"units":"characters"}"#
/// );
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Report {
    entries: Vec<(String, Entry)>,
    /// Every answer that was judged, as sure as the model is of it; empty where that is not known. Not printed: to be drawn.
    pub answers: Vec<Confident>,
}

impl Report {
    /// A report without entries.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a number, or replaces the entry of that name.
    pub fn number(&mut self, name: &str, value: f64, style: Style) {
        self.set(name, Entry::Number(value, style));
    }

    /// Adds a whole number, or replaces the entry of that name.
    pub fn count(&mut self, name: &str, value: usize) {
        self.set(name, Entry::Number(value as f64, Style::Count));
    }

    /// Adds a mean with its spread, or replaces the entry of that name.
    pub fn spread(&mut self, name: &str, value: Spread, style: Style) {
        self.set(name, Entry::Spread(value, style));
    }

    /// Adds a text such as a signature, or replaces the entry of that name.
    pub fn text(&mut self, name: &str, text: impl Into<String>) {
        self.set(name, Entry::Text(text.into()));
    }

    /// The number under a name, or the mean if it is a spread.
    pub fn get(&self, name: &str) -> Option<f64> {
        self.entries.iter().find(|(known, _)| known == name).and_then(|(_, entry)| match entry {
            Entry::Number(value, _) => Some(*value),
            Entry::Spread(spread, _) => Some(spread.mean),
            Entry::Text(_) => None,
        })
    }

    /// The report as a JSON object. A number that is not finite becomes `null`, since JSON has no
    /// word for it.
    pub fn to_json(&self) -> Value {
        let object: Map<_, _> = self.entries.iter().map(|(name, entry)| (name.replace(' ', "_"), entry.to_json())).collect();
        Value::Object(object)
    }

    fn set(&mut self, name: &str, entry: Entry) {
        match self.entries.iter_mut().find(|(known, _)| known == name) {
            Some((_, old)) => *old = entry,
            None => self.entries.push((name.to_owned(), entry)),
        }
    }
}

impl Entry {
    fn to_json(&self) -> Value {
        match self {
            Entry::Number(value, Style::Count) if value.is_finite() => json!(*value as i64),
            Entry::Number(value, _) => json!(value),
            Entry::Spread(spread, _) => {
                json!({"mean": spread.mean, "deviation": spread.deviation, "runs": spread.runs})
            }
            Entry::Text(text) => json!(text),
        }
    }

    fn to_text(&self) -> String {
        match self {
            Entry::Number(value, style) => style.format(*value),
            Entry::Spread(spread, style) => {
                let deviation = spread.deviation.map(|deviation| format!(" ± {}", style.format(deviation)));
                format!("{}{} (n = {})", style.format(spread.mean), deviation.unwrap_or_default(), spread.runs)
            }
            Entry::Text(text) => text.clone(),
        }
    }

    /// Plain numbers stand to the right of their column, so that their digits can be compared.
    fn is_number(&self) -> bool {
        matches!(self, Entry::Number(..))
    }
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let rows: Vec<_> = self.entries.iter().map(|(name, entry)| (name, entry.to_text(), entry.is_number())).collect();
        let name_width = rows.iter().map(|(name, ..)| name.width()).max().unwrap_or(0);
        let number_width = rows.iter().filter(|row| row.2).map(|(_, text, _)| text.width()).max().unwrap_or(0);
        for (name, text, is_number) in rows {
            let gap = name_width - name.width() + 2 + if is_number { number_width - text.width() } else { 0 };
            writeln!(f, "{name}{}{text}", " ".repeat(gap))?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_name_set_twice_keeps_its_place_and_takes_the_new_value() {
        let mut report = Report::new();
        report.number("loss", 2.0, Style::Points);
        report.number("accuracy", 0.5, Style::Share);
        report.number("loss", 1.0, Style::Points);
        assert_eq!(report.to_json().to_string(), r#"{"loss":1.0,"accuracy":0.5}"#);
        assert_eq!(report.get("loss"), Some(1.0));
        assert_eq!(report.get("nothing"), None);
    }

    #[test]
    fn spreads_print_in_the_style_of_their_figure() {
        let mut report = Report::new();
        report.spread("BLEU", Spread::of(&[30.0, 32.0]).unwrap(), Style::Points);
        report.spread("WER", Spread::of(&[0.25]).unwrap(), Style::Percent);
        assert_eq!(report.to_string(), "BLEU  31.00 ± 1.41 (n = 2)\nWER   25.00 % (n = 1)\n");
        assert_eq!(report.get("BLEU"), Some(31.0));
        assert_eq!(report.to_json()["WER"].to_string(), r#"{"mean":0.25,"deviation":null,"runs":1}"#);
    }

    #[test]
    fn what_json_cannot_say_is_null() {
        let mut report = Report::new();
        report.number("loss", f64::NAN, Style::Points);
        report.number("steps", f64::INFINITY, Style::Count);
        assert_eq!(report.to_json().to_string(), r#"{"loss":null,"steps":null}"#);
        assert_eq!(report.to_string(), "loss   NaN\nsteps  inf\n");
    }
}
