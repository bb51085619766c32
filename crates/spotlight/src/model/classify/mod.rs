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
pub mod evidence;
pub mod learn;
pub mod net;
mod probe;
mod task;
#[cfg(test)]
mod tests;

use std::collections::HashMap;
use std::path::Path;

pub use answer::Answer;
pub use config::{Config, Form};
pub use evidence::{EvidenceText, UnitTable};
pub use learn::{ClassifyLearner, Example, Text};
pub use net::Net;

use crate::config::{ConfigError, resolve};
use crate::metrics::Confusion;
use crate::model::describe::Baseline;
use crate::model::encoder::with_words_of_vectors;
use crate::model::ensemble::{first_and_peers, other_labels};
use crate::model::fits::Reader;
use crate::model::limits::Limit;
use crate::model::linear::Linear;
use crate::model::{Calibration, folder, head};
use crate::params::Params;
use crate::text::{Inventory, Labelled, Tokenizer};
use crate::{Result, weights};

const TEXT: &str = "text";
const LABELS: &str = "labels.txt";
const UNITS: &str = "units.bin";

/// What a text is made of.
#[derive(Clone, Debug)]
pub enum Units {
    /// Words with their pairs and pieces, for the form of evidence.
    Table(UnitTable),
    /// A sequence of units, for an encoder.
    Tokenizer(Tokenizer),
}

impl Units {
    /// How many there are.
    pub fn len(&self) -> usize {
        match self {
            Units::Table(table) => table.len(),
            Units::Tokenizer(tokenizer) => tokenizer.len(),
        }
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// What cuts texts into a sequence, if they are a sequence.
    pub fn tokenizer(&self) -> Option<&Tokenizer> {
        if let Units::Tokenizer(tokenizer) = self { Some(tokenizer) } else { None }
    }
}

/// A model that gives texts a label.
#[derive(Clone, Debug)]
pub struct Classifier {
    /// All settings.
    pub config: Config,
    /// Units of a text.
    pub units: Units,
    /// The labels in alphabetical order.
    pub labels: Inventory,
    /// The network.
    pub net: Net,
    /// Its numbers.
    pub params: Params<f32>,
    /// How sure it may be, if that is known.
    pub calibration: Option<Calibration>,
    /// The other members, if it is an ensemble.
    pub peers: Vec<Classifier>,
    /// How much an example of each label counts while learning.
    weights: Vec<f64>,
}

impl Classifier {
    /// A new model for these training texts. The settings are checked, and word vectors are read if they are asked for.
    pub fn new(config: Config, texts: &[Labelled]) -> Result<Self> {
        config.check()?;
        let labels = Inventory::sorted(texts.iter().map(|t| t.label.as_str()));
        if labels.len() < 2 {
            let problem = format!("needs texts with at least two labels, has only {}", labels.iter().collect::<Vec<_>>().join(", "));
            return Err(ConfigError::Value { key: "data.train".into(), problem }.into());
        }
        let numbers: Vec<u32> = texts.iter().filter_map(|t| labels.position(&t.label)).collect();
        let counts = head::LabelCounts::of(labels.len(), numbers.iter().copied());
        let params = Params::new(config.seed);
        let weights = counts.weights(config.model.class_weights);
        let mut model = match config.model.form {
            Form::Evidence => {
                let units: Vec<_> = texts.iter().map(|t| evidence::units::units(&t.text)).collect();
                let (table, idf) = UnitTable::learn(&units);
                let read: Vec<EvidenceText> = units.iter().map(|text| EvidenceText::new(text, &table, &idf)).collect();
                let mut model = Self::with_vocabularies(config, Units::Table(table), labels, params)?;
                if let Net::Evidence(net) = &model.net {
                    net.begin(&mut model.params, &idf, &read, &numbers, &counts, &weights);
                }
                model
            }
            Form::Pooled => {
                let tokenizer = Tokenizer::train(&config.text.settings(), texts.iter().map(|t| t.text.as_str()))?;
                let tokenizer = with_words_of_vectors(tokenizer, &config.model.encoder)?;
                let reader = Reader { encoder: &config.model.encoder, attention: &config.attention, train: &config.train };
                reader.check(tokenizer.len(), config.text.units, texts.iter().map(|t| t.text.as_str()))?;
                let mut model = Self::with_vocabularies(config, Units::Tokenizer(tokenizer), labels, params)?;
                if let (Net::Pooled(net), Units::Tokenizer(tokenizer)) = (&model.net, &model.units) {
                    net.head.begin_at_shares(&mut model.params, &counts, &weights);
                    let vectors = &model.config.model.encoder.vectors;
                    if !vectors.is_empty() {
                        net.encoder.load_vectors(&mut model.params, Path::new(vectors), tokenizer)?;
                    }
                }
                model
            }
        };
        model.weights = weights;
        Ok(model)
    }

