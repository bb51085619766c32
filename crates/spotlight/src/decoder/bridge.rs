//! From the encoder's last states to the first state of a recurrent decoder.

use spotlight_kernels::Float;

use super::{Begun, Decoder, DecoderOutput, RecurrentDecoder, State, Stepped};
use crate::Result;
use crate::attention::Memory;
use crate::encoder::Read;
use crate::nn::Linear;
use crate::params::Params;
use crate::tape::{Tape, Var};

/// Where a recurrent decoder begins.
#[derive(Clone, Debug)]
pub enum Bridge {
    /// At zeros: all it learns of the source comes by attention.
    Absent,
    /// At the encoder's last states, layer by layer, as they are: both are of the same shape.
    Same,
    /// At `tanh(W h + b)` of the encoder's last state, one for each layer; an LSTM's cell states at `W h + b`.
    Linear {
        /// For the states, bottom layer first.
        states: Vec<Linear>,
        /// For the cell states of an LSTM.
        memories: Vec<Linear>,
    },
}

impl Bridge {
    /// Makes the parameters `bridge.state.*` (and `bridge.memory.*`) for an encoder's last state of `width` features.
    pub fn linear<T: Float>(params: &mut Params<T>, decoder: &RecurrentDecoder, width: usize) -> Self {
        let config = &decoder.config;
        let mut make =
            |name: &str| (0..config.layers).map(|l| Linear::new(params, &format!("bridge.{name}.{l}"), width, config.hidden)).collect();
        let states = make("state");
        let memories = if config.cell.has_memory() { make("memory") } else { Vec::new() };
        Bridge::Linear { states, memories }
    }

    /// States and cell states of each layer; none for zeros.
    fn cross<T: Float>(&self, tape: &Tape<T>, read: &Read) -> Result<(Vec<Var>, Vec<Var>)> {
        match self {
            Bridge::Absent => Ok((Vec::new(), Vec::new())),
            Bridge::Same => Ok((read.ends.iter().map(|l| l.last).collect(), read.ends.iter().filter_map(|l| l.memory).collect())),
            Bridge::Linear { states, memories } => {
                let last = read.last(tape)?;
                let states = states.iter().map(|l| Ok(tape.tanh(l.forward(tape, last)?))).collect::<Result<_>>()?;
                Ok((states, memories.iter().map(|l| l.forward(tape, last)).collect::<Result<_>>()?))
            }
        }
    }
}

/// A recurrent decoder and where it begins.
#[derive(Clone, Debug)]
pub struct BridgedDecoder {
    /// The way from the encoder.
    pub bridge: Bridge,
    /// The decoder.
    pub decoder: RecurrentDecoder,
}

impl Decoder for BridgedDecoder {
    fn readout_size(&self) -> usize {
        self.decoder.readout_size()
    }

    fn begin<T: Float>(&self, tape: &Tape<T>, read: &Read) -> Result<Begun> {
        let mut memory = self.decoder.prepare(tape, read.states)?;
        self.decoder.prepare_search(tape, &mut memory)?;
        let (states, memories) = self.bridge.cross(tape, read)?;
        let state = self.decoder.start(tape, &memory, memory.axis.items(), &states, &memories)?;
        Ok(Begun { memories: vec![memory], state })
    }

    fn teacher_forced<T: Float>(&self, tape: &Tape<T>, y: Var, begun: &Begun, _: bool) -> Result<DecoderOutput> {
        self.decoder.teacher_forced(tape, y, one(&begun.memories)?, &begun.state)
    }

    fn step<T: Float>(&self, tape: &Tape<T>, y: Var, before: &State, memories: &[Memory], items: &[usize], _: bool) -> Result<Stepped> {
        self.decoder.step(tape, y, before, one(memories)?, items)
    }
}

/// The one memory of a decoder with one layer that looks.
fn one(memories: &[Memory]) -> Result<&Memory> {
    memories.first().ok_or(crate::Error::Index { op: "decoder (memory)", index: 0, len: 0 })
}
