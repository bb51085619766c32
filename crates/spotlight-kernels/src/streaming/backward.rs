//! The backward pass: the weights are computed again, block by block.
//!
//! ```text
//! P  = e^(S - largest) * share        dV += Pᵀ dO
//! dP = dO Vᵀ                          dQ += scale dS K
//! dS = P (dP - dO . O)                dK += scale dSᵀ Q
//! ```
//!
//! A task is one head of one sequence, or some of its queries. It meets its queries block by block, and for each block all keys: the gradient of the queries
//! stays at hand, those of keys and values run by. Where the queries of a head are cut into several tasks, each has its own sums for keys and
//! values, added up in order at the end.

use rayon::prelude::*;

use super::tile::{
    GROUP, LANES, Lanes, Rows, Tile, hide, multiply, pack_column_groups, pack_feature_lanes, pack_groups, pack_lanes, padded, square, tile,
};
use super::{Item, KEPT, Layout, Tables, cut};
use crate::Float;
use crate::float::Scratch;
use crate::map::inner;

/// Keys handled at once. A multiple of [`GROUP`].
const KEYS: usize = 144;
/// Sixteens of queries handled at once.
const PANELS: usize = 4;
/// Tasks to cut a batch into, at least, where it is large enough.
const TASKS: usize = 8;

/// What the gradients are added to, in the form of the tables.
#[derive(Debug)]
pub struct Gradients<'a, T> {
    /// As the queries.
    pub queries: &'a mut [T],
    /// As the keys.
    pub keys: &'a mut [T],
    /// As the values.
    pub values: &'a mut [T],
}

/// The forward pass's result and the gradient that arrived at it.
#[derive(Clone, Copy)]
struct Arrived<'a, T> {
    context: &'a [T],
    kept: &'a [T],
    gradient: &'a [T],
}

/// Numbers of the packed keys and values of one head of one item, and of its sums.
#[derive(Clone, Copy)]
struct Sizes {
    /// Keys, six together; the values alike.
    keys: usize,
    values: usize,
    /// Features of the keys, six together.
    key_features: usize,
    /// `dK` and `dV`, for each sixteen features row after row.
    key_sums: usize,
    value_sums: usize,
}

impl Sizes {
    fn new<T: Float>(l: Layout<T>, item: Item) -> Self {
        let rows = padded(item.keys, GROUP);
        Sizes {
            keys: rows * l.size,
            values: rows * l.value_size,
            key_features: padded(l.size, GROUP) * item.keys,
            key_sums: rows * padded(l.size, LANES),
            value_sums: rows * padded(l.value_size, LANES),
        }
    }

    fn packed(&self) -> usize {
        self.keys + self.values + self.key_features
    }

    fn sums(&self) -> usize {
        self.key_sums + self.value_sums
    }
}

/// The keys and values of one head of one sequence, packed.
struct Head<'a, T> {
    /// How many there are.
    count: usize,
    keys: &'a [[T; GROUP]],
    values: &'a [[T; GROUP]],
    key_features: &'a [[T; GROUP]],
}

/// Some queries of one head of one sequence.
struct Task<'a, T> {
    item: Item,
    head: usize,
    first: usize,
    /// For each query, where its gradient goes.
    queries: Vec<&'a mut [T]>,
    /// Room for the packed head.
    packed: &'a mut [T],
    /// Sums for all keys, then all values.
    sums: &'a mut [T],
}

/// Every sequence with its sizes, and how many tasks the queries of each of its heads are cut into.
fn plan<T: Float>(l: Layout<T>) -> Vec<(Item, Sizes, usize)> {
    let work = |item: Item| item.queries * item.keys;
    let each = (l.items().map(work).sum::<usize>() * l.heads).max(1);
    let pieces = |item: Item| (TASKS * work(item)).div_ceil(each).clamp(1, item.queries.div_ceil(PANELS * LANES).max(1));
    l.items().map(|item| (item, Sizes::new(l, item), pieces(item))).collect()
}

/// Numbers that [`backward`] needs room for.
pub fn workspace<T: Float>(l: Layout<T>) -> usize {
    plan(l).iter().map(|(_, sizes, pieces)| l.heads * pieces * (sizes.packed() + sizes.sums())).sum()
}

