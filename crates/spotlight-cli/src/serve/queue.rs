//! The queue before the models: bounded, and what comes together is answered together.
//!
//! A few threads take turns at collecting a batch: one waits for a request, and a moment longer for others that ask the same model in the same way; then it goes
//! off to compute, and the next one collects. An answer does not depend on what was computed beside it.

use std::collections::VecDeque;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use spotlight::model::{AnswerOptions, Task};
use tokio::sync::oneshot;

use super::refusal::Refusal;
use super::shelf::Loaded;
use super::work::{Answered, Question, answer};

/// How long the first request of a batch waits for others.
const TOGETHER: Duration = Duration::from_millis(2);
/// Characters that are computed together at most: some thousand are enough to fill a matrix.
const BATCH_CHARS: usize = 16_384;

/// A request on its way through the queue.
pub struct Job {
    /// Who answers.
    pub loaded: Arc<Loaded>,
    /// What is asked.
    pub question: Question,
    /// How to answer.
    pub options: AnswerOptions,
    reply: oneshot::Sender<Result<Answered, Refusal>>,
    since: Instant,
}

impl Job {
    /// Nobody waits for it any more.
    pub fn is_dropped(&self) -> bool {
        self.reply.is_closed()
    }

    /// Gives the answer to who waits.
    pub fn finish(self, answered: Result<Answered, Refusal>) {
        // A client that went away needs none.
        let _ = self.reply.send(answered);
    }

    /// Since when it waits.
    pub fn waited(&self) -> Duration {
        self.since.elapsed()
    }

    /// Whether both can be computed at once without a difference to either: candidates are ranked among all that are asked about, and draws go on from text to text.
    fn joins(&self, other: &Job) -> bool {
        let alone = |job: &Job| !job.question.is_plain() || job.options.sample.is_some() || job.loaded.model.task() == Task::Match;
        Arc::ptr_eq(&self.loaded, &other.loaded) && self.options == other.options && !alone(self) && !alone(other)
    }
}

/// The queue.
pub struct Queue {
    room: usize,
    waiting: Mutex<Waiting>,
    news: Condvar,
    /// Held by the thread that collects.
    turn: Mutex<()>,
}

#[derive(Default)]
struct Waiting {
    jobs: VecDeque<Job>,
    closed: bool,
}

impl Queue {
    /// With room for so many requests.
    pub fn new(room: usize) -> Self {
        Queue { room, waiting: Mutex::default(), news: Condvar::new(), turn: Mutex::new(()) }
    }

    fn waiting(&self) -> MutexGuard<'_, Waiting> {
        self.waiting.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a request at the end. Dropping what is returned cancels it.
    pub fn ask(
        &self,
        loaded: Arc<Loaded>,
        question: Question,
        options: AnswerOptions,
    ) -> Result<oneshot::Receiver<Result<Answered, Refusal>>, Refusal> {
        let (reply, answer) = oneshot::channel();
        let mut waiting = self.waiting();
        if waiting.closed {
            return Err(Refusal::unavailable("the server is stopping"));
        }
        if waiting.jobs.len() >= self.room {
            // Those that nobody waits for any more make room.
            waiting.jobs.retain(|job| !job.is_dropped());
        }
        if waiting.jobs.len() >= self.room {
            return Err(Refusal::busy(waiting.jobs.len()));
        }
        waiting.jobs.push_back(Job { loaded, question, options, reply, since: Instant::now() });
        self.news.notify_all();
        Ok(answer)
    }

    /// Requests that wait.
    pub fn len(&self) -> usize {
        self.waiting().jobs.len()
    }

    /// Takes no more requests; those that are there are answered.
    pub fn close(&self) {
        self.waiting().closed = true;
        self.news.notify_all();
    }

    /// Answers until the queue is closed and empty. `note` hears of every batch: its requests, its texts.
    pub fn work(&self, note: impl Fn(usize, usize)) {
        while let Some(batch) = self.batch() {
            note(batch.len(), batch.iter().map(|job| job.question.texts()).sum());
            answer(batch);
        }
    }

    /// The next requests that are answered together; none at the end.
    fn batch(&self) -> Option<Vec<Job>> {
        let _turn = self.turn.lock().unwrap_or_else(PoisonError::into_inner);
        let mut waiting = self.waiting();
        let first = loop {
            match waiting.jobs.pop_front() {
                Some(job) if job.is_dropped() => {}
                Some(job) => break job,
                None if waiting.closed => return None,
                None => waiting = self.news.wait(waiting).unwrap_or_else(PoisonError::into_inner),
            }
        };
        let until = Instant::now() + TOGETHER;
        let mut chars = first.question.chars();
        let mut batch = vec![first];
        loop {
            let mut at = 0;
            while at < waiting.jobs.len() && chars < BATCH_CHARS {
                match waiting.jobs[at].joins(&batch[0]) {
                    true => {
                        if let Some(job) = waiting.jobs.remove(at) {
                            chars += job.question.chars();
                            batch.push(job);
                        }
                    }
                    false => at += 1,
                }
            }
            let left = until.saturating_duration_since(Instant::now());
            if left.is_zero() || chars >= BATCH_CHARS || waiting.closed {
                return Some(batch);
            }
            waiting = self.news.wait_timeout(waiting, left).unwrap_or_else(PoisonError::into_inner).0;
        }
    }
}
