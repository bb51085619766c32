use super::*;
use crate::attention::{ScoreKind, SoftmaxKind};
use crate::encoder::EncoderName;
use crate::model::encoder::EncoderSection;
use crate::model::head::ClassWeights;
use crate::model::pooling::PoolingKind;
use crate::model::probe::Probe;
use crate::model::testing::{check_gradient, fit, pool_by};
use crate::tape::Tape;
use crate::text::{UnitKind, UnitSettings};
use crate::train::Learner;
use crate::train::settings::ScheduleName;

/// Texts in which one word decides.
fn films() -> Vec<Labelled> {
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
    config.train.epochs = 60;
    config.train.rate = 0.02;
    config.train.warmup = 0;
    config.train.patience = 0;
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
        (EncoderName::Transformer, "tanh", 1, ClassWeights::None),
        (EncoderName::Transformer, "last", 1, ClassWeights::None),
    ] {
        let mut config = small();
        config.model.encoder.cell = cell;
        if cell == EncoderName::Transformer {
            (config.transformer.heads, config.transformer.feed_forward, config.model.encoder.layers) = (3, 2, 2);
        }
        pool_by(&mut config.model.pooling, &mut config.attention, pooling);
        config.attention.heads = heads;
        config.model.class_weights = weights;
        let mut rows = films();
        rows.truncate(5);
        let model = Classifier::new(config, &rows).unwrap();
        check_gradient(&model.params, &model.learner(), &model.examples(&rows).unwrap());
    }
}

#[test]
fn states_that_are_alike_count_against_a_model_with_the_right_gradient() {
    let mut config = small();
    config.model.diversity = 0.5;
    let mut rows = films();
    rows.truncate(4);
    let model = Classifier::new(config.clone(), &rows).unwrap();
    let examples = model.examples(&rows).unwrap();
    check_gradient(&model.params, &model.learner(), &examples);
    // What is added is half the mean conicity of the texts.
    config.model.diversity = 0.0;
    let plain = Classifier::new(config.clone(), &rows).unwrap();
    let loss = |model: &Classifier| {
        let tape = Tape::new(&model.params);
        tape.item(model.learner().loss(&tape, &examples.iter().collect::<Vec<_>>(), 0.25).unwrap())
    };
    let asked = plain.asked(&rows).unwrap();
    let readings = crate::audit::read(&plain, &asked.iter().map(|a| &a.case).collect::<Vec<_>>()).unwrap();
    let conicity = readings.iter().filter_map(|r| r.conicity).sum::<f64>() / 4.0;
    assert!((loss(&model) - loss(&plain) - 0.5 * conicity).abs() < 1e-5);
    config.model.diversity = -1.0;
    assert!(config.check().unwrap_err().to_string().contains("model.diversity"));
}

#[test]
fn every_setting_of_the_attention_is_heard() {
    let mut config = small();
    config.attention.score = Some(ScoreKind::Additive);
    (config.attention.heads, config.attention.keys, config.attention.values) = (2, 3, 5);
    (config.attention.temperature, config.attention.normalised, config.attention.alignment) = (0.5, true, 4);
    let rows = &films()[..5];
    let model = Classifier::new(config, rows).unwrap();
    check_gradient(&model.params, &model.learner(), &model.examples(rows).unwrap());
    let shape = |name: &str| model.params.entry(model.params.find(name).unwrap()).shape.clone();
    assert_eq!((shape("attention.key.weight"), shape("attention.value.weight")), (vec![3, 6], vec![5, 6]));
    assert_eq!((shape("attention.1.query.weight"), shape("attention.0.g"), shape("attention.1.query")), (vec![4, 3], vec![1], vec![3]));
    assert_eq!(shape("output.weight"), [2, 10]);
}

#[test]
fn it_learns_which_word_decides_and_looks_at_it() {
    let mut config = small();
    config.attention.score = Some(ScoreKind::Linear);
    config.model.encoder.cell = EncoderName::Average;
    let mut model = Classifier::new(config, &films()).unwrap();
    let examples = model.examples(&films()).unwrap();
    let measures = fit(&model.learner(), &mut model.params, &model.config.train, &examples);
    assert_eq!(measures.iter().find(|m| m.name == "accuracy").unwrap().value, 1.0);
    assert_eq!(measures.iter().find(|m| m.name == "auc").unwrap().value, 1.0);
    let answer = &model.answer(&["what a great film"]).unwrap()[0];
    assert_eq!((answer.label.as_str(), answer.tokens[2].as_str()), ("good", "great"));
    assert!((answer.attention[0].iter().sum::<f32>() - 1.0).abs() < 1e-6);
    assert_eq!(answer.picture().text.heads, answer.attention);
    assert!(model.confusion(&examples).unwrap().accuracy() == 1.0);
    // One of the two words is enough to tell the labels apart; the other may be passed over.
    let weight = |word: &str| {
        let texts: Vec<String> = films().into_iter().map(|t| t.text).filter(|t| t.contains(word)).collect();
        let share = |a: &Answer| a.attention[0][a.tokens.iter().position(|t| t == word).unwrap()] * a.tokens.len() as f32;
        model.answer(&texts).unwrap().iter().map(share).sum::<f32>() / texts.len() as f32
    };
    assert!(weight("great").max(weight("dull")) > 1.5, "{} {}", weight("great"), weight("dull"));
    assert!(weight("film") < 1.5, "{}", weight("film"));
}

