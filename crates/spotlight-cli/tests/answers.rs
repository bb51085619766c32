//! Answers that are constrained, forced, listed or left out.

use serde_json::Value;

use crate::common::{Place, err, feed, out, run, train};

/// Few short words would be taken for symbols.
const CHARS: [&str; 4] = ["--set", "source.units=chars", "--set", "target.units=chars"];

fn json(text: &str) -> Vec<Value> {
    text.lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

#[test]
fn a_transducer_writes_what_it_is_allowed_to() {
    let place = Place::new();
    let data = place.pairs("pairs.tsv", 300);
    train(&place, &data, &CHARS);
    let predict = |extra: &[&str]| {
        let output = feed(&place, &[&["predict", "model", "--json"], extra].concat(), b"abc\ndef\nab\n");
        assert!(output.status.success(), "{extra:?}: {}", err(&output));
        json(&out(&output))
    };
    let text = |answer: &Value| answer["hypotheses"][0]["text"].as_str().unwrap().to_string();
    assert!(predict(&["--prefix", "fe"]).iter().all(|answer| text(answer).starts_with("fe")));
    assert!(predict(&["--min-length", "9"]).iter().all(|answer| text(answer).chars().count() >= 9));

    place.write("words.txt", "fed\nba\nnot of these units: ÿ\n");
    assert!(predict(&["--lexicon", "words.txt", "--beam", "3"]).iter().all(|answer| ["fed", "ba"].contains(&text(answer).as_str())));

    // Of the lexicon only what begins so and is long enough.
    let listed = |extra: &[&str]| predict(&[&["--lexicon", "words.txt"], extra].concat());
    assert!(listed(&["--prefix", "b"]).iter().all(|answer| text(answer) == "ba"));
    assert!(listed(&["--min-length", "3"]).iter().all(|answer| text(answer) == "fed"));

    // What was found by itself is worth as much when it is forced.
    let found = predict(&["--beam", "2", "--min-length", "2"]);
    place.write("targets.txt", found.iter().map(|answer| text(answer) + "\n").collect::<String>());
    for (forced, found) in predict(&["--force", "targets.txt"]).iter().zip(&found) {
        assert_eq!(text(forced), text(found));
        // One that was cut short has no end of its own, so each unit is compared.
        let units = |answer: &Value| -> Vec<f64> {
            answer["hypotheses"][0]["probabilities"].as_array().unwrap().iter().map(|p| p.as_f64().unwrap()).collect()
        };
        assert!(units(forced).iter().zip(units(found)).all(|(a, b)| (a - b).abs() < 1e-5) && !units(forced).is_empty());
        assert_eq!(forced["hypotheses"][0]["attention"].as_array().unwrap().len(), text(forced).chars().count());
    }
    for answer in predict(&["--n-best", "4"]) {
        let shares: f64 = answer["hypotheses"].as_array().unwrap().iter().map(|h| h["share"].as_f64().unwrap()).sum();
        assert!((shares - 1.0).abs() < 1e-9);
    }

    // What cannot be read is told in its place. To nothing there is nothing to say, and nobody is sure of it.
    let asked = b"abc\na\tb\tc\n\n";
    let output = feed(&place, &["predict", "model", "--json"], asked);
    let answers = json(&out(&output));
    let told = answers[1]["error"].as_str().unwrap();
    assert!(told.starts_with("-:2: ") && err(&output).contains(told), "{told}: {}", err(&output));
    assert!(answers[0]["hypotheses"][0]["confidence"].is_f64() && text(&answers[2]).is_empty());
    assert!(answers[2]["hypotheses"][0].get("confidence").is_none());
    assert_eq!(out(&feed(&place, &["predict", "model"], asked)).lines().skip(1).collect::<Vec<_>>(), ["", ""]);
    let output = feed(&place, &["predict", "model", "--json", "--abstain", "0"], asked);
    assert!(out(&output).lines().nth(1).unwrap().contains("error") && err(&output).contains("1 of 3 lines left empty"), "{}", err(&output));
    assert_eq!(out(&output).lines().last(), Some("{\"abstained\":true}"));

    place.write("short.txt", "cba\n");
    place.write("strange.txt", "ÿ\n");
    for (arguments, part) in [
        (&["--force", "short.txt"][..], "one for each source"),
        (&["--lexicon", "strange.txt"], "no answer that the model can write"),
        (&["--prefix", "ÿ"], "units that the model can write"),
        (&["--lexicon", "words.txt", "--prefix", "c"], "the prefix is \"c\", but must be what a line of the lexicon begins with"),
        (&["--lexicon", "words.txt", "--prefix", "bad"], "the prefix is \"bad\""),
        (&["--lexicon", "words.txt", "--prefix", "b", "--min-length", "3"], "must be at most 2"),
        (&["--force", "short.txt", "--beam", "2"], "cannot be used with"),
    ] {
        let output = feed(&place, &[&["predict", "model"], arguments].concat(), b"abc\ndef\n");
        assert!(!output.status.success() && err(&output).contains(part), "{arguments:?}: {}", err(&output));
    }
}

/// Running text: the same words come again, and one of them is always answered otherwise than its letters say.
#[test]
fn what_comes_again_is_remembered() {
    let place = Place::new();
    let word = |i: usize| ["abc", "bca", "dab", "cad", "bad"][i % 5];
    let line = |i: usize| match word(i) {
        "bad" => "bad\tdead\n".to_string(),
        word => format!("{word}\t{}\n", word.to_uppercase()),
    };
    let data = place.write("text.tsv", (0..120).map(line).collect::<String>());
    let shown = run(&place, &["train", "--task", "seq2seq", "--train", "text.tsv", "--dev", "text.tsv", "--show"]);
    assert!(out(&shown).contains("remember = true  # from the data"), "{}", out(&shown));
    train(&place, &data, &[&CHARS[..], &["--dev", "text.tsv", "--set", "train.epochs=1"]].concat());
    assert!(std::fs::read_to_string(place.path("model/files.json")).unwrap().contains("remembered.jsonl"));

    // A network that has seen nothing once cannot spell; what it has seen is known all the same.
    let answers = json(&out(&feed(&place, &["predict", "model", "--json"], b"bad\ncad\ndabc\n")));
    let best = |i: usize| &answers[i]["hypotheses"][0];
    assert_eq!((best(0)["text"].as_str(), best(1)["text"].as_str()), (Some("dead"), Some("CAD")));
    assert!(best(0)["remembered"][0].as_u64() == best(0)["remembered"][1].as_u64() && best(0)["remembered"][0].as_u64() > Some(10));
    assert!(best(2).get("remembered").is_none());
    assert!(out(&run(&place, &["look", "model", "bad"])).contains("training pairs counted in"));

    std::fs::remove_file(place.path("model/remembered.jsonl")).unwrap();
    let output = feed(&place, &["predict", "model"], b"bad\n");
    assert!(!output.status.success() && err(&output).contains("remembered.jsonl"), "{}", err(&output));
}

#[test]
fn a_model_says_how_sure_it_is_and_leaves_out_what_it_is_not_sure_of() {
    let place = Place::new();
    // Two words that decide, and texts that say nothing.
    let line = |i: usize| match i % 3 {
        0 => format!("a fine day{i}\tgood\n"),
        1 => format!("a dull day{i}\tbad\n"),
        _ => format!("a day{i}\t{}\n", ["good", "bad"][i % 2]),
    };
    place.write("texts.tsv", (0..300).map(line).collect::<String>());
    let output = run(&place, &["train", "--task", "classify", "--train", "texts.tsv", "--out", "model"]);
    assert!(output.status.success(), "{}", err(&output));
    assert!(place.path("model/calibration.toml").exists());
    assert!(std::fs::read_to_string(place.path("model/files.json")).unwrap().contains("calibration.toml"));

    let asked = b"a fine thing\nzzz qqq\na dull thing\n";
    let both = feed(&place, &["predict", "model", "--n-best", "2"], asked);
    assert_eq!(out(&both).lines().count(), 6, "{}", out(&both));
    assert!(out(&both).starts_with("1\tgood\t"), "{}", out(&both));

    let sure = feed(&place, &["predict", "model", "--abstain", "0.8"], asked);
    let lines: Vec<String> = out(&sure).lines().map(str::to_string).collect();
    assert!(lines[0].starts_with("good") && lines[1].is_empty() && lines[2].starts_with("bad"), "{lines:?}");
    assert!(err(&sure).contains("1 of 3 lines left empty"), "{}", err(&sure));
    let sure = feed(&place, &["predict", "model", "--abstain", "0.8", "--json"], asked);
    assert_eq!(json(&out(&sure))[1]["abstained"], true);

    let eval = run(&place, &["eval", "model", "texts.tsv", "--json"]);
    let report = &json(&out(&eval))[0];
    for key in
        ["calibration_error,_uncalibrated", "calibration_error", "accuracy_at_50_percent_answered", "accuracy_at_95_percent_answered"]
    {
        assert!(report[key].as_f64().is_some_and(|x| (0.0..=1.0).contains(&x)), "{key}: {report}");
    }
    assert!(report["accuracy_at_50_percent_answered"].as_f64() >= report["accuracy"].as_f64());

    for (arguments, part) in [
        (&["--abstain", "2"][..], "from 0 to 1"),
        (&["--beam", "3"], "--beam goes with seq2seq models"),
        (&["--prefix", "x"], "--prefix goes with seq2seq models"),
    ] {
        let output = feed(&place, &[&["predict", "model"], arguments].concat(), asked);
        assert_eq!(output.status.code(), Some(2), "{arguments:?}");
        assert!(err(&output).contains(part), "{}", err(&output));
    }
}

#[test]
fn seeds_make_an_ensemble_that_answers_with_the_mean() {
    let place = Place::new();
    let line = |i: usize| format!("{} day{}\t{}\n", ["fine", "dull"][i % 2], i % 7, ["good", "bad"][i % 2]);
    place.write("texts.tsv", (0..600).map(line).collect::<String>());
    let trained = run(&place, &["train", "--task", "classify", "--train", "texts.tsv", "--out", "all", "--seeds", "3", "--seed", "5"]);
    assert!(trained.status.success(), "{}", err(&trained));
    assert!(out(&trained).contains("(n = 3)"), "{}", out(&trained));
    // The members are the models that each seed gives alone, whatever stands beside them.
    let alone = run(&place, &["train", "--task", "classify", "--train", "texts.tsv", "--out", "six", "--seed", "6"]);
    assert!(alone.status.success(), "{}", err(&alone));
    let weights = |name: &str| std::fs::read(place.path(name).join("model.safetensors")).unwrap();
    assert!(weights("six") == weights("all/member-2") && weights("six") != weights("all/member-1"));

    let info = out(&run(&place, &["info", "all"]));
    assert!(info.contains("\nmembers     3\nmember-1    dev accuracy 1.0000; ") && info.contains("task = \"classify\""), "{info}");
    let drawn = out(&run(&place, &["plot", "all"]));
    assert!((1..=3).all(|member| drawn.contains(&format!("all/member-{member}"))), "{drawn}");
    let refused = run(&place, &["train", "--from", "all", "--train", "texts.tsv", "--out", "more"]);
    assert!(refused.status.code() == Some(2) && err(&refused).contains("all/member-1"), "{}", err(&refused));
    let info = json(&out(&run(&place, &["info", "all", "--json"]))).remove(0);
    assert_eq!((&info["members"][2]["name"], &info["members"][2]["run"]["stage"]), (&"member-3".into(), &"finished".into()));

    let probability = |model: &str| {
        let output = feed(&place, &["predict", model, "--json"], b"a fine evening\n");
        assert!(output.status.success(), "{}", err(&output));
        let answer = json(&out(&output)).remove(0);
        (answer["probabilities"]["good"].as_f64().unwrap(), answer["attention"].clone())
    };
    // Without their calibration, the members say what they are averaged from.
    for member in ["all/member-1", "all/member-2"] {
        std::fs::remove_file(place.path(member).join("calibration.toml")).ok();
        std::fs::remove_file(place.path(member).join("files.json")).unwrap();
    }
    let joined = run(&place, &["ensemble", "all/member-1", "all/member-2", "-o", "both"]);
    assert!(joined.status.success(), "{}", err(&joined));
    // They have learnt from all examples, so that together they may be as sure as each was found to be before; of those that do not say, as sure as they are on average.
    assert!(place.path("all/calibration.toml").exists() && !place.path("both/calibration.toml").exists());
    let ((one, _), (two, _), (both, heads)) = (probability("all/member-1"), probability("all/member-2"), probability("both"));
    assert!((both - (one + two) / 2.0).abs() < 1e-6, "{one} {two} {both}");
    assert_eq!(heads.as_array().unwrap().len(), 2);
    assert!(run(&place, &["eval", "all", "texts.tsv"]).status.success());

    // What does not go together is refused, and leaves nothing.
    place.write("others.tsv", (0..60).map(|i| format!("{} x{i}\t{}\n", ["fine", "dull"][i % 2], ["yes", "no"][i % 2])).collect::<String>());
    assert!(run(&place, &["train", "--task", "classify", "--train", "others.tsv", "--out", "others"]).status.success());
    let refused = run(&place, &["ensemble", "six", "others", "-o", "wrong"]);
    assert!(!refused.status.success() && err(&refused).contains("different labels"), "{}", err(&refused));
    assert!(!place.path("wrong").exists());
    // An ensemble is no member, its members may be.
    let refused = run(&place, &["ensemble", "all", "six", "-o", "wrong"]);
    let told = "all, itself an ensemble, but must be one model; name its members instead: all/member-1 all/member-2 all/member-3";
    assert!(!refused.status.success() && err(&refused).contains(told), "{}", err(&refused));
    assert!(!place.path("wrong").exists());
    // What is there goes only for something that goes together, and not if something of somebody else's is in the way.
    let ensemble = |models: &[&str], out: &str| run(&place, &[&["ensemble"], models, &["-o", out, "--force"]].concat());
    assert!(ensemble(&["six", "six"], "pair").status.success());
    assert!(!ensemble(&["six", "others"], "pair").status.success() && weights("pair/member-2") == weights("six"));
    let replaced = ensemble(&["six", "pair/member-1", "pair/member-2"], "pair");
    assert!(replaced.status.success() && weights("pair/member-3") == weights("six"), "{}", err(&replaced));
    place.write("pair/member-2/notes.txt", "mine");
    let refused = ensemble(&["six", "six"], "pair");
    assert!(err(&refused).contains("not a file of ours") && weights("pair/member-3") == weights("six"), "{}", err(&refused));
    let refused = run(&place, &["train", "--task", "classify", "--train", "texts.tsv", "--out", "all"]);
    assert!(!refused.status.success() && err(&refused).contains("already holds several models"), "{}", err(&refused));
}

#[test]
fn transducers_write_one_answer_together() {
    let place = Place::new();
    let data = place.pairs("pairs.tsv", 200);
    train(&place, &data, &[&CHARS[..], &["--seeds", "2"]].concat());
    let answer = |model: &str| json(&out(&feed(&place, &["predict", model, "--json", "--force", "forced.txt"], b"abc\n"))).remove(0);
    place.write("forced.txt", "cba\n");
    let first = |answer: &Value| answer["hypotheses"][0]["probabilities"][0].as_f64().unwrap();
    let (one, two, both) = (answer("model/member-1"), answer("model/member-2"), answer("model"));
    assert!((first(&both) - (first(&one) + first(&two)) / 2.0).abs() < 1e-6);
    assert_eq!(both["hypotheses"][0]["heads"].as_array().unwrap().len(), 2);
    let drawn = run(&place, &["look", "model", "abc"]);
    assert!(drawn.status.success() && out(&drawn).contains("member 2"), "{}", err(&drawn));

    // How sure they are together is found out with what they were developed with, whether or not the training file is there; without it that is said.
    place.pairs("dev.tsv", 40);
    for (name, seed) in [("one", "1"), ("two", "2")] {
        let fit = [
            "train",
            "--task",
            "seq2seq",
            "--train",
            "pairs.tsv",
            "--dev",
            "dev.tsv",
            "--out",
            name,
            "--seed",
            seed,
            "--set",
            "train.epochs=1",
        ];
        assert!(run(&place, &[&fit[..], &CHARS].concat()).status.success());
    }
    let join = |out: &str| run(&place, &["ensemble", "one", "two", "-o", out]);
    std::fs::remove_file(place.path("pairs.tsv")).unwrap();
    let joined = join("sure");
    assert!(joined.status.success() && err(&joined).is_empty() && place.path("sure/calibration.toml").exists(), "{}", err(&joined));
    std::fs::remove_file(place.path("dev.tsv")).unwrap();
    let joined = join("unsure");
    assert!(joined.status.success() && !place.path("unsure/calibration.toml").exists(), "{}", err(&joined));
    assert!(err(&joined).contains("not calibrated") && err(&joined).contains("dev.tsv"), "{}", err(&joined));
    let refused = feed(&place, &["predict", "unsure", "--abstain", "0.5"], b"abc\n");
    assert!(refused.status.code() == Some(2) && err(&refused).contains("when its members were joined"), "{}", err(&refused));
}

#[test]
fn a_model_goes_on_with_new_examples_and_new_units() {
    let place = Place::new();
    let data = place.pairs("pairs.tsv", 120);
    let old = train(&place, &data, &CHARS);
    place.write("new.tsv", (0..60).map(|i| format!("x{}\t{}x\n", "ab".repeat(1 + i % 3), "ba".repeat(1 + i % 3))).collect::<String>());
    let before = std::fs::read(old.join("model.safetensors")).unwrap();
    let more = |extra: &[&str]| run(&place, &[&["train", "--from", "model", "--train", "new.tsv"], extra].concat());

    // With a rate of nearly nothing, what was learnt is what there is; "x" is the one unit that is new on both sides.
    let still = more(&["--out", "still", "--set", "train.rate=1e-30", "--set", "train.epochs=1"]);
    assert!(still.status.success(), "{}", err(&still));
    assert!(err(&still).contains("goes on from the weights in"), "{}", err(&still));
    let answers = |model: &str| json(&out(&feed(&place, &["predict", model, "--json", "--beam", "1"], b"abc\nfa\n")));
    let (was, is) = (answers("model"), answers("still"));
    let units = |name: &str| std::fs::read_to_string(place.path(name)).unwrap();
    assert_eq!(units("still/source.txt"), units("model/source.txt") + "x\n");
    for (was, is) in was.iter().zip(&is) {
        let first = |answer: &Value| answer["hypotheses"][0]["attention"][0].clone();
        assert_eq!(first(was), first(is));
    }
    // It learns, keeps the old model as it was, and mixes old rows in.
    let learnt = more(&["--out", "learnt", "--mix", "0.5", "--set", "train.epochs=2"]);
    assert!(learnt.status.success(), "{}", err(&learnt));
    assert!(err(&learnt).contains("examples in") && err(&learnt).contains("are learnt again"), "{}", err(&learnt));
    assert!(std::fs::read(old.join("model.safetensors")).unwrap() == before);
    // More epochs of the same.
    let longer = run(&place, &["train", "--from", "model", "--out", "longer", "--set", "train.epochs=1"]);
    assert!(longer.status.success(), "{}", err(&longer));

    let wider = more(&["--out", "wider", "--set", "model.hidden=20"]);
    assert!(wider.status.code() == Some(2) && err(&wider).contains("train.from"), "{}", err(&wider));
    assert!(!place.path("wider").exists());
}

#[test]
fn a_classifier_goes_on_with_a_new_label() {
    let place = Place::new();
    let rows = |words: &[(&str, &str)]| {
        (0..90).map(|i| format!("{} day{}\t{}\n", words[i % words.len()].0, i % 9, words[i % words.len()].1)).collect::<String>()
    };
    place.write("old.tsv", rows(&[("fine", "good"), ("dull", "bad")]));
    place.write("new.tsv", rows(&[("odd", "strange"), ("fine", "good")]));
    for form in ["evidence", "pooled"] {
        let set = format!("model.form={form}");
        let small: &[&str] = if form == "pooled" {
            &[
                "--set",
                "model.hidden=8",
                "--set",
                "model.embedding=8",
                "--set",
                "train.batch=100",
                "--set",
                "train.epochs=60",
                "--set",
                "train.rate=0.01",
                "--set",
                "train.patience=0",
            ]
        } else {
            &[]
        };
        let trained = run(&place, &[&["train", "--task", "classify", "--train", "old.tsv", "--out", form, "--set", &set], small].concat());
        assert!(trained.status.success(), "{}", err(&trained));
        let next = format!("{form}-more");
        let more = run(&place, &["train", "--from", form, "--train", "new.tsv", "--mix", "1", "--out", &next]);
        assert!(more.status.success(), "{}", err(&more));
        let answers = out(&feed(&place, &["predict", &next], b"fine day3\ndull day4\nodd day5\n"));
        let labels: Vec<&str> = answers.lines().map(|line| line.split('\t').next().unwrap()).collect();
        assert_eq!(labels, ["good", "bad", "strange"], "{form}");
    }
}

/// Links between words are learnt from a file; the attention is compared with them beside other ways, as a table and as JSON. Resuming with other links is refused.
#[test]
fn attention_is_compared_with_links() {
    let place = Place::new();
    let words = ["one", "two", "three", "four"];
    let (mut pairs, mut links) = (String::new(), String::new());
    for i in 0..60 {
        let pair: Vec<&str> = (0..2 + i % 3).map(|j| words[(i + j * (1 + i / 7)) % 4]).collect();
        pairs += &format!("{}\t{}\n", pair.join(" "), pair.iter().rev().map(|w| w.to_uppercase()).collect::<Vec<_>>().join(" "));
        (0..pair.len()).for_each(|j| links += &format!("{} {} {}\n", i + 1, j + 1, pair.len() - j));
    }
    let data = place.write("pairs.tsv", pairs);
    place.write("links.txt", &links);
    let units = ["--set", "source.units=words", "--set", "target.units=words", "--set", "model.order=luong", "--set", "train.epochs=12"];
    train(
        &place,
        &data,
        &[&units[..], &["--set", "alignment.links=links.txt", "--set", "train.batch=60", "--set", "train.rate=0.02"]].concat(),
    );
    let output = run(&place, &["eval", "model", "pairs.tsv", "--alignments", "links.txt", "--json"]);
    assert!(output.status.success(), "{}", err(&output));
    let report: Value = serde_json::from_str(&out(&output)).unwrap();
    assert_eq!(report["pairs"], 60);
    let f1 = |way: &str| report["ways"].as_array().unwrap().iter().find(|w| w["way"] == way).unwrap()["f1"].as_f64().unwrap();
    assert!(f1("attention, forced") > 0.7 && f1("the diagonal") < 0.5 && f1("IBM model 1") > 0.0, "{report}");
    let table = out(&run(&place, &["eval", "model", "pairs.tsv", "--alignments", "links.txt"]));
    assert!(table.contains("60 pairs with links") && table.lines().all(|line| line.len() <= 80), "{table}");
    place.write("bad.txt", "1 2\n");
    let refused = run(&place, &["eval", "model", "pairs.tsv", "--alignments", "bad.txt"]);
    assert!(!refused.status.success() && err(&refused).contains("line 1 of bad.txt"), "{}", err(&refused));
    for (link, part) in [("1 900 1\n", "a link of pair 1 in line 1 of bad.txt"), ("61 1 1\n", "one of the 60 lines of pairs.tsv")] {
        place.write("bad.txt", link);
        let refused = run(&place, &["eval", "model", "pairs.tsv", "--alignments", "bad.txt"]);
        assert!(!refused.status.success() && err(&refused).contains(part), "{}", err(&refused));
    }
}

/// One model learns what two say, of their own examples and of sources that nobody has answered: these are kept with the answers that they gave.
#[test]
fn one_model_learns_what_an_ensemble_says() {
    let place = Place::new();
    let data = place.pairs("pairs.tsv", 300);
    let small = ["--set", "model.embedding=8", "--set", "model.hidden=12", "--set", "train.epochs=3", "--set", "train.batch=120"];
    let made =
        [&["train", "--task", "seq2seq", "--train", data.to_str().unwrap(), "--out", "two", "--seeds", "2"], &CHARS[..], &small].concat();
    assert!(run(&place, &made).status.success());
    let file = place.write("more.txt", "fcab\n\nbe\n");
    let output = run(&place, &["distil", "two", "--from", file.to_str().unwrap(), "-o", "one", "--beam", "2", "--set", "model.hidden=10"]);
    assert!(output.status.success(), "{}", err(&output));
    let rows = std::fs::read_to_string(place.path("one.train.tsv")).unwrap();
    let answered = feed(&place, &["predict", "two", "--beam", "2"], b"fcab\nbe\n");
    let expected: Vec<String> =
        ["fcab", "be"].iter().zip(out(&answered).lines()).filter(|(_, t)| !t.is_empty()).map(|(s, t)| format!("{s}\t{t}")).collect();
    assert!(!expected.is_empty() && expected.iter().all(|row| rows.lines().any(|line| line == row)), "{expected:?}");
    // All examples of the teacher are there, but those that it was measured on.
    let dev = std::fs::read_to_string(place.path("one.dev.tsv")).unwrap();
    assert_eq!(rows.lines().count() + dev.lines().count(), 300 + expected.len());
    let config = std::fs::read_to_string(place.path("one/config.toml")).unwrap();
    assert!(config.contains("hidden = 10") && config.contains("teacher = "), "{config}");
    let evaluated = run(&place, &["eval", "one", "pairs.tsv"]);
    assert!(evaluated.status.success() && out(&evaluated).contains("accuracy"), "{}", err(&evaluated));
    let refused = run(&place, &["distil", "two", "-o", "one"]);
    assert!(!refused.status.success(), "a model is there already");
    let refused = run(&place, &["distil", "two", "-o", "none", "--recombine", "5"]);
    assert!(!refused.status.success() && err(&refused).contains("features"), "{}", err(&refused));
    let refused = run(&place, &["distil", "two", "-o", "none", "--set", "model.hidden=0"]);
    assert!(!refused.status.success(), "{}", err(&refused));
    assert!(["none", "none.train.tsv", "none.dev.tsv"].iter().all(|file| !place.path(file).exists()), "nothing is left of it");
}

/// What a pupil cannot have of its teacher is said before it learns.
#[test]
fn what_a_pupil_has_otherwise_is_told() {
    let place = Place::new();
    let data = place.pairs("pairs.tsv", 60);
    let small = ["--set", "model.embedding=8", "--set", "model.hidden=8", "--set", "train.epochs=1"];
    train(&place, &data, &[&CHARS[..], &small, &["--set", "model.copy=true", "--set", "data.made_up=50"]].concat());
    let output = run(&place, &["distil", "model", "-o", "pupil"]);
    assert!(output.status.success(), "{}", err(&output));
    for part in ["model.copy = false, other than its teacher: a teacher speaks", "data.made_up = 0, other than its teacher"] {
        assert!(err(&output).contains(part), "{part}: {}", err(&output));
    }
    assert!(!err(&output).contains("alignment.links"), "{}", err(&output));

    train(&place, &data, &[&CHARS[..], &small, &["--set", "model.hard=zeroth", "--set", "data.made_up=0", "--force"]].concat());
    let refused = run(&place, &["distil", "model", "-o", "other"]);
    assert!(refused.status.code() == Some(2) && err(&refused).contains("--set model.hard=off"), "{}", err(&refused));
    let output = run(&place, &["distil", "model", "-o", "other", "--set", "model.hard=off"]);
    assert!(output.status.success() && !err(&output).contains("other than its teacher"), "{}", err(&output));
}

/// A pupil of a model that inflects learns more forms of the same words than the examples have.
#[test]
fn a_teacher_is_asked_for_other_forms_of_the_same_words() {
    let place = Place::new();
    let forms = [("ed", "V;PST"), ("ing", "V;PTCP"), ("s", "N;PL")];
    let line = |i: usize| format!("{}\t{}{}\t{}\n", word(i), word(i), forms[i % 3].0, forms[i % 3].1);
    fn word(i: usize) -> String {
        ["b", "d", "f", "g", "k"][i % 5].to_string() + ["al", "en", "or", "ul"][i / 5 % 4] + ["p", "t", "m"][i / 20 % 3]
    }
    let examples: String = (0..60).map(line).collect();
    place.write("forms.tsv", &examples);
    let small = ["data.made_up=0", "model.embedding=16", "model.hidden=24", "train.epochs=20"].map(|set| ["--set", set]).concat();
    let made =
        run(&place, &[&["train", "--task", "seq2seq", "--train", "forms.tsv", "--dev", "forms.tsv", "--out", "one"], &small[..]].concat());
    assert!(made.status.success(), "{}", err(&made));
    let taught = run(&place, &["distil", "one", "--recombine", "30", "-o", "pupil"]);
    assert!(taught.status.success(), "{}", err(&taught));
    let rows = std::fs::read_to_string(place.path("pupil.train.tsv")).unwrap();
    let (own, other): (Vec<&str>, Vec<&str>) = rows.lines().partition(|row| examples.lines().any(|line| &line == row));
    assert!(own.len() == 60 && !other.is_empty() && other.len() <= 30, "{rows}");
    let asked = |row: &str| row.split('\t').map(String::from).collect::<Vec<_>>();
    for row in other {
        let (source, features) = (&asked(row)[0], &asked(row)[2]);
        let known: Vec<Vec<String>> = examples.lines().map(asked).filter(|line| &line[0] == source).collect();
        // A verb stays a verb; a noun has no second form here.
        assert!(!known.is_empty() && known.iter().all(|line| line[2].starts_with("V;") && &line[2] != features), "{row}");
        assert!(features.starts_with("V;"), "{row}");
    }
}
