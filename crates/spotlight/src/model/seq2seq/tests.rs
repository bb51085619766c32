//! The transducer's parts together: gradients of every kind of model, and answers that are what they claim to be.

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::transformer_tests::TRANSFORMERS;
use super::*;
use crate::axis::Axis;
use crate::model::testing::{check_gradient, fit};
use crate::model::{Answer as _, Drawing, Model};
use crate::search::force;
use crate::search::search;
use crate::tape::Tape;
use crate::text::vocab::{END, START, UNKNOWN};
use crate::view::{Page, ascii};

const SMALL: [&str; 3] = ["model.embedding=3", "model.hidden=4", "model.dropout=0.3"];

pub(super) fn config(changes: &[&str]) -> Config {
    // What a Transformer's decoder would refuse.
    let recurrent = !changes.iter().any(|change| change.starts_with("model.architecture="));
    let alignment = recurrent.then_some("model.alignment=3");
    let changes: Vec<String> = SMALL.iter().copied().chain(alignment).chain(changes.iter().copied()).map(String::from).collect();
    resolve(&Config::default(), "", &changes).unwrap()
}

pub(super) fn pair(source: &str, target: &str, line: usize) -> Pair {
    Pair { source: source.into(), target: target.into(), features: None, line }
}

/// Words of two to four letters and their reverse.
fn reversals(count: usize) -> Vec<Pair> {
    let word = |i: usize| (0..2 + i % 3).map(|j| (b'a' + ((i * 7 + j * 3 + i / 5) % 4) as u8) as char).collect::<String>();
    (0..count).map(|i| pair(&word(i), &word(i).chars().rev().collect::<String>(), i + 1)).collect()
}

/// A model that has learnt to reverse.
pub(super) fn reverser(changes: &[&str]) -> Transducer {
    let pairs = reversals(30);
    let learning =
        ["model.embedding=12", "model.hidden=20", "attention.alignment=0", "model.dropout=0.0", "train.rate=0.01", "train.batch=60"];
    let mut model = Transducer::new(config(&[&learning[..], &["train.epochs=60"], changes].concat()), &pairs).unwrap();
    let examples = model.examples(&pairs);
    let measures = fit(&model.learner(), &mut model.params, &model.config.train, &examples);
    let accuracy = measures.iter().find(|m| m.name == "accuracy").unwrap().value;
    assert_eq!(accuracy, 1.0, "{changes:?}");
    model
}

#[test]
fn gradients_of_every_kind_of_model() {
    let pairs = [pair("abca", "cb", 1), pair("b", "", 2), pair("cab", "abcab", 3)];
    const ONE_WAY: &str = "model.bidirectional=false";
    let variants: [&[&str]; 31] = [
        &[],
        &["model.cell=rnn"],
        &["model.cell=lstm", "model.encoder_layers=2", "model.decoder_layers=2"],
        &[ONE_WAY],
        &[ONE_WAY, "model.cell=lstm", "model.attention=none"],
        &["model.attention=none"],
        &["model.attention=none", "model.order=luong"],
        &["model.attention=dot", ONE_WAY, "model.order=luong"],
        &["model.attention=scaled-dot", ONE_WAY],
        &["model.attention=cosine", ONE_WAY],
        &["model.attention=general", "model.order=luong", "model.input_feeding=true"],
        &["model.attention=concat", "model.order=luong", "model.cell=lstm", "model.input_feeding=true"],
        &["model.attention=location"],
        &["model.heads=2"],
        &["model.heads=2", "model.order=luong", "model.attention=general"],
        &["model.heads=4", "model.order=luong", "model.attention=concat", "model.input_feeding=true", "model.softmax=sparsemax"],
        &["model.coverage=penalty"],
        &["model.coverage=features", "model.order=luong"],
        &["model.tied=true"],
        &["model.start=zeros"],
        &["model.softmax=sparsemax"],
        &["model.softmax=local-m", "model.half_width=1"],
        &["model.softmax=local-p", "model.half_width=1", "model.order=luong"],
        &["model.softmax=monotonic"],
        &["attention.normalised=true", "attention.temperature=0.5"],
        &["attention.score=location", "attention.filters=2", "attention.filter_width=3"],
        &["attention.keys=3", "attention.values=6", "attention.heads=2"],
        &["attention.keys=4", "attention.score=dot", "model.order=luong"],
        &["attention.heads=2", "attention.softmax=local-p", "attention.half_width=2", "attention.centre=2"],
        &["model.scheduled_sampling=0.5", "train.smoothing=0.1"],
        &["model.output=entmax", "train.smoothing=0.1"],
    ];
    for changes in variants.into_iter().chain(TRANSFORMERS) {
        let model = Transducer::new(config(changes), &pairs).unwrap_or_else(|e| panic!("{changes:?}: {e}"));
        println!("{changes:?}");
        check_gradient(&model.params, &model.learner(), &model.examples(&pairs));
    }
}

