//! A recurrent decoder that looks back at its memory.
//!
//! At every step it reads the unit before, asks the memory a question, and moves its state. The two orders differ in when it asks: [`Order::Bahdanau`] with the
//! state before the step, so that the context enters the cell; [`Order::Luong`] with the state after it, so that the context goes to what is said. See
//! `bahdanau.rs` and `luong.rs`, one step each.
//!
//! [`RecurrentDecoder::teacher_forced`] runs over known targets: as one fused node where the configuration is Bahdanau's own, all steps at once where no step needs the
//! attention of another (Luong's order without input feeding), else by [`RecurrentDecoder::step`], the one step that a search takes, with one row per hypothesis.
//! All give the same numbers.
//!
//! ```
//! use spotlight::attention::{AttentionConfig, ScoreKind};
//! use spotlight::decoder::{DecoderConfig, Order, RecurrentDecoder};
//! use spotlight::{Cell, axis::Axis, params::Params, tape::Tape};
//!
//! let mut params = Params::<f32>::new(1);
//! let config = DecoderConfig {
//!     order: Order::Luong,
//!     attention: Some(AttentionConfig::new(ScoreKind::General)),
//!     ..DecoderConfig::new(Cell::Gru, 2, 4, 3)
//! };
//! let decoder = RecurrentDecoder::new(&mut params, "decoder", config)?;
//! let tape = Tape::new(&params);
//! let (source, target) = (Axis::new([5, 2]), Axis::new([3, 4]));
//! let memory = decoder.prepare(&tape, tape.on_axis(tape.zeros(7, 3), &source)?)?;
//!
//! // Learning: all targets at once.
//! let start = decoder.start(&tape, &memory, 2, &[], &[])?;
//! let out = decoder.teacher_forced(&tape, tape.on_axis(tape.zeros(7, 2), &target)?, &memory, &start)?;
//! assert_eq!(tape.shape(out.readout), (7, decoder.readout_size()));
//!
//! // Searching: two hypotheses about item 0 and one about item 1; then only the second goes on, twice.
//! let start = decoder.start(&tape, &memory, 3, &[], &[])?;
//! let stepped = decoder.step(&tape, tape.zeros(3, 2), &start, &memory, &[0, 0, 1])?;
//! let state = stepped.state.tables(&tape).gather(&[1, 1])?;
//! let stepped = decoder.step(&tape, tape.zeros(2, 2), &state.on(&tape)?, &memory, &[0, 0])?;
//! assert_eq!(tape.shape(stepped.readout).0, 2);
//! # Ok::<(), spotlight::Error>(())
//! ```

use serde::{Deserialize, Serialize};
use spotlight_kernels::Float;
use spotlight_kernels::cell::Cell;

use super::{AdditiveDecoder, DecoderOutput, State, Stepped, bahdanau, luong};
use crate::attention::rows::{to_pairs, to_rows};
use crate::attention::{Attention, AttentionConfig, Memory, Normaliser, Question, SoftmaxKind};
use crate::axis::Pairs;
use crate::nn::{Linear, Rnn, RnnConfig, RnnOutput};
use crate::params::Params;
use crate::tape::{Tape, Var};
use crate::{Error, Result};

/// Attend, then step; or step, then attend.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Order {
    /// Attend with the state before, then step with the context.
    #[default]
    Bahdanau,
    /// Step, then attend with the new state and combine both.
    Luong,
}

/// What is done with the sum of all weights so far.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Coverage {
    /// It is not kept.
    #[default]
    Off,
    /// [`DecoderOutput::coverage_penalty`] is computed from it.
    Penalty,
    /// The score reads it, too.
    Features,
}

/// Shape of a [`RecurrentDecoder`].
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct DecoderConfig {
    /// Which cell.
    pub cell: Cell,
    /// Features of the unit before, as it comes in.
    pub input: usize,
    /// Hidden size.
    pub hidden: usize,
    /// Features of the memory.
    pub memory: usize,
    /// Cells on top of each other; the top one asks.
    pub layers: usize,
    /// Dropout between the layers and on what is read out, while learning.
    pub dropout: f64,
    /// When to attend.
    pub order: Order,
    /// How to attend. None: the decoder sees nothing of the source but its initial state.
    pub attention: Option<AttentionConfig>,
    /// Whether the combined state of a step enters the next one, so that the decoder knows where it looked. For Luong's order.
    pub input_feeding: bool,
    /// What is done with the sum of all weights so far.
    pub coverage: Coverage,
    /// Whether somebody learns from the weights themselves, not only from the contexts. The fused decoder's have no gradient, so nothing is fused then.
    pub learnt_weights: bool,
}

