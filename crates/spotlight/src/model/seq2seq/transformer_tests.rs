//! Transducers made of nothing but attention: what is particular to them. What every decoder must do is tested for their shapes, too, in `tests.rs`.

use super::config::Architecture;
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
pub(super) const LEARNER: [&str; 8] = [
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

#[test]
fn weights_that_would_not_fit_are_refused_before_they_are_allocated() {
    let model = Transducer::new(config(&["model.architecture=transformer", "transformer.heads=4"]), &[pair("ab", "ba", 1)]).unwrap();
    let ids = vec![3; 1_000_000];
    let tape = Tape::new(&model.params);
    // 4 heads of a million times a million weights.
    let error = model.net.read(&tape, &ids, &Axis::new([ids.len()]), true).unwrap_err().to_string();
    assert!(
        error.starts_with("the memory for the attention weights of a sequence of 1000000 positions is 32 TB, but must be at most"),
        "{error}"
    );
}

#[test]
fn nothing_to_read_nothing_to_write_and_one_position() {
    for changes in TRANSFORMERS {
        let pairs = [pair("", "", 1), pair("a", "", 2), pair("", "b", 3), pair("a", "b", 4)];
        let model = Transducer::new(config(changes), &pairs).unwrap();
        let examples = model.examples(&pairs);
        let loss = model.learner().mean_loss(&model.params, &examples.iter().collect::<Vec<_>>()).unwrap();
        assert!(loss.is_finite(), "{changes:?}");
        let answers = model.answer(&[("", None), ("a", None)], &model.search_options(), false).unwrap();
        assert!(answers[0].hypotheses[0].hypothesis.ids.is_empty());
        assert!(answers[1].hypotheses[0].hypothesis.log_prob.is_finite());
    }
}

#[test]
fn a_loss_that_is_not_a_number_stops_the_run() {
    let error = |architecture: &str| {
        let pairs = [pair("ab", "ba", 1), pair("cd", "dc", 2)];
        let mut model = Transducer::new(config(&[architecture]), &pairs).unwrap();
        model.params.flat_mut().iter_mut().for_each(|x| *x = f32::NAN);
        let place = tempfile::tempdir().unwrap();
        let folder = folder::claim(place.path(), false).unwrap().begin(|_| Ok(())).unwrap();
        let stop = std::sync::atomic::AtomicBool::new(false);
        let settings = model.config.train.clone();
        let run = crate::train::Run {
            folder: &folder,
            settings: &settings,
            seed: 1,
            fingerprint: String::new(),
            checkpoint_every: crate::train::run::CHECKPOINT_EVERY,
            stop: &stop,
        };
        let (learner, examples) = (model.learner(), model.examples(&pairs));
        run.train(&learner, &mut model.params, &examples, &examples, &mut Nobody).unwrap_err().to_string()
    };
    assert_eq!(error("model.architecture=transformer"), error("model.architecture=recurrent"));
}

struct Nobody;

impl crate::train::Watch for Nobody {
    fn tick(&mut self, _: crate::train::Tick) {}
    fn evaluated(&mut self, _: &crate::train::Evaluation) {}
}

/// The attention of all layers of an answer.
fn inside(model: &Transducer, source: &str) -> (Answer, Inside) {
    let answer = model.answer(&[(source, None)], &model.search_options(), false).unwrap().remove(0);
    let ids = model.vocabularies.source.ids(source);
    let inside = Inside::of(&model.net, &model.params, &ids, &answer.hypotheses[0].hypothesis.ids).unwrap();
    (answer, inside)
}

#[test]
fn what_is_seen_of_the_layers_is_what_the_search_used() {
    let model = reverser(&[&LEARNER[..], &["model.encoder_layers=2", "model.decoder_layers=2"]].concat());
    let (answer, inside) = inside(&model, "abca");
    let h = &answer.hypotheses[0].hypothesis;
    assert_eq!(inside.layers(), crate::model::Layers { encoder: 2, decoder: 2, heads: 2 });
    assert_eq!(h.heads.len(), 4);
    for (layer, heads) in inside.cross.iter().enumerate() {
        for (head, weights) in heads.iter().enumerate() {
            assert_eq!((weights.len(), weights[0].len()), (h.ids.len(), 4));
            for (row, searched) in weights.iter().zip(&h.heads[layer * 2 + head]) {
                assert!(row.iter().zip(searched).all(|(a, b)| (a - b).abs() < 1e-5), "layer {layer}, head {head}");
            }
        }
    }
    // Nobody looks ahead, and all that is there is looked at.
    for weights in inside.decoder.iter().flatten() {
        for (i, row) in weights.iter().enumerate() {
            assert!(row[i + 1..].iter().all(|&w| w == 0.0));
            assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-5);
        }
    }
    // A rollout mixes positions, and loses nothing on the way.
    let rollout = inside.rollout();
    assert!(rollout.iter().all(|row| (row.iter().sum::<f32>() - 1.0).abs() < 1e-5));
    let mean = |layer: usize, i: usize, j: usize| inside.encoder[layer].iter().map(|head| head[i][j]).sum::<f32>() / 2.0;
    let step = |layer: usize, i: usize, j: usize| 0.5 * (mean(layer, i, j) + f32::from(i == j));
    let by_hand = (0..4).map(|k| step(1, 2, k) * step(0, k, 1)).sum::<f32>();
    assert!((rollout[2][1] - by_hand).abs() < 1e-6);
}

