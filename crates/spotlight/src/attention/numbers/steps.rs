//! The way of one score, step by step, as one would go it by hand. The scores themselves are computed by the code that models use; a test compares.

use super::Numbers;
use crate::attention::ScoreKind;

/// One line of the way to a score.
#[derive(Clone, Debug, PartialEq)]
pub(super) enum Step {
    /// A vector: what it is, and its numbers.
    Vector(&'static str, Vec<f64>),
    /// A sum of products of two numbers each: what it is, the pairs, what is added to them, and the sum.
    Sum(&'static str, Vec<(f64, f64)>, Option<f64>, f64),
    /// A number: what it is, how it is computed, and what comes out. In the text `{}` stands for one of the numbers.
    Number(&'static str, &'static str, Vec<f64>, f64),
}

impl Step {
    /// What comes out of a step that has one number.
    pub fn value(&self) -> Option<f64> {
        match self {
            Step::Vector(..) => None,
            Step::Sum(_, _, _, value) | Step::Number(_, _, _, value) => Some(*value),
        }
    }
}

/// The letters of a score's formula, and the parameters they stand for.
pub(super) fn letters(score: ScoreKind) -> &'static [(&'static str, &'static str)] {
    match score {
        ScoreKind::Linear => &[("w", "w")],
        ScoreKind::Tanh => &[("w", "w"), ("b", "b")],
        ScoreKind::Gated => &[("V", "tanh.weight"), ("U", "gate.weight"), ("w", "w")],
        ScoreKind::Dot | ScoreKind::ScaledDot | ScoreKind::Cosine => &[],
        ScoreKind::General => &[("W", "weight")],
        ScoreKind::Concat => &[("W", "weight"), ("v", "v")],
        ScoreKind::Additive => &[("W", "query.weight"), ("U", "memory.weight"), ("v", "v")],
        ScoreKind::Location => {
            &[("W", "query.weight"), ("U", "memory.weight"), ("v", "v"), ("F", "location.kernel"), ("L", "location.weight")]
        }
    }
}

impl Numbers {
    /// What is computed once, of the query alone.
    pub(super) fn asked_once(&self) -> Vec<Step> {
        let q = &self.example.query;
        match self.example.score {
            ScoreKind::Additive => vec![Step::Vector("W q", self.times("query.weight", q))],
            ScoreKind::Location => vec![
                Step::Vector("W q", self.times("query.weight", q)),
                Step::Vector("a (the weights of the step before)", (0..self.scores.len()).map(|row| self.last_weight(row)).collect()),
            ],
            ScoreKind::Cosine => vec![length("|q|", q)],
            _ => Vec::new(),
        }
    }

    /// The way to the score of a row of the memory; the last step gives it.
    pub(super) fn way(&self, row: usize) -> Vec<Step> {
        let (k, q) = (&self.example.memory[row], &self.example.query);
        let rows = |name: &str| self.rows(name);
        match self.example.score {
            ScoreKind::Dot => vec![sum("q . k", k, q, None)],
            ScoreKind::ScaledDot => {
                let product = sum("q . k", k, q, None);
                let (value, width) = (product.value().unwrap_or(f64::NAN), k.len() as f64);
                vec![product, Step::Number("q . k / √M", "{} / √{}", vec![value, width], value / width.sqrt())]
            }
            ScoreKind::Cosine => {
                let (product, size) = (sum("q . k", k, q, None), length("|k|", k));
                let numbers = [product.value(), length("", q).value(), size.value()].map(|x| x.unwrap_or(f64::NAN));
                // A vector of zeros has no direction.
                let lengths = numbers[1] * numbers[2];
                let value = if lengths > 0.0 { numbers[0] / lengths } else { 0.0 };
                vec![product, size, Step::Number("q . k / (|q| |k|)", "{} / ({} x {})", numbers.to_vec(), value)]
            }
            ScoreKind::Linear => vec![sum("w . k", &rows("w").concat(), k, None)],
            ScoreKind::Tanh => {
                let inner = sum("w . k + b", &rows("w").concat(), k, rows("b").concat().first().copied());
                let x = inner.value().unwrap_or(f64::NAN);
                vec![inner, Step::Number("tanh(w . k + b)", "tanh({})", vec![x], x.tanh())]
            }
            ScoreKind::Gated => {
                let (content, gate) = (self.times("tanh.weight", k), self.times("gate.weight", k));
                let (bent, open) = (
                    content.iter().map(|x| x.tanh()).collect::<Vec<_>>(),
                    gate.iter().map(|x| 1.0 / (1.0 + (-x).exp())).collect::<Vec<_>>(),
                );
                let both: Vec<f64> = bent.iter().zip(&open).map(|(a, b)| a * b).collect();
                let last = sum("w . (tanh(V k) * σ(U k))", &rows("w").concat(), &both, None);
                vec![
                    Step::Vector("V k", content),
                    Step::Vector("tanh(V k)", bent),
                    Step::Vector("U k", gate),
                    Step::Vector("σ(U k)", open),
                    Step::Vector("tanh(V k) * σ(U k)", both),
                    last,
                ]
            }
            ScoreKind::General => {
                let turned = self.times("weight", k);
                let last = sum("q . (W k)", q, &turned, None);
                vec![Step::Vector("W k", turned), last]
            }
            ScoreKind::Concat => {
                self.through_tanh(Vec::new(), self.times("weight", &[q.as_slice(), k].concat()), "W [q; k]", "tanh(W [q; k])")
            }
            ScoreKind::Additive => {
                let (asked, key) = (self.times("query.weight", q), self.times("memory.weight", k));
                let inner = add(&asked, &key);
                self.through_tanh(vec![Step::Vector("U k", key)], inner, "W q + U k", "tanh(W q + U k)")
            }
            ScoreKind::Location => {
                let (asked, key, seen) = (self.times("query.weight", q), self.times("memory.weight", k), self.seen_before(row));
                let place = self.times("location.weight", &seen);
                let inner = add(&add(&asked, &key), &place);
                let before = vec![Step::Vector("U k", key), Step::Vector("f = F over a", seen), Step::Vector("L f", place)];
                self.through_tanh(before, inner, "W q + U k + L f", "tanh(W q + U k + L f)")
            }
        }
    }

