//! Attention by examples: the worked one, the gradient's short path, choices that are drawn, local and monotonic weights against plain versions, search, and what
//! a wrong configuration says.

use spotlight::attention::numbers::{Example, Numbers};
use spotlight::attention::score::Sizes;
use spotlight::attention::{
    Attention, AttentionConfig, Baseline, Mask, MultiHead, MultiHeadConfig, Normaliser, Pool, Question, Score, ScoreConfig, ScoreKind,
    SoftmaxConfig, SoftmaxKind,
};
use spotlight::axis::Axis;
use spotlight::decoder::{Coverage, DecoderConfig, DecoderState, Order, RecurrentDecoder};
use spotlight::params::{Gradients, Init, Params};
use spotlight::tape::{Tape, Var};
use spotlight::{Cell, Float, Result};

fn rounded(numbers: &[f64]) -> Vec<String> {
    numbers.iter().map(|x| format!("{x:.3}")).collect()
}

#[test]
fn the_worked_example_digit_for_digit() {
    let numbers = Numbers::compute(&Example::worked().unwrap()).unwrap();
    assert_eq!(rounded(&numbers.scores), ["1.097", "1.030", "0.910"]);
    assert_eq!(rounded(&numbers.exponentials), ["2.995", "2.801", "2.484"]);
    // The sum of the rounded exponentials is 8.280; the exponentials themselves sum to 8.28056.
    assert_eq!(format!("{:.3}", numbers.total), "8.281");
    assert_eq!(rounded(&numbers.weights), ["0.362", "0.338", "0.300"]);
    assert_eq!(rounded(&numbers.weighted[0]), ["0.109", "0.040", "0.326", "0.181"]);
    assert_eq!(rounded(&numbers.weighted[1]), ["0.271", "0.101", "0.237", "0.034"]);
    assert_eq!(rounded(&numbers.weighted[2]), ["0.150", "0.090", "0.120", "0.240"]);
    assert_eq!(rounded(&numbers.context), ["0.529", "0.231", "0.682", "0.455"]);
    let words = numbers.prediction.unwrap();
    assert_eq!(rounded(&words.probabilities), ["0.739", "0.085", "0.077", "0.008", "0.091"]);
    // What numpy says, in full.
    let numpy = [0.7394359176571527, 0.08453131930258641, 0.07694945502063104, 0.0076245423126041715, 0.0914587657070257];
    words.probabilities.iter().zip(numpy).for_each(|(got, want)| assert!((got - want).abs() < 1e-14));
}

#[test]
fn the_worked_example_prints_for_every_score() {
    insta::assert_snapshot!(Numbers::compute(&Example::worked().unwrap()).unwrap());
    for &score in ScoreKind::ALL {
        let text = Numbers::compute(&Example { score, ..Example::worked().unwrap() }).unwrap().to_string();
        assert!(text.contains(&format!("The score \"{score}\"")), "{text}");
        assert!(text.lines().all(|line| line.chars().count() <= 80 && !line.ends_with(' ')), "{text}");
    }
    // Large scores do no harm, long vectors wrap.
    let example =
        Example { memory: vec![vec![40.0; 30], vec![-2.5e-4; 30]], query: vec![1.5; 30], prediction: None, ..Example::worked().unwrap() };
    let numbers = Numbers::compute(&example).unwrap();
    assert_eq!(numbers.weights, [1.0, 0.0]);
    assert!(numbers.to_string().lines().all(|line| line.chars().count() <= 80), "{numbers}");
}

#[test]
fn a_file_of_vectors_says_what_is_wrong_and_where() {
    let problem = |text: &str| match Example::parse(text, "v.toml").and_then(|example| Numbers::compute(&example)) {
        Ok(_) => panic!("{text} was taken"),
        Err(error) => error.to_string(),
    };
    for (text, says) in [
        ("memory = [[1, 2], [3]]\nquery = [1, 2]", "v.toml, line 1, column 19: this row of memory has 1 numbers, but must have 2"),
        (
            "score = \"dott\"\nmemory = [[1]]\nquery = [1]",
            "v.toml, line 1, column 9: the score is \"dott\", but must be one of linear, tanh",
        ),
        ("memory = []\nquery = [1]", "v.toml, line 1, column 10: memory is empty"),
        ("memory = [[1]]\nquery = [nan]", "v.toml, line 2, column 9: query holds NaN"),
        ("memory = [[1]]\nqueri = [1]", "v.toml, line 2, column 1: unknown field `queri`"),
        ("memory = [[1]\nquery = [1]", "v.toml, line 2"),
        ("memory = [[1]]\nquery = [1]\nprevious = [1, 2]", "v.toml, line 3, column 12: previous has 2 numbers, but the memory has 1 rows"),
        (
            "memory = [[1]]\nquery = [1, 2]",
            "the score \"dot\" is a query of 2 and a memory of 1 features, but must be a query as wide as the memory",
        ),
        ("memory = [[1]]", "at least 1 feature each"),
        ("memory = [[1]]\nquery = [1]\n[parameters]\nw = [1]", "the parameter is \"w\", but must be none: this score has no parameters"),
        ("memory = [[1]]\nquery = [1]\nscore = \"general\"\n[parameters]\nweight = [1, 2]", "\"weight\" is 2 numbers, but must be 1 x 1"),
        ("memory = [[1]]\nquery = [1]\n[parameters]\nw = \"x\"", "v.toml, line 3, column 1: the parameter \"w\" must be finite numbers"),
        (
            "memory = [[1]]\nquery = [1]\n[prediction]\ncombine = [[1]]\noutput = [[1]]",
            "line 4, column 12: this row of combine has 1 numbers, but must have 2",
        ),
    ] {
        let got = problem(text);
        assert!(got.contains(says), "{text}: {got}");
    }
}

