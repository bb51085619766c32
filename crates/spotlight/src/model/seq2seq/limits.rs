//! Sequences that are longer than the positions a model has learnt.

use std::path::Path;

use super::{Example, Transducer};
use crate::decoder::Decoder;
use crate::encoder::Encoder;
use crate::text::{Fault, TextError};
use crate::{Error, Result};

impl Transducer {
    /// An error for the first example that is longer than the learned positions allow.
    pub(super) fn check_lengths(&self, examples: &[Example]) -> Result<()> {
        let check = |side: &str, line: usize, found: usize, limit: Option<usize>| match limit.filter(|&limit| found > limit) {
            Some(limit) => Err(Error::Value {
                what: format!("the number of units of the {side} in line {line}"),
                got: found.to_string(),
                expected: format!("at most {limit}: raise transformer.longest, or use rotary or sinusoidal positions, which have no limit"),
            }),
            None => Ok(()),
        };
        let (source, target) = (self.net.encoder().longest(), self.net.decoder().longest());
        for example in examples {
            check("source", example.line, example.source.len(), source)?;
            // The end is one of its units, but stands at no position.
            check("target", example.line, example.target.len() - 1, target)?;
        }
        Ok(())
    }

    /// The same for a line that is to be answered.
    pub(super) fn check_source(&self, path: &Path, line: usize, source: &str, features: Option<&str>) -> Result<(), TextError> {
        let Some(limit) = self.net.encoder().longest() else { return Ok(()) };
        match self.vocabularies.source_units(source, features).len() {
            found if found > limit => Err(TextError::at(path, line, 1, Fault::TooManyUnits { name: "source", found, limit })),
            _ => Ok(()),
        }
    }
}
