//! From files to examples.
//!
//! | examples | file | columns |
//! |---|---|---|
//! | [`Table::pairs`] | tab-separated | source, target, and features if there is a third |
//! | [`Table::labelled`] | tab-separated | text, label |
//! | [`Table::questions`] | tab-separated | (id,) question, answer, 0 or 1 |
//! | [`Table::bags`] | CSV | label, bag, numbers |
//!
//! That is how a file looks if nobody says otherwise; [`TableFormat`] says otherwise: another separator, a header, other columns. Files are UTF-8, or UTF-16 with a
//! byte order mark; lines end in LF or CRLF. A file called `.csv` is CSV, where fields may be quoted and hold separators, line ends and doubled quotes.
//!
//! Every example remembers its line, and whatever is not as it should be is an error with its place, which says what the file looks like if that can be told: a
//! header, another separator. Nothing is skipped silently: blank lines (but those at the end) and texts longer than a limit come back as [`Note`]s beside the
//! examples. The plain functions [`pairs`], [`labelled`], [`questions`] and [`bags`] read the usual layout and take even those for errors.
//!
//! Lines to be answered are read by [`Table::sources`], [`Table::texts`] and [`Table::candidates`], each a result of its own, where an empty line is an empty
//! text; a line that comes alone by [`source_of`], [`text_of`] and [`candidate_of`].

mod bags;
mod columns;
mod examples;
mod fields;
mod format;
mod inputs;
mod rows;
mod split;
mod table;

pub use bags::{Bag, BagColumns, bags};
pub use examples::{Examples, Note};
pub use format::{Header, TableFormat};
pub use inputs::{InputText, SourceText, candidate_of, source_of, text_of};
pub use split::{RARE, RareLabel, dev_share, rare_labels, rare_warning, split_dev, split_labelled};
pub use table::{Labelled, Pair, Question, Table, ThirdColumn, labelled, pairs, question_groups, questions};
