//! `spotlight demo numbers`: one attention with every number on the way.

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::Args;
use spotlight::attention::ScoreKind;
use spotlight::attention::numbers::{Example, Numbers};

use crate::output::print;

/// Attention with all its numbers: scores, exponentials, weights, context, and the words after it.
#[derive(Args)]
pub struct Worked {
    /// The score
    #[arg(long, value_name = "NAME", value_parser = parse_score)]
    score: Option<ScoreKind>,
    /// Vectors of your own, as TOML: `memory = [[...], ...]` and `query = [...]`
    file: Option<PathBuf>,
}

fn parse_score(name: &str) -> Result<ScoreKind, String> {
    let names: Vec<&str> = ScoreKind::ALL.iter().map(|s| s.name()).collect();
    ScoreKind::ALL.iter().copied().find(|s| s.name() == name).ok_or_else(|| format!("expected one of {}", names.join(", ")))
}

impl Worked {
    /// Runs the demo.
    pub fn run(&self) -> Result<()> {
        let mut example = match &self.file {
            Some(path) => {
                let text = std::fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))?;
                Example::parse(&text, &path.display().to_string())?
            }
            None => Example::worked()?,
        };
        if let Some(score) = self.score {
            example.score = score;
        }
        print(&Numbers::compute(&example)?.to_string())
    }
}