impl DecoderConfig {
    /// One layer in Bahdanau's order with additive attention.
    pub fn new(cell: Cell, input: usize, hidden: usize, memory: usize) -> Self {
        DecoderConfig {
            cell,
            input,
            hidden,
            memory,
            layers: 1,
            dropout: 0.0,
            order: Order::Bahdanau,
            attention: Some(AttentionConfig::default()),
            input_feeding: false,
            coverage: Coverage::Off,
            learnt_weights: false,
        }
    }

    fn check(&self) -> Result<()> {
        let refuse =
            |what: &str, got: &str, expected: &str| Err(Error::Value { what: what.into(), got: got.into(), expected: expected.into() });
        if self.hidden == 0 || self.input == 0 || self.layers == 0 {
            return refuse("a size of the decoder (input, hidden, layers)", "0", "at least 1");
        }
        if !(0.0..1.0).contains(&self.dropout) {
            return refuse("the dropout probability", &self.dropout.to_string(), "from 0 to below 1");
        }
        if self.input_feeding && (self.order == Order::Bahdanau || self.attention.is_none()) {
            return refuse(
                "input feeding",
                "on",
                "off, but in Luong's order with attention: in Bahdanau's the context enters the cell anyway",
            );
        }
        if self.coverage != Coverage::Off && self.attention.is_none_or(|attention| attention.heads > 1) {
            return refuse("coverage", "on", "off, but with attention of one head");
        }
        Ok(())
    }

    /// Features of a context.
    pub fn context(&self) -> usize {
        self.attention.map_or(0, |attention| attention.projected_values(self.memory).unwrap_or(self.memory))
    }
}

/// A recurrent decoder with attention.
#[derive(Clone, Debug)]
pub struct RecurrentDecoder {
    /// Its shape.
    pub config: DecoderConfig,
    /// The cells.
    pub rnn: Rnn,
    /// The three boxes.
    pub attention: Option<Attention>,
    /// Luong's `Wc`.
    pub combine: Option<Linear>,
}

/// What a look at the memory gives, and what it leaves for the next.
pub(super) struct Look {
    pub(super) context: Var,
    pub(super) weights: Var,
    pub(super) pairs: Pairs,
    previous: Option<Var>,
    coverage: Option<Var>,
    penalty: Option<Var>,
    log_probs: Option<Var>,
}

impl RecurrentDecoder {
    /// Makes the parameters: `name.cell.weight_ih_l0` and so on, `name.attention.…`, and in Luong's order `name.combine.weight`.
    pub fn new<T: Float>(params: &mut Params<T>, name: &str, config: DecoderConfig) -> Result<Self> {
        config.check()?;
        let (h, context) = (config.hidden, config.context());
        let fed = match config.order {
            Order::Bahdanau => context,
            Order::Luong if config.input_feeding => h,
            Order::Luong => 0,
        };
        let shape = RnnConfig { layers: config.layers, dropout: config.dropout, ..RnnConfig::new(config.cell, config.input + fed, h) };
        let rnn = Rnn::new(params, &format!("{name}.cell"), shape);
        let attention = match &config.attention {
            Some(attention) => {
                let reads_coverage = config.coverage == Coverage::Features;
                let name = format!("{name}.attention");
                Some(Attention::with_coverage(params, &name, attention, h, config.memory, reads_coverage)?)
            }
            None => None,
        };
        let combine = (config.order == Order::Luong && attention.is_some())
            .then(|| Linear::without_bias(params, &format!("{name}.combine"), context + h, h));
        Ok(RecurrentDecoder { config, rnn, attention, combine })
    }

    /// Features of [`DecoderOutput::readout`].
    pub fn readout_size(&self) -> usize {
        match self.config.order {
            Order::Bahdanau => self.config.hidden + self.config.context(),
            Order::Luong => self.config.hidden,
        }
    }

    /// Computes what depends on the memory alone; once for all steps.
    pub fn prepare<T: Float>(&self, tape: &Tape<T>, memory: Var) -> Result<Memory> {
        match &self.attention {
            Some(attention) => attention.prepare(tape, memory),
            None => Memory::unread(tape, memory),
        }
    }