#[test]
fn given_parameters_are_used() {
    let text = "score = \"general\"\nmemory = [[1, 0], [0, 1]]\nquery = [2, 3]\n[parameters]\nweight = [[1, 0], [0, 10]]";
    let numbers = Numbers::compute(&Example::parse(text, "v.toml").unwrap()).unwrap();
    assert_eq!(numbers.scores, [2.0, 30.0]);
    assert!(numbers.parameters[0].given);
    let text = "score = \"additive\"\nmemory = [[1, 0], [0, 1]]\nquery = [2, 3]\n[parameters.query]\nweight = [[1, 0], [0, 1]]";
    let numbers = Numbers::compute(&Example::parse(text, "v.toml").unwrap()).unwrap();
    assert_eq!(numbers.parameters.iter().map(|p| p.given).collect::<Vec<_>>(), [true, false, false]);
}

/// The seed's claim: the derivative of the context by a state is its weight times the identity, plus a term from the score's dependence on that state.
/// With `g_j` the slope of score `j` by state `j`: `dc/dh_j = a_j I + a_j (h_j - c) g_jᵀ`.
#[test]
fn the_gradient_takes_the_short_path() {
    let (h, n) = (3, 4);
    let states: Vec<f64> = (0..n * h).map(|i| (i as f64 * 0.7).sin()).collect();
    let q = [0.4, -1.1, 0.6];
    for kind in [ScoreKind::Dot, ScoreKind::Tanh, ScoreKind::Linear] {
        let mut params = Params::<f64>::new(5);
        let attention = Attention::new(&mut params, "attention", &AttentionConfig::new(kind), h, h).unwrap();
        let axis = Axis::new([n]);
        let run = |tape: &Tape<f64>| {
            let memory = tape.input(n, h, states.clone()).unwrap();
            let prepared = attention.prepare(tape, tape.on_axis(memory, &axis).unwrap()).unwrap();
            let query = tape.table(1, h, q.to_vec()).unwrap();
            (attention.attend(tape, &prepared, &Question::of_items(Some(query), &[0], &axis, 0).unwrap()).unwrap(), memory)
        };
        let tape = Tape::new(&params);
        let (attended, _) = run(&tape);
        let (a, c, s) = (tape.to_vec(attended.weights), tape.to_vec(attended.context), tape.to_vec(attended.scores));
        let slope = |j: usize, i: usize| match kind {
            ScoreKind::Dot => q[i],
            ScoreKind::Tanh => (1.0 - s[j] * s[j]) * params.get(params.find("attention.w").unwrap())[i],
            _ => params.get(params.find("attention.w").unwrap())[i],
        };
        for out in 0..h {
            let tape = Tape::new(&params);
            let (attended, memory) = run(&tape);
            let mut unit = vec![0.0; h];
            unit[out] = 1.0;
            let found = tape.backward_with(&[(attended.context, unit)], &[memory]).unwrap();
            for j in 0..n {
                for i in 0..h {
                    let identity = if i == out { a[j] } else { 0.0 };
                    let want = identity + a[j] * (states[j * h + out] - c[out]) * slope(j, i);
                    assert!((found[0][j * h + i] - want).abs() < 1e-12, "{kind} c[{out}] by h[{j}][{i}]");
                }
            }
        }
    }
}

#[test]
fn parameters_are_as_many_as_the_formulas_say() {
    let count = |config: ScoreConfig, query: usize, memory: usize, coverage: bool| {
        let mut params = Params::<f32>::new(0);
        Score::new(&mut params, "s", &config, Sizes { query, memory, coverage }).unwrap();
        params.len()
    };
    assert_eq!(count(ScoreKind::Tanh.into(), 0, 100, false), 101);
    let (q, m, a) = (5, 7, 4);
    let aligned = |kind: ScoreKind| ScoreConfig { alignment: Some(a), filters: 3, filter_width: 5, ..kind.into() };
    assert_eq!(count(aligned(ScoreKind::Linear), 0, m, false), m);
    assert_eq!(count(aligned(ScoreKind::Gated), 0, m, false), 2 * a * m + a);
    assert_eq!(count(aligned(ScoreKind::Dot), m, m, false), 0);
    assert_eq!(count(aligned(ScoreKind::ScaledDot), m, m, false), 0);
    assert_eq!(count(aligned(ScoreKind::Cosine), m, m, false), 0);
    assert_eq!(count(aligned(ScoreKind::General), q, m, false), q * m);
    assert_eq!(count(aligned(ScoreKind::Concat), q, m, false), a * (q + m) + a);
    assert_eq!(count(aligned(ScoreKind::Additive), q, m, false), a * (q + m + 1));
    assert_eq!(count(ScoreConfig { normalised: true, ..aligned(ScoreKind::Additive) }, q, m, true), a * (q + m + 1) + a + 1 + a);
    assert_eq!(count(aligned(ScoreKind::Location), q, m, false), a * (q + m + 1) + 3 * (5 + a));

    let mut params = Params::<f32>::new(0);
    Pool::new(&mut params, "pool", &AttentionConfig::new(ScoreKind::Tanh), 100).unwrap();
    assert_eq!(params.len(), 101);
    let mut params = Params::<f32>::new(0);
    MultiHead::new(&mut params, "attention", &MultiHeadConfig { heads: 4, ..Default::default() }, 8, 8, 8).unwrap();
    assert_eq!(params.len(), 4 * 8 * 8 + 4 * 8);
}

