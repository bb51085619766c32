//! Options of the search, for models that write.

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use spotlight::model::{AnswerOptions, Task};
use spotlight::text::Lines;

use crate::Common;
use crate::output::WrongUsage;

/// Options of the search, for seq2seq models.
#[derive(Args, Clone, Debug)]
pub struct Search {
    /// Hypotheses kept [default: the model's own setting]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    beam: Option<u16>,
    /// Answers printed for each line
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    n_best: Option<u16>,
    /// Exponent of the length normalisation
    #[arg(long, value_name = "X")]
    length_penalty: Option<f64>,
    /// Weight of the coverage penalty
    #[arg(long, value_name = "X")]
    coverage_penalty: Option<f64>,
    /// Draw answers with this temperature instead of searching for the best
    #[arg(long, value_name = "T")]
    sample: Option<f64>,
    /// Every answer begins with this
    #[arg(long, value_name = "TEXT")]
    prefix: Option<String>,
    /// Write nothing but the lines of this file
    #[arg(long, value_name = "FILE")]
    lexicon: Option<PathBuf>,
    /// Search for nothing: take the lines of this file for the answers, and score them
    #[arg(long, value_name = "FILE", conflicts_with_all = ["beam", "n_best", "sample", "prefix", "lexicon", "min_length"])]
    force: Option<PathBuf>,
    /// Shortest answer, in units
    #[arg(long, value_name = "N")]
    min_length: Option<u16>,
    /// Copy unknown units from where the attention points
    #[arg(long)]
    copy_unknown: bool,
    /// Weights of one byte each: faster, a little less exact; for Transformers
    #[arg(long)]
    int8: bool,
}

/// The lines of a file.
fn lines_of(path: &Path) -> Result<Vec<String>> {
    Ok(Lines::open(path)?.map(|line| line.map(|line| line.text)).collect::<Result<Vec<_>, _>>()?)
}

impl Search {
    /// An error if an option is given that means nothing to a model of this kind.
    pub fn check(&self, task: Task) -> Result<()> {
        let given = [
            ("--beam", self.beam.is_some()),
            ("--n-best", self.n_best.is_some() && task != Task::Classify),
            ("--length-penalty", self.length_penalty.is_some()),
            ("--coverage-penalty", self.coverage_penalty.is_some()),
            ("--sample", self.sample.is_some()),
            ("--prefix", self.prefix.is_some()),
            ("--lexicon", self.lexicon.is_some()),
            ("--force", self.force.is_some()),
            ("--min-length", self.min_length.is_some()),
            ("--copy-unknown", self.copy_unknown),
            ("--int8", self.int8),
        ];
        match given.iter().find(|(_, given)| *given) {
            Some((name, _)) if task != Task::Seq2seq => {
                Err(WrongUsage(format!("{name} goes with seq2seq models, this one is for {}", task.name())).into())
            }
            _ => Ok(()),
        }
    }

    /// What was asked for; the model adds its own settings.
    pub fn options(&self, common: &Common) -> Result<AnswerOptions> {
        let options = AnswerOptions {
            beam: self.beam.map(usize::from),
            n_best: self.n_best.map(usize::from),
            length_penalty: self.length_penalty,
            coverage_penalty: self.coverage_penalty,
            sample: self.sample.map(|temperature| (temperature, common.seed.unwrap_or(1))),
            prefix: self.prefix.clone(),
            lexicon: self.lexicon.as_deref().map(lines_of).transpose()?,
            targets: self.force.as_deref().map(lines_of).transpose()?,
            min_length: self.min_length.map_or(0, usize::from),
            copy_unknown: self.copy_unknown,
            int8: self.int8,
            ..AnswerOptions::default()
        };
        match problem(&options, |name| format!("--{}", name.replace('_', "-"))) {
            Some(problem) => Err(WrongUsage(problem).into()),
            None => Ok(options),
        }
    }
}

/// What cannot be in these options, if anything. `written` says how the user writes an option's name.
pub fn problem(options: &AnswerOptions, written: impl Fn(&str) -> String) -> Option<String> {
    if let (Some(n_best), Some(beam), None) = (options.n_best, options.beam, options.sample)
        && n_best > beam
    {
        return Some(format!("{} {n_best} needs {} {n_best} or more", written("n_best"), written("beam")));
    }
    for (name, value) in [("length_penalty", options.length_penalty), ("coverage_penalty", options.coverage_penalty)] {
        if let Some(value) = value.filter(|x| !(x.is_finite() && *x >= 0.0)) {
            return Some(format!("{} {value}: expected a number that is not below 0", written(name)));
        }
    }
    let temperature = options.sample.map(|(temperature, _)| temperature).filter(|t| !(*t > 0.0 && t.is_finite()))?;
    Some(format!("{} {temperature}: the temperature must be above 0", written("sample")))
}
