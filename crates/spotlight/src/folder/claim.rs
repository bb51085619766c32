//! Taking a folder for a run.

use std::collections::BTreeSet;
use std::fs::{self, File, OpenOptions};
use std::path::{Path, PathBuf};

use super::log::Log;
use super::survey::{State, remove_ours, survey};
use super::{
    CHECKPOINT, CHECKPOINT_FILE, COMMON_NAMES, CONFIG, Entry, FolderError, LOG, MANIFEST, Manifest, RECORD, Record, STAGING, Stage,
    WEIGHTS, checkpoint_path, held_by, is_known, lock::Lock,
};
use crate::weights::write_whole;
use crate::{Error, Result};

/// A folder that is locked. When it is let go, what was made only to hold it is taken away: the lock, and folders that are still empty.
#[derive(Debug)]
struct Hold {
    path: PathBuf,
    /// Folders that were made, from the outermost.
    made: Vec<PathBuf>,
    lock: Option<Lock>,
}

impl Hold {
    fn take(path: &Path) -> Result<Hold> {
        let mut hold = Hold { path: path.to_path_buf(), made: Vec::new(), lock: None };
        let missing = path.ancestors().take_while(|a| !a.as_os_str().is_empty() && !a.exists());
        for folder in missing.collect::<Vec<_>>().into_iter().rev() {
            match fs::create_dir(folder) {
                Ok(()) => hold.made.push(folder.to_path_buf()),
                Err(_) if folder.is_dir() => {}
                Err(source) => return Err(Error::Io { path: folder.to_path_buf(), source }),
            }
        }
        hold.lock = Some(Lock::take(path)?);
        Ok(hold)
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        if self.lock.is_some() {
            let _ = fs::remove_dir_all(self.path.join(STAGING));
        }
        self.lock = None;
        for folder in self.made.iter().rev() {
            // Refused for a folder with something in it.
            let _ = fs::remove_dir(folder);
        }
    }
}

/// A folder in which a run may begin. Nothing in it has been changed; dropped, it is as it was.
#[derive(Debug)]
pub struct Claim {
    hold: Hold,
    force: bool,
}

/// Takes a folder for a new run. It may be missing or empty. With `force` it may also hold a model of ours, which [`Claim::begin`] replaces, and files of others,
/// which stay.
pub fn claim(path: &Path, force: bool) -> Result<Claim> {
    let path = &plain(path);
    // First without touching anything, then again with the lock: somebody may have been faster.
    admit(path, force)?;
    let claim = Claim { hold: Hold::take(path)?, force };
    let _ = fs::remove_dir_all(path.join(STAGING));
    may_hold(path, force)?;
    Ok(claim)
}

/// The same path without `.` in its midst or at its end, so that every part of it can be made in turn.
fn plain(path: &Path) -> PathBuf {
    let plain: PathBuf = path.components().collect();
    if plain.as_os_str().is_empty() { ".".into() } else { plain }
}

fn admit(path: &Path, force: bool) -> Result<()> {
    if let Some(holder) = held_by(path) {
        return Err(FolderError::Locked { folder: path.to_path_buf(), holder }.into());
    }
    may_hold(path, force)
}

/// Whether a new model may be written here.
fn may_hold(path: &Path, force: bool) -> Result<()> {
    let folder = path.to_path_buf();
    let found = survey(path)?;
    let problem = match found.state {
        State::Finished if !force => FolderError::Taken { folder },
        State::Interrupted if !force => FolderError::TakenByInterrupted { folder },
        State::Folds if !force => FolderError::TakenByFolds { folder },
        _ if force => match found.foreign.iter().find(|name| COMMON_NAMES.contains(&name.as_str())) {
            Some(name) => FolderError::Clash { file: path.join(name) },
            None => return Ok(()),
        },
        _ => match found.foreign.first() {
            Some(file) => FolderError::Foreign { folder, file: file.clone() },
            None => return Ok(()),
        },
    };
    Err(problem.into())
}

impl Claim {
    /// The folder.
    pub fn path(&self) -> &Path {
        &self.hold.path
    }

