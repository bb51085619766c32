//! What can be drawn: plain data that a model fills.

use super::scale::Portion;
use serde::Serialize;

use super::stack::Stack;

/// Rows of attention weights. In a [`Matrix`]: output units by source units. Of a text: heads by tokens.
pub type Weights = Vec<Vec<f32>>;

/// One hypothesis of a transduction: where each output unit took its context from.
///
/// Columns stand in the order typed. A row sums to one unless positions were hidden or masked; nothing is renormalised.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Matrix {
    /// The text that was read, as typed.
    pub input: String,
    /// The text that was written.
    pub text: String,
    /// The score of this hypothesis, as the search ranks it.
    pub score: Option<f32>,
    /// Labels of the source units, one per column.
    pub source: Vec<String>,
    /// Labels of the output units, one per row.
    pub output: Vec<String>,
    /// The weights of each head, output by source.
    pub heads: Vec<Weights>,
    /// Of an ensemble the number of the member, from 1, that each head is of; empty for one model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<usize>,
    /// The probability the model gave to each output unit.
    pub probabilities: Option<Vec<f32>>,
    /// How many units each column was merged from; empty if every column is one unit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pieces: Vec<usize>,
    /// How often training pairs gave this answer, and how often they had this source, if that is part of the score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remembered: Option<[u32; 2]>,
    /// How many rows around the source are counted in beside that, if any are.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub neighbours: Option<usize>,
    /// What counts of letters say of this answer, if that is part of the score.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub joint: Option<f64>,
    /// Whether some of the labels say that their unit was copied, by a `=` behind it.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub copied: bool,
    /// The end of the answer, if the model wrote one: drawn as the last row.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub end: Option<End>,
}

/// The step at which a model ended its answer.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct End {
    /// For each head, the weights over the source units.
    pub heads: Weights,
    /// The probability the model gave to the end.
    pub probability: Option<f32>,
}

impl End {
    /// The label of its row.
    pub const LABEL: &'static str = "(end)";
}

impl Matrix {
    /// What its score is.
    pub(crate) fn score_is(&self) -> String {
        match (self.remembered, self.joint) {
            (Some([own, all]), _) => {
                let around = self.neighbours.map_or_else(String::new, |rows| format!(" and {rows} of the rows around"));
                format!("log-probability, with {own} of {all} training pairs{around} counted in; 0 is certain")
            }
            (_, Some(_)) => "log-probability among the answers found, letters counted in; 0 is certain".into(),
            _ => "log-probability, weighed by length; 0 is certain".into(),
        }
    }

    /// What marks in its labels mean, if there are any.
    pub(crate) fn legend(&self) -> Option<&'static str> {
        self.copied.then_some("= behind a unit: copied from the source")
    }

    /// The weight that an even spread would give to each column.
    pub fn evens(&self) -> Vec<f32> {
        evens(&self.pieces, self.source.len())
    }

    /// The same for every cell: each row is spread on its own.
    pub(crate) fn cell_evens(&self) -> Evens {
        Evens { rows: Vec::new(), columns: self.evens() }
    }

    /// The same matrix with the end of the answer as its last row.
    pub fn with_end_row(&self) -> Matrix {
        let mut all = self.clone();
        let Some(end) = all.end.take() else { return all };
        all.output.push(End::LABEL.into());
        all.heads.iter_mut().zip(end.heads).for_each(|(head, row)| head.push(row));
        if let (Some(probabilities), Some(probability)) = (&mut all.probabilities, end.probability) {
            probabilities.push(probability);
        }
        all
    }

    /// The picture of one head alone (counted from zero), or `None` if there is no such head.
    pub fn head(&self, index: usize) -> Option<Matrix> {
        let head = self.heads.get(index)?.clone();
        let end = self.end.as_ref().map(|end| End { heads: end.heads.get(index).into_iter().cloned().collect(), ..*end });
        let members = self.members.get(index).into_iter().copied().collect();
        Some(Matrix { heads: vec![head], members, end, ..self.clone() })
    }

    /// The weights averaged over the heads, or `None` without heads.
    pub fn mean(&self) -> Option<Weights> {
        let (first, others) = self.heads.split_first()?;
        let mut mean = first.clone();
        for (row, sum) in mean.iter_mut().enumerate() {
            *sum = average(sum, others.iter().filter_map(|head| head.get(row)));
        }
        Some(mean)
    }

    /// What to draw, by name: the only head without a name, or the mean and then every head.
    pub(crate) fn named_heads(&self) -> Vec<(String, Weights)> {
        match self.heads.as_slice() {
            [] => Vec::new(),
            [only] => vec![(String::new(), only.clone())],
            heads => {
                let mean = self.mean().into_iter().map(|mean| ("mean".to_string(), mean));
                let each = heads.iter().enumerate().map(|(i, head)| (head_name(i, &self.members), head.clone()));
                mean.chain(each).collect()
            }
        }
    }
}

