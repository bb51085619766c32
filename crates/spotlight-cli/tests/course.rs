//! What is said of a training: quietly, in the log, and afterwards.

use std::process::Command;
use std::time::Duration;

use serde_json::Value;

use crate::common::{Place, command, err, out, run, train};

fn log(place: &Place) -> Vec<String> {
    let text = std::fs::read_to_string(place.path("model/log.txt")).unwrap();
    let line = |line: &str| {
        let (time, said) = line.split_once("  ").unwrap();
        assert!(time.len() == 20 && time.ends_with('Z'), "{line}");
        said.to_string()
    };
    text.lines().map(line).collect()
}

/// Sixty words are too few to learn from, and with made-up ones they are enough. Nothing but `--set` says otherwise.
fn few_are_enough(line: impl Fn(usize, &str) -> String, note: &str) {
    let place = Place::new();
    let word =
        |i: usize| (0..4 + i % 3).map(|j| (b'a' + ((i * i * 7 + j * j * 11 + i * j * 5 + i / 3) % 26) as u8) as char).collect::<String>();
    let lines = |range: std::ops::Range<usize>| range.map(|i| line(i, &word(i))).collect::<String>();
    place.write("few.tsv", lines(0..60));
    place.write("others.tsv", lines(100..200));
    let accuracy = |out: &str, extra: &[&str]| {
        let sizes = ["model.hidden=48", "model.embedding=32", "train.epochs=20", "train.patience=0"].map(|set| ["--set", set]).concat();
        let output = run(&place, &[&["train", "--task", "seq2seq", "--train", "few.tsv", "--out", out], &sizes[..], extra].concat());
        assert!(output.status.success(), "{}", err(&output));
        let said = err(&output);
        assert_eq!(said.contains(&format!("1000 pairs are made up beside these few: {note}")), extra.is_empty(), "{said}");
        let scores = run(&place, &["eval", out, "others.tsv", "--json"]);
        serde_json::from_str::<Value>(&self::out(&scores)).unwrap()["accuracy"].as_f64().unwrap()
    };
    let (with, without) = (accuracy("with", &[]), accuracy("without", &["--set", "data.made_up=0"]));
    assert!(with > 0.8 && without < 0.5, "{with} {without}");
}

/// In three forms: that stems are copied.
#[test]
fn few_inflected_words_are_learnt_with_made_up_ones() {
    let forms = [("PST", "ed"), ("PL", "en"), ("PTCP", "ing")];
    let line = |i: usize, word: &str| format!("{word}\t{word}{}\t{}\n", forms[i % 3].1, forms[i % 3].0);
    few_are_enough(line, "letters that source and target share are replaced");
}

/// In another alphabet: that one letter is written after the other.
#[test]
fn few_spelt_words_are_learnt_with_made_up_ones() {
    let cyrillic = |c: char| char::from_u32(u32::from('а') + c as u32 - u32::from('a')).unwrap();
    let line = |_: usize, word: &str| format!("{word}\t{}\n", word.chars().map(cyrillic).collect::<String>());
    few_are_enough(line, "letters and what they write are put together anew");
}

