//! The forward pass: sixteen queries at a time, keys in blocks.

use rayon::prelude::*;

use super::tile::{GROUP, LANES, Lanes, Rows, Tile, hide, multiply, pack_column_groups, pack_groups, pack_lanes, padded, tile};
use super::{Item, KEPT, Layout, Tables, cut};
use crate::Float;
use crate::float::Scratch;

/// Keys handled at once: their scores with sixteen queries stay in the first-level cache. A multiple of [`GROUP`].
const KEYS: usize = 192;
/// Most queries of one task, which packs each block of keys once for all of them.
const QUERIES: usize = 2048;
/// Tasks for each thread, where there is enough to do.
const TASKS: usize = 4;

/// Some queries of one head of one sequence.
struct Task<'a, T> {
    item: Item,
    head: usize,
    first: usize,
    /// For each query, where its context goes, and its largest score and share.
    to: Vec<(&'a mut [T], &'a mut [T])>,
}

/// `context = softmax(scale Q Kᵀ) V`; `kept` gets what [`backward`](super::backward) needs, [`KEPT`] numbers for each query and head.
///
/// # Panics
/// If a table does not have the size that the layout says.
pub fn forward<T: Float>(l: Layout<T>, tables: Tables<T>, context: &mut [T], kept: &mut [T]) {
    l.check(tables);
    let rows = l.queries.last().copied().unwrap_or(0);
    assert_eq!((context.len(), kept.len()), (rows * l.value_width(), rows * l.heads * KEPT), "the tables to write");
    // The cut may depend on the number of threads: sixteen queries are computed in the same way wherever they are.
    let block = padded(rows * l.heads / (TASKS * rayon::current_num_threads()), LANES).clamp(2 * LANES, QUERIES);
    // Row after row, head after head.
    let mut to = context.chunks_exact_mut(l.value_size).zip(kept.chunks_exact_mut(KEPT));
    let mut tasks = Vec::new();
    for item in l.items() {
        for first in (0..item.queries).step_by(block) {
            let count = block.min(item.queries - first);
            let at = tasks.len();
            tasks.extend((0..l.heads).map(|head| Task { item, head, first, to: Vec::with_capacity(count) }));
            for _ in 0..count {
                for (task, to) in tasks[at..].iter_mut().zip(&mut to) {
                    task.to.push(to);
                }
            }
        }
    }
    // Later queries of a causal sequence have more to do: they come first, so that no thread is left with a long one at the end.
    tasks.into_par_iter().rev().with_max_len(1).for_each(|mut task| {
        T::with_scratch(Scratch::Left, Buffers::<T>::len(l, task.to.len()), |scratch| attend(l, tables, &mut task, scratch));
    });
}

/// What a task works on, carved from scratch memory.
struct Buffers<'a, T> {
    /// A block of keys, six together.
    keys: &'a mut [[T; GROUP]],
    /// Their values, six features together.
    values: &'a mut [[T; GROUP]],
    /// `Sᵀ`, then `Pᵀ`, of sixteen queries and a block of keys.
    scores: &'a mut [Lanes<T>],
    panels: &'a mut [Lanes<T>],
}

impl<'a, T: Float> Buffers<'a, T> {
    fn sizes(l: Layout<T>, queries: usize) -> [usize; 4] {
        let (keys, values) = (KEYS * l.size, KEYS * padded(l.value_size, GROUP));
        [keys, values, KEYS * LANES, queries.div_ceil(LANES) * Panel::<T>::len(l) * LANES]
    }

    fn len(l: Layout<T>, queries: usize) -> usize {
        Self::sizes(l, queries).iter().sum()
    }

    #[inline(always)]
    fn new(l: Layout<T>, queries: usize, mut from: &'a mut [T]) -> Self {
        let [keys, values, scores, panels] = Self::sizes(l, queries).map(|size| cut(&mut from, size));
        Buffers {
            keys: keys.as_chunks_mut().0,
            values: values.as_chunks_mut().0,
            scores: scores.as_chunks_mut().0,
            panels: panels.as_chunks_mut().0,
        }
    }
}

/// Sixteen queries on their way.
struct Panel<'a, T> {
    /// `Qᵀ`, times the scale.
    queries: &'a mut [Lanes<T>],
    /// `Oᵀ`
    sums: &'a mut [Lanes<T>],
    largest: &'a mut Lanes<T>,
    total: &'a mut Lanes<T>,
}

impl<'a, T: Float> Panel<'a, T> {
    /// Rows of lanes it takes.
    #[inline(always)]
    fn len(l: Layout<T>) -> usize {
        l.size + padded(l.value_size, GROUP) + 2
    }

