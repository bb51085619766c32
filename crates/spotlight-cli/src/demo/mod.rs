//! `spotlight demo`: small systems that train in about a minute and explain themselves.

mod answers;
mod bags;
mod data;
mod dates;
mod numbers;
mod sentiment;
mod stage;
mod transformer;
mod translate;

use anyhow::Result;
use clap::{Args, Subcommand};

use crate::Common;

/// Small systems that train in about a minute.
#[derive(Args)]
pub struct Demo {
    #[command(subcommand)]
    which: Which,
}

#[derive(Subcommand)]
enum Which {
    /// Verbose dates to ISO dates, and where the model looks while it writes
    Dates(dates::Dates),
    /// The same without recurrence: positions, heads and mask of a Transformer
    Transformer(transformer::Transformer),
    /// One attention with every number on the way
    Numbers(numbers::Worked),
    /// Eight English sentences to French, word by word
    Translate(translate::Translate),
    /// Loving and complaining tweets, and the words the model looks at
    Sentiment(sentiment::Sentiment),
    /// Which sentence answers the question? Both texts shaded
    Answers(answers::Answers),
    /// Bags of digit pictures: is there a nine, and which picture is it?
    Bags(bags::Bags),
}

impl Demo {
    /// Runs the command.
    pub fn run(&self, common: &Common) -> Result<()> {
        match &self.which {
            Which::Dates(demo) => demo.run(common),
            Which::Transformer(demo) => demo.run(common),
            Which::Numbers(demo) => demo.run(),
            Which::Translate(demo) => demo.run(common),
            Which::Sentiment(demo) => demo.run(common),
            Which::Answers(demo) => demo.run(common),
            Which::Bags(demo) => demo.run(common),
        }
    }
}
