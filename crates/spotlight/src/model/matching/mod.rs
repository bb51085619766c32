//! Matching: from questions with candidate answers to a model that scores a pair and shows what it looked at in both texts.
//!
//! In the order data meets them: [`config`] (settings), [`evidence`] and [`net`] (the two forms of the network), [`learn`] (losses, measures and decisions). A [`Matcher`]
//! holds them together.
//!
//! ```
//! use spotlight::model::matching::{Config, Matcher};
//! use spotlight::text::Question;
//!
//! let row = |answer: &str, relevant, line| {
//!     Question { id: None, question: "how deep is the sea ?".into(), answer: answer.into(), relevant, line }
//! };
//! let model = Matcher::new(Config::default(), &[row("the sea is 4 km deep .", true, 1), row("the sky is blue .", false, 2)])?;
//! let answers = model.answer(&[("how blue is it ?", "the sky is blue ."), ("how blue is it ?", "it is .")])?;
//! assert_eq!(answers[0].answer_attention[0].len(), 5);
//! # Ok::<(), spotlight::Error>(())
//! ```

mod answer;
mod asking;
mod borrow;
pub mod config;
pub mod evidence;
mod joined;
pub mod learn;
pub mod net;
mod overlap;
mod probe;
mod task;
#[cfg(test)]
mod tests;
mod touched;

use std::path::Path;

pub use answer::{Answer, Evidence};
pub use config::{Config, Form};
pub use evidence::EvidenceNet;
pub use learn::{Candidate, Decision, Example, MatchLearner};
pub use net::{Net, TowerNet};

use evidence::{Features, Known, Words};
use rayon::prelude::*;

use crate::config::resolve;
use crate::metrics::IdfOverlap;
use crate::model::describe::Baseline;
use crate::model::encoder::with_words_of_vectors;
use crate::model::fits::Reader;
use crate::model::folder;
use crate::model::hashed::HashRows;
use crate::params::Params;
use crate::text::read::question_groups;
use crate::text::{Question, Tokenizer, Unit};
use crate::{Result, weights};

const TEXT: &str = "text";
const OVERLAP: &str = "overlap.toml";
const UNITS: &str = "units.bin";

/// A model that scores pairs of question and answer.
#[derive(Clone, Debug)]
pub struct Matcher {
    /// All settings.
    pub config: Config,
    /// Units of questions and answers, for an encoder.
    pub tokenizer: Option<Tokenizer>,
    /// How common each word is in the training answers: for the baseline, and for the model if it reads the overlap.
    pub overlap: IdfOverlap,
    /// The network.
    pub net: Net,
    /// Its numbers.
    pub params: Params<f32>,
    /// The other members, if it is an ensemble.
    peers: Vec<Matcher>,
}

impl Matcher {
    /// A new model for these training rows. The settings are checked, and word vectors are read if they are asked for.
    pub fn new(config: Config, rows: &[Question]) -> Result<Self> {
        config.check()?;
        let overlap = IdfOverlap::learn(rows.iter().map(|r| r.answer.as_str()));
        let params = Params::new(config.seed);
        if config.model.form == Form::Evidence {
            let rows = borrow::completed(rows, config.seed);
            let words: Vec<(Words, Words)> = rows.par_iter().map(|r| (Words::new(&r.question), Words::new(&r.answer))).collect();
            let known = Known::learn(words.iter().map(|(q, a)| (q, a)));
            return Ok(Self::of_evidence(config, known, overlap, params));
        }
        // A question stands in many rows but is one text.
        let questions = question_groups(rows).into_iter().filter_map(|group| group.first().map(|&row| rows[row].question.as_str()));
        let texts = questions.chain(rows.iter().map(|r| r.answer.as_str()));
        let tokenizer = with_words_of_vectors(Tokenizer::train(&config.text.settings(), texts)?, &config.model.encoder)?;
        let reader = Reader { encoder: &config.model.encoder, attention: &config.attention, train: &config.train };
        reader.check(tokenizer.len(), config.text.units, rows.iter().map(|r| r.answer.as_str()))?;
        let mut model = Self::with_vocabularies(config, tokenizer, overlap, params)?;
        let vectors = &model.config.model.encoder.vectors;
        if let (Net::Pooled(net), Some(tokenizer), false) = (&model.net, &model.tokenizer, vectors.is_empty()) {
            for encoder in net.encoders() {
                encoder.load_vectors(&mut model.params, Path::new(vectors), tokenizer)?;
            }
        }
        Ok(model)
    }

    fn with_vocabularies(config: Config, tokenizer: Tokenizer, overlap: IdfOverlap, mut params: Params<f32>) -> Result<Self> {
        let net = Net::Pooled(TowerNet::new(&mut params, &config, tokenizer.len())?);
        Ok(Matcher { config, tokenizer: Some(tokenizer), overlap, net, params, peers: Vec::new() })
    }

    fn of_evidence(config: Config, known: Known, overlap: IdfOverlap, mut params: Params<f32>) -> Self {
        let net = Net::Evidence(EvidenceNet::new(&mut params, known, config.model.place));
        Matcher { config, tokenizer: None, overlap, net, params, peers: Vec::new() }
    }

