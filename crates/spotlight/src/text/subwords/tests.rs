use super::*;
use proptest::prelude::*;

const TEXTS: [&str; 6] = [
    "the newest house is lower than the widest house",
    "the lower the house the wider the street",
    "a new street and a wide house",
    "the newest of the new streets is the widest",
    "low houses and low streets, naïve façades",
    "a b c d e f g h i j k l m n o p q r s t u v w x y z",
];

const BOTH: [Algorithm; 2] = [Algorithm::Bpe, Algorithm::Unigram];

fn trained(algorithm: Algorithm) -> Subwords {
    Subwords::train(algorithm, 60, 1, TEXTS).unwrap()
}

fn json(subwords: &Subwords) -> String {
    format!("{:#}\n", file::write(subwords))
}

#[test]
fn training_gives_the_same_bytes_every_time() {
    for algorithm in BOTH {
        let first = json(&trained(algorithm));
        for _ in 0..5 {
            assert_eq!(json(&trained(algorithm)), first);
        }
        let in_three_threads = rayon::ThreadPoolBuilder::new().num_threads(3).build().unwrap();
        assert_eq!(in_three_threads.install(|| json(&trained(algorithm))), first);
    }
}

#[test]
fn frequent_words_stay_whole_and_rare_ones_fall_apart() {
    for algorithm in BOTH {
        let subwords = trained(algorithm);
        assert!(subwords.len() <= 60);
        let texts = |text| subwords.encode(text).into_iter().map(|unit| unit.text).collect::<Vec<_>>();
        assert_eq!(texts(" the  house"), ["▁the", "▁house"]);
        assert!(texts("zoo").len() >= 3);
        assert!(texts("").is_empty());
    }
}

#[test]
fn unknown_characters_are_one_unknown_unit_with_their_text() {
    for algorithm in BOTH {
        let units = trained(algorithm).encode("the дом");
        let unknown: Vec<&Unit> = units.iter().filter(|unit| unit.id == UNKNOWN).collect();
        assert_eq!(unknown, [&Unit { id: UNKNOWN, text: "дом".into() }]);
    }
}

#[test]
fn special_units_cannot_be_typed() {
    let texts = ["<unk> <s> </s> < s >", "<unk> <s> </s> <UNK>"];
    for algorithm in BOTH {
        let subwords = Subwords::train(algorithm, 60, 1, texts).unwrap();
        for text in texts {
            assert!(subwords.encode(text).iter().all(|unit| unit.id as usize >= SPECIALS.len()), "{text}");
        }
        let other = trained(algorithm).encode("< s >< /s ><s>");
        assert!(other.iter().all(|unit| unit.id == UNKNOWN || unit.id as usize >= SPECIALS.len()));
    }
}

#[test]
fn saving_and_loading_changes_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tokenizer.json");
    for algorithm in BOTH {
        let subwords = trained(algorithm);
        subwords.save(&path).unwrap();
        let loaded = Subwords::load(algorithm, &path).unwrap();
        assert_eq!(json(&loaded), json(&subwords));
        assert_eq!(loaded.encode(TEXTS[4]), subwords.encode(TEXTS[4]));
    }
}

/// What the `tokenizers` library made of our files, see `tests/golden/subwords.py`.
#[derive(serde::Deserialize)]
struct Theirs {
    /// What the tables were trained on.
    corpus: Vec<String>,
    /// The files, as the library wrote them.
    files: HashMap<String, String>,
    texts: Vec<String>,
    /// The units of the texts.
    units: HashMap<String, Vec<Vec<u32>>>,
}

#[test]
fn other_programs_that_read_the_file_get_the_same_units() {
    let golden = concat!(env!("CARGO_MANIFEST_DIR"), "/tests/golden/subwords.json");
    let theirs: Theirs = serde_json::from_str(&std::fs::read_to_string(golden).unwrap()).unwrap();
    for (algorithm, name) in BOTH.into_iter().zip(["bpe", "unigram"]) {
        let subwords = Subwords::train(algorithm, 70, 1, &theirs.corpus).unwrap();
        assert_eq!(json(&subwords), theirs.files[name]);
        for (text, units) in theirs.texts.iter().zip(&theirs.units[name]) {
            let ours: Vec<u32> = subwords.encode(text).into_iter().map(|unit| unit.id).collect();
            assert_eq!(&ours, units, "{text} by {name}");
        }
    }
}

#[test]
fn a_wrong_or_broken_file_is_named() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("tokenizer.json");
    let good = json(&trained(Algorithm::Bpe));
    let cases = [
        (good[..good.len() / 2].to_owned(), "EOF while parsing"),
        ("{}".to_owned(), "expected a BPE model, found null"),
        (good.replace("\"BPE\"", "\"Unigram\""), "expected a BPE model, found \"Unigram\""),
        (good.replace("\"unk_token\": \"< unk >\"", "\"unk_token\": null"), "its unknown unit is not < unk >"),
        (good.replace("\"< s >\": 1", "\"< S >\": 1"), "the first units are not < unk >, < s >, < /s >"),
        (good.replace("\"< s >\": 1", "\"< s >\": 2"), "two units have the same number"),
        (good.replace("\"< s >\": 1", "\"< s >\": 999"), "unit \"< s >\" has number 999"),
    ];
    for (file, reason) in cases {
        std::fs::write(&path, &file).unwrap();
        let error = Subwords::load(Algorithm::Bpe, &path).unwrap_err().to_string();
        assert!(error.starts_with(&format!("{} is not a usable table of subwords: {reason}", path.display())), "{error}");
    }
}

#[test]
fn a_size_that_cannot_work_says_what_could() {
    for algorithm in BOTH {
        let error = Subwords::train(algorithm, 10, 1, TEXTS).unwrap_err();
        let TextError::VocabularyTooSmall { asked: 10, alphabet: 30, needed } = error else {
            panic!("{error}");
        };
        assert_eq!(Subwords::train(algorithm, needed, 1, TEXTS).unwrap().len(), needed);
        assert!(matches!(Subwords::train(algorithm, 100, 1, ["", " "]), Err(TextError::NoUnits)));
        assert!(matches!(Subwords::train(algorithm, 100, 9, ["abc"]), Err(TextError::NoUnits)));
    }
}

#[test]
fn one_character_and_very_long_words_work() {
    for algorithm in BOTH {
        assert!(Subwords::train(algorithm, 8000, 1, ["a"]).unwrap().len() > SPECIALS.len());
        let long = "abcdefghij".repeat(1000);
        let subwords = Subwords::train(algorithm, 30, 1, [&long]).unwrap();
        let text: String = subwords.encode(&long).into_iter().map(|unit| unit.text).collect();
        assert_eq!(text, format!("▁{long}"));
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Whatever the texts, training ends without a panic, and known texts are cut without loss.
    #[test]
    fn any_texts_can_be_trained_on(texts in prop::collection::vec(".{0,20}|[ab ]{0,20}", 1..6)) {
        for algorithm in BOTH {
            let Ok(subwords) = Subwords::train(algorithm, 200, 1, &texts) else {
                continue;
            };
            for text in &texts {
                let joined: String = subwords.encode(text).into_iter().map(|unit| unit.text).collect();
                prop_assert_eq!(joined, words(text).collect::<String>());
            }
        }
    }
}
