//! Products with weights of one byte each: `C = A Wᵀ`, or added to `C`.
//!
//! A row of weights is kept as whole numbers `w` from -[`WEIGHT`] to [`WEIGHT`] and one factor `s`; a row of the left side becomes whole numbers `a` from
//! -[`INPUT`] to [`INPUT`] and a factor `t` when it comes, by its largest number:
//!
//! ```text
//! c = s t Σ a w = s t (Σ (a + 128) w - 128 Σ w)
//! ```
//!
//! `a + 128` is a byte without a sign, as AVX2 wants the left side of `maddubs`, which multiplies 32 pairs of bytes and adds neighbours in 16 bits. Two products of at most
//! `255 * 63` fit there, so nothing is ever cut off, and the wide version gives the plain one's whole numbers. That is why weights have 7 bits: of the two sides, the
//! numbers that come have the longer tails and need the eighth bit more. AVX-512 has one instruction for all that, `dpbusd`, which adds in 32 bits.

use crate::Float;
use crate::gemm::View;

/// The largest weight.
pub const WEIGHT: i32 = 63;
/// The largest number of the left side.
pub const INPUT: i32 = 127;
/// 1.5 times 2^23: a float of this size counts in ones, and its last byte is 0.
const SHIFTED: f32 = 12_582_912.0;
/// Outputs side by side in a panel.
const LANES: usize = 16;
/// Numbers of the common dimension side by side.
const GROUP: usize = 4;
/// Most rows of the left side at once.
const ROWS: usize = 5;
/// The same where a panel's group is one register.
const ROWS_WIDEST: usize = 12;

/// Weights of one byte, one row for each output.
#[derive(Clone, Debug)]
pub struct Bytes {
    /// Panels of [`LANES`] outputs; in a panel, [`GROUP`] numbers of each output after each other, filled up with zeros.
    data: Vec<i8>,
    /// Of each output: its factor.
    scales: Vec<f32>,
    /// Of each output: `128 Σ w`.
    shifts: Vec<i32>,
    k: usize,
    n: usize,
}

impl Bytes {
    /// Takes `weights` to bytes, row by row.
    pub fn new<T: Float>(weights: View<T>) -> Self {
        let (n, k) = (weights.rows(), weights.cols());
        let groups = k.div_ceil(GROUP);
        let panels = n.div_ceil(LANES);
        let mut bytes = Bytes {
            data: vec![0; panels * groups * LANES * GROUP],
            scales: vec![0.0; panels * LANES],
            shifts: vec![0; panels * LANES],
            k,
            n,
        };
        for row in 0..n {
            let numbers = (0..k).map(|col| weights.get(row, col).to_f64() as f32);
            let largest = numbers.clone().fold(0.0f32, |most, w| if w.abs() > most { w.abs() } else { most });
            // What is not a number makes all of the row none, as it would in a product of numbers.
            let broken: f32 = numbers.clone().map(|w| w * 0.0).sum();
            bytes.scales[row] = largest / WEIGHT as f32 + broken;
            let inverse = if largest > 0.0 { WEIGHT as f32 / largest } else { 0.0 };
            let (panel, lane) = (row / LANES, row % LANES);
            for (col, w) in numbers.enumerate() {
                let whole = (w * inverse).round() as i32;
                bytes.shifts[row] += 128 * whole;
                let at = ((panel * groups + col / GROUP) * LANES + lane) * GROUP + col % GROUP;
                bytes.data[at] = whole.clamp(-WEIGHT, WEIGHT) as i8;
            }
        }
        bytes
    }

    /// Outputs.
    pub fn rows(&self) -> usize {
        self.n
    }

    /// Inputs.
    pub fn cols(&self) -> usize {
        self.k
    }

    /// A weight as it counts.
    pub fn get(&self, row: usize, col: usize) -> f32 {
        let groups = self.k.div_ceil(GROUP);
        let at = ((row / LANES * groups + col / GROUP) * LANES + row % LANES) * GROUP + col % GROUP;
        self.data[at] as f32 * self.scales[row]
    }
}