    /// A new model that knows the units and labels of this one and of new texts. In the form of evidence, logistic regression is not learnt anew: what it knew of its units is kept.
    fn grown_with(&self, config: Config, texts: &[Labelled]) -> Result<Self> {
        config.check()?;
        let labels = Inventory::sorted(self.labels.iter().chain(texts.iter().map(|t| t.label.as_str())));
        let params = Params::new(config.seed);
        let numbers: Vec<u32> = texts.iter().filter_map(|t| labels.position(&t.label)).collect();
        let weights = head::LabelCounts::of(labels.len(), numbers.into_iter()).weights(config.model.class_weights);
        let mut model = match &self.units {
            Units::Tokenizer(tokenizer) => {
                let grown = tokenizer.grown(&config.text.settings(), texts.iter().map(|t| t.text.as_str()))?;
                Self::with_vocabularies(config, Units::Tokenizer(grown), labels, params)?
            }
            Units::Table(table) => {
                let units: Vec<_> = texts.iter().map(|t| evidence::units::units(&t.text)).collect();
                let (new, idf) = UnitTable::learn(&units);
                let grown = table.grown(&new);
                let mut model = Self::with_vocabularies(config, Units::Table(grown), labels, params)?;
                if let (Net::Evidence(net), Units::Table(grown)) = (&model.net, &model.units) {
                    // What is new is as rare as it is among the new texts; what was known keeps its own.
                    let places: HashMap<u64, usize> = grown.hashes().zip(0..).collect();
                    let table = model.params.get_mut(net.idf);
                    new.hashes().zip(idf).for_each(|(hash, idf)| table[places[&hash]] = idf);
                }
                model
            }
        };
        model.weights = weights;
        Ok(model)
    }

    /// A text as the network takes it.
    fn text(&self, text: &str) -> Text {
        match (&self.net, &self.units) {
            (Net::Evidence(net), Units::Table(table)) => {
                Text::Evidence(EvidenceText::new(&evidence::units::units(text), table, self.params.get(net.idf)))
            }
            (_, units) => Text::Pooled(units.tokenizer().map_or_else(Vec::new, |tokenizer| tokenizer.ids(text))),
        }
    }

    fn with_vocabularies(config: Config, units: Units, labels: Inventory, mut params: Params<f32>) -> Result<Self> {
        let net = Net::new(&mut params, &config, units.len(), labels.len())?;
        let weights = vec![1.0; labels.len()];
        Ok(Classifier { config, units, labels, net, params, calibration: None, peers: Vec::new(), weights })
    }

    /// Writes settings and vocabularies; the weights are written by the training run or [`weights::save`].
    pub fn save_frame(&self, path: &Path) -> Result<()> {
        folder::create(path)?;
        match &self.units {
            Units::Table(table) => table.save(&path.join(UNITS))?,
            Units::Tokenizer(tokenizer) => tokenizer.save(path, TEXT)?,
        }
        self.labels.save(path.join(LABELS))?;
        folder::save_config(path, &self.config)
    }

    /// Reads a model's folder. A file that is not the one saved with the model is an error that names it.
    pub fn load(path: &Path) -> Result<Self> {
        folder::check(path)?;
        let config: Config = resolve(&Config::default(), &folder::read_config(path)?, &[])?;
        config.check()?;
        let units = match config.model.form {
            Form::Evidence => Units::Table(UnitTable::load(&path.join(UNITS))?),
            Form::Pooled => Units::Tokenizer(Tokenizer::load(&config.text.settings(), path, TEXT)?),
        };
        let labels = Inventory::load(path.join(LABELS))?;
        let mut model = Self::with_vocabularies(config, units, labels, Params::blank())?;
        weights::load(&mut model.params, &path.join(folder::WEIGHTS))?;
        model.calibration = Calibration::load(path)?;
        Ok(model)
    }

    /// Texts as numbers. A label the model does not know is an error that names its line.
    pub fn examples(&self, texts: &[Labelled]) -> Result<Vec<Example>> {
        self.check_lengths(texts)?;
        let example =
            |t: &Labelled| Ok(Example { text: self.text(&t.text), label: head::number_of(&self.labels, &t.label, t.line)?, line: t.line });
        texts.iter().map(example).collect()
    }

