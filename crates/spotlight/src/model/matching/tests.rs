use super::config::{Loss, Towers};
use super::*;
use crate::attention::ScoreKind;
use crate::encoder::EncoderName;
use crate::model::encoder::EncoderSection;
use crate::model::testing::{check_gradient, fit, pool_by};
use crate::train::{Learner, Measure};

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

fn shared(model: &Matcher, examples: &[Example]) -> f64 {
    value(&model.shared_words(examples).unwrap()[0].measures, "map")
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
        assert!(shared(&model, &examples) < 0.7);
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
    assert!(model.shared_words(&model.examples(&wrong)).unwrap_err().to_string().contains("nothing to measure"));
}

/// Towns and what is asked of them: where a year stands the answer to "when", where a number of people stands the answer to "how many". Both name the town.
fn towns(questions: usize, seed: usize) -> Vec<Question> {
    let names = ["ash", "birch", "cedar", "elm", "fir", "holly", "larch", "maple", "oak", "pine", "rowan", "willow", "yew"];
    let mut rows = Vec::new();
    for i in 0..questions {
        let n = i * 7 + seed * 31;
        let (town, other) = (names[n % names.len()], names[(n + 5) % names.len()]);
        let when = i % 2 == 0;
        let question = if when { format!("when was {town} founded ?") } else { format!("how many people live in {town} ?") };
        let year = |town: &str| format!("settlers came to {town} in 1{:03}", (n * 37) % 1000);
        let people = |town: &str| format!("{town} is the home of {} souls", 1 + n * 53 % 900);
        let answers =
            [(people(town), !when), (format!("{town} lies by the sea , as all know ."), false), (year(town), when), (year(other), false)];
        rows.extend(answers.into_iter().map(|(answer, relevant)| Question {
            id: None,
            question: question.clone(),
            answer,
            relevant,
            line: i + 1,
        }));
    }
    rows
}

fn solved(rows: &[Question], change: impl Fn(&mut Config)) -> Matcher {
    let mut config = Config::evidence();
    change(&mut config);
    let mut model = Matcher::new(config, rows).unwrap();
    let examples = model.examples(rows);
    fit(&model.learner(), &mut model.params, &model.config.train, &examples);
    model
}

fn map(model: &Matcher, rows: &[Question]) -> f64 {
    value(&model.learner().measure(&model.params, &model.examples(rows)).unwrap(), "map")
}

#[test]
fn evidence_learns_what_answers_look_like_from_few_questions() {
    for questions in [30, 100, 300] {
        let model = solved(&towns(questions, 1), |_| {});
        let test = towns(100, 2);
        let (found, words) = (map(&model, &test), shared(&model, &model.examples(&test)));
        assert!(found > 0.97 && words < 0.8, "{questions}: {found}, shared words {words}");
    }
}

#[test]
fn evidence_on_a_tape_is_the_evidence_that_is_computed() {
    let rows = towns(6, 1);
    let model = solved(&rows, |_| {});
    let examples = model.examples(&rows);
    check_gradient(&model.params, &model.learner(), &examples);
    let tape = crate::tape::Tape::new(&model.params);
    let all: Vec<&Example> = examples.iter().collect();
    let loss = tape.item(model.learner().loss(&tape, &all, 1.0 / 6.0).unwrap());
    let measured = value(&model.learner().measure(&model.params, &examples).unwrap(), "loss");
    assert!((loss - measured).abs() < 1e-5, "{loss} and {measured}");
}

