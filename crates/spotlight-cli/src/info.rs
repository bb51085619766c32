//! `spotlight info`

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use spotlight::model::{self, folder};

use crate::output::{bytes, grouped, say};

/// Say what a model is.
#[derive(Args)]
pub struct Info {
    /// A model's folder
    model: PathBuf,
}

impl Info {
    /// Runs the command.
    pub fn run(&self) -> Result<()> {
        let model = model::open(&self.model)?;
        let params = model.params();
        let size = format!("{} ({})", grouped(params.len()), bytes(4 * params.len()));
        for (name, value) in [("task", model.task().name().into())].into_iter().chain(model.facts()).chain([("parameters", size)]) {
            say(format_args!("{name:<12}{value}"))?;
        }
        say("")?;
        let widest = params.names().map(str::len).max().unwrap_or(0);
        for entry in params.entries() {
            let shape: Vec<String> = entry.shape.iter().map(usize::to_string).collect();
            say(format_args!("{:<widest$}  {:>12}  {:>10}", entry.name, shape.join(" x "), grouped(entry.range.len())))?;
        }
        say("")?;
        say(folder::read_config(&self.model)?.trim_end())
    }
}
