//! Training byte-pair encoding.
//!
//! One count is kept per pair, and ties are broken by the pair's numbers, so that the same words give the same table. (Trainers that queue a
//! pair twice where one piece can be made in two ways leave it to their hash map which entry is taken first.)

use std::cmp::Reverse;
use std::collections::{BTreeSet, BinaryHeap, HashMap};

use super::corpus::Corpus;
use super::merges::{Merges, Pair};
use super::{Model, SPECIAL_NAMES};

type Symbol = u32;

/// Joins the most frequent pair of neighbours until there are `vocab_size` units or no pair occurs `min_count` times (and
/// at least twice: a pair that occurs once teaches nothing). The units in the order of their numbers, and the model.
pub(super) fn train(corpus: &Corpus, vocab_size: usize, min_count: u64) -> (Vec<String>, Model) {
    let mut symbols: Vec<String> = SPECIAL_NAMES.map(str::to_owned).to_vec();
    symbols.extend(corpus.alphabet.iter().map(char::to_string));
    let mut numbers: HashMap<String, Symbol> = symbols.iter().cloned().zip(0..).collect();
    let mut merges = Vec::new();

    let mut words = Words::new(corpus, &numbers);
    while symbols.len() < vocab_size
        && let Some(pair) = words.most_frequent_pair(min_count.max(2))
    {
        let joined = format!("{}{}", symbols[pair.0 as usize], symbols[pair.1 as usize]);
        // "a" + "bc" and "ab" + "c" give the same unit.
        let symbol = *numbers.entry(joined).or_insert_with_key(|joined| {
            symbols.push(joined.clone());
            symbols.len() as Symbol - 1
        });
        merges.push((pair, symbol));
        words.join(pair, symbol);
    }
    (symbols, Model::Bpe(Merges::new(merges)))
}

struct Word {
    symbols: Vec<Symbol>,
    count: u64,
}

#[derive(Default)]
struct Occurrences {
    count: u64,
    /// Every word the pair is in; also some it was in before.
    words: BTreeSet<usize>,
}

/// The words as they are cut so far, and how often each pair of neighbours occurs in them.
struct Words {
    words: Vec<Word>,
    pairs: HashMap<Pair, Occurrences>,
    /// Pairs by count; an entry whose count is no longer true is corrected when it comes to the top.
    queue: BinaryHeap<(u64, Reverse<Pair>)>,
}

impl Words {
    fn new(corpus: &Corpus, numbers: &HashMap<String, Symbol>) -> Self {
        let number = |c: char| numbers.get(c.encode_utf8(&mut [0; 4])).copied();
        let word = |(fragment, &count): (&String, &u64)| Word { symbols: fragment.chars().filter_map(number).collect(), count };
        let words: Vec<Word> = corpus.fragments.iter().map(word).collect();
        let mut pairs: HashMap<Pair, Occurrences> = HashMap::new();
        for (index, word) in words.iter().enumerate() {
            for pair in neighbours(&word.symbols) {
                let occurrences = pairs.entry(pair).or_default();
                occurrences.count += word.count;
                occurrences.words.insert(index);
            }
        }
        let queue = pairs.iter().map(|(&pair, occurrences)| (occurrences.count, Reverse(pair))).collect();
        Self { words, pairs, queue }
    }

    /// The most frequent pair, of equals the one with the lowest numbers; none if all occur fewer than `least` times.
    fn most_frequent_pair(&mut self, least: u64) -> Option<Pair> {
        loop {
            let (count, Reverse(pair)) = self.queue.pop()?;
            let now = self.pairs.get(&pair).map_or(0, |occurrences| occurrences.count);
            if count == now {
                return (count >= least).then_some(pair);
            }
            if count > now && now > 0 {
                self.queue.push((now, Reverse(pair)));
            }
        }
    }

