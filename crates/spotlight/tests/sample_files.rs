//! Every task reads its sample file of the repository.

use std::path::{Path, PathBuf};

use spotlight::text::read::{BagColumns, Table, TableFormat, ThirdColumn, question_groups};

fn folder() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../examples/data")
}

#[test]
fn every_task_reads_its_file_without_a_word() {
    let open = |name: &str| Table::open(folder().join(name), &TableFormat::default()).unwrap();
    let pairs = open("numerals.tsv").pairs(ThirdColumn::AsFirstLine).unwrap();
    assert!(pairs.examples.iter().any(|pair| pair.source == "CXLIV" && pair.target == "144"));
    assert_eq!((pairs.examples.len(), pairs.notes.len()), (300, 0));
    let texts = open("messages.tsv").labelled().unwrap();
    assert_eq!((texts.examples.len(), texts.notes.len()), (240, 0));
    let rows = open("questions.tsv").questions(false).unwrap();
    let groups = question_groups(&rows.examples);
    assert_eq!((rows.examples.len(), groups.len()), (480, 120));
    assert!(groups.iter().all(|group| group.iter().filter(|&&row| rows.examples[row].relevant).count() == 1));
    let bags = open("coins.csv").bags(BagColumns::default()).unwrap();
    assert_eq!(bags.examples.iter().filter(|bag| bag.label == "false").count(), 60);
    assert_eq!((bags.examples.len(), bags.notes.len()), (120, 1), "the header is noticed");
}
