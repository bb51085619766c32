//! Attention: score, softmax, mix.

mod decoder;
mod streaming;

pub use decoder::{AdditiveDecoder, Decoded};
pub use streaming::{streaming_attention, streaming_weights};
