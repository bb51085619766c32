//! What works row by row or number by number against plain loops: losses, layer norm, attention over pairs, optimisers.

use crate::common::{as_f64, assert_close, lengths, numbers, offsets};
use proptest::prelude::*;
use spotlight_kernels::pairs::{self, Heads, Span};
use spotlight_kernels::{Float, loss, map, norm, optim};

fn check_loss<T: Float>(rows: usize, vocabulary: usize, smoothing: f64, size: f64, seed: u64) {
    let logits: Vec<T> = numbers::<T>(seed, rows * vocabulary).into_iter().map(|x| x * T::from_f64(size)).collect();
    let targets: Vec<u32> = (0..rows).map(|i| ((i as u64 * 31 + seed) % vocabulary as u64) as u32).collect();
    let (exact, scale) = (as_f64(&logits), 0.25);
    let (mut want, mut want_loss) = (Vec::new(), 0.0);
    for (row, &target) in exact.chunks(vocabulary).zip(&targets) {
        let top = row.iter().copied().fold(f64::NEG_INFINITY, f64::max);
        let log_total = top + row.iter().map(|x| (x - top).exp()).sum::<f64>().ln();
        for (j, x) in row.iter().enumerate() {
            let wanted = smoothing / vocabulary as f64 + if j == target as usize { 1.0 - smoothing } else { 0.0 };
            want_loss -= scale * wanted * (x - log_total);
            want.push(scale * ((x - log_total).exp() - wanted));
        }
    }
    let mut got = logits;
    let total = loss::cross_entropy_block(&mut got, vocabulary, &targets, T::from_f64(smoothing), T::from_f64(scale));
    assert_close("cross_entropy_block", &got, &want);
    assert_close("its loss", &[T::from_f64(total)], &[want_loss]);
}

fn check_layer_norm<T: Float>(rows: usize, cols: usize, seed: u64) {
    let [x, dy, before] = [1, 2, 3].map(|i| numbers::<T>(seed + i, rows * cols));
    let [scale, shift] = [4, 5].map(|i| numbers::<T>(seed + i, cols));
    let epsilon = 1e-3;
    let [x64, dy64, mut dx64, scale64, shift64] = [&x, &dy, &before, &scale, &shift].map(|v| as_f64(v));
    let (mut y64, mut d_scale64, mut d_shift64) = (Vec::new(), vec![0.0; cols], vec![0.0; cols]);
    let n = cols as f64;
    for ((x, dy), dx) in x64.chunks(cols).zip(dy64.chunks(cols)).zip(dx64.chunks_mut(cols)) {
        let mean = x.iter().sum::<f64>() / n;
        let deviation = (x.iter().map(|x| (x - mean).powi(2)).sum::<f64>() / n + epsilon).sqrt();
        let normal: Vec<f64> = x.iter().map(|x| (x - mean) / deviation).collect();
        y64.extend((0..cols).map(|j| normal[j] * scale64[j] + shift64[j]));
        let inner: Vec<f64> = (0..cols).map(|j| dy[j] * scale64[j]).collect();
        let along = inner.iter().zip(&normal).map(|(a, b)| a * b).sum::<f64>() / n;
        for j in 0..cols {
            dx[j] += (inner[j] - inner.iter().sum::<f64>() / n - normal[j] * along) / deviation;
            d_scale64[j] += dy[j] * normal[j];
            d_shift64[j] += dy[j];
        }
    }
    let (mut y, mut kept) = (T::zeros(x.len()), vec![[T::ZERO; 2]; rows]);
    norm::layer_norm_forward(&x, &scale, &shift, T::from_f64(epsilon), &mut y, &mut kept);
    assert_close("layer norm", &y, &y64);
    let (mut dx, mut d_scale, mut d_shift) = (before.clone(), T::zeros(cols), T::zeros(cols));
    norm::layer_norm_backward(&x, &kept, &scale, &dy, true, &mut dx, &mut d_scale, &mut d_shift);
    assert_close("layer norm backward", &dx, &dx64);
    assert_close("its scale", &d_scale, &d_scale64);
    assert_close("its shift", &d_shift, &d_shift64);
    // Written instead of added, the gradient of the row alone is left.
    norm::layer_norm_backward(&x, &kept, &scale, &dy, false, &mut dx, &mut d_scale, &mut d_shift);
    let alone: Vec<f64> = dx64.iter().zip(as_f64(&before)).map(|(all, before)| all - before).collect();
    assert_close("layer norm backward, alone", &dx, &alone);
}

