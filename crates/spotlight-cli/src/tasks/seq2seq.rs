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
        if let (Some(n_best), Some(beam), None) = (self.n_best, self.beam, self.sample)
            && n_best > beam
        {
            return Err(WrongUsage(format!("--n-best {n_best} needs --beam {n_best} or more")).into());
        }
        for (name, value) in [("--length-penalty", self.length_penalty), ("--coverage-penalty", self.coverage_penalty)] {
            if let Some(value) = value.filter(|x| !(x.is_finite() && *x >= 0.0)) {
                return Err(WrongUsage(format!("{name} {value}: expected a number that is not below 0")).into());
            }
        }
        if let Some(temperature) = self.sample
            && !(temperature > 0.0 && temperature.is_finite())
        {
            return Err(WrongUsage(format!("--sample {temperature}: the temperature must be above 0")).into());
        }
        Ok(AnswerOptions {
            beam: self.beam.map(usize::from),
            n_best: self.n_best.map(usize::from),
            length_penalty: self.length_penalty,
            coverage_penalty: self.coverage_penalty,
            sample: self.sample.map(|temperature| (temperature, common.seed.unwrap_or(1))),
            copy_unknown: self.copy_unknown,
            ..AnswerOptions::default()
        })
    }
}
