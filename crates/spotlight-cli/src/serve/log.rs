//! One line a request, on standard error. Neither texts nor keys nor queries are in it.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use clap::ValueEnum;
use serde_json::json;

/// The form of the log.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum Log {
    /// For people
    Text,
    /// One object a line
    Json,
    /// None
    Off,
}

/// What a handler adds to the line of its request.
#[derive(Clone, Debug)]
pub struct Note {
    /// The model that was asked.
    pub model: String,
    /// Texts that were asked about.
    pub texts: usize,
}

/// A request under way. It is written when it is answered; or when it is dropped, for a client that went away.
pub struct Entry {
    log: Log,
    method: String,
    path: String,
    begun: Instant,
    /// Status and note, once there is an answer.
    answered: Option<(u16, Option<Note>)>,
}

/// A client that went away before its answer.
pub const GONE: u16 = 499;

impl Entry {
    /// A request that begins.
    pub fn begin(log: Log, method: &str, path: &str) -> Self {
        Entry { log, method: method.into(), path: shown(path), begun: Instant::now(), answered: None }
    }

    /// Its end.
    pub fn end(mut self, status: u16, note: Option<Note>) {
        self.answered = Some((status, note));
    }

    /// How long it has taken.
    pub fn took(&self) -> Duration {
        self.begun.elapsed()
    }
}

impl Drop for Entry {
    fn drop(&mut self) {
        let (status, note) = self.answered.take().unwrap_or((GONE, None));
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let millis = self.begun.elapsed().as_secs_f64() * 1e3;
        let (method, path) = (&self.method, &self.path);
        match self.log {
            Log::Off => {}
            Log::Json => {
                let mut line = json!({"time": (now.as_secs_f64() * 1e3).round() / 1e3, "method": method, "path": path, "status": status, "ms": (millis * 100.0).round() / 100.0});
                if let Some(note) = note {
                    line["model"] = note.model.into();
                    line["texts"] = note.texts.into();
                }
                eprintln!("{line}");
            }
            Log::Text => {
                let (h, m, s) = (now.as_secs() / 3600 % 24, now.as_secs() / 60 % 60, now.as_secs() % 60);
                let note = note.map_or(String::new(), |note| format!("  {} texts to {}", note.texts, note.model));
                eprintln!("{h:02}:{m:02}:{s:02}  {status}  {method} {path}  {millis:.1} ms{note}");
            }
        }
    }
}

/// A path as it is safe to print: one line, not long, no control characters.
fn shown(path: &str) -> String {
    let plain = |c: char| if c.is_ascii_graphic() { c } else { '?' };
    let mut text: String = path.chars().take(80).map(plain).collect();
    if path.chars().nth(80).is_some() {
        text.push_str("...");
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_path_stays_on_its_line() {
        assert_eq!(shown("/a\n200  GET /fake\u{1b}[31m"), "/a?200??GET?/fake?[31m");
        assert_eq!(shown(&"x".repeat(200)).len(), 83);
    }
}
