//! Attention that never builds its weights: `softmax(scale Q Kᵀ) V`, block by block.
//!
//! The weights of a query over `n` keys are needed only as a sum, and a softmax can be summed as the keys come by: keep the largest score so far,
//! the sum of `e^(score - largest)` and the sum of the values weighted so; when a larger score turns up, scale both sums down (Milakov and Gimelshein,
//! 2018; as blocks, Dao et al., 2022). What is kept for the backward pass is the result and, for each query and head, the largest score and one over the
//! sum: memory grows with the length, not with its square. The backward pass computes the weights again, block by block.
//!
//! # Layout
//!
//! A row holds `heads` vectors side by side. Every query meets the keys of its own sequence; a causal query `i` those up to the key `i`, counted from
//! the beginning of both. A query with no key gets zeros; one with a score that is NaN gets NaN.
//!
//! Sixteen queries stand side by side in the lanes of two vector registers, so that everything a softmax does to a query (largest, sum, scaling) is
//! done to sixteen at once, with no step across lanes:
//!
//! ```text
//! Sᵀ = K Qᵀ        6 keys x 16 queries a tile       the left side holds the keys, six together
//! Oᵀ += Vᵀ Pᵀ      6 features x 16 queries          Pᵀ is already the right side that this product needs
//! ```
//!
//! The backward pass has `Sᵀ`, `dPᵀ = V dOᵀ` and `dQᵀ += Kᵀ dSᵀ` in the same form; `dV += Pᵀ dO` and `dK += dSᵀ Q` sum over queries and read `Pᵀ` and `dSᵀ` as
//! they are, six keys at a time.
//!
//! # Threads
//!
//! Any number of threads gives the same bits. Forward, the work may be cut by their number, because sixteen queries are computed in the same way wherever they
//! are. Backward, sums over queries are formed in an order that the cut decides, so there it is cut by the shapes alone.

mod backward;
mod forward;
mod tile;

pub use backward::{Gradients, backward, workspace};
pub use forward::forward;

use crate::Float;

/// What attends to what.
#[derive(Clone, Copy, Debug)]
pub struct Layout<'a, T> {
    /// Vectors side by side in a row.
    pub heads: usize,
    /// Features of a query and a key, one head.
    pub size: usize,
    /// Features of a value, one head.
    pub value_size: usize,
    /// Factor of the scores.
    pub scale: T,
    /// Whether query `i` sees the keys `0..=i` alone.
    pub causal: bool,
    /// Where the queries of each sequence begin, and at the end their number.
    pub queries: &'a [usize],
    /// Where the keys of each sequence begin, and at the end their number.
    pub keys: &'a [usize],
}

/// The tables attention reads, all heads side by side.
#[derive(Clone, Copy, Debug)]
pub struct Tables<'a, T> {
    /// One row of `heads * size` a query.
    pub queries: &'a [T],
    /// One row of `heads * size` a key.
    pub keys: &'a [T],
    /// One row of `heads * value_size` a key.
    pub values: &'a [T],
}

/// Numbers kept for each query and head: the largest score, and one over the sum of `e^(score - largest)` (0 without keys).
pub const KEPT: usize = 2;

impl<T: Float> Layout<'_, T> {
    /// Numbers of a row of queries or keys.
    fn width(&self) -> usize {
        self.heads * self.size
    }

    /// Numbers of a row of values.
    fn value_width(&self) -> usize {
        self.heads * self.value_size
    }

    fn items(&self) -> impl Iterator<Item = Item> + '_ {
        self.queries.windows(2).zip(self.keys.windows(2)).map(|(q, k)| Item {
            query: q[0],
            queries: q[1] - q[0],
            key: k[0],
            keys: k[1] - k[0],
        })
    }

    /// How many of the item's keys are of use to the query `i`, counted from the item's first.
    fn seen(&self, item: Item, i: usize) -> usize {
        if self.causal { item.keys.min(i + 1) } else { item.keys }
    }

    fn check(&self, tables: Tables<T>) {
        let (queries, keys) = (self.queries.last().copied().unwrap_or(0), self.keys.last().copied().unwrap_or(0));
        assert!(self.heads > 0 && self.size > 0 && self.value_size > 0, "heads, and features in them");
        assert_eq!(self.queries.len(), self.keys.len(), "as many sequences of queries as of keys");
        assert_eq!(tables.queries.len(), queries * self.width(), "the table of queries");
        assert_eq!(tables.keys.len(), keys * self.width(), "the table of keys");
        assert_eq!(tables.values.len(), keys * self.value_width(), "the table of values");
    }
}

/// One sequence of queries with its sequence of keys: first rows and their numbers.
#[derive(Clone, Copy, Debug)]
struct Item {
    query: usize,
    queries: usize,
    key: usize,
    keys: usize,
}

/// Cuts the next `len` elements off the front of what is left.
fn cut<'a, T>(rest: &mut &'a mut [T], len: usize) -> &'a mut [T] {
    let (front, back) = std::mem::take(rest).split_at_mut(len);
    *rest = back;
    front
}
