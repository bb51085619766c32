//! Every operation, layer and loss against central differences in f64.

use crate::common::{Check, check, lengths};
use spotlight::axis::{Axis, Pairs};
use spotlight::decoder::AdditiveDecoder;
use spotlight::nn::{LayerNorm, Linear, Rnn, RnnConfig};
use spotlight::params::{Init, ParamId, Params};
use spotlight::tape::{Bags, Recurrent, Tape, Var};
use spotlight::{Cell, Result};

/// Checks one operation on one table for every set of lengths.
fn on_one(name: &str, cols: usize, f: impl Fn(&Tape<f64>, Var) -> Result<Var> + Sync) {
    for lengths in lengths() {
        let axis = Axis::new(lengths);
        let mut c = Check::new(name);
        let x = c.input(axis.rows(), cols);
        check(c, |t| f(t, t.on_axis(t.param(x), &axis)?));
    }
}

fn on_two(name: &str, left: (usize, usize), right: (usize, usize), f: impl Fn(&Tape<f64>, Var, Var) -> Result<Var> + Sync) {
    let mut c = Check::new(name);
    let (a, b) = (c.input(left.0, left.1), c.input(right.0, right.1));
    check(c, |t| f(t, t.param(a), t.param(b)));
}

#[test]
fn elementwise() {
    on_one("tanh", 3, |t, x| Ok(t.tanh(x)));
    on_one("sigmoid", 3, |t, x| Ok(t.sigmoid(x)));
    on_one("relu", 3, |t, x| Ok(t.relu(x)));
    on_one("gelu", 3, |t, x| Ok(t.gelu(x)));
    on_one("gelu_tanh", 3, |t, x| Ok(t.gelu_tanh(x)));
    on_one("exp", 3, |t, x| Ok(t.exp(x)));
    on_one("log", 3, |t, x| Ok(t.log(t.exp(x))));
    on_one("scale", 3, |t, x| Ok(t.scale(t.neg(x), 1.7)));
    on_one("row_sum", 3, |t, x| t.row_sum(x));
    on_one("row_softmax", 3, |t, x| Ok(t.row_softmax(x)));
    on_one("row_log_softmax", 3, |t, x| Ok(t.row_log_softmax(x)));
    on_one("norm", 3, |t, x| t.norm(x));
    on_one("slice", 4, |t, x| t.slice(x, 1, 2));
    on_one("off_axis", 2, |t, x| Ok(t.off_axis(x)));
    for (left, right) in
        [((4, 3), (4, 3)), ((4, 3), (1, 3)), ((1, 3), (4, 3)), ((4, 3), (4, 1)), ((4, 1), (4, 3)), ((4, 3), (1, 1)), ((0, 3), (0, 1))]
    {
        on_two("add", left, right, |t, a, b| t.add(a, b));
        on_two("sub", left, right, |t, a, b| t.sub(a, b));
        on_two("mul", left, right, |t, a, b| t.mul(a, b));
        on_two("div", left, right, |t, a, b| t.div(a, t.exp(b)));
        on_two("log_add_exp", left, right, |t, a, b| t.log_add_exp(a, b));
        on_two("select", left, right, |t, a, b| {
            let rows = left.0.max(right.0).min(left.0 * right.0);
            let mask = (0..rows * 3).map(|i| (i % 2) as f64).collect();
            t.select(t.table(rows, 3, mask)?, a, b)
        });
    }
    on_two("dot", (4, 3), (4, 3), |t, a, b| t.dot(a, b));
    on_two("cosine", (4, 3), (4, 3), |t, a, b| t.cosine(a, b));
    on_two("concat", (4, 3), (4, 2), |t, a, b| t.concat(&[a, b, a]));
    on_two("same twice", (4, 3), (4, 3), |t, a, _| t.mul(a, a));
}

