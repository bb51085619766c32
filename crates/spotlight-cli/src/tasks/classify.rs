//! Classifiers: labelled texts in, labels out.

use std::io::{self, BufRead, Write};
use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};
use spotlight::metrics::{Confusion, Report};
use spotlight::model::classify::{Answer, Classifier, Config};
use spotlight::model::folder;
use spotlight::text::guess::guess_units;
use spotlight::text::{Labelled, Line, Lines, TextError, read};
use spotlight::train::Learner;
use spotlight::view::Picture;

use super::{measured, only_head};
use crate::Common;
use crate::look::groups;
use crate::output::{grouped, say, written};
use crate::predict::CHUNK;
use crate::train::{Train, parts};

/// Trains a classifier.
pub fn train(command: &Train, common: &Common, recipe: Option<&str>) -> Result<()> {
    let given: Config = command.settings(common, &Config::default(), recipe)?;
    let data = &given.data;
    let (train, dev) = parts(&data.train, &data.dev, given.seed, "text", |path| read::labelled(path), |t: &Labelled| t.text.clone())?;
    let config = match recipe {
        Some(_) => given,
        None => {
            let guess = guess_units(train.iter().map(|t| &t.text));
            eprintln!("units: {}", guess.reason);
            command.settings(common, &Config { text: guess.settings.into(), ..Config::default() }, None)?
        }
    };
    let mut model = Classifier::new(config, &train)?;
    let m = &model.config.model;
    eprintln!(
        "{} training and {} development texts; {} units ({}), {} labels",
        grouped(train.len()),
        grouped(dev.len()),
        grouped(model.tokenizer.len()),
        written(model.config.text.units),
        model.labels.len()
    );
    eprintln!(
        "{} {} pooled by {}, {} parameters; settings in {}",
        written(m.encoder.cell),
        m.encoder.hidden,
        m.pooling.pooling,
        grouped(model.params.len()),
        folder::config_path(&command.out).display()
    );
    let learner = model.learner();
    let texts = train.iter().chain(&dev).flat_map(|t| [t.text.clone().into_bytes(), t.label.clone().into_bytes()]);
    let settings = model.config.train.clone();
    let (train_examples, dev_examples) = (model.examples(&train)?, model.examples(&dev)?);
    let folder = command.begin((&settings, &learner, &dev_examples), |path| model.save_frame(path))?;
    let plan = command.plan(&folder, &settings, model.config.seed, texts)?;
    plan.run(&learner, &mut model.params, &train_examples, &dev_examples)
}

/// Prints label and probability of each line. A second column, as in a file of labelled texts, is not read.
pub fn predict(model: &Classifier, mut lines: Lines<Box<dyn BufRead>>, json: bool) -> Result<()> {
    let (mut bad, mut number) = (0usize, 0usize);
    loop {
        let chunk: Vec<Result<Line, TextError>> = lines.by_ref().take(CHUNK).collect();
        if chunk.is_empty() {
            break;
        }
        let texts: Vec<&str> = chunk.iter().map(|line| line.as_ref().map_or("", text_of)).collect();
        for (answer, line) in model.answer(&texts)?.iter().zip(&chunk) {
            number += 1;
            match line {
                // A bad line is told and answered with an empty line; the others are answered all the same.
                Err(error) => {
                    eprintln!("spotlight: {error}");
                    bad += 1;
                    say("")?;
                }
                Ok(_) if json => say(answer_json(answer))?,
                Ok(_) => say(format_args!("{}\t{:.4}", answer.label, answer.probability()))?,
            }
        }
        io::stdout().flush()?;
    }
    match bad {
        0 => Ok(()),
        n => anyhow::bail!("{n} of {number} lines could not be read and were answered with nothing"),
    }
}

fn text_of(line: &Line) -> &str {
    line.text.split('\t').next().unwrap_or_default()
}

/// The object of one line: one list of weights, or with several heads one for each.
fn answer_json(answer: &Answer) -> Value {
    let probabilities: serde_json::Map<String, Value> = answer.probabilities.iter().map(|(l, p)| (l.clone(), json!(p))).collect();
    json!({
        "text": answer.text,
        "tokens": answer.tokens,
        "label": answer.label,
        "probabilities": probabilities,
        "attention": super::heads_json(&answer.attention),
    })
}

/// Accuracy, macro F1, ROC-AUC for two labels, and the table per class.
pub fn eval(model: &Classifier, file: &Path) -> Result<(Report, Option<Confusion>)> {
    let examples = model.examples(&read::labelled(file)?)?;
    let mut report = Report::new();
    report.count("texts", examples.len());
    measured(&mut report, &model.learner().measure(&model.params, &examples)?);
    Ok((report, Some(model.confusion(&examples)?)))
}

/// The texts shaded by their weights.
pub fn look(model: &Classifier, lines: &[Line], words: bool, head: Option<usize>) -> Result<Vec<Picture>> {
    super::need_attention(&model.config.model.pooling)?;
    let texts: Vec<&str> = lines.iter().map(text_of).collect();
    let shaded = |answer: &Answer| {
        let mut picture = answer.picture();
        only_head(&mut picture.text.heads, head)?;
        if words {
            picture.text = picture.text.merge_subwords(&groups(&answer.words));
        }
        Ok(picture.into())
    };
    model.answer(&texts)?.iter().map(shaded).collect()
}
