//! What a stack of layers is like, as a user configures it.

use serde::{Deserialize, Serialize};

use super::PositionKind;
use crate::{Error, Result};

/// Where the layer norm of a part stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum NormPlace {
    /// Before the part, inside the residual connection. Xiong and others, 2020.
    Pre,
    /// After the residual connection. Vaswani and others, 2017.
    Post,
}

/// The bend of the feed-forward layers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Activation {
    /// `max(x, 0)`
    Relu,
    /// `x Φ(x)`. Hendrycks and Gimpel, 2016.
    Gelu,
}

impl From<Activation> for spotlight_kernels::activation::Activation {
    fn from(kind: Activation) -> Self {
        match kind {
            Activation::Relu => Self::Relu,
            Activation::Gelu => Self::Gelu,
        }
    }
}

/// A stack of layers.
#[derive(Clone, Copy, Debug, PartialEq, Serialize, Deserialize)]
#[serde(default, deny_unknown_fields)]
pub struct StackConfig {
    /// Layers.
    pub layers: usize,
    /// Heads of each attention; they share the features evenly.
    pub heads: usize,
    /// Size of the middle of the feed-forward layers.
    pub feed_forward: usize,
    /// Where the layer norms stand.
    pub norm: NormPlace,
    /// The bend of the feed-forward layers.
    pub activation: Activation,
    /// Dropout of what a part adds to its residual connection, and of the rows that go in.
    pub dropout: f64,
    /// Dropout of attention weights.
    pub attention_dropout: f64,
    /// Dropout of the middle of the feed-forward layers.
    pub activation_dropout: f64,
    /// How a row knows its position.
    pub positions: PositionKind,
    /// Most positions, for learned ones.
    pub longest: usize,
}

impl Default for StackConfig {
    fn default() -> Self {
        StackConfig {
            layers: 4,
            heads: 4,
            feed_forward: 1024,
            norm: NormPlace::Pre,
            activation: Activation::Relu,
            dropout: 0.0,
            attention_dropout: 0.0,
            activation_dropout: 0.0,
            positions: PositionKind::Sinusoidal,
            longest: 512,
        }
    }
}

impl StackConfig {
    /// Whether layers of `width` features can be made of it.
    pub fn check(&self, width: usize) -> Result<()> {
        let refuse = |what: &str, got: String, expected: &str| Err(Error::Value { what: what.into(), got, expected: expected.into() });
        if self.layers == 0 {
            return refuse("the number of layers", "0".into(), "at least 1");
        }
        if width == 0 || self.heads == 0 || !width.is_multiple_of(self.heads) {
            return refuse("the number of heads", self.heads.to_string(), &format!("a divisor of the {width} features"));
        }
        if self.feed_forward == 0 {
            return refuse("the size of the feed-forward layers", "0".into(), "at least 1");
        }
        let head = width / self.heads;
        if self.positions == PositionKind::Rotary && !head.is_multiple_of(2) {
            return refuse("the size of a head", head.to_string(), "even for rotary positions, which turn pairs of features");
        }
        if self.positions == PositionKind::Learned && self.longest == 0 {
            return refuse("the number of learned positions", "0".into(), "at least 1");
        }
        for (what, p) in
            [("dropout", self.dropout), ("attention_dropout", self.attention_dropout), ("activation_dropout", self.activation_dropout)]
        {
            if !(0.0..1.0).contains(&p) {
                return refuse(what, p.to_string(), "from 0 to below 1");
            }
        }
        Ok(())
    }
}
