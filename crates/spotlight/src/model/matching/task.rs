//! Matching as a task: what every command and server needs of it.

use std::path::Path;

use super::{Answer, Config, Example, Form, MatchLearner, Matcher, Net};
use crate::Result;
use crate::audit::{self, Course, Progress};
use crate::config::resolve;
use crate::metrics::{Candidate, Report, Tallies, rank_tallies};
use crate::model::ask::{AnswerOptions, Input, Questions, Replies, all_at_once};
use crate::model::describe::{Baseline, Fact, Outline, Scores, add_measures, grouped, measure_name, units, written};
use crate::model::ensemble::alone;
use crate::model::grow::{self, Named};
use crate::model::layers::Reading;
use crate::model::limits::Limit;
use crate::model::{Chosen, Contexts, Layers, Model, Settings, Task, Touch, Touched, teach};
use crate::params::Params;
use crate::text::guess::guess_units;
use crate::text::read::{Examples, Table, candidate_of, question_groups};
use crate::text::{Question, TextError};
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

impl Matcher {
    fn limit(&self) -> Limit {
        Limit(if let Net::Pooled(net) = &self.net { net.encoders()[0].longest() } else { None })
    }

    /// A candidate, unless one of its texts has more units than there are learned positions.
    fn checked(&self, path: &Path, row: Question) -> Result<Question, TextError> {
        self.limit().line(path, row.line, "question", || self.ids(&row.question).len())?;
        self.limit().line(path, row.line, "answer", || self.ids(&row.answer).len())?;
        Ok(row)
    }

    /// An error for the first of some examples with such a text.
    fn check_lengths(&self, rows: &[Question]) -> Result<()> {
        for row in rows {
            self.limit().example("question", row.line, || self.ids(&row.question).len())?;
            self.limit().example("answer", row.line, || self.ids(&row.answer).len())?;
        }
        Ok(())
    }

    /// The candidates of an input.
    fn questions<'a>(&'a self, input: Input<'a>) -> Result<Questions<'a, Question>> {
        let (id_column, format) = (self.config.data.id_column, &self.config.data.format);
        let file = input.path();
        input.questions(
            format,
            |table| Ok(Box::new(table.candidates(id_column)?.map(move |row| row.and_then(|row| self.checked(&file, row))))),
            move |path, line| candidate_of(path, line, id_column, format.longest).and_then(|row| self.checked(path, row)),
        )
    }

    /// Adds the self-attention of all layers of both towers to answers; of an ensemble those of its first member.
    fn look_inside(&self, answers: &mut [Answer]) -> Result<()> {
        let Net::Pooled(net) = &self.net else { return Ok(()) };
        let [question, answer] = net.encoders();
        for it in answers {
            let read = |tower, text: &str| Reading::of(tower, &self.params, &self.ids(text));
            it.readings = [read(question, &it.question)?, read(answer, &it.answer)?];
        }
        Ok(())
    }

    /// What its texts are made of.
    fn text(&self) -> String {
        match (&self.net, &self.tokenizer) {
            (Net::Pooled(_), Some(tokenizer)) => units(tokenizer.len(), self.config.text.units),
            (Net::Evidence(net), _) => format!("{} features of words and pairs", grouped(net.known.rows.len())),
            (Net::Pooled(_), None) => String::new(),
        }
    }
}

/// Answers of a question that are shown to somebody who asks for an example.
const TYPED: usize = 5;

impl Model for Matcher {
    const TASK: Task = Task::Match;
    const KEY: &'static str = "question";
    type Config = Config;
    type Row = Question;
    type Learner = MatchLearner;

    fn read(path: &Path, config: &Config) -> Result<Examples<Question>> {
        Ok(Table::open(path, &config.data.format)?.questions(config.data.id_column)?)
    }

    fn typed(&self, rows: &[Question]) -> Option<String> {
        let first = Self::key(rows.first()?);
        let own = rows.iter().take_while(|row| Self::key(row) == first).take(TYPED);
        Some(own.map(|row| format!("{}\t{}", row.question, row.answer)).collect::<Vec<_>>().join("\n"))
    }

