//! From a batch of requests to their answers, on a thread of the queue.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use spotlight::model::seq2seq::{Explore, Transducer};
use spotlight::model::{AnswerOptions, AnyModel, Input, Reply, ToJson, Touch, Touched};
use spotlight::text::{Line, TextError};

use super::queue::Job;
use super::refusal::Refusal;
use super::shelf::Loaded;
use crate::predict::in_json;

/// Characters, times the hypotheses of each, that are computed before it is asked again whether anybody still waits.
const SLICE_CHARS: usize = 8_192;

/// What is asked.
pub enum Question {
    /// Lines, as of a file that `predict` reads.
    Lines(Vec<Result<Line, TextError>>),
    /// The same, and what is to be done with each answer.
    Explore(Vec<Result<Line, TextError>>, Vec<Explore>),
    /// What a file would hold, for a task that reads files.
    File(String),
    /// The lines of some texts for a model that judges, and what is to be done with the answers.
    Touch {
        /// What a file would hold.
        content: String,
        /// How many texts that are.
        texts: usize,
        /// What is to be done.
        touch: Touch,
    },
}

/// What came of a request.
pub struct Answered {
    /// The lines that `predict --json` prints.
    pub lines: Vec<String>,
    /// In the queue.
    pub waited: Duration,
    /// Computing, with others.
    pub took: Duration,
}

impl Question {
    /// Whether it can be computed together with others.
    pub fn is_plain(&self) -> bool {
        matches!(self, Question::Lines(_))
    }

    /// Texts in it.
    pub fn texts(&self) -> usize {
        match self {
            Question::Lines(lines) | Question::Explore(lines, _) => lines.len(),
            Question::File(_) => 1,
            Question::Touch { texts, .. } => *texts,
        }
    }

    /// Roughly, the characters in it.
    pub fn chars(&self) -> usize {
        match self {
            Question::Lines(lines) | Question::Explore(lines, _) => lines.iter().map(size).sum(),
            Question::File(content) | Question::Touch { content, .. } => content.len(),
        }
    }
}

fn size(line: &Result<Line, TextError>) -> usize {
    line.as_ref().map_or(0, |line| line.text.len()) + 1
}

/// Answers a batch of requests to one model.
pub fn answer(mut batch: Vec<Job>) {
    let begun = Instant::now();
    let waited: Vec<Duration> = batch.iter().map(Job::waited).collect();
    // A panic is a fault of ours; it must not take the thread with it.
    let done = catch_unwind(AssertUnwindSafe(|| compute(&mut batch)));
    let mut done =
        done.unwrap_or_else(|_| Err(Refusal::failed("the model could not answer; the log of the server says more"))).map(Vec::into_iter);
    for (job, waited) in batch.into_iter().zip(waited) {
        let answered = match &mut done {
            Ok(lines) => Ok(Answered { lines: lines.next().unwrap_or_default(), waited, took: begun.elapsed() }),
            Err(refusal) => Err(refusal.clone()),
        };
        job.finish(answered);
    }
}

/// The lines of every request.
fn compute(batch: &mut [Job]) -> Result<Vec<Vec<String>>, Refusal> {
    let [first, ..] = batch else { return Ok(Vec::new()) };
    let (loaded, options) = (first.loaded.clone(), first.options.clone());
    let model = loaded.model.as_ref();
    if let Question::File(content) = &first.question {
        return Ok(vec![replies(model, Input::Content(content), &options)?]);
    }
    if let Question::Touch { content, touch, .. } = &first.question {
        return Ok(vec![touched(&loaded, content, touch, &options)?]);
    }
    if let Question::Explore(lines, explore) = &first.question {
        return Ok(vec![explored(first, lines, explore)?]);
    }
    // Whose line is whose.
    let mut lines: Vec<(usize, Result<Line, TextError>)> = Vec::new();
    for (owner, job) in batch.iter_mut().enumerate() {
        if let Question::Lines(own) = &mut job.question {
            lines.extend(own.drain(..).map(|line| (owner, line)));
        }
    }
    let mut found = vec![Vec::new(); batch.len()];
    let whole = batch.len() == 1 && (options.sample.is_some() || model.task() == spotlight::model::Task::Match);
    let slice_chars = SLICE_CHARS / options.beam.unwrap_or(1).max(1);
    let mut rest = lines.into_iter().peekable();
    while rest.peek().is_some() {
        let (mut owners, mut slice, mut chars) = (Vec::new(), Vec::new(), 0);
        while (whole || chars < slice_chars)
            && let Some((owner, line)) = rest.next()
        {
            if !batch[owner].is_dropped() {
                chars += size(&line);
                owners.push(owner);
                slice.push(line);
            }
        }
        if slice.is_empty() {
            continue;
        }
        let (send, receive) = sync_channel(slice.len());
        for line in slice {
            // There is room for all of them.
            let _ = send.send(line);
        }
        drop(send);
        for (owner, line) in owners.into_iter().zip(replies(model, Input::Live(receive), &options)?) {
            found[owner].push(line);
        }
    }
    Ok(found)
}

/// Answers that are played with, each on its own.
fn explored(job: &Job, lines: &[Result<Line, TextError>], explore: &[Explore]) -> Result<Vec<String>, Refusal> {
    let refused = |error: spotlight::Error| Refusal::impossible(error.to_string());
    let model = job.loaded.model.as_any().downcast_ref::<Transducer>().ok_or_else(|| Refusal::failed("not a model that writes"))?;
    let one = |(line, explore): (&Result<Line, TextError>, &Explore)| {
        if job.is_dropped() {
            return Ok(String::new());
        }
        match line {
            Ok(line) => {
                let mut found = model.explore_line(line, explore, &job.options).map_err(refused)?;
                if explore.nearest > 0 {
                    model.nearest(&mut found, job.loaded.seen()?, explore.nearest);
                }
                Ok(found.to_json().to_string())
            }
            Err(error) => Err(Refusal::impossible(error.to_string())),
        }
    };
    lines.par_iter().zip(explore).map(one).collect()
}

/// Answers of a model that judges with what came of playing with them, in the order of the texts.
fn touched(loaded: &Loaded, content: &str, touch: &Touch, options: &AnswerOptions) -> Result<Vec<String>, Refusal> {
    let refused = |error: spotlight::Error| Refusal::impossible(error.to_string());
    let model = loaded.model.as_ref();
    let seen = if touch.nearest > 0 { Some(loaded.seen()?) } else { None };
    let found = model.touch(Input::Content(content), touch, seen).map_err(refused)?;
    let options = AnswerOptions { unranked: true, ..options.clone() };
    let one = |(reply, found): (spotlight::Result<Reply>, &Touched)| {
        let mut answer = in_json(&reply.map_err(refused)?);
        if let (Some(fields), serde_json::Value::Object(more)) = (answer.as_object_mut(), found.to_json()) {
            fields.extend(more);
        }
        Ok(answer.to_string())
    };
    model.answers(Input::Content(content), &options).map_err(refused)?.zip(&found).map(one).collect()
}

/// What `predict --json` prints.
fn replies(model: &dyn AnyModel, input: Input, options: &AnswerOptions) -> Result<Vec<String>, Refusal> {
    let refused = |error: spotlight::Error| Refusal::impossible(error.to_string());
    model.answers(input, options).map_err(refused)?.map(|reply| Ok(in_json(&reply.map_err(refused)?).to_string())).collect()
}