#[test]
fn a_saved_model_of_evidence_answers_the_same() {
    let folder = tempfile::tempdir().unwrap();
    let rows = towns(20, 1);
    for place in [false, true] {
        let model = solved(&rows, |c| c.model.place = place);
        model.save_frame(folder.path()).unwrap();
        weights::save(&model.params, &folder.path().join("model.safetensors")).unwrap();
        let again = Matcher::load(folder.path()).unwrap();
        let pairs: Vec<(&str, &str)> =
            rows.iter().map(|r| (r.question.as_str(), r.answer.as_str())).chain([("", ""), ("who ?", "")]).collect();
        let answers = again.answer(&pairs).unwrap();
        assert_eq!(model.answer(&pairs).unwrap(), answers);
        let scores: Vec<f32> = model.examples(&rows).iter().flat_map(|e| &e.candidates).map(|c| score(&again, c)).collect();
        for (answer, score) in answers.iter().zip(scores) {
            assert_eq!(answer.score, score);
            let evidence = answer.evidence.as_ref().unwrap();
            let matches: f32 = evidence.matches.iter().flatten().sum();
            let sum = matches + evidence.answer.iter().sum::<f32>() + evidence.length + evidence.place.unwrap_or(0.0);
            assert!((sum - score).abs() < 1e-4, "{sum} and {score}");
            assert_eq!(evidence.place.is_some(), place);
        }
        std::fs::remove_file(folder.path().join("config.toml")).unwrap();
    }
}

fn score(model: &Matcher, candidate: &Candidate) -> f32 {
    let Net::Evidence(net) = &model.net else { panic!("not of evidence") };
    net.score(&model.params, &candidate.features) as f32
}

/// A row of the matrix is a word of the question, a column one of the answer, and the number their agreement times how much the word is looked for.
#[test]
fn the_matrix_crosses_words_that_agree() {
    let model = solved(&towns(60, 1), |_| {});
    let answer = model.answer(&[("When was elm founded ?", "settlers founded Elm in 1234")]).unwrap().remove(0);
    let cross = answer.picture().cross.unwrap();
    assert_eq!((cross.len(), cross[0].len()), (5, 5));
    let sought = &answer.question_attention[0];
    assert_eq!((cross[2][2], cross[3][1]), (sought[2], sought[3]));
    assert_eq!(cross.iter().flatten().filter(|&&c| c > 0.0).count(), 2, "{cross:?}");
    // The year speaks for the answer, though nobody asked for it by name.
    let own = &answer.evidence.as_ref().unwrap().answer;
    assert!(own[4] > 0.0 && own[4] > own[0] && own[4] > own[1], "{own:?}");
    // More than the words around it that nobody asked for either; most stands on those that were asked for.
    let seen = &answer.answer_attention[0];
    assert!(seen[4] > seen[0] && seen[4] > seen[3] && seen[1] + seen[2] > 0.5, "{seen:?}");
}

#[test]
fn right_answers_alone_are_ranked_against_those_of_others() {
    let right = |seed| towns(80, seed).into_iter().filter(|q| q.relevant).collect::<Vec<_>>();
    let model = solved(&right(1), |_| {});
    let examples = model.examples(&right(2));
    assert!(examples.iter().all(|e| e.candidates.len() > 5 && e.candidates.iter().skip(1).all(|c| c.borrowed)));
    assert!(map(&model, &right(2)) > 0.9, "{}", map(&model, &right(2)));
    // What is borrowed does not count where there are wrong answers enough.
    let mut mixed = towns(4, 1);
    mixed.extend(right(3).into_iter().take(1));
    let examples = model.examples(&mixed);
    assert!(examples[4].candidates.len() > 1);
    let scores = vec![0.0; examples.iter().map(|e| e.candidates.len()).sum()];
    assert_eq!(learn::lists(&examples, &scores).iter().map(Vec::len).collect::<Vec<_>>(), [4, 4, 4, 4, 1]);
    // Towers borrow only if there is nothing else to learn from.
    let towers = Matcher::new(small(), &mixed).unwrap();
    assert_eq!(towers.examples(&mixed)[4].candidates.len(), 1);
    assert!(towers.examples(&right(1))[0].candidates.len() > 1);
}

#[test]
fn settings_that_mean_nothing_to_a_form_are_refused() {
    let error = |change: fn(&mut Config)| {
        let mut config = Config::evidence();
        change(&mut config);
        Matcher::new(config, &colours()).unwrap_err().to_string()
    };
    assert!(error(|c| c.model.dense = 7).starts_with("`model.form`: settings of an encoder"));
    assert!(error(|c| c.train.rate = 0.1).starts_with("`model.form`: the weights of \"evidence\" are computed"));
    assert!(error(|c| c.model.penalty = 0.0).starts_with("`model.penalty`"));
    assert!(error(|c| (c.model.form, c.model.place) = (Form::Pooled, true)).starts_with("`model.place`"));
}

