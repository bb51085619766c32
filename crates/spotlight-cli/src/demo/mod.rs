//! `spotlight demo`: small systems that train in about a minute and explain themselves.

mod dates;
mod numbers;
mod stage;
mod translate;

use anyhow::Result;
use clap::{Args, Subcommand};

use crate::Common;

/// Small systems that train in about a minute.
#[derive(Args)]
pub struct Demo {
    #[command(subcommand)]
    which: Which,
}

#[derive(Subcommand)]
enum Which {
    /// Verbose dates to ISO dates, and where the model looks while it writes
    Dates(dates::Dates),
    /// One attention with every number on the way
    Numbers(numbers::Worked),
    /// Eight English sentences to French, word by word
    Translate(translate::Translate),
}

impl Demo {
    /// Runs the command.
    pub fn run(&self, common: &Common) -> Result<()> {
        match &self.which {
            Which::Dates(demo) => demo.run(common),
            Which::Numbers(demo) => demo.run(),
            Which::Translate(demo) => demo.run(common),
        }
    }
}
