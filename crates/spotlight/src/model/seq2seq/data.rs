//! From pairs of texts to examples of numbers.

use std::path::Path;

use super::align::{Gold, Link};
use super::config::Config;
use super::copies::{self, Copies};
use super::distil::Said;
use super::neighbours::Neighbour;
use crate::Result;
use crate::text::units::composed;
use crate::text::vocab::END;
use crate::text::{FeaturePlace, Features, Pair, Tokenizer, Unit, UnitKind};

/// A pair, ready for the network.
#[derive(Clone, Debug, PartialEq)]
pub struct Example {
    /// Source units, features among them.
    pub source: Vec<u32>,
    /// Target units and the end; never empty.
    pub target: Vec<u32>,
    /// Units of the source that can be copied and that the target does not know, in the order of their temporary numbers.
    pub beyond: Vec<String>,
    /// Links to be learnt: a unit of the target and one of the source.
    pub links: Vec<(usize, usize)>,
    /// What a teacher says at each unit of the target; empty without one.
    pub said: Said,
    /// What stands around the source, if that is counted.
    pub around: Vec<Neighbour>,
    /// What the answer is asked for, as text: examples with the same one share their references.
    pub key: String,
    /// The target as text.
    pub reference: String,
    /// Line of the file.
    pub line: usize,
}

/// The vocabularies of a transducer.
#[derive(Clone, Debug)]
pub struct Vocabularies {
    /// Of the source.
    pub source: Tokenizer,
    /// Of the target.
    pub target: Tokenizer,
    /// Of the third column.
    pub features: Option<Features>,
    /// What units of the source can be copied, if the model copies.
    pub copies: Option<Copies>,
}

const SOURCE: &str = "source";
const TARGET: &str = "target";
const FEATURES: &str = "features.txt";

impl Vocabularies {
    /// Takes the units from training pairs.
    pub fn train(config: &Config, pairs: &[Pair]) -> Result<Self> {
        let source = Tokenizer::train(&config.source.settings(), pairs.iter().map(|p| p.source.as_str()))?;
        let target = Tokenizer::train(&config.target.settings(), pairs.iter().map(|p| p.target.as_str()))?;
        let columns = pairs.iter().filter_map(|p| p.features.as_deref());
        let features = config.data.features.then(|| Features::new(columns, source.len(), FeaturePlace::Append));
        Ok(Self::joined(source, target, features, config.model.copy))
    }

    fn joined(source: Tokenizer, target: Tokenizer, features: Option<Features>, copy: bool) -> Self {
        let copies = copy.then(|| Copies::new(&source, features.as_ref().map_or(0, Features::len), &target));
        Vocabularies { source, target, features, copies }
    }

    /// These units, and behind them those of new pairs.
    pub fn grown(&self, config: &Config, pairs: &[Pair]) -> Result<Self> {
        let source = self.source.grown(&config.source.settings(), pairs.iter().map(|p| p.source.as_str()))?;
        let target = self.target.grown(&config.target.settings(), pairs.iter().map(|p| p.target.as_str()))?;
        let columns = pairs.iter().filter_map(|p| p.features.as_deref());
        let features = self.features.as_ref().map(|known| known.grown(columns, source.len()));
        Ok(Self::joined(source, target, features, self.copies.is_some()))
    }

    /// Links between words as links between units: of the target, of the source.
    pub(super) fn unit_links(&self, pair: &Pair, links: &Gold) -> Vec<(usize, usize)> {
        let (source, target) = (self.source.word_of(&self.source.ids(&pair.source)), self.target.word_of(&self.target.ids(&pair.target)));
        let units = |words: &[usize], word: usize| (0..words.len()).filter(|&i| words[i] == word).collect::<Vec<_>>();
        let of_link = |&(s, t): &Link| {
            let sources = units(&source, s);
            units(&target, t).into_iter().flat_map(move |t| sources.clone().into_iter().map(move |s| (t, s))).collect::<Vec<_>>()
        };
        links.sure.iter().flat_map(of_link).collect()
    }

    /// Whether both have the same units under the same numbers.
    pub fn same_as(&self, other: &Vocabularies) -> bool {
        let same = |a: &Tokenizer, b: &Tokenizer| {
            a.kind() == b.kind() && a.len() == b.len() && (0..a.len() as u32).all(|id| a.text(id) == b.text(id))
        };
        same(&self.source, &other.source) && same(&self.target, &other.target) && self.features == other.features
    }

