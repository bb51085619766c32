use super::*;
use crate::text::Line;
use crate::text::read::{Header, candidate_of, source_of, text_of};

fn file(contents: impl AsRef<[u8]>) -> (tempfile::TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("data.tsv");
    std::fs::write(&path, contents).unwrap();
    (dir, path)
}

/// What the error says behind the path.
fn message<T: std::fmt::Debug>(path: &Path, result: Result<T, TextError>) -> String {
    let message = result.unwrap_err().to_string();
    message.strip_prefix(&path.display().to_string()).unwrap_or(&message).to_owned()
}

#[test]
fn pairs_have_two_columns_or_three() {
    let (_dir, path) = file("\u{FEFF}Hahn\tHahnes\tN;GEN;SG\r\nAN\t\tN;SG\n");
    let read = pairs(&path, ThirdColumn::AsFirstLine).unwrap();
    let first = Pair { source: "Hahn".into(), target: "Hahnes".into(), features: Some("N;GEN;SG".into()), line: 1 };
    let second = Pair { source: "AN".into(), target: "".into(), features: Some("N;SG".into()), line: 2 };
    assert_eq!(read, [first, second]);
    assert_eq!(pairs(&path, ThirdColumn::Features).unwrap(), read);
    let message = message(&path, pairs(&path, ThirdColumn::Absent));
    assert!(message.starts_with(":1:13: expected 2 tab-separated column(s): source, target; found 3"), "{message}");

    let (_dir, path) = file("a b\tc");
    assert_eq!(pairs(&path, ThirdColumn::AsFirstLine).unwrap()[0].features, None);
}

#[test]
fn faults_of_pairs_have_a_place() {
    let cases: [(&[u8], &str); 9] = [
        (b"", " is empty: expected one pair per line: source, a tab, target"),
        (b"a\tb\n\nc\td\n", ":2: the line is empty"),
        (b"a\tb\n\t\nc\td\n", ":2: the line is empty"),
        (b"a b\n", ":1:4: expected 2 tab-separated column(s): source, target; found 1"),
        (b"a\tb\nc\td\te\n", ":2:5: expected 2 tab-separated column(s): source, target; found 3"),
        (b"a\tb\tc\nd\te\n", ":2:4: expected 3 tab-separated column(s): source, target, features; found 2"),
        (b"a\tb\tc\td\n", ":1:5: expected 2 tab-separated column(s): source, target; found 4"),
        (b"\tb\n", ":1:1: the source is empty"),
        (b"a\tb\nc\t\xFFd\n", ":2:3: byte 0xFF is not valid UTF-8"),
    ];
    for (contents, expected) in cases {
        let (_dir, path) = file(contents);
        let message = message(&path, pairs(&path, ThirdColumn::AsFirstLine));
        assert!(message.starts_with(expected), "{message}");
    }
}

#[test]
fn labelled_texts_need_both_columns() {
    let (_dir, path) = file("so good\tjoy \n");
    assert_eq!(labelled(&path).unwrap(), [Labelled { text: "so good".into(), label: "joy".into(), line: 1 }]);
    let (_dir, path) = file("so good\t\n");
    assert!(message(&path, labelled(&path)).starts_with(":1:9: the label is empty"));
}

#[test]
fn questions_are_marked_with_0_or_1() {
    let (_dir, path) = file("who ?\tme\t1\nwho ?\tthere\t0\n");
    let rows = questions(&path, false).unwrap();
    assert_eq!(rows.iter().map(|row| row.relevant).collect::<Vec<_>>(), [true, false]);
    assert_eq!(rows[0].id, None);

    let (_dir, path) = file("q1\twho ?\tme\t1\n");
    assert_eq!(questions(&path, true).unwrap()[0].id.as_deref(), Some("q1"));

    let (_dir, path) = file("who ?\tme\tyes\n");
    let message = message(&path, questions(&path, false));
    assert_eq!(message, ":1:10: expected 0 or 1 (is this an answer to the question?), found \"yes\"");
}

#[test]
fn rows_of_a_question_stand_together_or_share_an_id() {
    let row = |id: Option<&str>, question: &str| Question {
        id: id.map(str::to_owned),
        question: question.into(),
        answer: "a".into(),
        relevant: false,
        line: 1,
    };
    let together = [row(None, "a"), row(None, "a"), row(None, "b"), row(None, "a")];
    assert_eq!(question_groups(&together), [vec![0, 1], vec![2], vec![3]]);
    let by_id = [row(Some("1"), "a"), row(Some("2"), "a"), row(Some("1"), "a")];
    assert_eq!(question_groups(&by_id), [vec![0, 2], vec![1]]);
    assert!(question_groups(&[]).is_empty());
}