    /// A new model that knows the units of this one and of new rows, and counts words as this one does. The form of evidence is solved anew by its run: what it keeps are its features.
    fn grown_with(&self, config: Config, rows: &[Question]) -> Result<Self> {
        config.check()?;
        let params = Params::new(config.seed);
        let overlap = self.overlap.clone();
        let Some(tokenizer) = &self.tokenizer else {
            let mut new = Self::new(config, rows)?;
            if let (Net::Evidence(old), Net::Evidence(net)) = (&self.net, &new.net) {
                let known = Known { rows: old.known.rows.grown(&net.known.rows) };
                new = Self::of_evidence(new.config, known, overlap, params);
            }
            return Ok(new);
        };
        let texts = rows.iter().flat_map(|r| [r.question.as_str(), r.answer.as_str()]);
        Self::with_vocabularies(config.clone(), tokenizer.grown(&config.text.settings(), texts)?, overlap, params)
    }

    /// Writes settings and vocabularies; the weights are written by the training run or [`weights::save`].
    pub fn save_frame(&self, path: &Path) -> Result<()> {
        folder::create(path)?;
        match (&self.net, &self.tokenizer) {
            (Net::Evidence(net), _) => net.known.rows.save(&path.join(UNITS))?,
            (_, Some(tokenizer)) => tokenizer.save(path, TEXT)?,
            (_, None) => {}
        }
        overlap::save(&self.overlap, &path.join(OVERLAP))?;
        folder::save_config(path, &self.config)
    }

    /// Reads a model's folder. A file that is not the one saved with the model is an error that names it.
    pub fn load(path: &Path) -> Result<Self> {
        folder::check(path)?;
        let config: Config = resolve(&Config::default(), &folder::read_config(path)?, &[])?;
        config.check()?;
        let overlap = overlap::load(&path.join(OVERLAP))?;
        let mut model = match config.model.form {
            Form::Evidence => Self::of_evidence(config, Known { rows: HashRows::load(&path.join(UNITS))? }, overlap, Params::blank()),
            Form::Pooled => {
                let tokenizer = Tokenizer::load(&config.text.settings(), path, TEXT)?;
                Self::with_vocabularies(config, tokenizer, overlap, Params::blank())?
            }
        };
        weights::load(&mut model.params, &path.join(folder::WEIGHTS))?;
        Ok(model)
    }

    /// The rows of each question together, as numbers. A question with right answers only gets some that answer others, to be ranked against: in the form of evidence always, else
    /// if there is no wrong answer at all.
    pub fn examples(&self, rows: &[Question]) -> Vec<Example> {
        self.examples_drawn(rows, self.config.seed)
    }

    /// The same, where the seed decides which answers are borrowed.
    fn examples_drawn(&self, rows: &[Question], seed: u64) -> Vec<Example> {
        let plain = self.config.model.form == Form::Pooled && rows.iter().any(|r| !r.relevant);
        let lists = if plain { borrow::as_they_are(rows) } else { borrow::lists(rows, seed) };
        let example = |list: &borrow::List| {
            let first = &rows[list.rows[0]];
            let answers = list.rows.iter().map(|&row| (rows[row].answer.as_str(), rows[row].relevant, false));
            let borrowed = list.borrowed.iter().map(|&row| (rows[row].answer.as_str(), false, true));
            let candidates = self.candidates(&first.question, &answers.chain(borrowed).collect::<Vec<_>>());
            Example { question: self.ids(&first.question), candidates, line: first.line }
        };
        lists.par_iter().map(example).collect()
    }

    /// Units of an encoder.
    fn ids(&self, text: &str) -> Vec<u32> {
        self.tokenizer.as_ref().map_or_else(Vec::new, |tokenizer| tokenizer.ids(text))
    }

    /// The candidates of a question: answer, whether it is right, and whether it is borrowed.
    fn candidates(&self, question: &str, answers: &[(&str, bool, bool)]) -> Vec<Candidate> {
        let all = self.overlap.score(question, question);
        let asked = if let Net::Evidence(_) = self.net { Words::new(question) } else { Words::default() };
        let one = |(place, &(answer, relevant, borrowed)): (usize, &(&str, bool, bool))| {
            let shared = self.overlap.score(question, answer);
            let features = match &self.net {
                Net::Evidence(net) => net.features(&asked, &Words::new(answer), &self.overlap, (place, answers.len())),
                Net::Pooled(_) => Features::default(),
            };
            let overlap = if all > 0.0 { (shared / all) as f32 } else { 0.0 };
            Candidate { ids: self.ids(answer), relevant, overlap, borrowed, features }
        };
        answers.iter().enumerate().map(one).collect()
    }

    /// How it learns.
    pub fn learner(&self) -> MatchLearner {
        MatchLearner::new(&self.config, self.net.clone())
    }

