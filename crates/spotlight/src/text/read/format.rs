//! How a file of examples is laid out: part of `[data]` in a recipe.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::fields::Shape;
use crate::text::TextError;
use crate::text::lines::MAX_LINE_CHARS;

/// How a table is laid out. The defaults read columns apart by tabs, without a header, in the order of the task; a file called `.csv` is read as CSV.
///
/// The fields are keys of `[data]`, so a recipe or `--set` can name them:
///
/// ```
/// use spotlight::text::read::{Table, TableFormat};
///
/// let format = TableFormat { separator: ";".into(), columns: "comment,mood".into(), ..TableFormat::default() };
/// let file = "id;mood;comment\n1;good;\"so; so good\"\n";
/// let read = Table::new(file.as_bytes(), "reviews.txt", &format).labelled()?;
/// assert_eq!((read.examples[0].text.as_str(), read.examples[0].label.as_str()), ("so; so good", "good"));
/// # Ok::<(), spotlight::text::TextError>(())
/// ```
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct TableFormat {
    /// What stands between columns: `tab` or one character. Empty for a tab, and for a comma in bags and in files called `.csv`. Fields may be quoted unless it is a tab.
    pub separator: String,
    /// Whether the first line names the columns.
    pub header: Header,
    /// The columns to read, in the order of the task (`text,label`), apart by commas: numbers from 1, from the end if negative, or names of the header. Empty for as
    /// they stand. Other columns are not read.
    pub columns: String,
    /// The most characters a text may have. A longer one is left out of training with a note, and not answered.
    pub longest: usize,
}

/// Whether the first line of a table names its columns.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Header {
    /// It does not, unless columns are asked for by name; a line that looks like a header is refused with advice. In bags, a first line without numbers is one.
    #[default]
    Auto,
    /// It does.
    Yes,
    /// It is an example, whatever it looks like.
    No,
}

impl Default for TableFormat {
    fn default() -> Self {
        Self { separator: String::new(), header: Header::Auto, columns: String::new(), longest: 10_000 }
    }
}

impl TableFormat {
    /// The first setting that cannot be used, if any: its key within `[data]` and the reason.
    ///
    /// ```
    /// use spotlight::text::read::TableFormat;
    ///
    /// let format = TableFormat { separator: "::".into(), ..TableFormat::default() };
    /// assert_eq!(format.check().unwrap_err().to_string(), "data.separator: \"::\" is not one character (or the word tab)");
    /// ```
    pub fn check(&self) -> Result<(), TextError> {
        self.chosen_separator()?;
        let columns = self.chosen_columns()?;
        if self.header == Header::No && columns.iter().any(|column| matches!(column, Column::Named(_))) {
            let problem = "columns are asked for by name, but data.header = \"no\" says that no line names them";
            return Err(TextError::Format { key: "columns", problem: problem.into() });
        }
        if self.longest == 0 {
            return Err(TextError::Format { key: "longest", problem: "must be at least 1".into() });
        }
        Ok(())
    }

    /// The layout of a file given for prediction: lines of text or a file called `.csv`. What a training file looked like says nothing about it; how long a text may
    /// be stays.
    pub fn for_input(&self) -> Self {
        Self { longest: self.longest, ..Self::default() }
    }

    /// The defaults without a limit but that of a line.
    pub(super) fn unlimited() -> Self {
        Self { longest: MAX_LINE_CHARS, ..Self::default() }
    }

    fn chosen_separator(&self) -> Result<Option<char>, TextError> {
        let mut characters = self.separator.chars();
        let separator = match (self.separator.as_str(), characters.next(), characters.next()) {
            ("", ..) => return Ok(None),
            ("tab" | "\\t", ..) => '\t',
            (_, Some(one), None) => one,
            (other, ..) => {
                let problem = format!("{other:?} is not one character (or the word tab)");
                return Err(TextError::Format { key: "separator", problem });
            }
        };
        if matches!(separator, '"' | '\n' | '\r') {
            let problem = format!("{separator:?} cannot stand between columns");
            return Err(TextError::Format { key: "separator", problem });
        }
        Ok(Some(separator))
    }

    /// How the fields of a file stand; `otherwise` is the separator of a file that is not called `.csv`.
    pub(super) fn shape(&self, path: &Path, otherwise: char) -> Result<Shape, TextError> {
        let csv = path.extension().is_some_and(|extension| extension.eq_ignore_ascii_case("csv"));
        let separator = self.chosen_separator()?.unwrap_or(if csv { ',' } else { otherwise });
        Ok(Shape { separator, quotes: csv || separator != '\t' })
    }

