//! From a batch of requests to their answers, on a thread of the queue.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::mpsc::sync_channel;
use std::time::{Duration, Instant};

use rayon::prelude::*;
use spotlight::model::seq2seq::{Explore, Transducer};
use spotlight::model::{AnswerOptions, AnyModel, Drawing, Input, Reply, ToJson, Touch, Touched, View};
use spotlight::text::{Line, TextError};
use spotlight::view::Picture;

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
    /// The same, with the layers of a view.
    Layers(Vec<Result<Line, TextError>>, View),
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
            Question::Lines(lines) | Question::Explore(lines, _) | Question::Layers(lines, _) => lines.len(),
            Question::File(_) => 1,
            Question::Touch { texts, .. } => *texts,
        }
    }

    /// Roughly, the characters in it.
    pub fn chars(&self) -> usize {
        match self {
            Question::Lines(lines) | Question::Explore(lines, _) | Question::Layers(lines, _) => lines.iter().map(size).sum(),
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
    if let Question::Layers(lines, view) = &mut first.question {
        let lines = waiting(std::mem::take(lines));
        return Ok(vec![layered(model, lines, *view, &options)?]);
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
        for (owner, line) in owners.into_iter().zip(replies(model, waiting(slice), &options)?) {
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

/// Lines as they come from a pipe, all of them there already.
fn waiting(lines: Vec<Result<Line, TextError>>) -> Input<'static> {
    let (send, receive) = sync_channel(lines.len());
    for line in lines {
        // There is room for all of them.
        let _ = send.send(line);
    }
    Input::Live(receive)
}

/// Answers with all layers and heads of a view, in the order of the texts.
fn layered(model: &dyn AnyModel, input: Input, view: View, options: &AnswerOptions) -> Result<Vec<String>, Refusal> {
    let refused = |error: spotlight::Error| Refusal::impossible(error.to_string());
    let drawing = Drawing { view: Some(view), ..Drawing::default() };
    let options = AnswerOptions { layers: true, unranked: true, ..options.clone() };
    let one = |reply: spotlight::Result<Reply>| {
        let reply = reply.map_err(refused)?;
        let mut json = in_json(&reply);
        if let (Some(fields), Some(answer)) = (json.as_object_mut(), &reply.answer) {
            let stacks = answer.pictures(&drawing).into_iter().filter_map(|picture| match picture {
                Picture::Stack(stack) => Some(stack.to_json()),
                _ => None,
            });
            fields.insert("layers".into(), stacks.collect());
        }
        Ok(json.to_string())
    };
    model.answers(input, &options).map_err(refused)?.map(one).collect()
}

/// What `predict --json` prints.
fn replies(model: &dyn AnyModel, input: Input, options: &AnswerOptions) -> Result<Vec<String>, Refusal> {
    let refused = |error: spotlight::Error| Refusal::impossible(error.to_string());
    model.answers(input, options).map_err(refused)?.map(|reply| Ok(in_json(&reply.map_err(refused)?).to_string())).collect()
}
