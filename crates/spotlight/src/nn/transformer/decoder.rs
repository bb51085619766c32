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

/// How somebody else makes what a layer gets of the memory: from the layer's number, its weights (a row for each pair, a column for each head) and the values, the context
/// of every row and the weights that it was made by.
pub type Relook<'a> = dyn Fn(usize, Var, Var) -> Result<(Var, Var)> + 'a;

/// Who watches a pass through the layers. A `bool` says whether somebody looks.
#[derive(Clone, Copy, Default)]
pub struct Watched<'a> {
    /// Whether somebody wants the weights.
    pub look: bool,
    /// Who makes the contexts of the memory instead of the layers, if anybody.
    pub relook: Option<&'a Relook<'a>>,
}

impl From<bool> for Watched<'_> {
    fn from(look: bool) -> Self {
        Watched { look, relook: None }
    }
}

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
    /// A log of a search, which gets one more row each; the places there of all positions of each row, this one included.
    Log { number: usize, places: &'a [usize], place: usize, items: &'a [usize] },
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
        let passed = self.pass(tape, stream, Before::Sequence(&places), (0, prepared), &axis, look.into(), None)?;
        Ok((passed.stream.read, [passed.itself, passed.memory]))
    }

    #[allow(clippy::too_many_arguments, reason = "a step is told where it stands, what came before, and what it may look at")]
    fn pass<T: Float>(
        &self,
        tape: &Tape<T>,
        stream: Stream,
        before: Before,
        (layer, prepared): (usize, Var),
        axis: &Axis,
        watched: Watched,
        next: Option<&LayerNorm>,
    ) -> Result<Passed> {
        let (norms, look) = (&self.norms, watched.look);
        let (context, itself, cache, items) = match before {
            Before::Sequence(places) => {
                let (context, weights) = self.itself.of_itself(tape, stream.read, places, true, look)?;
                (context, weights, None, None)
            }
            Before::Cache { table, place, items } => {
                let ((context, weights), cache) = self.itself.of_cache(tape, stream.read, table, place, look)?;
                (context, weights, Some(cache), Some(items))
            }
            Before::Log { number, places, place, items } => {
                (self.itself.of_log(tape, stream.read, number, places, place)?, None, None, Some(items))
            }
        };
        let stream = stream.join(tape, context, &self.config, &norms[0], Some(&norms[1]))?;
        let (context, memory) = self.memory.of_memory(tape, stream.read, prepared, axis, items, watched, layer)?;
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

    /// Layers, and heads of each.
    pub fn heads(&self) -> (usize, usize) {
        (self.layers.len(), self.config.heads)
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
    pub fn forward<'w, T: Float>(
        &self,
        tape: &Tape<T>,
        x: Var,
        memory: &PreparedMemory,
        watched: impl Into<Watched<'w>>,
    ) -> Result<Decoded> {
        let places = Positions::of_axis(&tape.need_axis("decoder", x)?);
        let x = tape.dropout(self.positions.add(tape, x, &places)?, self.config.dropout)?;
        let run = self.run(tape, x, memory, watched.into(), |_| Before::Sequence(&places))?;
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
    pub fn step<'w, T: Float>(
        &self,
        tape: &Tape<T>,
        x: Var,
        step: usize,
        caches: &[Var],
        memory: &PreparedMemory,
        items: &[usize],
        watched: impl Into<Watched<'w>>,
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
        self.run(tape, x, memory, watched.into(), |layer| Before::Cache { table: caches[layer], place: step, items })
    }

    /// [`Decoder::step`] on the tape of a search, where nothing is copied from step to step: keys and values of all positions stand in logs of the tape that only grow, one a
    /// layer. `paths` has a row for each hypothesis, the places of its positions there; it comes back in place of the caches, one longer.
    #[allow(clippy::too_many_arguments, reason = "a step is told where it stands, what came before, and what it may look at")]
    pub(crate) fn step_logged<T: Float>(
        &self,
        tape: &Tape<T>,
        x: Var,
        step: usize,
        paths: Var,
        memory: &PreparedMemory,
        items: &[usize],
        watched: Watched,
    ) -> Result<Stepped> {
        let (rows, width) = tape.shape(x);
        if items.len() != rows {
            let expected = format!("{} rows, one an item", items.len());
            return Err(Error::Shape { op: "decoder (step)", expected, got: (rows, width) });
        }
        tape.expect_shape("decoder (paths)", paths, (rows, step))?;
        let first = tape.log_rows(0, 2 * width);
        // Places are numbers of the tape; far beyond any memory they would not be whole any more.
        if first + rows > 1 << 24 {
            let expected = format!("at most {}", 1 << 24);
            return Err(Error::Value { what: "the number of positions of a search".into(), got: (first + rows).to_string(), expected });
        }
        let new: Vec<T> = (first..first + rows).map(|place| T::from_f64(place as f64)).collect();
        let paths = tape.concat(&[paths, tape.table(rows, 1, new)?])?;
        let places: Vec<usize> = tape.value(paths).iter().map(|place| place.to_f64() as usize).collect();
        let x = self.positions.add(tape, tape.off_axis(x), &vec![step; rows])?;
        let stepped = self.run(tape, x, memory, watched, |number| Before::Log { number, places: &places, place: step, items })?;
        Ok(Stepped { caches: vec![paths], ..stepped })
    }

    fn run<'a, T: Float>(
        &self,
        tape: &Tape<T>,
        x: Var,
        memory: &PreparedMemory,
        watched: Watched,
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
            let passed = layer.pass(tape, stream, before(i), (i, prepared), &memory.axis, watched, next)?;
            stream = passed.stream;
            stepped.caches.extend(passed.cache);
            stepped.itself.extend(passed.itself);
            stepped.memory.extend(passed.memory);
        }
        stepped.rows = stream.read;
        Ok(stepped)
    }
}