    /// Scores for pairs of question and answer, in the same order. Pairs of one question that stand together are read together. An ensemble gives the mean of what its members say.
    pub fn answer<Q: AsRef<str>, A: AsRef<str>>(&self, pairs: &[(Q, A)]) -> Result<Vec<Answer>> {
        let peers = self.peers.iter().map(|peer| peer.answer(pairs)).collect::<Result<Vec<_>>>()?;
        Ok(joined::mean(self.own_answer(pairs)?, peers))
    }

    fn own_answer<Q: AsRef<str>, A: AsRef<str>>(&self, pairs: &[(Q, A)]) -> Result<Vec<Answer>> {
        let together: Vec<&[(Q, A)]> = pairs.chunk_by(|a, b| a.0.as_ref() == b.0.as_ref()).collect();
        let (net, tokenizer) = match (&self.net, &self.tokenizer) {
            (Net::Pooled(net), Some(tokenizer)) => (net, tokenizer),
            (Net::Evidence(net), _) => {
                let of_question =
                    |group: &&[(Q, A)]| self.weigh(net, group[0].0.as_ref(), group.iter().map(|pair| pair.1.as_ref()).collect());
                return Ok(together.iter().flat_map(of_question).collect());
            }
            (Net::Pooled(_), None) => return Ok(Vec::new()),
        };
        let example = |group: &&[(Q, A)]| {
            let question = group[0].0.as_ref();
            let answers: Vec<_> = group.iter().map(|(_, a)| (a.as_ref(), false, false)).collect();
            Example { question: self.ids(question), candidates: self.candidates(question, &answers), line: 0 }
        };
        let found = learn::decide(net, &self.params, &together.iter().map(example).collect::<Vec<_>>())?;
        let shown = |text: &str| {
            let units: Vec<Unit> = tokenizer.encode(text);
            let words = tokenizer.word_of(&units.iter().map(|u| u.id).collect::<Vec<_>>());
            (units.into_iter().map(|u| u.text).collect::<Vec<String>>(), words)
        };
        let in_words = |(decision, (question, answer)): (Decision, &(Q, A))| {
            let (question_tokens, question_words) = shown(question.as_ref());
            let (answer_tokens, answer_words) = shown(answer.as_ref());
            Answer {
                question: question.as_ref().to_string(),
                answer: answer.as_ref().to_string(),
                rank: None,
                score: decision.score,
                cosine: decision.cosine,
                question_tokens,
                question_words,
                question_attention: decision.question,
                answer_tokens,
                answer_words,
                answer_attention: decision.answer,
                members: Vec::new(),
                crossed: self.config.asked().is_some(),
                evidence: None,
                readings: [None, None],
            }
        };
        Ok(found.into_iter().zip(pairs).map(in_words).collect())
    }

    /// The answers of evidence to one question.
    fn weigh(&self, net: &EvidenceNet, question: &str, answers: Vec<&str>) -> Vec<Answer> {
        let asked = Words::new(question);
        let one = |(place, &answer): (usize, &&str)| {
            let words = Words::new(answer);
            let place = (place, answers.len());
            let parts = net.contributions(&self.params, &asked, &words, &self.overlap, place);
            let single = |numbers: &[f64]| numbers.iter().map(|&x| x as f32).collect::<Vec<f32>>();
            let table = |rows: &[Vec<f64>]| rows.iter().map(|row| single(row)).collect::<Vec<_>>();
            Answer {
                question: question.to_string(),
                answer: answer.to_string(),
                rank: None,
                score: net.score(&self.params, &net.features(&asked, &words, &self.overlap, place)) as f32,
                cosine: 0.0,
                question_tokens: asked.typed.clone(),
                question_words: (0..asked.len()).collect(),
                question_attention: vec![single(&parts.sought)],
                answer_attention: vec![single(&parts.support())],
                members: Vec::new(),
                answer_words: (0..words.len()).collect(),
                answer_tokens: words.typed,
                crossed: false,
                evidence: Some(Evidence {
                    alignment: table(&parts.strength),
                    matches: table(&parts.matches),
                    answer: single(&parts.answer),
                    length: parts.length as f32,
                    place: net.place.then_some(parts.place as f32),
                }),
                readings: [None, None],
            }
        };
        answers.iter().enumerate().map(one).collect()
    }

    /// What ranking by shared words alone reaches, rare words counting more: what a matcher must beat. Many candidates share the same words, so it is told what comes of it
    /// when equal ones stand as in the file, where early ones may be right more often, and when they stand the other way round.
    fn shared_words(&self, examples: &[Example]) -> Result<Vec<Baseline>> {
        let overlaps: Vec<f64> = examples.iter().flat_map(|e| &e.candidates).map(|c| c.overlap as f64).collect();
        let mut lists = learn::lists(examples, &overlaps);
        let later_first = learn::rank_measures(&lists)?;
        lists.iter_mut().for_each(|list| list.reverse());
        let in_order = learn::rank_measures(&lists)?;
        Ok(vec![Baseline::new(SHARED, later_first), Baseline::new("shared words, equal ones as in the file", in_order)])
    }
}

/// The name of the simple way that ranks by shared words.
const SHARED: &str = "shared words (idf)";
