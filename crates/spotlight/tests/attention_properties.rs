//! What must hold for any numbers: properties of weights and contexts, over random inputs.

use proptest::prelude::*;
use spotlight::attention::{Attention, AttentionConfig, Mask, Question, ScoreConfig, ScoreKind, SoftmaxConfig, SoftmaxKind};
use spotlight::axis::Axis;
use spotlight::params::{Gradients, Params};
use spotlight::tape::{Tape, Var};

const WIDTH: usize = 3;

/// The weights that are a distribution over everything allowed.
const DISTRIBUTIONS: [SoftmaxKind; 4] = [SoftmaxKind::Softmax, SoftmaxKind::Sparsemax, SoftmaxKind::Entmax, SoftmaxKind::Hard];

/// Some sequences with as many queries and rows of memory, and their numbers.
#[derive(Clone, Debug)]
struct Batch {
    lengths: Vec<usize>,
    query: Vec<f64>,
    memory: Vec<f64>,
}

impl Batch {
    fn axis(&self) -> Axis {
        Axis::new(self.lengths.clone())
    }
}

fn batches() -> impl Strategy<Value = Batch> {
    prop::collection::vec(0usize..6, 1..5).prop_flat_map(|lengths| {
        let numbers = lengths.iter().sum::<usize>() * WIDTH;
        (prop::collection::vec(-3.0..3.0, numbers), prop::collection::vec(-3.0..3.0, numbers)).prop_map(move |(query, memory)| Batch {
            lengths: lengths.clone(),
            query,
            memory,
        })
    })
}

fn kinds() -> impl Strategy<Value = ScoreKind> {
    let free: Vec<ScoreKind> = ScoreKind::ALL.iter().copied().filter(|&kind| kind != ScoreKind::Location).collect();
    prop::sample::select(free)
}

fn config(kind: ScoreKind, softmax: SoftmaxKind) -> AttentionConfig {
    let score = ScoreConfig { alignment: Some(4), ..kind.into() };
    AttentionConfig { score, softmax: SoftmaxConfig { half_width: 2, ..softmax.into() }, ..Default::default() }
}

/// Weights and contexts.
fn attend(config: &AttentionConfig, batch: &Batch, mask: Option<&Mask>) -> (Vec<f64>, Vec<f64>) {
    let mut params = Params::<f64>::new(3);
    let attention = Attention::new(&mut params, "attention", config, WIDTH, WIDTH).unwrap();
    let tape = Tape::new(&params);
    let (attended, _) = run(&attention, &tape, batch, mask);
    (tape.to_vec(attended.weights), tape.to_vec(attended.context))
}

fn run(attention: &Attention, tape: &Tape<f64>, batch: &Batch, mask: Option<&Mask>) -> (spotlight::attention::Attended, [Var; 2]) {
    let axis = batch.axis();
    let inputs = [&batch.query, &batch.memory].map(|data| tape.input(axis.rows(), WIDTH, data.clone()).unwrap());
    let memory = attention.prepare(tape, tape.on_axis(inputs[1], &axis).unwrap()).unwrap();
    let mut question = Question::of_axes(Some(inputs[0]), &axis, &axis).unwrap();
    if let Some(mask) = mask {
        question = question.masked(mask).unwrap();
    }
    (attention.attend(tape, &memory, &question).unwrap(), inputs)
}

