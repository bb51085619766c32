//! `spotlight plot`

use std::path::PathBuf;

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use serde_json::Value;
use spotlight::view::curves::{Curves, Record};
use spotlight::view::terminal::Color;

use crate::output::{color, deliver, form, width};

/// Draw the course of a model's training from its metrics.jsonl.
#[derive(Args)]
pub struct Plot {
    /// A model's folder
    model: PathBuf,
    /// The form [default: by the extension of the output, else terminal]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Pixels for each unit of a PNG
    #[arg(long, default_value_t = 2.0)]
    scale: f32,
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum Format {
    Terminal,
    Svg,
    Png,
}

/// What is not a measure in a line of `metrics.jsonl`.
const NOT_DRAWN: [&str; 4] = ["epoch", "step", "seconds", "rate"];

impl Plot {
    /// Runs the command.
    pub fn run(&self) -> Result<()> {
        let path = self.model.join("metrics.jsonl");
        let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let mut records = Vec::new();
        for (i, line) in text.lines().enumerate() {
            let line: Value = serde_json::from_str(line).with_context(|| format!("{}:{}: not a JSON object", path.display(), i + 1))?;
            let values = line.as_object().into_iter().flatten().filter(|(name, _)| !NOT_DRAWN.contains(&name.as_str()));
            let name = |n: &str| if n == "loss" { "dev loss".to_string() } else { n.replace('_', " ") };
            let values = values.filter_map(|(n, v)| v.as_f64().map(|v| (name(n), v))).collect();
            records.push(Record { at: line["epoch"].as_f64().unwrap_or(i as f64 + 1.0), values });
        }
        if records.is_empty() {
            anyhow::bail!("{} holds no evaluation yet", path.display());
        }
        let curves = Curves { title: self.model.display().to_string(), axis: "epoch".into(), records };
        let file = self.output.as_deref();
        match form(self.format, file, Format::Terminal)? {
            Format::Terminal => deliver(file, curves.terminal(width(), if file.is_some() { Color::None } else { color() }).as_bytes()),
            Format::Svg => deliver(file, curves.svg().as_bytes()),
            Format::Png => deliver(file, &curves.png(self.scale)?),
        }
    }
}