#[test]
fn it_learns_with_every_cell_and_order() {
    reverser(&["model.cell=rnn"]);
    reverser(&["model.cell=lstm", "model.encoder_layers=2", "model.decoder_layers=2"]);
    reverser(&["model.attention=general", "model.order=luong", "model.input_feeding=true"]);
    reverser(&["model.attention=none"]);
    reverser(&["model.heads=4"]);
    reverser(&["model.scheduled_sampling=0.2"]);
}

/// Units are parts of characters; a picture joins them, and answers compare with what the file has.
#[test]
fn pictures_join_the_parts_of_characters() {
    let pairs: Vec<Pair> = (0..20).map(|i| pair(["가나", "나가", "각", "e\u{301}a"][i % 4], ["é", "가", "a", "e"][i % 4], i + 1)).collect();
    let apart = [
        "source.units=nfd",
        "target.units=nfd",
        "model.hidden=20",
        "model.dropout=0.0",
        "train.rate=0.01",
        "train.batch=60",
        "train.epochs=60",
    ];
    let mut model = Transducer::new(config(&apart), &pairs).unwrap();
    let examples = model.examples(&pairs);
    let measures = fit(&model.learner(), &mut model.params, &model.config.train, &examples);
    assert_eq!(measures.iter().find(|m| m.name == "accuracy").unwrap().value, 1.0);
    let answer = &model.answer(&[("가나", None)], &model.search_options(), false).unwrap()[0];
    assert_eq!((answer.hypotheses[0].text.as_str(), answer.source_tokens.len(), answer.hypotheses[0].tokens.len()), ("é", 4, 2));
    let matrix = &answer.matrices(&Default::default())[0];
    assert_eq!((&matrix.source[..], &matrix.output[..]), (&["가".into(), "나".into()][..], &["é".into()][..]));
    assert!((matrix.heads[0][0].iter().sum::<f32>() - 1.0).abs() < 1e-5);
}

/// With entmax most answers are impossible, and not only improbable; those in a list are possible.
#[test]
fn entmax_holds_most_answers_impossible() {
    let model = reverser(&["model.output=entmax"]);
    let known = &reversals(30)[7];
    let wrong = model.score(&[(&known.source, None)], &["dddddd"]).unwrap();
    assert_eq!(wrong[0].hypotheses[0].hypothesis.log_prob, f64::NEG_INFINITY);
    let options = SearchOptions { beam: 4, n_best: 4, ..model.search_options() };
    let answer = &model.answer(&[(&known.source, None)], &options, false).unwrap()[0];
    assert_eq!(answer.hypotheses[0].text, known.target);
    assert!(answer.hypotheses.iter().all(|h| h.hypothesis.log_prob.is_finite()));
}

