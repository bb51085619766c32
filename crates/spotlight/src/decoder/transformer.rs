//! Nothing but attention: every position looks at those before it and at what has been read, layer after layer. Vaswani and others, 2017.
//!
//! Its state is a cache of the keys and values of the positions so far, one table a layer with a row for each hypothesis; in a search, where each step would copy all of it several times, the
//! places of these positions in logs that only grow.

use spotlight_kernels::Float;

use super::{Begun, Decoder, DecoderOutput, State, Stepped};
use crate::attention::{Memory, Question, mix};
use crate::axis::Pairs;
use crate::encoder::Read;
use crate::nn::Linear;
use crate::nn::transformer::{self, PreparedMemory, StackConfig, Watched};
use crate::params::Params;
use crate::tape::{Tape, Var};
use crate::{Error, Result};

/// A Transformer's decoder, and the ways to its width.
#[derive(Clone, Debug)]
pub struct TransformerDecoder {
    /// From the vectors of the units before to the features of the stack, if these are more or fewer.
    lift: Option<Linear>,
    /// The same for what has been read.
    memory: Option<Linear>,
    stack: transformer::Decoder,
    width: usize,
}

impl TransformerDecoder {
    /// Makes the parameters of the stack under `name.`; and `name.lift.weight`, if units come with another number of features, and `name.memory.weight`, if the
    /// encoder gives another.
    pub fn new<T: Float>(
        params: &mut Params<T>,
        name: &str,
        config: &StackConfig,
        input: usize,
        memory: usize,
        width: usize,
    ) -> Result<Self> {
        let mut lift =
            |part: &str, from: usize| (from != width).then(|| Linear::without_bias(params, &format!("{name}.{part}"), from, width));
        let (lift, memory) = (lift("lift", input), lift("memory", memory));
        Ok(TransformerDecoder { lift, memory, stack: transformer::Decoder::new(params, name, config, width)?, width })
    }

    /// Layers that look at what has been read, and heads of each.
    pub fn heads(&self) -> (usize, usize) {
        self.stack.heads()
    }

    fn stepped<T: Float>(
        &self,
        tape: &Tape<T>,
        y: Var,
        before: &State,
        memory: &PreparedMemory,
        items: &[usize],
        watched: Watched,
    ) -> Result<transformer::Stepped> {
        match before.tables[..] {
            [paths] if tape.search_width().is_some() => self.stack.step_logged(tape, y, before.step, paths, memory, items, watched),
            _ => self.stack.step(tape, y, before.step, &before.tables, memory, items, watched),
        }
    }

    fn lifted<T: Float>(&self, tape: &Tape<T>, y: Var) -> Result<Var> {
        self.lift.map_or(Ok(y), |lift| lift.forward(tape, y))
    }
}

/// The memories of all layers as the stack wants them.
fn prepared(memories: &[Memory]) -> Result<PreparedMemory> {
    let first = memories.first().ok_or(Error::Index { op: "decoder (memory)", index: 0, len: 0 })?;
    Ok(PreparedMemory { layers: memories.iter().map(|memory| memory.keys).collect(), axis: first.axis.clone() })
}

/// What a layer gets of its memory where somebody changes the weights of every look.
fn relooked<T: Float>(tape: &Tape<T>, memory: &Memory, question: &Question, layer: usize, weights: Var, values: Var) -> Result<(Var, Var)> {
    let weights = memory.intervening.as_ref().map_or(Ok(weights), |who| who.changed(tape, weights, question, layer))?;
    Ok((mix(tape, weights, values, &question.pairs)?, weights))
}

/// The weights of all layers side by side; none if nobody looked.
fn side_by_side<T: Float>(tape: &Tape<T>, layers: &[Var]) -> Result<Option<Var>> {
    match layers {
        [] => Ok(None),
        [one] => Ok(Some(*one)),
        several => tape.concat(several).map(Some),
    }
}

impl Decoder for TransformerDecoder {
    fn readout_size(&self) -> usize {
        self.width
    }

    /// The start takes a position, the end none.
    fn longest(&self) -> Option<usize> {
        self.stack.longest().map(|positions| positions - 1)
    }

    fn begin<T: Float>(&self, tape: &Tape<T>, read: &Read) -> Result<Begun> {
        let rows = self.memory.map_or(Ok(read.states), |lift| lift.forward(tape, read.states))?;
        let prepared = self.stack.prepare(tape, rows)?;
        // Keys and values stand side by side in one table; beside it what they were made from, for whoever asks what has been read.
        let memory = |&keys: &Var| {
            let mut memory = Memory::unread(tape, read.states)?;
            memory.keys = keys;
            Ok(memory)
        };
        let memories = prepared.layers.iter().map(memory).collect::<Result<_>>()?;
        let items = prepared.axis.items();
        let tables = if tape.search_width().is_some() { vec![tape.zeros(items, 0)] } else { self.stack.start(tape, items) };
        Ok(Begun { memories, state: State { step: 0, tables } })
    }

    fn teacher_forced<T: Float>(&self, tape: &Tape<T>, y: Var, begun: &Begun, look: bool) -> Result<DecoderOutput> {
        let memory = prepared(&begun.memories)?;
        let target = tape.need_axis("decoder", y)?;
        let y = self.lifted(tape, y)?;
        let run = if begun.memories.iter().any(|memory| memory.intervening.is_some()) {
            let question = Question::of_axes(None, &target, &memory.axis)?;
            let relook = |layer: usize, weights, values| relooked(tape, &begun.memories[layer], &question, layer, weights, values);
            self.stack.forward(tape, y, &memory, Watched { look, relook: Some(&relook) })?
        } else {
            self.stack.forward(tape, y, &memory, look)?
        };
        Ok(DecoderOutput {
            states: run.rows,
            readout: run.rows,
            contexts: None,
            weights: side_by_side(tape, &run.memory)?,
            own: run.itself,
            pairs: look.then(|| Pairs::new(&target, &memory.axis)).transpose()?,
            coverage_penalty: None,
            log_probs: None,
        })
    }

    fn step<T: Float>(&self, tape: &Tape<T>, y: Var, before: &State, memories: &[Memory], items: &[usize], look: bool) -> Result<Stepped> {
        let y = self.lifted(tape, y)?;
        let memory = prepared(memories)?;
        let run = if memories.iter().any(|memory| memory.intervening.is_some()) {
            let question = Question::of_items(None, items, &memory.axis, before.step)?;
            let relook = |layer: usize, weights, values| relooked(tape, &memories[layer], &question, layer, weights, values);
            self.stepped(tape, y, before, &memory, items, Watched { look, relook: Some(&relook) })?
        } else {
            self.stepped(tape, y, before, &memory, items, look.into())?
        };
        Ok(Stepped {
            state: State { step: before.step + 1, tables: run.caches },
            readout: run.rows,
            context: None,
            weights: side_by_side(tape, &run.memory)?,
            coverage_penalty: None,
            log_probs: None,
        })
    }
}
