//! Models whose attention is known to be true, or known to be nothing.

use super::pooled::{ATTENTION, RANDOM, WITHOUT, experiment};
use super::report::PooledReport;
use super::*;
use crate::config::resolve;
use crate::model::bags::{self, BagModel};
use crate::model::classify::{self, Classifier};
use crate::model::matching::{self, Matcher};
use crate::model::probe::{Probe, best};
use crate::model::seq2seq::{self, Transducer};
use crate::text::{Bag, Labelled, Pair, Question};

fn quiet(_: &str, _: usize, _: usize) {}

fn labelled(text: String, label: &str, line: usize) -> Labelled {
    Labelled { text, label: label.into(), line }
}

/// One word that decides (`yes` or `no`), and four that would say the same or the opposite if anybody looked at them; which, has nothing to do with the label.
fn texts(count: usize) -> Vec<Labelled> {
    let one = |i: usize| {
        let decides = if i.is_multiple_of(2) { "yes" } else { "no" };
        let decoy = |k: usize| if (i / 2 + k * 7 + k * k * i).is_multiple_of(2) { "up" } else { "down" };
        let mut words: Vec<&str> = (0..4).map(decoy).collect();
        words.insert((i / 3) % 5, decides);
        labelled(words.join(" "), if i.is_multiple_of(2) { "good" } else { "bad" }, i + 1)
    };
    (0..count).map(one).collect()
}

/// What a word says (for `good`), and how much it is looked at.
type Meaning<'a> = &'a dyn Fn(&str) -> (f32, f32);

/// A classifier made by hand: every word is read on its own, its first feature is what it says, its second how much it is looked at.
fn planted(rows: &[Labelled], meaning: Meaning) -> Classifier {
    let changes = ["model.embedding=2", "model.hidden=2", "model.cell=average", "model.dropout=0.0", "attention.score=linear"];
    let config = resolve(&classify::Config::default(), "", &changes.map(String::from)).unwrap();
    let mut model = Classifier::new(config, rows).unwrap();
    let vocabulary = model.units.tokenizer().unwrap().vocab().unwrap().clone();
    let names: Vec<(String, std::ops::Range<usize>)> = model.params.entries().iter().map(|e| (e.name.clone(), e.range.clone())).collect();
    let flat = model.params.flat_mut();
    flat.fill(0.0);
    let at = |name: &str| names.iter().find(|(n, _)| n == name).unwrap_or_else(|| panic!("{name} of {names:?}")).1.clone();
    for word in ["yes", "no", "up", "down"] {
        let (says, looked) = meaning(word);
        let id = vocabulary.id(word).unwrap() as usize;
        // Through tanh, so that nothing is above 1.
        flat[at("embedding.weight")][id * 2..id * 2 + 2].copy_from_slice(&[says.atanh(), looked.atanh()]);
    }
    let encoder = names.iter().find(|(n, r)| n.starts_with("encoder") && r.len() == 4).unwrap().1.clone();
    flat[encoder].copy_from_slice(&[1.0, 0.0, 0.0, 1.0]);
    let score = names.iter().find(|(n, r)| n.starts_with("attention") && r.len() == 2).unwrap().1.clone();
    flat[score].copy_from_slice(&[0.0, 20.0]);
    // Labels in alphabetical order: bad, good.
    flat[at("output.weight")].copy_from_slice(&[-4.0, 0.0, 4.0, 0.0]);
    model
}

/// Only the word that decides is looked at; the others would mislead.
fn truth(word: &str) -> (f32, f32) {
    match word {
        "yes" => (0.9, 0.4),
        "no" => (-0.9, 0.4),
        "up" => (0.8, -0.1),
        _ => (-0.8, -0.1),
    }
}

/// Every word may be looked at, and only those that decide say anything; which is looked at more has nothing to do with that.
fn frozen(word: &str) -> (f32, f32) {
    match word {
        "yes" => (0.9, 0.0),
        "no" => (-0.9, 0.02),
        "up" => (0.0, 0.04),
        _ => (0.0, -0.03),
    }
}

