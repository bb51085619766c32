//! From a file of examples to batches of numbers, and from numbers back to text.
//!
//! The modules stand in the order data meets them:
//!
//! 1. [`read`] turns a file into examples: pairs, labelled texts, questions with answers, bags of numbers. [`lines`] reads
//!    input for prediction, line by line.
//! 2. [`guess`] looks at the texts and chooses the [`units`] they are made of: characters, words or subwords.
//! 3. [`units`] cuts a text into units and joins units to text again. Its [`Tokenizer`] is trained from the data and numbers
//!    the units with a [`vocab`] or, for [`subwords`], with its own table. [`features`] adds units that are not text.
//! 4. [`batch`] puts examples of similar length together.
//!
//! [`vectors`] reads pretrained word vectors for the words of a vocabulary. Nothing in here knows what a model is.
//!
//! ```
//! use spotlight::text::{Tokenizer, UnitKind, UnitSettings};
//!
//! let settings = UnitSettings { kind: UnitKind::Words, ..UnitSettings::default() };
//! let words = Tokenizer::train(&settings, ["the cat", "the dog sleeps"])?;
//! let ids = words.ids("the dog");
//! assert_eq!(words.decode(&ids), "the dog");
//! # Ok::<(), spotlight::text::TextError>(())
//! ```

pub mod batch;
mod error;
pub mod features;
mod file;
pub mod guess;
pub mod inventory;
pub mod lines;
pub mod read;
#[cfg(test)]
mod real_data;
pub mod subwords;
pub mod units;
mod utf16;
pub mod vectors;
pub mod vocab;

pub use error::{Fault, Place, TextError};
pub use features::{FeaturePlace, Features};
pub use inventory::Inventory;
pub use lines::{Line, Lines};
pub use read::{Bag, Labelled, Pair, Question};
pub use units::{Tokenizer, Unit, UnitKind, UnitSettings};
pub use vocab::Vocab;