/// Tokens of a text with the weight of each, for one or several heads.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Weighted {
    /// The units of the text, in the order typed.
    pub tokens: Vec<String>,
    /// One row of weights per head, one weight per token.
    pub heads: Weights,
    /// Of an ensemble the number of the member, from 1, that each head is of; empty for one model.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub members: Vec<usize>,
    /// How many units each token was merged from; empty if every token is one unit.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub pieces: Vec<usize>,
}

impl Weighted {
    /// Tokens that are one unit each, with their weights.
    pub fn new(tokens: Vec<String>, heads: Weights) -> Weighted {
        Weighted { tokens, heads, ..Weighted::default() }
    }

    /// The weight that an even spread would give to each token.
    pub fn evens(&self) -> Vec<f32> {
        evens(&self.pieces, self.tokens.len())
    }

    /// The weights of all heads beside an even spread.
    pub(crate) fn portions(&self) -> impl Iterator<Item = Portion> {
        let evens = self.evens();
        self.heads.iter().flat_map(move |head| portions(head, &evens).collect::<Vec<_>>())
    }

    /// The weights averaged over the heads; empty without heads.
    pub fn mean(&self) -> Vec<f32> {
        match self.heads.split_first() {
            Some((first, others)) => average(first, others.iter()),
            None => Vec::new(),
        }
    }

    /// What to draw, by name: the only head without a name, or the mean and then every head.
    pub(crate) fn named_heads(&self) -> Vec<(String, Vec<f32>)> {
        match self.heads.as_slice() {
            [] => Vec::new(),
            [only] => vec![(String::new(), only.clone())],
            heads => {
                let each = heads.iter().enumerate().map(|(i, head)| (head_name(i, &self.members), head.clone()));
                std::iter::once(("mean".to_string(), self.mean())).chain(each).collect()
            }
        }
    }
}

/// A classified text, shaded by the weight of each token.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Shaded {
    /// The label the model chose.
    pub label: String,
    /// The right label, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truth: Option<String>,
    /// The probability of every label, in the order to show them.
    pub probabilities: Vec<(String, f32)>,
    /// The text and its weights.
    #[serde(flatten)]
    pub text: Weighted,
}

/// A question, a candidate answer, and where the model looked in each.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Match {
    /// How well the answer fits.
    pub score: f32,
    /// The question and its weights.
    pub question: Weighted,
    /// The answer and its weights.
    pub answer: Weighted,
    /// With attention conditioned on the question: question units by answer units.
    pub cross: Option<Weights>,
}

impl Match {
    /// The weight of each pair of units, question by answer: the product of the weights of both, so that all pairs sum to one.
    ///
    /// Where a matcher compares two weighted sums by their product, that product is a sum over all pairs with exactly these weights.
    pub fn pairs(&self) -> Weights {
        let answer = self.answer.mean();
        self.question.mean().iter().map(|question| answer.iter().map(|weight| question * weight).collect()).collect()
    }

    /// The weight that an even spread would give to each pair of [`cross`](Self::cross), as a factor of its row and one of its
    /// column: over each row where every row sums to one, over all pairs where all of them together do.
    pub(crate) fn cross_evens(&self) -> Evens {
        let (rows, columns) = (self.question.evens(), self.answer.evens());
        let total: f32 = self.cross.iter().flatten().flatten().sum();
        let by_row = (total - rows.len() as f32).abs() <= (total - 1.0).abs();
        Evens { rows: if by_row { vec![1.0; rows.len()] } else { rows }, columns }
    }
}

