//! Kernels at the shapes that occur in training: `cargo bench -p spotlight-kernels`, or with a name after `--` to choose.
//!
//! Sizes are those of the design. XS: hidden 32, batch 32; S: hidden 128, batch 64; M: hidden 512, batch 64; each shard has half of the batch. One thread.

use divan::counter::ItemsCount;
use divan::{Bencher, black_box};
use spotlight_kernels::attend::{self, Attend, Columns, Meeting};
use spotlight_kernels::cell::Cell;
use spotlight_kernels::decoder::{self, BackwardWeights, ForwardWeights, Gradients, Layout, Memory, Trace};
use spotlight_kernels::gemm::{Packed, View, product, product_packed};
use spotlight_kernels::pairs::{Heads, Span};
use spotlight_kernels::scan::{self, Kept, Saved, Steps};
use spotlight_kernels::{loss, map, optim, segment};

fn main() {
    divan::main();
}

/// Numbers between -0.5 and 0.5.
fn numbers(len: usize) -> Vec<f32> {
    (0..len).map(|i| ((i * 7919) % 1009) as f32 / 1009.0 - 0.5).collect()
}

/// `[m, k, n]`: a layer of a narrow Transformer, and few rows with one; a step of XS, S and M; the output layer of M.
const PRODUCTS: [[usize; 3]; 8] =
    [[32, 128, 128], [1, 128, 512], [4, 128, 512], [8, 128, 512], [16, 32, 96], [32, 128, 384], [32, 512, 1536], [360, 1024, 8000]];

/// Counted in multiplications, so that a billion items a second is a billion fused multiply-adds: 2 GFLOP/s.
fn multiplications([m, k, n]: [usize; 3]) -> ItemsCount {
    ItemsCount::new(m * k * n)
}

/// Weights stand as PyTorch keeps them, so the right side is transposed.
#[divan::bench(args = PRODUCTS)]
fn product_transposed(bencher: Bencher, shape @ [m, k, n]: [usize; 3]) {
    let (a, b, mut c) = (numbers(m * k), numbers(n * k), vec![0.0; m * n]);
    let bencher = bencher.counter(multiplications(shape));
    bencher.bench_local(|| product(View::new(black_box(&a), m, k), View::new(&b, n, k).t(), &mut c, n, false));
}

#[divan::bench(args = PRODUCTS)]
fn product_with_packed(bencher: Bencher, shape @ [m, k, n]: [usize; 3]) {
    let (a, b, mut c) = (numbers(m * k), numbers(n * k), vec![0.0; m * n]);
    let packed = Packed::new(View::new(&b, n, k).t());
    let bencher = bencher.counter(multiplications(shape));
    bencher.bench_local(|| product_packed(View::new(black_box(&a), m, k), &packed, &mut c, n, false));
}

/// The gradient of an output layer's weights: the left side is transposed.
#[divan::bench(args = [[8000, 360, 1024], [1536, 480, 512]])]
fn product_of_weight_gradient(bencher: Bencher, shape @ [m, k, n]: [usize; 3]) {
    let (a, b, mut c) = (numbers(k * m), numbers(k * n), vec![0.0; m * n]);
    let bencher = bencher.counter(multiplications(shape));
    bencher.bench_local(|| product(View::new(black_box(&a), k, m).t(), View::new(&b, k, n), &mut c, n, false));
}

/// `[queries, keys]` of one sequence, four heads of 32: a word read, a step of writing with one and with five hypotheses, a sentence read.
#[divan::bench(args = [[9, 9], [1, 9], [5, 9], [30, 30]])]
fn attention_with_weights(bencher: Bencher, [queries, keys]: [usize; 2]) {
    let shape = Heads { heads: 4, size: 32 };
    let (q, k) = (numbers(queries * 128), numbers(keys * 128));
    let [queries_of, keys_of] = [&q, &k].map(|table| Columns { table: &table[..], stride: 128, first: 0 });
    let a = Attend { shape, scale: 0.18, causal: false, dropout: None, queries: queries_of, keys: keys_of, values: keys_of };
    let m = Meeting { query: 0, queries, key: 0, keys };
    let (mut weights, mut context) = (vec![0.0; m.weights(4)], vec![0.0; queries * 128]);
    bencher.counter(ItemsCount::new(4 * queries * keys)).bench_local(|| attend::forward(black_box(a), m, 0, &mut weights, &mut context));
}

