//! Classification as a task: what every command and server needs of it.

use std::path::Path;

use super::{Answer, Classifier, ClassifyLearner, Config, Example, Form, Net, TEXT, Units};
use crate::Result;
use crate::audit::{self, Course, Progress};
use crate::config::resolve;
use crate::metrics::{Confusion, Report, Tallies};
use crate::model::ask::{AnswerOptions, Input, Questions, Replies, one_by_one};
use crate::model::calibration::{self, Calibration};
use crate::model::describe::{Baseline, Fact, Outline, Scores, add_measures, grouped, listed, units, written};
use crate::model::ensemble::alone;
use crate::model::grow::{self, Named};
use crate::model::head::{confusion, label_measures, nothing_to_measure, number_of};
use crate::model::layers::Reading;
use crate::model::probe::Probe;
use crate::model::touch::{self, Saying};
use crate::model::{Chosen, Contexts, Layers, Model, Settings, Task, Touch, Touched, teach};
use crate::params::Params;
use crate::text::guess::guess_units;
use crate::text::read::{Examples, InputText, Table, text_of};
use crate::text::{Fault, Labelled, TextError};
use crate::train::{Measure, Outcome, Run, TrainSettings, Watch};
use crate::view::CAVEAT;

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

impl Classifier {
    /// The text to answer, and its label if the file has one: the answer does not depend on it. To nothing there is nothing to say.
    fn filled(&self, path: &Path, read: InputText) -> Result<(String, Option<String>), TextError> {
        let text = match read.text.trim() {
            "" => return Err(TextError::at(path, read.line, None, Fault::EmptyLine)),
            text => text.to_string(),
        };
        self.limit().line(path, read.line, TEXT, || self.units_in(&text))?;
        Ok((text, read.label))
    }

    /// The texts of an input, each with its label if it came with one.
    fn questions<'a>(&'a self, input: Input<'a>) -> Result<Questions<'a, (String, Option<String>)>> {
        let format = &self.config.data.format;
        let file = input.path();
        input.questions(
            format,
            |table| Ok(Box::new(table.texts()?.map(move |row| row.and_then(|read| self.filled(&file, read))))),
            |path, line| text_of(path, line, format.longest).and_then(|read| self.filled(path, read)),
        )
    }

    /// Adds the self-attention of all layers to answers; of an ensemble that of its first member.
    fn look_inside(&self, answers: &mut [Answer]) -> Result<()> {
        let (Net::Pooled(net), Some(tokenizer)) = (&self.net, self.units.tokenizer()) else { return Ok(()) };
        for answer in answers {
            answer.reading = Reading::of(&net.encoder, &self.params, &tokenizer.ids(&answer.text))?;
        }
        Ok(())
    }

