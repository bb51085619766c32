//! The measures against numbers made by sacrebleu, scikit-learn and trec_eval
//! (`tests/golden/metrics.py`).

use serde::Deserialize;

use super::*;

const GOLDEN: &str = include_str!("../../tests/golden/metrics.json");

#[derive(Deserialize)]
struct Golden {
    tokenize_13a: Vec<TokenizeCase>,
    segments: Vec<SegmentCase>,
    labels: Vec<LabelCase>,
    roc: Vec<RocCase>,
    ranking: Vec<RankingCase>,
}

#[derive(Deserialize)]
struct TokenizeCase {
    text: String,
    tokens: String,
}

#[derive(Deserialize)]
struct SegmentCase {
    name: String,
    hypotheses: Vec<String>,
    references: Vec<Vec<String>>,
    bleu_13a: Scored,
    bleu_none: Scored,
    chrf: Scored,
}

#[derive(Deserialize)]
struct Scored {
    score: f64,
    line: String,
    signature: String,
}

#[derive(Deserialize)]
struct LabelCase {
    name: String,
    gold: Vec<String>,
    predicted: Vec<String>,
    accuracy: f64,
    macro_f1: f64,
    classes: Vec<ClassCase>,
}

#[derive(Deserialize)]
struct ClassCase {
    label: String,
    precision: f64,
    recall: f64,
    f1: f64,
    support: usize,
}

#[derive(Deserialize)]
struct RocCase {
    name: String,
    gold: Vec<bool>,
    scores: Vec<f64>,
    auc: f64,
}

#[derive(Deserialize)]
struct RankingCase {
    name: String,
    questions: Vec<Vec<CandidateCase>>,
    map: f64,
    mrr: f64,
}

#[derive(Deserialize)]
struct CandidateCase {
    score: f64,
    relevant: bool,
}

fn golden() -> Golden {
    serde_json::from_str(GOLDEN).unwrap()
}

#[track_caller]
fn assert_close(ours: f64, theirs: f64, what: &str) {
    assert!((ours - theirs).abs() < 1e-12 * theirs.abs().max(1.0), "{what}: {ours} instead of {theirs}");
}

/// A signature without the program that made it.
fn settings(signature: &str) -> &str {
    signature.split_once("|version:").unwrap().0
}

#[test]
fn words_are_those_of_13a() {
    for TokenizeCase { text, tokens } in golden().tokenize_13a {
        assert_eq!(Tokenizer::V13a.apply(&text), tokens, "{text:?}");
    }
}

#[test]
fn bleu_and_chrf_equal_sacrebleu() {
    for case in golden().segments {
        let segments = Segments::new(&case.hypotheses, &case.references).unwrap();
        for (tokenizer, expected) in [(Tokenizer::V13a, &case.bleu_13a), (Tokenizer::None, &case.bleu_none)] {
            let ours = bleu(&segments, tokenizer);
            assert_eq!(ours.to_string(), expected.line, "{}", case.name);
            assert_eq!(settings(&ours.signature), settings(&expected.signature), "{}", case.name);
            assert_close(ours.score, expected.score, &case.name);
        }
        let ours = chrf(&segments);
        assert_eq!(ours.to_string(), case.chrf.line, "{}", case.name);
        assert_eq!(settings(&ours.signature), settings(&case.chrf.signature), "{}", case.name);
        assert_close(ours.score, case.chrf.score, &case.name);
    }
}

#[test]
fn classes_equal_scikit_learn() {
    for case in golden().labels {
        let confusion = Confusion::new(&case.gold, &case.predicted).unwrap();
        assert_close(confusion.accuracy(), case.accuracy, &case.name);
        assert_close(confusion.macro_f1(), case.macro_f1, &case.name);
        assert_eq!(confusion.classes().len(), case.classes.len(), "{}", case.name);
        for (ours, theirs) in confusion.classes().iter().zip(&case.classes) {
            let what = format!("{}, {}", case.name, theirs.label);
            assert_eq!((&ours.label, ours.support), (&theirs.label, theirs.support), "{what}");
            assert_close(ours.precision, theirs.precision, &what);
            assert_close(ours.recall, theirs.recall, &what);
            assert_close(ours.f1, theirs.f1, &what);
        }
    }
}

#[test]
fn area_under_the_curve_equals_scikit_learn() {
    for case in golden().roc {
        assert_close(roc_auc(&case.gold, &case.scores).unwrap(), case.auc, &case.name);
    }
}

#[test]
fn rankings_equal_trec_eval() {
    for case in golden().ranking {
        let candidate = |&CandidateCase { score, relevant }: &CandidateCase| Candidate { score, relevant };
        let questions: Vec<Vec<_>> = case.questions.iter().map(|rows| rows.iter().map(candidate).collect()).collect();
        let ours = rank_scores(&questions, Unanswered::Zero).unwrap();
        assert_close(ours.map, case.map, &case.name);
        assert_close(ours.mrr, case.mrr, &case.name);

        // Dropping questions only changes what the sum is divided by.
        let answered = rank_scores(&questions, Unanswered::Drop).unwrap();
        assert_eq!(answered.questions + answered.dropped, questions.len());
        assert_close(answered.map * answered.questions as f64, case.map * questions.len() as f64, &case.name);
    }
}