/// A bag of rows: a label for the whole, a weight for each row.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Bag {
    /// The name of the bag in its file.
    pub id: String,
    /// The label the model chose.
    pub label: String,
    /// The right label, if it is known.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub truth: Option<String>,
    /// The probability of every label, in the order to show them.
    pub probabilities: Vec<(String, f32)>,
    /// A name for each row.
    pub rows: Vec<String>,
    /// A weight for each row.
    pub weights: Vec<f32>,
    /// The rows as pictures, if their features are said to be pixels.
    pub images: Option<Images>,
}

/// Grey pictures of the rows of a [`Bag`], all of one size. The darkest and brightest pixel of the bag set black and white.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Images {
    /// Pixels across.
    pub width: usize,
    /// Pixels down.
    pub height: usize,
    /// For each row of the bag, its pixels line by line.
    pub pixels: Vec<Vec<f32>>,
}

impl Images {
    /// The pixels of one row brought to 0..1 by the range of the whole bag.
    pub(crate) fn grey(&self, row: usize) -> Vec<f32> {
        let all = || self.pixels.iter().flatten().copied();
        let low = all().fold(f32::INFINITY, f32::min);
        let range = (all().fold(f32::NEG_INFINITY, f32::max) - low).max(f32::MIN_POSITIVE);
        self.pixels.get(row).into_iter().flatten().map(|pixel| ((pixel - low) / range).clamp(0.0, 1.0)).collect()
    }
}

impl Bag {
    /// The weights beside an even spread.
    pub(crate) fn portions(&self) -> Vec<Portion> {
        self.weights.iter().map(|&weight| Portion::of(weight, self.weights.len())).collect()
    }

    /// The same bag with its heaviest rows first; rows of equal weight keep their order.
    pub fn sorted(&self) -> Bag {
        let mut order: Vec<usize> = (0..self.rows.len().min(self.weights.len())).collect();
        order.sort_by(|&a, &b| self.weights[b].total_cmp(&self.weights[a]));
        Bag {
            rows: order.iter().map(|&i| self.rows[i].clone()).collect(),
            weights: order.iter().map(|&i| self.weights[i]).collect(),
            images: self
                .images
                .as_ref()
                .map(|images| Images { pixels: order.iter().filter_map(|&i| images.pixels.get(i).cloned()).collect(), ..*images }),
            ..self.clone()
        }
    }
}

/// Anything that can be drawn.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "kind", rename_all = "lowercase")]
pub enum Picture {
    /// A transduction.
    Matrix(Matrix),
    /// A classified text.
    Shaded(Shaded),
    /// A question and an answer.
    Match(Match),
    /// A bag of rows.
    Bag(Bag),
    /// Layers by heads.
    Stack(Stack),
}

/// What an even spread would give to each cell of a table: a factor of its row times one of its column.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Evens {
    pub rows: Vec<f32>,
    pub columns: Vec<f32>,
}

impl Evens {
    /// A weight of the table beside an even spread.
    pub fn portion(&self, row: usize, column: usize, weight: f32) -> Portion {
        let of = |all: &[f32], index: usize| all.get(index).copied().unwrap_or(1.0);
        Portion { weight, even: of(&self.rows, row) * of(&self.columns, column) }
    }

    /// All weights of a table.
    pub fn portions<'a>(&'a self, table: &'a [Vec<f32>]) -> impl Iterator<Item = Portion> + 'a {
        let row = move |(y, row): (usize, &'a Vec<f32>)| row.iter().enumerate().map(move |(x, &weight)| self.portion(y, x, weight));
        table.iter().enumerate().flat_map(row)
    }
}

/// The parts of a picture that are read on a scale of their own.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Part {
    /// A table of weights.
    Matrix,
    /// Weights of a text or a bag.
    Text,
}

impl Picture {
    /// Whether the picture has such a part.
    pub(crate) fn has(&self, part: Part) -> bool {
        match self {
            Picture::Matrix(_) | Picture::Stack(_) => part == Part::Matrix,
            Picture::Match(it) => part == Part::Text || it.cross.is_some(),
            Picture::Shaded(_) | Picture::Bag(_) => part == Part::Text,
        }
    }

