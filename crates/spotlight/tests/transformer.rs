//! The Transformer: PyTorch's numbers, central differences, streaming against plain, steps against teacher forcing, positions, dropout.

use crate::common::golden::{Case, cases};
use crate::common::{Check, check, lengths};
use spotlight::axis::Axis;
use spotlight::nn::transformer::{
    Activation, Decoder, DecoderLayer, Encoder, EncoderLayer, NormPlace, PositionKind, Positions, StackConfig,
};
use spotlight::numeric::numeric_gradient;
use spotlight::params::{Gradients, Init, Params};
use spotlight::tape::{FeedForwardWeights, Tape, Var};
use spotlight::{Float, Result};

const KINDS: [PositionKind; 3] = [PositionKind::Sinusoidal, PositionKind::Learned, PositionKind::Rotary];

fn config(case: &Case) -> StackConfig {
    StackConfig {
        layers: case.number("layers").max(1.0) as usize,
        heads: case.number("heads") as usize,
        feed_forward: case.number("feed_forward") as usize,
        norm: if case.flag("pre_norm") { NormPlace::Pre } else { NormPlace::Post },
        activation: if case.config["activation"] == "gelu" { Activation::Gelu } else { Activation::Relu },
        ..StackConfig::default()
    }
}

/// What is under test, as PyTorch has it.
enum Module {
    EncoderLayer(EncoderLayer),
    Encoder(Encoder),
    DecoderLayer(DecoderLayer),
    Decoder(Decoder),
}

/// Runs a case and compares the result and every gradient.
fn compare<T: Float>(case: &Case) {
    let (config, width) = (config(case), case.number("width") as usize);
    let mut params = Params::<T>::new(0);
    let stacked = case.number("layers") > 0.0;
    let module = match (case.flag("decoder"), stacked) {
        (false, false) => Module::EncoderLayer(EncoderLayer::new(&mut params, "m", &config, width).unwrap()),
        (false, true) => Module::Encoder(Encoder::new(&mut params, "m", &config, width).unwrap()),
        (true, false) => Module::DecoderLayer(DecoderLayer::new(&mut params, "m", &config, width).unwrap()),
        (true, true) => Module::Decoder(Decoder::new(&mut params, "m", &config, width).unwrap()),
    };
    let theirs = case.names().filter(|name| case.has(&format!("grad.{name}")) && !matches!(*name, "input" | "memory")).count();
    assert_eq!(theirs, params.entries().len(), "{}: as many parameters", case.name);
    for entry in params.entries().to_vec() {
        let name = entry.name.strip_prefix("m.").unwrap();
        assert_eq!(case.shape(name), entry.shape, "{}: {name}", case.name);
        let id = params.find(&entry.name).unwrap();
        params.get_mut(id).copy_from_slice(&case.data::<T>(name));
    }
    let mut gradients = Gradients::new(&params);
    gradients.begin();
    let (axis, memory_axis) =
        (Axis::new(case.integers::<usize>("lengths")), case.flag("decoder").then(|| Axis::new(case.integers::<usize>("memory_lengths"))));
    let tape = Tape::training(&params, &mut gradients, 0);
    let input = tape.input(axis.rows(), width, case.data("input")).unwrap();
    // Positions are not torch's business: the stacks get rows that have them taken off before.
    let mut x = tape.on_axis(input, &axis).unwrap();
    if stacked {
        let zeros = tape.on_axis(tape.zeros(axis.rows(), width), &axis).unwrap();
        let positions = Positions::new(&mut Params::<T>::new(0), "p", PositionKind::Sinusoidal, width, 0);
        let added = positions.add(&tape, zeros, &Positions::of_axis(&axis)).unwrap();
        x = tape.sub(x, added).unwrap();
    }
    let mut inputs = vec![input];
    let memory = memory_axis.map(|axis| {
        let memory = tape.input(axis.rows(), width, case.data("memory")).unwrap();
        inputs.push(memory);
        tape.on_axis(memory, &axis).unwrap()
    });
    let output = match (&module, memory) {
        (Module::EncoderLayer(layer), _) => layer.forward(&tape, x, false).unwrap().0,
        (Module::Encoder(stack), _) => stack.forward(&tape, x, None, false).unwrap().rows,
        (Module::DecoderLayer(layer), Some(memory)) => layer.forward(&tape, x, memory, false).unwrap().0,
        (Module::Decoder(stack), Some(memory)) => stack.forward(&tape, x, &stack.prepare(&tape, memory).unwrap(), false).unwrap().rows,
        _ => panic!("{}: no memory", case.name),
    };
    case.compare("output", &tape.to_vec(output));
    let found = tape.backward_with(&[(output, case.data("loss_weights.output"))], &inputs).unwrap();
    case.compare("grad.input", &found[0]);
    if let Some(found) = found.get(1) {
        case.compare("grad.memory", found);
    }
    for entry in params.entries() {
        let name = entry.name.strip_prefix("m.").unwrap();
        near(case, &format!("grad.{name}"), gradients.get(params.find(&entry.name).unwrap()));
    }
}

