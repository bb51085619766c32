//! `spotlight predict`

use std::io::{IsTerminal, stdin};
use std::path::{Path, PathBuf};
use std::sync::mpsc::{Receiver, sync_channel};

use anyhow::Result;
use clap::Args;
use serde_json::{Value, json};
use spotlight::model::{self, AnswerOptions, Input, Reply};
use spotlight::text::{Line, Lines, TextError};

use crate::Common;
use crate::output::{WrongUsage, note, say};
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
    /// Leave answers empty that are right with less than this probability
    #[arg(long, value_name = "P", value_parser = probability)]
    abstain: Option<f64>,
    #[command(flatten)]
    answering: tasks::Answering,
}

fn probability(text: &str) -> Result<f64, String> {
    text.parse().ok().filter(|p| (0.0..=1.0).contains(p)).ok_or_else(|| "expected a number from 0 to 1".to_string())
}

impl Predict {
    /// Runs the command.
    pub fn run(&self, common: &Common) -> Result<()> {
        let model = model::open(&self.model)?;
        tasks::check_input(model.task(), &self.file)?;
        let options = AnswerOptions { blind: !self.json, ..self.answering.options(common, model.task())? };
        if let Some(why) = model.unsure().filter(|_| self.abstain.is_some()) {
            return Err(WrongUsage(format!("--abstain: this model cannot say how sure it is: {why}")).into());
        }
        let several = options.n_best.is_some_and(|n| n > 1);
        let input = match self.file == Path::new("-") {
            true => Input::Live(live_lines()),
            false => Input::File(&self.file),
        };
        let (mut bad, mut number, mut unsure, mut impossible) = (0, 0, 0, 0);
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
            reply.notes.iter().for_each(|line| note(line));
            // A bad line is told and answered with nothing; the others are answered all the same.
            if let Some(error) = &reply.error {
                eprintln!("spotlight: {error}");
                bad += 1;
            }
            impossible += usize::from(reply.answer.as_ref().is_some_and(|answer| answer.impossible()));
            if let (Some(least), Some(answer)) = (self.abstain, &reply.answer) {
                let confidence = answer.confidence();
                // Who does not say how sure he is, as of nothing, is not sure.
                if confidence.is_none_or(|confidence| confidence < least) {
                    unsure += 1;
                    match (self.json, confidence) {
                        (true, Some(confidence)) => say(json!({"abstained": true, "confidence": confidence}))?,
                        (true, None) => say(json!({"abstained": true}))?,
                        (false, _) => say("")?,
                    }
                    ask();
                    continue;
                }
            }
            match &reply.answer {
                _ if self.json => say(in_json(&reply))?,
                None => say("")?,
                Some(answer) if several => answer.list(number).iter().take(options.n_best.unwrap_or(1)).try_for_each(say)?,
                Some(answer) => say(answer.text())?,
            }
            ask();
        }
        if let Some(least) = self.abstain {
            eprintln!("{unsure} of {number} lines left empty: less sure than {least}");
        }
        if impossible > 0 {
            note(&format!("{impossible} of {number} lines have no answer: none that is allowed is possible for the model"));
        }
        match bad {
            0 => Ok(()),
            n => anyhow::bail!("{n} of {number} lines could not be read and were answered with nothing"),
        }
    }
}

/// What `--json` prints of a reply. The server answers with the same.
pub fn in_json(reply: &Reply) -> Value {
    match &reply.answer {
        Some(answer) => answer.to_json(),
        None => json!({"error": reply.error.as_ref().map(ToString::to_string)}),
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
