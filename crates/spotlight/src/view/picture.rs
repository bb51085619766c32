//! What can be drawn: plain data that a model fills.

use serde::Serialize;

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
    /// The probability the model gave to each output unit.
    pub probabilities: Option<Vec<f32>>,
}

impl Matrix {
    /// The picture of one head alone (counted from zero), or `None` if there is no such head.
    pub fn head(&self, index: usize) -> Option<Matrix> {
        let head = self.heads.get(index)?.clone();
        Some(Matrix { heads: vec![head], ..self.clone() })
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
                let each = heads.iter().enumerate().map(|(i, head)| (head_name(i), head.clone()));
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
}

impl Weighted {
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
                let each = heads.iter().enumerate().map(|(i, head)| (head_name(i), head.clone()));
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
}

/// A bag of rows: a label for the whole, a weight for each row.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Bag {
    /// The name of the bag in its file.
    pub id: String,
    /// The label the model chose.
    pub label: String,
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
}

impl Picture {
    /// The largest weight; 0 without any.
    pub(crate) fn largest(&self) -> f32 {
        let most = |weights: &[f32]| weights.iter().copied().fold(0.0, f32::max);
        let of = |rows: &Weights| rows.iter().map(|row| most(row)).fold(0.0, f32::max);
        match self {
            Picture::Matrix(it) => it.heads.iter().map(of).fold(0.0, f32::max),
            Picture::Shaded(it) => of(&it.text.heads),
            Picture::Match(it) => of(&it.question.heads).max(of(&it.answer.heads)).max(it.cross.as_ref().map_or(0.0, of)),
            Picture::Bag(it) => most(&it.weights),
        }
    }
}

impl Picture {
    /// The largest weight as a multiple of an even share; none where there is nothing to share among.
    pub(crate) fn peak(&self) -> Option<f32> {
        let most = |weights: &[f32]| {
            let peak = weights.iter().copied().fold(0.0, f32::max) * weights.len() as f32;
            (weights.len() > 1).then_some(peak)
        };
        let of = |rows: &Weights| rows.iter().filter_map(|row| most(row)).reduce(f32::max);
        match self {
            Picture::Matrix(it) => it.heads.iter().filter_map(of).reduce(f32::max),
            Picture::Shaded(it) => of(&it.text.heads),
            Picture::Match(it) => [of(&it.question.heads), of(&it.answer.heads)].into_iter().flatten().reduce(f32::max),
            Picture::Bag(it) => most(&it.weights),
        }
    }
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

fn head_name(index: usize) -> String {
    format!("head {}", index + 1)
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
        let weighted = Weighted { tokens: vec!["a".into(), "b".into()], heads: vec![vec![0.2, 0.8], vec![0.6, 0.4]] };
        assert_eq!(weighted.mean(), [0.4, 0.6]);
        let matrix = Matrix { heads: vec![vec![vec![1.0, 0.0]], vec![vec![0.5, 0.5]]], ..Matrix::default() };
        assert_eq!(matrix.mean(), Some(vec![vec![0.75, 0.25]]));
        assert_eq!(matrix.head(1).map(|matrix| matrix.heads), Some(vec![vec![vec![0.5, 0.5]]]));
        assert_eq!(matrix.head(2), None);
        assert_eq!(Matrix::default().mean(), None);
    }

    #[test]
    fn pairs_weigh_what_both_weigh() {
        let text = |weights: &[f32]| Weighted { tokens: vec!["x".into(); weights.len()], heads: vec![weights.to_vec()] };
        let matched = Match { question: text(&[0.5, 0.5]), answer: text(&[0.25, 0.0, 0.75]), ..Match::default() };
        assert_eq!(matched.pairs(), [[0.125, 0.0, 0.375], [0.125, 0.0, 0.375]]);
        assert!(Match::default().pairs().is_empty());
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
