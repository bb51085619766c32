//! Nothing but attention: every position looks at all others, layer after layer. Vaswani and others, 2017.

use spotlight_kernels::Float;

use super::{Encoder, Manner, Read};
use crate::Result;
use crate::nn::Linear;
use crate::nn::transformer::{self, StackConfig};
use crate::params::Params;
use crate::tape::{Tape, Var};

/// A Transformer's encoder, and the way to its width.
#[derive(Clone, Debug)]
pub struct TransformerEncoder {
    /// From the vectors that come in to the features of the stack, if these are more or fewer.
    lift: Option<Linear>,
    stack: transformer::Encoder,
    width: usize,
}

impl TransformerEncoder {
    /// Makes the parameters of the stack under `name.`, and `name.lift.weight` if `input` is not `width`.
    pub fn new<T: Float>(params: &mut Params<T>, name: &str, config: &StackConfig, input: usize, width: usize) -> Result<Self> {
        let lift = (input != width).then(|| Linear::without_bias(params, &format!("{name}.lift"), input, width));
        Ok(TransformerEncoder { lift, stack: transformer::Encoder::new(params, name, config, width)?, width })
    }
}

impl Encoder for TransformerEncoder {
    fn width(&self) -> usize {
        self.width
    }

    fn longest(&self) -> Option<usize> {
        self.stack.longest()
    }

    fn read_as<T: Float>(&self, tape: &Tape<T>, x: Var, manner: Manner) -> Result<Read> {
        let x = match &self.lift {
            Some(lift) => lift.forward(tape, x)?,
            None => x,
        };
        let encoded = self.stack.forward(tape, x, manner.places, manner.look)?;
        Ok(Read { weights: encoded.weights, ..Read::of(encoded.rows) })
    }
}
