//! Is the difference between two models chance? The paired bootstrap of Efron and Tibshirani (1993), as Koehn (2004, *Statistical Significance Tests for Machine
//! Translation Evaluation*) uses it.
//!
//! All models answer the same examples. Examples are drawn with replacement, as many as there are, and every model is measured on the same draw; that again and again
//! shows how much the difference between them depends on which examples happened to be in the file.
//!
//! A measure of a corpus is seldom a mean over its examples, but it is a function of sums over them: the edits and the lengths, the matched word sequences, the
//! counts of each class. So [`Tallies`] keeps for each example what it adds to the sums, and the function.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::error::same_length;
use super::{MetricError, Style};

/// A measure taken apart: what each example adds to its sums, and how the sums become the measure.
#[derive(Clone, Debug)]
pub struct Tallies {
    /// Its name as it is printed.
    pub name: &'static str,
    /// Whether a lower value is better.
    pub falling: bool,
    /// How it is printed.
    pub style: Style,
    /// For each example, places among the sums and what is added there.
    rows: Vec<Vec<(usize, f64)>>,
    /// How many sums there are.
    sums: usize,
    of: fn(&[f64]) -> f64,
}

/// How a model differs from the first.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Difference {
    /// Its measure less that of the first.
    pub value: f64,
    /// Where 95 of 100 differences of the draws lie: from here ...
    pub low: f64,
    /// ... to here.
    pub high: f64,
    /// How often chance alone would show a difference as large, in either direction: twice the share of draws that do not lie on the side of the difference.
    pub p: f64,
}

impl Difference {
    /// Whether it may well be chance: `p` is not below 0.05.
    pub fn may_be_chance(&self) -> bool {
        self.p >= 0.05
    }
}

impl Tallies {
    /// A measure that is a mean, or any ratio of two sums: each example brings what stands above the line and below it.
    pub fn ratio(name: &'static str, falling: bool, rows: impl Iterator<Item = (f64, f64)>) -> Self {
        let rows = rows.map(|(above, below)| vec![(0, above), (1, below)]).collect();
        Tallies { name, falling, style: Style::Share, rows, sums: 2, of: |sums| if sums[1] == 0.0 { 0.0 } else { sums[0] / sums[1] } }
    }

    /// Any other: `of` these many sums.
    pub(super) fn new(name: &'static str, sums: usize, rows: Vec<Vec<(usize, f64)>>, of: fn(&[f64]) -> f64) -> Self {
        Tallies { name, falling: false, style: Style::Share, rows, sums, of }
    }

    /// The same, printed as points up to 100.
    pub(super) fn in_points(self) -> Self {
        Tallies { style: Style::Points, ..self }
    }

    /// How many examples it is measured on.
    pub fn len(&self) -> usize {
        self.rows.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.rows.is_empty()
    }

    /// The measure.
    pub fn value(&self) -> f64 {
        self.over(0..self.len())
    }

    /// The measure on these examples.
    fn over(&self, rows: impl Iterator<Item = usize>) -> f64 {
        let mut sums = vec![0.0; self.sums];
        for row in rows {
            for &(place, number) in &self.rows[row] {
                sums[place] += number;
            }
        }
        (self.of)(&sums)
    }
}

/// How each model but the first differs from the first, over this many draws of the examples. The seed decides the draws.
///
/// ```
/// use spotlight::metrics::{Tallies, paired_bootstrap};
///
/// // Of a hundred examples the first model has half right, the second all of these and a fifth of the others.
/// let right = |wrong: fn(usize) -> bool| Tallies::ratio("accuracy", false, (0..100).map(move |i| (if wrong(i) { 0.0 } else { 1.0 }, 1.0)));
/// let models = [right(|i| i % 2 == 0), right(|i| i % 2 == 0 && i % 5 != 0), right(|i| i % 2 == 1)];
/// let found = paired_bootstrap(&models, 2000, 1)?;
/// assert!((found[0].value - 0.1).abs() < 1e-9 && !found[0].may_be_chance());
/// assert!(found[0].low > 0.0 && found[0].high < 0.2);
/// // The third has the other half right: as good as the first, as far as one can say.
/// assert!(found[1].value.abs() < 1e-9 && found[1].may_be_chance());
/// # Ok::<(), spotlight::metrics::MetricError>(())
/// ```
pub fn paired_bootstrap(models: &[Tallies], draws: usize, seed: u64) -> Result<Vec<Difference>, MetricError> {
    let Some((first, others)) = models.split_first() else { return Ok(Vec::new()) };
    for other in others {
        same_length("examples of the first model", first.len(), "of another", other.len())?;
    }
    if first.is_empty() || draws == 0 {
        return Err(MetricError::Empty("example"));
    }
    let one = |draw: usize| -> Vec<f64> {
        // Each draw has a seed of its own, so that threads do not change the result.
        let mut random = ChaCha8Rng::seed_from_u64(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15).wrapping_add(draw as u64));
        let rows: Vec<usize> = (0..first.len()).map(|_| random.random_range(0..first.len())).collect();
        let base = first.over(rows.iter().copied());
        others.iter().map(|model| model.over(rows.iter().copied()) - base).collect()
    };
    let drawn: Vec<Vec<f64>> = (0..draws).into_par_iter().map(one).collect();
    Ok(others
        .iter()
        .enumerate()
        .map(|(i, model)| difference(model.value() - first.value(), drawn.iter().map(|d| d[i]).collect()))
        .collect())
}

