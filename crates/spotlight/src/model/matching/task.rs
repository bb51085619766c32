//! Matching as a task: what every command and server needs of it.

use std::path::Path;

use super::{Answer, Config, Example, MatchLearner, Matcher};
use crate::Result;
use crate::metrics::{Candidate, Report, Style, Tallies, rank_tallies};
use crate::model::ask::{AnswerOptions, Input, Replies, all_at_once};
use crate::model::describe::{Fact, Outline, Scores, add_measures, grouped, units, written};
use crate::model::{Chosen, Model, Settings, Task, teach};
use crate::params::Params;
use crate::text::Question;
use crate::text::guess::guess_units;
use crate::text::read::{Examples, Table, candidate_of, question_groups};
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

/// The answers to each question together, the best first.
fn ranked(rows: &[Question], answers: Vec<Answer>) -> Vec<Answer> {
    let mut answers: Vec<Option<Answer>> = answers.into_iter().map(Some).collect();
    let mut sorted = Vec::with_capacity(answers.len());
    for group in question_groups(rows) {
        let mut own: Vec<Answer> = group.iter().filter_map(|&row| answers[row].take()).collect();
        own.sort_by(|a, b| b.score.total_cmp(&a.score));
        sorted.extend(own.into_iter().enumerate().map(|(i, answer)| Answer { rank: Some(i + 1), ..answer }));
    }
    sorted
}

impl Model for Matcher {
    const TASK: Task = Task::Match;
    const KEY: &'static str = "question";
    type Config = Config;
    type Row = Question;
    type Learner = MatchLearner;

    fn read(path: &Path, config: &Config) -> Result<Examples<Question>> {
        Ok(Table::open(path, &config.data.format)?.questions(config.data.id_column)?)
    }

    fn key(row: &Question) -> String {
        row.id.clone().unwrap_or_else(|| row.question.clone())
    }

    fn choose(rows: &[Question], _: &[String]) -> Result<Chosen<Config>> {
        let guess = guess_units(rows.iter().map(|q| &q.answer));
        let notes = vec![format!("units: {}", guess.reason)];
        Ok(Chosen { config: Config { text: guess.settings.into(), ..Config::default() }, notes })
    }

    fn new(config: Config, rows: &[Question]) -> Result<Self> {
        Matcher::new(config, rows)
    }

    fn load(folder: &Path) -> Result<Self> {
        Matcher::load(folder)
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

    fn learner(&self) -> MatchLearner {
        self.learner()
    }

    fn examples(&self, rows: &[Question]) -> Result<Vec<Example>> {
        Ok(self.examples(rows))
    }

    fn identity(&self, row: &Question) -> Vec<Vec<u8>> {
        vec![row.question.clone().into(), row.answer.clone().into(), vec![u8::from(row.relevant)]]
    }

    fn fit(&mut self, run: &Run, train: &[Question], dev: &[Question], watch: &mut dyn Watch) -> Result<Outcome> {
        teach::fit(self, run, train, dev, watch)
    }

    fn measure(&self, rows: &[Question]) -> Result<Vec<Measure>> {
        teach::measure(self, rows)
    }

    fn outline(&self, train: &[Question], dev: &[Question]) -> Result<Outline> {
        let m = &self.config.model;
        let baseline = self.baseline(&self.examples(dev))?;
        Ok(Outline {
            data: format!(
                "{} training and {} development questions with {} and {} candidates; {}",
                grouped(question_groups(train).len()),
                grouped(question_groups(dev).len()),
                grouped(train.len()),
                grouped(dev.len()),
                units(self.tokenizer.len(), self.config.text.units),
            ),
            network: format!(
                "{} towers, {} {} pooled by {}",
                written(m.towers),
                written(m.encoder.cell),
                m.encoder.hidden,
                m.pooling.name(&self.config.attention)
            ),
            baseline: Some(format!("shared words alone, rare ones counting more: map {:.4}, mrr {:.4}", baseline.map, baseline.mrr)),
        })
    }

    fn facts(&self) -> Vec<Fact> {
        vec![("text", units(self.tokenizer.len(), self.config.text.units))]
    }

    fn blind(&self) -> Option<String> {
        self.config.model.pooling.blind()
    }

    /// Candidates are ranked, so all lines are read before the first is answered.
    fn answers<'a>(&'a self, input: Input<'a>, options: &AnswerOptions) -> Result<Replies<'a>> {
        let (id_column, format) = (self.config.data.id_column, &self.config.data.format);
        let rows = input.questions(
            format,
            |table| Ok(Box::new(table.candidates(id_column)?)),
            |path, line| candidate_of(path, line, id_column, format.longest),
        )?;
        let rows: Vec<Question> = rows.all()?;
        let answers = self.answer(&rows.iter().map(|q| (&q.question, &q.answer)).collect::<Vec<_>>())?;
        Ok(all_at_once(if options.unranked { answers } else { ranked(&rows, answers) }))
    }

    /// MAP and MRR, and what the words shared with the question reach alone.
    fn scores(&self, rows: &[Question], _: &AnswerOptions) -> Result<Scores> {
        let baseline = self.baseline(&self.examples(rows))?;
        let mut report = Report::new();
        report.count("rows", rows.len());
        report.count("questions", baseline.questions);
        report.count("left out (no right answer)", baseline.dropped);
        add_measures(&mut report, &Model::measure(self, rows)?);
        report.number("MAP of shared words (idf)", baseline.map, Style::Share);
        report.number("MRR of shared words (idf)", baseline.mrr, Style::Share);
        Ok(Scores { report, classes: None })
    }

    fn tallies(&self, rows: &[Question], _: &AnswerOptions) -> Result<Vec<Tallies>> {
        let answers = self.answer(&rows.iter().map(|q| (&q.question, &q.answer)).collect::<Vec<_>>())?;
        let candidate = |row: usize| Candidate { score: answers[row].score as f64, relevant: rows[row].relevant };
        let questions: Vec<Vec<Candidate>> =
            question_groups(rows).into_iter().map(|group| group.into_iter().map(candidate).collect()).collect();
        Ok(rank_tallies(&questions))
    }
}
