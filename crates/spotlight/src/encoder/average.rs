//! Every position on its own: `tanh(W x + b)`. The control of Jain and Wallace, 2019.

use spotlight_kernels::Float;

use super::{Encoder, Manner, Read};
use crate::Result;
use crate::nn::Linear;
use crate::params::Params;
use crate::tape::{Tape, Var};

/// One layer that sees one position at a time.
#[derive(Clone, Copy, Debug)]
pub struct Average {
    layer: Linear,
    hidden: usize,
}

impl Average {
    /// Makes the parameters `name.weight` and `name.bias`.
    pub fn new<T: Float>(params: &mut Params<T>, name: &str, input: usize, hidden: usize) -> Self {
        Average { layer: Linear::new(params, name, input, hidden), hidden }
    }
}

impl Encoder for Average {
    fn width(&self) -> usize {
        self.hidden
    }

    fn read_as<T: Float>(&self, tape: &Tape<T>, x: Var, _: Manner) -> Result<Read> {
        Ok(Read::of(tape.tanh(self.layer.forward(tape, x)?)))
    }
}
