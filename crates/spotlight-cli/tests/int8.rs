//! `--int8`: answers by weights of one byte, what they cost, and models that have no such form.

use crate::common::{Place, err, right, run};

fn train(place: &Place, task: &str, settings: &[&str]) {
    let mut arguments = vec!["train", "--task", task, "--train", "data.tsv", "--out", "model", "--force"];
    let common = ["model.hidden=24", "train.batch=300", "train.rate=0.01", "train.warmup=20", "train.epochs=2", "train.every=2"];
    common.iter().chain(settings).for_each(|setting| arguments.extend(["--set", setting]));
    right(place, &arguments);
}

#[test]
fn answers_by_weights_of_one_byte_and_what_they_cost() {
    let place = Place::new();
    place.pairs("data.tsv", 60);
    place.write("words.txt", "abc\ncab\n\nbb\n");
    train(&place, "seq2seq", &["model.architecture=transformer", "model.embedding=24", "transformer.heads=2"]);
    assert_eq!(right(&place, &["predict", "model", "words.txt", "--int8"]).lines().count(), 4);
    let report = right(&place, &["eval", "model", "data.tsv", "--int8"]);
    for line in ["accuracy, without --int8", "WER, without --int8", "answers as without --int8"] {
        assert!(report.contains(line), "{report}");
    }
    assert!(!right(&place, &["eval", "model", "data.tsv"]).contains("int8"));

    train(&place, "seq2seq", &["model.embedding=8"]);
    let refused = run(&place, &["predict", "model", "words.txt", "--int8"]);
    assert!(!refused.status.success());
    assert!(err(&refused).contains("is recurrent, but must be transformer"), "{}", err(&refused));
    place.write("data.tsv", "good\t1\nbad\t0\n".repeat(20));
    train(&place, "classify", &["model.form=pooled"]);
    let refused = run(&place, &["predict", "model", "words.txt", "--int8"]);
    assert!(err(&refused).contains("--int8 goes with seq2seq models"), "{}", err(&refused));
}
