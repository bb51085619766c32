use super::*;
use std::path::PathBuf;

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
        (b"a\tb\n\t\n", ":2: the line is empty"),
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
        source_of(Path::new("-"), &line, with_features).map(|source| (source.source, source.features)).map_err(|error| error.to_string())
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
}
