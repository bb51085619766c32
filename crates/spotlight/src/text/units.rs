//! How a text becomes units, and units a text again.
//!
//! | kind | a unit is | joining restores |
//! |---|---|---|
//! | [`Chars`](UnitKind::Chars) | a grapheme cluster: what a reader calls one character | the text, exactly |
//! | [`Nfd`](UnitKind::Nfd) | a part of a character that Unicode can take apart: letter and accent, the sounds of a Korean syllable | the text in composed form (NFC) |
//! | [`Words`](UnitKind::Words) | what stands between white space | the text with single spaces |
//! | [`Bpe`](UnitKind::Bpe), [`Unigram`](UnitKind::Unigram) | a piece of a word, see [`subwords`](super::subwords) | the text with single spaces |
//!
//! ```
//! use spotlight::text::{Tokenizer, UnitSettings};
//!
//! let chars = Tokenizer::train(&UnitSettings::default(), ["añb"])?;
//! let units = chars.encode("ñbx");
//! assert_eq!(units.iter().map(|unit| unit.text.as_str()).collect::<Vec<_>>(), ["ñ", "b", "x"]);
//! assert_eq!(chars.decode(&chars.ids("ñbx")), "ñb<unk>");
//! # Ok::<(), spotlight::text::TextError>(())
//! ```

use std::borrow::Cow;
use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};
use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

use super::subwords::{Algorithm, Subwords, WORD_MARKER};
use super::vocab::{END, SPECIALS, START, UNKNOWN};
use super::{TextError, Vocab};

/// What a text is cut into.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum UnitKind {
    /// Grapheme clusters.
    Chars,
    /// The parts that characters are composed of (Unicode's form NFD).
    Nfd,
    /// Whitespace tokens.
    Words,
    /// Subwords by byte-pair encoding.
    Bpe,
    /// Subwords by a unigram language model.
    Unigram,
}

impl UnitKind {
    /// Whether texts are spelt: units are characters or parts of them, and a space is a unit as any other.
    pub fn spells(self) -> bool {
        matches!(self, UnitKind::Chars | UnitKind::Nfd)
    }
}

/// How units are taken from the data.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct UnitSettings {
    /// What a text is cut into.
    pub kind: UnitKind,
    /// The most units to keep, the three special ones among them. Without it all characters or words are kept, and
    /// [`DEFAULT_SUBWORDS`] subwords are trained.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub vocab_size: Option<usize>,
    /// Units that occur fewer times are unknown; of subwords this says how often a character or a joined pair must occur.
    pub min_count: u64,
    /// Whether texts are turned to lower case first.
    pub lowercase: bool,
}

/// How many subwords are trained when no size is given.
pub const DEFAULT_SUBWORDS: usize = 8000;

impl Default for UnitSettings {
    /// All characters as they are.
    fn default() -> Self {
        Self { kind: UnitKind::Chars, vocab_size: None, min_count: 1, lowercase: false }
    }
}

/// A unit at one place of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unit {
    /// Its number.
    pub id: u32,
    /// Its text as it stands there, also if the unit is unknown.
    pub text: String,
}

/// Cuts texts into numbered units and joins them again.
#[derive(Debug, Clone)]
pub struct Tokenizer {
    kind: UnitKind,
    lowercase: bool,
    table: Table,
}

#[derive(Debug, Clone)]
enum Table {
    Whole(Vocab),
    Subwords(Box<Subwords>),
}

impl Tokenizer {
    /// Learns the units of texts. The same texts give the same numbers.
    pub fn train<S: AsRef<str>>(settings: &UnitSettings, texts: impl IntoIterator<Item = S>) -> Result<Self, TextError> {
        let &UnitSettings { kind, vocab_size, min_count, lowercase } = settings;
        let table = match Algorithm::of(kind) {
            Some(algorithm) => {
                let texts = texts.into_iter().map(|text| prepared(text.as_ref(), kind, lowercase).into_owned());
                let size = vocab_size.unwrap_or(DEFAULT_SUBWORDS);
                Table::Subwords(Box::new(Subwords::train(algorithm, size, min_count, texts)?))
            }
            None => {
                let units = texts.into_iter().flat_map(|text| {
                    let text = prepared(text.as_ref(), kind, lowercase);
                    whole_units(kind, &text).map(str::to_owned).collect::<Vec<_>>()
                });
                let vocab = Vocab::count(units, min_count, vocab_size);
                if vocab.is_empty() {
                    return Err(TextError::NoUnits);
                }
                Table::Whole(vocab)
            }
        };
        Ok(Self { kind, lowercase, table })
    }

