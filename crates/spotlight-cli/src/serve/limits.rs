//! How much one request may ask for, and how long it may take.

use std::time::Duration;

use clap::Args;
use serde_json::{Value, json};

/// Limits of the server.
#[derive(Args, Clone, Debug)]
#[command(next_help_heading = "Limits")]
pub struct Limits {
    /// Bytes of a request's body
    #[arg(long, value_name = "N", default_value_t = 1_000_000)]
    pub max_body: usize,
    /// Texts of a request
    #[arg(long, value_name = "N", default_value_t = 256)]
    pub max_texts: usize,
    /// Characters of a text
    #[arg(long, value_name = "N", default_value_t = 2000)]
    pub max_chars: usize,
    /// Hypotheses of a search, and answers to a text
    #[arg(long, value_name = "N", default_value_t = 32)]
    pub max_beam: usize,
    /// Seconds until a request is given up
    #[arg(long, value_name = "S", default_value_t = 30)]
    pub timeout: u64,
    /// Seconds for a client to send its request, and to take up its answer
    #[arg(long, value_name = "S", default_value_t = 10)]
    pub read_timeout: u64,
    /// Requests that wait; more are answered with 429
    #[arg(long, value_name = "N", default_value_t = 256)]
    pub queue: usize,
    /// Connections at a time; more wait to be accepted
    #[arg(long, value_name = "N", default_value_t = 512)]
    pub connections: usize,
}

impl Limits {
    /// Until a request is given up.
    pub fn patience(&self) -> Duration {
        Duration::from_secs(self.timeout)
    }

    /// For headers, again for a body, and for a write that stands still.
    pub fn reading(&self) -> Duration {
        Duration::from_secs(self.read_timeout)
    }

    /// What a client should know of them.
    pub fn describe(&self) -> Value {
        json!({"body": self.max_body, "texts": self.max_texts, "characters": self.max_chars, "beam": self.max_beam, "seconds": self.timeout})
    }
}