/// Like [`Case::compare`], with an error relative to the whole tensor: the gradient of a key's bias is 0 but for rounding.
fn near<T: Float>(case: &Case, name: &str, got: &[T]) {
    let want = case.data::<f64>(name);
    let tolerance = if T::BYTES == 8 { 1e-10 } else { 2e-5 };
    let size = want.iter().fold(0.0f64, |a, b| a.max(b.abs()));
    for (i, (got, want)) in got.iter().zip(&want).enumerate() {
        assert!((got.to_f64() - want).abs() <= tolerance * size, "{}: {name} [{i}] is {got}, PyTorch has {want}", case.name);
    }
}

#[test]
fn layers_and_stacks_are_those_of_torch() {
    let cases = cases("transformer");
    assert_eq!(cases.len(), 18);
    for case in &cases {
        compare::<f64>(case);
        compare::<f32>(case);
    }
}

fn small(positions: PositionKind, norm: NormPlace, activation: Activation) -> StackConfig {
    StackConfig { layers: 2, heads: 2, feed_forward: 5, norm, activation, positions, longest: 12, ..StackConfig::default() }
}

/// Biases and norms that are not as they begin, so that each of them counts.
fn stir<T: Float>(params: &mut Params<T>) {
    for (i, x) in params.flat_mut().iter_mut().enumerate() {
        *x += T::from_f64(((i * 31 + 7) % 17) as f64 / 85.0 - 0.1);
    }
}

#[test]
fn gradients_of_stacks() {
    for (i, lengths) in lengths().into_iter().enumerate() {
        let (positions, norm) = (KINDS[i % 3], [NormPlace::Pre, NormPlace::Post][i % 2]);
        let axis = Axis::new(lengths.clone());
        let memory_axis = Axis::new(lengths.iter().rev().copied().collect::<Vec<_>>());
        let config = small(positions, norm, Activation::Gelu);
        for look in [false, true] {
            let mut c = Check::new("encoder");
            let x = c.input(axis.rows(), 4);
            let encoder = Encoder::new(&mut c.params, "encoder", &config, 4).unwrap();
            stir(&mut c.params);
            check(c, |t| {
                let encoded = encoder.forward(t, t.on_axis(t.param(x), &axis)?, None, look)?;
                // Also through the weights themselves, where somebody looks.
                with_weights(t, encoded.rows, &encoded.weights)
            });
            let mut c = Check::new("decoder");
            let (x, memory) = (c.input(axis.rows(), 4), c.input(memory_axis.rows(), 4));
            let decoder = Decoder::new(&mut c.params, "decoder", &config, 4).unwrap();
            stir(&mut c.params);
            check(c, |t| {
                let memory = decoder.prepare(t, t.on_axis(t.param(memory), &memory_axis)?)?;
                let decoded = decoder.forward(t, t.on_axis(t.param(x), &axis)?, &memory, look)?;
                with_weights(t, decoded.rows, &[decoded.itself, decoded.memory].concat())
            });
        }
    }
}

