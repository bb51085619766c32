//! Matrix product: `C = A B`, `C += A B` or `C = row + A B`, for matrices of any strides.
//!
//! The right side is cut into panels of [`NR`] columns, the left side into panels of up to [`MR`] rows, both stored so that the inner
//! loop reads them in order. A tile of `MR x NR` sums then stays in registers while the common dimension runs by. The inner loop is plain
//! Rust over fixed arrays; the compiler turns it into twelve vector accumulators. With AVX-512 a row of a tile is one register instead of two, and a tile has up to [`MR_WIDEST`] rows.
//! Few rows would leave the processor waiting for its own sums, so they meet several panels at once. Every number of `C` is the same sum in the same order whatever the tile, so that all of them agree to the bit.
//!
//! Recurrences multiply by the same weights at every step, and packing them each time costs as much as a third of the product. So a right side
//! can be packed once, as [`Packed`], and used many times. `docs/decisions/product.md` compares this with libraries.

use crate::Float;
use crate::float::Scratch;
#[cfg(feature = "time-products")]
use crate::timing::Timer;

/// Columns of a panel of the right side.
pub const NR: usize = 16;
/// Most rows of a panel of the left side.
pub const MR: usize = 6;
/// The same where a register holds a row of a tile.
pub const MR_WIDEST: usize = 12;
/// Length of the common dimension handled at once: a panel of the right side is then as large as the first-level cache.
pub const KC: usize = 512;
/// Rows handled at once: the packed left side then fits the second-level cache.
pub const MC: usize = 96;
/// Columns packed at once when the right side is not packed yet.
pub const NC: usize = 1024;

/// Bytes of a cache line.
const LINE: usize = 64;

/// A matrix somewhere inside a slice.
#[derive(Clone, Copy, Debug)]
pub struct View<'a, T> {
    data: &'a [T],
    rows: usize,
    cols: usize,
    row_stride: usize,
    col_stride: usize,
}

impl<'a, T: Float> View<'a, T> {
    /// `rows x cols` numbers, row after row.
    pub fn new(data: &'a [T], rows: usize, cols: usize) -> Self {
        Self::strided(data, rows, cols, cols)
    }

    /// Rows of `cols` numbers that start `row_stride` apart.
    ///
    /// # Panics
    /// If the last row would end outside `data`.
    pub fn strided(data: &'a [T], rows: usize, cols: usize, row_stride: usize) -> Self {
        assert!(rows == 0 || (rows - 1) * row_stride + cols <= data.len(), "a view outside its data");
        View { data, rows, cols, row_stride, col_stride: 1 }
    }

    /// The transposed matrix; nothing moves.
    pub fn t(self) -> Self {
        View { rows: self.cols, cols: self.rows, row_stride: self.col_stride, col_stride: self.row_stride, ..self }
    }

    /// Number of rows.
    pub fn rows(&self) -> usize {
        self.rows
    }

    /// Number of columns.
    pub fn cols(&self) -> usize {
        self.cols
    }

    /// One number.
    ///
    /// # Panics
    /// If there is none there.
    pub fn get(&self, row: usize, col: usize) -> T {
        assert!(row < self.rows && col < self.cols, "a number outside a view");
        self.data[self.at(row, col)]
    }

    #[inline(always)]
    fn at(&self, row: usize, col: usize) -> usize {
        row * self.row_stride + col * self.col_stride
    }
}

/// A right side, packed for repeated products.
#[derive(Clone, Debug, Default)]
pub struct Packed<T> {
    /// From `start` on panel after panel; in a panel, row after row of `NR` numbers, the last panel filled up with zeros.
    data: Vec<T>,
    /// Where a cache line begins, so that no register is filled from two of them.
    start: usize,
    k: usize,
    n: usize,
}

impl<T: Float> Packed<T> {
    /// Packs `b` (`k x n`).
    pub fn new(b: View<T>) -> Self {
        let mut packed = Packed { data: Vec::new(), start: 0, k: 0, n: 0 };
        packed.fill(b);
        packed
    }

