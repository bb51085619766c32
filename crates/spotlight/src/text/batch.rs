//! Batches by number of positions.
//!
//! What a step costs is not the number of examples but the number of positions in them, so a batch has a budget of
//! positions. Recurrences run a batch in step: examples of similar length keep all rows busy until the end. For training,
//! examples are therefore sorted into length buckets, shuffled within them, cut into batches, and the batches shuffled.

use std::ops::Range;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;

/// The number of source and target positions of an example. A text without a target has target length 0.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Lengths {
    /// Positions of the source.
    pub source: usize,
    /// Positions of the target.
    pub target: usize,
}

impl Lengths {
    /// What the example takes of a budget; an empty one still takes a place.
    pub fn positions(self) -> usize {
        (self.source + self.target).max(1)
    }
}

/// Batches for one epoch: every example once, similar lengths together, at most `budget` positions in each. An example that
/// is longer than the budget is a batch of its own. The same seed and epoch always give the same batches.
///
/// ```
/// use spotlight::text::batch::{Lengths, shuffled};
///
/// let lengths = [3, 9, 3, 9, 3, 3].map(|source| Lengths { source, target: 1 });
/// let mut batches = shuffled(&lengths, 20, 7, 0);
/// batches.iter_mut().for_each(|batch| batch.sort());
/// batches.sort();
/// assert_eq!(batches, [vec![0, 2, 4, 5], vec![1, 3]]);
/// ```
pub fn shuffled(lengths: &[Lengths], budget: usize, seed: u64, epoch: u64) -> Vec<Vec<usize>> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    random.set_stream(epoch);
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.shuffle(&mut random);
    // A stable sort leaves the examples of a bucket in their shuffled order.
    order.sort_by_key(|&example| (bucket(lengths[example].source), bucket(lengths[example].target)));
    let mut batches: Vec<Vec<usize>> =
        cut(order.iter().map(|&example| lengths[example].positions()), budget).into_iter().map(|range| order[range].to_vec()).collect();
    batches.shuffle(&mut random);
    batches
}

/// Batches in the order of the examples, for prediction from a stream.
pub fn sequential(lengths: &[Lengths], budget: usize) -> Vec<Range<usize>> {
    cut(lengths.iter().map(|lengths| lengths.positions()), budget)
}

/// Batches of similar lengths without chance, for prediction when all examples are known;
/// [`in_original_order`] undoes the sorting.
pub fn by_length(lengths: &[Lengths], budget: usize) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..lengths.len()).collect();
    order.sort_by_key(|&example| (lengths[example].source, lengths[example].target));
    let ranges = cut(order.iter().map(|&example| lengths[example].positions()), budget);
    ranges.into_iter().map(|range| order[range].to_vec()).collect()
}

/// Puts the results of batches, one per example and in the order of the batches, into the order of the examples.
///
/// ```
/// use spotlight::text::batch::in_original_order;
///
/// assert_eq!(in_original_order(&[vec![2, 0], vec![1]], ["c", "a", "b"]), ["a", "b", "c"]);
/// ```
pub fn in_original_order<T>(batches: &[Vec<usize>], results: impl IntoIterator<Item = T>) -> Vec<T> {
    let mut numbered: Vec<(usize, T)> = batches.iter().flatten().copied().zip(results).collect();
    numbered.sort_by_key(|&(example, _)| example);
    numbered.into_iter().map(|(_, result)| result).collect()
}

/// The shortest length of the bucket: up to 16 every length has its own, beyond that a bucket is about an eighth wide.
fn bucket(length: usize) -> usize {
    let mut step = 1;
    while length / step > 16 {
        step *= 2;
    }
    length / step * step
}

