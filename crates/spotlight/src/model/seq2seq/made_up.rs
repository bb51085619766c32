//! Made-up pairs for those who have few. There are two ways.
//!
//! **Stems**, where source and target share them: words whose stem is another one, inflected as a real one is (Anastasopoulos and Neubig, 2019, who call them hallucinated). The longest run of letters that both
//! sides share is taken for the stem; from its second letter on each letter is replaced with the probability ½, on both sides alike. What is learnt from such a
//! pair is that stems are copied, whatever they are, and what is done at their ends. It teaches nothing where the letters of a stem change what is done, and there it does harm.
//!
//! **Letters**, where each of them writes something of its own: what it writes, and after what, is counted ([`Joint`]), and pairs are drawn from the counts letter by letter. They are no words, but their letters stand as letters of
//! words do, and the network learns from them what a hundred words hardly tell it: that it is to go along the source. A time, a date or a number is more than what its parts write, and drawn ones would be wrong.

use std::collections::BTreeSet;
use std::ops::Range;

use rand::seq::SliceRandom;
use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::data::Vocabularies;
use super::joint::Joint;
use crate::metrics::edit_distance;
use crate::text::Pair;

/// Characters that a stem has at the least, and how many of them can be replaced.
const STEM: usize = 3;
const REPLACEABLE: usize = 2;
/// How probable it is that a letter is replaced.
const REPLACED: f64 = 0.5;
/// So many parts of the pairs are each answered by counts of the others, to find out whether letters write something of their own;
const PARTS: usize = 3;
/// they do if so much of what they answer, at the most, is wrong,
const WRONG: f64 = 0.4;
/// and no more than one pair in so many has a number.
const NUMBERS: usize = 20;

/// The pairs, and behind them up to `count` that are made up from them: from their stems if they have any, else from their letters.
pub fn with_made_up(pairs: &[Pair], count: usize, seed: u64, vocabularies: &Vocabularies) -> Vec<Pair> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut all = pairs.to_vec();
    if count > 0 && (have_stems(pairs) || vocabularies.features.is_some()) {
        all.extend(of_stems(pairs, count, &mut random));
    } else if count > 0 {
        all.extend(of_letters(pairs, count, &mut random, vocabularies));
    }
    all
}

/// Nothing if no pair has a stem.
fn of_stems(pairs: &[Pair], count: usize, random: &mut ChaCha8Rng) -> Vec<Pair> {
    let stems: Vec<(&Pair, Range<usize>, Range<usize>)> =
        pairs.iter().filter_map(|pair| stem(&pair.source, &pair.target).map(|(s, t)| (pair, s, t))).collect();
    let letters: Vec<char> =
        pairs.iter().flat_map(|p| p.source.chars()).filter(|&c| is_letter(c)).collect::<BTreeSet<_>>().into_iter().collect();
    if stems.is_empty() || letters.is_empty() {
        return Vec::new();
    }
    let mut one = || {
        let (pair, source, target) = &stems[random.random_range(0..stems.len())];
        let mut letter = |(place, old): (usize, char)| match place > 0 && is_letter(old) && random.random_bool(REPLACED) {
            true => letters[random.random_range(0..letters.len())],
            false => old,
        };
        let stem: String = pair.source[source.clone()].chars().enumerate().map(&mut letter).collect();
        let around = |text: &str, place: &Range<usize>| format!("{}{stem}{}", &text[..place.start], &text[place.end..]);
        Pair { source: around(&pair.source, source), target: around(&pair.target, target), ..(*pair).clone() }
    };
    (0..count).map(|_| one()).collect()
}

/// Fewer where a draw does not end.
fn of_letters(pairs: &[Pair], count: usize, random: &mut ChaCha8Rng, vocabularies: &Vocabularies) -> Vec<Pair> {
    let joint = Joint::of(pairs, vocabularies);
    let drawn = (0..4 * count).filter_map(|_| joint.draw(random)).take(count);
    let pair = |(source, target): (Vec<u32>, Vec<u32>)| Pair {
        source: vocabularies.source.decode(&source),
        target: vocabularies.target.decode(&target),
        features: None,
        line: 0, // of no line: links are not theirs
    };
    drawn.map(pair).collect()
}

