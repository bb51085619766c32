//! Lines to be answered. Unlike examples, each is a result of its own, for the lines that can be read are answered whatever the others are, and an empty line is an
//! empty text. They come one at a time, as soon as they are there.

use std::io::BufRead;
use std::path::{Path, PathBuf};

use super::columns::{Columns, Kind};
use super::fields::{Field, Shape};
use super::format::{Header, TableFormat};
use super::rows::{Row, Rows};
use super::table::{LABELLED, QUESTIONS, Question, SOURCES, TWO, Table, WITH_ID, check_length};
use crate::text::{Fault, Line, TextError};

/// What is to be transduced: a line of input for prediction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SourceText {
    /// The source; empty for an empty line.
    pub source: String,
    /// Its features, if the model has any.
    pub features: Option<String>,
    /// Where it stands, counted from 1.
    pub line: usize,
}

/// A text to be labelled: a line of input for prediction.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InputText {
    /// The text; empty for an empty line.
    pub text: String,
    /// What stands behind it, as the label does in a file of examples.
    pub label: Option<String>,
    /// Where it stands, counted from 1.
    pub line: usize,
}

impl<R: BufRead> Table<R> {
    /// Sources to transduce, with features if the model has them. A file of pairs works too: its target is ignored.
    ///
    /// | columns | without features | with features |
    /// |---|---|---|
    /// | 1 | source | an error, unless the line is empty |
    /// | 2 | source, target | source, features |
    /// | 3 | an error | source, target, features |
    ///
    /// Columns asked for with [`TableFormat::columns`](super::TableFormat::columns) have the same meaning.
    ///
    /// ```
    /// use spotlight::text::read::{Table, TableFormat};
    ///
    /// let format = TableFormat { longest: 8, ..TableFormat::default() };
    /// let lines = "march 15\n\nmarch the fifteenth\n";
    /// let answers: Vec<_> = Table::new(lines.as_bytes(), "-", &format).sources(false)?.collect();
    /// assert_eq!(answers[0].as_ref().unwrap().source, "march 15");
    /// assert_eq!(answers[1].as_ref().unwrap().source, "");
    /// assert!(answers[2].as_ref().unwrap_err().to_string().starts_with("-:3:1: the source has 19 characters, more than data.longest = 8"));
    /// # Ok::<(), spotlight::text::TextError>(())
    /// ```
    pub fn sources(self, with_features: bool) -> Result<impl Iterator<Item = Result<SourceText, TextError>> + use<R>, TextError> {
        self.inputs(if with_features { &SOURCES } else { &TWO }, move |path, row, shape| source(path, row, shape, with_features))
    }

    /// Texts to label: the first column, whatever follows it.
    pub fn texts(self) -> Result<impl Iterator<Item = Result<InputText, TextError>> + use<R>, TextError> {
        self.inputs(&LABELLED, |_, row, _| {
            Ok(InputText { text: row.fields[0].text.clone(), label: row.fields.get(1).map(|f| f.text.trim().to_string()), line: row.line })
        })
    }

    /// Questions with candidate answers to rank; with an `id_column`, it is the first. A mark of 0 or 1 may follow and is not read: `relevant` is always false.
    pub fn candidates(self, id_column: bool) -> Result<impl Iterator<Item = Result<Question, TextError>> + use<R>, TextError> {
        self.inputs(if id_column { &WITH_ID } else { &QUESTIONS }, move |path, row, shape| candidate(path, row, shape, id_column))
    }

    /// Applies `example` to every row, reduced to the columns asked for if any are.
    fn inputs<T>(
        self,
        kind: &'static Kind,
        example: impl Fn(&Path, &Row, Shape) -> Result<T, TextError>,
    ) -> Result<impl Iterator<Item = Result<T, TextError>>, TextError> {
        let Self { lines, format } = self;
        format.check()?;
        let shape = format.shape(lines.path(), '\t')?;
        let mut reader = Inputs { path: lines.path().to_owned(), rows: Rows::new(lines, shape), format, kind, columns: None, over: false };
        Ok(std::iter::from_fn(move || {
            let row = reader.next_row().transpose()?;
            Some(row.and_then(|row| example(&reader.path, &row, shape)))
        }))
    }
}

struct Inputs<R> {
    path: PathBuf,
    rows: Rows<R>,
    format: TableFormat,
    kind: &'static Kind,
    /// Known once a line has been seen that is not blank.
    columns: Option<Columns>,
    /// Whether nothing more can be read.
    over: bool,
}