fn difference(value: f64, mut drawn: Vec<f64>) -> Difference {
    drawn.sort_by(f64::total_cmp);
    let count = drawn.len();
    let not_above = drawn.partition_point(|&d| d <= 0.0);
    let not_below = count - drawn.partition_point(|&d| d < 0.0);
    // The difference that was seen is a draw too, so that p is never 0.
    let p = 2.0 * (1 + not_above.min(not_below)) as f64 / (1 + count) as f64;
    let at = |share: f64| drawn[((count - 1) as f64 * share).round() as usize];
    Difference { value, low: at(0.025), high: at(0.975), p: p.min(1.0) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::metrics::{Confusion, Segments, Tokenizer, Unit, bleu, edit_rate, exact_match};

    #[test]
    fn tallies_give_the_measures_they_were_taken_from() {
        let (said, right) = (["the cat sat on the mat", "a dog ran home", "no"], ["the cat sat on a mat", "a dog ran home", "yes"]);
        let segments = Segments::single(&said, &right).unwrap();
        let all = segments.tallies(true);
        let value = |name: &str| all.iter().find(|t| t.name == name).unwrap().value();
        assert_eq!(value("accuracy"), exact_match(&segments));
        assert!((value("CER") - 100.0 * edit_rate(&segments, Unit::Grapheme)).abs() < 1e-9);
        assert!((value("BLEU") - bleu(&segments, Tokenizer::V13a).score).abs() < 1e-9);
        assert_eq!(segments.tallies(false).iter().map(|t| (t.name, t.falling)).collect::<Vec<_>>(), [("accuracy", false), ("CER", true)]);

        let (gold, said) = (["a", "b", "b", "c", "a"], ["a", "b", "a", "b", "a"]);
        let confusion = Confusion::new(&gold, &said).unwrap();
        let all = Confusion::tallies(&gold, &said).unwrap();
        assert_eq!((all[0].name, all[0].value()), ("accuracy", confusion.accuracy()));
        assert_eq!((all[1].name, all[1].value()), ("macro F1", confusion.macro_f1()));
    }

    /// The interval of a mean is that of the normal distribution, for many examples.
    #[test]
    fn the_interval_is_that_of_the_mean() {
        let rows = |share: usize| Tallies::ratio("accuracy", false, (0..2000).map(move |i| (f64::from(i * 7919 % 100 < share), 1.0)));
        let found = paired_bootstrap(&[rows(0), rows(30)], 4000, 3).unwrap()[0];
        let sigma = (0.3f64 * 0.7 / 2000.0).sqrt();
        assert!((found.value - 0.3).abs() < 1e-9);
        assert!((found.low - (0.3 - 1.96 * sigma)).abs() < 2e-3 && (found.high - (0.3 + 1.96 * sigma)).abs() < 2e-3, "{found:?}");
        assert!(found.p < 0.001 && found.p > 0.0);
    }

    /// Among pairs of models that differ by nothing but chance, few are told apart.
    #[test]
    fn chance_is_seldom_taken_for_more() {
        let mut random = ChaCha8Rng::seed_from_u64(5);
        let mut model = || {
            let rows: Vec<(f64, f64)> = (0..200).map(|_| (f64::from(random.random_bool(0.7)), 1.0)).collect();
            Tallies::ratio("accuracy", false, rows.into_iter())
        };
        let told = (0..200).filter(|&i| !paired_bootstrap(&[model(), model()], 400, i).unwrap()[0].may_be_chance()).count();
        assert!((2..=22).contains(&told), "{told} of 200");
    }

    #[test]
    fn the_same_model_twice_is_no_difference_and_the_seed_decides() {
        let rows = |step: usize| Tallies::ratio("accuracy", false, (0..50).map(move |i| (f64::from(i % step == 0), 1.0)));
        let same = paired_bootstrap(&[rows(3), rows(3)], 100, 1).unwrap()[0];
        assert_eq!(same, Difference { value: 0.0, low: 0.0, high: 0.0, p: 1.0 });
        let of = |seed| paired_bootstrap(&[rows(3), rows(4)], 300, seed).unwrap();
        assert_eq!(of(1), of(1));
        assert_ne!(of(1), of(2));
        let short = Tallies::ratio("accuracy", false, [(1.0, 1.0)].into_iter());
        assert!(paired_bootstrap(&[rows(3), short], 10, 1).is_err());
    }
}
