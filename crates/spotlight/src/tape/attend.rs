//! Dot-product attention over packed rows as one node: weights kept between short sequences, streamed between long ones.
//!
//! Every sequence is treated by its own length, whatever else is in the batch. If somebody wants to see the weights, or some of them are dropped, all of them exist.

use spotlight_kernels::attend::{self, Attend, Columns, Meeting};
use spotlight_kernels::pairs::Heads;
use spotlight_kernels::streaming::{self, KEPT, Layout, Tables};
use spotlight_kernels::{Float, map};

use super::{Tape, Values, Var};
use crate::Result;
use crate::axis::Axis;
use crate::memory;

/// Sequences with more keys than this are streamed.
pub(crate) const LONG: usize = 64;

/// Some columns of a value, read as a table with rows `stride` apart.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) of: Var,
    pub(crate) stride: usize,
    pub(crate) first: usize,
}

impl Part {
    pub(super) fn columns<T: Float>(self, table: &[T]) -> Columns<'_, T> {
        Columns { table, stride: self.stride, first: self.first }
    }
}

/// What attends to what. Sizes are the caller's to keep right.
#[derive(Clone, Debug)]
pub(crate) struct Attending {
    pub(crate) queries: Part,
    pub(crate) keys: Part,
    pub(crate) values: Part,
    pub(crate) heads: usize,
    /// Features of a head.
    pub(crate) size: usize,
    pub(crate) causal: bool,
    pub(crate) dropout: f64,
    /// Whether somebody wants the weights.
    pub(crate) look: bool,
    /// One after another in the order of the queries, so that every query row is in one of them.
    pub(crate) meetings: Vec<Meeting>,
    /// Of the queries, if they have one.
    pub(crate) axis: Option<Axis>,
}

/// All queries of each sequence with all keys of the same sequence.
pub(crate) fn meetings(queries: &Axis, keys: &Axis) -> Result<Vec<Meeting>> {
    if queries.items() != keys.items() {
        return Err(crate::Error::Axes { op: "attention", left: queries.excerpt(), right: keys.excerpt() });
    }
    let of_item = |item| {
        let (q, k) = (queries.range(item), keys.range(item));
        Meeting { query: q.start, queries: q.len(), key: k.start, keys: k.len() }
    };
    Ok((0..queries.items()).map(of_item).collect())
}

/// One query row for each listed item of the keys; neighbours with the same item meet it together.
pub(crate) fn meetings_of_items(items: &[usize], keys: &Axis) -> Result<Vec<Meeting>> {
    let mut found: Vec<Meeting> = Vec::with_capacity(items.len());
    for (query, &item) in items.iter().enumerate() {
        if item >= keys.items() {
            return Err(crate::Error::Index { op: "attention", index: item, len: keys.items() });
        }
        let range = keys.range(item);
        match found.last_mut() {
            Some(last) if query > 0 && items[query - 1] == item => last.queries += 1,
            _ => found.push(Meeting { query, queries: 1, key: range.start, keys: range.len() }),
        }
    }
    Ok(found)
}

impl Attending {
    fn width(&self) -> usize {
        self.heads * self.size
    }

    fn queries(&self) -> usize {
        self.meetings.iter().map(|m| m.queries).sum()
    }

    fn is_streamed(&self, m: Meeting, drops: bool) -> bool {
        m.keys > LONG && m.queries > 1 && !self.look && !drops
    }

    /// How many numbers are kept, whatever their number.
    fn numbers(&self, drops: bool) -> u128 {
        let of = |&m: &Meeting| {
            let each = if self.is_streamed(m, drops) { KEPT } else { m.keys };
            (m.queries as u128).saturating_mul(self.heads as u128).saturating_mul(each as u128)
        };
        self.meetings.iter().map(of).fold(0, u128::saturating_add)
    }

    /// For each meeting, where its weights begin (or, streamed, what is kept instead), and at the end their number.
    fn offsets(&self, drops: bool) -> Vec<usize> {
        let mut total = 0;
        let mut offsets = vec![0];
        for &m in &self.meetings {
            total += if self.is_streamed(m, drops) { m.queries * self.heads * KEPT } else { m.weights(self.heads) };
            offsets.push(total);
        }
        offsets
    }

