//! From files to examples.
//!
//! | examples | file | columns |
//! |---|---|---|
//! | [`pairs`] | tab-separated | source, target, and features if there is a third |
//! | [`labelled`] | tab-separated | text, label |
//! | [`questions`] | tab-separated | (id,) question, answer, 0 or 1 |
//! | [`bags`] | CSV | label, bag, numbers |
//!
//! Files are UTF-8 without a header (a CSV may have one), lines end in LF or CRLF. Every example remembers its line, and
//! whatever is not as it should be is an error with its place: nothing is skipped, for a skipped line is a surprise later.
//! Input for prediction is read line by line with [`Lines`](super::Lines) instead, where an empty line is an empty text, and
//! its columns are told apart by [`source_of`].

mod bags;
mod split;
mod table;

pub use bags::{Bag, BagColumns, bags};
pub use split::split_dev;
pub use table::{Labelled, Pair, Question, SourceText, ThirdColumn, labelled, pairs, question_groups, questions, source_of};
