//! Attention with several heads, as the layers use it. Vaswani and others, 2017, section 3.2.2.
//!
//! Query, key and value of a row are one projection, `in_proj_weight` of `3D x D`, and stay side by side in one table; `out_proj` joins the heads. Names and layouts are
//! those of `torch.nn.MultiheadAttention`.

use spotlight_kernels::Float;
use spotlight_kernels::attend::Meeting;

use super::{PositionKind, StackConfig, Watched};
use crate::Result;
use crate::axis::Axis;
use crate::nn::Linear;
use crate::params::{Init, ParamId, Params};
use crate::tape::{Attending, Part, Tape, Var, meetings, meetings_of_items};

const OP: &str = "attention";

/// Attention of rows to their own sequence, or to a memory, with several heads.
#[derive(Clone, Copy, Debug)]
pub struct SelfAttention {
    in_weight: ParamId,
    in_bias: ParamId,
    out: Linear,
    width: usize,
    heads: usize,
    dropout: f64,
    rotary: bool,
}

/// A context for each query row and, if somebody looks, the weights of all pairs, a column for each head.
pub(super) type Looked = (Var, Option<Var>);

impl SelfAttention {
    /// Makes `name.in_proj_weight`, `name.in_proj_bias`, `name.out_proj.weight` and `name.out_proj.bias` for rows of `width` features.
    pub fn new<T: Float>(params: &mut Params<T>, name: &str, config: &StackConfig, width: usize) -> Self {
        SelfAttention {
            in_weight: params.add(format!("{name}.in_proj_weight"), &[3 * width, width], Init::Glorot),
            in_bias: params.add(format!("{name}.in_proj_bias"), &[3 * width], Init::Zeros),
            out: Linear::new(params, &format!("{name}.out_proj"), width, width),
            width,
            heads: config.heads,
            dropout: config.attention_dropout,
            rotary: config.positions == PositionKind::Rotary,
        }
    }

    /// Every row looks at its own sequence; if `causal`, at itself and the rows before it.
    pub(super) fn of_itself<T: Float>(&self, tape: &Tape<T>, x: Var, places: &[usize], causal: bool, look: bool) -> Result<Looked> {
        let axis = tape.need_axis(OP, x)?;
        let all = self.turned(tape, tape.linear(x, self.in_weight, Some(self.in_bias))?, places)?;
        let part = |i| Part { of: all, stride: 3 * self.width, first: i * self.width };
        let meetings = meetings(&axis, &axis)?;
        self.finish(tape, [part(0), part(1), part(2)], meetings, Some(axis), causal, look)
    }

    /// Keys and values of a memory, side by side: all that [`Self::of_memory`] needs of it.
    pub(super) fn prepare<T: Float>(&self, tape: &Tape<T>, memory: Var) -> Result<Var> {
        tape.linear_rows(memory, self.in_weight, self.in_bias, self.width, 2 * self.width)
    }

    /// Every row looks at the same sequence of a prepared memory or, if `items` are given, at the sequence of its item. `layer` is the number of this one.
    #[allow(clippy::too_many_arguments, reason = "a look is told who looks, at what, and who watches")]
    pub(super) fn of_memory<T: Float>(
        &self,
        tape: &Tape<T>,
        x: Var,
        prepared: Var,
        memory: &Axis,
        items: Option<&[usize]>,
        watched: Watched,
        layer: usize,
    ) -> Result<Looked> {
        let query = tape.linear_rows(x, self.in_weight, self.in_bias, 0, self.width)?;
        let (meetings, axis) = match items {
            Some(items) => (meetings_of_items(items, memory)?, None),
            None => {
                let axis = tape.need_axis(OP, x)?;
                (meetings(&axis, memory)?, Some(axis))
            }
        };
        let part = |i| Part { of: prepared, stride: 2 * self.width, first: i * self.width };
        let queries = Part { of: query, stride: self.width, first: 0 };
        let Some(relook) = watched.relook else {
            return self.finish(tape, [queries, part(0), part(1)], meetings, axis, false, watched.look);
        };
        let (context, weights) = self.attend(tape, [queries, part(0), part(1)], meetings, axis.clone(), false, true)?;
        let Some(weights) = weights else { return Ok((self.out.forward(tape, context)?, None)) };
        let (context, weights) = relook(layer, weights, tape.slice(prepared, self.width, self.width)?)?;
        let context = axis.map_or(Ok(context), |axis| tape.on_axis(context, &axis))?;
        Ok((self.out.forward(tape, context)?, watched.look.then_some(weights)))
    }

