//! Attention over a dynamic axis: every query row looks at the rows of one segment of the memory.
//!
//! The weights of all queries are one packed table of (query, key) pairs: the pairs of query 0, then those of query 1, and so on. `heads` columns
//! stand side by side; a row of `heads * d` features is read as `heads` vectors of `d`.
//!
//! All backward functions add to the gradients they are given.

use crate::map::inner;

/// For every query row, the memory rows `first..first + count` it looks at and its first pair.
#[derive(Clone, Copy, Debug)]
pub struct Span {
    /// First memory row.
    pub first: usize,
    /// Memory rows.
    pub count: usize,
    /// First pair.
    pub pair: usize,
}

/// `d` features a head; `heads` heads.
#[derive(Clone, Copy, Debug)]
pub struct Heads {
    /// Heads side by side.
    pub heads: usize,
    /// Features of one head.
    pub size: usize,
}

impl Heads {
    fn width(self) -> usize {
        self.heads * self.size
    }
}

simd! {
    /// `score[pair, head] = scale * q . k`
    pub fn dot_forward<T>(spans: &[Span], shape: Heads, scale: T, queries: &[T], keys: &[T], scores: &mut [T]) {
        let width = shape.width();
        for (query, span) in queries.chunks_exact(width).zip(spans) {
            for j in 0..span.count {
                let key = &keys[(span.first + j) * width..][..width];
                let scores = &mut scores[(span.pair + j) * shape.heads..][..shape.heads];
                for (h, score) in scores.iter_mut().enumerate() {
                    let at = h * shape.size..(h + 1) * shape.size;
                    *score = scale * inner::<T, FMA>(&query[at.clone()], &key[at]);
                }
            }
        }
    }
}

simd! {
    /// `dq += scale * ds * k`, `dk += scale * ds * q`
    pub fn dot_backward<T>(spans: &[Span], shape: Heads, scale: T, queries: &[T], keys: &[T], d_scores: &[T], d_queries: &mut [T], d_keys: &mut [T]) {
        let width = shape.width();
        for ((query, d_query), span) in queries.chunks_exact(width).zip(d_queries.chunks_exact_mut(width)).zip(spans) {
            for j in 0..span.count {
                let row = (span.first + j) * width;
                let (key, d_key) = (&keys[row..row + width], &mut d_keys[row..row + width]);
                for h in 0..shape.heads {
                    let d = scale * d_scores[(span.pair + j) * shape.heads + h];
                    let at = h * shape.size..(h + 1) * shape.size;
                    for (dq, &k) in d_query[at.clone()].iter_mut().zip(&key[at.clone()]) {
                        *dq = T::fma::<FMA>(d, k, *dq);
                    }
                    for (dk, &q) in d_key[at.clone()].iter_mut().zip(&query[at]) {
                        *dk = T::fma::<FMA>(d, q, *dk);
                    }
                }
            }
        }
    }
}

simd! {
    /// `hidden[pair] = tanh(q + k)`, all heads at once.
    pub fn additive_hidden<T>(spans: &[Span], width: usize, queries: &[T], keys: &[T], hidden: &mut [T]) {
        for (query, span) in queries.chunks_exact(width).zip(spans) {
            for j in 0..span.count {
                let key = &keys[(span.first + j) * width..][..width];
                let hidden = &mut hidden[(span.pair + j) * width..][..width];
                for ((x, &q), &k) in hidden.iter_mut().zip(query).zip(key) {
                    *x = (q + k).tanh();
                }
            }
        }
    }
}

simd! {
    /// `hidden[pair] = tanh(q + k + hidden[pair])`: like [`additive_hidden`], with what stands in `hidden` as a third term of each pair's own.
    pub fn additive_hidden_beside<T>(spans: &[Span], width: usize, queries: &[T], keys: &[T], hidden: &mut [T]) {
        for (query, span) in queries.chunks_exact(width).zip(spans) {
            for j in 0..span.count {
                let key = &keys[(span.first + j) * width..][..width];
                let hidden = &mut hidden[(span.pair + j) * width..][..width];
                for ((x, &q), &k) in hidden.iter_mut().zip(query).zip(key) {
                    *x = (q + k + *x).tanh();
                }
            }
        }
    }
}

