//! Tests on real data, which stands beside the repository and is skipped when it is absent.

use std::path::{Path, PathBuf};

use super::guess::guess_units;
use super::read::{BagColumns, ThirdColumn, bags, labelled, pairs, question_groups, questions};
use super::{Tokenizer, UnitKind, UnitSettings};
use crate::skip::skip;

/// The folder of data sets, or none (and a line that says so).
fn data() -> Option<PathBuf> {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    if !data.is_dir() {
        skip("data", format!("{} is absent", data.display()));
        return None;
    }
    Some(data)
}

#[test]
fn every_set_is_read() {
    let Some(data) = data() else { return };
    let rows = |set: &str| {
        let pairs = pairs(data.join(set).join("train.tsv"), ThirdColumn::AsFirstLine).unwrap();
        (pairs.len(), pairs[0].features.is_some())
    };
    assert_eq!(rows("g2p-english"), (110_754, false));
    assert_eq!(rows("g2p-french"), (3_600, false));
    assert_eq!(rows("translate-multi30k-de-en"), (29_000, false));
    assert_eq!(rows("spelling-ridges"), (48_987, false));
    assert_eq!(rows("inflection-german"), (1_000, true));
    assert_eq!(labelled(data.join("sentiment-sst2/train.tsv")).unwrap().len(), 6_920);
    assert_eq!(labelled(data.join("emotion-tweets/train.tsv")).unwrap().len(), 3_257);

    let rows = questions(data.join("answers-wikiqa/dev.tsv"), false).unwrap();
    assert_eq!(rows.len(), 1_130);
    let groups = question_groups(&rows);
    assert!(groups.iter().all(|group| group.iter().any(|&row| rows[row].relevant)));

    let musk = bags(data.join("bags-musk1/musk1.csv"), BagColumns::default()).unwrap();
    assert_eq!((musk.len(), musk.iter().map(|bag| bag.rows.len()).sum::<usize>()), (92, 476));
    assert!(musk.iter().flat_map(|bag| &bag.rows).all(|row| row.len() == 166));
    let digits = bags(data.join("digits/digits.csv"), BagColumns { label: -1, bag: None }).unwrap();
    assert_eq!((digits.len(), digits[0].rows[0].len(), digits[0].label.as_str()), (1_797, 64, "0"));
}

#[test]
fn the_expected_units_are_guessed() {
    let Some(data) = data() else { return };
    use UnitKind::{Bpe, Chars, Words};
    let expected = [
        ("g2p-english", Chars, Words),
        ("g2p-french", Chars, Words),
        ("translate-multi30k-de-en", Bpe, Bpe),
        ("spelling-ridges", Chars, Chars),
        ("inflection-german", Chars, Chars),
    ];
    for (set, source, target) in expected {
        let pairs = pairs(data.join(set).join("train.tsv"), ThirdColumn::AsFirstLine).unwrap();
        let sources = guess_units(pairs.iter().map(|pair| &pair.source));
        let targets = guess_units(pairs.iter().map(|pair| &pair.target));
        println!("{set}\n  source: {}\n  target: {}", sources.reason, targets.reason);
        assert_eq!([sources.settings.kind, targets.settings.kind], [source, target], "{set}");
    }
}

#[test]
fn subwords_of_real_text_are_deterministic_and_short() {
    let Some(data) = data() else { return };
    let pairs = pairs(data.join("translate-multi30k-de-en/dev.tsv"), ThirdColumn::Absent).unwrap();
    let texts: Vec<&str> = pairs.iter().map(|pair| pair.source.as_str()).collect();
    for kind in [UnitKind::Bpe, UnitKind::Unigram] {
        let settings = UnitSettings { kind, vocab_size: Some(1000), ..UnitSettings::default() };
        let trained = || {
            let dir = tempfile::tempdir().unwrap();
            let tokenizer = Tokenizer::train(&settings, &texts).unwrap();
            tokenizer.save(dir.path(), "source").unwrap();
            (tokenizer, std::fs::read(Tokenizer::path(kind, dir.path(), "source")).unwrap())
        };
        let (tokenizer, bytes) = trained();
        assert!(bytes == trained().1, "{kind:?} differs between two runs");
        let (mut units, mut words) = (0, 0);
        for text in &texts {
            let ids = tokenizer.ids(text);
            assert_eq!(tokenizer.decode(&ids), *text);
            units += ids.len();
            words += text.split_whitespace().count();
        }
        let per_word = units as f64 / words as f64;
        println!("{kind:?}: {} units, {per_word:.2} in a word", tokenizer.len());
        assert!((1.0..2.0).contains(&per_word), "{kind:?} cuts a word into {per_word} units");
    }
}
