//! Layers in which every row looks at its own sequence.

use spotlight_kernels::Float;

use super::attention::SelfAttention;
use super::parts::{FeedForward, Stream};
use super::{NOWHERE, NormPlace, Positions, StackConfig};
use crate::Result;
use crate::nn::LayerNorm;
use crate::params::Params;
use crate::tape::{Tape, Var};

/// Self-attention and a feed-forward layer: `torch.nn.TransformerEncoderLayer`.
#[derive(Clone, Copy, Debug)]
pub struct EncoderLayer {
    config: StackConfig,
    attention: SelfAttention,
    feed_forward: FeedForward,
    norms: [LayerNorm; 2],
}

impl EncoderLayer {
    /// Makes `self_attn`, `linear1`, `linear2`, `norm1` and `norm2` under `name.` for rows of `width` features.
    pub fn new<T: Float>(params: &mut Params<T>, name: &str, config: &StackConfig, width: usize) -> Result<Self> {
        config.check(width)?;
        Ok(EncoderLayer {
            config: *config,
            attention: SelfAttention::new(params, &format!("{name}.self_attn"), config, width),
            feed_forward: FeedForward::new(params, name, config, width),
            norms: [1, 2].map(|i| LayerNorm::new(params, &format!("{name}.norm{i}"), width)),
        })
    }

    /// The layer alone, for rows on an axis. Also the weights, if `look`.
    pub fn forward<T: Float>(&self, tape: &Tape<T>, x: Var, look: bool) -> Result<(Var, Option<Var>)> {
        let places = Positions::of_axis(&tape.need_axis("encoder layer", x)?);
        let (stream, weights) = self.pass(tape, Stream::begin(tape, x, self.config.norm, &self.norms[0])?, &places, look, None)?;
        Ok((stream.read, weights))
    }

    /// `next` is the norm of what comes after the layer.
    fn pass<T: Float>(
        &self,
        tape: &Tape<T>,
        stream: Stream,
        places: &[usize],
        look: bool,
        next: Option<&LayerNorm>,
    ) -> Result<(Stream, Option<Var>)> {
        let (context, weights) = self.attention.of_itself(tape, stream.read, places, false, look)?;
        let stream = stream.join(tape, context, &self.config, &self.norms[0], Some(&self.norms[1]))?;
        let made = self.feed_forward.forward(tape, stream.read)?;
        Ok((stream.join(tape, made, &self.config, &self.norms[1], next)?, weights))
    }
}

/// Encoder layers on top of each other.
#[derive(Clone, Debug)]
pub struct Encoder {
    config: StackConfig,
    positions: Positions,
    layers: Vec<EncoderLayer>,
    /// At the end of a pre-norm stack.
    norm: Option<LayerNorm>,
}

/// What an [`Encoder`] gives.
#[derive(Clone, Debug)]
pub struct Encoded {
    /// One row a position, on the axis of the rows that came in.
    pub rows: Var,
    /// If somebody looks: for each layer the weights of all pairs, on the axis of the pairs, a column for each head.
    pub weights: Vec<Var>,
}

impl Encoder {
    /// Makes `layers.0` and so on, `norm` (pre-norm only) and `positions` (learned ones only) under `name.`, for rows of `width` features.
    pub fn new<T: Float>(params: &mut Params<T>, name: &str, config: &StackConfig, width: usize) -> Result<Self> {
        config.check(width)?;
        let positions = Positions::new(params, &format!("{name}.positions"), config.positions, width, config.longest);
        let layers = (0..config.layers).map(|i| EncoderLayer::new(params, &format!("{name}.layers.{i}"), config, width));
        let layers = layers.collect::<Result<Vec<_>>>()?;
        let norm = (config.norm == NormPlace::Pre).then(|| LayerNorm::new(params, &format!("{name}.norm"), width));
        Ok(Encoder { config: *config, positions, layers, norm })
    }

    /// The longest sequence, if there is a limit.
    pub fn longest(&self) -> Option<usize> {
        self.positions.longest()
    }

    /// Every row of `x`, on its axis, through all layers. `places` are the positions of the rows; without them those in their sequences, from 0.
    pub fn forward<T: Float>(&self, tape: &Tape<T>, x: Var, places: Option<&[usize]>, look: bool) -> Result<Encoded> {
        let axis = tape.need_axis("encoder", x)?;
        let own = if places.is_none() { Positions::of_axis(&axis) } else { Default::default() };
        let places = places.unwrap_or(&own);
        let x = tape.dropout(self.positions.add(tape, x, places)?, self.config.dropout)?;
        // What stands nowhere is turned by nothing.
        let turned: Vec<usize> = places.iter().map(|&place| if place == NOWHERE { 0 } else { place }).collect();
        let mut weights = Vec::new();
        let mut stream = Stream::begin(tape, x, self.config.norm, &self.layers[0].norms[0])?;
        for (i, layer) in self.layers.iter().enumerate() {
            let next = self.layers.get(i + 1).map(|next| &next.norms[0]).or(self.norm.as_ref());
            let (after, looked) = layer.pass(tape, stream, &turned, look, next)?;
            weights.extend(looked);
            stream = after;
        }
        Ok(Encoded { rows: stream.read, weights })
    }
}
