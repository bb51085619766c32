//! `spotlight demo dates`: verbose dates to ISO dates.

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueEnum};
use spotlight::model::seq2seq::config::{CellName, Start};
use spotlight::model::seq2seq::{Config, SearchOptions, Transducer};
use spotlight::model::{Drawing, Model};
use spotlight::numeric::numeric_gradient;
use spotlight::text::Pair;
use spotlight::train::optim::{Optimiser, Rule, clip_scale, global_norm};
use spotlight::train::settings::ScheduleName;
use spotlight::train::{Evaluation, Tick, TrainSettings, Watch};
use spotlight::view::{Page, ascii};

use super::data::dates;
use super::stage::{Stage, pairs};
use crate::Common;
use crate::output::{grouped, print, say, tell, width};

/// Train a date converter and see where it looks.
#[derive(Args)]
pub struct Dates {
    /// The date to look at
    #[arg(default_value = dates::SHOWPIECE.text)]
    date: String,
    /// How gradients are found
    #[arg(long, value_enum, default_value = "exact")]
    gradients: Gradients,
    /// Keep the model in this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Gradients {
    /// By backward passes
    Exact,
    /// By central differences: every parameter nudged up and down, no backward pass at all (a small model)
    Numeric,
}

impl Dates {
    /// Runs the demo.
    pub fn run(&self, common: &Common) -> Result<()> {
        let seed = common.seed.unwrap_or(1);
        let model = match self.gradients {
            Gradients::Exact => self.exact(seed)?,
            Gradients::Numeric => numeric(seed)?,
        };
        say("")?;
        let date = self.date.to_lowercase();
        let answer = model.answer(&[(&date, None)], &SearchOptions { beam: 1, ..model.search_options() }, false)?;
        let page = Page::new(answer.iter().flat_map(|a| a.matrices(&Drawing::default())).map(Into::into).collect())?;
        tell(
            "Each row is a character it writes, from top to bottom; each column a character it reads, as typed. The heavier the mark, \
             the more of the context comes from there; every row sums to 1. The number at the right is the probability of the character written.",
        )?;
        say("")?;
        print(&ascii::draw(&page, width()))?;
        say("")?;
        tell(
            "Both digits of a month come from the same word, so while it writes them the spotlight can stay on its name: september is 09, \
             october is 10, and nothing in the name has a place of its own for either digit.",
        )?;
        tell(
            "Programs that pad all dates to one length must mask the padding: its scores are set to minus infinity before the softmax, so that \
             its weights are 0. Here there is no padding. Dates lie one after the other, each softmax runs over the characters of its own \
             date, and there is nothing to mask.",
        )?;
        if let Some(out) = &self.out {
            say(format_args!("\nThe model is in {}. Try: spotlight look {0} \"3 july 2018\"", out.display()))?;
        }
        Ok(())
    }

    fn exact(&self, seed: u64) -> Result<Transducer> {
        let split = dates::examples(8000, 500, seed);
        let (train, test) = (of(&split.train), of(&split.test));
        let config = config(seed, 32, 96, TrainSettings { epochs: 8, batch: 1600, rate: 4e-3, ..TrainSettings::default() });
        explain(&config, &train, &test, dates::FORMS.len())?;
        let stage = Stage::new(self.out.as_ref(), "dates")?;
        let mut model = Transducer::new(config, &train)?;
        stage.train(&mut model, &train, &test, &mut Table)?;
        Ok(model)
    }
}

fn of(examples: &[dates::Example]) -> Vec<Pair> {
    pairs(examples.iter().map(|e| (e.text.as_str(), e.iso.as_str())))
}

fn config(seed: u64, embedding: usize, hidden: usize, train: TrainSettings) -> Config {
    let mut config = Config { seed, ..Config::default() };
    config.model.embedding = embedding;
    config.model.hidden = hidden;
    config.model.cell = CellName::Rnn;
    config.model.dropout = 0.0;
    config.model.start = Start::Zeros;
    config.train = TrainSettings { metric: "accuracy".into(), patience: 0, schedule: ScheduleName::Cosine, ..train };
    config
}

