//! Attention-based sequence models: train them in minutes on a CPU, and see where they look.
//!
//! The modules stand in the order an example meets them:
//!
//! 1. [`text`] reads a file and cuts texts into numbered units.
//! 2. [`axis`] packs sequences of any lengths into one table, without padding.
//! 3. [`tape`] computes with such tables and sends gradients back; [`params`] holds the numbers that are learnt, [`nn`] the layers made of them.
//! 4. [`encoder`] reads a sequence; [`attention`] scores such a memory, turns the scores into weights, and mixes the memory by them; [`decoder`] writes a sequence and
//!    looks back at the memory, and [`search`] finds the best one it can write.
//! 5. [`model`] puts these together: transducer, classifier, matcher, bags. [`train`] teaches them, [`metrics`] measures them.
//! 6. [`view`] draws where a model looks.
//!
//! The whole way in a few lines:
//!
//! ```
//! use std::sync::atomic::AtomicBool;
//! use spotlight::model::seq2seq::{Config, Transducer};
//! use spotlight::text::Pair;
//! use spotlight::train::run::CHECKPOINT_EVERY;
//! use spotlight::train::{Evaluation, Run, Tick, Watch};
//!
//! struct Quiet;
//! impl Watch for Quiet {
//!     fn tick(&mut self, _: Tick) {}
//!     fn evaluated(&mut self, _: &Evaluation) {}
//! }
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let pair = |(source, target): (&str, &str)| Pair { source: source.into(), target: target.into(), features: None, line: 0 };
//! let pairs: Vec<Pair> = [("ab", "ba"), ("cd", "dc"), ("abc", "cba"), ("da", "ad")].map(pair).into();
//!
//! let mut config = Config::default();
//! (config.model.hidden, config.model.embedding, config.train.epochs) = (16, 8, 2);
//! let mut model = Transducer::new(config, &pairs)?;
//!
//! let folder = tempfile::tempdir()?;
//! let (learner, examples, settings) = (model.learner(), model.examples(&pairs), model.config.train.clone());
//! let stop = AtomicBool::new(false);
//! let run = Run {
//!     folder: folder.path(),
//!     settings: &settings,
//!     seed: 1,
//!     fingerprint: "pairs".into(),
//!     resume: false,
//!     checkpoint_every: CHECKPOINT_EVERY,
//!     stop: &stop,
//! };
//! run.train(&learner, &mut model.params, &examples, &examples, &mut Quiet)?;
//!
//! let answers = model.answer(&[("abc", None)], &model.search_options(), false)?;
//! let best = &answers[0].hypotheses[0];
//! assert_eq!(best.hypothesis.attention.len(), best.tokens.len());
//! # Ok(())
//! # }
//! ```

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod attention;
pub mod axis;
pub mod config;
pub mod decoder;
pub mod encoder;
pub mod error;
pub mod metrics;
pub mod model;
pub mod nn;
pub mod numeric;
pub mod params;
pub mod search;
pub mod tape;
pub mod text;
pub mod train;
pub mod view;
pub mod weights;

pub use error::{Error, Result};
pub use spotlight_kernels::Float;
pub use spotlight_kernels::cell::Cell;
