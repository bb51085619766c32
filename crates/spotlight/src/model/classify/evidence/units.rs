//! A text as words, and each word as units: itself, the pair with the word after it, and the pieces it is spelt with.
//!
//! A unit is known by a hash of 64 bits (Bojanowski and others, 2017, hash their pieces too), so that a table of units is a list of numbers; that two units of one text collection have
//! the same one does not happen in practice.

use std::collections::{HashMap, HashSet};
use std::path::Path;

use crate::Result;
use crate::model::hashed::{HashRows, hash};

/// Lengths of the pieces of a word, its ends marked.
const PIECES: std::ops::RangeInclusive<usize> = 2..=5;

/// A unit of a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Unit {
    /// 0 for words and pairs, 1 for pieces; each kind has a length of its own in a text.
    pub kind: usize,
    /// Its hash.
    pub hash: u64,
}

/// The words of a text as they are typed: parts between white space, and of a script without spaces each character.
pub fn words(text: &str) -> Vec<&str> {
    let mut words = Vec::new();
    for part in text.split_whitespace() {
        let mut start = 0;
        for (at, c) in part.char_indices() {
            if without_spaces(c) {
                words.extend([&part[start..at], &part[at..at + c.len_utf8()]].into_iter().filter(|w| !w.is_empty()));
                start = at + c.len_utf8();
            }
        }
        words.extend(Some(&part[start..]).filter(|w| !w.is_empty()));
    }
    words
}

/// Han, kana, and the scripts of South-East Asia that leave no spaces between words.
fn without_spaces(c: char) -> bool {
    matches!(c, '\u{0e00}'..='\u{0eff}' | '\u{1000}'..='\u{109f}' | '\u{1780}'..='\u{17ff}' | '\u{3040}'..='\u{30ff}' | '\u{3400}'..='\u{4dbf}'
        | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}' | '\u{20000}'..='\u{3ffff}')
}

/// The units of each word of a text. Case does not count.
pub fn units(text: &str) -> Vec<Vec<Unit>> {
    let words: Vec<String> = words(text).into_iter().map(str::to_lowercase).collect();
    (0..words.len())
        .map(|i| {
            let word = &words[i];
            let mut units = vec![Unit { kind: 0, hash: hash(b'w', &[word]) }];
            // The ends of a text count as words beside it: questions begin in telling ways.
            let next = words.get(i + 1).map_or("\u{3}", String::as_str);
            units.push(Unit { kind: 0, hash: hash(b'p', &[word, " ", next]) });
            if i == 0 {
                units.push(Unit { kind: 0, hash: hash(b'p', &["\u{2}", " ", word]) });
            }
            let marked = format!("<{word}>");
            let bounds: Vec<usize> = marked.char_indices().map(|(at, _)| at).chain([marked.len()]).collect();
            for length in PIECES {
                let whole = length + 1 >= bounds.len();
                let last = if whole { 0 } else { bounds.len() - 1 - length };
                for start in 0..=last {
                    let end = bounds[(start + length).min(bounds.len() - 1)];
                    units.push(Unit { kind: 1, hash: hash(b'c', &[&marked[bounds[start]..end]]) });
                }
                if whole {
                    break;
                }
            }
            units
        })
        .collect()
}

/// Which units have a row: those of the training texts, by their hashes. A table that grows too large leaves out the rarest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitTable {
    rows: HashRows,
}

impl UnitTable {
    /// The units of some texts, and for each its `ln((1 + N) / (1 + df)) + 1`, with `df` of the `N` texts that hold it.
    pub fn learn(texts: &[Vec<Vec<Unit>>]) -> (Self, Vec<f32>) {
        let mut texts_with: HashMap<u64, u32> = HashMap::new();
        for text in texts {
            let here: HashSet<u64> = text.iter().flatten().map(|unit| unit.hash).collect();
            here.into_iter().for_each(|hash| *texts_with.entry(hash).or_default() += 1);
        }
        let (rows, df) = HashRows::of_counts(texts_with, 1);
        let all = texts.len() as f64;
        let idf = df.iter().map(|&df| (((1.0 + all) / (1.0 + df as f64)).ln() + 1.0) as f32).collect();
        (UnitTable { rows }, idf)
    }

    /// The row of a unit, if it has one.
    pub fn row(&self, unit: &Unit) -> Option<u32> {
        self.rows.row(unit.hash)
    }

    /// Rows.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether no unit is known.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// Writes the hashes: eight bytes each, the lowest first.
    pub fn save(&self, path: &Path) -> Result<()> {
        self.rows.save(path)
    }

    /// Reads what [`UnitTable::save`] wrote.
    pub fn load(path: &Path) -> Result<Self> {
        Ok(UnitTable { rows: HashRows::load(path)? })
    }
}

/// A text, ready for the network.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct EvidenceText {
    /// Rows of the table, word after word.
    pub ids: Vec<u32>,
    /// How much each counts in its word: the word's part of the text's TF-IDF vector, of length 1.
    pub weights: Vec<f32>,
    /// Where each word begins, and at the end the number of all units.
    pub offsets: Vec<usize>,
    /// `ln p` of each word, with `p` the length of its part of the TF-IDF vector; −∞ for a word without a known unit.
    pub prior: Vec<f32>,
    /// The sum of `p` over the words.
    pub total: f32,
}

