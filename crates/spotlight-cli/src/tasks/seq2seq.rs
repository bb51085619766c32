//! Options of the search, for models that write.

use anyhow::Result;
use clap::{Args, ValueEnum};
use spotlight::model::{Answer, AnswerOptions, Drawing, View};

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

/// Options of `look` for Transformers.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct Inside {
    /// Of a Transformer: one of its attentions, all layers and heads side by side
    #[arg(long, value_enum, value_name = "VIEW")]
    view: Option<ViewName>,
    /// With --view: only this layer, counted from 1, the mean of its heads; with --head one of them
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..), requires = "view")]
    layer: Option<u16>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum ViewName {
    /// What is written looks at what was read
    Cross,
    /// What is read looks at all that is read
    Encoder,
    /// What is written looks at what was written before
    Decoder,
    /// What of each position read would arrive at the top of the encoder by attention alone
    Rollout,
}

impl From<ViewName> for View {
    fn from(name: ViewName) -> Self {
        match name {
            ViewName::Cross => View::Cross,
            ViewName::Encoder => View::Encoder,
            ViewName::Decoder => View::Decoder,
            ViewName::Rollout => View::Rollout,
        }
    }
}

impl Inside {
    /// Whether layers are to be looked into.
    pub fn is_wanted(&self) -> bool {
        self.view.is_some()
    }

    /// Added to what else is asked for.
    pub fn drawing(&self, drawing: Drawing) -> Drawing {
        Drawing { view: self.view.map(View::from), layer: self.layer.map(|number| usize::from(number) - 1), ..drawing }
    }

    /// An error if an answer has no such layer or head.
    pub fn check(&self, answer: &dyn Answer, drawing: &Drawing) -> Result<()> {
        let Some(view) = drawing.view else { return Ok(()) };
        let none = || WrongUsage("--view goes with Transformers: this model has no such attention, or answered with nothing".into());
        let layers = answer.layers().ok_or_else(none)?;
        let number = layers.of(view);
        if number == 0 {
            return Err(none().into());
        }
        if let Some(layer) = drawing.layer.filter(|&layer| layer >= number) {
            return Err(WrongUsage(format!("there is no layer {}: this view has --layer 1 to {number}", layer + 1)).into());
        }
        if view == View::Rollout && (drawing.layer.is_some() || drawing.head.is_some()) {
            return Err(WrongUsage("a rollout is of all layers and heads: leave --layer and --head out".into()).into());
        }
        if let Some(head) = drawing.head.filter(|&head| head >= layers.heads) {
            return Err(WrongUsage(format!("there is no head {}: this model has --head 1 to {}", head + 1, layers.heads)).into());
        }
        Ok(())
    }
}
