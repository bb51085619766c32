//! Folders as users and kills leave them.

use std::fs;
use std::path::Path;

use super::*;

fn write(path: &Path, files: &[(&str, &str)]) {
    files.iter().for_each(|(name, text)| {
        fs::create_dir_all(path.join(name).parent().unwrap()).unwrap();
        fs::write(path.join(name), text).unwrap();
    });
}

fn names(path: &Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(path).unwrap().map(|e| e.unwrap().file_name().into_string().unwrap()).collect();
    names.sort();
    names
}

const CLASSIFY: [(&str, &str); 3] = [(CONFIG, "task = \"classify\"\n"), ("text.txt", "a\n"), ("labels.txt", "x\ny\n")];
const BAGS: [(&str, &str); 3] = [(CONFIG, "task = \"bags\"\n"), ("standard.toml", "\n"), ("labels.txt", "u\nv\n")];

fn begin(path: &Path, force: bool, files: &[(&str, &str)]) -> Result<ModelFolder> {
    claim(path, force)?.begin(|staging| {
        write(staging, files);
        Ok(())
    })
}

/// A folder with a finished classifier.
fn finished(path: &Path) {
    let folder = begin(path, false, &CLASSIFY).unwrap();
    folder.replace(WEIGHTS, b"one").unwrap();
    folder.replace(WEIGHTS, b"two").unwrap();
    folder.finish(Record { epochs: 7, ..Record::begun() }).unwrap();
}

/// A folder as it was written before there were lists and records.
fn old(path: &Path, files: &[(&str, &str)]) {
    write(path, files);
    write(path, &[(WEIGHTS, "old"), (METRICS, "{}\n")]);
}

fn refused<T: std::fmt::Debug>(result: Result<T>, parts: &[&str]) {
    let message = result.unwrap_err().to_string();
    parts.iter().for_each(|part| assert!(message.contains(part), "{part:?} is not in {message:?}"));
}

#[test]
fn a_folder_that_is_not_ours_is_refused_and_left_as_it_was() {
    let place = tempfile::tempdir().unwrap();
    for file in ["text.txt", "model.safetensors", "notes/today.md", "fold-1/x.txt", "lock"] {
        let path = place.path().join(file.replace('/', "-"));
        write(&path, &[(file, "mine")]);
        let before = names(&path);
        refused(claim(&path, false), &["is not a model's folder", file.split('/').next().unwrap(), "--force"]);
        assert_eq!((names(&path), fs::read_to_string(path.join(file)).unwrap().as_str()), (before, "mine"));
    }
    // A recipe that happens to be called so is no model.
    let path = place.path().join("recipe");
    write(&path, &[(CONFIG, "task = \"classify\"\n")]);
    refused(claim(&path, false), &[CONFIG]);
    refused(claim(&path, true), &[CONFIG, "not overwritten"]);
    refused(resume(&path), &["nothing to resume"]);
}

#[test]
fn force_replaces_our_files_and_no_others() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path();
    finished(path);
    assert_eq!(state(path).unwrap(), State::Finished);
    refused(claim(path, false), &["already holds a model", "--force"]);
    write(path, &[("notes.md", "mine"), ("source.txt", "mine too"), ("checkpoint/mine", "mine")]);
    let folder = begin(path, true, &BAGS).unwrap();
    folder.replace(WEIGHTS, b"three").unwrap();
    drop(folder);
    let expected = [CHECKPOINT, CONFIG, MANIFEST, "labels.txt", WEIGHTS, "notes.md", RECORD, "source.txt", "standard.toml"];
    assert_eq!(names(path), expected, "text.txt of the classifier is gone");
    assert_eq!(fs::read_to_string(path.join("labels.txt")).unwrap(), "u\nv\n");
    assert_eq!(fs::read_to_string(path.join("notes.md")).unwrap(), "mine");
    // A name that the new model needs and that is not ours.
    write(path, &[("text.txt", "my texts")]);
    refused(begin(path, true, &CLASSIFY), &["text.txt is not a file of ours"]);
    assert_eq!(fs::read_to_string(path.join("text.txt")).unwrap(), "my texts");
    assert_eq!(fs::read(path.join(WEIGHTS)).unwrap(), b"three", "a refused start leaves the model that was there");
    check(path).unwrap();
}

#[test]
fn force_in_a_folder_of_others_overwrites_nothing() {
    let place = tempfile::tempdir().unwrap();
    write(place.path(), &[("data.tsv", "rows")]);
    let folder = begin(place.path(), true, &CLASSIFY).unwrap();
    drop(folder);
    assert_eq!(names(place.path()), ["data.tsv"], "a run with nothing to keep takes its files away");
    write(place.path(), &[(METRICS, "mine")]);
    refused(claim(place.path(), true), &["metrics.jsonl is not a file of ours"]);
}

