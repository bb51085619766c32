//! A model of any kind, as the commands need it.

use std::path::Path;

use anyhow::{Context, Result};
use spotlight::model::folder::{self, Task};
use spotlight::model::seq2seq::Transducer;

/// A model read from its folder.
pub enum AnyModel {
    /// From a sequence to a sequence.
    Seq2seq(Box<Transducer>),
}

impl AnyModel {
    /// Reads a model's folder.
    pub fn load(path: &Path) -> Result<Self> {
        let config = folder::read_config(path).with_context(|| format!("{} is not a model's folder", path.display()))?;
        let task = folder::task_of(&config).with_context(|| format!("{} names no task", folder::config_path(path).display()))?;
        match task {
            Task::Seq2seq => Ok(AnyModel::Seq2seq(Box::new(Transducer::load(path)?))),
            other => anyhow::bail!("models of the kind {other:?} are not known to this version"),
        }
    }
}
