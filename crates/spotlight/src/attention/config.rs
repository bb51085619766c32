//! The settings of an attention, and the one place where they are checked.
//!
//! What a score or a softmax can do is said by its type ([`Scoring`](super::score::Scoring), [`Weighting`](super::softmax::Weighting)). Here that is held
//! against what is asked of it: who asks, how wide query and memory are, how many heads there are.

use serde::{Deserialize, Serialize};

use super::score::Sizes;
use super::{ScoreConfig, ScoreKind, SoftmaxConfig};
use crate::Error;
use crate::config::ConfigError;

/// What goes into the boxes, as a user configures it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct AttentionConfig {
    /// The first box.
    pub score: ScoreConfig,
    /// The second box.
    pub softmax: SoftmaxConfig,
    /// If given, the score reads a projection of the memory to this size instead of the memory.
    pub keys: Option<usize>,
    /// If given, the context mixes a projection of the memory to this size instead of the memory.
    pub values: Option<usize>,
    /// Scores side by side, each with parameters and weights of its own. In a decoder they share the features of a projection of the memory, and each mixes its
    /// part of them; in a [`Pool`](super::Pool) each mixes whole rows.
    pub heads: usize,
}

impl Default for AttentionConfig {
    fn default() -> Self {
        AttentionConfig { score: ScoreConfig::default(), softmax: SoftmaxConfig::default(), keys: None, values: None, heads: 1 }
    }
}

/// Who asks the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Asker {
    /// A decoder, step after step.
    Decoder,
    /// Somebody who asks one question only.
    Question,
    /// A [`Pool`](super::Pool): nobody, or a query that was learned; every head mixes whole rows.
    Pool,
    /// Every row of a sequence, through projections of its own: a [`MultiHead`](super::MultiHead).
    Rows,
}

/// Where an attention is used.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Place {
    /// Who asks.
    pub asker: Asker,
    /// Features of a query.
    pub query: usize,
    /// Features of a row of the memory.
    pub memory: usize,
    /// Whether the score is to read the coverage, the sum of the weights of all steps before.
    pub coverage: bool,
}

/// A setting of an attention that cannot be used where it is.
#[derive(Clone, Debug, PartialEq)]
pub struct Refused {
    /// Its name in a recipe's section, such as `heads`.
    pub setting: &'static str,
    /// The same in words.
    pub what: String,
    /// What it is.
    pub got: String,
    /// What it must be.
    pub expected: String,
}

impl Refused {
    pub(super) fn new(setting: &'static str, what: impl Into<String>, got: impl ToString, expected: impl Into<String>) -> Self {
        Refused { setting, what: what.into(), got: got.to_string(), expected: expected.into() }
    }

    /// As an error of the recipe whose section `section` holds the setting.
    pub fn of_section(self, section: &str) -> ConfigError {
        ConfigError::Value { key: format!("{section}.{}", self.setting), problem: format!("must be {}, is {}", self.expected, self.got) }
    }
}

impl From<Refused> for Error {
    fn from(refused: Refused) -> Self {
        Error::Value { what: refused.what, got: refused.got, expected: refused.expected }
    }
}

impl AttentionConfig {
    /// This score with the plain softmax over the memory itself.
    pub fn new(score: ScoreKind) -> Self {
        AttentionConfig { score: score.into(), ..Default::default() }
    }

    /// The projection that the context mixes, if there is one: several heads need one, so that each can choose what to mix.
    pub(crate) fn projected_values(&self, memory: usize) -> Option<usize> {
        self.values.or((self.heads > 1).then_some(memory))
    }

    /// Whether all of it can be used there; if not, the first setting that cannot.
    pub fn check(&self, place: Place) -> Result<(), Refused> {
        for (setting, size) in [("keys", self.keys), ("values", self.values)] {
            if size == Some(0) {
                return Err(Refused::new(setting, format!("the size of the {setting}"), 0, "at least 1"));
            }
        }
        self.softmax.check()?;
        self.check_steps(place)?;
        self.check_heads(place)?;
        // A head among all rows sees its share of both projections and nothing else.
        let share = |features: usize| if place.asker == Asker::Rows { features / self.heads } else { features };
        let (query, memory) = (share(place.query), share(self.keys.unwrap_or(place.memory)));
        self.score.check(Sizes { query, memory, coverage: place.coverage })
    }

    /// What minds the steps goes with somebody who takes them.
    fn check_steps(&self, place: Place) -> Result<(), Refused> {
        let score = self.score.kind;
        if score.looks_back() && place.asker != Asker::Decoder {
            let expected = "one that does not need the weights of a step before: only a decoder has them";
            return Err(Refused::new("score", "the score of this attention", format!("\"{score}\""), expected));
        }
        let softmax = self.softmax.kind;
        if softmax.minds_steps() && matches!(place.asker, Asker::Question | Asker::Pool) {
            let expected = "one without steps: pooling looks once, not step by step";
            return Err(Refused::new("softmax", "the softmax of this attention", format!("\"{softmax}\""), expected));
        }
        Ok(())
    }

    /// Several heads must be able to differ, and to share what they mix.
    fn check_heads(&self, place: Place) -> Result<(), Refused> {
        let refuse = |expected: &str| Err(Refused::new("heads", "the number of heads", self.heads, expected));
        let shared = match place.asker {
            Asker::Pool => 0,
            Asker::Rows => place.query,
            Asker::Decoder | Asker::Question => self.projected_values(place.memory).unwrap_or(place.memory),
        };
        let (score, softmax) = (self.score.kind, self.softmax.kind);
        match self.heads {
            0 => refuse("at least 1"),
            heads if !shared.is_multiple_of(heads) => refuse(&format!("a divisor of the {shared} features that they share")),
            1 => Ok(()),
            // Those of a pool have queries, those of rows have projections of their own.
            _ if !score.learns() && matches!(place.asker, Asker::Decoder | Asker::Question) => {
                refuse(&format!("1 with the score \"{score}\": without parameters all heads would look at the same place; or use general"))
            }
            _ if score.looks_back() => refuse(&format!("1 with the score \"{score}\", which minds where it looked")),
            _ if !softmax.has_heads() => refuse(&format!("1 with the softmax \"{softmax}\"")),
            _ => Ok(()),
        }
    }
}