/// Hidden size, items of a shard, longest source, longest target.
const SIZES: [(&str, [usize; 4]); 3] = [("XS", [32, 16, 24, 11]), ("S", [128, 32, 24, 11]), ("M", [512, 32, 15, 15])];

fn size(name: &str) -> [usize; 4] {
    SIZES.iter().find(|(n, _)| *n == name).map_or([0; 4], |(_, size)| *size)
}

const NAMES: [&str; 3] = ["XS", "S", "M"];

/// Sequences from half of `longest` to all of it, as the numbers that are alive at each step.
fn counts(items: usize, longest: usize) -> Vec<usize> {
    let length = |item: usize| longest - item * (longest / 2) / items.max(1);
    (0..longest).map(|step| (0..items).filter(|&item| length(item) > step).count()).collect()
}

/// A layer with everything that a pass over it needs.
struct Layer {
    cell: Cell,
    h: usize,
    counts: Vec<usize>,
    projections: Vec<f32>,
    weights: Vec<f32>,
    bias: Vec<f32>,
    gates: Vec<f32>,
    extra: Vec<f32>,
    states: Vec<f32>,
    zeros: Vec<f32>,
    hidden: Vec<f32>,
}

impl Layer {
    fn new(cell: Cell, name: &str) -> Self {
        let [h, items, longest, _] = size(name);
        let counts = counts(items, longest);
        let (n, g) = (counts.iter().sum::<usize>(), cell.gates() * h);
        Layer {
            cell,
            h,
            counts,
            projections: numbers(n * g),
            weights: numbers(g * h).iter().map(|w| w / (h as f32).sqrt()).collect(),
            bias: numbers(g),
            gates: vec![0.0; n * g],
            extra: vec![0.0; n * cell.extra() * h],
            states: vec![0.0; n * h],
            zeros: vec![0.0; items * h],
            hidden: vec![0.0; items * g],
        }
    }

    fn forward(&mut self, packed: &Packed<f32>) {
        // The scan turns the projections into gates, in place.
        self.gates.copy_from_slice(&self.projections);
        let kept = Kept { gates: &mut self.gates, extra: &mut self.extra, states: &mut self.states };
        let steps = Steps { counts: &self.counts };
        scan::forward(self.cell, self.h, steps, packed, &self.bias, &self.zeros, &self.zeros, kept, &mut self.hidden);
    }
}

fn scan_forward(bencher: Bencher, cell: Cell, name: &str) {
    let mut layer = Layer::new(cell, name);
    let packed = Packed::new(View::new(&layer.weights, cell.gates() * layer.h, layer.h).t());
    let rows = ItemsCount::new(layer.counts.iter().sum::<usize>());
    bencher.counter(rows).bench_local(|| layer.forward(&packed));
}

fn scan_backward(bencher: Bencher, cell: Cell, name: &str) {
    let mut layer = Layer::new(cell, name);
    let (h, g) = (layer.h, cell.gates() * layer.h);
    layer.forward(&Packed::new(View::new(&layer.weights, g, h).t()));
    let packed = Packed::new(View::new(&layer.weights, g, h));
    let n = layer.counts.iter().sum::<usize>();
    let (d_states, mut d_gates) = (numbers(n * h), vec![0.0; n * cell.gradient_gates() * h]);
    let (mut d_state, mut d_memory) = (layer.zeros.clone(), layer.zeros.clone());
    let saved = Saved { gates: &layer.gates, extra: &layer.extra, states: &layer.states, state0: &layer.zeros, memory0: &layer.zeros };
    bencher.counter(ItemsCount::new(n)).bench_local(|| {
        d_state.fill(0.0);
        d_memory.fill(0.0);
        let steps = Steps { counts: &layer.counts };
        scan::backward(cell, h, steps, &packed, saved, &d_states, &[], &mut d_gates, &mut d_state, &mut d_memory);
    });
}

