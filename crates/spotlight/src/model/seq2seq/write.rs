//! The network of a transducer as a search drives it.

use super::copy::Places;
use super::net::{Net, Spoken};
use crate::Result;
use crate::attention::{Intervening, Memory};
use crate::axis::Axis;
use crate::decoder::{Decoder, DecoderState};
use crate::params::Params;
use crate::search::{Session, Stepped, Writer};
use crate::tape::{Mark, Pool, Tape};

/// A network and its numbers.
#[derive(Clone, Copy, Debug)]
pub struct NetWriter<'m> {
    /// The layers.
    pub net: &'m Net,
    /// Their numbers.
    pub params: &'m Params<f32>,
    /// Whether somebody wants to know where it looked; if not, a step says nothing of it.
    pub look: bool,
    /// Whether weights of linear layers are taken to one byte each; a recurrent part keeps its own.
    pub in_bytes: bool,
    /// Who changes the weights of every look, if anybody.
    pub intervening: Option<&'m Intervening>,
}

impl<'m> NetWriter<'m> {
    /// A network that looks where it likes.
    pub fn new(net: &'m Net, params: &'m Params<f32>) -> Self {
        NetWriter { net, params, look: true, in_bytes: false, intervening: None }
    }

    /// The same with somebody who changes the weights of every look, in a search as well as over given targets. Sources are numbered as [`Writer::begin`] gets them.
    ///
    /// ```
    /// use std::sync::Arc;
    ///
    /// use spotlight::attention::{Glance, Intervening};
    /// use spotlight::model::seq2seq::{Config, Transducer};
    /// use spotlight::search::{Request, SearchOptions, search};
    /// use spotlight::text::Pair;
    ///
    /// let pair = Pair { source: "abc".into(), target: "xyz".into(), features: None, line: 1 };
    /// let model = Transducer::new(Config::default(), &[pair])?;
    /// let first = |_: Glance, weights: &mut [f32]| {
    ///     weights.fill(0.0);
    ///     weights[0] = 1.0;
    /// };
    /// let first = Intervening(Arc::new(first));
    /// let source = model.vocabularies.source.ids("abc");
    /// let found = search(&model.writer().intervening(&first), &[Request::new(&source)], &SearchOptions::GREEDY)?;
    /// assert!(found[0][0].attention.iter().all(|row| row == &[1.0, 0.0, 0.0]));
    /// # Ok::<(), spotlight::Error>(())
    /// ```
    pub fn intervening(self, intervening: &'m Intervening) -> Self {
        NetWriter { intervening: Some(intervening), ..self }
    }
}

impl Writer for NetWriter<'_> {
    fn begin<'a>(&'a self, sources: &[&[u32]], width: usize, pool: &'a Pool<f32>) -> Result<Box<dyn Session + 'a>> {
        let tape = Tape::searching(self.params, pool, width, self.in_bytes);
        let axis = Axis::new(sources.iter().map(|s| s.len()).collect::<Vec<_>>());
        let begun = self.net.encode(&tape, &sources.concat(), &axis)?;
        let mut state = begun.state.tables(&tape);
        state.tables.extend(self.net.kept(&axis));
        let mark = tape.mark();
        let changed = |memory: Memory| match self.intervening {
            Some(intervening) => memory.intervened(intervening.0.clone()),
            None => memory,
        };
        let memories = begun.memories.into_iter().map(changed).collect();
        let (net, look, items) = (self.net, self.look, (0..sources.len()).collect());
        let places = net.places(&sources.concat(), &axis);
        Ok(Box::new(NetSession { net, look, tape, memories, mark, state, items, places }))
    }

    fn longest(&self) -> Option<usize> {
        self.net.decoder().longest()
    }
}

/// The sources stay on the tape; what a step computes is forgotten when the next one begins.
struct NetSession<'a> {
    net: &'a Net,
    look: bool,
    tape: Tape<'a, f32>,
    memories: Vec<Memory>,
    /// The end of what was computed from the sources alone.
    mark: Mark,
    state: DecoderState<f32>,
    /// The source of each row of the last table.
    items: Vec<usize>,
    /// What can be copied.
    places: Option<Places>,
}

impl Drop for NetSession<'_> {
    fn drop(&mut self) {
        self.tape.clear();
    }
}

impl Session for NetSession<'_> {
    fn step(&mut self, rows: &[usize], units: &[u32]) -> Result<Stepped> {
        let tape = &self.tape;
        tape.rewind(self.mark);
        self.items = rows.iter().map(|&row| self.items[row]).collect();
        let before = std::mem::take(&mut self.state).gathered(rows)?.on(tape)?;
        let Spoken { stepped, units, log_probs, copied } =
            self.net.step(tape, units, &before, &self.memories, &self.items, self.places.as_ref(), self.look)?;
        let (weights, heads) = stepped.weights.filter(|_| self.look).map_or((Vec::new(), 0), |w| (tape.to_vec(w), tape.shape(w).1));
        self.state = stepped.state.tables(tape);
        Ok(Stepped { units, log_probs, weights, heads, copied })
    }
}