    fn layout<'a, T: Float>(&self, scale: T, queries: &'a [usize; 2], keys: &'a [usize; 2]) -> Layout<'a, T> {
        Layout { heads: self.heads, size: self.size, value_size: self.size, scale, causal: self.causal, queries, keys }
    }
}

/// Rows of a part of a table, next to each other.
fn take_rows<T: Float>(from: Columns<T>, row: usize, rows: usize, width: usize, to: &mut [T]) {
    for (i, to) in to[..rows * width].chunks_exact_mut(width).enumerate() {
        to.copy_from_slice(&from.table[(row + i) * from.stride + from.first..][..width]);
    }
}

/// Adds such rows to a part of a table.
fn add_rows<T: Float>(from: &[T], part: Part, row: usize, rows: usize, width: usize, to: &mut [T]) {
    for (i, from) in from[..rows * width].chunks_exact(width).enumerate() {
        map::add_assign(&mut to[(row + i) * part.stride + part.first..][..width], from);
    }
}

impl<'p, T: Float> Tape<'p, T> {
    /// The context of every query and, if somebody looks, the weights: a row for each pair of a query with a key, a column for each head, on an axis with an item
    /// a query.
    pub(crate) fn attend(&self, a: Attending) -> Result<(Var, Option<Var>)> {
        let (rows, width, heads) = (a.queries(), a.width(), a.heads);
        let scale = T::from_f64(1.0 / (a.size as f64).sqrt());
        let dropout = self.dropout_of(a.dropout)?;
        let copies = if a.look { 2 } else { 1 };
        let longest_keys = a.meetings.iter().map(|m| m.keys).max().unwrap_or(0);
        let what = || format!("the memory for the attention weights of a sequence of {longest_keys} positions");
        memory::fits(what, copies * a.numbers(dropout.is_some()), size_of::<T>())?;
        let offsets = a.offsets(dropout.is_some());
        let shape = Heads { heads, size: a.size };
        let mut context = self.buffer(rows * width);
        let mut kept = self.buffer(offsets[a.meetings.len()]);
        let longest = |count: fn(&Meeting) -> usize| a.meetings.iter().map(count).max().unwrap_or(0);
        let (most_queries, most_keys) = (longest(|m| m.queries), longest(|m| m.keys));
        {
            let (q, k, v) = (self.value(a.queries.of), self.value(a.keys.of), self.value(a.values.of));
            let (queries, keys, values) = (a.queries.columns(&q), a.keys.columns(&k), a.values.columns(&v));
            let attend = Attend { shape, scale, causal: a.causal, dropout, queries, keys, values };
            let mut room = Vec::new();
            for (&m, at) in a.meetings.iter().zip(offsets.windows(2)) {
                let (kept, context) = (&mut kept[at[0]..at[1]], &mut context[m.query * width..(m.query + m.queries) * width]);
                if a.is_streamed(m, dropout.is_some()) {
                    room.resize((most_queries + 2 * most_keys) * width, T::ZERO);
                    let tables = apart(&attend, m, width, &mut room);
                    streaming::forward(a.layout(scale, &[0, m.queries], &[0, m.keys]), tables, context, kept);
                } else {
                    attend::forward(attend, m, at[0], kept, context);
                }
            }
        }
        let seen = a.look.then(|| {
            let lengths: Vec<usize> = a.meetings.iter().flat_map(|m| std::iter::repeat_n(m.keys, m.queries)).collect();
            let mut table = self.buffer(kept.len());
            by_pair(&a, &kept, &mut table);
            (Axis::new(lengths), table)
        });
        let parents = [a.queries.of, a.keys.of, a.values.of];
        let (axis, look) = (a.axis.clone(), a.look);
        let main = self.push(context, rows, width, axis, &parents, |main| {
            Box::new(move |back, dy| {
                let [mut dq, mut dk, mut dv] = [most_queries, most_keys, most_keys].map(|rows| back.grads.buffer(rows * width));
                let mut scores = back.grads.buffer(most_keys);
                let mut room = Vec::new();
                let d_weights = if look {
                    let by_pairs = back.grads.take(main.beside(1));
                    let mut d = back.grads.buffer(by_pairs.len());
                    by_block(&a, &by_pairs, &mut d);
                    back.grads.recycle(by_pairs);
                    d
                } else {
                    Vec::new()
                };
                let values: Values<T> = back.values;
                let [q, k, v] = [a.queries, a.keys, a.values].map(|part| part.columns(values.get(part.of)));
                let attend = Attend { shape, scale, causal: a.causal, dropout, queries: q, keys: k, values: v };
                for (&m, at) in a.meetings.iter().zip(offsets.windows(2)) {
                    let (dq, dk, dv) = (&mut dq[..m.queries * width], &mut dk[..m.keys * width], &mut dv[..m.keys * width]);
                    [&mut *dq, &mut *dk, &mut *dv].into_iter().for_each(|d| d.fill(T::ZERO));
                    let rows = m.query * width..(m.query + m.queries) * width;
                    if a.is_streamed(m, dropout.is_some()) {
                        let (queries, keys) = ([0, m.queries], [0, m.keys]);
                        let layout = a.layout(scale, &queries, &keys);
                        room.resize((most_queries + 2 * most_keys) * width, T::ZERO);
                        let tables = apart(&attend, m, width, &mut room);
                        let mut work = back.grads.buffer(streaming::workspace(layout));
                        let to = streaming::Gradients { queries: dq, keys: dk, values: dv };
                        let context = &values.get(main)[rows.clone()];
                        streaming::backward(layout, tables, context, &kept[at[0]..at[1]], &dy[rows], to, &mut work);
                        back.grads.recycle(work);
                    } else {
                        let to = attend::Gradients { queries: dq, keys: dk, values: dv };
                        let d_weights = d_weights.get(at[0]..at[1]).unwrap_or_default();
                        attend::backward(attend, m, at[0], &kept[at[0]..at[1]], d_weights, &dy[rows], to, &mut scores);
                    }
                    for (part, gradient, row, count) in
                        [(a.queries, &*dq, m.query, m.queries), (a.keys, &*dk, m.key, m.keys), (a.values, &*dv, m.key, m.keys)]
                    {
                        if back.grads.wants(part.of) {
                            add_rows(gradient, part, row, count, width, back.grads.of(part.of));
                        }
                    }
                }
                for buffer in [dq, dk, dv, scores, d_weights, kept] {
                    back.grads.recycle(buffer);
                }
            })
        });
        let weights = seen.map(|(axis, table)| self.push_beside(table, axis.rows(), heads, Some(axis), main));
        Ok((main, weights))
    }
}

