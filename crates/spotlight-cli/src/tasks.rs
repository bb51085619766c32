//! A model of any kind, as the commands need it. What is particular to a kind stands in a file of its own.

pub mod bags;
pub mod classify;
pub mod matching;

use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use spotlight::metrics::{Report, Style};
use spotlight::model::bags::BagModel;
use spotlight::model::classify::Classifier;
use spotlight::model::folder::{self, Task};
use spotlight::model::matching::Matcher;
use spotlight::model::pooling::PoolingKind;
use spotlight::model::seq2seq::Transducer;
use spotlight::train::Measure;

use crate::output::WrongUsage;

/// A model read from its folder.
pub enum AnyModel {
    /// From a sequence to a sequence.
    Seq2seq(Box<Transducer>),
    /// From a text to a label.
    Classify(Box<Classifier>),
    /// From a question and an answer to a score.
    Match(Box<Matcher>),
    /// From a bag of feature vectors to a label.
    Bags(Box<BagModel>),
}

impl AnyModel {
    /// Reads a model's folder.
    pub fn load(path: &Path) -> Result<Self> {
        let config = folder::read_config(path).with_context(|| format!("{} is not a model's folder", path.display()))?;
        let task = folder::task_of(&config).with_context(|| format!("{} names no task", folder::config_path(path).display()))?;
        Ok(match task {
            Task::Seq2seq => AnyModel::Seq2seq(Box::new(Transducer::load(path)?)),
            Task::Classify => AnyModel::Classify(Box::new(Classifier::load(path)?)),
            Task::Match => AnyModel::Match(Box::new(Matcher::load(path)?)),
            Task::Bags => AnyModel::Bags(Box::new(BagModel::load(path)?)),
        })
    }
}

/// Adds measures to a report.
fn measured(report: &mut Report, measures: &[Measure]) {
    for m in measures {
        report.number(&shown(m.name), m.value, Style::Share);
    }
}

/// The name of a measure as it is printed.
fn shown(name: &str) -> String {
    match name {
        "map" | "mrr" => name.to_uppercase(),
        "macro_f1" => "macro F1".into(),
        "auc" => "ROC-AUC".into(),
        other => other.into(),
    }
}

/// Weights of one head as a list, of several as a list of lists.
fn heads_json(heads: &[Vec<f32>]) -> Value {
    match heads {
        [one] => json!(one),
        several => json!(several),
    }
}

/// Keeps one of several heads, counted from 1, if one is asked for.
pub fn only_head<T: Clone>(heads: &mut Vec<T>, number: Option<usize>) -> Result<()> {
    let Some(number) = number else { return Ok(()) };
    let head = number.checked_sub(1).and_then(|index| heads.get(index)).cloned();
    *heads = vec![head.ok_or_else(|| {
        let range = if heads.len() == 1 { "--head 1 only".into() } else { format!("--head 1 to {}", heads.len()) };
        WrongUsage(format!("there is no head {number}: this model has {range}"))
    })?];
    Ok(())
}

/// An error if there are no weights to draw.
fn need_attention(pooling: PoolingKind) -> Result<()> {
    if pooling == PoolingKind::Last {
        return Err(WrongUsage("the model takes the last state: there is no attention to look at (model.pooling = \"last\")".into()).into());
    }
    Ok(())
}
