//! Threads share a batch.
//!
//! A batch is cut into shards; each runs forward and backward on its own, with its own tape, memory and gradients. The gradients are then
//! added in the order of the shards. How many shards there are is a setting of the run; how many threads work on them changes nothing but the time: the
//! same bits come out.

use std::cmp::Reverse;

use rayon::prelude::*;
use spotlight_kernels::Float;

use crate::params::{Gradients, Params};
use crate::tape::{Pool, Tape, Var};
use crate::text::batch::Lengths;
use crate::{Error, Result};

/// Deals the examples of a batch to `parts` shards of nearly equal work: those with the longest target first, equal ones by their source, back and forth.
pub fn deal<E: Copy>(examples: &[E], parts: usize, lengths: impl Fn(E) -> Lengths) -> Vec<Vec<E>> {
    let mut sorted: Vec<E> = examples.to_vec();
    sorted.sort_by_key(|&e| {
        let Lengths { source, target } = lengths(e);
        Reverse((target, source))
    });
    let mut dealt = vec![Vec::new(); parts];
    for (round, hand) in sorted.chunks(parts.max(1)).enumerate() {
        for (place, &example) in hand.iter().enumerate() {
            dealt[if round % 2 == 0 { place } else { parts - 1 - place }].push(example);
        }
    }
    dealt
}

/// What a shard keeps from batch to batch.
#[derive(Debug)]
struct Shard<T> {
    gradients: Gradients<T>,
    pool: Pool<T>,
}

/// The shards of a run.
#[derive(Debug)]
pub struct Shards<T> {
    shards: Vec<Shard<T>>,
}

impl<T: Float> Shards<T> {
    /// `count` shards for these parameters.
    pub fn new(params: &Params<T>, count: usize) -> Self {
        let make = |_| Shard { gradients: Gradients::new(params), pool: Pool::new() };
        Shards { shards: (0..count.max(1)).map(make).collect() }
    }

    /// How many.
    pub fn len(&self) -> usize {
        self.shards.len()
    }

    /// Whether there are none; never.
    pub fn is_empty(&self) -> bool {
        self.shards.is_empty()
    }

    /// Runs `loss` for every part, one a shard, and returns the sum of the losses and of the gradients.
    ///
    /// `seed` should be new for every batch; each shard derives its own from it. There may be fewer parts than shards, but not more.
    pub fn gradients<P: Sync>(
        &mut self,
        params: &Params<T>,
        seed: u64,
        parts: &[P],
        loss: impl Fn(&Tape<T>, &P) -> Result<Var> + Sync,
    ) -> Result<(f64, &mut Gradients<T>)> {
        if parts.len() > self.shards.len() {
            let (what, got) = ("the number of parts of a batch".into(), parts.len().to_string());
            return Err(Error::Value { what, got, expected: format!("at most {}, one a shard", self.shards.len()) });
        }
        let used = parts.len().max(1);
        let losses = self.shards[..used]
            .par_iter_mut()
            .zip(parts.par_iter())
            .enumerate()
            .map(|(i, (shard, part))| {
                shard.gradients.begin();
                // A prime far from powers of two keeps the shards' seeds apart.
                let seed = seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(i as u64);
                let tape = Tape::training_in(params, &mut shard.gradients, seed, &shard.pool);
                let loss = loss(&tape, part)?;
                tape.backward(loss)
            })
            .collect::<Result<Vec<f64>>>()?;
        let (first, others) = self.shards[..used].split_at_mut(1);
        if losses.is_empty() {
            first[0].gradients.begin();
        }
        for other in others.iter() {
            first[0].gradients.add_touched(&other.gradients);
        }
        Ok((losses.iter().sum(), &mut first[0].gradients))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::params::Init;

    #[test]
    fn shards_get_equal_work() {
        let examples: Vec<(usize, usize)> = (0..64).map(|i| (8 + i * 5 % 8, 8 + i * i % 7)).collect();
        for parts in [1, 2, 3, 4] {
            let dealt = deal(&examples, parts, |(source, target)| Lengths { source, target });
            let mut all = dealt.concat();
            all.sort_unstable();
            let mut expected = examples.clone();
            expected.sort_unstable();
            assert_eq!(all, expected);
            let sums =
                |side: fn(&(usize, usize)) -> usize| dealt.iter().map(|part| part.iter().map(side).sum::<usize>()).collect::<Vec<_>>();
            for sums in [sums(|e| e.0), sums(|e| e.1)] {
                let (least, most) = (sums.iter().min().unwrap(), sums.iter().max().unwrap());
                assert!(most - least <= 15, "{parts} parts: {sums:?}");
            }
        }
        assert_eq!(deal(&[7, 9], 2, |x| Lengths { source: x, target: 0 }), [[9], [7]]);
    }

    #[test]
    fn nothing_of_a_step_is_left_in_the_next() {
        let mut params = Params::<f64>::new(0);
        let table = params.add("table", &[3, 1], Init::Ones);
        let other = params.add("other", &[1], Init::Ones);
        let mut shards = Shards::new(&params, 2);
        let mut step = |parts: &[(u32, f64)]| {
            let loss = |tape: &Tape<f64>, &(row, factor): &(u32, f64)| {
                let picked = tape.sum_all(tape.embedding(table, &[row])?)?;
                if factor == 0.0 { Ok(picked) } else { tape.add(picked, tape.scale(tape.param(other), factor)) }
            };
            shards.gradients(&params, 0, parts, loss).unwrap().1.flat().to_vec()
        };
        // The second shard alone touches row 1, and the second parameter.
        assert_eq!(step(&[(0, 0.0), (1, 5.0)]), [1.0, 1.0, 0.0, 5.0]);
        assert_eq!(step(&[(2, 0.0), (2, 0.0)]), [0.0, 0.0, 2.0, 0.0]);
        assert_eq!(step(&[(2, 1.0), (0, 2.0)]), [1.0, 0.0, 1.0, 3.0]);
        assert_eq!(step(&[(1, 0.0)]), [0.0, 1.0, 0.0, 0.0]);
    }
}
