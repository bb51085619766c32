//! Bags: sets of rows of numbers with one label each, from a CSV file.

use std::collections::HashMap;
use std::io::BufRead;
use std::path::Path;

use super::columns::{Columns, Kind};
use super::examples::{Blanks, Examples, Note};
use super::format::{Header, TableFormat};
use super::rows::{Row, Rows};
use super::table::Table;
use crate::text::{Fault, TextError};

/// Rows of numbers that belong together, and the label of all of them.
#[derive(Debug, Clone, PartialEq)]
pub struct Bag {
    /// What its rows have in common in the file; the line for a row that is a bag of its own.
    pub id: String,
    /// The label.
    pub label: String,
    /// The rows, all of the same length.
    pub rows: Vec<Vec<f32>>,
    /// Where its first row stands, counted from 1.
    pub line: usize,
}

/// Which columns of the CSV are not numbers. Columns count from 0, negative ones from the end: -1 is the last.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct BagColumns {
    /// The label.
    pub label: isize,
    /// The bag; without it every row is a bag of its own.
    pub bag: Option<isize>,
}

impl Default for BagColumns {
    /// Label, bag, numbers.
    fn default() -> Self {
        Self { label: 0, bag: Some(1) }
    }
}

/// Reads bags from a CSV file. Unlike [`Table::bags`], it takes a blank line for an error.
///
/// ```no_run
/// use spotlight::text::read::{BagColumns, bags};
///
/// // 64 pixels, then the label: every row a bag.
/// let digits = bags("digits.csv", BagColumns { label: -1, bag: None })?;
/// # Ok::<(), spotlight::text::TextError>(())
/// ```
pub fn bags(path: impl AsRef<Path>, columns: BagColumns) -> Result<Vec<Bag>, TextError> {
    Table::open(path, &TableFormat::unlimited())?.bags(columns)?.whole()
}

impl<R: BufRead> Table<R> {
    /// Reads bags. The rows of a bag may stand anywhere in the file; bags come in the order of their first rows. Unless the format says whether there is a header, a
    /// first line in which no field is a number, apart from label and bag, is taken for one.
    ///
    /// If the format asks for columns, they are label, bag (unless every row is a bag of its own) and, if there are more of them, the numbers to read.
    pub fn bags(self, columns: BagColumns) -> Result<Examples<Bag>, TextError> {
        let format = self.format;
        format.check()?;
        let path = self.lines.path().to_owned();
        let mut rows = Rows::new(self.lines, format.shape(&path, ',')?);
        let mut bags: Vec<Bag> = Vec::new();
        let mut bag_of_id: HashMap<String, usize> = HashMap::new();
        let (mut layout, mut notes, mut blanks): (Option<Layout>, _, _) = (None, Vec::new(), Blanks::default());
        while let Some(row) = rows.next() {
            let row = row?;
            if row.is_blank() {
                blanks.add(row.line);
                continue;
            }
            blanks.settle();
            let layout = match &layout {
                Some(layout) => layout,
                None => {
                    if row.fields.len() == 1
                        && let Some(fault) = rows.other_separator(&row, 0)
                    {
                        return Err(row.fault(&path, 0, fault));
                    }
                    let (chosen, named) = Columns::settle(&format, &path, &row, &NUMBERS)?;
                    let layout = layout.insert(Layout::new(&path, columns, &chosen, &row)?);
                    if named {
                        continue;
                    }
                    if format.header == Header::Auto && layout.is_header(&row) {
                        notes.push(Note::Header { path: path.clone(), line: row.line });
                        continue;
                    }
                    layout
                }
            };
            let (label, id, numbers) = layout.take_apart(&path, &row)?;
            let next = bags.len();
            let position = id.as_ref().map_or(next, |id| *bag_of_id.entry(id.clone()).or_insert(next));
            if position == next {
                let id = id.unwrap_or_else(|| row.line.to_string());
                bags.push(Bag { id, label, rows: vec![numbers], line: row.line });
                continue;
            }
            let bag = &mut bags[position];
            if bag.label != label {
                let (bag, before, line_before) = (bag.id.clone(), bag.label.clone(), bag.line);
                return Err(row.fault(&path, layout.label, Fault::ConflictingLabels { bag, found: label, before, line_before }));
            }
            bag.rows.push(numbers);
        }
        if bags.is_empty() {
            return Err(TextError::EmptyFile { path, expected: "CSV rows: label, bag, numbers" });
        }
        notes.extend(blanks.note(&path));
        Ok(Examples { examples: bags, notes })
    }
}

/// Any names are good for columns of numbers, so none are known.
static NUMBERS: Kind = Kind { names: "label, bag, numbers", roles: &[] };

/// Which field of a row is what; the first row decides how many there are.
struct Layout {
    label: usize,
    bag: Option<usize>,
    numbers: Vec<usize>,
    width: usize,
}

