//! Packed operands, and the small products that stay in registers.
//!
//! *Lanes* are 16 numbers side by side, *groups* 6: a tile of sums is 6 x 16. A group or a row of lanes at an edge is filled up with zeros.

use crate::Float;

/// Numbers side by side in a right side.
pub(super) const LANES: usize = 16;
/// Rows of a left side that are handled together.
pub(super) const GROUP: usize = 6;

pub(super) type Lanes<T> = [T; LANES];
/// The sums of a tile.
pub(super) type Tile<T> = [Lanes<T>; GROUP];

/// `len` filled up to a multiple of `unit`.
pub(super) fn padded(len: usize, unit: usize) -> usize {
    len.div_ceil(unit) * unit
}

/// A head's part of some rows: rows of `size` numbers, `stride` apart.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rows<'a, T> {
    data: &'a [T],
    count: usize,
    size: usize,
    stride: usize,
}

impl<'a, T> Rows<'a, T> {
    /// The rows `first..first + count` of `table`, whose rows hold several heads of `size` numbers.
    pub(super) fn new(table: &'a [T], stride: usize, first: usize, count: usize, head: usize, size: usize) -> Self {
        let data = if count == 0 { &[][..] } else { &table[first * stride + head * size..] };
        Rows { data, count, size, stride }
    }

    #[inline(always)]
    pub(super) fn count(&self) -> usize {
        self.count
    }

    #[inline(always)]
    pub(super) fn row(&self, i: usize) -> &'a [T] {
        &self.data[i * self.stride..][..self.size]
    }

    /// The rows `from..from + count` of these.
    #[inline(always)]
    pub(super) fn part(&self, from: usize, count: usize) -> Self {
        debug_assert!(from + count <= self.count);
        Rows { data: &self.data[from * self.stride..], count, ..*self }
    }

    /// The rows `from..from + N`, those that do not exist as empty ones, and how many do.
    #[inline(always)]
    fn some<const N: usize>(&self, from: usize) -> ([&'a [T]; N], usize) {
        let here = N.min(self.count - from);
        (std::array::from_fn(|i| if i < here { self.row(from + i) } else { &[] }), here)
    }
}

/// `N` rows as columns: `to[p][i] = rows[i][p]`.
#[inline(always)]
fn as_columns<T: Float, const N: usize>(rows: Rows<T>, from: usize, to: &mut [[T; N]]) {
    let (some, here) = rows.some::<N>(from);
    if here == N {
        let some = some.map(|row| &row[..to.len()]);
        for (p, to) in to.iter_mut().enumerate() {
            for i in 0..N {
                to[i] = some[i][p];
            }
        }
    } else {
        to.fill([T::ZERO; N]);
        for (i, row) in some[..here].iter().enumerate() {
            for (to, &x) in to.iter_mut().zip(*row) {
                to[i] = x;
            }
        }
    }
}

/// Rows as a left side, six together: for each group, `size` times the numbers of its six rows.
#[inline(always)]
pub(super) fn pack_groups<T: Float>(rows: Rows<T>, to: &mut [[T; GROUP]]) {
    for (to, from) in to.chunks_exact_mut(rows.size).zip((0..rows.count).step_by(GROUP)) {
        as_columns(rows, from, to);
    }
}

/// Columns as a left side, six together: for each group of features, row after row the row's six numbers.
#[inline(always)]
pub(super) fn pack_column_groups<T: Float>(rows: Rows<T>, to: &mut [[T; GROUP]]) {
    for i in 0..rows.count {
        let (whole, rest) = rows.row(i).as_chunks::<GROUP>();
        let mut to = to[i..].iter_mut().step_by(rows.count);
        for (from, to) in whole.iter().zip(&mut to) {
            *to = *from;
        }
        if let (Some(to), false) = (to.next(), rest.is_empty()) {
            *to = std::array::from_fn(|c| if c < rest.len() { rest[c] } else { T::ZERO });
        }
    }
}

/// Sixteen rows (fewer at the end) as a right side: for each feature, sixteen lanes, times `scale`.
#[inline(always)]
pub(super) fn pack_lanes<T: Float>(rows: Rows<T>, from: usize, scale: T, to: &mut [Lanes<T>]) {
    as_columns(rows, from, to);
    for to in to {
        for x in to {
            *x *= scale;
        }
    }
}

/// Sixteen rows (fewer at the end) as the right side of a sum over rows: for each sixteen features, row after row, times `scale`.
#[inline(always)]
pub(super) fn pack_feature_lanes<T: Float>(rows: Rows<T>, from: usize, scale: T, to: &mut [[Lanes<T>; LANES]]) {
    for (to, at) in to.iter_mut().zip((0..rows.size).step_by(LANES)) {
        for (i, to) in to.iter_mut().enumerate() {
            *to = [T::ZERO; LANES];
            if from + i < rows.count {
                for (to, &x) in to.iter_mut().zip(&rows.row(from + i)[at..]) {
                    *to = scale * x;
                }
            }
        }
    }
}

/// `sums + A B`, for six packed rows of `A` and sixteen packed columns of `B`.
#[inline(always)]
pub(super) fn tile<T: Float, const FMA: bool>(mut sums: Tile<T>, a: &[[T; GROUP]], b: &[Lanes<T>]) -> Tile<T> {
    for (a, b) in a.iter().zip(b) {
        for i in 0..GROUP {
            for j in 0..LANES {
                sums[i][j] = T::fma::<FMA>(a[i], b[j], sums[i][j]);
            }
        }
    }
    sums
}

/// `sums + A B` for a left side of six rows and sixteen columns that lies as it was computed.
#[inline(always)]
pub(super) fn square<T: Float, const FMA: bool>(mut sums: Tile<T>, a: &Tile<T>, b: &[Lanes<T>; LANES]) -> Tile<T> {
    for p in 0..LANES {
        for i in 0..GROUP {
            for j in 0..LANES {
                sums[i][j] = T::fma::<FMA>(a[i][p], b[p][j], sums[i][j]);
            }
        }
    }
    sums
}

/// `to = A B`, for packed groups of rows of `A` and sixteen packed columns of `B`.
#[inline(always)]
pub(super) fn multiply<T: Float, const FMA: bool>(a: &[[T; GROUP]], b: &[Lanes<T>], to: &mut [Lanes<T>]) {
    for (to, a) in to.as_chunks_mut::<GROUP>().0.iter_mut().zip(a.chunks_exact(b.len())) {
        *to = tile::<T, FMA>([[T::ZERO; LANES]; GROUP], a, b);
    }
}

/// Takes from sixteen causal queries the keys behind them. The rows are the scores of the keys from `key` on; the first query sees no key beyond `diagonal`, each
/// next one a key more.
#[inline(always)]
pub(super) fn hide<T: Float>(scores: &mut [Lanes<T>], key: usize, diagonal: usize) {
    for (i, scores) in scores.iter_mut().enumerate().skip((diagonal + 1).saturating_sub(key)) {
        let behind = key + i - diagonal;
        scores[..behind.min(LANES)].fill(T::NEG_INFINITY);
    }
}
