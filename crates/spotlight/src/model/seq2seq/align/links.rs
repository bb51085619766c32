//! Links as a file has them.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;

use crate::text::{Lines, Pair};
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
    /// Reads a file of links between the words of `pairs`, whose own file is `of`. An error names a link that leads beyond them; pairs of that file that are not here, as those that are set aside, may have links.
    pub fn read(path: &Path, pairs: &[Pair], of: &Path) -> Result<Self> {
        let text = Lines::open(path)?.map(|line| line.map(|line| line.text + "\n")).collect::<Result<String, _>>()?;
        let count = |text: &str| text.split_whitespace().count();
        let words: HashMap<usize, Link> = pairs.iter().map(|pair| (pair.line, (count(&pair.source), count(&pair.target)))).collect();
        // What came from elsewhere than a file that is still there has as many lines as its links say.
        let last = Lines::open(of).map_or(usize::MAX, Iterator::count);
        let mut links = Links::default();
        each(&text, &path.display().to_string(), |place, found| {
            let size = words.get(&place.pair).copied();
            let inside = |(s, t): Link| size.is_none_or(|(source, target)| s < source && t < target);
            for &((s, t), _) in found {
                let refuse = |expected: String| {
                    let got = format!("source word {}, target word {}", s + place.first, t + place.first);
                    Err(Error::Value { what: place.to_string(), got, expected })
                };
                match size {
                    _ if place.pair > last => return refuse(format!("of one of the {last} lines of {}", of.display())),
                    Some((source, target)) if !inside((s, t)) => {
                        let swapped =
                            if inside((t, s)) { "; the other way round it is: does the source stand first in every link?" } else { "" };
                        return refuse(format!("within {source} source and {target} target words, counted from {}{swapped}", place.first));
                    }
                    _ => {}
                }
            }
            links.add(place.pair, found);
            Ok(())
        })?;
        Ok(links)
    }

    /// Reads what stands in a file of this name, whatever pairs it may be about.
    pub fn parse(text: &str, name: &str) -> Result<Self> {
        let mut links = Links::default();
        each(text, name, |place, found| {
            links.add(place.pair, found);
            Ok(())
        })?;
        Ok(links)
    }

    fn add(&mut self, pair: usize, found: &[(Link, bool)]) {
        let gold = self.0.entry(pair).or_default();
        found.iter().for_each(|&(link, sure)| gold.add(link, sure));
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

/// Where links stand.
struct Place<'a> {
    name: &'a str,
    line: usize,
    pair: usize,
    /// The number of the first word.
    first: usize,
}

impl std::fmt::Display for Place<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "a link of pair {} in line {} of {}", self.pair, self.line, self.name)
    }
}

/// Tells the links of every line of a file, each with whether it is sure. A pair that has a line of its own may have none.
fn each(text: &str, name: &str, mut tell: impl FnMut(Place, &[(Link, bool)]) -> Result<()>) -> Result<()> {
    let by_pair = text.split_whitespace().next().is_some_and(|first| split(first).is_some());
    for (line, content) in (1..).zip(text.lines()) {
        let refuse = |expected: &str| {
            let (what, got) = (format!("a link in line {line} of {name}"), format!("{content:?}"));
            Error::Value { what, got, expected: expected.into() }
        };
        if by_pair {
            let links: Option<Vec<(Link, bool)>> = content.split_whitespace().map(split).collect();
            let links = links.ok_or_else(|| refuse("links as `0-2`, source word before target word, counted from 0"))?;
            tell(Place { name, line, pair: line, first: 0 }, &links)?;
            continue;
        }
        let fields: Vec<&str> = content.split_whitespace().collect();
        let numbers: Vec<usize> = fields.iter().take(3).map_while(|field| field.parse().ok()).collect();
        match (&numbers[..], fields.get(3).copied(), fields.len()) {
            ([], _, 0) => {}
            // A word that has no link.
            ([_, 0, _] | [_, _, 0], _, 3 | 4) => {}
            (&[pair, source, target], kind @ (None | Some("S" | "P")), 3 | 4) if pair > 0 => {
                tell(Place { name, line, pair, first: 1 }, &[((source - 1, target - 1), kind != Some("P"))])?;
            }
            _ => return Err(refuse("pair, source word, target word, counted from 1, and S or P if not all are sure")),
        }
    }
    Ok(())
}

/// `1-2`, or `1?2` for a possible link.
fn split(part: &str) -> Option<(Link, bool)> {
    let sure = part.contains('-');
    let (source, target) = part.split_once(if sure { '-' } else { '?' })?;
    Some(((source.parse().ok()?, target.parse().ok()?), sure))
}
