//! A model's folder.

use std::path::{Path, PathBuf};

use serde::{Deserialize, Serialize};

pub use super::Task;
use crate::config::ConfigError;
use crate::weights::write_whole;
use crate::{Error, Result};

#[derive(Deserialize)]
struct OnlyTask {
    task: Task,
}

/// The task that a recipe or a model's `config.toml` names, if it names one.
pub fn task_of(config: &str) -> Option<Task> {
    toml::from_str::<OnlyTask>(config).ok().map(|c| c.task)
}

/// `config.toml` of a folder.
pub fn config_path(folder: &Path) -> PathBuf {
    folder.join("config.toml")
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

/// Makes the folder of a new model.
pub fn create(folder: &Path) -> Result<()> {
    std::fs::create_dir_all(folder).map_err(|source| Error::Io { path: folder.to_path_buf(), source })
}