    fn key(row: &Question) -> String {
        row.id.clone().unwrap_or_else(|| row.question.clone())
    }

    fn choose(rows: &[Question], changes: &[String]) -> Result<Chosen<Config>> {
        let asked = resolve(&Config::evidence(), "", changes)?;
        // Who changes an encoder, or how it learns, wants one.
        if asked.model.form == Form::Evidence && !asked.wants_encoder() && !asked.wants_steps() {
            let notes =
                vec!["chosen: evidence of matched words and of the answer's words; its weights are computed, not learnt in steps".into()];
            return Ok(Chosen { config: Config::evidence(), notes });
        }
        let guess = guess_units(rows.iter().map(|q| &q.answer));
        let mut config = Config { text: guess.settings.into(), ..Config::default() };
        config.train.suit(rows.iter().map(|row| row.answer.split_whitespace().count() + 1).sum());
        let t = &config.train;
        let chosen =
            format!("chosen for {} candidates: {} epochs in batches of {} positions", grouped(rows.len()), t.epochs, grouped(t.batch));
        Ok(Chosen { config, notes: vec![format!("units: {}", guess.reason), chosen] })
    }

    fn defaults(given: &Config) -> Config {
        match given.model.form {
            Form::Evidence => Config::evidence(),
            Form::Pooled => Config::default(),
        }
    }

    fn new(config: Config, rows: &[Question]) -> Result<Self> {
        Matcher::new(config, rows)
    }

    fn load(folder: &Path) -> Result<Self> {
        Matcher::load(folder)
    }

    fn grown(&self, config: Config, rows: &[Question]) -> Result<Self> {
        self.grown_with(config, rows)
    }

    fn join(members: Vec<Self>) -> Result<Self> {
        Matcher::joined(members)
    }

    fn names(&self) -> Vec<Named> {
        match (&self.net, &self.tokenizer) {
            (Net::Evidence(net), _) => {
                let mut rows: Vec<String> = net.known.rows.hashes().map(|hash| hash.to_string()).collect();
                // A table without features has one row all the same.
                rows.extend(rows.is_empty().then(String::new));
                vec![Named::rows("units.weight", &rows)]
            }
            (_, Some(tokenizer)) => {
                let units = grow::units(tokenizer);
                ["embedding.weight", "question.embedding.weight", "answer.embedding.weight"].map(|param| Named::rows(param, &units)).into()
            }
            (_, None) => Vec::new(),
        }
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
        self.check_lengths(rows)?;
        Ok(self.examples(rows))
    }

    fn identity(&self, row: &Question) -> Vec<Vec<u8>> {
        vec![row.question.clone().into(), row.answer.clone().into(), vec![u8::from(row.relevant)]]
    }

    fn fit(&mut self, run: &Run, train: &[Question], dev: &[Question], watch: &mut dyn Watch) -> Result<Outcome> {
        teach::fit(self, run, train, dev, watch)
    }

    fn measure(&self, rows: &[Question]) -> Result<Vec<Measure>> {
        if self.peers.is_empty() {
            return teach::measure(self, rows);
        }
        self.check_lengths(rows)?;
        self.joint_measures(rows)
    }

    fn outline(&self, train: &[Question], dev: &[Question]) -> Result<Outline> {
        let m = &self.config.model;
        let words = self.shared_words(&self.examples(dev))?;
        let reached: Vec<String> = words[0].measures.iter().map(|m| format!("{} {:.4}", measure_name(m.name), m.value)).collect();
        let data = format!(
            "{} training and {} development questions with {} and {} candidates",
            grouped(question_groups(train).len()),
            grouped(question_groups(dev).len()),
            grouped(train.len()),
            grouped(dev.len()),
        );
        let (data, network) = match &self.net {
            Net::Evidence(_) => (data, "evidence of matched words, and of the answer's words beside the question's first".into()),
            Net::Pooled(_) => (
                format!("{data}; {}", self.text()),
                format!(
                    "{} towers, {} {} pooled by {}",
                    written(m.towers),
                    written(m.encoder.cell),
                    m.encoder.hidden,
                    m.pooling.name(&self.config.attention)
                ),
            ),
        };
        Ok(Outline { data, network, baseline: Some(format!("shared words alone, rare ones counting more: {}", reached.join(", "))) })
    }

