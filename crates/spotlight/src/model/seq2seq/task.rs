//! Transduction as a task: what every command and server needs of it.

use std::collections::HashSet;
use std::path::Path;
use std::sync::Arc;

use super::config::Architecture;
use super::data::Vocabularies;
use super::hard::Hard;
use super::joined::joined;
use super::learn::right;
use super::made_up::{have_stems, letters_tell, with_made_up};
use super::neighbours::{self, Neighbour, REACH};
use super::{Answer, Config, Example, SearchOptions, Seq2SeqLearner, Transducer};
use crate::audit::{self, Course, Progress};
use crate::config::resolve;
use crate::metrics::{self, Confident, Report, Segments, Style, Tallies};
use crate::model::ask::{AnswerOptions, Input, Questions, Replies, one_by_one};
use crate::model::calibration::{self, Calibration};
use crate::model::describe::{Baseline, Fact, Outline, Scores, grouped, units, written};
use crate::model::ensemble::alone;
use crate::model::grow::{self, Named};
use crate::model::head::nothing_to_measure;
use crate::model::{Chosen, Contexts, Layers, Model, Settings, Task, teach};
use crate::nn::transformer::PositionKind;
use crate::params::Params;
use crate::search::Lexicon;
use crate::text::guess::guess_units;
use crate::text::read::{Examples, SourceText, Table, ThirdColumn, source_of};
use crate::text::vocab::UNKNOWN;
use crate::text::{Pair, TextError};
use crate::train::{Measure, Outcome, Run, TrainSettings, Watch};
use crate::{Error, Result};

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
pub(super) type Source = (String, Option<String>);

/// A source, and what stands around it.
#[derive(Default)]
struct Placed {
    source: Source,
    around: Vec<Neighbour>,
}

/// Sources with their neighbours if they are `running` text, also those of the chunk before and of the next one.
fn placed<'a>(mut questions: Questions<'a, Source>, running: bool) -> Questions<'a, Placed> {
    let (mut before, mut next) = (Vec::new(), None);
    let alone = |source| Placed { source, around: Vec::new() };
    Questions(Box::new(move || {
        let chunk = next.take().unwrap_or_else(|| (questions.0)());
        if !running || chunk.is_empty() {
            return chunk.into_iter().map(|source| source.map(alone)).collect();
        }
        let after = (questions.0)();
        // A line that cannot be read stands there all the same.
        let text = |row: &Result<Source, TextError>| row.as_ref().map_or(String::new(), |source| source.0.clone());
        let first = before.len();
        let texts: Vec<String> = before.drain(..).chain(chunk.iter().chain(after.iter().take(REACH)).map(text)).collect();
        let around = neighbours::around(&texts.iter().map(String::as_str).enumerate().collect::<Vec<_>>());
        let end = first + chunk.len();
        before = texts[end.saturating_sub(REACH)..end].to_vec();
        next = Some(after);
        let around = around.into_iter().skip(first);
        chunk.into_iter().zip(around).map(|(source, around)| source.map(|source| Placed { source, around })).collect()
    }))
}

