//! Dot-product attention that keeps its weights: `softmax(scale Q Kᵀ) V`, several heads side by side, for sequences that are not long.
//!
//! Between short sequences the weights take less room than the rows, and building them once is cheaper than [`streaming`](crate::streaming) twice. Queries, keys and
//! values are columns of any tables, so that the three parts of one projection need not be taken apart, and a cache of keys is read where it lies.

use crate::Float;
use crate::dropout::Dropout;
use crate::map::inner;
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

simd! {
    /// Writes a meeting's weights (before dropout; `first` is the place of the first) and the context of its queries, rows of all heads side by side.
    pub fn forward<T>(a: Attend<'_, T>, m: Meeting, first: usize, weights: &mut [T], context: &mut [T]) {
        let (heads, size) = (a.shape.heads, a.shape.size);
        for head in 0..heads {
            for i in 0..m.queries {
                let (seen, at) = (a.seen(m, i), (head * m.queries + i) * m.keys);
                let (weights, unseen) = weights[at..at + m.keys].split_at_mut(seen);
                unseen.fill(T::ZERO);
                let query = a.queries.part(m.query + i, head * size, size);
                let mut largest = T::NEG_INFINITY;
                for (j, weight) in weights.iter_mut().enumerate() {
                    *weight = a.scale * inner::<T, FMA>(query, a.keys.part(m.key + j, head * size, size));
                    largest = T::max(*weight, largest);
                }
                let mut total = T::ZERO;
                for weight in weights.iter_mut() {
                    *weight = (*weight - largest).exp_nonpositive::<FMA>();
                    total += *weight;
                }
                let share = T::ONE / total;
                let context = &mut context[(i * heads + head) * size..][..size];
                context.fill(T::ZERO);
                for (j, weight) in weights.iter_mut().enumerate() {
                    *weight *= share;
                    let kept = *weight * a.factor(first + at + j);
                    for (c, &v) in context.iter_mut().zip(a.values.part(m.key + j, head * size, size)) {
                        *c = T::fma::<FMA>(kept, v, *c);
                    }
                }
            }
        }
    }
}

simd! {
    /// One query a row, each with keys and values of its own that stand somewhere in a log: the context of every query, rows of all heads side by side.
    ///
    /// A row of the log has the keys of all heads and, behind them, the values; `places` has `steps` of its rows for each query. `weights` is room for
    /// `heads * steps` numbers.
    pub fn from_log<T>(shape: Heads, scale: T, queries: Columns<'_, T>, log: &[T], places: &[usize], steps: usize, weights: &mut [T], context: &mut [T]) {
        let (heads, size) = (shape.heads, shape.size);
        let width = heads * size;
        for ((row, places), context) in places.chunks_exact(steps.max(1)).enumerate().zip(context.chunks_exact_mut(width.max(1))) {
            let query = queries.part(row, 0, width);
            for (j, &place) in places.iter().enumerate() {
                let key = &log[place * 2 * width..][..width];
                for (head, (query, key)) in query.chunks_exact(size).zip(key.chunks_exact(size)).enumerate() {
                    weights[head * steps + j] = scale * inner::<T, FMA>(query, key);
                }
            }
            for weights in weights.chunks_exact_mut(steps.max(1)).take(heads) {
                let largest = weights.iter().fold(T::NEG_INFINITY, |most, &w| T::max(w, most));
                let mut total = T::ZERO;
                for weight in weights.iter_mut() {
                    *weight = (*weight - largest).exp_nonpositive::<FMA>();
                    total += *weight;
                }
                let share = T::ONE / total;
                weights.iter_mut().for_each(|weight| *weight *= share);
            }
            context.fill(T::ZERO);
            for (j, &place) in places.iter().enumerate() {
                let value = &log[place * 2 * width + width..][..width];
                for (head, (context, value)) in context.chunks_exact_mut(size).zip(value.chunks_exact(size)).enumerate() {
                    let weight = weights[head * steps + j];
                    for (c, &v) in context.iter_mut().zip(value) {
                        *c = T::fma::<FMA>(weight, v, *c);
                    }
                }
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
