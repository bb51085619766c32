//! Searches of a Transformer: keys and values in logs that only grow, weights made ready once, weights of one byte.

use std::sync::atomic::{AtomicUsize, Ordering};

use super::tests::{config, pair, reverser};
use super::transformer_tests::{LEARNER, TRANSFORMERS};
use super::*;
use crate::model::{AnswerOptions, Model};
use crate::search::search;
use crate::search::{Session, Stepped};
use crate::tape::Pool;
use crate::text::vocab::{END, START};

/// Hypotheses chosen, multiplied and given up on the way, against known targets of what each of them has written, at every step.
#[test]
fn every_step_of_a_search_is_teacher_forcing() {
    let pairs = [pair("abca", "cb", 1), pair("b", "abcab", 2), pair("cabcab", "bb", 3)];
    for changes in TRANSFORMERS {
        let mut model = Transducer::new(config(&[changes, &["model.dropout=0.0"]].concat()), &pairs).unwrap();
        model.params.flat_mut().iter_mut().for_each(|weight| *weight *= 2.0);
        let sources = ["abca", "b", "cabcab"].map(|text| model.vocabularies.source.ids(text));
        let (writer, pool) = (model.writer(), Pool::new());
        let mut session = writer.begin(&sources.each_ref().map(Vec::as_slice), 3, &pool).unwrap();
        let units = model.vocabularies.sizes().1 as u32;
        let (mut items, mut histories) = (vec![0, 1, 2], vec![vec![]; 3]);
        for step in 0..7 {
            let rows: Vec<usize> = match step {
                1 => vec![0, 0, 1, 2, 2],
                3 => vec![4, 1, 1, 0],
                5 => vec![2],
                _ => (0..items.len()).collect(),
            };
            items = rows.iter().map(|&row| items[row]).collect();
            histories = rows.iter().map(|&row| histories[row].clone()).collect::<Vec<Vec<u32>>>();
            for (row, history) in histories.iter_mut().enumerate() {
                history.push(if step == 0 { START } else { END + 1 + (row as u32 * 5 + step) % (units - END - 1) });
            }
            let last: Vec<u32> = histories.iter().map(|history| history[step as usize]).collect();
            let stepped = session.step(&rows, &last).unwrap();
            for (row, history) in histories.iter().enumerate() {
                let tape = Tape::new(&model.params);
                let source = &sources[items[row]];
                let begun = model.net.encode(&tape, source, &Axis::new([source.len()])).unwrap();
                let known = model.net.decode(&tape, &begun, history, &Axis::new([history.len()]), false).unwrap();
                let mut all = tape.to_vec(model.net.logits(&tape, known.readout).unwrap());
                let last = &mut all[step as usize * stepped.units..];
                spotlight_kernels::loss::log_softmax(last);
                let got = &stepped.log_probs[row * stepped.units..(row + 1) * stepped.units];
                assert!(got.iter().zip(&*last).all(|(a, b)| (a - b).abs() < 1e-5), "{changes:?}, step {step}: {got:?} and {last:?}");
            }
        }
    }
}

/// A writer whose steps are counted.
struct Counted<'m>(NetWriter<'m>, &'m AtomicUsize);

struct CountedSession<'a>(Box<dyn Session + 'a>, &'a AtomicUsize);

impl Writer for Counted<'_> {
    fn begin<'a>(&'a self, sources: &[&[u32]], width: usize, pool: &'a Pool<f32>) -> Result<Box<dyn Session + 'a>> {
        Ok(Box::new(CountedSession(self.0.begin(sources, width, pool)?, self.1)))
    }
}

impl Session for CountedSession<'_> {
    fn step(&mut self, rows: &[usize], units: &[u32]) -> Result<Stepped> {
        self.1.fetch_add(rows.len(), Ordering::Relaxed);
        self.0.step(rows, units)
    }
}

