//! What subwords are trained on: the distinct words of the texts with their counts.

use std::collections::{BTreeMap, BTreeSet};

use super::words;

/// Longer words are cut for training: nothing can be learnt from a piece that long, and a "word" may be a whole line.
const MAX_FRAGMENT: usize = 64;

/// Words with their counts. Ordered maps make every trainer see them in the same order, whatever the hashing.
pub(super) struct Corpus {
    /// Words, or what is left of them after rare characters have been cut out.
    pub(super) fragments: BTreeMap<String, u64>,
    /// Every character of the fragments.
    pub(super) alphabet: BTreeSet<char>,
}

impl Corpus {
    /// Counts words, and cuts them at characters that occur fewer than `min_count` times: those will be unknown.
    pub(super) fn count<S: AsRef<str>>(texts: impl IntoIterator<Item = S>, min_count: u64) -> Self {
        let mut word_counts: BTreeMap<String, u64> = BTreeMap::new();
        for text in texts {
            for word in words(text.as_ref()) {
                *word_counts.entry(word).or_default() += 1;
            }
        }
        let mut char_counts: BTreeMap<char, u64> = BTreeMap::new();
        for (word, count) in &word_counts {
            for c in word.chars() {
                *char_counts.entry(c).or_default() += count;
            }
        }
        let alphabet: BTreeSet<char> = char_counts.into_iter().filter(|&(_, count)| count >= min_count).map(|(c, _)| c).collect();

        let mut fragments: BTreeMap<String, u64> = BTreeMap::new();
        for (word, count) in word_counts {
            for known in word.split(|c| !alphabet.contains(&c)) {
                let chars: Vec<char> = known.chars().collect();
                for fragment in chars.chunks(MAX_FRAGMENT) {
                    *fragments.entry(fragment.iter().collect()).or_default() += count;
                }
            }
        }
        Self { fragments, alphabet }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn fragments(texts: &[&str], min_count: u64) -> Vec<(String, u64)> {
        Corpus::count(texts, min_count).fragments.into_iter().collect()
    }

    fn expect(fragments: &[(&str, u64)]) -> Vec<(String, u64)> {
        fragments.iter().map(|&(fragment, count)| (fragment.to_owned(), count)).collect()
    }

    #[test]
    fn words_are_counted_with_their_marker() {
        assert_eq!(fragments(&["a b ", "b▁a\tb"], 1), expect(&[("▁a", 2), ("▁b", 3)]));
    }

    #[test]
    fn rare_characters_cut_a_word() {
        assert_eq!(fragments(&["axa", "aaa"], 2), expect(&[("a", 1), ("▁a", 1), ("▁aaa", 1)]));
        assert_eq!(fragments(&["abc"], 2), expect(&[]));
    }

    #[test]
    fn long_words_are_cut() {
        let lengths: Vec<usize> = fragments(&[&"a".repeat(100)], 1).iter().map(|(f, _)| f.chars().count()).collect();
        assert_eq!(lengths, [37, 64]);
    }
}