    /// Packs `b` into the memory of an earlier packing.
    pub fn fill(&mut self, b: View<T>) {
        #[cfg(feature = "time-products")]
        let _timer = Timer::start();
        (self.k, self.n) = (b.rows, b.cols);
        let len = b.cols.div_ceil(NR) * NR * b.rows;
        self.data.resize(len + LINE / T::BYTES, T::ZERO);
        self.start = self.data.as_ptr().align_offset(LINE).min(LINE / T::BYTES);
        pack_panels(b, 0, b.rows, 0, b.cols, &mut self.data[self.start..][..len]);
    }

    /// Columns of the packed matrix.
    pub fn cols(&self) -> usize {
        self.n
    }

    /// Rows of the packed matrix.
    pub fn rows(&self) -> usize {
        self.k
    }
}

simd! {
    /// Packs columns `j0..j1` of the rows `k0..k0 + kc` of `b`, panel after panel.
    fn pack_panels<T>(b: View<'_, T>, k0: usize, kc: usize, j0: usize, j1: usize, to: &mut [T]) {
        for (panel, j) in to.chunks_exact_mut((kc * NR).max(1)).zip((j0..j1).step_by(NR)) {
            let width = NR.min(j1 - j);
            let (rows, _) = panel.as_chunks_mut::<NR>();
            if width < NR {
                // The last panel, filled up with zeros.
                for (p, row) in rows.iter_mut().enumerate() {
                    for (c, x) in row.iter_mut().enumerate() {
                        *x = if c < width { b.data[b.at(k0 + p, j + c)] } else { T::ZERO };
                    }
                }
            } else if b.col_stride == 1 {
                for (p, row) in rows.iter_mut().enumerate() {
                    if let Some(from) = b.data[b.at(k0 + p, j)..].first_chunk::<NR>() {
                        *row = *from;
                    }
                }
            } else {
                pack_transposed(b, k0, j, rows);
            }
        }
    }
}

/// Packs a full panel whose columns stand in memory as rows (`row_stride` is 1, as in every view that has been turned): a transposition, eight numbers of each column at a time.
#[inline(always)]
fn pack_transposed<T: Float>(b: View<T>, k0: usize, j: usize, rows: &mut [[T; NR]]) {
    const STEP: usize = 8;
    let (blocks, rest) = rows.as_chunks_mut::<STEP>();
    let mut p = k0;
    for block in blocks {
        for c in 0..NR {
            if let Some(from) = b.data[b.at(p, j + c)..].first_chunk::<STEP>() {
                for (row, &x) in block.iter_mut().zip(from) {
                    row[c] = x;
                }
            }
        }
        p += STEP;
    }
    for row in rest {
        for (c, x) in row.iter_mut().enumerate() {
            *x = b.data[b.at(p, j + c)];
        }
        p += 1;
    }
}

/// Packs `M` rows from `i`, columns `k0..k0 + kc` of `a`, column after column.
#[inline(always)]
fn pack_left<T: Float, const M: usize, const WIDEST: bool>(a: View<T>, i: usize, k0: usize, kc: usize, to: &mut [T]) {
    let (columns, _) = to.as_chunks_mut::<M>();
    if a.row_stride == 1 && a.col_stride > 1 {
        // The rows of a column stand side by side.
        let from = a.data[a.at(i, k0)..].chunks(a.col_stride);
        for (column, from) in columns.iter_mut().zip(from) {
            if let Some(from) = from.first_chunk::<M>() {
                *column = *from;
            }
        }
    } else if a.col_stride == 1 {
        // A transposition, eight numbers of each row at a time.
        const STEP: usize = 8;
        let rows: [&[T]; M] = std::array::from_fn(|r| &a.data[a.at(i + r, k0)..][..kc]);
        let (blocks, rest) = columns.as_chunks_mut::<STEP>();
        for (b, block) in blocks.iter_mut().enumerate() {
            let from = |r: usize| &rows[r].as_chunks::<STEP>().0[b];
            if M >= STEP {
                // The first eight rows and the last eight, which may be some of the same.
                for first in [0, M - STEP] {
                    let turned = T::turned::<WIDEST>(std::array::from_fn(|r| from(first + r)));
                    for (column, turned) in block.iter_mut().zip(turned) {
                        column[first..first + STEP].copy_from_slice(&turned);
                    }
                }
            } else {
                for r in 0..M {
                    for (column, &x) in block.iter_mut().zip(from(r)) {
                        column[r] = x;
                    }
                }
            }
        }
        let done = kc - rest.len();
        for (p, column) in rest.iter_mut().enumerate() {
            *column = std::array::from_fn(|r| rows[r][done + p]);
        }
    } else {
        for r in 0..M {
            for (column, &x) in columns.iter_mut().zip(a.data[a.at(i + r, k0)..].iter().step_by(a.col_stride)) {
                column[r] = x;
            }
        }
    }
}

