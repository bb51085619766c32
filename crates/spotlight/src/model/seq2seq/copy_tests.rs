//! Copying: slopes, probabilities that are one whole, and units that nobody has ever seen.

use super::tests::{config, pair};
use super::*;
use crate::model::answer::{Answer as _, ToJson};
use crate::model::testing::{check_gradient, fit};
use crate::view::Picture;

/// Letters that are rare, so that the target does not know them, and one that stands nowhere else.
const RARE: [&str; 3] = ["model.copy=true", "target.min_count=2", "source.min_count=2"];

fn pairs() -> Vec<Pair> {
    vec![pair("abca", "acz", 1), pair("b", "", 2), pair("caqbw", "aqbcab", 3), pair("yc", "cyc", 4)]
}

const KINDS: [&[&str]; 8] = [
    &[],
    &["model.cell=lstm", "model.decoder_layers=2", "train.smoothing=0.1"],
    &["model.order=luong", "attention.heads=2"],
    &["model.order=luong", "model.input_feeding=true", "attention.softmax=sparsemax"],
    &["model.coverage=features", "model.tied=true"],
    &[
        "model.architecture=transformer",
        "model.hidden=4",
        "transformer.heads=2",
        "transformer.feed_forward=3",
        "transformer.activation=gelu",
        "model.decoder_layers=2",
        "train.smoothing=0.1",
    ],
    &[
        "model.architecture=recurrent-transformer",
        "model.hidden=4",
        "transformer.heads=2",
        "transformer.feed_forward=3",
        "transformer.activation=gelu",
    ],
    &[
        "model.architecture=transformer-recurrent",
        "model.hidden=4",
        "transformer.heads=2",
        "transformer.feed_forward=3",
        "transformer.activation=gelu",
    ],
];

fn with_features(mut pairs: Vec<Pair>) -> Vec<Pair> {
    pairs.iter_mut().enumerate().for_each(|(i, p)| p.features = Some(if i % 2 == 0 { "N;SG".into() } else { "PL".to_string() }));
    pairs
}

#[test]
fn gradients_of_every_kind_that_copies() {
    for kind in KINDS {
        let model = Transducer::new(config(&[&RARE[..], kind].concat()), &pairs()).unwrap();
        let examples = model.examples(&pairs());
        let known = model.vocabularies.target.len() as u32;
        assert!(examples.iter().any(|e| e.target.iter().any(|&unit| unit >= known)), "some can only be copied");
        println!("{kind:?}");
        check_gradient(&model.params, &model.learner(), &examples);
    }
    let model = Transducer::new(config(&[&RARE[..], &["data.features=true"]].concat()), &with_features(pairs())).unwrap();
    check_gradient(&model.params, &model.learner(), &model.examples(&with_features(pairs())));
}

/// After every path all units together have the probability 1, those that can only be copied among them; a known target has the loss that it is forced to have.
#[test]
fn probabilities_are_one_whole_in_every_way_to_compute_them() {
    for kind in KINDS.into_iter().chain([&["data.features=true"][..]]) {
        let rows = if kind.contains(&"data.features=true") { with_features(pairs()) } else { pairs() };
        let mut model = Transducer::new(config(&[&RARE[..], kind].concat()), &rows).unwrap();
        model.params.flat_mut().iter_mut().for_each(|weight| *weight *= 2.0);
        let (pool, writer) = (crate::tape::Pool::new(), model.writer());
        let examples = model.examples(&rows);
        let sources: Vec<&[u32]> = examples.iter().map(|e| e.source.as_slice()).collect();
        let mut session = writer.begin(&sources, 1, &pool).unwrap();
        let first = session.step(&[0, 1, 2, 3], &[1, 1, 1, 1]).unwrap();
        assert_eq!(first.units, model.vocabularies.target.len() + 2, "{kind:?}: q and w are in no vocabulary");
        for row in first.log_probs.chunks_exact(first.units) {
            let sum: f32 = row.iter().map(|l| l.exp()).sum();
            assert!((sum - 1.0).abs() < 1e-5, "{kind:?}: {sum}");
        }
        let targets: Vec<&[u32]> = examples.iter().map(|e| &e.target[..e.target.len() - 1]).collect();
        let forced = force(&writer, &sources.iter().copied().zip(targets).collect::<Vec<_>>()).unwrap();
        let learner = model.learner();
        for (example, forced) in examples.iter().zip(&forced) {
            let loss = learner.mean_loss(&model.params, &[example]).unwrap() * example.target.len() as f64;
            // A smoothed loss is another.
            if model.config.train.smoothing == 0.0 {
                assert!((loss + forced.log_prob).abs() < 1e-4, "{kind:?}: {loss} {}", forced.log_prob);
            }
            assert_eq!(forced.copied.len(), forced.ids.len());
            let known = model.vocabularies.target.len() as u32;
            assert!(forced.ids.iter().zip(&forced.copied).all(|(&id, &share)| id < known || share > 0.999), "{kind:?}");
        }
        let options = SearchOptions { beam: 3, n_best: 2, ..model.search_options() };
        let found = model.answer(&[("aqyc", rows[0].features.as_deref())], &options, false).unwrap();
        for answer in &found[0].hypotheses {
            let again = model.score(&[("aqyc", rows[0].features.as_deref())], &[&answer.text]).unwrap();
            if answer.hypothesis.end.is_some() && again[0].hypotheses[0].hypothesis.ids == answer.hypothesis.ids {
                assert!((again[0].hypotheses[0].hypothesis.log_prob - answer.hypothesis.log_prob).abs() < 1e-4, "{kind:?}");
            }
        }
    }
}

