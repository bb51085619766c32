//! `spotlight eval`

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};
use spotlight::metrics::{self, ClassScore, Confusion, Report, Segments, Style};
use spotlight::model::seq2seq::Transducer;
use spotlight::text::UnitKind;
use spotlight::text::read::{self, ThirdColumn};

use crate::Common;
use crate::output::{print, say};
use crate::predict::Search;
use crate::tasks::{self, AnyModel};

/// Measure a model.
#[derive(Args)]
pub struct Eval {
    /// A model's folder
    model: PathBuf,
    /// File of examples
    file: PathBuf,
    /// One JSON object
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    search: Search,
}

impl Eval {
    /// Runs the command.
    pub fn run(&self, common: &Common) -> Result<()> {
        let (report, classes) = match AnyModel::load(&self.model)? {
            AnyModel::Seq2seq(model) => (self.seq2seq(&model, common)?, None),
            AnyModel::Classify(model) => tasks::classify::eval(&model, &self.file)?,
            AnyModel::Match(model) => (tasks::matching::eval(&model, &self.file)?, None),
            AnyModel::Bags(model) => tasks::bags::eval(&model, &self.file)?,
        };
        if self.json {
            return say(with_classes(report.to_json(), classes.as_ref()));
        }
        print(&report.to_string())?;
        match classes {
            Some(classes) => print(&format!("\n{classes}")),
            None => Ok(()),
        }
    }

    fn seq2seq(&self, model: &Transducer, common: &Common) -> Result<Report> {
        let third = if model.config.data.features { ThirdColumn::Features } else { ThirdColumn::AsFirstLine };
        let examples = model.examples(&read::pairs(&self.file, third)?);
        let pairs = read::pairs(&self.file, third)?;
        let sources: Vec<(&str, Option<&str>)> = pairs.iter().map(|p| (p.source.as_str(), p.features.as_deref())).collect();
        let options = self.search.options(model, common)?;
        let answers = model.answer(&sources, &options, self.search.copy_unknown)?;
        let texts: Vec<&str> = answers.iter().map(|a| a.hypotheses.first().map_or("", |h| h.text.as_str())).collect();
        let keys: Vec<&str> = examples.iter().map(|e| e.key.as_str()).collect();
        let references: Vec<&str> = examples.iter().map(|e| e.reference.as_str()).collect();
        let segments = Segments::by_source(&keys, &texts, &references)?;
        let mut report = Report::new();
        report.count("rows", examples.len());
        report.count("sources", segments.len());
        report.number("accuracy", metrics::exact_match(&segments), Style::Share);
        report.number("WER", 100.0 * metrics::word_error_rate(&segments), Style::Points);
        report.number("CER", 100.0 * metrics::edit_rate(&segments, metrics::Unit::Grapheme), Style::Points);
        if model.config.target.units != UnitKind::Chars {
            report.number("token error rate", 100.0 * metrics::edit_rate(&segments, metrics::Unit::Token), Style::Points);
            let bleu = metrics::bleu(&segments, metrics::Tokenizer::V13a);
            report.number("BLEU", bleu.score, Style::Points);
            report.text("BLEU signature", bleu.signature);
            let chrf = metrics::chrf(&segments);
            report.number("chrF", chrf.score, Style::Points);
            report.text("chrF signature", chrf.signature);
        }
        Ok(report)
    }
}

/// The report with a list of the classes, if there are any.
fn with_classes(mut report: Value, classes: Option<&Confusion>) -> Value {
    if let Some(classes) = classes {
        let one =
            |c: &ClassScore| json!({"label": c.label, "precision": c.precision, "recall": c.recall, "f1": c.f1, "support": c.support});
        report["classes"] = classes.classes().iter().map(one).collect();
    }
    report
}
