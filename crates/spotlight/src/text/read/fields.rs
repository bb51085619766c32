//! A record cut into its fields, and where each begins.
//!
//! Without quotes a record is a line and a separator always ends a field. With quotes, as in CSV, a field that begins with `"` ends with the next `"` that is not
//! doubled, and separators and line ends in between belong to it. A quote anywhere else is a character like any other. These are the rules of the `csv` crate, which
//! is the oracle of the tests; it does not tell where in the file a field stands, and an error should.

/// One field of a record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Field {
    /// The byte of the record at which it begins, at its quote if it has one.
    pub start: usize,
    /// What it says, without quotes around it.
    pub text: String,
}

/// How fields stand in a record.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Shape {
    /// What stands between two fields.
    pub separator: char,
    /// Whether fields may be quoted.
    pub quotes: bool,
}

impl Shape {
    /// The fields of a whole record; there is always at least one.
    pub fn split(self, record: &str) -> Vec<Field> {
        let mut fields = Vec::new();
        let mut start = 0;
        loop {
            let (text, end) = match self.quoted(record, start) {
                Some(quoted) => quoted,
                None => {
                    let end = self.field_end(record, start);
                    (record[start..end].to_owned(), end)
                }
            };
            fields.push(Field { start, text });
            if end == record.len() {
                return fields;
            }
            start = end + self.separator.len_utf8();
        }
    }

    /// Whether a quoted field is open at the end of a line, if one was at its beginning.
    pub fn open_after(self, line: &str, open: bool) -> bool {
        if !self.quotes {
            return false;
        }
        let (mut rest, mut open) = (line, open);
        loop {
            if open || rest.starts_with('"') {
                match closing(rest, usize::from(!open)) {
                    Some(closed) => rest = &rest[closed..],
                    None => return true,
                }
            }
            match rest.find(self.separator) {
                Some(at) => rest = &rest[at + self.separator.len_utf8()..],
                None => return false,
            }
            open = false;
        }
    }

    /// The separator at or behind `from`, or the end.
    fn field_end(self, record: &str, from: usize) -> usize {
        record[from..].find(self.separator).map_or(record.len(), |at| from + at)
    }

    /// The text of the quoted field that begins at `start`, and its end; none if no quoted field begins there.
    fn quoted(self, record: &str, start: usize) -> Option<(String, usize)> {
        if !self.quotes || !record[start..].starts_with('"') {
            return None;
        }
        let inside = start + 1;
        let Some(closed) = closing(record, inside) else {
            return Some((record[inside..].replace("\"\"", "\""), record.len()));
        };
        let end = self.field_end(record, closed);
        // What follows a closing quote belongs to the field as it stands.
        Some((record[inside..closed - 1].replace("\"\"", "\"") + &record[closed..end], end))
    }
}

/// Behind the quote that closes a quoted field whose inside begins at `from`.
fn closing(text: &str, mut from: usize) -> Option<usize> {
    loop {
        from += text[from..].find('"')? + 1;
        if !text[from..].starts_with('"') {
            return Some(from);
        }
        from += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn texts(shape: Shape, record: &str) -> Vec<String> {
        shape.split(record).into_iter().map(|field| field.text).collect()
    }

    const COMMA: Shape = Shape { separator: ',', quotes: true };

    #[test]
    fn fields_know_where_they_begin() {
        let fields = COMMA.split("é,\"b,\"\"\",c");
        let expected = [(0, "é"), (3, "b,\""), (10, "c")].map(|(start, text)| Field { start, text: text.into() });
        assert_eq!(fields, expected);
        assert_eq!(texts(Shape { separator: '\t', quotes: false }, "\"a\tb\"\t"), ["\"a", "b\"", ""]);
    }

    #[test]
    fn a_quote_within_an_unquoted_field_opens_nothing() {
        assert!(!COMMA.open_after("5\" pipe,x", false));
        assert!(COMMA.open_after("5,\" pipe,x", false));
        assert!(COMMA.open_after("still,", true));
        assert!(!COMMA.open_after("the end\",x", true));
        assert!(COMMA.open_after("the end\",\"x", true));
        assert!(COMMA.open_after("not \"\"the end\"\"", true));
    }

    /// The records of a text, put together of its lines as the table reader does it.
    fn records(text: &str) -> Vec<Vec<String>> {
        let (mut found, mut record, mut open) = (Vec::new(), String::new(), false);
        for line in text.split('\n') {
            if open {
                record.push('\n');
            }
            record.push_str(line);
            open = COMMA.open_after(line, open);
            if !open {
                if !record.is_empty() {
                    found.push(texts(COMMA, &record));
                }
                record.clear();
            }
        }
        if open {
            found.push(texts(COMMA, &record));
        }
        found
    }

    proptest! {
        #[test]
        fn the_csv_crate_finds_the_same_records(text in "[a\", \n]{0,24}") {
            let mut reader = csv::ReaderBuilder::new().has_headers(false).flexible(true).from_reader(text.as_bytes());
            let expected: Vec<Vec<String>> = reader.records().map(|r| r.unwrap().iter().map(str::to_owned).collect()).collect();
            prop_assert_eq!(records(&text), expected);
        }
    }
}
