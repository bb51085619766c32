//! Longer pairs for those whose pairs are short: two to four of them, one after the other. What has learnt from short sentences alone does not know where to look in long ones.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::Example;

/// Pairs that are joined, at the least and at the most.
const FEWEST: usize = 2;
const MOST: usize = 4;

/// `count` examples, each of them several of `examples` in a row; links and what a teacher says go with them.
pub fn joined(examples: &[Example], count: usize, seed: u64) -> Vec<Example> {
    if examples.is_empty() {
        return Vec::new();
    }
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let one = |_| {
        let parts = random.random_range(FEWEST..=MOST);
        (0..parts).map(|_| &examples[random.random_range(0..examples.len())]).cloned().reduce(followed_by)
    };
    (0..count).filter_map(one).collect()
}

/// Two examples as one; the end of the first is gone.
fn followed_by(mut first: Example, second: Example) -> Example {
    first.target.pop();
    first.said.truncate(first.target.len());
    let (source, target) = (first.source.len(), first.target.len());
    first.links.extend(second.links.iter().map(|&(t, s)| (t + target, s + source)));
    first.source.extend(second.source);
    first.target.extend(second.target);
    first.said.extend(second.said);
    first.key = format!("{}\n{}", first.key, second.key);
    first.reference = format!("{} {}", first.reference, second.reference);
    first
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::Model;
    use crate::model::seq2seq::tests::{config, pair};
    use crate::model::seq2seq::{Config, Transducer};
    use crate::text::vocab::END;

    const WORDS: [&str; 2] = ["source.units=words", "target.units=words"];

    fn words(changes: &[&str]) -> Config {
        config(&[&WORDS[..], changes].concat())
    }

    #[test]
    fn units_links_and_ends_go_together() {
        let pairs = [pair("a b", "x", 1), pair("c", "y z", 2)];
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("links");
        std::fs::write(&file, "1-0\n0-0 0-1\n").unwrap();
        let links = format!("alignment.links={}", file.display());
        let model = Transducer::new(words(&["model.order=luong", &links]), &pairs).unwrap();
        let [ab, c] = &model.examples(&pairs)[..] else { panic!("two examples") };
        let both = followed_by(ab.clone(), c.clone());
        assert_eq!(both.source, [&ab.source[..], &c.source].concat());
        assert_eq!(both.target, [&ab.target[..1], &c.target].concat());
        assert_eq!(both.links, [(0, 1), (1, 2), (2, 2)]);
        assert_eq!(both.reference, "x y z");
    }

    #[test]
    fn as_many_as_asked_for_and_the_same_ones_again() {
        let pairs: Vec<_> = (0..9).map(|i| pair(&format!("a{i} b"), &format!("x{i}"), i + 1)).collect();
        let model = Transducer::new(words(&["data.joined=50"]), &pairs).unwrap();
        let lessons = model.lessons(&pairs).unwrap();
        assert_eq!((lessons.len(), model.examples(&pairs).len()), (59, 9));
        assert_eq!(lessons, model.lessons(&pairs).unwrap());
        for made in &lessons[9..] {
            let parts = made.source.len() / 2;
            assert!((FEWEST..=MOST).contains(&parts) && made.target.len() == parts + 1);
            assert_eq!(made.target.iter().filter(|&&unit| unit == END).count(), 1);
        }
        assert!(joined(&[], 3, 1).is_empty());
    }

    #[test]
    fn only_words_stand_in_a_row() {
        for wrong in ["source.units=chars", "data.features=true", "model.copy=true"] {
            let error = words(&["data.joined=3", wrong]).check().unwrap_err().to_string();
            assert!(error.contains("data.joined"), "{error}");
        }
    }
}