/// Of a small file nothing is kept from the model in the end: it knows a letter that stands in one row only, whichever part that row was dealt to.
#[test]
fn few_examples_are_all_learnt_from() {
    let place = Place::new();
    let rare = |i: usize| char::from_u32(0x3b1 + i as u32).unwrap();
    place.write("pairs.tsv", (0..20).map(|i| format!("a{}\t{}b\n", rare(i), rare(i))).collect::<String>());
    let letters = |extra: &[&str]| {
        let small = ["model.hidden=8", "model.embedding=8", "train.epochs=3", "train.every=1"].map(|set| ["--set", set]).concat();
        let base = ["train", "--task", "seq2seq", "--train", "pairs.tsv", "--out", "model", "--force"];
        let output = run(&place, &[&base[..], &small, extra].concat());
        assert!(output.status.success(), "{}", err(&output));
        let known = std::fs::read_to_string(place.path("model/source.txt")).unwrap();
        let told = err(&output).contains("in the end all 20 are learnt from") && out(&output).contains("with all examples");
        let told_after = out(&run(&place, &["info", "model"])).contains("with all examples");
        assert_eq!(told, told_after);
        ((0..20).filter(|&i| known.contains(rare(i))).count(), told)
    };
    assert_eq!(letters(&[]), (20, true));
    assert_eq!(letters(&["--set", "train.all=false"]), (16, false));
    // Examples of a development file are never learnt from, and a plateau cannot be followed without measuring.
    place.write("dev.tsv", "aω\tωb\n");
    assert_eq!(letters(&["--dev", "dev.tsv", "--set", "train.all=true"]), (20, false));
    assert!(!std::fs::read_to_string(place.path("model/source.txt")).unwrap().contains('ω'));
    assert_eq!(letters(&["--set", "train.schedule=plateau"]), (16, false));
}

#[test]
fn quiet_is_quiet_and_the_log_has_it_all() {
    let place = Place::new();
    let data = place.pairs("pairs.tsv", 60);
    let (mut loud, mut quiet) = (Vec::new(), Vec::new());
    for (name, extra, said) in [("loud", &[][..], &mut loud), ("model", &["--quiet"], &mut quiet)] {
        let base = [
            "train",
            "--task",
            "seq2seq",
            "--train",
            data.to_str().unwrap(),
            "--out",
            name,
            "--set",
            "train.epochs=2",
            "--set",
            "model.hidden=8",
        ];
        let output = run(&place, &[&base[..], extra].concat());
        assert!(output.status.success(), "{}", err(&output));
        assert!(out(&output).starts_with("model  "), "results are results: {}", out(&output));
        *said = err(&output).lines().map(str::to_string).collect();
    }
    assert_eq!(quiet, Vec::<String>::new());
    assert_eq!(loud.pop().as_deref(), Some("look at it: spotlight look loud"));
    assert!(loud.iter().any(|line| line.starts_with("epoch   step   train")), "{loud:?}");
    // Times, and the name of the folder, are another matter.
    let told = |lines: &[String]| -> Vec<String> {
        let kept = lines.iter().filter(|line| !line.contains(" parameters; settings in "));
        kept.map(|line| line.split_whitespace().take(6).collect::<Vec<_>>().join(" ")).collect()
    };
    let logged = log(&place);
    assert_eq!(logged[0], format!("begun by spotlight {}", env!("CARGO_PKG_VERSION")));
    assert_eq!(told(&logged[1..])[..told(&loud).len()], told(&loud));
    assert!(logged.iter().any(|line| line.starts_with("dev accuracy")) && logged.last().unwrap().starts_with("size "), "{logged:?}");
    // A log is no part of the model: who writes into it breaks nothing.
    std::fs::write(place.path("model/log.txt"), "gone").unwrap();
    assert!(run(&place, &["info", "model"]).status.success());
}

#[test]
fn a_warning_is_heard_in_silence() {
    let place = Place::new();
    let line = |i: usize| format!("w{} is {}\t{}\n", i % 7, ["great", "dull"][i % 2], if i == 3 { "rare" } else { ["good", "bad"][i % 2] });
    place.write("texts.tsv", (0..40).map(line).collect::<String>());
    let output = run(&place, &["train", "--task", "classify", "--train", "texts.tsv", "--out", "model", "--quiet"]);
    assert!(output.status.success(), "{}", err(&output));
    let said = err(&output);
    assert!(said.starts_with("warning: ") && said.contains("rare") && said.lines().count() == 1, "{said}");
}

