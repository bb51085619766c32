//! Every kernel gives the same with and without wide instructions, and to the bit the same with wide and the widest ones.

use std::cell::{Cell as Flag, RefCell};
use std::collections::BTreeSet;
use std::path::Path;

use crate::activation::Activation;
use crate::attend::{Attend, Columns, Meeting};
use crate::bytes::{Bytes, product_bytes};
use crate::cell::Cell;
use crate::dropout::Dropout;
use crate::gemm::{Packed, View, product, product_packed};
use crate::pairs::{self, Heads, Span};
use crate::scan::{self, Kept, Saved, Steps};
use crate::streaming::{self, Gradients, KEPT, Layout, Tables};
use crate::{Float, activation, attend, dropout, loss, map, norm, optim, rotary, segment};

thread_local! {
    /// Which versions this thread takes, if they are there.
    pub(super) static UP_TO: Flag<Level> = const { Flag::new(Level::Widest) };
    /// The kernels that this thread has run: file and name.
    static RUN: RefCell<BTreeSet<(&'static str, &'static str)>> = const { RefCell::new(BTreeSet::new()) };
}

/// The versions of a kernel.
#[derive(Clone, Copy, Debug, PartialEq, PartialOrd)]
pub(super) enum Level {
    Baseline,
    Wide,
    Widest,
}

/// What `f` computes with this version.
fn at<T>(level: Level, f: impl Fn() -> T) -> T {
    UP_TO.set(level);
    let made = f();
    UP_TO.set(Level::Widest);
    made
}

/// Called by every function that `simd!` makes.
pub(crate) fn note(file: &'static str, name: &'static str) {
    RUN.with_borrow_mut(|run| run.insert((file, name)));
}

fn numbers<T: Float>(seed: usize, len: usize) -> Vec<T> {
    (0..len).map(|i| T::from_f64((((i + seed) * 7919) % 1009) as f64 / 504.5 - 1.0)).collect()
}

/// What `f` computes is the same with and without wide instructions, but for the rounding that a fused multiply-add spares. The widest instructions change nothing at all: a model learns the same on every processor that
/// has wide ones.
fn agree<T: Float>(name: &str, f: impl Fn() -> Vec<T>) {
    let [widest, wide, baseline] = [Level::Widest, Level::Wide, Level::Baseline].map(|level| at(level, &f));
    let tolerance = if T::BYTES == 8 { 1e-13 } else { 1e-5 };
    assert_eq!(wide.len(), baseline.len(), "{name}");
    for (i, (a, b)) in wide.iter().zip(&baseline).enumerate() {
        let error = (a.to_f64() - b.to_f64()).abs();
        assert!(error <= tolerance * b.to_f64().abs().max(1.0), "{name} [{i}]: {a} and {b}");
    }
    assert_eq!(widest, wide, "{name}");
}

/// A kernel that changes its first slice, 50 numbers.
fn changes<T: Float>(name: &str, f: impl Fn(&mut [T])) {
    agree::<T>(name, || {
        let mut y = numbers(1, 50);
        f(&mut y);
        y
    });
}

fn all<T: Float>() {
    products::<T>();
    for cell in [Cell::Tanh, Cell::Gru, Cell::Lstm] {
        agree::<T>("scan", || whole_scan(cell));
    }
    agree::<T>("softmax", || {
        let mut y = numbers(1, 60);
        segment::softmax_forward(&[0, 7, 7, 60], 1, &mut y);
        y
    });
    agree::<T>("cross entropy", || {
        let mut logits = numbers(1, 3 * 41);
        let total = loss::cross_entropy_block(&mut logits, 41, &[4, 0, 40], T::from_f64(0.1), T::ONE);
        logits.push(T::from_f64(total));
        logits
    });
    agree::<T>("log softmax", || {
        let mut row = numbers(1, 150);
        loss::log_softmax(&mut row);
        row
    });
    layers::<T>();
    maps::<T>();
    optimisers::<T>();
    attention::<T>();
    agree::<T>("streaming", || whole_streaming(false));
    agree::<T>("streaming, causal", || whole_streaming(true));
}