#[test]
fn a_failed_start_leaves_nothing() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("some/where/model");
    drop(claim(&path, false).unwrap());
    let failed = claim(&path.join("."), false).unwrap().begin(|staging| {
        write(staging, &CLASSIFY);
        Err(FolderError::Nothing { folder: staging.into() }.into())
    });
    assert!(failed.is_err());
    refused(begin(&path, false, &[("surprise.bin", "")]), &["surprise.bin", "not in the list"]);
    drop(begin(&path, false, &CLASSIFY).unwrap());
    assert!(names(place.path()).is_empty());
    // A folder that was there stays.
    fs::create_dir_all(&path).unwrap();
    drop(begin(&path, false, &CLASSIFY).unwrap());
    assert!(names(&path).is_empty());
}

#[test]
fn what_a_run_wants_to_keep_stays() {
    let place = tempfile::tempdir().unwrap();
    for (file, text) in [(WEIGHTS, "w"), ("checkpoint/state.safetensors", "c")] {
        let path = place.path().join(file.replace('/', "-"));
        let folder = begin(&path, false, &CLASSIFY).unwrap();
        write(&path, &[(file, text)]);
        drop(folder);
        assert_eq!(state(&path).unwrap(), State::Interrupted);
        refused(claim(&path, false), &["interrupted", "--resume", "--force"]);
    }
}

#[test]
fn one_writes_at_a_time() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("model");
    let folder = begin(&path, false, &CLASSIFY).unwrap();
    let process = format!("process {}", std::process::id());
    refused(claim(&path, false), &["is being written by", &process]);
    refused(claim(&path, true), &["is being written by", &process]);
    refused(resume(&path), &["is being written by", &process]);
    folder.replace(WEIGHTS, b"one").unwrap();
    drop(folder);
    let folder = resume(&path).unwrap();
    assert!(folder.resumed());
    refused(resume(&path), &[&process]);
    drop(folder);
    assert_eq!(fs::read(path.join(WEIGHTS)).unwrap(), b"one");
}

#[test]
fn a_finished_run_says_so() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("model");
    refused(resume(&path), &["nothing to resume"]);
    finished(&path);
    refused(resume(&path), &["finished run of 7 epochs", "config.toml --set train.epochs=N --out"]);
    assert_eq!(fs::read(path.join(WEIGHTS)).unwrap(), b"two");
    let old_one = place.path().join("old");
    old(&old_one, &CLASSIFY);
    refused(resume(&old_one), &["holds a finished run: there is nothing"]);
}

#[test]
fn a_folder_from_before_the_lists_is_still_ours() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("old");
    old(&path, &[(CONFIG, "task = \"seq2seq\"\n"), ("source.txt", "a\n"), ("target.txt", "b\n")]);
    check(&path).unwrap();
    assert_eq!(state(&path).unwrap(), State::Finished);
    refused(claim(&path, false), &["already holds a model"]);
    // It has no text.txt, so this one is the user's.
    write(&path, &[("text.txt", "mine")]);
    refused(begin(&path, true, &CLASSIFY), &["text.txt is not a file of ours"]);
    assert_eq!(fs::read_to_string(path.join(WEIGHTS)).unwrap(), "old");
    drop(begin(&path, true, &BAGS).unwrap());
    assert_eq!(names(&path), ["text.txt"]);

    let path = place.path().join("interrupted");
    old(&path, &CLASSIFY);
    write(&path, &[("checkpoint/state.safetensors", "c"), ("log.txt", "mine")]);
    assert_eq!(state(&path).unwrap(), State::Interrupted);
    let folder = resume(&path).unwrap();
    refused(folder.log(), &["log.txt is not a file of ours"]);
    folder.replace(WEIGHTS, b"new").unwrap();
    folder.finish(Record::begun()).unwrap();
    drop(folder);
    check(&path).unwrap();
    assert_eq!(state(&path).unwrap(), State::Finished);
    assert!(!path.join(CHECKPOINT).exists() && path.join("log.txt").exists());
}

/// Every state in which a start can be killed is one that the next start may use.
#[test]
fn a_start_that_was_killed_can_be_started_again() {
    let place = tempfile::tempdir().unwrap();
    let whole = place.path().join("whole");
    drop({
        let folder = begin(&whole, false, &CLASSIFY).unwrap();
        folder.replace(WEIGHTS, b"one").unwrap();
        folder
    });
    let staged = |path: &Path| write(&path.join(STAGING), &CLASSIFY);
    let copy = |path: &Path, files: &[&str]| {
        fs::create_dir_all(path).unwrap();
        for file in files {
            fs::copy(whole.join(file), path.join(file)).unwrap();
        }
    };
    for (i, files) in [&[][..], &[MANIFEST], &[MANIFEST, RECORD], &[MANIFEST, RECORD, "labels.txt", "text.txt"]].iter().enumerate() {
        let path = place.path().join(i.to_string());
        copy(&path, files);
        staged(&path);
        write(&path, &[(LOCK, "")]);
        assert_eq!(state(&path).unwrap(), State::Empty, "{files:?}");
        refused(resume(&path), &["nothing to resume"]);
        let folder = begin(&path, false, &BAGS).unwrap();
        folder.replace(WEIGHTS, b"two").unwrap();
        drop(folder);
        assert_eq!(names(&path), [CONFIG, MANIFEST, "labels.txt", WEIGHTS, RECORD, "standard.toml"], "{files:?}");
        check(&path).unwrap();
    }
}