    /// The hidden layer of a score, its tanh, and the sum with `v`.
    fn through_tanh(&self, mut steps: Vec<Step>, inner: Vec<f64>, name: &'static str, bent_name: &'static str) -> Vec<Step> {
        let bent: Vec<f64> = inner.iter().map(|x| x.tanh()).collect();
        let last = sum("v . tanh(...)", &self.rows("v").concat(), &bent, None);
        steps.extend([Step::Vector(name, inner), Step::Vector(bent_name, bent), last]);
        steps
    }

    /// The weight of a row in the step before.
    fn last_weight(&self, row: usize) -> f64 {
        self.example.previous.get(row).copied().unwrap_or(0.0)
    }

    /// The weights of the step before under each filter, centred at a row.
    fn seen_before(&self, row: usize) -> Vec<f64> {
        let under = |filter: &Vec<f64>| {
            let place = |t: usize| (row + t).checked_sub(filter.len() / 2).filter(|&at| at < self.example.memory.len());
            filter.iter().enumerate().filter_map(|(t, x)| place(t).map(|at| x * self.last_weight(at))).sum()
        };
        self.rows("location.kernel").iter().map(under).collect()
    }

    /// The rows of a parameter.
    fn rows(&self, name: &str) -> Vec<Vec<f64>> {
        self.parameters.iter().find(|p| p.name == name).map_or_else(Vec::new, |p| p.rows.clone())
    }

    /// A matrix times a vector.
    fn times(&self, name: &str, x: &[f64]) -> Vec<f64> {
        self.rows(name).iter().map(|row| row.iter().zip(x).map(|(a, b)| a * b).sum()).collect()
    }
}

fn add(a: &[f64], b: &[f64]) -> Vec<f64> {
    a.iter().zip(b).map(|(a, b)| a + b).collect()
}

fn sum(name: &'static str, a: &[f64], b: &[f64], more: Option<f64>) -> Step {
    let pairs: Vec<(f64, f64)> = a.iter().copied().zip(b.iter().copied()).collect();
    let value = pairs.iter().map(|(a, b)| a * b).sum::<f64>() + more.unwrap_or(0.0);
    Step::Sum(name, pairs, more, value)
}

fn length(name: &'static str, x: &[f64]) -> Step {
    let squares = x.iter().map(|x| x * x).sum::<f64>();
    Step::Number(name, "√{}", vec![squares], squares.sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::attention::numbers::Example;

    /// Done by hand it comes to the same as done by the models' code, for every score.
    #[test]
    fn the_way_ends_at_the_score() {
        for &score in ScoreKind::ALL {
            let example = Example { score, previous: vec![0.2, 0.7, 0.1], ..Example::worked().unwrap() };
            let numbers = Numbers::compute(&example).unwrap();
            for (row, &want) in numbers.scores.iter().enumerate() {
                let way = numbers.way(row);
                let got = way.last().and_then(Step::value).unwrap();
                assert!((got - want).abs() < 1e-12, "{score}, row {row}: {got} is not {want}");
                assert!(way.len() > 1 || matches!(score, ScoreKind::Dot | ScoreKind::Linear), "{score} is more than one step");
            }
            let names: Vec<&str> = letters(score).iter().map(|(_, name)| *name).collect();
            assert_eq!(names, numbers.parameters.iter().map(|p| p.name.as_str()).collect::<Vec<_>>(), "{score}");
            assert!(letters(score).iter().all(|(letter, _)| score.formula().contains(letter) || *letter == "F"), "{score}");
        }
        let zeros = Example { score: ScoreKind::Cosine, memory: vec![vec![0.0; 4]], ..Example::worked().unwrap() };
        let numbers = Numbers::compute(&zeros).unwrap();
        assert_eq!((numbers.scores[0], numbers.way(0).last().unwrap().value()), (0.0, Some(0.0)));
    }
}
