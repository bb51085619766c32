//! Matchers: questions with candidate answers in, scores and ranks out.

use std::io::BufRead;
use std::path::Path;

use anyhow::{Context, Result};
use serde_json::{Value, json};
use spotlight::metrics::{Report, Style};
use spotlight::model::folder;
use spotlight::model::matching::{Answer, Config, Matcher};
use spotlight::text::guess::guess_units;
use spotlight::text::{Line, Lines, Question, read};
use spotlight::train::Learner;
use spotlight::view::Picture;

use super::{measured, only_head};
use crate::Common;
use crate::look::groups;
use crate::output::{WrongUsage, grouped, say, written};
use crate::train::{Train, parts};

/// Trains a matcher.
pub fn train(command: &Train, common: &Common, recipe: Option<&str>) -> Result<()> {
    let given: Config = command.settings(common, &Config::default(), recipe)?;
    let data = &given.data;
    let key = |q: &Question| q.id.clone().unwrap_or_else(|| q.question.clone());
    let (train, dev) = parts(&data.train, &data.dev, given.seed, "question", |path| read::questions(path, data.id_column), key)?;
    let config = match recipe {
        Some(_) => given,
        None => {
            let guess = guess_units(train.iter().map(|q| &q.answer));
            eprintln!("units: {}", guess.reason);
            command.settings(common, &Config { text: guess.settings.into(), ..Config::default() }, None)?
        }
    };
    let mut model = Matcher::new(config, &train)?;
    let (train_examples, dev_examples) = (model.examples(&train), model.examples(&dev));
    let m = &model.config.model;
    eprintln!(
        "{} training and {} development questions with {} and {} candidates; {} units ({})",
        grouped(train_examples.len()),
        grouped(dev_examples.len()),
        grouped(train.len()),
        grouped(dev.len()),
        grouped(model.tokenizer.len()),
        written(model.config.text.units),
    );
    eprintln!(
        "{} towers, {} {} pooled by {}, {} parameters; settings in {}",
        written(m.towers),
        written(m.encoder.cell),
        m.encoder.hidden,
        m.pooling.pooling,
        grouped(model.params.len()),
        folder::config_path(&command.out).display()
    );
    let baseline = model.baseline(&dev_examples)?;
    eprintln!("shared words alone, rare ones counting more: map {:.4}, mrr {:.4}", baseline.map, baseline.mrr);
    let learner = model.learner();
    let rows = train.iter().chain(&dev).flat_map(|q| [q.question.clone().into(), q.answer.clone().into(), vec![u8::from(q.relevant)]]);
    let settings = model.config.train.clone();
    let folder = command.begin((&settings, &learner, &dev_examples), |path| model.save_frame(path))?;
    let plan = command.plan(&folder, &settings, model.config.seed, rows)?;
    plan.run(&learner, &mut model.params, &train_examples, &dev_examples)
}

/// Prints the candidates of each question, the best first: rank, score, question, answer.
pub fn predict(model: &Matcher, lines: Lines<Box<dyn BufRead>>, json: bool) -> Result<()> {
    let path = lines.path().to_path_buf();
    let lines = lines.collect::<Result<Vec<Line>, _>>()?;
    let rows = rows(&path, &lines, model.config.data.id_column)?;
    let answers = model.answer(&rows.iter().map(|q| (&q.question, &q.answer)).collect::<Vec<_>>())?;
    for group in read::question_groups(&rows) {
        let mut ranked: Vec<&Answer> = group.iter().map(|&row| &answers[row]).collect();
        ranked.sort_by(|a, b| b.score.total_cmp(&a.score));
        for (rank, answer) in ranked.iter().enumerate() {
            if json {
                say(answer_json(answer))?;
            } else {
                say(format_args!("{}\t{:.4}\t{}\t{}", rank + 1, answer.score, answer.question, answer.answer))?;
            }
        }
    }
    Ok(())
}

/// Question and answer of each line; a mark of 0 or 1 may follow and is not read.
fn rows(path: &Path, lines: &[Line], id_column: bool) -> Result<Vec<Question>> {
    let skip = usize::from(id_column);
    let row = |line: &Line| {
        let fields: Vec<&str> = line.text.split('\t').collect();
        let names = if id_column { "id, question, answer" } else { "question, answer" };
        let wrong = || format!("{}:{}: expected {names}, apart by tabs; found {} column(s)", path.display(), line.number, fields.len());
        let field = |i: usize| fields.get(i).map(|f| f.to_string()).with_context(wrong);
        if fields.len() > skip + 3 {
            return Err(WrongUsage(wrong()).into());
        }
        Ok(Question {
            id: if id_column { Some(field(0)?) } else { None },
            question: field(skip)?,
            answer: field(skip + 1)?,
            relevant: false,
            line: line.number,
        })
    };
    lines.iter().map(row).collect()
}

fn answer_json(answer: &Answer) -> Value {
    json!({
        "question": answer.question,
        "answer": answer.answer,
        "score": answer.score,
        "question_tokens": answer.question_tokens,
        "answer_tokens": answer.answer_tokens,
        "attention": {
            "question": super::heads_json(&answer.question_attention),
            "answer": super::heads_json(&answer.answer_attention),
        },
    })
}

/// MAP and MRR, and what the words shared with the question reach alone.
pub fn eval(model: &Matcher, file: &Path) -> Result<Report> {
    let rows = read::questions(file, model.config.data.id_column)?;
    let examples = model.examples(&rows);
    let baseline = model.baseline(&examples)?;
    let mut report = Report::new();
    report.count("rows", rows.len());
    report.count("questions", baseline.questions);
    report.count("left out (no right answer)", baseline.dropped);
    measured(&mut report, &model.learner().measure(&model.params, &examples)?);
    report.number("MAP of shared words (idf)", baseline.map, Style::Share);
    report.number("MRR of shared words (idf)", baseline.mrr, Style::Share);
    Ok(report)
}

/// Both texts shaded by their weights; if the question asks the answer, also the weight of each pair of their units.
pub fn look(model: &Matcher, path: &Path, lines: &[Line], words: bool, head: Option<usize>) -> Result<Vec<Picture>> {
    super::need_attention(&model.config.model.pooling)?;
    let rows = rows(path, lines, model.config.data.id_column)?;
    let asked = model.config.asked().is_some();
    let matched = |answer: &Answer| {
        let mut picture = answer.picture();
        only_head(&mut picture.question.heads, head)?;
        only_head(&mut picture.answer.heads, head)?;
        if words {
            picture.question = picture.question.merge_subwords(&groups(&answer.question_words));
            picture.answer = picture.answer.merge_subwords(&groups(&answer.answer_words));
        }
        picture.cross = asked.then(|| picture.pairs());
        Ok(picture.into())
    };
    model.answer(&rows.iter().map(|q| (&q.question, &q.answer)).collect::<Vec<_>>())?.iter().map(matched).collect()
}