    fn facts(&self) -> Vec<Fact> {
        vec![("text", self.text())]
    }

    fn blind(&self) -> Option<String> {
        self.config.model.pooling.blind()
    }

    fn layers(&self) -> Option<Layers> {
        let m = &self.config.model;
        m.encoder.layers(&self.config.transformer).filter(|_| m.form == Form::Pooled)
    }

    fn unsure(&self) -> Option<&'static str> {
        Some("a matcher ranks the candidates of a question: its scores say which is better, and are not calibrated")
    }

    fn caveat(&self) -> &'static str {
        match self.config.model.form {
            Form::Evidence => {
                "shows which words are looked for and which speak for the answer: predict --json has what each adds, and these add up to the score"
            }
            Form::Pooled => CAVEAT,
        }
    }

    /// Candidates are ranked, so all lines are read before the first is answered; those that cannot be read come last.
    fn answers<'a>(&'a self, input: Input<'a>, options: &AnswerOptions) -> Result<Replies<'a>> {
        let mut lines = self.questions(input)?.each();
        let rows: Vec<Question> = lines.iter().flatten().cloned().collect();
        let mut answers = self.answer(&rows.iter().map(|q| (&q.question, &q.answer)).collect::<Vec<_>>())?;
        if options.layers {
            self.look_inside(&mut answers)?;
        }
        if !options.unranked {
            answers = ranked(&rows, answers);
            lines.sort_by_key(Result::is_err);
        }
        Ok(all_at_once(lines, answers))
    }

    fn touch(&self, input: Input, touch: &Touch, seen: Option<&Contexts>) -> Result<Vec<Touched>> {
        alone(&self.peers)?;
        self.touched(&self.questions(input)?.all()?, touch, seen)
    }

    fn contexts(&self, rows: &[Question]) -> Result<Contexts> {
        alone(&self.peers)?;
        self.seen_before(rows)
    }

    /// The words shared with the question.
    fn baselines(&self, _: &dyn Fn() -> Option<Vec<Question>>, rows: &[Question]) -> Result<Vec<Baseline>> {
        self.shared_words(&self.examples(rows))
    }

    fn audit(&self, rows: &[Question], course: &Course, progress: &Progress) -> Result<audit::Report> {
        alone(&self.peers)?;
        audit::pooled(self, rows, course, progress)
    }

    /// MAP and MRR.
    fn scores(&self, rows: &[Question], _: &AnswerOptions) -> Result<Scores> {
        let groups = question_groups(rows);
        let answered = groups.iter().filter(|group| group.iter().any(|&row| rows[row].relevant)).count();
        let mut report = Report::new();
        report.count("rows", rows.len());
        report.count("questions", answered);
        report.count("left out (no right answer)", groups.len() - answered);
        if answered > 0 && rows.iter().all(|row| row.relevant) {
            report.text("wrong answers", "none in the file: borrowed from other questions");
        }
        add_measures(&mut report, &Model::measure(self, rows)?);
        Ok(Scores { report, classes: None })
    }

    fn tallies(&self, rows: &[Question], _: &AnswerOptions) -> Result<Vec<Tallies>> {
        self.check_lengths(rows)?;
        let answers = self.answer(&rows.iter().map(|q| (&q.question, &q.answer)).collect::<Vec<_>>())?;
        let candidate = |row: usize| Candidate { score: answers[row].score as f64, relevant: rows[row].relevant };
        let questions: Vec<Vec<Candidate>> =
            question_groups(rows).into_iter().map(|group| group.into_iter().map(candidate).collect()).collect();
        Ok(rank_tallies(&questions))
    }
}
