//! Attention with all its numbers on the table.
//!
//! For teaching, and for trying a score by hand: a memory of a few vectors, a query, and every number on the way from scores to context, computed by the same code
//! that models use. A second softmax over words can follow. [`Numbers`] prints itself.
//!
//! ```
//! use spotlight::attention::ScoreKind;
//! use spotlight::attention::numbers::{Example, Numbers};
//!
//! let numbers = Numbers::compute(&Example::worked()?)?;
//! let rounded = |x: &[f64]| x.iter().map(|x| format!("{x:.3}")).collect::<Vec<_>>();
//! assert_eq!(rounded(&numbers.scores), ["1.097", "1.030", "0.910"]);
//! assert_eq!(rounded(&numbers.weights), ["0.362", "0.338", "0.300"]);
//! assert_eq!(rounded(&numbers.context), ["0.529", "0.231", "0.682", "0.455"]);
//!
//! let words = numbers.prediction.as_ref().unwrap();
//! assert_eq!(rounded(&words.probabilities), ["0.739", "0.085", "0.077", "0.008", "0.091"]);
//!
//! // The same vectors under another score.
//! let numbers = Numbers::compute(&Example { score: ScoreKind::Cosine, ..Example::worked()? })?;
//! println!("{numbers}");
//! # Ok::<(), spotlight::attention::numbers::NumbersError>(())
//! ```

mod file;
mod print;
mod steps;

pub use file::NumbersError;

use super::{Attention, AttentionConfig, Question, ScoreKind};
use crate::axis::Axis;
use crate::params::Params;
use crate::tape::{Tape, Var};
use crate::{Error, Result};

/// Parameters that a file does not give are drawn from this seed.
const SEED: u64 = 42;

/// What to compute with: see [`Example::parse`] for how it is written down.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    /// Which score.
    pub score: ScoreKind,
    /// The rows of the memory, all of one width.
    pub memory: Vec<Vec<f64>>,
    /// Who asks. A score without a query does not look at it.
    pub query: Vec<f64>,
    /// The weights of the step before, for the score "location"; zeros if empty.
    pub previous: Vec<f64>,
    /// Parameters of the score by name, row after row; those not given are drawn.
    pub parameters: Vec<(String, Vec<f64>)>,
    /// What follows the context.
    pub prediction: Option<Matrices>,
}

/// The matrices of the second softmax.
#[derive(Clone, Debug, PartialEq)]
pub struct Matrices {
    /// `Wc`, in `h = tanh(Wc [c; q])`: rows.
    pub combine: Vec<Vec<f64>>,
    /// `Ws`, in `p = softmax(Ws h)`: rows.
    pub output: Vec<Vec<f64>>,
}

/// A parameter that took part.
#[derive(Clone, Debug, PartialEq)]
pub struct Parameter {
    /// Its name.
    pub name: String,
    /// Its rows.
    pub rows: Vec<Vec<f64>>,
    /// Whether it was given; else it was drawn.
    pub given: bool,
}

/// Every number from the scores to the context, and on to the words.
#[derive(Clone, Debug, PartialEq)]
pub struct Numbers {
    /// What went in.
    pub example: Example,
    /// The score's parameters.
    pub parameters: Vec<Parameter>,
    /// One per row of the memory.
    pub scores: Vec<f64>,
    /// What was subtracted from the scores before the exponential: 0 unless one is so large that it would overflow.
    pub shift: f64,
    /// `e^(score - shift)`
    pub exponentials: Vec<f64>,
    /// Their sum.
    pub total: f64,
    /// `e^(score - shift) / total`
    pub weights: Vec<f64>,
    /// Each row of the memory times its weight.
    pub weighted: Vec<Vec<f64>>,
    /// Their sum.
    pub context: Vec<f64>,
    /// The second softmax.
    pub prediction: Option<Prediction>,
}

/// The numbers of the second softmax.
#[derive(Clone, Debug, PartialEq)]
pub struct Prediction {
    /// `[c; q]`
    pub combined: Vec<f64>,
    /// `tanh(Wc [c; q])`
    pub state: Vec<f64>,
    /// `Ws h`
    pub logits: Vec<f64>,
    /// `softmax(Ws h)`
    pub probabilities: Vec<f64>,
}

