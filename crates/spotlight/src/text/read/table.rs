//! Tab-separated files: pairs, labelled texts, questions.

use std::collections::HashMap;
use std::path::Path;

use crate::text::{Fault, Line, Lines, TextError};

/// A source and its target, with features of the source if the file has them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Pair {
    /// What is given.
    pub source: String,
    /// What it becomes; may be empty.
    pub target: String,
    /// The third column, such as `N;GEN;SG`.
    pub features: Option<String>,
    /// Where it stands, counted from 1.
    pub line: usize,
}

/// A text and its label.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Labelled {
    /// The text.
    pub text: String,
    /// Its label.
    pub label: String,
    /// Where it stands, counted from 1.
    pub line: usize,
}

/// A question, a candidate answer, and whether it is one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Question {
    /// What rows of one question share, if the file has an id column.
    pub id: Option<String>,
    /// The question.
    pub question: String,
    /// The candidate.
    pub answer: String,
    /// Whether the candidate answers the question.
    pub relevant: bool,
    /// Where it stands, counted from 1.
    pub line: usize,
}

/// Whether a file of pairs has a third column of features.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ThirdColumn {
    /// As the first line has it.
    #[default]
    AsFirstLine,
    /// Every line must have one.
    Features,
    /// No line may have one.
    Absent,
}

/// Reads pairs of source and target.
///
/// ```no_run
/// use spotlight::text::read::{ThirdColumn, pairs};
///
/// for pair in pairs("train.tsv", ThirdColumn::AsFirstLine)? {
///     println!("{}: {} -> {}", pair.line, pair.source, pair.target);
/// }
/// # Ok::<(), spotlight::text::TextError>(())
/// ```
pub fn pairs(path: impl AsRef<Path>, third: ThirdColumn) -> Result<Vec<Pair>, TextError> {
    const TWO: Columns = Columns { count: 2, names: "source, target" };
    const THREE: Columns = Columns { count: 3, names: "source, target, features" };
    let path = path.as_ref();
    let mut columns = match third {
        ThirdColumn::AsFirstLine => None,
        ThirdColumn::Features => Some(THREE),
        ThirdColumn::Absent => Some(TWO),
    };
    read_rows(path, "one pair per line: source, a tab, target", |line| {
        let as_here = if line.text.matches('\t').count() == 2 { THREE } else { TWO };
        let row = columns.get_or_insert(as_here).split(path, line)?;
        Ok(Pair {
            source: row.filled(0, "source")?,
            target: row.text(1),
            features: (row.fields.len() == 3).then(|| row.text(2)),
            line: line.number,
        })
    })
}

/// Reads texts with their labels.
pub fn labelled(path: impl AsRef<Path>) -> Result<Vec<Labelled>, TextError> {
    const COLUMNS: Columns = Columns { count: 2, names: "text, label" };
    let path = path.as_ref();
    read_rows(path, "one example per line: text, a tab, label", |line| {
        let row = COLUMNS.split(path, line)?;
        Ok(Labelled { text: row.filled(0, "text")?, label: row.filled(1, "label")?.trim().to_owned(), line: line.number })
    })
}

/// Reads questions with candidate answers; with an `id_column`, it is the first.
pub fn questions(path: impl AsRef<Path>, id_column: bool) -> Result<Vec<Question>, TextError> {
    let (columns, skip) = match id_column {
        true => (Columns { count: 4, names: "id, question, answer, 0 or 1" }, 1),
        false => (Columns { count: 3, names: "question, answer, 0 or 1" }, 0),
    };
    let path = path.as_ref();
    read_rows(path, "one candidate per line: question, a tab, answer, a tab, 0 or 1", |line| {
        let row = columns.split(path, line)?;
        let relevant = match row.fields[skip + 2].trim() {
            "0" => false,
            "1" => true,
            found => {
                return Err(row.fault(skip + 2, Fault::NotZeroOne { found: found.to_owned() }));
            }
        };
        Ok(Question {
            id: if id_column { Some(row.filled(0, "id")?) } else { None },
            question: row.filled(skip, "question")?,
            answer: row.filled(skip + 1, "answer")?,
            relevant,
            line: line.number,
        })
    })
}

