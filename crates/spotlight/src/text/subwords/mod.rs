//! Pieces of words, learnt from the data: frequent words stay whole, rare ones fall apart into pieces that are known.
//!
//! A text is split at white space, and every word gets the marker `▁` in front, so that joining the pieces and turning the
//! markers into spaces restores the text (runs of white space become one space). Pieces never reach across words, which
//! lets pictures merge them to words again.
//!
//! The pieces come from byte-pair encoding ([`UnitKind::Bpe`]) or a unigram language model ([`UnitKind::Unigram`]), and are
//! kept in the `tokenizer.json` format of the `tokenizers` crate. Its numbers are the numbers of the units. The three special
//! units have a space in their names there (`< s >`): no text can contain them, for text is split at spaces.

mod bpe;
mod corpus;
mod unigram;

use std::path::Path;

use serde_json::Value;
use tokenizers::models::ModelWrapper;
use tokenizers::pre_tokenizers::metaspace::{Metaspace, PrependScheme};
use tokenizers::{Model, Tokenizer};

use self::corpus::Corpus;
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
    tokenizer: Tokenizer,
    /// The text of every unit by its number, special ones included.
    pieces: Vec<String>,
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
        let model = match algorithm {
            Algorithm::Bpe => bpe::train(&corpus, vocab_size, min_count).map(ModelWrapper::from),
            Algorithm::Unigram => unigram::train(&corpus, vocab_size).map(ModelWrapper::from),
        };
        let model = model.map_err(|error| TextError::Training(error.to_string()))?;
        let mut tokenizer = Tokenizer::new(model);
        // Texts are split here, in `words`; the file says the same for other programs that read it.
        let metaspace = Metaspace::new(WORD_MARKER, PrependScheme::Always, true);
        tokenizer.with_pre_tokenizer(Some(metaspace.clone()));
        tokenizer.with_decoder(Some(metaspace));
        Self::new(tokenizer).map_err(TextError::Training)
    }

    fn new(tokenizer: Tokenizer) -> Result<Self, String> {
        let vocab = tokenizer.get_vocab(false);
        let mut pieces = vec![None; vocab.len()];
        for (piece, id) in vocab {
            let slot = pieces.get_mut(id as usize).ok_or_else(|| format!("unit {piece:?} has number {id}, beyond the end"))?;
            *slot = Some(piece);
        }
        let pieces: Option<Vec<String>> = pieces.into_iter().collect();
        let pieces = pieces.ok_or("two units have the same number")?;
        if pieces.len() < SPECIAL_NAMES.len() || pieces[..SPECIAL_NAMES.len()] != SPECIAL_NAMES {
            return Err(format!("the first units are not {}", SPECIAL_NAMES.join(", ")));
        }
        Ok(Self { tokenizer, pieces })
    }

    /// How many units there are, the special ones among them.
    pub fn len(&self) -> usize {
        self.pieces.len()
    }

    /// Whether there are only special units.
    pub fn is_empty(&self) -> bool {
        self.len() == SPECIALS.len()
    }

    /// The text of a unit with its word marker; none for special units and numbers that are not in use.
    pub fn text(&self, id: u32) -> Option<&str> {
        self.pieces.get(id as usize).filter(|_| id as usize >= SPECIALS.len()).map(String::as_str)
    }

    /// The units of a text. Neighbouring characters of a word that are unknown make one unknown unit with their text.
    pub fn encode(&self, text: &str) -> Vec<Unit> {
        words(text).flat_map(|word| self.encode_word(&word)).collect()
    }

    fn encode_word(&self, word: &str) -> Vec<Unit> {
        let Ok(tokens) = self.tokenizer.get_model().tokenize(word) else {
            // Only a table without an unknown unit could fail here, and such a one is not loaded.
            return vec![Unit { id: UNKNOWN, text: word.to_owned() }];
        };
        let unit = |token: tokenizers::Token| {
            let (start, end) = token.offsets;
            let text = word.get(start..end).map_or(token.value, str::to_owned);
            Unit { id: token.id, text }
        };
        tokens.into_iter().map(unit).collect()
    }

    /// Writes the table as `tokenizer.json`.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), TextError> {
        let json = self.tokenizer.to_string(true).map_err(|error| TextError::Training(error.to_string()))?;
        write_whole(path.as_ref(), &(json + "\n"))
    }

    /// Reads what [`save`](Self::save) wrote.
    pub fn load(algorithm: Algorithm, path: impl AsRef<Path>) -> Result<Self, TextError> {
        let path = path.as_ref();
        let json = std::fs::read(path).map_err(|source| TextError::read(path, source))?;
        Self::parse(algorithm, &json).map_err(|reason| TextError::Subwords { path: path.to_owned(), reason })
    }

    fn parse(algorithm: Algorithm, json: &[u8]) -> Result<Self, String> {
        let value: Value = serde_json::from_slice(json).map_err(|error| error.to_string())?;
        let model = &value["model"];
        let (kind, has_unknown) = match algorithm {
            Algorithm::Bpe => ("BPE", model["unk_token"] == SPECIAL_NAMES[UNKNOWN as usize]),
            Algorithm::Unigram => ("Unigram", model["unk_id"] == UNKNOWN),
        };
        if model["type"] != kind {
            return Err(format!("expected a {kind} model, found {}", model["type"]));
        }
        if !has_unknown {
            return Err(format!("its unknown unit is not {}", SPECIAL_NAMES[UNKNOWN as usize]));
        }
        let tokenizer = serde_json::from_value(value).map_err(|error| error.to_string())?;
        Self::new(tokenizer)
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
            UnitKind::Chars | UnitKind::Words => None,
        }
    }
}

/// The words of a text, each with its marker. A marker in the text itself separates words as a space does.
fn words(text: &str) -> impl Iterator<Item = String> {
    text.split(|c: char| c.is_whitespace() || c == WORD_MARKER).filter(|word| !word.is_empty()).map(|word| format!("{WORD_MARKER}{word}"))
}

#[cfg(test)]
mod tests;
