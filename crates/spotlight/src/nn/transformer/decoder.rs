//! Layers in which every row looks at the rows before it and at a memory.

use spotlight_kernels::Float;

use super::attention::SelfAttention;
use super::parts::{FeedForward, Stream};
use super::{NormPlace, Positions, StackConfig};
use crate::axis::Axis;
use crate::nn::LayerNorm;
use crate::params::Params;
use crate::tape::{Tape, Var};
use crate::{Error, Result};

/// Causal self-attention, attention to a memory, and a feed-forward layer: `torch.nn.TransformerDecoderLayer`.
#[derive(Clone, Copy, Debug)]
pub struct DecoderLayer {
    config: StackConfig,
    itself: SelfAttention,
    memory: SelfAttention,
    feed_forward: FeedForward,
    norms: [LayerNorm; 3],
}

/// What the rows of a layer look at besides the memory.
enum Before<'a> {
    /// The rows before them in their sequence; positions of all.
    Sequence(&'a [usize]),
    /// A cache, which gets one more position; this is it.
    Cache { table: Var, place: usize, items: &'a [usize] },
}

/// What a layer gives: the stream, the cache with one more position, and the weights of itself and of the memory.
struct Passed {
    stream: Stream,
    cache: Option<Var>,
    itself: Option<Var>,
    memory: Option<Var>,
}

impl DecoderLayer {
    /// Makes `self_attn`, `multihead_attn`, `linear1`, `linear2`, `norm1`, `norm2` and `norm3` under `name.` for rows of `width` features.
    pub fn new<T: Float>(params: &mut Params<T>, name: &str, config: &StackConfig, width: usize) -> Result<Self> {
        config.check(width)?;
        Ok(DecoderLayer {
            config: *config,
            itself: SelfAttention::new(params, &format!("{name}.self_attn"), config, width),
            memory: SelfAttention::new(params, &format!("{name}.multihead_attn"), config, width),
            feed_forward: FeedForward::new(params, name, config, width),
            norms: [1, 2, 3].map(|i| LayerNorm::new(params, &format!("{name}.norm{i}"), width)),
        })
    }

    /// The layer alone, for rows and a memory each on an axis. Also the weights of itself and of the memory, if `look`.
    pub fn forward<T: Float>(&self, tape: &Tape<T>, x: Var, memory: Var, look: bool) -> Result<(Var, [Option<Var>; 2])> {
        let places = Positions::of_axis(&tape.need_axis("decoder layer", x)?);
        let axis = tape.need_axis("decoder layer (memory)", memory)?;
        let prepared = self.memory.prepare(tape, memory)?;
        let stream = Stream::begin(tape, x, self.config.norm, &self.norms[0])?;
        let passed = self.pass(tape, stream, Before::Sequence(&places), prepared, &axis, look, None)?;
        Ok((passed.stream.read, [passed.itself, passed.memory]))
    }

    #[allow(clippy::too_many_arguments, reason = "a step is told where it stands, what came before, and what it may look at")]
    fn pass<T: Float>(
        &self,
        tape: &Tape<T>,
        stream: Stream,
        before: Before,
        prepared: Var,
        axis: &Axis,
        look: bool,
        next: Option<&LayerNorm>,
    ) -> Result<Passed> {
        let norms = &self.norms;
        let (context, itself, cache, items) = match before {
            Before::Sequence(places) => {
                let (context, weights) = self.itself.of_itself(tape, stream.read, places, true, look)?;
                (context, weights, None, None)
            }
            Before::Cache { table, place, items } => {
                let ((context, weights), cache) = self.itself.of_cache(tape, stream.read, table, place, look)?;
                (context, weights, Some(cache), Some(items))
            }
        };
        let stream = stream.join(tape, context, &self.config, &norms[0], Some(&norms[1]))?;
        let (context, memory) = self.memory.of_memory(tape, stream.read, prepared, axis, items, look)?;
        let stream = stream.join(tape, context, &self.config, &norms[1], Some(&norms[2]))?;
        let made = self.feed_forward.forward(tape, stream.read)?;
        Ok(Passed { stream: stream.join(tape, made, &self.config, &norms[2], next)?, cache, itself, memory })
    }
}

/// Decoder layers on top of each other.
#[derive(Clone, Debug)]
pub struct Decoder {
    config: StackConfig,
    positions: Positions,
    layers: Vec<DecoderLayer>,
    /// At the end of a pre-norm stack.
    norm: Option<LayerNorm>,
}

/// A memory made ready: for each layer its keys and values side by side.
#[derive(Clone, Debug)]
pub struct PreparedMemory {
    /// One table a layer, a row for each row of the memory.
    pub layers: Vec<Var>,
    /// The memory's sequences.
    pub axis: Axis,
}

/// What a [`Decoder`] gives under teacher forcing.
#[derive(Clone, Debug)]
pub struct Decoded {
    /// One row a position, on the axis of the rows that came in.
    pub rows: Var,
    /// If somebody looks: for each layer the weights of all pairs of its own positions, a column for each head; 0 ahead of a row.
    pub itself: Vec<Var>,
    /// The same over the memory.
    pub memory: Vec<Var>,
}

/// What one step of a [`Decoder`] gives.
#[derive(Clone, Debug)]
pub struct Stepped {
    /// One row a hypothesis.
    pub rows: Var,
    /// The caches, one table a layer, with this position, too.
    pub caches: Vec<Var>,
    /// If somebody looks: for each layer the weights of each hypothesis over its own positions.
    pub itself: Vec<Var>,
    /// The same over the memory.
    pub memory: Vec<Var>,
}

impl Decoder {
    /// Makes `layers.0` and so on, `norm` (pre-norm only) and `positions` (learned ones only) under `name.`, for rows and a memory of `width` features.
    pub fn new<T: Float>(params: &mut Params<T>, name: &str, config: &StackConfig, width: usize) -> Result<Self> {
        config.check(width)?;
        let positions = Positions::new(params, &format!("{name}.positions"), config.positions, width, config.longest);
        let layers = (0..config.layers).map(|i| DecoderLayer::new(params, &format!("{name}.layers.{i}"), config, width));
        let layers = layers.collect::<Result<Vec<_>>>()?;
        let norm = (config.norm == NormPlace::Pre).then(|| LayerNorm::new(params, &format!("{name}.norm"), width));
        Ok(Decoder { config: *config, positions, layers, norm })
    }

    /// The longest sequence, if there is a limit.
    pub fn longest(&self) -> Option<usize> {
        self.positions.longest()
    }

    /// Keys and values of a memory on its axis, for all layers.
    pub fn prepare<T: Float>(&self, tape: &Tape<T>, memory: Var) -> Result<PreparedMemory> {
        let axis = tape.need_axis("decoder (memory)", memory)?;
        let layers = self.layers.iter().map(|layer| layer.memory.prepare(tape, memory)).collect::<Result<_>>()?;
        Ok(PreparedMemory { layers, axis })
    }

    /// Teacher forcing: every row of `x` sees itself, the rows before it and the same sequence of the memory.
    pub fn forward<T: Float>(&self, tape: &Tape<T>, x: Var, memory: &PreparedMemory, look: bool) -> Result<Decoded> {
        let places = Positions::of_axis(&tape.need_axis("decoder", x)?);
        let x = tape.dropout(self.positions.add(tape, x, &places)?, self.config.dropout)?;
        let run = self.run(tape, x, memory, look, |_| Before::Sequence(&places))?;
        Ok(Decoded { rows: run.rows, itself: run.itself, memory: run.memory })
    }

    /// The caches before the first step of `rows` hypotheses.
    pub fn start<T: Float>(&self, tape: &Tape<T>, rows: usize) -> Vec<Var> {
        self.layers.iter().map(|layer| layer.itself.empty_cache(tape, rows)).collect()
    }

    /// The position `step` (from 0) of some hypotheses, a row of `x` each; `items[row]` is the sequence of the memory it looks at.
    ///
    /// A cache has a row for each hypothesis, so that hypotheses can be chosen and multiplied by gathering rows.
    #[allow(clippy::too_many_arguments, reason = "a step is told where it stands, what came before, and what it may look at")]
    pub fn step<T: Float>(
        &self,
        tape: &Tape<T>,
        x: Var,
        step: usize,
        caches: &[Var],
        memory: &PreparedMemory,
        items: &[usize],
        look: bool,
    ) -> Result<Stepped> {
        let (rows, width) = tape.shape(x);
        if items.len() != rows || caches.len() != self.layers.len() {
            let expected = format!("{} rows, one an item, and a cache for each of {} layers", items.len(), self.layers.len());
            return Err(Error::Shape { op: "decoder (step)", expected, got: (rows, caches.len()) });
        }
        for &cache in caches {
            tape.expect_shape("decoder (cache)", cache, (rows, 2 * width * step))?;
        }
        let x = self.positions.add(tape, tape.off_axis(x), &vec![step; rows])?;
        self.run(tape, x, memory, look, |layer| Before::Cache { table: caches[layer], place: step, items })
    }

    fn run<'a, T: Float>(
        &self,
        tape: &Tape<T>,
        x: Var,
        memory: &PreparedMemory,
        look: bool,
        before: impl Fn(usize) -> Before<'a>,
    ) -> Result<Stepped> {
        if memory.layers.len() != self.layers.len() {
            return Err(Error::Value {
                what: "the number of layers of a prepared memory".into(),
                got: memory.layers.len().to_string(),
                expected: format!("{}, as many as the decoder has", self.layers.len()),
            });
        }
        let mut stepped = Stepped { rows: x, caches: Vec::new(), itself: Vec::new(), memory: Vec::new() };
        let mut stream = Stream::begin(tape, x, self.config.norm, &self.layers[0].norms[0])?;
        for (i, (layer, &prepared)) in self.layers.iter().zip(&memory.layers).enumerate() {
            let next = self.layers.get(i + 1).map(|next| &next.norms[0]).or(self.norm.as_ref());
            let passed = layer.pass(tape, stream, before(i), prepared, &memory.axis, look, next)?;
            stream = passed.stream;
            stepped.caches.extend(passed.cache);
            stepped.itself.extend(passed.itself);
            stepped.memory.extend(passed.memory);
        }
        stepped.rows = stream.read;
        Ok(stepped)
    }
}
