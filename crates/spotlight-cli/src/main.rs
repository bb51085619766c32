//! The `spotlight` command: train attention-based sequence models, use them, and see where they look.
//!
//! Results go to standard output and nothing else does; progress and notes go to standard error. Exit 0 on success, 1 on a failure of the work, 2 on wrong usage.

#![forbid(unsafe_code)]

mod audit;
mod compare;
mod demo;
mod distil;
mod ensemble;
mod eval;
mod folds;
mod info;
mod look;
mod output;
mod plot;
mod predict;
mod progress;
mod seeds;
#[cfg(feature = "serve")]
mod serve;
mod settings;
mod shell;
mod tasks;
mod train;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use spotlight::config::ConfigError;

/// Attention-based sequence models: train one from a file, use it, see where it looks.
#[derive(Parser)]
#[command(name = "spotlight", version, max_term_width = 100)]
struct Arguments {
    #[command(subcommand)]
    command: Command,

    #[command(flatten)]
    common: Common,
}

/// Options of every command.
#[derive(clap::Args, Clone, Debug)]
struct Common {
    /// Decides everything left to chance
    #[arg(long, global = true, value_name = "N")]
    seed: Option<u64>,

    /// Threads to work with [default: one for each core]; never changes a result
    #[arg(long, global = true, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    threads: Option<u16>,
}

#[derive(Subcommand)]
enum Command {
    /// Train a model from a file of examples
    Train(train::Train),
    /// Answer the lines of a file, or of standard input
    Predict(predict::Predict),
    /// Measure a model on a file of examples
    Eval(eval::Eval),
    /// Say whether models differ by more than chance
    Compare(compare::Compare),
    /// Say how far the pictures of a model's attention can be trusted
    Audit(audit::Audit),
    /// Draw where a model looks
    Look(look::Look),
    /// Say what a model is, how it was trained, and how well it did
    Info(info::Info),
    /// Draw the course of a model's training
    Plot(plot::Plot),
    /// Join models to one that answers with the mean of what they say
    Ensemble(ensemble::Ensemble),
    /// Train one model to say what a model or an ensemble says
    Distil(distil::Distil),
    /// List every setting of a recipe: name, default, meaning, how it is chosen
    Settings(settings::Settings),
    /// Answer over HTTP, with a page to play on
    #[cfg(feature = "serve")]
    Serve(serve::Serve),
    /// Small systems that train in about a minute and explain themselves
    Demo(demo::Demo),
    /// Print what a shell needs to complete the command
    Completions(shell::Completions),
    /// Print the manual page, or write one for each command
    Man(shell::Man),
}

fn main() -> ExitCode {
    let arguments = Arguments::parse();
    if let Some(threads) = arguments.common.threads {
        // Only fails if the pool exists already, and nothing has used it yet.
        let _ = rayon::ThreadPoolBuilder::new().num_threads(threads as usize).build_global();
    }
    let common = &arguments.common;
    let done = match arguments.command {
        Command::Train(command) => command.run(common),
        Command::Predict(command) => command.run(common),
        Command::Eval(command) => command.run(common),
        Command::Compare(command) => command.run(common),
        Command::Audit(command) => command.run(common),
        Command::Look(command) => command.run(common),
        Command::Info(command) => command.run(),
        Command::Plot(command) => command.run(),
        Command::Ensemble(command) => command.run(),
        Command::Distil(command) => command.run(common),
        Command::Settings(command) => command.run(),
        #[cfg(feature = "serve")]
        Command::Serve(command) => command.run(),
        Command::Demo(command) => command.run(common),
        Command::Completions(command) => command.run(),
        Command::Man(command) => command.run(),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error),
    }
}

/// Says what went wrong. A reader that went away (`spotlight ... | head`) is no failure.
fn fail(error: &anyhow::Error) -> ExitCode {
    if error.chain().filter_map(|e| e.downcast_ref::<std::io::Error>()).any(|e| e.kind() == std::io::ErrorKind::BrokenPipe) {
        return ExitCode::SUCCESS;
    }
    if let Some(stopped) = error.downcast_ref::<progress::Stopped>() {
        return ExitCode::from(u8::try_from(128 + stopped.0).unwrap_or(1));
    }
    eprintln!("spotlight: {}", in_full(error));
    let usage = error.chain().any(|e| {
        e.is::<ConfigError>()
            || e.is::<output::WrongUsage>()
            || match e.downcast_ref() {
                Some(spotlight::Error::Config(_)) => true,
                Some(spotlight::Error::Folder(e)) => e.is_usage(),
                _ => false,
            }
    });
    ExitCode::from(if usage { 2 } else { 1 })
}

/// An error with its causes, without those that it has already told.
fn in_full(error: &anyhow::Error) -> String {
    let mut text = String::new();
    for cause in error.chain().map(ToString::to_string) {
        if text.is_empty() {
            text = cause;
        } else if !text.ends_with(&cause) {
            text = format!("{text}: {cause}");
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use clap::CommandFactory;

    use super::*;

    /// What clap only says when a command is run, and only in a development build: names that clash and the like.
    #[test]
    fn the_options_fit_together() {
        Arguments::command().debug_assert();
    }

    #[test]
    fn a_cause_is_told_once() {
        let cause = std::io::Error::other("it is gone");
        let error = anyhow::Error::from(cause).context("cannot read x: it is gone").context("in y");
        assert_eq!(in_full(&error), "in y: cannot read x: it is gone");
    }
}
