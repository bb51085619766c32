use super::config::{Loss, Towers};
use super::*;
use crate::attention::ScoreKind;
use crate::encoder::EncoderName;
use crate::model::encoder::EncoderSection;
use crate::model::testing::{check_gradient, fit, pool_by};
use crate::train::Measure;

/// Questions about colours; no word of a right answer stands in its question.
fn colours() -> Vec<Question> {
    let table = [
        ("what colour is grass ?", [("green it is", true), ("blue it is", false), ("red it is", false)]),
        ("what colour is sky ?", [("green it is", false), ("blue it is", true), ("red it is", false)]),
        ("what colour is blood ?", [("blue it is", false), ("green it is", false), ("red it is", true)]),
    ];
    let rows = table.iter().flat_map(|(question, answers)| answers.iter().map(move |(answer, relevant)| (question, answer, *relevant)));
    rows.enumerate()
        .map(|(i, (q, a, relevant))| Question { id: None, question: q.to_string(), answer: a.to_string(), relevant, line: i + 1 })
        .collect()
}

fn small() -> Config {
    let mut config = Config::default();
    config.model.encoder = EncoderSection { embedding: 4, hidden: 3, dropout: 0.0, ..EncoderSection::default() };
    config.model.dense = 4;
    config.model.wrong = 2;
    config.train.epochs = 80;
    config.train.rate = 0.02;
    config.train.warmup = 0;
    config.train.patience = 0;
    config
}

fn value(measures: &[Measure], name: &str) -> f64 {
    measures.iter().find(|m| m.name == name).unwrap().value
}

#[test]
fn gradients_are_right_for_every_tower_attention_and_loss() {
    for (towers, asked, pooling, heads, dense, loss) in [
        (Towers::Separate, "none", "linear", 1, 4, Loss::CrossEntropy),
        (Towers::Shared, "none", "tanh", 2, 0, Loss::Hinge),
        (Towers::Shared, "additive", "linear", 1, 4, Loss::CrossEntropy),
        (Towers::Separate, "dot", "last", 1, 4, Loss::Hinge),
    ] {
        let mut config = small();
        let m = &mut config.model;
        (m.towers, m.dense, m.loss) = (towers, dense, loss);
        pool_by(&mut m.pooling, &mut config.attention, pooling);
        (config.attention.heads, config.asked.score) = (heads, asked.parse().ok());
        let rows = &colours()[..6];
        let model = Matcher::new(config, rows).unwrap();
        check_gradient(&model.params, &model.learner(), &model.examples(rows));
    }
}

#[test]
fn gradients_are_right_for_towers_of_nothing_but_attention() {
    let mut config = small();
    (config.model.encoder.cell, config.transformer.heads, config.transformer.feed_forward) = (EncoderName::Transformer, 3, 2);
    let rows = &colours()[..6];
    let model = Matcher::new(config, rows).unwrap();
    assert!(model.params.find("text.encoder.layers.0.self_attn.in_proj_weight").is_some());
    check_gradient(&model.params, &model.learner(), &model.examples(rows));
}

#[test]
fn it_learns_answers_that_share_no_word_with_their_question() {
    for (loss, asked) in [(Loss::CrossEntropy, "none"), (Loss::Hinge, "general")] {
        let mut config = small();
        (config.model.loss, config.asked.score) = (loss, asked.parse().ok());
        let mut model = Matcher::new(config, &colours()).unwrap();
        let examples = model.examples(&colours());
        assert_eq!(examples.len(), 3);
        let measures = fit(&model.learner(), &mut model.params, &model.config.train, &examples);
        assert_eq!((value(&measures, "map"), value(&measures, "mrr")), (1.0, 1.0), "{loss:?}");
        assert!(model.baseline(&examples).unwrap().map < 0.7);
        let answers = model.answer(&[("what colour is sky ?", "blue it is"), ("what colour is sky ?", "red it is")]).unwrap();
        assert!(answers[0].score > answers[1].score);
        assert!(loss == Loss::Hinge || answers.iter().all(|a| (0.0..=1.0).contains(&a.score)));
    }
}

#[test]
fn a_saved_model_answers_the_same_in_any_company() {
    let folder = tempfile::tempdir().unwrap();
    let model = Matcher::new(small(), &colours()).unwrap();
    model.save_frame(folder.path()).unwrap();
    weights::save(&model.params, &folder.path().join("model.safetensors")).unwrap();
    let again = Matcher::load(folder.path()).unwrap();
    let pairs = [("what colour is sky ?", "blue it is"), ("what colour is sky ?", ""), ("", "red"), ("is it red ?", "red it is ☃")];
    let answers = again.answer(&pairs).unwrap();
    for (pair, answer) in pairs.iter().zip(&answers) {
        assert_eq!(&model.answer(&[*pair]).unwrap()[0], answer);
        assert!(answer.score.is_finite());
        for (tokens, heads) in [(&answer.question_tokens, &answer.question_attention), (&answer.answer_tokens, &answer.answer_attention)] {
            assert_eq!(tokens.len(), heads[0].len());
            assert!(tokens.is_empty() || (heads[0].iter().sum::<f32>() - 1.0).abs() < 1e-5);
        }
    }
}

#[test]
fn the_overlap_enters_only_if_asked_for() {
    let pairs = [("is it red ?", "is it red ?"), ("is it red ?", "green")];
    for overlap in [true, false] {
        let mut config = small();
        config.model.overlap = overlap;
        let mut model = Matcher::new(config, &colours()).unwrap();
        let before = model.answer(&pairs).unwrap();
        match model.params.find("score.overlap") {
            Some(id) => model.params.get_mut(id)[0] = 9.0,
            None => assert!(!overlap),
        }
        let after = model.answer(&pairs).unwrap();
        assert_eq!(before[0].score != after[0].score, overlap);
        // No word in common: nothing to weigh.
        assert_eq!(before[1].score, after[1].score);
    }
}

#[test]
fn shared_towers_are_one() {
    let sizes = [Towers::Shared, Towers::Separate].map(|towers| {
        let mut config = small();
        config.model.towers = towers;
        let model = Matcher::new(config, &colours()).unwrap();
        model.params.len() - 3
    });
    assert_eq!(sizes[1], 2 * sizes[0]);
}

#[test]
fn what_cannot_be_used_is_told() {
    let error = |change: fn(&mut Config)| {
        let mut config = small();
        change(&mut config);
        Matcher::new(config, &colours()).unwrap_err().to_string()
    };
    assert!(error(|c| c.asked.score = Some(ScoreKind::Tanh)).starts_with("`asked.score`: must be none or one of dot"));
    assert!(
        error(|c| (c.asked.score, c.attention.heads) = (Some(ScoreKind::General), 2)).starts_with("`asked.values`: the question asks with")
    );
    assert!(error(|c| c.model.margin = 0.0).starts_with("`model.margin`"));
    assert!(error(|c| c.model.wrong = 0).starts_with("`model.wrong`"));
    let model = Matcher::new(small(), &colours()).unwrap();
    let wrong: Vec<Question> = colours().into_iter().filter(|q| !q.relevant).collect();
    assert!(model.baseline(&model.examples(&wrong)).unwrap_err().to_string().contains("nothing to measure"));
}
