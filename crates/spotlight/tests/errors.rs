//! What does not fit is an error that says what does not fit with what. Nothing panics, and nothing empty gives NaN.

use spotlight::axis::{Axis, Pairs};
use spotlight::decoder::AdditiveDecoder;
use spotlight::nn::{Embedding, LayerNorm, Linear, Rnn, RnnConfig};
use spotlight::params::{Gradients, Init, Params};
use spotlight::tape::{Recurrent, Tape, Var};
use spotlight::train::parallel::Shards;
use spotlight::{Cell, Error, Result};

/// Panics unless `result` is an error whose message has all the words.
fn fails<T>(result: Result<T>, words: &[&str]) {
    let Err(error) = result else { panic!("no error that says {words:?}") };
    let message = error.to_string();
    for word in words {
        assert!(message.contains(word), "{message:?} does not say {word:?}");
    }
}

fn params() -> Params<f64> {
    Params::new(3)
}

#[test]
fn tables() {
    let p = params();
    let t = Tape::new(&p);
    fails(t.table(2, 3, vec![0.0; 5]), &["table", "2 x 3", "1 x 5"]);
    fails(t.input(2, 3, vec![0.0; 5]), &["2 x 3", "1 x 5"]);
    fails(t.on_axis(t.zeros(4, 2), &Axis::new([1, 2])), &["on_axis", "3 rows", "[1, 2]", "4 x 2"]);
    fails(Pairs::new(&Axis::new([1, 2]), &Axis::new([3])), &["pairs", "[1, 2]", "[3]"]);
    let loss = t.zeros(2, 1);
    fails(t.backward(loss), &["backward", "1 x 1", "2 x 1"]);
}

#[test]
fn gradients_of_the_wrong_size() {
    let p = params();
    let t = Tape::new(&p);
    let x = t.input(2, 3, vec![0.0; 6]).unwrap();
    fails(t.backward_with(&[(x, vec![1.0; 5])], &[x]), &["backward", "6 gradients", "1 x 5"]);
}

#[test]
fn two_tables_that_do_not_fit() {
    let p = params();
    let t = Tape::new(&p);
    let (a, b) = (t.zeros(2, 3), t.zeros(4, 5));
    let both = ["2 x 3", "4 x 5"];
    let with = |op| [op, both[0], both[1]];
    fails(t.add(a, b), &with("add"));
    fails(t.sub(a, b), &with("sub"));
    fails(t.mul(a, b), &with("mul"));
    fails(t.div(a, b), &with("div"));
    fails(t.log_add_exp(a, b), &with("log_add_exp"));
    fails(t.select(t.scalar(1.0), a, b), &with("select"));
    fails(t.select(b, a, a), &["select", "mask", "4 x 5", "2 x 3"]);
    fails(t.dot(a, b), &with("dot"));
    fails(t.dot(a, t.zeros(2, 1)), &["dot", "2 x 3", "2 x 1"]);
    fails(t.cosine(a, b), &with("cosine"));
    fails(t.concat(&[a, b]), &with("concat"));
    fails(t.concat(&[]), &["concatenate", "0", "at least 1"]);
    fails(t.stack(&[a, b]), &with("stack"));
    fails(t.matmul(a, b), &with("matmul"));
    fails(t.ranking(t.zeros(2, 1), t.zeros(3, 1), 0.1, 1.0), &["2 x 1", "3 x 1"]);
}

#[test]
fn rows_of_different_axes() {
    let p = params();
    let t = Tape::new(&p);
    let on = |lengths: &[usize]| t.on_axis(t.zeros(3, 2), &Axis::new(lengths)).unwrap();
    let (a, b) = (on(&[1, 2]), on(&[2, 1]));
    let words = ["[1, 2]", "[2, 1]"];
    for result in [
        t.add(a, b),
        t.sub(a, b),
        t.mul(a, b),
        t.div(a, b),
        t.log_add_exp(a, b),
        t.dot(a, b),
        t.cosine(a, b),
        t.concat(&[a, b]),
        t.select(t.scalar(1.0), a, b),
        t.select(a, t.scalar(1.0), b),
    ] {
        fails(result, &words);
    }
    fails(t.scan(&Axis::new([1, 2]), &[b], &[t.zeros(1, 2)], |_, _, s| Ok(s.to_vec())), &words);
}