/// Weights of some scores over one sequence.
fn weigh<T: Float>(config: impl Into<SoftmaxConfig>, scores: &[f64], mask: Option<&[bool]>) -> Vec<f64> {
    let params = Params::<T>::new(0);
    let normaliser = Normaliser::new(&mut Params::<T>::new(0), "", config.into(), 0).unwrap();
    let tape = Tape::new(&params);
    let mut question = Question::of_items(None, &[0], &Axis::new([scores.len()]), 0).unwrap();
    if let Some(mask) = mask {
        question = question.clone().masked(&Mask::keys(&question.pairs, mask).unwrap()).unwrap();
    }
    let scores = tape.table(scores.len(), 1, scores.iter().map(|&s| T::from_f64(s)).collect()).unwrap();
    tape.to_vec(normaliser.weights(&tape, scores, &question).unwrap().weights).iter().map(|w| w.to_f64()).collect()
}

#[test]
fn large_scores_do_no_harm() {
    for kind in [SoftmaxKind::Softmax, SoftmaxKind::Sparsemax, SoftmaxKind::Entmax, SoftmaxKind::Hard] {
        assert_eq!(weigh::<f64>(kind, &[1e30, -1e30, 3.0], None), [1.0, 0.0, 0.0], "{kind:?}");
        assert_eq!(weigh::<f32>(kind, &[-1e30, 1e30, 3.0], None), [0.0, 1.0, 0.0], "{kind:?}");
        assert_eq!(weigh::<f32>(kind, &[1e30, 2.0], Some(&[false, true])), [0.0, 1.0], "{kind:?}");
        assert_eq!(weigh::<f32>(kind, &[1e30, 2.0], Some(&[false, false])), [0.0, 0.0], "{kind:?}");
        assert_eq!(weigh::<f32>(kind, &[], None), [0.0; 0], "{kind:?}");
    }
    for kind in [SoftmaxKind::Softmax, SoftmaxKind::Sparsemax] {
        assert_eq!(weigh::<f32>(kind, &[-1e30, -1e30], None), [0.5, 0.5], "{kind:?}");
    }
}

/// A NaN is seen in every weight of its query; where it may not be looked at, it does no harm.
#[test]
fn a_score_that_is_not_a_number_is_seen_in_the_weights() {
    let all_lost = |weights: Vec<f64>| weights.len() == 3 && weights.iter().all(|w| w.is_nan());
    for &kind in SoftmaxKind::ALL {
        if kind == SoftmaxKind::LocalP {
            continue; // It has a query; see below.
        }
        let config = || SoftmaxConfig { half_width: 5, ..kind.into() };
        assert!(all_lost(weigh::<f64>(config(), &[f64::NAN; 3], None)), "{kind} f64");
        assert!(all_lost(weigh::<f32>(config(), &[f64::NAN; 3], None)), "{kind} f32");
        assert!(all_lost(weigh::<f32>(config(), &[f64::NAN, -1.0, 1.0], None)), "{kind}, first");
        let harmless = weigh::<f32>(config(), &[-2.0, f64::NAN, 1.0], Some(&[true, false, true]));
        assert!(harmless.iter().all(|w| w.is_finite()) && harmless[1] == 0.0, "{kind}: {harmless:?}");
        assert_eq!(weigh::<f32>(config(), &[f64::NAN; 3], Some(&[false; 3])), [0.0; 3], "{kind}");
        // A monotonic walk has passed the positions before.
        let late = weigh::<f32>(config(), &[-1.0, f64::NAN, 1.0], None);
        assert!(if kind == SoftmaxKind::Monotonic { late[1].is_nan() && late[2].is_nan() } else { all_lost(late) }, "{kind}, later");
    }
    // While learning, too, where the position is drawn.
    for kind in [SoftmaxKind::Gumbel, SoftmaxKind::Reinforce] {
        let (weights, _) = drawn_of(kind, &[0.5, f64::NAN, 1.0]);
        assert!(all_lost(weights), "{kind}");
    }
    let mut params = Params::<f64>::new(0);
    let normaliser = Normaliser::new(&mut params, "", SoftmaxKind::LocalP.into(), 2).unwrap();
    let tape = Tape::new(&params);
    let question = Question::of_items(Some(tape.zeros(1, 2)), &[0], &Axis::new([3]), 0).unwrap();
    let scores = tape.table(3, 1, vec![0.0, f64::NAN, 1.0]).unwrap();
    assert!(all_lost(tape.to_vec(normaliser.weights(&tape, scores, &question).unwrap().weights)));
}

