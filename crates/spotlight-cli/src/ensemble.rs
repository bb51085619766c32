//! `spotlight ensemble`

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use spotlight::model::ensemble::gather;

use crate::output::{note, say};

/// Join models to one that answers with the mean of what they say.
///
/// The models are copied. predict, eval and look take the folder like any model's.
#[derive(Args)]
pub struct Ensemble {
    /// Models' folders
    #[arg(required = true, num_args = 2..)]
    models: Vec<PathBuf>,
    /// Folder for the ensemble
    #[arg(short, long, value_name = "DIR")]
    out: PathBuf,
    /// Replace a model that is in the folder; files that are not a model's stay
    #[arg(long)]
    force: bool,
}

impl Ensemble {
    /// Runs the command.
    pub fn run(&self) -> Result<()> {
        let models: Vec<&Path> = self.models.iter().map(PathBuf::as_path).collect();
        if let Some(why) = gather(&models, &self.out, self.force)? {
            note(&uncalibrated(&why));
        }
        say(format_args!("ensemble    {}, {} models", self.out.display(), models.len()))
    }
}

/// What is said of an ensemble for which it could not be found out how sure it may be.
pub fn uncalibrated(why: &str) -> String {
    format!("note: the ensemble is not calibrated: {why}")
}
