//! The section of a recipe that says what a text is cut into.

use serde::{Deserialize, Serialize};

use crate::text::{UnitKind, UnitSettings};

/// `[source]`, `[target]` or `[text]` of a recipe.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct UnitSection {
    /// `chars`, `nfd` (the parts of characters: letter and accent, the sounds of a Korean syllable), `words`, `bpe` or `unigram`.
    pub units: UnitKind,
    /// The most units to keep; 0 for all characters or words, and for the usual number of subwords.
    pub vocab_size: usize,
    /// Units that occur fewer times are unknown.
    pub min_count: u64,
    /// Whether texts are turned to lower case first.
    pub lowercase: bool,
}

impl Default for UnitSection {
    fn default() -> Self {
        UnitSection::from(UnitSettings::default())
    }
}

impl From<UnitSettings> for UnitSection {
    fn from(settings: UnitSettings) -> Self {
        UnitSection {
            units: settings.kind,
            vocab_size: settings.vocab_size.unwrap_or(0),
            min_count: settings.min_count,
            lowercase: settings.lowercase,
        }
    }
}

impl UnitSection {
    /// In the words of the text module.
    pub fn settings(&self) -> UnitSettings {
        UnitSettings {
            kind: self.units,
            vocab_size: (self.vocab_size > 0).then_some(self.vocab_size),
            min_count: self.min_count,
            lowercase: self.lowercase,
        }
    }
}
