//! Tables: pairs, labelled texts, questions.

use std::collections::HashMap;
use std::io::BufRead;
use std::path::{Path, PathBuf};

use super::columns::{Columns, Kind, Role};
use super::examples::{Blanks, Examples, Note, Tally};
use super::format::TableFormat;
use super::rows::{Row, Rows};
use crate::text::{Fault, Lines, TextError};

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

/// A file of examples, or any other input, with its layout. Every reader of this module goes through it.
///
/// ```no_run
/// use spotlight::text::read::{Table, TableFormat, ThirdColumn};
///
/// let read = Table::open("train.tsv", &TableFormat::default())?.pairs(ThirdColumn::AsFirstLine)?;
/// read.notes.iter().for_each(|note| eprintln!("note: {note}"));
/// for pair in read.examples {
///     println!("{}: {} -> {}", pair.line, pair.source, pair.target);
/// }
/// # Ok::<(), spotlight::text::TextError>(())
/// ```
#[derive(Debug)]
pub struct Table<R> {
    pub(super) lines: Lines<R>,
    pub(super) format: TableFormat,
}

impl Table<Box<dyn BufRead>> {
    /// The table in a file, or in standard input for `-`. The file is read once, so it may be a pipe.
    pub fn open(path: impl AsRef<Path>, format: &TableFormat) -> Result<Self, TextError> {
        Ok(Self { lines: Lines::open_or_stdin(path)?, format: format.clone() })
    }
}

impl<R: BufRead> Table<R> {
    /// The table that `reader` gives; errors call it `path`, and its extension may say that it is CSV.
    pub fn new(reader: R, path: impl Into<PathBuf>, format: &TableFormat) -> Self {
        Self { lines: Lines::new(reader, path), format: format.clone() }
    }

    /// Reads pairs of source and target.
    pub fn pairs(self, third: ThirdColumn) -> Result<Examples<Pair>, TextError> {
        let kind = |columns: usize| match third {
            ThirdColumn::AsFirstLine if columns == 3 => &THREE,
            ThirdColumn::AsFirstLine | ThirdColumn::Absent => &TWO,
            ThirdColumn::Features => &THREE,
        };
        self.examples(kind, "one pair per line: source, a tab, target", |row| {
            Ok(Pair {
                source: row.filled(0)?,
                target: row.text(1)?,
                features: if row.kind.roles.len() == 3 { Some(row.text(2)?) } else { None },
                line: row.row.line,
            })
        })
    }

    /// Reads texts with their labels.
    pub fn labelled(self) -> Result<Examples<Labelled>, TextError> {
        self.examples(
            |_| &LABELLED,
            "one example per line: text, a tab, label",
            |row| Ok(Labelled { text: row.filled(0)?, label: row.filled(1)?.trim().to_owned(), line: row.row.line }),
        )
    }

    /// Reads questions with candidate answers; with an `id_column`, it is the first.
    pub fn questions(self, id_column: bool) -> Result<Examples<Question>, TextError> {
        let (kind, skip) = if id_column { (&WITH_ID, 1) } else { (&QUESTIONS, 0) };
        self.examples(
            |_| kind,
            "one candidate per line: question, a tab, answer, a tab, 0 or 1",
            |row| {
                let relevant = match row.text(skip + 2)?.trim() {
                    "0" => false,
                    "1" => true,
                    found => return Err(row.fault(skip + 2, Fault::NotZeroOne { found: found.to_owned() })),
                };
                Ok(Question {
                    id: if id_column { Some(row.filled(0)?) } else { None },
                    question: row.filled(skip)?,
                    answer: row.filled(skip + 1)?,
                    relevant,
                    line: row.row.line,
                })
            },
        )
    }

