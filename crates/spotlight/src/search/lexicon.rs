//! Answers that are allowed, as a tree of their first units: a search that walks along it writes nothing else.

use std::collections::HashMap;

use crate::text::vocab::END;

/// A set of answers; those with the same beginning share it.
///
/// ```
/// use spotlight::search::Lexicon;
///
/// let words = Lexicon::new([[7u32, 8].as_slice(), &[7, 9, 9]]);
/// let seven = words.go(Lexicon::ROOT, 7).unwrap();
/// assert_eq!(words.go(seven, 7), None);
/// assert!(words.ends(words.go(seven, 8).unwrap()) && !words.ends(seven));
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Lexicon {
    /// From a node by a unit to the next.
    next: HashMap<(usize, u32), usize>,
    /// Whether an answer ends at a node.
    ends: Vec<bool>,
}

impl Lexicon {
    /// Where every answer begins.
    pub const ROOT: usize = 0;

    /// The tree of these answers, each without its end.
    pub fn new<'a>(answers: impl IntoIterator<Item = &'a [u32]>) -> Self {
        let mut lexicon = Lexicon { next: HashMap::new(), ends: vec![false] };
        for answer in answers {
            let mut node = Self::ROOT;
            for &unit in answer {
                let new = lexicon.ends.len();
                node = *lexicon.next.entry((node, unit)).or_insert(new);
                if node == new {
                    lexicon.ends.push(false);
                }
            }
            lexicon.ends[node] = true;
        }
        lexicon
    }

    /// Where a unit leads, if an answer goes on with it.
    pub fn go(&self, node: usize, unit: u32) -> Option<usize> {
        self.next.get(&(node, unit)).copied()
    }

    /// Whether an answer may end here.
    pub fn ends(&self, node: usize) -> bool {
        self.ends.get(node).copied().unwrap_or(false)
    }

    /// The same as [`Lexicon::go`] for a unit that may be the end: it leads nowhere else, where an answer may end.
    pub(super) fn after(&self, node: usize, unit: u32) -> Option<usize> {
        if unit == END { Some(node).filter(|&node| self.ends(node)) } else { self.go(node, unit) }
    }

    /// Forbids every unit that no answer goes on with.
    pub(super) fn mask(&self, node: usize, log_probs: &mut [f32]) {
        for (unit, log_prob) in (0u32..).zip(log_probs) {
            if self.after(node, unit).is_none() {
                *log_prob = f32::NEG_INFINITY;
            }
        }
    }
}
