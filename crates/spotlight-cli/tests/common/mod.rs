//! Runs the command as a user would.
#![allow(dead_code)]

#[path = "../../../spotlight/tests/common/skip.rs"]
pub mod skip;

use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

use tempfile::TempDir;

/// A folder to work in.
pub struct Place(pub TempDir);

impl Place {
    pub fn new() -> Self {
        Place(tempfile::tempdir().unwrap())
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    pub fn write(&self, name: &str, content: impl AsRef<[u8]>) -> PathBuf {
        let path = self.path(name);
        std::fs::write(&path, content).unwrap();
        path
    }

    /// Short words and their reverse: something small to learn.
    pub fn pairs(&self, name: &str, count: usize) -> PathBuf {
        let word = |i: usize| (0..2 + i % 3).map(|j| (b'a' + ((i * 7 + j * 3 + i / 5) % 6) as u8) as char).collect::<String>();
        let line = |i| format!("{}\t{}\n", word(i), word(i).chars().rev().collect::<String>());
        self.write(name, (0..count).map(line).collect::<String>())
    }
}

/// The command with these arguments, in a folder.
pub fn command(place: &Place, arguments: &[&str]) -> Command {
    let mut command = Command::new(env!("CARGO_BIN_EXE_spotlight"));
    command.current_dir(place.0.path()).args(arguments).stdin(Stdio::null()).env("NO_COLOR", "1");
    command
}

pub fn run(place: &Place, arguments: &[&str]) -> Output {
    command(place, arguments).output().unwrap()
}

/// Runs, expects success, and gives what was printed.
pub fn right(place: &Place, arguments: &[&str]) -> String {
    let output = run(place, arguments);
    assert!(output.status.success(), "{arguments:?}: {}", err(&output));
    out(&output)
}

/// Runs with standard input.
pub fn feed(place: &Place, arguments: &[&str], input: &[u8]) -> Output {
    let file = place.write("standard-input", input);
    command(place, arguments).stdin(std::fs::File::open(file).unwrap()).output().unwrap()
}

pub fn out(output: &Output) -> String {
    String::from_utf8(output.stdout.clone()).unwrap()
}

pub fn err(output: &Output) -> String {
    String::from_utf8(output.stderr.clone()).unwrap()
}

/// Trains a small model and expects success.
pub fn train(place: &Place, data: &Path, extra: &[&str]) -> PathBuf {
    let model = place.path("model");
    let mut arguments = vec!["train", "--task", "seq2seq", "--train", data.to_str().unwrap(), "--out", "model"];
    for setting in ["model.embedding=8", "model.hidden=12", "model.dropout=0.1", "train.epochs=3", "train.batch=120", "train.every=1"] {
        arguments.extend(["--set", setting]);
    }
    arguments.extend(extra);
    let output = run(place, &arguments);
    assert!(output.status.success(), "{}", err(&output));
    model
}