#[test]
fn input_for_prediction_is_a_source_or_a_whole_row() {
    let source_of = |text: &str, with_features| {
        let line = Line { text: text.into(), number: 7 };
        source_of(Path::new("-"), &line, with_features, 8).map(|source| (source.source, source.features)).map_err(|error| error.to_string())
    };
    let some = |source: &str, features: Option<&str>| Ok((source.to_owned(), features.map(str::to_owned)));
    assert_eq!(source_of("a", false), some("a", None));
    assert_eq!(source_of("", false), some("", None));
    assert_eq!(source_of("a\tb", false), some("a", None));
    assert_eq!(source_of("", true), some("", Some("")));
    assert_eq!(source_of("a\tN", true), some("a", Some("N")));
    assert_eq!(source_of("a\tb\tN", true), some("a", Some("N")));
    assert!(source_of("a", true).unwrap_err().starts_with("-:7: expected 2 tab-separated column(s): source, features; found 1"));
    assert!(source_of("a\tb\tN", false).unwrap_err().starts_with("-:7: expected 1 tab-separated column(s): source; found 3"));
    assert!(source_of("a\tabcdefghi", false).unwrap_err().starts_with("-:7:3: the target has 9 characters, more than data.longest = 8"));
}

/// A line that comes alone is read as the same line of a file.
#[test]
fn lines_are_read_like_files() {
    let format = TableFormat { longest: 8, ..TableFormat::default() };
    for text in ["a\tb", "", "a", "a\tb\tc", "a\tb\tc\td", "abcdefghi\tb", "a\tabcdefghi", " a \t b "] {
        let (line, path) = (Line { text: text.into(), number: 1 }, Path::new("-"));
        let file = || Table::new(text.as_bytes(), "-", &format);
        let told = |error: TextError| error.to_string();
        // An empty file has no line.
        if !text.is_empty() {
            for flag in [false, true] {
                let first = file().sources(flag).unwrap().next().unwrap().map_err(told);
                assert_eq!(source_of(path, &line, flag, 8).map_err(told), first, "{text:?}");
                let first = file().candidates(flag).unwrap().next().unwrap().map_err(told);
                assert_eq!(candidate_of(path, &line, flag, 8).map_err(told), first, "{text:?}");
            }
            assert_eq!(text_of(path, &line, 8).map_err(told), file().texts().unwrap().next().unwrap().map_err(told), "{text:?}");
        }
    }
}

fn format(separator: &str, header: Header, columns: &str) -> TableFormat {
    TableFormat { separator: separator.into(), header, columns: columns.into(), ..TableFormat::default() }
}

/// Texts and labels, or the error.
fn labels(name: &str, contents: impl AsRef<[u8]>, format: &TableFormat) -> Result<Vec<(String, String)>, String> {
    let read = Table::new(contents.as_ref(), name, format).labelled().map_err(|error| error.to_string())?;
    Ok(read.examples.into_iter().map(|e| (e.text, e.label)).collect())
}

fn own<const N: usize>(rows: [(&str, &str); N]) -> Result<Vec<(String, String)>, String> {
    Ok(rows.map(|(text, label)| (text.to_owned(), label.to_owned())).into())
}

#[test]
fn other_layouts_are_read_when_told() {
    let default = TableFormat::default();
    let expected = own([("so good, yes", "joy"), ("bad", "anger")]);
    assert_eq!(labels("a.tsv", "so good, yes\tjoy\nbad\tanger\n", &default), expected);
    assert_eq!(labels("a.csv", "\"so good, yes\",joy\r\nbad,anger\r\n", &default), expected);
    assert_eq!(labels("a.txt", "so good, yes;joy\nbad;anger\n", &format(";", Header::Auto, "")), expected);
    assert_eq!(labels("a.csv", "text,label\n\"so good, yes\",joy\nbad,anger", &format("", Header::Yes, "")), expected);
    assert_eq!(labels("a.tsv", "joy\t7\tso good, yes\nanger\t8\tbad\n", &format("", Header::Auto, "-1,1")), expected);
    assert_eq!(labels("a.csv", "mood,nr,said\njoy,7,\"so good, yes\"\nanger,8,bad", &format("", Header::Auto, "said,mood")), expected);
    let utf16: Vec<u8> = "\u{FEFF}so good, yes\tjoy\r\nbad\tanger\r\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert_eq!(labels("a.tsv", utf16, &default), expected);
    // Quotes in a file of tabs are characters like any other.
    assert_eq!(labels("a.tsv", "\"so\tjoy\n", &default), own([("\"so", "joy")]));
}

