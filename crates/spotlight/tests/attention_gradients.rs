//! Every score, softmax, mix and mechanism against central differences in f64.

use crate::common::{Check, check, lengths};
use spotlight::attention::score::Sizes;
use spotlight::attention::{
    AttentionConfig, Mask, MultiHead, MultiHeadConfig, Normaliser, Pool, Question, Score, ScoreConfig, ScoreKind, SoftmaxConfig,
    SoftmaxKind, mix, mix_whole,
};
use spotlight::axis::{Axis, Pairs};
use spotlight::decoder::{Coverage, DecoderConfig, Order, RecurrentDecoder};
use spotlight::params::Params;
use spotlight::tape::{Tape, Var};
use spotlight::{Cell, Result};

/// Query and key axes for every set of lengths; the lengths of the keys in another order.
fn axes() -> impl Iterator<Item = (Axis, Axis)> {
    lengths().into_iter().map(|lengths| (Axis::new(lengths.iter().rev().copied().collect::<Vec<_>>()), Axis::new(lengths)))
}

/// Parameters that begin at zero (biases) would hide mistakes.
fn shake(params: &mut Params<f64>) {
    for (i, x) in params.flat_mut().iter_mut().enumerate() {
        *x += 0.1 * (i as f64 * 1.7).sin();
    }
}

/// A check of another function of the same parameters.
fn with_params(name: &str, params: &Params<f64>) -> Check {
    let mut check = Check::new(name);
    check.params = params.clone();
    check
}

/// The weights that can be checked by differences: those that are not drawn, and have a slope.
const SMOOTH: [SoftmaxKind; 6] =
    [SoftmaxKind::Softmax, SoftmaxKind::Sparsemax, SoftmaxKind::Entmax, SoftmaxKind::LocalM, SoftmaxKind::LocalP, SoftmaxKind::Monotonic];

#[test]
fn scores() {
    for &kind in ScoreKind::ALL {
        for normalised in [false, true] {
            for coverage in [false, true] {
                let reads_coverage = matches!(kind, ScoreKind::Additive | ScoreKind::Location);
                if (normalised || coverage) && !reads_coverage {
                    continue;
                }
                for (queries, keys) in axes() {
                    let mut c = Check::new(&format!("{kind} {normalised} {coverage} {queries:?}"));
                    let config = ScoreConfig { kind, normalised, alignment: Some(2), filters: 2, filter_width: 3 };
                    let query = if matches!(kind, ScoreKind::General | ScoreKind::Additive | ScoreKind::Concat) { 2 } else { 3 };
                    let score = Score::new(&mut c.params, "score", &config, Sizes { query, memory: 3, coverage }).unwrap();
                    shake(&mut c.params);
                    let (q, k) = (c.input(queries.rows(), query), c.input(keys.rows(), 3));
                    let pairs = Pairs::new(&queries, &keys).unwrap();
                    let (previous, covered) = (c.input(pairs.axis().rows(), 1), c.input(pairs.axis().rows(), 1));
                    check(c, |t| {
                        let mut question = Question::of_axes(Some(t.param(q)), &queries, &keys)?;
                        question.previous = Some(t.param(previous));
                        question.coverage = Some(t.param(covered));
                        score.scores(t, score.keys(t, t.param(k))?, &question)
                    });
                }
            }
        }
    }
}

