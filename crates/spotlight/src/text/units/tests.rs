use super::*;
use proptest::prelude::*;

const KINDS: [UnitKind; 4] = [UnitKind::Chars, UnitKind::Words, UnitKind::Bpe, UnitKind::Unigram];

fn trained(kind: UnitKind, texts: &[&str]) -> Tokenizer {
    Tokenizer::train(&UnitSettings { kind, ..UnitSettings::default() }, texts).unwrap()
}

fn unit_texts(tokenizer: &Tokenizer, text: &str) -> Vec<String> {
    tokenizer.encode(text).into_iter().map(|unit| unit.text).collect()
}

#[test]
fn characters_are_grapheme_clusters() {
    let chars = trained(UnitKind::Chars, &["ɑ̃ e\u{301}", "🇫🇷👩‍👩‍👧"]);
    assert_eq!(unit_texts(&chars, "ɑ̃e\u{301}🇫🇷👩‍👩‍👧 "), ["ɑ̃", "e\u{301}", "🇫🇷", "👩‍👩‍👧", " "]);
    assert!(chars.ids("ɑ̃🇫🇷").iter().all(|&id| id >= 3));
    assert_eq!(chars.ids("ɑ"), [UNKNOWN]);
}

#[test]
fn words_are_joined_by_one_space() {
    let words = trained(UnitKind::Words, &["K AE T"]);
    assert_eq!(words.decode(&words.ids("  T\tAE   K ")), "T AE K");
    assert_eq!(words.decode(&words.ids("T DH K")), "T <unk> K");
}

#[test]
fn lower_case_is_a_choice() {
    for kind in KINDS {
        let settings = UnitSettings { kind, lowercase: true, ..UnitSettings::default() };
        let tokenizer = Tokenizer::train(&settings, ["The CAT", "the cat"]).unwrap();
        assert_eq!(tokenizer.decode(&tokenizer.ids("tHe cAt")), "the cat");
        let as_is = trained(kind, &["The CAT", "the cat"]);
        assert_eq!(as_is.decode(&as_is.ids("The CAT")), "The CAT");
    }
}

#[test]
fn typed_specials_are_text() {
    for kind in KINDS {
        let tokenizer = trained(kind, &["a <s> b", "</s> <unk>"]);
        let ids = tokenizer.ids("<s> </s> <unk>");
        assert!(ids.iter().all(|&id| id > END), "{kind:?} {ids:?}");
        assert_eq!(tokenizer.decode(&ids), "<s> </s> <unk>");
    }
}

#[test]
fn start_and_end_are_not_part_of_the_text() {
    for kind in KINDS {
        let tokenizer = trained(kind, &["ab cd"]);
        let ids = [vec![START], tokenizer.ids("cd ab"), vec![END]].concat();
        assert_eq!(tokenizer.decode(&ids), "cd ab");
    }
}

#[test]
fn unknown_units_can_be_filled_in() {
    let words = trained(UnitKind::Words, &["hello from here"]);
    let ids = words.ids("hello from Zürich");
    assert_eq!(words.decode_with(&ids, |position| format!("[{position}]")), "hello from [2]");
    let beyond = words.len() as u32;
    assert_eq!(words.decode(&[3, beyond]), format!("{} <unk>", words.text(3).unwrap()));
}

#[test]
fn units_can_be_merged_to_words() {
    let chars = trained(UnitKind::Chars, &["ab cd"]);
    assert_eq!(chars.word_of(&chars.ids("ab  cd")), [0, 0, 1, 1, 1, 1]);
    assert_eq!(chars.word_of(&chars.ids(" a b")), [0, 0, 1, 1]);
    let words = trained(UnitKind::Words, &["a b"]);
    assert_eq!(words.word_of(&[START, 3, 4, 4, END]), [0, 1, 2, 3, 4]);
    for kind in [UnitKind::Bpe, UnitKind::Unigram] {
        let subwords = trained(kind, &["ab cd ab cd ab cd x"]);
        let units = subwords.encode("ab xcd cdcd");
        let ids: Vec<u32> = units.iter().map(|unit| unit.id).chain([END]).collect();
        let word_of = subwords.word_of(&ids);
        let mut merged = vec![String::new(); 4];
        for (unit, word) in units.iter().zip(&word_of) {
            merged[*word].push_str(&unit.text);
        }
        assert_eq!(merged, ["▁ab", "▁xcd", "▁cdcd", ""]);
        assert_eq!(word_of.last(), Some(&3));
    }
    assert_eq!(chars.word_of(&[START, 3, 4, END]), [0, 1, 1, 2]);
}