    /// The columns asked for.
    pub(super) fn chosen_columns(&self) -> Result<Vec<Column>, TextError> {
        if self.columns.trim().is_empty() {
            return Ok(Vec::new());
        }
        let column = |column: &str| match (column.trim(), column.trim().parse::<isize>()) {
            (_, Ok(0)) => Err("columns are counted from 1 (or from the end: -1 is the last)".to_owned()),
            (_, Ok(number)) => Ok(Column::Numbered(number)),
            ("", _) => Err(format!("{:?} names no column between two commas", self.columns)),
            (name, _) => Ok(Column::Named(name.to_owned())),
        };
        let columns: Result<Vec<Column>, String> = self.columns.split(',').map(column).collect();
        columns.map_err(|problem| TextError::Format { key: "columns", problem })
    }
}

/// A column asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Column {
    /// By its number from 1, or from the end if negative; never 0.
    Numbered(isize),
    /// By its name in the header.
    Named(String),
}

#[cfg(test)]
mod tests {
    use super::*;
    use Column::{Named, Numbered};

    fn format(separator: &str, columns: &str) -> TableFormat {
        TableFormat { separator: separator.into(), columns: columns.into(), ..TableFormat::default() }
    }

    #[test]
    fn the_extension_and_the_setting_decide_the_separator() {
        let shape = |format: &TableFormat, path: &str, otherwise| {
            let Shape { separator, quotes } = format.shape(Path::new(path), otherwise).unwrap();
            (separator, quotes)
        };
        let default = TableFormat::default();
        assert_eq!(shape(&default, "a.tsv", '\t'), ('\t', false));
        assert_eq!(shape(&default, "a", ','), (',', true));
        assert_eq!(shape(&default, "a.CSV", '\t'), (',', true));
        assert_eq!(shape(&format(";", ""), "a.csv", '\t'), (';', true));
        assert_eq!(shape(&format("tab", ""), "a.csv", '\t'), ('\t', true));
        assert_eq!(shape(&format("\\t", ""), "a.txt", ','), ('\t', false));
    }

    #[test]
    fn columns_are_numbers_or_names() {
        assert_eq!(format("", " 2, -1,label ").chosen_columns().unwrap(), [Numbered(2), Numbered(-1), Named("label".into())]);
        assert!(format("", "").chosen_columns().unwrap().is_empty());
    }

    #[test]
    fn what_cannot_be_used_is_said_with_its_key() {
        let no_header = TableFormat { header: Header::No, ..format("", "text") };
        let cases = [
            (format("ab", ""), "data.separator: \"ab\" is not one character"),
            (format("\"", ""), "data.separator: '\"' cannot stand between columns"),
            (format("", "0,1"), "data.columns: columns are counted from 1"),
            (format("", "1,,2"), "data.columns: \"1,,2\" names no column"),
            (no_header, "data.columns: columns are asked for by name"),
            (TableFormat { longest: 0, ..TableFormat::default() }, "data.longest: must be at least 1"),
        ];
        for (format, expected) in cases {
            let error = format.check().unwrap_err().to_string();
            assert!(error.starts_with(expected), "{error}");
        }
    }

    #[test]
    fn a_section_of_a_recipe_holds_it_and_an_old_one_does_not() {
        #[derive(Debug, PartialEq, Serialize, Deserialize)]
        struct Data {
            train: String,
            #[serde(flatten)]
            format: TableFormat,
        }
        let old: Data = toml::from_str("train = 'a.tsv'").unwrap();
        assert_eq!(old.format, TableFormat::default());
        let written = toml::to_string(&old).unwrap();
        assert!(written.contains("separator = \"\"\nheader = \"auto\"\ncolumns = \"\"\nlongest = 10000\n"), "{written}");
        assert_eq!(toml::from_str::<Data>(&written).unwrap(), old);
        let changes = ["data.header=yes".to_owned(), "data.separator=\";\"".into(), "data.longest=50".into()];
        let changed: std::collections::BTreeMap<String, Data> =
            crate::config::resolve(&[("data".to_owned(), old)].into(), "", &changes).unwrap();
        let expected = TableFormat { separator: ";".into(), header: Header::Yes, columns: String::new(), longest: 50 };
        assert_eq!(changed["data"].format, expected);
    }
}
