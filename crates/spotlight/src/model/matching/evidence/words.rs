//! A text as words, and how much two words agree.

use std::collections::BTreeMap;

use unicode_segmentation::UnicodeSegmentation;

use crate::model::hashed::hash;

/// Lengths of the pieces by which words are compared, their ends marked.
const PIECES: std::ops::RangeInclusive<usize> = 3..=5;

/// The words of a text. Marks of punctuation are words too, but nobody asks for them.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Words {
    /// As typed.
    pub typed: Vec<String>,
    /// In lower case, as they are compared.
    pub words: Vec<String>,
    /// Whether each has a letter or a digit.
    pub is_word: Vec<bool>,
    /// The pieces of each, as hashes in ascending order, each once.
    pieces: Vec<Vec<u64>>,
}

impl Words {
    /// Cuts a text where Unicode has the bounds of words (UAX #29).
    pub fn new(text: &str) -> Self {
        let typed: Vec<String> = text.split_word_bounds().filter(|part| !part.trim().is_empty()).map(str::to_string).collect();
        let words: Vec<String> = typed.iter().map(|word| word.to_lowercase()).collect();
        Words {
            is_word: words.iter().map(|word| word.chars().any(char::is_alphanumeric)).collect(),
            pieces: words.iter().map(|word| pieces(word)).collect(),
            typed,
            words,
        }
    }

    /// Only some of them.
    pub fn only(&self, keep: impl Fn(usize) -> bool) -> Self {
        let mut some = Words::default();
        for at in (0..self.len()).filter(|&at| keep(at)) {
            some.typed.push(self.typed[at].clone());
            some.words.push(self.words[at].clone());
            some.is_word.push(self.is_word[at]);
            some.pieces.push(self.pieces[at].clone());
        }
        some
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.words.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.words.is_empty()
    }

    /// Where each different word stands; marks of punctuation left out.
    pub fn places(&self) -> BTreeMap<&str, Vec<usize>> {
        let mut places: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        (0..self.len()).filter(|&at| self.is_word[at]).for_each(|at| places.entry(&self.words[at]).or_default().push(at));
        places
    }

    /// The cosine of the sets of pieces of a word here and a word there; 1 for the same word.
    pub fn agreement(&self, here: usize, other: &Words, there: usize) -> f64 {
        if self.words[here] == other.words[there] {
            return 1.0;
        }
        let (a, b) = (&self.pieces[here], &other.pieces[there]);
        let (mut i, mut j, mut shared) = (0, 0, 0usize);
        while i < a.len() && j < b.len() {
            match a[i].cmp(&b[j]) {
                std::cmp::Ordering::Less => i += 1,
                std::cmp::Ordering::Greater => j += 1,
                std::cmp::Ordering::Equal => (i, j, shared) = (i + 1, j + 1, shared + 1),
            }
        }
        shared as f64 / ((a.len() * b.len()) as f64).sqrt()
    }
}

fn pieces(word: &str) -> Vec<u64> {
    let marked = format!("<{word}>");
    let bounds: Vec<usize> = marked.char_indices().map(|(at, _)| at).chain([marked.len()]).collect();
    let characters = bounds.len() - 1;
    let mut found = Vec::new();
    for length in PIECES {
        // A word shorter than that is a piece as a whole.
        let length = length.min(characters);
        found.extend((0..=characters - length).map(|start| hash(b'c', &[&marked[bounds[start]..bounds[start + length]]])));
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// What a word looks like, where answers to some questions look alike.
pub fn shapes(word: &str) -> impl Iterator<Item = &'static str> {
    const MONTHS: [&str; 11] =
        ["january", "february", "march", "april", "june", "july", "august", "september", "october", "november", "december"];
    const NUMBERS: [&str; 15] = [
        "one", "two", "three", "four", "five", "six", "seven", "eight", "nine", "ten", "twelve", "hundred", "thousand", "million",
        "billion",
    ];
    let bytes = word.as_bytes();
    let year = bytes.len() == 4 && bytes.iter().all(u8::is_ascii_digit) && (bytes[0] == b'1' || word.starts_with("20"));
    let has = |is: bool, name: &'static str| is.then_some(name);
    [
        has(year, "year"),
        has(word.chars().any(char::is_numeric), "digits"),
        has(MONTHS.contains(&word), "month"),
        has(NUMBERS.contains(&word), "number"),
    ]
    .into_iter()
    .flatten()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_and_marks() {
        let words = Words::new("Who wrote it, \"Emma\" (1815)?");
        assert_eq!(words.typed, ["Who", "wrote", "it", ",", "\"", "Emma", "\"", "(", "1815", ")", "?"]);
        assert_eq!(words.words[5], "emma");
        assert_eq!(words.is_word.iter().filter(|&&is| is).count(), 5);
        assert_eq!(Words::new("多深 ?").typed, ["多", "深", "?"]);
        assert!(Words::new(" ").is_empty());
    }

    #[test]
    fn words_agree_by_their_pieces() {
        let (a, b) = (Words::new("glacier a"), Words::new("glaciers A ice"));
        // <glacier>: 7 + 6 + 5 pieces of 3, 4 and 5; <glaciers>: 8 + 7 + 6; shared are those without the end of either: 6 + 5 + 4.
        assert!((a.agreement(0, &b, 0) - 15.0 / (18.0f64 * 21.0).sqrt()).abs() < 1e-12);
        assert_eq!((a.agreement(1, &b, 1), a.agreement(0, &b, 2)), (1.0, 0.0));
    }

    #[test]
    fn shapes_of_answers() {
        let of = |word| shapes(word).collect::<Vec<_>>();
        assert_eq!(of("1815"), ["year", "digits"]);
        assert_eq!((of("3815"), of("june"), of("seven")), (vec!["digits"], vec!["month"], vec!["number"]));
        assert!(of("sea").is_empty());
    }
}