/// Adds the gradients of [`forward`](super::forward)'s tables, for the gradient of its `context`.
///
/// `room` is of at least [`workspace`] numbers of any content.
///
/// # Panics
/// If a table does not have the size that the layout says.
pub fn backward<T: Float>(l: Layout<T>, tables: Tables<T>, context: &[T], kept: &[T], gradient: &[T], to: Gradients<T>, room: &mut [T]) {
    l.check(tables);
    l.check(Tables { queries: to.queries, keys: to.keys, values: to.values });
    let arrived = Arrived { context, kept, gradient };
    let items = plan(l);
    let (sums, mut packed_rest) = room.split_at_mut(items.iter().map(|(_, sizes, pieces)| l.heads * pieces * sizes.sums()).sum());

    let mut sums_rest = &mut *sums;
    let mut d_queries = to.queries.chunks_exact_mut(l.size);
    let mut tasks = Vec::new();
    for &(item, sizes, pieces) in &items {
        let blocks = item.queries.div_ceil(PANELS * LANES);
        let start = |piece: usize| (piece * blocks / pieces * PANELS * LANES).min(item.queries);
        let at = tasks.len();
        for head in 0..l.heads {
            tasks.extend((0..pieces).map(|piece| Task {
                item,
                head,
                first: start(piece),
                queries: Vec::with_capacity(start(piece + 1) - start(piece)),
                packed: cut(&mut packed_rest, sizes.packed()),
                sums: cut(&mut sums_rest, sizes.sums()),
            }));
        }
        // The rows hold one head after another, the tasks belong to one head each.
        for piece in 0..pieces {
            for _ in start(piece)..start(piece + 1) {
                for (task, to) in tasks[at + piece..].iter_mut().step_by(pieces).zip(&mut d_queries) {
                    task.queries.push(to);
                }
            }
        }
    }
    tasks.into_par_iter().with_max_len(1).for_each(|mut task| {
        T::with_scratch(Scratch::Left, Block::<T>::len(l) * LANES, |scratch| {
            go_back(l, tables, arrived, &mut task, scratch.as_chunks_mut().0);
        });
    });

    let (mut keys, mut values, mut sums) = (to.keys, to.values, &*sums);
    let mut parts = Vec::new();
    for (item, sizes, pieces) in items {
        let (own, rest) = sums.split_at(l.heads * pieces * sizes.sums());
        sums = rest;
        let (keys, values) = (cut(&mut keys, item.keys * l.width()), cut(&mut values, item.keys * l.value_width()));
        let rows = keys.chunks_mut(KEYS * l.width()).zip(values.chunks_mut(KEYS * l.value_width())).enumerate();
        parts.extend(rows.map(|(block, (keys, values))| (sizes, pieces, block * KEYS, keys, values, own)));
    }
    parts.into_par_iter().for_each(|(sizes, pieces, first, keys, values, sums)| {
        for (task, sums) in sums.chunks_exact(sizes.sums()).enumerate() {
            let (key_sums, value_sums) = sums.split_at(sizes.key_sums);
            add_rows(key_sums, first, keys, l.width(), task / pieces, l.size);
            add_rows(value_sums, first, values, l.value_width(), task / pieces, l.value_size);
        }
    });
}

/// Adds a task's sums of the rows from `first` on to a head's part of them.
fn add_rows<T: Float>(sums: &[T], first: usize, rows: &mut [T], width: usize, head: usize, size: usize) {
    let sums = sums.as_chunks::<LANES>().0;
    let each = sums.len() / size.div_ceil(LANES);
    for (i, row) in rows.chunks_exact_mut(width).enumerate() {
        for (to, sums) in row[head * size..][..size].chunks_mut(LANES).zip(sums.chunks_exact(each)) {
            for (to, &x) in to.iter_mut().zip(&sums[first + i]) {
                *to += x;
            }
        }
    }
}

/// Buffers of a block of queries, carved from scratch memory.
struct Block<'a, T> {
    /// Of each sixteen queries: largest score, share and `dO . O`.
    ends: &'a mut [[Lanes<T>; 3]],
    /// `Qᵀ`, times the scale, and `dOᵀ`.
    queries: &'a mut [Lanes<T>],
    gradients: &'a mut [Lanes<T>],
    /// `Q`, times the scale, and `dO`, sixteen features after sixteen.
    query_rows: &'a mut [[Lanes<T>; LANES]],
    gradient_rows: &'a mut [[Lanes<T>; LANES]],
    /// `Pᵀ` and `dSᵀ`, `KEYS` rows for each sixteen queries.
    weights: &'a mut [Lanes<T>],
    d_scores: &'a mut [Lanes<T>],
    /// `dQᵀ`, but for the scale.
    d_queries: &'a mut [Lanes<T>],
}

