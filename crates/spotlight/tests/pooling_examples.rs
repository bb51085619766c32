//! The examples of models that pool do what they say.

#[path = "../examples/bags.rs"]
mod bags;
#[path = "../examples/classifier.rs"]
mod classifier;

#[test]
fn the_classifier_learns() {
    let folder = tempfile::tempdir().unwrap();
    let accuracy = classifier::learn(folder.path(), 2000, 10).unwrap();
    assert!(accuracy > 0.75, "{accuracy}");
}

#[test]
fn bags_are_told_apart_by_the_row_that_decides() {
    let folder = tempfile::tempdir().unwrap();
    let (accuracy, pointed) = bags::learn(folder.path()).unwrap();
    assert!(accuracy > 0.9 && pointed > 0.9, "{accuracy} {pointed}");
}

#[test]
fn examples_are_short() {
    for text in [include_str!("../examples/bags.rs"), include_str!("../examples/classifier.rs"), include_str!("../examples/matcher.rs")] {
        let lines = text.lines().count();
        assert!(lines < 60, "{lines} lines");
    }
}
