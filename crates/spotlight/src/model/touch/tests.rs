use super::*;
use crate::config::resolve;
use crate::model::bags::BagModel;
use crate::model::classify::Classifier;
use crate::model::matching::Matcher;
use crate::model::{AnyModel, Input, bags, classify, matching};
use crate::text::{Bag, Labelled, Question};

fn texts() -> Vec<Labelled> {
    let rows =
        [("a fine film , truly fine", "good"), ("dull and long", "bad"), ("not fine", "bad"), ("so good", "good"), ("long film", "bad")];
    rows.iter().enumerate().map(|(i, (text, label))| Labelled { text: text.to_string(), label: label.to_string(), line: i + 1 }).collect()
}

/// A model whose opinions are worth looking at.
fn classifier(settings: &[&str]) -> Classifier {
    let changes: Vec<String> = settings.iter().map(|s| s.to_string()).collect();
    let mut model = Classifier::new(resolve(&classify::Config::default(), "", &changes).unwrap(), &texts()).unwrap();
    model.params.flat_mut().iter_mut().for_each(|w| *w *= 3.0);
    model
}

fn evidence() -> Classifier {
    let mut model = Classifier::new(classify::Config::evidence(5), &texts()).unwrap();
    // Words that are looked at more than others.
    model.params.flat_mut().iter_mut().enumerate().for_each(|(i, w)| *w += 0.3 * (i as f32).sin());
    model
}

fn questions() -> Vec<Question> {
    let row =
        |question: &str, answer: &str, relevant| Question { id: None, question: question.into(), answer: answer.into(), relevant, line: 1 };
    vec![
        row("how deep is the sea ?", "the sea is 4 km deep", true),
        row("how deep is the sea ?", "the sky is blue", false),
        row("how blue is the sky ?", "the sky is blue", true),
        row("how blue is the sky ?", "the sea is 4 km deep", false),
    ]
}

fn coins() -> Vec<Bag> {
    let bag = |id: &str, label: &str, rows: &[[f32; 2]]| Bag {
        id: id.into(),
        label: label.into(),
        rows: rows.iter().map(|r| r.to_vec()).collect(),
        line: 1,
    };
    vec![
        bag("one", "yes", &[[1.0, 2.0], [0.5, -1.0], [2.0, 0.1]]),
        bag("two", "no", &[[-1.0, 2.0], [0.0, -1.0]]),
        bag("three", "no", &[[-2.0, 0.0], [0.3, 1.0]]),
    ]
}

fn bag_model(settings: &[&str]) -> BagModel {
    let changes: Vec<String> = settings.iter().map(|s| s.to_string()).collect();
    BagModel::new(resolve(&bags::Config::default(), "", &changes).unwrap(), &coins()).unwrap()
}

fn edit(step: usize, weights: &[f32]) -> Touch {
    Touch { edits: vec![Edit { step, head: None, weights: weights.to_vec() }], ..Touch::default() }
}

fn near(a: f64, b: f64) -> bool {
    (a - b).abs() < 1e-5
}

#[test]
fn a_models_own_weights_change_nothing_and_others_do() {
    for model in [classifier(&[]), evidence()] {
        let text = "a fine long film";
        let plain = model.answer(&[text]).unwrap().remove(0);
        let own = model.touch(Input::Text(text), &edit(0, &plain.attention[0]), None).unwrap().remove(0).edited.unwrap();
        assert_eq!(own.label, plain.label);
        assert!(own.probabilities.iter().zip(&plain.probabilities).all(|(a, b)| a.0 == b.0 && near(a.1.into(), b.1.into())));
        assert!(own.change.abs() < 1e-4 && own.score.is_none());
        // One word alone is the answer to the mix of that word; weights are made to sum to 1.
        let found = model.touch(Input::Text(text), &edit(0, &[0.0, 5.0, 0.0, 0.0]), None).unwrap().remove(0).edited.unwrap();
        assert_eq!(found.attention, [[0.0, 1.0, 0.0, 0.0]]);
        assert!(found.change.abs() > 1e-4, "{}", found.change);
        let at = plain.probabilities.iter().position(|(label, _)| *label == plain.label).unwrap();
        let change = f64::from(found.probabilities[at].1).ln() - f64::from(plain.probabilities[at].1).ln();
        assert!((found.change - change).abs() < 1e-4);
    }
}

/// A text of one word has that word's state alone as its mix, so long as words are read on their own.
#[test]
fn one_hot_is_the_answer_to_the_mix_of_one_word() {
    let model = classifier(&["model.encoder=\"average\""]);
    let alone = model.answer(&["film"]).unwrap().remove(0);
    let found = model.touch(Input::Text("a fine film"), &edit(0, &[0.0, 0.0, 1.0]), None).unwrap().remove(0).edited.unwrap();
    assert!(found.probabilities.iter().zip(&alone.probabilities).all(|(a, b)| near(a.1.into(), b.1.into())));
}

