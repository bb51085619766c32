use std::sync::atomic::AtomicBool;

use super::*;
use crate::folder::claim;
use crate::model::folds::{Plan, cross_validate, folds};
use crate::model::head::ClassWeights;
use crate::model::pooling::PoolingKind;
use crate::model::testing::{check_gradient, fit, pool_by};

/// Bags of three rows; a positive one has a row whose first number is large. The second number says nothing, the third never changes.
fn bags(count: usize) -> Vec<Bag> {
    let noise = |i: usize| ((i * 37 + 11) % 23) as f32 / 23.0;
    let row = |i: usize, r: usize| {
        let signal = if i.is_multiple_of(2) && r == i % 3 { 40.0 } else { 10.0 };
        vec![signal + noise(3 * i + r), 1000.0 * noise(5 * i + 7 * r), 7.0]
    };
    let bag = |i: usize| Bag {
        id: format!("b{i}"),
        label: if i.is_multiple_of(2) { "yes" } else { "no" }.into(),
        rows: (0..3).map(|r| row(i, r)).collect(),
        line: 3 * i + 1,
    };
    (0..count).map(bag).collect()
}

fn small() -> Config {
    let mut config = Config::default();
    (config.model.hidden, config.model.dropout) = (4, 0.0);
    config.train.epochs = 60;
    config.train.batch = 12;
    config.train.rate = 0.02;
    config.train.warmup = 0;
    config
}

#[test]
fn gradients_are_right_for_every_pooling() {
    for (pooling, layers, heads, weights) in
        [("gated", 1, 1, ClassWeights::None), ("additive", 2, 2, ClassWeights::Balanced), ("mean", 0, 1, ClassWeights::None)]
    {
        let mut config = small();
        (config.model.layers, config.model.class_weights) = (layers, weights);
        pool_by(&mut config.model.pooling, &mut config.attention, pooling);
        config.attention.heads = heads;
        let rows = bags(5);
        let model = BagModel::new(config, &rows).unwrap();
        check_gradient(&model.params, &model.learner(), &model.examples(&rows).unwrap());
    }
}

#[test]
fn it_finds_the_row_that_decides() {
    let mut model = BagModel::new(small(), &bags(40)).unwrap();
    let examples = model.examples(&bags(40)).unwrap();
    let measures = fit(&model.learner(), &mut model.params, &model.config.train, &examples);
    assert_eq!(measures.iter().find(|m| m.name == "accuracy").unwrap().value, 1.0);
    for (i, answer) in model.answer(&bags(40)).unwrap().iter().enumerate().step_by(2) {
        assert_eq!(answer.label, "yes");
        let heaviest = answer.weights().iter().copied().fold(0.0, f32::max);
        assert_eq!(answer.weights()[i % 3], heaviest, "bag {i}");
    }
}

#[test]
fn a_saved_model_answers_the_same_and_the_label_of_a_bag_does_not_matter() {
    let folder = tempfile::tempdir().unwrap();
    let model = BagModel::new(small(), &bags(6)).unwrap();
    model.save_frame(folder.path()).unwrap();
    weights::save(&model.params, &folder.path().join("model.safetensors")).unwrap();
    let again = BagModel::load(folder.path()).unwrap();
    assert_eq!(again.standard, model.standard);
    let mut unknown = bags(6);
    unknown.iter_mut().for_each(|b| b.label = "?".into());
    unknown.push(Bag { id: "empty".into(), label: "?".into(), rows: vec![], line: 99 });
    let answers = again.answer(&unknown).unwrap();
    let mut known = model.answer(&bags(6)).unwrap();
    assert!(known.iter_mut().all(|answer| answer.truth.take().is_some()));
    assert_eq!(answers[..6], known);
    assert!((answers[6].probabilities[0].1 - 0.5).abs() < 1e-6 && answers[6].weights().is_empty());
    assert_eq!(answers[0].picture().rows, ["row 1", "row 2", "row 3"]);
}

#[test]
fn the_standard_is_that_of_the_training_part() {
    let rows: [&[f32]; 3] = [&[1.0, 5.0], &[2.0, 5.0], &[3.0, 5.0]];
    let standard = Standard::learn(rows.into_iter());
    assert_eq!(standard.mean, [2.0, 5.0]);
    assert_eq!(standard.deviation, [(2.0f64 / 3.0).sqrt(), 1.0]);
    assert_eq!(standard.apply(&[2.0, 6.0]).collect::<Vec<_>>(), [0.0, 1.0]);
}

