//! Streaming attention against the plain form it replaces: scores, mask, softmax, mix, one after the other.

use crate::common::{Check, check, lengths};
use proptest::prelude::*;
use spotlight::attention::{streaming_attention, streaming_weights};
use spotlight::axis::Axis;
use spotlight::params::{Gradients, Params};
use spotlight::tape::{Tape, Var};
use spotlight::{Float, Result};

/// One call: sizes and switches.
#[derive(Clone, Debug)]
struct Case {
    queries: Vec<usize>,
    keys: Vec<usize>,
    heads: usize,
    size: usize,
    value_size: usize,
    scale: f64,
    causal: bool,
}

impl Case {
    fn tables(&self) -> [(Axis, usize); 3] {
        let (queries, keys) = (Axis::new(self.queries.clone()), Axis::new(self.keys.clone()));
        [(queries, self.heads * self.size), (keys.clone(), self.heads * self.size), (keys, self.heads * self.value_size)]
    }

    fn attend<T: Float>(&self, tape: &Tape<T>, vars: &[Var]) -> Result<Var> {
        streaming_attention(tape, vars[0], vars[1], vars[2], self.heads, self.scale, self.causal)
    }
}

/// Numbers between -1 and 1 that look like chance.
fn noise(len: usize, seed: u64) -> Vec<f64> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(1);
    let mut next = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 33) as f64 / (1u64 << 30) as f64 - 1.0
    };
    (0..len).map(|_| next()).collect()
}

/// Context and the gradients of the three tables, streaming, for inputs and an arriving gradient made from `noise`.
fn streaming<T: Float>(case: &Case) -> [Vec<T>; 4] {
    let params = Params::<T>::new(0);
    let mut gradients = Gradients::new(&params);
    let tape = Tape::training(&params, &mut gradients, 0);
    let convert = |xs: Vec<f64>| xs.into_iter().map(T::from_f64).collect::<Vec<T>>();
    let (mut inputs, mut vars) = (Vec::new(), Vec::new());
    for (seed, (axis, cols)) in case.tables().iter().enumerate() {
        let input = tape.input(axis.rows(), *cols, convert(noise(axis.rows() * cols, seed as u64))).unwrap();
        inputs.push(input);
        vars.push(tape.on_axis(input, axis).unwrap());
    }
    let context = case.attend(&tape, &vars).unwrap();
    let value = tape.to_vec(context);
    let arriving = convert(noise(value.len(), 9));
    let [queries, keys, values] = tape.backward_with(&[(context, arriving)], &inputs).unwrap().try_into().unwrap();
    [value, queries, keys, values]
}

/// The same, plainly, in f64: every weight is built.
fn plain(case: &Case) -> [Vec<f64>; 4] {
    let tables = case.tables();
    let [q, k, v] = [0, 1, 2].map(|i| noise(tables[i].0.rows() * tables[i].1, i as u64));
    let (width, value_width) = (tables[0].1, tables[2].1);
    let (queries, keys) = (&tables[0].0, &tables[1].0);
    let arriving = noise(queries.rows() * value_width, 9);
    let mut context = vec![0.0; queries.rows() * value_width];
    let (mut dq, mut dk, mut dv) = (vec![0.0; q.len()], vec![0.0; k.len()], vec![0.0; v.len()]);
    for item in 0..queries.items() {
        for (i, row) in queries.range(item).enumerate() {
            let seen: Vec<usize> = keys.range(item).take(if case.causal { i + 1 } else { usize::MAX }).collect();
            for head in 0..case.heads {
                let (at, value_at) = (head * case.size, head * case.value_size);
                let part = |key: usize| (0..case.size).map(move |c| (row * width + at + c, key * width + at + c));
                let value_part =
                    |key: usize| (0..case.value_size).map(move |c| (row * value_width + value_at + c, key * value_width + value_at + c));
                let scores: Vec<f64> = seen.iter().map(|&key| case.scale * part(key).map(|(a, b)| q[a] * k[b]).sum::<f64>()).collect();
                let largest = scores.iter().copied().fold(f64::NEG_INFINITY, f64::max);
                let total: f64 = scores.iter().map(|s| (s - largest).exp()).sum();
                let weights: Vec<f64> = scores.iter().map(|s| (s - largest).exp() / total).collect();
                for (&key, w) in seen.iter().zip(&weights) {
                    for (a, b) in value_part(key) {
                        context[a] += w * v[b];
                        dv[b] += w * arriving[a];
                    }
                }
                let d_weights: Vec<f64> = seen.iter().map(|&key| value_part(key).map(|(a, b)| arriving[a] * v[b]).sum()).collect();
                let mean: f64 = weights.iter().zip(&d_weights).map(|(w, d)| w * d).sum();
                for ((&key, w), d) in seen.iter().zip(&weights).zip(&d_weights) {
                    for (a, b) in part(key) {
                        dq[a] += case.scale * w * (d - mean) * k[b];
                        dk[b] += case.scale * w * (d - mean) * q[a];
                    }
                }
            }
        }
    }
    [context, dq, dk, dv]
}