#[test]
fn heads_are_switched_off() {
    let model = classifier(&["attention.heads=2"]);
    let text = "a fine film";
    let plain = model.answer(&[text]).unwrap().remove(0);
    let touch = Touch { heads_off: vec![1], ..Touch::default() };
    let found = model.touch(Input::Text(text), &touch, None).unwrap().remove(0).edited.unwrap();
    assert_eq!(found.attention[1], [0.0; 3]);
    assert!(found.attention[0].iter().zip(&plain.attention[0]).all(|(a, b)| near((*a).into(), (*b).into())));
    assert!(found.change.abs() > 1e-4);
    // Only the second head is changed.
    let of_head = Edit { step: 0, head: Some(1), weights: vec![1.0, 0.0, 0.0] };
    let touch = Touch { edits: vec![of_head], ..Touch::default() };
    let found = model.touch(Input::Text(text), &touch, None).unwrap().remove(0).edited.unwrap();
    assert_eq!(found.attention[1], [1.0, 0.0, 0.0]);
    assert!(found.attention[0].iter().zip(&plain.attention[0]).all(|(a, b)| near((*a).into(), (*b).into())));
    let touch = Touch { heads_off: vec![2], ..Touch::default() };
    assert!(model.touch(Input::Text(text), &touch, None).unwrap_err().to_string().contains("below 2"));
}

/// What a text loses without a word is what the model says of the text without it.
#[test]
fn views_of_a_text() {
    for model in [classifier(&[]), evidence()] {
        let words = ["a", "fine", "long", "film"];
        let answer = |text: &str| model.answer(&[text]).unwrap().remove(0);
        let plain = answer(&words.join(" "));
        let touch = Touch { views: true, ..Touch::default() };
        let views = model.touch(Input::Text(&words.join(" ")), &touch, None).unwrap().remove(0).views.unwrap();
        assert_eq!(views.label, plain.label);
        assert!(near(views.probability, plain.probability().into()));
        assert!(views.attention.iter().zip(&plain.attention[0]).all(|(a, b)| near(*a, (*b).into())));
        for (i, lost) in views.leave_one_out.iter().enumerate() {
            let left: Vec<&str> = (0..4).filter(|&j| j != i).map(|j| words[j]).collect();
            let p = answer(&left.join(" ")).probabilities.iter().find(|(label, _)| *label == plain.label).unwrap().1;
            assert!(near(*lost, views.probability - f64::from(p)), "{i}: {lost}");
        }
        assert_eq!(views.gradient.len(), 4);
        assert!(views.gradient.iter().any(|x| x.abs() > 1e-6));
        let sizes: Vec<f64> = views.leave_one_out.iter().map(|x| x.abs()).collect();
        assert_eq!(views.agreement.leave_one_out, kendall(&views.attention, &sizes));
    }
}

#[test]
fn bags_and_candidates_are_played_with_by_number() {
    let model = bag_model(&[]);
    let rows = "label,bag,x,y\nyes,one,1,2\nyes,one,0.5,-1\nyes,one,2,0.1\nwho knows,two,-1,2\nwho knows,two,0,-1\n";
    let touch = Touch { views: true, ..edit(1, &[1.0, 1.0]) };
    let found = model.touch(Input::Content(rows), &touch, None).unwrap();
    assert_eq!(found.len(), 2);
    assert!(found[0].edited.is_none());
    assert_eq!(found[1].edited.as_ref().unwrap().attention, [[0.5, 0.5]]);
    assert_eq!(found[0].views.as_ref().unwrap().leave_one_out.len(), 3);

    let model = Matcher::new(matching::Config::default(), &questions()).unwrap();
    let lines: String = questions().iter().map(|q| format!("{}\t{}\n", q.question, q.answer)).collect();
    let plain = model.answer(&questions().iter().map(|q| (&q.question, &q.answer)).collect::<Vec<_>>()).unwrap();
    let own = &plain[2].answer_attention[0];
    let found = model.touch(Input::Content(&lines), &Touch { views: true, ..edit(2, own) }, None).unwrap();
    let edited = found[2].edited.as_ref().unwrap();
    assert!(near(edited.score.unwrap().into(), plain[2].score.into()), "{edited:?} {}", plain[2].score);
    let other = model.touch(Input::Content(&lines), &edit(2, &[1.0, 0.0, 0.0, 0.0]), None).unwrap();
    assert!(!near(other[2].edited.as_ref().unwrap().score.unwrap().into(), plain[2].score.into()));
    for (touched, answer) in found.iter().zip(&plain) {
        assert_eq!(touched.views.as_ref().unwrap().label, "right");
        let sum: f64 = touched.parts.iter().map(|part| part.value).sum();
        let score = f64::from(answer.score);
        assert!(near(sum, score) || near(1.0 / (1.0 + (-sum).exp()), score), "{:?} {score}", touched.parts);
    }
}

