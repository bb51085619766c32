//! Dot-product attention that keeps its weights: `softmax(scale Q Kᵀ) V`, several heads side by side, for sequences that are not long.
//!
//! Between short sequences the weights take less room than the rows, and building them once is cheaper than [`streaming`](crate::streaming) twice. Queries, keys and
//! values are columns of any tables, so that the three parts of one projection need not be taken apart, and a cache of keys is read where it lies.

use crate::Float;
use crate::dropout::Dropout;
use crate::float::Scratch;
use crate::map::{halved, inner};
use crate::pairs::Heads;

/// Some query rows and the key rows that all of them look at.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Meeting {
    /// First query row.
    pub query: usize,
    /// Query rows.
    pub queries: usize,
    /// First key row.
    pub key: usize,
    /// Key rows.
    pub keys: usize,
}

/// Some columns of a table: rows `stride` apart, of which those from `first` on are meant.
#[derive(Clone, Copy, Debug)]
pub struct Columns<'a, T> {
    /// The table.
    pub table: &'a [T],
    /// Distance of its rows.
    pub stride: usize,
    /// First column.
    pub first: usize,
}

impl<'a, T: Float> Columns<'a, T> {
    /// `count` numbers of a row.
    #[inline(always)]
    fn part(&self, row: usize, from: usize, count: usize) -> &'a [T] {
        &self.table[row * self.stride + self.first + from..][..count]
    }
}

/// What meets what, and how.
#[derive(Clone, Copy, Debug)]
pub struct Attend<'a, T> {
    /// Heads and their size.
    pub shape: Heads,
    /// Factor of the scores.
    pub scale: T,
    /// Whether the query `i` of a meeting sees its keys `0..=i` alone.
    pub causal: bool,
    /// Weights that are dropped; the place of a weight is that in the table of weights.
    pub dropout: Option<Dropout<T>>,
    /// One row a query.
    pub queries: Columns<'a, T>,
    /// One row a key.
    pub keys: Columns<'a, T>,
    /// One row a key.
    pub values: Columns<'a, T>,
}

impl<T: Float> Attend<'_, T> {
    #[inline(always)]
    fn seen(&self, m: Meeting, query: usize) -> usize {
        if self.causal { m.keys.min(query + 1) } else { m.keys }
    }

    #[inline(always)]
    fn factor(&self, place: usize) -> T {
        self.dropout.map_or(T::ONE, |dropout| dropout.factor(place))
    }
}

impl Meeting {
    /// Numbers of its weights: `heads` blocks of `queries x keys`.
    pub fn weights(&self, heads: usize) -> usize {
        heads * self.queries * self.keys
    }
}

/// Keys that a query meets at once.
const LANES: usize = 16;
/// Queries that meet turned keys together; it pays to turn keys around for so many.
const SEVERAL: usize = 4;

/// Writes a meeting's weights (before dropout; `first` is the place of the first) and the context of its queries, rows of all heads side by side.
pub fn forward<T: Float>(a: Attend<'_, T>, m: Meeting, first: usize, weights: &mut [T], context: &mut [T]) {
    let row = m.keys.next_multiple_of(LANES);
    let turned = if m.queries < SEVERAL { 0 } else { row * a.shape.size };
    T::with_scratch(Scratch::Left, SEVERAL * row + turned, |room| meet(a, m, first, weights, context, room));
}

/// One query a row, each with keys and values of its own that stand somewhere in a log: the context of every query, rows of all heads side by side.
///
/// A row of the log has the keys of all heads and, behind them, the values; `places` has `steps` of its rows for each query.
pub fn from_log<T: Float>(shape: Heads, scale: T, queries: Columns<'_, T>, log: &[T], places: &[usize], steps: usize, context: &mut [T]) {
    T::with_scratch(Scratch::Left, steps.next_multiple_of(LANES), |room| look_up(shape, scale, queries, log, places, steps, context, room));
}

