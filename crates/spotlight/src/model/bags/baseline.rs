//! What a user would try first with bags: the mean and the largest of every feature over a bag's rows, and logistic regression over these.

use super::{BagModel, Example};
use crate::Result;
use crate::model::describe::Baseline;
use crate::model::head;
use crate::model::linear::{Linear, Sparse};
use crate::text::Bag;

/// `C` of the regression: what is usual for features of deviation 1.
const STRENGTH: f64 = 1.0;

/// Mean and largest number of each feature, of a bag in the model's standard.
fn summary(example: &Example, width: usize) -> Sparse {
    let rows = || example.numbers.chunks_exact(width.max(1));
    let mean = |i: usize| rows().map(|row| row[i]).sum::<f32>() / example.rows.max(1) as f32;
    let largest = |i: usize| rows().map(|row| row[i]).reduce(f32::max).unwrap_or(0.0);
    (0..width).flat_map(|i| [(2 * i as u32, mean(i)), (2 * i as u32 + 1, largest(i))]).collect()
}

impl BagModel {
    /// What the simple ways reach; the regression learns from `train`, if it is there.
    pub(super) fn simple(&self, train: Option<Vec<Bag>>, rows: &[Bag]) -> Result<Vec<Baseline>> {
        let examples = self.examples(rows)?;
        let gold: Vec<u32> = examples.iter().map(|e| e.label).collect();
        let mut found = vec![head::most_frequent(&gold)];
        if let Some(train) = train {
            let (width, labels) = (self.standard.width(), self.labels.len());
            let learnt = self.examples(&train)?;
            let (vectors, answers): (Vec<Sparse>, Vec<u32>) = learnt.iter().map(|e| (summary(e, width), e.label)).unzip();
            let linear = Linear::learn(&vectors, &answers, 2 * width, labels, STRENGTH);
            let logits = |e: &Example| linear.logits(&summary(e, width)).into_iter().map(|x| x as f32).collect::<Vec<f32>>();
            let confusion = head::confusion(&self.labels, &gold, &examples.iter().map(logits).collect::<Vec<_>>())?;
            found.push(Baseline::new("logistic regression on mean and max", head::of_confusion(&confusion)));
        }
        Ok(found)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_bag_in_two_numbers_a_feature() {
        let example = Example { numbers: vec![1.0, 5.0, 3.0, -1.0], rows: 2, label: 0, line: 1 };
        assert_eq!(summary(&example, 2), [(0, 2.0), (1, 3.0), (2, 2.0), (3, 5.0)]);
        assert_eq!(summary(&Example { numbers: vec![], rows: 0, label: 0, line: 1 }, 1), [(0, 0.0), (1, 0.0)]);
    }
}
