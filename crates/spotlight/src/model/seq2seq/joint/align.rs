//! Which units of a target each unit of its source writes, found by expectation-maximisation (Jiampojamarn and others, 2007, with one unit on the side of the source).
//!
//! The source has an edge before and behind it, which may write, too: a prefix, or an ending. All ways to cut the target into one piece for each unit are weighed by `Π p(piece | unit)`; how often a
//! unit writes a piece, over all ways, is its new `p`. After a few rounds the best way of each pair is taken.

use std::collections::HashMap;

use crate::text::vocab::{END, START};

/// The longest piece that a unit writes.
pub(super) const LONGEST: usize = 4;
/// The longest piece that an edge writes: with more, endings that belong to a unit were torn off.
const AT_AN_EDGE: usize = 1;
const ROUNDS: usize = 8;
/// Pairs with more places (units of the source times units of the target) than this are not looked at.
const PLACES: usize = 4096;
/// So many places in all are weighed; of more pairs, some spread evenly over all of them.
const WEIGHED: usize = 1 << 23;
/// What fills up a piece that is shorter than the longest.
const NOTHING: u32 = u32::MAX;

/// A unit of the source and the piece that it writes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(super) struct Gram {
    pub unit: u32,
    piece: [u32; LONGEST],
}

impl Gram {
    /// None for a piece that is too long.
    pub fn new(unit: u32, units: &[u32]) -> Option<Self> {
        let mut piece = [NOTHING; LONGEST];
        piece.get_mut(..units.len())?.copy_from_slice(units);
        Some(Gram { unit, piece })
    }

    /// The piece.
    pub fn writes(&self) -> &[u32] {
        let length = self.piece.iter().position(|&unit| unit == NOTHING).unwrap_or(LONGEST);
        &self.piece[..length]
    }

    /// Before anything is known: one unit writes one, rather the same if both sides have it; sometimes nothing; and more of them or an edge only where it must be.
    fn likely(&self, same: impl Fn(u32, u32) -> bool) -> f64 {
        match (is_edge(self.unit), self.writes()) {
            (true, piece) => 0.5 * 0.05f64.powi(piece.len() as i32),
            (false, []) => 0.1,
            (false, &[one]) if same(self.unit, one) => 25.0,
            (false, piece) => 0.5 * 0.02f64.powi(piece.len() as i32 - 1),
        }
    }
}

fn is_edge(unit: u32) -> bool {
    unit == START || unit == END
}

/// A source between its edges.
pub(super) fn edged(source: &[u32]) -> impl ExactSizeIterator<Item = u32> + '_ {
    let at = |i: usize| if i == 0 { START } else { source.get(i - 1).copied().unwrap_or(END) };
    (0..source.len() + 2).map(at).collect::<Vec<_>>().into_iter()
}

/// Grams by their numbers, and how probable each is for its unit.
#[derive(Default)]
struct Table {
    numbers: HashMap<Gram, usize>,
    shares: Vec<f64>,
}

/// The ways to cut one target: for each unit of its source, each place of the target and each length of a piece from there, the number of the gram.
struct Lattice {
    /// For each unit, its longest piece.
    longest: Vec<usize>,
    /// Places of the target, the one behind it included.
    width: usize,
    /// Unit by place by length; [`usize::MAX`] where the target is over.
    grams: Vec<usize>,
}

impl Lattice {
    fn new(source: &[u32], target: &[u32], longest: usize, mut number: impl FnMut(Gram) -> usize) -> Self {
        let (longest, width) =
            (edged(source).map(|unit| if is_edge(unit) { AT_AN_EDGE } else { longest }).collect::<Vec<_>>(), target.len() + 1);
        let mut grams = Vec::with_capacity(longest.len() * width * (LONGEST + 1));
        for (unit, &most) in edged(source).zip(&longest) {
            for place in 0..width {
                grams.extend((0..=most).map(|length| {
                    let piece = target.get(place..place + length).and_then(|piece| Gram::new(unit, piece));
                    piece.map_or(usize::MAX, &mut number)
                }));
            }
        }
        Lattice { longest, width, grams }
    }