/// The weights of one draw while learning, and whether there are log-probabilities.
fn drawn_of(kind: SoftmaxKind, scores: &[f64]) -> (Vec<f64>, bool) {
    let params = Params::<f64>::new(0);
    let normaliser = Normaliser::new(&mut Params::<f64>::new(0), "", kind.into(), 0).unwrap();
    let mut gradients = Gradients::new(&params);
    let tape = Tape::training(&params, &mut gradients, 3);
    let question = Question::of_items(None, &[0], &Axis::new([scores.len()]), 0).unwrap();
    let scores = tape.table(scores.len(), 1, scores.to_vec()).unwrap();
    let weights = normaliser.weights(&tape, scores, &question).unwrap();
    (tape.to_vec(weights.weights), weights.log_probs.is_some())
}

#[test]
fn multi_head_attention_looks_where_it_may() {
    for kind in [ScoreKind::ScaledDot, ScoreKind::Additive] {
        let mut params = Params::<f64>::new(2);
        let config = MultiHeadConfig { score: kind.into(), heads: 2, causal: true, window: Some(1), ..Default::default() };
        let attention = MultiHead::new(&mut params, "attention", &config, 4, 4, 4).unwrap();
        let tape = Tape::new(&params);
        let axis = Axis::new([4, 2]);
        let x = tape.on_axis(tape.table(6, 4, (0..24).map(|i| (i as f64).sin()).collect()).unwrap(), &axis).unwrap();
        let question = Question::of_axes(None, &axis, &axis).unwrap();
        let never = Mask::keys(&question.pairs, &[true, true, false, true, false, true]).unwrap();
        let out = attention.self_attention(&tape, x, Some(&never)).unwrap();
        // Which (query, key) pairs have weight: not ahead, at most one back, never at row 2 of the first sequence or row 0 of the second.
        let seen: Vec<bool> = tape.to_vec(out.weights).chunks(2).map(|heads| heads.iter().all(|&w| w > 0.0)).collect();
        let mut want = vec![false; 20];
        [0, 4, 5, 9, 15, 19].iter().for_each(|&pair| want[pair] = true);
        assert_eq!(seen, want, "{kind}");
        assert_eq!(tape.axis(out.context), Some(axis));
    }
}

#[test]
fn pooling_skips_what_it_may_not_see() {
    let mut params = Params::<f64>::new(2);
    let config = AttentionConfig { heads: 2, ..AttentionConfig::new(ScoreKind::ScaledDot) };
    let pool = Pool::new(&mut params, "pool", &config, 2).unwrap();
    let tape = Tape::new(&params);
    let memory = tape.on_axis(tape.table(3, 2, vec![1.0, 2.0, 30.0, 40.0, 5.0, 6.0]).unwrap(), &Axis::new([2, 1])).unwrap();
    let pooled = pool.forward(&tape, memory, Some(&[true, false, false])).unwrap();
    assert_eq!(tape.to_vec(pooled.context), [1.0, 2.0, 1.0, 2.0, 0.0, 0.0, 0.0, 0.0]);
    assert!(pool.forward(&tape, memory, Some(&[true])).is_err());
}

#[test]
fn temperature_sharpens() {
    let at = |temperature| weigh::<f64>(SoftmaxConfig { temperature, ..Default::default() }, &[1.0, 2.0], None)[1];
    assert!((at(0.5) - 1.0 / (1.0 + (-2.0f64).exp())).abs() < 1e-15);
    assert!(at(0.1) > at(1.0) && at(1.0) > at(10.0) && at(10.0) > 0.5);
}

#[test]
fn a_hard_walk_goes_on_from_where_it_stopped_and_may_get_lost() {
    let params = Params::<f64>::new(0);
    let tape = Tape::new(&params);
    let normaliser = Normaliser::new(&mut Params::<f64>::new(0), "", SoftmaxKind::HardMonotonic.into(), 0).unwrap();
    let question = Question::of_axes(None, &Axis::new([4]), &Axis::new([3])).unwrap();
    #[rustfmt::skip]
    let scores = vec![
        -1.0, 2.0, 3.0, // stops at 1
        5.0, 1.0, 1.0, // stays at 1: 0 lies behind
        5.0, -1.0, 0.5, // goes on to 2
        5.0, 5.0, -1.0, // never stops
    ];
    let weights = normaliser.weights(&tape, tape.table(12, 1, scores).unwrap(), &question).unwrap().weights;
    assert_eq!(tape.to_vec(weights), [0.0, 1.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]);
    // Sure stops: the expected walk is the hard one.
    let expected = Normaliser::new(&mut Params::<f64>::new(0), "", SoftmaxKind::Monotonic.into(), 0).unwrap();
    let scores = tape.scale(tape.table(12, 1, vec![-1.0, 2.0, 3.0, 5.0, 1.0, 1.0, 5.0, -1.0, 0.5, 5.0, 5.0, -1.0]).unwrap(), 1000.0);
    let sure = tape.to_vec(expected.weights(&tape, scores, &question).unwrap().weights);
    tape.to_vec(weights).iter().zip(&sure).for_each(|(a, b)| assert!((a - b).abs() < 1e-12, "{sure:?}"));
}

