//! Classification as a task: what every command and server needs of it.

use std::path::Path;

use super::{Classifier, ClassifyLearner, Config, Example};
use crate::Result;
use crate::metrics::Report;
use crate::model::ask::{AnswerOptions, Input, Replies, line_by_line};
use crate::model::describe::{Fact, Outline, Scores, add_measures, grouped, listed, units, written};
use crate::model::{Chosen, Model, Settings, Task, teach};
use crate::params::Params;
use crate::text::guess::guess_units;
use crate::text::{Labelled, Line, read};
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

/// The text of a line. A second column, as in a file of labelled texts, is not read.
fn text_of(line: &Line) -> String {
    line.text.split('\t').next().unwrap_or_default().to_string()
}

impl Model for Classifier {
    const TASK: Task = Task::Classify;
    const KEY: &'static str = "text";
    type Config = Config;
    type Row = Labelled;
    type Learner = ClassifyLearner;

    fn read(path: &Path, _: &Config) -> Result<Vec<Labelled>> {
        Ok(read::labelled(path)?)
    }

    fn key(row: &Labelled) -> String {
        row.text.clone()
    }

    fn choose(rows: &[Labelled]) -> Chosen<Config> {
        let guess = guess_units(rows.iter().map(|t| &t.text));
        Chosen { config: Config { text: guess.settings.into(), ..Config::default() }, notes: vec![format!("units: {}", guess.reason)] }
    }

    fn new(config: Config, rows: &[Labelled]) -> Result<Self> {
        Classifier::new(config, rows)
    }

    fn load(folder: &Path) -> Result<Self> {
        Classifier::load(folder)
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

    fn learner(&self) -> ClassifyLearner {
        self.learner()
    }

    fn examples(&self, rows: &[Labelled]) -> Result<Vec<Example>> {
        self.examples(rows)
    }

    fn identity(&self, row: &Labelled) -> Vec<Vec<u8>> {
        vec![row.text.clone().into_bytes(), row.label.clone().into_bytes()]
    }

    fn fit(&mut self, run: &Run, train: &[Labelled], dev: &[Labelled], watch: &mut dyn Watch) -> Result<Outcome> {
        teach::fit(self, run, train, dev, watch)
    }

    fn measure(&self, rows: &[Labelled]) -> Result<Vec<Measure>> {
        teach::measure(self, rows)
    }

    fn outline(&self, train: &[Labelled], dev: &[Labelled]) -> Result<Outline> {
        let m = &self.config.model;
        let (train, dev) = (grouped(train.len()), grouped(dev.len()));
        let (units, labels) = (units(self.tokenizer.len(), self.config.text.units), self.labels.len());
        Ok(Outline {
            data: format!("{train} training and {dev} development texts; {units}, {labels} labels"),
            network: format!("{} {} pooled by {}", written(m.encoder.cell), m.encoder.hidden, m.pooling.name(&self.config.attention)),
            baseline: None,
        })
    }

    fn facts(&self) -> Vec<Fact> {
        vec![("text", units(self.tokenizer.len(), self.config.text.units)), ("labels", listed(&self.labels))]
    }

    fn blind(&self) -> Option<String> {
        self.config.model.pooling.blind()
    }

    fn answers<'a>(&'a self, input: Input<'a>, _: &AnswerOptions) -> Result<Replies<'a>> {
        Ok(line_by_line(input.lines()?, false, |_, line| Ok(text_of(line)), |texts: &[String], _| self.answer(texts)))
    }

    /// Accuracy, macro F1, ROC-AUC for two labels, and the table per class.
    fn scores(&self, rows: &[Labelled], _: &AnswerOptions) -> Result<Scores> {
        let mut report = Report::new();
        report.count("texts", rows.len());
        add_measures(&mut report, &Model::measure(self, rows)?);
        Ok(Scores { report, classes: Some(self.confusion(&self.examples(rows)?)?) })
    }
}