#[test]
fn operations_along_an_axis_need_one() {
    let p = params();
    let t = Tape::new(&p);
    let x = t.zeros(3, 2);
    type Operation = fn(&Tape<f64>, Var) -> Result<Var>;
    let operations: [(&str, Operation); 14] = [
        ("softmax", |t, x| t.softmax(x)),
        ("log_sum_exp", |t, x| t.log_sum_exp(x)),
        ("sum", |t, x| t.sum(x)),
        ("mean", |t, x| t.mean(x)),
        ("max", |t, x| t.max(x)),
        ("first", |t, x| t.first(x)),
        ("last", |t, x| t.last(x)),
        ("is_first", |t, x| t.is_first(x)),
        ("previous", |t, x| t.previous(x, x)),
        ("next", |t, x| t.next(x, x)),
        ("reverse", |t, x| t.reverse(x)),
        ("broadcast_as", |t, x| t.broadcast_as(x, x)),
        ("select_rows", |t, x| t.select_rows(x, &[true; 3])),
        ("recurrent", |t, x| {
            let id = t.params().find("w").unwrap();
            let layer = Recurrent { cell: Cell::Tanh, weight_ih: id, weight_hh: id, bias_ih: id, bias_hh: id, reversed: false };
            t.recurrent(&layer, x, None, None).map(|s| s.states)
        }),
    ];
    let mut p = params();
    p.add("w", &[2, 2], Init::Zeros);
    let with_w = Tape::new(&p);
    let y = with_w.zeros(3, 2);
    for (name, operation) in operations {
        let result = if name == "recurrent" { operation(&with_w, y) } else { operation(&t, x) };
        fails(result, &[name, "on_axis"]);
    }
}

#[test]
fn rows_and_columns_that_do_not_exist() {
    let mut p = params();
    let table = p.add("table", &[4, 2], Init::Zeros);
    let t = Tape::new(&p);
    let axis = Axis::new([1, 2]);
    let x = t.on_axis(t.zeros(3, 2), &axis).unwrap();
    fails(t.gather(x, &[0, 3]), &["gather", "3", "3 rows"]);
    fails(t.rows(x, 2, 2), &["rows", "4", "3 rows"]);
    fails(t.rows(x, 1, usize::MAX), &["rows", "3 rows"]);
    fails(t.slice(x, 1, 2), &["slice", "3 columns", "3 x 2"]);
    fails(t.slice(x, 1, usize::MAX), &["slice", "3 x 2"]);
    fails(t.embedding(table, &[0, 4]), &["embedding", "4", "4 rows"]);
    fails(t.select_rows(x, &[true; 4]), &["select_rows", "4 rows", "3 x 2"]);
    fails(t.previous(x, t.zeros(3, 2)), &["previous", "3 x 2", "3 x 2"]);
    fails(t.next(x, t.zeros(2, 1)), &["next", "3 x 2", "2 x 1"]);
    fails(t.broadcast(t.zeros(3, 2), &axis), &["broadcast", "2 rows", "3 x 2"]);
    fails(t.broadcast_as(t.zeros(3, 2), x), &["broadcast", "2 rows", "3 x 2"]);
}

