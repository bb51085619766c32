//! Which field of a row is what: as they stand, by number, or by the names in a header.

use std::path::Path;

use super::format::{Column, Header, TableFormat};
use super::rows::Row;
use crate::text::{Fault, TextError};

/// What a task reads from a row, in order.
#[derive(Debug)]
pub(super) struct Kind {
    /// All of it, for messages.
    pub names: &'static str,
    /// One column after the other.
    pub roles: &'static [Role],
}

/// What one column is.
#[derive(Debug)]
pub(super) struct Role {
    /// For messages.
    pub name: &'static str,
    /// What headers call it, in small letters.
    pub known: &'static [&'static str],
}

/// What headers call a column that nobody reads.
const UNREAD: [&str; 5] = ["", "id", "idx", "index", "unnamed: 0"];

impl Kind {
    fn is_known(&self, name: &str) -> bool {
        self.roles.iter().any(|role| role.is_known(name))
    }

    /// Whether a row says what columns are called rather than being one: every field is such a name, and at least two say what this task reads.
    fn is_named_by(&self, row: &Row) -> bool {
        let names = || row.fields.iter().map(|field| field.text.trim().to_lowercase());
        names().all(|name| self.is_known(&name) || UNREAD.contains(&name.as_str()))
            && names().filter(|name| self.is_known(name)).count() >= 2
    }

    /// The names of a header in the order of the roles, if the header has them in another one.
    fn other_order(&self, row: &Row) -> Option<String> {
        let name = |field: usize| row.trimmed(field).to_lowercase();
        let misplaced = |field: usize| !self.roles[field].is_known(&name(field)) && self.is_known(&name(field));
        (0..self.roles.len()).any(misplaced).then(|| {
            let found = |role: &Role| row.fields.iter().position(|field| role.is_known(&field.text.trim().to_lowercase()));
            let example = |role: &Role| found(role).map_or("?", |field| row.trimmed(field));
            self.roles.iter().map(example).collect::<Vec<_>>().join(",")
        })
    }
}

impl Role {
    fn is_known(&self, name: &str) -> bool {
        self.known.contains(&name)
    }
}

/// The columns of a file, once its first row has been seen.
#[derive(Debug)]
pub(super) enum Columns {
    /// As many as the task reads, in its order.
    AsTheyStand,
    /// Those with these numbers, counted from 1, from the end if negative.
    Chosen(Vec<isize>),
}

impl Columns {
    /// The columns that `format` asks for, and whether the first row is a header that is no example.
    pub fn settle(format: &TableFormat, path: &Path, first: &Row, kind: &Kind) -> Result<(Self, bool), TextError> {
        format.check()?;
        let asked = format.chosen_columns()?;
        let by_name = asked.iter().any(|column| matches!(column, Column::Named(_)));
        let is_header = format.header == Header::Yes || by_name;
        if !is_header && format.header == Header::Auto && kind.is_named_by(first) {
            return Err(first.fault(path, 0, Fault::LooksLikeHeader { found: first.listed() }));
        }
        if asked.is_empty() {
            return match kind.other_order(first).filter(|_| is_header) {
                Some(example) => Err(first.fault(path, 0, Fault::OtherOrder { found: first.listed(), names: kind.names, example })),
                None => Ok((Self::AsTheyStand, is_header)),
            };
        }
        let number = |column: Column| match column {
            Column::Numbered(number) => Ok(number),
            Column::Named(name) => match first.fields.iter().position(|field| field.text.trim() == name) {
                Some(field) => Ok(field as isize + 1),
                None => Err(first.fault(path, 0, Fault::NoSuchColumn { name, found: first.listed() })),
            },
        };
        Ok((Self::Chosen(asked.into_iter().map(number).collect::<Result<_, _>>()?), is_header))
    }

    /// The field of each column asked for; none for columns as they stand.
    pub fn chosen(&self, path: &Path, row: &Row) -> Result<Option<Vec<usize>>, TextError> {
        let Self::Chosen(columns) = self else { return Ok(None) };
        columns.iter().map(|&column| field(path, row, column)).collect::<Result<_, _>>().map(Some)
    }
}

/// The field with a number counted from 1, or from the end if negative.
pub(super) fn field(path: &Path, row: &Row, column: isize) -> Result<usize, TextError> {
    let found = row.fields.len();
    let field =
        if column < 0 { found.checked_add_signed(column) } else { usize::try_from(column).ok().and_then(|column| column.checked_sub(1)) };
    field.filter(|&field| field < found).ok_or_else(|| row.fault(path, found, Fault::NoColumn { column, found }))
}
