//! Models as values: every task through the one face that commands and servers use.

use super::seq2seq::{AnswerText, Hypothesis, Transducer};
use super::*;
use crate::config::resolve;
use crate::text::{Bag, Labelled, Pair, Question};
use crate::view::Picture;
use crate::{Error, weights};

/// Lines that come one by one.
fn live(bytes: &[u8]) -> Input<'static> {
    let (send, lines) = std::sync::mpsc::channel();
    for line in crate::text::Lines::new(bytes, "-") {
        send.send(line).unwrap();
    }
    Input::Live(lines)
}

fn pair(source: &str, target: &str, features: Option<&str>) -> Pair {
    Pair { source: source.into(), target: target.into(), features: features.map(str::to_string), line: 1 }
}

fn transducer(pairs: &[Pair], changes: &[&str]) -> Transducer {
    let changes: Vec<String> = ["model.embedding=4", "model.hidden=6"].iter().chain(changes).map(|c| c.to_string()).collect();
    Transducer::new(resolve(&seq2seq::Config::default(), "", &changes).unwrap(), pairs).unwrap()
}

fn labelled(text: &str, label: &str) -> Labelled {
    Labelled { text: text.into(), label: label.into(), line: 1 }
}

fn question(answer: &str, relevant: bool) -> Question {
    Question { id: None, question: "how deep ?".into(), answer: answer.into(), relevant, line: 1 }
}

fn bag(id: &str, label: &str, rows: &[[f32; 2]]) -> Bag {
    Bag { id: id.into(), label: label.into(), rows: rows.iter().map(|r| r.to_vec()).collect(), line: 1 }
}

/// What a model says to some lines.
fn replies(model: &dyn AnyModel, lines: &str, options: &AnswerOptions) -> Vec<Reply> {
    model.answers(live(lines.as_bytes()), options).unwrap().map(Result::unwrap).collect()
}