/// A number that depends on the rows and on each weight in its own way.
fn with_weights(t: &Tape<f64>, rows: Var, weights: &[Var]) -> Result<Var> {
    let weighed = |x: Var| {
        let (rows, cols) = t.shape(x);
        let factors = (0..rows * cols).map(|i| ((i * 29 + 3) % 19) as f64 / 9.0 - 1.0).collect();
        t.sum_all(t.mul(t.off_axis(x), t.table(rows, cols, factors)?)?)
    };
    weights.iter().try_fold(weighed(rows)?, |sum, &w| t.add(sum, weighed(w)?))
}

/// Central differences of a tape that learns, with the same seed each time: dropout included.
fn check_with_dropout(params: Params<f64>, f: impl Fn(&Tape<f64>) -> Result<Var> + Sync) {
    let loss = |tape: &Tape<f64>| with_weights(tape, f(tape)?, &[]);
    let mut gradients = Gradients::new(&params);
    gradients.begin();
    let tape = Tape::training(&params, &mut gradients, 5);
    let value = loss(&tape).unwrap();
    tape.backward(value).unwrap();
    let found = gradients.flat().to_vec();
    let wanted = numeric_gradient(&params, 1e-5, |p| {
        let mut unused = Gradients::new(p);
        let tape = Tape::training(p, &mut unused, 5);
        let value = loss(&tape)?;
        Ok(tape.item(value))
    })
    .unwrap();
    assert!(found.iter().any(|&x| x != 0.0));
    for (i, (found, wanted)) in found.iter().zip(&wanted).enumerate() {
        assert!((found - wanted).abs() <= 1e-6 * found.abs().max(wanted.abs()) + 1e-9, "[{i}]: {found} instead of {wanted}");
    }
}

#[test]
fn gradients_with_each_dropout() {
    let axis = Axis::new([3, 1, 4]);
    for (i, activation) in [(0, Activation::Relu), (1, Activation::Gelu), (2, Activation::Gelu), (3, Activation::Relu)] {
        let mut config = small(PositionKind::Sinusoidal, NormPlace::Pre, activation);
        let everywhere = i == 3;
        for (which, p) in [&mut config.dropout, &mut config.attention_dropout, &mut config.activation_dropout].into_iter().enumerate() {
            *p = if everywhere || which == i { 0.4 } else { 0.0 };
        }
        let mut params = Params::new(3);
        let x = params.add("x", &[axis.rows(), 4], Init::Uniform(1.0));
        let decoder = Decoder::new(&mut params, "decoder", &config, 4).unwrap();
        stir(&mut params);
        check_with_dropout(params, |t| {
            let x = t.on_axis(t.param(x), &axis)?;
            Ok(decoder.forward(t, x, &decoder.prepare(t, x)?, false)?.rows)
        });
    }
}

/// Each dropout changes what a tape computes that learns, and nothing on one that does not.
#[test]
fn dropout_is_for_learning_alone() {
    let axis = Axis::new([3, 2]);
    let plain = StackConfig { layers: 1, ..small(PositionKind::Sinusoidal, NormPlace::Post, Activation::Relu) };
    let run = |config: &StackConfig, seed: Option<u64>| {
        let mut params = Params::<f64>::new(3);
        let x = params.add("x", &[axis.rows(), 4], Init::Uniform(1.0));
        let encoder = Encoder::new(&mut params, "encoder", config, 4).unwrap();
        let mut gradients = Gradients::new(&params);
        let tape = match seed {
            Some(seed) => Tape::training(&params, &mut gradients, seed),
            None => Tape::new(&params),
        };
        let rows = encoder.forward(&tape, tape.on_axis(tape.param(x), &axis).unwrap(), None, false).unwrap().rows;
        tape.to_vec(rows)
    };
    let want = run(&plain, None);
    assert_eq!(run(&plain, Some(1)), want);
    let with = [
        StackConfig { dropout: 0.5, ..plain },
        StackConfig { attention_dropout: 0.5, ..plain },
        StackConfig { activation_dropout: 0.5, ..plain },
    ];
    for config in &with {
        assert_eq!(run(config, None), want);
        assert_ne!(run(config, Some(1)), want);
        assert_ne!(run(config, Some(1)), run(config, Some(2)));
        assert_eq!(run(config, Some(2)), run(config, Some(2)));
    }
}

