//! A model's folder: which files it holds, who may write there, and how far its run has got.
//!
//! A training run goes through these steps, and a kill at any moment leaves a folder that the next command understands:
//!
//! 1. [`claim`] looks whether the folder may be used (empty, or with `force` a model of ours) and locks it. Nothing but the lock is written.
//! 2. [`Claim::begin`] writes what a model is before it has learnt: settings and vocabularies. They are made in a folder inside the folder and moved when all are
//!    whole, `config.toml` last: a folder without it, and without weights or a checkpoint, has not begun.
//! 3. The run keeps its best weights, its course and its checkpoint there, through [`ModelFolder`].
//! 4. At the end `run.json` says so. A run that fails before it has anything to keep takes away what it made.
//!
//! [`resume`] takes the place of 1 and 2 for a run that was interrupted. `files.json` (see [`Manifest`]) says which files are ours and what they should hold;
//! [`check`] compares. Folders from before these files were written can be read, resumed and replaced as well.
//!
//! ```
//! use spotlight::folder::{self, State};
//!
//! let place = tempfile::tempdir().unwrap();
//! let path = place.path().join("model");
//! let claim = folder::claim(&path, false)?;
//! // A second one is told who was first.
//! assert!(folder::claim(&path, false).unwrap_err().to_string().contains("is being written by process"));
//! drop(claim);
//! assert!(!path.exists());
//!
//! // A folder with something else in it is not ours.
//! std::fs::write(place.path().join("thesis.txt"), "1 Introduction").unwrap();
//! assert!(folder::claim(place.path(), false).unwrap_err().to_string().contains("thesis.txt"));
//! assert_eq!(folder::state(place.path())?, State::Empty);
//! # Ok::<(), spotlight::Error>(())
//! ```

mod claim;
mod clock;
mod error;
mod lock;
mod log;
mod manifest;
mod record;
mod seeds;
mod sha256;
mod survey;
#[cfg(test)]
mod tests;

use std::path::{Path, PathBuf};

use serde::Serialize;

pub use claim::{Claim, ModelFolder, claim, resume};
pub use error::FolderError;
pub use lock::{Holder, held_by};
pub use log::Log;
pub use manifest::{Entry, Manifest};
pub use record::{Record, Stage};
pub use seeds::Seeds;
pub use survey::{State, state};

use crate::config::ConfigError;
pub use crate::model::Task;
use crate::weights::write_whole;
use crate::{Error, Result};

/// All settings, resolved.
pub const CONFIG: &str = "config.toml";
/// The weights of the best model.
pub const WEIGHTS: &str = "model.safetensors";
/// One line an evaluation.
pub const METRICS: &str = "metrics.jsonl";
/// How far the run has got; see [`Record`].
pub const RECORD: &str = "run.json";
/// Which files are ours; see [`Manifest`].
pub const MANIFEST: &str = "files.json";
/// What was said while training.
pub const LOG: &str = "log.txt";
/// What an audit of the attention found.
pub const AUDIT: &str = "audit.json";
/// How probabilities are calibrated.
pub const CALIBRATION: &str = "calibration.toml";
/// What training pairs answered, of a transducer that remembers.
pub const REMEMBERED: &str = "remembered.jsonl";
/// Training pairs as units of the source and what each writes, of a transducer with a joint n-gram model.
pub const JOINT: &str = "joint.jsonl";
/// How much network and counts each have to say.
pub const VOICES: &str = "voices.toml";
/// What several seeds were asked to learn; see [`Seeds`].
pub const SEEDS: &str = "seeds.json";
/// Who writes there now.
pub const LOCK: &str = "lock";
/// The folder of what a run goes on from.
pub const CHECKPOINT: &str = "checkpoint";
/// The one file in it.
const CHECKPOINT_FILE: &str = "state.safetensors";
/// Where the files of a new model are made before they are moved.
const STAGING: &str = ".spotlight-start";

/// Names that every kind of model uses or may use. With the names of [`frame_names`], folders `fold-1`, `fold-2`, ..., those of an ensemble's members and of kept epochs, and what is left of a file that was being
/// written (its name and `.partial` or `.tmp`), these are all the names a model's folder may hold.
pub const COMMON_NAMES: [&str; 10] = [CONFIG, WEIGHTS, METRICS, RECORD, MANIFEST, LOG, AUDIT, CALIBRATION, LOCK, CHECKPOINT];

/// Names of the files that make a model of this kind, beside [`COMMON_NAMES`].
pub fn frame_names(task: Task) -> &'static [&'static str] {
    match task {
        Task::Seq2seq => {
            &["source.txt", "source.tokenizer.json", "target.txt", "target.tokenizer.json", "features.txt", REMEMBERED, JOINT, VOICES]
        }
        Task::Classify => &["text.txt", "text.tokenizer.json", "units.bin", "labels.txt"],
        Task::Match => &["text.txt", "text.tokenizer.json", "units.bin", "overlap.toml"],
        Task::Bags => &["labels.txt", "standard.toml"],
    }
}

/// What the names of an ensemble's members begin with.
const MEMBER: &str = "member-";