/// Largest difference, with the largest number as the measure.
fn distance<T: Float>(found: &[T], wanted: &[f64]) -> f64 {
    assert_eq!(found.len(), wanted.len());
    let measure = wanted.iter().fold(1.0f64, |m, x| m.max(x.abs()));
    found.iter().zip(wanted).fold(0.0f64, |m, (f, w)| m.max((f.to_f64() - w).abs())) / measure
}

fn same_as_plain(case: &Case) {
    let wanted = plain(case);
    for (found, wanted) in streaming::<f64>(case).iter().zip(&wanted) {
        let error = distance(found, wanted);
        assert!(error < 1e-12, "{case:?}: {error} in f64");
    }
    for (found, wanted) in streaming::<f32>(case).iter().zip(&wanted) {
        let error = distance(found, wanted);
        assert!(error < 1e-5, "{case:?}: {error} in f32");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn random_shapes_give_what_the_plain_form_gives(
        lengths in prop::collection::vec((0usize..40, 0usize..40), 0..5),
        heads in 1usize..4,
        size in 1usize..20,
        value_size in 1usize..20,
        scale in 0.1f64..2.0,
        causal: bool,
    ) {
        let (queries, keys) = lengths.into_iter().unzip();
        same_as_plain(&Case { queries, keys, heads, size, value_size, scale, causal });
    }
}

/// Several blocks of queries and of keys, with every remainder in some of them, and a long sequence among short ones.
#[test]
fn long_ones_give_what_the_plain_form_gives() {
    for (queries, keys) in [
        (vec![300], vec![300]),
        (vec![131, 0, 1], vec![517, 3, 0]),
        (vec![1, 403, 2], vec![2, 97, 1]),
        (vec![5, 0, 260], vec![5, 700, 193]),
    ] {
        for (heads, causal) in [(1, false), (3, true), (1, true)] {
            let case = Case { queries: queries.clone(), keys: keys.clone(), heads, size: 7, value_size: 18, scale: 0.4, causal };
            same_as_plain(&case);
        }
    }
}

#[test]
fn gradients() {
    for queries in lengths() {
        for keys in lengths().into_iter().filter(|keys| keys.len() == queries.len()) {
            for causal in [false, true] {
                let case = Case { queries: queries.clone(), keys: keys.clone(), heads: 2, size: 2, value_size: 3, scale: 0.7, causal };
                let mut c = Check::new("streaming attention");
                let tables = case.tables().map(|(axis, cols)| (c.input(axis.rows(), cols), axis));
                check(c, |t| {
                    let vars = tables.iter().map(|(id, axis)| t.on_axis(t.param(*id), axis)).collect::<Result<Vec<_>>>()?;
                    case.attend(t, &vars)
                });
            }
        }
    }
}

/// A table that is queries, keys and values at once gets the sum of the three gradients.
#[test]
fn gradients_of_attention_to_itself() {
    let axis = Axis::new([3, 1, 4]);
    let mut c = Check::new("attention to itself");
    let x = c.input(axis.rows(), 4);
    check(c, |t| {
        let x = t.on_axis(t.param(x), &axis)?;
        streaming_attention(t, x, x, x, 2, 0.5, true)
    });
}

#[test]
fn the_number_of_threads_changes_no_bit() {
    let bits = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        let cases = [(vec![333], 1, false), (vec![333], 1, true), (vec![200, 3, 0, 70], 2, true)];
        pool.install(|| {
            cases.map(|(lengths, heads, causal)| {
                let case = Case { queries: lengths.clone(), keys: lengths, heads, size: 16, value_size: 16, scale: 0.25, causal };
                streaming::<f32>(&case).map(|table| table.iter().map(|x| x.to_bits()).collect::<Vec<_>>())
            })
        })
    };
    let one = bits(1);
    assert_eq!(one, bits(2));
    assert_eq!(one, bits(4));
}

/// Other sequences never matter: change them, and not a bit moves.
#[test]
fn sequences_are_alone() {
    let context = |other: f64| {
        let params = Params::<f32>::new(0);
        let tape = Tape::new(&params);
        let axis = Axis::new([3, 20]);
        let data = noise(23 * 4, 1).iter().enumerate().map(|(i, x)| (x * if i < 12 { 1.0 } else { other }) as f32).collect();
        let x = tape.on_axis(tape.table(23, 4, data).unwrap(), &axis).unwrap();
        let y = streaming_attention(&tape, x, x, x, 1, 1.0, false).unwrap();
        tape.to_vec(y)[..12].to_vec()
    };
    assert_eq!(context(1.0), context(1e20));
}

