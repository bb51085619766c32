//! Counters of the server, in Prometheus' text form.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

/// Upper ends of the classes of duration, in seconds.
const CLASSES: [f64; 9] = [0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 1.0, 5.0, 30.0];

/// Counted since the server started.
#[derive(Debug, Default)]
pub struct Metrics {
    /// Answers by address and status.
    requests: Mutex<BTreeMap<(&'static str, u16), u64>>,
    /// Durations by class; the last is above all.
    durations: [AtomicU64; CLASSES.len() + 1],
    micros: AtomicU64,
    batches: AtomicU64,
    joined: AtomicU64,
    texts: AtomicU64,
}

impl Metrics {
    /// A request was answered. The address is one of those there are, not what a client typed.
    pub fn request(&self, route: &'static str, status: u16, took: Duration) {
        *self.requests.lock().unwrap_or_else(PoisonError::into_inner).entry((route, status)).or_default() += 1;
        let class = CLASSES.iter().position(|&end| took.as_secs_f64() <= end).unwrap_or(CLASSES.len());
        self.durations[class].fetch_add(1, Ordering::Relaxed);
        self.micros.fetch_add(took.as_micros() as u64, Ordering::Relaxed);
    }

    /// A batch of requests goes to a model.
    pub fn batch(&self, requests: usize, texts: usize) {
        self.batches.fetch_add(1, Ordering::Relaxed);
        self.joined.fetch_add(requests as u64, Ordering::Relaxed);
        self.texts.fetch_add(texts as u64, Ordering::Relaxed);
    }

    /// As text.
    pub fn text(&self, waiting: usize) -> String {
        let mut text = String::new();
        let mut line = |line: String| {
            text.push_str(&line);
            text.push('\n');
        };
        line("# TYPE spotlight_requests_total counter".into());
        for ((route, status), count) in self.requests.lock().unwrap_or_else(PoisonError::into_inner).iter() {
            line(format!("spotlight_requests_total{{path=\"{route}\",status=\"{status}\"}} {count}"));
        }
        line("# TYPE spotlight_request_seconds histogram".into());
        let mut sum = 0;
        for (class, count) in self.durations.iter().enumerate() {
            sum += count.load(Ordering::Relaxed);
            let end = CLASSES.get(class).map_or("+Inf".into(), f64::to_string);
            line(format!("spotlight_request_seconds_bucket{{le=\"{end}\"}} {sum}"));
        }
        line(format!("spotlight_request_seconds_sum {}", self.micros.load(Ordering::Relaxed) as f64 / 1e6));
        line(format!("spotlight_request_seconds_count {sum}"));
        line("# TYPE spotlight_queue_length gauge".into());
        line(format!("spotlight_queue_length {waiting}"));
        for (name, count) in [("batches", &self.batches), ("batched_requests", &self.joined), ("texts", &self.texts)] {
            line(format!("# TYPE spotlight_{name}_total counter"));
            line(format!("spotlight_{name}_total {}", count.load(Ordering::Relaxed)));
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn classes_add_up() {
        let metrics = Metrics::default();
        metrics.request("/health", 200, Duration::from_millis(1));
        metrics.request("/health", 200, Duration::from_millis(30));
        metrics.request("/api/predict", 429, Duration::from_secs(60));
        metrics.batch(3, 7);
        let text = metrics.text(2);
        for line in [
            "spotlight_requests_total{path=\"/health\",status=\"200\"} 2",
            "spotlight_requests_total{path=\"/api/predict\",status=\"429\"} 1",
            "spotlight_request_seconds_bucket{le=\"0.005\"} 1",
            "spotlight_request_seconds_bucket{le=\"0.05\"} 2",
            "spotlight_request_seconds_bucket{le=\"30\"} 2",
            "spotlight_request_seconds_bucket{le=\"+Inf\"} 3",
            "spotlight_queue_length 2",
            "spotlight_batched_requests_total 3",
            "spotlight_texts_total 7",
        ] {
            assert!(text.lines().any(|l| l == line), "{line}\n{text}");
        }
    }
}
