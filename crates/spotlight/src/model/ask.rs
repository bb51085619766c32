//! Asking a model: what it is asked, how it shall answer, and its answers one by one.

use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use super::answer::Answer;
use crate::text::{Line, Lines, TextError};
use crate::{Error, Result};

/// Lines that are answered together.
const CHUNK: usize = 512;
/// Lines that come within this time of each other are answered together.
const TOGETHER: Duration = Duration::from_millis(3);

/// What is to be answered.
pub enum Input<'a> {
    /// What somebody typed: one line; or the name of a file, for a task that is asked by files.
    Text(&'a str),
    /// A file.
    File(&'a Path),
    /// Lines that come one by one, from a terminal or a pipe that is held open: each is answered when it comes. Lines that come together are answered together.
    Live(Receiver<Result<Line, TextError>>),
}

/// Lines with what they are called in messages.
pub struct NamedLines<'a> {
    /// The file, `-` for a reader, or `input`.
    pub path: PathBuf,
    /// Its lines.
    pub lines: Source<'a>,
}

/// Where lines come from.
pub enum Source<'a> {
    /// All are there.
    There(Box<dyn Iterator<Item = Result<Line, TextError>> + 'a>),
    /// They come one by one.
    Live(Receiver<Result<Line, TextError>>),
}

impl Source<'_> {
    /// Some lines to be answered together; none at the end. Of lines that come one by one, those that are there: the first is waited for, others hardly.
    fn chunk(&mut self) -> Vec<Result<Line, TextError>> {
        match self {
            Source::There(lines) => lines.by_ref().take(CHUNK).collect(),
            Source::Live(lines) => {
                let mut chunk: Vec<_> = lines.recv().into_iter().collect();
                while !chunk.is_empty() && chunk.len() < CHUNK {
                    let Ok(line) = lines.recv_timeout(TOGETHER) else { break };
                    chunk.push(line);
                }
                chunk
            }
        }
    }

    /// All lines.
    pub fn all(mut self) -> Result<Vec<Line>, TextError> {
        let mut all = Vec::new();
        loop {
            let chunk = self.chunk();
            if chunk.is_empty() {
                return Ok(all);
            }
            for line in chunk {
                all.push(line?);
            }
        }
    }
}

impl<'a> Input<'a> {
    /// As lines.
    pub fn lines(self) -> Result<NamedLines<'a>> {
        Ok(match self {
            Input::Text(text) => {
                let line = Line { text: text.to_string(), number: 1 };
                NamedLines { path: "input".into(), lines: Source::There(Box::new(std::iter::once(Ok(line)))) }
            }
            Input::File(path) => NamedLines { path: path.to_path_buf(), lines: Source::There(Box::new(Lines::open(path)?)) },
            Input::Live(lines) => NamedLines { path: "-".into(), lines: Source::Live(lines) },
        })
    }

    /// As the name of a file that is read as a whole.
    pub fn file(&self) -> Result<&'a Path> {
        match self {
            Input::Text(name) => Ok(Path::new(*name)),
            Input::File(path) => Ok(path),
            Input::Live(_) => Err(Error::Value { what: "the input".into(), got: "a stream".into(), expected: "a file with a name".into() }),
        }
    }
}

/// How to answer. What is not said is as the model has it, and what a task has no use for it does not read.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct AnswerOptions {
    /// Hypotheses kept while searching.
    pub beam: Option<usize>,
    /// Answers wanted for each question.
    pub n_best: Option<usize>,
    /// Exponent of the length normalisation.
    pub length_penalty: Option<f64>,
    /// Weight of the coverage penalty.
    pub coverage_penalty: Option<f64>,
    /// Answers are drawn instead of searched for: the temperature, and the seed.
    pub sample: Option<(f64, u64)>,
    /// Whether unknown units are copied from where the attention points.
    pub copy_unknown: bool,
    /// Whether nobody wants to know where the model looked, so that it need not be found out.
    pub blind: bool,
    /// Whether all layers of attention are wanted, to be drawn.
    pub layers: bool,
    /// Whether answers keep the order of the input where the task would rank them.
    pub unranked: bool,
}

/// What came of one question.
pub struct Reply {
    /// Number of the question in the input, from 1.
    pub number: usize,
    /// The answer; to a line that could not be read there may be none.
    pub answer: Option<Box<dyn Answer>>,
    /// Why the line could not be read.
    pub error: Option<TextError>,
}

impl Reply {
    /// The answer, or why there is none.
    pub fn read(self) -> Result<Box<dyn Answer>> {
        match (self.error, self.answer) {
            (Some(error), _) => Err(error.into()),
            (None, Some(answer)) => Ok(answer),
            (None, None) => Err(Error::Value { what: "the reply".into(), got: "empty".into(), expected: "an answer".into() }),
        }
    }
}

/// Replies one by one; a question is read and answered when somebody comes to it.
pub type Replies<'a> = Box<dyn Iterator<Item = Result<Reply>> + 'a>;

/// Answers line by line, some lines at a time. `ask` reads the question of a line; `answer` gets questions and the number of lines before them.
///
/// A line that cannot be read asks an empty question instead, whose answer is dropped unless it is `kept`: the others are answered all the same.
pub(super) fn line_by_line<'a, Q: Default + 'a, A: Answer + 'static>(
    input: NamedLines<'a>,
    kept: bool,
    ask: impl Fn(&Path, &Line) -> Result<Q, TextError> + 'a,
    answer: impl Fn(&[Q], usize) -> Result<Vec<A>> + 'a,
) -> Replies<'a> {
    let NamedLines { path, mut lines } = input;
    let mut before = 0;
    let next_chunk = move || {
        let (mut questions, mut errors) = (Vec::new(), Vec::new());
        for line in lines.chunk() {
            let (question, error) = match line.and_then(|line| ask(&path, &line)) {
                Ok(question) => (question, None),
                Err(error) => (Q::default(), Some(error)),
            };
            questions.push(question);
            errors.push(error);
        }
        if questions.is_empty() {
            return None;
        }
        let first = before;
        before += questions.len();
        let reply = |(i, (answer, error)): (usize, (A, Option<TextError>))| Reply {
            number: first + i + 1,
            answer: (kept || error.is_none()).then(|| Box::new(answer) as Box<dyn Answer>),
            error,
        };
        Some(match answer(&questions, first) {
            Ok(answers) => answers.into_iter().zip(errors).enumerate().map(reply).map(Ok).collect(),
            Err(error) => vec![Err(error)],
        })
    };
    Box::new(std::iter::from_fn(next_chunk).flatten())
}

/// Answers that are all there, numbered in their order.
pub(super) fn all_at_once<'a, A: Answer + 'static>(answers: Vec<A>) -> Replies<'a> {
    let reply = |(i, answer): (usize, A)| Ok(Reply { number: i + 1, answer: Some(Box::new(answer)), error: None });
    Box::new(answers.into_iter().enumerate().map(reply))
}
