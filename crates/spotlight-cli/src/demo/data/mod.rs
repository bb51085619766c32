//! What the demos learn from, written by us: small worlds in which attention has something to
//! find.
//!
//! | module | task | where the attention should go |
//! |---|---|---|
//! | [`dates`] | verbose dates to ISO dates, by characters | to the year, then the month, then the day |
//! | [`translate`] | eight English sentences to French | from each French word to the English one |
//! | [`tweets`] | positive or negative? | to the words that decide, not to those that mislead |
//! | [`answers`] | which sentence answers the question? | to what is asked for |
//! | [`digits`] | does a bag of pictures hold a nine? | to the nine |
//!
//! Nothing here knows of models. Each generator is a pure function of its seed, and what it returns
//! as the [`Split`]'s test part does not occur in the train part.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

pub mod answers;
pub mod dates;
pub mod digits;
pub mod translate;
pub mod tweets;

/// Examples to learn from, and others to be tested on.
#[derive(Clone, Debug, PartialEq)]
pub struct Split<T> {
    /// What a model may see.
    pub train: Vec<T>,
    /// What it must not have seen.
    pub test: Vec<T>,
}

fn seeded(seed: u64) -> ChaCha8Rng {
    ChaCha8Rng::seed_from_u64(seed)
}

/// Any one of a list that is not empty; all lists here are constants.
fn pick<'a, T>(rng: &mut ChaCha8Rng, list: &'a [T]) -> &'a T {
    &list[rng.random_range(0..list.len())]
}
