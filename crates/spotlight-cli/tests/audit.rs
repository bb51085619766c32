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
    let drawn = right(&place, &["look", "mean", "word1 is great", "--format", "ascii"]).replace('\n', " ");
    assert!(drawn.contains("nearly uniform (at most 1.00 times)"), "{drawn}");
}

/// What cannot be audited, or only in part, is said plainly; nothing undefined stands in a table.
#[test]
fn bad_input_is_said_plainly() {
    let place = Place::new();
    let line = |i: usize| format!("word{} is {}\t{}\n", i % 7, ["great", "dull"][i % 2], ["good", "bad"][i % 2]);
    let lines = |count: usize| (0..count).map(line).collect::<String>();
    place.write("texts.tsv", lines(120));
    train(&place, "model", &[]);

    // Too few texts: every measure is there, and no verdict.
    place.write("few.tsv", lines(3));
    let table = right(&place, &["audit", "model", "few.tsv", "--quick"]);
    assert!(table.starts_with("verdict: not decided\n  3 examples are too few to tell, 100 are needed"), "{table}");
    let drawn = right(&place, &["look", "model", "word1 is great", "--format", "ascii"]).replace('\n', " ");
    assert!(drawn.contains("audit: not decided: 3 examples are too few"), "{drawn}");
    // Texts of one word among others are only answered.
    place.write("short.tsv", lines(119) + "great\tgood\n");
    let mixed = right(&place, &["audit", "model", "short.tsv", "--quick"]);
    assert!(mixed.contains("1 of the examples has fewer than two words, and was only answered"), "{mixed}");
    assert!(mixed.contains("120 examples answered, 119 studied, 0 other seeds"), "{mixed}");
    for table in [&table, &mixed] {
        assert!(!table.contains("NaN") && !table.contains("inf"), "{table}");
        assert!(table.lines().all(|line| line.chars().count() <= 80), "{table}");
    }

    // A model without attention.
    train(&place, "mean", &["model.pooling=mean"]);
    wrong(&place, &["audit", "mean", "texts.tsv", "--quick"], "there is no attention to audit (model.pooling = \"mean\")");
    train(&place, "last", &["model.pooling=last"]);
    wrong(&place, &["audit", "last", "texts.tsv", "--quick"], "there is no attention to look at (model.pooling = \"last\")");

    for (name, text, said) in [
        ("labels.tsv", "word1 is great\nword2 is dull\n".to_string(), "labels.tsv:1"),
        ("unknown.tsv", lines(4) + "word1 is fair\tfair\n", "the label on line 5"),
        (
            "one-label.tsv",
            "word1 is great\tgood\nword2 is great\tgood\n".into(),
            "only the label \"good\"; it takes examples of at least two labels",
        ),
        ("one-word.tsv", "great\tgood\ndull\tbad\n".into(), "none with two words; it takes some: a single one has all the weight there is"),
        ("nothing.tsv", String::new(), "nothing.tsv"),
    ] {
        place.write(name, text);
        wrong(&place, &["audit", "model", name, "--quick"], said);
    }
    wrong(&place, &["audit", "model", "no-such.tsv", "--quick"], "no-such.tsv");
    wrong(&place, &["audit", "no-such-model", "texts.tsv"], "no-such-model");
}

/// The form of evidence says of itself what is true of it, until an audit says more.
#[test]
fn evidence_has_a_caveat_of_its_own() {
    let place = Place::new();
    let line = |i: usize| format!("word{} is {}\t{}\n", i % 7, ["great", "dull"][i % 2], ["good", "bad"][i % 2]);
    place.write("texts.tsv", (0..120).map(line).collect::<String>());
    right(&place, &["train", "--task", "classify", "--train", "texts.tsv", "--out", "model"]);
    let look = || right(&place, &["look", "model", "word1 is great", "--format", "ascii"]).replace('\n', " ");
    assert!(look().contains("these add up to the answer") && !look().contains("not why the model decided"), "{}", look());
    // And so they do: beside a constant of each label, contributions are the logits, so that two texts differ in both by the same.
    let answer = |text: &str| {
        place.write("one.txt", text);
        let line = right(&place, &["predict", "model", "one.txt", "--json"]);
        let value: Value = serde_json::from_str(&line).unwrap();
        let p = |label: &str| value["probabilities"][label].as_f64().unwrap();
        let added: f64 = value["contributions"].as_array().unwrap().iter().map(|w| w[1].as_f64().unwrap() - w[0].as_f64().unwrap()).sum();
        ((p("good") / p("bad")).ln(), added)
    };
    let (one, other) = (answer("word1 is great"), answer("word3 is dull"));
    // Calibrated probabilities are those of logits that are all divided by one number.
    let third = answer("great dull word2");
    let (a, b) = ((one.0 - other.0) / (one.1 - other.1), (third.0 - other.0) / (third.1 - other.1));
    assert!((a - b).abs() < 1e-2 * a.abs(), "{a} and {b}");

    let json = right(&place, &["audit", "model", "texts.tsv", "--quick", "--json"]);
    let report: Value = serde_json::from_str(&json).unwrap();
    assert!(report["order"]["orders"].as_array().unwrap().iter().any(|o| o["by"] == "contributions"));
    assert!(look().contains("audit: ") && !look().contains("these add up"), "{}", look());
}

/// Asked for a model whose attention carries weight, `train` chooses other settings, with and without a recipe; what is given stays.
#[test]
fn a_faithful_model_is_chosen() {
    let place = Place::new();
    let show = |more: &[&str]| {
        let base = ["train", "--task", "classify", "--train", "texts.tsv", "--out", "model", "--show", "--set", "model.faithful=true"];
        right(&place, &[&base[..], more].concat())
    };
    let line = |i: usize| format!("word{} is {}\t{}\n", i % 7, ["great", "dull"][i % 2], ["good", "bad"][i % 2]);
    place.write("texts.tsv", (0..120).map(line).collect::<String>());
    let chosen = show(&[]);
    for wanted in ["form = \"pooled\"", "encoder = \"average\"", "softmax = \"sparsemax\"", "diversity = 0.5", "faithful = true"] {
        assert!(chosen.contains(wanted), "{wanted} is not in {chosen}");
    }
    let given = show(&["--set", "attention.softmax=entmax", "--set", "model.diversity=0"]);
    assert!(
        given.contains("softmax = \"entmax\"") && given.contains("diversity = 0.0") && given.contains("encoder = \"average\""),
        "{given}"
    );
    place.write("recipe.toml", "task = \"classify\"\n[model]\nfaithful = true\nhidden = 7\n");
    let recipe = right(&place, &["train", "recipe.toml", "--train", "texts.tsv", "--out", "model", "--show"]);
    assert!(recipe.contains("encoder = \"average\"") && recipe.contains("hidden = 7"), "{recipe}");
}