#[test]
fn products() {
    for rows in [0, 1, 5] {
        on_two("matmul", (rows, 3), (3, 4), |t, a, b| t.matmul(a, b));
        let mut c = Check::new("linear");
        let x = c.input(rows, 3);
        let linear = Linear::new(&mut c.params, "linear", 3, 4);
        check(c, |t| linear.forward(t, t.param(x)));
        let mut c = Check::new("two inputs of one weight");
        let (x, y) = (c.input(rows, 3), c.input(rows, 2));
        let w = c.input(4, 5);
        check(c, |t| t.add(t.linear_columns(t.param(x), w, 0, None)?, t.linear_columns(t.param(y), w, 3, None)?));
        let mut c = Check::new("layer norm");
        let x = c.input(rows, 4);
        let norm = LayerNorm::new(&mut c.params, "norm", 4);
        check(c, |t| norm.forward(t, t.param(x)));
    }
    let mut c = Check::new("embedding");
    let table = c.input(5, 3);
    check(c, |t| t.mul(t.embedding(table, &[4, 1, 4])?, t.embedding(table, &[0, 0, 0])?));
    let mut c = Check::new("embedding bag");
    let table = c.input(5, 2);
    // A row twice in one bag, a row in two bags, an empty bag.
    let bags = Bags { ids: vec![4, 1, 4, 1, 0], weights: vec![0.5, -1.0, 2.0, 0.25, 1.5], offsets: vec![0, 3, 3, 5] };
    check(c, |t| {
        let sums = t.embedding_bag(table, bags.clone())?;
        t.mul(sums, t.tanh(sums))
    });
}

#[test]
fn along_the_axis() {
    on_one("softmax", 2, |t, x| t.softmax(x));
    on_one("sum", 2, |t, x| t.sum(x));
    on_one("mean", 2, |t, x| t.mean(x));
    on_one("max", 2, |t, x| t.max(x));
    on_one("first", 2, |t, x| t.first(x));
    on_one("last", 2, |t, x| t.last(x));
    on_one("reverse", 2, |t, x| t.reverse(x));
    on_one("stack and rows", 2, |t, x| t.rows(t.stack(&[x, x])?, 0, t.shape(x).0));
    on_one("select rows", 2, |t, x| {
        let keep: Vec<bool> = (0..t.shape(x).0).map(|i| i % 3 != 1).collect();
        t.sum(t.select_rows(x, &keep)?)
    });
    for lengths in lengths() {
        let axis = Axis::new(lengths.clone());
        // −∞ for an empty sequence has no slope, so only the others are looked at.
        let mut c = Check::new("log_sum_exp");
        let x = c.input(axis.rows(), 2);
        let full: Vec<usize> = (0..axis.items()).filter(|&i| axis.lengths()[i] > 0).collect();
        check(c, |t| t.gather(t.log_sum_exp(t.on_axis(t.param(x), &axis)?)?, &full));
        for one in [true, false] {
            let mut c = Check::new("previous and next");
            let (x, start) = (c.input(axis.rows(), 2), c.input(if one { 1 } else { axis.items() }, 2));
            check(c, |t| {
                let x = t.on_axis(t.param(x), &axis)?;
                t.mul(t.previous(x, t.param(start))?, t.next(x, t.param(start))?)
            });
        }
        let mut c = Check::new("broadcast");
        let (x, items) = (c.input(axis.rows(), 1), c.input(axis.items(), 3));
        check(c, |t| {
            let x = t.on_axis(t.param(x), &axis)?;
            t.mul(x, t.broadcast_as(t.param(items), x)?)
        });
        let mut c = Check::new("gather");
        let x = c.input(axis.rows(), 2);
        let rows: Vec<usize> = (0..2 * axis.rows()).map(|i| i * 5 % axis.rows()).collect();
        check(c, |t| t.gather(t.param(x), &rows));
        let mut c = Check::new("scatter_add");
        let x = c.input(axis.rows(), 2);
        // Row 1 gets nothing, the others several.
        let rows: Vec<usize> = (0..axis.rows()).map(|i| i % 3 * 2).collect();
        check(c, |t| t.scatter_add(t.param(x), &rows, 5));
        let mut c = Check::new("softmax over pairs");
        let (q, k) = (c.input(axis.rows(), 2), c.input(axis.rows(), 2));
        let pairs = Pairs::new(&axis, &axis).unwrap();
        let queries = pairs.axis().item_of_rows();
        let keys: Vec<usize> = pairs.spans().iter().flat_map(|s| s.first..s.first + s.count).collect();
        check(c, |t| {
            let scores = t.dot(t.gather(t.param(q), &queries)?, t.gather(t.param(k), &keys)?)?;
            t.softmax(t.on_axis(scores, pairs.axis())?)
        });
    }
}