simd! {
    /// [`forward`] with room for some rows of weights and, unless queries are few, the keys of a head, feature by feature.
    fn meet<T>(a: Attend<'_, T>, m: Meeting, first: usize, weights: &mut [T], context: &mut [T], room: &mut [T]) {
        let (heads, size) = (a.shape.heads, a.shape.size);
        let length = m.keys.next_multiple_of(LANES);
        let (rows, turned) = room.split_at_mut(SEVERAL * length);
        for head in 0..heads {
            let key = |j: usize| a.keys.part(m.key + j, head * size, size);
            let query = |i: usize| a.queries.part(m.query + i.min(m.queries - 1), head * size, size);
            if !turned.is_empty() {
                turn(m.keys, size, key, turned);
            }
            for from in (0..m.queries).step_by(SEVERAL) {
                let own = from..m.queries.min(from + SEVERAL);
                if turned.is_empty() {
                    for (i, row) in own.clone().zip(rows.chunks_exact_mut(length.max(1))) {
                        for (j, score) in row[..m.keys].iter_mut().enumerate() {
                            *score = inner::<T, FMA>(query(i), key(j));
                        }
                    }
                } else {
                    scores::<T, FMA, WIDEST>(std::array::from_fn(|i| query(from + i)), turned, rows);
                }
                for (i, row) in own.clone().zip(rows.chunks_exact_mut(length.max(1))) {
                    softmax::<T, FMA>(a.scale, a.seen(m, i), row);
                }
                for (i, row) in own.zip(rows.chunks_exact_mut(length.max(1))) {
                    let (seen, at) = (a.seen(m, i), (head * m.queries + i) * m.keys);
                    weights[at..at + m.keys].copy_from_slice(&row[..m.keys]);
                    if a.dropout.is_some() {
                        for (j, weight) in row[..seen].iter_mut().enumerate() {
                            *weight *= a.factor(first + at + j);
                        }
                    }
                    let value = |j: usize| a.values.part(m.key + j, head * size, size);
                    mix::<T, FMA, WIDEST>(&row[..seen], value, &mut context[(i * heads + head) * size..][..size]);
                }
            }
        }
    }
}

simd! {
    /// [`from_log`] with room for a row of weights.
    fn look_up<T>(shape: Heads, scale: T, queries: Columns<'_, T>, log: &[T], places: &[usize], steps: usize, context: &mut [T], room: &mut [T]) {
        let (heads, size) = (shape.heads, shape.size);
        let width = heads * size;
        for ((row, places), context) in places.chunks_exact(steps.max(1)).enumerate().zip(context.chunks_exact_mut(width.max(1))) {
            for (head, context) in context.chunks_exact_mut(size).enumerate() {
                let query = queries.part(row, head * size, size);
                let part = |place: usize, from: usize| &log[place * 2 * width + from + head * size..][..size];
                for (score, &place) in room.iter_mut().zip(places) {
                    *score = inner::<T, FMA>(query, part(place, 0));
                }
                softmax::<T, FMA>(scale, steps, room);
                mix::<T, FMA, WIDEST>(&room[..steps], |j| part(places[j], width), context);
            }
        }
    }
}

/// Rows of keys as blocks of [`LANES`] keys, a row for each feature. What is missing in the last block is not written.
#[inline(always)]
fn turn<'k, T: Float>(keys: usize, size: usize, key: impl Fn(usize) -> &'k [T], turned: &mut [T]) {
    for j in 0..keys {
        let to = &mut turned[j / LANES * size * LANES + j % LANES..];
        for (to, &x) in to.iter_mut().step_by(LANES).zip(key(j)) {
            *to = x;
        }
    }
}

/// The inner products of some queries with turned keys, a row each.
#[inline(always)]
fn scores<T: Float, const FMA: bool, const WIDEST: bool>(queries: [&[T]; SEVERAL], turned: &[T], rows: &mut [T]) {
    let (size, length) = (queries[0].len(), rows.len() / SEVERAL);
    let queries = queries.map(|query| &query[..size]);
    for (block, keys) in turned.chunks_exact(size * LANES).enumerate() {
        let mut sums = [[T::ZERO; LANES]; SEVERAL];
        for (feature, keys) in keys.as_chunks().0.iter().enumerate() {
            for i in 0..SEVERAL {
                T::fma_lanes::<FMA, WIDEST>(queries[i][feature], keys, &mut sums[i]);
            }
        }
        for (i, sums) in sums.iter().enumerate() {
            rows[i * length + block * LANES..][..LANES].copy_from_slice(sums);
        }
    }
}

/// `softmax(scale x)` of the first `seen` numbers of a row, which is whole lanes long; after them 0.
#[inline(always)]
fn softmax<T: Float, const FMA: bool>(scale: T, seen: usize, row: &mut [T]) {
    row[seen..].fill(T::NEG_INFINITY);
    let largest = folded(row, T::NEG_INFINITY, T::max);
    for x in row.iter_mut() {
        *x = (scale * (*x - largest)).exp_nonpositive::<FMA>();
    }
    let share = T::ONE / folded(row, T::ZERO, |x, sum| x + sum);
    for x in row.iter_mut() {
        *x *= share;
    }
}

