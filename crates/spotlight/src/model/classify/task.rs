//! Classification as a task: what every command and server needs of it.

use std::path::Path;

use super::{Classifier, ClassifyLearner, Config, Example, Form};
use crate::Result;
use crate::audit::{self, Course, Progress};
use crate::config::resolve;
use crate::metrics::Report;
use crate::model::ask::{AnswerOptions, Input, Replies, line_by_line};
use crate::model::describe::{Baseline, Fact, Outline, Scores, add_measures, grouped, listed, units, written};
use crate::model::{Chosen, Model, Settings, Task, teach};
use crate::params::Params;
use crate::text::guess::guess_units;
use crate::text::read::{Examples, Table};
use crate::text::{Fault, Labelled, Line, TextError};
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

/// The text of a line. A second column, as in a file of labelled texts, is not read. To nothing there is nothing to say.
fn text_of(path: &Path, line: &Line) -> Result<String, TextError> {
    match line.text.split('\t').next().map(str::trim).filter(|text| !text.is_empty()) {
        Some(text) => Ok(text.to_string()),
        None => Err(TextError::at(path, line.number, None, Fault::EmptyLine)),
    }
}

impl Model for Classifier {
    const TASK: Task = Task::Classify;
    const KEY: &'static str = "text";
    type Config = Config;
    type Row = Labelled;
    type Learner = ClassifyLearner;

    fn read(path: &Path, config: &Config) -> Result<Examples<Labelled>> {
        Ok(Table::open(path, &config.data.format)?.labelled()?)
    }

    fn label(row: &Labelled) -> Option<&str> {
        Some(&row.label)
    }

    fn key(row: &Labelled) -> String {
        row.text.clone()
    }

    fn choose(rows: &[Labelled], changes: &[String]) -> Result<Chosen<Config>> {
        let asked = resolve(&Config::evidence(rows.len()), "", changes)?;
        // Who changes an encoder wants one.
        if asked.model.form == Form::Evidence && !asked.wants_encoder() {
            let config = Config::evidence(rows.len());
            let t = &config.train;
            let notes = vec![format!(
                "chosen for {} texts: evidence of words, {} epochs in batches of {} texts",
                grouped(rows.len()),
                t.epochs,
                t.batch
            )];
            return Ok(Chosen { config, notes });
        }
        let guess = guess_units(rows.iter().map(|t| &t.text));
        let notes = vec![format!("units: {}", guess.reason)];
        Ok(Chosen { config: Config { text: guess.settings.into(), ..Config::default() }, notes })
    }

    fn defaults(given: &Config) -> Config {
        match given.model.form {
            // How many texts there are is not known yet; a recipe says what it wants.
            Form::Evidence => Config::evidence(usize::MAX),
            Form::Pooled => Config::default(),
        }
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
        let labels = self.labels.len();
        if m.form == Form::Evidence {
            return Ok(Outline {
                data: format!("{train} training and {dev} development texts; {labels} labels"),
                network: format!("evidence of {} words, pairs and pieces, weighed by attention", grouped(self.units.len())),
                baseline: None,
            });
        }
        let units = units(self.units.len(), self.config.text.units);
        Ok(Outline {
            data: format!("{train} training and {dev} development texts; {units}, {labels} labels"),
            network: format!("{} {} pooled by {}", written(m.encoder.cell), m.encoder.hidden, m.pooling.name(&self.config.attention)),
            baseline: None,
        })
    }

    fn facts(&self) -> Vec<Fact> {
        let text = match self.config.model.form {
            Form::Evidence => format!("{} words, pairs and pieces", grouped(self.units.len())),
            Form::Pooled => units(self.units.len(), self.config.text.units),
        };
        vec![("text", text), ("labels", listed(&self.labels))]
    }

    fn blind(&self) -> Option<String> {
        self.config.model.pooling.blind()
    }

    fn answers<'a>(&'a self, input: Input<'a>, _: &AnswerOptions) -> Result<Replies<'a>> {
        Ok(line_by_line(input.lines()?, false, text_of, |texts: &[String], _| self.answer(texts)))
    }

    fn audit(&self, rows: &[Labelled], course: &Course, progress: &Progress) -> Result<audit::Report> {
        audit::pooled(self, rows, course, progress)
    }

    /// The most frequent label, and for the form of evidence the regression that is half of it.
    fn baselines(&self, _: &dyn Fn() -> Option<Vec<Labelled>>, rows: &[Labelled]) -> Result<Vec<Baseline>> {
        self.simple(&self.examples(rows)?)
    }

    /// Accuracy, macro F1, ROC-AUC for two labels, and the table per class.
    fn scores(&self, rows: &[Labelled], _: &AnswerOptions) -> Result<Scores> {
        let mut report = Report::new();
        report.count("texts", rows.len());
        add_measures(&mut report, &Model::measure(self, rows)?);
        let examples = self.examples(rows)?;
        Ok(Scores { report, classes: Some(self.confusion(&examples)?) })
    }
}