    /// Answers that know the right label, where the question came with one.
    fn answer_lines(&self, lines: &[(String, Option<String>)]) -> Result<Vec<Answer>> {
        let mut answers = self.answer(&lines.iter().map(|(text, _)| text).collect::<Vec<_>>())?;
        for (answer, (_, label)) in answers.iter_mut().zip(lines) {
            answer.truth = label.clone().filter(|label| self.labels.position(label).is_some());
        }
        Ok(answers)
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

    fn typed(&self, rows: &[Labelled]) -> Option<String> {
        rows.first().map(|row| row.text.clone())
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
        let plain = if asked.model.faithful { Config::faithful() } else { Config::default() };
        let mut config = Config { text: guess.settings.into(), ..plain };
        config.train.suit(rows.iter().map(|row| row.text.split_whitespace().count() + 1).sum());
        let t = &config.train;
        let chosen = format!("chosen for {} texts: {} epochs in batches of {} positions", grouped(rows.len()), t.epochs, grouped(t.batch));
        Ok(Chosen { config, notes: vec![format!("units: {}", guess.reason), chosen] })
    }

    fn defaults(given: &Config) -> Config {
        match given.model.form {
            // How many texts there are is not known yet; a recipe says what it wants.
            Form::Evidence => Config::evidence(usize::MAX),
            Form::Pooled if given.model.faithful => Config::faithful(),
            Form::Pooled => Config::default(),
        }
    }

    fn new(config: Config, rows: &[Labelled]) -> Result<Self> {
        Classifier::new(config, rows)
    }

    fn load(folder: &Path) -> Result<Self> {
        Classifier::load(folder)
    }

    fn grown(&self, config: Config, rows: &[Labelled]) -> Result<Self> {
        self.grown_with(config, rows)
    }

    fn names(&self) -> Vec<Named> {
        let labels = grow::labels(&self.labels);
        match &self.units {
            Units::Tokenizer(tokenizer) => {
                let head = ["output.weight", "output.bias"].map(|param| Named::rows(param, &labels));
                std::iter::once(Named::rows("embedding.weight", &grow::units(tokenizer))).chain(head).collect()
            }
            Units::Table(table) => {
                let rows: Vec<String> = table.hashes().map(|hash| hash.to_string()).collect();
                let both = [&labels[..], &["\0own", "\0next", "\0before"].map(String::from)].concat();
                let table =
                    |param, columns: Option<&[String]>| Named { param, rows: rows.clone(), columns: columns.map(<[String]>::to_vec) };
                vec![
                    table("evidence.weight", Some(&both)),
                    table("linear.weight", Some(&labels)),
                    table("idf", None),
                    Named::rows("evidence.bias", &labels),
                    Named::rows("linear.bias", &labels),
                ]
            }
        }
    }

    fn join(members: Vec<Self>) -> Result<Self> {
        Classifier::joined(members)
    }

    fn calibrate(&self, rows: &[Labelled]) -> Result<Option<Calibration>> {
        self.check_lengths(rows)?;
        let gold = rows.iter().map(|row| number_of(&self.labels, &row.label, row.line)).collect::<Result<Vec<u32>>>()?;
        let texts: Vec<&str> = rows.iter().map(|row| row.text.as_str()).collect();
        let said: Vec<Vec<f32>> = self.decisions(&texts)?.into_iter().map(|d| d.probabilities).collect();
        Ok(Calibration::of_labels(&said, &gold))
    }

    fn set_calibration(&mut self, calibration: Calibration) {
        self.calibration = Some(calibration);
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

    fn layers(&self) -> Option<Layers> {
        let m = &self.config.model;
        m.encoder.layers(&self.config.transformer).filter(|_| m.form == Form::Pooled)
    }

    fn caveat(&self) -> &'static str {
        match self.config.model.form {
            Form::Evidence => {
                "shows how much each word counts, not for which label: predict --json has what each adds to each label, and these add up to the answer"
            }
            Form::Pooled => CAVEAT,
        }
    }

    fn answers<'a>(&'a self, input: Input<'a>, options: &AnswerOptions) -> Result<Replies<'a>> {
        let (questions, layers) = (self.questions(input)?, options.layers);
        let answer = move |lines: &[(String, Option<String>)], _| {
            let mut answers = self.answer_lines(lines)?;
            if layers {
                self.look_inside(&mut answers)?;
            }
            Ok(answers)
        };
        Ok(one_by_one(questions, answer))
    }

    fn touch(&self, input: Input, touch: &Touch, seen: Option<&Contexts>) -> Result<Vec<Touched>> {
        alone(&self.peers)?;
        // What the label is does not matter; it must be one.
        let label = self.labels.get(0).unwrap_or_default();
        let row = |(text, _): (String, Option<String>)| Labelled { text, label: label.to_string(), line: 0 };
        let rows: Vec<Labelled> = self.questions(input)?.all()?.into_iter().map(row).collect();
        let calibrate = |p: &mut [f32]| self.calibration.iter().for_each(|calibration| calibration.apply(p));
        let say = Saying { calibrate: &calibrate, score: None, by_words: self.config.model.form == Form::Evidence };
        touch::pooled(self, &self.asked(&rows)?, touch, seen, &say)
    }

    fn contexts(&self, rows: &[Labelled]) -> Result<Contexts> {
        alone(&self.peers)?;
        let called = rows.iter().map(|row| (row.text.clone(), row.label.clone()));
        touch::seen(self, &self.asked(rows)?, self.config.model.form == Form::Evidence, called)
    }

    fn audit(&self, rows: &[Labelled], course: &Course, progress: &Progress) -> Result<audit::Report> {
        alone(&self.peers)?;
        audit::pooled(self, rows, course, progress)
    }

    /// The most frequent label, and for the form of evidence the regression that is half of it.
    fn baselines(&self, _: &dyn Fn() -> Option<Vec<Labelled>>, rows: &[Labelled]) -> Result<Vec<Baseline>> {
        self.simple(&self.examples(rows)?)
    }

    /// Accuracy, macro F1, ROC-AUC for two labels, how far the probabilities can be trusted, and the table per class.
    fn scores(&self, rows: &[Labelled], _: &AnswerOptions) -> Result<Scores> {
        self.check_lengths(rows)?;
        let mut report = Report::new();
        report.count("texts", rows.len());
        let gold = rows.iter().map(|row| number_of(&self.labels, &row.label, row.line)).collect::<Result<Vec<u32>>>()?;
        let texts: Vec<&str> = rows.iter().map(|row| row.text.as_str()).collect();
        let said: Vec<Vec<f32>> = self.decisions(&texts)?.into_iter().map(|d| d.probabilities).collect();
        add_measures(&mut report, &label_measures(&self.labels, &gold, &said)?);
        calibration::report_labels(&mut report, self.calibration, &said, &gold);
        Ok(Scores { report, classes: Some(confusion(&self.labels, &gold, &said)?) })
    }

    fn tallies(&self, rows: &[Labelled], _: &AnswerOptions) -> Result<Vec<Tallies>> {
        self.check_lengths(rows)?;
        let said: Vec<String> =
            self.answer(&rows.iter().map(|t| t.text.as_str()).collect::<Vec<_>>())?.into_iter().map(|answer| answer.label).collect();
        Confusion::tallies(&rows.iter().map(|row| row.label.as_str()).collect::<Vec<_>>(), &said).map_err(nothing_to_measure)
    }
}