/// The name of a member of an ensemble, counted from 1.
pub fn member_name(number: usize) -> String {
    format!("{MEMBER}{number}")
}

/// The members of an ensemble in their order; none of anything else.
pub fn members(folder: &Path) -> Vec<PathBuf> {
    (1..).map(|number| folder.join(member_name(number))).take_while(|member| config_path(member).exists()).collect()
}

/// What the names of kept epochs begin with.
const EPOCH: &str = "epoch-";

/// The name of the folder that holds the model of an epoch, counted from 1.
pub fn epoch_name(epoch: u64) -> String {
    format!("{EPOCH}{epoch}")
}

/// Copies the files of a model that has learnt to a new folder: those on its list, and the list.
pub fn copy(model: &Path, to: &Path) -> Result<()> {
    copy_if(model, to, |name| is_known(name) && name != LOCK)
}

/// Copies what makes a model before it has learnt: settings and vocabularies.
pub(crate) fn copy_frame(model: &Path, to: &Path) -> Result<()> {
    copy_if(model, to, |name| name == CONFIG || Task::ALL.iter().any(|&task| frame_names(task).contains(&name)))
}

fn copy_if(model: &Path, to: &Path, wanted: impl Fn(&str) -> bool) -> Result<()> {
    create(to)?;
    let entries = std::fs::read_dir(model).map_err(|source| Error::Io { path: model.to_path_buf(), source })?;
    for entry in entries {
        let entry = entry.map_err(|source| Error::Io { path: model.to_path_buf(), source })?;
        let name = entry.file_name();
        if name.to_str().is_some_and(&wanted) && entry.path().is_file() {
            std::fs::copy(entry.path(), to.join(&name)).map_err(|source| Error::Io { path: entry.path(), source })?;
        }
    }
    Ok(())
}

/// The text of a file that need not be there.
pub(crate) fn read_if_there(path: &Path) -> Result<Option<String>> {
    match std::fs::read_to_string(path) {
        Ok(text) => Ok(Some(text)),
        Err(e) if e.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(source) => Err(Error::Io { path: path.to_path_buf(), source }),
    }
}

/// Whether a model may have a file of this name.
pub fn is_known(name: &str) -> bool {
    COMMON_NAMES.contains(&name) || Task::ALL.iter().any(|&task| frame_names(task).contains(&name))
}

/// The task that a recipe or a model's `config.toml` names, if it names one. What is not TOML, and a task that does not exist, is an error.
pub fn task_of(config: &str) -> Result<Option<Task>, ConfigError> {
    let table: toml::Table = config.parse().map_err(|e: toml::de::Error| ConfigError::Syntax(e.to_string().trim_end().into()))?;
    let Some(task) = table.get("task") else { return Ok(None) };
    match task.as_str().and_then(|name| Task::ALL.iter().find(|task| task.name() == name)) {
        Some(&task) => Ok(Some(task)),
        None => {
            let names: Vec<&str> = Task::ALL.iter().map(|task| task.name()).collect();
            Err(ConfigError::Value { key: "task".into(), problem: format!("must be one of {}, is {task}", names.join(", ")) })
        }
    }
}

/// `config.toml` of a folder.
pub fn config_path(folder: &Path) -> PathBuf {
    folder.join(CONFIG)
}

/// The file a run goes on from.
pub fn checkpoint_path(folder: &Path) -> PathBuf {
    folder.join(CHECKPOINT).join(CHECKPOINT_FILE)
}

/// Writes the settings of a model.
pub fn save_config<S: Serialize>(folder: &Path, config: &S) -> Result<()> {
    let text = toml::to_string(config).map_err(|e| ConfigError::Syntax(e.to_string()))?;
    write_whole(&config_path(folder), text.as_bytes())
}

/// Reads the text of `config.toml`.
pub fn read_config(folder: &Path) -> Result<String> {
    let path = config_path(folder);
    match std::fs::read_to_string(&path) {
        Ok(text) => Ok(text),
        Err(source) => Err(Error::Io { path, source }),
    }
}

/// SHA-256 of a model's weights, in hexadecimal.
pub fn weights_checksum(folder: &Path) -> Result<String> {
    let path = folder.join(WEIGHTS);
    match sha256::of_file(&path) {
        Ok((checksum, _)) => Ok(checksum),
        Err(source) => Err(Error::Io { path, source }),
    }
}

/// Makes the folder of a new model.
pub fn create(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|source| Error::Io { path: folder.to_path_buf(), source })
}

/// Whether the files of a model are those that were saved with it; an error names the first that is not. A folder without `files.json` is taken as it is.
pub fn check(folder: &Path) -> Result<()> {
    let Some(mut manifest) = Manifest::read(folder)? else { return Ok(()) };
    if !folder.join(WEIGHTS).exists() && matches!(state(folder)?, State::Empty | State::Interrupted) {
        return Err(FolderError::NoWeights { folder: folder.to_path_buf() }.into());
    }
    while let Some(problem) = manifest.problem(folder)? {
        match Manifest::read(folder)? {
            // A run that goes on has replaced its weights meanwhile.
            Some(now) if now != manifest => manifest = now,
            _ => return Err(problem.into()),
        }
    }
    Ok(())
}