/// The scores of three positions as parameters, and what a drawn choice is worth at each.
const SCORES: [f64; 3] = [0.3, -0.5, 0.9];
const WORTH: [f64; 3] = [2.0, 5.0, -1.0];

fn drawn(kind: SoftmaxKind, seed: u64, loss: impl Fn(&Tape<f64>, Var, Option<Var>) -> Result<Var>) -> (Vec<f64>, Vec<f64>) {
    let mut params = Params::<f64>::new(0);
    let scores = params.add("scores", &[3, 1], Init::Zeros);
    params.get_mut(scores).copy_from_slice(&SCORES);
    let mut gradients = Gradients::new(&params);
    let tape = Tape::training(&params, &mut gradients, seed);
    let normaliser = Normaliser::new(&mut Params::<f64>::new(0), "", kind.into(), 0).unwrap();
    let question = Question::of_items(None, &[0], &Axis::new([3]), 0).unwrap();
    let out = normaliser.weights(&tape, tape.param(scores), &question).unwrap();
    let weights = tape.to_vec(out.weights);
    let loss = loss(&tape, out.weights, out.log_probs).unwrap();
    tape.backward(loss).unwrap();
    (weights, gradients.flat().to_vec())
}

#[test]
fn choices_are_drawn_by_their_probability_and_reinforce_finds_the_slope() {
    let p = weigh::<f64>(SoftmaxKind::Softmax, &SCORES, None);
    let value: f64 = p.iter().zip(WORTH).map(|(p, w)| p * w).sum();
    for (kind, average) in [(SoftmaxKind::Reinforce, 0.0), (SoftmaxKind::Reinforce, 1.5), (SoftmaxKind::Gumbel, 0.0)] {
        let runs = 40_000;
        let (mut seen, mut slope) = ([0.0; 3], [0.0; 3]);
        for seed in 0..runs {
            let (weights, gradient) = drawn(kind, seed, |tape, weights, log_probs| match log_probs {
                Some(log_probs) => {
                    let reward = tape.value(weights).iter().zip(WORTH).map(|(w, worth)| w * worth).sum();
                    Baseline { average: Some(average), ..Default::default() }.surrogate(tape, log_probs, &[reward])
                }
                None => tape.sum_all(weights),
            });
            assert_eq!((weights.iter().sum::<f64>(), weights.iter().filter(|&&w| w == 1.0).count()), (1.0, 1));
            (0..3).for_each(|i| (seen[i], slope[i]) = (seen[i] + weights[i] / runs as f64, slope[i] + gradient[i] / runs as f64));
        }
        for i in 0..3 {
            assert!((seen[i] - p[i]).abs() < 0.01, "{kind:?}: {seen:?} instead of {p:?}");
            if kind == SoftmaxKind::Reinforce {
                // The loss is what is not gained: minus the slope of the expected worth.
                let want = -p[i] * (WORTH[i] - value);
                assert!((slope[i] - want).abs() < 0.05, "{slope:?} at {i} instead of {want}");
            }
        }
    }
    assert_eq!(weigh::<f64>(SoftmaxKind::Gumbel, &SCORES, None), [0.0, 0.0, 1.0]);
    assert_eq!(weigh::<f64>(SoftmaxKind::Reinforce, &SCORES, None), [0.0, 0.0, 1.0]);
}

#[test]
fn a_baseline_moves_with_the_rewards() {
    let params = Params::<f64>::new(0);
    let tape = Tape::new(&params);
    let log_probs = tape.zeros(2, 1);
    let mut baseline = Baseline { decay: 0.5, average: None };
    baseline.surrogate(&tape, log_probs, &[1.0, 3.0]).unwrap();
    assert_eq!(baseline.average, Some(2.0));
    baseline.surrogate(&tape, log_probs, &[4.0, 4.0]).unwrap();
    assert_eq!(baseline.average, Some(3.0));
    assert!(baseline.surrogate(&tape, log_probs, &[1.0]).is_err());
}

