//! Pictures to draw in the tests, one of each kind.

use spotlight::view::{Bag, Images, Match, Matrix, Shaded, Weighted, Weights};

pub fn units(text: &str) -> Vec<String> {
    text.chars().map(String::from).collect()
}

pub fn words(text: &str) -> Vec<String> {
    text.split(' ').map(String::from).collect()
}

/// A row of weights that sums to one, brightest around `centre`. Plain arithmetic, so the same on every machine.
pub fn peak(length: usize, centre: f32, sharpness: f32) -> Vec<f32> {
    let score = |i: usize| {
        let distance = i as f32 - centre;
        let share = 1.0 / (1.0 + sharpness * distance * distance);
        share * share
    };
    let sum: f32 = (0..length).map(score).sum();
    (0..length).map(|i| score(i) / sum).collect()
}

/// The date converter, as it looks when it has learned.
pub fn date() -> Matrix {
    let looks = [10.0, 11.0, 12.0, 13.0, 12.5, 1.0, 1.4, 8.0, 6.0, 7.0];
    Matrix {
        input: "march 15, 2024".into(),
        text: "2024-03-15".into(),
        score: Some(-0.0213),
        source: units("march 15, 2024"),
        output: units("2024-03-15"),
        heads: vec![looks.iter().map(|&centre| peak(14, centre, 1.6)).collect()],
        probabilities: Some(vec![1.0, 0.999, 0.98, 0.97, 1.0, 0.94, 0.91, 1.0, 0.88, 0.86]),
        ..Matrix::default()
    }
}

/// A sentence, its units words, with four heads.
pub fn sentence() -> Matrix {
    let order = [0.0, 2.0, 1.0, 3.0, 4.0, 5.0];
    let head = |sharpness: f32, shift: f32| order.iter().map(|&centre| peak(6, centre + shift, sharpness)).collect();
    Matrix {
        input: "the european agreement was signed yesterday".into(),
        text: "l'accord européen a été signé hier".into(),
        score: Some(-1.5),
        source: words("the european agreement was signed yesterday"),
        output: words("l' européen accord été signé hier"),
        heads: vec![head(3.0, 0.0), head(0.2, 0.0), head(1.0, -1.0), head(0.05, 2.0)],
        probabilities: Some(vec![0.91, 0.62, 0.77, 0.95, 0.99, 0.84]),
        ..Matrix::default()
    }
}

/// Units that are wide, combined, right-to-left, invisible or dangerous.
pub fn odd() -> Matrix {
    let source = ["東", "京", "e\u{301}", "\u{301}", "שלום", "👩\u{200d}🚀", " ", "\t", "\n", "\u{1b}", "\u{200b}", "", "a"];
    let source: Vec<String> = source.iter().map(|unit| unit.to_string()).collect();
    let output: Vec<String> = ["京", "سلام", "<b>", " "].iter().map(|unit| unit.to_string()).collect();
    Matrix {
        input: "東京 e\u{301} שלום".into(),
        text: "京 سلام\n<b>".into(),
        heads: vec![(0..4).map(|row| peak(source.len(), 3.0 * row as f32, 1.0)).collect()],
        source,
        output,
        ..Matrix::default()
    }
}

/// A matrix of any size that looks along its diagonal.
pub fn diagonal(rows: usize, columns: usize) -> Matrix {
    let weights: Weights = (0..rows).map(|row| peak(columns, row as f32 * columns as f32 / rows as f32, 0.1)).collect();
    Matrix {
        input: format!("{columns} units"),
        text: format!("{rows} units"),
        source: (0..columns).map(|i| (b'a' + (i % 26) as u8) as char).map(String::from).collect(),
        output: (0..rows).map(|i| (b'A' + (i % 26) as u8) as char).map(String::from).collect(),
        heads: vec![weights],
        ..Matrix::default()
    }
}

/// A tweet with its sentiment.
pub fn tweet(heads: usize) -> Shaded {
    let tokens = words("@airline thank you so much for the upgrade , best flight crew ever and not a single delay this time");
    let looks = [9.4, 1.2, 14.0];
    Shaded {
        label: "positive".into(),
        truth: None,
        probabilities: vec![("positive".into(), 0.934), ("neutral".into(), 0.051), ("negative".into(), 0.015)],
        text: Weighted {
            heads: looks[..heads].iter().map(|&centre| peak(tokens.len(), centre, 0.7)).collect(),
            tokens,
            ..Weighted::default()
        },
    }
}

/// A question, an answer and what each word of the question looks at.
pub fn answer() -> Match {
    let question = words("what is the capital of peru ?");
    let answer = words("lima is the capital and largest city of peru");
    let looks = [0.0, 1.0, 2.0, 3.0, 7.0, 8.0, 6.0];
    Match {
        score: 0.8731,
        cross: Some(looks.iter().map(|&centre| peak(answer.len(), centre, 1.2)).collect()),
        question: Weighted { heads: vec![peak(question.len(), 4.0, 0.5)], tokens: question, ..Weighted::default() },
        answer: Weighted { heads: vec![peak(answer.len(), 0.4, 0.6)], tokens: answer, ..Weighted::default() },
    }
}

/// A bag of six rows, with or without their images.
pub fn bag(images: bool) -> Bag {
    let weights = [0.04, 0.61, 0.02, 0.01, 0.3, 0.02];
    // A disc, larger with the weight.
    let disc = |weight: f32| {
        let pixel = |x: f32, y: f32| (1.6 + 3.0 * weight - ((x - 3.5).powi(2) + (y - 3.5).powi(2)).sqrt()).clamp(0.0, 1.0);
        (0..64).map(|i| pixel((i % 8) as f32, (i / 8) as f32)).collect()
    };
    Bag {
        id: "bag 17".into(),
        label: "contains a nine".into(),
        truth: None,
        probabilities: vec![("contains a nine".into(), 0.97), ("none".into(), 0.03)],
        rows: (1..=6).map(|row| format!("row {row}")).collect(),
        weights: weights.to_vec(),
        images: images.then(|| Images { width: 8, height: 8, pixels: weights.iter().map(|&weight| disc(weight)).collect() }),
    }
}