    /// The same units under the same numbers, and behind them new ones of these texts. Subwords can spell any text and stay as they are.
    pub fn grown<S: AsRef<str>>(&self, settings: &UnitSettings, texts: impl IntoIterator<Item = S>) -> Result<Self, TextError> {
        let Table::Whole(vocab) = &self.table else { return Ok(self.clone()) };
        let settings = UnitSettings { kind: self.kind, lowercase: self.lowercase, ..settings.clone() };
        let table = match Self::train(&settings, texts)?.table {
            Table::Whole(new) => Table::Whole(vocab.grown(&new)),
            subwords => subwords,
        };
        Ok(Self { table, ..self.clone() })
    }

    /// What texts are cut into.
    pub fn kind(&self) -> UnitKind {
        self.kind
    }

    /// How many units there are, the special ones among them.
    pub fn len(&self) -> usize {
        match &self.table {
            Table::Whole(vocab) => vocab.len(),
            Table::Subwords(subwords) => subwords.len(),
        }
    }

    /// Whether there are only special units.
    pub fn is_empty(&self) -> bool {
        self.len() == SPECIALS.len()
    }

    /// The vocabulary, if units are characters or words.
    pub fn vocab(&self) -> Option<&Vocab> {
        match &self.table {
            Table::Whole(vocab) => Some(vocab),
            Table::Subwords(_) => None,
        }
    }

    /// The units of a text, without the special ones at its start and end.
    pub fn encode(&self, text: &str) -> Vec<Unit> {
        let text = prepared(text, self.kind, self.lowercase);
        match &self.table {
            Table::Whole(vocab) => {
                let unit = |unit: &str| Unit { id: vocab.id(unit).unwrap_or(UNKNOWN), text: unit.to_owned() };
                whole_units(self.kind, &text).map(unit).collect()
            }
            Table::Subwords(subwords) => subwords.encode(&text),
        }
    }

    /// The numbers of a text's units.
    pub fn ids(&self, text: &str) -> Vec<u32> {
        self.encode(text).into_iter().map(|unit| unit.id).collect()
    }

    /// The text of units. Start and end are left out; what is unknown becomes `<unk>`.
    pub fn decode(&self, ids: &[u32]) -> String {
        self.decode_with(ids, |_| SPECIALS[UNKNOWN as usize].to_owned())
    }

    /// The text of units, where the unknown unit at a position (among `ids`) is replaced by what `unknown` gives for it:
    /// for example the source unit that attention points to.
    pub fn decode_with(&self, ids: &[u32], mut unknown: impl FnMut(usize) -> String) -> String {
        let inner = ids.iter().enumerate().filter(|&(_, &id)| id != START && id != END);
        let texts: Vec<String> = inner.map(|(position, &id)| self.text(id).map_or_else(|| unknown(position), str::to_owned)).collect();
        match self.kind {
            UnitKind::Chars => texts.concat(),
            UnitKind::Nfd => composed(&texts.concat()),
            UnitKind::Words => texts.join(" "),
            UnitKind::Bpe | UnitKind::Unigram => {
                let text = texts.concat().replace(WORD_MARKER, " ");
                text.strip_prefix(' ').map(str::to_owned).unwrap_or(text)
            }
        }
    }

    /// The text of a unit; none for special units and numbers that are not in use. Subwords keep their word marker.
    pub fn text(&self, id: u32) -> Option<&str> {
        match &self.table {
            Table::Whole(vocab) => vocab.text(id),
            Table::Subwords(subwords) => subwords.text(id),
        }
    }

    /// A unit as it is shown in a picture: see [`visible`]; special units by their names.
    pub fn display(&self, id: u32) -> String {
        let special = SPECIALS.get(id as usize).copied().unwrap_or(SPECIALS[UNKNOWN as usize]);
        self.text(id).map_or_else(|| special.to_owned(), visible)
    }

    /// The word each unit belongs to, counted from 0, so that a picture can merge the units of a word. White space between
    /// characters goes with the word after it, as the marker of subwords does; an end unit is a word of its own.
    pub fn word_of(&self, ids: &[u32]) -> Vec<usize> {
        let mut word = 0;
        let mut after_space = true;
        let mut words = Vec::with_capacity(ids.len());
        for (position, &id) in ids.iter().enumerate() {
            let special = id == START || id == END;
            let first = self.text(id).and_then(|text| text.chars().next());
            let space = first.is_some_and(|c| c.is_whitespace());
            let starts_word = match self.kind {
                UnitKind::Chars | UnitKind::Nfd => space && !after_space,
                UnitKind::Words => true,
                UnitKind::Bpe | UnitKind::Unigram => first == Some(WORD_MARKER),
            };
            let after_special = position > 0 && ids[position - 1] == START;
            if position > 0 && (starts_word || special || after_special) {
                word += 1;
            }
            after_space = space || special;
            words.push(word);
        }
        words
    }

