//! `[attention]` of a recipe: the same section for every task.

use serde::{Deserialize, Serialize};

use crate::attention::{Asker, AttentionConfig, Place, ScoreConfig, ScoreKind, SoftmaxConfig, SoftmaxKind};
use crate::config::ConfigError;

/// `[attention]` of a recipe, and any other section that says how somebody looks at a memory. A size of 0 is chosen by the sizes around it.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct AttentionSection {
    /// `additive`, `dot`, `general`, ... or `none` for no attention.
    #[serde(with = "or_none")]
    pub score: Option<ScoreKind>,
    /// Size of the hidden layer of a score that has one; 0 for the size of the query (of the memory, for a score without a query).
    pub alignment: usize,
    /// For the additive score: a bias inside, and a learned length of `v`.
    pub normalised: bool,
    /// For the location score: filters over the weights of the step before.
    pub filters: usize,
    /// For the location score: positions under a filter; odd.
    pub filter_width: usize,
    /// From scores to weights: `softmax`, `sparsemax`, `entmax`, `gumbel`, `local-m`, `local-p`, `monotonic`, ...
    pub softmax: SoftmaxKind,
    /// Scores are divided by it before the softmax: small ones sharpen.
    pub temperature: f64,
    /// Positions to each side of the centre of local attention.
    pub half_width: usize,
    /// For `local-p`: size of the hidden layer that predicts the centre; 0 for the size of the query.
    pub centre: usize,
    /// Scores side by side, each looking on its own.
    pub heads: usize,
    /// Size of a projection of the memory that the score reads; 0 for the memory itself.
    pub keys: usize,
    /// Size of a projection of the memory that is mixed; 0 for the memory itself (with several heads that share it, a projection as wide).
    pub values: usize,
}

impl From<AttentionConfig> for AttentionSection {
    fn from(config: AttentionConfig) -> Self {
        let AttentionConfig { score, softmax, keys, values, heads } = config;
        AttentionSection {
            score: Some(score.kind),
            alignment: score.alignment.unwrap_or(0),
            normalised: score.normalised,
            filters: score.filters,
            filter_width: score.filter_width,
            softmax: softmax.kind,
            temperature: softmax.temperature,
            half_width: softmax.half_width,
            centre: softmax.centre.unwrap_or(0),
            heads,
            keys: keys.unwrap_or(0),
            values: values.unwrap_or(0),
        }
    }
}

impl AttentionSection {
    /// One head with this score and the plain softmax.
    pub fn new(score: ScoreKind) -> Self {
        AttentionConfig::new(score).into()
    }

    /// No attention.
    pub fn none() -> Self {
        AttentionSection { score: None, ..Self::new(ScoreKind::Additive) }
    }

    /// What the mechanisms are made from; none if there is no attention.
    pub fn config(&self) -> Option<AttentionConfig> {
        let given = |size: usize| (size > 0).then_some(size);
        Some(AttentionConfig {
            score: ScoreConfig {
                kind: self.score?,
                alignment: given(self.alignment),
                normalised: self.normalised,
                filters: self.filters,
                filter_width: self.filter_width,
            },
            softmax: SoftmaxConfig {
                kind: self.softmax,
                temperature: self.temperature,
                half_width: self.half_width,
                centre: given(self.centre),
            },
            keys: given(self.keys),
            values: given(self.values),
            heads: self.heads,
        })
    }

    /// The first setting that cannot be used there, if any, as a key of the section `name`.
    pub fn check(&self, name: &str, place: Place) -> Result<(), ConfigError> {
        let refuse = |key: &str, problem: String| Err(ConfigError::Value { key: format!("{name}.{key}"), problem });
        let Some(config) = self.config() else { return Ok(()) };
        if let Some(score) = self.score.filter(|score| !score.asks() && place.asker != Asker::Pool) {
            let names = names(ScoreKind::ALL.iter().filter(|score| score.asks()));
            return refuse("score", format!("must be none or one of {names}, is {score}, which asks nothing"));
        }
        if self.softmax.needs_rewards() {
            let problem = "needs rewards of its own and is a matter of the library; use gumbel for hard attention here";
            return refuse("softmax", format!("{} {problem}", self.softmax));
        }
        config.check(place).map_err(|refused| refused.of_section(name))
    }
}

fn names<'a>(scores: impl Iterator<Item = &'a ScoreKind>) -> String {
    scores.map(|score| score.name()).collect::<Vec<_>>().join(", ")
}

/// A score by its name, or `none`.
mod or_none {
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use super::{ScoreKind, names};

    const NONE: &str = "none";