    /// Prepares a memory further for a search: in Bahdanau's order a context goes through the input weights of the cell, and so can the memory, once.
    pub(super) fn prepare_search<T: Float>(&self, tape: &Tape<T>, memory: &mut Memory) -> Result<()> {
        let one_head = self.attention.as_ref().is_some_and(|attention| attention.scores.len() == 1);
        if tape.search_width().is_some_and(|width| width > 1) && self.config.order == Order::Bahdanau && one_head {
            let weight = self.rnn.layers[0][0].weight_ih;
            memory.projected = Some(tape.linear_columns(memory.values, weight, self.config.input, None)?);
        }
        Ok(())
    }

    /// The state before the first step, for `rows` sequences: `states` (and `memories`, for an LSTM) of each layer, bottom first; zeros for those not given.
    pub fn start<T: Float>(&self, tape: &Tape<T>, memory: &Memory, rows: usize, states: &[Var], memories: &[Var]) -> Result<State> {
        let h = self.config.hidden;
        let given = |given: &[Var]| {
            (0..self.config.layers)
                .map(|layer| match given.get(layer) {
                    Some(&state) => tape.expect_shape("decoder (initial state)", state, (rows, h)).map(|()| state),
                    None => Ok(tape.zeros(rows, h)),
                })
                .collect::<Result<Vec<_>>>()
        };
        let over_memory = || tape.zeros(rows, memory.axis.steps());
        let previous = match &self.attention {
            // A monotonic walk begins at position 0.
            Some(attention) if attention.normaliser.looks_back() => {
                let width = memory.axis.steps();
                let mut weights = T::zeros(rows * width);
                weights.iter_mut().step_by(width.max(1)).for_each(|w| *w = T::ONE);
                Some(tape.table(rows, width, weights)?)
            }
            Some(attention) if attention.looks_back() => Some(over_memory()),
            _ => None,
        };
        let parts = Parts {
            step: 0,
            layers: given(states)?,
            memories: if self.config.cell.has_memory() { given(memories)? } else { Vec::new() },
            fed: self.config.input_feeding.then(|| tape.zeros(rows, h)),
            previous,
            coverage: (self.config.coverage != Coverage::Off).then(over_memory),
        };
        Ok(parts.joined())
    }

    /// One step of every hypothesis: `y` is the unit before, `items` the sequence of the memory that each belongs to. Several may belong to one.
    ///
    /// On a tape that does not learn, monotonic attention walks: see [`Normaliser::for_search`].
    pub fn step<T: Float>(&self, tape: &Tape<T>, y: Var, before: &State, memory: &Memory, items: &[usize]) -> Result<Stepped> {
        let normaliser = self.attention.as_ref().map(|a| if tape.is_training() { a.normaliser } else { a.normaliser.for_search() });
        self.step_with(tape, y, before, memory, items, normaliser)
    }

    fn step_with<T: Float>(
        &self,
        tape: &Tape<T>,
        y: Var,
        before: &State,
        memory: &Memory,
        items: &[usize],
        normaliser: Option<Normaliser>,
    ) -> Result<Stepped> {
        let before = &self.parts(before)?;
        let attention =
            self.attention.clone().map(|attention| Attention { normaliser: normaliser.unwrap_or(attention.normaliser), ..attention });
        let look = |query: Var| attention.as_ref().map(|attention| self.look(tape, attention, query, before, memory, items)).transpose();
        let moved = match self.config.order {
            Order::Bahdanau => bahdanau::step(self, tape, y, before, memory, look)?,
            Order::Luong => luong::step(self, tape, y, before, look)?,
        };
        let look = moved.look;
        let state = Parts {
            step: before.step + 1,
            layers: moved.run.layers.iter().map(|layer| layer.last).collect(),
            memories: moved.run.layers.iter().filter_map(|layer| layer.memory).collect(),
            fed: before.fed.and(Some(moved.readout)),
            previous: look.as_ref().and_then(|look| look.previous),
            coverage: look.as_ref().and_then(|look| look.coverage),
        };
        Ok(Stepped {
            state: state.joined(),
            readout: tape.dropout(moved.readout, self.config.dropout)?,
            context: look.as_ref().map(|look| look.context),
            weights: look.as_ref().map(|look| look.weights),
            coverage_penalty: look.as_ref().and_then(|look| look.penalty),
            log_probs: look.as_ref().and_then(|look| look.log_probs),
        })
    }

