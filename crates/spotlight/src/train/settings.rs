//! Settings of a training run, shared by all kinds of models.

use serde::{Deserialize, Serialize};

use super::optim::Rule;
use super::schedule::Schedule;
use crate::config::ConfigError;

/// `[train]` of a recipe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct TrainSettings {
    /// Passes over the training examples, at most.
    pub epochs: u64,
    /// Positions (source and target units) in a batch.
    pub batch: usize,
    /// Parts a batch is cut into; threads work on them side by side. Part of the recipe, because it decides the order of sums.
    pub shards: usize,
    /// `adam`, `adamw`, `sgd`, `adagrad` or `adadelta`.
    pub optimiser: OptimiserName,
    /// Learning rate.
    pub rate: f64,
    /// Share of the last velocity that `sgd` keeps.
    pub momentum: f64,
    /// Share of the mean of squared gradients that `adam` and `adamw` keep at each step; smaller ones forget sooner.
    pub beta2: f64,
    /// Weight decay of `adamw`.
    pub decay: f64,
    /// `constant`, `linear`, `inverse-sqrt`, `cosine` or `plateau`.
    pub schedule: ScheduleName,
    /// Steps until the learning rate is reached; at most a tenth of all steps.
    pub warmup: u64,
    /// What `plateau` multiplies the rate by when the measure stops improving.
    pub plateau_factor: f64,
    /// Evaluations without improvement that `plateau` bears.
    pub plateau_patience: u32,
    /// Longest gradient; 0 for any.
    pub clip: f64,
    /// Share of each target spread over all units.
    pub smoothing: f64,
    /// Evaluations without improvement before the run ends; 0 for never.
    pub patience: u32,
    /// Epochs between evaluations.
    pub every: u64,
    /// Evaluations whose weights are averaged into the model; 1 for no averaging.
    pub average: usize,
    /// What decides which model is best: a measure that the evaluation prints.
    pub metric: String,
    /// The folder of a model to go on from: its weights are kept, and new units and labels are added. Empty for a model that begins anew.
    pub from: String,
    /// Of the examples that the model in `from` learnt from, so many are learnt again, as a share of the new ones: against forgetting.
    pub mix: f64,
    /// Whether the model, once its best epoch is known, learns anew from all examples of the training file, those that were set aside among them, for as many epochs. It takes twice the time, and what was measured is the model of before; examples of a development file are never learnt from.
    pub all: bool,
    /// Epochs whose model is kept beside the best one, such as `[1, 5]`, each in a folder `epoch-N` of its own: to look at how a model came to be what it is.
    pub keep: Vec<u64>,
}

/// Names of the optimisers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum OptimiserName {
    /// [`Rule::Adam`] without decay.
    Adam,
    /// [`Rule::Adam`] with decay.
    AdamW,
    /// [`Rule::Sgd`]
    Sgd,
    /// [`Rule::Adagrad`]
    Adagrad,
    /// [`Rule::Adadelta`]
    Adadelta,
}

/// Names of the schedules.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ScheduleName {
    /// [`Schedule::Warmup`]
    Constant,
    /// [`Schedule::Linear`]
    Linear,
    /// [`Schedule::InverseSqrt`]
    InverseSqrt,
    /// [`Schedule::Cosine`]
    Cosine,
    /// [`Plateau`](super::schedule::Plateau) after the warm-up.
    Plateau,
}

impl Default for TrainSettings {
    fn default() -> Self {
        TrainSettings {
            epochs: 60,
            batch: 2000,
            shards: 2,
            optimiser: OptimiserName::Adam,
            rate: 2e-3,
            momentum: 0.9,
            beta2: 0.999,
            decay: 0.01,
            schedule: ScheduleName::Cosine,
            warmup: 100,
            plateau_factor: 0.5,
            plateau_patience: 1,
            clip: 1.0,
            smoothing: 0.0,
            patience: 10,
            every: 1,
            average: 1,
            metric: "loss".into(),
            from: String::new(),
            mix: 0.0,
            all: false,
            keep: Vec::new(),
        }
    }
}

impl TrainSettings {
    /// How an encoder learns from texts with so many words in all: about six hundred steps, where as many passes as there are in large batches are not that many.
    pub(crate) fn suit(&mut self, words: usize) {
        const STEPS: usize = 600;
        let (most, least) = (self.batch, 100.min(self.batch));
        self.batch = (words / 20).clamp(least, most);
        let epochs = STEPS.div_ceil(words.div_ceil(self.batch).max(1)) as u64;
        if epochs > self.epochs {
            (self.epochs, self.patience) = (epochs.min(100), 10);
        }
    }

    /// The first setting outside its range, if any.
    pub fn check(&self) -> Result<(), ConfigError> {
        let at_least_one = [
            ("epochs", self.epochs),
            ("batch", self.batch as u64),
            ("shards", self.shards as u64),
            ("every", self.every),
            ("average", self.average as u64),
        ];
        for (key, value) in at_least_one {
            need(value >= 1, key, format!("must be at least 1, is {value}"))?;
        }
        need(self.rate > 0.0 && self.rate.is_finite(), "rate", format!("must be above 0, is {}", self.rate))?;
        need(self.clip >= 0.0, "clip", format!("must not be below 0, is {}", self.clip))?;
        for (key, value) in [("smoothing", self.smoothing), ("momentum", self.momentum), ("beta2", self.beta2)] {
            need((0.0..1.0).contains(&value), key, format!("must be from 0 to below 1, is {value}"))?;
        }
        need(self.mix >= 0.0 && self.mix.is_finite(), "mix", format!("must not be below 0, is {}", self.mix))?;
        need(self.mix == 0.0 || !self.from.is_empty(), "mix", "goes with train.from".into())?;
        need(self.decay >= 0.0, "decay", format!("must not be below 0, is {}", self.decay))?;
        let plateau = self.schedule == ScheduleName::Plateau;
        need(!(self.all && plateau), "all", "goes with every schedule but plateau, which has to measure".into())?;
        need(!self.keep.contains(&0), "keep", "counts epochs from 1".into())?;
        let factor = self.plateau_factor;
        need(factor > 0.0 && factor < 1.0, "plateau_factor", format!("must be between 0 and 1, is {factor}"))
    }

    pub(super) fn rule(&self) -> Rule {
        match self.optimiser {
            OptimiserName::Adam => Rule::ADAM.keeping(self.beta2),
            OptimiserName::AdamW => Rule::adamw(self.decay).keeping(self.beta2),
            OptimiserName::Sgd => Rule::Sgd { momentum: self.momentum },
            OptimiserName::Adagrad => Rule::ADAGRAD,
            OptimiserName::Adadelta => Rule::ADADELTA,
        }
    }

    /// The schedule for a run of `total` steps.
    pub fn schedule(&self, total: u64) -> Schedule {
        // A short run would end before it has begun.
        let warmup = self.warmup.min(total / 10);
        match self.schedule {
            ScheduleName::Constant | ScheduleName::Plateau => Schedule::Warmup { warmup },
            ScheduleName::Linear => Schedule::Linear { warmup, total },
            ScheduleName::InverseSqrt => Schedule::InverseSqrt { warmup },
            ScheduleName::Cosine => Schedule::Cosine { warmup, total },
        }
    }
}

/// An error for a setting of `[train]` unless `right`.
fn need(right: bool, key: &str, problem: String) -> Result<(), ConfigError> {
    if right { Ok(()) } else { Err(ConfigError::Value { key: format!("train.{key}"), problem }) }
}