#[test]
fn the_mask_is_drawn_as_such_in_every_form() {
    use crate::model::{Answer as _, Drawing, View};
    use crate::view::{Page, Picture, ascii, html, json, svg, terminal};
    let model = reverser(&LEARNER);
    let (mut answer, inside) = inside(&model, "abca");
    answer.hypotheses[0].inside = Some(inside);
    let drawn = |view, layer, head| answer.pictures(&Drawing { view: Some(view), layer, head, ..Drawing::default() });
    let page = Page::new(drawn(View::Decoder, Some(0), Some(1))).unwrap();
    let Picture::Stack(stack) = &page.pictures()[0] else { panic!("not a stack") };
    assert_eq!((stack.layers.len(), stack.layers[0].panels.len()), (1, 1));
    let weights = &stack.layers[0].panels[0].weights;
    let written = weights.len();
    assert!(written > 1 && weights[0][0] == Some(1.0) && weights[0][1..].iter().all(Option::is_none), "{weights:?}");
    // Every pair that is ahead is one stroke of the pen.
    let ahead = written * (written - 1) / 2;
    let strokes = ascii::draw(&page, 80).lines().filter(|line| line.contains('|')).map(|line| line.matches('/').count()).sum::<usize>();
    assert_eq!(strokes, ahead);
    assert!(terminal::draw(&page, 80, terminal::Color::None).contains("//"));
    assert_eq!(svg::draw(&page).matches("fill=\"#9ca0aa\"").count(), ahead);
    assert!(json::draw(&page).unwrap().contains("null"));
    assert!(html::draw(&page).unwrap().contains("stackView"));
    // All heads: thumbnails with a name each, in the width asked for.
    let page = Page::new(drawn(View::Cross, None, None)).unwrap();
    let text = ascii::draw(&page, 60);
    assert!(text.contains("layer 1, head 1") && text.contains("layer 1, head 2") && text.lines().all(|line| line.len() <= 60), "{text}");
    assert!(!svg::draw(&page).contains("#9ca0aa"));
    // The mean of a layer.
    let Picture::Stack(mean) = &drawn(View::Cross, Some(0), None)[0] else { panic!("not a stack") };
    let Picture::Stack(heads) = &drawn(View::Cross, None, None)[0] else { panic!("not a stack") };
    let [one, other] = [0, 1].map(|head| heads.layers[0].panels[head].weights[1][2].unwrap());
    assert!((mean.layers[0].panels[0].weights[1][2].unwrap() - 0.5 * (one + other)).abs() < 1e-6);
}

#[test]
fn many_sentences_are_read_by_attention_unless_something_recurrent_is_wanted() {
    let sentence = |i: usize| format!("word{i} and other{i} with some{} thing{}", i * 7, i * 3);
    let pairs: Vec<Pair> = (0..5_000).map(|i| pair(&sentence(i), &sentence(i + 1), i + 1)).collect();
    let chosen = |pairs: &[Pair], changes: &[&str]| {
        let changes: Vec<String> = changes.iter().map(|change| change.to_string()).collect();
        let config = resolve(&Transducer::choose(pairs, &changes).unwrap().config, "", &changes).unwrap();
        config.check().unwrap();
        config.model.architecture
    };
    assert_eq!(chosen(&pairs, &[]), Architecture::Transformer);
    assert_eq!(chosen(&pairs, &["model.hidden=64", "model.copy=true"]), Architecture::Transformer);
    assert_eq!(chosen(&pairs[1..], &[]), Architecture::Recurrent);
    for recurrent in
        ["model.architecture=recurrent", "model.cell=lstm", "attention.heads=2", "model.order=luong", "model.hidden=66", "model.hidden=68"]
    {
        assert_eq!(chosen(&pairs, &[recurrent]), Architecture::Recurrent, "{recurrent}");
    }
    let words: Vec<Pair> = (0..6_000).map(|i| pair(&format!("w{i}"), &format!("x{i}"), i + 1)).collect();
    assert_eq!(chosen(&words, &[]), Architecture::Recurrent);
}
