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
//!    A model lives in a [`folder`].
//! 6. [`view`] draws where a model looks.
//!
//! A model that is there already, from pairs of texts to an answer with its attention:
//!
//! ```
//! use spotlight::model::seq2seq::{Config, Transducer};
//! use spotlight::text::Pair;
//! use spotlight::train::Fit;
//!
//! let pair = |(source, target): (&str, &str)| Pair { source: source.into(), target: target.into(), features: None, line: 0 };
//! let pairs: Vec<Pair> = [("ab", "ba"), ("cd", "dc"), ("abc", "cba"), ("da", "ad")].map(pair).into();
//! let mut config = Config::default();
//! (config.model.hidden, config.model.embedding, config.train.epochs) = (16, 8, 2);
//!
//! let mut model = Transducer::new(config, &pairs)?;
//! let (learner, examples) = (model.learner(), model.examples(&pairs));
//! Fit::new().settings(&model.config.train).run(&learner, &mut model.params, &examples, &examples)?;
//!
//! let answers = model.answer(&[("abc", None)], &model.search_options(), false)?;
//! let best = &answers[0].hypotheses[0];
//! assert_eq!(best.hypothesis.attention.len(), best.tokens.len());
//! # Ok::<(), spotlight::Error>(())
//! ```
//!
//! A model of your own is layers and a loss. This one finds out which of its units makes a sequence good, and shows where it looked:
//!
//! ```
//! use spotlight::attention::{AttentionConfig, Pool, Pooled, ScoreKind};
//! use spotlight::nn::{Embedding, Linear};
//! use spotlight::train::{Fit, Learner};
//! use spotlight::{Float, Result, axis::Axis, params::Params, tape::Tape, tape::Var};
//!
//! struct Judge {
//!     units: Embedding,
//!     pool: Pool,
//!     output: Linear,
//! }
//!
//! impl Judge {
//!     fn read<T: Float>(&self, tape: &Tape<T>, texts: &[&[u32]]) -> Result<Pooled> {
//!         let rows = self.units.forward(tape, &texts.concat())?;
//!         let axis = Axis::new(texts.iter().map(|text| text.len()).collect::<Vec<_>>());
//!         self.pool.forward(tape, tape.on_axis(rows, &axis)?, None)
//!     }
//! }
//!
//! impl Learner for Judge {
//!     type Example = (Vec<u32>, u32);
//!
//!     fn loss<T: Float>(&self, tape: &Tape<T>, examples: &[&Self::Example], scale: f64) -> Result<Var> {
//!         let texts: Vec<&[u32]> = examples.iter().map(|e| &e.0[..]).collect();
//!         let labels: Vec<u32> = examples.iter().map(|e| e.1).collect();
//!         let pooled = self.read(tape, &texts)?;
//!         tape.cross_entropy(pooled.context, self.output.weight, self.output.bias, &labels, 0.0, scale)
//!     }
//! }
//!
//! let mut params = Params::new(1);
//! let judge = Judge {
//!     units: Embedding::new(&mut params, "units", 5, 8),
//!     pool: Pool::new(&mut params, "attention", &AttentionConfig::new(ScoreKind::Tanh), 8)?,
//!     output: Linear::new(&mut params, "output", 8, 2),
//! };
//! let examples = [(vec![0, 4, 1], 1), (vec![2, 0], 0), (vec![3, 1, 2, 4], 1), (vec![1, 3, 0, 2], 0)];
//! Fit::new().rate(0.05).run(&judge, &mut params, &examples, &examples)?;
//!
//! let tape = Tape::new(&params);
//! let looked = tape.to_vec(judge.read(&tape, &[&[3, 4, 0]])?.weights);
//! assert!(looked[1] > looked[0] && looked[1] > looked[2]);
//! # Ok::<(), spotlight::Error>(())
//! ```
//!
//! What is needed for a run that can be stopped and resumed is in [`train::Run`].

#![forbid(unsafe_code)]
#![warn(missing_docs)]

pub mod attention;
pub mod audit;
pub mod axis;
pub mod config;
pub mod decoder;
pub mod encoder;
pub mod error;
pub mod folder;
pub mod memory;
pub mod metrics;
pub mod model;
pub mod nn;
pub mod numeric;
mod packs;
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

#[cfg(test)]
#[path = "../tests/common/skip.rs"]
mod skip;
