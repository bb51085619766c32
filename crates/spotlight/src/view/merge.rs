//! From subwords to words.

use super::picture::{End, Matrix, Weighted, Weights};
use crate::text::subwords::WORD_MARKER;
use std::ops::Range;

impl Matrix {
    /// Merges subwords into words: the weights of a word's source columns add up, its output rows are averaged, and its
    /// probability is the product of its parts'. How many units a column holds is noted, for an even spread would give it so much
    /// more. Each group is a range of units that becomes one, its label the parts joined, without `▁`;
    /// units in no group stay as they are.
    ///
    /// ```
    /// use spotlight::view::Matrix;
    ///
    /// let pieces = Matrix {
    ///     source: vec!["un".into(), "do".into(), "it".into()],
    ///     output: vec!["dé".into(), "fais".into()],
    ///     heads: vec![vec![vec![0.5, 0.25, 0.25], vec![0.0, 0.5, 0.5]]],
    ///     probabilities: Some(vec![0.5, 0.5]),
    ///     ..Matrix::default()
    /// };
    /// let words = pieces.merge_subwords(&[0..2], &[0..2]);
    /// assert_eq!(words.source, ["undo", "it"]);
    /// assert_eq!(words.output, ["défais"]);
    /// assert_eq!(words.heads, [[[0.625, 0.375]]]);
    /// assert_eq!(words.probabilities, Some(vec![0.25]));
    /// ```
    pub fn merge_subwords(&self, source: &[Range<usize>], output: &[Range<usize>]) -> Matrix {
        let columns = complete(source, self.source.len());
        let rows = complete(output, self.output.len());
        Matrix {
            source: join(&self.source, &columns),
            output: join(&self.output, &rows),
            heads: self.heads.iter().map(|head| merge(head, &rows, &columns)).collect(),
            probabilities: self
                .probabilities
                .as_ref()
                .map(|each| rows.iter().map(|group| each.iter().take(group.end).skip(group.start).product()).collect()),
            pieces: pieces(&columns, &self.pieces),
            end: self.end.as_ref().map(|end| End { heads: end.heads.iter().map(|row| sums(row, &columns)).collect(), ..*end }),
            ..self.clone()
        }
    }
}

impl Weighted {
    /// Merges subwords into words: the weights of a word's parts add up. Groups as for [`Matrix::merge_subwords`].
    pub fn merge_subwords(&self, groups: &[Range<usize>]) -> Weighted {
        let groups = complete(groups, self.tokens.len());
        Weighted {
            tokens: join(&self.tokens, &groups),
            heads: self.heads.iter().map(|head| sums(head, &groups)).collect(),
            pieces: pieces(&groups, &self.pieces),
            members: self.members.clone(),
        }
    }
}

/// Ranges of neighbours with the same number: from the word that each unit belongs to, to the groups that are merged.
///
/// ```
/// use spotlight::view::groups;
///
/// assert_eq!(groups(&[0, 0, 1, 2, 2]), [0..2, 2..3, 3..5]);
/// assert!(groups(&[]).is_empty());
/// ```
pub fn groups(words: &[usize]) -> Vec<Range<usize>> {
    let mut start = 0;
    let run = |run: &[usize]| {
        let from = start;
        start += run.len();
        from..start
    };
    words.chunk_by(|a, b| a == b).map(run).collect()
}

/// The groups in order, with a group of one for every unit they leave out. Parts outside `0..length` or of an earlier group
/// are dropped, so that every unit is counted exactly once.
fn complete(groups: &[Range<usize>], length: usize) -> Vec<Range<usize>> {
    let mut sorted = groups.to_vec();
    sorted.sort_by_key(|group| group.start);
    let mut all = Vec::new();
    let mut next = 0;
    for group in sorted {
        let (start, end) = (group.start.max(next).min(length), group.end.min(length));
        if start < end {
            all.extend((next..start).map(|unit| unit..unit + 1));
            all.push(start..end);
            next = end;
        }
    }
    all.extend((next..length).map(|unit| unit..unit + 1));
    all
}

/// The labels of each group as one, without the mark that says where a word begins: it is one now.
fn join(labels: &[String], groups: &[Range<usize>]) -> Vec<String> {
    let word = |group: &Range<usize>| {
        let text = labels[group.clone()].concat();
        text.strip_prefix(WORD_MARKER).map(str::to_string).unwrap_or(text)
    };
    groups.iter().map(word).collect()
}

/// The weights of each group, added up.
fn sums(row: &[f32], groups: &[Range<usize>]) -> Vec<f32> {
    groups.iter().map(|group| row.iter().take(group.end).skip(group.start).sum()).collect()
}

/// How many units each group holds; units that were merged before count in full.
fn pieces(groups: &[Range<usize>], before: &[usize]) -> Vec<usize> {
    groups.iter().map(|group| before.get(group.clone()).map_or(group.len(), |pieces| pieces.iter().sum())).collect()
}

fn merge(weights: &Weights, rows: &[Range<usize>], columns: &[Range<usize>]) -> Weights {
    let word = |group: &Range<usize>| {
        let sum = |columns: &Range<usize>| -> f32 {
            let parts = weights.iter().take(group.end).skip(group.start);
            parts.map(|row| row.iter().take(columns.end).skip(columns.start).sum::<f32>()).sum()
        };
        columns.iter().map(|columns| sum(columns) / group.len() as f32).collect()
    };
    rows.iter().map(word).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_unit_belongs_to_one_group() {
        assert_eq!(complete(&[], 2), [0..1, 1..2]);
        assert_eq!(complete(&[3..5, 0..2], 6), [0..2, 2..3, 3..5, 5..6]);
        assert_eq!(complete(&[0..3, 1..9, 7..8], 4), [0..3, 3..4]);
    }

    #[test]
    fn a_shaded_text_of_words() {
        let pieces = Weighted::new(["▁un", "do", "▁it"].map(String::from).to_vec(), vec![vec![0.5, 0.25, 0.25]]);
        let words = pieces.merge_subwords(&[0..2, 2..3]);
        assert_eq!(words.pieces, [2, 1]);
        assert_eq!(words.merge_subwords(std::slice::from_ref(&(0..2))).pieces, [3]);
        // Twice the pieces and half more than twice the weight: a little more than an even spread.
        assert_eq!(words.portions().map(|portion| portion.times()).collect::<Vec<_>>(), [1.125, 0.75]);
        assert_eq!((words.tokens, words.heads), (vec!["undo".to_string(), "it".into()], vec![vec![0.75, 0.25]]));
    }

    #[test]
    fn rows_still_sum_to_one() {
        let thirds = vec![vec![0.2, 0.3, 0.5], vec![0.1, 0.1, 0.8], vec![0.6, 0.4, 0.0]];
        for row in merge(&thirds, &[0..2, 2..3], &[0..1, 1..3]) {
            assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-6, "{row:?}");
        }
    }
}
