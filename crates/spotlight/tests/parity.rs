//! The same numbers as PyTorch: values and all gradients, from committed fixtures. f64 within 1e-10, f32 within 1e-5.

use crate::common::golden::{Case, cases};
use spotlight::axis::Axis;
use spotlight::decoder::AdditiveDecoder;
use spotlight::nn::{Rnn, RnnConfig};
use spotlight::params::{Gradients, Init, ParamId, Params};
use spotlight::tape::{Recurrent, Tape, Var};
use spotlight::train::optim::{Optimiser, Rule, clip_scale, global_norm};
use spotlight::{Cell, Float, Result};

/// Runs a test in both number types.
fn in_both_types(topic: &str, f32s: impl Fn(&Case), f64s: impl Fn(&Case)) {
    let cases = cases(topic);
    assert!(!cases.is_empty(), "{topic}");
    for case in &cases {
        f64s(case);
        f32s(case);
    }
}

macro_rules! in_both_types {
    ($topic:expr, $check:ident $(, $argument:expr)*) => {
        in_both_types($topic, |case| $check::<f32>(case $(, $argument)*), |case| $check::<f64>(case $(, $argument)*))
    };
}

/// The leaves of a case that are to become parameters, with their numbers.
fn parameters<T: Float>(case: &Case, names: &[&str]) -> (Params<T>, Vec<ParamId>) {
    let mut params = Params::new(0);
    let ids = names
        .iter()
        .map(|name| {
            let id = params.add(*name, case.shape(name), Init::Zeros);
            params.get_mut(id).copy_from_slice(&case.data(name));
            id
        })
        .collect();
    (params, ids)
}