/// The rows of each question, as positions among `rows`: those with the same id wherever they stand, or, without ids, those
/// with the same question that stand together. Groups come in the order of their first rows.
pub fn question_groups(rows: &[Question]) -> Vec<Vec<usize>> {
    let mut groups: Vec<Vec<usize>> = Vec::new();
    let mut group_of_id: HashMap<&str, usize> = HashMap::new();
    for (position, row) in rows.iter().enumerate() {
        let group = match &row.id {
            Some(id) => *group_of_id.entry(id).or_insert(groups.len()),
            None if position > 0 && rows[position - 1].question == row.question => groups.len() - 1,
            None => groups.len(),
        };
        if group == groups.len() {
            groups.push(Vec::new());
        }
        groups[group].push(position);
    }
    groups
}

/// What is to be transduced: a line of input for prediction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceText {
    /// The source; empty for an empty line.
    pub source: String,
    /// Its features, if the model has any.
    pub features: Option<String>,
}

/// The source in a line of input for prediction. A file of pairs works too: its target is ignored.
///
/// | columns | without features | with features |
/// |---|---|---|
/// | 1 | source | an error, unless the line is empty |
/// | 2 | source, target | source, features |
/// | 3 | an error | source, target, features |
pub fn source_of(path: &Path, line: &Line, with_features: bool) -> Result<SourceText, TextError> {
    let fields: Vec<&str> = line.text.split('\t').collect();
    let names = if with_features { "source, features" } else { "source" };
    let features = match (fields.len(), with_features) {
        (1 | 2, false) => None,
        (1, true) if line.text.is_empty() => Some(""),
        (2 | 3, true) => fields.last().copied(),
        (found, _) => {
            let expected = 1 + usize::from(with_features);
            let fault = match found < expected {
                true => Fault::MissingColumn { expected, found, names },
                false => Fault::ExtraColumn { expected, found, names },
            };
            return Err(TextError::at(path, line.number, None, fault));
        }
    };
    Ok(SourceText { source: fields[0].to_owned(), features: features.map(str::to_owned) })
}

/// Applies `example` to every line; an empty line or a file without lines is an error.
fn read_rows<T>(path: &Path, expected: &'static str, mut example: impl FnMut(&Line) -> Result<T, TextError>) -> Result<Vec<T>, TextError> {
    let mut examples = Vec::new();
    for line in Lines::open(path)? {
        let line = line?;
        if line.text.trim().is_empty() {
            return Err(TextError::at(path, line.number, None, Fault::EmptyLine));
        }
        examples.push(example(&line)?);
    }
    if examples.is_empty() {
        return Err(TextError::EmptyFile { path: path.to_owned(), expected });
    }
    Ok(examples)
}

/// The columns a file should have.
#[derive(Clone, Copy)]
struct Columns {
    count: usize,
    names: &'static str,
}

impl Columns {
    fn split<'a>(&self, path: &'a Path, line: &'a Line) -> Result<Row<'a>, TextError> {
        let row = Row { path, line: line.number, fields: line.text.split('\t').collect() };
        let &Self { count: expected, names } = self;
        let found = row.fields.len();
        if found < expected {
            return Err(TextError::at(path, line.number, line.text.len() + 1, Fault::MissingColumn { expected, found, names }));
        }
        if found > expected {
            return Err(row.fault(expected, Fault::ExtraColumn { expected, found, names }));
        }
        Ok(row)
    }
}

struct Row<'a> {
    path: &'a Path,
    line: usize,
    fields: Vec<&'a str>,
}

impl Row<'_> {
    fn text(&self, field: usize) -> String {
        self.fields[field].to_owned()
    }

    fn filled(&self, field: usize, name: &'static str) -> Result<String, TextError> {
        if self.fields[field].trim().is_empty() {
            return Err(self.fault(field, Fault::EmptyColumn { name }));
        }
        Ok(self.text(field))
    }

    /// An error at the first byte of a field.
    fn fault(&self, field: usize, fault: Fault) -> TextError {
        let before: usize = self.fields[..field].iter().map(|field| field.len() + 1).sum();
        TextError::at(self.path, self.line, before + 1, fault)
    }
}

#[cfg(test)]
mod tests;
