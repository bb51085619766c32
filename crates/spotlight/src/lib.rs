//! Attention-based sequence models on a dynamic axis.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod demo;
pub mod metrics;