#[test]
fn a_run_is_resumed_from_anywhere_and_its_log_goes_on() {
    let place = Place::new();
    place.pairs("pairs.tsv", 400);
    let arguments = |out: &'static str| {
        let mut arguments = vec!["train", "--task", "seq2seq", "--train", "pairs.tsv", "--out", out];
        for setting in ["model.embedding=12", "model.hidden=24", "train.epochs=60", "train.every=2", "train.patience=0", "train.batch=150"]
        {
            arguments.extend(["--set", setting]);
        }
        arguments
    };
    assert!(run(&place, &arguments("whole")).status.success());
    let child =
        command(&place, &arguments("model")).stderr(std::process::Stdio::null()).stdout(std::process::Stdio::null()).spawn().unwrap();
    while !place.path("model").join("config.toml").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(100));
    assert!(Command::new("kill").args(["-TERM", &child.id().to_string()]).status().unwrap().success());
    assert_eq!(child.wait_with_output().unwrap().status.code(), Some(143));
    assert!(log(&place).last().unwrap().contains("go on with: spotlight train --resume"), "{:?}", log(&place));

    // The data are where they were, the command is run elsewhere.
    let elsewhere = place.path("elsewhere");
    std::fs::create_dir(&elsewhere).unwrap();
    let resume =
        |from: &std::path::Path, out: &str| command(&place, &["train", "--resume", "--out", out]).current_dir(from).output().unwrap();
    std::fs::rename(place.path("pairs.tsv"), place.path("hidden.tsv")).unwrap();
    let lost = resume(&elsewhere, "../model");
    assert_eq!(lost.status.code(), Some(1));
    assert!(err(&lost).contains("cannot go on without pairs.tsv") && err(&lost).contains("where the run began"), "{}", err(&lost));
    std::fs::rename(place.path("hidden.tsv"), place.path("pairs.tsv")).unwrap();
    let output = resume(&elsewhere, "../model");
    assert!(output.status.success(), "{}", err(&output));
    let read = |folder: &str, name: &str| std::fs::read(place.path(folder).join(name)).unwrap();
    for name in ["model.safetensors", "config.toml", "source.txt", "target.txt"] {
        assert!(read("model", name) == read("whole", name), "{name} differs");
    }
    let logged = log(&place);
    let of = |start: &str| logged.iter().filter(|line| line.starts_with(start)).count();
    assert_eq!((of("begun by"), of("resumed by"), of("size ")), (1, 1, 1), "{logged:?}");
}

#[test]
fn info_tells_figures_version_and_time() {
    let place = Place::new();
    let data = place.pairs("pairs.tsv", 60);
    train(&place, &data, &[]);
    let output = run(&place, &["info", "model", "--json"]);
    let info: Value = serde_json::from_str(&out(&output)).unwrap();
    assert_eq!((&info["task"], &info["settings"]["model"]["hidden"]), (&"seq2seq".into(), &12.into()));
    assert_eq!(
        (&info["run"]["version"], &info["run"]["epochs"], &info["run"]["stage"]),
        (&env!("CARGO_PKG_VERSION").into(), &3.into(), &"finished".into())
    );
    assert!(info["run"]["seconds"].as_f64().unwrap() > 0.0 && info["run"]["measures"]["accuracy"].as_f64().is_some(), "{info}");
    let numbers: u64 = info["tensors"]
        .as_array()
        .unwrap()
        .iter()
        .map(|t| t["shape"].as_array().unwrap().iter().map(|n| n.as_u64().unwrap()).product::<u64>())
        .sum();
    assert_eq!(info["parameters"].as_u64(), Some(numbers));
    let text = out(&run(&place, &["info", "model"]));
    assert!(text.contains("by spotlight 0.1.0") && text.contains("3 epochs") && text.contains("dev accuracy  "), "{text}");
    // A folder from before runs were recorded.
    std::fs::remove_file(place.path("model/run.json")).unwrap();
    let output = run(&place, &["info", "model", "--json"]);
    assert_eq!(serde_json::from_str::<Value>(&out(&output)).unwrap()["run"], Value::Null);
}