#[test]
fn a_quoted_field_may_hold_line_ends() {
    let default = TableFormat::default();
    let file = "\"one\n\ntwo \"\"2\"\"\",joy\nthree,\n";
    let error = labels("a.csv", file, &default).unwrap_err();
    assert!(error.starts_with("a.csv:4:7: the label is empty"), "{error}");
    assert_eq!(labels("a.csv", file.replace("three,", "three,x"), &default), own([("one\n\ntwo \"2\"", "joy"), ("three", "x")]));
    let error = labels("a.csv", "a,joy\n\"one\ntwo\n\",\"joy\nb,joy\n", &default).unwrap_err();
    assert!(error.starts_with("a.csv:4:3: a quote is opened here and not closed"), "{error}");
}

#[test]
fn a_layout_that_was_not_told_is_recognised() {
    let cases = [
        (
            "a.tsv",
            "so good;joy\nbad;anger\n",
            "a.tsv:1:1: expected columns apart by a tab, found none, but 2 columns apart by a semicolon on every line looked at; say --separator ';'",
        ),
        (
            "a.tsv",
            "\"so, so\",joy\nbad,anger\n",
            "a.tsv:1:1: expected columns apart by a tab, found none, but 2 columns apart by a comma on every line looked at; say --separator ',' or call the file .csv",
        ),
        (
            "a.csv",
            "so good\tjoy\n",
            "a.csv:1:1: expected columns apart by a comma, found none, but 2 columns apart by a tab on every line looked at; say --separator tab",
        ),
        ("a.tsv", "no separator, yes\nat all\n", "a.tsv:1:18: expected 2 tab-separated column(s): text, label; found 1"),
        ("a.tsv", "Text\tlabel\nbad\tanger\n", "a.tsv:1:1: the line looks like a header: Text, label; if it is one, say --header"),
        ("a.csv", "id,label,text\n1,bad,anger\n", "a.csv:1:1: the line looks like a header: id, label, text"),
    ];
    for (name, contents, expected) in cases {
        let error = labels(name, contents, &TableFormat::default()).unwrap_err();
        assert!(error.starts_with(expected), "{error}");
    }
    let cases = [
        (
            format("", Header::Yes, ""),
            "label,text\nanger,bad\n",
            "a.csv:1:1: the header has label, text, but the columns are read as text, label; say which is which, as in --columns text,label",
        ),
        (format("", Header::Yes, "txt,label"), "label,text\n", "a.csv:1:1: no column is called \"txt\"; the header has label, text"),
        (format("", Header::Auto, "3,1"), "a,b,c\nd,e\n", "a.csv:2:4: column 3 is asked for, but the line has 2"),
        (format("", Header::Auto, "1,2,3"), "a,b,c\n", "data.columns: 3 columns are named, but 2 are read: text, label"),
        (format("::", Header::Auto, ""), "a,b\n", "data.separator: \"::\" is not one character"),
        (format("", Header::Yes, ""), "text,label\n", "a.csv is empty"),
    ];
    for (format, contents, expected) in cases {
        let error = labels("a.csv", contents, &format).unwrap_err();
        assert!(error.starts_with(expected), "{error}");
    }
    // Told that it is an example, the line is one.
    assert_eq!(labels("a.tsv", "text\tlabel\n", &format("", Header::No, "")), own([("text", "label")]));
    let zeros: Vec<u8> = "so good\tjoy\n".encode_utf16().flat_map(u16::to_le_bytes).collect();
    assert!(labels("a.tsv", zeros, &TableFormat::default()).unwrap_err().starts_with("a.tsv:1: every other byte is zero"));
}

