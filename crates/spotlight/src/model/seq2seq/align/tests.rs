use super::ibm::symmetric;
use super::*;
use crate::model::seq2seq::Transducer;
use crate::model::seq2seq::tests::{config, pair};
use crate::model::testing::{check_gradient, fit};
use crate::text::Pair;

#[test]
fn files_of_links_are_read_or_refused() {
    let links = Links::parse("2 1 1\n2 3 2 S\n2 2 2 P\n1 0 1\n\n", "gold").unwrap();
    assert_eq!((links.len(), links.of(1)), (1, None));
    let gold = links.of(2).unwrap();
    assert_eq!((gold.sure.len(), gold.possible.len()), (2, 3));
    let links = Links::parse("\n1-0 2?2\n", "gold").unwrap();
    assert_eq!(links.of(1), Some(&Gold::default()));
    assert_eq!(links.of(2).unwrap().sure.iter().collect::<Vec<_>>(), [&(1, 0)]);
    for (file, part) in [("1 1\n", "line 1 of gold"), ("1 2 x\n", "counted from 1"), ("1 1 1 Q", "S or P"), ("0-1\n0-1 1\n", "line 2")] {
        let refused = Links::parse(file, "gold").unwrap_err().to_string();
        assert!(refused.contains(part), "{file:?}: {refused}");
    }
}

/// What leads beyond the words of a pair, or beyond the pairs, is a mistake of the file; of pairs that are set aside nothing is known but that they are there.
#[test]
fn links_that_lead_nowhere_are_refused() {
    let place = tempfile::tempdir().unwrap();
    let (file, of) = (place.path().join("gold"), place.path().join("pairs"));
    std::fs::write(&of, "a b c\tx y\nd e\tz\nset aside\tw\n").unwrap();
    let pairs = [pair("a b c", "x y", 1), pair("d e", "z", 2)];
    let read = |text: &str| {
        std::fs::write(&file, text).unwrap();
        Links::read(&file, &pairs, &of)
    };
    for right in ["1 3 2\n2 2 1 P\n3 900 1\n", "2-1\n\n\n\n\n"] {
        assert_eq!(read(right).unwrap(), Links::parse(right, "gold").unwrap());
    }
    for (wrong, parts) in [
        (
            "1 1 1\n1 900 1\n",
            ["pair 1 in line 2 of", "source word 900, target word 1", "within 3 source and 2 target words, counted from 1"],
        ),
        ("1 2 3\n", ["pair 1 in line 1 of", "source word 2, target word 3", "the other way round it is"]),
        ("0-0\n0-1 1-0\n", ["pair 2 in line 2 of", "source word 0, target word 1", "counted from 0; the other way round"]),
        ("1 1 1\n4 1 1\n", ["pair 4 in line 2 of", "source word 1, target word 1", "of one of the 3 lines of"]),
    ] {
        let refused = read(wrong).unwrap_err().to_string();
        assert!(parts.iter().all(|part| refused.contains(part)), "{refused}");
    }
    assert!(!read("1 900 1\n").unwrap_err().to_string().contains("other way"));
}

/// By hand: three found, two of them possible, one of those sure; two are sure.
#[test]
fn scores_are_those_of_the_formulas() {
    let gold = Gold { sure: [(0, 0), (1, 1)].into(), possible: [(0, 0), (1, 1), (2, 1)].into() };
    let mut score = AlignmentScore::default();
    score.add(&[(0, 0), (2, 1), (2, 2)].into(), &gold);
    assert_eq!((score.precision(), score.recall()), (2.0 / 3.0, 0.5));
    assert!((score.f1() - 4.0 / 7.0).abs() < 1e-12 && (score.error_rate() - 0.4).abs() < 1e-12);
    assert_eq!(diagonal(2, 4).into_iter().collect::<Vec<_>>(), [(0, 0), (0, 1), (1, 2), (1, 3)]);
    assert!(diagonal(0, 3).is_empty() && diagonal(3, 0).is_empty());
}

/// Words that only ever meet in one way are found, whatever their order, in the plain model; and both ways together leave out what only one finds.
#[test]
fn model_one_finds_translations() {
    let text = [("the house", "casa la"), ("the book", "libro el"), ("a house", "casa una"), ("a book", "libro un"), ("the", "la")];
    let pairs: Vec<(Vec<&str>, Vec<&str>)> = text.iter().map(|(s, t)| (s.split(' ').collect(), t.split(' ').collect())).collect();
    let model = ibm::Ibm1::learn(&pairs, None);
    assert_eq!(model.links(&["the", "house"], &["casa", "la"]).into_iter().collect::<Vec<_>>(), [(0, 1), (1, 0)]);
    let turned: Vec<(Vec<&str>, Vec<&str>)> = pairs.iter().map(|(s, t)| (s.clone(), t.iter().rev().copied().collect())).collect();
    let symmetric = symmetric(&turned);
    assert_eq!(symmetric[2], Gold::sure([(0, 0), (1, 1)]));
}

