//! Pictures as JSON, one object per line, every number in full precision.

use super::{CAVEAT, Error, Page, Picture};
use serde::Serialize;

#[derive(Serialize)]
struct Record<'a> {
    #[serde(flatten)]
    picture: &'a Picture,
    note: &'static str,
}

/// Writes a page: a line per picture, with its `kind` (`matrix`, `shaded`, `match`, `bag` or `stack`) and the fields of its structure.
pub fn draw(page: &Page) -> Result<String, Error> {
    let line = |picture| serde_json::to_string(&Record { picture, note: CAVEAT }).map_err(Error::Json);
    page.pictures().iter().map(|picture| line(picture).map(|line| line + "\n")).collect()
}
