//! Accuracy, macro F1 and the table per class, from one count of who was taken for whom.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt;

use unicode_width::UnicodeWidthStr;

use super::error::same_length;
use super::{MetricError, Tallies};

/// How well one class was found.
///
/// Where a ratio has nothing below the line (a class never predicted, or never right), it is 0, as
/// in scikit-learn.
#[derive(Clone, Debug, PartialEq)]
pub struct ClassScore {
    /// The class.
    pub label: String,
    /// Of the examples given this label, the share that has it.
    pub precision: f64,
    /// Of the examples that have this label, the share that was given it.
    pub recall: f64,
    /// The harmonic mean of precision and recall.
    pub f1: f64,
    /// Number of examples that have this label.
    pub support: usize,
}

/// Right and predicted labels, counted per class.
///
/// Prints as a table with a row per class.
///
/// ```
/// use spotlight::metrics::Confusion;
///
/// let gold = ["joy", "anger", "joy", "fear"];
/// let predicted = ["joy", "joy", "joy", "fear"];
/// let confusion = Confusion::new(&gold, &predicted)?;
/// assert_eq!(confusion.accuracy(), 0.75);
/// assert_eq!(
///     confusion.to_string(),
///     "class  precision  recall      F1  support\n\
///      anger     0.0000  0.0000  0.0000        1\n\
///      fear      1.0000  1.0000  1.0000        1\n\
///      joy       0.6667  1.0000  0.8000        2\n",
/// );
/// # Ok::<(), spotlight::metrics::MetricError>(())
/// ```
#[derive(Clone, Debug)]
pub struct Confusion {
    classes: Vec<ClassScore>,
    right: usize,
    total: usize,
}

/// Examples of one class: that have it, that were given it, and both.
#[derive(Default)]
struct Tally {
    gold: usize,
    predicted: usize,
    both: usize,
}

impl Confusion {
    /// Counts predicted labels against right ones, line by line.
    pub fn new<G: AsRef<str>, P: AsRef<str>>(gold: &[G], predicted: &[P]) -> Result<Self, MetricError> {
        same_length("right labels", gold.len(), "predicted labels", predicted.len())?;
        if gold.is_empty() {
            return Err(MetricError::Empty("label"));
        }
        let mut tallies: BTreeMap<&str, Tally> = BTreeMap::new();
        for (gold, predicted) in gold.iter().zip(predicted) {
            let (gold, predicted) = (gold.as_ref(), predicted.as_ref());
            tallies.entry(gold).or_default().gold += 1;
            let tally = tallies.entry(predicted).or_default();
            tally.predicted += 1;
            tally.both += usize::from(gold == predicted);
        }
        Ok(Self {
            right: tallies.values().map(|tally| tally.both).sum(),
            total: gold.len(),
            classes: tallies.iter().map(|(label, tally)| tally.score(label)).collect(),
        })
    }

    /// Accuracy and macro F1 of the same, example by example.
    pub fn tallies<G: AsRef<str>, P: AsRef<str>>(gold: &[G], predicted: &[P]) -> Result<Vec<Tallies>, MetricError> {
        same_length("right labels", gold.len(), "predicted labels", predicted.len())?;
        let pairs = || gold.iter().map(AsRef::as_ref).zip(predicted.iter().map(AsRef::as_ref));
        let classes: BTreeMap<&str, usize> =
            pairs().flat_map(|(a, b)| [a, b]).collect::<BTreeSet<_>>().into_iter().enumerate().map(|(i, label)| (label, i)).collect();
        // Three sums for each class: that have it, that were given it, and both.
        let row = |(gold, predicted): (&str, &str)| {
            let mut row = vec![(3 * classes[gold], 1.0), (3 * classes[predicted] + 1, 1.0)];
            row.extend((gold == predicted).then(|| (3 * classes[gold] + 2, 1.0)));
            row
        };
        let macro_f1 = |sums: &[f64]| {
            let seen: Vec<f64> = sums.chunks_exact(3).filter(|c| c[0] + c[1] > 0.0).map(|c| 2.0 * c[2] / (c[0] + c[1])).collect();
            seen.iter().sum::<f64>() / seen.len().max(1) as f64
        };
        Ok(vec![
            Tallies::ratio("accuracy", false, pairs().map(|(gold, predicted)| (f64::from(gold == predicted), 1.0))),
            Tallies::new("macro F1", 3 * classes.len(), pairs().map(row).collect(), macro_f1),
        ])
    }

    /// The share of examples given their right label.
    pub fn accuracy(&self) -> f64 {
        self.right as f64 / self.total as f64
    }

    /// The mean F1 of all classes that occur, as a right or as a predicted label; each class weighs
    /// the same.
    pub fn macro_f1(&self) -> f64 {
        self.classes.iter().map(|class| class.f1).sum::<f64>() / self.classes.len() as f64
    }

    /// The scores of each class, sorted by label.
    pub fn classes(&self) -> &[ClassScore] {
        &self.classes
    }
}

impl Tally {
    fn score(&self, label: &str) -> ClassScore {
        let ratio = |over: usize, under: usize| {
            if under == 0 { 0.0 } else { over as f64 / under as f64 }
        };
        ClassScore {
            label: label.to_owned(),
            precision: ratio(self.both, self.predicted),
            recall: ratio(self.both, self.gold),
            f1: ratio(2 * self.both, self.gold + self.predicted),
            support: self.gold,
        }
    }
}

impl fmt::Display for Confusion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let heading = "class";
        let widest = self.classes.iter().map(|class| class.label.width()).max().unwrap_or(0).max(heading.len());
        writeln!(f, "{heading:widest$}  precision  recall      F1  support")?;
        for ClassScore { label, precision, recall, f1, support } in &self.classes {
            let space = " ".repeat(widest - label.width());
            writeln!(f, "{label}{space}  {precision:9.4}  {recall:.4}  {f1:.4}  {support:7}")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_to_count_is_an_error() {
        let none: [&str; 0] = [];
        assert_eq!(Confusion::new(&none, &none).unwrap_err(), MetricError::Empty("label"));
        assert!(Confusion::new(&["a"], &none).is_err());
    }

    #[test]
    fn columns_line_up_under_wide_labels() {
        let table = Confusion::new(&["悲しみ", "joy"], &["悲しみ", "joy"]).unwrap().to_string();
        let widths: Vec<usize> = table.lines().map(UnicodeWidthStr::width).collect();
        assert_eq!(widths[0], widths[1]);
        assert_eq!(widths[1], widths[2]);
    }
}