/// How to answer, in the model's own units.
struct Plan {
    search: SearchOptions,
    prefix: Vec<u32>,
    targets: Option<Vec<String>>,
    copy_unknown: bool,
}

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
            min_length: options.min_length,
            sample: options.sample,
            look: !options.blind,
            int8: options.int8,
            ..own
        }
    }

    /// What is asked for, in the model's own units.
    fn plan(&self, options: &AnswerOptions) -> Result<Plan> {
        let target = &self.vocabularies.target;
        let in_units = |text: &str| Some(target.ids(text)).filter(|ids| !ids.contains(&UNKNOWN));
        let refused =
            |what: &str, got: &str, expected: &str| Error::Value { what: what.into(), got: got.into(), expected: expected.into() };
        let mut search = self.search_as(options);
        // A recurrent decoder is not built of the layers that have this form.
        let slow = std::iter::once(self).chain(&self.peers).map(|m| m.config.model.architecture).find(|a| !a.writes_by_attention());
        if let Some(architecture) = slow.filter(|_| search.int8) {
            let expected = "transformer or recurrent-transformer: weights of one byte are built for the layers of a Transformer";
            return Err(refused("the architecture of a model asked with --int8", &written(architecture), expected));
        }
        let (targets, copy_unknown) = (options.targets.clone(), options.copy_unknown);
        let prefix = options.prefix.as_deref().unwrap_or_default();
        let Some(answers) = &options.lexicon else {
            let prefix = in_units(prefix).ok_or_else(|| refused("the prefix", &format!("{prefix:?}"), "units that the model can write"))?;
            return Ok(Plan { search, prefix, targets, copy_unknown });
        };
        // Of a lexicon those lines are left that begin so, however their first letters are cut into units.
        let mut known: Vec<Vec<u32>> = answers.iter().filter_map(|text| in_units(text)).collect();
        if known.is_empty() {
            return Err(refused("the lexicon", "no answer that the model can write", "at least one made of units it has learnt"));
        }
        let prefix = in_units(prefix).map_or_else(|| prefix.to_string(), |ids| target.decode(&ids));
        known.retain(|ids| target.decode(ids).starts_with(&prefix));
        let Some(longest) = known.iter().map(Vec::len).max() else {
            let expected = "what a line of the lexicon begins with that the model can write";
            return Err(refused("the prefix", &format!("{prefix:?}"), expected));
        };
        known.retain(|ids| ids.len() >= options.min_length);
        if known.is_empty() {
            let expected = format!("at most {longest}, what the longest line of the lexicon has that may be written");
            return Err(refused("the shortest answer, in units,", &options.min_length.to_string(), &expected));
        }
        search.lexicon = Some(Arc::new(Lexicon::new(known.iter().map(Vec::as_slice))));
        Ok(Plan { search, prefix: Vec::new(), targets, copy_unknown })
    }

    /// Answers to sources with their neighbours, or none, of which so many came before.
    fn answer_as(&self, plan: &Plan, sources: &[Source], around: &[&[Neighbour]], before: usize) -> Result<Vec<Answer>> {
        let borrowed: Vec<(&str, Option<&str>)> = sources.iter().map(|(s, f)| (s.as_str(), f.as_deref())).collect();
        let Some(targets) = &plan.targets else {
            // Draws go on where the lines before have left off.
            let search = SearchOptions { first: before, ..plan.search.clone() };
            return self.answer_from(&plan.prefix, &borrowed, around, &search, plan.copy_unknown);
        };
        let own: Vec<&str> = targets.iter().skip(before).take(sources.len()).map(String::as_str).collect();
        if own.len() < sources.len() {
            let got = format!("{} of them for at least {} sources", targets.len(), before + sources.len());
            return Err(Error::Value { what: "the answers to score".into(), got, expected: "one for each source".into() });
        }
        self.score_as(&borrowed, around, &own, plan.search.int8)
    }

    /// What weights of one byte cost: the figures of the same model without them, and how many of its answers stay the same.
    fn beside_full_weights(&self, report: &mut Report, rows: &[Pair], texts: &[&str], options: &AnswerOptions) -> Result<()> {
        let full = AnswerOptions { int8: false, ..options.clone() };
        let answers = self.answers_to(rows, &full)?;
        let whole = answers.iter().map(|a| a.hypotheses.first().map_or("", |h| h.text.as_str()));
        let same = whole.zip(texts).filter(|(a, b)| a == *b).count();
        let scores = Model::scores(self, rows, &full)?;
        for (name, style) in [("accuracy", Style::Share), ("WER", Style::Points), ("CER", Style::Points), ("BLEU", Style::Points)] {
            if let Some(value) = scores.report.get(name) {
                report.number(&format!("{name}, without --int8"), value, style);
            }
        }
        report.number("answers as without --int8", same as f64 / texts.len().max(1) as f64, Style::Share);
        Ok(())
    }

    /// Answers to the source of each pair.
    fn answers_to(&self, pairs: &[Pair], options: &AnswerOptions) -> Result<Vec<Answer>> {
        self.check_sources(pairs)?;
        let sources: Vec<Source> = pairs.iter().map(|p| (p.source.clone(), p.features.clone())).collect();
        // What is measured is what was written.
        let mut plan = self.plan(options)?;
        plan.search.look = false;
        let around = self.around(pairs);
        self.answer_as(&plan, &sources, &around.iter().map(Vec::as_slice).collect::<Vec<_>>(), 0)
    }
}

