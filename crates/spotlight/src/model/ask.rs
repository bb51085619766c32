//! Asking a model: what it is asked, how it shall answer, and its answers one by one.

use std::io::BufRead;
use std::path::{Path, PathBuf};
use std::sync::mpsc::Receiver;
use std::time::Duration;

use super::answer::Answer;
use crate::text::read::{Table, TableFormat};
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
    /// What a file would hold; it is named `-` in messages. Nothing in it is ever taken for the name of a file.
    Content(&'a str),
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
}

/// Questions, some at a time; none at the end.
pub(super) struct Questions<'a, Q>(pub(super) Box<dyn FnMut() -> Vec<Result<Q, TextError>> + 'a>);

impl<Q> Questions<'_, Q> {
    /// All of them, an error where a line cannot be read.
    pub fn each(mut self) -> Vec<Result<Q, TextError>> {
        std::iter::from_fn(|| Some((self.0)()).filter(|chunk| !chunk.is_empty())).flatten().collect()
    }

    /// All of them, if every line can be read.
    pub fn all(self) -> Result<Vec<Q>, TextError> {
        self.each().into_iter().collect()
    }
}

/// Rows of a table that can be read or not.
pub(super) type Rows<'a, Q> = Box<dyn Iterator<Item = Result<Q, TextError>> + 'a>;

impl<'a> Input<'a> {
    /// As lines.
    pub fn lines(self) -> Result<NamedLines<'a>> {
        Ok(match self {
            Input::Text(text) => {
                let line = Line { text: text.to_string(), number: 1 };
                NamedLines { path: "input".into(), lines: Source::There(Box::new(std::iter::once(Ok(line)))) }
            }
            Input::File(path) => NamedLines { path: path.to_path_buf(), lines: Source::There(Box::new(Lines::open(path)?)) },
            Input::Content(content) => {
                let lines = Lines::new(content.as_bytes(), "-");
                NamedLines { path: "-".into(), lines: Source::There(Box::new(lines)) }
            }
            Input::Live(lines) => NamedLines { path: "-".into(), lines: Source::Live(lines) },
        })
    }

    /// As questions: a file is read by `table`, with its layout; what comes line by line by `line`.
    pub(super) fn questions<Q: 'a>(
        self,
        format: &TableFormat,
        table: impl FnOnce(Table<Box<dyn BufRead>>) -> Result<Rows<'a, Q>, TextError>,
        line: impl Fn(&Path, &Line) -> Result<Q, TextError> + 'a,
    ) -> Result<Questions<'a, Q>> {
        if let Input::File(path) = self {
            let mut rows = table(Table::open(path, &format.for_input())?)?;
            return Ok(Questions(Box::new(move || rows.by_ref().take(CHUNK).collect())));
        }
        let NamedLines { path, mut lines } = self.lines()?;
        let read = move || lines.chunk().into_iter().map(|next| next.and_then(|next| line(&path, &next))).collect();
        Ok(Questions(Box::new(read)))
    }

    /// What its rows are called in messages, if it is a file.
    pub(super) fn path(&self) -> PathBuf {
        if let Input::File(path) = self { path.to_path_buf() } else { PathBuf::new() }
    }

    /// As the name of a file that is read as a whole.
    pub fn file(&self) -> Result<&'a Path> {
        match self {
            Input::Text(name) => Ok(Path::new(*name)),
            Input::File(path) => Ok(path),
            Input::Live(_) | Input::Content(_) => {
                Err(Error::Value { what: "the input".into(), got: "a stream".into(), expected: "a file with a name".into() })
            }
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
    /// What an answer that is written begins with.
    pub prefix: Option<String>,
    /// If given, nothing but one of these is written.
    pub lexicon: Option<Vec<String>>,
    /// If given, nothing is searched for: to each question one of these, in their order, is taken for the answer and scored.
    pub targets: Option<Vec<String>>,
    /// Shortest answer that is written, in units.
    pub min_length: usize,
    /// Whether unknown units are copied from where the attention points.
    pub copy_unknown: bool,
    /// Whether weights are taken to one byte each: faster, and less exact. For models that write by attention alone.
    pub int8: bool,
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
    /// The answer; to a line that could not be read there is none.
    pub answer: Option<Box<dyn Answer>>,
    /// Why the line could not be read.
    pub error: Option<TextError>,
    /// What was found in the input on the way to this question, for the user.
    pub notes: Vec<String>,
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

/// Answers question by question, some at a time. `answer` gets questions and the number of those before them.
///
/// A line that cannot be read asks an empty question instead, whose answer is dropped: the others are answered all the same.
pub(super) fn one_by_one<'a, Q: Default + 'a, A: Answer + 'static>(
    mut questions: Questions<'a, Q>,
    answer: impl Fn(&[Q], usize) -> Result<Vec<A>> + 'a,
) -> Replies<'a> {
    let mut before = 0;
    let next_chunk = move || {
        let (mut asked, mut errors) = (Vec::new(), Vec::new());
        for question in (questions.0)() {
            let (question, error) = match question {
                Ok(question) => (question, None),
                Err(error) => (Q::default(), Some(error)),
            };
            asked.push(question);
            errors.push(error);
        }
        if asked.is_empty() {
            return None;
        }
        let first = before;
        before += asked.len();
        let reply = |(i, (answer, error)): (usize, (A, Option<TextError>))| Reply {
            number: first + i + 1,
            answer: error.is_none().then(|| Box::new(answer) as Box<dyn Answer>),
            error,
            notes: Vec::new(),
        };
        Some(match answer(&asked, first) {
            Ok(answers) => answers.into_iter().zip(errors).enumerate().map(reply).map(Ok).collect(),
            Err(error) => vec![Err(error)],
        })
    };
    Box::new(std::iter::from_fn(next_chunk).flatten())
}

/// Answers that are all there, each in the place of a question that could be read.
pub(super) fn all_at_once<'a, Q: 'a, A: Answer + 'static>(questions: Vec<Result<Q, TextError>>, answers: Vec<A>) -> Replies<'a> {
    let mut answers = answers.into_iter();
    let reply = move |(i, question): (usize, Result<Q, TextError>)| {
        let (answer, error) = match question {
            Ok(_) => (answers.next().map(|answer| Box::new(answer) as Box<dyn Answer>), None),
            Err(error) => (None, Some(error)),
        };
        Ok(Reply { number: i + 1, answer, error, notes: Vec::new() })
    };
    Box::new(questions.into_iter().enumerate().map(reply))
}

/// Answers that are all there, numbered in their order, and what was found in the input.
pub(super) fn noted<'a, A: Answer + 'static>(answers: Vec<A>, mut notes: Vec<String>) -> Replies<'a> {
    let reply = move |(i, answer): (usize, A)| {
        Ok(Reply { number: i + 1, answer: Some(Box::new(answer)), error: None, notes: std::mem::take(&mut notes) })
    };
    Box::new(answers.into_iter().enumerate().map(reply))
}
