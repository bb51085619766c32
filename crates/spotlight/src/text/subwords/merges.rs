//! Byte-pair encoding at work: a word falls apart into characters, and the pairs that training joined are joined again, in the order they
//! were learnt.

use std::cmp::Reverse;
use std::collections::{BinaryHeap, HashMap};

use super::{Cut, Numbers, UNKNOWN};

/// Two units side by side.
pub(super) type Pair = (u32, u32);

/// The pairs to join, and what they become.
#[derive(Debug, Clone)]
pub(super) struct Merges(HashMap<Pair, Merge>);

#[derive(Debug, Clone, Copy)]
struct Merge {
    /// Lower ones are joined first.
    rank: usize,
    joined: u32,
}

/// A unit of a word that is being joined, in a list that is linked both ways.
struct Link {
    unit: u32,
    /// None once it has become part of the one before it.
    bytes: Option<usize>,
    before: Option<usize>,
    after: Option<usize>,
}

impl Merges {
    /// Pairs with the unit they make, in the order they were learnt. A pair that was learnt twice (because its parts can be made in two ways)
    /// has the later rank, as other readers of the file have it.
    pub(super) fn new(learnt: impl IntoIterator<Item = (Pair, u32)>) -> Self {
        Self(learnt.into_iter().enumerate().map(|(rank, (pair, joined))| (pair, Merge { rank, joined })).collect())
    }

    /// The pairs by rank.
    pub(super) fn pairs(&self) -> Vec<Pair> {
        let mut ranked: Vec<(usize, Pair)> = self.0.iter().map(|(&pair, merge)| (merge.rank, pair)).collect();
        ranked.sort_unstable();
        ranked.into_iter().map(|(_, pair)| pair).collect()
    }

    /// The units of a word. Unknown neighbours are one unknown unit.
    pub(super) fn cut(&self, word: &str, numbers: &Numbers) -> Vec<Cut> {
        let mut links = linked(word, numbers);
        let entry = |links: &[Link], left: usize| {
            let right = links[left].after?;
            let merge = self.0.get(&(links[left].unit, links[right].unit))?;
            Some(Reverse((merge.rank, left, merge.joined)))
        };
        let mut queue: BinaryHeap<_> = (0..links.len()).filter_map(|left| entry(&links, left)).collect();
        while let Some(Reverse((_, left, joined))) = queue.pop() {
            // What stands there may have changed since the entry was made; it must still become the same unit.
            let (Some(bytes), Some(right)) = (links[left].bytes, links[left].after) else { continue };
            if self.0.get(&(links[left].unit, links[right].unit)).is_none_or(|merge| merge.joined != joined) {
                continue;
            }
            let after = links[right].after;
            let more = links[right].bytes.take().unwrap_or(0);
            (links[left].unit, links[left].bytes, links[left].after) = (joined, Some(bytes + more), after);
            if let Some(after) = after {
                links[after].before = Some(left);
            }
            queue.extend(links[left].before.and_then(|before| entry(&links, before)));
            queue.extend(entry(&links, left));
        }
        links.into_iter().filter_map(|link| Some(Cut { unit: link.unit, bytes: link.bytes? })).collect()
    }
}

/// The characters of a word.
fn linked(word: &str, numbers: &Numbers) -> Vec<Link> {
    let mut links: Vec<Link> = Vec::with_capacity(word.len());
    for c in word.chars() {
        let unit = numbers.get(&*c.encode_utf8(&mut [0; 4])).copied().unwrap_or(UNKNOWN);
        match links.last_mut() {
            Some(Link { unit: UNKNOWN, bytes: Some(bytes), .. }) if unit == UNKNOWN => *bytes += c.len_utf8(),
            _ => {
                let here = links.len();
                if let Some(last) = links.last_mut() {
                    last.after = Some(here);
                }
                links.push(Link { unit, bytes: Some(c.len_utf8()), before: here.checked_sub(1), after: None });
            }
        }
    }
    links
}
