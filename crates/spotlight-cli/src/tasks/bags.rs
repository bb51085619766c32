//! Models for bags: sets of rows of numbers in, labels and the rows that decided out.

use std::path::Path;

use anyhow::Result;
use serde_json::{Value, json};
use spotlight::metrics::{Confusion, Report, Style};
use spotlight::model::bags::{self, Answer, BagModel, Config};
use spotlight::model::folder;
use spotlight::text::{Bag, read};
use spotlight::train::Learner;
use spotlight::view::{self, Images, Picture};

use super::{measured, only_head};
use crate::Common;
use crate::look::Bags as Options;
use crate::output::{WrongUsage, grouped, print, say};
use crate::train::{STOP, Train, catch_interrupt, parts};

/// Trains a model for bags.
pub fn train(command: &Train, common: &Common, recipe: Option<&str>) -> Result<()> {
    let config: Config = command.settings(common, &Config::default(), recipe)?;
    let data = &config.data;
    let read = |path: &str| read::bags(path, data.columns());
    let (train, dev) = parts(&data.train, &data.dev, config.seed, "bag", read, |b: &Bag| b.id.clone())?;
    let mut model = BagModel::new(config, &train)?;
    let m = &model.config.model;
    eprintln!(
        "{} training and {} development bags of {} rows; {} features, {} labels",
        grouped(train.len()),
        grouped(dev.len()),
        grouped(train.iter().chain(&dev).map(|b| b.rows.len()).sum()),
        model.standard.width(),
        model.labels.len()
    );
    eprintln!(
        "{} layers of {} pooled by {}, {} parameters; settings in {}",
        m.layers,
        m.hidden,
        m.pooling.pooling,
        grouped(model.params.len()),
        folder::config_path(&command.out).display()
    );
    let learner = model.learner();
    let numbers = |b: &Bag| b.rows.iter().flatten().flat_map(|x| x.to_le_bytes()).chain(b.label.bytes()).collect();
    let settings = model.config.train.clone();
    let (train_examples, dev_examples) = (model.examples(&train)?, model.examples(&dev)?);
    let folder = command.begin((&settings, &learner, &dev_examples), |path| model.save_frame(path))?;
    let plan = command.plan(&folder, &settings, model.config.seed, train.iter().chain(&dev).map(numbers))?;
    plan.run(&learner, &mut model.params, &train_examples, &dev_examples)
}

/// Trains a model for each fold, in a folder of its own, and prints mean and spread over the folds.
pub fn cross_validate(command: &Train, common: &Common, recipe: Option<&str>, count: usize) -> Result<()> {
    let config: Config = command.settings(common, &Config::default(), recipe)?;
    if config.data.train.is_empty() {
        return Err(WrongUsage("no training examples: give --train FILE".into()).into());
    }
    let bags = read::bags(&config.data.train, config.data.columns())?;
    let claim = folder::claim(&command.out, command.force)?;
    catch_interrupt();
    let found = bags::cross_validate(&config, &bags, count, &claim, &STOP, |fold, measures| {
        let values: Vec<String> = measures.iter().map(|m| format!("{} {:.4}", m.name, m.value)).collect();
        eprintln!("fold {:>2}  {}", fold + 1, values.join("  "));
    })?;
    let mut report = Report::new();
    report.count("bags", bags.len());
    report.count("folds", count);
    for name in ["loss", "accuracy", "macro_f1", "auc"] {
        if let Some(spread) = found.spread(name) {
            report.spread(&super::shown(name), spread, Style::Share);
        }
    }
    print(&report.to_string())
}

/// Bags of a file of the same columns as the training part. What stands in the column of the label does not matter.
fn bags_of(model: &BagModel, file: &Path) -> Result<Vec<Bag>> {
    if file == Path::new("-") {
        return Err(WrongUsage("bags are read from a CSV file: name one".into()).into());
    }
    Ok(read::bags(file, model.config.data.columns())?)
}

/// Prints bag, label and probability.
pub fn predict(model: &BagModel, file: &Path, json: bool) -> Result<()> {
    for answer in model.answer(&bags_of(model, file)?)? {
        if json {
            say(answer_json(&answer))?;
        } else {
            let probability = answer.probabilities.iter().map(|(_, p)| *p).fold(0.0, f32::max);
            say(format_args!("{}\t{}\t{probability:.4}", answer.bag, answer.label))?;
        }
    }
    Ok(())
}

fn answer_json(answer: &Answer) -> Value {
    let probabilities: serde_json::Map<String, Value> = answer.probabilities.iter().map(|(l, p)| (l.clone(), json!(p))).collect();
    json!({
        "bag": answer.bag,
        "label": answer.label,
        "probabilities": probabilities,
        "attention": super::heads_json(&answer.attention),
    })
}

/// Accuracy, macro F1, ROC-AUC for two labels, and the table per class.
pub fn eval(model: &BagModel, file: &Path) -> Result<(Report, Option<Confusion>)> {
    let bags = bags_of(model, file)?;
    let examples = model.examples(&bags)?;
    let mut report = Report::new();
    report.count("bags", bags.len());
    report.count("rows", bags.iter().map(|b| b.rows.len()).sum());
    measured(&mut report, &model.learner().measure(&model.params, &examples)?);
    Ok((report, Some(model.confusion(&examples)?)))
}

/// The bags of a file, or one of them, with a weight for each row.
pub fn look(model: &BagModel, file: &Path, options: &Options, head: Option<usize>) -> Result<Vec<Picture>> {
    let mut bags = bags_of(model, file)?;
    if let Some(only) = &options.bag {
        bags.retain(|b| b.id == *only);
        if bags.is_empty() {
            return Err(WrongUsage(format!("{} has no bag {only:?}", file.display())).into());
        }
    }
    let features = model.standard.width();
    if let Some((width, height)) = options.image
        && width.checked_mul(height) != Some(features)
    {
        return Err(WrongUsage(format!("--image {width}x{height} does not fit: the rows have {features} features")).into());
    }
    let mut answers = model.answer(&bags)?;
    let draw = |(answer, bag): (&mut Answer, Bag)| {
        only_head(&mut answer.attention, head)?;
        let images = options.image.map(|(width, height)| Images { width, height, pixels: bag.rows });
        let picture = view::Bag { images, ..answer.picture() };
        Ok(if options.sort { picture.sorted() } else { picture }.into())
    };
    answers.iter_mut().zip(bags).map(draw).collect()
}