/// The bytes that scripts rely on: fields in this order, single numbers widened, one head as a list, several as a list of lists.
#[test]
fn answers_as_json_to_the_byte() {
    let hypothesis = |heads: Vec<Vec<Vec<f32>>>| Hypothesis {
        ids: vec![4],
        log_prob: -0.5,
        score: -0.25,
        probabilities: vec![0.1],
        attention: vec![vec![0.75, 0.25]],
        heads,
        end: None,
        gates: vec![],
        copied: vec![],
    };
    let text = |heads| AnswerText {
        characters: None,
        text: "é".into(),
        tokens: vec!["é".into()],
        words: vec![0],
        confidence: None,
        share: None,
        remembered: None,
        neighbours: vec![],
        joint: None,
        hypothesis: hypothesis(heads),
        stacked: false,
        inside: None,
    };
    let answer = |heads| seq2seq::Answer {
        source_characters: None,
        source: "a\"b".into(),
        source_tokens: vec!["a".into(), "\"b".into()],
        source_words: vec![0, 0],
        members: vec![],
        hypotheses: vec![text(heads)],
    };
    let one = r#"{"source":"a\"b","source_tokens":["a","\"b"],"hypotheses":[{"text":"é","tokens":["é"],"probabilities":[0.10000000149011612],"log_prob":-0.5,"score":-0.25,"attention":[[0.75,0.25]]}]}"#;
    assert_eq!(answer(vec![]).to_json().to_string(), one);
    let heads = vec![vec![vec![1.0, 0.0]], vec![vec![0.5, 0.5]]];
    let several = one.replace(r#"[[0.75,0.25]]}]}"#, r#"[[0.75,0.25]],"heads":[[[1.0,0.0]],[[0.5,0.5]]]}]}"#);
    assert_eq!(answer(heads).to_json().to_string(), several);

    let answer = classify::Answer {
        text: "so good".into(),
        tokens: vec!["so".into(), "good".into()],
        words: vec![0, 1],
        label: "yes".into(),
        truth: Some("no".into()),
        probabilities: vec![("no".into(), 0.25), ("yes".into(), 0.75)],
        attention: vec![vec![0.1, 0.9]],
        members: vec![],
        contributions: Vec::new(),
        reading: None,
    };
    assert_eq!(
        answer.to_json().to_string(),
        r#"{"text":"so good","tokens":["so","good"],"label":"yes","probabilities":{"no":0.25,"yes":0.75},"attention":[0.10000000149011612,0.8999999761581421]}"#
    );
    let two = classify::Answer { attention: vec![vec![0.5, 0.5], vec![1.0, 0.0]], ..answer.clone() };
    assert!(two.to_json().to_string().ends_with(r#""attention":[[0.5,0.5],[1.0,0.0]]}"#));
    let none = classify::Answer { attention: vec![], ..answer };
    assert!(none.to_json().to_string().ends_with(r#""attention":[]}"#));

    let answer = matching::Answer {
        question: "q".into(),
        answer: "a b".into(),
        rank: Some(1),
        score: 0.5,
        cosine: 0.25,
        question_tokens: vec!["q".into()],
        question_words: vec![0],
        question_attention: vec![vec![1.0]],
        answer_tokens: vec!["a".into(), "b".into()],
        answer_words: vec![0, 1],
        answer_attention: vec![vec![0.5, 0.5]],
        members: vec![],
        crossed: true,
        evidence: None,
        readings: [None, None],
    };
    assert_eq!(
        answer.to_json().to_string(),
        r#"{"question":"q","answer":"a b","score":0.5,"question_tokens":["q"],"answer_tokens":["a","b"],"attention":{"question":[1.0],"answer":[0.5,0.5]}}"#
    );

    let answer = bags::Answer {
        bag: "b1".into(),
        label: "no".into(),
        truth: None,
        probabilities: vec![("no".into(), 1.0), ("yes".into(), 0.0)],
        attention: vec![vec![1.0, 0.0]],
        rows: vec![vec![3.0], vec![4.0]],
    };
    assert_eq!(answer.to_json().to_string(), r#"{"bag":"b1","label":"no","probabilities":{"no":1.0,"yes":0.0},"attention":[1.0,0.0]}"#);
}

#[test]
fn any_folder_is_opened_asked_measured_and_drawn() {
    let folder = tempfile::tempdir().unwrap();
    let file = |name: &str, content: &str| {
        let path = folder.path().join(name);
        std::fs::write(&path, content).unwrap();
        path
    };
    fn saved<M: Model>(model: M, path: &std::path::Path) -> usize {
        model.save_frame(path).unwrap();
        weights::save(Model::params(&model), &path.join("model.safetensors")).unwrap();
        Model::params(&model).len()
    }
    let path = |task: Task| folder.path().join(task.name());
    let texts = [labelled("a fine film", "good"), labelled("dull", "bad")];
    let rows = [question("4 km deep", true), question("blue", false)];
    let bags = [bag("a", "yes", &[[0.0, 1.0], [9.0, 1.0]]), bag("b", "no", &[[0.0, 2.0]])];
    let csv = file("bags.csv", "yes,a,0,1\nyes,a,9,1\nno,b,0,2\n");
    let csv_name = csv.to_str().unwrap();
    let cases = [
        (saved(transducer(&[pair("ab", "ba", None)], &[]), &path(Task::Seq2seq)), Task::Seq2seq, "ab", file("pairs", "ab\tba\n")),
        (
            saved(classify::Classifier::new(classify::Config::default(), &texts).unwrap(), &path(Task::Classify)),
            Task::Classify,
            "fine , not dull",
            file("texts", "a fine film\tgood\ndull\tbad\n"),
        ),
        (
            saved(matching::Matcher::new(matching::Config::default(), &rows).unwrap(), &path(Task::Match)),
            Task::Match,
            "how deep ?\t4 km deep",
            file("rows", "how deep ?\t4 km deep\t1\nhow deep ?\tblue\t0\n"),
        ),
        (saved(bags::BagModel::new(bags::Config::default(), &bags).unwrap(), &path(Task::Bags)), Task::Bags, csv_name, csv.clone()),
    ];
    assert_eq!(cases.each_ref().map(|case| case.1), Task::ALL, "a case for every task");
    for (parameters, task, input, examples) in cases {
        let model = open(&path(task)).unwrap();
        assert_eq!((model.task(), model.params().len(), model.blind()), (task, parameters, None));
        assert!(!model.facts().is_empty());
        let options = AnswerOptions::default();
        let answer = model.answers(Input::Text(input), &options).unwrap().next().unwrap().unwrap().read().unwrap();
        assert!(answer.to_json().is_object());
        assert_eq!((answer.heads(), answer.pictures(&Drawing::default()).len()), (1, 1), "{}", task.name());
        let scores = model.evaluate(&examples, &options, &mut |_| {}).unwrap();
        assert_eq!(scores.to_json().get("classes").is_some(), scores.classes.is_some());
        assert!(scores.to_string().lines().count() >= 3, "{scores}");
    }
    assert!(matches!(open(folder.path()), Err(Error::NotAModel { .. })));
    file("config.toml", "seed = 1\n");
    assert!(matches!(open(folder.path()), Err(Error::NoTask { .. })));
}

/// Who opens a model of any task finds something to ask it, as long as its examples are there.
#[test]
fn every_model_has_an_example_that_it_can_answer() {
    let folder = tempfile::tempdir().unwrap();
    let asked = |model: &dyn AnyModel| {
        let example = model.example()?;
        let unranked = AnswerOptions { unranked: true, ..AnswerOptions::default() };
        let first = model.answers(Input::Content(&example), &unranked).unwrap().next().unwrap().unwrap();
        assert!(first.read().is_ok(), "{example}");
        Some(example)
    };
    fn model<M: Model>(rows: &[M::Row], folder: &std::path::Path, content: &str) -> M {
        let file = folder.join(M::TASK.name());
        std::fs::write(&file, content).unwrap();
        M::new(resolve(&M::Config::default(), "", &[format!("data.train={file:?}")]).unwrap(), rows).unwrap()
    }
    let pairs = [pair("gehen", "ging", None)];
    let texts = [labelled("dull", "bad"), labelled("fine", "good")];
    let rows = [question("4 km deep", true), question("blue", false)];
    let bags = [bag("a", "yes", &[[0.0, 1.5], [9.0, 1.0]]), bag("b", "no", &[[0.0, 2.0]])];
    let models: [(Box<dyn AnyModel>, &str); 4] = [
        (Box::new(model::<Transducer>(&pairs, folder.path(), "gehen\tging\nsehen\tsah\n")), "gehen"),
        (Box::new(model::<classify::Classifier>(&texts, folder.path(), "a fine film\tgood\n")), "a fine film"),
        (Box::new(model::<matching::Matcher>(&rows, folder.path(), "a\tb\t1\na\tc\t0\nd\te\t1\n")), "a\tb\na\tc"),
        (
            Box::new(model::<bags::BagModel>(&bags, folder.path(), "yes,a,0,1.5\nno,b,0,2\nyes,a,9,1\n")),
            "label,bag,x1,x2\nyes,a,0,1.5\nyes,a,9,1",
        ),
    ];
    assert_eq!(models.each_ref().map(|(model, _)| model.task()), Task::ALL);
    for (model, example) in &models {
        assert_eq!(asked(model.as_ref()).as_deref(), Some(*example));
    }
    let inflected = model::<Transducer>(&pairs, folder.path(), "gehen\tging\tV;PST\n");
    assert_eq!(inflected.example().as_deref(), Some("gehen\tV;PST"));
    drop(folder);
    assert!(models.iter().all(|(model, _)| model.example().is_none()), "the files are gone");
}

#[test]
fn a_task_is_called_as_in_recipes() {
    for &task in Task::ALL {
        assert_eq!(folder::task_of(&format!("task = \"{}\"", task.name())).unwrap(), Some(task));
    }
    assert_eq!(folder::task_of("seed = 1").unwrap(), None);
    let wrong = |recipe: &str| folder::task_of(recipe).unwrap_err().to_string();
    assert_eq!(wrong("task = \"dance\""), "`task`: must be one of seq2seq, classify, match, bags, is \"dance\"");
    assert!(wrong("seed = 1\nseed = 2").contains("line 2, column 1"));
}

/// What is drawn for a line depends on its number in the whole input, not on its place among the lines that are answered together.
#[test]
fn draws_do_not_repeat_themselves() {
    let model = transducer(&[pair("ab", "ba", None), pair("cd", "dc", None)], &[]);
    let options = AnswerOptions { sample: Some((1.0, 7)), ..AnswerOptions::default() };
    let texts = |lines: usize| replies(&model, &"ab\n".repeat(lines), &options).into_iter().map(|r| r.read().unwrap().text()).collect();
    let (all, few): (Vec<String>, Vec<String>) = (texts(1100), texts(40));
    let search = model.search_as(&options);
    let at_once = model.answer(&[("ab", None); 1100], &search, false).unwrap();
    assert_eq!(all, at_once.iter().map(|a| a.hypotheses[0].text.clone()).collect::<Vec<_>>());
    assert_eq!(all[..40], few);
    assert!(all[512..552] != few && all[1024..1064] != few);
}

#[test]
fn an_unknown_feature_is_a_word_of_its_own() {
    let model = transducer(&[pair("gehen", "ging", Some("V;PST"))], &["data.features=true", "source.units=bpe", "source.vocab_size=20"]);
    let answer = |features| model.answer(&[("gehen", Some(features))], &model.search_options(), false).unwrap().remove(0);
    let (known, unknown) = (answer("V;PST"), answer("V;DU"));
    assert_eq!(unknown.source_tokens[unknown.source_tokens.len() - 2..], ["V", "DU"]);
    assert_eq!(unknown.source_words, known.source_words);
    let words = |a: &seq2seq::Answer| a.matrices(&Drawing { words: true, ..Drawing::default() })[0].source.clone();
    assert_eq!(
        (words(&known), words(&unknown)),
        (vec!["gehen".into(), "V".into(), "PST".into()], vec!["gehen".into(), "V".into(), "DU".into()])
    );
}

/// Every line has a reply in its place; what could not be read is told.
#[test]
fn a_line_that_cannot_be_read_does_not_stop_the_others() {
    let options = AnswerOptions { n_best: Some(2), ..AnswerOptions::default() };
    let mut model = transducer(&[pair("ab", "ba", None)], &[]);
    model.calibration = Some(Calibration::Logistic { slope: 1.0, offset: 5.0 });
    let found = replies(&model, "ab\na\tb\tc\n\nab\n", &options);
    let seen: Vec<_> = found.iter().map(|r| (r.number, r.error.is_some(), r.answer.is_some())).collect();
    assert_eq!(seen, [(1, false, true), (2, true, false), (3, false, true), (4, false, true)]);
    // A transducer says nothing to nothing, in the form that was asked for, and is not sure of it.
    assert_eq!(found[2].answer.as_ref().unwrap().list(3), ["3\t\t0.0000"]);
    let sure = |i: usize| found[i].answer.as_ref().unwrap().confidence().is_some();
    assert!(sure(0) && !sure(2));
    assert_eq!(found[0].answer.as_ref().unwrap().list(1).len(), 2);

    let model = classify::Classifier::new(classify::Config::default(), &[labelled("fine", "good"), labelled("dull", "bad")]).unwrap();
    let bytes: &[u8] = b"fine\n\xff\ndull\tbad\n";
    let answers: Vec<Reply> = AnyModel::answers(&model, live(bytes), &options).unwrap().map(Result::unwrap).collect();
    assert_eq!(answers.iter().map(|r| r.answer.is_some()).collect::<Vec<_>>(), [true, false, true]);
    assert_eq!(answers[2].answer.as_ref().unwrap().to_json()["text"], "dull");

    // A matcher ranks the others before it tells.
    let model = matching::Matcher::new(matching::Config::default(), &[question("deep", true), question("blue", false)]).unwrap();
    for (unranked, bad) in [(false, 3), (true, 2)] {
        let found = replies(&model, "who ?\tdeep\nnobody\nwho ?\tblue\n", &AnswerOptions { unranked, ..AnswerOptions::default() });
        let unread: Vec<usize> = found.iter().filter(|r| r.answer.is_none() && r.error.is_some()).map(|r| r.number).collect();
        assert_eq!((found.len(), unread), (3, vec![bad]));
        assert!(found[bad - 1].error.as_ref().unwrap().to_string().contains(":2:"), "told where it stands");
    }
}

#[test]
fn candidates_are_ranked_within_their_question_unless_they_shall_not() {
    let rows = [question("4 km deep", true), question("blue", false), question("very deep", true)];
    let model = matching::Matcher::new(matching::Config::default(), &rows).unwrap();
    let lines = "how deep ?\tblue\nhow deep ?\t4 km deep\nwho ?\tblue\nwho ?\tdeep\n";
    let ranked = replies(&model, lines, &AnswerOptions::default());
    let texts: Vec<String> = ranked.iter().map(|r| r.answer.as_ref().unwrap().text()).collect();
    let column = |i: usize| texts.iter().map(|t| t.split('\t').nth(i).unwrap()).collect::<Vec<_>>();
    assert_eq!(column(0), ["1", "2", "1", "2"]);
    assert_eq!(column(2), ["how deep ?", "how deep ?", "who ?", "who ?"]);
    let scores: Vec<f32> = column(1).iter().map(|s| s.parse().unwrap()).collect();
    assert!(scores[0] >= scores[1] && scores[2] >= scores[3], "{scores:?}");
    let unranked = replies(&model, lines, &AnswerOptions { unranked: true, ..AnswerOptions::default() });
    let answers: Vec<_> = unranked.iter().map(|r| r.answer.as_ref().unwrap().to_json()["answer"].clone()).collect();
    assert_eq!(answers, ["blue", "4 km deep", "blue", "deep"]);
    for wrong in ["only a question", "a\tb\t1\tc"] {
        let reply = AnyModel::answers(&model, Input::Text(wrong), &AnswerOptions::default()).unwrap().next().unwrap().unwrap();
        assert!(reply.read().is_err(), "{wrong}");
    }
}

/// A picture has the heads that were asked for, and a bag its rows as images.
#[test]
fn drawings_of_one_head_and_of_images() {
    let answer = bags::Answer {
        bag: "b1".into(),
        label: "no".into(),
        truth: None,
        probabilities: vec![("no".into(), 1.0)],
        attention: vec![vec![1.0, 0.0], vec![0.0, 1.0]],
        rows: vec![vec![3.0, 5.0], vec![4.0, 6.0]],
    };
    let drawn = |head, image| match answer.pictures(&Drawing { head, image, ..Drawing::default() }).remove(0) {
        Picture::Bag(bag) => bag,
        other => panic!("{other:?}"),
    };
    assert_eq!([drawn(None, None).weights, drawn(Some(1), None).weights], [[0.5, 0.5], [0.0, 1.0]]);
    assert_eq!(drawn(None, None).images, None);
    assert_eq!(drawn(Some(0), Some((2, 1))).images.unwrap().pixels, answer.rows);
}
