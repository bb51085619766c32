//! Attention that keeps its weights, against plain loops: heads, columns of wider tables, queries that see what is before them alone, weights that are dropped.

use crate::common::{as_f64, assert_close, numbers};
use proptest::prelude::*;
use spotlight_kernels::Float;
use spotlight_kernels::attend::{Attend, Columns, Gradients, Meeting, backward, forward, from_log};
use spotlight_kernels::dropout::Dropout;
use spotlight_kernels::pairs::Heads;

/// What a case is made of: `lead` rows and columns stand before those that are meant.
#[derive(Clone, Copy, Debug)]
struct Case {
    queries: usize,
    keys: usize,
    heads: usize,
    size: usize,
    lead: usize,
    causal: bool,
    dropped: bool,
    seed: u64,
}

/// Up to so many queries, keys and features of a head.
fn cases(queries: usize, keys: usize, size: usize) -> impl Strategy<Value = Case> {
    let sizes = (0..=queries, 1..=keys, 1usize..4, 1..=size, 0usize..3);
    (sizes, any::<bool>(), any::<bool>(), 0u64..1000).prop_map(|((queries, keys, heads, size, lead), causal, dropped, seed)| Case {
        queries,
        keys,
        heads,
        size,
        lead,
        causal,
        dropped,
        seed,
    })
}

/// The weights and contexts of a case, and the loss `Σ weights dW + Σ contexts dC`, computed as the formula stands.
struct Plain {
    weights: Vec<f64>,
    contexts: Vec<f64>,
}

impl Plain {
    fn new(c: Case, factor: impl Fn(usize) -> f64, scale: f64, q: &[f64], k: &[f64], v: &[f64]) -> Self {
        let width = c.heads * c.size;
        let stride = c.lead + width;
        let at = |table: &[f64], row: usize, feature: usize| table[(c.lead + row) * stride + c.lead + feature];
        let mut plain = Plain { weights: vec![0.0; c.heads * c.queries * c.keys], contexts: vec![0.0; c.queries * width] };
        for head in 0..c.heads {
            for i in 0..c.queries {
                let seen = if c.causal { c.keys.min(i + 1) } else { c.keys };
                let features = head * c.size..(head + 1) * c.size;
                let scores: Vec<f64> =
                    (0..seen).map(|j| scale * features.clone().map(|f| at(q, i, f) * at(k, j, f)).sum::<f64>()).collect();
                let total: f64 = scores.iter().map(|score| score.exp()).sum();
                for (j, score) in scores.iter().enumerate() {
                    let place = (head * c.queries + i) * c.keys + j;
                    plain.weights[place] = score.exp() / total;
                    for f in features.clone() {
                        plain.contexts[i * width + f] += plain.weights[place] * factor(place) * at(v, j, f);
                    }
                }
            }
        }
        plain
    }

    fn loss(&self, d_weights: &[f64], d_contexts: &[f64]) -> f64 {
        let sum = |a: &[f64], b: &[f64]| a.iter().zip(b).map(|(a, b)| a * b).sum::<f64>();
        sum(&self.weights, d_weights) + sum(&self.contexts, d_contexts)
    }
}