fn feed_forward(params: &mut Params<f64>, width: usize, middle: usize) -> FeedForwardWeights {
    let mut add = |name: &str, shape: &[usize]| params.add(name, shape, Init::Uniform(0.5));
    FeedForwardWeights {
        weight1: add("w1", &[middle, width]),
        bias1: add("b1", &[middle]),
        weight2: add("w2", &[3, middle]),
        bias2: add("b2", &[3]),
    }
}

/// The fused layer is the same thing in small operations, in value and gradient, over several blocks of rows, and where the rows have another gradient, too.
#[test]
fn feed_forward_is_two_products_with_a_bend() {
    for rows in [0, 1, 97, 1000] {
        for kind in [Activation::Relu, Activation::Gelu] {
            let mut params = Params::<f64>::new(2);
            let x = params.add("x", &[rows.max(1), 4], Init::Uniform(1.0));
            let weights = feed_forward(&mut params, 4, 7);
            let run = |fused: bool| {
                let mut gradients = Gradients::new(&params);
                gradients.begin();
                let t = Tape::training(&params, &mut gradients, 0);
                let x = t.gather(t.param(x), &(0..rows).collect::<Vec<_>>()).unwrap();
                let y = if fused {
                    t.feed_forward(x, weights, kind.into(), 0.0).unwrap()
                } else {
                    let h = t.linear(x, weights.weight1, Some(weights.bias1)).unwrap();
                    let a = if kind == Activation::Relu { t.relu(h) } else { t.gelu(h) };
                    t.linear(a, weights.weight2, Some(weights.bias2)).unwrap()
                };
                let other = t.tanh(x);
                let value = t.to_vec(y);
                let loss = with_weights(&t, y, &[other]).unwrap();
                t.backward(loss).unwrap();
                (value, gradients.flat().to_vec())
            };
            let (fused, plain) = (run(true), run(false));
            close(&fused.0, &plain.0, 1e-12);
            close(&fused.1, &plain.1, 1e-10);
            // Without a way back the middle is made in one block after another.
            let t = Tape::new(&params);
            let x = t.gather(t.param(x), &(0..rows).collect::<Vec<_>>()).unwrap();
            close(&t.to_vec(t.feed_forward(x, weights, kind.into(), 0.5).unwrap()), &plain.0, 1e-12);
        }
    }
}

fn close<T: Float>(got: &[T], want: &[T], tolerance: f64) {
    assert_eq!(got.len(), want.len());
    for (i, (a, b)) in got.iter().zip(want).enumerate() {
        let (a, b) = (a.to_f64(), b.to_f64());
        assert!((a - b).abs() <= tolerance * b.abs().max(1.0), "[{i}]: {a} and {b}");
    }
}

/// Long sequences are streamed unless somebody looks at the weights; one long among short ones, an empty one, causal and over a memory.
#[test]
fn streaming_is_the_plain_thing() {
    let (axis, memory_axis) = (Axis::new([3, 150, 0, 70, 1]), Axis::new([80, 2, 5, 131, 0]));
    let config = small(PositionKind::Rotary, NormPlace::Pre, Activation::Relu);
    let mut params = Params::<f32>::new(4);
    let (x, memory) =
        (params.add("x", &[axis.rows(), 8], Init::Uniform(1.0)), params.add("memory", &[memory_axis.rows(), 8], Init::Uniform(1.0)));
    let encoder = Encoder::new(&mut params, "encoder", &config, 8).unwrap();
    let decoder = Decoder::new(&mut params, "decoder", &config, 8).unwrap();
    let run = |look: bool| {
        let mut gradients = Gradients::new(&params);
        gradients.begin();
        let t = Tape::training(&params, &mut gradients, 0);
        let x = t.on_axis(t.param(x), &axis).unwrap();
        let memory = encoder.forward(&t, t.on_axis(t.param(memory), &memory_axis).unwrap(), None, look).unwrap();
        let decoded = decoder.forward(&t, x, &decoder.prepare(&t, memory.rows).unwrap(), look).unwrap();
        assert_eq!(decoded.itself.len(), if look { 2 } else { 0 });
        let value = t.to_vec(decoded.rows);
        let gradient = (0..value.len()).map(|i| ((i * 37 + 11) % 23) as f32 / 11.0 - 1.0).collect();
        t.backward_with(&[(decoded.rows, gradient)], &[]).unwrap();
        (value, gradients.flat().to_vec())
    };
    let (streamed, plain) = (run(false), run(true));
    close(&streamed.0, &plain.0, 1e-5);
    close(&streamed.1, &plain.1, 1e-4);
    // They are not the same code.
    assert_ne!(streamed.0, plain.0);
}

