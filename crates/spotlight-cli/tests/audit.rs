//! An audit from file to verdict, page and picture.

use crate::common::{Place, err, right, run};
use serde_json::Value;

fn wrong(place: &Place, arguments: &[&str], part: &str) {
    let output = run(place, arguments);
    assert_ne!(output.status.code(), Some(0));
    assert!(err(&output).contains(part), "{part:?} is not in {:?}", err(&output));
}

fn train(place: &Place, name: &str, settings: &[&str]) {
    let mut arguments = vec!["train", "--task", "classify", "--train", "texts.tsv", "--out", name];
    let small = ["model.embedding=8", "model.hidden=6", "train.epochs=4", "train.rate=0.02", "train.warmup=0"];
    small.iter().chain(settings).for_each(|setting| arguments.extend(["--set", setting]));
    right(place, &arguments);
}

#[test]
fn a_verdict_stands_under_every_picture() {
    let place = Place::new();
    let line = |i: usize| format!("word{} is {}\t{}\n", i % 7, ["great", "dull"][i % 2], ["good", "bad"][i % 2]);
    place.write("texts.tsv", (0..120).map(line).collect::<String>());
    train(&place, "model", &[]);
    let before = right(&place, &["look", "model", "word1 is great", "--format", "ascii"]);
    assert!(before.contains("not why the model decided"), "{before}");

    let table = right(&place, &["audit", "model", "texts.tsv", "--quick", "-o", "audit.html"]);
    assert!(table.starts_with("verdict: ") && table.contains("The rule"), "{table}");
    assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    let page = std::fs::read_to_string(place.path("audit.html")).unwrap();
    assert!(page.contains("leave-one-out") && !page.contains("<script") && !page.contains("http://") && !page.contains("https://"));

    // The folder is whole, and the verdict stands where the fixed sentence stood.
    assert!(right(&place, &["info", "model"]).contains("labels"));
    let after = right(&place, &["look", "model", "word1 is great", "--format", "ascii"]);
    assert!(after.contains("audit: ") && !after.contains("not why the model decided"), "{after}");
    let drawn = right(&place, &["look", "model", "word1 is great", "--format", "json"]);
    assert!(serde_json::from_str::<Value>(&drawn).unwrap()["note"].as_str().unwrap().starts_with("audit: "));

    // The same seed, the same bits; on any number of threads.
    let json = |threads: &str| right(&place, &["audit", "model", "texts.tsv", "--quick", "--json", "--threads", threads]);
    assert_eq!(json("1"), json("2"));
    let report: Value = serde_json::from_str(&json("2")).unwrap();
    assert_eq!((report["task"].as_str(), report["answered"].as_u64()), (Some("classify"), Some(120)));
    assert!(report["verdict"]["grade"].is_string() && report["order"]["orders"].as_array().unwrap().len() >= 4);

    // Trained again, it has no verdict any more.
    train(&place, "again", &["seed=2"]);
    std::fs::copy(place.path("model/audit.json"), place.path("again/audit.json")).unwrap();
    assert!(right(&place, &["look", "again", "word1 is great", "--format", "ascii"]).contains("not why the model decided"));

    train(&place, "mean", &["model.pooling=mean"]);
    wrong(&place, &["audit", "mean", "texts.tsv", "--quick"], "no attention to audit");
    let drawn = right(&place, &["look", "mean", "word1 is great", "--format", "ascii"]).replace('\n', " ");
    assert!(drawn.contains("nearly uniform (at most 1.00 times)"), "{drawn}");
    place.write("one.tsv", "word1 is great\tgood\nword2 is great\tgood\n");
    wrong(&place, &["audit", "model", "one.tsv", "--quick"], "only the label \"good\"");
    place.write("bare.tsv", "word1 is great\nword2 is dull\n");
    assert_ne!(run(&place, &["audit", "model", "bare.tsv", "--quick"]).status.code(), Some(0));
}