fn explain(config: &Config, train: &[Pair], test: &[Pair], forms: usize) -> Result<()> {
    say("Verbose dates to ISO dates, character by character.")?;
    tell(format_args!(
        "  {} dates to learn from, {} others to test with, in {forms} form{}, such as",
        grouped(train.len()),
        grouped(test.len()),
        if forms == 1 { "" } else { "s" }
    ))?;
    for pair in test.iter().take(3) {
        say(format_args!("    {:<28} -> {}", pair.source, pair.target))?;
    }
    let m = &config.model;
    tell(format_args!("  encoder and decoder: tanh RNN of {}; additive attention over exactly the characters typed", m.hidden))?;
    say("")
}

/// The table of the seed: epoch, loss of a date, test accuracy.
struct Table;

impl Table {
    fn row(&self, epoch: u64, loss: f64, accuracy: f64) -> Result<()> {
        say(format_args!("epoch {epoch:>3} | loss {loss:>7.4} | test accuracy {accuracy:.2}"))
    }
}

impl Watch for Table {
    fn tick(&mut self, _: Tick) {}

    fn evaluated(&mut self, e: &Evaluation) {
        let accuracy = e.measures.iter().find(|m| m.name == "accuracy").map_or(0.0, |m| m.value);
        // A reader that went away is noticed by the next thing printed.
        let _ = self.row(e.epoch, e.loss, accuracy);
    }
}

/// Trains a small model without a single backward pass, on dates of one form.
fn numeric(seed: u64) -> Result<Transducer> {
    const EPOCHS: u64 = 16;
    const BATCH: usize = 8;
    const RATE: f64 = 0.03;
    let one_form = |examples: &[dates::Example], count: usize| {
        let mut kept = of(examples);
        kept.retain(|pair| is_plain(&pair.source));
        kept.truncate(count);
        kept
    };
    let split = dates::examples(20_000, 5_000, seed);
    let (train, test) = (one_form(&split.train, 200), one_form(&split.test, 100));
    let mut config = config(seed, 8, 16, TrainSettings { warmup: 10, ..TrainSettings::default() });
    config.model.bidirectional = false;
    config.attention.alignment = 8;
    explain(&config, &train, &test, 1)?;
    let mut model = Transducer::new(config, &train)?;
    say(format_args!("  {} parameters, each nudged up and down at every step: no backward pass\n", grouped(model.params.len())))?;
    let (learner, examples) = (model.learner(), model.examples(&train));
    let mut adam = Optimiser::new(Rule::ADAM, model.params.len());
    let table = Table;
    let batches = examples.len().div_ceil(BATCH) as u64;
    let schedule = model.config.train.schedule(EPOCHS * batches);
    for epoch in 1..=EPOCHS {
        let mut total = 0.0;
        for batch in examples.chunks(BATCH) {
            let batch: Vec<_> = batch.iter().collect();
            total += learner.mean_loss(&model.params, &batch)?;
            // In single precision a nudge must be large enough to be felt; a hundredth is, and is ten times as fast as double precision.
            let slopes = numeric_gradient(&model.params, 1e-2, |params| learner.mean_loss(params, &batch))?;
            let clip = clip_scale(global_norm(&slopes), 1.0);
            adam.step(model.params.flat_mut(), &slopes, RATE * schedule.factor(adam.steps() + 1), clip);
        }
        if epoch == 1 || epoch.is_multiple_of(4) {
            let measures = model.measure(&test)?;
            let accuracy = measures.iter().find(|m| m.name == "accuracy").map_or(0.0, |m| m.value);
            table.row(epoch, total / batches as f64, accuracy)?;
        }
    }
    Ok(model)
}

/// Whether a date has the form of `march 15, 2024`: a whole month, a day, a year.
fn is_plain(date: &str) -> bool {
    let words: Vec<&str> = date.split(' ').collect();
    matches!(words[..], [month, day, year]
        if (month == "may" || month.len() > 3) && month.chars().all(char::is_alphabetic)
            && day.strip_suffix(',').is_some_and(|d| d.parse::<u8>().is_ok())
            && year.len() == 4)
}
