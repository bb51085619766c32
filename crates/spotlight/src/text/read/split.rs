//! Setting a development part aside.

use std::collections::HashMap;
use std::fmt;
use std::hash::Hash;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// The share of `n` examples to set aside for development.
///
/// Of few examples a fifth, so that there is something to measure by; of more a tenth, but at most 2,000, for more measure no better and cost time in every epoch. In
/// between at least `2 sqrt(n)` rows. As rows:
///
/// | `n` | 10 | 30 | 100 | 300 | 1,000 | 10,000 | 100,000 |
/// |---|---|---|---|---|---|---|---|
/// | set aside | 2 | 6 | 20 | 35 | 100 | 1,000 | 2,000 |
///
/// ```
/// use spotlight::text::read::dev_share;
///
/// assert_eq!((30.0 * dev_share(30)).ceil(), 6.0);
/// assert_eq!((10_000.0 * dev_share(10_000)).ceil(), 1_000.0);
/// ```
pub fn dev_share(n: usize) -> f64 {
    if n == 0 {
        return 0.0;
    }
    let n = n as f64;
    (n / 5.0).min((n / 10.0).max(2.0 * n.sqrt())).min(2000.0) / n
}

/// A label with fewer training examples than this is rare: a model hardly learns it, and a development part says little about it.
pub const RARE: usize = 5;

/// A label that is hardly learnt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RareLabel {
    /// The label.
    pub label: String,
    /// How many training examples have it.
    pub count: usize,
}

impl fmt::Display for RareLabel {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.label, self.count)
    }
}

/// The labels with fewer than [`RARE`] examples, the rarest first.
pub fn rare_labels<S: AsRef<str>>(labels: impl IntoIterator<Item = S>) -> Vec<RareLabel> {
    let mut counts: HashMap<String, usize> = HashMap::new();
    for label in labels {
        match counts.get_mut(label.as_ref()) {
            Some(count) => *count += 1,
            None => drop(counts.insert(label.as_ref().to_owned(), 1)),
        }
    }
    let rare = counts.into_iter().filter(|&(_, count)| count < RARE);
    let mut rare: Vec<RareLabel> = rare.map(|(label, count)| RareLabel { label, count }).collect();
    rare.sort_unstable_by(|a, b| (a.count, &a.label).cmp(&(b.count, &b.label)));
    rare
}

/// A warning that names the rare labels, the first few of them; none if there are none.
///
/// ```
/// use spotlight::text::read::{rare_labels, rare_warning};
///
/// let labels = ["joy", "joy", "joy", "joy", "joy", "fear"];
/// assert_eq!(rare_warning(&rare_labels(labels)).unwrap(), "1 label has fewer than 5 training examples and is hardly learnt: fear (1)");
/// ```
pub fn rare_warning(rare: &[RareLabel]) -> Option<String> {
    const SHOWN: usize = 8;
    let mut list: Vec<String> = rare.iter().take(SHOWN).map(RareLabel::to_string).collect();
    if rare.len() > SHOWN {
        list.push(format!("and {} more", rare.len() - SHOWN));
    }
    let (labels, are) = if rare.len() == 1 { ("label has", "is") } else { ("labels have", "are") };
    (!rare.is_empty())
        .then(|| format!("{} {labels} fewer than {RARE} training examples and {are} hardly learnt: {}", rare.len(), list.join(", ")))
}

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
    let groups = Groups::new(&examples, key);
    let wanted = (examples.len() as f64 * fraction.clamp(0.0, 1.0)).ceil() as usize;
    let mut is_dev = vec![false; groups.sizes.len()];
    let mut taken = 0;
    for &group in groups.shuffled(seed).iter().skip(1) {
        if taken >= wanted {
            break;
        }
        is_dev[group] = true;
        taken += groups.sizes[group];
    }
    groups.apart(examples, &is_dev)
}