    /// Numbers of units of both sides.
    pub fn sizes(&self) -> (usize, usize) {
        (self.source.len() + self.features.as_ref().map_or(0, Features::len), self.target.len())
    }

    /// The number of the first feature among the source's units, if there are features.
    pub(super) fn first_feature(&self) -> Option<usize> {
        self.features.as_ref().map(|_| self.source.len())
    }

    /// The units of a source, features joined to it.
    pub fn source_units(&self, text: &str, features: Option<&str>) -> Vec<Unit> {
        let mut units = self.source.encode(text);
        if let Some(copies) = &self.copies {
            copies.number(&mut units);
        }
        match (&self.features, features) {
            (Some(known), Some(column)) => known.join(units, column),
            _ => units,
        }
    }

    /// How many of a source's units its features are; they stand behind those of the text.
    pub(super) fn feature_units(&self, features: Option<&str>) -> usize {
        self.features.as_ref().zip(features).map_or(0, |(known, column)| known.encode(column).len())
    }

    /// Units of a source that can be copied and that the target does not know, in the order of their temporary numbers.
    pub fn beyond(&self, source: &[Unit]) -> Vec<String> {
        self.copies.as_ref().map_or_else(Vec::new, |copies| copies.beyond(source))
    }

    /// The units of a target text, those that can only be copied among them.
    pub fn target_ids(&self, text: &str, beyond: &[String]) -> Vec<u32> {
        copies::target_ids(&self.target, text, beyond)
    }

    /// What a unit of an answer looks like.
    pub(super) fn target_text(&self, id: u32, beyond: &[String]) -> String {
        let known = self.target.text(id).or_else(|| copies::beyond_text(&self.target, id, beyond));
        known.map_or_else(|| self.target.display(id), str::to_string)
    }

    /// What a source unit looks like.
    pub fn display_source(&self, unit: &Unit) -> String {
        let feature = self.features.as_ref().and_then(|f| f.display(unit.id));
        feature.map_or_else(|| unit.text.clone(), str::to_string)
    }

    /// A pair as numbers. With `alternatives` it shares its references with the pairs of the same source.
    pub fn example(&self, pair: &Pair, alternatives: bool) -> Example {
        let units = self.source_units(&pair.source, pair.features.as_deref());
        let source = units.iter().map(|u| u.id).collect();
        let beyond = self.beyond(&units);
        let mut target = self.target_ids(&pair.target, &beyond);
        target.push(END);
        let mut key = format!("{}\t{}", pair.source, pair.features.as_deref().unwrap_or_default());
        if !alternatives {
            key += &format!("\t{}", pair.line);
        }
        Example {
            source,
            target,
            beyond,
            links: Vec::new(),
            said: Said::new(),
            around: Vec::new(),
            key,
            reference: self.reference(&pair.target),
            line: pair.line,
        }
    }

    /// The target as an answer can look: characters as they are, parts of them joined, words and subwords with single spaces between them.
    fn reference(&self, text: &str) -> String {
        match self.target.kind() {
            UnitKind::Chars => text.to_string(),
            UnitKind::Nfd => composed(text),
            _ => text.split_whitespace().collect::<Vec<_>>().join(" "),
        }
    }

    /// Writes the vocabularies.
    pub fn save(&self, folder: &Path) -> Result<()> {
        self.source.save(folder, SOURCE)?;
        self.target.save(folder, TARGET)?;
        if let Some(features) = &self.features {
            features.save(folder.join(FEATURES))?;
        }
        Ok(())
    }

    /// Reads what [`Vocabularies::save`] wrote.
    pub fn load(config: &Config, folder: &Path) -> Result<Self> {
        let source = Tokenizer::load(&config.source.settings(), folder, SOURCE)?;
        let target = Tokenizer::load(&config.target.settings(), folder, TARGET)?;
        let features = match config.data.features {
            true => Some(Features::load(folder.join(FEATURES), source.len(), FeaturePlace::Append)?),
            false => None,
        };
        Ok(Self::joined(source, target, features, config.model.copy))
    }
}
