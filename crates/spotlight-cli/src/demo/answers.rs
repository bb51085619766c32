//! `spotlight demo answers`: which sentence answers the question?

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use spotlight::model::Model;
use spotlight::model::encoder::EncoderSection;
use spotlight::model::matching::config::{Loss, Towers};
use spotlight::model::matching::{Config, Matcher};
use spotlight::text::Question;
use spotlight::text::read::split_dev;
use spotlight::train::TrainSettings;
use spotlight::view::{Page, terminal};

use super::data::answers;
use super::stage::{Lines, Stage, value};
use crate::Common;
use crate::output::{color, grouped, print, say, width};

/// Share of the questions that decides when to stop.
const DEV_SHARE: f64 = 0.1;

/// Train a matcher of questions and answers and see what it looks at in both.
#[derive(Args)]
pub struct Answers {
    /// Keep the model in this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Answers {
    /// Runs the demo.
    pub fn run(&self, common: &Common) -> Result<()> {
        let seed = common.seed.unwrap_or(1);
        let split = answers::questions(seed);
        let (train, dev) = split_dev(rows(&split.train), DEV_SHARE, seed, |q| q.id.clone());
        let test = rows(&split.test);
        say(
            "Which sentence answers the question? Two towers (embedding, bidirectional LSTM, dense layer, attention) and the cosine between them.",
        )?;
        say(format_args!(
            "  {} candidates to learn from, {} to stop by, {} to test with: facts that were asked for in other words, such as",
            grouped(train.len()),
            dev.len(),
            test.len()
        ))?;
        for row in test.iter().take(3) {
            say(format_args!("    {} {}  {}", if row.relevant { "right" } else { "wrong" }, row.question, row.answer))?;
        }
        let mut model = Matcher::new(config(seed), &train)?;
        let stage = Stage::new(self.out.as_ref(), "answers")?;
        say(format_args!(
            "\n  {} parameters; a right answer is to stand above wrong ones of the same question",
            grouped(model.params.len())
        ))?;
        let before = model.measure(&test)?;
        stage.train(&mut model, &train, &dev, &mut Lines("map"))?;
        let after = model.measure(&test)?;
        let words = &model.baselines(&|| None, &test)?[0];
        say("\nTest questions        MAP    MRR")?;
        for (name, map, mrr) in [
            ("before training", value(&before, "map"), value(&before, "mrr")),
            ("after training", value(&after, "map"), value(&after, "mrr")),
            (words.name.as_str(), value(&words.measures, "map"), value(&words.measures, "mrr")),
        ] {
            say(format_args!("  {name:<18} {map:.3}  {mrr:.3}"))?;
        }

        // The first question whose right answer the model finds, with its best wrong one.
        for question in test.chunk_by(|a, b| a.id == b.id) {
            let mut answers = model.answer(&question.iter().map(|q| (&q.question, &q.answer)).collect::<Vec<_>>())?;
            answers.sort_by(|a, b| b.score.total_cmp(&a.score));
            if question.iter().any(|q| q.relevant && q.answer == answers[0].answer) {
                say("\nThe two best answers to one of them, the right one first:\n")?;
                let page = Page::new(answers.iter().take(2).map(|a| a.picture().into()).collect())?.stretched();
                print(&terminal::draw(&page, width(), color()))?;
                break;
            }
        }
        if let Some(out) = &self.out {
            say(format_args!("\nThe model is in {}. Try: spotlight info {0}", out.display()))?;
        }
        Ok(())
    }
}

fn rows(questions: &[answers::Question]) -> Vec<Question> {
    let row = |(i, q): (usize, &answers::Question)| {
        let one = move |a: &answers::Answer| Question {
            id: Some(i.to_string()),
            question: q.text.clone(),
            answer: a.text.clone(),
            relevant: a.right,
            line: i + 1,
        };
        q.candidates.iter().map(one).collect::<Vec<_>>()
    };
    questions.iter().enumerate().flat_map(row).collect()
}

fn config(seed: u64) -> Config {
    let mut config = Config { seed, ..Config::default() };
    config.model.encoder = EncoderSection { embedding: 64, hidden: 48, dropout: 0.4, ..EncoderSection::default() };
    config.model.dense = 64;
    config.model.towers = Towers::Separate;
    config.model.loss = Loss::Hinge;
    config.model.overlap = false;
    config.train =
        TrainSettings { epochs: 60, batch: 1000, rate: 5e-3, every: 6, patience: 0, metric: "map".into(), ..TrainSettings::default() };
    config
}