/// Splits examples with labels as [`split_dev`] does, with every label on the training side, and about `fraction` of the examples of each label on the other: at least
/// one if [`RARE`] or more keys have the label.
///
/// A label that a single key has is for training only. If no key can be spared, all examples are for training.
///
/// ```
/// use spotlight::text::read::split_labelled;
///
/// let texts = [("a", "joy"), ("b", "joy"), ("c", "fear"), ("d", "joy"), ("e", "joy")];
/// let (train, dev) = split_labelled(texts.to_vec(), 0.4, 1, |text| text.0, |text| text.1);
/// assert_eq!((train.len(), dev.len()), (3, 2));
/// assert!(train.contains(&("c", "fear")));
/// ```
pub fn split_labelled<T, K: Hash + Eq, L: Hash + Eq>(
    examples: Vec<T>,
    fraction: f64,
    seed: u64,
    key: impl Fn(&T) -> K,
    label: impl Fn(&T) -> L,
) -> (Vec<T>, Vec<T>) {
    let groups = Groups::new(&examples, key);
    let labels = Groups::new(&examples, label);
    // How many examples of each label a group has. A text may stand in a file twice, with different labels.
    let mut held: Vec<HashMap<usize, usize>> = vec![HashMap::new(); groups.sizes.len()];
    for (&group, &label) in groups.of_example.iter().zip(&labels.of_example) {
        *held[group].entry(label).or_default() += 1;
    }
    let mut groups_left = vec![0; labels.sizes.len()];
    held.iter().flat_map(HashMap::keys).for_each(|&label| groups_left[label] += 1);
    let mut quota = quotas(&labels.sizes, wanted(examples.len(), fraction));
    if fraction > 0.0 {
        quota.iter_mut().zip(&groups_left).filter(|&(_, &groups)| groups >= RARE).for_each(|(quota, _)| *quota = (*quota).max(1));
    }

    let order = groups.shuffled(seed);
    let mut is_dev = vec![false; groups.sizes.len()];
    // First within the quotas; if they leave nothing, because groups are large, one group all the same.
    for within in [true, false] {
        for &group in &order {
            let spared = held[group].keys().all(|&label| groups_left[label] > 1);
            let fits = held[group].iter().all(|(&label, &count)| count <= quota[label]);
            if !is_dev[group] && spared && (fits || !within) {
                is_dev[group] = true;
                for (&label, &count) in &held[group] {
                    groups_left[label] -= 1;
                    quota[label] = quota[label].saturating_sub(count);
                }
                if !within {
                    break;
                }
            }
        }
        if fraction <= 0.0 || is_dev.contains(&true) {
            break;
        }
    }
    groups.apart(examples, &is_dev)
}

/// The fraction in whole examples, rounded up, unless it was a whole number before a share was made of it.
fn wanted(examples: usize, fraction: f64) -> usize {
    (examples as f64 * fraction.clamp(0.0, 1.0) - 1e-6).ceil() as usize
}

/// `wanted` shared out in proportion to `sizes`: whole parts first, then one each to those with the largest remainders.
fn quotas(sizes: &[usize], wanted: usize) -> Vec<usize> {
    let total = sizes.iter().sum::<usize>().max(1) as u128;
    let share = |size: usize| size as u128 * wanted as u128;
    let mut quota: Vec<usize> = sizes.iter().map(|&size| (share(size) / total) as usize).collect();
    let mut by_remainder: Vec<usize> = (0..sizes.len()).collect();
    by_remainder.sort_by_key(|&label| std::cmp::Reverse(share(sizes[label]) % total));
    let missing = wanted.saturating_sub(quota.iter().sum());
    by_remainder.into_iter().take(missing).for_each(|label| quota[label] += 1);
    quota
}

/// Examples that share a key, numbered in the order of their first ones.
struct Groups {
    of_example: Vec<usize>,
    sizes: Vec<usize>,
}

impl Groups {
    fn new<T, K: Hash + Eq>(examples: &[T], key: impl Fn(&T) -> K) -> Self {
        let mut group_of_key: HashMap<K, usize> = HashMap::new();
        let mut sizes: Vec<usize> = Vec::new();
        let mut of_example: Vec<usize> = Vec::with_capacity(examples.len());
        for example in examples {
            let group = *group_of_key.entry(key(example)).or_insert(sizes.len());
            if group == sizes.len() {
                sizes.push(0);
            }
            sizes[group] += 1;
            of_example.push(group);
        }
        Self { of_example, sizes }
    }

    fn shuffled(&self, seed: u64) -> Vec<usize> {
        let mut order: Vec<usize> = (0..self.sizes.len()).collect();
        order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
        order
    }

    fn apart<T>(&self, examples: Vec<T>, is_dev: &[bool]) -> (Vec<T>, Vec<T>) {
        let (mut train, mut dev) = (Vec::new(), Vec::new());
        for (example, &group) in examples.into_iter().zip(&self.of_example) {
            if is_dev[group] { dev.push(example) } else { train.push(example) }
        }
        (train, dev)
    }
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

