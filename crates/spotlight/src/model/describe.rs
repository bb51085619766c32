//! Models and measures in words and figures, for people.

use std::fmt;

use serde::Serialize;
use serde_json::{Value, json};

use crate::metrics::{ClassScore, Confusion, Report, Style};
use crate::text::Inventory;
use crate::train::Measure;

/// Something to know of a model: what, and how it is.
pub type Fact = (&'static str, String);

/// What is about to be learnt.
#[derive(Clone, Debug, PartialEq)]
pub struct Outline {
    /// The data in a line.
    pub data: String,
    /// The network in a line.
    pub network: String,
    /// What must be beaten, if that is known.
    pub baseline: Option<String>,
}

/// What a simple way reaches, that a user would try first.
#[derive(Clone, Debug, PartialEq)]
pub struct Baseline {
    /// What it does.
    pub name: String,
    /// Measures, named as the model's own.
    pub measures: Vec<Measure>,
}

impl Baseline {
    /// A simple way and what it reaches.
    pub fn new(name: &str, measures: Vec<Measure>) -> Self {
        Baseline { name: name.into(), measures }
    }
}

/// How well a model does on a file of examples.
#[derive(Clone, Debug)]
pub struct Scores {
    /// Figures in order.
    pub report: Report,
    /// The table per class, for a task with labels.
    pub classes: Option<Confusion>,
}

impl Scores {
    /// One object: the figures, then a list of the classes, if there are any.
    pub fn to_json(&self) -> Value {
        let mut object = self.report.to_json();
        if let Some(classes) = &self.classes {
            let one =
                |c: &ClassScore| json!({"label": c.label, "precision": c.precision, "recall": c.recall, "f1": c.f1, "support": c.support});
            object["classes"] = classes.classes().iter().map(one).collect();
        }
        object
    }
}

impl fmt::Display for Scores {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.report)?;
        self.classes.as_ref().map_or(Ok(()), |classes| write!(f, "\n{classes}"))
    }
}

/// Adds the measures of a training loop to a report.
pub(super) fn add_measures(report: &mut Report, measures: &[Measure]) {
    for m in measures {
        report.number(&measure_name(m.name), m.value, Style::Share);
    }
}

/// Adds what simple ways reach to a report.
pub(super) fn add_baselines(report: &mut Report, baselines: &[Baseline]) {
    for baseline in baselines {
        for m in &baseline.measures {
            report.number(&format!("{}, {}", measure_name(m.name), baseline.name), m.value, measure_style(m));
        }
    }
}

/// How the value of a measure is printed.
pub fn measure_style(measure: &Measure) -> Style {
    if measure.most == 100.0 { Style::Points } else { Style::Share }
}

/// The name of a measure as it is printed.
pub fn measure_name(name: &str) -> String {
    match name {
        "map" | "mrr" | "cer" => name.to_uppercase(),
        "macro_f1" => "macro F1".into(),
        "auc" => "ROC-AUC".into(),
        "bleu" => "BLEU".into(),
        "chrf" => "chrF".into(),
        other => other.into(),
    }
}

/// A number with thousands apart.
///
/// ```
/// use spotlight::model::describe::grouped;
///
/// assert_eq!((grouped(7), grouped(1234), grouped(1_234_567)), ("7".into(), "1,234".into(), "1,234,567".into()));
/// ```
pub fn grouped(n: usize) -> String {
    let digits = n.to_string();
    let mut text = String::new();
    for (i, c) in digits.chars().enumerate() {
        if i > 0 && (digits.len() - i).is_multiple_of(3) {
            text.push(',');
        }
        text.push(c);
    }
    text
}

/// A choice as it is written in a recipe.
pub(super) fn written(choice: impl Serialize) -> String {
    serde_json::to_string(&choice).unwrap_or_default().trim_matches('"').to_string()
}

/// Units and their kind.
pub(super) fn units(count: usize, kind: impl Serialize) -> String {
    format!("{} units ({})", grouped(count), written(kind))
}

/// Labels in a line.
pub(super) fn listed(labels: &Inventory) -> String {
    labels.iter().collect::<Vec<_>>().join(", ")
}