/// Whether letters write something of their own: there are hardly any numbers, and what counts of some pairs answer to the sources of others is mostly right.
pub fn letters_tell(pairs: &[Pair], vocabularies: &Vocabularies) -> bool {
    let is_number = |word: &str| word.chars().any(char::is_numeric) && !word.chars().any(char::is_alphabetic);
    let has_number = |text: &str| text.split_whitespace().any(is_number);
    if NUMBERS * pairs.iter().filter(|pair| has_number(&pair.source) || has_number(&pair.target)).count() > pairs.len() {
        return false;
    }
    let different: BTreeSet<(&str, &str)> = pairs.iter().map(|pair| (pair.source.as_str(), pair.target.as_str())).collect();
    let mut different: Vec<Pair> = different
        .into_iter()
        .map(|(source, target)| Pair { source: source.into(), target: target.into(), features: None, line: 1 })
        .collect();
    // In no order, so that no part has all that begin alike.
    different.shuffle(&mut ChaCha8Rng::seed_from_u64(0));
    let (mut wrong, mut all) = (0, 0);
    for part in 0..PARTS {
        let own = |(at, _): &(usize, &Pair)| at % PARTS == part;
        let others: Vec<Pair> = different.iter().enumerate().filter(|pair| !own(pair)).map(|(_, pair)| pair.clone()).collect();
        let joint = Joint::of(&others, vocabularies);
        for (_, pair) in different.iter().enumerate().filter(own) {
            let target = vocabularies.target.ids(&pair.target);
            let said = joint.best(&vocabularies.source.ids(&pair.source)).unwrap_or_default();
            wrong += edit_distance(&said, &target);
            all += target.len();
        }
    }
    all > 0 && wrong as f64 <= WRONG * all as f64
}

/// Whether at least half of the pairs have a stem.
pub fn have_stems(pairs: &[Pair]) -> bool {
    2 * pairs.iter().filter(|pair| stem(&pair.source, &pair.target).is_some()).count() >= pairs.len()
}

/// Capital letters stay what they are.
fn is_letter(c: char) -> bool {
    c.is_alphabetic() && !c.is_uppercase()
}

