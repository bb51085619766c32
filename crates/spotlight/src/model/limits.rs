//! Texts that are longer than the positions a model has learnt.

use std::path::Path;

use crate::text::{Fault, TextError};
use crate::{Error, Result};

/// The most units that a model reads at once; without a number there is no limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Limit(pub Option<usize>);

impl Limit {
    /// An error for a text of an example, by its line, if it has more units.
    pub fn example(self, name: &str, line: usize, units: impl FnOnce() -> usize) -> Result<()> {
        self.check(units, |found, limit| Error::Value {
            what: format!("the number of units of the {name} in line {line}"),
            got: found.to_string(),
            expected: format!("at most {limit}: raise transformer.longest, or use rotary or sinusoidal positions, which have no limit"),
        })
    }

    /// The same for a text that is to be answered.
    pub fn line(self, path: &Path, line: usize, name: &'static str, units: impl FnOnce() -> usize) -> Result<(), TextError> {
        self.check(units, |found, limit| TextError::at(path, line, 1, Fault::TooManyUnits { name, found, limit }))
    }

    fn check<E>(self, units: impl FnOnce() -> usize, error: impl FnOnce(usize, usize) -> E) -> Result<(), E> {
        let Some(limit) = self.0 else { return Ok(()) };
        match units() {
            found if found > limit => Err(error(found, limit)),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_too_long_is_told_by_its_line() {
        let error = Limit(Some(3)).example("text", 7, || 4).unwrap_err().to_string();
        assert!(error.starts_with("the number of units of the text in line 7 is 4") && error.contains("at most 3"), "{error}");
        let error = Limit(Some(3)).line(Path::new("a.tsv"), 7, "text", || 4).unwrap_err().to_string();
        assert!(error.starts_with("a.tsv:7:1: the text has 4 units, more than the 3 positions"), "{error}");
        Limit(Some(3)).example("text", 7, || 3).unwrap();
        // Nobody counts what has no limit.
        Limit(None).line(Path::new("a.tsv"), 7, "text", || unreachable!()).unwrap();
    }
}
