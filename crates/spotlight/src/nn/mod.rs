//! Layers: parameters with a name, and how they are used on a tape.
//!
//! A layer holds the ids of its parameters, not their numbers, so it is cheap to copy and can run on any tape over the same
//! [`Params`]. Names and layouts are PyTorch's: `linear.weight` is `[out, in]`, and a recurrent stack has
//! `rnn.weight_ih_l0`, `rnn.weight_hh_l0_reverse` and so on.

mod recurrent;
pub mod transformer;

use spotlight_kernels::Float;

pub use recurrent::{Rnn, RnnConfig, RnnOutput};

use crate::Result;
use crate::params::{Init, ParamId, Params};
use crate::tape::{Tape, Var};

/// `x Wᵀ + b`
#[derive(Clone, Copy, Debug)]
pub struct Linear {
    /// `[out, in]`
    pub weight: ParamId,
    /// `[out]`
    pub bias: Option<ParamId>,
}

impl Linear {
    /// Weights by Glorot, bias zero, called `name.weight` and `name.bias`.
    pub fn new<T: Float>(params: &mut Params<T>, name: &str, input: usize, output: usize) -> Self {
        let bias = params.add(format!("{name}.bias"), &[output], Init::Zeros);
        Linear { bias: Some(bias), ..Self::without_bias(params, name, input, output) }
    }

    /// Weights by Glorot, called `name.weight`.
    pub fn without_bias<T: Float>(params: &mut Params<T>, name: &str, input: usize, output: usize) -> Self {
        Linear { weight: params.add(format!("{name}.weight"), &[output, input], Init::Glorot), bias: None }
    }

    /// Every row of `x` through the layer.
    pub fn forward<T: Float>(&self, tape: &Tape<T>, x: Var) -> Result<Var> {
        tape.linear(x, self.weight, self.bias)
    }
}

/// One vector for each unit of a vocabulary.
#[derive(Clone, Copy, Debug)]
pub struct Embedding {
    /// `[units, features]`
    pub weight: ParamId,
}

impl Embedding {
    /// Normal vectors of about unit length, called `name.weight`.
    pub fn new<T: Float>(params: &mut Params<T>, name: &str, units: usize, features: usize) -> Self {
        Embedding { weight: params.add(format!("{name}.weight"), &[units, features], Init::Embedding) }
    }

    /// The vectors of these units, one row each.
    pub fn forward<T: Float>(&self, tape: &Tape<T>, ids: &[u32]) -> Result<Var> {
        tape.embedding(self.weight, ids)
    }
}

/// Every row to mean 0 and variance 1, then scaled and shifted.
#[derive(Clone, Copy, Debug)]
pub struct LayerNorm {
    /// `[features]`
    pub weight: ParamId,
    /// `[features]`
    pub bias: ParamId,
}

impl LayerNorm {
    /// Scale 1 and shift 0, called `name.weight` and `name.bias`.
    pub fn new<T: Float>(params: &mut Params<T>, name: &str, features: usize) -> Self {
        LayerNorm {
            weight: params.add(format!("{name}.weight"), &[features], Init::Ones),
            bias: params.add(format!("{name}.bias"), &[features], Init::Zeros),
        }
    }

    /// Every row of `x` through the layer.
    pub fn forward<T: Float>(&self, tape: &Tape<T>, x: Var) -> Result<Var> {
        tape.layer_norm(x, self.weight, self.bias, 1e-5)
    }
}