#[test]
fn scan_around_a_written_step() {
    for lengths in lengths() {
        let axis = Axis::new(lengths);
        let mut c = Check::new("scan");
        let (x, start) = (c.input(axis.rows(), 3), c.input(axis.items(), 3));
        let linear = Linear::new(&mut c.params, "step", 3, 3);
        check(c, |t| {
            let x = t.on_axis(t.param(x), &axis)?;
            let run =
                t.scan(&axis, &[x], &[t.param(start)], |_, x, before| Ok(vec![t.tanh(t.add(x[0], linear.forward(t, before[0])?)?)]))?;
            t.stack(&[run.states[0], run.last[0]])
        });
    }
}

fn random_biases(params: &mut Params<f64>, rnn: &Rnn) {
    for Recurrent { bias_ih, bias_hh, .. } in rnn.layers.iter().flatten() {
        for (i, x) in params.get_mut(*bias_ih).iter_mut().enumerate() {
            *x += 0.1 * (i as f64).sin();
        }
        for (i, x) in params.get_mut(*bias_hh).iter_mut().enumerate() {
            *x += 0.1 * (i as f64).cos();
        }
    }
}

#[test]
fn recurrent_layers() {
    for cell in [Cell::Tanh, Cell::Gru, Cell::Lstm] {
        for bidirectional in [false, true] {
            for lengths in lengths() {
                let axis = Axis::new(lengths);
                let mut c = Check::new(&format!("rnn {cell:?} {bidirectional} {axis:?}"));
                let config = RnnConfig { layers: 2, bidirectional, ..RnnConfig::new(cell, 2, 3) };
                let rnn = Rnn::new(&mut c.params, "rnn", config);
                random_biases(&mut c.params, &rnn);
                let x = c.input(axis.rows(), 2);
                let count = if bidirectional { 4 } else { 2 };
                let states: Vec<ParamId> = (0..count).map(|_| c.input(axis.items(), 3)).collect();
                let memories: Vec<ParamId> = (0..count).map(|_| c.input(axis.items(), 3)).collect();
                check(c, |t| {
                    let of = |ids: &[ParamId]| ids.iter().map(|&id| t.param(id)).collect::<Vec<Var>>();
                    let run = rnn.forward_from(t, t.on_axis(t.param(x), &axis)?, &of(&states), &of(&memories))?;
                    let mut all = vec![run.states, run.last(t)?];
                    all.extend(run.last_memory(t)?);
                    t.stack(&all)
                });
            }
        }
    }
}

#[test]
fn additive_decoder() {
    for cell in [Cell::Tanh, Cell::Gru, Cell::Lstm] {
        for lengths in lengths() {
            let target = Axis::new(lengths.clone());
            let source = Axis::new(lengths.iter().rev().copied().collect::<Vec<_>>());
            let mut c = Check::new(&format!("additive decoder {cell:?} {target:?}"));
            let (y, keys, memory) = (c.input(target.rows(), 2), c.input(source.rows(), 5), c.input(source.rows(), 4));
            let (state, memory0) = (c.input(target.items(), 3), c.input(target.items(), 3));
            let query = c.input(5, 3);
            let v = c.params.add("v", &[5], Init::Uniform(1.0));
            let rnn = Rnn::new(&mut c.params, "cell", RnnConfig::new(cell, 6, 3));
            random_biases(&mut c.params, &rnn);
            let decoder = AdditiveDecoder { query, v, cell: rnn.layers[0][0] };
            check(c, |t| {
                let y = t.on_axis(t.param(y), &target)?;
                let (keys, memory) = (t.on_axis(t.param(keys), &source)?, t.on_axis(t.param(memory), &source)?);
                let out = decoder.forward(t, y, keys, memory, t.param(state), Some(t.param(memory0)))?;
                t.concat(&[out.states, out.contexts])
            });
            // A loss on the weights themselves, alone and beside the others.
            let (mut c, n) = (Check::new(&format!("weights of the additive decoder {cell:?} {target:?}")), target.items());
            let (y, keys, memory) = (c.input(target.rows(), 2), c.input(source.rows(), 5), c.input(source.rows(), 4));
            let (state, query) = (c.input(n, 3), c.input(5, 3));
            let v = c.params.add("v", &[5], Init::Uniform(1.0));
            let rnn = Rnn::new(&mut c.params, "cell", RnnConfig::new(cell, 6, 3));
            let decoder = AdditiveDecoder { query, v, cell: rnn.layers[0][0] };
            check(c, |t| {
                let y = t.on_axis(t.param(y), &target)?;
                let (keys, memory) = (t.on_axis(t.param(keys), &source)?, t.on_axis(t.param(memory), &source)?);
                let out = decoder.forward(t, y, keys, memory, t.param(state), None)?;
                t.stack(&[out.weights, t.row_sum(out.contexts)?])
            });
        }
    }
}

