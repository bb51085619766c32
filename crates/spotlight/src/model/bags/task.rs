//! Bags as a task: what every command and server needs of it.

use std::path::Path;

use super::{BagLearner, BagModel, Config, Example};
use crate::Result;
use crate::audit::{self, Course, Progress};
use crate::metrics::Report;
use crate::model::ask::{AnswerOptions, Input, Replies, all_at_once};
use crate::model::describe::{Baseline, Fact, Outline, Scores, add_measures, grouped, listed};
use crate::model::{Chosen, Model, Settings, Task, teach};
use crate::params::Params;
use crate::text::Bag;
use crate::text::read::{Examples, Table};
use crate::train::{Measure, Outcome, Run, TrainSettings, Watch};

impl Settings for Config {
    fn seed(&self) -> u64 {
        self.seed
    }

    fn files(&self) -> (&str, &str) {
        (&self.data.train, &self.data.dev)
    }

    fn training(&self) -> &TrainSettings {
        &self.train
    }
}

impl Model for BagModel {
    const TASK: Task = Task::Bags;
    const KEY: &'static str = "bag";
    type Config = Config;
    type Row = Bag;
    type Learner = BagLearner;

    fn read(path: &Path, config: &Config) -> Result<Examples<Bag>> {
        Ok(Table::open(path, &config.data.format)?.bags(config.data.columns())?)
    }

    fn label(row: &Bag) -> Option<&str> {
        Some(&row.label)
    }

    fn key(row: &Bag) -> String {
        row.id.clone()
    }

    fn choose(_: &[Bag], _: &[String]) -> Result<Chosen<Config>> {
        Ok(Chosen { config: Config::default(), notes: Vec::new() })
    }

    fn new(config: Config, rows: &[Bag]) -> Result<Self> {
        BagModel::new(config, rows)
    }

    fn load(folder: &Path) -> Result<Self> {
        BagModel::load(folder)
    }

    fn save_frame(&self, folder: &Path) -> Result<()> {
        self.save_frame(folder)
    }

    fn config(&self) -> &Config {
        &self.config
    }

    fn params(&self) -> &Params<f32> {
        &self.params
    }

    fn params_mut(&mut self) -> &mut Params<f32> {
        &mut self.params
    }

    fn learner(&self) -> BagLearner {
        self.learner()
    }

    fn examples(&self, rows: &[Bag]) -> Result<Vec<Example>> {
        self.examples(rows)
    }

    fn identity(&self, row: &Bag) -> Vec<Vec<u8>> {
        vec![row.rows.iter().flatten().flat_map(|x| x.to_le_bytes()).chain(row.label.bytes()).collect()]
    }

    fn fit(&mut self, run: &Run, train: &[Bag], dev: &[Bag], watch: &mut dyn Watch) -> Result<Outcome> {
        teach::fit(self, run, train, dev, watch)
    }

    fn measure(&self, rows: &[Bag]) -> Result<Vec<Measure>> {
        teach::measure(self, rows)
    }

    fn outline(&self, train: &[Bag], dev: &[Bag]) -> Result<Outline> {
        let m = &self.config.model;
        Ok(Outline {
            data: format!(
                "{} training and {} development bags of {} rows; {} features, {} labels",
                grouped(train.len()),
                grouped(dev.len()),
                grouped(train.iter().chain(dev).map(|b| b.rows.len()).sum()),
                self.standard.width(),
                self.labels.len()
            ),
            network: format!("{} layers of {} pooled by {}", m.layers, m.hidden, m.pooling.name(&self.config.attention)),
            baseline: None,
        })
    }

    fn facts(&self) -> Vec<Fact> {
        vec![("rows", format!("{} features", grouped(self.standard.width()))), ("labels", listed(&self.labels))]
    }

    fn blind(&self) -> Option<String> {
        None
    }

    /// A file of the same columns as the training part. What stands in the column of the label does not matter.
    fn answers<'a>(&'a self, input: Input<'a>, _: &AnswerOptions) -> Result<Replies<'a>> {
        Ok(all_at_once(self.answer(&Self::read(input.file()?, &self.config)?.examples)?))
    }

    fn audit(&self, rows: &[Bag], course: &Course, progress: &Progress) -> Result<audit::Report> {
        audit::pooled(self, rows, course, progress)
    }

    /// The most frequent label, and logistic regression on mean and max of the rows.
    fn baselines(&self, train: &dyn Fn() -> Option<Vec<Bag>>, rows: &[Bag]) -> Result<Vec<Baseline>> {
        self.simple(train(), rows)
    }

    /// Accuracy, macro F1, ROC-AUC for two labels, and the table per class.
    fn scores(&self, rows: &[Bag], _: &AnswerOptions) -> Result<Scores> {
        let mut report = Report::new();
        report.count("bags", rows.len());
        report.count("rows", rows.iter().map(|b| b.rows.len()).sum());
        add_measures(&mut report, &Model::measure(self, rows)?);
        Ok(Scores { report, classes: Some(self.confusion(&self.examples(rows)?)?) })
    }
}
