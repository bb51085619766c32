//! `POST /api/predict`: the request, checked, and its answer.

use std::sync::Arc;

use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, Request, header};
use axum::response::{IntoResponse, Response};
use http_body_util::LengthLimitError;
use serde::Deserialize;
use serde::de::DeserializeOwned;
use spotlight::model::seq2seq::Explore;
use spotlight::model::{AnswerOptions, AnyModel, Edit, Task, Touch, View};
use spotlight::text::{Line, Lines, TextError};

use super::App;
use super::limits::Limits;
use super::log::Note;
use super::refusal::Refusal;
use super::work::{Answered, Question};
use crate::tasks::seq2seq;

/// What a client sends.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Ask {
    /// The model's name; not needed if there is one.
    model: Option<String>,
    /// A line each, as `predict` reads them; columns apart by tabs. For bags, the lines of a CSV file.
    texts: Vec<String>,
    /// Answers to each text.
    n_best: Option<usize>,
    /// How to search.
    options: Options,
    /// Whether the answers shall have their attention weights.
    attention: Option<bool>,
    /// An attention of a Transformer: all its layers and heads shall be told.
    layers: Option<View>,
    /// Weights put in by hand. This and what follows is playing with the answers; see [`Explore`] and [`Touch`].
    edits: Vec<Edit>,
    /// Heads switched off.
    heads_off: Vec<usize>,
    /// Training rows to tell whose context is nearest: that of the text, or of `step`.
    nearest: usize,
    /// Whether other views of the units shall be told; for models that judge.
    views: bool,
    /// Units that the answers begin with. This and what follows is for models that write.
    force: Vec<String>,
    /// Units to tell of those that were thought of.
    alternatives: usize,
    /// A step whose numbers are to be told.
    step: Option<usize>,
    /// For each text, a target whose probability is to be told.
    targets: Vec<String>,
}

/// Alternatives told at most, for every hypothesis at every step, and training rows.
const MOST_TOLD: usize = 32;

/// Weights of layers that one request may ask for at most, as if each text were as long as its characters.
const MOST_WEIGHTS: usize = 1_000_000;

/// Units that are read for the views of one request at most: each text is read again without each of its units.
const MOST_READ: usize = 8_000_000;

/// The options of `predict`, by the names they have there.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    beam: Option<usize>,
    length_penalty: Option<f64>,
    coverage_penalty: Option<f64>,
    sample: Option<f64>,
    seed: Option<u64>,
    copy_unknown: bool,
}

impl Ask {
    /// In the words of the library; an error for what cannot be, or is too much.
    fn options(&self, limits: &Limits) -> Result<AnswerOptions, Refusal> {
        for (name, value) in [("n_best", self.n_best), ("options.beam", self.options.beam)] {
            if let Some(value) = value.filter(|value| !(1..=limits.max_beam).contains(value)) {
                return Err(Refusal::impossible(format!("{name} is {value}: expected 1 to {}", limits.max_beam)));
            }
        }
        let o = &self.options;
        let options = AnswerOptions {
            beam: o.beam,
            n_best: self.n_best,
            length_penalty: o.length_penalty,
            coverage_penalty: o.coverage_penalty,
            sample: o.sample.map(|temperature| (temperature, o.seed.unwrap_or(1))),
            copy_unknown: o.copy_unknown,
            ..AnswerOptions::default()
        };
        match seq2seq::problem(&options, |name| name.to_string()) {
            Some(problem) => Err(Refusal::impossible(problem)),
            None => Ok(options),
        }
    }