    /// Writes the files of a new model that has not learnt anything: `save` writes them into the folder it is given. A model that was there before goes.
    pub fn begin(self, save: impl FnOnce(&Path) -> Result<()>) -> Result<ModelFolder> {
        let path = self.path().to_path_buf();
        let staging = path.join(STAGING);
        let io = |path: &Path| {
            let path = path.to_path_buf();
            move |source| Error::Io { path, source }
        };
        fs::create_dir_all(&staging).map_err(io(&staging))?;
        save(&staging)?;
        let mut names = Vec::new();
        for entry in fs::read_dir(&staging).map_err(io(&staging))? {
            names.push(entry.map_err(io(&staging))?.file_name().to_string_lossy().into_owned());
        }
        // Settings last: with them the run has begun.
        names.sort_by_key(|name| (name == CONFIG, name.clone()));
        let foreign = survey(&path)?.foreign;
        for name in &names {
            if !is_known(name) {
                return Err(FolderError::Unlisted { name: name.clone() }.into());
            }
            if foreign.contains(name) {
                return Err(FolderError::Clash { file: path.join(name) }.into());
            }
        }
        let mut manifest = Manifest { files: Vec::new(), others: common_names() };
        for name in &names {
            manifest.set(name, [Entry::of_file(&staging, name)?]);
        }
        let list = staging.join(MANIFEST);
        write_whole(&list, &manifest.bytes()?)?;

        // From here on the folder is the new model's.
        let folder = ModelFolder { hold: self.hold, new: true };
        adopt(&path)?;
        remove_ours(&path)?;
        fs::rename(&list, path.join(MANIFEST)).map_err(io(&list))?;
        folder.record(&Record::begun())?;
        for name in &names {
            fs::rename(staging.join(name), path.join(name)).map_err(io(&path.join(name)))?;
        }
        if let Ok(folder) = File::open(&path) {
            // As after any rename; some systems cannot sync a folder.
            let _ = folder.sync_all();
        }
        fs::remove_dir_all(&staging).map_err(io(&staging))?;
        Ok(folder)
    }

    /// Takes the folder of one fold of a cross-validation, counted from 1.
    pub fn fold(&self, number: usize) -> Result<Claim> {
        claim(&self.path().join(format!("fold-{number}")), self.force)
    }

    /// Takes the folder of one member of an ensemble, counted from 1.
    pub fn member(&self, number: usize) -> Result<Claim> {
        claim(&self.path().join(super::member_name(number)), self.force)
    }

    /// A folder inside it in which something can be made before anything goes; gone with the claim.
    pub fn staging(&self) -> PathBuf {
        self.path().join(STAGING)
    }

    /// Puts all that was made in [`Claim::staging`] in the place of a model that was there before.
    pub fn replace(&self) -> Result<()> {
        let made = self.staging();
        let io = |source| Error::Io { path: made.clone(), source };
        let names =
            fs::read_dir(&made).map_err(io)?.map(|entry| Ok(entry?.file_name())).collect::<std::io::Result<Vec<_>>>().map_err(io)?;
        let foreign = survey(self.path())?.foreign;
        if let Some(name) = foreign.iter().find(|&name| names.iter().any(|own| own == name.as_str())) {
            return Err(FolderError::Clash { file: self.path().join(name) }.into());
        }
        self.clear()?;
        names.iter().try_for_each(|name| fs::rename(made.join(name), self.path().join(name))).map_err(io)
    }

    /// Makes room for the folds of a cross-validation or the members of an ensemble: a model that was there before goes.
    pub fn clear(&self) -> Result<()> {
        adopt(self.path())?;
        remove_ours(self.path())
    }
}

/// The names that any run may write. The list itself needs no mention.
fn common_names() -> Vec<String> {
    COMMON_NAMES.iter().filter(|&&name| name != MANIFEST).map(|name| name.to_string()).collect()
}

/// Gives a model from before there were lists the list of its files.
fn adopt(path: &Path) -> Result<()> {
    if Manifest::read(path)?.is_some() {
        return Ok(());
    }
    let found = survey(path)?;
    if !matches!(found.state, State::Finished | State::Interrupted) {
        return Ok(());
    }
    let mut manifest = Manifest { files: Vec::new(), others: common_names() };
    manifest.others.retain(|name| !found.foreign.contains(name));
    for name in found.ours.iter().filter(|name| is_known(name) && path.join(name).is_file()) {
        if !COMMON_NAMES.contains(&name.as_str()) || [CONFIG, WEIGHTS].contains(&name.as_str()) {
            manifest.set(name, [Entry::of_file(path, name)?]);
        }
    }
    manifest.write(path)
}

/// Takes the folder of a run that was interrupted.
pub fn resume(path: &Path) -> Result<ModelFolder> {
    let path = &plain(path);
    if let Some(holder) = held_by(path) {
        return Err(FolderError::Locked { folder: path.to_path_buf(), holder }.into());
    }
    may_resume(path)?;
    let folder = ModelFolder { hold: Hold::take(path)?, new: false };
    may_resume(path)?;
    if survey(path)?.foreign.iter().any(|name| name == MANIFEST) {
        return Err(FolderError::Clash { file: path.join(MANIFEST) }.into());
    }
    adopt(path)?;
    if let Some(mut manifest) = Manifest::read(path)? {
        if !path.join(WEIGHTS).exists() {
            // They may have been announced and not yet written.
            manifest.files.retain(|e| e.name != WEIGHTS);
        }
        if let Some(problem) = manifest.problem(path)? {
            return Err(problem.into());
        }
    }
    Ok(folder)
}