/// Asks for the cache line of a number that is needed soon.
#[inline(always)]
fn prefetch<T>(x: &T) {
    #[cfg(target_arch = "x86_64")]
    // SAFETY: a hint about an address that is valid, since it comes from a reference; SSE belongs to the baseline.
    unsafe {
        std::arch::x86_64::_mm_prefetch::<{ std::arch::x86_64::_MM_HINT_T0 }>(std::ptr::from_ref(x).cast());
    }
    #[cfg(not(target_arch = "x86_64"))]
    let _ = x;
}

/// What a product is added to.
#[derive(Clone, Copy, Debug)]
pub enum Onto<'r, T> {
    /// Nothing: what was there is overwritten.
    Nothing,
    /// What was there.
    Itself,
    /// One row, the same for all; what was there is overwritten. As a bias is added, without writing it everywhere first.
    Row(&'r [T]),
}

impl<T> From<bool> for Onto<'_, T> {
    fn from(add: bool) -> Self {
        if add { Onto::Itself } else { Onto::Nothing }
    }
}

impl<T: Float> Onto<'_, T> {
    /// The same for the columns behind the first `j`.
    #[inline(always)]
    fn behind(self, j: usize) -> Self {
        match self {
            Onto::Row(row) => Onto::Row(&row[j..]),
            other => other,
        }
    }

    /// For the slice of the common dimension that begins at `k0`: later ones are added to the first.
    fn at(self, k0: usize) -> Self {
        if k0 > 0 { Onto::Itself } else { self }
    }
}

/// Where a product goes: rows `stride` apart.
struct Target<'c, T> {
    data: &'c mut [T],
    stride: usize,
}

/// A tile: `M` packed rows times `P` panels, `panel_stride` apart, of which `cols` columns are kept.
#[inline(always)]
fn tile<T: Float, const M: usize, const P: usize, const FMA: bool, const WIDEST: bool>(
    a: &[T],
    b: &[T],
    panel_stride: usize,
    c: &mut [T],
    stride: usize,
    cols: usize,
    onto: Onto<'_, T>,
) {
    // The target comes from far away while the sums are made.
    for i in 0..M {
        (0..P).for_each(|p| prefetch(&c[i * stride + p * NR]));
        prefetch(&c[i * stride + cols - 1]);
    }
    let a = a.as_chunks::<M>().0;
    let mut sums = [[[T::ZERO; NR]; P]; M];
    if P == 1 {
        // Not by its number, as several are: AVX2 would be a quarter slower.
        for (a, b) in a.iter().zip(b.as_chunks::<NR>().0) {
            for i in 0..M {
                T::fma_lanes::<FMA, WIDEST>(a[i], b, &mut sums[i][0]);
            }
        }
    } else {
        let panels: [&[[T; NR]]; P] = std::array::from_fn(|p| &b[p * panel_stride..].as_chunks::<NR>().0[..a.len()]);
        for (k, a) in a.iter().enumerate() {
            let b: [[T; NR]; P] = std::array::from_fn(|p| panels[p][k]);
            for i in 0..M {
                for p in 0..P {
                    T::fma_lanes::<FMA, WIDEST>(a[i], &b[p], &mut sums[i][p]);
                }
            }
        }
    }
    // Little is left to do in the loops, so that they are unrolled and the sums stay in registers.
    let add = matches!(onto, Onto::Itself);
    let mut under = [[T::ZERO; NR]; P];
    if let Onto::Row(row) = onto {
        for (under, row) in under.iter_mut().zip(row[..cols].chunks(NR)) {
            under[..row.len()].copy_from_slice(row);
        }
    }
    for i in 0..M {
        for ((row, sums), under) in c[i * stride..i * stride + cols].chunks_mut(NR).zip(&sums[i]).zip(&under) {
            if let Some(row) = row.first_chunk_mut::<NR>() {
                let before = if add { *row } else { *under };
                *row = std::array::from_fn(|j| before[j] + sums[j]);
            } else {
                for ((c, &s), &under) in row.iter_mut().zip(sums).zip(under) {
                    *c = if add { *c + s } else { under + s };
                }
            }
        }
    }
}

