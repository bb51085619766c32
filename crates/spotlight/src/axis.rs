//! The dynamic axis: sequences of any lengths, packed one after another.
//!
//! A batch of sequences is one table of rows, position after position, and an [`Axis`] that knows where each sequence begins and ends. Nothing is
//! padded, so nothing has to be masked away again: a sum or a softmax *over the axis* runs over exactly the positions that exist.
//!
//! ```
//! use spotlight::axis::Axis;
//!
//! let axis = Axis::new([2, 0, 3]);
//! assert_eq!((axis.items(), axis.rows()), (3, 5));
//! assert_eq!(axis.range(2), 2..5);
//! ```

use std::ops::Range;
use std::sync::Arc;

use spotlight_kernels::pairs::Span;

/// Lengths of the sequences of a batch, and what follows from them. Cloning is cheap.
#[derive(Clone)]
pub struct Axis(Arc<Inner>);

struct Inner {
    lengths: Vec<usize>,
    offsets: Vec<usize>,
    /// Items from the longest to the shortest; equal ones in their own order.
    order: Vec<usize>,
    /// Sequences alive at each step.
    counts: Vec<usize>,
    /// The packed row of each row in step order, reading forwards and backwards.
    forwards: Vec<usize>,
    backwards: Vec<usize>,
}

impl Axis {
    /// An axis for sequences of these lengths; 0 is allowed.
    pub fn new(lengths: impl Into<Vec<usize>>) -> Self {
        let lengths = lengths.into();
        let mut offsets = Vec::with_capacity(lengths.len() + 1);
        offsets.push(0);
        let mut total = 0;
        for &length in &lengths {
            total += length;
            offsets.push(total);
        }
        let mut order: Vec<usize> = (0..lengths.len()).collect();
        order.sort_by_key(|&item| std::cmp::Reverse(lengths[item]));
        let steps = order.first().map_or(0, |&item| lengths[item]);
        let mut counts = Vec::with_capacity(steps);
        let (mut forwards, mut backwards) = (Vec::with_capacity(total), Vec::with_capacity(total));
        let mut alive = order.len();
        for step in 0..steps {
            while alive > 0 && lengths[order[alive - 1]] <= step {
                alive -= 1;
            }
            counts.push(alive);
            for &item in &order[..alive] {
                forwards.push(offsets[item] + step);
                backwards.push(offsets[item + 1] - 1 - step);
            }
        }
        Axis(Arc::new(Inner { lengths, offsets, order, counts, forwards, backwards }))
    }

    /// Number of sequences.
    pub fn items(&self) -> usize {
        self.0.lengths.len()
    }

    /// Number of positions in all.
    pub fn rows(&self) -> usize {
        self.0.offsets[self.items()]
    }

    /// The length of each sequence.
    pub fn lengths(&self) -> &[usize] {
        &self.0.lengths
    }

    /// Where each sequence begins, and at the end the number of rows.
    pub fn offsets(&self) -> &[usize] {
        &self.0.offsets
    }

    /// The rows of one sequence.
    pub fn range(&self, item: usize) -> Range<usize> {
        self.0.offsets[item]..self.0.offsets[item + 1]
    }

    /// The length of the longest sequence.
    pub fn steps(&self) -> usize {
        self.0.counts.len()
    }

    /// Sequences alive at each step; never growing.
    pub fn counts(&self) -> &[usize] {
        &self.0.counts
    }

    /// The items from the longest to the shortest: the order of the rows within a step.
    pub fn order(&self) -> &[usize] {
        &self.0.order
    }

    /// *Step order*: for each row of step 0, then of step 1, ..., the packed row it stands for. Reversed, the sequences are read from their ends.
    pub fn step_rows(&self, reversed: bool) -> &[usize] {
        if reversed { &self.0.backwards } else { &self.0.forwards }
    }

    /// The item of each packed row.
    pub fn item_of_rows(&self) -> Vec<usize> {
        self.0.lengths.iter().enumerate().flat_map(|(item, &n)| std::iter::repeat_n(item, n)).collect()
    }