fn audited(model: &Classifier, seeds: Vec<Classifier>, rows: &[Labelled]) -> (PooledReport, Verdict) {
    let others = Siblings { seeds, ..Siblings::none() };
    let course = Course { examples: 150, ..Course::default() };
    let (_, _, report, verdict, _) = experiment(model, rows, &others, &course, &quiet).unwrap();
    (report, verdict)
}

#[test]
fn attention_that_is_the_truth_is_a_guide() {
    let rows = texts(150);
    let model = planted(&rows, &truth);
    // Another seed has found the same; only the decoys differ a little.
    let other = planted(&rows, &|word| if word == "up" { (0.7, -0.08) } else { truth(word) });
    let (report, verdict) = audited(&model, vec![other], &rows);
    assert_eq!(verdict.grade, Grade::Guide, "{verdict:?}");
    assert_eq!(report.needed.own.value, 1.0);
    assert!(report.needed.uniform.value < 0.8, "{:?}", report.needed);
    let by = |name: &str| report.order.orders.iter().find(|o| o.by == name).unwrap().comprehensiveness.value;
    assert!(by(ATTENTION) > by(RANDOM) + 0.2 && by(ATTENTION) > 0.9 * by(WITHOUT));
    assert!(report.peak > 4.5);
    // With one more model that looks elsewhere, the median of two is far off: no guide any more.
    let elsewhere = || planted(&rows, &|word| if word == "up" { (0.8, 0.6) } else { truth(word) });
    let (_, verdict) = audited(&model, vec![elsewhere(), elsewhere()], &rows);
    assert_eq!(verdict.grade, Grade::Hint, "{verdict:?}");
}

#[test]
fn attention_frozen_at_random_is_decoration() {
    let rows = texts(150);
    let (report, verdict) = audited(&planted(&rows, &frozen), Vec::new(), &rows);
    assert_eq!(verdict.grade, Grade::Decoration, "{verdict:?}");
    assert_eq!((report.needed.own.value, report.needed.uniform.value), (1.0, 1.0));
}

/// What is known in closed form is what the network says, for every form and several heads; and gradients add up to what they should.
#[test]
fn a_case_in_closed_form_is_what_the_network_says() {
    let rows = texts(12);
    let forms: [&[&str]; 5] = [
        &["model.encoder=transformer", "model.embedding=6", "model.hidden=8", "transformer.heads=2", "attention.score=additive"],
        &["model.form=evidence"],
        &["model.embedding=6", "model.hidden=5", "model.cell=lstm", "attention.score=additive"],
        &["model.embedding=6", "model.hidden=5", "model.cell=gru", "attention.score=dot", "attention.heads=3"],
        &["model.embedding=6", "model.hidden=5", "model.cell=average", "attention.score=gated", "attention.values=4"],
    ];
    for changes in forms {
        let changes: Vec<String> = changes.iter().map(|c| c.to_string()).collect();
        let given = resolve(&classify::Config::default(), "", &changes).unwrap();
        let defaults = <Classifier as Model>::defaults(&given);
        let mut model = Classifier::new(resolve(&defaults, "", &changes).unwrap(), &rows).unwrap();
        // Opinions, and weights that are not all the same.
        model.params.flat_mut().iter_mut().enumerate().for_each(|(i, x)| *x = *x * 1.5 + 0.3 * (i as f32 * 0.7).sin());
        let asked = model.asked(&rows).unwrap();
        let cases: Vec<_> = asked.iter().map(|a| &a.case).collect();
        let readings = read(&model, &cases).unwrap();
        let texts: Vec<&str> = rows.iter().map(|r| r.text.as_str()).collect();
        for (answer, reading) in model.answer(&texts).unwrap().iter().zip(&readings) {
            for ((_, p), q) in answer.probabilities.iter().zip(&reading.probabilities) {
                assert!((*p as f64 - q).abs() < 1e-5, "{changes:?}: {p} and {q}");
            }
            assert_eq!(answer.attention.len(), reading.mixture.heads);
            for (a, b) in answer.attention.iter().flatten().zip(&reading.mixture.weights) {
                assert!((*a as f64 - b).abs() < 1e-6, "{changes:?}");
            }
        }
        // Integrated gradients sum to the difference between the text and nothing but zeros.
        let targets: Vec<usize> = readings.iter().map(|r| best(&r.probabilities)).collect();
        let integrated = integrated(&model, &cases, &targets, 200).unwrap();
        let tape = crate::tape::Tape::new(&model.params);
        let opened = model.open(&tape, &cases, 0.0).unwrap();
        let nothing = tape.to_vec(tape.row_softmax(model.logits(&tape, &opened, opened.weights).unwrap()));
        for (i, parts) in integrated.iter().enumerate() {
            let wanted = readings[i].probabilities[targets[i]] - nothing[i * 2 + targets[i]] as f64;
            // Layer normalisation jumps where vectors come to nothing, so that a sum of midpoints is less exact.
            let room = if changes[0].contains("transformer") { 2e-2 } else { 2e-3 };
            assert!((parts.iter().sum::<f64>() - wanted).abs() < room, "{changes:?}: {parts:?} instead of {wanted}");
        }
        // A word that is taken away is gone.
        let left = model.left(&asked[0].case, &[true, false, true, true, true]);
        assert_eq!(model.length(&left), 4);
    }
}

