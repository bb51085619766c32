//! Pieces of words, learnt from the data: frequent words stay whole, rare ones fall apart into pieces that are known.
//!
//! A text is split at white space, and every word gets the marker `▁` in front, so that joining the pieces and turning the
//! markers into spaces restores the text (runs of white space become one space). Pieces never reach across words, which
//! lets pictures merge them to words again.
//!
//! The pieces come from byte-pair encoding ([`UnitKind::Bpe`]) or a unigram language model ([`UnitKind::Unigram`]), and are
//! kept in the `tokenizer.json` format of the `tokenizers` library. Its numbers are the numbers of the units. The three special
//! units have a space in their names there (`< s >`): no text can contain them, for text is split at spaces.

mod bpe;
mod corpus;
mod file;
mod merges;
mod scores;
mod unigram;

use std::collections::HashMap;
use std::path::Path;

use self::corpus::Corpus;
use self::merges::Merges;
use self::scores::Scores;
use super::file::write_whole;
use super::vocab::{SPECIALS, UNKNOWN};
use super::{TextError, Unit, UnitKind};

/// Stands in front of every word.
pub const WORD_MARKER: char = '▁';

/// The special units as the file calls them, by their number.
const SPECIAL_NAMES: [&str; SPECIALS.len()] = ["< unk >", "< s >", "< /s >"];

/// A trained table of subwords.
#[derive(Debug, Clone)]
pub struct Subwords {
    table: Table,
    model: Model,
}

/// Which way a word is cut.
#[derive(Debug, Clone)]
enum Model {
    Bpe(Merges),
    Unigram(Scores),
}

/// The number of every piece.
type Numbers = HashMap<String, u32>;

/// A part of a word: its unit, and its length.
struct Cut {
    unit: u32,
    bytes: usize,
}

/// The units, special ones included.
#[derive(Debug, Clone)]
struct Table {
    pieces: Vec<String>,
    numbers: Numbers,
}

impl Table {
    /// Units in the order of their numbers.
    fn new(pieces: Vec<String>) -> Result<Self, String> {
        if pieces.len() < SPECIAL_NAMES.len() || pieces[..SPECIAL_NAMES.len()] != SPECIAL_NAMES {
            return Err(format!("the first units are not {}", SPECIAL_NAMES.join(", ")));
        }
        let mut numbers = Numbers::with_capacity(pieces.len());
        for (piece, unit) in pieces.iter().zip(0..) {
            if let Some(other) = numbers.insert(piece.clone(), unit) {
                return Err(format!("units {other} and {unit} are both {piece:?}"));
            }
        }
        Ok(Self { pieces, numbers })
    }
}

impl Subwords {
    /// Learns up to `vocab_size` units from texts. Characters and pairs seen fewer than `min_count` times are left out.
    /// The same texts give the same table, bit by bit.
    pub fn train<S: AsRef<str>>(
        algorithm: Algorithm,
        vocab_size: usize,
        min_count: u64,
        texts: impl IntoIterator<Item = S>,
    ) -> Result<Self, TextError> {
        let corpus = Corpus::count(texts, min_count);
        let alphabet = corpus.alphabet.len();
        // A table that holds the alphabet alone would be characters; one more is what both trainers need to end well.
        let needed = SPECIALS.len() + alphabet + 1;
        if corpus.fragments.is_empty() {
            return Err(TextError::NoUnits);
        }
        if vocab_size < needed {
            return Err(TextError::VocabularyTooSmall { asked: vocab_size, alphabet, needed });
        }
        let (pieces, model) = match algorithm {
            Algorithm::Bpe => bpe::train(&corpus, vocab_size, min_count),
            Algorithm::Unigram => unigram::train(&corpus, vocab_size),
        };
        Ok(Self { table: Table::new(pieces).map_err(TextError::Training)?, model })
    }

    /// How many units there are, the special ones among them.
    pub fn len(&self) -> usize {
        self.table.pieces.len()
    }

    /// Whether there are only special units.
    pub fn is_empty(&self) -> bool {
        self.len() == SPECIALS.len()
    }

    /// The text of a unit with its word marker; none for special units and numbers that are not in use.
    pub fn text(&self, id: u32) -> Option<&str> {
        self.table.pieces.get(id as usize).filter(|_| id as usize >= SPECIALS.len()).map(String::as_str)
    }

    /// The units of a text. Neighbouring characters of a word that are unknown make one unknown unit with their text.
    pub fn encode(&self, text: &str) -> Vec<Unit> {
        words(text).flat_map(|word| self.encode_word(&word)).collect()
    }

    fn encode_word(&self, word: &str) -> Vec<Unit> {
        let cuts = match &self.model {
            Model::Bpe(merges) => merges.cut(word, &self.table.numbers),
            Model::Unigram(scores) => scores.cut(word, &self.table.numbers),
        };
        let mut rest = word;
        let unit = |cut: Cut| {
            let (text, behind) = rest.split_at(cut.bytes);
            rest = behind;
            Unit { id: cut.unit, text: text.to_owned() }
        };
        cuts.into_iter().map(unit).collect()
    }

    /// Writes the table as `tokenizer.json`.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), TextError> {
        write_whole(path.as_ref(), &format!("{:#}\n", file::write(self)))
    }

    /// Reads what [`save`](Self::save) wrote.
    pub fn load(algorithm: Algorithm, path: impl AsRef<Path>) -> Result<Self, TextError> {
        let path = path.as_ref();
        let json = std::fs::read(path).map_err(|source| TextError::read(path, source))?;
        file::read(algorithm, &json).map_err(|reason| TextError::Subwords { path: path.to_owned(), reason })
    }
}

/// How subwords are learnt.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Algorithm {
    /// Byte-pair encoding: joins the most frequent pair of neighbours, again and again (Sennrich et al. 2016).
    Bpe,
    /// A unigram language model over pieces, pruned until it has the wanted size (Kudo 2018).
    Unigram,
}

impl Algorithm {
    /// The algorithm of a kind of units; none for kinds that are not subwords.
    pub fn of(kind: UnitKind) -> Option<Self> {
        match kind {
            UnitKind::Bpe => Some(Self::Bpe),
            UnitKind::Unigram => Some(Self::Unigram),
            UnitKind::Chars | UnitKind::Nfd | UnitKind::Words => None,
        }
    }
}

/// The words of a text, each with its marker. A marker in the text itself separates words as a space does.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| c.is_whitespace() || c == WORD_MARKER).filter(|word| !word.is_empty()).map(|word| format!("{WORD_MARKER}{word}"))
}

#[cfg(test)]
mod tests;