    /// Every step of every way, those of the first unit first: unit, place, length, gram.
    fn steps(&self) -> impl DoubleEndedIterator<Item = (usize, usize, usize, usize)> + '_ {
        let starts = self.longest.iter().scan(0, |start, &most| {
            let own = *start;
            *start += self.width * (most + 1);
            Some(own)
        });
        let starts: Vec<usize> = starts.collect();
        (0..self.longest.len()).flat_map(move |unit| {
            let (most, start) = (self.longest[unit], starts[unit]);
            (0..self.width * (most + 1)).filter_map(move |i| {
                let gram = self.grams[start + i];
                (gram != usize::MAX).then_some((unit, i / (most + 1), i % (most + 1), gram))
            })
        })
    }

    /// Adds how often each gram is expected, over all ways.
    fn expect(&self, shares: &[f64], counts: &mut [f64]) {
        let w = self.width;
        let mut forward = vec![0.0; (self.longest.len() + 1) * w];
        forward[0] = 1.0;
        for (unit, place, length, gram) in self.steps() {
            forward[(unit + 1) * w + place + length] += forward[unit * w + place] * shares[gram];
        }
        let whole = forward[forward.len() - 1];
        if whole <= 0.0 || !whole.is_finite() {
            return;
        }
        let mut backward = vec![0.0; forward.len()];
        backward[forward.len() - 1] = 1.0;
        for (unit, place, length, gram) in self.steps().rev() {
            let way = shares[gram] * backward[(unit + 1) * w + place + length];
            backward[unit * w + place] += way;
            counts[gram] += forward[unit * w + place] * way / whole;
        }
    }

    /// The grams of the best way, if there is one.
    fn best(&self, shares: &[f64]) -> Option<Vec<usize>> {
        let w = self.width;
        let mut best = vec![(0.0, 0, 0); (self.longest.len() + 1) * w];
        best[0].0 = 1.0;
        for (unit, place, length, gram) in self.steps() {
            let way = best[unit * w + place].0 * shares[gram];
            let to = &mut best[(unit + 1) * w + place + length];
            if way > to.0 {
                *to = (way, length, gram);
            }
        }
        let mut place = w - 1;
        let mut path = Vec::with_capacity(self.longest.len());
        for unit in (0..self.longest.len()).rev() {
            let (way, length, gram) = best[(unit + 1) * w + place];
            if way <= 0.0 {
                return None;
            }
            path.push(gram);
            place -= length;
        }
        path.reverse();
        Some(path)
    }
}

