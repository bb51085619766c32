//! How good is a model: the measures of every task, computed from plain strings and numbers.
//!
//! Nothing here knows of models. Each measure is a pure function of what was predicted and what is
//! right, and where the field has a program everyone compares with, the numbers equal that
//! program's:
//!
//! | task | measures | equal to |
//! |---|---|---|
//! | transduction | [`exact_match`], [`word_error_rate`], [`edit_rate`] (CER), [`bleu`], [`chrf`] | sacrebleu, to the printed digits |
//! | classification | [`Confusion`]: accuracy, macro F1, a row per class; [`roc_auc`] | scikit-learn |
//! | ranking | [`rank_scores`]: MAP and MRR; the baseline [`IdfOverlap`] | trec_eval |
//! | confidence | [`calibration_error`] (ECE), [`accuracy_of_surest`], [`coverage`] | |
//! | two models | [`paired_bootstrap`] over [`Tallies`]: is the difference chance? | |
//! | several runs | [`Spread`]: mean and sample standard deviation | |
//!
//! Input is checked once. [`Segments`] holds hypotheses beside their references and can only be
//! built from lists that fit together, so the measures that take it cannot fail; the others return
//! a [`MetricError`] that says what is wrong.
//!
//! A [`Report`] collects what was measured and prints it as a table or as JSON.
//!
//! ```
//! use spotlight::metrics::{Report, Segments, Style, Tokenizer, bleu, chrf, exact_match};
//!
//! let hypotheses = ["the cat sat on the mat", "a dog ran"];
//! let references = ["the cat sat on the mat", "the dog ran"];
//! let segments = Segments::single(&hypotheses, &references)?;
//!
//! let mut report = Report::new();
//! report.number("exact match", exact_match(&segments), Style::Share);
//! report.number("BLEU", bleu(&segments, Tokenizer::V13a).score, Style::Points);
//! report.number("chrF2", chrf(&segments).score, Style::Points);
//! assert_eq!(
//!     report.to_string(),
//!     "exact match  0.5000\n\
//!      BLEU          88.36\n\
//!      chrF2         87.02\n",
//! );
//! # Ok::<(), spotlight::metrics::MetricError>(())
//! ```

mod baseline;
mod bleu;
mod chrf;
mod confidence;
mod confusion;
mod edit;
mod error;
mod paired;
mod ranking;
mod report;
mod roc;
mod segments;
mod spread;
mod tokenize;

#[cfg(test)]
mod golden;

pub use baseline::IdfOverlap;
pub use bleu::{Bleu, MAX_ORDER, bleu};
pub use chrf::{CHAR_ORDER, Chrf, chrf};
pub use confidence::{Confident, Coverage, accuracy_of_surest, calibration_error, coverage};
pub use confusion::{ClassScore, Confusion};
pub use edit::{Unit, edit_distance, edit_rate, exact_match, word_error_rate};
pub use error::MetricError;
pub use paired::{Difference, Tallies, paired_bootstrap};
pub use ranking::{Candidate, RankScores, Unanswered, average_precision, rank_scores, rank_tallies, reciprocal_rank};
pub use report::{Report, Style};
pub use roc::roc_auc;
pub use segments::Segments;
pub use spread::Spread;
pub use tokenize::Tokenizer;