/// What another sequence of the batch holds, and how long it is, does not change a bit.
#[test]
fn sequences_do_not_meet() {
    let config = small(PositionKind::Sinusoidal, NormPlace::Post, Activation::Gelu);
    let mut params = Params::<f32>::new(4);
    let table = params.add("x", &[300, 8], Init::Uniform(1.0));
    let encoder = Encoder::new(&mut params, "encoder", &config, 8).unwrap();
    let run = |lengths: &[usize], rows: Vec<usize>| {
        let t = Tape::new(&params);
        let x = t.on_axis(t.gather(t.param(table), &rows).unwrap(), &Axis::new(lengths)).unwrap();
        t.to_vec(encoder.forward(&t, x, None, false).unwrap().rows)
    };
    let alone = run(&[9], (0..9).collect());
    let among = run(&[100, 9, 0, 190], (9..109).chain(0..9).chain(100..290).collect());
    assert_eq!(alone, among[100 * 8..109 * 8]);
}

/// The weights that are shown: each row of them a distribution, zero ahead of a causal query.
#[test]
fn weights_are_distributions() {
    let axis = Axis::new([3, 0, 1]);
    let mut params = Params::<f64>::new(4);
    let x = params.add("x", &[4, 6], Init::Uniform(1.0));
    let decoder = Decoder::new(&mut params, "decoder", &small(PositionKind::Learned, NormPlace::Post, Activation::Relu), 6).unwrap();
    let t = Tape::new(&params);
    let x = t.on_axis(t.param(x), &axis).unwrap();
    let decoded = decoder.forward(&t, x, &decoder.prepare(&t, x).unwrap(), true).unwrap();
    for (causal, weights) in [(true, &decoded.itself), (false, &decoded.memory)] {
        assert_eq!(weights.len(), 2);
        for &w in weights {
            assert_eq!(t.axis(w).unwrap().lengths(), [3, 3, 3, 1]);
            assert!(t.to_vec(t.sum(w).unwrap()).iter().all(|sum| (sum - 1.0).abs() < 1e-12));
            let ahead: Vec<bool> =
                t.to_vec(w).chunks(2).take(9).enumerate().map(|(i, w)| i % 3 > i / 3 && w[0] == 0.0 && w[1] == 0.0).collect();
            assert_eq!(ahead.iter().filter(|&&zero| zero).count(), if causal { 3 } else { 0 });
        }
    }
}

