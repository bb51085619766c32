//! The numbers of units: three special ones first, then the units of the data, the most frequent first.
//!
//! The special units are known by their number alone. `<s>` typed by a user is a text like any other: it is looked up among
//! the units of the data and can never become the start of a sequence.

use std::collections::HashMap;
use std::io::BufRead;
use std::path::Path;

use super::file::write_whole;
use super::{Fault, Inventory, Lines, TextError};

/// The number of the unit that stands for every unknown one.
pub const UNKNOWN: u32 = 0;
/// The number of the unit before the first one.
pub const START: u32 = 1;
/// The number of the unit after the last one.
pub const END: u32 = 2;
/// How the special units are shown, by their number.
pub const SPECIALS: [&str; 3] = ["<unk>", "<s>", "</s>"];

/// Units and their numbers.
///
/// ```
/// use spotlight::text::{Vocab, vocab};
///
/// let vocab = Vocab::count(["b", "a", "b", "<s>"], 1, None);
/// assert_eq!(vocab.id("b"), Some(3));
/// assert_eq!(vocab.id("zebra"), None);
/// // The `<s>` of the data is not the special one.
/// assert_ne!(vocab.id("<s>"), Some(vocab::START));
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Vocab {
    units: Inventory,
}

impl Vocab {
    /// Numbers the units that occur at least `min_count` times, at most `max_size` (with the special ones) of them.
    pub fn count<S: AsRef<str>>(units: impl IntoIterator<Item = S>, min_count: u64, max_size: Option<usize>) -> Self {
        let mut counts: HashMap<String, u64> = HashMap::new();
        for unit in units {
            let unit = unit.as_ref();
            match counts.get_mut(unit) {
                Some(count) => *count += 1,
                None => {
                    counts.insert(unit.to_owned(), 1);
                }
            }
        }
        let max_len = max_size.map_or(usize::MAX, |size| size.saturating_sub(SPECIALS.len()));
        Self { units: Inventory::by_count(counts, min_count, max_len) }
    }

    /// The same units under the same numbers, and behind them those of `new` that are not among them.
    ///
    /// ```
    /// use spotlight::text::Vocab;
    ///
    /// let vocab = Vocab::count(["b", "a"], 1, None).grown(&Vocab::count(["c", "b"], 1, None));
    /// assert_eq!(["a", "b", "c"].map(|unit| vocab.id(unit)), [Some(3), Some(4), Some(5)]);
    /// ```
    pub fn grown(&self, new: &Vocab) -> Vocab {
        Self { units: self.units.iter().chain(new.units.iter()).map(str::to_owned).collect() }
    }

    /// How many units there are, the special ones among them.
    pub fn len(&self) -> usize {
        SPECIALS.len() + self.units.len()
    }

    /// Whether there are only special units.
    pub fn is_empty(&self) -> bool {
        self.units.is_empty()
    }

    /// The number of a unit of the data; never that of a special one.
    pub fn id(&self, unit: &str) -> Option<u32> {
        self.units.position(unit).map(|position| position + SPECIALS.len() as u32)
    }

    /// The text of a unit of the data; none for special units and numbers that are not in use.
    pub fn text(&self, id: u32) -> Option<&str> {
        id.checked_sub(SPECIALS.len() as u32).and_then(|position| self.units.get(position))
    }

    /// The units of the data with their numbers, in order.
    pub fn iter(&self) -> impl Iterator<Item = (u32, &str)> {
        (SPECIALS.len() as u32..).zip(self.units.iter())
    }

    /// Writes one unit per line, escaped as told in [`inventory`](super::inventory): unit `i` stands on line `i + 1`.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), TextError> {
        let specials = SPECIALS.map(|special| special.to_owned() + "\n").concat();
        write_whole(path.as_ref(), &(specials + &self.units.to_lines()))
    }

    /// Reads what [`save`](Self::save) wrote.
    pub fn load(path: impl AsRef<Path>) -> Result<Self, TextError> {
        Self::from_lines(Lines::open(path)?)
    }

    /// Reads such a file from any reader; errors call it `path`.
    pub fn read_from(reader: impl BufRead, path: impl AsRef<Path>) -> Result<Self, TextError> {
        Self::from_lines(Lines::new(reader, path.as_ref()))
    }

    fn from_lines<R: BufRead>(mut lines: Lines<R>) -> Result<Self, TextError> {
        for (line, expected) in SPECIALS.into_iter().enumerate() {
            let found = lines.next().transpose()?;
            if found.is_none_or(|found| found.text != expected) {
                return Err(TextError::at(lines.path(), line + 1, None, Fault::MissingSpecial { expected }));
            }
        }
        Ok(Self { units: Inventory::from_lines(&mut lines)? })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn specials_come_first_and_are_not_found_by_text() {
        let vocab = Vocab::count(SPECIALS, 1, None);
        assert_eq!(vocab.len(), 6);
        for (id, special) in SPECIALS.into_iter().enumerate() {
            assert_eq!(vocab.text(id as u32), None);
            assert!(vocab.id(special).unwrap() >= 3);
        }
    }

    #[test]
    fn rare_units_and_units_beyond_the_size_are_left_out() {
        let units = ["a", "a", "a", "b", "b", "c"];
        assert_eq!(Vocab::count(units, 2, None).len(), 5);
        assert_eq!(Vocab::count(units, 1, Some(4)).iter().collect::<Vec<_>>(), [(3, "a")]);
        assert!(Vocab::count(units, 1, Some(1)).is_empty());
        assert_eq!(Vocab::count(units, 1, None).text(6), None);
    }

    #[test]
    fn the_file_shows_the_numbers() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("units.txt");
        Vocab::count(["a", " ", "<s>", "a"], 1, None).save(&path).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "<unk>\n<s>\n</s>\na\n\\s\n<s>\n");
    }

    #[test]
    fn a_cut_or_foreign_file_is_refused() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("units.txt");
        let cases = [
            ("", ":1: expected the special unit <unk>"),
            ("<unk>\n<s>", ":3: expected the special unit </s>"),
            ("<unk>\nthe\n</s>\n", ":2: expected the special unit <s>"),
            ("<unk>\n<s>\n</s>\na\nb\na\n", ":6: \"a\" stands here a second time, first on line 4"),
        ];
        for (file, message) in cases {
            std::fs::write(&path, file).unwrap();
            let error = Vocab::load(&path).unwrap_err().to_string();
            assert!(error.starts_with(&format!("{}{message}", path.display())), "{error}");
        }
    }

    proptest! {
        #[test]
        fn any_units_survive_the_file(units: Vec<String>) {
            let dir = tempfile::tempdir().unwrap();
            let path = dir.path().join("units.txt");
            let vocab = Vocab::count(&units, 1, None);
            vocab.save(&path).unwrap();
            prop_assert_eq!(Vocab::load(&path).unwrap(), vocab);
        }
    }
}