/// A row as bytes without a sign, 128 for 0; returns its factor.
#[inline(always)]
fn to_bytes<T: Float>(row: &[T], to: &mut [u8]) -> f32 {
    let number = |x: T| x.to_f64() as f32;
    let mut most = [0.0f32; 8];
    let mut broken = [0.0f32; 8];
    let (blocks, rest) = row.as_chunks::<8>();
    for block in blocks {
        for i in 0..8 {
            let x = number(block[i]);
            most[i] = if x.abs() > most[i] { x.abs() } else { most[i] };
            broken[i] += x * 0.0;
        }
    }
    for &x in rest {
        let x = number(x);
        most[0] = if x.abs() > most[0] { x.abs() } else { most[0] };
        broken[0] += x * 0.0;
    }
    let largest = most.into_iter().fold(0.0f32, f32::max);
    let inverse = if largest > 0.0 { INPUT as f32 / largest } else { 0.0 };
    for (to, &x) in to.iter_mut().zip(row) {
        // So large a number has its whole part in its last bits: rounded without the questions that a cast asks.
        *to = (number(x) * inverse + (SHIFTED + 128.0)).to_bits() as u8;
    }
    largest / INPUT as f32 + broken.into_iter().sum::<f32>()
}

/// `Σ a w` of `M` rows with one panel, in plain steps.
#[inline(always)]
fn tile_plain<const M: usize>(a: &[u8], stride: usize, panel: &[i8]) -> [[i32; LANES]; M] {
    let mut sums = [[0i32; LANES]; M];
    for (g, group) in panel.as_chunks::<{ LANES * GROUP }>().0.iter().enumerate() {
        for (i, sums) in sums.iter_mut().enumerate() {
            let a = &a[i * stride + g * GROUP..][..GROUP];
            for (sum, w) in sums.iter_mut().zip(group.as_chunks::<GROUP>().0) {
                *sum += a.iter().zip(w).map(|(&a, &w)| i32::from(a) * i32::from(w)).sum::<i32>();
            }
        }
    }
    sums
}

/// The same with AVX2.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx2")]
#[inline]
fn tile_wide<const M: usize>(a: &[u8], stride: usize, panel: &[i8]) -> [[i32; LANES]; M] {
    use std::arch::x86_64::*;
    let ones = _mm256_set1_epi16(1);
    let mut sums = [[_mm256_setzero_si256(); 2]; M];
    let groups = panel.as_chunks::<{ LANES * GROUP }>().0;
    // As many groups as the panel has, so that it is not asked at each step whether there is one.
    let rows: [&[[u8; GROUP]]; M] = std::array::from_fn(|i| &a[i * stride..][..stride].as_chunks::<GROUP>().0[..groups.len()]);
    for (g, group) in groups.iter().enumerate() {
        // SAFETY: both loads lie within the 64 bytes of the group, and need no alignment.
        let [left, right] = unsafe {
            let at = group.as_ptr().cast::<__m256i>();
            [_mm256_loadu_si256(at), _mm256_loadu_si256(at.add(1))]
        };
        for i in 0..M {
            let four = _mm256_set1_epi32(i32::from_le_bytes(rows[i][g]));
            // Bytes times bytes, neighbours added in 16 bits; these times 1, neighbours added in 32.
            sums[i][0] = _mm256_add_epi32(sums[i][0], _mm256_madd_epi16(_mm256_maddubs_epi16(four, left), ones));
            sums[i][1] = _mm256_add_epi32(sums[i][1], _mm256_madd_epi16(_mm256_maddubs_epi16(four, right), ones));
        }
    }
    let mut found = [[0i32; LANES]; M];
    for (to, [left, right]) in found.iter_mut().zip(sums) {
        // SAFETY: both stores lie within the 16 numbers of the row, and need no alignment.
        unsafe {
            let at = to.as_mut_ptr().cast::<__m256i>();
            _mm256_storeu_si256(at, left);
            _mm256_storeu_si256(at.add(1), right);
        }
    }
    found
}

