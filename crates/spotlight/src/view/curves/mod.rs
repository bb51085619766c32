//! The course of a training run: losses and metrics over time, as SVG, PNG or in a terminal.
//!
//! ```
//! use spotlight::view::curves::{Curves, Record};
//! use spotlight::view::terminal::Color;
//!
//! let at = |epoch: f64, loss: f64, accuracy: f64| Record {
//!     at: epoch,
//!     values: vec![("train loss".into(), loss), ("dev accuracy".into(), accuracy)],
//! };
//! let curves = Curves {
//!     title: "dates".into(),
//!     axis: "epoch".into(),
//!     records: vec![at(1.0, 2.4, 0.1), at(2.0, 0.8, 0.7), at(3.0, 0.3, 0.99)],
//!     kept: Some(3.0),
//!     ..Curves::default()
//! };
//! assert!(curves.svg().contains("dev accuracy"));
//! assert!(curves.terminal(60, Color::None).contains("train loss"));
//! ```

mod chart;
mod svg;
mod terminal;

use super::palette::Theme;
use super::terminal::Color;
use super::{Error, png};
use serde::Serialize;

/// What was measured at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Record {
    /// When: an epoch or a step. A record whose time is not finite is not drawn.
    pub at: f64,
    /// The values by name. A value that is not finite leaves a gap in its line.
    pub values: Vec<(String, f64)>,
}

/// A training run to draw. Alone, losses share a chart, values between 0 and 1 share another, and anything else has its own.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub struct Curves {
    /// What was trained.
    pub title: String,
    /// What `at` counts: epochs or steps.
    pub axis: String,
    /// The measurements in order of time.
    pub records: Vec<Record>,
    /// When the model that is kept was measured, if that is known: it is marked, and its numbers stand beside the names.
    pub kept: Option<f64>,
    /// What needs to be said of the curves.
    pub notes: Vec<String>,
    /// Other runs to compare with. Then every measure has a chart, with a line for each run.
    pub compared: Vec<Curves>,
    /// The paper of SVG and PNG.
    #[serde(skip)]
    pub theme: Theme,
}

impl Curves {
    /// The curves as SVG.
    pub fn svg(&self) -> String {
        svg::draw(self)
    }

    /// The curves as PNG, `scale` pixels to a unit of the SVG.
    pub fn png(&self, scale: f32) -> Result<Vec<u8>, Error> {
        png::render(&self.svg(), scale)
    }

    /// The curves in at most `width` columns of a terminal.
    pub fn terminal(&self, width: usize, color: Color) -> String {
        terminal::draw(self, width, color)
    }
}
