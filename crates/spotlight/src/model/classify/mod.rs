//! Classification: from labelled texts to a model that gives a text a label and shows which of its words it looked at.
//!
//! In the order data meets them: [`config`] (settings), [`net`] (the network), [`learn`] (loss, measures and decisions). A [`Classifier`] holds them together.
//!
//! ```
//! use spotlight::model::classify::{Classifier, Config};
//! use spotlight::text::Labelled;
//!
//! let row = |text: &str, label: &str, line| Labelled { text: text.into(), label: label.into(), line };
//! let model = Classifier::new(Config::default(), &[row("a fine film", "good", 1), row("dull", "bad", 2)])?;
//! let answer = &model.answer(&["fine , not dull"])?[0];
//! assert_eq!((answer.tokens.len(), answer.attention[0].len()), (4, 4));
//! # Ok::<(), spotlight::Error>(())
//! ```

mod answer;
pub mod config;
pub mod learn;
pub mod net;
mod task;
#[cfg(test)]
mod tests;

use std::path::Path;

pub use answer::Answer;
pub use config::Config;
pub use learn::{ClassifyLearner, Example};
pub use net::Net;

use crate::config::{ConfigError, resolve};
use crate::metrics::Confusion;
use crate::model::{folder, head};
use crate::params::Params;
use crate::text::{Inventory, Labelled, Tokenizer};
use crate::{Result, weights};

const TEXT: &str = "text";
const LABELS: &str = "labels.txt";

/// A model that gives texts a label.
#[derive(Clone, Debug)]
pub struct Classifier {
    /// All settings.
    pub config: Config,
    /// Units of a text.
    pub tokenizer: Tokenizer,
    /// The labels in alphabetical order.
    pub labels: Inventory,
    /// The network.
    pub net: Net,
    /// Its numbers.
    pub params: Params<f32>,
    /// How much an example of each label counts while learning.
    weights: Vec<f64>,
}

impl Classifier {
    /// A new model for these training texts. The settings are checked, and word vectors are read if they are asked for.
    pub fn new(config: Config, texts: &[Labelled]) -> Result<Self> {
        config.check()?;
        let tokenizer = Tokenizer::train(&config.text.settings(), texts.iter().map(|t| t.text.as_str()))?;
        let labels = Inventory::sorted(texts.iter().map(|t| t.label.as_str()));
        if labels.len() < 2 {
            let problem = format!("needs texts with at least two labels, has only {}", labels.iter().collect::<Vec<_>>().join(", "));
            return Err(ConfigError::Value { key: "data.train".into(), problem }.into());
        }
        let params = Params::new(config.seed);
        let mut model = Self::with_vocabularies(config, tokenizer, labels, params)?;
        let numbers = texts.iter().filter_map(|t| model.labels.position(&t.label));
        let counts = head::LabelCounts::of(model.labels.len(), numbers);
        model.weights = counts.weights(model.config.model.class_weights);
        model.net.head.begin_at_shares(&mut model.params, &counts, &model.weights);
        let vectors = &model.config.model.encoder.vectors;
        if !vectors.is_empty() {
            model.net.encoder.load_vectors(&mut model.params, Path::new(vectors), &model.tokenizer)?;
        }
        Ok(model)
    }

    fn with_vocabularies(config: Config, tokenizer: Tokenizer, labels: Inventory, mut params: Params<f32>) -> Result<Self> {
        let net = Net::new(&mut params, &config, tokenizer.len(), labels.len())?;
        let weights = vec![1.0; labels.len()];
        Ok(Classifier { config, tokenizer, labels, net, params, weights })
    }

    /// Writes settings and vocabularies; the weights are written by the training run or [`weights::save`].
    pub fn save_frame(&self, path: &Path) -> Result<()> {
        folder::create(path)?;
        self.tokenizer.save(path, TEXT)?;
        self.labels.save(path.join(LABELS))?;
        folder::save_config(path, &self.config)
    }

    /// Reads a model's folder.
    pub fn load(path: &Path) -> Result<Self> {
        let config: Config = resolve(&Config::default(), &folder::read_config(path)?, &[])?;
        config.check()?;
        let tokenizer = Tokenizer::load(&config.text.settings(), path, TEXT)?;
        let labels = Inventory::load(path.join(LABELS))?;
        let mut model = Self::with_vocabularies(config, tokenizer, labels, Params::blank())?;
        weights::load(&mut model.params, &path.join("model.safetensors"))?;
        Ok(model)
    }

    /// Texts as numbers. A label the model does not know is an error that names its line.
    pub fn examples(&self, texts: &[Labelled]) -> Result<Vec<Example>> {
        let example = |t: &Labelled| {
            Ok(Example { ids: self.tokenizer.ids(&t.text), label: head::number_of(&self.labels, &t.label, t.line)?, line: t.line })
        };
        texts.iter().map(example).collect()
    }

    /// How it learns.
    pub fn learner(&self) -> ClassifyLearner {
        ClassifyLearner {
            net: self.net.clone(),
            labels: self.labels.clone(),
            weights: self.weights.clone(),
            smoothing: self.config.train.smoothing,
        }
    }

    /// Labels for texts, in the same order. A text without units gets what the model says that has read nothing.
    pub fn answer<S: AsRef<str>>(&self, texts: &[S]) -> Result<Vec<Answer>> {
        let units: Vec<_> = texts.iter().map(|t| self.tokenizer.encode(t.as_ref())).collect();
        let ids: Vec<Vec<u32>> = units.iter().map(|u| u.iter().map(|u| u.id).collect()).collect();
        let decisions = learn::decide(&self.net, &self.params, &ids.iter().map(Vec::as_slice).collect::<Vec<_>>())?;
        let answers = decisions.into_iter().zip(texts).zip(units.iter().zip(&ids));
        Ok(answers
            .map(|((decision, text), (units, ids))| {
                let best = head::best(&decision.probabilities);
                Answer {
                    text: text.as_ref().to_string(),
                    tokens: units.iter().map(|u| u.text.clone()).collect(),
                    words: self.tokenizer.word_of(ids),
                    label: self.labels.get(best).unwrap_or_default().to_string(),
                    probabilities: self.labels.iter().map(str::to_string).zip(decision.probabilities).collect(),
                    attention: decision.attention,
                }
            })
            .collect())
    }

    /// Who was taken for whom, for the table per class.
    pub fn confusion(&self, examples: &[Example]) -> Result<Confusion> {
        let texts: Vec<&[u32]> = examples.iter().map(|e| e.ids.as_slice()).collect();
        let probabilities: Vec<Vec<f32>> = learn::decide(&self.net, &self.params, &texts)?.into_iter().map(|d| d.probabilities).collect();
        head::confusion(&self.labels, &examples.iter().map(|e| e.label).collect::<Vec<_>>(), &probabilities)
    }
}