/// One row of each sequence carries a mark; the answer stands beside it. Hard attention learns to look there, by both ways of learning.
#[test]
fn hard_attention_learns_where_to_look() {
    for kind in [SoftmaxKind::Gumbel, SoftmaxKind::Reinforce] {
        let mut params = Params::<f64>::new(1);
        let config = AttentionConfig { softmax: kind.into(), ..AttentionConfig::new(ScoreKind::Linear) };
        let pool = Pool::new(&mut params, "pool", &config, 2).unwrap();
        let axis = Axis::new([4, 3, 5, 2]);
        let mut baseline = Baseline::default();
        let mut gradients = Gradients::new(&params);
        let rows = |seed: usize| {
            let mut rows = Vec::new();
            for item in 0..axis.items() {
                let marked = (seed + 3 * item) % axis.lengths()[item];
                (0..axis.lengths()[item]).for_each(|i| rows.extend([f64::from(i == marked), if i == marked { 1.0 } else { -1.0 }]));
            }
            rows
        };
        for seed in 0..300 {
            gradients.begin();
            let tape = Tape::training(&params, &mut gradients, seed as u64);
            let memory = tape.on_axis(tape.table(axis.rows(), 2, rows(seed)).unwrap(), &axis).unwrap();
            let pooled = pool.forward(&tape, memory, None).unwrap();
            // The answer is 1; the loss its distance, squared.
            let miss = tape.sub(tape.slice(pooled.context, 1, 1).unwrap(), tape.scalar(1.0)).unwrap();
            let losses = tape.mul(miss, miss).unwrap();
            let loss = match pooled.log_probs {
                Some(log_probs) => {
                    let rewards: Vec<f64> = tape.value(losses).iter().map(|l| -l).collect();
                    baseline.surrogate(&tape, log_probs, &rewards).unwrap()
                }
                None => tape.sum_all(losses).unwrap(),
            };
            tape.backward(loss).unwrap();
            let slopes = gradients.flat().to_vec();
            params.flat_mut().iter_mut().zip(slopes).for_each(|(p, d)| *p -= 0.05 * d);
        }
        let tape = Tape::new(&params);
        let memory = tape.on_axis(tape.table(axis.rows(), 2, rows(7)).unwrap(), &axis).unwrap();
        let pooled = pool.forward(&tape, memory, None).unwrap();
        assert_eq!(tape.to_vec(tape.slice(pooled.context, 1, 1).unwrap()), [1.0; 4], "{kind:?}");
    }
}

/// A search goes step by step, moves states between tapes and between hypotheses, and sees what teacher forcing sees.
#[test]
fn a_search_sees_what_teacher_forcing_sees() {
    let location = ScoreConfig { filters: 2, filter_width: 3, ..ScoreKind::Location.into() };
    let location = AttentionConfig { score: location, ..Default::default() };
    let local =
        AttentionConfig { softmax: SoftmaxConfig { half_width: 1, ..SoftmaxKind::LocalM.into() }, ..AttentionConfig::new(ScoreKind::Dot) };
    let base = DecoderConfig::new(Cell::Lstm, 2, 3, 3);
    for config in [
        base,
        DecoderConfig { attention: None, ..base },
        DecoderConfig { order: Order::Luong, attention: Some(local), ..base },
        DecoderConfig {
            layers: 2,
            order: Order::Luong,
            input_feeding: true,
            coverage: Coverage::Features,
            attention: Some(location),
            ..base
        },
    ] {
        let mut params = Params::<f64>::new(4);
        let decoder = RecurrentDecoder::new(&mut params, "decoder", config).unwrap();
        let (source, target) = (Axis::new([2, 4]), Axis::new([3, 3]));
        let some = |n: usize| (0..n).map(|i| (i as f64 * 1.3).cos()).collect::<Vec<_>>();
        let (rows, ys) = (some(18), some(12));
        let tape = Tape::new(&params);
        let memory = decoder.prepare(&tape, tape.on_axis(tape.table(6, 3, rows).unwrap(), &source).unwrap()).unwrap();
        let start = decoder.start(&tape, &memory, 2, &[tape.table(2, 3, some(6)).unwrap()], &[]).unwrap();
        let y = tape.on_axis(tape.table(6, 2, ys.clone()).unwrap(), &target).unwrap();
        let whole = decoder.teacher_forced(&tape, y, &memory, &start).unwrap();
        let (readout, weights) = (tape.to_vec(whole.readout), whole.weights.map(|w| tape.to_vec(w)));
        let (stored, size) = (memory.tables(&tape), decoder.readout_size());

        // Item 1 twice, item 0 once.
        let items = [1, 0, 1];
        let mut state: DecoderState<f64> = start.tables(&tape).gather(&items).unwrap();
        assert!(state.gather(&[3]).is_err());
        for step in 0..3 {
            let tape = Tape::new(&params);
            let memory = stored.on(&tape).unwrap();
            let y = items.iter().flat_map(|&item| &ys[(3 * item + step) * 2..][..2]).copied().collect();
            let out = decoder.step(&tape, tape.table(3, 2, y).unwrap(), &state.on(&tape).unwrap(), &memory, &items).unwrap();
            let got = tape.to_vec(out.readout);
            let seen = out.weights.map(|w| tape.to_vec(w));
            let mut pair = 0;
            for (hypothesis, &item) in items.iter().enumerate() {
                let want = &readout[(3 * item + step) * size..][..size];
                got[hypothesis * size..].iter().zip(want).for_each(|(a, b)| assert!((a - b).abs() < 1e-12, "{config:?}"));
                if let (Some(seen), Some(weights)) = (&seen, &weights) {
                    let count = source.lengths()[item];
                    let first = if item == 0 { step * 2 } else { 6 + step * 4 };
                    let want = &weights[first..first + count];
                    seen[pair..].iter().zip(want).for_each(|(a, b)| assert!((a - b).abs() < 1e-12, "{config:?}"));
                    pair += count;
                }
            }
            state = out.state.tables(&tape);
            assert_eq!(state.rows(), 3);
        }
        assert!(decoder.step(&tape, tape.zeros(1, 2), &start, &memory, &[2]).is_err() || config.attention.is_none());
    }
}