#[test]
fn weights() {
    for kind in SMOOTH {
        for masked in [false, true] {
            for (queries, keys) in axes() {
                let pairs = Pairs::new(&queries, &keys).unwrap();
                let heads = if kind == SoftmaxKind::Monotonic { 1 } else { 2 };
                let mut c = Check::new(&format!("{kind:?} {masked} {queries:?}"));
                let config = SoftmaxConfig { kind, temperature: 0.7, half_width: 1, centre: Some(2) };
                let normaliser = Normaliser::new(&mut c.params, "softmax", config, 3).unwrap();
                let (scores, query) = (c.input(pairs.axis().rows(), heads), c.input(queries.rows(), 3));
                let previous = c.input(pairs.axis().rows(), 1);
                for given in [false, true] {
                    check(with_params(&format!("{kind:?} {masked} {given} {queries:?}"), &c.params), |t| {
                        let mut question = Question::of_axes(Some(t.param(query)), &queries, &keys)?;
                        question.previous = given.then(|| t.param(previous));
                        if masked {
                            // Whole queries among what is forbidden.
                            let allowed = (0..pairs.axis().rows()).map(|i| i % 3 != 1 && i > 4).collect();
                            question = question.masked(&Mask::pairs(&pairs, allowed)?)?;
                        }
                        Ok(normaliser.weights(t, t.param(scores), &question)?.weights)
                    });
                }
            }
        }
    }
}

#[test]
fn mixes() {
    for (queries, keys) in axes() {
        let pairs = Pairs::new(&queries, &keys).unwrap();
        let mut c = Check::new("mix");
        let (weights, values) = (c.input(pairs.axis().rows(), 2), c.input(keys.rows(), 4));
        check(c, |t| {
            t.concat(&[mix(t, t.param(weights), t.param(values), &pairs)?, mix_whole(t, t.param(weights), t.param(values), &pairs)?])
        });
    }
}

#[test]
fn pooling() {
    for &kind in ScoreKind::ALL.iter().filter(|&&kind| kind != ScoreKind::Location) {
        for heads in [1, 2] {
            for lengths in lengths() {
                let axis = Axis::new(lengths);
                let mut c = Check::new(&format!("pool {kind} {heads} {axis:?}"));
                let config = AttentionConfig { score: ScoreConfig { alignment: Some(2), ..kind.into() }, heads, ..Default::default() };
                let pool = Pool::new(&mut c.params, "pool", &config, 3).unwrap();
                shake(&mut c.params);
                let memory = c.input(axis.rows(), 3);
                check(c, |t| {
                    let pooled = pool.forward(t, t.on_axis(t.param(memory), &axis)?, None)?;
                    assert_eq!(t.shape(pooled.context).1, pool.width());
                    side_by_side(t, &[pooled.context, pooled.weights])
                });
            }
        }
    }
}

/// Tables of any shapes as one column, so that all of them enter a loss.
fn side_by_side(t: &Tape<f64>, parts: &[Var]) -> Result<Var> {
    let mut columns = Vec::new();
    for &part in parts {
        for i in 0..t.shape(part).1 {
            columns.push(t.slice(t.off_axis(part), i, 1)?);
        }
    }
    t.stack(&columns)
}

#[test]
fn multi_head() {
    for &kind in ScoreKind::ALL.iter().filter(|&&kind| kind != ScoreKind::Location) {
        for (queries, keys) in axes() {
            for (key, value) in [(4, 4), (3, 2)] {
                let mut c = Check::new(&format!("multi-head {kind} {queries:?}"));
                let config = MultiHeadConfig { score: kind.into(), heads: 2, causal: true, window: Some(2), ..Default::default() };
                let attention = MultiHead::new(&mut c.params, "attention", &config, 4, key, value).unwrap();
                shake(&mut c.params);
                let (q, k, v) = (c.input(queries.rows(), 4), c.input(keys.rows(), key), c.input(keys.rows(), value));
                check(c, |t| {
                    let on_keys = |x| t.on_axis(t.param(x), &keys);
                    let out = attention.forward(t, t.on_axis(t.param(q), &queries)?, on_keys(k)?, on_keys(v)?, None)?;
                    side_by_side(t, &[out.context, out.weights])
                });
            }
            let mut c = Check::new(&format!("self-attention {kind}"));
            let config = MultiHeadConfig { score: kind.into(), heads: 2, ..Default::default() };
            let attention = MultiHead::new(&mut c.params, "attention", &config, 4, 4, 4).unwrap();
            shake(&mut c.params);
            let x = c.input(keys.rows(), 4);
            check(c, |t| {
                let out = attention.self_attention(t, t.on_axis(t.param(x), &keys)?, None)?;
                side_by_side(t, &[out.context, out.weights])
            });
        }
    }
}