    /// Looks at the memory, minding where it looked before.
    fn look<T: Float>(
        &self,
        tape: &Tape<T>,
        attention: &Attention,
        query: Var,
        before: &Parts,
        memory: &Memory,
        items: &[usize],
    ) -> Result<Look> {
        let mut question = Question::of_items(Some(query), items, &memory.axis, before.step)?;
        question.previous = before.previous.map(|rows| to_pairs(tape, rows, &question.pairs)).transpose()?;
        let covered = before.coverage.map(|rows| to_pairs(tape, rows, &question.pairs)).transpose()?;
        question.coverage = covered;
        let attended = attention.attend(tape, memory, &question)?;
        let (mut previous, mut coverage, mut penalty) = (None, None, None);
        if before.previous.is_some() {
            previous = Some(to_rows(tape, attended.weights, &question.pairs)?);
        }
        if let Some(covered) = covered {
            coverage = Some(to_rows(tape, tape.add(covered, attended.weights)?, &question.pairs)?);
            // min(a, c) = a - max(a - c, 0)
            let excess = tape.relu(tape.sub(attended.weights, covered)?);
            penalty = Some(tape.sum(tape.sub(attended.weights, excess)?)?);
        }
        let (weights, pairs) = (attended.weights, question.pairs);
        Ok(Look { context: attended.context, weights, pairs, previous, coverage, penalty, log_probs: attended.log_probs })
    }

    /// Runs over known targets: `y` holds the unit before each target position, on the axis of the targets.
    pub fn teacher_forced<T: Float>(&self, tape: &Tape<T>, y: Var, memory: &Memory, start: &State) -> Result<DecoderOutput> {
        if let Some(fused) = self.fused(memory) {
            return bahdanau::all_at_once(self, &fused, tape, y, memory, start);
        }
        let independent = start.step == 0
            && !self.config.input_feeding
            && self.config.coverage == Coverage::Off
            && self.attention.as_ref().is_none_or(|a| !a.looks_back());
        if independent && (self.config.order == Order::Luong || self.attention.is_none()) {
            return luong::all_at_once(self, tape, y, memory, start);
        }
        self.step_by_step(tape, y, memory, start)
    }

    /// What is what in a state.
    pub(super) fn parts(&self, state: &State) -> Result<Parts> {
        let has = |part: bool| usize::from(part);
        let layers = self.config.layers;
        let memories = if self.config.cell.has_memory() { layers } else { 0 };
        let looks_back = self.attention.as_ref().is_some_and(Attention::looks_back);
        let (fed, covered) = (self.config.input_feeding, self.config.coverage != Coverage::Off);
        let expected = layers + memories + has(fed) + has(looks_back) + has(covered);
        if state.tables.len() != expected {
            let (what, got) = ("the number of tables in a decoder's state".into(), state.tables.len().to_string());
            return Err(Error::Value { what, got, expected: expected.to_string() });
        }
        let mut rest = state.tables.iter().copied();
        let mut next = |count: usize| rest.by_ref().take(count).collect::<Vec<Var>>();
        Ok(Parts {
            step: state.step,
            layers: next(layers),
            memories: next(memories),
            fed: next(has(fed)).pop(),
            previous: next(has(looks_back)).pop(),
            coverage: next(has(covered)).pop(),
        })
    }

    /// The fused decoder, where it computes what this one does.
    fn fused(&self, memory: &Memory) -> Option<AdditiveDecoder> {
        let (config, attention) = (&self.config, self.attention.as_ref()?);
        let plain = config.order == Order::Bahdanau
            && config.layers == 1
            && config.coverage == Coverage::Off
            && !config.learnt_weights
            && attention.normaliser.config().is_fused()
            && memory.is_plain();
        let [score] = &attention.scores[..] else { return None };
        let (query, v) = score.fused().filter(|_| plain)?;
        Some(AdditiveDecoder { query, v, cell: self.rnn.layers[0][0] })
    }

