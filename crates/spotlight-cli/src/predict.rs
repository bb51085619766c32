//! `spotlight predict`

use std::io::{IsTerminal, stdin};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};

use anyhow::Result;
use clap::Args;
use serde_json::json;
use spotlight::model::{self, AnswerOptions, Input};
use spotlight::text::{Line, Lines, TextError};

use crate::Common;
use crate::output::say;
use crate::tasks;

/// Answer the lines of a file.
#[derive(Args)]
pub struct Predict {
    /// A model's folder
    model: PathBuf,
    /// File to answer, - for standard input
    #[arg(default_value = "-")]
    file: PathBuf,
    /// One JSON object a line, with attention weights
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    answering: tasks::Answering,
}

impl Predict {
    /// Runs the command.
    pub fn run(&self, common: &Common) -> Result<()> {
        let model = model::open(&self.model)?;
        tasks::check_input(model.task(), &self.file)?;
        let options = AnswerOptions { blind: !self.json, ..self.answering.options(common)? };
        let several = options.n_best.is_some_and(|n| n > 1);
        let input = match self.file == Path::new("-") {
            true => Input::Live(live_lines()),
            false => Input::File(&self.file),
        };
        let (mut bad, mut number) = (0, 0);
        // At a terminal somebody is waiting for the prompt.
        let prompt = self.file == Path::new("-") && stdin().is_terminal();
        let ask = || {
            if prompt {
                eprint!("> ")
            }
        };
        ask();
        for reply in model.answers(input, &options)? {
            let reply = reply?;
            number = reply.number;
            // A bad line is told and answered with nothing; the others are answered all the same.
            if let Some(error) = &reply.error {
                eprintln!("spotlight: {error}");
                bad += 1;
            }
            match &reply.answer {
                None if self.json => say(json!({"error": reply.error.map(|e| e.to_string())}))?,
                None => say("")?,
                Some(answer) if self.json => say(answer.to_json())?,
                Some(answer) if several => answer.list(number).iter().try_for_each(say)?,
                Some(answer) => say(answer.text())?,
            }
            ask();
        }
        match bad {
            0 => Ok(()),
            n => anyhow::bail!("{n} of {number} lines could not be read and were answered with nothing"),
        }
    }
}

/// The lines of standard input, as they come. They are read by a thread of their own, a little ahead.
fn live_lines() -> Receiver<Result<Line, TextError>> {
    let (send, lines) = sync_channel(4096);
    std::thread::spawn(move || {
        for line in Lines::new(stdin().lock(), "-") {
            // Nobody listens any more: the command is about to end.
            if send.send(line).is_err() {
                break;
            }
        }
    });
    lines
}