/// Pairs of words whose targets are in the reverse order, with their links.
fn reversed(count: usize) -> (Vec<Pair>, Links) {
    let words = ["one", "two", "three", "four", "five"];
    let mut links = Links::default();
    let mut row = |i: usize| {
        let n = 2 + i % 2;
        let source: Vec<&str> = (0..n).map(|j| words[(i * 3 + j * 2 + i / 5) % 5]).collect();
        let target: Vec<String> = source.iter().rev().map(|word| word.to_uppercase()).collect();
        links.insert(i + 1, Gold::sure((0..n).map(|j| (j, n - 1 - j))));
        pair(&source.join(" "), &target.join(" "), i + 1)
    };
    ((0..count).map(&mut row).collect(), links)
}

fn learner(links: &Links, pairs: &[Pair], changes: &[&str]) -> Transducer {
    let words = ["source.units=words", "target.units=words", "alignment.links=ibm", "model.dropout=0.0"];
    let mut model = Transducer::new(config(&[&words[..], changes].concat()), pairs).unwrap();
    model.links = Some(std::sync::Arc::new(links.clone()));
    model
}

#[test]
fn gradients_of_links() {
    let (pairs, links) = reversed(4);
    for kind in [
        &[][..],
        &["model.order=luong", "alignment.after=true", "attention.heads=2"],
        &["model.copy=true", "alignment.weight=0.3"],
        &[
            "model.architecture=transformer",
            "model.embedding=8",
            "model.hidden=8",
            "transformer.heads=2",
            "transformer.feed_forward=3",
            "transformer.activation=gelu",
        ],
    ] {
        let model = learner(&links, &pairs, kind);
        println!("{kind:?}");
        let examples = model.examples(&pairs);
        assert!(examples.iter().all(|e| !e.links.is_empty()));
        check_gradient(&model.params, &model.learner(), &examples);
    }
}

/// What is said with words is learnt by units, too: a link of words is one of all their letters.
#[test]
fn links_of_words_are_links_of_their_units() {
    let (pairs, links) = (vec![pair("ab c", "x yz", 1)], Links::parse("1 1 2\n", "gold").unwrap());
    let mut model = Transducer::new(config(&["alignment.links=ibm"]), &pairs).unwrap();
    model.links = Some(std::sync::Arc::new(links));
    // Letters of a source are a, b, a space, c; of its target x, a space, y, z. A space belongs to the word after it.
    let mut found = model.examples(&pairs)[0].links.clone();
    found.sort_unstable();
    assert_eq!(found, [(1, 0), (1, 1), (2, 0), (2, 1), (3, 0), (3, 1)]);
}

/// An attention that is told where to look looks there; one that is told the opposite looks at the opposite, and the report says so.
#[test]
fn attention_follows_its_links() {
    let (pairs, gold) = reversed(40);
    let mut wrong = Links::default();
    for p in &pairs {
        let n = p.source.split(' ').count();
        wrong.insert(p.line, Gold::sure((0..n).map(|j| (j, j))));
    }
    let f1 = |links: &Links, after: bool| {
        let learning = [
            "model.embedding=12",
            "model.hidden=16",
            "attention.alignment=0",
            "train.rate=0.01",
            "train.batch=100",
            "train.epochs=40",
            "model.order=luong",
        ];
        let shift = if after { "alignment.after=true" } else { "alignment.after=false" };
        let mut model = learner(links, &pairs, &[&learning[..], &[shift]].concat());
        let examples = model.examples(&pairs);
        fit(&model.learner(), &mut model.params, &model.config.train, &examples);
        let report = model.alignments(&pairs, &gold, &[]).unwrap();
        assert_eq!(report.pairs, 40);
        let of = |name: &str| report.ways.iter().find(|way| way.0 == name).unwrap().1.f1();
        (of("attention, forced"), of("attention, forced, a step later"), of("attention, free"))
    };
    let told = f1(&gold, false);
    assert!(told.0 > 0.9 && told.2 > 0.8, "{told:?}");
    let later = f1(&gold, true);
    assert!(later.1 > 0.9, "{later:?}");
    let misled = f1(&wrong, false);
    assert!(misled.0 < 0.5, "{misled:?}");
}
