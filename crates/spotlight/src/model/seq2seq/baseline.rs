//! What a user would try first with pairs: copy the source, or remember.

use std::collections::{BTreeMap, HashMap};

use super::Transducer;
use crate::Result;
use crate::metrics::{self, Segments};
use crate::model::describe::Baseline;
use crate::model::head::nothing_to_measure;
use crate::text::Pair;
use crate::train::Measure;

/// The most frequent target of each source with its features; of equally frequent ones the first in the alphabet.
fn remembered(train: &[Pair]) -> HashMap<(&str, Option<&str>), &str> {
    let mut counts: HashMap<(&str, Option<&str>), BTreeMap<&str, usize>> = HashMap::new();
    for pair in train {
        *counts.entry((&pair.source, pair.features.as_deref())).or_default().entry(&pair.target).or_default() += 1;
    }
    // The last of the largest is taken, so the order is turned.
    counts.into_iter().filter_map(|(key, targets)| Some((key, targets.into_iter().rev().max_by_key(|target| target.1)?.0))).collect()
}

impl Transducer {
    /// What the simple ways reach; what remembers learns from `train`, if it is there.
    pub(super) fn simple(&self, train: Option<Vec<Pair>>, rows: &[Pair]) -> Result<Vec<Baseline>> {
        let copies: Vec<&str> = rows.iter().map(|pair| pair.source.as_str()).collect();
        let mut found = vec![Baseline::new("copying the source", self.reached(rows, &copies)?)];
        if let Some(train) = train {
            let known = remembered(&train);
            let recalled: Vec<&str> =
                rows.iter().map(|p| known.get(&(p.source.as_str(), p.features.as_deref())).copied().unwrap_or(&p.source)).collect();
            found.push(Baseline::new("remembering or copying", self.reached(rows, &recalled)?));
        }
        Ok(found)
    }

    fn reached(&self, rows: &[Pair], texts: &[&str]) -> Result<Vec<Measure>> {
        let examples = self.examples(rows);
        let keys: Vec<&str> = examples.iter().map(|e| e.key.as_str()).collect();
        let references: Vec<&str> = examples.iter().map(|e| e.reference.as_str()).collect();
        let segments = Segments::by_source(&keys, texts, &references).map_err(nothing_to_measure)?;
        let mut measures = vec![Measure::rising("accuracy", metrics::exact_match(&segments))];
        if !self.config.target.units.spells() {
            measures.push(Measure::rising("bleu", metrics::bleu(&segments, metrics::Tokenizer::V13a).score).up_to(100.0));
        }
        Ok(measures)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::resolve;
    use crate::model::seq2seq::Config;

    fn pair(source: &str, target: &str) -> Pair {
        Pair { source: source.into(), target: target.into(), features: None, line: 1 }
    }

    #[test]
    fn the_most_frequent_target_is_remembered() {
        let train = [pair("a", "x"), pair("a", "y"), pair("a", "y"), pair("b", "w"), pair("b", "v")];
        let known = remembered(&train);
        assert_eq!((known[&("a", None)], known[&("b", None)]), ("y", "v"));
    }

    #[test]
    fn copies_and_memories_are_measured() {
        let train = vec![pair("ab", "ba"), pair("cd", "dc")];
        let config = resolve(&Config::default(), "", &["model.embedding=4".into(), "model.hidden=6".into()]).unwrap();
        let model = Transducer::new(config, &train).unwrap();
        let rows = [pair("ab", "ba"), pair("e", "e"), pair("cd", "d"), pair("f", "g")];
        let accuracy = |train| -> Vec<f64> { model.simple(train, &rows).unwrap().iter().map(|b| b.measures[0].value).collect() };
        assert_eq!(accuracy(Some(train)), [0.25, 0.5]);
        assert_eq!(accuracy(None), [0.25]);
    }
}
