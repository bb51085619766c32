//! What answers are ranked by, computed again from the answers themselves.

use std::sync::Arc;

use spotlight::config::resolve;
use spotlight::model::seq2seq::{Config, SearchOptions, Transducer};
use spotlight::search::{Lexicon, Request, search};
use spotlight::text::Pair;

/// A model that knows nothing, with weights large enough to have opinions: its answers differ in length and in where they look.
fn opinionated(settings: &[&str]) -> Transducer {
    let pair = |source: &str, target: &str| Pair { source: source.into(), target: target.into(), features: None, line: 0 };
    let small = ["model.embedding=6", "model.hidden=8", "model.dropout=0.0"];
    let changes: Vec<String> = small.iter().chain(settings).map(|change| change.to_string()).collect();
    let config = resolve(&Config::default(), "", &changes).unwrap();
    let mut model = Transducer::new(config, &[pair("abcd", "xyz"), pair("dc", "zyxx"), pair("b", "yx")]).unwrap();
    model.params.flat_mut().iter_mut().for_each(|weight| *weight *= 3.0);
    model
}

const SOURCES: [(&str, Option<&str>); 3] = [("abcd", None), ("dca", None), ("bb", None)];

/// Wu and others, 2016, equation 14, with `α` for the length and `β` for the coverage:
///
/// ```text
/// score = ln p / ((5 + length) / 6)^α + β Σ_j ln min(Σ_i a_ij, 1)        the end counts as a unit of the length
/// ```
fn check_scores(alpha: f64, beta: f64) {
    // From the recipe to the search: the settings must arrive there.
    let model = opinionated(&[&format!("search.length_penalty={alpha}"), &format!("search.coverage_penalty={beta}")]);
    let options = SearchOptions { beam: 12, n_best: 12, ..model.search_options() };
    for answer in model.answer(&SOURCES, &options, false).unwrap() {
        let scores: Vec<f64> = answer.hypotheses.iter().map(|answer| answer.hypothesis.score).collect();
        assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
        for found in &answer.hypotheses {
            let h = &found.hypothesis;
            let length = ((5.0 + (h.ids.len() + 1) as f64) / 6.0).powf(alpha);
            let seen = (0..answer.source_tokens.len()).map(|j| h.attention.iter().map(|row| row[j] as f64).sum::<f64>());
            let coverage: f64 = if h.attention.is_empty() { 0.0 } else { seen.map(|seen| seen.clamp(1e-6, 1.0).ln()).sum() };
            let wanted = h.log_prob / length + beta * coverage;
            assert!((h.score - wanted).abs() < 1e-9, "{} instead of {wanted} for {:?}", h.score, found.text);
        }
    }
}

#[test]
fn answers_are_ranked_by_probability() {
    check_scores(0.0, 0.0);
}

#[test]
fn answers_are_ranked_by_length_too() {
    check_scores(1.5, 0.0);
}

#[test]
fn answers_are_ranked_by_coverage_too() {
    check_scores(0.0, 0.7);
    check_scores(0.6, 0.2);
}

#[test]
fn a_length_penalty_prefers_longer_answers() {
    let model = opinionated(&[]);
    let lengths = |length_penalty: f64| {
        let options = SearchOptions { beam: 12, length_penalty, coverage_penalty: 0.0, ..model.search_options() };
        let answers = model.answer(&SOURCES, &options, false).unwrap();
        answers.iter().map(|answer| answer.hypotheses[0].hypothesis.ids.len()).collect::<Vec<_>>()
    };
    let (plain, long) = (lengths(0.0), lengths(3.0));
    assert!(plain.iter().zip(&long).all(|(plain, long)| plain <= long) && plain != long, "{plain:?} {long:?}");
}

