//! Bags: from sets of rows of numbers with one label each to a model that labels a set and tells which rows decided.
//!
//! Rows can be anything: patches of a picture, channels, nodes of a graph, instruments. In the order data meets them: [`config`] (settings), [`standard`] (features
//! on one scale), [`net`] (the network), [`learn`] (loss, measures and decisions). A [`BagModel`] holds them together.
//!
//! ```
//! use spotlight::model::bags::{BagModel, Config};
//! use spotlight::text::Bag;
//!
//! let bag = |id: &str, label: &str, rows: &[[f32; 2]]| {
//!     Bag { id: id.into(), label: label.into(), rows: rows.iter().map(|r| r.to_vec()).collect(), line: 1 }
//! };
//! let bags = [bag("a", "yes", &[[0.0, 1.0], [9.0, 1.0]]), bag("b", "no", &[[0.0, 2.0]])];
//! let model = BagModel::new(Config::default(), &bags)?;
//! assert_eq!(model.answer(&bags)?[0].attention[0].len(), 2);
//! # Ok::<(), spotlight::Error>(())
//! ```

mod answer;
mod baseline;
pub mod config;
pub mod learn;
pub mod net;
mod probe;
pub mod standard;
mod task;
#[cfg(test)]
mod tests;

use std::path::Path;

pub use answer::Answer;
pub use config::Config;
pub use learn::{BagLearner, Example};
pub use net::Net;
pub use standard::Standard;

use crate::config::{ConfigError, resolve};
use crate::metrics::Confusion;
use crate::model::ensemble::{first_and_peers, other_labels};
use crate::model::head::{self, Decision};
use crate::model::{Calibration, fits, folder};
use crate::params::Params;
use crate::text::{Bag, Inventory};
use crate::{Error, Result, weights};

const LABELS: &str = "labels.txt";
const STANDARD: &str = "standard.toml";

/// A model that gives bags a label.
#[derive(Clone, Debug)]
pub struct BagModel {
    /// All settings.
    pub config: Config,
    /// How features are brought to one scale.
    pub standard: Standard,
    /// The labels in alphabetical order.
    pub labels: Inventory,
    /// The network.
    pub net: Net,
    /// Its numbers.
    pub params: Params<f32>,
    /// How sure it may be, if that is known.
    pub calibration: Option<Calibration>,
    /// The other members, if it is an ensemble.
    pub peers: Vec<BagModel>,
    /// How much an example of each label counts while learning.
    weights: Vec<f64>,
}

impl BagModel {
    /// A new model for these training bags: the settings are checked, the standard and the labels learnt.
    pub fn new(config: Config, bags: &[Bag]) -> Result<Self> {
        config.check()?;
        let labels = Inventory::sorted(bags.iter().map(|b| b.label.as_str()));
        if labels.len() < 2 {
            let problem = format!("needs bags with at least two labels, has only {}", labels.iter().collect::<Vec<_>>().join(", "));
            return Err(ConfigError::Value { key: "data.train".into(), problem }.into());
        }
        let standard = Standard::learn(bags.iter().flat_map(|b| &b.rows).map(Vec::as_slice));
        fits::bags(&config, standard.width())?;
        let params = Params::new(config.seed);
        let mut model = Self::with_frame(config, standard, labels, params)?;
        let numbers = bags.iter().filter_map(|b| model.labels.position(&b.label));
        let counts = head::LabelCounts::of(model.labels.len(), numbers);
        model.weights = counts.weights(model.config.model.class_weights);
        model.net.head.begin_at_shares(&mut model.params, &counts, &model.weights);
        Ok(model)
    }

    fn with_frame(config: Config, standard: Standard, labels: Inventory, mut params: Params<f32>) -> Result<Self> {
        let net = Net::new(&mut params, &config, standard.width(), labels.len())?;
        let weights = vec![1.0; labels.len()];
        Ok(BagModel { config, standard, labels, net, params, calibration: None, peers: Vec::new(), weights })
    }

    /// A new model that knows the labels of this one and of new bags, and keeps its standard.
    fn grown_with(&self, config: Config, bags: &[Bag]) -> Result<Self> {
        config.check()?;
        let labels = Inventory::sorted(self.labels.iter().chain(bags.iter().map(|b| b.label.as_str())));
        let numbers: Vec<u32> = bags.iter().filter_map(|b| labels.position(&b.label)).collect();
        let weights = head::LabelCounts::of(labels.len(), numbers.into_iter()).weights(config.model.class_weights);
        let params = Params::new(config.seed);
        let mut model = Self::with_frame(config, self.standard.clone(), labels, params)?;
        model.weights = weights;
        Ok(model)
    }

