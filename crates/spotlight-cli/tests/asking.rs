//! What is asked is read by the same rules as what is learnt from.

use crate::common::{Place, err, feed, out, run};

fn trained(place: &Place, task: &str, file: &str, extra: &[&str]) {
    let base = ["train", "--task", task, "--train", file, "--out", "model", "--quiet", "--force"];
    let output = run(place, &[&base[..], extra].concat());
    assert!(output.status.success(), "{}", err(&output));
}

#[test]
fn files_and_lines_are_read_alike_and_long_texts_are_told() {
    let place = Place::new();
    place.write(
        "texts.tsv",
        (0..60).map(|i| format!("w{} is {}\t{}\n", i % 7, ["great", "dull"][i % 2], ["good", "bad"][i % 2])).collect::<String>(),
    );
    trained(&place, "classify", "texts.tsv", &["--set", "data.longest=30"]);
    let lines = format!("w1 is great\nw2 is dull\tbad\n\n{}\nw3 is great\n", "w4 is dull ".repeat(4));
    place.write("lines.txt", &lines);
    let (file, live) = (run(&place, &["predict", "model", "lines.txt"]), feed(&place, &["predict", "model"], lines.as_bytes()));
    assert_eq!(out(&file), out(&live));
    let answers: Vec<String> = out(&file).lines().map(str::to_string).collect();
    assert_eq!(answers.len(), 5, "{answers:?}");
    assert!(answers[0].starts_with("good\t") && answers[1].starts_with("bad\t") && answers[4].starts_with("good\t"), "{answers:?}");
    assert_eq!((answers[2].as_str(), answers[3].as_str()), ("", ""));
    for (output, name) in [(&file, "lines.txt"), (&live, "-")] {
        assert_eq!(output.status.code(), Some(1));
        assert!(err(output).contains(&format!("{name}:3")), "{}", err(output));
        assert!(err(output).contains(&format!("{name}:4:1: the text has 44 characters, more than data.longest = 30")), "{}", err(output));
    }
    // A file called .csv is CSV here too.
    place.write("texts.csv", "\"w1 is great, yes\",good\nw2 is dull,bad\n");
    let csv = run(&place, &["predict", "model", "texts.csv", "--json"]);
    let texts: Vec<serde_json::Value> = out(&csv).lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!((&texts[0]["text"], &texts[1]["text"]), (&"w1 is great, yes".into(), &"w2 is dull".into()));
}

#[test]
fn candidates_are_read_by_the_layout_of_tables() {
    let place = Place::new();
    place.write("rows.tsv", (0..30).map(|i| format!("what is q{}\tit is a{}\t{}\n", i / 3, i, i % 3 / 2)).collect::<String>());
    trained(&place, "match", "rows.tsv", &["--set", "model.hidden=4", "--set", "train.epochs=1"]);
    place.write("asked.csv", "what is q1,\"it, is a1\"\nwhat is q1,it is a2,1\n");
    let csv = run(&place, &["predict", "model", "asked.csv"]);
    assert!(csv.status.success() && out(&csv).contains("it, is a1"), "{}", err(&csv));
    let one = feed(&place, &["predict", "model"], b"what is q1\n");
    assert!(err(&one).contains("-:1:11: expected 2 tab-separated column(s): question, answer; found 1"), "{}", err(&one));
}

#[test]
fn what_is_left_out_of_bags_is_told() {
    let place = Place::new();
    let rows = |range: std::ops::Range<usize>| range.map(|i| format!("{},b{},{},{}\n", i / 2 % 2, i / 2, i, i * i)).collect::<String>();
    place.write("bags.csv", rows(0..30));
    trained(&place, "bags", "bags.csv", &["--set", "train.epochs=1"]);
    place.write("asked.csv", format!("{}\n{}", rows(0..4), rows(4..8)));
    for command in ["predict", "look"] {
        let output = run(&place, &[command, "model", "asked.csv"]);
        assert!(output.status.success(), "{}", err(&output));
        assert_eq!(err(&output).matches("asked.csv:5: a blank line, passed over").count(), 1, "{}", err(&output));
    }
}

/// More units than learned positions: `predict` answers the other lines, `eval` and `train` name the line.
#[test]
fn what_is_longer_than_learned_positions_is_told_by_its_line() {
    let (long, word) = ("a ".repeat(30), "ab".repeat(15));
    for (task, reads, rows, asked) in [
        ("seq2seq", "model.architecture", ["ab\tba", "abc\tcba"], format!("ab\tba\n{word}\tb\nabc\tcba\n")),
        ("classify", "model.encoder", ["fine film\tgood", "dull film\tbad"], format!("fine\tgood\n{long}\tgood\ndull\tbad\n")),
        ("match", "model.encoder", ["what is it\ta cat\t1", "what is it\tno\t0"], format!("who\ta\t1\nwho\t{long}\t0\nwho\tb\t0\n")),
    ] {
        let place = Place::new();
        let known = (0..20).map(|i| format!("{}\n", rows[i % 2])).collect::<String>();
        place.write("rows.tsv", &known);
        place.write("more.tsv", format!("{known}{asked}"));
        place.write("asked.tsv", &asked);
        let reads = format!("{reads}=transformer");
        let mut settings = vec!["--set", &reads, "--set", "transformer.positions=learned", "--set", "transformer.longest=16"];
        settings.extend(["--set", "model.hidden=8", "--set", "train.epochs=1"]);
        if task != "seq2seq" {
            settings.extend(["--set", "model.form=pooled"]);
        }
        trained(&place, task, "rows.tsv", &settings);
        let predicted = run(&place, &["predict", "model", "asked.tsv"]);
        let told = err(&predicted);
        assert!(told.contains("asked.tsv:2:1: the") && told.contains("more than the 16 positions"), "{task}: {told}");
        assert_eq!((predicted.status.code(), out(&predicted).lines().count()), (Some(1), 3), "{task}");
        let train = [&["train", "--task", task, "--train", "more.tsv", "--out", "other"], &settings[..]].concat();
        for (arguments, line) in [(vec!["eval", "model", "asked.tsv"], 2), (train, 22)] {
            let refused = run(&place, &arguments);
            assert_eq!(refused.status.code(), Some(1), "{task}: {}", err(&refused));
            assert!(err(&refused).contains(&format!("in line {line} is")), "{task}: {}", err(&refused));
        }
    }
}