/// Every answer that can be written in two units or less, ranked by forced decoding: what a lexicon of them must find under any beam.
#[test]
fn a_lexicon_is_searched_as_if_each_of_its_answers_were_scored() {
    let model = opinionated(&[]);
    let words = ["x", "xy", "xyz", "zz", "zzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzzz", "y"];
    let ids: Vec<Vec<u32>> = words.iter().map(|word| model.vocabularies.target.ids(word)).collect();
    let lexicon = Lexicon::new(ids.iter().map(Vec::as_slice));
    let options = SearchOptions { beam: 32, n_best: 32, lexicon: Some(Arc::new(lexicon)), ..SearchOptions::GREEDY };
    let found = model.answer(&SOURCES, &options, false).unwrap();
    for (source, answer) in SOURCES.iter().zip(found) {
        let scored = model.score(&vec![*source; words.len()], &words).unwrap();
        let mut wanted: Vec<(f64, &str)> = scored.iter().zip(words).map(|(a, word)| (a.hypotheses[0].hypothesis.log_prob, word)).collect();
        wanted.sort_by(|a, b| b.0.total_cmp(&a.0));
        let got: Vec<&str> = answer.hypotheses.iter().map(|h| h.text.as_str()).collect();
        assert_eq!(got, wanted.iter().map(|(_, word)| *word).collect::<Vec<_>>());
        for (h, (log_prob, _)) in answer.hypotheses.iter().zip(&wanted) {
            assert!((h.hypothesis.log_prob - log_prob).abs() < 1e-4, "{} {log_prob}", h.hypothesis.log_prob);
        }
        let shares: f64 = answer.hypotheses.iter().filter_map(|h| h.share).sum();
        assert!((shares - 1.0).abs() < 1e-9);
    }
}

#[test]
fn no_answer_is_shorter_than_asked_for() {
    let model = opinionated(&[]);
    let lengths = |min_length| -> Vec<usize> {
        let options = SearchOptions { beam: 4, min_length, ..model.search_options() };
        model.answer(&SOURCES, &options, false).unwrap().iter().map(|a| a.hypotheses[0].hypothesis.ids.len()).collect()
    };
    assert!(lengths(0).iter().any(|&length| length < 7));
    assert!(lengths(7).iter().all(|&length| length >= 7));
}

/// Whatever else is asked for, however an answer is searched for or drawn, and where a model cannot write all of a line.
#[test]
fn nothing_but_the_lexicon_is_ever_written() {
    let words = ["x", "xyz", "zz", "zzzzz"];
    let short = ["model.architecture=transformer", "model.hidden=8", "transformer.positions=learned", "transformer.longest=4"];
    for (settings, most) in [(&[][..], usize::MAX), (&short, 4)] {
        let model = opinionated(settings);
        let ids: Vec<Vec<u32>> = words.iter().map(|word| model.vocabularies.target.ids(word)).collect();
        let sources: Vec<Vec<u32>> = SOURCES.iter().map(|(source, _)| model.vocabularies.source.ids(source)).collect();
        for (prefix, min_length) in [("", 0), ("x", 0), ("xy", 0), ("y", 0), ("xyzz", 0), ("zx", 0), ("", 3), ("z", 3), ("", 6)] {
            let prefix = model.vocabularies.target.ids(prefix);
            let requests: Vec<Request> = sources.iter().map(|source| Request { source, prefix: &prefix }).collect();
            let lexicon = Some(Arc::new(Lexicon::new(ids.iter().map(Vec::as_slice))));
            let beam = SearchOptions { beam: 4, n_best: 4, min_length, lexicon, ..SearchOptions::GREEDY };
            let drawn = SearchOptions { sample: Some((1.0, 7)), n_best: 9, ..beam.clone() };
            let allowed = |word: &&Vec<u32>| word.starts_with(&prefix) && (min_length..=most).contains(&word.len());
            let mut wanted: Vec<&Vec<u32>> = ids.iter().filter(allowed).collect();
            wanted.sort();
            for found in search(&model.writer(), &requests, &beam).unwrap() {
                let mut found: Vec<&Vec<u32>> = found.iter().map(|answer| &answer.ids).collect();
                found.sort();
                assert_eq!(found, wanted, "{prefix:?}, at least {min_length}");
            }
            for found in search(&model.writer(), &requests, &drawn).unwrap().iter().flatten() {
                assert!(wanted.contains(&&found.ids) && found.log_prob.is_finite(), "{found:?}");
            }
        }
    }
}
