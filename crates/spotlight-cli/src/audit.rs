//! `spotlight audit`

use std::path::PathBuf;
use std::time::Instant;

use anyhow::Result;
use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use spotlight::audit::{self, Course};
use spotlight::model;
use spotlight::view::sheet;

use crate::Common;
use crate::output::{deliver, duration, grouped, print, say};
use crate::progress::{STOP, Stopped, catch_signals};
use crate::tasks;

/// Say how far the pictures of a model's attention can be trusted.
#[derive(Args)]
pub struct Audit {
    /// A model's folder
    model: PathBuf,
    /// File of examples that it was not trained on
    file: PathBuf,
    /// Train no other models and study fewer examples
    #[arg(long)]
    quick: bool,
    /// One JSON object
    #[arg(long)]
    json: bool,
    /// Write a page, too
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Models of other seeds to train beside as many with uniform weights
    #[arg(long, value_name = "N", default_value_t = 5, conflicts_with = "quick")]
    seeds: u16,
    /// Examples to study unit by unit, at most [default: 1000, 200 if quick]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u32).range(1..))]
    examples: Option<u32>,
    /// What the model was trained on, if it is not where its settings say
    #[arg(long, value_name = "FILE", conflicts_with = "quick")]
    train: Option<PathBuf>,
    /// For a model that writes: gold links of the examples, a line each (0-0 1-2)
    #[arg(long, value_name = "FILE")]
    links: Option<PathBuf>,
}

impl Audit {
    /// Runs the command.
    pub fn run(&self, common: &Common) -> Result<()> {
        let began = Instant::now();
        let model = model::open(&self.model)?;
        tasks::check_input(model.task(), &self.file)?;
        catch_signals();
        let usual = if self.quick { Course::quick() } else { Course { seeds: self.seeds as usize, ..Course::default() } };
        let course = Course {
            examples: self.examples.map_or(usual.examples, |n| n as usize),
            seed: common.seed.unwrap_or(usual.seed),
            train: self.train.as_deref(),
            links: self.links.as_deref(),
            stop: &STOP,
            ..usual
        };
        // Hidden unless standard error is a terminal.
        let bar = ProgressBar::new(1);
        if let Ok(style) = ProgressStyle::with_template("{msg:<28} {bar:30} {pos}/{len}  {elapsed}") {
            bar.set_style(style);
        }
        let progress = |what: &str, done: usize, of: usize| {
            bar.set_length(of as u64);
            bar.set_position(done.min(of) as u64);
            bar.set_message(what.to_string());
        };
        let found = model.audit(&self.file, &course, &mut |line| eprintln!("{line}"), &progress);
        bar.finish_and_clear();
        let report = match found {
            Err(_) if STOP.load(std::sync::atomic::Ordering::Relaxed) => return Err(Stopped::by_signal().into()),
            found => found?,
        };
        if self.json {
            say(serde_json::to_string(&report)?)?;
        } else {
            print(&report.to_string())?;
        }
        if let Some(file) = &self.output {
            deliver(Some(file), sheet::draw(&audit::page(&report)).as_bytes())?;
        }
        audit::keep(&self.model, &report)?;
        let (count, seconds) = (grouped(report.answered), duration(began.elapsed().as_secs_f64()));
        eprintln!("{count} examples in {seconds}; the verdict is kept in {}", self.model.display());
        Ok(())
    }
}