/// Queries, keys and values of one meeting as tables of their own.
fn apart<'r, T: Float>(a: &Attend<T>, m: Meeting, width: usize, room: &'r mut [T]) -> Tables<'r, T> {
    let (queries, rest) = room.split_at_mut(m.queries * width);
    let (keys, rest) = rest.split_at_mut(m.keys * width);
    let values = &mut rest[..m.keys * width];
    take_rows(a.queries, m.query, m.queries, width, queries);
    take_rows(a.keys, m.key, m.keys, width, keys);
    take_rows(a.values, m.key, m.keys, width, values);
    Tables { queries, keys, values }
}

/// For each weight in the order of the pairs, heads side by side, its place head by head; meeting after meeting.
fn places(a: &Attending) -> impl Iterator<Item = usize> + '_ {
    let mut first = 0;
    a.meetings.iter().flat_map(move |m| {
        let (start, heads, queries, keys) = (first, a.heads, m.queries, m.keys);
        first += m.weights(heads);
        (0..queries * keys).flat_map(move |pair| (0..heads).map(move |head| start + head * queries * keys + pair))
    })
}

fn by_pair<T: Float>(a: &Attending, blocks: &[T], pairs: &mut [T]) {
    pairs.iter_mut().zip(places(a)).for_each(|(to, from)| *to = blocks[from]);
}

fn by_block<T: Float>(a: &Attending, pairs: &[T], blocks: &mut [T]) {
    pairs.iter().zip(places(a)).for_each(|(&from, to)| blocks[to] = from);
}
