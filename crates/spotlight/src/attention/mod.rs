//! Attention: score, softmax, mix.
//!
//! A *memory* is the rows of a sequence. Attention looks at it in three boxes, and each box has one home:
//!
//! 1. [`score`]: how well does each position of the memory answer the query? One number for every (query, position) pair.
//! 2. [`softmax`]: turn the numbers of a query into weights that sum to one. Masks, sparse, hard, local and monotonic weights live here.
//! 3. [`mix()`]: the weighted sum of the memory's values, the *context*.
//!
//! [`Attention`] is the three in a row, and a mechanism is one of these with somebody who asks:
//!
//! - [`Pool`] asks with nothing, or with a query it learned, and makes one row of a whole sequence;
//! - [`RecurrentDecoder`](crate::decoder::RecurrentDecoder) asks with its state, before each step (Bahdanau) or after it (Luong);
//! - [`MultiHead`] asks with every row of a sequence, with several heads side by side.
//!
//! Pairs are packed: the weights of all queries are one table with a row for each pair and a column for each head, on [`Pairs::axis`]. Nothing is padded,
//! so no weight can leak onto padding; masks say what the caller means and nothing else.
//!
//! The attention of a well-known worked example, with all its numbers:
//!
//! ```
//! use spotlight::attention::{Attention, AttentionConfig, Question, ScoreKind};
//! use spotlight::axis::Axis;
//! use spotlight::params::Params;
//! use spotlight::tape::Tape;
//!
//! let mut params = Params::<f64>::new(0);
//! let attention = Attention::new(&mut params, "attention", &AttentionConfig::new(ScoreKind::Dot), 4, 4)?;
//! let tape = Tape::new(&params);
//! let source = Axis::new([3]);
//! let rows = tape.table(3, 4, vec![0.3, 0.11, 0.9, 0.5, 0.8, 0.3, 0.7, 0.1, 0.5, 0.3, 0.4, 0.8])?;
//! let query = tape.table(1, 4, vec![0.2, 0.7, 0.9, 0.3])?;
//!
//! let memory = attention.prepare(&tape, tape.on_axis(rows, &source)?)?;
//! let looked = attention.attend(&tape, &memory, &Question::of_items(Some(query), &[0], &source, 0)?)?;
//!
//! let rounded = |x| tape.to_vec(x).iter().map(|x| format!("{x:.3}")).collect::<Vec<_>>();
//! assert_eq!(rounded(looked.scores), ["1.097", "1.030", "0.910"]);
//! assert_eq!(rounded(looked.weights), ["0.362", "0.338", "0.300"]);
//! assert_eq!(rounded(looked.context), ["0.529", "0.231", "0.682", "0.455"]);
//! # Ok::<(), spotlight::Error>(())
//! ```
//!
//! [`Pairs::axis`]: crate::axis::Pairs::axis

mod attend;
mod config;
mod intervene;
mod mix;
mod multihead;
pub mod numbers;
mod pool;
pub(crate) mod rows;
pub mod score;
pub mod softmax;
mod streaming;

pub use attend::{Attended, Attention, Memory, MemoryTables, Question};
pub use config::{Asker, AttentionConfig, Place, Refused};
pub use intervene::{Glance, Intervening, Intervention};
pub use mix::{mix, mix_whole};
pub use multihead::{MultiHead, MultiHeadConfig};
pub use pool::{Pool, Pooled};
pub use score::{Score, ScoreConfig, ScoreKind};
pub use softmax::{Baseline, Mask, Normaliser, SoftmaxConfig, SoftmaxKind};
pub use streaming::{streaming_attention, streaming_weights};