/// What a Transformer is made of beside products.
fn layers<T: Float>() {
    agree::<T>("layer norm", || {
        let (x, scale, mut y, mut kept) = (numbers::<T>(1, 3 * 37), numbers::<T>(2, 37), T::zeros(3 * 37), [[T::ZERO; 2]; 3]);
        norm::layer_norm_forward(&x, &scale, &scale, T::from_f64(1e-5), &mut y, &mut kept);
        let (mut dx, mut d) = (T::zeros(3 * 37), T::zeros(2 * 37));
        let (d_scale, d_shift) = d.split_at_mut(37);
        norm::layer_norm_backward(&x, &kept, &scale, &numbers(3, 3 * 37), false, &mut dx, d_scale, d_shift);
        [y, dx, d].concat()
    });
    for kind in [Activation::Relu, Activation::Gelu] {
        agree::<T>("activation", || {
            let (mut y, mut slopes, mut d) = (numbers::<T>(1, 50), T::zeros(50), numbers::<T>(2, 50));
            let dropout = Some(Dropout::new(7, 0.3));
            activation::forward(kind, dropout, 5, &mut y, &mut slopes);
            activation::backward(kind, dropout, &y, &slopes, &mut d);
            [y, slopes, d].concat()
        });
    }
    agree::<T>("attention with weights", || whole_attention());
    agree::<T>("attention from a log", || {
        let (q, log, mut context) = (numbers::<T>(1, 2 * 38), numbers::<T>(2, 7 * 2 * 38), T::zeros(2 * 38));
        let (shape, queries) = (Heads { heads: 2, size: 19 }, Columns { table: &q, stride: 38, first: 0 });
        attend::from_log(shape, T::from_f64(0.2), queries, &log, &[0, 3, 6, 1, 3, 5], 3, &mut context);
        context
    });
    agree::<T>("dropout", || {
        let (a, b, dropout) = (numbers::<T>(1, 50), numbers::<T>(2, 50), Dropout::new(7, 0.3));
        let (mut sum, mut dropped, mut added) = (T::zeros(50), T::zeros(50), numbers::<T>(3, 50));
        dropout::add_forward(&a, &b, Some(dropout), &mut sum);
        dropout::apply(dropout, 5, &a, &mut dropped);
        dropout::add_assign(dropout, &a, &mut added);
        [sum, dropped, added].concat()
    });
    agree::<T>("rotary positions", || {
        let mut x = numbers::<T>(1, 3 * 8);
        rotary::rotate(&[0, 2, 1], &numbers(2, 3 * 4), 2, 4, 8, false, &mut x);
        x
    });
}

/// Two heads of 19 features, three causal queries, five keys: weights, context and gradients.
fn whole_attention<T: Float>() -> Vec<T> {
    let (queries, keys, width) = (3, 5, 2 * 19);
    let (q, k, dc) = (numbers::<T>(1, queries * width), numbers::<T>(2, keys * width), numbers::<T>(3, queries * width));
    let columns = |table| Columns { table, stride: width, first: 0 };
    let attend = Attend {
        shape: Heads { heads: 2, size: 19 },
        scale: T::from_f64(0.2),
        causal: true,
        dropout: Some(Dropout::new(7, 0.3)),
        queries: columns(&q),
        keys: columns(&k),
        values: columns(&k),
    };
    let meeting = Meeting { query: 0, queries, key: 0, keys };
    let (mut weights, mut context) = (T::zeros(meeting.weights(2)), T::zeros(queries * width));
    attend::forward(attend, meeting, 0, &mut weights, &mut context);
    let (mut dq, mut dk, mut dv) = (T::zeros(queries * width), T::zeros(keys * width), T::zeros(keys * width));
    let to = attend::Gradients { queries: &mut dq, keys: &mut dk, values: &mut dv };
    attend::backward(attend, meeting, 0, &weights, &[], &dc, to, &mut T::zeros(keys));
    [weights, context, dq, dk, dv].concat()
}

fn products<T: Float>() {
    let (m, k, n) = (19, 37, 50);
    agree::<T>("product", || {
        let mut c = numbers(3, m * n);
        product(View::new(&numbers(1, m * k), m, k), View::new(&numbers(2, n * k), n, k).t(), &mut c, n, true);
        c
    });
    agree::<T>("product_bytes", || {
        let mut c = numbers(3, m * n);
        product_bytes(&numbers::<T>(1, m * k), &Bytes::new(View::new(&numbers::<T>(2, n * k), n, k)), &mut c, n, true, &mut Vec::new());
        c
    });
    agree::<T>("product_packed", || {
        let mut c = numbers(3, m * n);
        product_packed(View::new(&numbers(1, m * k), m, k), &Packed::new(View::new(&numbers(2, k * n), k, n)), &mut c, n, true);
        c
    });
}

