//! Which unit of the target each unit of a source is when it is copied.
//!
//! What is copied may be unknown to the target's vocabulary: within one example such units get temporary numbers behind those of the vocabulary, in the order they stand in the source
//! (See, Liu and Manning, 2017, section 2.2). And it may be unknown to the source's vocabulary, where all unknown units have one number and could not be told from each other: so
//! [`Copies::number`] gives them numbers behind those of the source.

use std::collections::HashMap;
use std::sync::Arc;

use crate::text::vocab::{SPECIALS, UNKNOWN};
use crate::text::{Tokenizer, Unit};

/// What a source unit becomes when it is copied.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Becomes {
    /// This unit of the target.
    Target(u32),
    /// A unit that the target does not know.
    New,
    /// It cannot be copied: a feature, or a special unit.
    Nothing,
}

/// From the units of a source to those of a target.
#[derive(Clone, Debug)]
pub struct Copies {
    /// For each unit of the source, features behind them.
    known: Arc<Vec<Becomes>>,
    /// The number of each unit of the target.
    targets: Arc<HashMap<String, u32>>,
    /// Units of the target, special ones included.
    size: u32,
}

impl Copies {
    /// For these vocabularies, and so many features behind the units of the source.
    pub fn new(source: &Tokenizer, features: usize, target: &Tokenizer) -> Self {
        let specials = SPECIALS.len() as u32;
        let size = target.len() as u32;
        let targets: HashMap<String, u32> = (specials..size).filter_map(|id| Some((target.text(id)?.to_string(), id))).collect();
        let becomes = |id: u32| match source.text(id) {
            Some(text) => targets.get(text).map_or(Becomes::New, |&target| Becomes::Target(target)),
            None => Becomes::Nothing,
        };
        let mut known: Vec<Becomes> = (0..source.len() as u32).map(becomes).collect();
        known.resize(known.len() + features, Becomes::Nothing);
        Copies { known: Arc::new(known), targets: Arc::new(targets), size }
    }

    fn becomes(&self, id: u32) -> Becomes {
        match (self.known.get(id as usize), (id as usize).checked_sub(self.known.len())) {
            (Some(&becomes), _) => becomes,
            // The target knows what the source does not.
            (None, Some(behind)) if behind < self.size as usize => Becomes::Target(behind as u32),
            _ => Becomes::New,
        }
    }

    /// Gives those units of a text that are unknown to the source numbers by which they can be told from each other.
    pub fn number(&self, units: &mut [Unit]) {
        let first = self.known.len() as u32;
        let mut strangers: Vec<String> = Vec::new();
        for unit in units.iter_mut().filter(|unit| unit.id == UNKNOWN) {
            unit.id = match self.targets.get(&unit.text) {
                Some(target) => first + target,
                None => {
                    let seen = strangers.iter().position(|stranger| *stranger == unit.text);
                    let place = seen.unwrap_or_else(|| {
                        strangers.push(unit.text.clone());
                        strangers.len() - 1
                    });
                    first + self.size + place as u32
                }
            };
        }
    }

    /// For each unit of one source the number it is copied under, if it can be copied: a unit of the target, or a temporary number behind them.
    pub fn of(&self, source: &[u32]) -> Vec<Option<u32>> {
        let mut new: Vec<u32> = Vec::new();
        let number = |&id: &u32| match self.becomes(id) {
            Becomes::Target(target) => Some(target),
            Becomes::Nothing => None,
            Becomes::New => {
                let seen = new.iter().position(|&seen| seen == id);
                let place = seen.unwrap_or_else(|| {
                    new.push(id);
                    new.len() - 1
                });
                Some(self.size + place as u32)
            }
        };
        source.iter().map(number).collect()
    }

    /// The units of one source that the target does not know, in the order of their temporary numbers.
    pub fn beyond(&self, source: &[Unit]) -> Vec<String> {
        let ids: Vec<u32> = source.iter().map(|unit| unit.id).collect();
        let mut texts: Vec<String> = Vec::new();
        for (number, unit) in self.of(&ids).into_iter().zip(source) {
            if number == Some(self.size + texts.len() as u32) {
                texts.push(unit.text.clone());
            }
        }
        texts
    }
}

/// The units of a target text; those that are unknown and stand among `beyond` get their temporary numbers.
pub fn target_ids(target: &Tokenizer, text: &str, beyond: &[String]) -> Vec<u32> {
    let number = |unit: Unit| match beyond.iter().position(|new| unit.id == UNKNOWN && *new == unit.text) {
        Some(place) => (target.len() + place) as u32,
        None => unit.id,
    };
    target.encode(text).into_iter().map(number).collect()
}

/// The text of a unit with a temporary number.
pub fn beyond_text<'b>(target: &Tokenizer, id: u32, beyond: &'b [String]) -> Option<&'b str> {
    beyond.get((id as usize).checked_sub(target.len())?).map(String::as_str)
}

/// An answer as text, with units that the target does not know.
pub fn decode(target: &Tokenizer, ids: &[u32], beyond: &[String]) -> String {
    let unknown = SPECIALS[UNKNOWN as usize];
    target.decode_with(ids, |place| beyond_text(target, ids[place], beyond).unwrap_or(unknown).to_string())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::text::UnitSettings;

    #[test]
    fn every_unit_of_a_source_has_its_number() {
        let units = |text: &str| Tokenizer::train(&UnitSettings::default(), [text]).unwrap();
        let (source, target) = (units("abq"), units("bcz"));
        let copies = Copies::new(&source, 1, &target);
        // Known to both, to the source alone, to the target alone, and twice two that nobody knows; then a feature, and one that is unknown.
        let mut text = source.encode("baz?!?");
        copies.number(&mut text);
        let mut ids: Vec<u32> = text.iter().map(|unit| unit.id).collect();
        ids.extend([source.len() as u32, UNKNOWN]);
        let [b, z] = ["b", "z"].map(|unit| target.ids(unit)[0]);
        let new = target.len() as u32;
        assert_eq!(copies.of(&ids), [Some(b), Some(new), Some(z), Some(new + 1), Some(new + 2), Some(new + 1), None, None]);
        let beyond = copies.beyond(&text);
        assert_eq!(beyond, ["a", "?", "!"]);
        // And back: what neither knows is known here, what stands nowhere in the source is not.
        let written = target_ids(&target, "?b!~", &beyond);
        assert_eq!(written, [new + 1, b, new + 2, UNKNOWN]);
        assert_eq!(decode(&target, &written, &beyond), "?b!<unk>");
    }
}