/// Step by step with caches, hypotheses chosen and multiplied on the way, against teacher forcing of what each of them has read.
#[test]
fn steps_are_teacher_forcing() {
    for (i, positions) in KINDS.into_iter().enumerate() {
        for norm in [NormPlace::Pre, NormPlace::Post] {
            let config = small(positions, norm, [Activation::Relu, Activation::Gelu][i % 2]);
            let mut params = Params::<f32>::new(7 + i as u64);
            let units = params.add("units", &[5, 8], Init::Uniform(1.0));
            let memory_axis = Axis::new([3, 0, 70]);
            let memory = params.add("memory", &[memory_axis.rows(), 8], Init::Uniform(1.0));
            let decoder = Decoder::new(&mut params, "decoder", &config, 8).unwrap();
            stir(&mut params);

            let t = Tape::new(&params);
            let prepared = decoder.prepare(&t, t.on_axis(t.param(memory), &memory_axis).unwrap()).unwrap();
            let mut items = vec![0, 2, 1];
            let mut histories: Vec<Vec<usize>> = vec![vec![]; 3];
            let mut caches = decoder.start(&t, 3);
            for step in 0..6 {
                // Some hypotheses go, some are there twice from now on.
                let chosen: Vec<usize> = match step {
                    2 => vec![1, 1, 0, 2],
                    4 => vec![3, 0, 2],
                    _ => (0..items.len()).collect(),
                };
                items = chosen.iter().map(|&row| items[row]).collect();
                histories = chosen.iter().map(|&row| histories[row].clone()).collect();
                caches = caches.into_iter().map(|cache| t.gather(cache, &chosen).unwrap()).collect();
                for (row, history) in histories.iter_mut().enumerate() {
                    history.push((row * 2 + step * 3) % 5);
                }
                let read: Vec<usize> = histories.iter().map(|history| history[step]).collect();
                let x = t.gather(t.param(units), &read).unwrap();
                let stepped = decoder.step(&t, x, step, &caches, &prepared, &items, true).unwrap();
                caches = stepped.caches;
                let got = t.to_vec(stepped.rows);

                for (row, history) in histories.iter().enumerate() {
                    let of_item = memory_axis.range(items[row]).collect::<Vec<_>>();
                    let own = t.gather(t.param(memory), &of_item).unwrap();
                    let own = decoder.prepare(&t, t.on_axis(own, &Axis::new([of_item.len()])).unwrap()).unwrap();
                    let x = t.on_axis(t.gather(t.param(units), history).unwrap(), &Axis::new([step + 1])).unwrap();
                    let forced = decoder.forward(&t, x, &own, true).unwrap();
                    close(&got[row * 8..(row + 1) * 8], &t.to_vec(forced.rows)[step * 8..], 1e-5);
                    // And the same weights: of the last query, 2 heads.
                    let keys = step + 1;
                    let steps_weights = &t.to_vec(stepped.itself[1])[row * keys * 2..(row + 1) * keys * 2];
                    close(steps_weights, &t.to_vec(forced.itself[1])[step * keys * 2..], 1e-5);
                }
            }
        }
    }
}

#[test]
fn caches_that_do_not_fit_are_refused() {
    let mut params = Params::<f32>::new(1);
    let decoder = Decoder::new(&mut params, "decoder", &small(PositionKind::Rotary, NormPlace::Pre, Activation::Relu), 8).unwrap();
    let t = Tape::new(&params);
    let memory = decoder.prepare(&t, t.on_axis(t.zeros(2, 8), &Axis::new([2])).unwrap()).unwrap();
    let caches = decoder.start(&t, 2);
    let says = |result: Result<spotlight::nn::transformer::Stepped>, parts: &[&str]| {
        let message = result.unwrap_err().to_string();
        assert!(parts.iter().all(|part| message.contains(part)), "{message}");
    };
    says(decoder.step(&t, t.zeros(2, 8), 1, &caches, &memory, &[0, 0], false), &["cache", "2 x 16", "2 x 0"]);
    says(decoder.step(&t, t.zeros(2, 8), 0, &caches, &memory, &[0, 1], false), &["index 1", "1 rows"]);
    says(decoder.step(&t, t.zeros(2, 8), 0, &caches, &memory, &[0], false), &["1 rows"]);
    says(decoder.step(&t, t.zeros(2, 8), 0, &caches[..1], &memory, &[0, 0], false), &["2 layers"]);
}

#[test]
fn positions_are_what_the_papers_say() {
    let axis = Axis::new([2, 0, 3]);
    let places = Positions::of_axis(&axis);
    assert_eq!(places, [0, 1, 0, 1, 2]);
    let mut params = Params::<f64>::new(1);
    let sinusoidal = Positions::new(&mut params, "s", PositionKind::Sinusoidal, 5, 0);
    let learned = Positions::new(&mut params, "l", PositionKind::Learned, 5, 3);
    assert_eq!(params.names().collect::<Vec<_>>(), ["l.weight"]);
    let t = Tape::new(&params);
    let x = t.on_axis(t.zeros(5, 5), &axis).unwrap();
    let waves = t.to_vec(sinusoidal.add(&t, x, &places).unwrap());
    let far = t.to_vec(sinusoidal.add(&t, t.zeros(1, 5), &[40]).unwrap());
    for (row, i) in waves.chunks(5).chain([&far[..]]).zip([0, 1, 0, 1, 2, 40]) {
        let i = i as f64;
        let (slow, slower) = (i / 10_000f64.powf(0.4), i / 10_000f64.powf(0.8));
        close(row, &[i.sin(), i.cos(), slow.sin(), slow.cos(), slower.sin()], 1e-12);
    }
    let table = params.flat();
    close(&t.to_vec(learned.add(&t, x, &places).unwrap())[15..], &table[5..], 0.0);
}