/// Attention of some queries over the sequences of `lengths`: scores by dot product and by `v . tanh(q + k)`, and the mix of values.
fn check_pairs<T: Float>(lengths: &[usize], heads: usize, size: usize, seed: u64) {
    let (width, offsets) = (heads * size, offsets(lengths));
    let (mut spans, mut pairs) = (Vec::new(), 0);
    // Two queries look at the first sequence, one at each of the others.
    for item in lengths.first().map(|_| 0).into_iter().chain(0..lengths.len()) {
        spans.push(Span { first: offsets[item], count: lengths[item], pair: pairs });
        pairs += lengths[item];
    }
    let (memory, queries, scores) = (offsets[lengths.len()] * width, spans.len() * width, pairs * heads);
    let [q, dc] = [1, 2].map(|i| numbers::<T>(seed + i, queries));
    let [k, dk0] = [3, 4].map(|i| numbers::<T>(seed + i, memory));
    let [w, ds, ds0] = [5, 6, 7].map(|i| numbers::<T>(seed + i, scores));
    let v = numbers::<T>(seed + 8, width);
    let scale = 0.7;
    let [q64, k64, v64, w64, ds64, dc64] = [&q, &k, &v, &w, &ds, &dc].map(|x| as_f64(x));
    let (mut dot64, mut hidden64, mut weigh64, mut mix64) =
        (vec![0.0; scores], vec![0.0; pairs * width], vec![0.0; scores], vec![0.0; queries]);
    let (mut dq_dot, mut dk_dot, mut dq_add, mut dk_add) = (vec![0.0; queries], as_f64(&dk0), vec![0.0; queries], as_f64(&dk0));
    let (mut dv64, mut dw64, mut d_value64) = (vec![0.0; width], as_f64(&ds0), as_f64(&dk0));
    for (i, span) in spans.iter().enumerate() {
        for j in 0..span.count {
            for f in 0..width {
                let (s, at_q, at_k) = ((span.pair + j) * heads + f / size, i * width + f, (span.first + j) * width + f);
                dot64[s] += scale * q64[at_q] * k64[at_k];
                let hidden = (q64[at_q] + k64[at_k]).tanh();
                hidden64[(span.pair + j) * width + f] = hidden;
                weigh64[s] += v64[f] * hidden;
                mix64[at_q] += w64[s] * k64[at_k];
                dq_dot[at_q] += scale * ds64[s] * k64[at_k];
                dk_dot[at_k] += scale * ds64[s] * q64[at_q];
                let slope = ds64[s] * v64[f] * (1.0 - hidden * hidden);
                dq_add[at_q] += slope;
                dk_add[at_k] += slope;
                dv64[f] += ds64[s] * hidden;
                dw64[s] += dc64[at_q] * k64[at_k];
                d_value64[at_k] += w64[s] * dc64[at_q];
            }
        }
    }
    let shape = Heads { heads, size };
    let mut got = T::zeros(scores);
    pairs::dot_forward(&spans, shape, T::from_f64(scale), &q, &k, &mut got);
    assert_close("dot", &got, &dot64);
    let mut hidden = T::zeros(pairs * width);
    pairs::additive_hidden(&spans, width, &q, &k, &mut hidden);
    assert_close("additive hidden", &hidden, &hidden64);
    pairs::weigh_forward(shape, &v, &hidden, &mut got);
    assert_close("additive", &got, &weigh64);
    let mut context = numbers::<T>(seed, queries);
    pairs::mix_forward(&spans, shape, &w, &k, &mut context);
    assert_close("mix", &context, &mix64);

    let (mut dq, mut dk) = (T::zeros(queries), dk0.clone());
    pairs::dot_backward(&spans, shape, T::from_f64(scale), &q, &k, &ds, &mut dq, &mut dk);
    assert_close("dot backward, queries", &dq, &dq_dot);
    assert_close("dot backward, keys", &dk, &dk_dot);
    let (mut dq, mut dk, mut dv) = (T::zeros(queries), dk0.clone(), T::zeros(width));
    pairs::additive_backward(&spans, shape, &v, &hidden, &ds, &mut dq, &mut dk, &mut dv);
    assert_close("additive backward, queries", &dq, &dq_add);
    assert_close("additive backward, keys", &dk, &dk_add);
    assert_close("additive backward, v", &dv, &dv64);
    let (mut dw, mut d_value) = (ds0, dk0);
    pairs::mix_backward(&spans, shape, &w, &k, &dc, &mut dw, &mut d_value);
    assert_close("mix backward, weights", &dw, &dw64);
    assert_close("mix backward, values", &d_value, &d_value64);
}