simd! {
    /// Back through `v . tanh(q + k + x)` to `x`, the term of each pair's own.
    pub fn additive_beside_backward<T>(shape: Heads, v: &[T], hidden: &[T], d_scores: &[T], d_beside: &mut [T]) {
        let rows = hidden.chunks_exact(shape.width()).zip(d_beside.chunks_exact_mut(shape.width()));
        for ((hidden, d_beside), d_scores) in rows.zip(d_scores.chunks_exact(shape.heads)) {
            for (h, &d) in d_scores.iter().enumerate() {
                let at = h * shape.size..(h + 1) * shape.size;
                for ((dx, &x), &v) in d_beside[at.clone()].iter_mut().zip(&hidden[at.clone()]).zip(&v[at]) {
                    *dx += d * v * (T::ONE - x * x);
                }
            }
        }
    }
}

simd! {
    /// `score[pair, head] = v[head] . hidden[pair, head]`
    pub fn weigh_forward<T>(shape: Heads, v: &[T], hidden: &[T], scores: &mut [T]) {
        for (hidden, scores) in hidden.chunks_exact(shape.width()).zip(scores.chunks_exact_mut(shape.heads)) {
            for (h, score) in scores.iter_mut().enumerate() {
                let at = h * shape.size..(h + 1) * shape.size;
                *score = inner::<T, FMA>(&hidden[at.clone()], &v[at]);
            }
        }
    }
}

simd! {
    /// Back through `v . tanh(q + k)`: adds to the gradients of queries, keys and `v`.
    pub fn additive_backward<T>(spans: &[Span], shape: Heads, v: &[T], hidden: &[T], d_scores: &[T], d_queries: &mut [T], d_keys: &mut [T], d_v: &mut [T]) {
        let width = shape.width();
        for (d_query, span) in d_queries.chunks_exact_mut(width).zip(spans) {
            for j in 0..span.count {
                let pair = span.pair + j;
                let row = (span.first + j) * width;
                for h in 0..shape.heads {
                    let d = d_scores[pair * shape.heads + h];
                    let at = h * shape.size..(h + 1) * shape.size;
                    let hidden = &hidden[pair * width..][at.clone()];
                    for (dv, &x) in d_v[at.clone()].iter_mut().zip(hidden) {
                        *dv = T::fma::<FMA>(d, x, *dv);
                    }
                    let to = d_query[at.clone()].iter_mut().zip(&mut d_keys[row..][at.clone()]);
                    for (((dq, dk), &x), &v) in to.zip(hidden).zip(&v[at]) {
                        let g = d * v * (T::ONE - x * x);
                        *dq += g;
                        *dk += g;
                    }
                }
            }
        }
    }
}

simd! {
    /// `context[query, head] = Σ weight * value`
    pub fn mix_forward<T>(spans: &[Span], shape: Heads, weights: &[T], values: &[T], context: &mut [T]) {
        let width = shape.width();
        for (context, span) in context.chunks_exact_mut(width).zip(spans) {
            context.fill(T::ZERO);
            for j in 0..span.count {
                let value = &values[(span.first + j) * width..][..width];
                for h in 0..shape.heads {
                    let w = weights[(span.pair + j) * shape.heads + h];
                    let at = h * shape.size..(h + 1) * shape.size;
                    for (c, &x) in context[at.clone()].iter_mut().zip(&value[at]) {
                        *c = T::fma::<FMA>(w, x, *c);
                    }
                }
            }
        }
    }
}

simd! {
    /// `dw += dc . value`, `dvalue += w * dc`
    pub fn mix_backward<T>(spans: &[Span], shape: Heads, weights: &[T], values: &[T], d_context: &[T], d_weights: &mut [T], d_values: &mut [T]) {
        let width = shape.width();
        for (d_context, span) in d_context.chunks_exact(width).zip(spans) {
            for j in 0..span.count {
                let row = (span.first + j) * width;
                let (value, d_value) = (&values[row..row + width], &mut d_values[row..row + width]);
                for h in 0..shape.heads {
                    let pair = (span.pair + j) * shape.heads + h;
                    let w = weights[pair];
                    let at = h * shape.size..(h + 1) * shape.size;
                    d_weights[pair] += inner::<T, FMA>(&d_context[at.clone()], &value[at.clone()]);
                    for (dv, &dc) in d_value[at.clone()].iter_mut().zip(&d_context[at]) {
                        *dv = T::fma::<FMA>(w, dc, *dv);
                    }
                }
            }
        }
    }
}
