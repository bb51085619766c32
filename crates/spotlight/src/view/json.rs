//! Pictures as JSON, one object per line, every number in full precision.

use super::{Error, Page, Picture};
use serde::Serialize;

#[derive(Serialize)]
struct Record<'a> {
    #[serde(flatten)]
    picture: &'a Picture,
    /// The largest weight in times of an even spread.
    #[serde(skip_serializing_if = "Option::is_none")]
    most_times_uniform: Option<f32>,
    note: &'a str,
}

/// Writes a page: a line per picture, with its `kind` (`matrix`, `shaded`, `match`, `bag` or `stack`) and the fields of its structure.
pub fn draw(page: &Page) -> Result<String, Error> {
    let line = |picture: &Picture| {
        serde_json::to_string(&Record { picture, most_times_uniform: picture.most_times_uniform(), note: page.note() }).map_err(Error::Json)
    };
    page.pictures().iter().map(|picture| line(picture).map(|line| line + "\n")).collect()
}
