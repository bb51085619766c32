//! Settings of a classifier.

use serde::{Deserialize, Serialize};

use crate::Result;
use crate::attention::ScoreKind;
use crate::config::ConfigError;
use crate::model::encoder::EncoderSection;
use crate::model::folder::Task;
use crate::model::head::ClassWeights;
use crate::model::pooling::PoolingKind;
use crate::model::{AttentionSection, UnitSection};
use crate::text::UnitKind;
use crate::train::TrainSettings;

/// A whole recipe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// Always `classify`.
    pub task: Task,
    /// Decides everything left to chance.
    pub seed: u64,
    /// `[data]`
    pub data: Data,
    /// `[text]`
    pub text: UnitSection,
    /// `[model]`
    pub model: Model,
    /// `[attention]`
    pub attention: AttentionSection,
    /// `[train]`
    pub train: TrainSettings,
}

/// `[data]` of a recipe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Data {
    /// Labelled texts to learn from; empty if given on the command line.
    pub train: String,
    /// Labelled texts to develop with; empty for a part split off from those to learn from.
    pub dev: String,
}

/// `[model]` of a recipe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// How the text is read.
    #[serde(flatten)]
    pub encoder: EncoderSection,
    /// How what has been read becomes one row: `attention`, `mean` or `last`.
    pub pooling: PoolingKind,
    /// `none`, or `balanced` to let rare labels count as much as frequent ones.
    pub class_weights: ClassWeights,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            task: Task::Classify,
            seed: 1,
            data: Data { train: String::new(), dev: String::new() },
            text: UnitSection { units: UnitKind::Words, ..UnitSection::default() },
            model: Model { encoder: EncoderSection::default(), pooling: PoolingKind::Attention, class_weights: ClassWeights::None },
            attention: AttentionSection::new(ScoreKind::Tanh),
            train: TrainSettings { metric: "accuracy".into(), epochs: 20, patience: 5, ..TrainSettings::default() },
        }
    }
}

impl Config {
    /// The first setting that cannot be used, if any. What it says is the key and the reason.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.train.check()?;
        self.model.encoder.check()?;
        self.model.pooling.check(&self.attention, self.model.encoder.width(), true)
    }
}