    #[test]
    fn the_share_follows_the_amount_of_data() {
        let rows = |n: usize| wanted(n, dev_share(n));
        assert_eq!([0, 1, 10, 30, 100, 300, 1000, 10_000, 100_000].map(rows), [0, 1, 2, 6, 20, 35, 100, 1000, 2000]);
        assert!((1..20_000).map(rows).is_sorted());
    }

    type Row = (usize, &'static str);

    /// As many rows of each label.
    fn rows(counts: &[(&'static str, usize)]) -> Vec<Row> {
        counts.iter().flat_map(|&(label, count)| vec![label; count]).enumerate().collect()
    }

    fn count(rows: &[Row], label: &str) -> usize {
        rows.iter().filter(|row| row.1 == label).count()
    }

    #[test]
    fn every_label_is_learnt_and_measured_in_proportion() {
        let examples = rows(&[("often", 80), ("seldom", 15), ("rare", 4), ("once", 1)]);
        for seed in 0..50 {
            let (train, dev) = split_labelled(examples.clone(), 0.2, seed, |row| row.0, |row| row.1);
            assert_eq!([count(&dev, "often"), count(&dev, "seldom"), count(&dev, "once")], [16, 3, 0], "seed {seed}");
            assert!(count(&train, "rare") >= 1 && count(&train, "once") == 1);
            assert!(train.is_sorted() && dev.is_sorted());
            assert_eq!(dev, split_labelled(examples.clone(), 0.2, seed, |row| row.0, |row| row.1).1);
        }
        let (one, other) = (
            split_labelled(examples.clone(), 0.2, 1, |row| row.0, |row| row.1),
            split_labelled(examples, 0.2, 2, |row| row.0, |row| row.1),
        );
        assert_ne!(one, other);
    }

    #[test]
    fn a_label_with_some_examples_is_measured_even_in_a_small_part() {
        let examples = rows(&[("often", 1000), ("five", 5), ("four", 4)]);
        let (_, dev) = split_labelled(examples, 0.05, 1, |row| row.0, |row| row.1);
        assert_eq!((count(&dev, "five"), count(&dev, "four")), (1, 0));
    }

    #[test]
    fn what_cannot_be_spared_stays() {
        let once = rows(&[("a", 1), ("b", 1)]);
        assert_eq!(split_labelled(once.clone(), 0.5, 1, |row| row.0, |row| row.1), (once, vec![]));
        let twice = rows(&[("a", 2)]);
        assert_eq!(split_labelled(twice.clone(), 0.1, 1, |row| row.0, |row| row.1).1.len(), 1);
        assert_eq!(split_labelled(twice, 0.0, 1, |row| row.0, |row| row.1).1.len(), 0);
        // Two keys of fifty rows each: neither fits a tenth, but one is set aside all the same.
        let (train, dev) = split_labelled(rows(&[("a", 100)]), 0.1, 1, |row| row.0 % 2, |row| row.1);
        assert_eq!((train.len(), dev.len()), (50, 50));
    }

    #[test]
    fn rare_labels_are_named() {
        let labels = rows(&[("a", 5), ("c", 1), ("b", 1), ("d", 4)]).into_iter().map(|row| row.1);
        let rare = rare_labels(labels);
        assert_eq!(rare_warning(&rare).unwrap(), "3 labels have fewer than 5 training examples and are hardly learnt: b (1), c (1), d (4)");
        assert_eq!(rare_warning(&[]), None);
        let many: Vec<String> = (0..10).map(|n| n.to_string()).collect();
        assert!(rare_warning(&rare_labels(&many)).unwrap().ends_with("7 (1), and 2 more"));
    }

    proptest! {
        #[test]
        fn labels_and_keys_are_safe_whatever_they_are(
            examples in prop::collection::vec((0u8..12, 0u8..5), 0..60),
            fraction in 0.0..1.0f64,
            seed: u64,
        ) {
            let (train, dev) = split_labelled(examples.clone(), fraction, seed, |e| e.0, |e| e.1);
            prop_assert!(dev.iter().all(|d| train.iter().all(|t| t.0 != d.0)));
            prop_assert!(dev.iter().all(|d| train.iter().any(|t| t.1 == d.1)));
            let mut all = [train, dev].concat();
            all.sort_unstable();
            let mut expected = examples;
            expected.sort_unstable();
            prop_assert_eq!(all, expected);
        }
    }
}