impl Layout {
    fn new(path: &Path, columns: BagColumns, chosen: &Columns, row: &Row) -> Result<Self, TextError> {
        let width = row.fields.len();
        let with_bag = usize::from(columns.bag.is_some());
        let (label, bag, numbers) = match chosen.chosen(path, row)? {
            Some(fields) => {
                let Some((&[label, ref bag @ ..], numbers)) = fields.split_at_checked(1 + with_bag) else {
                    let problem =
                        "bags need the columns of the label and of the bag; if every row is a bag of its own, set data.single_rows";
                    return Err(TextError::Format { key: "columns", problem: problem.into() });
                };
                (label, bag.first().copied(), numbers.to_vec())
            }
            None => {
                let names = if columns.bag.is_some() { "label, bag and numbers" } else { "label and numbers" };
                // One label, perhaps a bag, and at least one number.
                let least = 2 + with_bag;
                let field = |column: isize| {
                    let field = if column < 0 { width.checked_add_signed(column) } else { usize::try_from(column).ok() };
                    let farthest = if column < 0 { column.unsigned_abs() } else { column as usize + 1 };
                    let too_few = || row.fault(path, 0, Fault::TooFewFields { expected: farthest.max(least), found: width, names });
                    field.filter(|&field| field < width && width >= least).ok_or_else(too_few)
                };
                (field(columns.label)?, columns.bag.map(field).transpose()?, Vec::new())
            }
        };
        let numbers = match numbers.is_empty() {
            true => (0..width).filter(|&field| field != label && Some(field) != bag).collect(),
            false => numbers,
        };
        Ok(Self { label, bag, numbers, width })
    }

    fn is_header(&self, row: &Row) -> bool {
        self.numbers.iter().all(|&field| {
            let text = row.trimmed(field);
            // An empty first field or "NaN" is a missing value of a first row rather than a name.
            !text.is_empty() && text.parse::<f32>().is_err()
        })
    }

    /// Label, bag and numbers of a row.
    fn take_apart(&self, path: &Path, row: &Row) -> Result<(String, Option<String>, Vec<f32>), TextError> {
        let found = row.fields.len();
        if found != self.width {
            return Err(row.fault(path, found.min(self.width), Fault::RaggedRow { expected: self.width, found }));
        }
        let filled = |field: usize, name: &'static str| match row.trimmed(field) {
            "" => Err(row.fault(path, field, Fault::EmptyColumn { name })),
            text => Ok(text.to_owned()),
        };
        let label = filled(self.label, "label")?;
        let bag = self.bag.map(|bag| filled(bag, "bag")).transpose()?;
        let numbers = self.numbers.iter().map(|&field| number(path, row, field)).collect::<Result<_, _>>()?;
        Ok((label, bag, numbers))
    }
}