#[test]
fn scans() {
    let p = params();
    let t = Tape::new(&p);
    let axis = Axis::new([1, 2]);
    let (x, start) = (t.zeros(3, 2), t.zeros(2, 2));
    fails(t.scan(&axis, &[t.zeros(4, 2)], &[start], |_, _, s| Ok(s.to_vec())), &["scan", "input", "3 x 2", "4 x 2"]);
    fails(t.scan(&axis, &[x], &[t.zeros(3, 2)], |_, _, s| Ok(s.to_vec())), &["scan", "initial", "2 x 2", "3 x 2"]);
    fails(t.scan(&axis, &[x], &[start], |_, _, _| Ok(vec![])), &["scan", "0", "1"]);
    fails(t.scan(&axis, &[x], &[start], |_, _, s| Ok(vec![t.slice(s[0], 0, 1)?])), &["scan", "state", "2 x 2", "2 x 1"]);
    // An error of the step itself comes through.
    fails(t.scan(&axis, &[x], &[start], |_, x, s| Ok(vec![t.matmul(x[0], s[0])?, s[0]])), &["number of states"]);
    fails(t.scan(&axis, &[x], &[start], |_, _, _| Ok(vec![t.table(1, 1, vec![])?])), &["table"]);
}

#[test]
fn layers() {
    let mut p = params();
    let linear = Linear::new(&mut p, "linear", 3, 4);
    let norm = LayerNorm::new(&mut p, "norm", 3);
    let rnn = Rnn::new(&mut p, "rnn", RnnConfig { layers: 2, ..RnnConfig::new(Cell::Lstm, 3, 5) });
    let both_ways = Rnn::new(&mut p, "both", RnnConfig { bidirectional: true, ..RnnConfig::new(Cell::Gru, 3, 5) });
    let nothing = Rnn::new(&mut p, "nothing", RnnConfig::new(Cell::Gru, 3, 0));
    let t = Tape::new(&p);
    let axis = Axis::new([1, 2]);
    let on = |cols: usize| t.on_axis(t.zeros(3, cols), &axis).unwrap();
    fails(linear.forward(&t, on(4)), &["linear", "3 x 4", "4 x 3"]);
    fails(t.linear(on(3), linear.weight, Some(norm.bias)), &["linear (bias)", "1 x 4", "1 x 3"]);
    fails(t.linear_columns(on(2), linear.weight, 2, None), &["linear", "3 x 2", "4 x 3"]);
    fails(norm.forward(&t, on(4)), &["layer_norm", "1 x 4", "1 x 3"]);
    fails(t.dropout(on(1), 1.0), &["dropout", "1", "below 1"]);
    fails(t.dropout(on(1), f64::NAN), &["dropout", "NaN", "below 1"]);
    fails(rnn.forward(&t, on(4)), &["recurrent", "3 x 4", "20 x 3"]);
    fails(rnn.forward(&t, t.zeros(3, 3)), &["recurrent", "on_axis"]);
    let state = t.zeros(2, 5);
    fails(rnn.forward_from(&t, on(3), &[state], &[]), &["initial states", "1", "2, one for each layer"]);
    fails(rnn.forward_from(&t, on(3), &[state, state], &[state]), &["initial cell states", "1", "2, one for each layer"]);
    fails(rnn.forward_from(&t, on(3), &[state, t.zeros(3, 5)], &[]), &["recurrent (initial state)", "2 x 5", "3 x 5"]);
    fails(both_ways.step(&t, t.zeros(2, 3), &[], &[]), &["directions", "2"]);
    fails(nothing.forward(&t, on(3)), &["hidden size", "0", "at least 1"]);
    let layer = rnn.layers[0][0];
    fails(t.recurrent(&Recurrent { weight_hh: linear.weight, ..layer }, on(3), None, None), &["recurrent", "12 x 3", "4 x 3"]);
    fails(t.recurrent(&Recurrent { bias_ih: norm.bias, ..layer }, on(3), None, None), &["input bias", "1 x 20", "1 x 3"]);
    fails(t.recurrent(&Recurrent { bias_hh: norm.bias, ..layer }, on(3), None, None), &["hidden bias", "1 x 20", "1 x 3"]);
}

