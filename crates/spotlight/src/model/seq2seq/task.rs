//! Transduction as a task: what every command and server needs of it.

use std::collections::HashSet;
use std::path::Path;

use super::{Answer, Config, Example, SearchOptions, Seq2SeqLearner, Transducer};
use crate::Result;
use crate::audit::{self, Course, Progress};
use crate::metrics::{self, Report, Segments, Style};
use crate::model::ask::{AnswerOptions, Input, Replies, line_by_line};
use crate::model::describe::{Baseline, Fact, Outline, Scores, grouped, units, written};
use crate::model::head::nothing_to_measure;
use crate::model::{Chosen, Model, Settings, Task, teach};
use crate::params::Params;
use crate::text::guess::guess_units;
use crate::text::read::{Examples, Table, ThirdColumn, source_of};
use crate::text::{Pair, UnitKind};
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

/// A source and its features.
type Source = (String, Option<String>);

impl Transducer {
    /// The model's own way to search, changed by what is asked for.
    pub fn search_as(&self, options: &AnswerOptions) -> SearchOptions {
        let own = self.search_options();
        let n_best = options.n_best.unwrap_or(1);
        let needed = if options.sample.is_none() { n_best } else { 1 };
        SearchOptions {
            n_best,
            beam: options.beam.unwrap_or(own.beam.max(needed)),
            length_penalty: options.length_penalty.unwrap_or(own.length_penalty),
            coverage_penalty: options.coverage_penalty.unwrap_or(own.coverage_penalty),
            sample: options.sample,
            ..own
        }
    }

    fn answer_sources(&self, sources: &[Source], search: &SearchOptions, copy_unknown: bool) -> Result<Vec<Answer>> {
        let borrowed: Vec<(&str, Option<&str>)> = sources.iter().map(|(s, f)| (s.as_str(), f.as_deref())).collect();
        self.answer(&borrowed, search, copy_unknown)
    }
}

impl Model for Transducer {
    const TASK: Task = Task::Seq2seq;
    const KEY: &'static str = "source";
    type Config = Config;
    type Row = Pair;
    type Learner = Seq2SeqLearner;

    /// Whether there are features is seen in the first line, unless the settings want them.
    fn read(path: &Path, config: &Config) -> Result<Examples<Pair>> {
        let third = if config.data.features { ThirdColumn::Features } else { ThirdColumn::AsFirstLine };
        Ok(Table::open(path, &config.data.format)?.pairs(third)?)
    }

    fn key(row: &Pair) -> String {
        format!("{}\t{}", row.source, row.features.as_deref().unwrap_or_default())
    }

    fn choose(rows: &[Pair], _: &[String]) -> Result<Chosen<Config>> {
        let mut config = Config::default();
        let [source, target] = [guess_units(rows.iter().map(|p| &p.source)), guess_units(rows.iter().map(|p| &p.target))];
        let mut notes = vec![format!("source units: {}", source.reason), format!("target units: {}", target.reason)];
        config.source = source.settings.into();
        config.target = target.settings.into();
        config.data.features = rows.first().is_some_and(|p| p.features.is_some());
        // A dictionary hardly ever says the same thing twice; running text does.
        let different = rows.iter().map(|p| (&p.source, &p.features, &p.target)).collect::<HashSet<_>>().len();
        config.data.alternatives = (rows.len() - different) * 20 <= rows.len();
        if !config.data.alternatives {
            notes.push("pairs repeat themselves, as in running text: every row is measured on its own".into());
        }
        config.choose_sizes(rows);
        let (m, t) = (&config.model, &config.train);
        notes.push(format!(
            "chosen for {} pairs: embedding {}, hidden {}, dropout {}, {} epochs in batches of {} positions",
            grouped(rows.len()),
            m.embedding,
            m.hidden,
            m.dropout,
            t.epochs,
            grouped(t.batch)
        ));
        Ok(Chosen { config, notes })
    }

    fn new(config: Config, rows: &[Pair]) -> Result<Self> {
        Transducer::new(config, rows)
    }