/// Scores far beyond what e^x can hold, and several equal ones, forward and back.
#[test]
fn huge_scores_are_no_trouble() {
    let params = Params::<f32>::new(0);
    let mut gradients = Gradients::new(&params);
    let tape = Tape::training(&params, &mut gradients, 0);
    let (queries, keys) = (Axis::new([2]), Axis::new([4]));
    let q = tape.on_axis(tape.table(2, 1, vec![1e15, -1e15]).unwrap(), &queries).unwrap();
    let k = tape.on_axis(tape.table(4, 1, vec![-1e15, 1e15, 1e15, -1e15]).unwrap(), &keys).unwrap();
    let values = tape.input(4, 1, vec![1.0, 2.0, 4.0, 3.0]).unwrap();
    let v = tape.on_axis(values, &keys).unwrap();
    let y = streaming_attention(&tape, q, k, v, 1, 1.0, false).unwrap();
    assert_eq!(tape.to_vec(y), [3.0, 2.0]);
    let d_values = tape.backward_with(&[(y, vec![1.0, 10.0])], &[values]).unwrap();
    assert_eq!(d_values[0], [5.0, 0.5, 0.5, 5.0]);
}

/// A NaN reaches the queries that may look at it, and no other: the same as in the plain form.
#[test]
fn a_score_that_is_not_a_number_is_seen() {
    let params = Params::<f32>::new(0);
    let tape = Tape::new(&params);
    let axis = Axis::new([5, 2]);
    let put = |data: Vec<f32>| tape.on_axis(tape.table(7, 1, data).unwrap(), &axis).unwrap();
    let (q, v) = (put(vec![1.0; 7]), put(vec![2.0; 7]));
    let lost = |k: Vec<f32>, causal: bool| -> Vec<bool> {
        tape.to_vec(streaming_attention(&tape, q, put(k), v, 1, 1.0, causal).unwrap()).iter().map(|x| x.is_nan()).collect()
    };
    let one = vec![0.0, 0.5, f32::NAN, 0.0, 1.0, 0.0, 0.0];
    assert_eq!(lost(one.clone(), false), [true, true, true, true, true, false, false]);
    assert_eq!(lost(one, true), [false, false, true, true, true, false, false]);
    assert_eq!(lost(vec![f32::NAN; 7], false), [true; 7]);
    assert_eq!(lost(vec![f32::NAN; 7], true), [true; 7]);
}

#[test]
fn weights_on_request() {
    let params = Params::<f64>::new(0);
    let tape = Tape::new(&params);
    let (queries, keys) = (Axis::new([0, 2, 3]), Axis::new([1, 4, 2]));
    let put = |axis: &Axis, seed| tape.on_axis(tape.table(axis.rows(), 6, noise(axis.rows() * 6, seed)).unwrap(), axis).unwrap();
    let (q, k, v) = (put(&queries, 1), put(&keys, 2), put(&keys, 3));
    for causal in [false, true] {
        let context = tape.to_vec(streaming_attention(&tape, q, k, v, 2, 0.3, causal).unwrap());
        let rows = [4, 0, 1, 2, 3];
        let weights = streaming_weights(&tape, q, k, 2, 0.3, causal, &rows).unwrap();
        let values = tape.value(v);
        for (&row, weights) in rows.iter().zip(&weights) {
            let (item, i) = if row < 2 { (1, row) } else { (2, row - 2) };
            assert_eq!(weights.len(), 2 * keys.lengths()[item]);
            for c in 0..6 {
                let mixed: f64 = keys.range(item).enumerate().map(|(j, key)| weights[2 * j + c / 3] * values[key * 6 + c]).sum();
                assert!((mixed - context[row * 6 + c]).abs() < 1e-14);
            }
            if causal {
                assert!(weights[(2 * (i + 1)).min(weights.len())..].iter().all(|&w| w == 0.0));
            }
        }
    }
    assert!(streaming_weights(&tape, q, k, 2, 0.3, false, &[5]).is_err());
}

#[test]
fn what_does_not_fit_is_an_error() {
    let params = Params::<f32>::new(0);
    let tape = Tape::new(&params);
    let put = |lengths: &[usize], cols| {
        let axis = Axis::new(lengths);
        tape.on_axis(tape.zeros(axis.rows(), cols), &axis).unwrap()
    };
    let (x, y) = (put(&[2, 3], 4), put(&[3, 2], 4));
    let fails = |q, k, v, heads| streaming_attention(&tape, q, k, v, heads, 1.0, false).unwrap_err().to_string();
    assert!(fails(x, x, x, 3).contains("3 heads"));
    assert!(fails(x, x, x, 0).contains("0 heads"));
    assert!(fails(x, put(&[2, 3], 6), x, 2).contains("5 x 6"));
    assert!(fails(x, x, y, 2).contains("different axes"));
    assert!(fails(x, put(&[5], 4), put(&[5], 4), 2).contains("different axes"));
    assert!(fails(x, x, put(&[2], 4), 2).contains("5 x 4"));
    assert!(fails(x, tape.zeros(5, 4), x, 2).contains("on_axis"));
}
