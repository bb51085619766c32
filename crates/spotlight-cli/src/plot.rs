//! `spotlight plot`

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::{Args, ValueEnum};
use serde_json::Value;
use spotlight::metrics::{Coverage, coverage};
use spotlight::model::describe::measure_name;
use spotlight::model::{self, AnswerOptions, Task, folder};
use spotlight::view::curves::{Curves, Record};
use spotlight::view::palette::Theme;
use spotlight::view::terminal::Color;

use crate::look::theme;
use crate::output::{color, deliver, form, note, width};
use crate::tasks;

/// Draw the course of a model's training from its metrics.jsonl, of an ensemble that of each member; or how far its answers can be trusted.
#[derive(Args)]
pub struct Plot {
    /// A model's folder
    model: PathBuf,
    /// Folders of other models to compare with: every measure has a chart, with a line for each model
    #[arg(long, value_name = "MODEL", num_args = 1..)]
    compare: Vec<PathBuf>,
    /// Draw instead how many of its surest answers to the examples in this file are right, and how many of them it says are
    #[arg(long, value_name = "FILE")]
    confidence: Option<PathBuf>,
    /// The form [default: by the extension of the output, else terminal]
    #[arg(long, value_enum)]
    format: Option<Format>,
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Paper: light, dark, or auto, as the reader prefers (SVG)
    #[arg(long, value_name = "NAME", value_parser = theme, default_value = "auto")]
    theme: Theme,
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
        let drawn = |model: &Path| self.confidence.as_deref().map_or_else(|| course(model), |file| confidence(model, file));
        // Members of an ensemble learnt each on its own.
        let alone = |model: &PathBuf| Some(folder::members(model)).filter(|m| self.confidence.is_none() && !m.is_empty());
        let models = std::iter::once(&self.model).chain(&self.compare);
        let models: Vec<PathBuf> = models.flat_map(|model| alone(model).unwrap_or_else(|| vec![model.clone()])).collect();
        let mut all = models.iter().map(|model| drawn(model)).collect::<Result<Vec<_>>>()?;
        let compared = all.split_off(1);
        let mut curves = Curves { compared, theme: self.theme, ..all.remove(0) };
        if !curves.compared.is_empty() {
            curves.notes.clear();
            curves.compared.iter_mut().for_each(|run| run.notes.clear());
        }
        let file = self.output.as_deref();
        match form(self.format, file, Format::Terminal)? {
            Format::Terminal => deliver(file, curves.terminal(width(), if file.is_some() { Color::None } else { color() }).as_bytes()),
            Format::Svg => deliver(file, curves.svg().as_bytes()),
            Format::Png => deliver(file, &curves.png(self.scale)?),
        }
    }
}

/// The course of one model's training.
fn course(model: &Path) -> Result<Curves> {
    let path = model.join(folder::METRICS);
    let text = std::fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
    // A folder without settings that can be read still has a course.
    let config = std::fs::read_to_string(model.join(folder::CONFIG)).unwrap_or_default();
    let task = folder::task_of(&config).ok().flatten();
    let mut records = Vec::new();
    for (i, line) in text.lines().enumerate() {
        let line: Value = serde_json::from_str(line).with_context(|| format!("{}:{}: not a JSON object", path.display(), i + 1))?;
        let values = line.as_object().into_iter().flatten().filter(|(name, _)| !NOT_DRAWN.contains(&name.as_str()));
        let values = values.filter_map(|(n, v)| v.as_f64().map(|v| (name(n, task), v))).collect();
        records.push(Record { at: line["epoch"].as_f64().unwrap_or(i as f64 + 1.0), values });
    }
    if records.is_empty() {
        anyhow::bail!("{} holds no evaluation yet", path.display());
    }
    let kept = folder::Record::read(model).map(|record| record.best_epoch as f64).filter(|&epoch| epoch > 0.0);
    let notes = loss_note(&records, kept, &config).into_iter().collect();
    Ok(Curves { title: model.display().to_string(), axis: "epoch".into(), records, kept, notes, ..Curves::default() })
}