#[test]
fn what_is_left_out_is_told_and_the_end_is_not() {
    let file = "\na\tjoy\n\n \t \nbbbb\tjoy\nc\tjoy\n\n\n";
    let format = TableFormat { longest: 3, ..TableFormat::default() };
    let read = Table::new(file.as_bytes(), "a.tsv", &format).labelled().unwrap();
    assert_eq!(read.examples.iter().map(|e| (e.text.as_str(), e.line)).collect::<Vec<_>>(), [("a", 2), ("c", 6)]);
    let notes: Vec<String> = read.notes.iter().map(Note::to_string).collect();
    let expected =
        ["a.tsv:1: the first of 3 blank lines, passed over", "a.tsv:5: an example with more than 3 characters, left out (data.longest)"];
    assert_eq!(notes, expected);
    // Whatever a note tells is an error for who does not look at notes.
    assert!(read.whole().unwrap_err().to_string().starts_with("a.tsv:1: the line is empty"));
    let only_long = Table::new(&b"bbbb\tjoy\n"[..], "a.tsv", &format).labelled().unwrap_err().to_string();
    assert!(only_long.starts_with("a.tsv:1:1: the text has 4 characters, more than data.longest = 3"), "{only_long}");
    // Characters are counted, not bytes.
    assert_eq!(Table::new("äöü\tü\n".as_bytes(), "a.tsv", &format).labelled().unwrap().notes, []);
    // A line too long to be looked at is one of them.
    let absurd = format!("a\tb\n{}\nc\td\n", "x".repeat(1_000_001));
    let read = Table::new(absurd.as_bytes(), "a.tsv", &TableFormat::default()).labelled().unwrap();
    assert_eq!((read.examples.len(), read.notes.len()), (2, 1));
}

#[test]
fn pairs_take_as_many_columns_as_are_asked_for() {
    let read = |columns: &str, third| {
        let pairs = Table::new(&b"N\ta\tb\nV\tc\td\n"[..], "a.tsv", &format("", Header::Auto, columns)).pairs(third);
        pairs.map(|read| (read.examples[0].source.clone(), read.examples[0].features.clone())).map_err(|error| error.to_string())
    };
    assert_eq!(read("2,3", ThirdColumn::AsFirstLine), Ok(("a".into(), None)));
    assert_eq!(read("2,3,1", ThirdColumn::AsFirstLine), Ok(("a".into(), Some("N".into()))));
    assert!(read("2,3", ThirdColumn::Features).unwrap_err().starts_with("data.columns: 2 columns are named, but 3 are read"));
}

#[test]
fn lines_to_answer_are_results_of_their_own() {
    let texts = |name: &str, contents: &[u8], format: &TableFormat| -> Vec<Result<(String, usize), String>> {
        let texts = Table::new(contents, name, format).texts().unwrap();
        texts.map(|text| text.map(|text| (text.text, text.line)).map_err(|error| error.to_string())).collect()
    };
    let some = |text: &str, line: usize| Ok((text.to_owned(), line));
    let found = texts("-", b"a, b\tjoy\n\nc\xFF\ndddd\n", &TableFormat { longest: 4, ..TableFormat::default() });
    assert_eq!((&found[0], &found[1], &found[3]), (&some("a, b", 1), &some("", 2), &some("dddd", 4)));
    assert!(found[2].as_ref().unwrap_err().starts_with("-:3:2: byte 0xFF"));
    assert_eq!(texts("a.csv", b"label,said\njoy,\"a, b\"\n", &format("", Header::Auto, "said")), [some("a, b", 2)]);
    // A line that looks like a header is one bad line; a name that is not there is the end.
    let suspect = texts("a.csv", b"text,label\na,joy\n", &TableFormat::default());
    assert!(suspect[0].as_ref().unwrap_err().contains("looks like a header"));
    assert_eq!(suspect[1..], [some("a", 2)]);
    let unknown = texts("a.csv", b"text,label\na,joy\n", &format("", Header::Auto, "said"));
    assert!(unknown.len() == 1 && unknown[0].as_ref().unwrap_err().contains("no column is called"), "{unknown:?}");
    // One word is a text, whatever it says.
    assert_eq!(texts("-", b"text\n", &TableFormat::default()), [some("text", 1)]);
}

#[test]
fn candidates_may_have_a_mark_or_none() {
    type Candidate = (Option<String>, String, String);
    let read = |contents: &str, id_column| -> Vec<Result<Candidate, String>> {
        let rows = Table::new(contents.as_bytes(), "-", &TableFormat::default()).candidates(id_column).unwrap();
        rows.map(|row| row.map(|q| (q.id, q.question, q.answer)).map_err(|error| error.to_string())).collect()
    };
    let row = |id: Option<&str>| Ok((id.map(str::to_owned), "who ?".to_owned(), "me".to_owned()));
    assert_eq!(read("who ?\tme\nwho ?\tme\t1\n", false), [row(None), row(None)]);
    assert_eq!(read("7\twho ?\tme\n7\twho ?\tme\t1\n", true), [row(Some("7")), row(Some("7"))]);
    assert!(
        read("who ?\n", false)[0].as_ref().unwrap_err().starts_with("-:1:6: expected 2 tab-separated column(s): question, answer; found 1")
    );
    assert!(read("a\tb\tc\td\n", false)[0].as_ref().unwrap_err().starts_with("-:1:7: expected 2 tab-separated column(s)"));
}
