//! Classifiers, matchers and bags from file to picture.

use crate::common::{Place, err, feed, out, right, run};
use serde_json::Value;

/// Runs and expects this exit code and part of a message.
fn wrong(place: &Place, arguments: &[&str], code: i32, part: &str) {
    let output = run(place, arguments);
    let message = err(&output);
    assert_eq!(output.status.code(), Some(code), "{message}");
    assert!(message.contains(part), "{part:?} is not in {message:?}");
}

fn objects(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

const SMALL: [&str; 8] = ["--set", "model.hidden=8", "--set", "train.epochs=20", "--set", "train.rate=0.02", "--set", "train.warmup=0"];

#[test]
fn labelled_texts_become_a_classifier() {
    let place = Place::new();
    let line = |i: usize| format!("word{} is {}\t{}\n", i % 7, ["great", "dull"][i % 2], ["good", "bad"][i % 2]);
    place.write("texts.tsv", (0..60).map(line).collect::<String>());
    let base = ["train", "--task", "classify", "--train", "texts.tsv", "--out", "model", "--set", "model.embedding=8"];
    assert!(right(&place, &[&base[..], &SMALL].concat()).contains("dev accuracy  1.0000"));

    let output = feed(&place, &["predict", "model"], "word1 is great\n\nword2 is dull\tbad\n".as_bytes());
    let lines: Vec<String> = out(&output).lines().map(str::to_string).collect();
    assert_eq!(lines.len(), 3, "{lines:?}");
    assert!(lines[0].starts_with("good\t") && lines[2].starts_with("bad\t"), "{lines:?}");

    let output = feed(&place, &["predict", "model", "--json"], b"word1 is great\n");
    let answer = &objects(&out(&output))[0];
    assert_eq!((&answer["text"], &answer["label"]), (&"word1 is great".into(), &"good".into()));
    assert_eq!((answer["tokens"].as_array().unwrap().len(), answer["attention"].as_array().unwrap().len()), (3, 3));
    let sum: f64 = answer["attention"].as_array().unwrap().iter().map(|w| w.as_f64().unwrap()).sum();
    assert!((sum - 1.0).abs() < 1e-5 && answer["probabilities"]["good"].as_f64().unwrap() > 0.5);

    let table = right(&place, &["eval", "model", "texts.tsv"]);
    assert!(table.contains("macro F1") && table.contains("ROC-AUC") && table.contains("precision"), "{table}");
    let report = &objects(&right(&place, &["eval", "model", "texts.tsv", "--json"]))[0];
    assert!(report["accuracy"].as_f64().unwrap() > 0.8 && report["classes"][1]["support"].as_u64() == Some(30), "{report}");
    assert!(right(&place, &["look", "model", "word1 is great", "--format", "ascii"]).contains("great"));
    assert!(right(&place, &["info", "model"]).contains("labels        bad, good"));
    place.write("odd.tsv", "word1\tstrange\n");
    wrong(&place, &["eval", "model", "odd.tsv"], 1, "the label on line 1 is \"strange\"");

    let last = ["train", "--task", "classify", "--train", "texts.tsv", "--out", "last", "--set", "model.pooling=last"];
    right(&place, &[&last[..], &SMALL].concat());
    wrong(&place, &["look", "last", "word1"], 2, "no attention to look at");
    let folds = right(&place, &["train", "--task", "classify", "--train", "texts.tsv", "--out", "folds", "--folds", "3", "--repeat", "2"]);
    assert!(folds.contains("(n = 6)") && folds.contains("accuracy, TF-IDF logistic regression"), "{folds}");
}

#[test]
fn questions_become_a_matcher_that_ranks() {
    let place = Place::new();
    let things = ["sea", "cave", "tower", "forest", "river", "valley"];
    let mut rows = String::new();
    for thing in things {
        rows += &format!("how deep is the {thing} ?\tnobody goes there\t0\n");
        rows += &format!("how deep is the {thing} ?\tthe {thing} is very deep\t1\n");
        rows += &format!("how deep is the {thing} ?\tit rains\t0\n");
    }
    place.write("rows.tsv", &rows);
    let base = ["train", "--task", "match", "--train", "rows.tsv", "--dev", "rows.tsv", "--out", "model", "--set", "model.embedding=8"];
    assert!(right(&place, &[&base[..], &SMALL].concat()).contains("dev MAP   1.0000"));

    let ranked = right(&place, &["predict", "model", "rows.tsv"]);
    let first: Vec<&str> = ranked.lines().step_by(3).collect();
    assert!(first.len() == 6 && first.iter().all(|l| l.starts_with("1\t") && l.ends_with("is very deep")), "{ranked}");
    let answer = &objects(&right(&place, &["predict", "model", "rows.tsv", "--json"]))[0];
    for side in ["question", "answer"] {
        let tokens = answer[format!("{side}_tokens")].as_array().unwrap().len();
        assert_eq!(answer["attention"][side].as_array().unwrap().len(), tokens);
    }
    let report = right(&place, &["eval", "model", "rows.tsv"]);
    assert!(report.contains("MAP") && report.contains("MRR, shared words (idf)"), "{report}");
    let picture = right(&place, &["look", "model", "how deep is the sea ?\tthe sea is deep", "--format", "ascii"]);
    assert!(picture.contains("question") && picture.contains("answer"), "{picture}");
    assert!(right(&place, &["info", "model"]).contains("task        match"));
    wrong(&place, &["look", "model", "only a question"], 1, "question, answer");
    wrong(&place, &["predict", "model", "rows.tsv", "--abstain", "0.5"], 2, "a matcher ranks the candidates of a question");
    wrong(&place, &["plot", "model", "--confidence", "rows.tsv"], 1, "a matcher ranks the candidates of a question");
}

#[test]
fn bags_are_learnt_judged_by_folds_and_drawn() {
    let place = Place::new();
    let row = |i: usize, r: usize| {
        let signal = if i.is_multiple_of(2) && r == 1 { 9.0 } else { 1.0 };
        format!("{},b{i},{},{}\n", ["yes", "no"][i % 2], signal + 0.1 * (i % 5) as f64, (i * 7 + r * 3) % 11)
    };
    place.write("bags.csv", (0..40).flat_map(|i| (0..3).map(move |r| row(i, r))).collect::<String>());
    let base = ["train", "--task", "bags", "--train", "bags.csv", "--out"];
    let folds = right(&place, &[&base[..], &["cv", "--folds", "5"], &SMALL].concat());
    assert!(folds.contains("accuracy") && folds.contains("(n = 5)"), "{folds}");
    right(&place, &[&base[..], &["model", "--dev", "bags.csv"], &SMALL].concat());

    // How sure it may be was found out, and the probabilities are the calibrated ones.
    assert!(std::fs::read_to_string(place.path("model/calibration.toml")).unwrap().contains("temperature"));
    let report = right(&place, &["eval", "model", "bags.csv"]);
    assert!(report.contains("calibration error, uncalibrated") && report.contains("accuracy at 80 percent answered"), "{report}");
    assert!(right(&place, &["plot", "model", "--confidence", "bags.csv"]).contains("percent answered"));
    let probability = |line: &str| line.split('\t').nth(2).unwrap().parse::<f64>().unwrap();
    let cool = right(&place, &["predict", "model", "bags.csv"]);
    let sure = run(&place, &["predict", "model", "bags.csv", "--abstain", "1"]);
    assert!(sure.status.success() && err(&sure).contains("of 40 lines left empty"), "{}", err(&sure));
    place.write("model/calibration.toml", "kind = \"temperature\"\ntemperature = 4.0\n");
    std::fs::remove_file(place.path("model/files.json")).unwrap();
    let warm = right(&place, &["predict", "model", "bags.csv"]);
    assert!(warm.lines().zip(cool.lines()).all(|(warm, cool)| probability(warm) < probability(cool)), "{warm}\n{cool}");

    let answers = right(&place, &["predict", "model", "bags.csv"]);
    assert!(answers.starts_with("b0\tyes\t") && answers.lines().count() == 40, "{answers}");
    let answer = &objects(&right(&place, &["predict", "model", "bags.csv", "--json"]))[0];
    let weights: Vec<f64> = answer["attention"].as_array().unwrap().iter().map(|w| w.as_f64().unwrap()).collect();
    assert!(weights.len() == 3 && weights[1] > weights[0] && weights[1] > weights[2], "{weights:?}");
    assert!(right(&place, &["eval", "model", "bags.csv"]).contains("accuracy"));
    assert!(right(&place, &["look", "model", "bags.csv", "--bag", "b4", "--format", "ascii"]).contains("b4"));
    assert!(right(&place, &["info", "model"]).contains("rows          2 features"));
    wrong(&place, &["look", "model", "bags.csv", "--bag", "b99"], 2, "has no bag \"b99\"");
    wrong(&place, &["train", "--task", "bags", "--train", "bags.csv", "--out", "x", "--folds", "99"], 1, "the number of folds is 99");
}
