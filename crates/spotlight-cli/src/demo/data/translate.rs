//! Eight English sentences of three words, and their French.
//!
//! Two articles, two animals, two verbs, in all combinations, and word order is the same in both
//! languages: the smallest translation in which one can see which word looks where.

/// English and French, word for word.
pub const PAIRS: [(&str, &str); 8] = [
    ("the cat sat", "le chat assis"),
    ("the dog ran", "le chien couru"),
    ("a cat sat", "un chat assis"),
    ("a dog ran", "un chien couru"),
    ("the cat ran", "le chat couru"),
    ("the dog sat", "le chien assis"),
    ("a cat ran", "un chat couru"),
    ("a dog sat", "un chien assis"),
];

#[cfg(test)]
mod tests {
    use std::collections::{HashMap, HashSet};

    use super::*;

    #[test]
    fn each_word_has_one_translation_in_its_place() {
        let mut lexicon = HashMap::new();
        for (english, french) in PAIRS {
            assert_eq!(english.split(' ').count(), french.split(' ').count());
            for (from, to) in english.split(' ').zip(french.split(' ')) {
                assert_eq!(*lexicon.entry(from).or_insert(to), to, "{from}");
            }
        }
        assert_eq!(lexicon.len(), 6);
        assert_eq!(PAIRS.iter().map(|pair| pair.0).collect::<HashSet<_>>().len(), 8);
    }
}