fn maps<T: Float>() {
    changes::<T>("tanh", map::tanh_forward);
    changes::<T>("tanh, back", |dx| map::tanh_backward(&numbers(2, 50), &numbers(3, 50), dx));
    changes::<T>("sigmoid", map::sigmoid_forward);
    changes::<T>("sigmoid, back", |dx| map::sigmoid_backward(&numbers(2, 50), &numbers(3, 50), dx));
    changes::<T>("exp", map::exp_forward);
    changes::<T>("add_assign", |y| map::add_assign(y, &numbers(2, 50)));
    changes::<T>("axpy", |y| map::axpy(T::from_f64(0.3), &numbers(2, 50), y));
    changes::<T>("add_product", |y| map::add_product(y, &numbers(2, 50), &numbers(3, 50)));
    changes::<T>("add_rows", |sum| map::add_rows(&numbers(2, 7 * 50), sum));
    agree::<T>("dot", || vec![map::dot(&numbers(1, 50), &numbers(2, 50))]);
}

fn optimisers<T: Float>() {
    agree::<T>("sum_of_squares", || vec![T::from_f64(optim::sum_of_squares(&numbers::<T>(1, 50)))]);
    changes::<T>("add_shards", |total| optim::add_shards(total, &numbers(2, 50)));
    let small = |x: f64| T::from_f64(x);
    agree::<T>("adam", || {
        let settings = optim::Adam {
            rate: small(0.1),
            beta1: small(0.9),
            beta2: small(0.99),
            epsilon: small(1e-3),
            correction1: small(0.19),
            correction2: small(0.02),
            decay: small(0.01),
            scale: small(0.5),
        };
        let (mut w, mut first, mut second) = (numbers(1, 50), numbers(3, 50), vec![T::ONE; 50]);
        optim::adam(settings, &mut w, &numbers(2, 50), &mut first, &mut second);
        [w, first, second].concat()
    });
    agree::<T>("sgd", || {
        let (mut w, mut velocity) = (numbers(1, 50), numbers(3, 50));
        optim::sgd(small(0.1), small(0.9), small(0.5), &mut w, &numbers(2, 50), &mut velocity);
        [w, velocity].concat()
    });
    agree::<T>("adagrad", || {
        let (mut w, mut s) = (numbers(1, 50), vec![small(1e-4); 50]);
        optim::adagrad(small(0.1), small(1e-7), small(0.5), &mut w, &numbers(2, 50), &mut s);
        [w, s].concat()
    });
    agree::<T>("adadelta", || {
        let (mut w, mut s, mut u) = (numbers(1, 50), T::zeros(50), T::zeros(50));
        optim::adadelta(T::ONE, small(0.9), small(1e-3), T::ONE, &mut w, &numbers(2, 50), &mut s, &mut u);
        [w, s, u].concat()
    });
}

/// Attention over pairs: three queries, the first two over the rows 0..9 of a memory, the last over 9..20.
fn attention<T: Float>() {
    let spans = [Span { first: 0, count: 9, pair: 0 }, Span { first: 0, count: 9, pair: 9 }, Span { first: 9, count: 11, pair: 18 }];
    let shape = Heads { heads: 2, size: 19 };
    let (width, pairs, rows) = (38, 29, 20);
    let (queries, keys, v) = (numbers::<T>(1, 3 * width), numbers::<T>(2, rows * width), numbers::<T>(3, width));
    let (hidden, d_scores) = (numbers::<T>(4, pairs * width), numbers::<T>(5, pairs * 2));
    let scale = T::from_f64(0.3);
    agree::<T>("dot scores", || {
        let mut scores = T::zeros(pairs * 2);
        pairs::dot_forward(&spans, shape, scale, &queries, &keys, &mut scores);
        scores
    });
    agree::<T>("dot scores, back", || {
        let (mut d_queries, mut d_keys) = (numbers(6, 3 * width), numbers(7, rows * width));
        pairs::dot_backward(&spans, shape, scale, &queries, &keys, &d_scores, &mut d_queries, &mut d_keys);
        [d_queries, d_keys].concat()
    });
    agree::<T>("additive scores", || {
        let (mut plain, mut beside, mut scores) = (T::zeros(pairs * width), hidden.clone(), T::zeros(pairs * 2));
        pairs::additive_hidden(&spans, width, &queries, &keys, &mut plain);
        pairs::additive_hidden_beside(&spans, width, &queries, &keys, &mut beside);
        pairs::weigh_forward(shape, &v, &hidden, &mut scores);
        [plain, beside, scores].concat()
    });
    agree::<T>("additive scores, back", || {
        let (mut d_queries, mut d_keys, mut d_v) = (numbers(6, 3 * width), numbers(7, rows * width), numbers(8, width));
        pairs::additive_backward(&spans, shape, &v, &hidden, &d_scores, &mut d_queries, &mut d_keys, &mut d_v);
        let mut d_beside = numbers(9, pairs * width);
        pairs::additive_beside_backward(shape, &v, &hidden, &d_scores, &mut d_beside);
        [d_queries, d_keys, d_v, d_beside].concat()
    });
    agree::<T>("mix", || {
        let (mut context, mut d_weights, mut d_values) = (T::zeros(3 * width), numbers(6, pairs * 2), numbers(7, rows * width));
        pairs::mix_forward(&spans, shape, &d_scores, &keys, &mut context);
        pairs::mix_backward(&spans, shape, &d_scores, &keys, &queries, &mut d_weights, &mut d_values);
        [context, d_weights, d_values].concat()
    });
}