/// The gradient with weights held is that of central differences of the closed form, where units are read on their own.
#[test]
fn held_weights_have_the_slope_of_what_they_mix() {
    let rows = texts(8);
    let model = planted(&rows, &truth);
    let asked = model.asked(&rows).unwrap();
    let cases: Vec<_> = asked.iter().map(|a| &a.case).collect();
    let found = slopes(&model, &cases, &[1; 8], 1.0, true).unwrap();
    let readings = read(&model, &cases).unwrap();
    for (i, reading) in readings.iter().enumerate() {
        for (unit, found) in found[i].iter().enumerate() {
            // tanh(e) is mixed: p changes by p(1 - p) · 8 · a · (1 - tanh²) e.
            let says = truth(&asked[i].units[unit]).0 as f64;
            let p = reading.probabilities[1];
            let wanted = p * (1.0 - p) * 8.0 * reading.mixture.weights[unit] * (1.0 - says * says) * says.atanh();
            assert!((found - wanted).abs() < 1e-5, "{found} instead of {wanted}");
        }
    }
}

#[test]
fn what_cannot_be_audited_is_said() {
    let rows = texts(150);
    let model = planted(&rows, &truth);
    let refused = |model: &Classifier, rows: &[Labelled]| pooled(model, rows, &Course::quick(), &quiet).unwrap_err().to_string();
    let some = |label: &str| rows.iter().filter(|r| r.label == label).cloned().collect::<Vec<_>>();
    assert!(refused(&model, &some("good")).contains("only the label \"good\""));
    assert!(refused(&model, &[]).contains("the examples: none"));
    let single: Vec<Labelled> = (0..4).map(|i| labelled(["yes", "no"][i % 2].into(), ["good", "bad"][i % 2], i)).collect();
    assert!(refused(&model, &single).contains("none with two words"), "{}", refused(&model, &single));
    let strange = [labelled("yes up".into(), "fair", 7)];
    assert!(refused(&model, &strange).contains("the label on line 7"));
    let few = pooled(&model, &rows[..20], &Course::quick(), &quiet).unwrap();
    assert_eq!(few.verdict.grade, Grade::NotDecided);
    assert!(few.verdict.reason.contains("20 examples are too few"));
    for pooling in ["mean", "last"] {
        let config = resolve(&classify::Config::default(), "", &[format!("model.pooling={pooling}")]).unwrap();
        let model = Classifier::new(config, &rows).unwrap();
        assert!(refused(&model, &rows).contains("no attention to"), "{}", refused(&model, &rows));
    }
    // Some texts of one word among others are left out, and that is said.
    let mixed: Vec<Labelled> = rows.iter().cloned().chain(single).collect();
    let report = pooled(&model, &mixed, &Course::quick(), &quiet).unwrap();
    assert!(report.notes.iter().any(|note| note.starts_with("4 of the examples have fewer than two")), "{:?}", report.notes);
    assert_eq!((report.answered, report.studied), (154, 150));
    // Nothing undefined is printed.
    let text = report.to_string();
    assert!(!text.contains("NaN") && !text.contains("inf"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
}

#[test]
fn the_same_seed_gives_the_same_bits_and_a_verdict_is_kept() {
    let rows = texts(120);
    let model = planted(&rows, &truth);
    let json = |seed| serde_json::to_string(&pooled(&model, &rows, &Course { seed, ..Course::quick() }, &quiet).unwrap()).unwrap();
    assert_eq!(json(1), json(1));
    assert_ne!(json(1), json(2));

    let place = tempfile::tempdir().unwrap();
    model.save_frame(place.path()).unwrap();
    crate::weights::save(&model.params, &place.path().join(crate::folder::WEIGHTS)).unwrap();
    assert_eq!(kept(place.path()), None);
    let report = pooled(&model, &rows, &Course::quick(), &quiet).unwrap();
    keep(place.path(), &report).unwrap();
    assert_eq!(kept(place.path()), Some(report.verdict.clone()));
    crate::folder::check(place.path()).unwrap();
    let page = crate::view::sheet::draw(&page(&report));
    assert!(page.contains(&report.verdict.reason.replace('>', "&gt;")) && page.contains("adversarial weights"));
    // Other weights: the verdict is about a model that is gone.
    let other = planted(&rows, &frozen);
    crate::weights::save(&other.params, &place.path().join(crate::folder::WEIGHTS)).unwrap();
    assert_eq!(kept(place.path()), None);
}

/// Siblings are trained, each with what it differs in; on any number of threads the same.
#[test]
fn other_models_are_trained_beside() {
    let rows = texts(120);
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("train.tsv");
    let lines: String = rows.iter().map(|r| format!("{}\t{}\n", r.text, r.label)).collect();
    std::fs::write(&file, lines).unwrap();
    let changes = ["model.embedding=4", "model.hidden=3", "train.epochs=2", "attention.score=additive"].map(String::from);
    let config = resolve(&classify::Config::default(), "", &changes).unwrap();
    let model = Classifier::new(config, &rows).unwrap();
    let course = Course { seeds: 2, examples: 20, train: Some(&file), ..Course::default() };
    let report = pooled(&model, &rows, &course, &quiet).unwrap();
    let found = report.pooled.as_ref().unwrap();
    let trained = found.needed.trained.as_ref().unwrap();
    assert_eq!((trained.attention.len(), trained.uniform.len()), (3, 3));
    assert_eq!(found.stable.as_ref().unwrap().seeds, 2);
    assert_eq!(found.views.average.len(), 3);
    let trained = found.only.trained.as_ref().unwrap();
    assert_eq!(trained.lambda, imitate::LAMBDA);
    assert!(trained.divergence.value > 0.0 && (0.0..=1.0).contains(&trained.variation.value) && (0.0..=1.0).contains(&trained.same));
    let (text, page) = (report.to_string(), crate::view::sheet::draw(&page(&report)));
    assert!(text.contains("a model trained so (lambda 0.005)") && page.contains("a model trained so (lambda 0.005)"), "{text}");
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    assert!(found.order.orders.iter().any(|o| o.by == super::pooled::INTEGRATED));
    // The same bits on any number of threads, though models train side by side.
    let on = |threads: usize| {
        let pool = rayon::ThreadPoolBuilder::new().num_threads(threads).build().unwrap();
        pool.install(|| serde_json::to_string(&pooled(&model, &rows, &course, &quiet).unwrap()).unwrap())
    };
    assert_eq!(on(1), on(3));
    let nowhere = Course { train: Some(Path::new("no such file")), ..course };
    let report = pooled(&model, &rows, &nowhere, &quiet).unwrap();
    assert!(report.pooled.unwrap().stable.is_none());
    assert!(report.notes[0].contains("no such file") && report.notes[0].contains("--train"), "{:?}", report.notes);
}

/// Bags share the protocol.
#[test]
fn bags_are_audited_too() {
    let bag = |i: usize| {
        let (label, x) = if i.is_multiple_of(2) { ("yes", 3.0) } else { ("no", -3.0) };
        let row = |k: usize| if k == i % 4 { vec![x, 1.0] } else { vec![((i * 5 + k) as f32).sin(), 0.0] };
        Bag { id: i.to_string(), label: label.into(), rows: (0..4).map(row).collect(), line: i }
    };
    let bags: Vec<Bag> = (0..30).map(bag).collect();
    let model = BagModel::new(bags::Config::default(), &bags).unwrap();
    let report = pooled(&model, &bags, &Course::quick(), &quiet).unwrap();
    assert_eq!(report.verdict.grade, Grade::NotDecided);
    let readings = read(&model, &model.asked(&bags).unwrap().iter().map(|a| &a.case).collect::<Vec<_>>()).unwrap();
    for (answer, reading) in model.answer(&bags).unwrap().iter().zip(&readings) {
        assert!((answer.probabilities[0].1 as f64 - reading.probabilities[0]).abs() < 1e-5);
    }
}

/// Matchers share the protocol: what they say in closed form is their score, with and without a question that asks.
#[test]
fn matchers_are_audited_too() {
    let row = |i: usize| {
        let (question, answer) = (["where is it", "who was it"][i / 3 % 2], ["in the old town", "it was he", "of course not"][i % 3]);
        let relevant = i % 3 == i / 3 % 2;
        Question { id: None, question: format!("{question} {}", i / 3), answer: answer.into(), relevant, line: i + 1 }
    };
    let rows: Vec<Question> = (0..36).map(row).collect();
    for settings in [&["model.form=pooled"][..], &["model.form=pooled", "asked.score=general", "model.dense=6"]] {
        let small = ["model.embedding=6", "model.hidden=4"];
        let changes: Vec<String> = small.iter().chain(settings).map(|s| s.to_string()).collect();
        let mut model = Matcher::new(resolve(&matching::Config::default(), "", &changes).unwrap(), &rows).unwrap();
        model.params.flat_mut().iter_mut().enumerate().for_each(|(i, x)| *x = *x * 1.5 + 0.3 * (i as f32 * 0.7).sin());
        let asked = model.asked(&rows).unwrap();
        let readings = read(&model, &asked.iter().map(|a| &a.case).collect::<Vec<_>>()).unwrap();
        let pairs: Vec<(&str, &str)> = rows.iter().map(|r| (r.question.as_str(), r.answer.as_str())).collect();
        for (answer, reading) in model.answer(&pairs).unwrap().iter().zip(&readings) {
            let score = reading.probabilities[1];
            // A score that is no probability is the logit.
            let score = if model.config.model.loss == matching::config::Loss::Hinge { (score / (1.0 - score)).ln() } else { score };
            assert!((answer.score as f64 - score).abs() < 1e-4, "{settings:?}: {} and {score}", answer.score);
        }
        let report = pooled(&model, &rows, &Course::quick(), &quiet).unwrap();
        assert_eq!((report.answered, report.studied, report.verdict.grade), (36, 12, Grade::NotDecided));
        let found = report.pooled.unwrap();
        assert!((0.0..=1.0).contains(&found.needed.own.value));
    }
}

/// The form of evidence looks for words of the question: its closed form is the score of every candidate, its weights are those that `look` draws.
#[test]
fn matchers_of_evidence_are_audited_too() {
    let row = |i: usize| {
        let question = ["where is the old town ?", "who was the mayor of it ?"][i / 3 % 2];
        let answer = ["in the old town it is", "the mayor was he", "of course not"][i % 3];
        let (relevant, question) = (i % 3 == i / 3 % 2, format!("{question} {}", i / 3));
        Question { id: None, question, answer: answer.into(), relevant, line: i + 1 }
    };
    let rows: Vec<Question> = (0..36).map(row).collect();
    let mut model = Matcher::new(matching::Config::evidence(), &rows).unwrap();
    model.params.flat_mut().iter_mut().enumerate().for_each(|(i, x)| *x = 0.8 * (i as f32 * 1.3).sin() + 0.4);
    let asked = model.asked(&rows).unwrap();
    let readings = read(&model, &asked.iter().map(|a| &a.case).collect::<Vec<_>>()).unwrap();
    assert_eq!((asked.len(), asked[0].units.join(" ")), (12, "where is the old town 0".to_string()));
    let pairs: Vec<(&str, &str)> = rows.iter().map(|r| (r.question.as_str(), r.answer.as_str())).collect();
    for (answers, reading) in model.answer(&pairs).unwrap().chunks(3).zip(&readings) {
        let scores: Vec<f64> = answers.iter().map(|a| a.score as f64).collect();
        for (p, q) in crate::model::probe::softmax(&scores).iter().zip(&reading.probabilities) {
            assert!((p - q).abs() < 1e-5, "{p} and {q}");
        }
        // Marks are never looked for; all others stand in the same order.
        let drawn: Vec<f32> = answers[0].question_attention[0]
            .iter()
            .copied()
            .zip(&answers[0].question_tokens)
            .filter(|(_, t)| *t != "?")
            .map(|(w, _)| w)
            .collect();
        for (a, b) in drawn.iter().zip(&reading.mixture.weights) {
            assert!((*a as f64 - b).abs() < 1e-6, "{a} and {b}");
        }
    }
    // A word that is taken away is gone, and what is left is read as a question of its own.
    let keep = [true, false, true, true, true, true];
    let left = model.left(&asked[0].case, &keep);
    let fresh: Vec<Question> = rows[..3].iter().map(|r| Question { question: "where the old town ? 0".into(), ..r.clone() }).collect();
    let again = &model.asked(&fresh).unwrap()[0];
    let [one, other] = [&left, &again.case].map(|case| read(&model, &[case]).unwrap().remove(0).probabilities);
    assert_eq!(one, other);

    let report = pooled(&model, &rows, &Course { quick: false, ..Course::quick() }, &quiet).unwrap();
    assert_eq!((report.answered, report.studied, report.verdict.grade), (12, 12, Grade::NotDecided));
    let found = report.pooled.as_ref().unwrap();
    assert!(found.order.orders.iter().any(|o| o.by == super::pooled::CONTRIBUTIONS) && found.conicity.is_none());
    // What words add is what gradient x input says, but for the slope of the softmax: the order of two candidates is the same.
    assert!(!report.to_string().contains("NaN"));
    let sided: Vec<Question> = rows.iter().map(|r| Question { relevant: true, ..r.clone() }).collect();
    let error = pooled(&model, &sided, &Course::quick(), &quiet).unwrap_err().to_string();
    assert!(error.contains("both a right and a wrong answer"), "{error}");

    // Trained beside: other seeds, and uniform weights. Nothing can be taught to look elsewhere, and there are no states to be averaged.
    let place = tempfile::tempdir().unwrap();
    let file = place.path().join("train.tsv");
    let lines: String = rows.iter().map(|r| format!("{}\t{}\t{}\n", r.question, r.answer, u8::from(r.relevant))).collect();
    std::fs::write(&file, lines).unwrap();
    let report = pooled(&model, &rows, &Course { seeds: 1, examples: 5, train: Some(&file), ..Course::default() }, &quiet).unwrap();
    let found = report.pooled.as_ref().unwrap();
    assert_eq!(found.needed.trained.as_ref().unwrap().uniform.len(), 2);
    assert!(found.stable.is_some() && found.only.trained.is_none() && found.views.average.is_empty());
    let mut uniform = model.sibling(crate::model::probe::Differs::Uniform(1), &rows).unwrap().unwrap();
    uniform.params = model.params.clone();
    let readings = read(&uniform, &uniform.asked(&rows).unwrap().iter().map(|a| &a.case).collect::<Vec<_>>()).unwrap();
    assert!(readings[0].mixture.weights.iter().all(|w| (w - 1.0 / 6.0).abs() < 1e-6), "{:?}", readings[0].mixture.weights);
}

#[test]
fn a_model_that_writes_is_audited() {
    let pair = |i: usize| {
        let source: String = (0..3 + i % 3).map(|k| ["a", "b", "c", "d"][(i * 3 + k * k + k) % 4]).collect();
        Pair { target: source.to_uppercase(), source, features: None, line: i + 1 }
    };
    let pairs: Vec<Pair> = (0..24).map(pair).collect();
    let changes = ["model.embedding=6", "model.hidden=8", "attention.heads=2"].map(String::from);
    let mut model = Transducer::new(resolve(&seq2seq::Config::default(), "", &changes).unwrap(), &pairs).unwrap();
    model.params.flat_mut().iter_mut().for_each(|w| *w *= 3.0);
    let place = tempfile::tempdir().unwrap();
    let links = place.path().join("links.txt");
    let lines: String = pairs.iter().map(|p| (0..p.source.len()).map(|i| format!("{i}-{i} ")).collect::<String>() + "\n").collect();
    std::fs::write(&links, lines).unwrap();
    let report = written(&model, &pairs, &Course { links: Some(&links), ..Course::quick() }, &quiet).unwrap();
    let found = report.written.as_ref().unwrap();
    assert_eq!((found.changed.len(), report.verdict.grade), (5, Grade::NotDecided));
    assert_eq!(found.alignment.as_ref().unwrap().diagonal.value, 1.0);
    // The weights of a beam's answer are those of the same answer forced, to rounding.
    assert_eq!(found.beam.unwrap().value, 1.0);
    assert_eq!(found.pictures.iter().map(|p| p.by).collect::<Vec<_>>(), ["weights", "the diagonal"]);
    assert_eq!(found.heads.iter().map(|h| (h.layer, h.head)).collect::<Vec<_>>(), [(1, 1), (1, 2)]);
    let text = report.to_string();
    assert!(text.lines().all(|line| line.chars().count() <= 80) && !text.contains("NaN"), "{text}");
    // The same links, a line for each.
    let line = |(n, p): (usize, &Pair)| (1..=p.source.len()).map(|i| format!("{} {i} {i}\n", n + 1)).collect::<String>();
    std::fs::write(&links, pairs.iter().enumerate().map(line).collect::<String>()).unwrap();
    let again = written(&model, &pairs, &Course { links: Some(&links), ..Course::quick() }, &quiet).unwrap();
    assert_eq!(again.written.unwrap().alignment.unwrap().f1, found.alignment.as_ref().unwrap().f1);
    std::fs::write(&links, "0-0\n").unwrap();
    let error = written(&model, &pairs, &Course { links: Some(&links), ..Course::quick() }, &quiet).unwrap_err().to_string();
    assert!(error.contains("none for pair 2"), "{error}");
    std::fs::write(&links, "0:0\n").unwrap();
    let error = written(&model, &pairs, &Course { links: Some(&links), ..Course::quick() }, &quiet).unwrap_err().to_string();
    assert!(error.contains("line 1 of") && error.contains("0-0 1-2"), "{error}");
    let blind = resolve(&seq2seq::Config::default(), "", &["attention.score=none".to_string()]).unwrap();
    let error = written(&Transducer::new(blind, &pairs).unwrap(), &pairs, &Course::quick(), &quiet).unwrap_err().to_string();
    assert!(error.contains("attention"), "{error}");
}