impl Numbers {
    /// Computes all of it.
    pub fn compute(example: &Example) -> Result<Self, NumbersError> {
        let (width, rows) = (example.memory.first().map_or(0, Vec::len), example.memory.len());
        let mut params = Params::<f64>::new(SEED);
        let mut config = AttentionConfig::new(example.score);
        // A handful of vectors is no place for the usual ten filters of fifteen positions.
        (config.score.filters, config.score.filter_width) = (2, 3);
        let attention = Attention::new(&mut params, "score", &config, example.query.len(), width)?;
        let parameters = fill(&mut params, &example.parameters)?;

        let tape = Tape::new(&params);
        let axis = Axis::new([rows]);
        let memory = tape.on_axis(tape.table(rows, width, example.memory.concat())?, &axis)?;
        let query = row(&tape, &example.query)?;
        let mut question = Question::of_items(Some(query), &[0], &axis, 0)?;
        let previous = if example.previous.is_empty() { vec![0.0; rows] } else { example.previous.clone() };
        question.previous = Some(tape.table(rows, 1, previous)?);
        let attended = attention.attend(&tape, &attention.prepare(&tape, memory)?, &question)?;

        let (scores, weights) = (tape.to_vec(attended.scores), tape.to_vec(attended.weights));
        let largest = scores.iter().fold(f64::NEG_INFINITY, |a, &b| a.max(b));
        let shift = if largest.abs() > 50.0 { largest } else { 0.0 };
        let exponentials: Vec<f64> = scores.iter().map(|s| (s - shift).exp()).collect();
        let weighted = example.memory.iter().zip(&weights).map(|(row, w)| row.iter().map(|x| w * x).collect()).collect();
        let prediction = example.prediction.as_ref().map(|m| predict(&tape, m, attended.context, query)).transpose()?;
        Ok(Numbers {
            example: example.clone(),
            parameters,
            total: exponentials.iter().sum(),
            weighted,
            context: tape.to_vec(attended.context),
            scores,
            shift,
            exponentials,
            weights,
            prediction,
        })
    }
}

/// Puts the given numbers into the parameters, and lists all of them.
fn fill(params: &mut Params<f64>, given: &[(String, Vec<f64>)]) -> Result<Vec<Parameter>, NumbersError> {
    for (name, numbers) in given {
        let id = params.find(&format!("score.{name}")).ok_or_else(|| {
            let known: Vec<&str> = params.names().filter_map(|name| name.strip_prefix("score.")).collect();
            let expected =
                if known.is_empty() { "none: this score has no parameters".into() } else { format!("one of {}", known.join(", ")) };
            Error::Value { what: "the parameter".into(), got: format!("{name:?}"), expected }
        })?;
        let (rows, cols) = params.entry(id).table();
        if numbers.len() != rows * cols {
            let (what, got) = (format!("the parameter {name:?}"), format!("{} numbers", numbers.len()));
            return Err(Error::Value { what, got, expected: format!("{rows} x {cols}") }.into());
        }
        params.get_mut(id).copy_from_slice(numbers);
    }
    let parameter = |entry: &crate::params::Entry| {
        let name = entry.name.strip_prefix("score.").unwrap_or(&entry.name).to_string();
        let rows = params.flat()[entry.range.clone()].chunks(entry.table().1.max(1)).map(<[f64]>::to_vec).collect();
        let given = given.iter().any(|(given, _)| *given == name);
        Parameter { name, rows, given }
    };
    Ok(params.entries().iter().map(parameter).collect())
}

/// `softmax(Ws tanh(Wc [c; q]))`
fn predict(tape: &Tape<f64>, matrices: &Matrices, context: Var, query: Var) -> Result<Prediction> {
    let combined = tape.concat(&[context, query])?;
    let state = tape.tanh(product(tape, &matrices.combine, combined)?);
    let logits = product(tape, &matrices.output, state)?;
    let words = Axis::new([matrices.output.len()]);
    let column = tape.on_axis(tape.table(words.rows(), 1, tape.to_vec(logits))?, &words)?;
    let probabilities = tape.to_vec(tape.softmax(column)?);
    Ok(Prediction { combined: tape.to_vec(combined), state: tape.to_vec(state), logits: tape.to_vec(logits), probabilities })
}

fn row(tape: &Tape<f64>, numbers: &[f64]) -> Result<Var> {
    tape.table(1, numbers.len(), numbers.to_vec())
}

/// Every row of a matrix with a vector.
fn product(tape: &Tape<f64>, matrix: &[Vec<f64>], vector: Var) -> Result<Var> {
    let products = matrix.iter().map(|numbers| tape.dot(row(tape, numbers)?, vector)).collect::<Result<Vec<_>>>()?;
    tape.concat(&products)
}