    /// The largest weight of a part; 0 without any. The weight of an only position is always 1 and says nothing.
    pub(crate) fn largest(&self, part: Part) -> f32 {
        let most = |weights: &[f32]| if weights.len() > 1 { weights.iter().copied().fold(0.0, f32::max) } else { 0.0 };
        let of = |rows: &Weights| rows.iter().map(|row| most(row)).fold(0.0, f32::max);
        match (self, part) {
            (Picture::Matrix(it), Part::Matrix) => it.heads.iter().chain(it.end.as_ref().map(|end| &end.heads)).map(of).fold(0.0, f32::max),
            (Picture::Shaded(it), Part::Text) => of(&it.text.heads),
            (Picture::Match(it), Part::Text) => of(&it.question.heads).max(of(&it.answer.heads)),
            (Picture::Match(it), Part::Matrix) => it.cross.as_ref().map_or(0.0, of),
            (Picture::Bag(it), Part::Text) => most(&it.weights),
            (Picture::Stack(it), Part::Matrix) => it.largest(),
            _ => 0.0,
        }
    }

    /// Whether words were merged from subwords.
    pub(crate) fn is_merged(&self) -> bool {
        let several = |pieces: &[usize]| pieces.iter().any(|&pieces| pieces > 1);
        match self {
            Picture::Matrix(it) => several(&it.pieces),
            Picture::Shaded(it) => several(&it.text.pieces),
            Picture::Match(it) => several(&it.question.pieces) || several(&it.answer.pieces),
            Picture::Bag(_) | Picture::Stack(_) => false,
        }
    }

    /// The largest weight of all in times of an even spread; none if there is nothing to spread over.
    pub fn most_times_uniform(&self) -> Option<f32> {
        let most = |portions: &mut dyn Iterator<Item = Portion>| {
            let most = portions.filter(|portion| portion.even < 1.0).map(Portion::times).fold(f32::NAN, f32::max);
            (!most.is_nan()).then_some(most)
        };
        match self {
            Picture::Matrix(it) => {
                let evens = it.evens();
                most(&mut it.heads.iter().flatten().flat_map(|row| portions(row, &evens)))
            }
            Picture::Shaded(it) => most(&mut it.text.portions()),
            Picture::Match(it) => most(&mut it.question.portions().chain(it.answer.portions())),
            Picture::Bag(it) => most(&mut it.portions().into_iter()),
            Picture::Stack(it) => most(&mut it.portions().into_iter()),
        }
    }
}

/// The weight that an even spread would give to each position, by how many units each was merged from.
fn evens(pieces: &[usize], positions: usize) -> Vec<f32> {
    match pieces.len() == positions && positions > 0 {
        true => {
            let all: usize = pieces.iter().sum();
            pieces.iter().map(|&pieces| pieces as f32 / all.max(1) as f32).collect()
        }
        false => vec![1.0 / positions.max(1) as f32; positions],
    }
}

/// Weights beside an even spread.
pub(crate) fn portions<'a>(weights: &'a [f32], evens: &'a [f32]) -> impl Iterator<Item = Portion> + 'a {
    weights.iter().zip(evens).map(|(&weight, &even)| Portion { weight, even })
}

impl From<Matrix> for Picture {
    fn from(matrix: Matrix) -> Self {
        Picture::Matrix(matrix)
    }
}

impl From<Shaded> for Picture {
    fn from(shaded: Shaded) -> Self {
        Picture::Shaded(shaded)
    }
}

impl From<Match> for Picture {
    fn from(matched: Match) -> Self {
        Picture::Match(matched)
    }
}

impl From<Bag> for Picture {
    fn from(bag: Bag) -> Self {
        Picture::Bag(bag)
    }
}

impl From<Stack> for Picture {
    fn from(stack: Stack) -> Self {
        Picture::Stack(stack)
    }
}

fn head_name(index: usize, members: &[usize]) -> String {
    match members.get(index) {
        Some(member) => format!("member {member}"),
        None => format!("head {}", index + 1),
    }
}

