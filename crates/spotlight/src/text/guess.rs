//! Choosing units from the data.
//!
//! Source and target are judged separately, from a handful of counts:
//!
//! 1. many short tokens between spaces, such as `K AE T`, are symbols: each is a unit;
//! 2. texts with many numbers are spelt, so that numbers never seen can be read and written;
//! 3. few different words that all come often are units themselves;
//! 4. other texts of one or a few words (names, spellings, inflected forms) are spelt;
//!    Where that takes hundreds of different characters that are composed of few parts, as Korean syllables are, they are spelt by these;
//! 5. what remains are sentences with many different words: subwords.

use std::collections::{HashMap, HashSet};

use unicode_normalization::UnicodeNormalization;
use unicode_segmentation::UnicodeSegmentation;

use super::{UnitKind, UnitSettings};

/// An alphabet has fewer characters, accents included.
const MANY_CHARACTERS: usize = 200;

/// A choice of units, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Guess {
    /// The choice.
    pub settings: UnitSettings,
    /// The reason in one line, for the user.
    pub reason: String,
}

/// Chooses units for one side of the data.
///
/// ```
/// use spotlight::text::UnitKind;
/// use spotlight::text::guess::guess_units;
///
/// let guess = guess_units(["K AE T", "D AO G", "T AE K", "G AA D"]);
/// assert_eq!(guess.settings.kind, UnitKind::Words);
/// assert_eq!(guess.reason, "7 different short symbols between spaces, 3.0 in a text: each symbol is a unit");
/// ```
pub fn guess_units<S: AsRef<str>>(texts: impl IntoIterator<Item = S>) -> Guess {
    let counts = Counts::new(texts);
    let (words, per_text, types) = (counts.words_per_text(), format!("{:.1}", counts.words_per_text()), counts.types);
    let choose = |kind, vocab_size, reason| Guess { settings: UnitSettings { kind, vocab_size, ..UnitSettings::default() }, reason };
    let spell = |why: String| match counts.composed() {
        false => choose(UnitKind::Chars, None, format!("{why}: texts are spelt by characters")),
        true => {
            let reason =
                format!("{why}: texts are spelt by the {} parts that {} characters are composed of", counts.parts, counts.characters);
            choose(UnitKind::Nfd, None, reason)
        }
    };

    if words >= 2.0 && counts.word_length() <= 2.5 && (types <= 1000 || counts.share_seen_once() <= 0.01) {
        let reason = format!("{types} different short symbols between spaces, {per_text} in a text: each symbol is a unit");
        return choose(UnitKind::Words, None, reason);
    }
    if counts.share_of_numbers() >= 0.2 {
        let percent = 100.0 * counts.share_of_numbers();
        return spell(format!("{percent:.0} % of the words are numbers"));
    }
    if counts.few_words_often() {
        let reason = format!("only {types} different words, which come again and again: each word is a unit");
        return choose(UnitKind::Words, None, reason);
    }
    if words <= 3.5 {
        return spell(format!("short texts ({per_text} words each, {types} different words)"));
    }
    let size = counts.subwords();
    let reason = format!("sentences ({per_text} words each) with {types} different words: {size} subwords are learnt");
    choose(UnitKind::Bpe, Some(size), reason)
}

/// What the choice is made from.
#[derive(Default)]
struct Counts {
    texts: usize,
    /// Words in all texts, and how many different ones.
    words: usize,
    types: usize,
    /// Words that occur once.
    seen_once: usize,
    /// Words of two or more characters without a letter but with a digit.
    numbers: usize,
    /// Characters in all words, and how many different ones.
    chars: usize,
    alphabet: usize,
    /// Different characters as a reader counts them, and the parts that they are composed of.
    characters: usize,
    parts: usize,
}

impl Counts {
    fn new<S: AsRef<str>>(texts: impl IntoIterator<Item = S>) -> Self {
        let mut counts = Self::default();
        let mut word_counts: HashMap<String, usize> = HashMap::new();
        for text in texts {
            counts.texts += 1;
            for word in text.as_ref().split_whitespace() {
                match word_counts.get_mut(word) {
                    Some(count) => *count += 1,
                    None => {
                        word_counts.insert(word.to_owned(), 1);
                    }
                }
            }
        }
        let (mut alphabet, mut parts): (HashSet<char>, HashSet<char>) = Default::default();
        let mut characters: HashSet<&str> = HashSet::new();
        counts.types = word_counts.len();
        for (word, count) in &word_counts {
            let length = word.graphemes(true).count();
            counts.words += count;
            counts.chars += count * length;
            counts.seen_once += usize::from(*count == 1);
            if length > 1 && word.chars().any(char::is_numeric) && !word.chars().any(char::is_alphabetic) {
                counts.numbers += count;
            }
            alphabet.extend(word.chars());
            parts.extend(word.nfd());
            characters.extend(word.graphemes(true));
        }
        (counts.characters, counts.parts) = (characters.len(), parts.len());
        counts.alphabet = alphabet.len();
        counts
    }

