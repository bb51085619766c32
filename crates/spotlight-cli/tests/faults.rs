//! Bad input gets a clear message, the right exit code, and loses nothing.

use std::process::Stdio;

use crate::common::skip::skip;
use crate::common::{Place, command, err, feed, out, run, train};

/// Trains on this content and expects exit code `code` and all of `parts` in the message, and no model.
fn refused(content: &[u8], code: i32, parts: &[&str]) {
    let place = Place::new();
    place.write("pairs.tsv", content);
    let output = run(&place, &["train", "--task", "seq2seq", "--train", "pairs.tsv", "--out", "model"]);
    let message = err(&output);
    assert_eq!(output.status.code(), Some(code), "{message}");
    for part in parts {
        assert!(message.contains(part), "{part:?} is not in {message:?}");
    }
    assert!(!place.path("model").exists());
    assert!(out(&output).is_empty());
}

#[test]
fn bad_training_files_are_named_with_line_and_column() {
    refused(b"", 1, &["pairs.tsv is empty"]);
    refused(b"a\tb\nc\n", 1, &["pairs.tsv:2:2", "column"]);
    refused(b"a\tb\nc\td\te\n", 1, &["pairs.tsv:2", "column"]);
    refused(b"a\tb\nc\xff\td\n", 1, &["pairs.tsv:2:2", "UTF-8"]);
}

#[test]
fn wrong_usage_is_exit_code_two() {
    let place = Place::new();
    place.pairs("pairs.tsv", 20);
    let base = ["train", "--task", "seq2seq", "--train", "pairs.tsv", "--out", "model"];
    for (extra, part) in [
        (&["--set", "model.hiden=3"][..], "did you mean `model.hidden`?"),
        (&["--set", "model.hidden=many"], "expected integer"),
        (&["--set", "model.attention=magic"], "attention.score"),
        (&["--set", "model.dropout=1.5"], "model.dropout"),
        (&["--set", "train.rate=0"], "train.rate"),
    ] {
        let output = run(&place, &[&base[..], extra].concat());
        assert_eq!(output.status.code(), Some(2), "{extra:?}: {}", err(&output));
        assert!(err(&output).contains(part), "{extra:?}: {}", err(&output));
        assert!(!place.path("model").exists(), "{extra:?}");
    }
    let dance = run(&place, &["train", "--task", "dance", "--train", "pairs.tsv", "--out", "model"]);
    assert!(dance.status.code() == Some(2) && err(&dance).contains("expected seq2seq"), "{}", err(&dance));
    assert_eq!(run(&place, &["train", "--out", "model"]).status.code(), Some(2));
    assert_eq!(run(&place, &["train", "--out", "model", "--resume"]).status.code(), Some(2));
}

#[test]
fn one_example_and_one_unit_still_make_a_model() {
    for content in ["a\ta\n", "aaa\taaa\naa\taa\n", "x\t\ny\tz\n"] {
        let place = Place::new();
        let data = place.write("pairs.tsv", content);
        train(&place, &data, &[]);
        let output = feed(&place, &["predict", "model"], b"a\n");
        assert!(output.status.success(), "{}", err(&output));
        assert_eq!(out(&output).lines().count(), 1);
    }
}

#[test]
fn prediction_answers_every_line_in_order() {
    let place = Place::new();
    let data = place.pairs("pairs.tsv", 60);
    train(&place, &data, &[]);
    let long = "abc".repeat(3334);
    let input = [b"ab\n\n".as_slice(), b"c\xffd\n", "日本\n".as_bytes(), long.as_bytes(), b"\nlast"].concat();
    let output = feed(&place, &["predict", "model", "-"], &input);
    // A line that is not text is told, answered with an empty line, and makes the command fail at the end.
    assert_eq!(output.status.code(), Some(1));
    assert!(err(&output).contains("-:3:2"), "{}", err(&output));
    let lines: Vec<String> = out(&output).lines().map(str::to_string).collect();
    assert_eq!(lines.len(), 6);
    assert_eq!((lines[1].as_str(), lines[2].as_str()), ("", ""));
    let alone = feed(&place, &["predict", "model"], b"last\n");
    assert_eq!(out(&alone).trim_end(), lines[5]);

    let json = feed(&place, &["predict", "model", "--json", "--beam", "3", "--n-best", "2"], b"abc\n\n");
    let lines: Vec<serde_json::Value> = out(&json).lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    let hypotheses = lines[0]["hypotheses"].as_array().unwrap();
    assert_eq!(hypotheses.len(), 2);
    for h in hypotheses {
        for row in h["attention"].as_array().unwrap() {
            let sum: f64 = row.as_array().unwrap().iter().map(|w| w.as_f64().unwrap()).sum();
            assert!((sum - 1.0).abs() < 1e-5, "{sum}");
            assert_eq!(row.as_array().unwrap().len(), 3);
        }
        assert_eq!(h["attention"].as_array().unwrap().len(), h["tokens"].as_array().unwrap().len());
    }
    assert_eq!(lines[1]["hypotheses"][0]["text"], "");
    assert!(feed(&place, &["predict", "model", "--n-best", "3", "--beam", "2"], b"").status.code() == Some(2));
}

