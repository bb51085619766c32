//! Matching: from questions with candidate answers to a model that scores a pair and shows what it looked at in both texts.
//!
//! In the order data meets them: [`config`] (settings), [`net`] (the network), [`learn`] (losses, measures and decisions). A [`Matcher`] holds them together.
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
pub mod config;
pub mod learn;
pub mod net;
mod overlap;
mod task;
#[cfg(test)]
mod tests;

use std::path::Path;

pub use answer::Answer;
pub use config::Config;
pub use learn::{Candidate, Decision, Example, MatchLearner};
pub use net::Net;

use crate::config::resolve;
use crate::metrics::{IdfOverlap, RankScores};
use crate::model::fits::Reader;
use crate::model::folder;
use crate::params::Params;
use crate::text::read::question_groups;
use crate::text::{Question, Tokenizer, Unit};
use crate::{Result, weights};

const TEXT: &str = "text";
const OVERLAP: &str = "overlap.toml";

/// A model that scores pairs of question and answer.
#[derive(Clone, Debug)]
pub struct Matcher {
    /// All settings.
    pub config: Config,
    /// Units of questions and answers.
    pub tokenizer: Tokenizer,
    /// How common each word is in the training answers: for the baseline, and for the model if it reads the overlap.
    pub overlap: IdfOverlap,
    /// The network.
    pub net: Net,
    /// Its numbers.
    pub params: Params<f32>,
}

impl Matcher {
    /// A new model for these training rows. The settings are checked, and word vectors are read if they are asked for.
    pub fn new(config: Config, rows: &[Question]) -> Result<Self> {
        config.check()?;
        // A question stands in many rows but is one text.
        let questions = question_groups(rows).into_iter().filter_map(|group| group.first().map(|&row| rows[row].question.as_str()));
        let texts = questions.chain(rows.iter().map(|r| r.answer.as_str()));
        let tokenizer = Tokenizer::train(&config.text.settings(), texts)?;
        let overlap = IdfOverlap::learn(rows.iter().map(|r| r.answer.as_str()));
        let reader = Reader { encoder: &config.model.encoder, attention: &config.attention, train: &config.train };
        reader.check(tokenizer.len(), config.text.units, rows.iter().map(|r| r.answer.as_str()))?;
        let params = Params::new(config.seed);
        let mut model = Self::with_vocabularies(config, tokenizer, overlap, params)?;
        let vectors = &model.config.model.encoder.vectors;
        if !vectors.is_empty() {
            for encoder in model.net.encoders() {
                encoder.load_vectors(&mut model.params, Path::new(vectors), &model.tokenizer)?;
            }
        }
        Ok(model)
    }

    fn with_vocabularies(config: Config, tokenizer: Tokenizer, overlap: IdfOverlap, mut params: Params<f32>) -> Result<Self> {
        let net = Net::new(&mut params, &config, tokenizer.len())?;
        Ok(Matcher { config, tokenizer, overlap, net, params })
    }

    /// Writes settings and vocabularies; the weights are written by the training run or [`weights::save`].
    pub fn save_frame(&self, path: &Path) -> Result<()> {
        folder::create(path)?;
        self.tokenizer.save(path, TEXT)?;
        overlap::save(&self.overlap, &path.join(OVERLAP))?;
        folder::save_config(path, &self.config)
    }

    /// Reads a model's folder. A file that is not the one saved with the model is an error that names it.
    pub fn load(path: &Path) -> Result<Self> {
        folder::check(path)?;
        let config: Config = resolve(&Config::default(), &folder::read_config(path)?, &[])?;
        config.check()?;
        let tokenizer = Tokenizer::load(&config.text.settings(), path, TEXT)?;
        let mut model = Self::with_vocabularies(config, tokenizer, overlap::load(&path.join(OVERLAP))?, Params::blank())?;
        weights::load(&mut model.params, &path.join(folder::WEIGHTS))?;
        Ok(model)
    }

    /// The rows of each question together, as numbers.
    pub fn examples(&self, rows: &[Question]) -> Vec<Example> {
        let example = |group: Vec<usize>| {
            let first = &rows[group[0]];
            let candidates = group.iter().map(|&row| self.candidate(&rows[row].question, &rows[row].answer, rows[row].relevant)).collect();
            Example { question: self.tokenizer.ids(&first.question), candidates, line: first.line }
        };
        question_groups(rows).into_iter().map(example).collect()
    }

    fn candidate(&self, question: &str, answer: &str, relevant: bool) -> Candidate {
        let all = self.overlap.score(question, question);
        let shared = self.overlap.score(question, answer);
        Candidate { ids: self.tokenizer.ids(answer), relevant, overlap: if all > 0.0 { (shared / all) as f32 } else { 0.0 } }
    }

    /// How it learns.
    pub fn learner(&self) -> MatchLearner {
        MatchLearner::new(&self.config, self.net.clone())
    }

    /// Scores for pairs of question and answer, in the same order. Pairs of one question that stand together are read together.
    pub fn answer<Q: AsRef<str>, A: AsRef<str>>(&self, pairs: &[(Q, A)]) -> Result<Vec<Answer>> {
        let together: Vec<&[(Q, A)]> = pairs.chunk_by(|a, b| a.0.as_ref() == b.0.as_ref()).collect();
        let example = |group: &&[(Q, A)]| Example {
            question: self.tokenizer.ids(group[0].0.as_ref()),
            candidates: group.iter().map(|(q, a)| self.candidate(q.as_ref(), a.as_ref(), false)).collect(),
            line: 0,
        };
        let found = learn::decide(&self.net, &self.params, &together.iter().map(example).collect::<Vec<_>>())?;
        let shown = |text: &str| {
            let units: Vec<Unit> = self.tokenizer.encode(text);
            let words = self.tokenizer.word_of(&units.iter().map(|u| u.id).collect::<Vec<_>>());
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
                crossed: self.config.asked().is_some(),
            }
        };
        Ok(found.into_iter().zip(pairs).map(in_words).collect())
    }

    /// What ranking by shared words alone reaches, rare words counting more: what a matcher must beat.
    pub fn baseline(&self, examples: &[Example]) -> Result<RankScores> {
        let overlaps: Vec<f64> = examples.iter().flat_map(|e| &e.candidates).map(|c| c.overlap as f64).collect();
        learn::ranked(examples, &overlaps)
    }
}