/// How many of the surest answers are right.
fn confidence(model: &Path, file: &Path) -> Result<Curves> {
    let opened = model::open(model)?;
    tasks::check_input(opened.task(), file)?;
    let report = opened.evaluate(file, &AnswerOptions { blind: true, ..AnswerOptions::default() }, &mut |line| note(line))?;
    let record = |at: Coverage| Record {
        at: 100.0 * at.share,
        values: vec![("accuracy".into(), at.accuracy), ("accuracy the model expects".into(), at.said)],
    };
    let records: Vec<Record> = coverage(&report.report.answers).into_iter().map(record).collect();
    if records.is_empty() {
        let why = opened.unsure().unwrap_or("it has answered nothing");
        anyhow::bail!("{} does not say how sure it is of an answer: {why}", model.display());
    }
    Ok(Curves { title: model.display().to_string(), axis: "percent answered".into(), records, ..Curves::default() })
}

/// What a measure is called in a drawing: as `train` and `eval` call it; what is lost is said of the part it is measured on.
fn name(measure: &str, task: Option<Task>) -> String {
    match (measure, task) {
        ("loss", _) => "dev loss".into(),
        ("train_loss", _) => "train loss".into(),
        // Older runs noted under this name the share of answers that are wrong, a model's word error rate where an answer is a word.
        ("wer", Some(Task::Seq2seq)) => "1 - accuracy".into(),
        (other, _) => measure_name(other),
    }
}

/// Why the training loss of the kept model lies above its development loss, if it does.
fn loss_note(records: &[Record], kept: Option<f64>, config: &str) -> Option<String> {
    let record = records.iter().find(|record| Some(record.at) == kept).or(records.last())?;
    let value = |name: &str| record.values.iter().find(|(other, _)| other == name).map(|(_, value)| *value);
    if value("train loss")? <= value("dev loss")? {
        return None;
    }
    let set = |key: &str| setting(config, key).filter(|&value| value > 0.0);
    let reasons = [
        set("dropout").map(|value| format!("with dropout {value}")),
        set("smoothing").map(|value| format!("against smoothed targets ({value})")),
        set("scheduled_sampling").map(|_| "after units of its own instead of the right ones".to_string()),
        Some("while the model was still learning".to_string()),
    ];
    let reasons: Vec<String> = reasons.into_iter().flatten().collect();
    Some(format!(
        "Training loss lies above development loss because it is measured {}; development loss is measured without.",
        reasons.join(", ")
    ))
}

/// A number of the settings by its key, in whichever section it stands.
fn setting(config: &str, key: &str) -> Option<f64> {
    let pair = |line: &str| line.split_once('=').map(|(name, value)| (name.trim().to_string(), value.trim().to_string()));
    config.lines().filter_map(pair).find(|(name, _)| name == key).and_then(|(_, value)| value.parse().ok())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn measures_by_their_names() {
        for task in Task::ALL {
            assert_eq!(name("accuracy", Some(*task)), "accuracy");
        }
        let told = ["macro_f1", "auc", "chrf", "map", "cer", "bleu"].map(|measure| name(measure, Some(Task::Seq2seq)));
        assert_eq!(told, ["macro F1", "ROC-AUC", "chrF", "MAP", "CER", "BLEU"]);
    }

    #[test]
    fn a_training_loss_above_says_why() {
        let record = |at: f64, train: f64, dev: f64| Record { at, values: vec![("train loss".into(), train), ("dev loss".into(), dev)] };
        let config = "[model]\ndropout = 0.3\n[train]\nsmoothing = 0.1\nscheduled_sampling = 0.0\n";
        let records = [record(1.0, 3.0, 2.0), record(2.0, 1.0, 2.5)];
        let note = loss_note(&records, Some(1.0), config).unwrap_or_default();
        assert!(note.contains("dropout 0.3") && note.contains("smoothed targets (0.1)") && !note.contains("of its own"), "{note}");
        assert_eq!(loss_note(&records, Some(2.0), config), None);
        assert_eq!(loss_note(&records, None, config), None);
    }
}
