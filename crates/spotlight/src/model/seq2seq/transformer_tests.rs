//! Transducers made of nothing but attention: what is particular to them. What every decoder must do is tested for their shapes, too, in `tests.rs`.

use super::tests::{config, pair, reverser};
use super::*;
use crate::model::Model;
use crate::model::testing::check_gradient;
use crate::model::{Input, ask::AnswerOptions};

/// Every shape of Transformer, small.
pub(super) const TRANSFORMERS: [&[&str]; 8] = [
    &["model.architecture=transformer", "model.embedding=4", "transformer.heads=2", "transformer.feed_forward=5"],
    &[
        "model.architecture=transformer",
        "model.encoder_layers=2",
        "model.decoder_layers=2",
        "transformer.norm=post",
        "transformer.activation=gelu",
        "transformer.positions=learned",
        "transformer.longest=20",
        "transformer.feed_forward=3",
        "transformer.heads=1",
    ],
    &[
        "model.architecture=transformer",
        "transformer.positions=rotary",
        "transformer.heads=2",
        "transformer.feed_forward=3",
        "model.tied=true",
    ],
    // A head of one feature; the output shares vectors of the same size.
    &["model.architecture=transformer", "model.embedding=4", "transformer.heads=4", "transformer.feed_forward=1", "model.tied=true"],
    &[
        "model.architecture=transformer",
        "transformer.attention_dropout=0.2",
        "transformer.activation_dropout=0.2",
        "train.smoothing=0.1",
        "transformer.feed_forward=3",
    ],
    &["model.architecture=recurrent-transformer", "transformer.heads=2", "transformer.feed_forward=3"],
    &["model.architecture=transformer-recurrent", "transformer.heads=2", "transformer.feed_forward=3", "model.cell=lstm"],
    &["model.architecture=transformer-recurrent", "transformer.feed_forward=3", "model.order=luong", "attention.score=dot"],
];

/// A small Transformer that learns within a second.
const LEARNER: [&str; 8] = [
    "model.architecture=transformer",
    "model.embedding=16",
    "model.hidden=16",
    "transformer.heads=2",
    "transformer.feed_forward=32",
    "train.rate=0.005",
    "train.warmup=20",
    "train.epochs=120",
];

#[test]
fn transformers_learn_to_reverse() {
    for positions in ["sinusoidal", "learned", "rotary"] {
        reverser(&[&LEARNER[..], &[&format!("transformer.positions={positions}")]].concat());
    }
    reverser(&[&LEARNER[..], &["model.architecture=recurrent-transformer"]].concat());
    reverser(&[&LEARNER[..], &["model.architecture=transformer-recurrent"]].concat());
}

#[test]
fn company_changes_no_answer_of_a_transformer() {
    let model = reverser(&LEARNER);
    let sources = ["abca", "", "d", "bcadbcadbcad", "ab"];
    for beam in [1, 3] {
        let options = SearchOptions { beam, n_best: beam, ..model.search_options() };
        let together = model.answer(&sources.map(|s| (s, None)), &options, false).unwrap();
        // Whether somebody looks changes nothing either, but that there is something to see.
        let unseen = model.answer(&sources.map(|s| (s, None)), &SearchOptions { look: false, ..options.clone() }, false).unwrap();
        let ids = |a: &Answer| a.hypotheses.iter().map(|h| h.hypothesis.ids.clone()).collect::<Vec<_>>();
        for ((source, answer), unseen) in sources.iter().zip(&together).zip(&unseen) {
            let alone = &model.answer(&[(source, None)], &options, false).unwrap()[0];
            assert_eq!(ids(alone), ids(answer), "{source}");
            assert_eq!(ids(unseen), ids(answer), "{source}");
            assert!(unseen.hypotheses.iter().all(|h| h.hypothesis.attention.is_empty()));
        }
        assert_eq!(together[0].hypotheses[0].hypothesis.heads.len(), 2, "one layer of two heads");
    }
}

/// What the encoder makes of a source with features.
fn states(model: &Transducer, source: &str, features: &str) -> Vec<(String, Vec<f32>)> {
    model.encoder_states(source, Some(features)).unwrap().into_iter().map(|(unit, row)| (unit.text, row)).collect()
}