    pub fn serialize<S: Serializer>(score: &Option<ScoreKind>, to: S) -> Result<S::Ok, S::Error> {
        to.serialize_str(score.map_or(NONE, |score| score.name()))
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<Option<ScoreKind>, D::Error> {
        match String::deserialize(from)?.as_str() {
            NONE => Ok(None),
            name => match name.parse() {
                Ok(score) => Ok(Some(score)),
                Err(_) => Err(D::Error::custom(format!("must be none or one of {}, is {name}", names(ScoreKind::ALL.iter())))),
            },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLACE: Place = Place { asker: Asker::Decoder, query: 4, memory: 8, coverage: false };

    #[test]
    fn every_setting_reaches_the_boxes() {
        let text = "score = \"location\"\nalignment = 3\nnormalised = true\nfilters = 2\nfilter_width = 5\nsoftmax = \"local-p\"\n\
                    temperature = 0.5\nhalf_width = 4\ncentre = 6\nheads = 1\nkeys = 7\nvalues = 9\n";
        let section: AttentionSection = toml::from_str(text).unwrap();
        let config = section.config().unwrap();
        let score = ScoreConfig { kind: ScoreKind::Location, alignment: Some(3), normalised: true, filters: 2, filter_width: 5 };
        let softmax = SoftmaxConfig { kind: SoftmaxKind::LocalP, temperature: 0.5, half_width: 4, centre: Some(6) };
        assert_eq!(config, AttentionConfig { score, softmax, keys: Some(7), values: Some(9), heads: 1 });
        assert_eq!(AttentionSection::from(config), section);
        assert_eq!(toml::to_string(&section).unwrap(), text);
        section.check("attention", PLACE).unwrap();
    }

    #[test]
    fn sizes_of_nought_are_chosen_elsewhere() {
        assert_eq!(AttentionSection::new(ScoreKind::General).config(), Some(AttentionConfig::new(ScoreKind::General)));
        assert_eq!(AttentionSection::none().config(), None);
        assert!(toml::to_string(&AttentionSection::none()).unwrap().starts_with("score = \"none\"\n"));
    }

    #[test]
    fn what_cannot_be_used_is_named_by_its_key() {
        let error = |change: fn(&mut AttentionSection), place: Place| {
            let mut section = AttentionSection::new(ScoreKind::Additive);
            change(&mut section);
            section.check("asked", place).unwrap_err().to_string()
        };
        let once = Place { asker: Asker::Question, ..PLACE };
        assert_eq!(error(|s| s.heads = 0, PLACE), "`asked.heads`: must be at least 1, is 0");
        assert_eq!(error(|s| s.heads = 3, PLACE), "`asked.heads`: must be a divisor of the 8 features that they share, is 3");
        assert!(
            error(|s| (s.heads, s.score) = (2, Some(ScoreKind::Location)), PLACE).starts_with("`asked.heads`: must be 1 with the score")
        );
        assert!(
            error(|s| (s.heads, s.softmax) = (2, SoftmaxKind::Monotonic), PLACE).starts_with("`asked.heads`: must be 1 with the softmax")
        );
        assert!(error(|s| s.score = Some(ScoreKind::Dot), PLACE).starts_with("`asked.score`: must be a query as wide as the memory"));
        assert!(error(|s| s.score = Some(ScoreKind::Tanh), PLACE).ends_with("is tanh, which asks nothing"));
        assert!(error(|s| s.score = Some(ScoreKind::Location), once).starts_with("`asked.score`: must be one that does not need"));
        assert!(error(|s| s.softmax = SoftmaxKind::LocalM, once).contains("pooling looks once"));
        assert!(error(|s| s.softmax = SoftmaxKind::Reinforce, PLACE).starts_with("`asked.softmax`: reinforce needs rewards"));
        assert_eq!(error(|s| s.temperature = 0.0, PLACE), "`asked.temperature`: must be above 0, is 0");
        assert!(error(|s| (s.score, s.filters) = (Some(ScoreKind::Location), 0), PLACE).starts_with("`asked.filters`"));
        assert!(error(|s| (s.score, s.filter_width) = (Some(ScoreKind::Location), 4), PLACE).starts_with("`asked.filter_width`"));
        assert!(error(|s| (s.softmax, s.half_width) = (SoftmaxKind::LocalP, 0), PLACE).starts_with("`asked.half_width`"));
        let covered = Place { coverage: true, ..PLACE };
        assert!(error(|s| s.score = Some(ScoreKind::General), covered).contains("\"additive\" and \"location\" read coverage"));
    }

    #[test]
    fn a_score_that_does_not_exist_is_told_from_those_that_do() {
        let error = toml::from_str::<AttentionSection>("score = \"magic\"").unwrap_err().to_string();
        assert!(error.contains("must be none or one of linear, tanh, gated, dot"), "{error}");
    }
}
