//! Bags as a task: what every command and server needs of it.

use std::path::Path;

use super::{BagLearner, BagModel, Config, Example};
use crate::Result;
use crate::audit::{self, Course, Progress};
use crate::metrics::{Confusion, Report, Tallies};
use crate::model::ask::{AnswerOptions, Input, Replies, noted};
use crate::model::calibration::{self, Calibration};
use crate::model::describe::{Baseline, Fact, Outline, Scores, add_measures, grouped, listed};
use crate::model::ensemble::alone;
use crate::model::grow::{self, Named};
use crate::model::head::{confusion, label_measures, nothing_to_measure, number_of};
use crate::model::probe::Probe;
use crate::model::touch::{self, Saying};
use crate::model::{Chosen, Contexts, Model, Settings, Task, Touch, Touched, teach};
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

impl BagModel {
    /// The bags of an input.
    fn bags(&self, input: Input) -> Result<Examples<Bag>> {
        match input {
            Input::Content(content) => Ok(Table::new(content.as_bytes(), "-", &self.config.data.format).bags(self.config.data.columns())?),
            named => Self::read(named.file()?, &self.config),
        }
    }

    /// The probabilities of all labels for each bag, before calibration, and the number of its own.
    fn judged(&self, rows: &[Bag]) -> Result<(Vec<Vec<f32>>, Vec<u32>)> {
        let gold = rows.iter().map(|row| number_of(&self.labels, &row.label, row.line)).collect::<Result<Vec<u32>>>()?;
        Ok((self.decisions(rows)?.into_iter().map(|d| d.probabilities).collect(), gold))
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

    /// Nothing where the columns are not those that everybody would think of.
    fn typed(&self, rows: &[Bag]) -> Option<String> {
        let (bag, usual) = (rows.first()?, Config::default().data);
        let data = &self.config.data;
        if data.columns() != usual.columns() || data.format != usual.format || [&bag.label, &bag.id].iter().any(|text| text.contains(',')) {
            return None;
        }
        let joined = |numbers: Vec<String>| numbers.join(",");
        let header = format!("label,bag,{}", joined((1..=bag.rows.first()?.len()).map(|n| format!("x{n}")).collect()));
        let line = |row: &Vec<f32>| format!("{},{},{}", bag.label, bag.id, joined(row.iter().map(f32::to_string).collect()));
        Some(std::iter::once(header).chain(bag.rows.iter().map(line)).collect::<Vec<_>>().join("\n"))
    }

    fn key(row: &Bag) -> String {
        row.id.clone()
    }

    fn choose(rows: &[Bag], _: &[String]) -> Result<Chosen<Config>> {
        let config = Config::for_bags(rows.len());
        let (m, t) = (&config.model, &config.train);
        let kept = if t.every == t.epochs { "the last is kept" } else { "the best is kept" };
        let notes = vec![format!(
            "chosen for {} bags: {} features after a layer, {} epochs in batches of {} bags; {kept}",
            grouped(rows.len()),
            m.hidden,
            t.epochs,
            t.batch
        )];
        Ok(Chosen { config, notes })
    }

    fn new(config: Config, rows: &[Bag]) -> Result<Self> {
        BagModel::new(config, rows)
    }

    fn load(folder: &Path) -> Result<Self> {
        BagModel::load(folder)
    }

    fn grown(&self, config: Config, rows: &[Bag]) -> Result<Self> {
        self.grown_with(config, rows)
    }

    fn join(members: Vec<Self>) -> Result<Self> {
        BagModel::joined(members)
    }

    fn calibrate(&self, rows: &[Bag]) -> Result<Option<Calibration>> {
        let (said, gold) = self.judged(rows)?;
        Ok(Calibration::of_labels(&said, &gold))
    }

    fn set_calibration(&mut self, calibration: Calibration) {
        self.calibration = Some(calibration);
    }

    fn names(&self) -> Vec<Named> {
        let labels = grow::labels(&self.labels);
        ["output.weight", "output.bias"].map(|param| Named::rows(param, &labels)).into()
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
            network: format!(
                "{} layer{} of {} pooled by {}",
                m.layers,
                if m.layers == 1 { "" } else { "s" },
                m.hidden,
                m.pooling.name(&self.config.attention)
            ),
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
        let read = self.bags(input)?;
        Ok(noted(self.answer(&read.examples)?, read.notes.iter().map(ToString::to_string).collect()))
    }

    fn touch(&self, input: Input, touch: &Touch, seen: Option<&Contexts>) -> Result<Vec<Touched>> {
        alone(&self.peers)?;
        let mut bags = self.bags(input)?.examples;
        // What the label is does not matter; it must be one.
        let label = self.labels.get(0).unwrap_or_default();
        bags.iter_mut().filter(|bag| self.labels.position(&bag.label).is_none()).for_each(|bag| bag.label = label.to_string());
        let calibrate = |p: &mut [f32]| self.calibration.iter().for_each(|calibration| calibration.apply(p));
        let say = Saying { calibrate: &calibrate, score: None, by_words: false };
        touch::pooled(self, &self.asked(&bags)?, touch, seen, &say)
    }

    fn contexts(&self, rows: &[Bag]) -> Result<Contexts> {
        alone(&self.peers)?;
        let rows_of = |bag: &Bag| format!("{} ({} row{})", bag.id, bag.rows.len(), if bag.rows.len() == 1 { "" } else { "s" });
        touch::seen(self, &self.asked(rows)?, false, rows.iter().map(|bag| (rows_of(bag), bag.label.clone())))
    }

    fn audit(&self, rows: &[Bag], course: &Course, progress: &Progress) -> Result<audit::Report> {
        alone(&self.peers)?;
        audit::pooled(self, rows, course, progress)
    }

    /// The most frequent label, and logistic regression on mean and max of the rows.
    fn baselines(&self, train: &dyn Fn() -> Option<Vec<Bag>>, rows: &[Bag]) -> Result<Vec<Baseline>> {
        self.simple(train(), rows)
    }

    /// Accuracy, macro F1, ROC-AUC for two labels, how far the probabilities can be trusted, and the table per class.
    fn scores(&self, rows: &[Bag], _: &AnswerOptions) -> Result<Scores> {
        let mut report = Report::new();
        report.count("bags", rows.len());
        report.count("rows", rows.iter().map(|b| b.rows.len()).sum());
        let (said, gold) = self.judged(rows)?;
        add_measures(&mut report, &label_measures(&self.labels, &gold, &said)?);
        calibration::report_labels(&mut report, self.calibration, &said, &gold);
        Ok(Scores { report, classes: Some(confusion(&self.labels, &gold, &said)?) })
    }

    fn tallies(&self, rows: &[Bag], _: &AnswerOptions) -> Result<Vec<Tallies>> {
        let said: Vec<String> = self.answer(rows)?.into_iter().map(|answer| answer.label).collect();
        Confusion::tallies(&rows.iter().map(|row| row.label.as_str()).collect::<Vec<_>>(), &said).map_err(nothing_to_measure)
    }
}
