//! How to search.

use std::sync::Arc;

use super::Lexicon;

/// How to search.
#[derive(Clone, Debug, PartialEq)]
pub struct SearchOptions {
    /// Hypotheses kept for each source; 1 is greedy.
    pub beam: usize,
    /// Answers given for each source, at most `beam` (or any number, if sampling).
    pub n_best: usize,
    /// Exponent of the length normalisation; 0 for none.
    pub length_penalty: f64,
    /// Weight of the coverage penalty; 0 for none.
    pub coverage_penalty: f64,
    /// Longest answer for each unit of the source; 10 more are allowed.
    pub max_ratio: f64,
    /// Shortest answer, in units.
    pub min_length: usize,
    /// If given, only these answers are written, however long they are, whatever a prefix says.
    pub lexicon: Option<Arc<Lexicon>>,
    /// If given, answers are drawn: the temperature, and the seed.
    pub sample: Option<(f64, u64)>,
    /// The number of the first source among all that are asked for, so that no two of them are drawn alike.
    pub first: usize,
    /// Whether somebody wants to know where the model looked. If not, answers come without attention.
    pub look: bool,
    /// Whether weights of linear layers are taken to one byte each, where the model can do that: faster, and less exact.
    pub int8: bool,
}

impl SearchOptions {
    /// Greedy search without penalties.
    pub const GREEDY: SearchOptions = SearchOptions {
        beam: 1,
        n_best: 1,
        length_penalty: 0.0,
        coverage_penalty: 0.0,
        max_ratio: 1.0,
        min_length: 0,
        lexicon: None,
        sample: None,
        first: 0,
        look: true,
        int8: false,
    };

    /// Hypotheses of each source at a time.
    pub(super) fn width(&self) -> usize {
        if self.sample.is_some() { self.n_best } else { self.beam }.max(1)
    }

    /// The longest answer to a source of this length.
    pub(super) fn longest(&self, source: usize) -> usize {
        match self.lexicon {
            // It ends where the last of them does.
            Some(_) => usize::MAX,
            None => ((source as f64 * self.max_ratio.max(1.0)) as usize + 10).max(self.min_length),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_answer_may_be_so_many_times_as_long_as_its_source_and_ten_more() {
        let options = SearchOptions { max_ratio: 3.0, min_length: 0, lexicon: None, ..SearchOptions::GREEDY };
        assert_eq!([0, 4, 20].map(|source| options.longest(source)), [10, 22, 70]);
        assert_eq!(SearchOptions { max_ratio: 0.5, ..options.clone() }.longest(4), 14);
        assert_eq!(SearchOptions { min_length: 90, ..options }.longest(4), 90);
    }
}