/// A layer forwards and backwards: states, then the gradients of gates and initial states.
fn whole_scan<T: Float>(cell: Cell) -> Vec<T> {
    let (h, counts, rows, items) = (21, [4, 3, 3, 1], 11, 4);
    let (g, steps) = (cell.gates() * h, Steps { counts: &counts });
    let (weights, bias, state0) = (numbers::<T>(1, g * h), numbers(2, g), numbers(3, items * h));
    let (mut gates, mut extra, mut states) = (numbers(4, rows * g), T::zeros(rows * cell.extra() * h), T::zeros(rows * h));
    let kept = Kept { gates: &mut gates, extra: &mut extra, states: &mut states };
    let packed = Packed::new(View::new(&weights, g, h).t());
    scan::forward(cell, h, steps, &packed, &bias, &state0, &state0, kept, &mut T::zeros(items * g));
    let saved = Saved { gates: &gates, extra: &extra, states: &states, state0: &state0, memory0: &state0 };
    let (mut d_gates, mut d_state, mut d_memory) = (T::zeros(rows * cell.gradient_gates() * h), T::zeros(items * h), T::zeros(items * h));
    let packed = Packed::new(View::new(&weights, g, h));
    let d_states = numbers(5, rows * h);
    scan::backward(cell, h, steps, &packed, saved, &d_states, &[], &mut d_gates, &mut d_state, &mut d_memory);
    [states, d_gates, d_state, d_memory].concat()
}

/// Streaming attention forwards and backwards: what it gives and keeps, then the gradients of queries, keys and values.
fn whole_streaming<T: Float>(causal: bool) -> Vec<T> {
    let (queries, keys) = ([0, 21, 21, 40], [0, 33, 35, 40]);
    let l = Layout { heads: 2, size: 7, value_size: 5, scale: T::from_f64(0.4), causal, queries: &queries, keys: &keys };
    let (q, k, v) = (numbers::<T>(1, 40 * 14), numbers::<T>(2, 40 * 14), numbers::<T>(3, 40 * 10));
    let tables = Tables { queries: &q, keys: &k, values: &v };
    let (mut context, mut kept) = (T::zeros(40 * 10), T::zeros(40 * 2 * KEPT));
    streaming::forward(l, tables, &mut context, &mut kept);
    let (mut d_q, mut d_k, mut d_v) = (T::zeros(40 * 14), T::zeros(40 * 14), T::zeros(40 * 10));
    let to = Gradients { queries: &mut d_q, keys: &mut d_k, values: &mut d_v };
    streaming::backward(l, tables, &context, &kept, &numbers(4, 40 * 10), to, &mut T::zeros(streaming::workspace(l)));
    [context, kept, d_q, d_k, d_v].concat()
}

/// The functions inside `simd!` in the sources under a folder: file and name.
fn kernels(folder: &Path, found: &mut BTreeSet<(String, String)>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            kernels(&path, found);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            let text = std::fs::read_to_string(&path).unwrap();
            for inside in text.split("\nsimd! {\n").skip(1) {
                let (name, _) = inside.split_once("fn ").unwrap().1.split_once('<').unwrap();
                found.insert((path.file_name().unwrap().to_str().unwrap().to_owned(), name.to_owned()));
            }
        }
    }
}

#[test]
fn wide_and_baseline_versions_agree_for_every_kernel() {
    // On one thread, so that the choice of this thread is the choice of all.
    let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap();
    let run: BTreeSet<(String, String)> = alone.install(|| {
        all::<f64>();
        all::<f32>();
        let last = |file: &str| file.rsplit(['/', '\\']).next().unwrap().to_owned();
        RUN.with_borrow(|run| run.iter().map(|&(file, name)| (last(file), name.to_owned())).collect())
    });
    let mut there = BTreeSet::new();
    kernels(&Path::new(env!("CARGO_MANIFEST_DIR")).join("src"), &mut there);
    assert!(there.len() > 30, "{there:?}");
    assert_eq!(run, there, "the kernels that were compared, and those that there are");
}