/// Words and the same words with a mark behind them.
fn marked(count: usize) -> Vec<Pair> {
    let letter = |i: usize| (b'a' + (i % 4) as u8) as char;
    let word = |i: usize| {
        let mut word: Vec<char> = (0..3 + i % 3).map(|j| letter(i * 7 + j * 3 + i / 5)).collect();
        // Every third has a letter of its own.
        if i.is_multiple_of(3) {
            word[i / 3 % 3] = char::from_u32('α' as u32 + (i / 3 % 24) as u32).unwrap();
        }
        word.into_iter().collect::<String>()
    };
    (0..count).map(|i| pair(&word(i), &(word(i) + "!"), i + 1)).collect()
}

fn copier(changes: &[&str]) -> Transducer {
    let rows = marked(60);
    let learning = [
        "model.copy=true",
        "source.min_count=4",
        "target.min_count=4",
        "model.embedding=12",
        "model.hidden=20",
        "model.dropout=0.0",
        "train.rate=0.01",
        "train.batch=100",
        "train.epochs=60",
    ];
    let mut model = Transducer::new(config(&[&learning[..], changes].concat()), &rows).unwrap();
    let examples = model.examples(&rows);
    fit(&model.learner(), &mut model.params, &model.config.train, &examples);
    model
}

/// Units that neither vocabulary knows come out as they went in, are marked in pictures, and the gate is told.
#[test]
fn what_nobody_has_seen_is_copied() {
    for kind in
        [&["attention.alignment=0"][..], &["model.order=luong"], &["model.architecture=recurrent-transformer", "transformer.heads=2"]]
    {
        let model = copier(kind);
        let answers = model.answer(&[("abЖc", None), ("cЯda", None)], &model.search_options(), false).unwrap();
        let texts: Vec<String> = answers.iter().map(|a| a.text()).collect();
        assert!(texts[0].contains('Ж') && texts[1].contains('Я'), "{kind:?}: {texts:?}");
        if kind[0] == "attention.alignment=0" {
            assert_eq!(texts, ["abЖc!", "cЯda!"]);
        }
        let best = &answers[0].hypotheses[0];
        let [new, mark] = ["Ж", "!"].map(|unit| best.tokens.iter().position(|token| token == unit).unwrap());
        assert!(best.copied()[new] && !best.copied()[mark], "{kind:?}: {:?}", best.hypothesis.copied);
        assert!(best.hypothesis.gates[new] < 0.5 && best.hypothesis.gates[mark] > 0.5, "{kind:?}: {:?}", best.hypothesis.gates);
        let json = answers[0].to_json();
        assert_eq!(json["hypotheses"][0]["gates"].as_array().unwrap().len(), best.tokens.len());
        assert!(json["hypotheses"][0]["copied"][new].as_f64().unwrap() > 0.99);
        let Picture::Matrix(matrix) = &answers[0].pictures(&Default::default())[0] else { panic!("no matrix") };
        assert_eq!((matrix.output[new].as_str(), matrix.output[mark].as_str()), ("Ж =", "!"));
        assert!(matrix.copied, "and what the mark means is said");
        // A target that is given may have such a unit; one that stands nowhere is as improbable as an unknown one.
        let scored = model.score(&[("abЖc", None), ("abЖc", None)], &["abЖc!", "abЯc!"]).unwrap();
        let [right, wrong] = [&scored[0], &scored[1]].map(|a| a.hypotheses[0].hypothesis.log_prob);
        assert!(right.is_finite() && wrong < right - 2.0, "{kind:?}: {right} {wrong}");
        assert!(right > -4.0 || texts[0] != "abЖc!", "{kind:?}: {right}");
    }
}

/// One that copies and one that cannot write one answer.
#[test]
fn an_ensemble_of_both_kinds_copies_half() {
    let rows = marked(60);
    let copies = copier(&[]);
    let plain = Transducer::new(config(&["source.min_count=4", "target.min_count=4"]), &rows).unwrap();
    for members in [vec![copies.clone(), plain.clone()], vec![plain, copies]] {
        let both = Transducer::joined(members).unwrap();
        let scored = both.score(&[("abЖc", None)], &["abЖc!"]).unwrap();
        let third = scored[0].hypotheses[0].hypothesis.probabilities[2];
        assert!((third - 0.5).abs() < 0.05, "{third}");
        assert!(scored[0].hypotheses[0].hypothesis.copied[2] > 0.99);
    }
}

/// Going on with new rows: the gate is kept, and new units are known afterwards.
#[test]
fn a_copier_grows() {
    use crate::model::Model;
    use crate::model::grow::carry;
    let old = Transducer::new(config(&["model.copy=true"]), &pairs()).unwrap();
    let rows = vec![pair("ka", "ak", 1)];
    let mut new = old.grown(old.config.clone(), &rows).unwrap();
    let names = new.names();
    carry((&old.params, &old.names()), (&mut new.params, &names)).unwrap();
    let gate = |model: &Transducer| {
        model.params.entries().iter().find(|e| e.name == "copy.weight").map(|e| model.params.flat()[e.range.clone()].to_vec())
    };
    assert_eq!(gate(&old).unwrap(), gate(&new).unwrap());
    let example = &new.examples(&rows)[0];
    assert!(example.beyond.is_empty() && example.target.iter().all(|&id| (id as usize) < new.vocabularies.target.len()));
    assert_eq!(old.examples(&rows)[0].beyond, ["k"]);
}

#[test]
fn copying_needs_something_to_copy_by() {
    for (change, key) in [("attention.score=none", "model.copy"), ("model.scheduled_sampling=0.2", "model.copy")] {
        let refused =
            resolve(&Config::default(), "", &["model.copy=true".to_string(), change.into()]).unwrap().check().unwrap_err().to_string();
        assert!(refused.contains(key), "{refused}");
    }
}