#[test]
fn a_damaged_model_is_refused_with_the_file_named() {
    let place = Place::new();
    let data = place.pairs("pairs.tsv", 40);
    let model = train(&place, &data, &[]);
    for name in ["model.safetensors", "config.toml", "source.txt", "target.txt"] {
        let path = model.join(name);
        let whole = std::fs::read(&path).unwrap();
        std::fs::remove_file(&path).unwrap();
        let output = feed(&place, &["predict", "model"], b"ab\n");
        assert_eq!(output.status.code(), Some(1), "{name}");
        assert!(err(&output).contains(name), "{name}: {}", err(&output));
        if name == "model.safetensors" {
            std::fs::write(&path, &whole[..whole.len() / 2]).unwrap();
            let output = feed(&place, &["predict", "model"], b"ab\n");
            assert!(err(&output).contains("cut short"), "{}", err(&output));
        }
        std::fs::write(&path, &whole).unwrap();
    }
    assert!(feed(&place, &["predict", "model"], b"ab\n").status.success());
    // A folder that holds a model is not trained over.
    let again = run(&place, &["train", "--task", "seq2seq", "--train", "pairs.tsv", "--out", "model"]);
    assert_eq!(again.status.code(), Some(2));
    assert!(err(&again).contains("already holds a model"));
}

#[test]
fn a_full_disk_is_an_error_and_leaves_no_half_file() {
    if !std::path::Path::new("/dev/full").exists() {
        skip("system", "there is no /dev/full");
        return;
    }
    let place = Place::new();
    let data = place.pairs("pairs.tsv", 40);
    train(&place, &data, &[]);
    let full = std::fs::OpenOptions::new().write(true).open("/dev/full").unwrap();
    let input = place.write("in.txt", "abc\n");
    let output = command(&place, &["predict", "model", input.to_str().unwrap()]).stdout(full).output().unwrap();
    assert_eq!(output.status.code(), Some(1));
    assert!(err(&output).contains("space"), "{}", err(&output));
    assert!(!err(&output).contains("panicked"));
}

#[test]
fn measures_pictures_and_facts_of_a_model() {
    let place = Place::new();
    let data = place.pairs("pairs.tsv", 60);
    train(&place, &data, &[]);
    let eval = run(&place, &["eval", "model", "pairs.tsv", "--json"]);
    let report: serde_json::Value = serde_json::from_str(&out(&eval)).unwrap();
    assert_eq!(report["rows"], 60);
    let look = run(&place, &["look", "model", "abc", "--format", "ascii"]);
    assert!(out(&look).is_ascii() && out(&look).contains("abc ->"), "{}", out(&look));
    for (format, start) in [("svg", &b"<svg"[..]), ("html", b"<!"), ("png", b"\x89PNG"), ("json", b"{")] {
        let file = format!("picture.{format}");
        let look = run(&place, &["look", "model", "abc", "--format", format, "-o", &file]);
        assert!(look.status.success(), "{}", err(&look));
        assert!(look.stdout.is_empty());
        assert!(std::fs::read(place.path(&file)).unwrap().starts_with(start), "{format}");
    }
    assert!(out(&run(&place, &["info", "model"])).contains("decoder.attention"));
    let plot = out(&run(&place, &["plot", "model"]));
    assert!(plot.contains("accuracy") && plot.contains("CER"), "{plot}");
    let none = place.path("none");
    let blind =
        ["train", "--task", "seq2seq", "--train", "pairs.tsv", "--out", "none", "--set", "model.attention=none", "--set", "train.epochs=1"];
    assert!(run(&place, &blind).status.success() && none.exists());
    let look = run(&place, &["look", "none", "abc"]);
    assert!(look.status.code() == Some(2) && err(&look).contains("no attention"));
}

#[test]
fn every_recipe_is_read_to_its_data() {
    let place = Place::new();
    let recipes = std::fs::read_dir(concat!(env!("CARGO_MANIFEST_DIR"), "/../../recipes")).unwrap().map(|entry| entry.unwrap().path());
    let recipes: Vec<_> = recipes.filter(|path| path.extension().is_some_and(|e| e == "toml")).collect();
    assert!(recipes.len() >= 9);
    for recipe in recipes {
        let output = run(&place, &["train", recipe.to_str().unwrap(), "--train", "missing.tsv", "--out", "model"]);
        assert_eq!(output.status.code(), Some(1), "{}", err(&output));
        assert!(err(&output).contains("missing.tsv"), "{}: {}", recipe.display(), err(&output));
    }
}

