//! Options of `look` for models that have a Transformer, whatever their task.

use anyhow::Result;
use clap::{Args, ValueEnum};
use spotlight::model::{Answer, Drawing, View};

use crate::output::WrongUsage;

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
        if number == 0 && layers.decoder == 0 {
            return Err(WrongUsage("this model reads and writes nothing: --view encoder or --view rollout".into()).into());
        }
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
