//! Gold links of units, and how far the largest weights agree with them.
//!
//! Two layouts are read. A line for each pair of texts, `0-0 1-2`: source unit and target unit, counted from 0. Or a line for each link, `1 4 3`: the number of the pair, source unit and
//! target unit, counted from 1, as the shared tasks on word alignment have them; what follows (`S`, `P`, a confidence) is not read.

use std::path::Path;

use super::bootstrap::bootstrap;
use super::report::Alignment;
use super::written::{largest, near_diagonal};
use crate::model::seq2seq::Transducer;
use crate::search::force;
use crate::text::Pair;
use crate::{Error, Result};

/// The links of each pair.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Links(Vec<Vec<(usize, usize)>>);

impl Links {
    /// Reads a file of links.
    pub fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path).map_err(|source| Error::Io { path: path.to_path_buf(), source })?;
        let wrong = |line: usize, got: &str| {
            Error::Value {
            what: format!("line {} of {}", line + 1, path.display()),
            got: format!("{got:?}"),
            expected: "links such as \"0-0 1-2\" (source unit and target unit, counted from 0), or \"1 4 3\" (pair, source and target unit, counted from 1)"
                .into(),
        }
        };
        // The first line with anything in it says which.
        let first = text.lines().find(|line| !line.trim().is_empty()).unwrap_or_default();
        if !first.contains('-') && first.split_whitespace().count() >= 3 {
            let mut all: Vec<Vec<(usize, usize)>> = Vec::new();
            for (at, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
                let from_one = |part: &str| part.parse::<usize>().ok().and_then(|n| n.checked_sub(1));
                let numbers: Option<Vec<usize>> = line.split_whitespace().take(3).map(from_one).collect();
                let [pair, source, target] = numbers.and_then(|n| <[usize; 3]>::try_from(n).ok()).ok_or_else(|| wrong(at, line))?;
                // A pair far beyond the others is a wrong number, not a reason to take all memory.
                if pair > at + all.len() + 1_000_000 {
                    return Err(wrong(at, line));
                }
                all.resize(all.len().max(pair + 1), Vec::new());
                all[pair].push((source, target));
            }
            return Ok(Links(all));
        }
        let of_line = |(at, line): (usize, &str)| {
            let link = |part: &str| {
                part.split_once('-').and_then(|(s, t)| Some((s.parse().ok()?, t.parse().ok()?))).ok_or_else(|| wrong(at, part))
            };
            line.split_whitespace().map(link).collect::<Result<Vec<_>>>()
        };
        text.lines().enumerate().map(of_line).collect::<Result<Vec<_>>>().map(Links)
    }

    /// Those of a pair; none if the file ends before it.
    fn of(&self, pair: usize) -> Option<&[(usize, usize)]> {
        self.0.get(pair).map(Vec::as_slice)
    }
}

/// What of one pair counts for F1.
#[derive(Clone, Copy, Debug, Default)]
struct Counted {
    gold: usize,
    said: usize,
    hits: usize,
    straight: usize,
}

/// F1 of the links of the largest weight of each step of the given targets, and of the diagonal, with gold links. `chosen` are the numbers of the pairs.
pub(super) fn align(path: &Path, chosen: &[usize], model: &Transducer, pairs: &[Pair], seed: u64) -> Result<Alignment> {
    let links = Links::read(path)?;
    let examples = model.examples(pairs);
    let targets: Vec<&[u32]> = examples.iter().map(|e| &e.target[..e.target.len() - 1]).collect();
    let forced = force(&model.writer(), &examples.iter().zip(&targets).map(|(e, t)| (e.source.as_slice(), *t)).collect::<Vec<_>>())?;
    let mut all = Vec::with_capacity(chosen.len());
    for ((&pair, h), example) in chosen.iter().zip(&forced).zip(&examples) {
        let short = || Error::Value {
            what: format!("the links in {}", path.display()),
            got: format!("none for pair {}", pair + 1),
            expected: "some for every pair".into(),
        };
        let gold = links.of(pair).ok_or_else(short)?;
        let mut counted = Counted { gold: gold.len(), said: h.attention.len(), ..Counted::default() };
        for (at, row) in h.attention.iter().enumerate() {
            let own = largest(&row.iter().map(|&w| w as f64).collect::<Vec<_>>());
            counted.hits += usize::from(gold.contains(&(own, at)));
            let near = largest(&near_diagonal(at, h.attention.len(), example.source.len()));
            counted.straight += usize::from(gold.contains(&(near, at)));
        }
        all.push(counted);
    }
    // F1 = 2 hits / (gold + said)
    let f1 = |hits: fn(&Counted) -> usize| {
        bootstrap(all.len(), seed, |sample| {
            let sum = |of: &dyn Fn(&Counted) -> usize| sample.iter().map(|&i| of(&all[i])).sum::<usize>() as f64;
            Some(2.0 * sum(&hits) / sum(&|c| c.gold + c.said).max(1.0))
        })
        .ok_or_else(|| Error::Audit("there are no examples".into()))
    };
    Ok(Alignment { sentences: chosen.len(), f1: f1(|c| c.hits)?, diagonal: f1(|c| c.straight)? })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn both_layouts_are_read() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("links");
        let read = |text: &str| {
            std::fs::write(&file, text).unwrap();
            Links::read(&file)
        };
        let wanted = Links(vec![vec![(0, 0), (3, 2)], vec![], vec![(1, 0)]]);
        assert_eq!(read("0-0 3-2\n\n1-0\n").unwrap(), wanted);
        assert_eq!(read("1 1 1\n1 4 3 S 1\n3 2 1 P\n").unwrap(), wanted);
        assert_eq!(read("").unwrap(), Links(vec![]));
        for (text, line) in [("0:0\n", "line 1"), ("0-0\n1-x\n", "line 2"), ("1 1 1\n0 1 1\n", "line 2"), ("1 1 1\n1 1\n", "line 2")] {
            let error = read(text).unwrap_err().to_string();
            assert!(error.contains(line) && error.contains("0-0 1-2"), "{error}");
        }
        assert!(read("1 1 1\n99999999999 1 1\n").is_err());
    }
}
