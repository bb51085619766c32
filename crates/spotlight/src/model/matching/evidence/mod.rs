//! The form of a matcher that gives evidence: words and what of them agrees ([`words`]), features of a question and an answer ([`features`]), weights and what they
//! say ([`net`]), and how the weights are found ([`solve`]).

pub mod features;
pub mod net;
pub mod solve;
pub mod words;

pub use features::{Features, Known};
pub use net::{Contributions, EvidenceNet};
pub use words::Words;