/// With rotary positions only distances count; with the others the place itself does.
#[test]
fn rotary_positions_know_distances_alone() {
    let axis = Axis::new([4]);
    for kind in KINDS {
        let mut params = Params::<f64>::new(5);
        let x = params.add("x", &[4, 8], Init::Uniform(1.0));
        let encoder = Encoder::new(&mut params, "encoder", &small(kind, NormPlace::Pre, Activation::Relu), 8).unwrap();
        let t = Tape::new(&params);
        let run = |places: &[usize]| {
            let x = t.on_axis(t.param(x), &axis).unwrap();
            t.to_vec(encoder.forward(&t, x, Some(places), false).unwrap().rows)
        };
        let furthest = |a: &[f64], b: &[f64]| a.iter().zip(b).fold(0.0f64, |most, (a, b)| most.max((a - b).abs()));
        let (here, there, other) = (run(&[0, 1, 2, 3]), run(&[5, 6, 7, 8]), run(&[0, 2, 4, 6]));
        assert!(furthest(&here, &other) > 1e-4, "{kind:?}");
        assert_eq!(furthest(&here, &there) < 1e-12, kind == PositionKind::Rotary, "{kind:?}");
    }
}

#[test]
fn a_sequence_beyond_the_learned_positions_is_refused_with_the_limit() {
    let mut params = Params::<f32>::new(1);
    let encoder = Encoder::new(&mut params, "encoder", &small(PositionKind::Learned, NormPlace::Pre, Activation::Relu), 4).unwrap();
    let decoder = Decoder::new(&mut params, "decoder", &small(PositionKind::Learned, NormPlace::Pre, Activation::Relu), 4).unwrap();
    let t = Tape::new(&params);
    let rows = |n: usize| t.on_axis(t.zeros(n, 4), &Axis::new([n])).unwrap();
    assert!(encoder.forward(&t, rows(12), None, false).is_ok());
    let message = encoder.forward(&t, rows(13), None, false).unwrap_err().to_string();
    assert!(message.contains("length of a sequence is 13") && message.contains("at most 12"), "{message}");
    let memory = decoder.prepare(&t, rows(2)).unwrap();
    let caches = [0, 1].map(|_| t.zeros(1, 8 * 12));
    let message = decoder.step(&t, t.zeros(1, 4), 12, &caches, &memory, &[0], false).unwrap_err().to_string();
    assert!(message.contains("is 13") && message.contains("at most 12"), "{message}");
}

#[test]
fn configurations_that_cannot_be_are_refused() {
    let good = small(PositionKind::Rotary, NormPlace::Pre, Activation::Relu);
    let refused = [
        (StackConfig { layers: 0, ..good }, 8, "number of layers is 0"),
        (StackConfig { heads: 3, ..good }, 8, "number of heads is 3"),
        (StackConfig { heads: 0, ..good }, 8, "number of heads is 0"),
        (StackConfig { feed_forward: 0, ..good }, 8, "feed-forward"),
        (StackConfig { heads: 8, ..good }, 8, "size of a head is 1"),
        (StackConfig { positions: PositionKind::Learned, longest: 0, ..good }, 8, "learned positions"),
        (StackConfig { dropout: 1.0, ..good }, 8, "dropout is 1"),
        (StackConfig { attention_dropout: -0.1, ..good }, 8, "attention_dropout is -0.1"),
        (StackConfig { activation_dropout: f64::NAN, ..good }, 8, "activation_dropout is NaN"),
    ];
    for (config, width, part) in refused {
        for message in [
            Encoder::new(&mut Params::<f32>::new(1), "e", &config, width).unwrap_err().to_string(),
            DecoderLayer::new(&mut Params::<f32>::new(1), "d", &config, width).unwrap_err().to_string(),
        ] {
            assert!(message.contains(part), "{message}");
        }
    }
    assert!(good.check(8).is_ok());
}
