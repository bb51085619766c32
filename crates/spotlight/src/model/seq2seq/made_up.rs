//! Made-up pairs for those who have few: words whose stem is another one, inflected or spelt as a real one is. Anastasopoulos and Neubig, 2019, who call them hallucinated.
//!
//! The longest run of letters that source and target share is taken for the stem; from its second letter on each letter is replaced with the probability ½, on both sides alike. What is learnt from such a
//! pair is that stems are copied, whatever they are, and what is done at their ends. It teaches nothing where the letters of a stem change what is done, and there it does harm.

use std::collections::BTreeSet;
use std::ops::Range;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::text::Pair;

/// Characters that a stem has at the least, and how many of them can be replaced.
const STEM: usize = 3;
const REPLACEABLE: usize = 2;
/// How probable it is that a letter is replaced.
const REPLACED: f64 = 0.5;

/// The pairs, and behind them `count` that are made up from them. Nothing is made up if no pair has a stem.
pub fn with_made_up(pairs: &[Pair], count: usize, seed: u64) -> Vec<Pair> {
    let stems: Vec<(&Pair, Range<usize>, Range<usize>)> =
        pairs.iter().filter_map(|pair| stem(&pair.source, &pair.target).map(|(s, t)| (pair, s, t))).collect();
    let letters: Vec<char> =
        pairs.iter().flat_map(|p| p.source.chars()).filter(|&c| is_letter(c)).collect::<BTreeSet<_>>().into_iter().collect();
    let mut all = pairs.to_vec();
    if stems.is_empty() || letters.is_empty() {
        return all;
    }
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    for _ in 0..count {
        let (pair, source, target) = &stems[random.random_range(0..stems.len())];
        let mut letter = |(place, old): (usize, char)| match place > 0 && is_letter(old) && random.random_bool(REPLACED) {
            true => letters[random.random_range(0..letters.len())],
            false => old,
        };
        let stem: String = pair.source[source.clone()].chars().enumerate().map(&mut letter).collect();
        let around = |text: &str, place: &Range<usize>| format!("{}{stem}{}", &text[..place.start], &text[place.end..]);
        all.push(Pair { source: around(&pair.source, source), target: around(&pair.target, target), ..(*pair).clone() });
    }
    all
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
    use crate::model::seq2seq::tests::pair;

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
        let all = with_made_up(&pairs, 200, 7);
        assert_eq!((all.len(), &all[..2]), (202, &pairs[..]));
        assert_eq!(all, with_made_up(&pairs, 200, 7));
        assert_ne!(all, with_made_up(&pairs, 200, 8));
        for made in &all[2..] {
            // The stem is `piel`: its first letter and all around it stay.
            let stem = made.source.strip_prefix("Sp").and_then(|rest| rest.strip_suffix("en")).unwrap();
            assert_eq!((made.target.as_str(), stem.chars().count()), (format!("gesp{stem}t").as_str(), 3));
        }
        assert!(all[2..].iter().any(|made| made.source != "Spielen"));
        assert_eq!(with_made_up(&pairs[1..], 5, 1), pairs[1..]);
        assert!(with_made_up(&[], 5, 1).is_empty());
    }
}