impl EvidenceText {
    /// Weighs the units of a text: sublinear TF-IDF, words and pieces each to length 1.
    pub fn new(text: &[Vec<Unit>], table: &UnitTable, idf: &[f32]) -> Self {
        let known = |unit: &Unit| table.row(unit).map(|row| (unit.kind, row));
        let mut counts: HashMap<(usize, u32), u32> = HashMap::new();
        text.iter().flatten().filter_map(known).for_each(|key| *counts.entry(key).or_default() += 1);
        let once = |key: &(usize, u32)| {
            let tf = counts[key] as f64;
            idf[key.1 as usize] as f64 * (1.0 + tf.ln()) / tf
        };
        let mut squares = [0.0f64; 2];
        // Summed in a fixed order, so that the same text gives the same bits.
        let mut distinct: Vec<_> = counts.iter().collect();
        distinct.sort_unstable();
        for (key, &tf) in distinct {
            squares[key.0] += (once(key) * tf as f64).powi(2);
        }
        let mut out = EvidenceText { offsets: vec![0], ..EvidenceText::default() };
        for word in text {
            let own: Vec<(u32, f64)> = word.iter().filter_map(known).map(|key| (key.1, once(&key) / squares[key.0].sqrt())).collect();
            let length = own.iter().map(|(_, x)| x * x).sum::<f64>().sqrt();
            for (row, x) in own {
                out.ids.push(row);
                out.weights.push((x / length) as f32);
            }
            out.offsets.push(out.ids.len());
            out.prior.push(length.ln() as f32);
            out.total += length as f32;
        }
        out
    }

    /// Words.
    pub fn words(&self) -> usize {
        self.prior.len()
    }

    /// The TF-IDF vector: row and number, a unit that occurs in several words several times.
    pub fn vector(&self) -> impl Iterator<Item = (u32, f32)> {
        let of_word = |i: usize| {
            let length = self.prior[i].exp();
            let range = self.offsets[i]..self.offsets[i + 1];
            self.ids[range.clone()].iter().zip(&self.weights[range]).map(move |(&id, &w)| (id, w * length))
        };
        (0..self.words()).flat_map(of_word)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_scripts_with_and_without_spaces() {
        assert_eq!(words(" a fine\tfilm "), ["a", "fine", "film"]);
        assert_eq!(words("我爱 you都"), ["我", "爱", "you", "都"]);
        assert!(words(" ").is_empty());
    }

    #[test]
    fn the_units_of_a_word() {
        let unit = |kind: usize, letter: u8, text: &str| Unit { kind, hash: hash(letter, &[text]) };
        let got = units("Ab c");
        let pieces = |texts: &[&str]| texts.iter().map(|t| unit(1, b'c', t)).collect::<Vec<_>>();
        assert_eq!(got[0][..3], [unit(0, b'w', "ab"), unit(0, b'p', "ab c"), unit(0, b'p', "\u{2} ab")]);
        // Two, three, four letters of <ab>; the whole stands once.
        assert_eq!(got[0][3..], pieces(&["<a", "ab", "b>", "<ab", "ab>", "<ab>"]));
        assert_eq!(got[1][1], unit(0, b'p', "c \u{3}"));
        assert_eq!(got[1][2..], pieces(&["<c", "c>", "<c>"]));
    }

    #[test]
    fn a_text_is_its_tf_idf_vector_split_among_its_words() {
        let corpus: Vec<_> = ["red red car", "red boat", "a car"].iter().map(|t| units(t)).collect();
        let (table, idf) = UnitTable::learn(&corpus);
        let text = EvidenceText::new(&corpus[0], &table, &idf);
        assert_eq!((text.words(), text.offsets.len()), (3, 4));
        let mut vector: HashMap<u32, f64> = HashMap::new();
        text.vector().for_each(|(row, x)| *vector.entry(row).or_default() += x as f64);
        // Both kinds have length 1.
        assert!((vector.values().map(|x| x * x).sum::<f64>() - 2.0).abs() < 1e-5);
        // "red" stands twice: (1 + ln 2) idf, against idf of "car" that stands once, both in two of three texts.
        let of = |word: &str| vector[&table.row(&Unit { kind: 0, hash: hash(b'w', &[word]) }).unwrap()];
        assert!((of("red") / of("car") - (1.0 + 2f64.ln())).abs() < 1e-5);
        for word in 0..3 {
            let own = &text.weights[text.offsets[word]..text.offsets[word + 1]];
            assert!((own.iter().map(|w| w * w).sum::<f32>() - 1.0).abs() < 1e-5);
        }
        // Nothing of it was ever seen.
        let strange = EvidenceText::new(&units("zzz"), &table, &idf);
        assert_eq!((strange.ids.len(), strange.total, strange.prior[0]), (0, 0.0, f32::NEG_INFINITY));
    }

    #[test]
    fn a_table_comes_back_and_a_broken_one_is_refused() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("units.bin");
        let (table, idf) = UnitTable::learn(&[units("some words of a text"), units("of")]);
        assert_eq!(table.len(), idf.len());
        table.save(&path).unwrap();
        assert_eq!(UnitTable::load(&path).unwrap(), table);
        let whole = std::fs::read(&path).unwrap();
        for broken in [whole[..whole.len() - 3].to_vec(), [&whole[8..16], &whole[..8]].concat()] {
            std::fs::write(&path, broken).unwrap();
            assert!(UnitTable::load(&path).unwrap_err().to_string().contains("not a table of units"));
        }
    }
}
