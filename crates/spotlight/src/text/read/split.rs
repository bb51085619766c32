//! Setting a development part aside.

use std::collections::HashMap;
use std::hash::Hash;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// Splits examples into a training and a development part of about `fraction` of them. Examples with the same `key` (the
/// source of a pair, say) go to the same side: a word seen in training must not turn up in the development part. Both sides
/// keep the order of the file, and a seed always gives the same split.
///
/// If there are at least two keys and `fraction` is above 0, both sides get at least one; with a single key all examples are
/// for training.
///
/// ```
/// use spotlight::text::read::split_dev;
///
/// let words = ["read", "read", "lead", "wind", "wind", "bow"];
/// let (train, dev) = split_dev(words.to_vec(), 0.3, 1, |word| *word);
/// assert!(dev.iter().all(|word| !train.contains(word)));
/// assert_eq!(train.len() + dev.len(), words.len());
/// ```
pub fn split_dev<T, K: Hash + Eq>(examples: Vec<T>, fraction: f64, seed: u64, key: impl Fn(&T) -> K) -> (Vec<T>, Vec<T>) {
    let mut group_of_key: HashMap<K, usize> = HashMap::new();
    let mut sizes: Vec<usize> = Vec::new();
    let mut group_of_example: Vec<usize> = Vec::with_capacity(examples.len());
    for example in &examples {
        let group = *group_of_key.entry(key(example)).or_insert(sizes.len());
        if group == sizes.len() {
            sizes.push(0);
        }
        sizes[group] += 1;
        group_of_example.push(group);
    }

    let mut order: Vec<usize> = (0..sizes.len()).collect();
    order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    let wanted = (examples.len() as f64 * fraction.clamp(0.0, 1.0)).ceil() as usize;
    let mut is_dev = vec![false; sizes.len()];
    let mut taken = 0;
    for &group in order.iter().skip(1) {
        if taken >= wanted {
            break;
        }
        is_dev[group] = true;
        taken += sizes[group];
    }

    let (mut train, mut dev) = (Vec::new(), Vec::new());
    for (example, group) in examples.into_iter().zip(group_of_example) {
        if is_dev[group] { dev.push(example) } else { train.push(example) }
    }
    (train, dev)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn the_fraction_is_met() {
        let (train, dev) = split_dev((0..1000).collect(), 0.05, 3, |&n| n);
        assert_eq!((train.len(), dev.len()), (950, 50));
        assert!(train.is_sorted() && dev.is_sorted());
    }

    #[test]
    fn seeds_differ_and_repeat() {
        let split = |seed| split_dev((0..100).collect::<Vec<i32>>(), 0.1, seed, |&n| n);
        assert_eq!(split(1), split(1));
        assert_ne!(split(1), split(2));
    }

    #[test]
    fn small_files_keep_something_to_train_on() {
        assert_eq!(split_dev(Vec::<i32>::new(), 0.1, 1, |&n| n), (vec![], vec![]));
        assert_eq!(split_dev(vec![1, 1], 0.5, 1, |&n| n), (vec![1, 1], vec![]));
        let (train, dev) = split_dev(vec![1, 2], 0.01, 1, |&n| n);
        assert_eq!((train.len(), dev.len()), (1, 1));
        let (train, dev) = split_dev(vec![1, 2, 3], 1.0, 1, |&n| n);
        assert_eq!((train.len(), dev.len()), (1, 2));
        let (train, dev) = split_dev(vec![1, 2, 3], 0.0, 1, |&n| n);
        assert_eq!((train.len(), dev.len()), (3, 0));
    }

    proptest! {
        #[test]
        fn no_key_is_on_both_sides_and_nothing_is_lost(
            examples in prop::collection::vec(0u8..20, 0..60),
            fraction in 0.0..1.0f64,
            seed: u64,
        ) {
            let (train, dev) = split_dev(examples.clone(), fraction, seed, |&n| n);
            prop_assert!(dev.iter().all(|key| !train.contains(key)));
            let mut all = [train, dev].concat();
            all.sort_unstable();
            let mut expected = examples;
            expected.sort_unstable();
            prop_assert_eq!(all, expected);
        }
    }
}
