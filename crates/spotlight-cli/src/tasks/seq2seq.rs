//! Options of the search, for models that write.

use anyhow::Result;
use clap::Args;
use spotlight::model::AnswerOptions;

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
    /// Copy unknown units from where the attention points
    #[arg(long)]
    copy_unknown: bool,
}

impl Search {
    /// What was asked for; the model adds its own settings.
    pub fn options(&self, common: &Common) -> Result<AnswerOptions> {
        let options = AnswerOptions {
            beam: self.beam.map(usize::from),
            n_best: self.n_best.map(usize::from),
            length_penalty: self.length_penalty,
            coverage_penalty: self.coverage_penalty,
            sample: self.sample.map(|temperature| (temperature, common.seed.unwrap_or(1))),
            copy_unknown: self.copy_unknown,
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
