//! Units that are not text: the tags of a third column, such as `N;GEN;SG`.
//!
//! Every tag becomes a unit of its own beside the source's. Tags have their own list, and their numbers begin where those of
//! the source's units end: the tag `N` and the letter `N` are different units.

use std::path::Path;

use serde::{Deserialize, Serialize};

use super::vocab::UNKNOWN;
use super::{Inventory, TextError, Unit};

/// What separates tags in their column.
pub const SEPARATOR: char = ';';

/// Where the features stand among the source's units.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum FeaturePlace {
    /// Behind the last unit of the text.
    #[default]
    Append,
    /// Before the first unit of the text.
    Prepend,
}

/// The features of the data and their numbers.
///
/// ```
/// use spotlight::text::{FeaturePlace, Features, Tokenizer, UnitSettings};
///
/// let chars = Tokenizer::train(&UnitSettings::default(), ["NNS"])?;
/// let features = Features::new(["N;SG", "N;PL"], chars.len(), FeaturePlace::Append);
/// let units = features.join(chars.encode("S"), "N;PL");
/// assert_eq!(units.iter().map(|unit| unit.text.as_str()).collect::<Vec<_>>(), ["S", "N", "PL"]);
/// assert_eq!(features.display(units[1].id), Some("N"));
/// # Ok::<(), spotlight::text::TextError>(())
/// ```
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Features {
    tags: Inventory,
    first_id: u32,
    place: FeaturePlace,
}

impl Features {
    /// The distinct features of all columns in alphabetical order, numbered from `first_id`: the number of source units.
    pub fn new<S: AsRef<str>>(columns: impl IntoIterator<Item = S>, first_id: usize, place: FeaturePlace) -> Self {
        let tags = columns.into_iter().flat_map(|column| tags(column.as_ref()).map(str::to_owned).collect::<Vec<_>>());
        Self { tags: Inventory::sorted(tags), first_id: first_id as u32, place }
    }

    /// These features and those of new columns, numbered from `first_id`.
    pub fn grown<S: AsRef<str>>(&self, columns: impl IntoIterator<Item = S>, first_id: usize) -> Self {
        let new = Self::new(columns, first_id, self.place);
        Self { tags: Inventory::sorted(self.tags.iter().chain(new.tags.iter())), ..new }
    }

    /// How many features there are: a source has `first_id + len` units in all.
    pub fn len(&self) -> usize {
        self.tags.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.tags.is_empty()
    }

    /// The units of a column; a feature that the training data did not have is unknown.
    pub fn encode(&self, column: &str) -> Vec<Unit> {
        let id = |tag| self.tags.position(tag).map_or(UNKNOWN, |position| self.first_id + position);
        tags(column).map(|tag| Unit { id: id(tag), text: tag.to_owned() }).collect()
    }

    /// A source's units with its features in their place.
    pub fn join(&self, mut units: Vec<Unit>, column: &str) -> Vec<Unit> {
        let mut features = self.encode(column);
        match self.place {
            FeaturePlace::Append => {
                units.append(&mut features);
                units
            }
            FeaturePlace::Prepend => {
                features.append(&mut units);
                features
            }
        }
    }

    /// All features in order.
    pub fn iter(&self) -> impl Iterator<Item = &str> {
        self.tags.iter()
    }

    /// The feature with this number; none if the number is not a feature's.
    pub fn display(&self, id: u32) -> Option<&str> {
        id.checked_sub(self.first_id).and_then(|position| self.tags.get(position))
    }

    /// Writes one feature per line.
    pub fn save(&self, path: impl AsRef<Path>) -> Result<(), TextError> {
        self.tags.save(path)
    }

    /// Reads what [`save`](Self::save) wrote.
    pub fn load(path: impl AsRef<Path>, first_id: usize, place: FeaturePlace) -> Result<Self, TextError> {
        Ok(Self { tags: Inventory::load(path)?, first_id: first_id as u32, place })
    }
}

/// The tags of a column.
pub fn tags(column: &str) -> impl Iterator<Item = &str> {
    column.split(SEPARATOR).map(str::trim).filter(|tag| !tag.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ids(units: &[Unit]) -> Vec<u32> {
        units.iter().map(|unit| unit.id).collect()
    }

    #[test]
    fn features_are_numbered_behind_the_units() {
        let features = Features::new(["V;SG", "N; PL;", ""], 10, FeaturePlace::Append);
        assert_eq!(features.len(), 4);
        assert_eq!(ids(&features.encode("N;PL;SG;V")), [10, 11, 12, 13]);
        assert_eq!(ids(&features.encode("DU;N")), [UNKNOWN, 10]);
        assert!(features.encode("").is_empty());
        assert_eq!([9, 10, 13, 14].map(|id| features.display(id)), [None, Some("N"), Some("V"), None]);
    }

    #[test]
    fn features_stand_before_or_behind_the_text() {
        let text = vec![Unit { id: 3, text: "x".into() }];
        let append = Features::new(["N;SG"], 4, FeaturePlace::Append);
        assert_eq!(ids(&append.join(text.clone(), "N;SG")), [3, 4, 5]);
        let prepend = Features::new(["N;SG"], 4, FeaturePlace::Prepend);
        assert_eq!(ids(&prepend.join(text, "N;SG")), [4, 5, 3]);
    }

    #[test]
    fn saving_and_loading_changes_nothing() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("features.txt");
        let features = Features::new(["N;GEN with blank;SG"], 7, FeaturePlace::Prepend);
        features.save(&path).unwrap();
        assert_eq!(std::fs::read_to_string(&path).unwrap(), "GEN\\swith\\sblank\nN\nSG\n");
        assert_eq!(Features::load(&path, 7, FeaturePlace::Prepend).unwrap(), features);
    }
}