fn number(path: &Path, row: &Row, field: usize) -> Result<f32, TextError> {
    let text = &row.fields[field].text;
    let found = || text.chars().take(40).collect();
    match text.trim().parse::<f32>() {
        Ok(number) if number.is_finite() => Ok(number),
        Ok(_) => Err(row.fault(path, field, Fault::NotFinite { field: field + 1, found: found() })),
        Err(_) => Err(row.fault(path, field, Fault::NotANumber { field: field + 1, found: found() })),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(contents: &str, columns: BagColumns) -> Result<Vec<Bag>, String> {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("bags.csv");
        std::fs::write(&path, contents).unwrap();
        bags(&path, columns).map_err(|error| error.to_string().replace(&path.display().to_string(), "bags.csv"))
    }

    fn bag(id: &str, label: &str, rows: &[&[f32]], line: usize) -> Bag {
        let rows = rows.iter().map(|row| row.to_vec()).collect();
        Bag { id: id.into(), label: label.into(), rows, line }
    }

    #[test]
    fn rows_with_the_same_id_are_one_bag() {
        let expected = [bag("a", "1", &[&[1.0, -2.5], &[5.0, 6.0]], 1), bag("b", "0", &[&[3.0, 4e2]], 2)];
        assert_eq!(read("1,a,1,-2.5\n0,b,3,4e2\n1,a,5,6\n", BagColumns::default()).unwrap(), expected);
        assert_eq!(read("\u{FEFF}1,\"a\",1,-2.5\r\n0,b, 3,4e2\r\n1,a,5,6", BagColumns::default()).unwrap(), expected);
    }

    #[test]
    fn a_header_is_noticed() {
        let bags = read("label,bag,x\n1,a,1\n", BagColumns::default()).unwrap();
        assert_eq!(bags, [bag("a", "1", &[&[1.0]], 2)]);
        // One name among numbers is a mistake, not a header.
        let error = read("1,a,x,2\n1,a,1,2\n", BagColumns::default()).unwrap_err();
        assert_eq!(error, "bags.csv:1:5: expected a number in field 3, found \"x\"");
    }

    #[test]
    fn the_label_may_stand_last_and_rows_alone() {
        let columns = BagColumns { label: -1, bag: None };
        let bags = read("0,5,seven\n1,6,nine\n", columns).unwrap();
        assert_eq!(bags, [bag("1", "seven", &[&[0.0, 5.0]], 1), bag("2", "nine", &[&[1.0, 6.0]], 2)]);
    }

    #[test]
    fn faults_have_a_place() {
        let cases = [
            ("", "bags.csv is empty: expected CSV rows: label, bag, numbers"),
            ("label,bag,x\n", "bags.csv is empty"),
            ("1,a,1\n\n1,a,2\n", "bags.csv:2: the line is empty"),
            ("1,a,1\n1,a,nan\n", "bags.csv:2:5: expected a finite number in field 3, found \"nan\""),
            ("1,a,NaN\n", "bags.csv:1:5: expected a finite number in field 3, found \"NaN\""),
            ("1,a,1,inf\n", "bags.csv:1:7: expected a finite number in field 4"),
            ("1,a,\n", "bags.csv:1:5: expected a number in field 3, found \"\""),
            ("1,a,1,2\n1,a,1\n", "bags.csv:2:6: expected 4 fields as in the rows before, found 3"),
            ("1,a,1\n1,a,1,2\n", "bags.csv:2:7: expected 3 fields as in the rows before, found 4"),
            ("1,a,1\n0,a,2\n", "bags.csv:2:1: bag \"a\" has label \"0\" here but \"1\" on line 1"),
            ("1,a\n", "bags.csv:1:1: expected at least 3 fields (label, bag and numbers), found 2"),
            ("1,,1\n", "bags.csv:1:3: the bag is empty"),
            (",a,1\n", "bags.csv:1:1: the label is empty"),
        ];
        for (contents, expected) in cases {
            let error = read(contents, BagColumns::default()).unwrap_err();
            assert!(error.starts_with(expected), "{error}");
        }
        let error = read("1;a;1\n0;b;2\n", BagColumns::default()).unwrap_err();
        assert!(
            error.starts_with("bags.csv:1:1: expected columns apart by a comma, found none, but 3 columns apart by a semicolon"),
            "{error}"
        );
        let error = read("1,a,1\n", BagColumns { label: -4, bag: None }).unwrap_err();
        assert!(error.starts_with("bags.csv:1:1: expected at least 4 fields (label and numbers), found 3"), "{error}");
    }
    fn formatted(contents: &str, format: &TableFormat, columns: BagColumns) -> Result<Examples<Bag>, String> {
        Table::new(contents.as_bytes(), "bags.csv", format).bags(columns).map_err(|error| error.to_string())
    }

    #[test]
    fn columns_may_be_chosen_and_a_header_told() {
        let file = "x,y,molecule,class\n1,2,a,musk\n\n3,4,b,other\n\n";
        let by_name = TableFormat { columns: "class,molecule".into(), ..TableFormat::default() };
        let found = formatted(file, &by_name, BagColumns::default()).unwrap();
        assert_eq!(found.examples, [bag("a", "musk", &[&[1.0, 2.0]], 2), bag("b", "other", &[&[3.0, 4.0]], 4)]);
        assert_eq!(found.notes.iter().map(Note::to_string).collect::<Vec<_>>(), ["bags.csv:3: a blank line, passed over"]);
        let one_number = TableFormat { columns: "-1,3,2".into(), header: Header::Yes, ..TableFormat::default() };
        assert_eq!(formatted(file, &one_number, BagColumns::default()).unwrap().examples[0], bag("a", "musk", &[&[2.0]], 2));
        let rows =
            formatted(file, &TableFormat { columns: "class,y".into(), ..TableFormat::default() }, BagColumns { label: 0, bag: None });
        assert_eq!(rows.unwrap().examples[0], bag("2", "musk", &[&[2.0]], 2));

        let lone = TableFormat { columns: "class".into(), ..TableFormat::default() };
        assert!(
            formatted(file, &lone, BagColumns::default()).unwrap_err().starts_with("data.columns: bags need the columns of the label and")
        );
        let header = "label,bag,x\n1,a,1\n";
        assert_eq!(formatted(header, &TableFormat::default(), BagColumns::default()).unwrap().notes.len(), 1);
        let no_header = TableFormat { header: Header::No, ..TableFormat::default() };
        let error = formatted(header, &no_header, BagColumns::default()).unwrap_err();
        assert!(error.starts_with("bags.csv:1:11: expected a number in field 3, found \"x\""), "{error}");
    }

    #[test]
    fn places_count_quotes() {
        let error = read("1,\"a, \"\"b\"\"\",x,2\n", BagColumns::default()).unwrap_err();
        assert!(error.starts_with("bags.csv:1:14: expected a number in field 3"), "{error}");
    }
}
