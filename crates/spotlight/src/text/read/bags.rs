//! Bags: sets of rows of numbers with one label each, from a CSV file.

use std::collections::HashMap;
use std::path::Path;

use csv::{ReaderBuilder, StringRecord};

use crate::text::{Fault, Line, Lines, TextError};

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

/// Reads bags. The rows of a bag may stand anywhere in the file; bags come in the order of their first rows. A first line in
/// which no field is a number, apart from label and bag, is taken for a header.
///
/// ```no_run
/// use spotlight::text::read::{BagColumns, bags};
///
/// // 64 pixels, then the label: every row a bag.
/// let digits = bags("digits.csv", BagColumns { label: -1, bag: None })?;
/// # Ok::<(), spotlight::text::TextError>(())
/// ```
pub fn bags(path: impl AsRef<Path>, columns: BagColumns) -> Result<Vec<Bag>, TextError> {
    let path = path.as_ref();
    let mut bags: Vec<Bag> = Vec::new();
    let mut bag_of_id: HashMap<String, usize> = HashMap::new();
    let mut layout: Option<Layout> = None;
    for line in Lines::open(path)? {
        let row = CsvRow::new(path, &line?)?;
        let layout = match &layout {
            Some(layout) => layout,
            None => {
                let layout = layout.insert(Layout::new(columns, &row)?);
                if layout.is_header(&row.record) {
                    continue;
                }
                layout
            }
        };
        let (label, id, numbers) = layout.take_apart(&row)?;
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
            return Err(row.fault(layout.label, Fault::ConflictingLabels { bag, found: label, before, line_before }));
        }
        bag.rows.push(numbers);
    }
    if bags.is_empty() {
        return Err(TextError::EmptyFile { path: path.to_owned(), expected: "CSV rows: label, bag, numbers" });
    }
    Ok(bags)
}

/// Which field of a row is what; the first row decides how many there are.
struct Layout {
    label: usize,
    bag: Option<usize>,
    width: usize,
}

impl Layout {
    fn new(columns: BagColumns, row: &CsvRow<'_>) -> Result<Self, TextError> {
        let width = row.record.len();
        let field = |column: isize| {
            let field = if column < 0 { width.checked_add_signed(column) } else { usize::try_from(column).ok() };
            field.filter(|&field| field < width)
        };
        let names = if columns.bag.is_some() { "label, bag and numbers" } else { "label and numbers" };
        // One label, perhaps a bag, and at least one number.
        let least = 2 + usize::from(columns.bag.is_some());
        let too_few = |expected: usize| row.fault(0, Fault::TooFewFields { expected, found: width, names });
        let farthest = |column: isize| {
            if column < 0 { column.unsigned_abs() } else { column as usize + 1 }
        };
        let label = field(columns.label).ok_or_else(|| too_few(farthest(columns.label).max(least)))?;
        let bag = match columns.bag {
            Some(column) => Some(field(column).ok_or_else(|| too_few(farthest(column).max(least)))?),
            None => None,
        };
        if width < least {
            return Err(too_few(least));
        }
        Ok(Self { label, bag, width })
    }

    fn number_fields(&self) -> impl Iterator<Item = usize> {
        (0..self.width).filter(|&field| field != self.label && Some(field) != self.bag)
    }

    fn is_header(&self, record: &StringRecord) -> bool {
        self.number_fields().all(|field| {
            let text = record[field].trim();
            // An empty first field or "NaN" is a missing value of a first row rather than a name.
            !text.is_empty() && text.parse::<f32>().is_err()
        })
    }

    /// Label, bag and numbers of a row.
    fn take_apart(&self, row: &CsvRow<'_>) -> Result<(String, Option<String>, Vec<f32>), TextError> {
        let found = row.record.len();
        if found != self.width {
            return Err(row.fault(found.min(self.width), Fault::RaggedRow { expected: self.width, found }));
        }
        let label = row.filled(self.label, "label")?;
        let bag = self.bag.map(|bag| row.filled(bag, "bag")).transpose()?;
        let numbers = self.number_fields().map(|field| row.number(field)).collect::<Result<_, _>>()?;
        Ok((label, bag, numbers))
    }
}

struct CsvRow<'a> {
    path: &'a Path,
    line: usize,
    record: StringRecord,
}

impl<'a> CsvRow<'a> {
    /// Splits one line into fields. A quoted field may hold commas but not line ends, which no label, bag or number needs;
    /// so that every line of the file is a row and errors can name it.
    fn new(path: &'a Path, line: &Line) -> Result<Self, TextError> {
        if line.text.trim().is_empty() {
            return Err(TextError::at(path, line.number, None, Fault::EmptyLine));
        }
        let mut reader = ReaderBuilder::new().has_headers(false).from_reader(line.text.as_bytes());
        let mut record = StringRecord::new();
        reader
            .read_record(&mut record)
            .map_err(|error| TextError::at(path, line.number, None, Fault::BadCsv { reason: error.to_string() }))?;
        Ok(Self { path, line: line.number, record })
    }

    fn filled(&self, field: usize, name: &'static str) -> Result<String, TextError> {
        match self.record[field].trim() {
            "" => Err(self.fault(field, Fault::EmptyColumn { name })),
            text => Ok(text.to_owned()),
        }
    }

    fn number(&self, field: usize) -> Result<f32, TextError> {
        let text = &self.record[field];
        match text.trim().parse::<f32>() {
            Ok(number) if number.is_finite() => Ok(number),
            Ok(_) => Err(self.fault(field, Fault::NotFinite { field: field + 1, found: text.to_owned() })),
            Err(_) => Err(self.fault(field, Fault::NotANumber { field: field + 1, found: text.to_owned() })),
        }
    }

    /// An error at the first byte of a field (quotes before it are not counted).
    fn fault(&self, field: usize, fault: Fault) -> TextError {
        let before: usize = self.record.iter().take(field).map(|field| field.len() + 1).sum();
        TextError::at(self.path, self.line, before + 1, fault)
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
            ("1,a,1,2\n1,a,1\n", "bags.csv:2:7: expected 4 fields as in the rows before, found 3"),
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
        let error = read("1,a,1\n", BagColumns { label: -4, bag: None }).unwrap_err();
        assert!(error.starts_with("bags.csv:1:1: expected at least 4 fields (label and numbers), found 3"), "{error}");
    }
}