/// `M` packed rows times the panels of `B` from column `j` on, `P` at once while there are so many; returns the column where it ends.
#[inline(always)]
fn across<T: Float, const M: usize, const P: usize, const FMA: bool, const WIDEST: bool>(
    a: &[T],
    b: &[T],
    panel_stride: usize,
    mut j: usize,
    n: usize,
    c: &mut [T],
    stride: usize,
    onto: Onto<'_, T>,
) -> usize {
    while j + (P - 1) * NR < n {
        tile::<T, M, P, FMA, WIDEST>(
            a,
            &b[j / NR * panel_stride..],
            panel_stride,
            &mut c[j..],
            stride,
            (P * NR).min(n - j),
            onto.behind(j),
        );
        j += P * NR;
    }
    j
}

/// `M` packed rows times the panels of `B`, `n` columns in all: as many at once as there are registers for their sums.
#[inline(always)]
fn across_all<T: Float, const M: usize, const FMA: bool, const WIDEST: bool>(
    a: &[T],
    b: &[T],
    panel_stride: usize,
    n: usize,
    c: &mut [T],
    stride: usize,
    onto: Onto<'_, T>,
) {
    let most = if WIDEST { 2 * MR_WIDEST } else { MR };
    let mut j = 0;
    if 4 * M <= most {
        j = across::<T, M, 4, FMA, WIDEST>(a, b, panel_stride, j, n, c, stride, onto);
    }
    if 2 * M <= most {
        j = across::<T, M, 2, FMA, WIDEST>(a, b, panel_stride, j, n, c, stride, onto);
    }
    across::<T, M, 1, FMA, WIDEST>(a, b, panel_stride, j, n, c, stride, onto);
}

/// The rows `i0..i0 + mc` divided evenly into panels of at most `most`: (first row, rows).
#[inline(always)]
fn row_panels(i0: usize, mc: usize, most: usize) -> impl Iterator<Item = (usize, usize)> {
    let count = mc.div_ceil(most);
    (0..count).map(move |p| {
        let (from, to) = (p * mc / count, (p + 1) * mc / count);
        (i0 + from, to - from)
    })
}

simd! {
    #![widest]
    /// `MC` rows of `A` times the panels of one `KC` slice of `B`, with room for the packed rows in `left`. `panel_stride` is the distance
    /// between panels in `b`.
    fn block<T>(a: View<'_, T>, i0: usize, mc: usize, k0: usize, kc: usize, left: &mut [T], b: &[T], panel_stride: usize, n: usize, c: &mut Target<'_, T>, j0: usize, onto: Onto<'_, T>) {
        let most = if WIDEST { MR_WIDEST } else { MR };
        for (i, mr) in row_panels(i0, mc, most) {
            let to = &mut left[(i - i0) * kc..(i - i0 + mr) * kc];
            by_rows!(mr, WIDEST, M => pack_left::<T, M, WIDEST>(a, i, k0, kc, to));
        }
        // A few panels at a time, which stay near while all rows meet them.
        let near = if mc <= most { n } else if WIDEST { 2 * NR } else { NR };
        for j in (0..n).step_by(near.max(1)) {
            let b = &b[j / NR * panel_stride..];
            for (i, mr) in row_panels(i0, mc, most) {
                let a = &left[(i - i0) * kc..(i - i0 + mr) * kc];
                let out = &mut c.data[i * c.stride + j0 + j..];
                by_rows!(mr, WIDEST, M => across_all::<T, M, FMA, WIDEST>(a, b, panel_stride, near.min(n - j), out, c.stride, onto.behind(j)));
            }
        }
    }
}

