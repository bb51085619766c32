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
    /// Of a model that writes: compare its attention with the links in this file
    #[arg(long, value_name = "FILE")]
    alignments: Option<PathBuf>,
    #[command(flatten)]
    answering: tasks::Answering,
}

impl Eval {
    /// Runs the command.
    pub fn run(&self, common: &Common) -> Result<()> {
        let model = model::open(&self.model)?;
        tasks::check_input(model.task(), &self.file)?;
        if let Some(links) = &self.alignments {
            let model = tasks::writer(model.as_ref(), "--alignments")?;
            let report = model.file_alignments(&self.file, links, &mut |line| note(line))?;
            return if self.json { say(report.to_json()) } else { print(&report.to_string()) };
        }
        let scores = model.evaluate(&self.file, &self.answering.options(common, model.task())?, &mut |line| note(line))?;
        if self.json { say(scores.to_json()) } else { print(&scores.to_string()) }
    }
}
