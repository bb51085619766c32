//! The audit beside what is known of recurrent classifiers, on real texts: relations that were published for SST (Jain and Wallace, 2019; Wiegreffe and Pinter, 2019; Mohankumar and others,
//! 2020), with a network small enough for a test. `docs/audit.md` has the figures of whole runs.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use spotlight::audit::report::{Agreement, PooledReport};
use spotlight::audit::{Course, pooled};
use spotlight::config::resolve;
use spotlight::model::classify::{Classifier, Config};
use spotlight::text::Labelled;
use spotlight::train::Fit;

/// The first texts of a part of a set; none if the data are not there.
fn texts(set: &str, part: &str, count: usize) -> Option<Vec<Labelled>> {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data").join(set).join(part);
    let text = std::fs::read_to_string(&path).ok()?;
    let row = |(line, row): (usize, &str)| {
        let (text, label) = row.split_once('\t')?;
        Some(Labelled { text: text.into(), label: label.into(), line: line + 1 })
    };
    Some(text.lines().enumerate().filter_map(row).take(count).collect())
}

fn trained(defaults: &Config, settings: &[&str], train: &[Labelled], dev: &[Labelled]) -> Classifier {
    let small = [
        "model.embedding=24",
        "model.hidden=12",
        "model.dropout=0.0",
        "text.min_count=2",
        "attention.score=additive",
        "train.epochs=8",
        "train.batch=400",
        "train.rate=0.004",
        "train.schedule=constant",
        "train.warmup=10",
        "train.patience=0",
    ];
    let changes: Vec<String> = small.iter().chain(settings).map(|s| s.to_string()).collect();
    let mut model = Classifier::new(resolve(defaults, "", &changes).unwrap(), train).unwrap();
    let (train, dev) = (model.examples(train).unwrap(), model.examples(dev).unwrap());
    let (learner, settings) = (model.learner(), model.config.train.clone());
    Fit::new().settings(&settings).run(&learner, &mut model.params, &train, &dev).unwrap();
    model
}

fn tau(of: &[Agreement], at: usize) -> f64 {
    of[at].tau.unwrap().value
}

fn write_down(rows: &[Labelled], folder: &Path) -> PathBuf {
    let mut text = String::new();
    rows.iter().for_each(|row| writeln!(text, "{}\t{}", row.text, row.label).unwrap());
    let file = folder.join("train.tsv");
    std::fs::write(&file, text).unwrap();
    file
}

#[test]
fn what_is_known_of_recurrent_classifiers() {
    let (Some(train), Some(dev)) = (texts("sentiment-sst2", "train.tsv", 800), texts("sentiment-sst2", "dev.tsv", 240)) else {
        eprintln!("skipped: ../shared/data/sentiment-sst2 is not there");
        return;
    };
    let place = tempfile::tempdir().unwrap();
    let file = write_down(&train, place.path());
    let audited = |settings: &[&str], seeds: usize| -> PooledReport {
        let model = trained(&Config::default(), settings, &train, &dev);
        let course = Course { seeds, examples: 120, train: Some(&file), ..Course::default() };
        pooled(&model, &dev, &course, &|_, _, _| {}).unwrap().pooled.unwrap()
    };
    let plain = audited(&[], 1);
    let apart = audited(&["model.diversity=0.5"], 0);
    for (name, report) in [("plain", &plain), ("with the diversity term", &apart)] {
        let taus = |of: &[Agreement]| of.iter().map(|a| format!("{} and {}: {}", a.one, a.other, a.tau.unwrap())).collect::<Vec<_>>();
        eprintln!("{name}: {:?}", report.needed);
        eprintln!("  tau {:?}; average {:?}", taus(&report.views.own), taus(&report.views.average));
        eprintln!("  only {:?}, {:?}; conicity {}", report.only.divergence, report.only.trained, report.conicity.unwrap());
        eprintln!("  stable {:?}; largest weight {:.2} times; order {:?}", report.stable, report.peak, report.order.orders);
    }
    let views = &plain.views;
    // Gradient and leave-one-out agree with each other better than attention with either; attention over words that were read on their own agrees better with gradients.
    assert!(tau(&views.own, 2) > tau(&views.own, 1) + 0.1, "{views:?}");
    assert!(tau(&views.own, 2) > tau(&views.own, 0) + 0.1, "{views:?}");
    assert!(tau(&views.average, 0) > tau(&views.own, 0) + 0.1, "{views:?}");
    // Uniform weights do about as well; other weights far away give the same answer.
    assert!(plain.needed.lost.value < 0.05, "{:?}", plain.needed);
    let (other, random) = (plain.only.divergence.unwrap().value, plain.stable.as_ref().unwrap().random);
    assert!(plain.only.found > 0.9 && other > 0.3 && other > random, "{other}, random {random}");
    // States that are alike are held apart by the diversity term.
    let (alike, held) = (plain.conicity.unwrap().value, apart.conicity.unwrap().value);
    assert!(alike > 0.5 && held < alike - 0.2, "{alike} and {held}");
}

/// What a model gives and costs whose settings make attention carry weight, on the first texts of every labelled set.
#[test]
fn a_faithful_model_needs_its_weights() {
    let sets = ["sentiment-sst2", "emotion-tweets", "opinion-products", "opinion-phrases"];
    let (mut needed, mut carried) = ([0.0; 2], [0.0; 2]);
    for set in sets {
        let (Some(train), Some(dev)) = (texts(set, "train.tsv", 600), texts(set, "dev.tsv", 200)) else {
            eprintln!("skipped: ../shared/data/{set} is not there");
            return;
        };
        for (at, defaults) in [Config::default(), Config::faithful()].iter().enumerate() {
            let model = trained(defaults, &[], &train, &dev);
            let course = Course { examples: 100, ..Course::quick() };
            let report = pooled(&model, &dev, &course, &|_, _, _| {}).unwrap().pooled.unwrap();
            let gain = report.order.gain.unwrap();
            let name = ["plain", "faithful"][at];
            eprintln!("{set}, {name}: {}, lost {}; order {gain}, {:?}", report.needed.own, report.needed.lost, report.order.share);
            needed[at] += report.needed.lost.value / sets.len() as f64;
            carried[at] += gain.value / sets.len() as f64;
        }
    }
    assert!(needed[1] > needed[0] + 0.02, "lost by uniform weights: {needed:?}");
    assert!(carried[1] > carried[0] + 0.02, "gained by the order of attention: {carried:?}");
}