#[test]
fn a_search_walks_where_learning_expects() {
    let mut params = Params::<f64>::new(4);
    let monotonic = AttentionConfig { softmax: SoftmaxKind::Monotonic.into(), ..AttentionConfig::new(ScoreKind::Dot) };
    let config = DecoderConfig { attention: Some(monotonic), ..DecoderConfig::new(Cell::Gru, 2, 3, 3) };
    let decoder = RecurrentDecoder::new(&mut params, "decoder", config).unwrap();
    let tape = Tape::new(&params);
    let source = Axis::new([3]);
    // Only the last row has a product above 0 with the state.
    let rows = tape.table(3, 3, vec![-1.0, -1.0, -1.0, -2.0, -1.0, -1.0, 1.0, 1.0, 1.0]).unwrap();
    let memory = decoder.prepare(&tape, tape.on_axis(rows, &source).unwrap()).unwrap();
    let start = decoder.start(&tape, &memory, 1, &[tape.table(1, 3, vec![1.0; 3]).unwrap()], &[]).unwrap();
    let stepped = decoder.step(&tape, tape.zeros(1, 2), &start, &memory, &[0]).unwrap();
    assert_eq!(tape.to_vec(stepped.weights.unwrap()), [0.0, 0.0, 1.0]);
    let soft = decoder.teacher_forced(&tape, tape.on_axis(tape.zeros(1, 2), &Axis::new([1])).unwrap(), &memory, &start).unwrap();
    assert!(tape.to_vec(soft.weights.unwrap()).iter().all(|&w| w > 0.0 && w < 1.0));
}

#[test]
fn coverage_counts_what_is_looked_at_twice() {
    let mut params = Params::<f64>::new(4);
    // Scores that do not depend on the state: the same weights at every step.
    let config = DecoderConfig {
        attention: Some(AttentionConfig::new(ScoreKind::Linear)),
        coverage: Coverage::Penalty,
        ..DecoderConfig::new(Cell::Gru, 2, 3, 3)
    };
    let decoder = RecurrentDecoder::new(&mut params, "decoder", config).unwrap();
    let tape = Tape::new(&params);
    let penalty = |steps: usize| {
        let memory = tape.on_axis(tape.table(2, 3, vec![1.0, 2.0, 3.0, -1.0, 0.5, 0.2]).unwrap(), &Axis::new([2])).unwrap();
        let memory = decoder.prepare(&tape, memory).unwrap();
        let start = decoder.start(&tape, &memory, 1, &[], &[]).unwrap();
        let y = tape.on_axis(tape.zeros(steps, 2), &Axis::new([steps])).unwrap();
        tape.item(decoder.teacher_forced(&tape, y, &memory, &start).unwrap().coverage_penalty.unwrap())
    };
    // Nothing the first time, then all of it.
    assert!(penalty(1).abs() < 1e-12 && (penalty(2) - 1.0).abs() < 1e-12 && (penalty(4) - 3.0).abs() < 1e-12);
}

#[test]
fn rows_nobody_may_look_at_get_nothing_from_a_decoder() {
    for order in [Order::Bahdanau, Order::Luong] {
        let mut params = Params::<f32>::new(4);
        let decoder =
            RecurrentDecoder::new(&mut params, "decoder", DecoderConfig { order, ..DecoderConfig::new(Cell::Gru, 2, 3, 3) }).unwrap();
        let tape = Tape::new(&params);
        let memory = tape.on_axis(tape.table(4, 3, (0..12).map(|i| i as f32).collect()).unwrap(), &Axis::new([3, 1])).unwrap();
        let memory = decoder.prepare(&tape, memory).unwrap();
        assert!(memory.clone().only(vec![true]).is_err());
        let memory = memory.only(vec![true, false, true, false]).unwrap();
        let start = decoder.start(&tape, &memory, 2, &[], &[]).unwrap();
        let y = tape.on_axis(tape.zeros(2, 2), &Axis::new([1, 1])).unwrap();
        let out = decoder.teacher_forced(&tape, y, &memory, &start).unwrap();
        let weights = tape.to_vec(out.weights.unwrap());
        assert_eq!((weights[1], weights[3]), (0.0, 0.0));
        assert!((weights[0] + weights[2] - 1.0).abs() < 1e-6);
        assert_eq!(tape.to_vec(out.contexts.unwrap())[3..], [0.0; 3]);
    }
}

