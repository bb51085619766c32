//! The rows of a table, one at a time, with their places in the file.

use std::io::BufRead;
use std::path::Path;

use super::fields::{Field, Shape};
use crate::text::lines::MAX_LINE_CHARS;
use crate::text::{Fault, Lines, TextError};

/// A row cut into fields. It may stand on several lines if a quoted field holds line ends.
#[derive(Debug)]
pub(super) struct Row {
    record: String,
    /// The line it begins on.
    pub line: usize,
    /// At least one.
    pub fields: Vec<Field>,
}

impl Row {
    pub fn new(record: String, line: usize, shape: Shape) -> Self {
        let fields = shape.split(&record);
        Self { record, line, fields }
    }

    /// Whether nothing stands in any field.
    pub fn is_blank(&self) -> bool {
        self.fields.iter().all(|field| field.text.trim().is_empty())
    }

    /// The text of a field without blanks around it; empty for a field that is not there.
    pub fn trimmed(&self, field: usize) -> &str {
        self.fields.get(field).map_or("", |field| field.text.trim())
    }

    /// Keeps these fields, in this order.
    pub fn keep(&mut self, fields: &[usize]) {
        self.fields = fields.iter().map(|&field| self.fields[field].clone()).collect();
    }

    /// All fields in one line, for a message.
    pub fn listed(&self) -> String {
        self.fields.iter().map(|field| field.text.trim()).collect::<Vec<_>>().join(", ")
    }

    /// An error at the first byte of a field, or behind the last one.
    pub fn fault(&self, path: &Path, field: usize, fault: Fault) -> TextError {
        let start = self.fields.get(field).map_or(self.record.len(), |field| field.start);
        let before = &self.record[..start];
        let line_start = before.rfind('\n').map_or(0, |at| at + 1);
        TextError::at(path, self.line + before.matches('\n').count(), start - line_start + 1, fault)
    }
}

/// Reads rows lazily. After an error for one row it goes on with the next.
#[derive(Debug)]
pub(super) struct Rows<R> {
    lines: Lines<R>,
    pub shape: Shape,
}

impl<R: BufRead> Rows<R> {
    pub fn new(lines: Lines<R>, shape: Shape) -> Self {
        Self { lines, shape }
    }

    pub fn path(&self) -> &Path {
        self.lines.path()
    }

    /// The lines that belong to a quoted field which the first one leaves open.
    fn close(&mut self, record: &mut String, line: usize) -> Result<(), TextError> {
        let mut open = self.shape.open_after(record, false);
        while open {
            match self.lines.next().transpose()? {
                Some(next) if record.len() + next.text.len() <= MAX_LINE_CHARS => {
                    open = self.shape.open_after(&next.text, true);
                    record.push('\n');
                    record.push_str(&next.text);
                }
                _ => {
                    let row = Row::new(std::mem::take(record), line, self.shape);
                    return Err(row.fault(self.lines.path(), row.fields.len() - 1, Fault::OpenQuote));
                }
            }
        }
        Ok(())
    }

    /// What else the columns may be apart by, if `first` and the next few rows all have the same number of them that way: a better answer than that a column is missing.
    pub fn other_separator(&mut self, first: &Row, wanted: usize) -> Option<Fault> {
        const ROWS: usize = 20;
        let mut records = vec![first.record.clone()];
        records.extend(self.lines.by_ref().filter_map(Result::ok).map(|line| line.text).filter(|text| !text.trim().is_empty()).take(ROWS));
        let columns = |&separator: &char| {
            let shape = Shape { separator, quotes: separator != '\t' };
            let count = shape.split(&records[0]).len();
            (count > 1 && records.iter().all(|record| shape.split(record).len() == count)).then_some((separator, count))
        };
        let expected = self.shape.separator;
        let found: Vec<(char, usize)> = ['\t', ';', ',', '|'].iter().filter(|&&other| other != expected).filter_map(columns).collect();
        let &(found, columns) = found.iter().find(|(_, count)| *count == wanted).or(found.first())?;
        Some(Fault::OtherSeparator { expected, found, columns })
    }
}

impl<R: BufRead> Iterator for Rows<R> {
    type Item = Result<Row, TextError>;

    fn next(&mut self) -> Option<Self::Item> {
        let line = match self.lines.next()? {
            Ok(line) => line,
            Err(error) => return Some(Err(error)),
        };
        let (mut record, line) = (line.text, line.number);
        // Latin text in UTF-16 is valid UTF-8 with a zero beside every character; no text looks like that otherwise.
        if line == 1 && record.bytes().filter(|&byte| byte == 0).count() * 3 > record.len() {
            return Some(Err(TextError::at(self.lines.path(), line, None, Fault::ZeroBytes)));
        }
        Some(self.close(&mut record, line).map(|()| Row::new(record, line, self.shape)))
    }
}
