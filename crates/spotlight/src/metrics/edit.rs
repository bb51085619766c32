//! Exact match, word error rate and edit distance.

use unicode_segmentation::UnicodeSegmentation;

use super::Segments;
use super::segments::Segment;

/// What an edit inserts, deletes or replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// A character as a reader sees it (a grapheme cluster): `é` is one, however it is encoded.
    Grapheme,
    /// A piece of text between whitespace: a phone, a word.
    Token,
}

impl Unit {
    fn split(self, text: &str) -> Vec<&str> {
        match self {
            Unit::Grapheme => text.graphemes(true).collect(),
            Unit::Token => text.split_whitespace().collect(),
        }
    }
}

/// The share of segments whose hypothesis equals one of its references, from 0 to 1.
pub fn exact_match(segments: &Segments) -> f64 {
    let right = segments.iter().filter(|segment| segment.references.contains(&segment.hypothesis)).count();
    right as f64 / segments.len() as f64
}

/// The share of words whose prediction equals none of their references, from 0 to 1.
///
/// This is the "WER" of grapheme-to-phoneme work, where a segment is a word: one minus
/// [`exact_match`]. The "WER" of speech recognition is an edit distance over the words of a
/// sentence: [`edit_rate`] with [`Unit::Token`].
pub fn word_error_rate(segments: &Segments) -> f64 {
    1.0 - exact_match(segments)
}

/// The least number of insertions, deletions and replacements that turn `a` into `b` (Levenshtein's
/// distance).
///
/// ```
/// use spotlight::metrics::edit_distance;
/// assert_eq!(edit_distance(b"kitten", b"sitting"), 3);
/// ```
pub fn edit_distance<T: PartialEq>(a: &[T], b: &[T]) -> usize {
    // One row of the table at a time: row[j] is the distance from the part of `a` seen so far to
    // b[..j].
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, from) in a.iter().enumerate() {
        let mut diagonal = row[0];
        row[0] = i + 1;
        for (j, to) in b.iter().enumerate() {
            let replaced = diagonal + usize::from(from != to);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}

/// Edits needed to mend all hypotheses, per unit of their references: with [`Unit::Grapheme`] the
/// character error rate (CER).
///
/// The sum of all distances is divided by the sum of all reference lengths, so long lines weigh
/// more than short ones, and the rate is above 1 if the hypotheses are much too long. Of several
/// references the closest counts (of equally close ones the first). If all references are empty,
/// the rate is the plain number of edits.
pub fn edit_rate(segments: &Segments, unit: Unit) -> f64 {
    let (mut edits, mut length) = (0, 0);
    for (distance, reference_length) in segments.iter().map(|segment| segment.edits(unit)) {
        edits += distance;
        length += reference_length;
    }
    edits as f64 / length.max(1) as f64
}

impl Segment<'_> {
    /// The edits from the hypothesis to the closest reference, and the length of that.
    pub(super) fn edits(&self, unit: Unit) -> (usize, usize) {
        let hypothesis = unit.split(self.hypothesis);
        let closest = self.references.iter().map(|reference| {
            let reference = unit.split(reference);
            (edit_distance(&hypothesis, &reference), reference.len())
        });
        // A segment has at least one reference.
        closest.min_by_key(|&(distance, _)| distance).unwrap_or_default()
    }
}

#[cfg(test)]
mod tests {
    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::*;

    /// The definition itself, as a recursion.
    fn plain_distance(a: &[u8], b: &[u8]) -> usize {
        match (a, b) {
            ([], rest) | (rest, []) => rest.len(),
            ([x, a_rest @ ..], [y, b_rest @ ..]) => {
                let replaced = plain_distance(a_rest, b_rest) + usize::from(x != y);
                replaced.min(plain_distance(a_rest, b) + 1).min(plain_distance(a, b_rest) + 1)
            }
        }
    }

    proptest! {
        #[test]
        fn distance_equals_its_definition(a in vec(0u8..3, 0..6), b in vec(0u8..3, 0..6)) {
            prop_assert_eq!(edit_distance(&a, &b), plain_distance(&a, &b));
        }
    }

    #[test]
    fn any_reference_may_be_matched() {
        let references: [&[&str]; 3] = [&["x", "a b"], &["C"], &["d"]];
        let segments = Segments::new(&["a b", "c", "d"], &references).unwrap();
        assert_eq!(exact_match(&segments), 2.0 / 3.0);
        assert_eq!(word_error_rate(&segments), 1.0 - 2.0 / 3.0);
    }

    #[test]
    fn the_unit_decides_what_one_edit_is() {
        // A letter with a combining accent is one grapheme; `café` against `cafe` is one edit of
        // four.
        let segments = Segments::single(&["cafe\u{301}"], &["cafe"]).unwrap();
        assert_eq!(edit_rate(&segments, Unit::Grapheme), 0.25);
        let segments = Segments::single(&["k æ t s"], &["k æ  t"]).unwrap();
        assert_eq!(edit_rate(&segments, Unit::Token), 1.0 / 3.0);
    }

    #[test]
    fn lengths_are_summed_and_the_closest_reference_counts() {
        let references: [&[&str]; 2] = [&["xyz", "abcd"], &["ab"]];
        let segments = Segments::new(&["abc", ""], &references).unwrap();
        assert_eq!(edit_rate(&segments, Unit::Grapheme), (1.0 + 2.0) / (4.0 + 2.0));
        let empty = Segments::single(&["abc", ""], &["", ""]).unwrap();
        assert_eq!(edit_rate(&empty, Unit::Grapheme), 3.0);
    }
}