#[test]
fn a_hypothesis_has_the_probability_it_says() {
    let model = reverser(&[]);
    let options = SearchOptions { beam: 4, n_best: 4, ..model.search_options() };
    for answer in model.answer(&[("abca", None), ("d", None), ("zebra", None)], &options, false).unwrap() {
        let source: Vec<u32> = model.vocabularies.source.ids(&answer.source);
        assert_eq!(answer.hypotheses.len(), 4);
        for pair in answer.hypotheses.windows(2) {
            assert!(pair[0].hypothesis.score >= pair[1].hypothesis.score && pair[0].hypothesis.ids != pair[1].hypothesis.ids);
        }
        for AnswerText { hypothesis: h, .. } in &answer.hypotheses {
            // The same answer, read by the decoder as a known target.
            let tape = Tape::new(&model.params);
            let encoded = model.net.encode(&tape, &source, &Axis::new(vec![source.len()])).unwrap();
            let inputs: Vec<u32> = std::iter::once(START).chain(h.ids.iter().copied()).collect();
            let decoded = model.net.decode(&tape, &encoded, &inputs, &Axis::new(vec![inputs.len()]), true).unwrap();
            let targets: Vec<u32> = h.ids.iter().copied().chain([END]).collect();
            let loss = model.net.cross_entropy(&tape, decoded.readout, &targets, 0.0, 1.0).unwrap();
            assert!((tape.item(loss) + h.log_prob).abs() < 1e-4, "{} and {}", tape.item(loss), h.log_prob);
            let weights = tape.to_vec(decoded.weights.unwrap());
            for (row, wanted) in h.attention.iter().zip(weights.chunks(source.len())) {
                assert!((row.iter().sum::<f32>() - 1.0).abs() < 1e-5);
                assert!(row.iter().zip(wanted).all(|(a, b)| (a - b).abs() < 1e-5));
            }
            assert_eq!((h.attention.len(), h.probabilities.len()), (h.ids.len(), h.ids.len()));
        }
    }
}

#[test]
fn a_beam_that_holds_everything_finds_the_best_answer() {
    // Not trained: all answers are about as likely, so that a narrow search goes astray easily.
    let pairs = [pair("ab", "x", 1), pair("ba", "y", 2)];
    let mut model = Transducer::new(config(&["model.dropout=0.0"]), &pairs).unwrap();
    model.params.flat_mut().iter_mut().for_each(|x| *x *= 4.0);
    let source = model.vocabularies.source.ids("ab");
    let log_prob = |ids: &[u32]| {
        let tape = Tape::new(&model.params);
        let encoded = model.net.encode(&tape, &source, &Axis::new(vec![2])).unwrap();
        let inputs: Vec<u32> = std::iter::once(START).chain(ids.iter().copied()).collect();
        let decoded = model.net.decode(&tape, &encoded, &inputs, &Axis::new(vec![inputs.len()]), true).unwrap();
        let targets: Vec<u32> = ids.iter().copied().chain([END]).collect();
        let loss = model.net.cross_entropy(&tape, decoded.readout, &targets, 0.0, 1.0).unwrap();
        -tape.item(loss)
    };
    // Every answer of up to four units.
    let units: Vec<u32> = (0..model.vocabularies.target.len() as u32).filter(|u| ![START, END].contains(u)).collect();
    let mut all: Vec<Vec<u32>> = vec![vec![]];
    for length in 0..4 {
        let longer: Vec<Vec<u32>> =
            all.iter().filter(|a| a.len() == length).flat_map(|a| units.iter().map(|&u| [a.as_slice(), &[u]].concat())).collect();
        all.extend(longer);
    }
    let best = all.iter().max_by(|a, b| log_prob(a).total_cmp(&log_prob(b))).unwrap();
    let options = SearchOptions { beam: 400, length_penalty: 0.0, ..model.search_options() };
    let found = &search(&model.writer(), &[Request::new(&source)], &options).unwrap()[0][0];
    assert!((found.log_prob - log_prob(best)).abs() < 1e-4 || found.ids.len() > 4, "{found:?} instead of {best:?}");
    assert!(found.log_prob >= log_prob(best) - 1e-4);
}