    #[inline(always)]
    fn new(l: Layout<T>, mut from: &'a mut [Lanes<T>]) -> Self {
        Panel {
            queries: cut(&mut from, l.size),
            sums: cut(&mut from, padded(l.value_size, GROUP)),
            largest: &mut cut(&mut from, 1)[0],
            total: &mut cut(&mut from, 1)[0],
        }
    }
}

simd! {
    /// One task.
    fn attend<T>(l: Layout<'_, T>, tables: Tables<'_, T>, task: &mut Task<'_, T>, scratch: &mut [T]) {
        let (item, head, first, count) = (task.item, task.head, task.first, task.to.len());
        let queries = Rows::new(tables.queries, l.width(), item.query + first, count, head, l.size);
        let keys = Rows::new(tables.keys, l.width(), item.key, item.keys, head, l.size);
        let values = Rows::new(tables.values, l.value_width(), item.key, item.keys, head, l.value_size);
        let buffers = Buffers::new(l, count, scratch);

        for (from, panel) in (0..count).step_by(LANES).zip(buffers.panels.chunks_exact_mut(Panel::len(l))) {
            let panel = Panel::new(l, panel);
            pack_lanes(queries, from, l.scale, panel.queries);
            panel.sums.fill([T::ZERO; LANES]);
            *panel.largest = [T::NEG_INFINITY; LANES];
            *panel.total = [T::ZERO; LANES];
        }
        let seen = l.seen(item, first + count - 1);
        for key in (0..seen).step_by(KEYS) {
            let here = KEYS.min(seen - key);
            pack_groups(keys.part(key, here), buffers.keys);
            pack_column_groups(values.part(key, here), buffers.values);
            let block = Block { key, count: here, keys: buffers.keys, values: buffers.values };
            for (from, panel) in (0..count).step_by(LANES).zip(buffers.panels.chunks_exact_mut(Panel::len(l))) {
                let seen = l.seen(item, first + from + LANES - 1);
                if key < seen {
                    let here = here.min(seen - key);
                    let diagonal = if l.causal { first + from } else { item.keys };
                    take_in::<T, FMA>(&block, here, diagonal, buffers.scores, Panel::new(l, panel));
                }
            }
        }
        for (to, panel) in task.to.chunks_mut(LANES).zip(buffers.panels.chunks_exact_mut(Panel::len(l))) {
            let panel = Panel::new(l, panel);
            for (lane, (context, kept)) in to.iter_mut().enumerate() {
                let total = panel.total[lane];
                // Not `total > 0`: a NaN goes on.
                let share = if total == T::ZERO { T::ZERO } else { T::ONE / total };
                kept.copy_from_slice(&[panel.largest[lane], share]);
                for (to, sums) in context.iter_mut().zip(panel.sums.iter()) {
                    *to = sums[lane] * share;
                }
            }
        }
    }
}

/// Packed keys `key..key + count` with their values.
struct Block<'a, T> {
    key: usize,
    count: usize,
    keys: &'a [[T; GROUP]],
    values: &'a [[T; GROUP]],
}

/// Sixteen queries take in the first `here` keys of a block; the first query sees no key beyond `diagonal`, each next one a key more.
#[inline(always)]
fn take_in<T: Float, const FMA: bool>(block: &Block<T>, here: usize, diagonal: usize, scores: &mut [Lanes<T>], panel: Panel<T>) {
    multiply::<T, FMA>(block.keys, panel.queries, &mut scores[..padded(here, GROUP)]);
    let scores = &mut scores[..here];
    hide(scores, block.key, diagonal);

    let mut largest = *panel.largest;
    for scores in scores.iter() {
        for j in 0..LANES {
            largest[j] = T::max(scores[j], largest[j]);
        }
    }
    // While no key was allowed there is nothing to scale, and no difference of infinities may be formed.
    let shift = largest.map(|x| if x == T::NEG_INFINITY { T::ZERO } else { x });
    let mut fade = [T::ZERO; LANES];
    for j in 0..LANES {
        fade[j] = (panel.largest[j] - shift[j]).exp_nonpositive::<FMA>();
    }
    let mut total = [T::ZERO; LANES];
    for scores in scores.iter_mut() {
        for j in 0..LANES {
            scores[j] = (scores[j] - shift[j]).exp_nonpositive::<FMA>();
            total[j] += scores[j];
        }
    }
    for j in 0..LANES {
        panel.total[j] = T::fma::<FMA>(panel.total[j], fade[j], total[j]);
    }
    *panel.largest = largest;

    for (sums, values) in panel.sums.as_chunks_mut::<GROUP>().0.iter_mut().zip(block.values.chunks_exact(block.count)) {
        let mut faded: Tile<T> = *sums;
        for sums in &mut faded {
            for j in 0..LANES {
                sums[j] *= fade[j];
            }
        }
        *sums = tile::<T, FMA>(faded, values, scores);
    }
}
