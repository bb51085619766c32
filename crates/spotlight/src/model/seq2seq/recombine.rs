//! Sources of inflected words with features that other words have: forms that a teacher is asked for, so that a pupil sees more of each word than the examples give.
//!
//! The first tag says what kind of word it is (`N`, `V`), and only features of the same kind are put together with a source. They are drawn as often as the examples have them.

use std::collections::{BTreeMap, HashSet};

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use crate::text::Pair;
use crate::text::features::tags;

/// How often a source and features are drawn in vain before there are no more.
const PATIENCE: usize = 1000;

/// At most `count` sources with features that the pairs do not have together; fewer if there are not so many.
pub fn recombined(pairs: &[Pair], count: usize, seed: u64) -> Vec<(String, Option<String>)> {
    let rows: Vec<(&str, &str)> =
        pairs.iter().filter_map(|p| p.features.as_deref().map(|features| (p.source.as_str(), features))).collect();
    let mut kinds: BTreeMap<Option<&str>, Vec<&str>> = BTreeMap::new();
    for (_, features) in &rows {
        kinds.entry(tags(features).next()).or_default().push(features);
    }
    let mut known: HashSet<(&str, &str)> = rows.iter().copied().collect();
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut made = Vec::new();
    let mut in_vain = 0;
    while !rows.is_empty() && made.len() < count && in_vain < PATIENCE {
        let (source, own) = rows[random.random_range(0..rows.len())];
        let kind = &kinds[&tags(own).next()];
        let features = kind[random.random_range(0..kind.len())];
        match known.insert((source, features)) {
            true => {
                made.push((source.to_string(), Some(features.to_string())));
                in_vain = 0;
            }
            false => in_vain += 1,
        }
    }
    made
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::seq2seq::tests::pair;

    #[test]
    fn words_get_features_of_their_own_kind() {
        let row = |source: &str, features: &str| Pair { features: Some(features.into()), ..pair(source, "x", 1) };
        let pairs = [row("Hahn", "N;SG"), row("Haus", "N;PL"), row("gehen", "V;PRS"), row("sehen", "V;PST"), row("gehen", "V;NFIN")];
        let mut made = recombined(&pairs, 100, 3);
        assert_eq!(made, recombined(&pairs, 100, 3));
        assert_eq!(recombined(&pairs, 2, 3), made[..2]);
        made.sort();
        let expected = [("Hahn", "N;PL"), ("Haus", "N;SG"), ("gehen", "V;PST"), ("sehen", "V;NFIN"), ("sehen", "V;PRS")];
        assert_eq!(made, expected.map(|(source, features)| (source.to_string(), Some(features.to_string()))));
        assert!(recombined(&[pair("a", "b", 1)], 5, 1).is_empty() && recombined(&[], 5, 1).is_empty());
    }
}
