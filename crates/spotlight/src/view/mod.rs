//! Pictures of where a model looks.
//!
//! A model fills one of five plain structures, and every renderer draws the same numbers on the same named scale:
//!
//! 1. [`Matrix`]: source units across the top, output units down the side; [`Shaded`]: a classified text; [`Match`]: a question and
//!    an answer; [`Bag`]: a set of rows; [`Stack`]: layers by heads. [`Picture`] is any of them.
//! 2. [`Page::new`] checks that shapes and labels agree and that every weight is a number from 0 to 1. Only a checked page can be
//!    drawn, so a picture is never silently wrong.
//! 3. A renderer draws the page: [`ascii`], [`terminal`], [`svg`], `png` (a feature, on by default), [`html`] or [`json`].
//!
//! A weight is read on one of three scales ([`scale`]): from 0 to 1, stretched to the largest, or in times of an even spread. Colours
//! come from the tables of a [`palette`]. Labels come from users and are drawn as text, whatever they hold ([`label`]).
//! Every drawing carries the [`CAVEAT`]. [`curves`] draws the course of a training run.
//!
//! ```
//! use spotlight::view::{Matrix, Page, ascii};
//!
//! let matrix = Matrix {
//!     input: "ab".into(),
//!     text: "ba".into(),
//!     source: vec!["a".into(), "b".into()],
//!     output: vec!["b".into(), "a".into()],
//!     heads: vec![vec![vec![0.0, 1.0], vec![0.95, 0.05]]],
//!     ..Matrix::default()
//! };
//! let page = Page::new(vec![matrix.into()])?;
//! let drawing = ascii::draw(&page, 80);
//! assert!(drawing.contains("'b' | @|"));
//! assert!(drawing.contains("'a' |@ |"));
//! # Ok::<(), spotlight::view::Error>(())
//! ```

mod ansi;
pub mod ascii;
pub mod curves;
#[cfg(feature = "png")]
mod fonts;
pub mod html;
pub mod json;
pub mod label;
mod merge;
mod page;
pub mod palette;
mod picture;
#[cfg(feature = "png")]
pub mod png;
pub mod scale;
pub mod sheet;
mod stack;
pub mod svg;
pub mod terminal;
mod textual;

pub use merge::groups;
pub use page::{Error, Page};
pub use picture::{Bag, End, Images, Match, Matrix, Picture, Shaded, Weighted, Weights};
pub use stack::{Layer, Masked, Panel, Stack};

/// What a picture of attention does and does not show. Every drawing carries it.
pub const CAVEAT: &str = "shows where the context came from, not why the model decided";
