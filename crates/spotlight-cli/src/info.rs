//! `spotlight info`

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use serde_json::{Map, Value, json};
use spotlight::folder::{Record, Stage};
use spotlight::model::{self, AnyModel, folder};

use crate::output::{bytes, duration, grouped, say};

/// Say what a model is, how it was trained, and how well it did.
#[derive(Args)]
pub struct Info {
    /// A model's folder
    model: PathBuf,
    /// One JSON object
    #[arg(long)]
    json: bool,
}

impl Info {
    /// Runs the command.
    pub fn run(&self) -> Result<()> {
        let model = model::open(&self.model)?;
        let record = Record::read(&self.model);
        if self.json { self.object(&*model, record.as_ref()) } else { self.text(&*model, record.as_ref()) }
    }

    fn text(&self, model: &dyn AnyModel, record: Option<&Record>) -> Result<()> {
        let params = model.params();
        let size = format!("{} ({})", grouped(params.len()), bytes(4 * params.len()));
        for (name, value) in [("task", model.task().name().into())].into_iter().chain(model.facts()).chain([("parameters", size)]) {
            say(format_args!("{name:<12}{value}"))?;
        }
        if let Some(r) = record {
            let end = match (r.stage, r.patience_ran_out) {
                (Stage::Finished, false) => "",
                (Stage::Finished, true) => " (no better since)",
                (Stage::Running | Stage::Stopped, _) => ", not finished",
            };
            let (epochs, steps) = (grouped(r.epochs as usize), grouped(r.steps as usize));
            say(format_args!("{:<12}{}, by spotlight {}", "trained", r.ended.as_ref().unwrap_or(&r.started), r.version))?;
            say(format_args!("{:<12}{epochs} epochs, {steps} steps, {}; best {}{end}", "", duration(r.seconds), r.best_epoch))?;
            for (name, value) in &r.measures {
                let mark = if *name == r.metric { "  (decided)" } else { "" };
                say(format_args!("{:<12}{:.4}{mark}", format!("dev {name}"), value.as_f64().unwrap_or(f64::NAN)))?;
            }
        }
        say("")?;
        let widest = params.names().map(str::len).max().unwrap_or(0);
        for entry in params.entries() {
            let shape: Vec<String> = entry.shape.iter().map(usize::to_string).collect();
            say(format_args!("{:<widest$}  {:>12}  {:>10}", entry.name, shape.join(" x "), grouped(entry.range.len())))?;
        }
        say("")?;
        say(folder::read_config(&self.model)?.trim_end())
    }

    fn object(&self, model: &dyn AnyModel, record: Option<&Record>) -> Result<()> {
        let params = model.params();
        let facts: Map<String, Value> = model.facts().into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        let tensors: Vec<Value> = params.entries().iter().map(|e| json!({"name": e.name, "shape": e.shape})).collect();
        say(json!({
            "model": self.model.display().to_string(),
            "task": model.task().name(),
            "facts": facts,
            "parameters": params.len(),
            "run": record,
            "settings": folder::read_config(&self.model)?.parse::<toml::Table>()?,
            "tensors": tensors,
        }))
    }
}