    /// Several models as one. An error if they do not give the same labels.
    pub fn joined(members: Vec<BagModel>) -> Result<BagModel> {
        let (mut first, peers) = first_and_peers(members, |a: &BagModel, b: &BagModel| other_labels(&a.labels, &b.labels))?;
        first.peers = peers;
        // What each is sure of says nothing of what they say together.
        first.calibration = first.calibration.filter(|_| first.peers.is_empty());
        Ok(first)
    }

    /// What the model says of bags; of an ensemble the mean of the probabilities, and the attention of each member.
    fn decisions(&self, bags: &[Bag]) -> Result<Vec<Decision>> {
        let numbers = bags.iter().map(|b| self.numbers(b)).collect::<Result<Vec<_>>>()?;
        let rows: Vec<(&[f32], usize)> = numbers.iter().zip(bags).map(|(n, b)| (n.as_slice(), b.rows.len())).collect();
        let own = learn::decide(&self.net, &self.params, self.standard.width(), &rows)?;
        head::mean(own, self.peers.iter().map(|peer| peer.decisions(bags)))
    }

    /// Writes settings, labels and standard; the weights are written by the training run or [`weights::save`].
    pub fn save_frame(&self, path: &Path) -> Result<()> {
        folder::create(path)?;
        self.labels.save(path.join(LABELS))?;
        self.standard.save(&path.join(STANDARD))?;
        folder::save_config(path, &self.config)
    }

    /// Reads a model's folder. A file that is not the one saved with the model is an error that names it.
    pub fn load(path: &Path) -> Result<Self> {
        folder::check(path)?;
        let config: Config = resolve(&Config::default(), &folder::read_config(path)?, &[])?;
        config.check()?;
        let labels = Inventory::load(path.join(LABELS))?;
        let mut model = Self::with_frame(config, Standard::load(&path.join(STANDARD))?, labels, Params::blank())?;
        weights::load(&mut model.params, &path.join(folder::WEIGHTS))?;
        model.calibration = Calibration::load(path)?;
        Ok(model)
    }

    /// The rows of a bag, brought to the standard.
    fn numbers(&self, bag: &Bag) -> Result<Vec<f32>> {
        let width = self.standard.width();
        if let Some(row) = bag.rows.iter().find(|row| row.len() != width) {
            let (what, got) = (format!("the number of features in bag {:?} (line {})", bag.id, bag.line), row.len().to_string());
            return Err(Error::Value { what, got, expected: format!("{width}, as in the training part") });
        }
        Ok(bag.rows.iter().flat_map(|row| self.standard.apply(row)).collect())
    }

    /// Bags as the network takes them. A label the model does not know is an error that names its line.
    pub fn examples(&self, bags: &[Bag]) -> Result<Vec<Example>> {
        let example = |b: &Bag| {
            let label = head::number_of(&self.labels, &b.label, b.line)?;
            Ok(Example { numbers: self.numbers(b)?, rows: b.rows.len(), label, line: b.line })
        };
        bags.iter().map(example).collect()
    }

    /// How it learns.
    pub fn learner(&self) -> BagLearner {
        BagLearner {
            net: self.net.clone(),
            labels: self.labels.clone(),
            weights: self.weights.clone(),
            smoothing: self.config.train.smoothing,
            width: self.standard.width(),
            mixed: self.config.model.mixed,
        }
    }

    /// Labels for bags, in the same order; what their own labels are does not matter. A bag without rows gets what the model says that has seen nothing.
    pub fn answer(&self, bags: &[Bag]) -> Result<Vec<Answer>> {
        let decisions = self.decisions(bags)?;
        let in_words = |(mut decision, bag): (Decision, &Bag)| {
            self.calibration.iter().for_each(|c| c.apply(&mut decision.probabilities));
            let best = head::best(&decision.probabilities);
            Answer {
                bag: bag.id.clone(),
                label: self.labels.get(best).unwrap_or_default().to_string(),
                truth: self.labels.position(&bag.label).map(|_| bag.label.clone()),
                probabilities: self.labels.iter().map(str::to_string).zip(decision.probabilities).collect(),
                attention: decision.attention,
                rows: bag.rows.clone(),
            }
        };
        Ok(decisions.into_iter().zip(bags).map(in_words).collect())
    }

    /// Who was taken for whom, for the table per class.
    pub fn confusion(&self, examples: &[Example]) -> Result<Confusion> {
        let bags: Vec<(&[f32], usize)> = examples.iter().map(|e| (e.numbers.as_slice(), e.rows)).collect();
        let found = learn::decide(&self.net, &self.params, self.standard.width(), &bags)?;
        let probabilities: Vec<Vec<f32>> = found.into_iter().map(|d| d.probabilities).collect();
        head::confusion(&self.labels, &examples.iter().map(|e| e.label).collect::<Vec<_>>(), &probabilities)
    }
}
