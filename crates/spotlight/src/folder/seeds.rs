//! What a run of several seeds was asked for, kept beside its members until all of them have learnt.

use std::fs;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::{SEEDS, Task};
use crate::weights::write_whole;
use crate::{Error, Result};

/// Models that differ in nothing but their seed. With it a run goes on that was interrupted before some of them had begun.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Seeds {
    /// The task.
    pub task: Task,
    /// The seed of the first.
    pub first: u64,
    /// How many there are.
    pub count: usize,
    /// The recipe; without one, settings are chosen from the data.
    pub recipe: Option<String>,
    /// Settings of the recipe to change, as `key=value`.
    pub changes: Vec<String>,
    /// The working folder of the process that began; files that are not named from the root are named from there.
    pub started_in: String,
}

impl Seeds {
    /// What a folder was asked for; nothing if all has been done, or nothing was asked for.
    pub fn read(folder: &Path) -> Option<Seeds> {
        serde_json::from_str(&fs::read_to_string(folder.join(SEEDS)).ok()?).ok()
    }

    /// Writes it into the folder.
    pub fn write(&self, folder: &Path) -> Result<()> {
        let path = folder.join(SEEDS);
        let text = serde_json::to_string_pretty(self).map_err(|e| Error::Io { path: path.clone(), source: e.into() })?;
        write_whole(&path, (text + "\n").as_bytes())
    }

    /// Takes it away: nothing is left to do.
    pub fn done(folder: &Path) -> Result<()> {
        let path = folder.join(SEEDS);
        fs::remove_file(&path).map_err(|source| Error::Io { path, source })
    }
}