#[test]
fn company_changes_no_answer() {
    let model = reverser(&["model.coverage=features"]);
    let sources = ["abca", "", "d", "bcadbcadbcad", "ab"];
    for beam in [1, 3] {
        let options = SearchOptions { beam, n_best: beam, coverage_penalty: 0.2, ..model.search_options() };
        let together = model.answer(&sources.map(|s| (s, None)), &options, false).unwrap();
        for (source, answer) in sources.iter().zip(&together) {
            let alone = &model.answer(&[(source, None)], &options, false).unwrap()[0];
            let ids = |a: &Answer| a.hypotheses.iter().map(|h| h.hypothesis.ids.clone()).collect::<Vec<_>>();
            assert_eq!(ids(alone), ids(answer), "{source}");
        }
        assert_eq!(together[1].hypotheses[0].text, "");
    }
}

#[test]
fn draws_follow_the_temperature_and_the_seed() {
    let model = reverser(&[]);
    assert!(reversals(30).iter().any(|p| p.source == "cbad"));
    let draw = |temperature: f64, seed: u64| {
        let options = SearchOptions { n_best: 20, sample: Some((temperature, seed)), ..model.search_options() };
        let answer = model.answer(&[("cbad", None)], &options, false).unwrap().remove(0);
        answer.hypotheses.into_iter().map(|h| h.text).collect::<Vec<_>>()
    };
    assert_eq!(draw(0.05, 1), vec!["dabc"; 20]);
    assert_eq!(draw(3.0, 1), draw(3.0, 1));
    assert_ne!(draw(3.0, 1), draw(3.0, 2));
    assert!(draw(3.0, 1).iter().any(|text| text != "dabc"));
}

#[test]
fn unknown_words_are_copied_from_where_the_model_looks() {
    // Names come once each and are unknown to the vocabulary.
    let words = ["units=words", "min_count=3"];
    let settings: Vec<String> = ["source", "target"].iter().flat_map(|side| words.map(|w| format!("{side}.{w}"))).collect();
    let changes: Vec<&str> = settings.iter().map(String::as_str).collect();
    let learning = ["model.embedding=12", "model.hidden=20", "model.dropout=0.0", "model.start=zeros", "train.rate=0.01", "train.batch=60"];
    // One word for another, with a name somewhere among them: only the attention tells which source word is the name.
    let words = [("hello", "bonjour"), ("dear", "cher"), ("well", "bien"), ("cat", "chat"), ("big", "grand")];
    let sentence = |i: usize| {
        let mut random = ChaCha8Rng::seed_from_u64(i as u64);
        let (length, name) = (random.random_range(2..6), random.random_range(0..2));
        let chosen: Vec<_> = (0..length)
            .map(|at| match at == name {
                true => (format!("name{i}"), format!("name{i}")),
                false => {
                    let word = words[random.random_range(0..words.len())];
                    (word.0.to_string(), word.1.to_string())
                }
            })
            .collect();
        let (source, target): (Vec<String>, Vec<String>) = chosen.into_iter().unzip();
        pair(&source.join(" "), &target.join(" "), i + 1)
    };
    let pairs: Vec<Pair> = (0..150).map(sentence).collect();
    let mut model = Transducer::new(config(&[&learning[..], &["train.epochs=20"], &changes].concat()), &pairs).unwrap();
    let examples = model.examples(&pairs);
    fit(&model.learner(), &mut model.params, &model.config.train, &examples);
    let answer = |copy| model.answer(&[("dear Ada hello", None)], &model.search_options(), copy).unwrap().remove(0);
    let (plain, copied) = (answer(false), answer(true));
    let Hypothesis { ids, attention, .. } = &plain.hypotheses[0].hypothesis;
    let unknown = ids.iter().position(|&id| id == UNKNOWN).unwrap();
    let most = (0..3).max_by(|&a, &b| attention[unknown][a].total_cmp(&attention[unknown][b])).unwrap();
    let word = copied.hypotheses[0].text.split(' ').nth(unknown).unwrap().to_string();
    assert_eq!(word, ["dear", "Ada", "hello"][most]);
    assert!(!plain.hypotheses[0].text.contains(&word));
}