/// The rows that each query sees, and where its weights stand.
fn queries(batch: &Batch) -> impl Iterator<Item = (std::ops::Range<usize>, std::ops::Range<usize>)> {
    let axis = batch.axis();
    let mut pair = 0;
    (0..axis.items()).flat_map(move |item| vec![axis.range(item); axis.lengths()[item]]).map(move |rows| {
        pair += rows.len();
        (rows.clone(), pair - rows.len()..pair)
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn weights_are_distributions_and_contexts_lie_in_the_hull(batch in batches(), kind in kinds()) {
        for softmax in DISTRIBUTIONS {
            let (weights, contexts) = attend(&config(kind, softmax), &batch, None);
            for ((rows, pairs), context) in queries(&batch).zip(contexts.chunks(WIDTH)) {
                let weights = &weights[pairs];
                prop_assert!(weights.iter().all(|&w| (0.0..=1.0).contains(&w)));
                prop_assert!((weights.iter().sum::<f64>() - 1.0).abs() < 1e-12);
                let norm = |x: &[f64]| x.iter().map(|x| x * x).sum::<f64>().sqrt();
                let seen: Vec<&[f64]> = batch.memory.chunks(WIDTH).skip(rows.start).take(rows.len()).collect();
                prop_assert!(norm(context) <= seen.iter().map(|v| norm(v)).fold(0.0, f64::max) + 1e-12);
                for (i, &c) in context.iter().enumerate() {
                    let (low, high) = seen.iter().fold((f64::MAX, f64::MIN), |(l, h), v| (l.min(v[i]), h.max(v[i])));
                    prop_assert!(low - 1e-12 <= c && c <= high + 1e-12);
                }
            }
        }
    }

    #[test]
    fn weights_that_may_lose_some_never_gain_any(batch in batches(), kind in kinds()) {
        for softmax in [SoftmaxKind::LocalM, SoftmaxKind::LocalP, SoftmaxKind::Monotonic, SoftmaxKind::HardMonotonic] {
            let (weights, _) = attend(&config(kind, softmax), &batch, None);
            for (_, pairs) in queries(&batch) {
                prop_assert!(weights[pairs.clone()].iter().all(|&w| w >= 0.0));
                prop_assert!(weights[pairs].iter().sum::<f64>() <= 1.0 + 1e-12);
            }
        }
    }

    #[test]
    fn permuting_the_memory_permutes_the_weights(batch in batches(), kind in kinds()) {
        let axis = batch.axis();
        let backwards: Vec<usize> = (0..axis.items()).flat_map(|item| axis.range(item).rev()).collect();
        let memory = backwards.iter().flat_map(|row| &batch.memory[row * WIDTH..(row + 1) * WIDTH]).copied().collect();
        let turned = Batch { memory, ..batch.clone() };
        for softmax in DISTRIBUTIONS {
            let ((weights, contexts), (turned, same)) = (attend(&config(kind, softmax), &batch, None), attend(&config(kind, softmax), &turned, None));
            for (_, pairs) in queries(&batch) {
                let forth = weights[pairs.clone()].iter();
                prop_assert!(forth.zip(turned[pairs].iter().rev()).all(|(a, b)| (a - b).abs() < 1e-12));
            }
            prop_assert!(contexts.iter().zip(&same).all(|(a, b)| (a - b).abs() < 1e-11));
        }
    }

    #[test]
    fn a_constant_added_to_all_scores_changes_nothing(batch in batches(), constant in -100.0..100.0f64) {
        let axis = batch.axis();
        for softmax in DISTRIBUTIONS {
            let normaliser = spotlight::attention::Normaliser::new(&mut Params::<f64>::new(0), "", softmax.into(), 0).unwrap();
            let params = Params::<f64>::new(0);
            let tape = Tape::new(&params);
            let question = Question::of_items(None, &(0..axis.items()).collect::<Vec<_>>(), &axis, 0).unwrap();
            let scores = &batch.memory[..axis.rows()];
            let weigh = |constant: f64| {
                let scores = tape.table(axis.rows(), 1, scores.iter().map(|s| s + constant).collect()).unwrap();
                tape.to_vec(normaliser.weights(&tape, scores, &question).unwrap().weights)
            };
            let (plain, moved) = (weigh(0.0), weigh(constant));
            prop_assert!(plain.iter().zip(&moved).all(|(a, b)| (a - b).abs() < 1e-12));
        }
    }

    #[test]
    fn other_sequences_do_not_matter_to_the_bit(batch in batches(), kind in kinds(), noise in -9.0..9.0f64) {
        let axis = batch.axis();
        for item in 0..axis.items() {
            let mut other = batch.clone();
            for row in (0..axis.rows()).filter(|row| !axis.range(item).contains(row)) {
                other.memory[row * WIDTH..(row + 1) * WIDTH].iter_mut().for_each(|x| *x = *x * 2.0 + noise);
                other.query[row * WIDTH..(row + 1) * WIDTH].iter_mut().for_each(|x| *x -= noise);
            }
            for softmax in [SoftmaxKind::Softmax, SoftmaxKind::Sparsemax, SoftmaxKind::Entmax, SoftmaxKind::LocalP, SoftmaxKind::Monotonic] {
                let (one, two) = (attend(&config(kind, softmax), &batch, None), attend(&config(kind, softmax), &other, None));
                for (query, (rows, pairs)) in queries(&batch).enumerate().filter(|(_, (rows, _))| *rows == axis.range(item)) {
                    prop_assert_eq!(rows, axis.range(item));
                    prop_assert_eq!(&one.0[pairs.clone()], &two.0[pairs]);
                    prop_assert_eq!(&one.1[query * WIDTH..(query + 1) * WIDTH], &two.1[query * WIDTH..(query + 1) * WIDTH]);
                }
            }
        }
    }

    #[test]
    fn a_masked_position_gets_no_weight_and_no_gradient(batch in batches(), kind in kinds(), masked in prop::collection::vec(any::<bool>(), 30)) {
        let axis = batch.axis();
        let allowed: Vec<bool> = masked.iter().copied().cycle().take(axis.rows()).collect();
        let question = Question::of_axes(None, &axis, &axis).unwrap();
        let mask = Mask::keys(&question.pairs, &allowed).unwrap();
        for softmax in [SoftmaxKind::Softmax, SoftmaxKind::Sparsemax, SoftmaxKind::Entmax, SoftmaxKind::LocalM, SoftmaxKind::LocalP] {
            let mut params = Params::<f64>::new(3);
            let attention = Attention::new(&mut params, "attention", &config(kind, softmax), WIDTH, WIDTH).unwrap();
            let mut gradients = Gradients::new(&params);
            let tape = Tape::training(&params, &mut gradients, 0);
            let (attended, inputs) = run(&attention, &tape, &batch, Some(&mask));
            let weights = tape.to_vec(attended.weights);
            prop_assert!(weights.iter().zip(mask.allowed()).all(|(&w, &allowed)| allowed || w == 0.0));
            let ones = vec![1.0; batch.query.len()];
            let found = tape.backward_with(&[(attended.context, ones)], &inputs).unwrap();
            prop_assert!(found.iter().flatten().all(|d| d.is_finite()));
            for (row, gradient) in found[1].chunks(WIDTH).enumerate() {
                prop_assert!(allowed[row] || gradient.iter().all(|&d| d == 0.0), "{kind} {softmax:?} row {row}: {gradient:?}");
            }
        }
    }
}
