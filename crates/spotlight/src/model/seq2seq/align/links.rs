//! Links as a file has them.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use crate::text::Lines;
use crate::{Error, Result};

/// A word of the source and one of the target, each counted from 0.
pub type Link = (usize, usize);

/// The links of one pair of texts.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Gold {
    /// Those that must be found.
    pub sure: BTreeSet<Link>,
    /// Those that may be found, the sure ones among them.
    pub possible: BTreeSet<Link>,
}

impl Gold {
    /// Links that are all sure.
    pub fn sure(links: impl IntoIterator<Item = Link>) -> Self {
        let sure: BTreeSet<Link> = links.into_iter().collect();
        Gold { possible: sure.clone(), sure }
    }

    fn add(&mut self, link: Link, sure: bool) {
        self.possible.insert(link);
        if sure {
            self.sure.insert(link);
        }
    }
}

/// The links of many pairs, by the line of the pair, counted from 1.
///
/// Two kinds of files are understood. One link a line: the number of the pair, of the source word and of the target word, all counted from 1, and `S` or `P` for sure or possible if not
/// all are sure. Or one pair a line: `0-0 1-2`, source before target, counted from 0; `1?2` is a possible link.
///
/// ```
/// use spotlight::model::seq2seq::align::Links;
///
/// let one = Links::parse("1 1 2\n1 3 1 P\n", "gold")?;
/// let other = Links::parse("0-1 2?0\n", "gold")?;
/// assert_eq!(one, other);
/// # Ok::<(), spotlight::Error>(())
/// ```
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Links(BTreeMap<usize, Gold>);

impl Links {
    /// Reads a file.
    pub fn read(path: &Path) -> Result<Self> {
        let lines = Lines::open(path)?.map(|line| line.map(|line| line.text)).collect::<Result<Vec<_>, _>>()?;
        Self::parse(&lines.join("\n"), &path.display().to_string())
    }

    /// Reads what stands in a file of this name.
    pub fn parse(text: &str, name: &str) -> Result<Self> {
        let by_pair = text.split_whitespace().next().is_some_and(|first| split(first).is_some());
        let mut links = Links::default();
        for (i, line) in text.lines().enumerate() {
            let refuse = |expected: &str| {
                let (what, got) = (format!("a link in line {} of {name}", i + 1), format!("{line:?}"));
                Err(Error::Value { what, got, expected: expected.into() })
            };
            if by_pair {
                let gold = links.0.entry(i + 1).or_default();
                for part in line.split_whitespace() {
                    match split(part) {
                        Some((link, sure)) => gold.add(link, sure),
                        None => return refuse("links as `0-2`, source word before target word, counted from 0"),
                    }
                }
                continue;
            }
            let fields: Vec<&str> = line.split_whitespace().collect();
            let numbers: Vec<usize> = fields.iter().take(3).map_while(|field| field.parse().ok()).collect();
            match (&numbers[..], fields.get(3).copied(), fields.len()) {
                ([], _, 0) => {}
                // A word that has no link.
                ([_, 0, _] | [_, _, 0], _, 3 | 4) => {}
                (&[pair, source, target], None | Some("S"), 3 | 4) if pair > 0 => {
                    links.0.entry(pair).or_default().add((source - 1, target - 1), true);
                }
                (&[pair, source, target], Some("P"), 4) if pair > 0 => {
                    links.0.entry(pair).or_default().add((source - 1, target - 1), false);
                }
                _ => return refuse("pair, source word, target word, counted from 1, and S or P if not all are sure"),
            }
        }
        Ok(links)
    }

    /// The links of the pair in this line, if there is anything about it.
    pub fn of(&self, line: usize) -> Option<&Gold> {
        self.0.get(&line)
    }

    /// Adds the links of a pair.
    pub fn insert(&mut self, line: usize, gold: Gold) {
        self.0.insert(line, gold);
    }

    /// Pairs with links.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether there are none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }
}

/// `1-2`, or `1?2` for a possible link.
fn split(part: &str) -> Option<(Link, bool)> {
    let sure = part.contains('-');
    let (source, target) = part.split_once(if sure { '-' } else { '?' })?;
    Some(((source.parse().ok()?, target.parse().ok()?), sure))
}
