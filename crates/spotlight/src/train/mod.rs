//! Learning: optimisers, schedules, and threads that share a batch.

pub mod optim;
pub mod parallel;
pub mod schedule;