/// Between the list and the weights a kill leaves either; both load, and a half-written file is ours.
#[test]
fn a_kill_while_weights_are_replaced_damages_nothing() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("model");
    let folder = begin(&path, false, &CLASSIFY).unwrap();
    refused(check(&path), &["no weights yet", "--resume"]);
    folder.replace(WEIGHTS, b"one").unwrap();
    drop(folder);
    let folder = resume(&path).unwrap();
    folder.replace(WEIGHTS, b"two").unwrap();
    drop(folder);
    for weights in ["one", "two"] {
        write(&path, &[(WEIGHTS, weights), ("model.safetensors.partial", "tw")]);
        check(&path).unwrap();
        drop(resume(&path).unwrap());
    }
    // The next replacement remembers the file that is there, not the one that was announced.
    write(&path, &[(WEIGHTS, "one")]);
    resume(&path).unwrap().replace(WEIGHTS, b"three").unwrap();
    write(&path, &[(WEIGHTS, "one")]);
    check(&path).unwrap();
    write(&path, &[(WEIGHTS, "other")]);
    refused(check(&path), &["model.safetensors", "swapped"]);
    refused(resume(&path), &["model.safetensors", "swapped"]);
    // Announced, and killed before they were there.
    fs::remove_file(path.join(WEIGHTS)).unwrap();
    refused(check(&path), &["no weights yet"]);
    drop(resume(&path).unwrap());
}

#[test]
fn a_finished_model_knows_only_its_last_weights() {
    let place = tempfile::tempdir().unwrap();
    finished(place.path());
    check(place.path()).unwrap();
    write(place.path(), &[(WEIGHTS, "one")]);
    refused(check(place.path()), &["model.safetensors", "swapped"]);
    fs::remove_file(place.path().join(WEIGHTS)).unwrap();
    refused(check(place.path()), &["model.safetensors: is missing"]);
}

#[test]
fn folds_have_folders_of_their_own() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("folds");
    let fold = |claim: &Claim, number: usize| {
        let folder = claim.fold(number).unwrap().begin(|staging| {
            write(staging, &BAGS);
            Ok(())
        });
        let folder = folder.unwrap();
        folder.replace(WEIGHTS, b"w").unwrap();
        folder.finish(Record::begun()).unwrap();
    };
    let first = claim(&path, false).unwrap();
    (1..=3).for_each(|number| fold(&first, number));
    drop(first);
    assert_eq!((state(&path).unwrap(), names(&path).len()), (State::Folds, 3));
    refused(claim(&path, false), &["already holds several models"]);
    let second = claim(&path, true).unwrap();
    second.clear().unwrap();
    (1..=2).for_each(|number| fold(&second, number));
    drop(second);
    assert_eq!(names(&path), ["fold-1", "fold-2"], "the third fold of the first time is gone");
    write(&path, &[("fold-1/mine.txt", "mine")]);
    refused(claim(&path, false), &["already holds several models"]);
    claim(&path, true).unwrap().clear().unwrap();
    assert_eq!(fs::read_to_string(path.join("fold-1/mine.txt")).unwrap(), "mine");
}

#[test]
fn a_log_is_added_to() {
    let place = tempfile::tempdir().unwrap();
    let folder = begin(place.path(), false, &CLASSIFY).unwrap();
    folder.log().unwrap().line("one");
    folder.log().unwrap().line("two");
    let log = fs::read_to_string(place.path().join(LOG)).unwrap();
    assert_eq!(log.lines().map(|line| line.split_once("Z  ").unwrap().1).collect::<Vec<_>>(), ["one", "two"]);
    drop(folder);
    assert!(names(place.path()).is_empty());
}

/// Weights of a model that has no settings are somebody's work as well.
#[test]
fn weights_alone_are_not_trained_over() {
    let place = tempfile::tempdir().unwrap();
    let path = place.path().join("model");
    begin(&path, false, &[]).unwrap().replace(WEIGHTS, b"one").unwrap();
    refused(claim(&path, false), &["already holds a model"]);
    drop(resume(&path).unwrap());
    resume(&path).unwrap().finish(Record::begun()).unwrap();
    refused(claim(&path, false), &["already holds a model"]);
    refused(resume(&path), &["finished run"]);
    drop(begin(&path, true, &CLASSIFY).unwrap());
    assert!(names(&path).is_empty());
}