/// Where the longest run of characters that two texts share stands in each, in bytes; the first of equally long ones.
fn stem(source: &str, target: &str) -> Option<(Range<usize>, Range<usize>)> {
    let [s, t] = [source, target].map(|text| text.char_indices().collect::<Vec<(usize, char)>>());
    // Lengths of runs that end at a character of the source and at each of the target.
    let mut before = vec![0; t.len() + 1];
    let (mut longest, mut ends) = (0, (0, 0));
    for (i, &(_, a)) in s.iter().enumerate() {
        let mut row = vec![0; t.len() + 1];
        for (j, &(_, b)) in t.iter().enumerate() {
            row[j + 1] = if a == b { before[j] + 1 } else { 0 };
            if row[j + 1] > longest {
                (longest, ends) = (row[j + 1], (i + 1, j + 1));
            }
        }
        before = row;
    }
    let bytes = |all: &[(usize, char)], text: &str, end: usize| {
        let at = |place: usize| all.get(place).map_or(text.len(), |c| c.0);
        at(end - longest)..at(end)
    };
    let letters = s[ends.0 - longest..ends.0].iter().skip(1).filter(|c| is_letter(c.1)).count();
    (longest >= STEM && letters >= REPLACEABLE).then(|| (bytes(&s, source, ends.0), bytes(&t, target, ends.1)))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::seq2seq::tests::{config, pair};

    fn made(pairs: &[Pair], count: usize, seed: u64) -> Vec<Pair> {
        with_made_up(pairs, count, seed, &vocabularies(pairs))
    }

    fn vocabularies(pairs: &[Pair]) -> Vocabularies {
        Vocabularies::train(&config(&[]), pairs).unwrap()
    }

    /// Words of Latin letters in Greek ones, `x` in two of them, `h` in none.
    fn greek() -> Vec<Pair> {
        let letter = |i: usize| b"abehikmnoptx"[i % 12] as char;
        let word = |i: usize| (0..3 + i % 4).map(|j| letter(i * i * 7 + j * j * 11 + i * j * 5 + i / 3)).collect::<String>();
        (0..60).map(|i| pair(&word(i), &in_greek(&word(i)), i + 1)).collect()
    }

    fn in_greek(word: &str) -> String {
        let letters =
            [('a', "α"), ('b', "β"), ('e', "ε"), ('h', ""), ('i', "ι"), ('k', "κ"), ('m', "μ"), ('n', "ν"), ('o', "ο"), ('p', "π")];
        let letters = letters.into_iter().chain([('t', "τ"), ('x', "κσ")]).collect::<std::collections::HashMap<char, &str>>();
        word.chars().map(|c| letters[&c]).collect()
    }

    #[test]
    fn stems_are_the_longest_common_runs() {
        assert_eq!(stem("spielen", "gespielt"), Some((0..5, 2..7)));
        assert_eq!(stem("prüfen", "prüft"), Some((0..5, 0..5)), "in bytes");
        assert_eq!(stem("gut", "besser"), None);
        assert_eq!(stem("may 5, 2024", "2024-05-05"), None, "digits are not made up");
        assert_eq!(stem("წერა", "წერს"), Some((0..9, 0..9)), "a script without capitals");
        assert_eq!((stem("", "abc"), stem("abc", "")), (None, None));
    }

    #[test]
    fn only_letters_of_stems_are_made_up() {
        let pairs = [pair("Spielen", "gespielt", 1), pair("gut", "besser", 2)];
        assert!(have_stems(&pairs) && !have_stems(&pairs[1..]));
        let all = made(&pairs, 200, 7);
        assert_eq!((all.len(), &all[..2]), (202, &pairs[..]));
        assert_eq!(all, made(&pairs, 200, 7));
        assert_ne!(all, made(&pairs, 200, 8));
        for made in &all[2..] {
            // The stem is `piel`: its first letter and all around it stay.
            let stem = made.source.strip_prefix("Sp").and_then(|rest| rest.strip_suffix("en")).unwrap();
            assert_eq!((made.target.as_str(), stem.chars().count()), (format!("gesp{stem}t").as_str(), 3));
        }
        assert!(all[2..].iter().any(|made| made.source != "Spielen"));
        assert_eq!(made(&pairs, 0, 1), pairs);
    }

    /// They are spelt as the others are, most of them are new, and those of nothing are none.
    #[test]
    fn letters_are_put_together_anew() {
        let pairs = greek();
        assert!(!have_stems(&pairs) && letters_tell(&pairs, &vocabularies(&pairs)));
        let all = made(&pairs, 300, 7);
        assert_eq!((all.len(), &all[..60]), (360, &pairs[..]));
        assert_eq!(all, made(&pairs, 300, 7));
        assert_ne!(all, made(&pairs, 300, 8));
        let right = all[60..].iter().filter(|pair| pair.target == in_greek(&pair.source)).count();
        let new = all[60..].iter().filter(|made| pairs.iter().all(|pair| pair.source != made.source)).count();
        assert!(right > 290 && new > 200, "{right} {new}");
        assert!(all.iter().all(|pair| !pair.source.is_empty() && pair.source.len() <= 6 && pair.features.is_none()));
        assert_eq!(with_made_up(&[pair("", "", 1)], 5, 1, &vocabularies(&pairs)).len(), 1);
        assert!(with_made_up(&[], 5, 1, &vocabularies(&pairs)).is_empty());
    }

    /// Nobody who goes along the letters turns words around.
    #[test]
    fn letters_do_not_always_tell() {
        let turned: Vec<Pair> = greek().iter().map(|p| pair(&p.source, &p.target.chars().rev().collect::<String>(), p.line)).collect();
        assert!(!letters_tell(&turned, &vocabularies(&turned)));
        assert!(!letters_tell(&[], &vocabularies(&turned)));
        // Three digits write three Roman numbers, whose places they do not know.
        let numbers: Vec<Pair> = greek().iter().map(|p| pair(&p.source, &p.line.to_string(), p.line)).collect();
        assert!(!letters_tell(&numbers, &vocabularies(&numbers)));
    }
}