fn check_optimisers<T: Float>(len: usize, seed: u64) {
    let (start, rate, scale) = (numbers::<T>(seed, len), 0.05, 0.5);
    let t = T::from_f64;
    let [mut sgd, mut adam, mut adadelta] = [(); 3].map(|()| start.clone());
    let [mut velocity, mut first, mut second, mut squares, mut updates] = [(); 5].map(|()| T::zeros(len));
    let [mut sgd64, mut adam64, mut adadelta64] = [(); 3].map(|()| as_f64(&start));
    let [mut velocity64, mut first64, mut second64, mut squares64, mut updates64] = [(); 5].map(|()| vec![0.0; len]);
    for step in 1..=4 {
        let gradient = numbers::<T>(seed + step, len);
        optim::sgd(t(rate), t(0.9), t(scale), &mut sgd, &gradient, &mut velocity);
        let (correction1, correction2) = (1.0 - 0.9f64.powi(step as i32), 1.0 - 0.99f64.powi(step as i32));
        let settings = optim::Adam {
            rate: t(rate),
            beta1: t(0.9),
            beta2: t(0.99),
            epsilon: t(1e-3),
            correction1: t(correction1),
            correction2: t(correction2),
            decay: t(0.1),
            scale: t(scale),
        };
        optim::adam(settings, &mut adam, &gradient, &mut first, &mut second);
        optim::adadelta(t(rate), t(0.8), t(1e-3), t(scale), &mut adadelta, &gradient, &mut squares, &mut updates);
        for (i, g) in as_f64(&gradient).into_iter().enumerate() {
            let g = g * scale;
            velocity64[i] = 0.9 * velocity64[i] + g;
            sgd64[i] -= rate * velocity64[i];
            first64[i] = 0.9 * first64[i] + 0.1 * g;
            second64[i] = 0.99 * second64[i] + (1.0 - 0.99) * g * g;
            adam64[i] -= rate * 0.1 * adam64[i];
            adam64[i] -= rate * (first64[i] / correction1) / ((second64[i] / correction2).sqrt() + 1e-3);
            squares64[i] = 0.8 * squares64[i] + (1.0 - 0.8) * g * g;
            let change = ((updates64[i] + 1e-3) / (squares64[i] + 1e-3)).sqrt() * g;
            updates64[i] = 0.8 * updates64[i] + (1.0 - 0.8) * change * change;
            adadelta64[i] -= rate * change;
        }
    }
    assert_close("sgd", &sgd, &sgd64);
    assert_close("adam", &adam, &adam64);
    assert_close("adadelta", &adadelta, &adadelta64);
}

fn check_sums<T: Float>(len: usize, seed: u64) {
    let (a, b) = (numbers::<T>(seed, len), numbers::<T>(seed + 1, len));
    let (a64, b64) = (as_f64(&a), as_f64(&b));
    let dot: f64 = a64.iter().zip(&b64).map(|(a, b)| a * b).sum();
    assert_close("dot", &[map::dot(&a, &b)], &[dot]);
    let squares: f64 = a64.iter().map(|a| a * a).sum();
    assert_close("sum_of_squares", &[T::from_f64(optim::sum_of_squares(&a))], &[squares]);
}

macro_rules! in_both_types {
    ($check:ident($($argument:expr),*)) => {
        $check::<f64>($($argument),*);
        $check::<f32>($($argument),*);
    };
}

proptest! {
    #[test]
    fn cross_entropy(rows in 0usize..5, vocabulary in 1usize..50, smoothing in prop_oneof![Just(0.0), 0.0..0.9],
                     size in prop_oneof![Just(1.0), Just(30.0)], seed in 0u64..1000) {
        in_both_types!(check_loss(rows, vocabulary, smoothing, size, seed));
    }

    #[test]
    fn layer_norm(rows in 0usize..5, cols in 1usize..40, seed in 0u64..1000) {
        in_both_types!(check_layer_norm(rows, cols, seed));
    }

    #[test]
    fn attention_over_pairs(lengths in lengths(), heads in 1usize..4, size in 1usize..20, seed in 0u64..1000) {
        in_both_types!(check_pairs(&lengths, heads, size, seed));
    }

    #[test]
    fn optimisers(len in 0usize..70, seed in 0u64..1000) {
        in_both_types!(check_optimisers(len, seed));
    }

    #[test]
    fn sums(len in 0usize..70, seed in 0u64..1000) {
        in_both_types!(check_sums(len, seed));
    }
}

#[test]
fn binary_cross_entropy_is_its_formula_and_survives_any_logit() {
    for target in [0.0, 0.3, 1.0] {
        for logit in [-3.0f64, -0.5, 0.0, 0.7, 4.0] {
            let (loss, slope) = loss::binary_cross_entropy(logit, target);
            let p = 1.0 / (1.0 + (-logit).exp());
            assert!((loss + target * p.ln() + (1.0 - target) * (1.0 - p).ln()).abs() < 1e-12, "{logit} {target}: {loss}");
            assert!((slope - (p - target)).abs() < 1e-12, "{logit} {target}: {slope}");
        }
        assert_eq!(loss::binary_cross_entropy(1000.0, target), (1000.0 * (1.0 - target), 1.0 - target));
        assert_eq!(loss::binary_cross_entropy(-1000.0, target), (1000.0 * target, -target));
    }
}