#[divan::bench(args = NAMES)]
fn gru_forward(bencher: Bencher, name: &str) {
    scan_forward(bencher, Cell::Gru, name);
}

#[divan::bench(args = NAMES)]
fn gru_backward(bencher: Bencher, name: &str) {
    scan_backward(bencher, Cell::Gru, name);
}

#[divan::bench(args = NAMES)]
fn lstm_forward(bencher: Bencher, name: &str) {
    scan_forward(bencher, Cell::Lstm, name);
}

#[divan::bench(args = NAMES)]
fn lstm_backward(bencher: Bencher, name: &str) {
    scan_backward(bencher, Cell::Lstm, name);
}

/// The fused attention decoder around a GRU, with a memory as wide as the state.
struct Decoder {
    h: usize,
    counts: Vec<usize>,
    spans: Vec<Span>,
    projections: Vec<f32>,
    weights: Vec<f32>,
    small: Vec<f32>,
    memory: Vec<f32>,
    state: Vec<f32>,
    trace: Trace<f32>,
}

impl Decoder {
    fn new(name: &str) -> Self {
        let [h, items, source, target] = size(name);
        let counts = counts(items, target);
        let (mut spans, mut pair) = (Vec::new(), 0);
        for &count in &counts {
            for item in 0..count {
                spans.push(Span { first: item * source, count: source, pair });
                pair += source;
            }
        }
        let n = spans.len();
        let trace = Trace {
            gates: vec![0.0; n * 3 * h],
            extra: vec![0.0; n * h],
            states: vec![0.0; n * h],
            contexts: vec![0.0; n * h],
            weights: vec![0.0; pair],
            hidden: vec![0.0; pair * h],
        };
        let weights = numbers(3 * h * h).iter().map(|w| w / (h as f32).sqrt()).collect();
        let memory = numbers(items * source * h);
        Decoder {
            h,
            counts,
            spans,
            projections: numbers(n * 3 * h),
            weights,
            small: numbers(3 * h),
            memory,
            state: numbers(items * h),
            trace,
        }
    }

    fn layout(&self) -> Layout<'_> {
        let (h, steps) = (self.h, Steps { counts: &self.counts });
        Layout { cell: Cell::Gru, size: h, alignment: h, width: h, steps, spans: &self.spans }
    }

    fn sources(&self) -> Memory<'_, f32> {
        Memory { keys: &self.memory, values: &self.memory, state0: &self.state, memory0: &[] }
    }

    fn forward_weights(&self) -> ForwardWeights<'_, f32> {
        let (h, w) = (self.h, &self.weights);
        ForwardWeights {
            query: Packed::new(View::new(w, h, h).t()),
            context: Packed::new(View::new(w, 3 * h, h).t()),
            hidden: Packed::new(View::new(w, 3 * h, h).t()),
            hidden_bias: &self.small,
            v: &self.small[..h],
        }
    }

    fn backward_weights(&self) -> BackwardWeights<'_, f32> {
        let (h, w) = (self.h, &self.weights);
        let part = |&(_, gate, gates): &(usize, usize, usize)| Packed::new(View::new(&w[gate * h * h..], gates * h, h));
        BackwardWeights {
            query: Packed::new(View::new(w, h, h)),
            context: Cell::Gru.input_parts().iter().map(part).collect(),
            hidden: Packed::new(View::new(w, 3 * h, h)),
            v: &self.small[..h],
        }
    }

    fn forward(&mut self) {
        let mut trace = std::mem::take(&mut self.trace);
        trace.gates.copy_from_slice(&self.projections);
        decoder::forward(self.layout(), self.sources(), &self.forward_weights(), &mut trace);
        self.trace = trace;
    }
}

