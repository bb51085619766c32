//! The contexts of training pairs, step by step, and that of a step at hand: by these a model says what it has seen before.
//!
//! A recurrent decoder has a context of its own at every step. A Transformer mixes in every layer; what stands for its context is the row that it reads out from.

use rayon::prelude::*;

use super::net::Batch;
use super::{Explored, StepNumbers, Transducer};
use crate::Result;
use crate::axis::Axis;
use crate::decoder::DecoderOutput;
use crate::model::ensemble::alone;
use crate::model::nearest::{Context, Contexts};
use crate::tape::Tape;
use crate::text::Pair;
use crate::text::vocab::{END, START};

/// Pairs that are read together.
const TOGETHER: usize = 64;

/// What stands for the context of every step.
fn rows(tape: &Tape<f32>, decoded: &DecoderOutput) -> Vec<Context> {
    let contexts = decoded.contexts.unwrap_or(decoded.states);
    let width = tape.shape(contexts).1;
    tape.to_vec(contexts).chunks_exact(width.max(1)).map(|row| Context::of_numbers(row.to_vec())).collect()
}

impl Transducer {
    /// The contexts of every step of some pairs, their targets given.
    pub(super) fn contexts_of(&self, pairs: &[Pair]) -> Result<Contexts> {
        alone(&self.peers)?;
        let examples = self.examples(pairs);
        // A source without units has nothing to look at.
        let read: Vec<usize> = (0..pairs.len()).filter(|&pair| !examples[pair].source.is_empty()).collect();
        let parts = read
            .par_chunks(TOGETHER)
            .map(|members| {
                let batch = Batch::new(&members.iter().map(|&pair| &examples[pair]).collect::<Vec<_>>());
                let tape = Tape::new(&self.params);
                let begun = self.net.encode(&tape, &batch.source, &batch.source_axis)?;
                Ok(rows(&tape, &self.net.decode(&tape, &begun, &batch.inputs, &batch.target_axis, false)?))
            })
            .collect::<Result<Vec<Vec<Context>>>>()?;
        let mut contexts = parts.into_iter().flatten();
        let mut all = Contexts::default();
        for pair in read {
            let target = &examples[pair].target;
            let told = |(step, &unit): (usize, &u32)| Some((step, (unit != END).then(|| self.token(unit))));
            let steps: Vec<_> = target.iter().enumerate().map(told).zip(contexts.by_ref().take(target.len())).collect();
            all.add_steps((pairs[pair].source.clone(), pairs[pair].target.clone()), steps);
        }
        Ok(all)
    }

    /// The context of a step of an answer: the one that its numbers tell, if they tell one, for weights may have been put in.
    pub(super) fn context_at(
        &self,
        source: &[u32],
        written: &[u32],
        step: usize,
        numbers: Option<&StepNumbers>,
    ) -> Result<Option<Context>> {
        if let Some(numbers) = numbers.filter(|numbers| !numbers.context.is_empty()) {
            return Ok(Some(Context::of_numbers(numbers.context.clone())));
        }
        let tape = Tape::new(&self.params);
        let begun = self.net.encode(&tape, source, &Axis::new([source.len()]))?;
        let inputs: Vec<u32> = std::iter::once(START).chain(written.iter().copied().take(step)).collect();
        let decoded = self.net.decode(&tape, &begun, &inputs, &Axis::new([inputs.len()]), false)?;
        Ok(rows(&tape, &decoded).pop())
    }

    /// Tells the training pairs that are nearest to the step that was looked at, at most one step of each.
    pub fn nearest(&self, explored: &mut Explored, seen: &Contexts, count: usize) {
        explored.nearest = explored.context.as_ref().map_or_else(Vec::new, |context| seen.nearest(context, count));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::resolve;
    use crate::model::seq2seq::{Config, Explore};

    /// A step of a pair that was read is nearest to itself, also when the decoder runs over known targets in another way than it searches.
    #[test]
    fn a_step_is_nearest_to_itself() {
        let kinds: [&[&str]; 4] =
            [&[], &["model.order=\"luong\""], &["attention.heads=2"], &["model.architecture=\"transformer\"", "transformer.heads=2"]];
        for kind in kinds {
            let pair = |source: &str, target: &str| Pair { source: source.into(), target: target.into(), features: None, line: 0 };
            let pairs = vec![pair("abcd", "xyz"), pair("dc", "zyxx"), pair("ba", "yx"), pair("", "x")];
            let changes: Vec<String> =
                ["model.embedding=8", "model.hidden=8", "model.dropout=0.2"].iter().chain(kind).map(|s| s.to_string()).collect();
            let mut model = Transducer::new(resolve(&Config::default(), "", &changes).unwrap(), &pairs).unwrap();
            model.params.flat_mut().iter_mut().for_each(|weight| *weight *= 3.0);
            let seen = model.contexts_of(&pairs).unwrap();
            let explore = Explore { force: ["z", "y", "x"].map(String::from).to_vec(), step: Some(2), nearest: 2, ..Explore::default() };
            let mut found = model.explore(("dc", None), &explore, &model.search_options(), false).unwrap();
            model.nearest(&mut found, &seen, 2);
            assert_eq!(found.nearest.len(), 2, "{kind:?}");
            let first = &found.nearest[0];
            assert_eq!(
                (first.source.as_str(), first.target.as_str(), first.step),
                ("dc", "zyxx", Some(2)),
                "{kind:?}: {:?}",
                found.nearest
            );
            assert_eq!(first.token.as_deref(), Some("x"));
            assert!((first.cosine - 1.0).abs() < 1e-5 && found.nearest[1].cosine <= first.cosine, "{kind:?}: {:?}", found.nearest);
        }
    }
}