/// A search for one answer ends when no other can come before it: the answer is the first of the search for all, and the steps are fewer.
#[test]
fn a_search_ends_when_nothing_can_come_before_what_was_found() {
    let trained = reverser(&LEARNER);
    let mut untrained = Transducer::new(config(&["model.hidden=8"]), &[pair("abcd", "xyz", 1)]).unwrap();
    untrained.params.flat_mut().iter_mut().for_each(|weight| *weight *= 3.0);
    for model in [trained, untrained] {
        for (length_penalty, coverage_penalty) in [(0.0, 0.0), (0.6, 0.0), (2.0, 0.3)] {
            let sources = ["abca", "bd", "d", "cccc"].map(|text| model.vocabularies.source.ids(text));
            let requests: Vec<Request> = sources.iter().map(|source| Request::new(source)).collect();
            let searched = |n_best| {
                let steps = AtomicUsize::new(0);
                let options = SearchOptions { beam: 4, n_best, length_penalty, coverage_penalty, ..model.search_options() };
                let found = search(&Counted(model.writer(), &steps), &requests, &options).unwrap();
                (found, steps.into_inner())
            };
            let ((one, few), (all, many)) = (searched(1), searched(4));
            for (one, all) in one.iter().zip(&all) {
                assert_eq!(one[..], all[..1]);
            }
            assert!(few <= many && (length_penalty > 0.0 || few < many), "{few} and {many}");
        }
    }
}

/// What was made ready of weights is forgotten when they change.
#[test]
fn a_model_that_changes_answers_by_its_new_weights() {
    let model = reverser(&LEARNER);
    let answer = |model: &Transducer, int8| {
        let options = SearchOptions { int8, ..model.search_options() };
        model.answer(&[("abca", None)], &options, false).unwrap()[0].hypotheses[0].hypothesis.log_prob
    };
    for int8 in [false, true] {
        let mut changed = model.clone();
        let before = answer(&changed, int8);
        assert_eq!(before, answer(&model, int8));
        changed.params.flat_mut().iter_mut().for_each(|weight| *weight *= 0.5);
        let halved = answer(&changed, int8);
        assert_ne!(halved, before);
        let id = changed.params.find("output.weight").unwrap();
        changed.params.get_mut(id).fill(0.0);
        assert_ne!(answer(&changed, int8), halved);
    }
}

#[test]
fn weights_of_one_byte_answer_nearly_the_same() {
    let model = reverser(&[&LEARNER[..], &["model.encoder_layers=2", "model.decoder_layers=2"]].concat());
    let sources = ["abca", "bd", "dab", "cc"].map(|source| (source, None));
    for beam in [1, 3] {
        let options = SearchOptions { beam, n_best: 1, ..model.search_options() };
        let full = model.answer(&sources, &options, false).unwrap();
        let bytes = model.answer(&sources, &SearchOptions { int8: true, ..options.clone() }, false).unwrap();
        for (full, bytes) in full.iter().zip(&bytes) {
            let (full, bytes) = (&full.hypotheses[0], &bytes.hypotheses[0]);
            assert_eq!(full.text, bytes.text);
            let apart = (full.hypothesis.log_prob - bytes.hypothesis.log_prob).abs();
            assert!(apart > 0.0 && apart < 0.3, "{apart}");
        }
    }
    // What it costs is told beside the figures.
    let pairs = [pair("abca", "acba", 1), pair("bd", "db", 2), pair("dab", "xxx", 3)];
    let scores = Model::scores(&model, &pairs, &AnswerOptions { int8: true, ..AnswerOptions::default() }).unwrap().report;
    assert_eq!(scores.get("accuracy"), scores.get("accuracy, without --int8"));
    assert_eq!((scores.get("answers as without --int8"), scores.get("WER, without --int8").is_some()), (Some(1.0), true));
    let usual = Model::scores(&model, &pairs, &AnswerOptions::default()).unwrap().report;
    assert_eq!((usual.get("accuracy"), usual.get("accuracy, without --int8")), (scores.get("accuracy"), None));
}

#[test]
fn a_recurrent_decoder_has_no_form_of_one_byte_and_says_so() {
    let pairs = [pair("ab", "ba", 1)];
    for (changes, refused) in [
        (&["model.hidden=4"][..], true),
        (&["model.architecture=transformer-recurrent"], true),
        (&["model.architecture=recurrent-transformer"], false),
    ] {
        let model = Transducer::new(config(changes), &pairs).unwrap();
        let found = Model::scores(&model, &pairs, &AnswerOptions { int8: true, ..AnswerOptions::default() });
        match found {
            Ok(_) => assert!(!refused, "{changes:?}"),
            Err(error) => assert!(refused && error.to_string().contains("must be transformer or recurrent-transformer"), "{error}"),
        }
    }
}