#[test]
fn a_saved_model_answers_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let mut config = small();
    config.text = UnitSettings { kind: UnitKind::Chars, ..UnitSettings::default() }.into();
    config.attention.heads = 2;
    let model = Classifier::new(config, &films()).unwrap();
    model.save_frame(folder.path()).unwrap();
    weights::save(&model.params, &folder.path().join("model.safetensors")).unwrap();
    let again = Classifier::load(folder.path()).unwrap();
    let texts = ["a great film", "", "qqq unseen ☃"];
    let answers = model.answer(&texts).unwrap();
    assert_eq!(answers, again.answer(&texts).unwrap());
    assert_eq!(answers[0].attention.len(), 2);
}

#[test]
fn an_empty_text_gets_the_shares_of_the_labels() {
    let mut rows = films();
    rows.truncate(5);
    for (weights, good) in [(ClassWeights::None, 0.6), (ClassWeights::Balanced, 0.5)] {
        for pooling in ["tanh", "last", "mean"] {
            let mut config = small();
            config.model.class_weights = weights;
            pool_by(&mut config.model.pooling, &mut config.attention, pooling);
            let model = Classifier::new(config, &rows).unwrap();
            let answer = &model.answer(&["  "]).unwrap()[0];
            assert!((answer.probabilities[1].1 - good).abs() < 1e-6, "{pooling}: {:?}", answer.probabilities);
            assert!(answer.tokens.is_empty());
        }
    }
}

#[test]
fn the_mean_has_equal_weights_and_the_last_state_none() {
    for (pooling, heads) in [("mean", vec![vec![0.25; 4]]), ("last", vec![])] {
        let mut config = small();
        pool_by(&mut config.model.pooling, &mut config.attention, pooling);
        let model = Classifier::new(config, &films()).unwrap();
        assert_eq!(model.answer(&["the film is great"]).unwrap()[0].attention, heads);
    }
}

#[test]
fn words_are_dropped_while_learning_only() {
    let mut config = small();
    config.model.encoder.word_dropout = 0.9;
    let model = Classifier::new(config, &films()).unwrap();
    let examples = model.examples(&films()).unwrap();
    let examples: Vec<&Example> = examples.iter().collect();
    let mut gradients = crate::params::Gradients::new(&model.params);
    let mut learning = |seed| {
        gradients.begin();
        let tape = crate::tape::Tape::training(&model.params, &mut gradients, seed);
        tape.item(model.learner().loss(&tape, &examples, 1.0).unwrap())
    };
    assert_eq!(learning(1), learning(1));
    assert_ne!(learning(1), learning(2));
    assert_eq!(model.answer(&["a dull film"]).unwrap(), model.answer(&["a dull film"]).unwrap());
}

#[test]
fn word_vectors_are_taken_over() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("vectors.txt");
    std::fs::write(&file, "great 1 2 3 4\nunseen 5 6 7 8\n").unwrap();
    let mut config = small();
    config.model.encoder.vectors = file.to_string_lossy().into_owned();
    let model = Classifier::new(config.clone(), &films()).unwrap();
    let id = model.units.tokenizer().unwrap().ids("great")[0] as usize;
    let table = model.params.get(model.params.find("embedding.weight").unwrap());
    assert_eq!(table[id * 4..][..4], [1.0, 2.0, 3.0, 4.0]);

    // A word of the file that no training text has is known, if the file's first words are asked for.
    let vector = |words| {
        let mut config = config.clone();
        config.model.encoder.vectors_words = words;
        let model = Classifier::new(config, &films()).unwrap();
        let id = model.units.tokenizer().unwrap().ids("unseen")[0] as usize;
        model.params.get(model.params.find("embedding.weight").unwrap())[id * 4..][..4].to_vec()
    };
    assert_eq!(vector(2), [5.0, 6.0, 7.0, 8.0]);
    assert_ne!(vector(1), [5.0, 6.0, 7.0, 8.0]);

    config.model.encoder.embedding = 5;
    let error = Classifier::new(config.clone(), &films()).unwrap_err().to_string();
    assert!(error.contains("has vectors of 4 features: set model.embedding to that, it is 5"), "{error}");
    config.text.units = UnitKind::Chars;
    let error = Classifier::new(config, &films()).unwrap_err().to_string();
    assert!(error.contains("goes with text.units = \"words\""), "{error}");
}