#[test]
fn a_recipe_that_cannot_be_read_says_where() {
    let place = Place::new();
    place.pairs("pairs.tsv", 20);
    let recipe = |content: &str| {
        place.write("recipe.toml", content);
        let output = run(&place, &["train", "recipe.toml", "--train", "pairs.tsv", "--out", "model"]);
        assert_eq!(output.status.code(), Some(2), "{}", err(&output));
        assert!(!place.path("model").exists());
        err(&output)
    };
    assert!(recipe("task = \"seq2seq\"\nseed = ").contains("line 2, column 8"), "{}", recipe("task = \"seq2seq\"\nseed = "));
    assert!(recipe("task = \"seq2seq\"\nseed = 1\nseed = 2").contains("line 3, column 1"));
    assert!(recipe("task = \"foo\"").contains("recipe.toml:1:1: `task`: must be one of seq2seq, classify, match, bags"));
    let unknown = recipe("task = \"seq2seq\"\n[train]\n rat = 1");
    assert!(unknown.contains("recipe.toml:3:2: unknown key `train.rat`; did you mean `train.rate`?"), "{unknown}");
    let other = ["train", "--task", "classify", "--train", "pairs.tsv", "--out", "model", "--set", "task=seq2seq"];
    assert!(err(&run(&place, &other)).contains("the task is said by --task"));
    place.write("recipe.toml", "task = \"seq2seq\"");
    let both = run(&place, &["train", "recipe.toml", "--task", "classify", "--train", "pairs.tsv", "--out", "model"]);
    assert!(err(&both).contains("--task classify does not go with a recipe for seq2seq"), "{}", err(&both));
    let metric = ["train", "--task", "seq2seq", "--train", "pairs.tsv", "--out", "model", "--set", "train.metric=beauty"];
    let output = run(&place, &metric);
    assert!(err(&output).contains("`train.metric`: must be one of loss, accuracy, cer"), "{}", err(&output));
    assert!(!place.path("model").exists());
}

#[test]
fn penalties_must_be_numbers() {
    let place = Place::new();
    for wrong in ["nan", "inf", "-1"] {
        let output = run(&place, &["predict", "model", "x", &format!("--length-penalty={wrong}")]);
        assert_ne!(output.status.code(), Some(0), "{wrong}");
    }
    let data = place.pairs("pairs.tsv", 20);
    train(&place, &data, &[]);
    for option in ["--length-penalty=nan", "--coverage-penalty=inf", "--length-penalty=-1"] {
        let output = run(&place, &["predict", "model", "pairs.tsv", option]);
        assert_eq!(output.status.code(), Some(2), "{option}");
        assert!(err(&output).contains("expected a number that is not below 0"), "{}", err(&output));
    }
}

#[test]
fn the_extension_decides_the_form() {
    let place = Place::new();
    let data = place.pairs("pairs.tsv", 20);
    train(&place, &data, &[]);
    for (name, start) in [("a.svg", &b"<svg"[..]), ("a.html", b"<!"), ("a.PNG", b"\x89PNG"), ("a.json", b"{")] {
        let output = run(&place, &["look", "model", "abc", "-o", name]);
        assert!(output.status.success(), "{}", err(&output));
        assert!(std::fs::read(place.path(name)).unwrap().starts_with(start), "{name}");
    }
    let output = run(&place, &["look", "model", "abc", "-o", "a.gif"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(err(&output).contains("a.gif") && err(&output).contains("--format"), "{}", err(&output));
    assert!(!place.path("a.gif").exists());
    assert!(run(&place, &["plot", "model", "-o", "curve.svg"]).status.success());
    assert!(std::fs::read(place.path("curve.svg")).unwrap().starts_with(b"<svg"));
    assert!(out(&run(&place, &["--version"])).starts_with("spotlight "));
}

#[test]
fn a_line_is_answered_when_it_comes() {
    use std::io::{BufRead, BufReader, Write};
    let place = Place::new();
    let data = place.pairs("pairs.tsv", 20);
    train(&place, &data, &[]);
    let mut child = command(&place, &["predict", "model", "--json"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let (mut input, mut answers) = (child.stdin.take().unwrap(), BufReader::new(child.stdout.take().unwrap()).lines());
    for word in ["abc", "de", "abc"] {
        writeln!(input, "{word}").unwrap();
        input.flush().unwrap();
        // The pipe is still open: an answer that waited for its end would never come.
        let answer: serde_json::Value = serde_json::from_str(&answers.next().unwrap().unwrap()).unwrap();
        assert_eq!(answer["source"], word);
    }
    drop(input);
    assert!(child.wait().unwrap().success());
}

#[test]
fn to_nothing_a_classifier_says_nothing() {
    let place = Place::new();
    let line = |i: usize| format!("{} one {i}\t{}\n", ["good", "bad"][i % 2], ["yes", "no"][i % 2]);
    place.write("texts.tsv", (0..40).map(line).collect::<String>());
    assert!(run(&place, &["train", "--task", "classify", "--train", "texts.tsv", "--out", "model"]).status.success());
    let output = feed(&place, &["predict", "model", "--json"], b"good one\n\n\xff\nbad one\n");
    let lines: Vec<serde_json::Value> = out(&output).lines().map(|l| serde_json::from_str(l).unwrap()).collect();
    assert_eq!((lines[0]["label"].as_str(), lines[3]["label"].as_str()), (Some("yes"), Some("no")));
    for line in &lines[1..3] {
        assert!(line["error"].is_string() && line.get("label").is_none(), "{line}");
    }
}