#[test]
fn the_order_of_features_means_nothing_to_a_transformer_and_that_of_letters_something() {
    let row = |source: &str, features: &str, line| Pair { features: Some(features.into()), ..pair(source, "x", line) };
    let pairs = [row("ab", "V;N;PL", 1), row("ba", "N;SG", 2)];
    for positions in ["sinusoidal", "learned", "rotary"] {
        let position = format!("transformer.positions={positions}");
        let changes = ["data.features=true", "model.architecture=transformer", "model.embedding=4", "transformer.heads=2", &position];
        let mut model = Transducer::new(config(&changes), &pairs).unwrap();
        // Positions that are learned begin as next to nothing.
        model.params.flat_mut().iter_mut().for_each(|x| *x *= 3.0);
        let [one, other] = ["V;N;PL", "PL;V;N"].map(|features| states(&model, "ab", features));
        for (unit, state) in &one {
            let same = &other.iter().find(|(text, _)| text == unit).unwrap().1;
            assert!(state.iter().zip(same).all(|(a, b)| (a - b).abs() < 1e-5), "{positions}, {unit}: {state:?} and {same:?}");
        }
        let turned = states(&model, "ba", "V;N;PL");
        let of = |all: &[(String, Vec<f32>)], unit: &str| all.iter().find(|(text, _)| text == unit).unwrap().1.clone();
        assert!(of(&one, "a").iter().zip(of(&turned, "a")).any(|(a, b)| (a - b).abs() > 1e-3), "{positions}");
        // Their kind is told by a vector of its own.
        let kinds = model.params.entries().iter().find(|entry| entry.name == "source.kinds.weight").unwrap().range.clone();
        // One feature of it: a layer norm would undo a change of all alike.
        model.params.flat_mut()[kinds][4] += 1.0;
        assert!(of(&one, "V").iter().zip(of(&states(&model, "ab", "V;N;PL"), "V")).any(|(a, b)| (a - b).abs() > 1e-3), "{positions}");
    }
}

#[test]
fn gradients_with_features_without_positions() {
    let row = |source: &str, target: &str, features: &str, line| Pair { features: Some(features.into()), ..pair(source, target, line) };
    let pairs = [row("abca", "cb", "V;PL", 1), row("b", "", "", 2), row("", "abc", "N", 3)];
    for positions in ["sinusoidal", "learned", "rotary"] {
        let position = format!("transformer.positions={positions}");
        let changes =
            ["data.features=true", "model.architecture=transformer", "transformer.heads=2", "transformer.feed_forward=3", &position];
        let model = Transducer::new(config(&changes), &pairs).unwrap();
        check_gradient(&model.params, &model.learner(), &model.examples(&pairs));
    }
}

#[test]
fn learned_positions_end_where_they_end() {
    let learned = ["model.architecture=transformer", "transformer.positions=learned", "transformer.longest=5", "transformer.heads=2"];
    let fits = [pair("abcde", "abcd", 1)];
    let model = Transducer::new(config(&learned), &fits).unwrap();
    assert!(Model::examples(&model, &fits).is_ok());
    let error = |pair: Pair| Model::examples(&model, &[pair]).unwrap_err().to_string();
    assert_eq!(
        error(pair("abcdea", "a", 7)),
        "the number of units of the source in line 7 is 6, but must be at most 5: raise transformer.longest, or use rotary or sinusoidal \
         positions, which have no limit"
    );
    assert!(error(pair("a", "abcde", 8)).starts_with("the number of units of the target in line 8 is 5, but must be at most 4"));
    // A search goes no further than that; a line that is too long is told, and the others are answered.
    let options = SearchOptions { max_ratio: 9.0, ..model.search_options() };
    assert!(model.answer(&[("abcde", None)], &options, false).unwrap()[0].hypotheses[0].hypothesis.ids.len() <= 4);
    let file = tempfile::NamedTempFile::new().unwrap();
    std::fs::write(file.path(), "ab\nabcdea\nb\n").unwrap();
    let replies = Model::answers(&model, Input::File(file.path()), &AnswerOptions::default()).unwrap();
    let errors: Vec<Option<String>> = replies.map(|reply| reply.unwrap().error.map(|e| e.to_string())).collect();
    assert!(errors[0].is_none() && errors[2].is_none());
    assert!(
        errors[1].as_ref().unwrap().ends_with(":2:1: the source has 6 units, more than the 5 positions this model has learned; shorten it")
    );
}

#[test]
fn settings_of_the_other_architecture_are_refused_by_name() {
    let error = |changes: &[&str]| config(changes).check().unwrap_err().to_string();
    assert_eq!(error(&["transformer.heads=2"]), "`transformer`: goes with a Transformer: set model.architecture");
    let transformer = "model.architecture=transformer";
    assert!(error(&[transformer, "attention.heads=2"]).starts_with("`attention`: goes with a recurrent decoder"));
    assert!(error(&[transformer, "model.coverage=penalty"]).starts_with("`model.coverage`"));
    assert!(error(&[transformer, "model.order=luong"]).starts_with("`model.order`"));
    assert!(error(&[transformer, "model.start=zeros"]).starts_with("`model.start`"));
    assert!(error(&[transformer, "model.input_feeding=true"]).starts_with("`model.input_feeding`"));
    assert!(error(&[transformer, "transformer.heads=3"]).starts_with("`transformer.heads`: must be a divisor of model.hidden = 4"));
}