#[test]
fn folds_are_reproducible_and_judge_every_bag_once() {
    let folder = tempfile::tempdir().unwrap();
    let stop = AtomicBool::new(false);
    let run = |name: &str, folds: usize, repeat: usize| {
        let claim = claim(&folder.path().join(name), false).unwrap();
        let plan = Plan { folds, repeat, claim: &claim, stop: &stop, done: &|_, _| {} };
        cross_validate::<BagModel>(&small(), &bags(20), &plan)
    };
    let (a, b) = (run("a", 4, 1).unwrap(), run("b", 4, 2).unwrap());
    // The second repetition has other folds.
    assert_eq!(a.folds, b.folds[..4]);
    assert_ne!(a.folds, b.folds[4..]);
    let spread = a.spread("accuracy").unwrap();
    assert!(spread.runs == 4 && spread.mean > 0.9, "{spread}");
    assert_eq!((a.examples, b.spread("loss").unwrap().runs, b.spread_of_repetitions("loss").unwrap().runs), (20, 8, 2));
    assert_eq!((a.spread("nothing"), a.names()[0]), (None, "loss"));
    // Dealt out by label, so that half of each part has the most frequent one.
    assert_eq!(a.baseline("most frequent label", "accuracy").unwrap().mean, 0.6);
    let above = a.above("most frequent label", "accuracy").unwrap();
    assert!((above.mean - (spread.mean - 0.6)).abs() < 1e-9);
    assert!(a.baseline_names().contains(&("logistic regression on mean and max".into(), "macro_f1")));
    BagModel::load(&folder.path().join("a/fold-4")).unwrap();
    BagModel::load(&folder.path().join("b/fold-8")).unwrap();

    let labels: Vec<String> = bags(20).into_iter().map(|b| b.label).collect();
    let mut judged: Vec<usize> = folds(&labels, 3, 7).concat();
    judged.sort_unstable();
    assert_eq!(judged, (0..20).collect::<Vec<_>>());
    for (wrong, repeat) in [(0, 1), (1, 1), (21, 1), (2, 0)] {
        assert!(run("c", wrong, repeat).is_err());
        assert!(!folder.path().join("c").exists());
    }
}

#[test]
fn what_cannot_be_used_is_told() {
    let error = |change: fn(&mut Config)| {
        let mut config = small();
        change(&mut config);
        BagModel::new(config, &bags(4)).unwrap_err().to_string()
    };
    // Rows of a bag have no order, so none is the last.
    assert!(error(|c| c.model.pooling = PoolingKind::Last).starts_with("`model.pooling`: must be attention or mean"));
    assert!(error(|c| c.data.bag_column = 0).starts_with("`data.bag_column`"));
    let model = BagModel::new(small(), &bags(4)).unwrap();
    let narrow = Bag { id: "x".into(), label: "yes".into(), rows: vec![vec![1.0]], line: 3 };
    assert_eq!(
        model.answer(&[narrow]).unwrap_err().to_string(),
        "the number of features in bag \"x\" (line 3) is 1, but must be 3, as in the training part"
    );
}

/// Files of every size learn what is in them with the settings that are chosen for them.
#[test]
fn few_bags_are_enough_for_a_planted_row() {
    let test: Vec<Bag> = bags(160).split_off(120);
    for count in [30usize, 100, 300] {
        let train: Vec<Bag> = (0..count.div_ceil(120)).flat_map(|_| bags(120)).take(count).collect();
        let chosen = <BagModel as crate::model::Model>::choose(&train, &[]).unwrap();
        assert!(chosen.notes[0].contains(&format!("chosen for {count} bags")), "{:?}", chosen.notes);
        let mut config = chosen.config;
        // The same steps, with fewer features: the test is slow enough.
        config.model.hidden = 16;
        let mut model = BagModel::new(config, &train).unwrap();
        let examples = model.examples(&train).unwrap();
        fit(&model.learner(), &mut model.params, &model.config.train, &examples);
        let found = model.confusion(&model.examples(&test).unwrap()).unwrap().accuracy();
        assert!(found > 0.95, "{count}: {found}");
    }
}

#[test]
fn what_is_chosen_follows_the_number_of_bags() {
    let of = |bags: usize| {
        let t = Config::for_bags(bags).train;
        (t.batch, t.epochs, t.every == t.epochs)
    };
    assert_eq!([30, 100, 300, 1000, 10_000].map(of), [(7, 120, true), (25, 150, true), (32, 60, true), (32, 20, false), (32, 20, false)]);
}