impl<R: BufRead> Inputs<R> {
    /// The next row that is not a header, with the columns asked for; none at the end.
    fn next_row(&mut self) -> Result<Option<Row>, TextError> {
        if self.over {
            return Ok(None);
        }
        let Some(mut row) = self.rows.next().transpose()? else { return Ok(None) };
        if row.is_blank() {
            return Ok(Some(row));
        }
        if self.columns.is_none() && self.settle(&row)? {
            return self.next_row();
        }
        if let Some(columns) = &self.columns
            && let Some(fields) = columns.chosen(&self.path, &row)?
        {
            row.keep(&fields);
        }
        check_lengths(&self.path, &row, self.kind, self.format.longest)?;
        Ok(Some(row))
    }

    /// Learns the columns from the first row; whether it is a header.
    fn settle(&mut self, row: &Row) -> Result<bool, TextError> {
        let settle = |format: &TableFormat| Columns::settle(format, &self.path, row, self.kind);
        let (found, as_example) = (settle(&self.format), settle(&TableFormat { header: Header::No, ..self.format.clone() }));
        match found {
            Ok((columns, is_header)) => {
                self.columns = Some(columns);
                Ok(is_header)
            }
            // A line that only looks like a header is one bad line; but without its columns nothing of the input can be read.
            Err(error) => {
                match as_example {
                    Ok((columns, _)) if self.format.header == Header::Auto => self.columns = Some(columns),
                    _ => self.over = true,
                }
                Err(error)
            }
        }
    }
}

/// An error for the first field that is longer than the format allows.
fn check_lengths(path: &Path, row: &Row, kind: &Kind, longest: usize) -> Result<(), TextError> {
    for (field, Field { text, .. }) in row.fields.iter().enumerate() {
        let name = kind.roles.get(field).map_or("column", |role| role.name);
        check_length(text, name, longest).map_err(|fault| row.fault(path, field, fault))?;
    }
    Ok(())
}

/// How a line that comes alone is cut.
const TABS: Shape = Shape { separator: '\t', quotes: false };

/// A line that comes alone, its columns apart by tabs.
fn alone(path: &Path, line: &Line, kind: &Kind, longest: usize) -> Result<Row, TextError> {
    let row = Row::new(line.text.clone(), line.number, TABS);
    check_lengths(path, &row, kind, longest)?;
    Ok(row)
}

/// The source in a line that comes alone, from a terminal or a pipe: its columns are apart by tabs, and mean what they mean to [`Table::sources`].
pub fn source_of(path: &Path, line: &Line, with_features: bool, longest: usize) -> Result<SourceText, TextError> {
    source(path, &alone(path, line, if with_features { &SOURCES } else { &TWO }, longest)?, TABS, with_features)
}

/// The text in a line that comes alone; see [`Table::texts`].
pub fn text_of(path: &Path, line: &Line, longest: usize) -> Result<InputText, TextError> {
    let row = alone(path, line, &LABELLED, longest)?;
    Ok(InputText { text: row.fields[0].text.clone(), label: row.fields.get(1).map(|f| f.text.trim().to_string()), line: row.line })
}

/// The question and the answer in a line that comes alone; see [`Table::candidates`].
pub fn candidate_of(path: &Path, line: &Line, id_column: bool, longest: usize) -> Result<Question, TextError> {
    candidate(path, &alone(path, line, if id_column { &WITH_ID } else { &QUESTIONS }, longest)?, TABS, id_column)
}

fn source(path: &Path, row: &Row, shape: Shape, with_features: bool) -> Result<SourceText, TextError> {
    let text = |field: usize| row.fields[field].text.clone();
    let features = match (row.fields.len(), with_features) {
        (1 | 2, false) => None,
        (1, true) if row.fields[0].text.is_empty() => Some(String::new()),
        (found @ (2 | 3), true) => Some(text(found - 1)),
        (found, _) => {
            let (expected, names) = if with_features { (2, "source, features") } else { (1, "source") };
            return Err(TextError::at(path, row.line, None, count_fault(expected, found, names, shape.separator)));
        }
    };
    Ok(SourceText { source: text(0), features, line: row.line })
}

fn candidate(path: &Path, row: &Row, shape: Shape, id_column: bool) -> Result<Question, TextError> {
    let skip = usize::from(id_column);
    let (found, expected) = (row.fields.len(), skip + 2);
    if !(expected..=expected + 1).contains(&found) {
        let names = if id_column { "id, question, answer" } else { "question, answer" };
        return Err(row.fault(path, found.min(expected + 1), count_fault(expected, found, names, shape.separator)));
    }
    let text = |field: usize| row.fields[field].text.clone();
    Ok(Question { id: id_column.then(|| text(0)), question: text(skip), answer: text(skip + 1), relevant: false, line: row.line })
}

fn count_fault(expected: usize, found: usize, names: &'static str, separator: char) -> Fault {
    match found < expected {
        true => Fault::MissingColumn { expected, found, names, separator },
        false => Fault::ExtraColumn { expected, found, names, separator },
    }
}