#[test]
fn rows_of_one_source_are_alternatives_or_running_text() {
    let pairs = [pair("ab", "ba", 1), pair("ab", "ba", 2), pair("ab", "xx", 3), pair("b", "yy", 4), pair("b", "b", 5)];
    let answers = ["ba", "ba", "ba", "zz", "zz"].map(String::from);
    let accuracy = |alternatives: &str| {
        let model = Transducer::new(config(&[alternatives]), &pairs).unwrap();
        learn::text_measures(&model.examples(&pairs), &answers, crate::text::UnitKind::Chars).unwrap()[0].value
    };
    // Two sources, one of them right; five rows, two of them right.
    assert_eq!(accuracy("data.alternatives=true"), 0.5);
    assert_eq!(accuracy("data.alternatives=false"), 0.4);
}

/// Every shape of decoder: the fused one, all looks at once, and step by step for all that needs the step before.
const DECODERS: [&[&str]; 9] = [
    &[],
    &["model.cell=lstm", "model.decoder_layers=2"],
    &["model.attention=general", "model.heads=2"],
    &["model.order=luong", "model.attention=general", "model.start=zeros"],
    &["model.order=luong", "model.input_feeding=true", "model.cell=rnn"],
    &["model.attention=location"],
    &["model.coverage=features"],
    &["model.attention=none", "model.bidirectional=false"],
    &["model.order=luong", "model.softmax=local-p", "model.attention=dot", "model.bidirectional=false", "model.tied=true"],
];

#[test]
fn learning_forcing_and_searching_see_the_same_decoder() {
    let pairs = reversals(8);
    for changes in DECODERS.into_iter().chain(TRANSFORMERS) {
        let mut model = Transducer::new(config(&[changes, &["model.dropout=0.0"]].concat()), &pairs).unwrap();
        model.params.flat_mut().iter_mut().for_each(|x| *x *= 2.0);
        let ids: Vec<(Vec<u32>, Vec<u32>)> = ["abcd", "d", "bb"]
            .iter()
            .zip(["dcb", "", "abcdabcd"])
            .map(|(s, t)| (model.vocabularies.source.ids(s), model.vocabularies.target.ids(t)))
            .collect();
        let asked: Vec<(&[u32], &[u32])> = ids.iter().map(|(s, t)| (s.as_slice(), t.as_slice())).collect();
        let forced = force(&model.writer(), &asked).unwrap();
        for ((source, target), forced) in asked.iter().zip(&forced) {
            // Teacher forcing: what is learnt from.
            let tape = Tape::new(&model.params);
            let begun = model.net.encode(&tape, source, &Axis::new(vec![source.len()])).unwrap();
            let inputs: Vec<u32> = std::iter::once(START).chain(target.iter().copied()).collect();
            let decoded = model.net.decode(&tape, &begun, &inputs, &Axis::new(vec![inputs.len()]), true).unwrap();
            let targets: Vec<u32> = target.iter().copied().chain([END]).collect();
            let loss = model.net.cross_entropy(&tape, decoded.readout, &targets, 0.0, 1.0).unwrap();
            assert!((tape.item(loss) + forced.log_prob).abs() < 1e-4, "{changes:?}: {} and {}", tape.item(loss), forced.log_prob);
            assert_eq!(forced.ids, *target);
            // Every step has the probability it had among all of them.
            let logits = model.net.logits(&tape, decoded.readout).unwrap();
            let p = tape.to_vec(tape.row_softmax(logits));
            for (row, (&unit, forced)) in target.iter().zip(&forced.probabilities).enumerate() {
                let p = p[row * tape.shape(logits).1 + unit as usize];
                assert!((p - forced).abs() < 1e-5, "{changes:?} [{row}]: {p} and {forced}");
            }
            if let Some(weights) = decoded.weights {
                let (all, heads) = (tape.to_vec(weights), tape.shape(weights).1);
                for (row, attention) in forced.attention.iter().enumerate() {
                    for (j, weight) in attention.iter().enumerate() {
                        let at = (row * source.len() + j) * heads;
                        let mean = all[at..at + heads].iter().sum::<f32>() / heads as f32;
                        assert!((mean - weight).abs() < 1e-5, "{changes:?} [{row}, {j}]: {mean} and {weight}");
                    }
                }
            }
        }
        // What a search finds is what forcing says of it; a prefix leads it there.
        let options = SearchOptions { beam: 3, ..model.search_options() };
        let requests: Vec<Request> = asked.iter().map(|(source, prefix)| Request { source, prefix }).collect();
        for ((source, prefix), found) in asked.iter().zip(search(&model.writer(), &requests, &options).unwrap()) {
            let found = &found[0];
            assert!(found.ids.starts_with(prefix), "{changes:?}: {:?} does not begin with {prefix:?}", found.ids);
            let again = &force(&model.writer(), &[(source, &found.ids)]).unwrap()[0];
            // An answer that was cut for its length has no end.
            let cut = found.ids.len() + 1 >= (source.len() as f64 * options.max_ratio) as usize + 10;
            assert!(cut || (again.log_prob - found.log_prob).abs() < 1e-4, "{changes:?}");
            assert_eq!(again.probabilities.len(), found.probabilities.len());
        }
    }
}

