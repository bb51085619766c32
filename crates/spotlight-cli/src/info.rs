//! `spotlight info`

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use spotlight::model::folder;
use spotlight::params::Params;
use spotlight::text::Inventory;

use crate::output::{bytes, grouped, say, written};
use crate::tasks::AnyModel;

/// Say what a model is.
#[derive(Args)]
pub struct Info {
    /// A model's folder
    model: PathBuf,
}

impl Info {
    /// Runs the command.
    pub fn run(&self) -> Result<()> {
        let model = AnyModel::load(&self.model)?;
        let params = match &model {
            AnyModel::Seq2seq(model) => {
                let (source, target) = model.vocabularies.sizes();
                say(format_args!("task        seq2seq"))?;
                say(format_args!("source      {} units ({})", grouped(source), written(model.config.source.units)))?;
                say(format_args!("target      {} units ({})", grouped(target), written(model.config.target.units)))?;
                &model.params
            }
            AnyModel::Classify(model) => {
                say(format_args!("task        classify"))?;
                say(format_args!("text        {} units ({})", grouped(model.tokenizer.len()), written(model.config.text.units)))?;
                say(format_args!("labels      {}", listed(&model.labels)))?;
                &model.params
            }
            AnyModel::Match(model) => {
                say(format_args!("task        match"))?;
                say(format_args!("text        {} units ({})", grouped(model.tokenizer.len()), written(model.config.text.units)))?;
                &model.params
            }
            AnyModel::Bags(model) => {
                say(format_args!("task        bags"))?;
                say(format_args!("rows        {} features", grouped(model.standard.width())))?;
                say(format_args!("labels      {}", listed(&model.labels)))?;
                &model.params
            }
        };
        tensors(params)?;
        say("")?;
        say(folder::read_config(&self.model)?.trim_end())
    }
}

fn listed(labels: &Inventory) -> String {
    labels.iter().collect::<Vec<_>>().join(", ")
}

fn tensors(params: &Params<f32>) -> Result<()> {
    say(format_args!("parameters  {} ({})", grouped(params.len()), bytes(4 * params.len())))?;
    say("")?;
    let widest = params.names().map(str::len).max().unwrap_or(0);
    for entry in params.entries() {
        let shape: Vec<String> = entry.shape.iter().map(usize::to_string).collect();
        say(format_args!("{:<widest$}  {:>12}  {:>10}", entry.name, shape.join(" x "), grouped(entry.range.len())))?;
    }
    Ok(())
}