/// The mean of `first` and `others`, position by position. Summed in f64 so that the mean of equal weights is that weight.
fn average<'a>(first: &[f32], others: impl Iterator<Item = &'a Vec<f32>>) -> Vec<f32> {
    let mut sums: Vec<f64> = first.iter().map(|&weight| f64::from(weight)).collect();
    let mut count = 1.0;
    for other in others {
        count += 1.0;
        sums.iter_mut().zip(other).for_each(|(sum, &weight)| *sum += f64::from(weight));
    }
    sums.iter().map(|sum| (sum / count) as f32).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_mean_is_over_heads() {
        let weighted = Weighted::new(vec!["a".into(), "b".into()], vec![vec![0.2, 0.8], vec![0.6, 0.4]]);
        assert_eq!(weighted.mean(), [0.4, 0.6]);
        let matrix = Matrix { heads: vec![vec![vec![1.0, 0.0]], vec![vec![0.5, 0.5]]], ..Matrix::default() };
        assert_eq!(matrix.mean(), Some(vec![vec![0.75, 0.25]]));
        assert_eq!(matrix.head(1).map(|matrix| matrix.heads), Some(vec![vec![vec![0.5, 0.5]]]));
        assert_eq!(matrix.head(2), None);
        assert_eq!(Matrix::default().mean(), None);
    }

    #[test]
    fn pairs_weigh_what_both_weigh() {
        let text = |weights: &[f32]| Weighted::new(vec!["x".into(); weights.len()], vec![weights.to_vec()]);
        let matched = Match { question: text(&[0.5, 0.5]), answer: text(&[0.25, 0.0, 0.75]), ..Match::default() };
        assert_eq!(matched.pairs(), [[0.125, 0.0, 0.375], [0.125, 0.0, 0.375]]);
        assert!(Match::default().pairs().is_empty());
    }

    #[test]
    fn an_even_spread_of_pairs_or_of_rows() {
        let text = |length: usize| Weighted::new(vec!["x".into(); length], vec![vec![1.0 / length as f32; length]]);
        let mut matched = Match { question: text(3), answer: text(2), ..Match::default() };
        matched.cross = Some(matched.pairs());
        assert_eq!(matched.cross_evens().portion(2, 1, 0.5).times(), 3.0);
        matched.cross = Some(vec![vec![0.9, 0.1]; 3]);
        assert_eq!(matched.cross_evens().portion(2, 1, 0.5).times(), 1.0);
    }

    #[test]
    fn a_word_is_even_by_its_pieces() {
        let words = Weighted { pieces: vec![3, 1], ..Weighted::new(vec!["a".into(), "b".into()], vec![vec![0.75, 0.25]]) };
        assert_eq!(words.evens(), [0.75, 0.25]);
        assert!(words.portions().all(|portion| portion.times() == 1.0));
        let picture = Picture::from(Shaded { text: words, ..Shaded::default() });
        assert_eq!((picture.most_times_uniform(), picture.is_merged()), (Some(1.0), true));
    }

    #[test]
    fn the_end_is_the_last_row() {
        let matrix = Matrix {
            output: vec!["x".into()],
            heads: vec![vec![vec![1.0, 0.0]], vec![vec![0.5, 0.5]]],
            probabilities: Some(vec![0.9]),
            end: Some(End { heads: vec![vec![0.0, 1.0], vec![0.25, 0.75]], probability: Some(0.8) }),
            ..Matrix::default()
        };
        let all = matrix.with_end_row();
        assert_eq!(all.output, ["x", "(end)"]);
        assert_eq!(all.heads[1], [[0.5, 0.5], [0.25, 0.75]]);
        assert_eq!((all.probabilities, all.end), (Some(vec![0.9, 0.8]), None));
        assert_eq!(matrix.head(1).map(|head| head.with_end_row().heads), Some(vec![all.heads[1].clone()]));
    }

    #[test]
    fn sorting_a_bag_moves_labels_weights_and_images_together() {
        let bag = Bag {
            rows: vec!["low".into(), "high".into(), "tie".into()],
            weights: vec![0.1, 0.8, 0.1],
            images: Some(Images { width: 1, height: 1, pixels: vec![vec![1.0], vec![2.0], vec![3.0]] }),
            ..Bag::default()
        };
        let sorted = bag.sorted();
        assert_eq!(sorted.rows, ["high", "low", "tie"]);
        assert_eq!(sorted.weights, [0.8, 0.1, 0.1]);
        assert_eq!(sorted.images.map(|images| images.pixels), Some(vec![vec![2.0], vec![1.0], vec![3.0]]));
    }
}