/// All numbers of a row as one, lane by lane and then the lanes, always in the same order.
#[inline(always)]
fn folded<T: Float>(row: &[T], start: T, join: impl Fn(T, T) -> T) -> T {
    let mut lanes = [start; LANES];
    for row in row.as_chunks::<LANES>().0 {
        for (lane, &x) in lanes.iter_mut().zip(row) {
            *lane = join(x, *lane);
        }
    }
    halved(lanes, join)
}

/// `to = Σ weights[j] row(j)`, sixteen features at a time.
#[inline(always)]
fn mix<'v, T: Float, const FMA: bool, const WIDEST: bool>(weights: &[T], row: impl Fn(usize) -> &'v [T], to: &mut [T]) {
    let (wide, rest) = to.as_chunks_mut::<LANES>();
    let done = wide.len() * LANES;
    for (block, to) in wide.iter_mut().enumerate() {
        let mut sums = [T::ZERO; LANES];
        for (j, &weight) in weights.iter().enumerate() {
            if let Some(x) = row(j)[block * LANES..].first_chunk() {
                T::fma_lanes::<FMA, WIDEST>(weight, x, &mut sums);
            }
        }
        *to = sums;
    }
    if !rest.is_empty() {
        rest.fill(T::ZERO);
        for (j, &weight) in weights.iter().enumerate() {
            for (to, &x) in rest.iter_mut().zip(&row(j)[done..]) {
                *to = T::fma::<FMA>(weight, x, *to);
            }
        }
    }
}

/// Where the gradients of one meeting go: rows of all heads side by side, added to.
#[derive(Debug)]
pub struct Gradients<'a, T> {
    /// One row a query of the meeting.
    pub queries: &'a mut [T],
    /// One row a key of the meeting.
    pub keys: &'a mut [T],
    /// One row a key of the meeting.
    pub values: &'a mut [T],
}

simd! {
    /// The gradients of [`forward`] for one meeting.
    ///
    /// `d_context` is that of its queries' contexts; `d_weights`, unless empty, that of its weights themselves, in the order of the weights. `room` has at least as many
    /// numbers as there are keys.
    ///
    /// ```text
    /// dP = dO Vᵀ * dropped + dP'      dS = P (dP - Σ P dP)       dV += (P * dropped)ᵀ dO       dQ += scale dS K       dK += scale dSᵀ Q
    /// ```
    pub fn backward<T>(a: Attend<'_, T>, m: Meeting, first: usize, weights: &[T], d_weights: &[T], d_context: &[T], to: Gradients<'_, T>, room: &mut [T]) {
        let (heads, size) = (a.shape.heads, a.shape.size);
        let width = heads * size;
        for head in 0..heads {
            let part = |row: usize| row * width + head * size..row * width + (head + 1) * size;
            for i in 0..m.queries {
                let (seen, at) = (a.seen(m, i), (head * m.queries + i) * m.keys);
                let (weights, d_scores) = (&weights[at..at + seen], &mut room[..seen]);
                let (query, d_context) = (a.queries.part(m.query + i, head * size, size), &d_context[part(i)]);
                let mut along = T::ZERO;
                for (j, (d, &weight)) in d_scores.iter_mut().zip(weights).enumerate() {
                    let factor = a.factor(first + at + j);
                    *d = factor * inner::<T, FMA>(d_context, a.values.part(m.key + j, head * size, size));
                    if !d_weights.is_empty() {
                        *d += d_weights[at + j];
                    }
                    along = T::fma::<FMA>(*d, weight, along);
                    let kept = weight * factor;
                    for (dv, &dc) in to.values[part(j)].iter_mut().zip(d_context) {
                        *dv = T::fma::<FMA>(kept, dc, *dv);
                    }
                }
                let d_query = &mut to.queries[part(i)];
                for (j, (&d, &weight)) in d_scores.iter().zip(weights).enumerate() {
                    let d = a.scale * weight * (d - along);
                    for (dq, &k) in d_query.iter_mut().zip(a.keys.part(m.key + j, head * size, size)) {
                        *dq = T::fma::<FMA>(d, k, *dq);
                    }
                    for (dk, &q) in to.keys[part(j)].iter_mut().zip(query) {
                        *dk = T::fma::<FMA>(d, q, *dk);
                    }
                }
            }
        }
    }
}
