//! Attention-based sequence models on a dynamic axis.
#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod attention;
pub mod axis;
pub mod config;
pub mod demo;
pub mod error;
pub mod metrics;
pub mod model;
pub mod nn;
pub mod numeric;
pub mod params;
pub mod tape;
pub mod text;
pub mod train;
pub mod view;
pub mod weights;

pub use error::{Error, Result};
pub use spotlight_kernels::Float;
pub use spotlight_kernels::cell::Cell;
