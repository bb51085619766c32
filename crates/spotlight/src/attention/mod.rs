//! Attention: score, softmax, mix.

mod decoder;

pub use decoder::{AdditiveDecoder, Decoded};