#[test]
fn losses() {
    let mut p = params();
    let linear = Linear::new(&mut p, "linear", 3, 4);
    let t = Tape::new(&p);
    let x = t.zeros(2, 3);
    let loss = |x, bias, targets: &[u32], smoothing| t.cross_entropy(x, linear.weight, bias, targets, smoothing, 1.0);
    fails(loss(t.zeros(2, 4), None, &[0, 0], 0.0), &["cross_entropy", "2 x 4", "4 x 3"]);
    fails(loss(x, None, &[0], 0.0), &["cross_entropy", "1 rows", "2 x 3"]);
    fails(loss(x, None, &[0, 4], 0.0), &["cross_entropy", "4", "4 rows"]);
    fails(loss(x, None, &[0, 1], 1.0), &["label smoothing", "1", "below 1"]);
    fails(loss(x, Some(linear.weight), &[0, 1], 0.0), &["cross_entropy (bias)", "1 x 4", "4 x 3"]);
    fails(t.binary_cross_entropy(x, &[0.0, 1.0], 1.0), &["binary_cross_entropy", "2 x 1", "2 x 3"]);
}

struct Parts {
    params: Params<f64>,
    decoder: AdditiveDecoder,
}

fn decoder() -> Parts {
    let mut params = params();
    let decoder = AdditiveDecoder {
        query: params.add("query", &[4, 3], Init::Glorot),
        v: params.add("v", &[4], Init::Glorot),
        cell: Rnn::new(&mut params, "cell", RnnConfig::new(Cell::Gru, 2 + 5, 3)).layers[0][0],
    };
    Parts { params, decoder }
}

#[test]
fn decoders() {
    let Parts { mut params, decoder } = decoder();
    let short = params.add("short", &[2], Init::Zeros);
    let t = Tape::new(&params);
    let on = |lengths: &[usize], cols: usize| {
        let axis = Axis::new(lengths);
        t.on_axis(t.zeros(axis.rows(), cols), &axis).unwrap()
    };
    let (y, keys, memory, state) = (on(&[1, 2], 2), on(&[3, 1], 4), on(&[3, 1], 5), t.zeros(2, 3));
    let run = |d: AdditiveDecoder, y, keys, memory, state| d.forward(&t, y, keys, memory, state, None);
    assert!(run(decoder, y, keys, memory, state).is_ok());
    fails(run(decoder, on(&[1], 2), keys, memory, state), &["decoder", "[1]", "[3, 1]"]);
    fails(run(decoder, y, on(&[1, 3], 4), memory, state), &["keys", "[1, 3]", "[3, 1]"]);
    fails(run(decoder, y, on(&[3, 1], 3), memory, state), &["keys", "4 x 4", "4 x 3"]);
    fails(run(decoder, on(&[1, 2], 3), keys, memory, state), &["input weights", "9 x 8", "9 x 7"]);
    fails(run(decoder, y, keys, memory, t.zeros(3, 3)), &["initial state", "2 x 3", "3 x 3"]);
    fails(run(AdditiveDecoder { v: short, ..decoder }, y, keys, memory, state), &["(v)", "1 x 4", "1 x 2"]);
    let cell = Recurrent { bias_hh: short, ..decoder.cell };
    fails(run(AdditiveDecoder { cell, ..decoder }, y, keys, memory, state), &["hidden bias", "1 x 9", "1 x 2"]);
    let cell = Recurrent { bias_ih: short, ..decoder.cell };
    fails(run(AdditiveDecoder { cell, ..decoder }, y, keys, memory, state), &["input bias", "1 x 9", "1 x 2"]);
}

#[test]
fn more_parts_than_shards() {
    let p = params();
    let mut shards = Shards::new(&p, 2);
    fails(shards.gradients(&p, 0, &[1, 2, 3], |t, _| Ok(t.scalar(1.0))).map(|_| ()), &["parts", "3", "at most 2"]);
    let (loss, _) = shards.gradients(&p, 0, &[1], |t, _| Ok(t.scalar(1.5))).unwrap();
    assert_eq!(loss, 1.5);
}

