//! Settings of a model for bags.

use serde::{Deserialize, Serialize};

use crate::Result;
use crate::attention::ScoreKind;
use crate::config::ConfigError;
use crate::model::folder::Task;
use crate::model::head::ClassWeights;
use crate::model::pooling::PoolingKind;
use crate::model::{AttentionSection, check_format, need};
use crate::text::read::{BagColumns, TableFormat};
use crate::train::TrainSettings;

/// Of fewer bags than this, a part that is set aside says too little to stop by.
const FEW: usize = 1000;

/// A whole recipe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// Always `bags`.
    pub task: Task,
    /// Decides everything left to chance.
    pub seed: u64,
    /// `[data]`
    pub data: Data,
    /// `[model]`
    pub model: Model,
    /// `[attention]`
    pub attention: AttentionSection,
    /// `[train]`
    pub train: TrainSettings,
}

/// `[data]` of a recipe. Columns count from 0, and from the end if negative: -1 is the last.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Data {
    /// Bags to learn from; empty if given on the command line.
    pub train: String,
    /// Bags to develop with; empty for a part split off from those to learn from.
    pub dev: String,
    /// The column of the label.
    pub label_column: i64,
    /// The column of the bag.
    pub bag_column: i64,
    /// Whether every row is a bag of its own and there is no column of the bag.
    pub single_rows: bool,
    /// How the files are laid out.
    #[serde(flatten)]
    pub format: TableFormat,
}

impl Data {
    /// In the words of the text module.
    pub fn columns(&self) -> BagColumns {
        BagColumns { label: self.label_column as isize, bag: (!self.single_rows).then_some(self.bag_column as isize) }
    }
}

/// `[model]` of a recipe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// Features of a row after each layer.
    pub hidden: usize,
    /// Layers every row goes through on its own; 0 to pool the rows as they are.
    pub layers: usize,
    /// Dropout after each layer.
    pub dropout: f64,
    /// Whether `train.batch` is a number of bags of any size. Else it is a number of rows, and bags of similar size are learnt from together; where the size of a bag
    /// goes with its label, such batches pull one way and then the other.
    pub mixed: bool,
    /// How the rows become one: `attention` or `mean`.
    pub pooling: PoolingKind,
    /// `none`, or `balanced` to let rare labels count as much as frequent ones.
    pub class_weights: ClassWeights,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            task: Task::Bags,
            seed: 1,
            data: Data {
                train: String::new(),
                dev: String::new(),
                label_column: 0,
                bag_column: 1,
                single_rows: false,
                format: TableFormat::default(),
            },
            model: Model {
                hidden: 64,
                layers: 1,
                dropout: 0.2,
                mixed: false,
                pooling: PoolingKind::Attention,
                class_weights: ClassWeights::None,
            },
            attention: AttentionSection::new(ScoreKind::Gated),
            train: TrainSettings { metric: "accuracy".into(), batch: 100, ..TrainSettings::default() },
        }
    }
}

impl Config {
    /// Settings for this many training bags: about six hundred steps or more, the rate falling to nothing by the last.
    pub fn for_bags(bags: usize) -> Self {
        const STEPS: usize = 600;
        let batch = (bags / 4).clamp(4, 32);
        let epochs = STEPS.div_ceil(bags.div_ceil(batch).max(1)).clamp(20, 200) as u64;
        let mut config = Config::default();
        config.model = Model { hidden: 256, dropout: 0.5, mixed: true, ..config.model };
        config.train = TrainSettings { batch, epochs, ..config.train };
        if bags < FEW {
            // A handful of bags set aside says too little to choose an epoch by: what stands at the end is kept.
            (config.train.every, config.train.patience) = (epochs, 0);
        }
        config
    }

    /// The first setting that cannot be used, if any. What it says is the key and the reason.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.train.check()?;
        check_format(&self.data.format)?;
        let m = &self.model;
        need(m.hidden >= 1, "model.hidden", format!("must be at least 1, is {}", m.hidden))?;
        need((0.0..1.0).contains(&m.dropout), "model.dropout", format!("must be from 0 to below 1, is {}", m.dropout))?;
        let same = !self.data.single_rows && self.data.label_column == self.data.bag_column;
        need(!same, "data.bag_column", "must not be the column of the label")?;
        // Without layers the rows are as wide as the data say; that they have features is checked there.
        m.pooling.check(&self.attention, m.hidden, false)
    }
}