impl<'a, T: Float> Block<'a, T> {
    fn sizes(l: Layout<T>) -> [usize; 8] {
        let (size, value_size) = (padded(l.size, LANES), padded(l.value_size, LANES));
        [3, l.size, l.value_size, size, value_size, KEYS, KEYS, padded(l.size, GROUP)].map(|each| PANELS * each)
    }

    /// Rows of lanes it takes.
    fn len(l: Layout<T>) -> usize {
        Self::sizes(l).iter().sum()
    }

    #[inline(always)]
    fn new(l: Layout<T>, mut from: &'a mut [Lanes<T>]) -> Self {
        let [ends, queries, gradients, query_rows, gradient_rows, weights, d_scores, d_queries] =
            Self::sizes(l).map(|size| cut(&mut from, size));
        Block {
            ends: ends.as_chunks_mut().0,
            queries,
            gradients,
            query_rows: query_rows.as_chunks_mut().0,
            gradient_rows: gradient_rows.as_chunks_mut().0,
            weights,
            d_scores,
            d_queries,
        }
    }

    /// Packs the queries `from..` of a task and what arrived at them.
    #[inline(always)]
    fn fill<const FMA: bool>(&mut self, l: Layout<T>, task: &Task<T>, queries: Rows<T>, arrived: Arrived<T>, from: usize) {
        let count = queries.count();
        let rows = |table| Rows::new(table, l.value_width(), task.item.query + task.first, count, task.head, l.value_size);
        let (contexts, gradients) = (rows(arrived.context), rows(arrived.gradient));
        let (query_panels, value_panels) = (l.size.div_ceil(LANES), l.value_size.div_ceil(LANES));
        for (p, from) in (from..count).step_by(LANES).take(PANELS).enumerate() {
            pack_lanes(queries, from, l.scale, &mut self.queries[p * l.size..][..l.size]);
            pack_lanes(gradients, from, T::ONE, &mut self.gradients[p * l.value_size..][..l.value_size]);
            pack_feature_lanes(queries, from, l.scale, &mut self.query_rows[p * query_panels..][..query_panels]);
            pack_feature_lanes(gradients, from, T::ONE, &mut self.gradient_rows[p * value_panels..][..value_panels]);
            // Lanes without a query have the share 0, so that nothing comes from them.
            let [largest, share, drift] = &mut self.ends[p];
            (*largest, *share, *drift) = ([T::ZERO; LANES], [T::ZERO; LANES], [T::ZERO; LANES]);
            for lane in 0..LANES.min(count - from) {
                let row = task.item.query + task.first + from + lane;
                let kept = &arrived.kept[(row * l.heads + task.head) * KEPT..][..KEPT];
                largest[lane] = if kept[0] == T::NEG_INFINITY { T::ZERO } else { kept[0] };
                share[lane] = kept[1];
                drift[lane] = inner::<T, FMA>(gradients.row(from + lane), contexts.row(from + lane));
            }
        }
        self.d_queries.fill([T::ZERO; LANES]);
    }

    /// `Pᵀ`, `dSᵀ` and `dQᵀ` of the sixteen queries `p` and the keys `key..key + rows`; rows beyond the last key are computed and of no use.
    #[inline(always)]
    fn weigh<const FMA: bool>(&mut self, l: Layout<T>, head: &Head<T>, p: usize, key: usize, rows: usize, diagonal: usize) {
        let weights = &mut self.weights[p * KEYS..][..rows];
        let d_scores = &mut self.d_scores[p * KEYS..][..rows];
        multiply::<T, FMA>(&head.keys[key / GROUP * l.size..], &self.queries[p * l.size..][..l.size], weights);
        hide(weights, key, diagonal);
        let gradients = &self.gradients[p * l.value_size..][..l.value_size];
        multiply::<T, FMA>(&head.values[key / GROUP * l.value_size..], gradients, d_scores);
        let [largest, share, drift] = &self.ends[p];
        for (weights, d_scores) in weights.iter_mut().zip(d_scores.iter_mut()) {
            for j in 0..LANES {
                weights[j] = (weights[j] - largest[j]).exp_nonpositive::<FMA>() * share[j];
                d_scores[j] = weights[j] * (d_scores[j] - drift[j]);
            }
        }
        let d_scores = &d_scores[..rows.min(head.count - key)];
        let to = self.d_queries.as_chunks_mut::<GROUP>().0.chunks_exact_mut(l.size.div_ceil(GROUP)).nth(p);
        for (to, features) in to.into_iter().flatten().zip(head.key_features.chunks_exact(head.count)) {
            *to = tile::<T, FMA>(*to, &features[key..], d_scores);
        }
    }
}

