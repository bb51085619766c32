//! Layers of nothing but attention: the Transformer. Vaswani and others, 2017.
//!
//! An [`Encoder`] lets every row of a sequence look at the whole sequence, layer after layer; a [`Decoder`] lets every row look at those before it and at a memory.
//! A layer is two or three parts, attention and a feed-forward layer, each with a residual connection and a layer norm around it:
//!
//! ```text
//! post   x = norm(x + dropout(part(x)))         as in the paper
//! pre    x = x + dropout(part(norm(x)))         easier to train when there are many layers; one more norm at the end of the stack
//! ```
//!
//! Names and layouts are those of `torch.nn.TransformerEncoderLayer`, `TransformerDecoderLayer` and their stacks, so their weights load as they are. Rows are packed on a
//! dynamic axis: nothing is padded, so there is no mask for padding, and the cost is that of the positions that exist.
//!
//! [`Positions`] say where a row stands. [`Decoder::step`] goes on from a cache of keys and values, one table a layer with a row for each hypothesis, and costs what
//! one position costs.
//!
//! ```
//! use spotlight::axis::Axis;
//! use spotlight::nn::transformer::{Encoder, StackConfig};
//! use spotlight::params::Params;
//! use spotlight::tape::Tape;
//!
//! let mut params = Params::<f32>::new(1);
//! let config = StackConfig { layers: 2, heads: 2, feed_forward: 16, ..StackConfig::default() };
//! let encoder = Encoder::new(&mut params, "encoder", &config, 8)?;
//! let tape = Tape::new(&params);
//! let rows = tape.on_axis(tape.zeros(5, 8), &Axis::new([2, 3]))?;
//! let encoded = encoder.forward(&tape, rows, None, true)?;
//! assert_eq!(tape.shape(encoded.rows), (5, 8));
//! // For each layer the weights of all pairs, 2 x 2 and 3 x 3, a column for each head.
//! assert_eq!(tape.shape(encoded.weights[1]), (13, 2));
//! # Ok::<(), spotlight::Error>(())
//! ```

mod attention;
mod config;
mod decoder;
mod encoder;
mod parts;
mod positions;

pub use attention::SelfAttention;
pub use config::{Activation, NormPlace, StackConfig};
pub use decoder::{Decoded, Decoder, DecoderLayer, PreparedMemory, Relook, Stepped, Watched};
pub use encoder::{Encoded, Encoder, EncoderLayer};
pub use positions::{NOWHERE, PositionKind, Positions};
