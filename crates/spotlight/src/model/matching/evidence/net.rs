//! The weights of a matcher of evidence, and what each word contributes to a score.
//!
//! ```text
//! score = Σ_i Σ_j C_ij + Σ_j U_j + L
//! C_ij  = word i of the question found at word j of the answer: its share, its strength and the weights of overlap, pairs and of the word itself
//! U_j   = the units of word j of the answer, alone and with the first words of the question
//! L     = the length of the answer (and its place, if that is asked for)
//! ```
//!
//! Nothing else is in a score: it is exactly this sum, and ranks the candidates of one question.

use spotlight_kernels::Float;

use super::features::{Alignment, DENSE, Features, Found, Known, each_unit, matched, matched_value};
use super::words::Words;
use crate::Result;
use crate::axis::Axis;
use crate::metrics::IdfOverlap;
use crate::params::{Init, ParamId, Params};
use crate::tape::{Bags, Tape, Var};

/// Its weights; their numbers are in a [`Params`].
#[derive(Clone, Debug)]
pub struct EvidenceNet {
    /// `[1, 7]`: of the dense features.
    pub dense: ParamId,
    /// `[rows, 1]`: of the sparse ones.
    pub units: ParamId,
    /// Which features have a row.
    pub known: Known,
    /// Whether the place among the candidates counts.
    pub place: bool,
    /// Whether every word of the question is looked for as much as the other: the control of an audit.
    pub(in crate::model::matching) uniform: bool,
}

/// A word of the question that is looked for.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(in crate::model::matching) struct Sought {
    /// How far the answer's word most like it agrees with it.
    pub strength: f64,
    /// What it adds to the score.
    pub adds: f64,
    /// What it would add if it stood in the answer as it is.
    pub most: f64,
}

/// What a score is the sum of.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Contributions {
    /// Words of the question by words of the answer.
    pub matches: Vec<Vec<f64>>,
    /// Words of the answer.
    pub answer: Vec<f64>,
    /// The length of the answer.
    pub length: f64,
    /// Its place among the candidates; 0 unless the place counts.
    pub place: f64,
    /// For each word of the question, its part of what the model looks for: what an exact match of it would add, by the sum over all words. Where that is below 0 it is 0.
    pub sought: Vec<f64>,
    /// Words of the question by words of the answer: how far each agrees with the one it was found as, from 0 to 1.
    pub strength: Vec<Vec<f64>>,
}

impl Contributions {
    /// The score.
    pub fn sum(&self) -> f64 {
        self.matches.iter().flatten().chain(&self.answer).sum::<f64>() + self.length + self.place
    }

    /// For each word of the answer, its part of what speaks for the answer.
    pub fn support(&self) -> Vec<f64> {
        let column = |j: usize| self.answer[j] + self.matches.iter().map(|row| row[j]).sum::<f64>();
        shares((0..self.answer.len()).map(column).collect())
    }
}

/// What is above 0, by its sum; equal shares if nothing is.
fn shares(mut numbers: Vec<f64>) -> Vec<f64> {
    numbers.iter_mut().for_each(|x| *x = x.max(0.0));
    let (total, equal) = (numbers.iter().sum::<f64>(), 1.0 / numbers.len().max(1) as f64);
    numbers.iter_mut().for_each(|x| *x = if total > 0.0 { *x / total } else { equal });
    numbers
}

impl EvidenceNet {
    /// Makes the parameters `dense.weight` and `units.weight`, all zero.
    pub fn new<T: Float>(params: &mut Params<T>, known: Known, place: bool) -> Self {
        EvidenceNet {
            dense: params.add("dense.weight", &[1, DENSE], Init::Zeros),
            // Of a file that is very small no feature may be seen often enough.
            units: params.add("units.weight", &[known.rows.len().max(1), 1], Init::Zeros),
            known,
            place,
            uniform: false,
        }
    }

    /// Features of a question and its candidate at this place, from 0, of so many.
    pub fn features(&self, question: &Words, answer: &Words, idf: &IdfOverlap, place: (usize, usize)) -> Features {
        let place = self.place.then_some(place);
        match self.uniform {
            true => self.known.without_words(question, answer, &self.align(question, answer, idf), place),
            false => self.known.features(question, answer, idf, place),
        }
    }

    fn align(&self, question: &Words, answer: &Words, idf: &IdfOverlap) -> Alignment {
        let alignment = Alignment::new(question, answer, idf);
        if self.uniform { alignment.evened(question) } else { alignment }
    }

    /// What each word of the question adds to the score of a candidate by being found there, apart from its neighbours; and what it would add if the very word were there. The first is a
    /// share of the second, and the positive ones of the second are what the model looks for.
    pub(in crate::model::matching) fn sought(
        &self,
        params: &Params<f32>,
        question: &Words,
        answer: &Words,
        idf: &IdfOverlap,
    ) -> Vec<Sought> {
        let (dense, units) = (params.get(self.dense), params.get(self.units));
        let (exact, soft) = (dense[0] as f64, dense[1] as f64);
        let one = |(i, found): (usize, &Found)| {
            let row = if self.uniform { None } else { self.known.rows.row(matched(&question.words[i])) };
            let own = row.map_or(0.0, |row| units[row as usize] as f64);
            let whole = Found { strength: 1.0, ..found.clone() };
            let same = if found.strength == 1.0 { found.share * exact } else { 0.0 };
            Sought {
                strength: found.strength,
                adds: found.share * found.strength * soft + matched_value(found) * own + same,
                most: found.share * (soft + exact) + matched_value(&whole) * own,
            }
        };
        self.align(question, answer, idf).words.iter().enumerate().map(one).collect()
    }