/// Everything along an axis, for sequences that are all empty, or none, or tables without columns: no panic, no NaN, forwards and back.
#[test]
fn nothing_gives_no_nan() {
    for (lengths, cols) in [(vec![0, 0], 3), (vec![], 3), (vec![0, 2, 0], 3), (vec![1, 2], 0), (vec![], 0)] {
        let axis = Axis::new(lengths);
        let mut p = params();
        let x = p.add("x", &[axis.rows(), cols], Init::Normal(1.0));
        let norm = LayerNorm::new(&mut p, "norm", cols);
        let table = Embedding::new(&mut p, "table", 2, cols);
        let linear = Linear::new(&mut p, "linear", cols, cols);
        let output = Linear::new(&mut p, "output", cols, 2);
        let rnn = Rnn::new(&mut p, "rnn", RnnConfig { bidirectional: true, ..RnnConfig::new(Cell::Lstm, cols, 2) });
        let mut gradients = Gradients::new(&p);
        let t = Tape::training(&p, &mut gradients, 0);
        let x = t.on_axis(t.param(x), &axis).unwrap();
        let zero = t.zeros(1, cols);
        let embedded = t.embedding(table.weight, &vec![1; axis.rows()]).unwrap();
        let run = rnn.forward(&t, x).unwrap();
        let scanned = t.scan(&axis, &[x], &[zero], |_, x, s| Ok(vec![t.add(x[0], s[0])?])).unwrap();
        let mut all = vec![run.states, run.last(&t).unwrap(), scanned.states[0], scanned.last[0]];
        all.extend(
            [
                t.softmax(x),
                t.sum(x),
                t.mean(x),
                t.max(x),
                t.first(x),
                t.last(x),
                t.previous(x, zero),
                t.next(x, zero),
                t.reverse(x),
                t.cosine(x, x),
                t.concat(&[x, x]),
                t.slice(x, 0, cols),
                t.mul(x, embedded),
                t.matmul(t.zeros(2, axis.rows()), x),
                t.broadcast_as(t.sum(x).unwrap(), x),
                norm.forward(&t, x),
                linear.forward(&t, x),
                t.dropout(x, 0.5),
                t.cross_entropy(x, output.weight, output.bias, &vec![1; axis.rows()], 0.1, 1.0),
                t.select_rows(x, &vec![false; axis.rows()]),
            ]
            .map(Result::unwrap),
        );
        let mut outputs: Vec<(Var, Vec<f64>)> = Vec::new();
        for y in all {
            let value = t.to_vec(y);
            assert!(value.iter().all(|x| x.is_finite()), "{axis:?}: {value:?}");
            outputs.push((y, vec![1.0; value.len()]));
        }
        // The logarithm of nothing is −∞, and its gradient nothing.
        let log_sums = t.log_sum_exp(x).unwrap();
        let log_values = t.to_vec(log_sums);
        assert!(log_values.iter().all(|x| !x.is_nan()));
        outputs.push((log_sums, vec![1.0; log_values.len()]));
        t.backward_with(&outputs, &[]).unwrap();
        assert!(gradients.flat().iter().all(|x| x.is_finite()), "{axis:?}: {:?}", gradients.flat());
    }
}