#[test]
fn vectors_stay_as_they_are_for_as_many_epochs_as_they_are_told() {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("vectors.txt");
    std::fs::write(&file, "great 1 2 3 4\n").unwrap();
    // The vectors and all other weights after learning, and whether they are other than before.
    let changed = |frozen| {
        let mut config = small();
        config.model.encoder.vectors = file.to_string_lossy().into_owned();
        config.model.encoder.vectors_frozen = frozen;
        config.train.epochs = 2;
        config.train.schedule = ScheduleName::Constant;
        // What nothing draws on would decay all the same.
        config.train.decay = 0.1;
        let mut model = Classifier::new(config, &films()).unwrap();
        let before = model.params.clone();
        let examples = model.examples(&films()).unwrap();
        fit(&model.learner(), &mut model.params, &model.config.train, &examples);
        let vectors = before.find("embedding.weight").unwrap();
        (model.params.get(vectors) != before.get(vectors), model.params.flat() != before.flat())
    };
    assert_eq!(changed(2), (false, true));
    assert_eq!(changed(1), (true, true));
    assert_eq!(changed(0), (true, true));
}

#[test]
fn what_cannot_be_used_is_told() {
    let error = |change: fn(&mut Config)| {
        let mut config = small();
        change(&mut config);
        Classifier::new(config, &films()).unwrap_err().to_string()
    };
    assert!(error(|c| c.attention.score = Some(ScoreKind::Location)).starts_with("`attention.score`: must be one that does not need"));
    assert!(error(|c| c.attention.score = None).starts_with("`attention.score`: must be a score"));
    assert!(error(|c| c.attention.softmax = SoftmaxKind::LocalM).starts_with("`attention.softmax`: must be one without steps"));
    assert!(error(|c| c.model.encoder.hidden = 0).starts_with("`model.hidden`: must be at least 1"));
    assert!(error(|c| (c.model.pooling, c.attention.heads) = (PoolingKind::Last, 2)).starts_with("`attention.heads`"));
    assert!(error(|c| c.model.encoder.dropout = 1.0).starts_with("`model.dropout`"));
    let one: Vec<Labelled> = films().into_iter().filter(|t| t.label == "good").collect();
    assert_eq!(
        Classifier::new(small(), &one).unwrap_err().to_string(),
        "`data.train`: needs texts with at least two labels, has only good"
    );
    let model = Classifier::new(small(), &films()).unwrap();
    let strange = Labelled { text: "a film".into(), label: "odd".into(), line: 7 };
    assert_eq!(
        model.examples(&[strange]).unwrap_err().to_string(),
        "the label on line 7 is \"odd\", but must be one the model has learnt: bad, good"
    );
}

/// Texts of which single words decide, and a word before them turns it round.
fn opinions() -> Vec<Labelled> {
    let kinds = [("fine", "good"), ("lovely", "good"), ("dull", "bad"), ("awful", "bad"), ("not fine", "bad"), ("not dull", "good")];
    let fill = ["film", "the", "plot", "actors", "scene", "music"];
    (0..120)
        .map(|i: usize| {
            let (says, label) = kinds[i % kinds.len()];
            // Words that say nothing, whatever the label.
            let word = |place: u32| fill[(i.wrapping_mul(0x9e37_79b1) >> (8 + 3 * place)) % 6];
            let text = format!("{} {} {says} {}", word(0), word(1), word(2));
            Labelled { text, label: label.into(), line: i + 1 }
        })
        .collect()
}

#[test]
fn evidence_has_the_right_gradients() {
    let rows = &opinions()[..6];
    let mut model = Classifier::new(Config::evidence(rows.len()), rows).unwrap();
    let mut x = 0.0f32;
    for w in model.params.flat_mut() {
        x += 0.7;
        *w += 0.3 * x.sin();
    }
    check_gradient(&model.params, &model.learner(), &model.examples(rows).unwrap());
}