/// Runs `f` on a tape over `params` with the leaves `inputs`, one table each; compares the outputs it returns, then the gradients of their weighted sum at all
/// parameters and inputs.
fn check<T: Float>(
    case: &Case,
    params: &Params<T>,
    inputs: &[(&str, usize, usize)],
    f: impl FnOnce(&Tape<T>, &[Var]) -> Result<Vec<(&'static str, Var)>>,
) {
    let mut gradients = Gradients::new(params);
    let tape = Tape::training(params, &mut gradients, 0);
    let leaves: Vec<Var> = inputs.iter().map(|&(name, rows, cols)| tape.input(rows, cols, case.data(name)).unwrap()).collect();
    let outputs = f(&tape, &leaves).unwrap();
    let mut starts = Vec::new();
    for (name, output) in outputs {
        case.compare(name, &tape.value(output));
        starts.push((output, case.data(&format!("loss_weights.{name}"))));
    }
    let found = tape.backward_with(&starts, &leaves).unwrap();
    for ((name, ..), found) in inputs.iter().zip(&found) {
        case.compare(&format!("grad.{name}"), found);
    }
    for entry in params.entries() {
        case.compare(&format!("grad.{}", entry.name), &gradients.flat()[entry.range.clone()]);
    }
    let leaves = case.names().filter(|name| name.starts_with("grad.")).count();
    assert_eq!(leaves, inputs.len() + params.entries().len(), "{}: a gradient that nothing was compared with", case.name);
}

/// `nn.RNN`, `nn.GRU`, `nn.LSTM`: one or two layers and directions, uneven lengths, with and without given states.
fn recurrence<T: Float>(case: &Case, cell: Cell) {
    let axis = Axis::new(case.integers("lengths"));
    let (input, hidden) = (case.number("input_size") as usize, case.number("hidden_size") as usize);
    let config = RnnConfig {
        layers: case.number("num_layers") as usize,
        bidirectional: case.flag("bidirectional"),
        ..RnnConfig::new(cell, input, hidden)
    };
    let mut layout = Params::<T>::new(0);
    let rnn = Rnn::new(&mut layout, "rnn", config);
    // The fixture's names are ours without the name of the layer.
    let names: Vec<&str> = layout.names().map(|name| name.strip_prefix("rnn.").unwrap()).collect();
    let (params, _) = parameters::<T>(case, &names);

    let scans = rnn.layers.iter().flatten().count();
    let mut inputs = vec![("input", axis.rows(), input)];
    for name in ["h0", "c0"] {
        if case.has(name) {
            inputs.push((name, scans * axis.items(), hidden));
        }
    }
    check(case, &params, &inputs, |t, leaves| {
        let parts = |all: Option<&Var>| match all {
            Some(&all) => (0..scans).map(|i| t.rows(all, i * axis.items(), axis.items())).collect(),
            None => Ok(Vec::new()),
        };
        let (states, memories) = (parts(leaves.get(1))?, parts(leaves.get(2))?);
        let run = rnn.forward_from(t, t.on_axis(leaves[0], &axis)?, &states, &memories)?;
        let last: Vec<Var> = run.layers.iter().map(|l| l.last).collect();
        let memory: Vec<Var> = run.layers.iter().filter_map(|l| l.memory).collect();
        let mut outputs = vec![("output", run.states), ("h_n", t.stack(&last)?)];
        if cell == Cell::Lstm {
            outputs.push(("c_n", t.stack(&memory)?));
        }
        Ok(outputs)
    });
}

#[test]
fn recurrent_layers() {
    in_both_types!("rnn", recurrence, Cell::Tanh);
    in_both_types!("gru", recurrence, Cell::Gru);
    in_both_types!("lstm", recurrence, Cell::Lstm);
}

fn linear_layer<T: Float>(case: &Case) {
    let names: &[&str] = if case.flag("bias") { &["weight", "bias"] } else { &["weight"] };
    let (params, ids) = parameters::<T>(case, names);
    check(case, &params, &[("input", 6, 3)], |t, x| Ok(vec![("output", t.linear(x[0], ids[0], ids.get(1).copied())?)]));
}

fn layer_norm<T: Float>(case: &Case) {
    let (params, ids) = parameters::<T>(case, &["weight", "bias"]);
    let input = [("input", 6, case.number("features") as usize)];
    check(case, &params, &input, |t, x| Ok(vec![("output", t.layer_norm(x[0], ids[0], ids[1], case.number("eps"))?)]));
}

fn gelu<T: Float>(case: &Case) {
    check(case, &Params::<T>::new(0), &[("input", 29, 1)], |t, x| {
        let exact = case.config["approximate"] == "none";
        Ok(vec![("output", if exact { t.gelu(x[0]) } else { t.gelu_tanh(x[0]) })])
    });
}

fn cosine<T: Float>(case: &Case) {
    let inputs = [("left", 6, 4), ("right", 6, 4)];
    check(case, &Params::<T>::new(0), &inputs, |t, x| Ok(vec![("output", t.cosine(x[0], x[1])?)]));
}

fn embedding<T: Float>(case: &Case) {
    let (params, ids) = parameters::<T>(case, &["weight"]);
    check(case, &params, &[], |t, _| Ok(vec![("output", t.embedding(ids[0], &case.integers::<u32>("ids"))?)]));
}

#[test]
fn layers() {
    in_both_types!("linear", linear_layer);
    in_both_types!("layer_norm", layer_norm);
    in_both_types!("gelu", gelu);
    in_both_types!("cosine", cosine);
    in_both_types!("embedding", embedding);
}

/// What a sum over the rows has to be multiplied by.
fn reduction(case: &Case, rows: usize) -> f64 {
    if case.config["reduction"] == "mean" { 1.0 / rows as f64 } else { 1.0 }
}

fn cross_entropy<T: Float>(case: &Case) {
    let targets = case.integers::<u32>("targets");
    let (params, ids) = parameters::<T>(case, &["weight", "bias"]);
    check(case, &params, &[("input", targets.len(), 4)], |t, x| {
        case.compare("logits", &t.value(t.linear(x[0], ids[0], Some(ids[1]))?));
        let scale = reduction(case, targets.len());
        Ok(vec![("loss", t.cross_entropy(x[0], ids[0], Some(ids[1]), &targets, case.number("label_smoothing"), scale)?)])
    });
}

fn binary_cross_entropy<T: Float>(case: &Case) {
    let targets: Vec<T> = case.data("targets");
    check(case, &Params::<T>::new(0), &[("logits", targets.len(), 1)], |t, x| {
        Ok(vec![("loss", t.binary_cross_entropy(x[0], &targets, reduction(case, targets.len()))?)])
    });
}

#[test]
fn losses() {
    in_both_types!("cross_entropy", cross_entropy);
    in_both_types!("bce", binary_cross_entropy);
}

/// Values of the fused decoder; its gradients are compared where its weights are values too.
fn decoder<T: Float>(case: &Case) {
    let cell = match case.name.as_str() {
        "decoder/bahdanau_gru" => Cell::Gru,
        "decoder/bahdanau_lstm" => Cell::Lstm,
        "decoder/bahdanau_rnn" => Cell::Tanh,
        _ => return,
    };
    let names = ["attention.query.weight", "attention.memory.weight", "attention.v"];
    let names = names.into_iter().chain(["cell.weight_ih", "cell.weight_hh", "cell.bias_ih", "cell.bias_hh"]);
    let (params, ids) = parameters::<T>(case, &names.collect::<Vec<_>>());
    let [query, memory_weight, v, weight_ih, weight_hh, bias_ih, bias_hh] = ids[..] else { unreachable!("seven names") };
    let decoder = AdditiveDecoder { query, v, cell: Recurrent { cell, weight_ih, weight_hh, bias_ih, bias_hh, reversed: false } };
    let (source, target) = (Axis::new(case.integers("source_lengths")), Axis::new(case.integers("target_lengths")));
    let t = Tape::new(&params);
    let table = |name: &str| t.table(case.shape(name)[0], case.shape(name)[1], case.data(name)).unwrap();
    let y = t.on_axis(table("inputs"), &target).unwrap();
    let memory = t.on_axis(table("memory"), &source).unwrap();
    let keys = t.linear(memory, memory_weight, None).unwrap();
    let cell0 = case.has("cell0").then(|| table("cell0"));
    let decoded = decoder.forward(&t, y, keys, memory, table("s0"), cell0).unwrap();
    case.compare("states", &t.value(decoded.states));
    case.compare("contexts", &t.value(decoded.contexts));
    case.compare("weights", &t.value(decoded.weights));
}

#[test]
fn additive_decoder() {
    in_both_types!("decoder", decoder);
}

fn optimiser<T: Float>(case: &Case) {
    if case.has("norm") {
        return clipping::<T>(case);
    }
    let beta = |i: usize| case.config["betas"][i].as_f64().unwrap();
    let decay = case.config["weight_decay"].as_f64().unwrap_or(0.0);
    let rule = match case.config["optimiser"].as_str().unwrap() {
        "SGD" => Rule::Sgd { momentum: case.config["momentum"].as_f64().unwrap_or(0.0) },
        "Adam" | "AdamW" => Rule::Adam { beta1: beta(0), beta2: beta(1), epsilon: case.number("eps"), decay },
        "Adadelta" => Rule::Adadelta { rho: case.number("rho"), epsilon: case.number("eps") },
        other => panic!("{}: {other}", case.name),
    };
    let mut weights: Vec<T> = case.data("start");
    let mut optimiser = Optimiser::new(rule, weights.len());
    let mut after_each = Vec::new();
    for gradient in case.data::<T>("gradients").chunks(weights.len()) {
        optimiser.step(&mut weights, gradient, case.number("lr"), 1.0);
        after_each.extend_from_slice(&weights);
    }
    assert_eq!(optimiser.steps(), 10);
    case.compare("result", &after_each);
}

fn clipping<T: Float>(case: &Case) {
    let gradient: Vec<T> = case.data("gradient");
    let norm = global_norm(&gradient);
    case.compare("norm", &[T::from_f64(norm)]);
    let scale = T::from_f64(clip_scale(norm, case.number("max_norm")));
    case.compare("clipped", &gradient.iter().map(|&g| g * scale).collect::<Vec<_>>());
}

#[test]
fn optimisers() {
    in_both_types!("optim", optimiser);
}