#[test]
fn draws_of_later_lines_are_draws_of_their_own() {
    let model = reverser(&[]);
    let draw = |first: usize| {
        let options = SearchOptions { n_best: 20, sample: Some((3.0, 1)), first, ..model.search_options() };
        model.answer(&[("cbad", None)], &options, false).unwrap().remove(0).hypotheses.into_iter().map(|h| h.text).collect::<Vec<_>>()
    };
    assert_eq!(draw(512), draw(512));
    assert_ne!(draw(0), draw(512));
}

#[test]
fn how_sure_it_may_be_is_found_on_answers() {
    let mut model = reverser(&[]);
    let source = |i: usize| ["ab", "cd", "abc", "dca", "bd"][i % 5];
    let said = |model: &Transducer, i: usize| model.answer(&[(source(i), None)], &model.search_options(), false).unwrap().remove(0);
    // Three of five answers are right.
    let answer = |i: usize| if i % 5 < 3 { said(&model, i).hypotheses[0].text.clone() } else { "dddd".to_string() };
    let rows: Vec<Pair> = (0..40).map(|i| pair(source(i), &answer(i), i + 1)).collect();
    assert_eq!(model.calibrate(&rows[..10]).unwrap(), None, "too few to tell");
    let found = model.calibrate(&rows).unwrap().unwrap();
    model.set_calibration(found);
    let sure: f64 = (0..5).map(|i| said(&model, i).hypotheses[0].confidence.unwrap()).sum();
    assert!((sure / 5.0 - 0.6).abs() < 0.05, "{sure}");
}

/// However many heads a member has, it counts as one; and it is drawn by its own number, also beside one that does not look.
#[test]
fn members_of_an_ensemble_count_alike() {
    let rows = [pair("abcd", "xyz", 1)];
    let many = ["model.architecture=transformer", "model.embedding=8", "model.hidden=8", "transformer.heads=4"];
    let [blind, one, many] =
        [&["attention.score=none"][..], &["model.hidden=8"], &many].map(|kind| Transducer::new(config(kind), &rows).unwrap());
    let looked = |model: &Transducer| model.score(&[("abcd", None)], &["xyz"]).unwrap().remove(0);
    let (first, second) = (looked(&one), looked(&many));
    assert!(second.hypotheses[0].hypothesis.heads.len() > 3);
    let both = looked(&Transducer::joined(vec![blind, one, many]).unwrap());
    let weights = |answer: &Answer| answer.hypotheses[0].hypothesis.attention.concat();
    for (mean, (first, second)) in weights(&both).iter().zip(weights(&first).iter().zip(weights(&second))) {
        assert!((mean - (first + second) / 2.0).abs() < 1e-5, "{mean} {first} {second}");
    }
    let drawn = ascii::draw(&Page::new(both.pictures(&Drawing::default())).unwrap(), 200);
    assert!(["mean", "member 2", "member 3"].iter().all(|name| drawn.contains(name)) && !drawn.contains("head 1"), "{drawn}");
}