/// Pairs of sentences from which on a Transformer learns more in the same time than a recurrent model; `docs/decisions/transducers.md` has what was measured.
const MANY: usize = 5_000;

/// Whether nothing is asked for that only a recurrent model has.
fn free_of_recurrence(changes: &[String]) -> bool {
    let recurrent = ["model.architecture", "model.cell", "model.bidirectional", "attention."];
    let named = changes.iter().any(|change| recurrent.iter().any(|key| change.trim_start().starts_with(key)));
    let mut attention = Config::transformer();
    attention.transformer.positions = PositionKind::Rotary;
    !named && resolve(&attention, "", changes).is_ok_and(|config| config.check().is_ok())
}

/// Hypotheses of a search: sentences gain one or two points of BLEU by it, spelt words a few answers in a thousand, and little is lost where nothing is gained.
const BEAM: usize = 5;

/// Pairs from which on letters are counted beside the network: of fewer, too few are developed with to tell whether that helps.
const COUNTED: usize = 1_000;

/// Pairs that are too few to learn from them that letters are copied.
const FEW: usize = 500;
/// Pairs that are too few to learn from them that letters are written one after the other.
const FEW_SPELT: usize = 300;
/// Pairs that are made up beside them.
const MADE_UP: usize = 1000;

/// The network in a few words.
fn network(config: &Config) -> String {
    let m = &config.model;
    let recurrent = || format!("{} {}", written(m.cell), m.hidden);
    let layers = |layers: usize| format!("{layers} layer{} of {}", if layers == 1 { "" } else { "s" }, m.hidden);
    let heads = format!("{} head{}", config.transformer.heads, if config.transformer.heads == 1 { "" } else { "s" });
    let attention = match config.score().filter(|_| m.hard == Hard::Off) {
        None if m.hard != Hard::Off => "with hard monotonic attention".to_string(),
        None => "without attention".to_string(),
        Some(score) => format!("with {} attention", score.name()),
    };
    match m.architecture {
        Architecture::Recurrent => format!("{} {attention}", recurrent()),
        Architecture::Transformer => {
            format!("Transformer with {} encoder and {} decoder layers of {}, {heads}", m.encoder_layers, m.decoder_layers, m.hidden)
        }
        Architecture::RecurrentTransformer => {
            format!("{} encoder, Transformer decoder with {}, {heads}", recurrent(), layers(m.decoder_layers))
        }
        Architecture::TransformerRecurrent => {
            format!("Transformer encoder with {}, {heads}; {} decoder {attention}", layers(m.encoder_layers), recurrent())
        }
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

    fn typed(&self, rows: &[Pair]) -> Option<String> {
        let pair = rows.first()?;
        Some(match &pair.features {
            Some(features) => format!("{}\t{features}", pair.source),
            None => pair.source.clone(),
        })
    }

    fn key(row: &Pair) -> String {
        format!("{}\t{}", row.source, row.features.as_deref().unwrap_or_default())
    }

    fn defaults(given: &Config) -> Config {
        match given.model.architecture {
            Architecture::Recurrent => Config::default(),
            architecture => {
                let mut config = Config::transformer();
                config.model.architecture = architecture;
                config
            }
        }
    }

    fn choose(rows: &[Pair], changes: &[String]) -> Result<Chosen<Config>> {
        let mut asked = resolve(&Config::default(), "", changes)?;
        let [source, target] = [guess_units(rows.iter().map(|p| &p.source)), guess_units(rows.iter().map(|p| &p.target))];
        let mut notes = vec![format!("source units: {}", source.reason), format!("target units: {}", target.reason)];
        let sentences = !source.settings.kind.spells() && !target.settings.kind.spells();
        if sentences && rows.len() >= MANY && free_of_recurrence(changes) {
            asked.model.architecture = Architecture::Transformer;
            notes.push(format!("{} pairs of sentences: nothing but attention (model.architecture)", grouped(rows.len())));
        }
        let mut config = Self::defaults(&asked);
        config.source = source.settings.into();
        config.target = target.settings.into();
        config.search.beam = BEAM;
        config.data.features = rows.first().is_some_and(|p| p.features.is_some());
        // A dictionary hardly ever says the same thing twice; running text does.
        let different = rows.iter().map(|p| (&p.source, &p.features, &p.target)).collect::<HashSet<_>>().len();
        config.data.alternatives = (rows.len() - different) * 20 <= rows.len();
        if !config.data.alternatives {
            config.model.remember = true;
            notes.push("pairs repeat themselves, as in running text: every row is measured on its own, and what sources were answered is remembered".into());
        }
        let told = resolve(&config, "", changes)?;
        let spelt = told.source.units.spells() && told.target.units.spells();
        let letters = || -> Result<bool> {
            let could = told.source.units.spells() && !told.data.features && rows.len() <= FEW_SPELT;
            Ok(could && letters_tell(rows, &Vocabularies::train(&told, rows)?))
        };
        if changes.iter().any(|change| change.trim_start().starts_with("data.made_up")) {
            config.data.made_up = asked.data.made_up;
        } else if spelt && rows.len() < FEW && have_stems(rows) {
            config.data.made_up = MADE_UP;
            notes.push(format!(
                "{MADE_UP} pairs are made up beside these few: letters that source and target share are replaced (data.made_up)"
            ));
        } else if letters()? {
            config.data.made_up = MADE_UP;
            notes.push(format!(
                "{MADE_UP} pairs are made up beside these few: letters and what they write are put together anew (data.made_up)"
            ));
        }
        if told.model.remember && neighbours::help(rows) {
            config.model.neighbours = true;
            notes.push("the rows around one tell which of its targets is meant: they are counted, too (model.neighbours)".into());
        }
        if rows.len() >= COUNTED && told.source.units.spells() && !told.data.features && !told.model.copy {
            config.model.joint = true;
            notes.push("spelt sources: what each letter writes is counted, too, and has a say if that helps (model.joint)".into());
        }
        config.choose_sizes(rows);
        let (m, t) = (&config.model, &config.train);
        let sizes = match m.architecture {
            Architecture::Recurrent => format!("embedding {}, hidden {}", m.embedding, m.hidden),
            _ => format!("{} and {} layers of {}", m.encoder_layers, m.decoder_layers, m.hidden),
        };
        notes.push(format!(
            "chosen for {} pairs: {sizes}, dropout {}, {} epochs in batches of {} positions, a beam of {BEAM}",
            grouped(rows.len()),
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

    fn grown(&self, config: Config, rows: &[Pair]) -> Result<Self> {
        let vocabularies = self.vocabularies.grown(&self.config, rows)?;
        let mut grown = Transducer::new_with(config, vocabularies, rows)?;
        if let Some(before) = &self.beside.remembered {
            let new = grown.beside.remembered.take();
            grown.beside.remembered = new.map(|new| Arc::new(Arc::unwrap_or_clone(new).with(before, &grown.vocabularies)));
        }
        if let (Some(before), Some(new)) = (&self.beside.joint, &grown.beside.joint) {
            grown.beside.joint = Some(Arc::new(new.with(before)));
        }
        Ok(grown)
    }

    fn names(&self) -> Vec<Named> {
        let v = &self.vocabularies;
        let mut source = grow::units(&v.source);
        // A feature may be spelt like a unit.
        source.extend(v.features.iter().flat_map(|features| features.iter().map(|tag| format!("\0feature {tag}"))));
        let target = grow::units(&v.target);
        let of_target = ["target.weight", "output.weight", "output.bias"].map(|param| Named::rows(param, &target));
        std::iter::once(Named::rows("source.weight", &source)).chain(of_target).collect()
    }

    fn join(members: Vec<Self>) -> Result<Self> {
        Transducer::joined(members)
    }

    fn calibrate(&self, rows: &[Pair]) -> Result<Option<Calibration>> {
        let (answers, examples) = (self.answers_to(rows, &AnswerOptions::default())?, self.examples(rows));
        let best: Vec<(&str, f64)> =
            answers.iter().map(|a| a.hypotheses.first().map_or(("", f64::MIN), |h| (h.text.as_str(), h.hypothesis.log_prob))).collect();
        let texts: Vec<&str> = best.iter().map(|b| b.0).collect();
        let judged: Vec<(f64, bool)> = best.iter().map(|b| b.1).zip(right(&examples, &texts)).filter(|(log, _)| *log > f64::MIN).collect();
        Ok(Calibration::of_answers(&judged))
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

    fn learner(&self) -> Seq2SeqLearner {
        self.learner()
    }

    fn examples(&self, rows: &[Pair]) -> Result<Vec<Example>> {
        let examples = self.examples(rows);
        self.check_lengths(&examples)?;
        Ok(examples)
    }

    fn lessons(&self, rows: &[Pair]) -> Result<Vec<Example>> {
        let mut lessons = self.examples(&with_made_up(rows, self.config.data.made_up, self.config.seed, &self.vocabularies));
        lessons.extend(joined(&lessons, self.config.data.joined, self.config.seed));
        self.check_lengths(&lessons)?;
        Ok(lessons)
    }

    fn identity(&self, row: &Pair) -> Vec<Vec<u8>> {
        let example = self.vocabularies.example(row, self.config.data.alternatives);
        let mut identity = vec![example.key.into_bytes(), example.reference.into_bytes()];
        // Other links are other data.
        let links = self.links.as_ref().and_then(|links| links.of(row.line));
        identity.extend(links.map(|gold| format!("{:?}", gold.sure).into_bytes()));
        identity
    }

    fn fit(&mut self, run: &Run, train: &[Pair], dev: &[Pair], watch: &mut dyn Watch) -> Result<Outcome> {
        teach::fit(self, run, train, dev, watch)
    }

    fn measure(&self, rows: &[Pair]) -> Result<Vec<Measure>> {
        teach::measure(self, rows)
    }

    fn outline(&self, train: &[Pair], dev: &[Pair]) -> Result<Outline> {
        let (sources, targets) = self.vocabularies.sizes();
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
            network: network(&self.config),
            baseline: None,
        })
    }

    fn facts(&self) -> Vec<Fact> {
        let (source, target) = self.vocabularies.sizes();
        let mut facts = vec![("source", units(source, self.config.source.units)), ("target", units(target, self.config.target.units))];
        if let Some(voices) = self.beside.voices {
            facts.push((
                "voices",
                format!("network {:.2}, letters counted {:.2}, known targets {:.2}", voices.network, voices.joint, voices.known),
            ));
        }
        facts
    }

    fn blind(&self) -> Option<String> {
        let blind = !self.config.model.architecture.writes_by_attention() && self.config.score().is_none();
        blind.then(|| "the model has no attention to look at (attention.score = \"none\")".into())
    }

    fn layers(&self) -> Option<Layers> {
        let m = &self.config.model;
        let (reads, writes) = (m.architecture.reads_by_attention(), m.architecture.writes_by_attention());
        let of = |by_attention: bool, layers: usize| if by_attention { layers } else { 0 };
        let looked =
            Layers { encoder: of(reads, m.encoder_layers), decoder: of(writes, m.decoder_layers), heads: self.config.transformer.heads };
        (reads || writes).then_some(looked)
    }

    fn unsure(&self) -> Option<&'static str> {
        let why = match self.peers.as_slice() {
            [] => "it has no calibration; train it anew, with at least 20 development examples",
            _ => "it has no calibration: when its members were joined, there were no 20 examples that all of them were developed with",
        };
        self.calibration.is_none().then_some(why)
    }

    fn answers<'a>(&'a self, input: Input<'a>, options: &AnswerOptions) -> Result<Replies<'a>> {
        let plan = self.plan(options)?;
        let (features, format, layers) = (self.config.data.features, &self.config.data.format, options.layers);
        // Only rows of a file are known to follow each other.
        let running = self.config.model.neighbours && matches!(input, Input::File(_));
        let file = input.path();
        let split = |path: &Path, line: usize, s: SourceText| {
            self.check_source(path, line, &s.source, s.features.as_deref())?;
            Ok((s.source, s.features))
        };
        let questions = input.questions(
            format,
            move |table| Ok(Box::new(table.sources(features)?.map(move |row| row.and_then(|s| split(&file, s.line, s))))),
            move |path, line| source_of(path, line, features, format.longest).and_then(|s| split(path, line.number, s)),
        )?;
        let answer = move |asked: &[Placed], before| {
            let (sources, around): (Vec<Source>, Vec<&[Neighbour]>) =
                asked.iter().map(|one| (one.source.clone(), one.around.as_slice())).unzip();
            let mut answers = self.answer_as(&plan, &sources, &around, before)?;
            if layers {
                self.look_inside(&sources, &mut answers)?;
            }
            Ok(answers)
        };
        Ok(one_by_one(placed(questions, running), answer))
    }

    fn contexts(&self, rows: &[Pair]) -> Result<Contexts> {
        self.contexts_of(rows)
    }

    fn audit(&self, rows: &[Pair], course: &Course, progress: &Progress) -> Result<audit::Report> {
        alone(&self.peers)?;
        if self.config.model.hard != Hard::Off {
            return Err(Error::Audit("hard attention is a sum over all ways to walk: its weights cannot be changed from outside".into()));
        }
        audit::written(self, rows, course, progress)
    }

    /// Copying the source; and giving a source that was learnt from its most frequent target, any other itself.
    fn baselines(&self, train: &dyn Fn() -> Option<Vec<Pair>>, rows: &[Pair]) -> Result<Vec<Baseline>> {
        self.simple(train(), rows)
    }

    /// Accuracy and error rates; for words and subwords BLEU and chrF too.
    fn scores(&self, rows: &[Pair], options: &AnswerOptions) -> Result<Scores> {
        let (answers, examples) = (self.answers_to(rows, options)?, self.examples(rows));
        let texts: Vec<&str> = answers.iter().map(|a| a.hypotheses.first().map_or("", |h| h.text.as_str())).collect();
        let keys: Vec<&str> = examples.iter().map(|e| e.key.as_str()).collect();
        let references: Vec<&str> = examples.iter().map(|e| e.reference.as_str()).collect();
        let segments = Segments::by_source(&keys, &texts, &references).map_err(nothing_to_measure)?;
        let mut report = Report::new();
        report.count("rows", examples.len());
        report.count("sources", segments.len());
        report.number("accuracy", metrics::exact_match(&segments), Style::Share);
        report.number("WER", 100.0 * metrics::word_error_rate(&segments), Style::Points);
        report.number("CER", 100.0 * metrics::edit_rate(&segments, metrics::Unit::Grapheme), Style::Points);
        if !self.config.target.units.spells() {
            report.number("token error rate", 100.0 * metrics::edit_rate(&segments, metrics::Unit::Token), Style::Points);
            let bleu = metrics::bleu(&segments, metrics::Tokenizer::V13a);
            report.number("BLEU", bleu.score, Style::Points);
            report.text("BLEU signature", bleu.signature);
            let chrf = metrics::chrf(&segments);
            report.number("chrF", chrf.score, Style::Points);
            report.text("chrF signature", chrf.signature);
        }
        if options.int8 {
            self.beside_full_weights(&mut report, rows, &texts, options)?;
        }
        let (mut said, mut calibrated) = (Vec::new(), Vec::new());
        for (answer, right) in answers.iter().zip(right(&examples, &texts)) {
            let Some(best) = answer.hypotheses.first().filter(|_| !answer.source_tokens.is_empty()) else { continue };
            said.push(Confident { probability: best.hypothesis.log_prob.exp(), right });
            calibrated.extend(best.confidence.map(|probability| Confident { probability, right }));
        }
        calibration::report(&mut report, &said, Some(&calibrated[..]).filter(|c| !c.is_empty()));
        Ok(Scores { report, classes: None })
    }

    fn tallies(&self, rows: &[Pair], options: &AnswerOptions) -> Result<Vec<Tallies>> {
        let (answers, examples) = (self.answers_to(rows, options)?, self.examples(rows));
        let texts: Vec<&str> = answers.iter().map(|a| a.hypotheses.first().map_or("", |h| h.text.as_str())).collect();
        let keys: Vec<&str> = examples.iter().map(|e| e.key.as_str()).collect();
        let references: Vec<&str> = examples.iter().map(|e| e.reference.as_str()).collect();
        let segments = Segments::by_source(&keys, &texts, &references).map_err(nothing_to_measure)?;
        Ok(segments.tallies(!self.config.target.units.spells()))
    }
}