#[test]
fn display_shows_what_cannot_be_seen() {
    let chars = trained(UnitKind::Chars, &["a\t "]);
    let shown: Vec<String> = (0..chars.len() as u32 + 1).map(|id| chars.display(id)).collect();
    assert_eq!(shown, ["<unk>", "<s>", "</s>", "\\t", "␣", "a", "<unk>"]);
}

#[test]
fn settings_have_readable_names() {
    let settings: UnitSettings = toml::from_str("kind = 'bpe'\nvocab_size = 4000").unwrap();
    assert_eq!((settings.kind, settings.vocab_size, settings.min_count), (UnitKind::Bpe, Some(4000), 1));
    for (kind, name) in KINDS.into_iter().zip(["chars", "words", "bpe", "unigram"]) {
        assert_eq!(serde_json::to_value(kind).unwrap(), name);
    }
    assert!(toml::from_str::<UnitSettings>("vocabsize = 1").is_err());
}

#[test]
fn texts_without_units_are_refused() {
    for kind in KINDS {
        let settings = UnitSettings { kind, min_count: 2, ..UnitSettings::default() };
        for texts in [vec![], vec![""], vec!["x"]] {
            assert!(matches!(Tokenizer::train(&settings, texts), Err(TextError::NoUnits)), "{kind:?}");
        }
    }
}

#[test]
fn one_unit_is_enough() {
    for kind in KINDS {
        let tokenizer = trained(kind, &["a", "a"]);
        assert_eq!(tokenizer.decode(&tokenizer.ids("a")), "a");
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]

    #[test]
    fn characters_restore_the_text_exactly(text in "\\PC{1,40}|[a-c \t\r\n]{1,20}") {
        let chars = trained(UnitKind::Chars, &[&text]);
        prop_assert_eq!(chars.decode(&chars.ids(&text)), text);
    }

    #[test]
    fn words_and_subwords_restore_the_text_up_to_white_space(text in "[a-cé<s>/ \t]{0,30}x") {
        let single_spaced = text.split_whitespace().collect::<Vec<_>>().join(" ");
        for kind in [UnitKind::Words, UnitKind::Bpe, UnitKind::Unigram] {
            let tokenizer = trained(kind, &[&text]);
            let ids = tokenizer.ids(&text);
            prop_assert_eq!(tokenizer.decode(&ids), single_spaced.as_str());
            let words = tokenizer.word_of(&ids).last().map_or(0, |word| word + 1);
            prop_assert_eq!(words, text.split_whitespace().count());
        }
    }

    #[test]
    fn saving_and_loading_changes_nothing(text in "[a-cé \t]{0,30}x", other in "[a-dé ]{0,30}") {
        let dir = tempfile::tempdir().unwrap();
        for kind in KINDS {
            let settings = UnitSettings { kind, ..UnitSettings::default() };
            let tokenizer = Tokenizer::train(&settings, [&text]).unwrap();
            tokenizer.save(dir.path(), "source").unwrap();
            let loaded = Tokenizer::load(&settings, dir.path(), "source").unwrap();
            prop_assert_eq!(loaded.len(), tokenizer.len());
            prop_assert_eq!(loaded.encode(&other), tokenizer.encode(&other));
        }
    }
}

/// Letters and accents, and the sounds of a syllable, are units of their own; what comes out is put together again, and a picture knows which belong to one character.
#[test]
fn parts_of_characters() {
    let settings = UnitSettings { kind: UnitKind::Nfd, ..UnitSettings::default() };
    let units = Tokenizer::train(&settings, ["é 각a"]).unwrap();
    let texts = |text: &str| units.encode(text).into_iter().map(|unit| unit.text).collect::<Vec<_>>();
    assert_eq!(texts("é 각"), ["e", "\u{301}", " ", "\u{1100}", "\u{1161}", "\u{11a8}"]);
    // A text that is taken apart already, and a syllable that was never seen.
    assert_eq!(texts("e\u{301}"), texts("é"));
    let unseen = units.ids("가");
    assert_eq!(units.decode(&unseen), "가");
    let ids = units.ids("é 각a?é");
    assert_eq!(units.decode(&ids), "é 각a<unk>é");
    assert_eq!(units.character_of(&ids).unwrap(), [0, 0, 1, 2, 2, 2, 3, 4, 5, 5]);
    assert_eq!(units.word_of(&ids), [0, 0, 1, 1, 1, 1, 1, 1, 1, 1]);
    assert_eq!(units.character_of(&[]).unwrap(), [0usize; 0]);
    assert!(Tokenizer::train(&UnitSettings::default(), ["é"]).unwrap().character_of(&[3]).is_none());
    let folder = tempfile::tempdir().unwrap();
    units.save(folder.path(), "source").unwrap();
    assert_eq!(Tokenizer::load(&settings, folder.path(), "source").unwrap().ids("é 각a?é"), ids);
}