    /// Like [`RecurrentDecoder::teacher_forced`], always with one [`RecurrentDecoder::step`] after the other: slower, and the same numbers.
    pub fn step_by_step<T: Float>(&self, tape: &Tape<T>, y: Var, memory: &Memory, start: &State) -> Result<DecoderOutput> {
        let target = tape.need_axis("decoder", y)?;
        let carried = start.tables.len();
        let mut initial = start.tables.clone();
        let normaliser = self.attention.as_ref().map(|attention| attention.normaliser);
        let heads = self.attention.as_ref().map_or(0, |attention| attention.scores.len());
        let width = memory.axis.steps() * heads;
        let (looks, covers) = (self.attention.is_some(), self.config.coverage != Coverage::Off);
        let draws = tape.is_training() && normaliser.is_some_and(|n| n.config().kind == SoftmaxKind::Reinforce);
        // Beside what is carried from step to step, what is to be seen of every step goes through the scan as a state that nobody reads.
        let context = self.config.context();
        let seen = [(true, self.readout_size()), (looks, context), (looks, width), (covers, 1), (draws, heads)];
        initial.extend(seen.iter().filter(|(wanted, _)| *wanted).map(|(_, cols)| tape.zeros(1, *cols)));
        let run = tape.scan(&target, &[y], &initial, |step, y, before| {
            let before = State { step: start.step + step.index, tables: before[..carried].to_vec() };
            let stepped = self.step_with(tape, y[0], &before, memory, step.items, normaliser)?;
            let mut after = stepped.state.tables;
            after.push(stepped.readout);
            after.extend(stepped.context);
            if let Some(weights) = stepped.weights {
                let pairs = Pairs::for_items(step.items, &memory.axis);
                after.push(each(tape, heads, |head| to_rows(tape, tape.slice(weights, head, 1)?, &pairs))?);
            }
            after.extend(stepped.coverage_penalty);
            after.extend(stepped.log_probs);
            Ok(after)
        })?;
        let mut seen_of = run.states[carried..].iter().copied();
        let mut next = |wanted: bool| if wanted { seen_of.next() } else { None };
        let readout = next(true).unwrap_or(y);
        let (contexts, rows, penalties, log_probs) = (next(looks), next(looks), next(covers), next(draws));
        let pairs = looks.then(|| Pairs::new(&target, &memory.axis)).transpose()?;
        let weights = match (rows, &pairs) {
            (Some(rows), Some(pairs)) => {
                let steps = memory.axis.steps();
                Some(each(tape, heads, |head| to_pairs(tape, tape.slice(rows, head * steps, steps)?, pairs))?)
            }
            _ => None,
        };
        let coverage_penalty = penalties.map(|penalties| tape.sum_all(penalties)).transpose()?;
        let states = run.states[self.config.layers - 1];
        Ok(DecoderOutput { states, readout, contexts, weights, own: Vec::new(), pairs, coverage_penalty, log_probs })
    }
}

/// The tables of a [`State`], by name.
pub(super) struct Parts {
    /// Steps taken.
    step: usize,
    /// The state of each layer, bottom first.
    pub(super) layers: Vec<Var>,
    /// The cell state of each layer of an LSTM.
    pub(super) memories: Vec<Var>,
    /// With input feeding: the combined state of the step before.
    pub(super) fed: Option<Var>,
    /// For attention that minds where it looked: the weights of the step before, a row as wide as the longest memory.
    previous: Option<Var>,
    /// With coverage: the sum of all weights so far, likewise.
    coverage: Option<Var>,
}

impl Parts {
    fn joined(self) -> State {
        let tables = self.layers.into_iter().chain(self.memories).chain(self.fed).chain(self.previous).chain(self.coverage).collect();
        State { step: self.step, tables }
    }
}

/// A step taken: the cells' run, what is read out of it, and the look at the memory.
pub(super) struct Moved {
    pub(super) run: RnnOutput,
    pub(super) readout: Var,
    pub(super) look: Option<Look>,
}

/// What every head gives, side by side.
fn each<T: Float>(tape: &Tape<T>, heads: usize, of_head: impl Fn(usize) -> Result<Var>) -> Result<Var> {
    beside(tape, &(0..heads).map(|head| of_head(head).map(Some)).collect::<Result<Vec<_>>>()?)
}

/// Tables side by side; one alone as it is.
pub(super) fn beside<T: Float>(tape: &Tape<T>, parts: &[Option<Var>]) -> Result<Var> {
    let parts: Vec<Var> = parts.iter().flatten().copied().collect();
    if let [one] = parts[..] { Ok(one) } else { tape.concat(&parts) }
}

/// The top layer of some states.
pub(super) fn top(states: &[Var], op: &'static str) -> Result<Var> {
    states.last().copied().ok_or(Error::Index { op, index: 0, len: 0 })
}