/// Gradients at inputs can be had without learning: no parameter is asked for one.
#[test]
fn inputs_have_gradients_on_a_tape_that_does_not_learn() {
    let Parts { mut params, decoder } = decoder();
    let rnn = Rnn::new(&mut params, "rnn", RnnConfig { bidirectional: true, ..RnnConfig::new(Cell::Lstm, 2, 3) });
    let norm = LayerNorm::new(&mut params, "norm", 6);
    let keys = Linear::new(&mut params, "keys", 6, 4);
    let memory = Linear::new(&mut params, "memory", 6, 5);
    let output = Linear::new(&mut params, "output", 8, 3);
    let axis = Axis::new([3, 1, 0]);
    let run = |t: &Tape<f64>, x: Var| -> Result<Var> {
        let states = rnn.forward(t, t.on_axis(x, &axis)?)?.states;
        let states = norm.forward(t, states)?;
        let (keys, memory) = (keys.forward(t, states)?, memory.forward(t, states)?);
        let y = t.slice(states, 0, 2)?;
        let decoded = decoder.forward(t, y, keys, memory, t.zeros(3, 3), None)?;
        let both = t.concat(&[decoded.states, decoded.contexts])?;
        let loss = t.cross_entropy(both, output.weight, output.bias, &[0, 1, 2, 1], 0.1, 1.0)?;
        Ok(t.scale(loss, 3.0))
    };
    let data: Vec<f64> = (0..8).map(|i| (i as f64).sin()).collect();
    let t = Tape::new(&params);
    let x = t.input(4, 2, data.clone()).unwrap();
    let loss = run(&t, x).unwrap();
    let without = t.backward_with(&[(loss, vec![1.0])], &[x]).unwrap();

    let mut gradients = Gradients::new(&params);
    let t = Tape::training(&params, &mut gradients, 0);
    let x = t.input(4, 2, data).unwrap();
    let loss = run(&t, x).unwrap();
    let with = t.backward_with(&[(loss, vec![1.0])], &[x]).unwrap();
    assert_eq!(with, without);
    assert!(with[0].iter().all(|&d| d != 0.0));
}

/// A loss that was computed but not used teaches nothing.
#[test]
fn a_loss_that_is_not_asked_for_leaves_no_gradient() {
    let mut p = params();
    let linear = Linear::new(&mut p, "linear", 3, 4);
    let x: Vec<f64> = (0..6).map(|i| (i as f64).cos()).collect();
    let used = |spare: bool| {
        let mut gradients = Gradients::new(&p);
        let t = Tape::training(&p, &mut gradients, 0);
        let x = t.table(2, 3, x.clone()).unwrap();
        let loss = t.cross_entropy(x, linear.weight, linear.bias, &[1, 2], 0.0, 1.0).unwrap();
        if spare {
            t.cross_entropy(x, linear.weight, linear.bias, &[3, 0], 0.0, 1.0).unwrap();
        }
        t.backward(loss).unwrap();
        gradients.flat().to_vec()
    };
    for (with, without) in used(true).iter().zip(used(false)) {
        assert!((with - without).abs() < 1e-15, "{with} instead of {without}");
    }
}

/// What a loss found out on the way forward counts for nothing until the backward pass comes.
#[test]
fn a_tape_that_is_dropped_leaves_no_gradient() {
    let mut p = params();
    let linear = Linear::new(&mut p, "linear", 3, 4);
    let numbers: Vec<f64> = (0..6).map(|i| (i as f64).cos()).collect();
    let forward = |t: &Tape<f64>, targets: [u32; 2]| {
        let x = t.table(2, 3, numbers.clone()).unwrap();
        t.cross_entropy(x, linear.weight, linear.bias, &targets, 0.0, 1.0).unwrap()
    };
    let mut gradients = Gradients::new(&p);
    forward(&Tape::training(&p, &mut gradients, 0), [1, 2]);
    assert!(gradients.flat().iter().all(|&g| g == 0.0));

    let learn = |gradients: &mut Gradients<f64>, targets| {
        let t = Tape::training(&p, gradients, 0);
        let loss = forward(&t, targets);
        t.backward(loss).unwrap();
    };
    let clean = |targets| {
        let mut gradients = Gradients::new(&p);
        learn(&mut gradients, targets);
        gradients.flat().to_vec()
    };
    // Dropped before and between backward passes whose gradients add up.
    forward(&Tape::training(&p, &mut gradients, 0), [3, 3]);
    learn(&mut gradients, [1, 2]);
    forward(&Tape::training(&p, &mut gradients, 0), [0, 3]);
    learn(&mut gradients, [3, 0]);
    for ((found, a), b) in gradients.flat().iter().zip(clean([1, 2])).zip(clean([3, 0])) {
        assert!((*found - (a + b)).abs() < 1e-14, "{found} instead of {}", a + b);
    }
    // And before a new step.
    gradients.begin();
    forward(&Tape::training(&p, &mut gradients, 0), [3, 3]);
    gradients.begin();
    learn(&mut gradients, [1, 2]);
    assert_eq!(gradients.flat(), clean([1, 2]));
}

