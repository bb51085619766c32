use std::collections::BTreeSet;

use toml::Table;

use super::{chosen, comments, leaves, table};
use crate::config::find;
use crate::model::bags::BagModel;
use crate::model::classify::Classifier;
use crate::model::matching::Matcher;
use crate::model::seq2seq::Transducer;
use crate::model::{Model, Settings, Task};
use crate::text::{Bag, Labelled, Pair, Question};

/// A key without a comment is a field whose struct is not found; so what to do is add its file.
fn described<M: Model>() {
    let keys: Vec<String> = leaves(&table(&M::Config::default())).into_iter().map(|(key, _)| key).collect();
    let found: Vec<(String, String)> = comments::of(M::TASK);
    let names: BTreeSet<&String> = found.iter().map(|(key, _)| key).collect();
    let task = M::TASK.name();
    for key in &keys {
        let help = "give its field a comment, and add the file of its struct to SHARED in model/reference/comments.rs";
        assert!(names.contains(key), "the setting `{key}` of {task} is not described: {help}");
    }
    for (key, meaning) in &found {
        assert!(keys.contains(key), "{task} describes `{key}`, which no recipe has");
        assert!(!meaning.is_empty(), "`{key}` of {task} has an empty comment");
        assert!(!meaning.contains("[`"), "`{key}` of {task}: a link means nothing on a terminal");
    }
    assert_eq!(found.len(), keys.len(), "{task}: a key stands there twice");
    for setting in super::settings::<M>() {
        let defaults = table(&M::Config::default());
        assert_eq!(find(&defaults, &setting.key).unwrap().to_string(), setting.default);
        let meaning = found.iter().find(|(key, _)| *key == setting.key).map(|(_, meaning)| meaning);
        assert_eq!(meaning, Some(&setting.meaning));
    }
}

#[test]
fn every_key_of_a_recipe_is_described_and_no_other() {
    described::<Transducer>();
    described::<Classifier>();
    described::<Matcher>();
    described::<BagModel>();
    for &task in Task::ALL {
        assert!(task.settings().len() > 20, "{}", task.name());
    }
}

/// What is chosen from the data for some sets of examples is what the table says, no more and no less.
fn choices<M: Model>(sets: &[Vec<M::Row>], changes: &[&str]) -> BTreeSet<String> {
    let defaults = table(&M::Config::default());
    let changes: Vec<String> = changes.iter().map(|c| c.to_string()).collect();
    let mut keys = BTreeSet::new();
    for rows in sets {
        let chosen = M::choose(rows, &changes).unwrap().config;
        assert!(chosen.seed() == 1 && chosen.files() == ("", ""));
        keys.extend(differing(&defaults, &table(&chosen)));
    }
    keys
}

fn differing(a: &Table, b: &Table) -> Vec<String> {
    leaves(b).into_iter().filter(|(key, value)| find(a, key) != Some(*value)).map(|(key, _)| key).collect()
}

fn listed(task: Task, keys: BTreeSet<String>, elsewhere: &[&str]) {
    // Whether all are learnt from is chosen for every task alike, when it is known which are set aside.
    let here = |key: &String| key != "train.all" && !elsewhere.contains(&key.as_str());
    let table: BTreeSet<String> = chosen::all(task).iter().map(|c| c.key.to_string()).filter(here).collect();
    let help = "list in model/reference/chosen.rs what `choose` decides, and nothing else (and give the test examples for which it does)";
    assert_eq!(keys, table, "{}: left, what is chosen; right, what is listed: {help}", task.name());
}

#[test]
fn what_is_chosen_is_listed() {
    let pair = |source: String, target: String, features: bool| Pair { source, target, features: features.then(|| "N".into()), line: 1 };
    let sentence = |i: usize| format!("word{i} and other{i} with some{} thing{}", i * 7, i * 3);
    let sets = [
        (0..50).map(|i| pair(format!("w{i}"), format!("x{i}"), true)).collect(),
        (0..50).map(|i| pair(format!("walking{i}"), format!("walked{i}"), true)).collect(),
        (0..11_000).map(|i| pair(format!("w{i}"), format!("x{i}"), false)).collect(),
        (0..2_500).map(|i| pair(sentence(i % 2000), sentence(i % 2000), false)).collect(),
        (0..5_000).map(|i| pair(sentence(i), sentence(i), false)).collect(),
        (0..120).map(|i| Pair { line: i, ..pair("dd n"[i % 4..][..1].into(), "xy n"[i % 4..][..1].into(), false) }).collect(),
    ];
    listed(Task::Seq2seq, choices::<Transducer>(&sets, &[]), &["search.max_ratio"]);
    // This one is chosen when the units are known.
    let rows = &sets[0];
    let config = Transducer::new(Transducer::choose(rows, &[]).unwrap().config, rows).unwrap().config;
    assert_eq!(differing(&table(&Transducer::choose(rows, &[]).unwrap().config), &table(&config)), ["search.max_ratio"]);

    let text = |i: usize| Labelled { text: sentence(i), label: format!("l{}", i % 2), line: i };
    let sets = [(0..20).map(text).collect::<Vec<_>>(), (0..1000).map(text).collect()];
    let pooled = choices::<Classifier>(&sets, &["model.form=pooled"]);
    assert_eq!(Vec::from_iter(&pooled), ["text.units", "text.vocab_size", "train.batch", "train.epochs", "train.patience"]);
    listed(Task::Classify, choices::<Classifier>(&sets, &[]).into_iter().chain(pooled).collect(), &[]);

    let row = |i: usize| Question { id: None, question: sentence(i), answer: sentence(i + 1), relevant: i.is_multiple_of(2), line: i };
    let sets = [(0..20).map(row).collect::<Vec<_>>(), (0..1000).map(row).collect()];
    let pooled = choices::<Matcher>(&sets, &["model.form=pooled"]);
    listed(Task::Match, choices::<Matcher>(&sets, &[]).into_iter().chain(pooled).collect(), &[]);

    let bag = |i: usize| Bag { id: i.to_string(), label: format!("l{}", i % 2), rows: vec![vec![1.0]], line: i };
    let sets = [(0..20).map(bag).collect::<Vec<_>>(), (0..1000).map(bag).collect()];
    listed(Task::Bags, choices::<BagModel>(&sets, &[]), &[]);
}
