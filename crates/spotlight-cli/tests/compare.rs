//! Models side by side, for every task; and what shells and `man` are told.

use serde_json::Value;

use crate::common::{Place, err, right, run};

fn compared(place: &Place, file: &str) -> Value {
    serde_json::from_str(&right(place, &["compare", "good", "good", "bad", "--on", file, "--json", "--draws", "500"])).unwrap()
}

/// The first measure of two models, of which one has learnt and one has not.
fn check(place: &Place, task: &str, file: &str, measure: &str, settings: &[&str]) {
    for (name, epochs) in [("good", "train.epochs=40"), ("bad", "train.epochs=1")] {
        let mut arguments =
            vec!["train", "--task", task, "--train", file, "--dev", file, "--out", name, "--quiet", "--force", "--set", epochs];
        // One epoch at a rate of almost nothing: what it was born with.
        arguments.extend(["--set", if name == "bad" { "train.rate=1e-9" } else { "train.rate=0.02" }, "--set", "train.warmup=0"]);
        settings.iter().for_each(|s| arguments.extend(["--set", s]));
        right(place, &arguments);
    }
    let found = compared(place, file);
    let first = &found["measures"][0];
    assert_eq!(first["measure"], measure, "{found}");
    let models = first["models"].as_array().unwrap();
    let number = |model: usize, key: &str| models[model][key].as_f64().unwrap();
    assert_eq!((number(1, "difference"), number(1, "p"), &models[1]["may_be_chance"]), (0.0, 1.0, &true.into()), "{found}");
    assert!(number(2, "difference") < -0.1 && number(2, "p") < 0.05 && models[2]["may_be_chance"] == false, "{task}: {found}");
    assert!((number(2, "value") - number(0, "value") - number(2, "difference")).abs() < 1e-9);
    assert!(number(2, "low") <= number(2, "difference") && number(2, "difference") <= number(2, "high"));
    assert!(models[0].get("difference").is_none());
    // The figures are those of `eval`.
    let eval: Value = serde_json::from_str(&right(place, &["eval", "good", file, "--json"])).unwrap();
    for m in found["measures"].as_array().unwrap() {
        let name = m["measure"].as_str().unwrap().replace(' ', "_");
        let (a, b) = (m["models"][0]["value"].as_f64().unwrap(), eval[&name].as_f64().unwrap_or(f64::NAN));
        assert!((a - b).abs() < 1e-6, "{task} {name}: {a} is not {b}: {eval}");
    }
    assert_eq!(compared(place, file), found, "the seed decides");
    let text = right(place, &["compare", "good", "bad", "--on", file, "--draws", "500"]);
    assert!(text.contains("hardly chance") && text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn every_task_is_compared_by_its_own_measure() {
    let place = Place::new();
    place.pairs("pairs.tsv", 60);
    check(&place, "seq2seq", "pairs.tsv", "accuracy", &["model.hidden=32", "model.remember=false", "train.batch=60", "train.every=1"]);
    let other = run(&place, &["predict", "good", "pairs.tsv"]);
    assert!(other.status.success());
    place.write(
        "texts.tsv",
        (0..60).map(|i| format!("w{} is {}\t{}\n", i % 7, ["great", "dull"][i % 2], ["good", "bad"][i % 2])).collect::<String>(),
    );
    std::fs::rename(place.path("good"), place.path("seq2seq")).unwrap();
    check(&place, "classify", "texts.tsv", "accuracy", &["model.hidden=8", "model.embedding=8", "train.batch=60"]);
    let mixed = run(&place, &["compare", "good", "seq2seq", "--on", "texts.tsv"]);
    assert!(mixed.status.code() == Some(2) && err(&mixed).contains("a model for seq2seq"), "{}", err(&mixed));
    // Whether both numbers have the same sign: nothing that weights drawn at random can tell.
    let sign = |bit: usize| if bit == 0 { "-1" } else { "1" };
    let row = |i: usize| format!("{},b{},{},{}\n", ((i / 3) ^ (i / 6)) % 2, i / 3, sign(i / 3 % 2), sign(i / 6 % 2));
    place.write("bags.csv", (0..120).map(row).collect::<String>());
    check(&place, "bags", "bags.csv", "accuracy", &["model.hidden=32", "model.dropout=0", "train.batch=20"]);
    place.write(
        "rows.tsv",
        (0..120)
            .map(|i| format!("what is q{}\t{} of q{}\t{}\n", i / 4, ["red", "blue", "this", "green"][i % 4], i % 9, u8::from(i % 4 == 2)))
            .collect::<String>(),
    );
    check(&place, "match", "rows.tsv", "MAP", &["model.hidden=8", "model.embedding=8", "train.batch=100"]);
    for (arguments, part) in
        [(&["compare", "good", "--on", "rows.tsv"][..], "2 values"), (&["compare", "good", "bad", "--on", "-"], "not standard input")]
    {
        let output = run(&place, arguments);
        assert!(output.status.code() == Some(2) && err(&output).contains(part), "{}", err(&output));
    }
}

#[test]
fn shells_and_man_know_every_command() {
    let place = Place::new();
    for shell in ["bash", "zsh", "fish", "elvish", "powershell"] {
        let script = right(&place, &["completions", shell]);
        for word in ["train", "compare", "settings", "resume"] {
            assert!(script.contains(word), "{shell}: {word}");
        }
    }
    assert!(right(&place, &["man"]).starts_with(".ie") || right(&place, &["man"]).contains(".TH spotlight 1"));
    assert_eq!(right(&place, &["man", "pages"]), "");
    for page in ["spotlight.1", "spotlight-train.1", "spotlight-compare.1"] {
        assert!(std::fs::read_to_string(place.path("pages").join(page)).unwrap().contains(".TH "), "{page}");
    }
}
