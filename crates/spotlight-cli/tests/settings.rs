//! What there is to set, what would be used, and what cannot be.

use crate::common::{Place, err, right, run, train};

#[test]
fn settings_are_listed() {
    let place = Place::new();
    let all = right(&place, &["settings"]);
    for task in ["seq2seq", "classify", "match", "bags"] {
        assert!(all.contains(&format!("task = \"{task}\"")), "{task}");
        let own = right(&place, &["settings", task]);
        assert!(own.contains("\n[train]\n") && own.lines().all(|line| line.chars().count() <= 80), "{own}");
        assert_eq!(own.matches("task = ").count(), 1);
    }
    assert!(
        right(&place, &["settings", "match", "--markdown"])
            .contains("| `wrong` | `5` | Wrong answers drawn for each right one, for the hinge. |")
    );
    let unknown = run(&place, &["settings", "dance"]);
    assert_eq!(unknown.status.code(), Some(2));
}

/// What `--show` prints is a recipe that makes the same model, to the byte, and nothing is written by printing it.
#[test]
fn what_would_be_used_is_what_is_used() {
    let place = Place::new();
    place.pairs("pairs.tsv", 80);
    place.write("texts.tsv", (0..60).map(|i| format!("w{} is {}\t{}\n", i % 7, ["great", "dull"][i % 2], i % 2)).collect::<String>());
    for (task, file, changes) in [
        ("seq2seq", "pairs.tsv", &["--set", "model.hidden=12", "--set", "train.epochs=2"][..]),
        ("classify", "texts.tsv", &["--set", "train.epochs=3"]),
        ("classify", "texts.tsv", &["--set", "model.hidden=6", "--set", "train.epochs=2"]),
    ] {
        let base = [&["train", "--task", task, "--train", file][..], changes].concat();
        let before = std::fs::read_dir(place.0.path()).unwrap().count();
        let shown = right(&place, &[&base[..], &["--show"]].concat());
        assert_eq!(std::fs::read_dir(place.0.path()).unwrap().count(), before);
        assert!(shown.contains(&format!("task = \"{task}\"\n")), "{shown}");
        assert!(shown.contains("  # from the data\n"), "{shown}");
        let given = shown.lines().find(|line| line.starts_with("epochs = ")).unwrap();
        assert!(!given.contains('#'), "what was asked for is not from the data: {given}");

        place.write("recipe.toml", &shown);
        right(&place, &[&base[..], &["--out", "chosen"]].concat());
        right(&place, &["train", "recipe.toml", "--out", "shown"]);
        for name in ["config.toml", "model.safetensors"] {
            let read = |folder: &str| std::fs::read(place.path(folder).join(name)).unwrap();
            assert!(read("chosen") == read("shown"), "{task}: {name} differs");
        }
        std::fs::remove_dir_all(place.path("chosen")).unwrap();
        std::fs::remove_dir_all(place.path("shown")).unwrap();
    }
    let marked = |shown: &str, key: &str| shown.lines().any(|line| line.starts_with(&format!("{key} = ")) && line.contains('#'));
    let plain = right(&place, &["train", "--task", "seq2seq", "--train", "pairs.tsv", "--show"]);
    // Spelt by characters is the default too, and yet it was chosen.
    assert!(marked(&plain, "units") && marked(&plain, "hidden") && marked(&plain, "max_ratio") && !marked(&plain, "cell"), "{plain}");
    assert_eq!(
        run(&place, &["train", "--task", "seq2seq", "--train", "pairs.tsv"]).status.code(),
        Some(2),
        "without --show there is an --out"
    );
}

/// Sizes that no computer has are refused in a line, before anything is allocated or written.
#[test]
fn what_cannot_fit_into_memory_is_refused() {
    let place = Place::new();
    place.pairs("pairs.tsv", 30);
    place.write("texts.tsv", (0..30).map(|i| format!("w{} is {}\t{}\n", i % 7, ["great", "dull"][i % 2], i % 2)).collect::<String>());
    place.write("rows.tsv", (0..30).map(|i| format!("what is q{}\tit is a{}\t{}\n", i / 3, i, i % 3 / 2)).collect::<String>());
    place.write("bags.csv", (0..30).map(|i| format!("{},b{},{},{}\n", i / 2 % 2, i / 2, i, i * i)).collect::<String>());
    let cases = [
        ("seq2seq", "pairs.tsv", "model.hidden=2000000"),
        ("seq2seq", "pairs.tsv", "model.hidden=9000000000000000000"),
        ("seq2seq", "pairs.tsv", "model.embedding=200000000000"),
        ("seq2seq", "pairs.tsv", "attention.alignment=20000000000"),
        ("classify", "texts.tsv", "model.hidden=2000000"),
        ("classify", "texts.tsv", "model.embedding=200000000000"),
        ("match", "rows.tsv", "model.hidden=2000000"),
        ("bags", "bags.csv", "model.hidden=200000000000"),
    ];
    for (task, file, change) in cases {
        let output = run(&place, &["train", "--task", task, "--train", file, "--out", "model", "--set", change]);
        let message = err(&output);
        assert_eq!(output.status.code(), Some(2), "{task} {change}: {message}");
        let key = change.split('=').next().unwrap();
        assert!(message.contains(&format!("`{key}`: training would need")) && message.contains("are free here"), "{message}");
        assert!(!place.path("model").exists() && !message.contains("panicked"), "{message}");
    }
    // A batch larger than the file is no more than the file.
    let data = place.path("pairs.tsv");
    train(&place, &data, &["--set", "train.batch=1000000000000"]);
}

/// Beside what was chosen from the data stands what was told instead; files and seeds are not choices.
#[test]
fn what_was_told_instead_of_what_was_chosen_is_said() {
    let place = Place::new();
    place.pairs("pairs.tsv", 20);
    let base = ["train", "--task", "seq2seq", "--train", "pairs.tsv", "--out", "model", "--seed", "3", "--force"];
    let told = run(&place, &[&base[..], &["--set", "train.epochs=1", "--set", "model.hidden=4"]].concat());
    assert!(err(&told).contains("\nbut as told: train.epochs=1, model.hidden=4\n"), "{}", err(&told));
    let show = ["train", "--task", "seq2seq", "--train", "pairs.tsv", "--seed", "3", "--show"];
    assert!(!err(&run(&place, &show)).contains("as told"));
}