/// The streaming form and the long way, whichever the configuration leads to, give the same context and train.
#[test]
fn multi_head_context_alone() {
    let softer = SoftmaxConfig { temperature: 2.0, ..Default::default() };
    for (queries, keys) in axes() {
        for config in [
            MultiHeadConfig { heads: 2, ..Default::default() },
            MultiHeadConfig { heads: 2, causal: true, ..Default::default() },
            MultiHeadConfig { score: ScoreKind::Dot.into(), ..Default::default() },
            MultiHeadConfig { score: ScoreKind::General.into(), heads: 2, ..Default::default() },
            MultiHeadConfig { softmax: softer, window: Some(1), ..Default::default() },
        ] {
            let mut c = Check::new(&format!("context of {config:?} {queries:?}"));
            let attention = MultiHead::new(&mut c.params, "attention", &config, 4, 3, 2).unwrap();
            shake(&mut c.params);
            let (q, k, v) = (c.input(queries.rows(), 4), c.input(keys.rows(), 3), c.input(keys.rows(), 2));
            let inputs = |t: &Tape<f64>| -> Result<[Var; 3]> {
                Ok([t.on_axis(t.param(q), &queries)?, t.on_axis(t.param(k), &keys)?, t.on_axis(t.param(v), &keys)?])
            };
            {
                let tape = Tape::new(&c.params);
                let [q, k, v] = inputs(&tape).unwrap();
                let (alone, whole) = (attention.context(&tape, q, k, v, None).unwrap(), attention.forward(&tape, q, k, v, None).unwrap());
                assert_eq!(tape.axis(alone), Some(queries.clone()));
                for (a, b) in tape.to_vec(alone).iter().zip(tape.to_vec(whole.context)) {
                    assert!((a - b).abs() < 1e-12, "{config:?}: {a} {b}");
                }
            }
            check(c, |t| {
                let [q, k, v] = inputs(t)?;
                attention.context(t, q, k, v, None)
            });
        }
    }
}

/// Checks a decoder under teacher forcing over some sets of lengths, in the form it chooses and step by step, and that both say the same.
fn decoder(name: &str, config: DecoderConfig, sets: &[Vec<usize>]) {
    for lengths in sets {
        let target = Axis::new(lengths.clone());
        let source = Axis::new(lengths.iter().rev().map(|&n| n.min(4)).collect::<Vec<_>>());
        let mut c = Check::new(&format!("{name} {target:?}"));
        let decoder = RecurrentDecoder::new(&mut c.params, "decoder", config).unwrap();
        shake(&mut c.params);
        let (y, memory) = (c.input(target.rows(), config.input), c.input(source.rows(), config.memory));
        let mut initial = || (0..config.layers).map(|_| c.input(target.items(), config.hidden)).collect::<Vec<_>>();
        let (states, memories) = (initial(), initial());
        let params = c.params.clone();
        let run = |t: &Tape<f64>, plain: bool| {
            let memory = decoder.prepare(t, t.on_axis(t.param(memory), &source)?)?;
            let of = |ids: &[_]| ids.iter().map(|&id| t.param(id)).collect::<Vec<Var>>();
            let start = decoder.start(t, &memory, target.items(), &of(&states), &of(&memories))?;
            let y = t.on_axis(t.param(y), &target)?;
            if plain { decoder.step_by_step(t, y, &memory, &start) } else { decoder.teacher_forced(t, y, &memory, &start) }
        };
        let tape = Tape::new(&params);
        let (chosen, plain) = (run(&tape, false).unwrap(), run(&tape, true).unwrap());
        let close = |a: Var, b: Var| {
            let (a, b) = (tape.to_vec(a), tape.to_vec(b));
            assert_eq!(a.len(), b.len());
            a.iter().zip(&b).for_each(|(a, b)| assert!((a - b).abs() < 1e-12, "{name}: {a} and {b}"));
        };
        close(chosen.readout, plain.readout);
        close(chosen.states, plain.states);
        for (a, b) in [(chosen.contexts, plain.contexts), (chosen.weights, plain.weights)] {
            assert_eq!(a.is_some(), config.attention.is_some());
            a.zip(b).into_iter().for_each(|(a, b)| close(a, b));
        }
        assert_eq!(tape.shape(chosen.readout).1, decoder.readout_size());
        check(with_params(&format!("{name}, as chosen {target:?}"), &params), |t| {
            let out = run(t, false)?;
            let parts: Vec<Var> = [out.states, out.readout].into_iter().chain(out.contexts).collect();
            side_by_side(t, &parts)
        });
        check(c, |t| {
            let out = run(t, true)?;
            let parts = [Some(out.states), Some(out.readout), out.contexts, out.weights, out.coverage_penalty];
            side_by_side(t, &parts.into_iter().flatten().collect::<Vec<_>>())
        });
    }
}

