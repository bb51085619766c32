//! What a folder holds: which files are ours, which are not, and how far the run has got.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use super::{
    CALIBRATION, CHECKPOINT, CHECKPOINT_FILE, CONFIG, FolderError, LOCK, MANIFEST, METRICS, Manifest, Record, SEEDS, STAGING, Seeds, Stage,
    WEIGHTS, checkpoint_path, config_path, frame_names, lock, task_of,
};
use crate::model::Calibration;
use crate::{Error, Result};

/// How far the run of a folder has got.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// There is no model: the folder is missing, empty or somebody else's, or a start was killed before it had begun.
    Empty,
    /// A run was stopped or killed, or is under way; [`held_by`](super::held_by) tells which.
    Interrupted,
    /// The model is as good as its run makes it.
    Finished,
    /// It holds a folder for each fold of a cross-validation, or for each member of an ensemble.
    Folds,
}

/// How far the run of a folder has got. A folder from before `run.json` was written is finished if it has weights and no checkpoint.
pub fn state(folder: &Path) -> Result<State> {
    Ok(survey(folder)?.state)
}

/// What a folder holds.
pub(super) struct Survey {
    pub state: State,
    /// Entries that are ours.
    pub ours: Vec<String>,
    /// Entries that are not.
    pub foreign: Vec<String>,
}

/// Looks through a folder; one that does not exist is empty.
pub(super) fn survey(folder: &Path) -> Result<Survey> {
    let owner = Owner::of(folder)?;
    let mut survey = Survey { state: State::Empty, ours: Vec::new(), foreign: Vec::new() };
    let mut folds = false;
    for name in entries(folder)? {
        let path = folder.join(&name);
        let ours = match name.as_str() {
            LOCK => lock::is_ours(&path),
            STAGING => path.is_dir(),
            SEEDS => Seeds::read(folder).is_some(),
            // Of an ensemble, which has no list.
            CALIBRATION if matches!(owner, Owner::Nobody) => matches!(Calibration::load(folder), Ok(Some(_))),
            part if is_part(part) && path.is_dir() => {
                let inside = self::survey(&path)?;
                folds |= inside.state != State::Empty;
                inside.foreign.is_empty()
            }
            CHECKPOINT => owner.owns(CHECKPOINT) && path.is_dir(),
            name => owner.owns(without_ending(name)) && path.is_file(),
        };
        let list = if ours { &mut survey.ours } else { &mut survey.foreign };
        list.push(name);
    }
    let has = |wanted: &str| survey.ours.iter().any(|name| name == wanted);
    survey.state = if has(CONFIG) || has(WEIGHTS) || has(CHECKPOINT) && checkpoint_path(folder).exists() {
        let finished = match Record::read(folder) {
            Some(record) => record.stage == Stage::Finished,
            None => folder.join(WEIGHTS).exists() && !checkpoint_path(folder).exists(),
        };
        if finished { State::Finished } else { State::Interrupted }
    } else if has(SEEDS) {
        State::Interrupted
    } else if folds {
        State::Folds
    } else {
        State::Empty
    };
    Ok(survey)
}

/// Who says which files are ours.
enum Owner {
    Manifest(Manifest),
    /// A model from before there were manifests: the names it must have, and no others.
    Old(Vec<&'static str>),
    Nobody,
}

impl Owner {
    fn of(folder: &Path) -> Result<Owner> {
        match Manifest::read(folder) {
            Ok(Some(manifest)) => return Ok(Owner::Manifest(manifest)),
            // Not one of ours, or one that cannot be trusted any more.
            Ok(None) | Err(Error::Folder(FolderError::Damaged { .. })) => {}
            Err(other) => return Err(other),
        }
        // A recipe may be called config.toml too; only with what a run has written is it a model's.
        let task = fs::read_to_string(config_path(folder)).ok().and_then(|text| task_of(&text).ok().flatten());
        let written = folder.join(WEIGHTS).exists() || checkpoint_path(folder).exists();
        Ok(match task {
            Some(task) if written => Owner::Old([&[CONFIG, WEIGHTS, METRICS, CHECKPOINT][..], frame_names(task)].concat()),
            _ => Owner::Nobody,
        })
    }

    fn owns(&self, name: &str) -> bool {
        match self {
            Owner::Manifest(manifest) => manifest.owns(name),
            Owner::Old(names) => names.contains(&name),
            Owner::Nobody => false,
        }
    }
}

/// Removes the files of ours; the list of them is the last, so that a kill on the way leaves nothing that seems to be somebody else's. The lock and what is being made stay.
pub(super) fn remove_ours(folder: &Path) -> Result<()> {
    let survey = survey(folder)?;
    let gone = |path: &Path, removed: std::io::Result<()>| match removed {
        Err(source) if source.kind() != ErrorKind::NotFound => Err(Error::Io { path: path.to_path_buf(), source }),
        _ => Ok(()),
    };
    // Without its settings a folder has not begun.
    let (first, rest): (Vec<String>, Vec<String>) = survey.ours.into_iter().partition(|name| name == CONFIG);
    for name in first.iter().chain(&rest) {
        let path = folder.join(name);
        match name.as_str() {
            LOCK | MANIFEST | STAGING => {}
            CHECKPOINT => {
                for file in [CHECKPOINT_FILE.to_string(), format!("{CHECKPOINT_FILE}.partial")] {
                    gone(&path, fs::remove_file(path.join(file)))?;
                }
                // Stays if somebody has put something else there.
                let _ = fs::remove_dir(&path);
            }
            part if is_part(part) => {
                remove_ours(&path)?;
                let _ = fs::remove_dir_all(path.join(STAGING));
                let _ = fs::remove_file(path.join(LOCK));
                gone(&path, fs::remove_dir(&path))?;
            }
            _ => gone(&path, fs::remove_file(&path))?,
        }
    }
    if rest.iter().any(|name| name == MANIFEST) {
        let path = folder.join(MANIFEST);
        gone(&path, fs::remove_file(&path))?;
    }
    Ok(())
}

/// Names in a folder, sorted.
fn entries(folder: &Path) -> Result<Vec<String>> {
    let io = |source| Error::Io { path: folder.to_path_buf(), source };
    let listed = match fs::read_dir(folder) {
        Ok(listed) => listed,
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(Vec::new()),
        Err(e) => return Err(io(e)),
    };
    let name = |entry: std::io::Result<fs::DirEntry>| Ok(entry?.file_name().to_string_lossy().into_owned());
    let mut names = listed.map(name).collect::<std::io::Result<Vec<String>>>().map_err(io)?;
    names.sort();
    Ok(names)
}

/// Whether a folder of this name is that of a fold, of a member of an ensemble or of an epoch.
fn is_part(name: &str) -> bool {
    let number = ["fold-", super::MEMBER, super::EPOCH].into_iter().find_map(|prefix| name.strip_prefix(prefix));
    number.is_some_and(|number| !number.is_empty() && number.bytes().all(|b| b.is_ascii_digit()))
}

/// The name that a half-written file was to get.
fn without_ending(name: &str) -> &str {
    name.strip_suffix(".partial").or_else(|| name.strip_suffix(".tmp")).unwrap_or(name)
}