    fn load(folder: &Path) -> Result<Self> {
        Transducer::load(folder)
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

    fn learner(&self) -> Seq2SeqLearner {
        self.learner()
    }

    fn examples(&self, rows: &[Pair]) -> Result<Vec<Example>> {
        Ok(self.examples(rows))
    }

    fn identity(&self, row: &Pair) -> Vec<Vec<u8>> {
        let example = self.vocabularies.example(row, self.config.data.alternatives);
        vec![example.key.into_bytes(), example.reference.into_bytes()]
    }

    fn fit(&mut self, run: &Run, train: &[Pair], dev: &[Pair], watch: &mut dyn Watch) -> Result<Outcome> {
        teach::fit(self, run, train, dev, watch)
    }

    fn measure(&self, rows: &[Pair]) -> Result<Vec<Measure>> {
        teach::measure(self, rows)
    }

    fn outline(&self, train: &[Pair], dev: &[Pair]) -> Result<Outline> {
        let (sources, targets) = self.vocabularies.sizes();
        let m = &self.config.model;
        let attention = match self.config.score() {
            None => "without attention".to_string(),
            Some(score) => format!("with {} attention", score.name()),
        };
        Ok(Outline {
            data: format!(
                "{} training and {} development pairs; {} source units ({}), {} target units ({})",
                grouped(train.len()),
                grouped(dev.len()),
                grouped(sources),
                written(self.config.source.units),
                grouped(targets),
                written(self.config.target.units)
            ),
            network: format!("{} {} {attention}", written(m.cell), m.hidden),
            baseline: None,
        })
    }

    fn facts(&self) -> Vec<Fact> {
        let (source, target) = self.vocabularies.sizes();
        vec![("source", units(source, self.config.source.units)), ("target", units(target, self.config.target.units))]
    }

    fn blind(&self) -> Option<String> {
        self.config.score().is_none().then(|| "the model has no attention to look at (attention.score = \"none\")".into())
    }

    fn answers<'a>(&'a self, input: Input<'a>, options: &AnswerOptions) -> Result<Replies<'a>> {
        let (search, copy) = (self.search_as(options), options.copy_unknown);
        let ask = |path: &Path, line: &_| source_of(path, line, self.config.data.features).map(|s| (s.source, s.features));
        let answer = move |sources: &[Source], before| {
            // Draws go on where the lines before have left off.
            self.answer_sources(sources, &SearchOptions { first: before, ..search.clone() }, copy)
        };
        Ok(line_by_line(input.lines()?, true, ask, answer))
    }

    fn audit(&self, rows: &[Pair], course: &Course, progress: &Progress) -> Result<audit::Report> {
        audit::written(self, rows, course, progress)
    }

    /// Copying the source; and giving a source that was learnt from its most frequent target, any other itself.
    fn baselines(&self, train: &dyn Fn() -> Option<Vec<Pair>>, rows: &[Pair]) -> Result<Vec<Baseline>> {
        self.simple(train(), rows)
    }

    /// Accuracy and error rates; for words and subwords BLEU and chrF too.
    fn scores(&self, rows: &[Pair], options: &AnswerOptions) -> Result<Scores> {
        let sources: Vec<Source> = rows.iter().map(|p| (p.source.clone(), p.features.clone())).collect();
        let answers = self.answer_sources(&sources, &self.search_as(options), options.copy_unknown)?;
        let texts: Vec<&str> = answers.iter().map(|a| a.hypotheses.first().map_or("", |h| h.text.as_str())).collect();
        let examples = self.examples(rows);
        let keys: Vec<&str> = examples.iter().map(|e| e.key.as_str()).collect();
        let references: Vec<&str> = examples.iter().map(|e| e.reference.as_str()).collect();
        let segments = Segments::by_source(&keys, &texts, &references).map_err(nothing_to_measure)?;
        let mut report = Report::new();
        report.count("rows", examples.len());
        report.count("sources", segments.len());
        report.number("accuracy", metrics::exact_match(&segments), Style::Share);
        report.number("WER", 100.0 * metrics::word_error_rate(&segments), Style::Points);
        report.number("CER", 100.0 * metrics::edit_rate(&segments, metrics::Unit::Grapheme), Style::Points);
        if self.config.target.units != UnitKind::Chars {
            report.number("token error rate", 100.0 * metrics::edit_rate(&segments, metrics::Unit::Token), Style::Points);
            let bleu = metrics::bleu(&segments, metrics::Tokenizer::V13a);
            report.number("BLEU", bleu.score, Style::Points);
            report.text("BLEU signature", bleu.signature);
            let chrf = metrics::chrf(&segments);
            report.number("chrF", chrf.score, Style::Points);
            report.text("chrF signature", chrf.signature);
        }
        Ok(Scores { report, classes: None })
    }
}