    /// The score of a candidate.
    pub fn score(&self, params: &Params<f32>, features: &Features) -> f64 {
        let (dense, units) = (params.get(self.dense), params.get(self.units));
        let of_dense: f64 = features.dense.iter().zip(dense).map(|(&x, &w)| x * w as f64).sum();
        of_dense + features.sparse.iter().map(|&(row, x)| x as f64 * units[row as usize] as f64).sum::<f64>()
    }

    /// The scores of candidates, one a row, on a tape.
    pub fn forward<T: Float>(&self, tape: &Tape<T>, candidates: &[&Features], axis: &Axis) -> Result<Var> {
        let number = |x: f64| T::from_f64(x);
        let dense = candidates.iter().flat_map(|c| c.dense).map(number).collect();
        let dense = tape.linear(tape.table(candidates.len(), DENSE, dense)?, self.dense, None)?;
        let mut bags = Bags { ids: Vec::new(), weights: Vec::new(), offsets: vec![0] };
        for candidate in candidates {
            bags.ids.extend(candidate.sparse.iter().map(|s| s.0));
            bags.weights.extend(candidate.sparse.iter().map(|s| number(s.1 as f64)));
            bags.offsets.push(bags.ids.len());
        }
        tape.on_axis(tape.add(dense, tape.embedding_bag(self.units, bags)?)?, axis)
    }

    /// What the words of a candidate and of its question contribute to its score.
    pub fn contributions(
        &self,
        params: &Params<f32>,
        question: &Words,
        answer: &Words,
        idf: &IdfOverlap,
        place: (usize, usize),
    ) -> Contributions {
        let (dense, units) = (params.get(self.dense), params.get(self.units));
        let weight = |hash: u64| self.known.rows.row(hash).map_or(0.0, |row| units[row as usize] as f64);
        let [exact, soft, pairs, long, square, first, later] = std::array::from_fn(|k| dense[k] as f64);
        let alignment = self.align(question, answer, idf);
        let (rows, columns) = (question.len(), answer.len());
        let mut matches = vec![vec![0.0; columns]; rows];
        let mut strength = matches.clone();
        let mut sought = Vec::with_capacity(rows);
        for (i, found) in alignment.words.iter().enumerate() {
            let own = weight(matched(&question.words[i]));
            let mut value = found.share * found.strength * soft + matched_value(found) * own;
            if found.strength == 1.0 {
                value += found.share * exact;
            }
            for &j in &found.at {
                matches[i][j] += value / found.at.len() as f64;
                strength[i][j] = found.strength / found.at.len() as f64;
            }
            let whole = Found { strength: 1.0, ..found.clone() };
            sought.push(found.share * (soft + exact) + matched_value(&whole) * own);
        }
        for pair in &alignment.pairs {
            let value = 0.5 * pair.share * pairs / pair.at.len() as f64;
            for places in &pair.at {
                for (&i, &j) in pair.words.iter().zip(places) {
                    matches[i][j] += value;
                }
            }
        }
        let mut own = vec![0.0; columns];
        each_unit(question, answer, |hash, value, at| {
            let each = value as f32 as f64 * weight(hash) / at.len() as f64;
            at.iter().for_each(|&j| own[j] += each);
        });
        let features = alignment_numbers(self.place, columns, place);
        Contributions {
            matches,
            answer: own,
            length: features[0] * long + features[1] * square,
            place: features[2] * first + features[3] * later,
            sought: shares(sought),
            strength,
        }
    }
}

/// Length and place of a candidate as the dense features have them.
fn alignment_numbers(counts: bool, length: usize, place: (usize, usize)) -> [f64; 4] {
    let dense = Alignment::default().dense(length, counts.then_some(place));
    [dense[3], dense[4], dense[5], dense[6]]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_score_is_the_sum_of_its_contributions() {
        let texts = [
            ("when was the old tower built ?", "The tower was built in 1815 , the old tower in 1816 ."),
            ("when was the tower built ?", "towers were built in 1715"),
            ("when was the bridge built ?", "the bridge was built in june"),
            ("when was the bridge built ?", ""),
            ("?", "it was"),
        ];
        let idf = IdfOverlap::learn(texts.iter().map(|t| t.1));
        let words: Vec<(Words, Words)> = texts.iter().map(|(q, a)| (Words::new(q), Words::new(a))).collect();
        for place in [false, true] {
            let mut params = Params::<f32>::new(1);
            let net = EvidenceNet::new(&mut params, Known::learn(words.iter().map(|(q, a)| (q, a))), place);
            assert!(net.known.rows.len() > 5);
            params.flat_mut().iter_mut().enumerate().for_each(|(i, w)| *w = (i as f32 * 1.7).sin());
            for (k, (question, answer)) in words.iter().enumerate() {
                let at = (k, words.len());
                let score = net.score(&params, &net.features(question, answer, &idf, at));
                let parts = net.contributions(&params, question, answer, &idf, at);
                assert!((parts.sum() - score).abs() < 1e-6, "{} and {score}", parts.sum());
                assert_eq!(parts.place != 0.0, place);
                assert_eq!((parts.matches.len(), parts.answer.len()), (question.len(), answer.len()));
                assert!((parts.sought.iter().sum::<f64>() - 1.0).abs() < 1e-9);
                assert!(answer.is_empty() || (parts.support().iter().sum::<f64>() - 1.0).abs() < 1e-9);
            }
        }
    }

    #[test]
    fn shares_of_nothing_are_equal() {
        assert_eq!(shares(vec![-1.0, 3.0, 1.0]), [0.0, 0.75, 0.25]);
        assert_eq!(shares(vec![-1.0, 0.0]), [0.5, 0.5]);
        assert!(shares(Vec::new()).is_empty());
    }
}