#[test]
fn without_scores_the_evidence_is_logistic_regression_and_contributions_add_up() {
    let rows = opinions();
    let mut model = Classifier::new(Config::evidence(rows.len()), &rows).unwrap();
    let Net::Evidence(net) = model.net.clone() else { panic!("the form is evidence") };
    // The learnt half says the same as the regression, and has no scores of its own.
    let (linear, bias) = (model.params.get(net.linear).to_vec(), model.params.get(net.linear_bias).to_vec());
    for (row, weights) in model.params.get_mut(net.table).chunks_exact_mut(5).zip(linear.chunks_exact(2)) {
        row[..2].copy_from_slice(weights);
    }
    model.params.get_mut(net.bias).iter_mut().zip(&bias).for_each(|(b, l)| *b = l / 0.2);
    let regression = crate::model::linear::Linear { weights: linear, bias: bias.clone() };
    for answer in model.answer(&["the film is not fine", "lovely music", "unheardof", ""]).unwrap() {
        let Text::Evidence(text) = model.text(&answer.text) else { panic!("the form is evidence") };
        let want = regression.logits(&text.vector().collect::<Vec<_>>());
        let sums: Vec<f64> = (0..2).map(|c| bias[c] as f64 + answer.contributions.iter().map(|w| w[c] as f64).sum::<f64>()).collect();
        sums.iter().zip(&want).for_each(|(got, want)| assert!((got - want).abs() < 1e-4, "{}: {sums:?} and {want:?}", answer.text));
        let p = 1.0 / (1.0 + (want[1] - want[0]).exp());
        assert!((answer.probabilities[0].1 as f64 - p).abs() < 1e-5);
        assert_eq!(answer.attention[0].len(), answer.tokens.len());
    }
}

#[test]
fn evidence_learns_and_comes_back_from_its_folder() {
    let rows = opinions();
    let (train, test): (Vec<_>, Vec<_>) = rows.iter().cloned().partition(|r| r.line % 4 != 0);
    let mut model = Classifier::new(Config::evidence(train.len()), &train).unwrap();
    let examples = model.examples(&train).unwrap();
    fit(&model.learner(), &mut model.params, &model.config.train, &examples);
    let right = |model: &Classifier| test.iter().filter(|r| model.answer(&[&r.text]).unwrap()[0].label == r.label).count();
    assert_eq!(right(&model), test.len());
    let folder = tempfile::tempdir().unwrap();
    model.save_frame(folder.path()).unwrap();
    weights::save(&model.params, &folder.path().join("model.safetensors")).unwrap();
    let back = Classifier::load(folder.path()).unwrap();
    assert_eq!(back.answer(&["not dull , fine"]).unwrap(), model.answer(&["not dull , fine"]).unwrap());
    // What says something is looked at more than its share.
    let answer = &model.answer(&["the plot awful scene"]).unwrap()[0];
    assert_eq!((answer.label.as_str(), answer.attention[0].iter().sum::<f32>() > 0.999), ("bad", true));
    assert!(answer.attention[0][2] > 0.25, "{:?}", answer.attention);
}

#[test]
fn settings_of_the_other_form_are_refused() {
    let wrong = |change: fn(&mut Config)| {
        let mut config = Config::evidence(10);
        change(&mut config);
        config.check().unwrap_err().to_string()
    };
    assert!(wrong(|c| c.model.encoder.hidden = 7).contains("go with \"pooled\""));
    assert!(wrong(|c| c.attention.heads = 2).starts_with("`model.form`"));
    assert!(wrong(|c| c.model.unit_dropout = 1.0).starts_with("`model.unit_dropout`"));
}

#[test]
fn a_transformer_reads_where_a_word_stands() {
    let mut config = small();
    (config.model.encoder.cell, config.model.encoder.hidden, config.transformer.heads) = (EncoderName::Transformer, 8, 2);
    config.transformer.feed_forward = 16;
    config.model.pooling = PoolingKind::Mean;
    // The same words: only their order tells.
    let row = |(i, (text, label)): (usize, &(&str, &str))| Labelled { text: text.to_string(), label: label.to_string(), line: i + 1 };
    let texts = [("man bites dog", "news"), ("dog bites man", "dull"), ("cat bites dog", "news"), ("dog bites cat", "dull")];
    let rows: Vec<Labelled> = texts.iter().enumerate().map(row).collect();
    let mut model = Classifier::new(config, &rows).unwrap();
    let examples = model.examples(&rows).unwrap();
    let measures = fit(&model.learner(), &mut model.params, &model.config.train, &examples);
    assert_eq!(measures.iter().find(|m| m.name == "accuracy").unwrap().value, 1.0);
    let unused = Config { transformer: crate::model::TransformerSection { heads: 2, ..Default::default() }, ..small() };
    assert_eq!(unused.check().unwrap_err().to_string(), "`transformer`: goes with model.encoder = \"transformer\"");
}