/// `C = A B`, or `C += A B` if `true` is given, or onto a row; the rows of `C` start `stride` apart.
///
/// # Panics
/// If the shapes do not fit each other or `c`.
pub fn product<'r, T: Float>(a: View<T>, b: View<T>, c: &mut [T], stride: usize, onto: impl Into<Onto<'r, T>>) {
    let onto = onto.into();
    #[cfg(feature = "time-products")]
    let _timer = Timer::start();
    assert_eq!(a.cols, b.rows, "the common dimension of a product");
    check_target(a.rows, b.cols, c.len(), stride, onto);
    if a.rows == 0 || b.cols == 0 {
        return;
    }
    if a.cols == 0 {
        return clear(a.rows, b.cols, c, stride, onto);
    }
    let mut c = Target { data: c, stride };
    for j0 in (0..b.cols).step_by(NC) {
        let nc = NC.min(b.cols - j0);
        for k0 in (0..a.cols).step_by(KC) {
            let kc = KC.min(a.cols - k0);
            T::with_scratch(Scratch::Right, nc.div_ceil(NR) * NR * kc, |right| {
                pack_panels(b, k0, kc, j0, j0 + nc, right);
                for i0 in (0..a.rows).step_by(MC) {
                    let mc = MC.min(a.rows - i0);
                    T::with_scratch(Scratch::Left, mc * kc, |left| {
                        block(a, i0, mc, k0, kc, left, right, kc * NR, nc, &mut c, j0, onto.at(k0).behind(j0));
                    });
                }
            });
        }
    }
}

/// The same with a right side packed before.
///
/// # Panics
/// If the shapes do not fit each other or `c`.
pub fn product_packed<'r, T: Float>(a: View<T>, b: &Packed<T>, c: &mut [T], stride: usize, onto: impl Into<Onto<'r, T>>) {
    let onto = onto.into();
    #[cfg(feature = "time-products")]
    let _timer = Timer::start();
    assert_eq!(a.cols, b.k, "the common dimension of a product");
    check_target(a.rows, b.n, c.len(), stride, onto);
    if a.rows == 0 || b.n == 0 {
        return;
    }
    if a.cols == 0 {
        return clear(a.rows, b.n, c, stride, onto);
    }
    let mut c = Target { data: c, stride };
    for i0 in (0..a.rows).step_by(MC) {
        let mc = MC.min(a.rows - i0);
        for k0 in (0..a.cols).step_by(KC) {
            let kc = KC.min(a.cols - k0);
            T::with_scratch(Scratch::Left, mc * kc, |left| {
                block(a, i0, mc, k0, kc, left, &b.data[b.start + k0 * NR..], b.k * NR, b.n, &mut c, 0, onto.at(k0));
            });
        }
    }
}

fn check_target<T: Float>(rows: usize, cols: usize, len: usize, stride: usize, onto: Onto<T>) {
    assert!(rows == 0 || cols == 0 || (rows - 1) * stride + cols <= len, "a product of {rows} x {cols} outside its target of {len}");
    if let Onto::Row(row) = onto {
        assert_eq!(row.len(), cols, "the row that a product is added to");
    }
}

/// An empty sum.
fn clear<T: Float>(rows: usize, cols: usize, c: &mut [T], stride: usize, onto: Onto<T>) {
    for i in 0..rows {
        let c = &mut c[i * stride..i * stride + cols];
        match onto {
            Onto::Nothing => c.fill(T::ZERO),
            Onto::Itself => {}
            Onto::Row(row) => c.copy_from_slice(row),
        }
    }
}
