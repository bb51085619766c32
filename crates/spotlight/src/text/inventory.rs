//! A numbered list of distinct strings, and its readable file.
//!
//! Units, features and labels are all such lists. The file has one string per line; what a line cannot show (line ends,
//! tabs, blanks, control characters) is escaped with a backslash, so that the file survives editors and version control:
//!
//! | in the file | means | | in the file | means |
//! |---|---|---|---|---|
//! | `\\` | a backslash | | `\t` | a tab |
//! | `\n` | a line feed | | `\s` | a space |
//! | `\r` | a carriage return | | `\u{a0}` | the character U+00A0 |

use std::cmp::Reverse;
use std::collections::HashMap;
use std::fmt::Write;
use std::io::BufRead;
use std::path::Path;

use super::file::write_whole;
use super::{Fault, Lines, TextError};

/// Distinct, non-empty strings, numbered from 0 in order.
///
/// ```
/// use spotlight::text::Inventory;
///
/// let labels = Inventory::sorted(["joy", "anger", "joy"]);
/// assert_eq!(labels.get(0), Some("anger"));
/// assert_eq!(labels.position("joy"), Some(1));
/// ```
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Inventory {
    entries: Vec<String>,
    positions: HashMap<String, u32>,
}

impl Inventory {
    /// The distinct strings among `entries` in alphabetical order; for labels and features.
    pub fn sorted<S: AsRef<str>>(entries: impl IntoIterator<Item = S>) -> Self {
        let mut entries: Vec<String> = entries.into_iter().map(|entry| entry.as_ref().to_owned()).collect();
        entries.sort_unstable();
        entries.into_iter().collect()
    }

    /// The strings that occur at least `min_count` times, the most frequent first and ties in alphabetical order; at most
    /// `max_len` of them.
    pub fn by_count(counts: HashMap<String, u64>, min_count: u64, max_len: usize) -> Self {
        let mut counted: Vec<(String, u64)> = counts.into_iter().filter(|&(_, count)| count >= min_count).collect();
        counted.sort_unstable_by(|(a, a_count), (b, b_count)| (Reverse(a_count), a).cmp(&(Reverse(b_count), b)));
        counted.into_iter().map(|(entry, _)| entry).take(max_len).collect()
    }

    /// How many there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The string with this number.
    pub fn get(&self, position: u32) -> Option<&str> {
        self.entries.get(position as usize).map(String::as_str)
    }

    /// The number of this string.
    pub fn position(&self, entry: &str) -> Option<u32> {
        self.positions.get(entry).copied()
    }

    /// All strings in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.entries.iter().map(String::as_str)
    }

    /// Writes the list, one string per line.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), TextError> {
        write_whole(path.as_ref(), &self.to_lines())
    }

    /// Reads a list that [`save`](Self::save) wrote.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, TextError> {
        Self::from_lines(&mut Lines::open(path)?)
    }

    /// Reads such a list from any reader; errors call it `path`.
    pub fn read_from(reader: impl BufRead, path: impl AsRef<Path>) -> Result<Self, TextError> {
        Self::from_lines(&mut Lines::new(reader, path.as_ref()))
    }

    pub(super) fn to_lines(&self) -> String {
        self.iter().map(|entry| escape(entry) + "\n").collect()
    }

    /// Reads the rest of `lines`.
    pub(super) fn from_lines<R: BufRead>(lines: &mut Lines<R>) -> Result<Self, TextError> {
        let path = lines.path().to_owned();
        let mut inventory = Self::default();
        let mut first_line = None;
        for line in lines {
            let line = line?;
            let fail = |column: Option<usize>, fault| Err(TextError::at(&path, line.number, column, fault));
            let first_line = *first_line.get_or_insert(line.number);
            let entry = match unescape(&line.text) {
                Ok(entry) => entry,
                Err((column, found)) => return fail(Some(column), Fault::BadEscape { found }),
            };
            if entry.is_empty() {
                return fail(None, Fault::EmptyColumn { name: "unit" });
            }
            if let Some(before) = inventory.position(&entry) {
                let line_before = first_line + before as usize;
                return fail(None, Fault::Repeated { unit: entry, line_before });
            }
            inventory.extend([entry]);
        }
        Ok(inventory)
    }
}

impl Extend<String> for Inventory {
    /// Adds the strings that are new and not empty.
    fn extend<I: IntoIterator<Item = String>>(&mut self, entries: I) {
        for entry in entries {
            if !entry.is_empty() && !self.positions.contains_key(&entry) {
                self.positions.insert(entry.clone(), self.entries.len() as u32);
                self.entries.push(entry);
            }
        }
    }
}