    /// Replaces `pair` by `symbol` in every word, from left to right.
    fn join(&mut self, pair: Pair, symbol: Symbol) {
        let Some(occurrences) = self.pairs.remove(&pair) else {
            return;
        };
        let mut grown: BTreeSet<Pair> = BTreeSet::new();
        for index in occurrences.words {
            let word = &mut self.words[index];
            if !neighbours(&word.symbols).any(|neighbour| neighbour == pair) {
                continue;
            }
            for neighbour in neighbours(&word.symbols) {
                if let Some(occurrences) = self.pairs.get_mut(&neighbour) {
                    occurrences.count -= word.count;
                }
            }
            word.symbols = replaced(&word.symbols, pair, symbol);
            for neighbour in neighbours(&word.symbols) {
                let occurrences = self.pairs.entry(neighbour).or_default();
                occurrences.count += word.count;
                occurrences.words.insert(index);
                if neighbour.0 == symbol || neighbour.1 == symbol {
                    grown.insert(neighbour);
                }
            }
        }
        self.queue.extend(grown.into_iter().map(|pair| (self.pairs[&pair].count, Reverse(pair))));
    }
}

fn neighbours(symbols: &[Symbol]) -> impl Iterator<Item = Pair> {
    symbols.windows(2).map(|window| (window[0], window[1]))
}

fn replaced(symbols: &[Symbol], pair: Pair, symbol: Symbol) -> Vec<Symbol> {
    let mut result = Vec::with_capacity(symbols.len());
    let mut rest = symbols;
    while let [first, tail @ ..] = rest {
        match tail {
            [second, tail @ ..] if (*first, *second) == pair => {
                result.push(symbol);
                rest = tail;
            }
            _ => {
                result.push(*first);
                rest = tail;
            }
        }
    }
    result
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The definition, word for word: count all pairs, join the best one everywhere, start over.
    fn plain_merges(corpus: &Corpus, steps: usize) -> Vec<(String, String)> {
        let mut numbers: Vec<String> = corpus.alphabet.iter().map(char::to_string).collect();
        let mut words: Vec<(Vec<String>, u64)> =
            corpus.fragments.iter().map(|(f, &count)| (f.chars().map(String::from).collect(), count)).collect();
        let mut merges = Vec::new();
        for _ in 0..steps {
            let mut counts: HashMap<(usize, usize), u64> = HashMap::new();
            let number = |symbol: &String| numbers.iter().position(|known| known == symbol).unwrap();
            for (word, count) in &words {
                for pair in word.windows(2) {
                    *counts.entry((number(&pair[0]), number(&pair[1]))).or_default() += count;
                }
            }
            let best = counts.into_iter().max_by_key(|&(pair, count)| (count, Reverse(pair)));
            let Some(((left, right), 2..)) = best else {
                break;
            };
            let (left, right) = (numbers[left].clone(), numbers[right].clone());
            let joined = format!("{left}{right}");
            for (word, _) in &mut words {
                let mut at = 0;
                while at + 1 < word.len() {
                    if word[at] == left && word[at + 1] == right {
                        word.splice(at..at + 2, [joined.clone()]);
                    }
                    at += 1;
                }
            }
            if !numbers.contains(&joined) {
                numbers.push(joined);
            }
            merges.push((left, right));
        }
        merges
    }

    /// The pairs that training joins, as text.
    fn merges(corpus: &Corpus, size: usize, least: u64) -> Vec<(String, String)> {
        let (pieces, Model::Bpe(merges)) = train(corpus, size, least) else { unreachable!() };
        let text = |unit: Symbol| pieces[unit as usize].clone();
        merges.pairs().into_iter().map(|(left, right)| (text(left), text(right))).collect()
    }

    #[test]
    fn the_queue_finds_the_same_merges_as_the_definition() {
        let texts = [
            "low low low low low lower lower newest newest newest newest newest newest widest widest widest",
            "aaa aaaa aaaaa abab ababab bababa abcabc bcabca cabcab aabbaabb",
            "she sells sea shells by the sea shore the shells she sells are sea shells i am sure",
        ];
        for text in texts {
            let corpus = Corpus::count([text], 1);
            assert_eq!(merges(&corpus, usize::MAX, 1), plain_merges(&corpus, usize::MAX));
        }
    }

    #[test]
    fn size_and_count_are_limits() {
        let corpus = Corpus::count(["abab abab abcabc"], 1);
        let a_and_b = [("a".to_owned(), "b".to_owned())];
        assert_eq!(merges(&corpus, usize::MAX, 6), a_and_b);
        // Three special units, four characters, one merge.
        assert_eq!(merges(&corpus, 8, 1), a_and_b);
    }
}