fn shape(cell: Cell, order: Order, attention: AttentionConfig) -> DecoderConfig {
    DecoderConfig { order, attention: Some(attention), ..DecoderConfig::new(cell, 2, 3, 3) }
}

#[test]
fn decoders_of_every_cell_and_order() {
    for cell in [Cell::Tanh, Cell::Gru, Cell::Lstm] {
        for order in [Order::Bahdanau, Order::Luong] {
            decoder(&format!("{cell:?} {order:?}"), shape(cell, order, AttentionConfig::default()), &lengths());
            let none = DecoderConfig { attention: None, ..shape(cell, order, AttentionConfig::default()) };
            decoder(&format!("{cell:?} {order:?} without attention"), none, &lengths()[..2]);
        }
    }
}

#[test]
fn decoders_of_every_score() {
    for &kind in ScoreKind::ALL {
        for order in [Order::Bahdanau, Order::Luong] {
            let score = ScoreConfig { filters: 2, filter_width: 3, ..kind.into() };
            let config = shape(Cell::Gru, order, AttentionConfig { score, ..Default::default() });
            decoder(&format!("{kind} {order:?}"), config, &lengths()[..3]);
        }
    }
}

#[test]
fn decoders_of_every_softmax() {
    for kind in SMOOTH {
        for order in [Order::Bahdanau, Order::Luong] {
            let softmax = SoftmaxConfig { kind, half_width: 1, temperature: 0.8, centre: None };
            let config = shape(Cell::Gru, order, AttentionConfig { softmax, ..AttentionConfig::new(ScoreKind::General) });
            decoder(&format!("{kind:?} {order:?}"), config, &lengths()[..3]);
        }
    }
}

#[test]
fn decoders_with_extras() {
    let additive = AttentionConfig::default();
    for order in [Order::Bahdanau, Order::Luong] {
        for coverage in [Coverage::Penalty, Coverage::Features] {
            let config = DecoderConfig { coverage, ..shape(Cell::Gru, order, additive) };
            decoder(&format!("{order:?} {coverage:?}"), config, &lengths()[..3]);
        }
        let stacked = DecoderConfig { layers: 2, ..shape(Cell::Lstm, order, additive) };
        decoder(&format!("{order:?}, two layers"), stacked, &lengths()[..3]);
        let apart = AttentionConfig { keys: Some(2), values: Some(4), ..additive };
        decoder(&format!("{order:?}, keys and values apart"), shape(Cell::Gru, order, apart), &lengths()[..3]);
    }
    let fed = DecoderConfig { input_feeding: true, ..shape(Cell::Gru, Order::Luong, AttentionConfig::new(ScoreKind::General)) };
    decoder("input feeding", fed, &lengths());
    let all = AttentionConfig { score: ScoreConfig { filters: 2, filter_width: 3, ..ScoreKind::Location.into() }, ..Default::default() };
    let all = DecoderConfig { input_feeding: true, coverage: Coverage::Features, layers: 2, ..shape(Cell::Lstm, Order::Luong, all) };
    decoder("everything at once", all, &lengths()[..3]);
}
