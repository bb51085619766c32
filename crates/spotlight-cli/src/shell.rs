//! `spotlight completions` and `spotlight man`: what a shell and `man` want to know of the command.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, CommandFactory};
use clap_complete::Shell;

use crate::Arguments;
use crate::output::deliver;

/// Print what a shell needs to complete the command.
///
/// For bash: spotlight completions bash > ~/.local/share/bash-completion/completions/spotlight
#[derive(Args)]
pub struct Completions {
    /// The shell
    shell: Shell,
}

impl Completions {
    /// Runs the command.
    pub fn run(&self) -> Result<()> {
        let mut script = Vec::new();
        clap_complete::generate(self.shell, &mut Arguments::command(), "spotlight", &mut script);
        deliver(None, &script)
    }
}

/// Print the manual page, or write one for each command.
#[derive(Args)]
pub struct Man {
    /// A folder for spotlight.1, spotlight-train.1, ... such as ~/.local/share/man/man1
    folder: Option<PathBuf>,
}

impl Man {
    /// Runs the command.
    pub fn run(&self) -> Result<()> {
        let Some(folder) = &self.folder else {
            let mut page = Vec::new();
            clap_mangen::Man::new(Arguments::command()).render(&mut page)?;
            return deliver(None, &page);
        };
        std::fs::create_dir_all(folder).with_context(|| folder.display().to_string())?;
        clap_mangen::generate_to(Arguments::command(), folder).with_context(|| folder.display().to_string())?;
        eprintln!("wrote the pages of every command to {}", folder.display());
        Ok(())
    }
}
