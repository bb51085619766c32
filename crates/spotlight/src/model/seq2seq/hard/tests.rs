use super::*;
use crate::model::seq2seq::tests::{config, pair};
use crate::model::seq2seq::{SearchOptions, Transducer};
use crate::model::testing::{check_gradient, fit};
use crate::search::force;
use crate::text::Pair;

/// Numbers without a pattern.
fn drawn(count: usize, seed: f64) -> Vec<f64> {
    (0..count).map(|i| 2.0 * ((i as f64 + 1.3) * 12.9898 * seed).sin()).collect()
}

/// Every walk by itself: the plain twin of the dynamic program.
fn by_hand(walks: &Walks) -> f64 {
    fn on(walks: &Walks, step: usize, from: usize) -> f64 {
        if step == walks.steps {
            return 1.0;
        }
        let weight = |j: usize| {
            let length = (j - from).min(walks.moves.len().saturating_sub(1));
            (walks.scores[step * walks.places + j] + walks.moves.get(length).copied().unwrap_or(0.0)).exp()
        };
        let all: f64 = (from..walks.places).map(weight).sum();
        (from..walks.places).map(|j| weight(j) / all * walks.emissions[step * walks.places + j].exp() * on(walks, step + 1, j)).sum()
    }
    on(walks, 0, 0)
}

#[test]
fn the_sum_is_the_sum_of_all_walks() {
    for (steps, places, moves) in [(1, 1, 0), (3, 4, 0), (4, 3, 2), (2, 5, 3), (5, 1, 2), (4, 4, 8)] {
        let (emissions, scores, moves) = (drawn(steps * places, 0.7), drawn(steps * places, 1.9), drawn(moves, 0.3));
        let walks = Walks { steps, places, emissions: &emissions, scores: &scores, moves: &moves };
        let wanted = by_hand(&walks).ln();
        assert!((walks.log_prob() - wanted).abs() < 1e-12, "{} {wanted}", walks.log_prob());
        let slopes = walks.slopes();
        assert!((slopes.log_prob - wanted).abs() < 1e-12);
        // Every step is written at one place.
        for step in slopes.emissions.chunks_exact(places) {
            assert!((step.iter().sum::<f64>() - 1.0).abs() < 1e-12);
        }
        let moved = |part: usize, i: usize, by: f64| {
            let mut all = [emissions.clone(), scores.clone(), moves.clone()];
            all[part][i] += by;
            Walks { steps, places, emissions: &all[0], scores: &all[1], moves: &all[2] }.log_prob()
        };
        for (part, slopes) in [&slopes.emissions, &slopes.scores, &slopes.moves].into_iter().enumerate() {
            for (i, &slope) in slopes.iter().enumerate() {
                let numeric = (moved(part, i, 1e-5) - moved(part, i, -1e-5)) / 2e-5;
                assert!((numeric - slope).abs() < 1e-8, "{part} {i}: {numeric} {slope}");
            }
        }
    }
}

const ORDERS: [&[&str]; 3] =
    [&["model.hard=zeroth"], &["model.hard=first", "model.cell=lstm", "model.decoder_layers=2"], &["model.hard=first", "model.tied=true"]];

#[test]
fn gradients_of_both_orders() {
    let pairs = [pair("abca", "cb", 1), pair("b", "", 2), pair("cab", "abcab", 3)];
    for kind in ORDERS {
        let model = Transducer::new(config(kind), &pairs).unwrap();
        println!("{kind:?}");
        check_gradient(&model.params, &model.learner(), &model.examples(&pairs));
    }
}

/// Step by step in a search, and all at once while learning: the same probability, of a whole that is 1; company and beams change nothing.
#[test]
fn a_search_sees_what_was_learnt() {
    let pairs = [pair("abca", "cb", 1), pair("b", "a", 2), pair("cab", "abcab", 3)];
    for kind in ORDERS {
        let mut model = Transducer::new(config(kind), &pairs).unwrap();
        model.params.flat_mut().iter_mut().for_each(|weight| *weight *= 2.0);
        let examples = model.examples(&pairs);
        let forced: Vec<(&[u32], &[u32])> = examples.iter().map(|e| (e.source.as_slice(), &e.target[..e.target.len() - 1])).collect();
        for (example, found) in examples.iter().zip(force(&model.writer(), &forced).unwrap()) {
            let loss = model.learner().mean_loss(&model.params, &[example]).unwrap() * example.target.len() as f64;
            assert!((loss + found.log_prob).abs() < 1e-3, "{kind:?}: {loss} {}", found.log_prob);
            // It is somewhere.
            assert!(found.attention.iter().all(|row| (row.iter().sum::<f32>() - 1.0).abs() < 1e-4), "{kind:?}");
        }
        let source = model.vocabularies.example(&pair("abc", "", 1), true).source;
        let options = SearchOptions { beam: 3, n_best: 3, ..model.search_options() };
        for answer in &model.answer(&[("abc", None), ("c", None)], &options, false).unwrap()[0].hypotheses {
            let again = &force(&model.writer(), &[(&source, &answer.hypothesis.ids)]).unwrap()[0];
            if answer.hypothesis.end.is_some() {
                assert!((again.log_prob - answer.hypothesis.log_prob).abs() < 1e-3, "{kind:?}");
            }
        }
    }
}

/// Letters one by one, two for each `b`: what a monotonic walk is for.
#[test]
fn it_learns_what_goes_forward() {
    let word = |i: usize| (0..2 + i % 4).map(|j| (b'a' + ((i * 7 + j * 3 + i / 5) % 4) as u8) as char).collect::<String>();
    let pairs: Vec<Pair> = (0..40).map(|i| pair(&word(i), &word(i).to_uppercase().replace('B', "BB"), i + 1)).collect();
    let learning = ["model.embedding=12", "model.hidden=20", "model.dropout=0.0", "train.rate=0.01", "train.batch=60", "train.epochs=60"];
    for order in ["model.hard=zeroth", "model.hard=first"] {
        let mut model = Transducer::new(config(&[&learning[..], &[order]].concat()), &pairs).unwrap();
        let examples = model.examples(&pairs);
        let measures = fit(&model.learner(), &mut model.params, &model.config.train, &examples);
        let accuracy = measures.iter().find(|m| m.name == "accuracy").unwrap().value;
        assert!(accuracy > 0.9, "{order}: {accuracy}");
        let answer = &model.score(&[("abcd", None)], &["ABBCD"]).unwrap()[0].hypotheses[0].hypothesis;
        let most: Vec<usize> =
            answer.attention.iter().map(|row| (1..row.len()).fold(0, |best, j| if row[j] > row[best] { j } else { best })).collect();
        assert!(most.windows(2).all(|two| two[0] <= two[1]), "{order}: {most:?}");
    }
}

#[test]
fn what_does_not_go_with_it_is_refused() {
    use crate::config::resolve;
    use crate::model::seq2seq::Config;
    for change in
        ["model.copy=true", "attention.heads=2", "model.coverage=penalty", "alignment.links=ibm", "model.architecture=transformer"]
    {
        let changes = ["model.hard=first", change].map(String::from);
        assert!(resolve(&Config::default(), "", &changes).unwrap().check().is_err(), "{change}");
    }
}
