//! The small file that a user writes vectors in.

use serde::Deserialize;
use toml::Spanned;

use super::{Example, Matrices};
use crate::Error;
use crate::attention::ScoreKind;

/// What can be wrong with a file of vectors, or with computing on it.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum NumbersError {
    /// The file says something that cannot be used.
    #[error("{file}, line {line}, column {column}: {problem}")]
    File {
        /// Its name.
        file: String,
        /// Line, from 1.
        line: usize,
        /// Column, from 1.
        column: usize,
        /// What is wrong, and what to do.
        problem: String,
    },
    /// The vectors and the score do not go together.
    #[error(transparent)]
    Attention(#[from] Error),
}

/// The file as it is written.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    score: Option<Spanned<String>>,
    memory: Spanned<Vec<Spanned<Vec<f64>>>>,
    query: Option<Spanned<Vec<f64>>>,
    previous: Option<Spanned<Vec<f64>>>,
    #[serde(default)]
    parameters: toml::Table,
    prediction: Option<WrittenPrediction>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenPrediction {
    combine: Spanned<Vec<Spanned<Vec<f64>>>>,
    output: Spanned<Vec<Spanned<Vec<f64>>>>,
}

/// The text, to say where something stands.
struct Source<'a> {
    file: &'a str,
    text: &'a str,
}

impl Source<'_> {
    fn error(&self, at: usize, problem: impl Into<String>) -> NumbersError {
        let before = self.text.get(..at).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.rsplit('\n').next().unwrap_or_default().chars().count() + 1;
        NumbersError::File { file: self.file.into(), line, column, problem: problem.into() }
    }

    fn numbers(&self, what: &str, numbers: &Spanned<Vec<f64>>) -> Result<Vec<f64>, NumbersError> {
        match numbers.get_ref().iter().find(|x| !x.is_finite()) {
            Some(x) => Err(self.error(numbers.span().start, format!("{what} holds {x}; every number must be finite"))),
            None => Ok(numbers.get_ref().clone()),
        }
    }

    /// Rows of one width: that of the first, or the one given.
    fn rows(&self, what: &str, rows: &Spanned<Vec<Spanned<Vec<f64>>>>, width: Option<usize>) -> Result<Vec<Vec<f64>>, NumbersError> {
        let Some(first) = rows.get_ref().first() else {
            return Err(self.error(rows.span().start, format!("{what} is empty; give at least one row, as in {what} = [[1.0, 2.0]]")));
        };
        let width = width.unwrap_or(first.get_ref().len());
        for row in rows.get_ref() {
            if row.get_ref().len() != width || width == 0 {
                let problem = format!("this row of {what} has {} numbers, but must have {}", row.get_ref().len(), width.max(1));
                return Err(self.error(row.span().start, problem));
            }
        }
        rows.get_ref().iter().map(|row| self.numbers(what, row)).collect()
    }
}

/// All numbers of a value, row after row.
fn flatten(value: &toml::Value, to: &mut Vec<f64>) -> bool {
    match value {
        toml::Value::Float(x) => to.push(*x),
        toml::Value::Integer(x) => to.push(*x as f64),
        toml::Value::Array(values) => return values.iter().all(|value| flatten(value, to)),
        _ => return false,
    }
    true
}

/// Parameters by name; `query.weight` may stand as a name in quotes or as a table in a table.
fn parameters(table: &toml::Table, prefix: &str, to: &mut Vec<(String, Vec<f64>)>) -> Result<(), String> {
    for (name, value) in table {
        let name = if prefix.is_empty() { name.clone() } else { format!("{prefix}.{name}") };
        let mut numbers = Vec::new();
        match value {
            toml::Value::Table(table) => parameters(table, &name, to)?,
            _ if flatten(value, &mut numbers) && numbers.iter().all(|x| x.is_finite()) => to.push((name, numbers)),
            _ => return Err(format!("the parameter {name:?} must be finite numbers, or rows of them")),
        }
    }
    Ok(())
}

impl Example {
    /// The worked example with three encoder states, one decoder state and five words.
    pub fn worked() -> Result<Self, NumbersError> {
        Self::parse(include_str!("worked_example.toml"), "worked_example.toml")
    }

    /// Reads a file; `file` is its name, for messages.
    ///
    /// ```
    /// use spotlight::attention::numbers::Example;
    ///
    /// let text = r#"
    /// score = "general"              # "dot" unless told
    /// memory = [[1.0, 0.0], [0.5, 2.0]]
    /// query = [0.3, 0.1, 0.2]
    ///
    /// [parameters]                   # drawn unless given
    /// weight = [[1, 0], [0, 1], [1, 1]]
    /// "#;
    /// let example = Example::parse(text, "mine.toml")?;
    /// assert_eq!(example.memory[1], [0.5, 2.0]);
    ///
    /// let wrong = Example::parse("memory = [[1.0, 2.0],\n  [3.0]]\nquery = [1.0, 2.0]", "mine.toml").unwrap_err();
    /// assert_eq!(wrong.to_string(), "mine.toml, line 2, column 3: this row of memory has 1 numbers, but must have 2");
    /// # Ok::<(), spotlight::attention::numbers::NumbersError>(())
    /// ```
    ///
    /// Beside these, `previous` holds the weights of the step before (for the score "location"), and a table `[prediction]` the matrices `combine` (`Wc`) and
    /// `output` (`Ws`) of a second softmax.
    pub fn parse(text: &str, file: &str) -> Result<Self, NumbersError> {
        let source = Source { file, text };
        let written: Written =
            toml::from_str(text).map_err(|error| source.error(error.span().map_or(0, |span| span.start), error.message().trim()))?;
        let score = match &written.score {
            Some(name) => name.get_ref().parse().map_err(|e: Error| source.error(name.span().start, e.to_string()))?,
            None => ScoreKind::Dot,
        };
        let memory = source.rows("memory", &written.memory, None)?;
        let query = written.query.as_ref().map_or(Ok(Vec::new()), |query| source.numbers("query", query))?;
        let previous = match &written.previous {
            Some(previous) if previous.get_ref().len() != memory.len() => {
                let problem = format!("previous has {} numbers, but the memory has {} rows", previous.get_ref().len(), memory.len());
                return Err(source.error(previous.span().start, problem));
            }
            Some(previous) => source.numbers("previous", previous)?,
            None => Vec::new(),
        };
        let mut given = Vec::new();
        let at = text.find("[parameters").unwrap_or(0);
        parameters(&written.parameters, "", &mut given).map_err(|problem| source.error(at, problem))?;
        let prediction = match &written.prediction {
            Some(prediction) => {
                let combine = source.rows("combine", &prediction.combine, Some(memory[0].len() + query.len()))?;
                let output = source.rows("output", &prediction.output, Some(combine.len()))?;
                Some(Matrices { combine, output })
            }
            None => None,
        };
        Ok(Example { score, memory, query, previous, parameters: given, prediction })
    }
}
