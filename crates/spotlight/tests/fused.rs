//! Fused nodes against plain twins: the same recurrences, decoder and loss written with small operations and `scan`, in value and in every gradient.

use proptest::prelude::*;
use spotlight::axis::{Axis, Pairs};
use spotlight::decoder::AdditiveDecoder;
use spotlight::nn::Linear;
use spotlight::params::{Gradients, Init, ParamId, Params};
use spotlight::tape::{Recurrent, Tape, Var};
use spotlight::{Cell, Float, Result};

/// Lengths of sequences: short ones, empty ones, at times a long one among them, at times none.
fn lengths() -> impl Strategy<Value = Vec<usize>> {
    let one = prop_oneof![4 => 0usize..6, 1 => Just(0), 1 => Just(1), 1 => 30usize..50];
    prop::collection::vec(one, 0..6)
}

fn cells() -> impl Strategy<Value = Cell> {
    prop_oneof![Just(Cell::Tanh), Just(Cell::Gru), Just(Cell::Lstm)]
}

/// The value of `f`, and the gradients of a weighted sum of it.
fn measure<T: Float>(params: &Params<T>, f: impl FnOnce(&Tape<T>) -> Result<Var>) -> (Vec<T>, Vec<T>) {
    let mut gradients = Gradients::new(params);
    let tape = Tape::training(params, &mut gradients, 0);
    let y = f(&tape).unwrap();
    let value = tape.to_vec(y);
    let weights = (0..value.len()).map(|i| T::from_f64(((i * 37 + 11) % 23) as f64 / 11.0 - 1.0)).collect();
    tape.backward_with(&[(y, weights)], &[]).unwrap();
    (value, gradients.flat().to_vec())
}

/// All numbers of each table agree to `tolerance` of its largest (or of 1).
fn assert_close<T: Float>(what: &str, got: &[T], want: &[f64], tolerance: f64) {
    assert_eq!(got.len(), want.len(), "{what}");
    let size = want.iter().fold(1.0f64, |a, b| a.max(b.abs()));
    for (i, (got, want)) in got.iter().zip(want).enumerate() {
        assert!((got.to_f64() - want).abs() <= tolerance * size, "{what} [{i}]: {got} instead of {want}");
    }
}

/// Compares what the fused `(f64, f32)` give with the twin in f64.
fn compare(params: &Params<f64>, twin: (Vec<f64>, Vec<f64>), fused: (Vec<f64>, Vec<f64>), in_f32: (Vec<f32>, Vec<f32>)) {
    assert_close("value", &fused.0, &twin.0, 1e-12);
    assert_close("value in f32", &in_f32.0, &twin.0, 1e-4);
    for entry in params.entries() {
        let (at, name) = (entry.range.clone(), format!("gradient of {}", entry.name));
        assert_close(&name, &fused.1[at.clone()], &twin.1[at.clone()], 1e-11);
        assert_close(&format!("{name} in f32"), &in_f32.1[at.clone()], &twin.1[at], 1e-4);
    }
}

/// One step of a cell with small operations; `state` is the hidden state, for an LSTM also the cell state.
fn plain_step<T: Float>(t: &Tape<T>, layer: &Recurrent, x: Var, state: &[Var]) -> Result<Vec<Var>> {
    let h = t.shape(state[0]).1;
    let x = t.linear(x, layer.weight_ih, Some(layer.bias_ih))?;
    let y = t.linear(state[0], layer.weight_hh, Some(layer.bias_hh))?;
    let gate = |i: usize| t.add(t.slice(x, i * h, h)?, t.slice(y, i * h, h)?);
    match layer.cell {
        Cell::Tanh => Ok(vec![t.tanh(gate(0)?)]),
        Cell::Gru => {
            let (r, z) = (t.sigmoid(gate(0)?), t.sigmoid(gate(1)?));
            let n = t.tanh(t.add(t.slice(x, 2 * h, h)?, t.mul(r, t.slice(y, 2 * h, h)?)?)?);
            let keep = t.mul(z, state[0])?;
            Ok(vec![t.add(t.mul(t.sub(t.scalar(1.0), z)?, n)?, keep)?])
        }
        Cell::Lstm => {
            let (i, f, g, o) = (t.sigmoid(gate(0)?), t.sigmoid(gate(1)?), t.tanh(gate(2)?), t.sigmoid(gate(3)?));
            let c = t.add(t.mul(f, state[1])?, t.mul(i, g)?)?;
            Ok(vec![t.mul(o, t.tanh(c))?, c])
        }
    }
}

