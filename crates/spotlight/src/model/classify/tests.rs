use super::*;
use crate::model::encoder::EncoderName;
use crate::model::encoder::EncoderSection;
use crate::model::head::ClassWeights;
use crate::model::testing::check_gradient;

/// Texts in which one word decides.
pub(super) fn films() -> Vec<Labelled> {
    let texts = [
        ("what a great film it was", "good"),
        ("a dull film", "bad"),
        ("the film is great", "good"),
        ("dull from the start", "bad"),
        ("great from the start", "good"),
        ("what a dull and long film it was", "bad"),
    ];
    let row = |(i, (text, label)): (usize, &(&str, &str))| Labelled { text: text.to_string(), label: label.to_string(), line: i + 1 };
    texts.iter().enumerate().map(row).collect()
}

fn small() -> Config {
    let mut config = Config::default();
    config.model.encoder = EncoderSection { embedding: 4, hidden: 3, dropout: 0.0, ..EncoderSection::default() };
    config
}

#[test]
fn gradients_are_right_for_every_reader_pooling_and_weight() {
    for (cell, pooling, heads, weights) in [
        (EncoderName::Lstm, "tanh", 1, ClassWeights::None),
        (EncoderName::Gru, "additive", 2, ClassWeights::Balanced),
        (EncoderName::Rnn, "last", 1, ClassWeights::None),
        (EncoderName::Average, "gated", 1, ClassWeights::None),
        (EncoderName::Lstm, "mean", 1, ClassWeights::Balanced),
    ] {
        let mut config = small();
        config.model.encoder.cell = cell;
        config.model.pooling.pooling = pooling.into();
        config.model.pooling.heads = heads;
        config.model.class_weights = weights;
        let mut rows = films();
        rows.truncate(5);
        let model = Classifier::new(config, &rows).unwrap();
        check_gradient(&model.params, &model.learner(), &model.examples(&rows).unwrap());
    }
}