#[divan::bench(args = NAMES)]
fn decoder_forward(bencher: Bencher, name: &str) {
    let mut decoder = Decoder::new(name);
    bencher.counter(ItemsCount::new(decoder.spans.len())).bench_local(|| decoder.forward());
}

#[divan::bench(args = NAMES)]
fn decoder_backward(bencher: Bencher, name: &str) {
    let mut decoder = Decoder::new(name);
    decoder.forward();
    let (n, h, memory) = (decoder.spans.len(), decoder.h, decoder.memory.len());
    let (d_states, mut contexts, mut gates, mut queries) = (numbers(n * h), vec![0.0; n * h], vec![0.0; n * 4 * h], vec![0.0; n * h]);
    let (mut keys, mut values, mut v, mut state) = (vec![0.0; memory], vec![0.0; memory], vec![0.0; h], decoder.state.clone());
    bencher.counter(ItemsCount::new(n)).bench_local(|| {
        for gradient in [&mut contexts, &mut keys, &mut values, &mut v, &mut state] {
            gradient.fill(0.0);
        }
        let gradients = Gradients {
            weights: &[],
            contexts: &mut contexts,
            gates: &mut gates,
            queries: &mut queries,
            keys: &mut keys,
            values: &mut values,
            v: &mut v,
            state: &mut state,
            memory: &mut [],
        };
        decoder::backward(decoder.layout(), decoder.sources(), &decoder.backward_weights(), &decoder.trace, &d_states, gradients);
    });
}

/// Scores of 500 queries over 5 to 30 keys each, in as many heads.
#[divan::bench(args = [1, 4])]
fn softmax_over_an_axis(bencher: Bencher, heads: usize) {
    let mut offsets = vec![0];
    for query in 0..500 {
        offsets.push(offsets[query] + 5 + query * 7 % 26);
    }
    let scores = numbers(offsets[500] * heads);
    let mut y = scores.clone();
    bencher.counter(ItemsCount::new(scores.len())).bench_local(|| {
        y.copy_from_slice(&scores);
        segment::softmax_forward(&offsets, heads, &mut y);
    });
}

/// Logits of 360 rows to their loss and gradient: the vocabularies of XS, S and M.
#[divan::bench(args = [40, 60, 8000])]
fn cross_entropy(bencher: Bencher, vocabulary: usize) {
    let logits = numbers(360 * vocabulary);
    let targets: Vec<u32> = (0..360).map(|row| (row * 31 % vocabulary) as u32).collect();
    let mut block = logits.clone();
    bencher.counter(ItemsCount::new(logits.len())).bench_local(|| {
        block.copy_from_slice(&logits);
        loss::cross_entropy_block(&mut block, vocabulary, &targets, 0.1, 1.0 / 360.0)
    });
}

#[divan::bench(args = [100_000, 10_000_000])]
fn adam(bencher: Bencher, len: usize) {
    let (mut weights, gradient) = (numbers(len), numbers(len));
    let (mut first, mut second) = (vec![0.0; len], vec![0.0; len]);
    let settings =
        optim::Adam { rate: 1e-3, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, correction1: 0.5, correction2: 0.5, decay: 0.0, scale: 1.0 };
    let bencher = bencher.counter(ItemsCount::new(len));
    bencher.bench_local(|| optim::adam(settings, &mut weights, &gradient, &mut first, &mut second));
}

#[divan::bench(args = [100_000])]
fn tanh(bencher: Bencher, len: usize) {
    let x = numbers(len);
    let mut y = x.clone();
    bencher.counter(ItemsCount::new(len)).bench_local(|| {
        y.copy_from_slice(&x);
        map::tanh_forward(&mut y);
    });
}
