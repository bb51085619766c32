//! Which pairs may not be.
//!
//! Sequences of different lengths need no mask here. A mask says what its author means: "do not look ahead", "only nearby", "never at these positions".

use spotlight_kernels::Float;

use crate::axis::{Axis, Pairs};
use crate::tape::{Tape, Var};
use crate::{Error, Result};

/// For every pair, whether the query may look at the key.
///
/// ```
/// use spotlight::attention::Mask;
/// use spotlight::axis::{Axis, Pairs};
///
/// let axis = Axis::new([3]);
/// let pairs = Pairs::new(&axis, &axis)?;
/// let mask = Mask::causal(&pairs, &Mask::positions(&axis))?.and(&Mask::keys(&pairs, &[true, false, true])?)?;
/// assert_eq!(mask.allowed(), [true, false, false, true, false, false, true, false, true]);
/// # Ok::<(), spotlight::Error>(())
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Mask(Vec<bool>);

impl Mask {
    /// One answer a pair.
    pub fn pairs(pairs: &Pairs, allowed: Vec<bool>) -> Result<Self> {
        expect("mask over pairs", pairs.axis().rows(), allowed.len())?;
        Ok(Mask(allowed))
    }

    /// One answer a row of the memory: positions that nobody may look at.
    pub fn keys(pairs: &Pairs, allowed: &[bool]) -> Result<Self> {
        expect("mask over keys", pairs.keys().rows(), allowed.len())?;
        Ok(Mask(pairs.spans().iter().flat_map(|span| &allowed[span.first..span.first + span.count]).copied().collect()))
    }

    /// Query `i` of a sequence may look at keys `0..=i`. `positions` holds the `i` of each query.
    pub fn causal(pairs: &Pairs, positions: &[usize]) -> Result<Self> {
        Self::by_position(pairs, positions, |i, j| j <= i)
    }

    /// Query `i` may look at keys at most `half_width` away from `i`.
    pub fn window(pairs: &Pairs, positions: &[usize], half_width: usize) -> Result<Self> {
        Self::by_position(pairs, positions, |i, j| i.abs_diff(j) <= half_width)
    }

    fn by_position(pairs: &Pairs, positions: &[usize], allowed: impl Fn(usize, usize) -> bool) -> Result<Self> {
        expect("mask by position", pairs.queries(), positions.len())?;
        let keys = |(span, &i): (&spotlight_kernels::pairs::Span, &usize)| (0..span.count).map(|j| allowed(i, j)).collect::<Vec<_>>();
        Ok(Mask(pairs.spans().iter().zip(positions).flat_map(keys).collect()))
    }

    /// What both allow.
    pub fn and(&self, other: &Mask) -> Result<Self> {
        expect("two masks", self.0.len(), other.0.len())?;
        Ok(Mask(self.0.iter().zip(&other.0).map(|(&a, &b)| a && b).collect()))
    }

    /// One answer a pair.
    pub fn allowed(&self) -> &[bool] {
        &self.0
    }

    /// The place of each row in its own sequence.
    pub fn positions(axis: &Axis) -> Vec<usize> {
        axis.lengths().iter().flat_map(|&n| 0..n).collect()
    }

    /// The scores, −∞ where the pair may not be.
    pub(super) fn apply<T: Float>(&self, tape: &Tape<T>, scores: Var) -> Result<Var> {
        let (rows, cols) = tape.shape(scores);
        expect("mask over scores", rows, self.0.len())?;
        let mut value = tape.to_vec(scores);
        for (row, &allowed) in value.chunks_exact_mut(cols.max(1)).zip(&self.0) {
            if !allowed {
                row.fill(T::NEG_INFINITY);
            }
        }
        let allowed = self.0.clone();
        Ok(tape.push(value, rows, cols, tape.axis(scores), &[scores], |_| {
            Box::new(move |back, dy| {
                let dx = back.grads.of(scores);
                let rows = dx.chunks_exact_mut(cols.max(1)).zip(dy.chunks_exact(cols.max(1)));
                for ((dx, dy), _) in rows.zip(&allowed).filter(|(_, allowed)| **allowed) {
                    spotlight_kernels::map::add_assign(dx, dy);
                }
            })
        }))
    }
}

fn expect(op: &'static str, expected: usize, got: usize) -> Result<()> {
    if expected == got { Ok(()) } else { Err(Error::Shape { op, expected: format!("{expected} answers"), got: (got, 1) }) }
}