fn may_resume(path: &Path) -> Result<()> {
    let folder = path.to_path_buf();
    Err(match survey(path)?.state {
        State::Interrupted => return Ok(()),
        State::Finished => FolderError::Finished { folder, epochs: Record::read(path).map(|r| r.epochs) },
        State::Empty | State::Folds => FolderError::Nothing { folder },
    }
    .into())
}

/// A model's folder that a run writes to, locked. Dropped before the run has anything to keep, a new one is taken away again.
#[derive(Debug)]
pub struct ModelFolder {
    hold: Hold,
    new: bool,
}

impl ModelFolder {
    /// The folder.
    pub fn path(&self) -> &Path {
        &self.hold.path
    }

    /// Whether its run was interrupted and goes on.
    pub fn resumed(&self) -> bool {
        !self.new
    }

    /// Replaces a file that is part of the model. The list of files tells of it first, and until the next time knows the old one too.
    pub fn replace(&self, name: &str, data: &[u8]) -> Result<()> {
        let mut manifest = self.manifest()?;
        let path = self.own(&manifest, name)?;
        let old = if path.exists() { Some(Entry::of_file(self.path(), name)?) } else { None };
        let new = Entry::of_bytes(name, data);
        manifest.set(name, old.into_iter().filter(|old| *old != new).chain([new.clone()]));
        manifest.write(self.path())?;
        write_whole(&path, data)
    }

    /// Replaces what the model is beside its weights, as `write` writes it.
    pub fn reframe(&self, write: impl FnOnce(&Path) -> Result<()>) -> Result<()> {
        let made = self.path().join(STAGING);
        let io = |source| Error::Io { path: made.clone(), source };
        let _ = fs::remove_dir_all(&made);
        write(&made)?;
        for entry in fs::read_dir(&made).map_err(io)? {
            let entry = entry.map_err(io)?;
            self.replace(&entry.file_name().to_string_lossy(), &fs::read(entry.path()).map_err(io)?)?;
        }
        fs::remove_dir_all(&made).map_err(io)
    }

    /// Writes how far the run has got.
    pub fn record(&self, record: &Record) -> Result<()> {
        let path = self.own(&self.manifest()?, RECORD)?;
        let text = serde_json::to_string_pretty(record).map_err(|e| Error::Io { path: path.clone(), source: e.into() })?;
        write_whole(&path, (text + "\n").as_bytes())
    }

    /// `log.txt`, to be added to.
    pub fn log(&self) -> Result<Log> {
        let path = self.own(&self.manifest()?, LOG)?;
        let file = OpenOptions::new().create(true).append(true).open(&path).map_err(|source| Error::Io { path, source })?;
        Ok(Log::new(file))
    }

    /// Ends the run: the list of files knows nothing but what is there, `run.json` says that it is finished, and the checkpoint goes.
    pub fn finish(&self, record: Record) -> Result<()> {
        let mut manifest = self.manifest()?;
        let names: BTreeSet<String> = manifest.files.iter().map(|entry| entry.name.clone()).collect();
        for name in names {
            manifest.set(&name, [Entry::of_file(self.path(), &name)?]);
        }
        manifest.write(self.path())?;
        self.record(&record.halted(Stage::Finished))?;
        for file in [checkpoint_path(self.path()), self.path().join(CHECKPOINT).join(format!("{CHECKPOINT_FILE}.partial"))] {
            let _ = fs::remove_file(file);
        }
        let _ = fs::remove_dir(self.path().join(CHECKPOINT));
        Ok(())
    }

    fn manifest(&self) -> Result<Manifest> {
        Ok(Manifest::read(self.path())?.unwrap_or_default())
    }

    /// The path of a file of ours, or of one that is not there yet.
    fn own(&self, manifest: &Manifest, name: &str) -> Result<PathBuf> {
        let path = self.path().join(name);
        if !is_known(name) {
            return Err(FolderError::Unlisted { name: name.into() }.into());
        }
        if path.exists() && !manifest.owns(name) { Err(FolderError::Clash { file: path }.into()) } else { Ok(path) }
    }
}

impl Drop for ModelFolder {
    fn drop(&mut self) {
        if self.new && !self.path().join(WEIGHTS).exists() && !checkpoint_path(self.path()).exists() {
            // What cannot be removed is recognised as ours by the next start.
            let _ = remove_ours(self.path());
        }
    }
}
