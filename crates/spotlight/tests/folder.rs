//! Every kind of model in a folder: only listed names, a swapped file is named, and the measures are the ones announced.

use std::fs;
use std::path::Path;

use spotlight::Result;
use spotlight::folder::{self, FolderError, Manifest, WEIGHTS};
use spotlight::model::{bags, classify, matching, seq2seq};
use spotlight::params::Params;
use spotlight::text::{Bag, Labelled, Pair, Question, UnitKind};
use spotlight::train::Learner;
use spotlight::weights::to_bytes;

/// Saves a model, then swaps each of its files in turn.
fn every_swapped_file_is_named<M>(save: impl FnOnce(&Path) -> Result<()>, params: &Params<f32>, load: impl Fn(&Path) -> Result<M>) {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("model");
    let folder = folder::claim(&path, false).unwrap().begin(save).unwrap();
    let before = load(&path).err().unwrap().to_string();
    assert!(before.contains("no weights yet"), "{before}");
    folder.replace(WEIGHTS, &to_bytes(params, &path).unwrap()).unwrap();
    drop(folder);
    load(&path).unwrap();
    let files = Manifest::read(&path).unwrap().unwrap().files;
    assert!(files.len() >= 3, "{files:?}");
    for name in files.iter().map(|f| &f.name) {
        let file = path.join(name);
        let whole = fs::read(&file).unwrap();
        let mut swapped = whole.clone();
        swapped[whole.len() / 2] ^= 1;
        fs::write(&file, swapped).unwrap();
        let error = load(&path).err().unwrap();
        assert!(matches!(&error, spotlight::Error::Folder(FolderError::Damaged { file: named, .. }) if *named == file), "{name}: {error}");
        fs::write(&file, whole).unwrap();
    }
    // A folder from before the list was written is read as it is.
    fs::remove_file(path.join(folder::MANIFEST)).unwrap();
    load(&path).unwrap();
}

fn as_announced<L: Learner>(learner: &L, params: &Params<f32>, examples: &[L::Example]) {
    let found: Vec<&str> = learner.measure(params, examples).unwrap().iter().map(|m| m.name).collect();
    assert_eq!(learner.measures(examples), Some(found));
}

#[test]
fn transducers() {
    let pair = |source: &str, target: &str| Pair { source: source.into(), target: target.into(), features: Some("N;SG".into()), line: 1 };
    let pairs = [pair("ab c", "c ba"), pair("cd ab", "ab dc"), pair("abc", "cba")];
    for units in [UnitKind::Chars, UnitKind::Words, UnitKind::Bpe] {
        let mut config = seq2seq::Config::default();
        (config.model.hidden, config.model.embedding, config.data.features) = (8, 4, true);
        (config.source.units, config.target.units) = (units, units);
        (config.source.vocab_size, config.target.vocab_size) = (20, 20);
        let model = seq2seq::Transducer::new(config, &pairs).unwrap();
        as_announced(&model.learner(), &model.params, &model.examples(&pairs));
        every_swapped_file_is_named(|path| model.save_frame(path), &model.params, seq2seq::Transducer::load);
    }
}

#[test]
fn classifiers() {
    let row = |text: &str, label: &str| Labelled { text: text.into(), label: label.into(), line: 1 };
    for labels in [["good", "bad", "good"], ["good", "bad", "so so"]] {
        let rows = [row("a fine film", labels[0]), row("dull", labels[1]), row("fine", labels[2])];
        let model = classify::Classifier::new(classify::Config::default(), &rows).unwrap();
        let examples = model.examples(&rows).unwrap();
        as_announced(&model.learner(), &model.params, &examples);
        // Only one of two labels: no area under a curve.
        as_announced(&model.learner(), &model.params, &examples[..1]);
        every_swapped_file_is_named(|path| model.save_frame(path), &model.params, classify::Classifier::load);
    }
}

#[test]
fn matchers() {
    let row = |answer: &str, relevant| Question { id: None, question: "how deep is it ?".into(), answer: answer.into(), relevant, line: 1 };
    let rows = [row("4 km deep .", true), row("blue .", false)];
    for loss in [matching::config::Loss::CrossEntropy, matching::config::Loss::Hinge] {
        let mut config = matching::Config::default();
        config.model.loss = loss;
        let model = matching::Matcher::new(config, &rows).unwrap();
        as_announced(&model.learner(), &model.params, &model.examples(&rows));
        every_swapped_file_is_named(|path| model.save_frame(path), &model.params, matching::Matcher::load);
    }
}

#[test]
fn models_for_bags() {
    let bag = |id: &str, label: &str, x: f32| Bag { id: id.into(), label: label.into(), rows: vec![vec![x, 1.0], vec![2.0, x]], line: 1 };
    let bags = [bag("1", "yes", 3.0), bag("2", "no", 5.0)];
    let model = bags::BagModel::new(bags::Config::default(), &bags).unwrap();
    let examples = model.examples(&bags).unwrap();
    as_announced(&model.learner(), &model.params, &examples);
    as_announced(&model.learner(), &model.params, &examples[..1]);
    every_swapped_file_is_named(|path| model.save_frame(path), &model.params, bags::BagModel::load);
}
