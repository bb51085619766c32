//! The demos that are quick tell their stories to the end. The others learn for a minute and are not run here.

use crate::common::{Place, err, out, run};

fn told(place: &Place, arguments: &[&str]) -> String {
    let output = run(place, arguments);
    assert!(output.status.success(), "{}", err(&output));
    let text = out(&output);
    assert!(text.lines().all(|line| line.chars().count() <= 80), "{text}");
    text
}

#[test]
fn numbers_shows_every_number_of_every_score() {
    let place = Place::new();
    let ways = [
        ("linear", "S_0: (-0.540)(0.3)"),
        ("tanh", "tanh(w . k + b) = tanh("),
        ("gated", "tanh(V k) * σ(U k) = ["),
        ("dot", "S_0: (0.3)(0.2) + (0.11)(0.7) + (0.9)(0.9) + (0.5)(0.3) = 1.097"),
        ("scaled-dot", "q . k / √M = 1.097 / √4 = 0.548"),
        ("general", "W k = ["),
        ("concat", "tanh(W [q; k]) = ["),
        ("additive", "tanh(W q + U k) = ["),
        ("cosine", "q . k / (|q| |k|) = 1.097 / (1.196 x 1.078) = 0.851"),
        ("location", "L f = ["),
    ];
    for (score, way) in ways {
        let text = told(&place, &["demo", "numbers", "--score", score]);
        assert!(text.contains(way), "{score}: {text}");
        assert!(text.contains("3. The softmax") && text.contains("5. The second softmax"), "{text}");
    }
}

#[test]
fn translate_shows_the_end_of_the_sentence_and_tells_unknown_words() {
    let place = Place::new();
    let text = told(&place, &["demo", "translate", "the bird sat"]);
    assert!(text.contains("\"bird\" is unknown: the model has learnt a, cat, dog, ran, sat, the"), "{text}");
    assert!(
        text.contains("\nGenerating the end of the sentence (probability 0.") || text.contains("sentence (probability 1.000)"),
        "{text}"
    );
    assert!(text.contains("8 of 8 right"), "{text}");
    // Each step looks at all words of the source, the end too: a bar for each.
    let steps = text.matches("\nGenerating ").count();
    assert_eq!(text.matches("\n     bird ").count(), steps, "{text}");
}
