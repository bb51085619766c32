//! Pairs that are longer than the positions a model has learnt.

use std::path::Path;

use super::{Example, Transducer};
use crate::Result;
use crate::decoder::Decoder;
use crate::encoder::Encoder;
use crate::model::limits::Limit;
use crate::text::{Pair, TextError};

impl Transducer {
    fn reads(&self) -> Limit {
        Limit(self.net.encoder().longest())
    }

    /// An error for the first example to learn from that is longer than the learned positions allow.
    pub(super) fn check_lengths(&self, examples: &[Example]) -> Result<()> {
        let writes = Limit(self.net.decoder().longest());
        for example in examples {
            self.reads().example("source", example.line, || example.source.len())?;
            // The end is one of its units, but stands at no position.
            writes.example("target", example.line, || example.target.len() - 1)?;
        }
        Ok(())
    }

    /// The same for pairs whose sources are to be answered.
    pub(super) fn check_sources(&self, pairs: &[Pair]) -> Result<()> {
        let units = |pair: &Pair| self.vocabularies.source_units(&pair.source, pair.features.as_deref()).len();
        pairs.iter().try_for_each(|pair| self.reads().example("source", pair.line, || units(pair)))
    }

    /// The same for a line that is to be answered.
    pub(super) fn check_source(&self, path: &Path, line: usize, source: &str, features: Option<&str>) -> Result<(), TextError> {
        self.reads().line(path, line, "source", || self.vocabularies.source_units(source, features).len())
    }
}