    /// The character each unit belongs to, counted from 0, if units are parts of characters: a picture joins them again. An end unit is one of its own.
    pub fn character_of(&self, ids: &[u32]) -> Option<Vec<usize>> {
        if self.kind != UnitKind::Nfd {
            return None;
        }
        let mut so_far = String::new();
        let mut character = 0;
        let of_unit = |&id: &u32| {
            let before = so_far.graphemes(true).count();
            match self.text(id) {
                Some(text) => so_far.push_str(text),
                // Whatever is unknown goes with nothing.
                None => so_far = String::new(),
            }
            let apart = so_far.is_empty() || before == 0 || so_far.graphemes(true).count() > before;
            character += usize::from(apart);
            character - 1
        };
        Some(ids.iter().map(of_unit).collect())
    }

    /// The file that [`save`](Self::save) writes: `stem.txt` for characters and words, `stem.tokenizer.json` for subwords.
    pub fn path(kind: UnitKind, dir: &Path, stem: &str) -> PathBuf {
        match kind {
            UnitKind::Chars | UnitKind::Nfd | UnitKind::Words => dir.join(format!("{stem}.txt")),
            UnitKind::Bpe | UnitKind::Unigram => dir.join(format!("{stem}.tokenizer.json")),
        }
    }

    /// Writes the units into a directory; the name is that of [`path`](Self::path).
    pub fn save(&self, dir: &Path, stem: &str) -> Result<(), TextError> {
        let path = Self::path(self.kind, dir, stem);
        match &self.table {
            Table::Whole(vocab) => vocab.save(path),
            Table::Subwords(subwords) => subwords.save(path),
        }
    }

    /// Reads what [`save`](Self::save) wrote, with the settings it was trained with.
    pub fn load(settings: &UnitSettings, dir: &Path, stem: &str) -> Result<Self, TextError> {
        let &UnitSettings { kind, lowercase, .. } = settings;
        let path = Self::path(kind, dir, stem);
        let table = match Algorithm::of(kind) {
            Some(algorithm) => Table::Subwords(Box::new(Subwords::load(algorithm, path)?)),
            None => Table::Whole(Vocab::load(path)?),
        };
        Ok(Self { kind, lowercase, table })
    }
}

/// A text with its white space made visible: a blank is `␣`, and control characters are named.
///
/// ```
/// assert_eq!(spotlight::text::units::visible(" \n"), "␣\\n");
/// ```
pub fn visible(text: &str) -> String {
    text.chars().fold(String::with_capacity(text.len()), |mut shown, c| {
        match c {
            ' ' => shown.push('␣'),
            c if c.is_control() || c.is_whitespace() => shown.extend(c.escape_default()),
            c => shown.push(c),
        }
        shown
    })
}

/// A text as it is cut: in lower case if asked for, and taken apart for [`UnitKind::Nfd`].
fn prepared(text: &str, kind: UnitKind, lowercase: bool) -> Cow<'_, str> {
    let text = if lowercase { Cow::Owned(text.to_lowercase()) } else { Cow::Borrowed(text) };
    match kind {
        UnitKind::Nfd if !text.is_ascii() => Cow::Owned(text.nfd().collect()),
        _ => text,
    }
}

/// A text whose characters are put together again (Unicode's form NFC).
///
/// ```
/// assert_eq!(spotlight::text::units::composed("e\u{301}"), "é");
/// ```
pub fn composed(text: &str) -> String {
    text.nfc().collect()
}

/// Characters, or whitespace tokens for every other kind.
fn whole_units(kind: UnitKind, text: &str) -> Box<dyn Iterator<Item = &str> + '_> {
    match kind {
        UnitKind::Chars => Box::new(text.graphemes(true)),
        UnitKind::Nfd => Box::new(text.char_indices().map(|(at, c)| &text[at..at + c.len_utf8()])),
        UnitKind::Words | UnitKind::Bpe | UnitKind::Unigram => Box::new(text.split_whitespace()),
    }
}

#[cfg(test)]
mod tests;