struct Recurrence {
    axis: Axis,
    layer: Recurrent,
    x: ParamId,
    states: Vec<ParamId>,
}

impl Recurrence {
    fn fused<T: Float>(&self, t: &Tape<T>) -> Result<Var> {
        let x = t.on_axis(t.param(self.x), &self.axis)?;
        let run = t.recurrent(&self.layer, x, Some(t.param(self.states[0])), self.states.get(1).map(|&c| t.param(c)))?;
        let mut all = vec![run.states, run.last];
        all.extend(run.memory);
        t.stack(&all)
    }

    fn plain<T: Float>(&self, t: &Tape<T>) -> Result<Var> {
        let x = t.on_axis(t.param(self.x), &self.axis)?;
        let x = if self.layer.reversed { t.reverse(x)? } else { x };
        let initial: Vec<Var> = self.states.iter().map(|&s| t.param(s)).collect();
        let run = t.scan(&self.axis, &[x], &initial, |_, x, state| plain_step(t, &self.layer, x[0], state))?;
        let states = if self.layer.reversed { t.reverse(run.states[0])? } else { run.states[0] };
        let mut all = vec![states];
        all.extend(run.last);
        t.stack(&all)
    }
}

/// A layer whose biases are not zero.
fn layer(params: &mut Params<f64>, cell: Cell, input: usize, hidden: usize, reversed: bool) -> Recurrent {
    let rows = cell.gates() * hidden;
    Recurrent {
        cell,
        weight_ih: params.add("weight_ih", &[rows, input], Init::Uniform(0.5)),
        weight_hh: params.add("weight_hh", &[rows, hidden], Init::Uniform(0.5)),
        bias_ih: params.add("bias_ih", &[rows], Init::Uniform(0.5)),
        bias_hh: params.add("bias_hh", &[rows], Init::Uniform(0.5)),
        reversed,
    }
}

fn states(params: &mut Params<f64>, cell: Cell, items: usize, hidden: usize) -> Vec<ParamId> {
    let names = if cell == Cell::Lstm { &["state", "memory"][..] } else { &["state"] };
    names.iter().map(|name| params.add(*name, &[items, hidden], Init::Uniform(1.0))).collect()
}

struct Decoder {
    source: Axis,
    target: Axis,
    decoder: AdditiveDecoder,
    y: ParamId,
    keys: ParamId,
    memory: ParamId,
    states: Vec<ParamId>,
}

impl Decoder {
    fn fused<T: Float>(&self, t: &Tape<T>) -> Result<Var> {
        let y = t.on_axis(t.param(self.y), &self.target)?;
        let (keys, memory) = (t.on_axis(t.param(self.keys), &self.source)?, t.on_axis(t.param(self.memory), &self.source)?);
        let memory0 = self.states.get(1).map(|&c| t.param(c));
        let out = self.decoder.forward(t, y, keys, memory, t.param(self.states[0]), memory0)?;
        t.concat(&[out.states, out.contexts])
    }

    fn plain<T: Float>(&self, t: &Tape<T>) -> Result<Var> {
        let y = t.on_axis(t.param(self.y), &self.target)?;
        let (keys, memory) = (t.param(self.keys), t.param(self.memory));
        let mut initial: Vec<Var> = self.states.iter().map(|&s| t.param(s)).collect();
        initial.push(t.zeros(1, t.shape(memory).1));
        let run = t.scan(&self.target, &[y], &initial, |step, y, state| {
            let pairs = Pairs::for_items(step.items, &self.source);
            let rows: Vec<usize> = pairs.spans().iter().flat_map(|s| s.first..s.first + s.count).collect();
            // Score, softmax, mix.
            let query = t.broadcast(t.linear(state[0], self.decoder.query, None)?, pairs.axis())?;
            let scores = t.linear(t.tanh(t.add(query, t.gather(keys, &rows)?)?), self.decoder.v, None)?;
            let context = t.sum(t.mul(t.softmax(scores)?, t.gather(memory, &rows)?)?)?;
            let mut next = plain_step(t, &self.decoder.cell, t.concat(&[y[0], context])?, state)?;
            next.push(context);
            Ok(next)
        })?;
        t.concat(&[run.states[0], run.states[run.states.len() - 1]])
    }
}