simd! {
    /// One task: writes its sums and adds to its queries' gradients.
    fn go_back<T>(l: Layout<'_, T>, tables: Tables<'_, T>, arrived: Arrived<'_, T>, task: &mut Task<'_, T>, scratch: &mut [Lanes<T>]) {
        let (item, head, count) = (task.item, task.head, task.queries.len());
        let queries = Rows::new(tables.queries, l.width(), item.query + task.first, count, head, l.size);
        let keys = Rows::new(tables.keys, l.width(), item.key, item.keys, head, l.size);
        let values = Rows::new(tables.values, l.value_width(), item.key, item.keys, head, l.value_size);
        let sizes = Sizes::new(l, item);
        task.sums.fill(T::ZERO);
        if item.keys == 0 {
            return;
        }
        let mut rest = std::mem::take(&mut task.packed);
        let [to_keys, to_values, to_key_features] =
            [sizes.keys, sizes.values, sizes.key_features].map(|size| cut(&mut rest, size).as_chunks_mut().0);
        pack_groups(keys, to_keys);
        pack_groups(values, to_values);
        pack_column_groups(keys, to_key_features);
        let head = Head { count: item.keys, keys: to_keys, values: to_values, key_features: to_key_features };

        let mut block = Block::new(l, scratch);
        for from in (0..count).step_by(PANELS * LANES) {
            let end = count.min(from + PANELS * LANES);
            block.fill::<FMA>(l, task, queries, arrived, from);
            let (d_keys, d_values) = task.sums.split_at_mut(sizes.key_sums);
            for key in (0..l.seen(item, task.first + end - 1)).step_by(KEYS) {
                // How many rows each sixteen queries see here: causal ones none at first, then more and more.
                let mut rows = [0; PANELS];
                for (p, from) in (from..end).step_by(LANES).enumerate() {
                    let seen = l.seen(item, task.first + from + LANES - 1);
                    if key < seen {
                        rows[p] = padded(KEYS.min(seen - key), GROUP);
                        let diagonal = if l.causal { task.first + from } else { item.keys };
                        block.weigh::<FMA>(l, &head, p, key, rows[p], diagonal);
                    }
                }
                sum_over_queries::<T, FMA>(block.weights, block.gradient_rows, &rows, key, d_values, item.keys);
                sum_over_queries::<T, FMA>(block.d_scores, block.query_rows, &rows, key, d_keys, item.keys);
            }
            for (to, sums) in task.queries[from..end].chunks_mut(LANES).zip(block.d_queries.chunks_exact(padded(l.size, GROUP))) {
                for (lane, to) in to.iter_mut().enumerate() {
                    for (to, sums) in to.iter_mut().zip(sums) {
                        *to = T::fma::<FMA>(l.scale, sums[lane], *to);
                    }
                }
            }
        }
    }
}

/// `to += A B` with the sum over the queries of a block: `a` is `Pᵀ` or `dSᵀ`, `b` is `dO` or `Q`.
#[inline(always)]
fn sum_over_queries<T: Float, const FMA: bool>(
    a: &[Lanes<T>],
    b: &[[Lanes<T>; LANES]],
    rows: &[usize; PANELS],
    key: usize,
    to: &mut [T],
    keys: usize,
) {
    let a: &[Tile<T>] = a.as_chunks().0;
    let groups = rows.iter().max().copied().unwrap_or(0) / GROUP;
    let feature_panels = b.len() / PANELS;
    let to: &mut [Tile<T>] = to.as_chunks_mut().0.as_chunks_mut().0;
    for (f, to) in to.chunks_exact_mut(keys.div_ceil(GROUP)).enumerate() {
        for (g, to) in to[key / GROUP..].iter_mut().take(groups).enumerate() {
            let mut sums = *to;
            for (p, &rows) in rows.iter().enumerate() {
                if g < rows / GROUP {
                    sums = square::<T, FMA>(sums, &a[p * KEYS / GROUP + g], &b[p * feature_panels + f]);
                }
            }
            *to = sums;
        }
    }
}