    /// Applies `example` to every row. `kind` tells what is read from the number of columns; `expected` says it when there is nothing.
    fn examples<T>(
        self,
        kind: impl Fn(usize) -> &'static Kind,
        expected: &'static str,
        mut example: impl FnMut(&Cells<'_>) -> Result<T, TextError>,
    ) -> Result<Examples<T>, TextError> {
        let format = self.format;
        format.check()?;
        let shape = format.shape(self.lines.path(), '\t')?;
        let mut rows = Rows::new(self.lines, shape);
        let path = rows.path().to_owned();
        let (mut blanks, mut long, mut first_long) = (Blanks::default(), Tally::default(), None);
        let mut settled: Option<(Columns, &'static Kind)> = None;
        let mut examples = Vec::new();
        while let Some(row) = rows.next() {
            let row = match row {
                Err(error) if error.is_too_long() => {
                    long.add(error.line());
                    first_long.get_or_insert(error);
                    continue;
                }
                row => row?,
            };
            if row.is_blank() {
                blanks.add(row.line);
                continue;
            }
            blanks.settle();
            let (columns, kind) = match &settled {
                Some(settled) => settled,
                None => {
                    let asked = format.chosen_columns()?.len();
                    let kind = kind(if asked > 0 { asked } else { row.fields.len() });
                    let wanted = kind.roles.len();
                    if asked > 0 && asked != wanted {
                        let problem = format!("{asked} columns are named, but {wanted} are read: {}", kind.names);
                        return Err(TextError::Format { key: "columns", problem });
                    }
                    if row.fields.len() == 1
                        && let Some(fault) = rows.other_separator(&row, wanted)
                    {
                        return Err(row.fault(&path, 0, fault));
                    }
                    let (columns, is_header) = Columns::settle(&format, &path, &row, kind)?;
                    let settled = settled.insert((columns, kind));
                    if is_header {
                        continue;
                    }
                    settled
                }
            };
            let cells = Cells::new(&path, &row, columns, kind, shape.separator, format.longest)?;
            match example(&cells) {
                Err(error) if error.is_too_long() => {
                    long.add(row.line);
                    first_long.get_or_insert(error);
                }
                example => examples.push(example?),
            }
        }
        if examples.is_empty() {
            return Err(first_long.unwrap_or(TextError::EmptyFile { path, expected }));
        }
        let mut notes = Vec::from_iter(blanks.note(&path));
        notes.extend(long.get().map(|(count, line)| Note::Long { path, count, line, limit: format.longest }));
        Ok(Examples { examples, notes })
    }
}

/// Reads pairs of source and target from a file of the usual layout. Unlike [`Table::pairs`], it takes a blank line for an error.
pub fn pairs(path: impl AsRef<Path>, third: ThirdColumn) -> Result<Vec<Pair>, TextError> {
    Table::open(path, &TableFormat::unlimited())?.pairs(third)?.whole()
}

/// Reads texts with their labels from a file of the usual layout. Unlike [`Table::labelled`], it takes a blank line for an error.
pub fn labelled(path: impl AsRef<Path>) -> Result<Vec<Labelled>, TextError> {
    Table::open(path, &TableFormat::unlimited())?.labelled()?.whole()
}

/// Reads questions with candidate answers from a file of the usual layout. Unlike [`Table::questions`], it takes a blank line for an error.
pub fn questions(path: impl AsRef<Path>, id_column: bool) -> Result<Vec<Question>, TextError> {
    Table::open(path, &TableFormat::unlimited())?.questions(id_column)?.whole()
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

/// The cells of a row that a task reads.
pub(super) struct Cells<'a> {
    path: &'a Path,
    pub row: &'a Row,
    pub kind: &'static Kind,
    /// The field of each role; none if they stand as the task reads them.
    fields: Option<Vec<usize>>,
    longest: usize,
}

impl<'a> Cells<'a> {
    fn new(
        path: &'a Path,
        row: &'a Row,
        columns: &Columns,
        kind: &'static Kind,
        separator: char,
        longest: usize,
    ) -> Result<Self, TextError> {
        let fields = columns.chosen(path, row)?;
        let (expected, found, names) = (kind.roles.len(), row.fields.len(), kind.names);
        if fields.is_none() && found < expected {
            return Err(row.fault(path, found, Fault::MissingColumn { expected, found, names, separator }));
        }
        if fields.is_none() && found > expected {
            return Err(row.fault(path, expected, Fault::ExtraColumn { expected, found, names, separator }));
        }
        Ok(Self { path, row, kind, fields, longest })
    }

    fn field(&self, role: usize) -> usize {
        self.fields.as_ref().map_or(role, |fields| fields[role])
    }

    /// What stands in a column, unless it is too long.
    fn text(&self, role: usize) -> Result<String, TextError> {
        let text = &self.row.fields[self.field(role)].text;
        check_length(text, self.kind.roles[role].name, self.longest).map_err(|fault| self.fault(role, fault))?;
        Ok(text.clone())
    }

    /// What stands in a column that may not be empty.
    fn filled(&self, role: usize) -> Result<String, TextError> {
        let text = self.text(role)?;
        if text.trim().is_empty() {
            return Err(self.fault(role, Fault::EmptyColumn { name: self.kind.roles[role].name }));
        }
        Ok(text)
    }

    fn fault(&self, role: usize, fault: Fault) -> TextError {
        self.row.fault(self.path, self.field(role), fault)
    }
}

/// A fault if a text is too long.
pub(super) fn check_length(text: &str, name: &'static str, limit: usize) -> Result<(), Fault> {
    // A text has at most as many characters as bytes, so most need no counting.
    if text.len() <= limit {
        return Ok(());
    }
    match text.chars().count() {
        found if found > limit => Err(Fault::TooLong { name, found, limit }),
        _ => Ok(()),
    }
}

const SOURCE: Role = Role { name: "source", known: &["source", "src", "input", "word", "text", "sentence", "source_text"] };
const TARGET: Role =
    Role { name: "target", known: &["target", "tgt", "trg", "output", "translation", "pronunciation", "phonemes", "form", "target_text"] };
const FEATURES: Role = Role { name: "features", known: &["features", "tags", "feats", "msd"] };
const LABEL: Role =
    Role { name: "label", known: &["label", "labels", "class", "category", "sentiment", "emotion", "target", "tag", "topic", "polarity"] };
const TEXT: Role =
    Role { name: "text", known: &["text", "sentence", "tweet", "review", "comment", "message", "content", "document", "title", "body"] };
const ID: Role = Role { name: "id", known: &["id", "qid", "question_id", "questionid", "group"] };
const QUESTION: Role = Role { name: "question", known: &["question", "query", "sentence1", "text1", "premise"] };
const ANSWER: Role =
    Role { name: "answer", known: &["answer", "candidate", "response", "sentence", "sentence2", "text2", "passage", "hypothesis"] };
const MARK: Role =
    Role { name: "mark of 0 or 1", known: &["label", "relevant", "relevance", "correct", "is_answer", "target", "score", "mark"] };

pub(super) static TWO: Kind = Kind { names: "source, target", roles: &[SOURCE, TARGET] };
static THREE: Kind = Kind { names: "source, target, features", roles: &[SOURCE, TARGET, FEATURES] };
/// What is read to be transduced.
pub(super) static SOURCES: Kind = Kind { names: "source, features", roles: &[SOURCE, FEATURES] };
pub(super) static LABELLED: Kind = Kind { names: "text, label", roles: &[TEXT, LABEL] };
pub(super) static QUESTIONS: Kind = Kind { names: "question, answer, 0 or 1", roles: &[QUESTION, ANSWER, MARK] };
pub(super) static WITH_ID: Kind = Kind { names: "id, question, answer, 0 or 1", roles: &[ID, QUESTION, ANSWER, MARK] };

#[cfg(test)]
mod tests;