    /// Whether so many characters are composed of so few parts that most of them are better known by these.
    fn composed(&self) -> bool {
        self.characters >= MANY_CHARACTERS && 2 * self.parts <= self.characters
    }

    fn words_per_text(&self) -> f64 {
        share(self.words, self.texts)
    }

    fn word_length(&self) -> f64 {
        share(self.chars, self.words)
    }

    fn share_seen_once(&self) -> f64 {
        share(self.seen_once, self.words)
    }

    fn share_of_numbers(&self) -> f64 {
        share(self.numbers, self.words)
    }

    /// Words make good units when a new text will hardly have an unknown one. A very small file tells too little about that:
    /// there it is enough that its sentences share words.
    fn few_words_often(&self) -> bool {
        let often = share(self.words, self.types);
        let small_file = self.types <= 100 && self.words_per_text() >= 2.0 && often >= 1.5;
        small_file || (self.types <= 2000 && often >= 20.0 && self.share_seen_once() <= 0.02)
    }

    /// One subword for every 25 words, in hundreds, between 500 and 8000; but always enough for the alphabet.
    fn subwords(&self) -> usize {
        let by_amount = (self.words / 25).clamp(500, 8000) / 100 * 100;
        by_amount.max(self.alphabet + 500)
    }
}

fn share(part: usize, whole: usize) -> f64 {
    part as f64 / whole.max(1) as f64
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::Tokenizer;

    fn kind(texts: &[&str]) -> UnitKind {
        guess_units(texts).settings.kind
    }

    /// Korean syllables are taken apart; Chinese characters cannot be, and accents are too few.
    #[test]
    fn many_characters_of_few_parts_are_taken_apart() {
        let each =
            |from: u32, step: usize| (0..399).map(|i| char::from_u32(from + i * step as u32).unwrap().to_string()).collect::<Vec<_>>();
        let guess = guess_units(each(0xac00, 28));
        assert_eq!(guess.settings.kind, UnitKind::Nfd);
        assert_eq!(
            guess.reason,
            "short texts (1.0 words each, 399 different words): texts are spelt by the 40 parts that 399 characters are composed of"
        );
        assert_eq!(guess_units(each(0x4e00, 1)).settings.kind, UnitKind::Chars);
        assert_eq!(kind(&["été", "château", "naïf", "garçon"]), UnitKind::Chars);
    }

    #[test]
    fn texts_of_single_words_are_spelt() {
        assert_eq!(kind(&["walk", "run", "see", "ſeind", "wandert aus"]), UnitKind::Chars);
        assert_eq!(kind(&["john smith", "mary jones", "ann lee", "peter miller"]), UnitKind::Chars);
        assert_eq!(kind(&["今日は良い天気です", "明日は雨でしょう"]), UnitKind::Chars);
        assert_eq!(kind(&["", ""]), UnitKind::Chars);
        assert_eq!(kind(&[]), UnitKind::Chars);
    }

    #[test]
    fn symbols_between_spaces_are_units() {
        assert_eq!(kind(&["a b ɑ̃ d ɔ n e", "a b i", "ʒ ɑ̃"]), UnitKind::Words);
        assert_eq!(kind(&["1 0 1 1", "0 0 1"]), UnitKind::Words);
        assert_eq!(kind(&["AH0 B AE1 T", "K AE1 T"]), UnitKind::Words);
    }

    #[test]
    fn dates_are_spelt() {
        assert_eq!(kind(&["march 15, 2024", "3 may 1999", "12/24/2001"]), UnitKind::Chars);
        assert_eq!(kind(&["2024-03-15", "1999-05-03"]), UnitKind::Chars);
    }

    #[test]
    fn few_words_are_units() {
        assert_eq!(kind(&["the cat sleeps", "the dog sleeps", "the cat eats", "a dog eats"]), UnitKind::Words);
        let labels = ["joy", "anger", "fear"].repeat(100);
        assert_eq!(kind(&labels), UnitKind::Words);
        let dates: Vec<String> =
            (0..3000).map(|i| format!("day {} of month {}", ["one", "two", "ten"][i % 3], ["may", "june"][i % 2])).collect();
        assert_eq!(guess_units(&dates).settings.kind, UnitKind::Words);
    }

    #[test]
    fn sentences_with_many_words_become_subwords_that_can_be_trained() {
        let texts: Vec<String> = (0..400).map(|i| format!("word{i} and other{i} with some{} thing{}", i * 7, i * 3)).collect();
        let guess = guess_units(&texts);
        assert_eq!(guess.settings.kind, UnitKind::Bpe);
        assert!(Tokenizer::train(&guess.settings, &texts).is_ok());
    }
}
