//! `files.json`: which files of a folder are ours, and the checksums of those that make the model.
//!
//! It is written before the files it tells of. A file that is about to be replaced has two lines, the old and the new, and is right if it is one of them: a run
//! killed between two writes leaves a folder that is interrupted, not damaged.

use std::fs;
use std::io::ErrorKind;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{FolderError, MANIFEST, is_known, sha256};
use crate::weights::write_whole;
use crate::{Error, Result};

/// The list of a folder's files.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Manifest {
    /// Files with checksums.
    pub files: Vec<Entry>,
    /// Names of other files that are ours and change too often to be checked, or may be written later.
    pub others: Vec<String>,
}

/// A file as it should be.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Entry {
    /// Its name in the folder.
    pub name: String,
    /// Bytes.
    pub size: u64,
    /// SHA-256 of its bytes, in hexadecimal.
    pub sha256: String,
}

impl Entry {
    /// For a file on disk.
    pub(super) fn of_file(folder: &Path, name: &str) -> Result<Entry> {
        let path = folder.join(name);
        let (sha256, size) = sha256::of_file(&path).map_err(|source| Error::Io { path, source })?;
        Ok(Entry { name: name.into(), size, sha256 })
    }

    /// For a file that is about to be written.
    pub(super) fn of_bytes(name: &str, data: &[u8]) -> Entry {
        Entry { name: name.into(), size: data.len() as u64, sha256: sha256::of_bytes(data) }
    }
}

impl Manifest {
    /// The list of a folder, if it has one.
    pub fn read(folder: &Path) -> Result<Option<Manifest>> {
        let file = folder.join(MANIFEST);
        let text = match fs::read_to_string(&file) {
            Ok(text) => text,
            Err(e) if matches!(e.kind(), ErrorKind::NotFound | ErrorKind::NotADirectory) => return Ok(None),
            Err(source) => return Err(Error::Io { path: file, source }),
        };
        let manifest: Manifest = serde_json::from_str(&text)
            .map_err(|e| FolderError::Damaged { file, problem: format!("not a list of a model's files ({e}): copy the model again") })?;
        Ok(Some(manifest))
    }

    /// Replaces the list of a folder.
    pub(super) fn write(&self, folder: &Path) -> Result<()> {
        write_whole(&folder.join(MANIFEST), &self.bytes()?)
    }

    pub(super) fn bytes(&self) -> Result<Vec<u8>> {
        let text = serde_json::to_string_pretty(self).map_err(|e| Error::Io { path: MANIFEST.into(), source: e.into() })?;
        Ok((text + "\n").into_bytes())
    }

    /// Whether a file of this name is ours. What it says of names that no model has does not count: nothing else is ever replaced or removed.
    pub fn owns(&self, name: &str) -> bool {
        is_known(name) && (name == MANIFEST || self.files.iter().any(|e| e.name == name) || self.others.iter().any(|o| o == name))
    }

    /// The lines of a file; more than one while it is being replaced.
    fn of<'a>(&'a self, name: &'a str) -> impl Iterator<Item = &'a Entry> {
        self.files.iter().filter(move |e| e.name == name)
    }

    /// Replaces the lines of a file.
    pub(super) fn set(&mut self, name: &str, entries: impl IntoIterator<Item = Entry>) {
        self.files.retain(|e| e.name != name);
        self.files.extend(entries);
        self.others.retain(|o| o != name);
    }

    /// The first file that is not as it should be.
    pub fn problem(&self, folder: &Path) -> Result<Option<FolderError>> {
        let mut names: Vec<&str> = self.files.iter().map(|e| e.name.as_str()).filter(|n| is_known(n)).collect();
        names.dedup();
        for name in names {
            let file = folder.join(name);
            let damaged = |problem: String| Ok(Some(FolderError::Damaged { file: file.clone(), problem }));
            let (sha256, size) = match sha256::of_file(&file) {
                Ok(found) => found,
                Err(e) if e.kind() == ErrorKind::NotFound => return damaged("is missing: copy or train the model again".into()),
                Err(source) => return Err(Error::Io { path: file, source }),
            };
            if self.of(name).any(|e| e.sha256 == sha256 && e.size == size) {
                continue;
            }
            let whole = self.of(name).map(|e| e.size).min().unwrap_or(0);
            return damaged(match size < whole {
                true => format!("has {size} of {whole} bytes; it was cut short: copy or train the model again"),
                false => format!(
                    "is not the file that was saved with this model (its checksum is not that in {MANIFEST}): it was damaged, or swapped for \
                     another; copy the model again, or delete {MANIFEST} if you changed it on purpose"
                ),
            });
        }
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder() -> (tempfile::TempDir, Manifest) {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join("labels.txt"), "bad\ngood\n").unwrap();
        fs::write(folder.path().join("config.toml"), "task = \"classify\"\n").unwrap();
        let files = ["labels.txt", "config.toml"].map(|name| Entry::of_file(folder.path(), name).unwrap());
        let manifest = Manifest { files: files.into(), others: vec!["metrics.jsonl".into()] };
        manifest.write(folder.path()).unwrap();
        (folder, manifest)
    }

    #[test]
    fn a_missing_cut_or_swapped_file_is_named() {
        let (folder, manifest) = folder();
        assert_eq!(Manifest::read(folder.path()).unwrap().as_ref(), Some(&manifest));
        assert_eq!(manifest.problem(folder.path()).unwrap(), None);
        let labels = folder.path().join("labels.txt");
        for (text, part) in [("bad\n", "has 4 of 9 bytes; it was cut short"), ("bad\nwood\n", "swapped"), ("bad\ngood\n\n", "swapped")] {
            fs::write(&labels, text).unwrap();
            let problem = manifest.problem(folder.path()).unwrap().unwrap().to_string();
            assert!(problem.starts_with(&labels.display().to_string()) && problem.contains(part), "{problem}");
        }
        fs::remove_file(&labels).unwrap();
        assert!(manifest.problem(folder.path()).unwrap().unwrap().to_string().contains("labels.txt: is missing"));
    }

    #[test]
    fn while_a_file_is_replaced_both_of_its_contents_are_right() {
        let (folder, mut manifest) = folder();
        let old = Entry::of_file(folder.path(), "labels.txt").unwrap();
        manifest.set("labels.txt", [old, Entry::of_bytes("labels.txt", b"new\n")]);
        assert_eq!(manifest.problem(folder.path()).unwrap(), None);
        fs::write(folder.path().join("labels.txt"), "new\n").unwrap();
        assert_eq!(manifest.problem(folder.path()).unwrap(), None);
        fs::write(folder.path().join("labels.txt"), "nwe\n").unwrap();
        assert!(manifest.problem(folder.path()).unwrap().is_some());
    }

    #[test]
    fn a_list_cannot_make_a_strange_file_ours() {
        let others = ["../secret.txt", "thesis.pdf", "/etc/passwd", "labels.txt"].map(String::from);
        let manifest = Manifest { files: Vec::new(), others: others.to_vec() };
        assert!(others[..3].iter().all(|name| !manifest.owns(name)));
        assert!(manifest.owns("labels.txt"));
    }

    #[test]
    fn a_broken_list_is_named() {
        let (folder, _) = folder();
        fs::write(folder.path().join(MANIFEST), "{").unwrap();
        assert!(Manifest::read(folder.path()).unwrap_err().to_string().contains("files.json: not a list"));
    }
}
