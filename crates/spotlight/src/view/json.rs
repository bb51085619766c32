//! Pictures as JSON, one object per line, every number in full precision.

use super::{Error, Page, Picture};
use serde::Serialize;

#[derive(Serialize)]
struct Record<'a> {
    #[serde(flatten)]
    picture: &'a Picture,
    note: &'a str,
}

/// Writes a page: a line per picture, with its `kind` (`matrix`, `shaded`, `match` or `bag`) and the fields of its structure.
pub fn draw(page: &Page) -> Result<String, Error> {
    let line = |picture| serde_json::to_string(&Record { picture, note: page.note() }).map_err(Error::Json);
    page.pictures().iter().map(|picture| line(picture).map(|line| line + "\n")).collect()
}