struct Loss {
    linear: Linear,
    x: ParamId,
    targets: Vec<u32>,
    smoothing: f64,
}

impl Loss {
    fn fused<T: Float>(&self, t: &Tape<T>) -> Result<Var> {
        t.cross_entropy(t.param(self.x), self.linear.weight, self.linear.bias, &self.targets, self.smoothing, 0.5)
    }

    fn plain<T: Float>(&self, t: &Tape<T>) -> Result<Var> {
        let logits = self.linear.forward(t, t.param(self.x))?;
        let (rows, v) = t.shape(logits);
        let mut wanted = vec![T::from_f64(self.smoothing / v as f64); rows * v];
        for (row, &target) in self.targets.iter().enumerate() {
            wanted[row * v + target as usize] += T::from_f64(1.0 - self.smoothing);
        }
        let log_total = t.log(t.row_sum(t.exp(logits))?);
        let log_p = t.sub(logits, log_total)?;
        Ok(t.scale(t.sum_all(t.mul(log_p, t.table(rows, v, wanted)?)?)?, -0.5))
    }
}

macro_rules! compare_twins {
    ($params:expr, $twins:expr) => {{
        let in_f32 = $params.cast::<f32>();
        compare(
            &$params,
            measure(&$params, |t| $twins.plain(t)),
            measure(&$params, |t| $twins.fused(t)),
            measure(&in_f32, |t| $twins.fused(t)),
        );
    }};
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn recurrent_layer(lengths in lengths(), cell in cells(), d in 1usize..20, h in 1usize..20, reversed in any::<bool>()) {
        let mut params = Params::new(5);
        let axis = Axis::new(lengths);
        let layer = layer(&mut params, cell, d, h, reversed);
        let x = params.add("x", &[axis.rows(), d], Init::Uniform(1.0));
        let states = states(&mut params, cell, axis.items(), h);
        let twins = Recurrence { axis, layer, x, states };
        compare_twins!(params, twins);
    }

    #[test]
    fn additive_decoder(sizes in prop::collection::vec((0usize..7, prop_oneof![0usize..7, 30usize..40]), 0..5), cell in cells(),
                        e in 1usize..9, h in 1usize..18, a in 1usize..18, m in 1usize..18) {
        let mut params = Params::new(6);
        let (targets, sources): (Vec<usize>, Vec<usize>) = sizes.into_iter().unzip();
        let (target, source) = (Axis::new(targets), Axis::new(sources));
        let twins = Decoder {
            decoder: AdditiveDecoder {
                query: params.add("query", &[a, h], Init::Uniform(1.0)),
                v: params.add("v", &[a], Init::Uniform(1.0)),
                cell: layer(&mut params, cell, e + m, h, false),
            },
            y: params.add("y", &[target.rows(), e], Init::Uniform(1.0)),
            keys: params.add("keys", &[source.rows(), a], Init::Uniform(1.0)),
            memory: params.add("memory values", &[source.rows(), m], Init::Uniform(1.0)),
            states: states(&mut params, cell, target.items(), h),
            source,
            target,
        };
        compare_twins!(params, twins);
    }

    #[test]
    fn cross_entropy(rows in 0usize..40, d in 1usize..20, v in 1usize..40, smoothing in prop_oneof![Just(0.0), 0.0..0.9]) {
        let mut params = Params::new(7);
        let linear = Linear::new(&mut params, "output", d, v);
        let x = params.add("x", &[rows, d], Init::Uniform(1.0));
        let targets = (0..rows).map(|i| (i * 7 % v) as u32).collect();
        let twins = Loss { linear, x, targets, smoothing };
        compare_twins!(params, twins);
    }
}

/// The logits of a large vocabulary come in several blocks.
#[test]
fn cross_entropy_in_blocks() {
    let mut params = Params::new(8);
    let (rows, v) = (40, 150_000);
    let linear = Linear::new(&mut params, "output", 2, v);
    let x = params.add("x", &[rows, 2], Init::Uniform(1.0));
    let targets = (0..rows).map(|i| (i * 3571 % v) as u32).collect();
    let twins = Loss { linear, x, targets, smoothing: 0.1 };
    compare_twins!(params, twins);
}