#[test]
fn losses() {
    for rows in [0, 1, 40] {
        for smoothing in [0.0, 0.1] {
            for factor in [1.0, -0.7] {
                let mut c = Check::new("cross entropy");
                let x = c.input(rows, 3);
                let linear = Linear::new(&mut c.params, "output", 3, 5);
                let targets: Vec<u32> = (0..rows as u32).map(|i| i * 3 % 5).collect();
                check(c, |t| {
                    let loss = t.cross_entropy(t.tanh(t.param(x)), linear.weight, linear.bias, &targets, smoothing, 0.3)?;
                    Ok(t.scale(loss, factor))
                });
            }
        }
        let mut c = Check::new("binary cross entropy");
        let x = c.input(rows, 1);
        let targets: Vec<f64> = (0..rows).map(|i| (i % 2) as f64).collect();
        check(c, |t| t.binary_cross_entropy(t.param(x), &targets, 0.5));
        // Probabilities of a mixture: g softmax(a) + (1 - g) softmax(b).
        let mut c = Check::new("negative log-likelihood");
        let (a, b, g) = (c.input(rows, 4), c.input(rows, 4), c.input(rows, 1));
        let targets: Vec<u32> = (0..rows as u32).map(|i| i * 3 % 4).collect();
        check(c, |t| {
            let gate = t.sigmoid(t.param(g));
            let rest = t.sub(t.scalar(1.0), gate)?;
            let p = t.add(t.mul(t.row_softmax(t.param(a)), gate)?, t.mul(t.row_softmax(t.param(b)), rest)?)?;
            t.negative_log_likelihood(p, &targets, 0.4)
        });
        let mut c = Check::new("ranking");
        let (a, b) = (c.input(rows, 1), c.input(rows, 1));
        check(c, |t| t.ranking(t.param(a), t.param(b), 0.2, 2.0));
    }
}

/// A mixture of writing and copying: its slopes, and its value beside the plain one made of a softmax, what is copied scattered over a wider table, and the loss of probabilities.
#[test]
fn the_likelihood_of_copies() {
    let (targets, units) = ([2u32, 0, 4], 3);
    for smoothing in [0.0, 0.2] {
        let mut c = Check::new("copy likelihood");
        let (logits, gate) = (c.input(3, units), c.input(3, 1));
        let parts = |t: &Tape<f64>| -> Result<(Var, Var)> {
            let write = t.sigmoid(t.param(gate));
            Ok((write, t.mul(t.sub(t.scalar(1.0), write)?, t.table(3, 1, vec![0.25, 0.0, 1.0])?)?))
        };
        let fused = |t: &Tape<f64>| {
            let (write, copied) = parts(t)?;
            t.copy_likelihood(t.param(logits), write, copied, &targets, smoothing, 0.7)
        };
        let plain = |t: &Tape<f64>| {
            let (write, copied) = parts(t)?;
            let written = t.mul(t.row_softmax(t.param(logits)), write)?;
            // One column for each unit, the unknown ones too: a row is the unit of a query.
            let wide = t.concat(&[written, t.zeros(3, 2)])?;
            let mut hits = vec![0.0; 15];
            targets.iter().enumerate().for_each(|(row, &unit)| hits[row * 5 + unit as usize] = 1.0);
            let all = t.add(wide, t.mul(t.table(3, 5, hits)?, copied)?)?;
            let sharp = t.negative_log_likelihood(all, &targets, 0.7 * (1.0 - smoothing))?;
            let even = t.scale(t.sum_all(t.row_log_softmax(t.param(logits)))?, -0.7 * smoothing / units as f64);
            t.add(sharp, even)
        };
        let tape = Tape::new(&c.params);
        let [fused_value, plain_value] = [fused(&tape).unwrap(), plain(&tape).unwrap()].map(|x| tape.item(x));
        assert!((fused_value - plain_value).abs() < 1e-12, "{fused_value} {plain_value}");
        drop(tape);
        check(c, fused);
    }
}