    /// The texts as lines; an error for too many, too long ones, and those that are no line.
    fn question(&self, model: &dyn AnyModel, limits: &Limits) -> Result<Question, Refusal> {
        let task = model.task();
        if self.texts.is_empty() {
            return Err(Refusal::impossible("texts is empty: send at least one"));
        }
        // A bag is many rows; the size of the body limits them.
        if self.texts.len() > limits.max_texts && task != Task::Bags {
            return Err(Refusal::impossible(format!("{} texts: at most {} in one request", self.texts.len(), limits.max_texts)));
        }
        for (i, text) in self.texts.iter().enumerate() {
            let chars = text.chars().count();
            if chars > limits.max_chars {
                return Err(Refusal::impossible(format!("texts[{i}] has {chars} characters: at most {}", limits.max_chars)));
            }
            if text.contains(['\n', '\r']) {
                return Err(Refusal::impossible(format!("texts[{i}] has a line break: a text is one line")));
            }
        }
        let mut content = self.texts.join("\n");
        content.push('\n');
        for (name, value) in [("alternatives", self.alternatives), ("nearest", self.nearest)] {
            if value > MOST_TOLD {
                return Err(Refusal::impossible(format!("{name} is {value}: at most {MOST_TOLD}")));
            }
        }
        if let Some(view) = self.layers {
            self.check_layers(model, view, limits)?;
            return Ok(Question::Layers(lines_of(&content), view));
        }
        if task != Task::Seq2seq {
            return Ok(match self.touch(task)? {
                Some(touch) => Question::Touch { content, texts: self.texts.len(), touch },
                None if task == Task::Bags => Question::File(content),
                None => Question::Lines(lines_of(&content)),
            });
        }
        // Read like standard input of `predict`, so that every line means the same.
        match self.explore(limits)? {
            Some(explore) => Ok(Question::Explore(lines_of(&content), explore)),
            None => Ok(Question::Lines(lines_of(&content))),
        }
    }
}

/// The lines of a request, read like standard input of `predict`, so that every line means the same.
fn lines_of(content: &str) -> Vec<Result<Line, TextError>> {
    Lines::new(content.as_bytes(), "-").collect()
}

impl Ask {
    /// An error if the layers of a view cannot be told.
    fn check_layers(&self, model: &dyn AnyModel, view: View, limits: &Limits) -> Result<(), Refusal> {
        let layers = model.layers().filter(|layers| layers.of(view) > 0);
        let layers = layers.ok_or_else(|| Refusal::impossible("layers: this model has no such attention; /api/models says what it has"))?;
        let played = match model.task() {
            Task::Seq2seq => self.explore(limits)?.is_some(),
            task => self.touch(task)?.is_some(),
        };
        if played {
            return Err(Refusal::impossible("layers are those of the answer as it is: ask for them alone"));
        }
        let pairs: usize = self.texts.iter().map(|text| text.chars().count().pow(2)).sum();
        let weights = pairs.saturating_mul(layers.of(view) * layers.heads);
        match weights > MOST_WEIGHTS {
            true => Err(Refusal::impossible(format!(
                "layers of so much at once: {weights} weights, at most {MOST_WEIGHTS}; send fewer or shorter texts"
            ))),
            false => Ok(()),
        }
    }

    /// What is to be done with the answers of a model that judges; none if nothing is.
    fn touch(&self, task: Task) -> Result<Option<Touch>, Refusal> {
        if !self.force.is_empty() || self.alternatives > 0 || self.step.is_some() || !self.targets.is_empty() {
            return Err(Refusal::impossible("force, alternatives, step and targets are for models that write (seq2seq)"));
        }
        let again = match task {
            Task::Bags => self.texts.len().pow(2),
            _ => self.texts.iter().map(|text| text.chars().count().pow(2)).sum(),
        };
        if self.views && again > MOST_READ {
            return Err(Refusal::impossible(
                "views of so much at once: each text is read again without each of its units; send fewer or shorter ones",
            ));
        }
        let (edits, heads_off) = (self.edits.clone(), self.heads_off.clone());
        let touch = Touch { edits, heads_off, views: self.views, nearest: self.nearest };
        Ok(Some(touch).filter(|touch| *touch != Touch::default()))
    }

    /// What is to be done with each answer of a model that writes; none if nothing is.
    fn explore(&self, limits: &Limits) -> Result<Option<Vec<Explore>>, Refusal> {
        if self.views {
            return Err(Refusal::impossible("views is for models that judge (classify, match, bags)"));
        }
        let one = Explore {
            force: self.force.clone(),
            edits: self.edits.clone(),
            heads_off: self.heads_off.clone(),
            alternatives: self.alternatives,
            step: self.step,
            target: None,
            nearest: self.nearest,
        };
        if one == Explore::default() && self.targets.is_empty() {
            return Ok(None);
        }
        if self.nearest > 0 && self.step.is_none() {
            return Err(Refusal::impossible("nearest needs step: each step of a model that writes has a context of its own"));
        }
        if self.force.len() > limits.max_chars || self.targets.iter().any(|target| target.chars().count() > limits.max_chars) {
            return Err(Refusal::impossible(format!("force and targets have at most {} characters", limits.max_chars)));
        }
        if !self.targets.is_empty() && self.targets.len() != self.texts.len() {
            return Err(Refusal::impossible(format!("{} targets for {} texts: send one for each", self.targets.len(), self.texts.len())));
        }
        let of = |i: usize| Explore { target: self.targets.get(i).cloned(), ..one.clone() };
        Ok(Some((0..self.texts.len()).map(of).collect()))
    }
}