/// Two losses on one tape share their weight's gradient.
#[test]
fn losses_of_one_tape_add_up() {
    let mut p = params();
    let linear = Linear::new(&mut p, "linear", 3, 4);
    let numbers: Vec<f64> = (0..6).map(|i| (i as f64).cos()).collect();
    let gradients_of = |targets: &[[u32; 2]]| {
        let mut gradients = Gradients::new(&p);
        let t = Tape::training(&p, &mut gradients, 0);
        let x = t.table(2, 3, numbers.clone()).unwrap();
        let mut loss = t.scalar(0.0);
        for targets in targets {
            loss = t.add(loss, t.cross_entropy(x, linear.weight, linear.bias, targets, 0.0, 1.0).unwrap()).unwrap();
        }
        t.backward(loss).unwrap();
        gradients.flat().to_vec()
    };
    let (a, b) = (gradients_of(&[[1, 2]]), gradients_of(&[[3, 0]]));
    for ((both, a), b) in gradients_of(&[[1, 2], [3, 0]]).iter().zip(a).zip(b) {
        assert!((both - (a + b)).abs() < 1e-14);
    }
}

#[test]
fn tables_of_different_axes_are_not_put_side_by_side() {
    let p = params();
    let t = Tape::new(&p);
    let on = |lengths: &[usize]| t.on_axis(t.zeros(4, 1), &Axis::new(lengths.to_vec())).unwrap();
    let (none, a, b) = (t.zeros(4, 2), on(&[1, 3]), on(&[2, 2]));
    for parts in [vec![a, b], vec![none, a, b], vec![a, none, b], vec![none, none, b, a]] {
        assert!(matches!(t.concat(&parts), Err(Error::Axes { op: "concat", .. })));
    }
    for parts in [vec![none, a, none], vec![a, none], vec![none, none, a, a]] {
        assert_eq!(t.axis(t.concat(&parts).unwrap()), Some(Axis::new([1, 3])));
    }
}

#[test]
fn a_probability_of_nought_costs_much_and_no_more() {
    let p = params();
    let t = Tape::new(&p);
    let given = t.input(3, 2, vec![0.0, 1.0, 0.25, 0.75, 1e-300, 1.0]).unwrap();
    let loss = t.negative_log_likelihood(given, &[0, 1, 0], 1.0).unwrap();
    let most = -(1e-12f64).ln();
    assert!((t.item(loss) - (2.0 * most - 0.75f64.ln())).abs() < 1e-9);
    let slopes = t.backward_with(&[(loss, vec![1.0])], &[given]).unwrap().remove(0);
    assert!(slopes.iter().zip([-1e12, 0.0, 0.0, -1.0 / 0.75, -1e12, 0.0]).all(|(a, b)| (a - b).abs() <= 1e-9 * b.abs()), "{slopes:?}");

    let t = Tape::new(&p);
    let lost = t.table(1, 1, vec![f64::NAN]).unwrap();
    assert!(t.item(t.negative_log_likelihood(lost, &[0], 1.0).unwrap()).is_nan());
    assert!(t.negative_log_likelihood(lost, &[1], 1.0).is_err());
    assert!(t.negative_log_likelihood(lost, &[0, 0], 1.0).is_err());
    assert!(t.scatter_add(lost, &[2], 2).is_err());
    assert!(t.scatter_add(lost, &[0, 0], 2).is_err());
}
