//! What the counts would say themselves: the target that they think most probable, and pairs that nobody wrote.

use std::collections::HashMap;

use rand::distr::Distribution;
use rand::distr::weighted::WeightedIndex;
use rand::{Rng, RngExt};

use super::align::{Gram, edged};
use super::grams::History;
use super::{Counted, Joint, WAYS};
use crate::text::vocab::{END, START};

impl Joint {
    /// The most probable target of a source; none for a source with a unit that was never seen.
    pub fn best(&self, source: &[u32]) -> Option<Vec<u32>> {
        let Counted { pieces, grams, .. } = self.counted();
        let mut ways: Vec<(Vec<u32>, History, f64)> = vec![(Vec::new(), History::default(), 0.0)];
        for (at, unit) in edged(source).enumerate() {
            let pieces = pieces.get(&unit)?;
            // Ways that wrote the same and end alike go on alike; the better one will do.
            let mut next: HashMap<(Vec<u32>, History), f64> = HashMap::new();
            for (written, history, log) in &ways {
                let known = grams.known(history);
                for (gram, piece) in pieces {
                    let own = if at == 0 { 0.0 } else { grams.probability(&known, *gram).ln() };
                    let to = ([written, piece.writes()].concat(), history.after(*gram));
                    let best = next.entry(to).or_insert(f64::NEG_INFINITY);
                    *best = best.max(log + own);
                }
            }
            ways = next.into_iter().map(|((written, history), log)| (written, history, log)).collect();
            ways.sort_by(|a, b| b.2.total_cmp(&a.2).then_with(|| (&a.0, a.1).cmp(&(&b.0, b.1))));
            ways.truncate(WAYS);
        }
        ways.into_iter().next().map(|way| way.0)
    }

    /// A source and its target, drawn gram by gram, each as often as it follows those before it; none if the draw became longer than every pair that was counted, or read or wrote nothing.
    pub fn draw(&self, random: &mut impl Rng) -> Option<(Vec<u32>, Vec<u32>)> {
        let Counted { every, grams, longest, starts, .. } = self.counted();
        let mut last = *starts.get(random.random_range(0..starts.len().max(1)))?;
        let (mut history, mut drawn) = (History::default(), vec![every[last as usize]]);
        while every[last as usize].unit != END {
            if drawn.len() >= *longest {
                return None;
            }
            history = history.after(last);
            let known = grams.known(&history);
            // No gram but the first begins a word.
            let share = |(number, gram): (u32, &Gram)| if gram.unit == START { 0.0 } else { grams.probability(&known, number) };
            last = WeightedIndex::new((0..).zip(every).map(share)).ok()?.sample(random) as u32;
            drawn.push(every[last as usize]);
        }
        let source: Vec<u32> = drawn[1..drawn.len() - 1].iter().map(|gram| gram.unit).collect();
        let target: Vec<u32> = drawn.iter().flat_map(|gram| gram.writes().to_vec()).collect();
        (!source.is_empty() && !target.is_empty()).then_some((source, target))
    }
}
