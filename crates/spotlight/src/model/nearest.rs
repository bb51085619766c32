//! What a model has seen before: training rows whose context lies nearest to the one at hand.
//!
//! A context is what attention mixes. Near is the cosine of two of them, so that the length of a context does not count. Where nothing is mixed because words add up (the forms of
//! evidence), the context is the words of the text, each as much as it is looked at.

use std::collections::BTreeMap;

use serde::Serialize;

/// Training rows that are looked through.
pub const ROWS: usize = 3000;

/// A context.
#[derive(Clone, Debug, PartialEq)]
pub enum Context {
    /// Numbers of length 1.
    Numbers(Vec<f32>),
    /// Words with their weights, of length 1.
    Words(BTreeMap<String, f32>),
}

/// `1 / |x|`; 1 for zeros, which stay.
fn scale(squares: f32) -> f32 {
    if squares > 0.0 { 1.0 / squares.sqrt() } else { 1.0 }
}

impl Context {
    /// Of numbers.
    pub fn of_numbers(mut numbers: Vec<f32>) -> Self {
        let scale = scale(numbers.iter().map(|x| x * x).sum());
        numbers.iter_mut().for_each(|x| *x *= scale);
        Context::Numbers(numbers)
    }

    /// Of words, each as much as it is looked at; one that stands there twice counts twice.
    pub fn of_words<'a>(words: impl IntoIterator<Item = (&'a str, f32)>) -> Self {
        let mut sums: BTreeMap<String, f32> = BTreeMap::new();
        for (word, weight) in words {
            *sums.entry(word.to_lowercase()).or_default() += weight;
        }
        let scale = scale(sums.values().map(|x| x * x).sum());
        sums.values_mut().for_each(|x| *x *= scale);
        Context::Words(sums)
    }

    /// The cosine of two contexts; none of two that cannot be compared.
    pub fn cosine(&self, other: &Context) -> Option<f32> {
        match (self, other) {
            (Context::Numbers(a), Context::Numbers(b)) if a.len() == b.len() => Some(a.iter().zip(b).map(|(a, b)| a * b).sum()),
            (Context::Words(a), Context::Words(b)) => Some(a.iter().filter_map(|(word, x)| b.get(word).map(|y| x * y)).sum()),
            _ => None,
        }
    }
}

/// The contexts of training rows.
#[derive(Clone, Debug, Default)]
pub struct Contexts {
    /// What was read, and what was right.
    rows: Vec<(String, String)>,
    steps: Vec<Step>,
}

/// One context and where it stands.
#[derive(Clone, Debug)]
struct Step {
    row: usize,
    /// Of a model that writes, the step and its unit.
    step: Option<(usize, Option<String>)>,
    context: Context,
}

/// A training row that is near.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Seen {
    /// What was read.
    pub source: String,
    /// What was right.
    pub target: String,
    /// Which unit of the target was written, from 0, by a model that writes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<usize>,
    /// The unit; none for the end.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub token: Option<String>,
    /// The cosine of the two contexts.
    pub cosine: f32,
}

impl Contexts {
    /// A row with one context.
    pub fn add(&mut self, row: (String, String), context: Context) {
        self.add_steps(row, [(None, context)]);
    }

    /// A row with a context for each step.
    pub fn add_steps(&mut self, row: (String, String), steps: impl IntoIterator<Item = (Option<(usize, Option<String>)>, Context)>) {
        self.steps.extend(steps.into_iter().map(|(step, context)| Step { row: self.rows.len(), step, context }));
        self.rows.push(row);
    }

    /// The rows nearest to a context, the nearest first; of each row the nearest step.
    pub fn nearest(&self, to: &Context, count: usize) -> Vec<Seen> {
        let mut order: Vec<(f32, &Step)> = self.steps.iter().filter_map(|step| Some((to.cosine(&step.context)?, step))).collect();
        order.sort_by(|a, b| b.0.total_cmp(&a.0));
        let mut found: Vec<(usize, Seen)> = Vec::new();
        for (cosine, Step { row, step, .. }) in order {
            if found.len() == count {
                break;
            }
            if found.iter().all(|(other, _)| other != row) {
                let (source, target) = self.rows[*row].clone();
                let (step, token) = step.clone().map_or((None, None), |(step, token)| (Some(step), token));
                found.push((*row, Seen { source, target, step, token, cosine }));
            }
        }
        found.into_iter().map(|(_, seen)| seen).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_nearest_step_of_each_row() {
        let mut contexts = Contexts::default();
        let row = |name: &str| (name.to_string(), format!("{name}!"));
        let numbers = |x: f32, y: f32| Context::of_numbers(vec![x, y]);
        contexts.add_steps(row("a"), [(Some((0, Some("x".into()))), numbers(1.0, 0.0)), (Some((1, None)), numbers(3.0, 4.0))]);
        contexts.add_steps(row("b"), [(Some((0, Some("y".into()))), numbers(0.0, 0.0)), (Some((1, None)), numbers(-1.0, 0.0))]);
        let found = contexts.nearest(&numbers(6.0, 8.0), 5);
        let told: Vec<_> = found.iter().map(|s| (s.source.as_str(), s.target.as_str(), s.step, s.token.as_deref(), s.cosine)).collect();
        assert_eq!(told, [("a", "a!", Some(1), None, 1.0), ("b", "b!", Some(0), Some("y"), 0.0)]);
        assert_eq!(contexts.nearest(&numbers(6.0, 8.0), 1).len(), 1);
        // Contexts of another kind, or of another size, are not compared.
        assert!(contexts.nearest(&Context::of_words([("a", 1.0)]), 5).is_empty());
        assert!(contexts.nearest(&Context::of_numbers(vec![1.0]), 5).is_empty());
    }

    #[test]
    fn words_are_as_near_as_they_are_looked_at() {
        let one = Context::of_words([("Not", 0.6), ("good", 0.8)]);
        assert!((one.cosine(&Context::of_words([("not", 3.0)])).unwrap_or_default() - 0.6).abs() < 1e-6);
        assert!((one.cosine(&Context::of_words([("good", 1.0), ("not", 0.5), ("not", 0.25)])).unwrap_or_default() - 1.0).abs() < 1e-6);
        assert_eq!(one.cosine(&Context::of_words([])), Some(0.0));
    }
}