/// The best way of each pair that has one. `same` says of a unit of the source and one of the target whether they look alike.
pub(super) fn align(pairs: &[(Vec<u32>, Vec<u32>)], same: impl Fn(u32, u32) -> bool) -> Vec<Vec<Gram>> {
    let places = |(source, target): &(Vec<u32>, Vec<u32>)| (source.len() + 2) * (target.len() + 1);
    let small: Vec<&(Vec<u32>, Vec<u32>)> = pairs.iter().filter(|pair| !pair.0.is_empty() && places(pair) <= PLACES).collect();
    // Two units suffice nearly everywhere; where many targets are longer, pieces are.
    let needed = |pair: &(Vec<u32>, Vec<u32>)| pair.1.len().saturating_sub(2 * AT_AN_EDGE).div_ceil(pair.0.len());
    let longest =
        (2..LONGEST).find(|&most| small.iter().filter(|pair| needed(pair) > most).count() * 100 <= small.len()).unwrap_or(LONGEST);
    let every = small.iter().map(|pair| places(pair)).sum::<usize>().div_ceil(WEIGHED).max(1);

    let mut table = Table::default();
    let mut number = |gram: Gram| {
        let next = table.shares.len();
        *table.numbers.entry(gram).or_insert_with(|| {
            table.shares.push(gram.likely(&same));
            next
        })
    };
    let lattices: Vec<Lattice> = small.iter().step_by(every).map(|(s, t)| Lattice::new(s, t, longest, &mut number)).collect();
    let mut of_unit: HashMap<u32, f64> = HashMap::new();
    let mut grams = vec![Gram { unit: START, piece: [NOTHING; LONGEST] }; table.shares.len()];
    table.numbers.iter().for_each(|(gram, &number)| grams[number] = *gram);
    for _ in 0..ROUNDS {
        let mut counts = vec![0.0; grams.len()];
        lattices.iter().for_each(|lattice| lattice.expect(&table.shares, &mut counts));
        of_unit.clear();
        grams.iter().zip(&counts).for_each(|(gram, count)| *of_unit.entry(gram.unit).or_default() += count);
        for ((share, gram), count) in table.shares.iter_mut().zip(&grams).zip(&counts) {
            *share = count / of_unit[&gram.unit].max(f64::MIN_POSITIVE);
        }
    }
    drop(lattices);
    // What was not weighed cannot be written; its number is one behind all others.
    table.shares.push(0.0);
    let known = |gram: Gram| table.numbers.get(&gram).copied().unwrap_or(grams.len());
    let path = |(s, t): &&(Vec<u32>, Vec<u32>)| Lattice::new(s, t, longest, known).best(&table.shares);
    small.iter().filter_map(path).map(|path| path.into_iter().map(|number| grams[number]).collect()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(pairs: &[(&str, &str)]) -> Vec<String> {
        let units = |text: &str| text.chars().map(u32::from).collect::<Vec<u32>>();
        let pairs: Vec<(Vec<u32>, Vec<u32>)> = pairs.iter().map(|(s, t)| (units(s), units(t))).collect();
        let piece = |gram: &Gram| gram.writes().iter().map(|&u| char::from_u32(u).unwrap()).collect::<String>();
        align(&pairs, |a, b| a == b).iter().map(|path| path.iter().map(piece).collect::<Vec<_>>().join("|")).collect()
    }

    /// Edges first and last; `x` is two sounds, `h` none, and what is alike stays together.
    #[test]
    fn each_unit_has_its_piece() {
        let found = written(&[("taxi", "taksi"), ("hat", "at"), ("tax", "taks"), ("axt", "akst"), ("hit", "it")]);
        assert_eq!(found, ["|t|a|ks|i|", "||a|t|", "|t|a|ks|", "|a|ks|t|", "||i|t|"]);
    }

    /// An ending is written by the edge, and what is far too long by nobody; then the pair is left out.
    #[test]
    fn edges_write_what_is_left() {
        let found = written(&[("see", "seen"), ("tau", "taun"), ("so", "son"), ("", "n"), ("a", "abcdefghijklmno")]);
        assert_eq!(found, ["|s|e|e|n", "|t|a|u|n", "|s|o|n"]);
        assert_eq!(written(&[("a", ""), ("b", "b")]), ["||", "|b|"]);
    }

    #[test]
    fn the_sum_over_all_ways_is_what_counting_them_gives() {
        let (source, target) = ([5, 6], [7, 8, 9]);
        let mut numbers = Vec::new();
        let lattice = Lattice::new(&source, &target, 2, |gram| {
            numbers.push(gram);
            numbers.len() - 1
        });
        let share = |i: usize| 0.1 + 0.01 * (i % 7) as f64;
        let shares: Vec<f64> = (0..numbers.len()).map(share).collect();
        let mut counts = vec![0.0; shares.len()];
        lattice.expect(&shares, &mut counts);
        // All ways by trying every cut.
        let mut expected = vec![0.0; shares.len()];
        let mut whole = 0.0;
        let all: Vec<(usize, usize, usize, usize)> = lattice.steps().collect();
        let mut walk = vec![(0usize, 0usize, Vec::new(), 1.0)];
        while let Some((unit, place, path, weight)) = walk.pop() {
            if unit == 4 {
                if place == target.len() {
                    whole += weight;
                    path.iter().for_each(|&gram: &usize| expected[gram] += weight);
                }
                continue;
            }
            for &(_, _, length, gram) in all.iter().filter(|step| step.0 == unit && step.1 == place) {
                walk.push((unit + 1, place + length, [path.clone(), vec![gram]].concat(), weight * shares[gram]));
            }
        }
        assert!(counts.iter().zip(&expected).all(|(a, b)| (a - b / whole).abs() < 1e-12));
    }
}
