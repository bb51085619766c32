//! The time that products take, packing included. Only with the feature `time-products`: a benchmark asks, nobody else pays.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

static NANOSECONDS: AtomicU64 = AtomicU64::new(0);

/// Time spent in products since the start of the program, all threads together.
pub fn in_products() -> Duration {
    Duration::from_nanos(NANOSECONDS.load(Ordering::Relaxed))
}

/// Counts from its start to its end.
pub(crate) struct Timer(Instant);

impl Timer {
    pub(crate) fn start() -> Self {
        Timer(Instant::now())
    }
}

impl Drop for Timer {
    fn drop(&mut self) {
        NANOSECONDS.fetch_add(self.0.elapsed().as_nanos() as u64, Ordering::Relaxed);
    }
}