    fn limit(&self) -> Limit {
        Limit(if let Net::Pooled(net) = &self.net { net.encoder.longest() } else { None })
    }

    fn units_in(&self, text: &str) -> usize {
        self.units.tokenizer().map_or(0, |tokenizer| tokenizer.ids(text).len())
    }

    /// An error for the first text that has more units than there are learned positions.
    fn check_lengths(&self, texts: &[Labelled]) -> Result<()> {
        texts.iter().try_for_each(|t| self.limit().example(TEXT, t.line, || self.units_in(&t.text)))
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
        let decisions = self.decisions(texts)?;
        let in_words = |(mut decision, text): (head::Decision, &S)| {
            self.calibration.iter().for_each(|c| c.apply(&mut decision.probabilities));
            let (tokens, words) = self.shown(text.as_ref());
            let best = head::best(&decision.probabilities);
            Answer {
                text: text.as_ref().to_string(),
                tokens,
                words,
                label: self.labels.get(best).unwrap_or_default().to_string(),
                truth: None,
                probabilities: self.labels.iter().map(str::to_string).zip(decision.probabilities).collect(),
                attention: decision.attention,
                members: decision.members,
                contributions: decision.contributions,
                reading: None,
            }
        };
        Ok(decisions.into_iter().zip(texts).map(in_words).collect())
    }

    /// What the model says of texts; of an ensemble the mean of the probabilities, and the attention of each member that looks at the same units.
    fn decisions<S: AsRef<str>>(&self, texts: &[S]) -> Result<Vec<head::Decision>> {
        let read: Vec<Text> = texts.iter().map(|t| self.text(t.as_ref())).collect();
        let own = learn::decide(&self.net, &self.params, &read.iter().collect::<Vec<_>>())?;
        head::mean(own, self.peers.iter().map(|peer| peer.decisions(texts)))
    }

    /// Several models as one. An error if they do not give the same labels.
    pub fn joined(members: Vec<Classifier>) -> Result<Classifier> {
        let (mut first, peers) = first_and_peers(members, |a: &Classifier, b: &Classifier| other_labels(&a.labels, &b.labels))?;
        first.peers = peers;
        // What each is sure of says nothing of what they say together.
        first.calibration = first.calibration.filter(|_| first.peers.is_empty());
        Ok(first)
    }

    /// What the attention looks at, as it is shown, and for each the word it belongs to.
    fn shown(&self, text: &str) -> (Vec<String>, Vec<usize>) {
        match &self.units {
            Units::Table(_) => {
                let words: Vec<String> = evidence::units::words(text).into_iter().map(str::to_string).collect();
                let numbers = (0..words.len()).collect();
                (words, numbers)
            }
            Units::Tokenizer(tokenizer) => {
                let units = tokenizer.encode(text);
                let words = tokenizer.word_of(&units.iter().map(|u| u.id).collect::<Vec<_>>());
                (units.into_iter().map(|u| u.text).collect(), words)
            }
        }
    }

    /// What the simple ways reach that a user would try first.
    fn simple(&self, examples: &[Example]) -> Result<Vec<Baseline>> {
        let gold: Vec<u32> = examples.iter().map(|e| e.label).collect();
        let mut found = vec![head::most_frequent(&gold)];
        if let Net::Evidence(net) = &self.net {
            let linear = Linear { weights: self.params.get(net.linear).to_vec(), bias: self.params.get(net.linear_bias).to_vec() };
            let logits = |example: &Example| {
                let vector: Vec<_> = if let Text::Evidence(text) = &example.text { text.vector().collect() } else { Vec::new() };
                linear.logits(&vector).into_iter().map(|x| x as f32).collect::<Vec<f32>>()
            };
            let all: Vec<Vec<f32>> = examples.iter().map(logits).collect();
            let confusion = head::confusion(&self.labels, &gold, &all)?;
            found.push(Baseline::new("TF-IDF logistic regression", head::of_confusion(&confusion)));
        }
        Ok(found)
    }

    /// Who was taken for whom.
    pub fn confusion(&self, examples: &[Example]) -> Result<Confusion> {
        let gold: Vec<u32> = examples.iter().map(|e| e.label).collect();
        let texts: Vec<&Text> = examples.iter().map(|e| &e.text).collect();
        let probabilities: Vec<Vec<f32>> = learn::decide(&self.net, &self.params, &texts)?.into_iter().map(|d| d.probabilities).collect();
        head::confusion(&self.labels, &gold, &probabilities)
    }
}