/// Ranges of neighbours whose sizes sum up to `budget` at most, or of one that is larger.
fn cut(sizes: impl Iterator<Item = usize>, budget: usize) -> Vec<Range<usize>> {
    let mut ranges: Vec<Range<usize>> = Vec::new();
    let mut used = 0;
    for (position, size) in sizes.enumerate() {
        match ranges.last_mut() {
            Some(range) if used + size <= budget => {
                range.end += 1;
                used += size;
            }
            _ => {
                ranges.push(position..position + 1);
                used = size;
            }
        }
    }
    ranges
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn lengths(pairs: &[(usize, usize)]) -> Vec<Lengths> {
        pairs.iter().map(|&(source, target)| Lengths { source, target }).collect()
    }

    #[test]
    fn batches_hold_similar_lengths() {
        let lengths: Vec<Lengths> = (0..2000).map(|i| Lengths { source: 1 + i * 7919 % 100, target: 5 }).collect();
        for batch in shuffled(&lengths, 300, 1, 0) {
            let sources: Vec<usize> = batch.iter().map(|&example| lengths[example].source).collect();
            let (least, most) = (sources.iter().min().unwrap(), sources.iter().max().unwrap());
            assert!(most - least <= 2 + least / 4, "{least} and {most} in one batch");
        }
    }

    #[test]
    fn epochs_and_seeds_differ_and_repeat() {
        let lengths: Vec<Lengths> = (0..100).map(|i| Lengths { source: 1 + i % 9, target: 3 }).collect();
        let first = shuffled(&lengths, 50, 1, 0);
        assert_eq!(shuffled(&lengths, 50, 1, 0), first);
        assert_ne!(shuffled(&lengths, 50, 1, 1), first);
        assert_ne!(shuffled(&lengths, 50, 2, 0), first);
        // The order of batches is shuffled too: they do not come by length.
        let starts: Vec<usize> = first.iter().map(|batch| lengths[batch[0]].source).collect();
        assert!(!starts.is_sorted());
    }

    #[test]
    fn a_long_example_is_alone() {
        let lengths = lengths(&[(3, 3), (500, 500), (3, 3)]);
        assert_eq!(sequential(&lengths, 12), [0..1, 1..2, 2..3]);
        assert_eq!(by_length(&lengths, 12), [vec![0, 2], vec![1]]);
        assert!(shuffled(&lengths, 12, 1, 0).contains(&vec![1]));
    }

    #[test]
    fn nothing_gives_no_batches() {
        assert!(shuffled(&[], 10, 1, 0).is_empty());
        assert!(sequential(&[], 10).is_empty());
    }

    #[test]
    fn empty_examples_do_not_pile_up() {
        assert_eq!(sequential(&lengths(&[(0, 0); 5]), 2), [0..2, 2..4, 4..5]);
    }

    #[test]
    fn buckets_widen_with_length() {
        assert_eq!([0, 1, 8, 16, 17, 33, 34, 100].map(bucket), [0, 1, 8, 16, 16, 32, 32, 96]);
    }

    proptest! {
        #[test]
        fn every_example_is_in_one_batch_and_the_budget_is_kept(
            pairs in prop::collection::vec((0usize..40, 0usize..40), 0..80),
            budget in 0usize..200,
            seed: u64,
            epoch: u64,
        ) {
            let lengths = lengths(&pairs);
            let in_order: Vec<Vec<usize>> = sequential(&lengths, budget).into_iter().map(Iterator::collect).collect();
            prop_assert!(in_order.iter().flatten().copied().eq(0..pairs.len()));
            for batches in [shuffled(&lengths, budget, seed, epoch), by_length(&lengths, budget), in_order] {
                let mut seen: Vec<usize> = batches.iter().flatten().copied().collect();
                let restored = in_original_order(&batches, seen.clone());
                prop_assert!(restored.into_iter().eq(0..pairs.len()));
                seen.sort_unstable();
                prop_assert!(seen.into_iter().eq(0..pairs.len()));
                for batch in batches {
                    let positions: usize = batch.iter().map(|&example| lengths[example].positions()).sum();
                    prop_assert!(!batch.is_empty() && (batch.len() == 1 || positions <= budget));
                }
            }
        }
    }
}