    /// One more position for each row: `cache` has for each row the keys and values of the positions before, side by side, position after position. Returns it with
    /// this position's, too.
    pub(super) fn of_cache<T: Float>(&self, tape: &Tape<T>, x: Var, cache: Var, place: usize, look: bool) -> Result<(Looked, Var)> {
        let ((rows, _), both) = (tape.shape(x), 2 * self.width);
        let all = self.turned(tape, tape.linear(x, self.in_weight, Some(self.in_bias))?, &vec![place; rows])?;
        let cache = tape.concat(&[cache, tape.slice(all, self.width, both)?])?;
        let length = tape.shape(cache).1 / both;
        let meetings = (0..rows).map(|row| Meeting { query: row, queries: 1, key: row * length, keys: length }).collect();
        let queries = Part { of: all, stride: 3 * self.width, first: 0 };
        let part = |i| Part { of: cache, stride: both, first: i * self.width };
        Ok((self.finish(tape, [queries, part(0), part(1)], meetings, None, false, look)?, cache))
    }

    /// The same with a log of the search's tape in place of a cache: keys and values of this position are added to its end, and `places` are those of all positions of
    /// each row, this one included.
    pub(super) fn of_log<T: Float>(&self, tape: &Tape<T>, x: Var, log: usize, places: &[usize], place: usize) -> Result<Var> {
        let (rows, size) = (tape.shape(x).0, self.width / self.heads);
        let all = self.turned(tape, tape.linear(x, self.in_weight, Some(self.in_bias))?, &vec![place; rows])?;
        let part = |first| Part { of: all, stride: 3 * self.width, first };
        tape.append(log, part(self.width), 2 * self.width);
        let context = tape.attend_log(log, part(0), self.heads, size, places, place + 1)?;
        self.out.forward(tape, context)
    }

    /// An empty cache for some rows.
    pub(super) fn empty_cache<T: Float>(&self, tape: &Tape<T>, rows: usize) -> Var {
        tape.zeros(rows, 0)
    }

    /// Queries and keys turned by their positions, if these are rotary.
    fn turned<T: Float>(&self, tape: &Tape<T>, all: Var, places: &[usize]) -> Result<Var> {
        if self.rotary { tape.rotate(all, 2 * self.heads, self.width / self.heads, places) } else { Ok(all) }
    }

    /// The context before the heads are joined.
    fn attend<T: Float>(
        &self,
        tape: &Tape<T>,
        [queries, keys, values]: [Part; 3],
        meetings: Vec<Meeting>,
        axis: Option<Axis>,
        causal: bool,
        look: bool,
    ) -> Result<Looked> {
        let (heads, size, dropout) = (self.heads, self.width / self.heads, self.dropout);
        tape.attend(Attending { queries, keys, values, heads, size, causal, dropout, look, meetings, axis })
    }

    fn finish<T: Float>(
        &self,
        tape: &Tape<T>,
        parts: [Part; 3],
        meetings: Vec<Meeting>,
        axis: Option<Axis>,
        causal: bool,
        look: bool,
    ) -> Result<Looked> {
        let (context, weights) = self.attend(tape, parts, meetings, axis, causal, look)?;
        Ok((self.out.forward(tape, context)?, weights))
    }
}
