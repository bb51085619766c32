//! `[transformer]` of a recipe: the same section for every task that has one.

use serde::{Deserialize, Serialize};

use super::need;
use crate::config::ConfigError;
use crate::nn::transformer::{Activation, NormPlace, PositionKind, StackConfig};

/// `[transformer]` of a recipe: what the layers of a Transformer are like. How many they are, how wide, and their dropout stand in `[model]`, as for other networks.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
pub struct TransformerSection {
    /// Heads of each attention; they share the features evenly.
    pub heads: usize,
    /// Size of the middle of the feed-forward layers.
    pub feed_forward: usize,
    /// `pre` or `post`: whether a layer norm stands before a part or after its residual connection.
    pub norm: NormPlace,
    /// `relu` or `gelu`.
    pub activation: Activation,
    /// Dropout of attention weights.
    pub attention_dropout: f64,
    /// Dropout of the middle of the feed-forward layers.
    pub activation_dropout: f64,
    /// `sinusoidal`, `learned` or `rotary`.
    pub positions: PositionKind,
    /// Most positions of a sequence, for learned ones.
    pub longest: usize,
}

impl Default for TransformerSection {
    fn default() -> Self {
        let stack = StackConfig::default();
        TransformerSection {
            heads: stack.heads,
            feed_forward: stack.feed_forward,
            norm: stack.norm,
            activation: stack.activation,
            attention_dropout: stack.attention_dropout,
            activation_dropout: stack.activation_dropout,
            positions: stack.positions,
            longest: stack.longest,
        }
    }
}

impl TransformerSection {
    /// So many layers with this dropout.
    pub fn stack(&self, layers: usize, dropout: f64) -> StackConfig {
        StackConfig {
            layers,
            heads: self.heads,
            feed_forward: self.feed_forward,
            norm: self.norm,
            activation: self.activation,
            dropout,
            attention_dropout: self.attention_dropout,
            activation_dropout: self.activation_dropout,
            positions: self.positions,
            longest: self.longest,
        }
    }

    /// The first setting that cannot be used for layers of `width` features, the value of `model.hidden`, if any.
    pub fn check(&self, width: usize) -> Result<(), ConfigError> {
        let heads = self.heads;
        let shared = heads >= 1 && width.is_multiple_of(heads);
        need(shared, "transformer.heads", format!("must be a divisor of model.hidden = {width}, is {heads}"))?;
        need(self.feed_forward >= 1, "transformer.feed_forward", "must be at least 1, is 0")?;
        for (key, value) in [("attention_dropout", self.attention_dropout), ("activation_dropout", self.activation_dropout)] {
            need((0.0..1.0).contains(&value), &format!("transformer.{key}"), format!("must be from 0 to below 1, is {value}"))?;
        }
        let size = width / heads;
        let turns = self.positions == PositionKind::Rotary;
        let problem = format!("rotary turns pairs of features, but a head has {size}: change transformer.heads or model.hidden");
        need(!turns || size.is_multiple_of(2), "transformer.positions", problem)?;
        let learned = self.positions == PositionKind::Learned;
        need(!learned || self.longest >= 1, "transformer.longest", "must be at least 1 for learned positions, is 0")
    }

    /// An error if it says anything, for a model that has no such layers.
    pub fn check_unused(&self, needs: &str) -> Result<(), ConfigError> {
        need(*self == Self::default(), "transformer", format!("goes with {needs}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_setting_reaches_the_layers() {
        let text = "heads = 2\nfeed_forward = 7\nnorm = \"post\"\nactivation = \"gelu\"\nattention_dropout = 0.25\n\
                    activation_dropout = 0.5\npositions = \"learned\"\nlongest = 9\n";
        let section: TransformerSection = toml::from_str(text).unwrap();
        assert_eq!(toml::to_string(&section).unwrap(), text);
        let stack = StackConfig {
            layers: 3,
            heads: 2,
            feed_forward: 7,
            norm: NormPlace::Post,
            activation: Activation::Gelu,
            dropout: 0.125,
            attention_dropout: 0.25,
            activation_dropout: 0.5,
            positions: PositionKind::Learned,
            longest: 9,
        };
        assert_eq!(section.stack(3, 0.125), stack);
        section.check(8).unwrap();
    }

    #[test]
    fn what_cannot_be_used_is_named_by_its_key() {
        let error = |change: fn(&mut TransformerSection), width: usize| {
            let mut section = TransformerSection::default();
            change(&mut section);
            section.check(width).unwrap_err().to_string()
        };
        assert_eq!(error(|s| s.heads = 3, 8), "`transformer.heads`: must be a divisor of model.hidden = 8, is 3");
        assert_eq!(error(|s| s.heads = 0, 8), "`transformer.heads`: must be a divisor of model.hidden = 8, is 0");
        assert_eq!(error(|s| s.feed_forward = 0, 8), "`transformer.feed_forward`: must be at least 1, is 0");
        assert_eq!(error(|s| s.attention_dropout = 1.0, 8), "`transformer.attention_dropout`: must be from 0 to below 1, is 1");
        assert!(error(|s| s.positions = PositionKind::Rotary, 4).starts_with("`transformer.positions`: rotary turns pairs of features"));
        assert!(error(|s| (s.positions, s.longest) = (PositionKind::Learned, 0), 8).starts_with("`transformer.longest`"));
        let said = TransformerSection { heads: 8, ..TransformerSection::default() };
        assert_eq!(said.check_unused("something else").unwrap_err().to_string(), "`transformer`: goes with something else");
        TransformerSection::default().check_unused("").unwrap();
    }
}