impl FromIterator<String> for Inventory {
    fn from_iter<I: IntoIterator<Item = String>>(entries: I) -> Self {
        let mut inventory = Self::default();
        inventory.extend(entries);
        inventory
    }
}

/// Makes every character of `text` visible, on one line.
fn escape(text: &str) -> String {
    let mut escaped = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => escaped.push_str("\\\\"),
            '\n' => escaped.push_str("\\n"),
            '\r' => escaped.push_str("\\r"),
            '\t' => escaped.push_str("\\t"),
            ' ' => escaped.push_str("\\s"),
            // U+FEFF is invisible, and at the start of a file it would be taken for a byte order mark.
            c if c.is_control() || c.is_whitespace() || c == '\u{FEFF}' => {
                // Writing to a string cannot fail.
                let _ = write!(escaped, "\\u{{{:x}}}", u32::from(c));
            }
            c => escaped.push(c),
        }
    }
    escaped
}

/// Undoes [`escape`]; for an escape that is unknown, its byte column (from 1) and what stands there.
fn unescape(line: &str) -> Result<String, (usize, String)> {
    let mut text = String::with_capacity(line.len());
    let mut rest = line;
    while let Some(at) = rest.find('\\') {
        text.push_str(&rest[..at]);
        let escape = &rest[at..];
        let (c, length) = match escape.as_bytes().get(1) {
            Some(b'\\') => (Some('\\'), 2),
            Some(b'n') => (Some('\n'), 2),
            Some(b'r') => (Some('\r'), 2),
            Some(b't') => (Some('\t'), 2),
            Some(b's') => (Some(' '), 2),
            Some(b'u') => {
                let end = escape.find('}').unwrap_or(escape.len() - 1);
                let hex = escape.get(3..end).filter(|_| escape[2..].starts_with('{'));
                (hex.and_then(|hex| u32::from_str_radix(hex, 16).ok()).and_then(char::from_u32), end + 1)
            }
            _ => (None, 0),
        };
        let Some(c) = c else {
            let column = line.len() - escape.len() + 1;
            return Err((column, escape.chars().take(8).collect()));
        };
        text.push(c);
        rest = &escape[length..];
    }
    text.push_str(rest);
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn parse(file: &str) -> Result<Inventory, String> {
        Inventory::from_lines(&mut Lines::new(file.as_bytes(), "units.txt")).map_err(|error| error.to_string())
    }

    #[test]
    fn counts_decide_the_order_and_ties_the_alphabet() {
        let counts = [("b", 2), ("a", 2), ("c", 9), ("d", 1)].map(|(unit, count)| (unit.to_owned(), count));
        let all = Inventory::by_count(counts.clone().into(), 1, usize::MAX);
        assert_eq!(all.iter().collect::<Vec<_>>(), ["c", "a", "b", "d"]);
        let some = Inventory::by_count(counts.into(), 2, 2);
        assert_eq!(some.iter().collect::<Vec<_>>(), ["c", "a"]);
    }

    #[test]
    fn the_file_is_readable() {
        let units = [" ", "\n", "a\\b", "\u{a0}", "é", "\u{FEFF}"].map(String::from);
        let file = units.into_iter().collect::<Inventory>().to_lines();
        assert_eq!(file, "\\s\n\\n\na\\\\b\n\\u{a0}\né\n\\u{feff}\n");
    }

    #[test]
    fn faults_name_file_line_and_column() {
        let cases = [
            ("a\nb\\x\n", r#"units.txt:2:2: unknown escape "\\x""#),
            ("a\nb\\", r#"units.txt:2:2: unknown escape "\\""#),
            ("\\u{d800}", "units.txt:1:1: unknown escape"),
            ("\\u", "units.txt:1:1: unknown escape"),
            ("\\u}", "units.txt:1:1: unknown escape"),
            ("\\ué", "units.txt:1:1: unknown escape"),
            ("\\u{é", "units.txt:1:1: unknown escape"),
            ("a\n\nb\n", "units.txt:2: the unit is empty"),
            ("a\nb\na\n", r#"units.txt:3: "a" stands here a second time, first on line 1"#),
        ];
        for (file, message) in cases {
            let error = parse(file).unwrap_err();
            assert!(error.starts_with(message), "{error}");
        }
    }

    proptest! {
        #[test]
        fn any_strings_survive_the_file(units: Vec<String>) {
            let inventory: Inventory = units.into_iter().collect();
            prop_assert_eq!(parse(&inventory.to_lines()), Ok(inventory));
        }

        #[test]
        fn no_file_makes_it_panic(file in r"[\\u{}0-9a-fns\né]{0,12}") {
            let _ = parse(&file);
        }
    }
}
