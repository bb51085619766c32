//! `spotlight info`

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::Args;
use serde_json::{Map, Value, json};
use spotlight::folder::{Record, Stage};
use spotlight::model::describe::measure_name;
use spotlight::model::{self, AnyModel, folder};
use spotlight::params::Params;

use crate::output::{bytes, duration, grouped, in_columns, say};

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
        let members = folder::members(&self.model);
        if self.json { self.object(&*model, &members) } else { self.text(&*model, &members) }
    }

    /// Of an ensemble the run of each member, and the parameters and settings of the first.
    fn text(&self, model: &dyn AnyModel, members: &[PathBuf]) -> Result<()> {
        let params = model.params();
        let each = if members.is_empty() { "" } else { " of the first member" };
        let size = format!("{} ({}){each}", grouped(params.len()), bytes(4 * params.len()));
        let facts = [("task", model.task().name().into())].into_iter().chain(model.facts()).chain([("parameters", size)]);
        let mut table: Vec<(String, String)> = facts.map(|(name, value)| (name.into(), value)).collect();
        match members {
            [] => table.extend(Record::read(&self.model).iter().flat_map(trained)),
            members => {
                table.push(("members".into(), members.len().to_string()));
                table.extend(members.iter().map(|member| (named(member), Record::read(member).map_or_else(String::new, in_short))));
            }
        }
        in_columns(&table).try_for_each(say)?;
        say("")?;
        tensors(params)?;
        say("")?;
        say(folder::read_config(first(&self.model, members))?.trim_end())
    }

    fn object(&self, model: &dyn AnyModel, members: &[PathBuf]) -> Result<()> {
        let params = model.params();
        let facts: Map<String, Value> = model.facts().into_iter().map(|(name, value)| (name.into(), value.into())).collect();
        let tensors: Vec<Value> = params.entries().iter().map(|e| json!({"name": e.name, "shape": e.shape})).collect();
        let mut object = json!({
            "model": self.model.display().to_string(),
            "task": model.task().name(),
            "facts": facts,
            "parameters": params.len(),
            "run": Record::read(&self.model),
            "settings": folder::read_config(first(&self.model, members))?.parse::<toml::Table>()?,
            "tensors": tensors,
        });
        if !members.is_empty() {
            object["members"] = members.iter().map(|member| json!({"name": named(member), "run": Record::read(member)})).collect();
        }
        say(object)
    }
}

/// The folder whose settings are shown: of an ensemble its first member's.
fn first<'a>(model: &'a Path, members: &'a [PathBuf]) -> &'a Path {
    members.first().map_or(model, PathBuf::as_path)
}

fn named(folder: &Path) -> String {
    folder.file_name().unwrap_or_default().to_string_lossy().into_owned()
}

/// How far a run came, and why it ended there.
fn course(r: &Record) -> String {
    let end = match (r.stage, r.patience_ran_out) {
        (Stage::Finished, false) => "",
        (Stage::Finished, true) => " (no better since)",
        (Stage::Running | Stage::Stopped, _) => ", not finished",
    };
    let counted = |n: u64, what: &str| format!("{} {what}{}", grouped(n as usize), if n == 1 { "" } else { "s" });
    let (epochs, steps) = (counted(r.epochs, "epoch"), counted(r.steps, "step"));
    let again = r.again.map_or_else(String::new, |epochs| format!("; then {} with all examples", counted(epochs, "epoch")));
    format!("{epochs}, {steps}, {}; best {}{end}{again}", duration(r.seconds), r.best_epoch)
}

/// When a model was trained, how, and what it reached.
fn trained(r: &Record) -> Vec<(String, String)> {
    let when = format!("{}, by spotlight {}", r.ended.as_ref().unwrap_or(&r.started), r.version);
    let mut table = vec![("trained".to_string(), when), (String::new(), course(r))];
    table.extend(r.measures.iter().map(|(name, value)| {
        let mark = if *name == r.metric { "  (decided)" } else { "" };
        (format!("dev {}", measure_name(name)), format!("{:.4}{mark}", value.as_f64().unwrap_or(f64::NAN)))
    }));
    table
}

/// What decided and what came of it, in a line.
fn in_short(r: Record) -> String {
    let reached = r.measures.get(&r.metric).and_then(Value::as_f64);
    let reached = reached.map_or_else(String::new, |value| format!("dev {} {value:.4}; ", measure_name(&r.metric)));
    reached + &course(&r)
}

/// The names, shapes and sizes of all numbers.
fn tensors(params: &Params<f32>) -> Result<()> {
    let widest = params.names().map(str::len).max().unwrap_or(0);
    params.entries().iter().try_for_each(|entry| {
        let shape: Vec<String> = entry.shape.iter().map(usize::to_string).collect();
        say(format_args!("{:<widest$}  {:>12}  {:>10}", entry.name, shape.join(" x "), grouped(entry.range.len())))
    })
}