/// The score of evidence is exactly the sum of its parts, and a word that is left out takes with it what the score loses.
#[test]
fn the_parts_of_a_score_of_evidence_add_up() {
    let mut model = Matcher::new(matching::Config::evidence(), &questions()).unwrap();
    model.params.flat_mut().iter_mut().enumerate().for_each(|(i, w)| *w = (i as f32 * 0.7).sin());
    let lines: String = questions().iter().map(|q| format!("{}\t{}\n", q.question, q.answer)).collect();
    let plain = model.answer(&questions().iter().map(|q| (&q.question, &q.answer)).collect::<Vec<_>>()).unwrap();
    let touch = Touch { views: true, ..Touch::default() };
    let found = model.touch(Input::Content(&lines), &touch, None).unwrap();
    for (touched, answer) in found.iter().zip(&plain) {
        let sum: f64 = touched.parts.iter().map(|part| part.value).sum();
        assert!(near(sum, answer.score.into()), "{:?} {}", touched.parts, answer.score);
        let views = touched.views.as_ref().unwrap();
        let added: f64 = views.gradient.iter().sum();
        assert!(near(added, touched.parts[0].value + touched.parts[1].value));
    }
    // The second candidate without its last word; the first stays before it.
    let pairs = [("how deep is the sea ?", "the sea is 4 km deep"), ("how deep is the sea ?", "the sky is")];
    let left = model.answer(&pairs).unwrap()[1].score;
    assert!(near(found[1].views.as_ref().unwrap().leave_one_out[3], f64::from(plain[1].score) - f64::from(left)));
    let refused = model.touch(Input::Content(&lines), &edit(0, &[1.0; 6]), None).unwrap_err().to_string();
    assert!(refused.contains("has no attention that mixes"), "{refused}");
}

#[test]
fn a_row_is_nearest_to_itself() {
    let nearest = Touch { nearest: 2, ..Touch::default() };
    for model in [classifier(&[]), evidence()] {
        let seen = crate::model::Model::contexts(&model, &texts()).unwrap();
        let found = model.touch(Input::Text("dull and long"), &nearest, Some(&seen)).unwrap().remove(0).nearest;
        assert_eq!((found[0].source.as_str(), found[0].target.as_str()), ("dull and long", "bad"));
        assert!((found[0].cosine - 1.0).abs() < 1e-5 && found[1].cosine < found[0].cosine && found[0].step.is_none());
    }
    let model = bag_model(&[]);
    let seen = crate::model::Model::contexts(&model, &coins()).unwrap();
    let found = model.touch(Input::Content("l,b,x,y\nno,z,-2,0\nno,z,0.3,1\n"), &nearest, Some(&seen)).unwrap().remove(0).nearest;
    assert_eq!((found[0].source.as_str(), found[0].target.as_str()), ("three (2 rows)", "no"));
    for config in [matching::Config::default(), matching::Config::evidence()] {
        let mut model = Matcher::new(config, &questions()).unwrap();
        model.params.flat_mut().iter_mut().enumerate().for_each(|(i, w)| *w += (i as f32 * 0.7).sin());
        let seen = crate::model::Model::contexts(&model, &questions()).unwrap();
        let found = model.touch(Input::Text("how blue is the sky ?\tthe sky is blue"), &nearest, Some(&seen)).unwrap().remove(0).nearest;
        assert!(found[0].source.ends_with("the sky is blue") && (found[0].cosine - 1.0).abs() < 1e-5, "{found:?}");
    }
}

#[test]
fn what_cannot_be_put_in_is_refused() {
    let model = classifier(&[]);
    let refused = |touch: Touch| model.touch(Input::Text("a fine film"), &touch, None).unwrap_err().to_string();
    assert!(refused(edit(0, &[1.0])).contains("3, one for each unit of the text"));
    assert!(refused(edit(1, &[1.0; 3])).contains("below 1"));
    assert!(refused(edit(0, &[0.0; 3])).contains("not all of them 0"));
    assert!(refused(edit(0, &[1.0, -1.0, 1.0])).contains("from 0 on"));
    let blind = classifier(&["model.pooling=\"last\""]);
    let touch = Touch { views: true, ..Touch::default() };
    assert!(blind.touch(Input::Text("a film"), &touch, None).unwrap_err().to_string().contains("the last state"));
}