/// Candidates that share the same words stand in the file's order, or the other way round; both are told.
#[test]
fn equal_overlaps_are_told_in_both_orders() {
    let row = |answer: &str, relevant, line| Question {
        id: None,
        question: "how deep is the sea ?".into(),
        answer: answer.into(),
        relevant,
        line,
    };
    let rows = [row("the sea is one", true, 1), row("the sea is two", false, 2), row("nothing", false, 3)];
    let model = Matcher::new(Config::evidence(), &rows).unwrap();
    let both = model.shared_words(&model.examples(&rows)).unwrap();
    assert_eq!(both.iter().map(|b| value(&b.measures, "map")).collect::<Vec<_>>(), [0.5, 1.0]);
}

/// The other form chooses its steps by the amount of data, and learns from few questions too.
#[test]
fn towers_learn_from_few_questions() {
    let of = |questions: usize| {
        let chosen = <Matcher as crate::model::Model>::choose(&towns(questions, 1), &["model.form=pooled".into()]).unwrap();
        (chosen.config.train.batch, chosen.config.train.epochs)
    };
    assert_eq!([30, 100, 300, 1000, 10_000].map(of), [(100, 60), (165, 30), (495, 30), (1650, 30), (2000, 20)]);
    for questions in [30, 100, 300] {
        let train = towns(questions, 1);
        let mut config = <Matcher as crate::model::Model>::choose(&train, &["model.form=pooled".into()]).unwrap().config;
        // The same steps, with fewer features: the test is slow enough.
        config.model.encoder = EncoderSection { embedding: 16, hidden: 16, ..config.model.encoder };
        config.model.dense = 16;
        let mut model = Matcher::new(config, &train).unwrap();
        let examples = model.examples(&train);
        fit(&model.learner(), &mut model.params, &model.config.train, &examples);
        let test = model.examples(&towns(100, 2));
        let found = value(&model.learner().measure(&model.params, &test).unwrap(), "map");
        assert!(found > shared(&model, &test) + 0.1, "{questions}: {found}");
    }
}

/// Of an ensemble the score is the mean; towers show the heads of all, evidence still adds up.
#[test]
fn several_matchers_score_as_one() {
    let rows = colours();
    let pairs: Vec<(&str, &str)> = rows.iter().map(|r| (r.question.as_str(), r.answer.as_str())).collect();
    for config in [small(), Config::evidence()] {
        let members = [1, 2].map(|seed| {
            let mut model = Matcher::new(Config { seed, ..config.clone() }, &rows).unwrap();
            // Weights of evidence begin at 0.
            model.params.flat_mut().iter_mut().enumerate().for_each(|(i, w)| *w += 0.1 * ((i as f32 + 1.0) * seed as f32).sin());
            model
        });
        let own = members.each_ref().map(|model| model.answer(&pairs).unwrap());
        let together = Matcher::joined(members.to_vec()).unwrap();
        for (at, answer) in together.answer(&pairs).unwrap().iter().enumerate() {
            assert!((answer.score - (own[0][at].score + own[1][at].score) / 2.0).abs() < 1e-6);
            let heads = if config.model.form == Form::Evidence { 1 } else { 2 };
            assert_eq!(answer.question_attention.len(), heads);
            assert_eq!(answer.members, if heads == 2 { vec![1, 2] } else { vec![] });
            if let Some(evidence) = &answer.evidence {
                let parts = evidence.matches.iter().flatten().chain(&evidence.answer).sum::<f32>();
                let sum = parts + evidence.length + evidence.place.unwrap_or(0.0);
                assert!((sum - answer.score).abs() < 1e-4, "{sum} {}", answer.score);
            }
        }
        let map = value(&crate::model::Model::measure(&together, &rows).unwrap(), "map");
        assert!((0.0..=1.0).contains(&map));
    }
    let other = [small(), Config::evidence()].map(|config| Matcher::new(config, &rows).unwrap());
    assert!(Matcher::joined(other.to_vec()).is_err());
}