/// The same with AVX-512.
#[cfg(target_arch = "x86_64")]
#[target_feature(enable = "avx512f,avx512vnni")]
#[inline]
fn tile_widest<const M: usize>(a: &[u8], stride: usize, panel: &[i8]) -> [[i32; LANES]; M] {
    use std::arch::x86_64::*;
    let mut sums = [_mm512_setzero_si512(); M];
    let groups = panel.as_chunks::<{ LANES * GROUP }>().0;
    let rows: [&[[u8; GROUP]]; M] = std::array::from_fn(|i| &a[i * stride..][..stride].as_chunks::<GROUP>().0[..groups.len()]);
    for (g, group) in groups.iter().enumerate() {
        // SAFETY: the load is of the 64 bytes of the group, and needs no alignment.
        let weights = unsafe { _mm512_loadu_si512(group.as_ptr().cast()) };
        for i in 0..M {
            // Four bytes times four bytes, added to 32 bits.
            sums[i] = _mm512_dpbusd_epi32(sums[i], _mm512_set1_epi32(i32::from_le_bytes(rows[i][g])), weights);
        }
    }
    let mut found = [[0i32; LANES]; M];
    for (to, sum) in found.iter_mut().zip(sums) {
        // SAFETY: the store is to the 16 numbers of the row, and needs no alignment.
        unsafe { _mm512_storeu_si512(to.as_mut_ptr().cast(), sum) };
    }
    found
}

/// `M` rows from `i` on with one panel, to `C`.
#[inline(always)]
fn tile<T: Float, const M: usize, const WIDE: bool, const WIDEST: bool>(
    a: &[u8],
    stride: usize,
    factors: &[f32],
    w: &Bytes,
    panel: usize,
    c: &mut [T],
    to: usize,
    add: bool,
) {
    let length = stride * LANES;
    let data = &w.data[panel * length..][..length];
    #[cfg(target_arch = "x86_64")]
    // SAFETY: the wide versions are only compiled into functions that run where their instructions were found.
    let sums: [[i32; LANES]; M] = unsafe {
        match (WIDE, WIDEST) {
            (_, true) => tile_widest::<M>(a, stride, data),
            (true, false) => tile_wide::<M>(a, stride, data),
            (false, false) => tile_plain::<M>(a, stride, data),
        }
    };
    #[cfg(not(target_arch = "x86_64"))]
    let sums: [[i32; LANES]; M] = tile_plain::<M>(a, stride, data);
    let first = panel * LANES;
    let count = LANES.min(w.n - first);
    let (scales, shifts) = (&w.scales[first..][..LANES], &w.shifts[first..][..LANES]);
    for (i, sums) in sums.iter().enumerate() {
        let made: [f32; LANES] = std::array::from_fn(|j| (sums[j] - shifts[j]) as f32 * (scales[j] * factors[i]));
        for (c, &x) in c[i * to + first..][..count].iter_mut().zip(&made) {
            let x = T::from_f64(x as f64);
            *c = if add { *c + x } else { x };
        }
    }
}

simd! {
    #![widest]
    /// `C = A Wᵀ`, or `C += A Wᵀ` if `add`: `a` has rows of as many numbers as a row of weights; the rows of `C` start `stride` apart. `room` holds the rows as bytes.
    pub fn product_bytes<T>(a: &[T], w: &Bytes, c: &mut [T], stride: usize, add: bool, room: &mut Vec<u8>) {
        let (k, padded) = (w.k, w.k.div_ceil(GROUP) * GROUP);
        let rows = a.len().checked_div(k).unwrap_or(0);
        room.clear();
        // What fills up meets weights of 0.
        room.resize(rows * padded, 128);
        let mut factors = vec![0.0f32; rows];
        for ((row, to), factor) in a.chunks_exact(k.max(1)).zip(room.chunks_exact_mut(padded.max(1))).zip(&mut factors) {
            *factor = to_bytes(row, &mut to[..k]);
        }
        for panel in 0..w.n.div_ceil(LANES) {
            let mut i = 0;
            while i < rows {
                let (left, factors, c) = (&room[i * padded..], &factors[i..], &mut c[i * stride..]);
                // Evenly, so that no row is left alone.
                let take = (rows - i).div_ceil((rows - i).div_ceil(if WIDEST { ROWS_WIDEST } else { ROWS }));
                by_rows!(take, WIDEST, M => tile::<T, M, FMA, WIDEST>(left, padded, factors, w, panel, c, stride, add));
                i += take;
            }
        }
    }
}