/// Answers texts.
pub async fn predict(State(app): State<Arc<App>>, request: Request<Body>) -> Result<Response, Refusal> {
    let lines_only = request.headers().get(header::ACCEPT).is_some_and(|accept| accept == "application/x-ndjson");
    let ask: Ask = body(&app, request).await?;
    let options = ask.options(&app.limits)?;
    let loaded = app.shelf.get(ask.model.as_deref())?;
    let question = ask.question(&*loaded.model, &app.limits)?;
    let note = Note { model: loaded.name.clone(), texts: question.texts() };
    let name = loaded.name.clone();
    let answer = app.queue.ask(loaded, question, options)?;
    let answered = match tokio::time::timeout(app.limits.patience(), answer).await {
        Err(_) => return Err(Refusal::unavailable(format!("not answered in {} s", app.limits.timeout))),
        Ok(Err(_)) => return Err(Refusal::unavailable("the server is stopping")),
        Ok(Ok(answered)) => answered?,
    };
    let mut response = written(&name, &answered, ask.attention.unwrap_or(true), lines_only);
    response.extensions_mut().insert(note);
    Ok(response)
}

/// The answers, each on a line of its own: the very lines of `predict --json`, unless weights are not wanted.
fn written(model: &str, answered: &Answered, attention: bool, lines_only: bool) -> Response {
    let without: Vec<String>;
    let lines = match attention {
        true => &answered.lines,
        false => {
            without = answered.lines.iter().map(|line| without_weights(line)).collect();
            &without
        }
    };
    let (body, kind) = match lines_only {
        true => (lines.iter().map(|line| format!("{line}\n")).collect(), "application/x-ndjson"),
        false => {
            (format!("{{\"model\":{},\"answers\":[\n{}\n]}}\n", serde_json::Value::from(model), lines.join(",\n")), "application/json")
        }
    };
    let mut response = body.into_response();
    let headers = response.headers_mut();
    headers.insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    let millis = |duration: std::time::Duration| duration.as_secs_f64() * 1e3;
    let timing = format!("queue;dur={:.2}, model;dur={:.2}", millis(answered.waited), millis(answered.took));
    if let Ok(timing) = HeaderValue::from_str(&timing) {
        headers.insert("server-timing", timing);
    }
    response
}

/// An answer without what it has of attention, at any depth.
fn without_weights(line: &str) -> String {
    fn strip(value: &mut serde_json::Value) {
        if let Some(fields) = value.as_object_mut() {
            for name in ["attention", "heads"] {
                fields.shift_remove(name);
            }
            if let Some(hypotheses) = fields.get_mut("hypotheses").and_then(|h| h.as_array_mut()) {
                hypotheses.iter_mut().for_each(strip);
            }
        }
    }
    match serde_json::from_str(line) {
        Ok(mut value) => {
            strip(&mut value);
            value.to_string()
        }
        Err(_) => line.to_string(),
    }
}

/// Reads a body of JSON: in time, not too large, of the right type.
pub async fn body<T: DeserializeOwned>(app: &App, request: Request<Body>) -> Result<T, Refusal> {
    if !is_json(request.headers()) {
        return Err(Refusal::media_type());
    }
    let limit = app.limits.max_body;
    let announced = request.headers().get(header::CONTENT_LENGTH).and_then(|n| n.to_str().ok()?.parse::<u64>().ok());
    if announced.is_some_and(|n| n > limit as u64) {
        return Err(Refusal::too_large(limit));
    }
    let read = tokio::time::timeout(app.limits.reading(), axum::body::to_bytes(request.into_body(), limit));
    let bytes = read.await.map_err(|_| Refusal::slow())?.map_err(|error| {
        match std::error::Error::source(&error).is_some_and(|cause| cause.is::<LengthLimitError>()) {
            true => Refusal::too_large(limit),
            false => Refusal::unreadable("the body broke off"),
        }
    })?;
    // Nesting has a limit of its own in the parser.
    serde_json::from_slice(&bytes).map_err(|error| Refusal::unreadable(error.to_string()))
}

fn is_json(headers: &HeaderMap) -> bool {
    let kind = headers.get(header::CONTENT_TYPE).and_then(|kind| kind.to_str().ok()).unwrap_or_default();
    kind.split(';').next().is_some_and(|kind| kind.trim().eq_ignore_ascii_case("application/json"))
}
