//! Settings of a classifier.

use serde::{Deserialize, Serialize};

use crate::Result;
use crate::attention::{ScoreKind, SoftmaxKind};
use crate::config::ConfigError;
use crate::encoder::EncoderName;
use crate::model::encoder::EncoderSection;
use crate::model::folder::Task;
pub use crate::model::form::Form;
use crate::model::head::ClassWeights;
use crate::model::pooling::PoolingKind;
use crate::model::{AttentionSection, TransformerSection, UnitSection, check_format, need};
use crate::text::UnitKind;
use crate::text::read::TableFormat;
use crate::train::TrainSettings;
use crate::train::settings::{OptimiserName, ScheduleName};

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
    /// `[transformer]`: the layers of the encoder, if it is one.
    pub transformer: TransformerSection,
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
    /// How the files are laid out.
    #[serde(flatten)]
    pub format: TableFormat,
}

/// `[model]` of a recipe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// `evidence` or `pooled`.
    pub form: Form,
    /// Of `evidence`: share of a word's units that are left out while learning.
    pub unit_dropout: f64,
    /// How the text is read.
    #[serde(flatten)]
    pub encoder: EncoderSection,
    /// How what has been read becomes one row: `attention`, `mean` or `last`.
    pub pooling: PoolingKind,
    /// Of `pooled`: how much states that are alike count against the model while learning, so that it matters which of them attention chooses; 0 for not at all.
    pub diversity: f64,
    /// Of `pooled`: whether settings that are not given are those whose attention carries weight: every word is read on its own (`encoder = "average"`), few are looked at
    /// (`attention.softmax = "sparsemax"`), and states that are alike count (`diversity = 0.5`). What that costs is in docs/audit.md.
    pub faithful: bool,
    /// `none`, or `balanced` to let rare labels count as much as frequent ones.
    pub class_weights: ClassWeights,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            task: Task::Classify,
            seed: 1,
            data: Data { train: String::new(), dev: String::new(), format: TableFormat::default() },
            text: UnitSection { units: UnitKind::Words, ..UnitSection::default() },
            model: Model {
                form: Form::Pooled,
                unit_dropout: 0.5,
                encoder: EncoderSection::default(),
                pooling: PoolingKind::Attention,
                diversity: 0.0,
                faithful: false,
                class_weights: ClassWeights::None,
            },
            attention: AttentionSection::new(ScoreKind::Tanh),
            transformer: TransformerSection::default(),
            train: TrainSettings { metric: "accuracy".into(), epochs: 20, patience: 5, ..TrainSettings::default() },
        }
    }
}

impl Config {
    /// The defaults of the form `evidence` for this many training texts.
    pub fn evidence(texts: usize) -> Self {
        const BATCH: usize = 16;
        // A thousand steps, where ten passes are not that many.
        let epochs = 1000usize.div_ceil(texts.div_ceil(BATCH).max(1)).clamp(10, 60) as u64;
        let mut config = Config::default();
        config.model.form = Form::Evidence;
        config.model.encoder.word_dropout = 0.1;
        config.train = TrainSettings {
            metric: "accuracy".into(),
            optimiser: OptimiserName::Adagrad,
            schedule: ScheduleName::Linear,
            rate: 0.1,
            warmup: 0,
            batch: BATCH,
            epochs,
            // The rate falls to nothing by the last epoch, and the regression beside it needs none: what stands at the end is kept.
            every: epochs,
            patience: 0,
            clip: 0.0,
            ..TrainSettings::default()
        };
        config
    }

    /// The defaults of a model whose attention is to carry weight.
    pub fn faithful() -> Self {
        let mut config = Config::default();
        config.model.faithful = true;
        config.model.encoder.cell = EncoderName::Average;
        config.model.diversity = 0.5;
        config.attention.softmax = SoftmaxKind::Sparsemax;
        config
    }

    /// Whether something is set that only a model with an encoder has.
    pub(super) fn wants_encoder(&self) -> bool {
        let plain = Config::default();
        let encoder = EncoderSection { word_dropout: self.model.encoder.word_dropout, ..plain.model.encoder };
        (&self.model.encoder, self.model.pooling, (self.model.diversity, self.model.faithful), self.attention, self.transformer, &self.text)
            != (
                &encoder,
                plain.model.pooling,
                (plain.model.diversity, plain.model.faithful),
                plain.attention,
                plain.transformer,
                &plain.text,
            )
    }

    /// The first setting that cannot be used, if any. What it says is the key and the reason.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.train.check()?;
        check_format(&self.data.format)?;
        let m = &self.model;
        m.encoder.check(&self.transformer)?;
        need((0.0..1.0).contains(&m.unit_dropout), "model.unit_dropout", format!("must be from 0 to below 1, is {}", m.unit_dropout))?;
        need(m.diversity >= 0.0 && m.diversity.is_finite(), "model.diversity", format!("must be a number from 0 on, is {}", m.diversity))?;
        if m.form == Form::Evidence {
            let problem = "settings of an encoder, its units, its pooling and its attention go with \"pooled\"";
            return need(!self.wants_encoder(), "model.form", problem);
        }
        self.model.pooling.check(&self.attention, self.model.encoder.width(), true)
    }
}