#[test]
fn dropout_works_while_learning_only() {
    for order in [Order::Bahdanau, Order::Luong] {
        let run = |dropout: f64, learn: bool| {
            let mut params = Params::<f64>::new(4);
            let config = DecoderConfig { order, dropout, ..DecoderConfig::new(Cell::Gru, 2, 50, 3) };
            let decoder = RecurrentDecoder::new(&mut params, "decoder", config).unwrap();
            let mut gradients = Gradients::new(&params);
            let tape = if learn { Tape::training(&params, &mut gradients, 1) } else { Tape::new(&params) };
            let memory = tape.on_axis(tape.table(4, 3, (1..13).map(|i| i as f64).collect()).unwrap(), &Axis::new([3, 1])).unwrap();
            let memory = decoder.prepare(&tape, memory).unwrap();
            let start = decoder.start(&tape, &memory, 2, &[], &[]).unwrap();
            let y = tape.on_axis(tape.table(4, 2, vec![1.0; 8]).unwrap(), &Axis::new([1, 3])).unwrap();
            tape.to_vec(decoder.teacher_forced(&tape, y, &memory, &start).unwrap().readout)
        };
        assert_eq!(run(0.5, false), run(0.0, true));
        let zeros = run(0.5, true).iter().filter(|&&x| x == 0.0).count();
        assert!((60..150).contains(&zeros), "{zeros} of 200");
    }
}

#[test]
fn wrong_configurations_say_what_is_wrong() {
    let mut params = Params::<f32>::new(0);
    let mut n = 0;
    let mut decoder = |config: DecoderConfig| {
        n += 1;
        RecurrentDecoder::new(&mut params, &format!("d{n}"), config).map(|_| ()).unwrap_err().to_string()
    };
    let base = DecoderConfig::new(Cell::Gru, 2, 3, 4);
    let with = |attention| DecoderConfig { attention: Some(attention), ..base };
    for (config, says) in [
        (DecoderConfig { input_feeding: true, ..base }, "input feeding is on"),
        (DecoderConfig { coverage: Coverage::Penalty, attention: None, ..base }, "coverage is on"),
        (DecoderConfig { dropout: 1.0, ..base }, "the dropout probability is 1"),
        (DecoderConfig { layers: 0, ..base }, "layers"),
        (with(AttentionConfig::new(ScoreKind::Dot)), "\"general\" compares different widths"),
        (
            DecoderConfig { coverage: Coverage::Features, ..with(AttentionConfig::new(ScoreKind::General)) },
            "\"additive\" and \"location\" read coverage",
        ),
        (with(AttentionConfig { values: Some(0), ..Default::default() }), "the size of the values is 0"),
        (
            with(AttentionConfig { score: ScoreConfig { alignment: Some(0), ..Default::default() }, ..Default::default() }),
            "the alignment size is 0",
        ),
        (with(AttentionConfig { score: ScoreConfig { filter_width: 4, ..ScoreKind::Location.into() }, ..Default::default() }), "odd width"),
        (
            with(AttentionConfig { softmax: SoftmaxConfig { temperature: 0.0, ..Default::default() }, ..Default::default() }),
            "the temperature is 0",
        ),
        (
            with(AttentionConfig { softmax: SoftmaxConfig { half_width: 0, ..SoftmaxKind::LocalP.into() }, ..Default::default() }),
            "half width",
        ),
    ] {
        let got = decoder(config);
        assert!(got.contains(says), "{got}");
    }
    let multi =
        |config: MultiHeadConfig| MultiHead::new(&mut Params::<f32>::new(0), "m", &config, 4, 4, 4).map(|_| ()).unwrap_err().to_string();
    assert!(multi(MultiHeadConfig { heads: 3, ..Default::default() }).contains("a divisor of the 4 features"));
    assert!(multi(MultiHeadConfig { score: ScoreKind::Location.into(), ..Default::default() }).contains("location"));
    assert!(multi(MultiHeadConfig { heads: 2, softmax: SoftmaxKind::Monotonic.into(), ..Default::default() }).contains("monotonic"));
    let pool = |config: AttentionConfig| Pool::new(&mut Params::<f32>::new(0), "p", &config, 4).map(|_| ()).unwrap_err().to_string();
    assert!(pool(AttentionConfig { heads: 0, ..Default::default() }).contains("heads is 0"));
    assert!(pool(AttentionConfig { softmax: SoftmaxKind::LocalM.into(), ..Default::default() }).contains("pooling looks once"));
}

#[test]
fn configurations_are_written_by_name() {
    let config: AttentionConfig =
        toml::from_str("values = 8\n[score]\nkind = \"scaled-dot\"\n[softmax]\nkind = \"local-p\"\nhalf_width = 3").unwrap();
    assert_eq!((config.score.kind, config.softmax.kind, config.softmax.half_width), (ScoreKind::ScaledDot, SoftmaxKind::LocalP, 3));
    assert_eq!(toml::from_str::<AttentionConfig>(&toml::to_string(&config).unwrap()).unwrap(), config);
    for &kind in ScoreKind::ALL {
        assert_eq!(kind.name().parse::<ScoreKind>().unwrap(), kind);
        assert_eq!(serde_json::to_value(kind).unwrap(), kind.name());
    }
    assert!("dott".parse::<ScoreKind>().unwrap_err().to_string().contains("one of linear, tanh, gated, dot"));
}
