//! A run killed at any moment resumes to the same end, to the byte; so does one on another number of threads.

use std::process::{Command, Stdio};
use std::time::Duration;

use crate::common::{Place, command, err, out, run};

/// Long enough, about a second, to be disturbed in its midst.
const SETTINGS: [&str; 8] = [
    "model.embedding=12",
    "model.hidden=24",
    "model.dropout=0.2",
    "train.epochs=60",
    "train.every=2",
    "train.patience=0",
    "train.batch=150",
    "train.average=2",
];

fn arguments<'a>(out: &'a str, extra: &[&'a str]) -> Vec<&'a str> {
    let mut arguments = vec!["train", "--task", "seq2seq", "--train", "pairs.tsv", "--out", out];
    SETTINGS.iter().for_each(|s| arguments.extend(["--set", s]));
    arguments.extend(extra);
    arguments
}

/// The same for a Transformer.
const TRANSFORMER: [&str; 8] = [
    "--set",
    "model.architecture=transformer",
    "--set",
    "transformer.feed_forward=24",
    "--set",
    "transformer.attention_dropout=0.2",
    "--set",
    "model.decoder_layers=1",
];

fn model(place: &Place, out: &str) -> Vec<u8> {
    std::fs::read(place.path(out).join("model.safetensors")).unwrap()
}

#[test]
fn threads_change_nothing() {
    let place = Place::new();
    place.pairs("pairs.tsv", 200);
    for threads in ["1", "2", "4"] {
        let output = run(&place, &arguments(threads, &["--threads", threads]));
        assert!(output.status.success(), "{}", err(&output));
    }
    assert_eq!(model(&place, "1"), model(&place, "2"));
    assert_eq!(model(&place, "1"), model(&place, "4"));
    let output = run(&place, &arguments("other", &["--seed", "2"]));
    assert!(output.status.success());
    assert_ne!(model(&place, "1"), model(&place, "other"));
}

#[test]
fn a_killed_run_resumes_to_the_same_bytes() {
    let place = Place::new();
    place.pairs("pairs.tsv", 400);
    let output = run(&place, &arguments("undisturbed", &[]));
    assert!(output.status.success(), "{}", err(&output));
    let whole = model(&place, "undisturbed");
    // Kill at different moments, several times in a row, then let it finish.
    let mut first = true;
    for wait in [60, 150, 240, 90, 400, 200] {
        let extra = ["train", "--resume", "--out", "killed"];
        let mut run = if first { command(&place, &arguments("killed", &[])) } else { command(&place, &extra) };
        let mut child = run
            .env("SPOTLIGHT_CHECKPOINT_MS", "20")
            .stderr(std::process::Stdio::null())
            .stdout(std::process::Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        let _ = child.kill();
        let _ = child.wait();
        first = !place.path("killed").join("config.toml").exists();
    }
    let output = if first { run(&place, &arguments("killed", &[])) } else { run(&place, &["train", "--resume", "--out", "killed"]) };
    // On a fast computer it may have come to its end before the last kill.
    assert!(output.status.success() || err(&output).contains("finished run"), "{}", err(&output));
    assert!(model(&place, "killed") == whole, "the resumed run ended elsewhere");
}

/// Members that have learnt stay, those under way go on, and those that had not begun begin.
#[test]
fn killed_seeds_resume_to_the_same_bytes() {
    let place = Place::new();
    place.pairs("pairs.tsv", 100);
    let arguments = |out: &'static str| arguments(out, &["--seeds", "3", "--set", "train.epochs=20"]);
    let whole = run(&place, &arguments("undisturbed"));
    assert!(whole.status.success(), "{}", err(&whole));
    let resume = ["train", "--resume", "--out", "killed"];
    for wait in [150, 100, 200, 50] {
        let given = if place.path("killed/seeds.json").exists() { resume.to_vec() } else { arguments("killed") };
        let mut child = command(&place, &[&given[..], &["--threads", "1"]].concat())
            .env("SPOTLIGHT_CHECKPOINT_MS", "5")
            .stderr(Stdio::null())
            .stdout(Stdio::null())
            .spawn()
            .unwrap();
        std::thread::sleep(Duration::from_millis(wait));
        let _ = child.kill();
        let _ = child.wait();
        if place.path("killed/member-1").exists() && !place.path("killed/seeds.json").exists() {
            break;
        }
    }
    if place.path("killed/seeds.json").exists() {
        let again = run(&place, &arguments("killed"));
        assert!(err(&again).contains("interrupted: go on with --resume"), "{}", err(&again));
        let resumed = run(&place, &resume);
        assert!(resumed.status.success(), "{}", err(&resumed));
        assert_eq!(out(&resumed).replace("killed", "undisturbed"), out(&whole));
    }
    assert!(!place.path("killed/seeds.json").exists());
    for member in ["member-1", "member-2", "member-3"] {
        assert!(model(&place, &format!("killed/{member}")) == model(&place, &format!("undisturbed/{member}")), "{member}");
    }
    // What was said of each is in its own log.
    let log = std::fs::read_to_string(place.path("undisturbed/member-2/log.txt")).unwrap();
    let parts = ["begun by spotlight", "training and", "epoch 20", "finished"];
    assert!(parts.iter().all(|part| log.contains(part)), "{log}");
}

/// What is there is replaced only by something that can be learnt.
#[test]
fn refused_seeds_leave_what_is_there() {
    let place = Place::new();
    place.pairs("pairs.tsv", 30);
    let few = ["--seeds", "2", "--set", "train.epochs=2"];
    assert!(run(&place, &arguments("model", &few)).status.success());
    let before = model(&place, "model/member-2");
    for bad in ["data.dev=\"none.tsv\"", "model.hidden=0"] {
        let refused = run(&place, &arguments("model", &[&few[..], &["--force", "--set", bad]].concat()));
        assert!(!refused.status.success() && model(&place, "model/member-2") == before, "{}", err(&refused));
        let refused = run(&place, &arguments("new", &[&few[..], &["--set", bad]].concat()));
        assert!(!refused.status.success() && !place.path("new").exists(), "{}", err(&refused));
    }
}

#[test]
fn a_transformer_is_the_same_on_any_number_of_threads_and_after_a_kill() {
    let place = Place::new();
    place.pairs("pairs.tsv", 60);
    let arguments = |out: &'static str, threads: &'static str| {
        let few = ["--set", "train.epochs=12", "--threads", threads];
        arguments(out, &[&TRANSFORMER[..], &few].concat()).into_iter().map(String::from).collect::<Vec<_>>()
    };
    for threads in ["1", "2"] {
        let given = arguments(threads, threads);
        let output = run(&place, &given.iter().map(String::as_str).collect::<Vec<_>>());
        assert!(output.status.success(), "{}", err(&output));
    }
    assert_eq!(model(&place, "1"), model(&place, "2"));
    let given = arguments("killed", "2");
    let mut child = command(&place, &given.iter().map(String::as_str).collect::<Vec<_>>())
        .env("SPOTLIGHT_CHECKPOINT_MS", "1")
        .stderr(Stdio::null())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    // Killed as soon as there is something to go on from.
    while !place.path("killed").join("checkpoint").exists() && child.try_wait().unwrap().is_none() {
        std::thread::sleep(Duration::from_millis(1));
    }
    let _ = child.kill();
    let _ = child.wait();
    let output = run(&place, &["train", "--resume", "--out", "killed"]);
    assert!(output.status.success() || err(&output).contains("finished run"), "{}", err(&output));
    assert!(model(&place, "killed") == model(&place, "1"), "the resumed run ended elsewhere");
}

#[test]
fn a_checkpoint_of_other_data_is_refused() {
    let place = Place::new();
    place.pairs("pairs.tsv", 400);
    let mut child = command(&place, &arguments("model", &["--set", "train.epochs=500"]))
        .env("SPOTLIGHT_CHECKPOINT_MS", "10")
        .stderr(std::process::Stdio::null())
        .stdout(std::process::Stdio::null())
        .spawn()
        .unwrap();
    let checkpoint = place.path("model/checkpoint/state.safetensors");
    for _ in 0..600 {
        if checkpoint.exists() {
            break;
        }
        std::thread::sleep(Duration::from_millis(50));
    }
    let _ = child.kill();
    let _ = child.wait();
    assert!(checkpoint.exists());
    place.pairs("pairs.tsv", 401);
    let output = run(&place, &["train", "--resume", "--out", "model"]);
    assert_eq!(output.status.code(), Some(1));
    assert!(err(&output).contains("other settings or other data"), "{}", err(&output));
}

#[test]
fn signals_save_and_resuming_ends_at_the_same_bytes() {
    let place = Place::new();
    place.pairs("pairs.tsv", 400);
    let output = run(&place, &arguments("undisturbed", &[]));
    assert!(output.status.success(), "{}", err(&output));
    for (signal, code) in [("INT", 130), ("TERM", 143), ("HUP", 129)] {
        stopped_and_resumed(&place, signal, code);
        std::fs::remove_dir_all(place.path("stopped")).unwrap();
    }
}

fn stopped_and_resumed(place: &Place, signal: &str, code: i32) {
    let child = command(place, &arguments("stopped", &[])).stderr(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    // The folder is there before the first batch; a moment later the run is in the midst of one.
    while !place.path("stopped").join("config.toml").exists() {
        std::thread::sleep(Duration::from_millis(5));
    }
    std::thread::sleep(Duration::from_millis(100));
    let sent = Command::new("kill").args([format!("-{signal}"), child.id().to_string()]).status().unwrap();
    assert!(sent.success());
    let output = child.wait_with_output().unwrap();
    assert_eq!(output.status.code(), Some(code), "so that `train && deploy` does not go on");
    assert!(err(&output).contains("--resume"), "{}", err(&output));
    assert!(place.path("stopped").join("model.safetensors").exists());
    let output = run(place, &["train", "--resume", "--out", "stopped"]);
    assert!(output.status.success(), "{}", err(&output));
    assert!(model(place, "stopped") == model(place, "undisturbed"), "the resumed run ended elsewhere");
}

#[test]
fn a_loss_that_is_no_number_stops_the_run_and_keeps_what_was_good() {
    let place = Place::new();
    place.pairs("pairs.tsv", 200);
    let wild = ["--set", "train.rate=1e30", "--set", "train.clip=0", "--set", "train.schedule=constant", "--set", "train.warmup=0"];
    let output = run(&place, &arguments("wild", &wild));
    let message = err(&output);
    assert_eq!(output.status.code(), Some(1), "{message}");
    for part in ["at step 2", "(lines ", "largest gradient: not a number in ", "There is no checkpoint yet"] {
        assert!(message.contains(part), "{part:?} is not in {message:?}");
    }
    // With a checkpoint after every batch the one of step 1 is kept, and can be read.
    let output = command(&place, &arguments("kept", &wild)).env("SPOTLIGHT_CHECKPOINT_MS", "0").output().unwrap();
    assert!(err(&output).contains("The last good state is in kept/checkpoint/state.safetensors"), "{}", err(&output));
    let again = run(&place, &["train", "--resume", "--out", "kept"]);
    assert!(err(&again).contains("at step 2"), "{}", err(&again));
}

#[test]
fn a_run_that_gets_no_better_stops_early() {
    let place = Place::new();
    place.pairs("pairs.tsv", 60);
    // Errors in characters are not bounded, so that they stop a run even if all is wrong.
    let extra = ["--set", "train.epochs=500", "--set", "train.patience=2", "--set", "train.rate=1e-9", "--set", "train.metric=cer"];
    let output = run(&place, &arguments("model", &extra));
    assert!(output.status.success(), "{}", err(&output));
    assert!(out(&output).contains("no better since"), "{}", out(&output));
    let lines = std::fs::read_to_string(place.path("model/metrics.jsonl")).unwrap().lines().count();
    assert_eq!(lines, 3, "one evaluation that is the best so far and two that are not better");
}
