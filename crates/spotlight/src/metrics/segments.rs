//! Hypotheses beside their references: the checked input of every transduction measure.

use std::collections::HashMap;

use super::error::same_length;
use super::{MetricError, Tallies, Unit, bleu};

/// What a model wrote, each line with the one or more references it may equal.
///
/// A `Segments` has at least one segment, and every segment at least one reference, so measures
/// over it are always defined.
#[derive(Clone, Debug)]
pub struct Segments<'a> {
    segments: Vec<Segment<'a>>,
}

/// One line: what was written and what would have been right.
#[derive(Clone, Debug)]
pub(super) struct Segment<'a> {
    pub hypothesis: &'a str,
    pub references: Vec<&'a str>,
}

impl<'a> Segments<'a> {
    /// One or more references per hypothesis; their number may differ from line to line.
    pub fn new<H, L, R>(hypotheses: &'a [H], references: &'a [L]) -> Result<Self, MetricError>
    where
        H: AsRef<str>,
        L: AsRef<[R]>,
        R: AsRef<str> + 'a,
    {
        same_length("hypotheses", hypotheses.len(), "lists of references", references.len())?;
        let lists = references.iter().map(|list| list.as_ref().iter().map(AsRef::as_ref).collect());
        Self::check(hypotheses.iter().map(AsRef::as_ref).zip(lists))
    }

    /// Exactly one reference per hypothesis.
    pub fn single<H: AsRef<str>, R: AsRef<str>>(hypotheses: &'a [H], references: &'a [R]) -> Result<Self, MetricError> {
        same_length("hypotheses", hypotheses.len(), "references", references.len())?;
        let lists = references.iter().map(|reference| vec![reference.as_ref()]);
        Self::check(hypotheses.iter().map(AsRef::as_ref).zip(lists))
    }

    /// Rows of one source become one segment with all their references, as in a pronunciation
    /// dictionary where a word stands once for each way to say it.
    ///
    /// Segments keep the order in which their sources first appear, and the hypothesis of that
    /// first row.
    ///
    /// ```
    /// use spotlight::metrics::{Segments, word_error_rate};
    ///
    /// let words = ["read", "tomato", "read"];
    /// let predicted = ["R EH D", "T OW M", "R EH D"];
    /// let phones = ["R IY D", "T AH M EY T OW", "R EH D"];
    /// let segments = Segments::by_source(&words, &predicted, &phones)?;
    /// assert_eq!(segments.len(), 2);
    /// assert_eq!(word_error_rate(&segments), 0.5);
    /// # Ok::<(), spotlight::metrics::MetricError>(())
    /// ```
    pub fn by_source<S, H, R>(sources: &'a [S], hypotheses: &'a [H], references: &'a [R]) -> Result<Self, MetricError>
    where
        S: AsRef<str>,
        H: AsRef<str>,
        R: AsRef<str>,
    {
        same_length("sources", sources.len(), "hypotheses", hypotheses.len())?;
        same_length("hypotheses", hypotheses.len(), "references", references.len())?;
        let mut position = HashMap::new();
        let mut rows: Vec<(&str, Vec<&str>)> = Vec::new();
        for ((source, hypothesis), reference) in sources.iter().zip(hypotheses).zip(references) {
            let row = *position.entry(source.as_ref()).or_insert(rows.len());
            if row == rows.len() {
                rows.push((hypothesis.as_ref(), Vec::new()));
            }
            rows[row].1.push(reference.as_ref());
        }
        Self::check(rows.into_iter())
    }

    fn check(rows: impl Iterator<Item = (&'a str, Vec<&'a str>)>) -> Result<Self, MetricError> {
        let segments: Vec<_> = rows.map(|(hypothesis, references)| Segment { hypothesis, references }).collect();
        if segments.is_empty() {
            return Err(MetricError::Empty("segment"));
        }
        match segments.iter().position(|segment| segment.references.is_empty()) {
            Some(bare) => Err(MetricError::NoReference { segment: bare + 1 }),
            None => Ok(Self { segments }),
        }
    }

    /// Number of segments; never zero.
    #[allow(clippy::len_without_is_empty)] // It cannot be empty.
    pub fn len(&self) -> usize {
        self.segments.len()
    }

    /// Accuracy, CER in percent and, for `words`, BLEU of the same, segment by segment.
    pub fn tallies(&self, words: bool) -> Vec<Tallies> {
        let mut tallies = vec![
            Tallies::ratio("accuracy", false, self.iter().map(|s| (f64::from(s.references.contains(&s.hypothesis)), 1.0))),
            Tallies::ratio(
                "CER",
                true,
                self.iter().map(|s| s.edits(Unit::Grapheme)).map(|(edits, length)| (100.0 * edits as f64, length as f64)),
            )
            .in_points(),
        ];
        if words {
            tallies.push(bleu::tallies(self));
        }
        tallies
    }

    pub(super) fn iter(&self) -> std::slice::Iter<'_, Segment<'a>> {
        self.segments.iter()
    }

    /// The number of references for a signature: `1`, `2`, ..., or `var` if it differs between
    /// segments.
    pub(super) fn reference_count(&self) -> String {
        let first = self.segments[0].references.len();
        if self.iter().all(|segment| segment.references.len() == first) { first.to_string() } else { "var".to_owned() }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_that_do_not_fit_are_refused_with_their_lengths() {
        let error = Segments::single(&["a", "b"], &["a"]).unwrap_err();
        assert_eq!(error.to_string(), "there must be as many hypotheses as references, but there are 2 and 1");
        let none: [&str; 0] = [];
        assert_eq!(Segments::single(&none, &none).unwrap_err(), MetricError::Empty("segment"));
        let bare: [Vec<&str>; 2] = [vec!["a"], vec![]];
        assert_eq!(Segments::new(&["a", "b"], &bare).unwrap_err(), MetricError::NoReference { segment: 2 });
    }

    #[test]
    fn rows_of_one_source_need_not_stand_together() {
        let segments = Segments::by_source(&["a", "b", "a"], &["1", "2", "1"], &["x", "2", "1"]).unwrap();
        let seen: Vec<_> = segments.iter().map(|s| (s.hypothesis, s.references.clone())).collect();
        assert_eq!(seen, [("1", vec!["x", "1"]), ("2", vec!["2"])]);
        assert_eq!(segments.reference_count(), "var");
    }
}
