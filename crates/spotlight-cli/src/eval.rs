//! `spotlight eval`

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use spotlight::model;

use crate::Common;
use crate::output::{note, print, say};
use crate::tasks;

/// Measure a model.
#[derive(Args)]
pub struct Eval {
    /// A model's folder
    model: PathBuf,
    /// File of examples
    file: PathBuf,
    /// One JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    answering: tasks::Answering,
}

impl Eval {
    /// Runs the command.
    pub fn run(&self, common: &Common) -> Result<()> {
        let model = model::open(&self.model)?;
        tasks::check_input(model.task(), &self.file)?;
        let scores = model.evaluate(&self.file, &self.answering.options(common, model.task())?, &mut |line| note(line))?;
        if self.json { say(scores.to_json()) } else { print(&scores.to_string()) }
    }
}
