//! What the layers are put together from: the feed-forward layer, and the stream of rows with its norms.

use spotlight_kernels::Float;

use super::{NormPlace, StackConfig};
use crate::Result;
use crate::nn::{LayerNorm, Linear};
use crate::params::Params;
use crate::tape::{FeedForwardWeights, Tape, Var};

/// Two linear layers with a bend between them, one node of the tape.
#[derive(Clone, Copy, Debug)]
pub(super) struct FeedForward {
    weights: FeedForwardWeights,
    config: StackConfig,
}

impl FeedForward {
    /// Makes `name.linear1` and `name.linear2`.
    pub(super) fn new<T: Float>(params: &mut Params<T>, name: &str, config: &StackConfig, width: usize) -> Self {
        let mut linear = |part: &str, input, output| {
            let layer = Linear::without_bias(params, &format!("{name}.{part}"), input, output);
            (layer.weight, params.add(format!("{name}.{part}.bias"), &[output], crate::params::Init::Zeros))
        };
        let ((weight1, bias1), (weight2, bias2)) =
            (linear("linear1", width, config.feed_forward), linear("linear2", config.feed_forward, width));
        FeedForward { weights: FeedForwardWeights { weight1, bias1, weight2, bias2 }, config: *config }
    }

    pub(super) fn forward<T: Float>(&self, tape: &Tape<T>, x: Var) -> Result<Var> {
        tape.feed_forward(x, self.weights, self.config.activation.into(), self.config.activation_dropout)
    }
}

/// Rows on their way through the parts of a stack.
#[derive(Clone, Copy, Debug)]
pub(super) struct Stream {
    /// What residual connections add to.
    carried: Var,
    /// What the next part reads.
    pub(super) read: Var,
}

impl Stream {
    /// Rows that come in; `first` is the norm of the first part.
    pub(super) fn begin<T: Float>(tape: &Tape<T>, x: Var, place: NormPlace, first: &LayerNorm) -> Result<Self> {
        let read = if place == NormPlace::Pre { first.forward(tape, x)? } else { x };
        Ok(Stream { carried: x, read })
    }

    /// Adds what a part made of it. `own` is the norm of the part, `next` that of what comes after it, if anything does.
    pub(super) fn join<T: Float>(
        self,
        tape: &Tape<T>,
        made: Var,
        config: &StackConfig,
        own: &LayerNorm,
        next: Option<&LayerNorm>,
    ) -> Result<Self> {
        let sum = tape.residual(self.carried, made, config.dropout)?;
        Ok(match config.norm {
            NormPlace::Post => {
                let carried = own.forward(tape, sum)?;
                Stream { carried, read: carried }
            }
            NormPlace::Pre => Stream { carried: sum, read: next.map_or(Ok(sum), |next| next.forward(tape, sum))? },
        })
    }
}