    /// The first few lengths, for messages.
    pub(crate) fn excerpt(&self) -> Vec<usize> {
        self.0.lengths.iter().copied().take(8).collect()
    }
}

impl PartialEq for Axis {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || self.0.lengths == other.0.lengths
    }
}

impl Eq for Axis {}

impl std::fmt::Debug for Axis {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Axis({:?})", self.0.lengths)
    }
}

/// The pairs of a query axis and a key axis: what attention weights live on.
///
/// Every query row meets every key row of its own sequence. The pairs of a query stand together, so that [`Pairs::axis`] is an ordinary axis with one
/// item a query, and the softmax over the keys is the softmax over that axis.
///
/// ```
/// use spotlight::axis::{Axis, Pairs};
///
/// let pairs = Pairs::new(&Axis::new([2, 1]), &Axis::new([3, 4])).unwrap();
/// assert_eq!(pairs.axis().lengths(), [3, 3, 4]);
/// ```
#[derive(Clone, Debug)]
pub struct Pairs {
    axis: Axis,
    spans: Arc<Vec<Span>>,
    keys: Axis,
}

impl Pairs {
    /// All queries of each sequence with all keys of the same sequence.
    pub fn new(queries: &Axis, keys: &Axis) -> crate::Result<Self> {
        if queries.items() != keys.items() {
            return Err(crate::Error::Axes { op: "pairs", left: queries.excerpt(), right: keys.excerpt() });
        }
        Ok(Self::for_items(&queries.item_of_rows(), keys))
    }

    /// One query row for each listed item of the key axis.
    ///
    /// # Panics
    /// If an item is not on the key axis.
    pub fn for_items(items: &[usize], keys: &Axis) -> Self {
        let axis = Axis::new(items.iter().map(|&item| keys.lengths()[item]).collect::<Vec<_>>());
        let spans = items
            .iter()
            .zip(axis.offsets())
            .map(|(&item, &pair)| Span { first: keys.offsets()[item], count: keys.lengths()[item], pair })
            .collect();
        Pairs { axis, spans: Arc::new(spans), keys: keys.clone() }
    }

    /// The pairs as an axis: one item per query row, one position per key row it meets.
    pub fn axis(&self) -> &Axis {
        &self.axis
    }

    /// The key axis.
    pub fn keys(&self) -> &Axis {
        &self.keys
    }

    /// Query rows.
    pub fn queries(&self) -> usize {
        self.spans.len()
    }

    /// For each query row, the item of the key axis that it meets; of a query that meets an empty one, any that begins there.
    pub fn items(&self) -> Vec<usize> {
        let item = |span: &Span| self.keys.offsets()[..self.keys.items()].partition_point(|&first| first <= span.first).saturating_sub(1);
        self.spans.iter().map(item).collect()
    }

    /// For each query row, its key rows and its first pair.
    pub fn spans(&self) -> &[Span] {
        &self.spans
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn step_order_puts_the_longest_first_and_visits_every_row_once() {
        let axis = Axis::new([1, 3, 0, 2]);
        assert_eq!(axis.order(), [1, 3, 0, 2]);
        assert_eq!(axis.counts(), [3, 2, 1]);
        assert_eq!(axis.step_rows(false), [1, 4, 0, 2, 5, 3]);
        assert_eq!(axis.step_rows(true), [3, 5, 0, 2, 4, 1]);
    }

    #[test]
    fn nothing_is_an_axis_too() {
        for axis in [Axis::new([]), Axis::new([0, 0])] {
            assert_eq!((axis.rows(), axis.steps()), (0, 0));
        }
    }

    #[test]
    fn pairs_know_their_items() {
        let keys = Axis::new([2, 0, 3, 1]);
        assert_eq!(Pairs::for_items(&[3, 2, 0, 2], &keys).items(), [3, 2, 0, 2]);
    }

    #[test]
    fn pairs_need_the_same_items() {
        assert!(Pairs::new(&Axis::new([1]), &Axis::new([1, 1])).is_err());
    }
}
