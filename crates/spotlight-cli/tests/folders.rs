//! What a training does to the folder it is given: nothing of the user's is lost, and no advice goes in a circle.

use std::process::Stdio;
use std::time::Duration;

use crate::common::{Place, command, err, run};

const SMALL: [&str; 8] = ["--set", "model.embedding=8", "--set", "model.hidden=8", "--set", "train.epochs=2", "--set", "train.patience=0"];

fn train<'a>(out: &'a str, extra: &[&'a str]) -> Vec<&'a str> {
    [&["train", "--task", "seq2seq", "--train", "pairs.tsv", "--out", out][..], &SMALL[..], extra].concat()
}

#[test]
fn a_finished_model_is_not_trained_over() {
    let place = Place::new();
    place.pairs("pairs.tsv", 40);
    assert!(run(&place, &train("model", &[])).status.success());
    let weights = std::fs::read(place.path("model/model.safetensors")).unwrap();
    let output = run(&place, &["train", "--resume", "--out", "model"]);
    assert_eq!(output.status.code(), Some(2));
    assert!(err(&output).contains("finished run of 2 epochs"), "{}", err(&output));
    assert_eq!(std::fs::read(place.path("model/model.safetensors")).unwrap(), weights);
    // The advice works: its settings are a recipe.
    let advised = run(&place, &["train", "model/config.toml", "--set", "train.epochs=3", "--out", "other"]);
    assert!(advised.status.success(), "{}", err(&advised));
    let forced = run(&place, &train("model", &["--force", "--seed", "5"]));
    assert!(forced.status.success(), "{}", err(&forced));
    assert_ne!(std::fs::read(place.path("model/model.safetensors")).unwrap(), weights);
}

#[test]
fn files_of_the_user_are_not_touched() {
    let place = Place::new();
    place.pairs("pairs.tsv", 40);
    place.write("source.txt", "mine\n");
    let output = run(&place, &train(".", &[]));
    assert_eq!(output.status.code(), Some(2));
    assert!(err(&output).contains("is not a model's folder"), "{}", err(&output));
    let output = run(&place, &train(".", &["--force"]));
    assert_eq!(output.status.code(), Some(2));
    assert!(err(&output).contains("source.txt is not a file of ours"), "{}", err(&output));
    assert_eq!(std::fs::read_to_string(place.path("source.txt")).unwrap(), "mine\n");
    let left: Vec<_> = std::fs::read_dir(place.path("")).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left.len(), 2, "{left:?}");
}

#[test]
fn a_refused_start_leaves_nothing() {
    let place = Place::new();
    place.pairs("pairs.tsv", 40);
    for (extra, code) in
        [(&["--set", "train.metric=bleu"][..], 2), (&["--set", "train.rate=1e30", "--set", "train.clip=0", "--set", "train.warmup=0"], 1)]
    {
        let output = run(&place, &train("a/model", extra));
        assert_eq!(output.status.code(), Some(code), "{}", err(&output));
        assert!(!place.path("a").exists(), "{extra:?}");
    }
}

#[test]
fn the_second_training_in_a_folder_is_told_of_the_first() {
    let place = Place::new();
    place.pairs("pairs.tsv", 400);
    let mut first =
        command(&place, &train("model", &["--set", "train.epochs=5000"])).stderr(Stdio::null()).stdout(Stdio::null()).spawn().unwrap();
    for _ in 0..1200 {
        if place.path("model/config.toml").exists() {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    for arguments in [train("model", &[]), train("model", &["--force"]), vec!["train", "--resume", "--out", "model"]] {
        let output = run(&place, &arguments);
        assert_eq!(output.status.code(), Some(1), "{}", err(&output));
        assert!(err(&output).contains(&format!("is being written by process {} on ", first.id())), "{}", err(&output));
    }
    let _ = first.kill();
    let _ = first.wait();
    // A killed run keeps nobody out.
    let output = run(&place, &train("model", &[]));
    assert!(output.status.code() == Some(2) && err(&output).contains("--resume"), "{}", err(&output));
    assert!(run(&place, &train("model", &["--force"])).status.success());
}