fn agrees<T: Float>(c: Case, slopes: bool) {
    let (width, first, scale) = (c.heads * c.size, 5, 0.7);
    let stride = c.lead + width;
    let tables: Vec<Vec<T>> =
        [c.queries, c.keys, c.keys].iter().zip(1..).map(|(&rows, table)| numbers(c.seed * 4 + table, (c.lead + rows) * stride)).collect();
    let columns = |table: usize| Columns { table: &tables[table][..], stride, first: c.lead };
    let dropout = c.dropped.then(|| Dropout::new(c.seed, 0.4));
    let attend = Attend {
        shape: Heads { heads: c.heads, size: c.size },
        scale: T::from_f64(scale),
        causal: c.causal,
        dropout,
        queries: columns(0),
        keys: columns(1),
        values: columns(2),
    };
    let meeting = Meeting { query: c.lead, queries: c.queries, key: c.lead, keys: c.keys };
    let mut weights = vec![T::ONE; meeting.weights(c.heads)];
    let mut contexts = vec![T::ONE; c.queries * width];
    forward(attend, meeting, first, &mut weights, &mut contexts);
    let factor = |place: usize| dropout.map_or(1.0, |d| d.factor(first + place).to_f64());
    let wide: Vec<Vec<f64>> = tables.iter().map(|table| as_f64(table)).collect();
    let plain = |tables: &[Vec<f64>]| Plain::new(c, factor, scale, &tables[0], &tables[1], &tables[2]);
    let expected = plain(&wide);
    assert_close("weights", &weights, &expected.weights);
    assert_close("contexts", &contexts, &expected.contexts);
    if !slopes {
        return;
    }
    for d_weights in [Vec::new(), numbers::<T>(c.seed + 7, weights.len())] {
        let d_contexts = numbers::<T>(c.seed + 8, contexts.len());
        // Gradients are added to what is there.
        let mut found: Vec<Vec<T>> = [c.queries, c.keys, c.keys].iter().map(|rows| vec![T::ONE; rows * width]).collect();
        if let [queries, keys, values] = &mut found[..] {
            backward(
                attend,
                meeting,
                first,
                &weights,
                &d_weights,
                &d_contexts,
                Gradients { queries, keys, values },
                &mut vec![T::ONE; c.keys],
            );
        }
        let (d_weights, d_contexts) = (as_f64(&d_weights), as_f64(&d_contexts));
        for (which, found) in found.iter().enumerate() {
            let slope = |place: usize| {
                let moved = |step: f64| {
                    let mut tables = wide.clone();
                    tables[which][(c.lead + place / width) * stride + c.lead + place % width] += step;
                    plain(&tables).loss(&d_weights, &d_contexts)
                };
                1.0 + (moved(1e-5) - moved(-1e-5)) / 2e-5
            };
            for (place, found) in found.iter().enumerate() {
                let (found, slope) = (found.to_f64(), slope(place));
                assert!((found - slope).abs() < 1e-7 * slope.abs().max(1.0), "table {which} [{place}]: {found} instead of {slope}");
            }
        }
    }
}

/// All columns of a table.
fn columns(table: &[f64], stride: usize) -> Columns<'_, f64> {
    Columns { table, stride, first: 0 }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(60))]

    #[test]
    fn attention_is_its_formula(case in cases(10, 36, 36)) {
        agrees::<f64>(case, false);
        agrees::<f32>(case, false);
    }

    #[test]
    fn its_gradients_are_slopes(case in cases(5, 6, 9)) {
        agrees::<f64>(case, true);
    }

    /// Keys and values that stand somewhere are met as if they stood in a row.
    #[test]
    fn a_log_is_looked_up(
        (queries, steps, heads, size) in (0usize..4, 0usize..36, 1usize..4, 1usize..36),
        seed in 0u64..1000,
    ) {
        let (width, rows) = (heads * size, 7);
        let (asked, log) = (numbers::<f64>(seed, queries * width), numbers::<f64>(seed + 1, rows * 2 * width));
        let places: Vec<usize> = (0..queries * steps).map(|i| (i * 5 + seed as usize) % rows).collect();
        let (shape, scale) = (Heads { heads, size }, 0.7);
        let mut found = vec![1.0; queries * width];
        from_log(shape, scale, columns(&asked, width), &log, &places, steps, &mut found);
        for (query, found) in found.chunks_exact(width).enumerate().filter(|_| steps > 0) {
            let met: Vec<f64> = places[query * steps..][..steps].iter().flat_map(|place| &log[place * 2 * width..][..2 * width]).copied().collect();
            let (keys, values) = (columns(&met, 2 * width), Columns { first: width, ..columns(&met, 2 * width) });
            let attend = Attend { shape, scale, causal: false, dropout: None, queries: columns(&asked, width), keys, values };
            let (mut weights, mut context) = (vec![0.0; heads * steps], vec![0.0; width]);
            forward(attend, Meeting { query, queries: 1, key: 0, keys: steps }, 0, &mut weights, &mut context);
            assert_close("context", found, &context);
        }
    }
}
