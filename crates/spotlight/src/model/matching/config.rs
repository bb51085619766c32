//! Settings of a matcher.

use serde::{Deserialize, Serialize};

use crate::Result;
use crate::attention::{Asker, AttentionConfig, Place, ScoreKind};
use crate::config::ConfigError;
use crate::model::encoder::EncoderSection;
use crate::model::folder::Task;
pub use crate::model::form::Form;
use crate::model::pooling::PoolingKind;
use crate::model::{AttentionSection, TransformerSection, UnitSection, check_format, need};
use crate::text::UnitKind;
use crate::text::read::TableFormat;
use crate::train::TrainSettings;

/// A whole recipe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Config {
    /// Always `match`.
    pub task: Task,
    /// Decides everything left to chance.
    pub seed: u64,
    /// `[data]`
    pub data: Data,
    /// `[text]`: units of questions and answers alike.
    pub text: UnitSection,
    /// `[model]`
    pub model: Model,
    /// `[attention]`: how a text becomes one row.
    pub attention: AttentionSection,
    /// `[transformer]`: the layers of the encoder, if it is one.
    pub transformer: TransformerSection,
    /// `[asked]`: how the pooled question asks the answer. Without a score the answer is pooled like the question.
    pub asked: AttentionSection,
    /// `[train]`
    pub train: TrainSettings,
}

/// `[data]` of a recipe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Data {
    /// Questions with candidate answers to learn from; empty if given on the command line.
    pub train: String,
    /// Questions to develop with; empty for a part split off from those to learn from.
    pub dev: String,
    /// Whether a first column says which rows belong to one question.
    pub id_column: bool,
    /// How the files are laid out.
    #[serde(flatten)]
    pub format: TableFormat,
}

/// `[model]` of a recipe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Model {
    /// `evidence` or `pooled`.
    pub form: Form,
    /// Of `evidence`: how strongly the weights of single words and pairs are held back.
    pub penalty: f64,
    /// Of `evidence`: whether the place of an answer in its list counts, where lists have an order that says something, such as that of an article.
    pub place: bool,
    /// How a text is read.
    #[serde(flatten)]
    pub encoder: EncoderSection,
    /// How what has been read becomes one row: `attention`, `mean` or `last`.
    pub pooling: PoolingKind,
    /// `separate`: questions and answers are read by two towers; `shared`: by one.
    pub towers: Towers,
    /// Features of the layer between reading and pooling; 0 for none.
    pub dense: usize,
    /// `cross-entropy` of every pair, or `hinge`: a right answer above wrong ones of the same question.
    pub loss: Loss,
    /// How far above, for the hinge.
    pub margin: f64,
    /// Wrong answers drawn for each right one, for the hinge.
    pub wrong: usize,
    /// Whether the share of the question's words that stand in the answer too, rare ones counting more, is joined to the cosine.
    pub overlap: bool,
}

/// Who reads what.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Towers {
    /// One reads questions, one answers.
    Separate,
    /// One reads both.
    Shared,
}

/// What is learnt from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Loss {
    /// Every pair is right or wrong.
    CrossEntropy,
    /// A right answer stands above a wrong one.
    Hinge,
}

impl Default for Config {
    fn default() -> Self {
        Config {
            task: Task::Match,
            seed: 1,
            data: Data { train: String::new(), dev: String::new(), id_column: false, format: TableFormat::default() },
            text: UnitSection { units: UnitKind::Words, ..UnitSection::default() },
            model: Model {
                form: Form::Pooled,
                penalty: 0.3,
                place: false,
                encoder: EncoderSection::default(),
                pooling: PoolingKind::Attention,
                towers: Towers::Shared,
                dense: 100,
                loss: Loss::CrossEntropy,
                margin: 0.5,
                wrong: 5,
                overlap: true,
            },
            attention: AttentionSection::new(ScoreKind::Linear),
            transformer: TransformerSection::default(),
            asked: AttentionSection::none(),
            train: TrainSettings { metric: "map".into(), epochs: 20, patience: 5, ..TrainSettings::default() },
        }
    }
}

impl Config {
    /// The defaults of the form `evidence`. Its weights are computed, so there is one epoch and nothing to choose of how to learn.
    pub fn evidence() -> Self {
        let mut config = Config::default();
        config.model.form = Form::Evidence;
        config.train = TrainSettings { metric: "map".into(), epochs: 1, patience: 0, ..TrainSettings::default() };
        config
    }

    /// Whether something is set that only a model with an encoder has.
    pub(super) fn wants_encoder(&self) -> bool {
        let plain = Config::default();
        let Model { form, penalty, place, .. } = self.model;
        let same = Model { form, penalty, place, ..plain.model };
        (&self.model, self.attention, self.asked, &self.text) != (&same, plain.attention, plain.asked, &plain.text)
    }

    /// Whether something is set of how to learn in steps; which measure is asked for, and which examples, says nothing of them.
    pub(super) fn wants_steps(&self) -> bool {
        self.train
            != TrainSettings {
                metric: self.train.metric.clone(),
                from: self.train.from.clone(),
                mix: self.train.mix,
                all: self.train.all,
                keep: self.train.keep.clone(),
                ..Config::evidence().train
            }
    }

    /// The first setting that cannot be used, if any. What it says is the key and the reason.
    pub fn check(&self) -> Result<(), ConfigError> {
        self.train.check()?;
        check_format(&self.data.format)?;
        let m = &self.model;
        need(m.penalty > 0.0 && m.penalty.is_finite(), "model.penalty", format!("must be above 0, is {}", m.penalty))?;
        if m.form == Form::Evidence {
            let problem = "settings of an encoder, its units, its pooling, its attention and its loss go with \"pooled\"";
            need(!self.wants_encoder(), "model.form", problem)?;
            let problem = "the weights of \"evidence\" are computed, not learnt in steps: of [train] only the metric can be set";
            return need(!self.wants_steps(), "model.form", problem);
        }
        need(!m.place, "model.place", "goes with model.form = \"evidence\"")?;
        m.encoder.check(&self.transformer)?;
        let width = self.width();
        m.pooling.check(&self.attention, width, true)?;
        if let Some(asked) = self.asked() {
            let pooled = match (m.pooling, self.attention.config()) {
                (PoolingKind::Attention, Some(config)) => config.heads * config.values.unwrap_or(width),
                _ => width,
            };
            self.asked.check("asked", Place { asker: Asker::Question, query: pooled, memory: width, coverage: false })?;
            // Both sides are compared in the end.
            let mixed = asked.values.unwrap_or(width);
            let problem =
                format!("the question asks with {pooled} features, but its answer is mixed of {mixed}: set asked.values = {pooled}");
            need(pooled == mixed, "asked.values", problem)?;
        }
        need(m.margin > 0.0 && m.margin.is_finite(), "model.margin", format!("must be above 0, is {}", m.margin))?;
        need(m.wrong >= 1, "model.wrong", format!("must be at least 1, is {}", m.wrong))
    }

    /// How the question asks the answer, if it does.
    pub fn asked(&self) -> Option<AttentionConfig> {
        self.asked.config()
    }

    /// Features of a row that is pooled.
    pub(super) fn width(&self) -> usize {
        if self.model.dense > 0 { self.model.dense } else { self.model.encoder.width() }
    }
}
