//! What is particular to a task on the command line. A task without options of its own has no file here, and what several have in common has one; nothing else in the command knows one task from another.

pub mod bags;
mod inside;
pub mod seq2seq;

use std::path::Path;

use anyhow::Result;
use clap::Args;
use spotlight::model::seq2seq::Transducer;
use spotlight::model::{AnswerOptions, AnyModel, Drawing, Task};
use spotlight::view::Picture;

use crate::Common;
use crate::output::WrongUsage;

/// Options of `predict`, `eval` and `look` that say how to answer.
#[derive(Args, Clone, Debug)]
#[group(skip)]
pub struct Answering {
    #[command(flatten)]
    search: seq2seq::Search,
}

impl Answering {
    /// In the words of the library.
    pub fn options(&self, common: &Common, task: Task) -> Result<AnswerOptions> {
        self.search.check(task)?;
        self.search.options(common)
    }
}

/// Options of `look` that say what to draw.
#[derive(Args, Clone, Debug)]
#[group(skip)]
pub struct Drawn {
    #[command(flatten)]
    bags: bags::Drawn,
    #[command(flatten)]
    pub inside: inside::Inside,
}

impl Drawn {
    /// An error for an option that means nothing to a task.
    pub fn check(&self, task: Task) -> Result<()> {
        self.bags.check(task)
    }

    /// What the library can do of it, added to what else is asked for.
    pub fn drawing(&self, drawing: Drawing) -> Drawing {
        self.inside.drawing(Drawing { image: self.bags.image, ..drawing })
    }

    /// The rest of it: of the pictures of a file, those that were asked for, as they were asked for.
    pub fn pick(&self, pictures: Vec<Picture>, file: &Path) -> Result<Vec<Picture>> {
        self.bags.pick(pictures, file)
    }
}

/// An error if a task cannot be asked by this file, `-` for standard input.
pub fn check_input(task: Task, file: &Path) -> Result<()> {
    bags::check_input(task, file)
}

/// The model as one that writes; an error if an option is given that goes with no other.
pub fn writer<'m>(model: &'m dyn AnyModel, option: &str) -> Result<&'m Transducer> {
    let wrong = || WrongUsage(format!("{option} goes with seq2seq models, this one is for {}", model.task().name()));
    Ok(model.as_any().downcast_ref::<Transducer>().ok_or_else(wrong)?)
}

/// The names of all tasks, with this between them, and another before the last.
pub fn names(between: &str, last: &str) -> String {
    let names: Vec<&str> = Task::ALL.iter().map(|task| task.name()).collect();
    match names.split_last() {
        Some((end, rest)) if !rest.is_empty() => format!("{}{last}{end}", rest.join(between)),
        _ => names.concat(),
    }
}

/// Reads the name of a task.
pub fn parse(name: &str) -> Result<Task, String> {
    let known = Task::ALL.iter().copied().find(|task| task.name() == name);
    known.ok_or_else(|| format!("expected {}", names(", ", " or ")))
}

/// Every task with what it learns from.
pub fn explained() -> String {
    Task::ALL.iter().map(|task| format!("{} ({})", task.name(), task.rows())).collect::<Vec<_>>().join(", ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tasks_are_listed_as_in_the_library() {
        assert_eq!(names("|", "|"), "seq2seq|classify|match|bags");
        assert_eq!(parse("dance"), Err("expected seq2seq, classify, match or bags".into()));
        assert_eq!(parse("match"), Ok(Task::Match));
    }
}
