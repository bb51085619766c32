//! Playing with one answer: weights put in by hand, units that are forced, what else was thought of, and the numbers of one step.
//!
//! ```
//! use spotlight::model::seq2seq::{Config, Edit, Explore, SearchOptions, Transducer};
//! use spotlight::text::Pair;
//!
//! let pair = Pair { source: "abc".into(), target: "xyz".into(), features: None, line: 1 };
//! let model = Transducer::new(Config::default(), &[pair])?;
//! // The first unit is given; when the second is written, the model looks at `c` and a little at `b`.
//! let explore = Explore {
//!     force: vec!["y".into()],
//!     edits: vec![Edit { step: 1, head: None, weights: vec![0.0, 1.0, 3.0] }],
//!     ..Explore::default()
//! };
//! let search = SearchOptions { min_length: 2, ..SearchOptions::GREEDY };
//! let found = model.explore(("abc", None), &explore, &search, false)?;
//! let best = &found.answer.hypotheses[0];
//! assert_eq!(best.tokens[0], "y");
//! assert_eq!(best.hypothesis.attention[1], [0.0, 0.25, 0.75]);
//! # Ok::<(), spotlight::Error>(())
//! ```

use std::path::Path;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::hard::Hard;
use super::net::Spoken;
use super::{Answer, Beside, Transducer};
use crate::attention::{Glance, Intervening, Memory, Question};
use crate::axis::Axis;
use crate::decoder::{AnyDecoder, Coverage, Decoder, Order, RecurrentDecoder};
use crate::model::ask::AnswerOptions;
use crate::model::ensemble::alone;
use crate::model::nearest::{Context, Seen};
use crate::model::touch::{Edit, check_heads};
use crate::search::{Fate, Request, SearchOptions, Thought, force, traced};
use crate::tape::Tape;
use crate::text::read::source_of;
use crate::text::vocab::{END, START};
use crate::text::{Line, Unit};
use crate::{Error, Result};

/// What to do with an answer. Without anything in it, the answer is as it would be.
#[derive(Clone, Debug, Default, PartialEq, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Explore {
    /// Units that the answer begins with, as they are shown.
    pub force: Vec<String>,
    /// Weights put in by hand.
    pub edits: Vec<Edit>,
    /// Heads whose weights are all 0, counted from 0; those of a Transformer layer after layer, as answers list them.
    pub heads_off: Vec<usize>,
    /// How many units are told of those that were thought of, for every hypothesis at every step.
    pub alternatives: usize,
    /// The step whose numbers are told, from 0.
    pub step: Option<usize>,
    /// A target whose probability is told.
    pub target: Option<String>,
    /// How many training pairs are told whose context is nearest to that of `step`; see [`Transducer::nearest`].
    pub nearest: usize,
}

/// An answer that was played with.
#[derive(Clone, Debug, Serialize)]
pub struct Explored {
    /// The answer.
    #[serde(flatten)]
    pub answer: Answer,
    /// What was thought of.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub thoughts: Vec<ThoughtText>,
    /// The numbers of one step.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub step: Option<StepNumbers>,
    /// What the model says of the target.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub target: Option<TargetScore>,
    /// What the model has seen before; filled in from [`AnyModel::seen`](crate::model::AnyModel::seen).
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub nearest: Vec<Seen>,
    /// The context of the step, if training pairs are wanted that are near to it.
    #[serde(skip)]
    pub context: Option<Context>,
}

/// A [`Thought`] in words.
#[derive(Clone, Debug, Serialize)]
pub struct ThoughtText {
    /// The one before it, if it is not the first.
    pub before: Option<usize>,
    /// The unit as it is shown; none for the end.
    pub token: Option<String>,
    /// Its own log-probability.
    pub log_prob: f32,
    /// That of the path up to it.
    pub total: f64,
    /// What became of it.
    pub fate: Fate,
    /// What the whole answer was ranked by, if it ended here.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
}

/// What the model says of a target that is given.
#[derive(Clone, Debug, Serialize)]
pub struct TargetScore {
    /// Its units as they are shown.
    pub tokens: Vec<String>,
    /// The probability of each, given those before.
    pub probabilities: Vec<f32>,
    /// The logarithm of the probability of all, the end included.
    pub log_prob: f64,
}

/// The numbers of one step, in the order they are computed. Lists of weights are heads by units of the source.
#[derive(Clone, Debug, Serialize)]
pub struct StepNumbers {
    /// Which step, from 0.
    pub step: usize,
    /// The name of the score.
    pub score: &'static str,
    /// Whether it looks before its state moves (`bahdanau`) or after (`luong`).
    pub order: Order,
    /// The state before the step.
    pub before: Vec<f32>,
    /// What asks: a state.
    pub query: Vec<f32>,
    /// Scores; empty if they depend on more than this step.
    pub scores: Vec<Vec<f32>>,
    /// Their softmax.
    pub softmax: Vec<Vec<f32>>,
    /// The weights that were used: the softmax, unless weights were put in.
    pub weights: Vec<Vec<f32>>,
    /// The mix of what was read.
    pub context: Vec<f32>,
    /// The state after the step.
    pub state: Vec<f32>,
    /// The most probable units: none is the end.
    pub top: Vec<(Option<String>, f32)>,
}

impl Transducer {
    /// Answers one source as it is told to.
    pub fn explore(
        &self,
        source: (&str, Option<&str>),
        explore: &Explore,
        options: &SearchOptions,
        copy_unknown: bool,
    ) -> Result<Explored> {
        alone(&self.peers)?;
        let units = self.vocabularies.source_units(source.0, source.1);
        let ids: Vec<u32> = units.iter().map(|u| u.id).collect();
        let beyond = &self.vocabularies.beyond(&units)[..];
        let prefix = explore.force.iter().map(|token| self.target_unit(token, beyond)).collect::<Result<Vec<u32>>>()?;
        let changed = self.changed(explore, &units)?;
        let writer = match &changed {
            Some(changed) => self.writer().intervening(changed),
            None => self.writer(),
        };
        // What was played with is the network's own.
        let beside = if changed.is_none() { self.beside.clone() } else { Beside::default() };
        let request = Request { source: &ids, prefix: &prefix };
        let (found, trace) = traced(&writer, request, &beside.wide(options), explore.alternatives)?;
        let found = beside.judge(&writer, &[request], &[], options, vec![found])?.remove(0);
        let written = found.first().map(|h| h.ids.clone()).unwrap_or_default();
        let target = match &explore.target {
            Some(text) => {
                let target = self.vocabularies.target_ids(text, beyond);
                let scored = force(&writer, &[(&ids, &target)])?;
                let tokens = target.iter().map(|&id| self.vocabularies.target_text(id, beyond)).collect();
                scored.into_iter().next().map(|h| TargetScore { tokens, probabilities: h.probabilities, log_prob: h.log_prob })
            }
            None => None,
        };
        let step = match explore.step.filter(|&step| step <= written.len() && !ids.is_empty()) {
            Some(step) => self.step_numbers(&ids, beyond, &written, step, changed.as_ref())?,
            None => None,
        };
        let context = match explore.step.filter(|&at| explore.nearest > 0 && at <= written.len() && !ids.is_empty()) {
            Some(at) => self.context_at(&ids, &written, at, step.as_ref())?,
            None => None,
        };
        let thoughts = if explore.alternatives > 0 { trace.thoughts.iter().map(|t| self.thought(t, beyond)).collect() } else { Vec::new() };
        let sure = self.sureness(changed.is_none() && options.sample.is_none());
        Ok(Explored {
            answer: self.in_words(source, &units, &[], found, sure, copy_unknown),
            thoughts,
            step,
            target,
            nearest: Vec::new(),
            context,
        })
    }

    /// Answers a line as `predict` reads it.
    pub fn explore_line(&self, line: &Line, explore: &Explore, options: &AnswerOptions) -> Result<Explored> {
        let asked = source_of(Path::new("-"), line, self.config.data.features, self.config.data.format.longest)?;
        self.explore((&asked.source, asked.features.as_deref()), explore, &self.search_as(options), options.copy_unknown)
    }

    /// A unit of the vocabulary as it is shown.
    pub(super) fn token(&self, id: u32) -> String {
        self.vocabularies.target_text(id, &[])
    }

    fn target_unit(&self, token: &str, beyond: &[String]) -> Result<u32> {
        let known = (self.vocabularies.target.len() + beyond.len()) as u32;
        let found = (0..known).find(|&id| id != START && id != END && self.vocabularies.target_text(id, beyond) == token);
        let unknown =
            || Error::Value { what: "a unit to force".into(), got: format!("{token:?}"), expected: "a unit of the model's target".into() };
        found.ok_or_else(unknown)
    }

    fn thought(&self, thought: &Thought, beyond: &[String]) -> ThoughtText {
        let Thought { before, unit, log_prob, total, fate, score } = *thought;
        ThoughtText { before, token: (unit != END).then(|| self.vocabularies.target_text(unit, beyond)), log_prob, total, fate, score }
    }

    /// Who puts the weights in; none if none are to be put in.
    fn changed(&self, explore: &Explore, units: &[Unit]) -> Result<Option<Intervening>> {
        if explore.edits.is_empty() && explore.heads_off.is_empty() {
            return Ok(None);
        }
        let heads = match self.net.decoder() {
            AnyDecoder::Recurrent(decoder) => decoder.decoder.attention.as_ref().map_or(0, |attention| attention.scores.len()),
            AnyDecoder::Transformer(decoder) => {
                let (layers, heads) = decoder.heads();
                layers * heads
            }
        };
        if self.config.model.hard != Hard::Off {
            let (what, got) = ("the attention to change".into(), "hard, a sum over all ways to walk".into());
            return Err(Error::Value { what, got, expected: "soft attention".into() });
        }
        check_heads(&explore.edits, &explore.heads_off, heads)?;
        let normalised = |edit: &Edit| edit.clone().normalised(units.len(), "the source");
        let edits = explore.edits.iter().map(normalised).collect::<Result<Vec<Edit>>>()?;
        let off = explore.heads_off.clone();
        let change = move |glance: Glance, weights: &mut [f32]| {
            // Of the heads of all layers, counted one layer after the other, those that look now.
            let own = |head: usize| head.checked_sub(glance.layer * glance.heads).filter(|&head| head < glance.heads);
            for edit in edits.iter().filter(|edit| edit.step == glance.step) {
                for (position, heads) in weights.chunks_exact_mut(glance.heads.max(1)).enumerate() {
                    match edit.head {
                        None => heads.fill(edit.weights[position]),
                        Some(head) => own(head).into_iter().for_each(|head| heads[head] = edit.weights[position]),
                    }
                }
            }
            for position in weights.chunks_exact_mut(glance.heads.max(1)) {
                off.iter().filter_map(|&head| own(head)).for_each(|head| position[head] = 0.0);
            }
        };
        Ok(Some(Intervening(Arc::new(change))))
    }

    /// Runs to a step of an answer and keeps what is computed there. None for a decoder whose steps are not recurrent, or that does not look.
    fn step_numbers(
        &self,
        source: &[u32],
        beyond: &[String],
        written: &[u32],
        step: usize,
        changed: Option<&Intervening>,
    ) -> Result<Option<StepNumbers>> {
        let AnyDecoder::Recurrent(bridged) = self.net.decoder() else { return Ok(None) };
        let decoder = &bridged.decoder;
        let (Some(attention), Some(score)) = (&decoder.attention, self.config.score()) else { return Ok(None) };
        let tape = Tape::new(&self.params);
        let axis = Axis::new([source.len()]);
        let begun = self.net.encode(&tape, source, &axis)?;
        let places = self.net.places(source, &axis);
        let free = begun.memories.clone();
        let put_in = |memory: Memory| match changed {
            Some(changed) => memory.intervened(changed.0.clone()),
            None => memory,
        };
        let memories: Vec<Memory> = begun.memories.into_iter().map(put_in).collect();
        let (mut before, mut unit) = (begun.state, START);
        for &next in written.iter().take(step) {
            before = self.net.decoder().step(&tape, self.net.embed_targets(&tape, &[unit])?, &before, &memories, &[0], true)?.state;
            unit = next;
        }
        let Spoken { stepped, log_probs, .. } = self.net.step(&tape, &[unit], &before, &memories, &[0], places.as_ref(), true)?;
        let top_layer = decoder.config.layers - 1;
        let (old, new) = (before.tables[top_layer], stepped.state.tables[top_layer]);
        let query = if decoder.config.order == Order::Bahdanau { old } else { new };
        let heads = attention.scores.len();
        let by_head = |flat: Vec<f32>| {
            (0..heads).map(|head| flat.iter().copied().skip(head).step_by(heads.max(1)).collect()).collect::<Vec<Vec<f32>>>()
        };
        let (mut scores, mut softmax) = (Vec::new(), Vec::new());
        if let (true, Some(memory)) = (looks_freely(decoder), free.first()) {
            let question = Question::of_items(Some(query), &[0], &memory.axis, step)?;
            let attended = attention.attend(&tape, memory, &question)?;
            scores = by_head(tape.to_vec(attended.scores));
            softmax = by_head(tape.to_vec(attended.weights));
        }
        let mut best: Vec<u32> = (0..log_probs.len() as u32).filter(|&unit| unit != START).collect();
        best.sort_by(|&a, &b| log_probs[b as usize].total_cmp(&log_probs[a as usize]));
        let named = |&unit: &u32| ((unit != END).then(|| self.vocabularies.target_text(unit, beyond)), log_probs[unit as usize].exp());
        Ok(Some(StepNumbers {
            step,
            score: score.name(),
            order: decoder.config.order,
            before: tape.to_vec(old),
            query: tape.to_vec(query),
            scores,
            softmax,
            weights: stepped.weights.map(|w| by_head(tape.to_vec(w))).unwrap_or_default(),
            context: stepped.context.map(|c| tape.to_vec(c)).unwrap_or_default(),
            state: tape.to_vec(new),
            top: best.iter().take(8).map(named).collect(),
        }))
    }
}

/// Whether a step's weights depend on its own state alone.
fn looks_freely(decoder: &RecurrentDecoder) -> bool {
    let looks_back = decoder.attention.as_ref().is_some_and(|attention| attention.looks_back());
    !looks_back && decoder.config.coverage == Coverage::Off
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::config::resolve;
    use crate::model::seq2seq::Config;
    use crate::text::Pair;

    fn opinionated(settings: &[&str]) -> Transducer {
        let pair = |source: &str, target: &str| Pair { source: source.into(), target: target.into(), features: None, line: 0 };
        let small = ["model.embedding=6", "model.hidden=8", "model.dropout=0.0"];
        let changes: Vec<String> = small.iter().chain(settings).map(|change| change.to_string()).collect();
        let config = resolve(&Config::default(), "", &changes).unwrap();
        let mut model = Transducer::new(config, &[pair("abcd", "xyz"), pair("dc", "zyxx"), pair("b", "yx")]).unwrap();
        model.params.flat_mut().iter_mut().for_each(|weight| *weight *= 3.0);
        model
    }

    /// Answers long enough to look at, whatever the model thinks.
    fn forced() -> Explore {
        Explore { force: ["x", "y", "z"].map(String::from).to_vec(), ..Explore::default() }
    }

    const KINDS: [&[&str]; 3] = [&[], &["model.order=\"luong\""], &["attention.heads=2"]];

    /// Nothing asked for, nothing changed: to the bit.
    #[test]
    fn an_answer_that_is_not_played_with_is_the_same() {
        for kind in KINDS {
            let model = opinionated(kind);
            let options = SearchOptions { beam: 3, n_best: 3, ..model.search_options() };
            let plain = model.answer(&[("abcd", None)], &options, false).unwrap();
            let explore = Explore { alternatives: 4, ..Explore::default() };
            let played = model.explore(("abcd", None), &explore, &options, false).unwrap();
            for (plain, played) in plain[0].hypotheses.iter().zip(&played.answer.hypotheses) {
                assert_eq!(plain.hypothesis, played.hypothesis, "{kind:?}");
            }
        }
    }

    #[test]
    fn weights_that_are_put_in_are_used_from_there_on() {
        for kind in KINDS {
            let model = opinionated(kind);
            let options = SearchOptions { beam: 1, n_best: 1, ..model.search_options() };
            let plain = model.explore(("abcd", None), &forced(), &options, false).unwrap();
            let plain = &plain.answer.hypotheses[0].hypothesis;
            let edit = Edit { step: 1, head: None, weights: vec![0.0, 0.0, 2.0, 2.0] };
            let explore = Explore { edits: vec![edit], step: Some(1), ..forced() };
            let found = model.explore(("abcd", None), &explore, &options, false).unwrap();
            let changed = &found.answer.hypotheses[0].hypothesis;
            assert_eq!(changed.attention[0], plain.attention[0], "before, nothing changes");
            assert_eq!(changed.attention[1], [0.0, 0.0, 0.5, 0.5]);
            assert_ne!(changed.log_prob, plain.log_prob);
            // The step tells the weights as they would have been, and as they were.
            let step = found.step.unwrap();
            assert!(step.weights.iter().all(|head| head == &[0.0, 0.0, 0.5, 0.5]), "{kind:?}");
            let mean: Vec<f32> = (0..4).map(|j| step.softmax.iter().map(|head| head[j]).sum::<f32>() / step.softmax.len() as f32).collect();
            assert!(mean.iter().zip(&plain.attention[1]).all(|(a, b)| (a - b).abs() < 1e-6), "{mean:?} {:?}", plain.attention[1]);
        }
    }

    /// softmax(scores) are the weights, as the search reports them; a unit has the probability that the search gave it.
    #[test]
    fn the_numbers_of_a_step_are_those_of_the_search() {
        for kind in KINDS {
            let model = opinionated(kind);
            let options = SearchOptions { beam: 1, n_best: 1, ..model.search_options() };
            let found = model.explore(("dca", None), &Explore { step: Some(2), ..forced() }, &options, false).unwrap();
            let (step, best) = (found.step.unwrap(), &found.answer.hypotheses[0].hypothesis);
            for (scores, softmax) in step.scores.iter().zip(&step.softmax) {
                let sum: f32 = scores.iter().map(|s| s.exp()).sum();
                assert!(scores.iter().zip(softmax).all(|(s, w)| (s.exp() / sum - w).abs() < 1e-5), "{kind:?}");
            }
            assert_eq!(step.softmax, step.weights);
            let mean = |j: usize| step.weights.iter().map(|head| head[j]).sum::<f32>() / step.weights.len() as f32;
            assert!((0..3).all(|j| (mean(j) - best.attention[2][j]).abs() < 1e-6), "{kind:?}");
            let (_, probability) = step.top.iter().find(|(token, _)| token.as_deref() == Some("z")).unwrap();
            assert!((probability - best.probabilities[2]).abs() < 1e-6, "{kind:?}");
        }
    }

    #[test]
    fn forced_units_are_written_and_paid_for() {
        let model = opinionated(&[]);
        let options = SearchOptions { beam: 2, n_best: 1, ..model.search_options() };
        let explore = Explore { force: vec!["z".into(), "z".into()], target: Some("zz".into()), ..Explore::default() };
        let found = model.explore(("abcd", None), &explore, &options, false).unwrap();
        let best = &found.answer.hypotheses[0];
        assert_eq!(&best.tokens[..2], ["z", "z"]);
        let target = found.target.unwrap();
        assert!(target.probabilities.iter().zip(&best.hypothesis.probabilities).all(|(a, b)| (a - b).abs() < 1e-6));
        let unknown = Explore { force: vec!["?".into()], ..Explore::default() };
        let error = model.explore(("abcd", None), &unknown, &options, false).unwrap_err().to_string();
        assert!(error.contains("a unit to force") && error.contains('?'), "{error}");
    }

    /// Every path of the tree adds up, the answers are its ends, and what lost was not better than what was kept beside it.
    #[test]
    fn the_tree_holds_the_search() {
        let model = opinionated(&["search.length_penalty=0.7"]);
        let options = SearchOptions { beam: 3, n_best: 3, ..model.search_options() };
        let found = model.explore(("abcd", None), &Explore { alternatives: 4, ..Explore::default() }, &options, false).unwrap();
        let all = &found.thoughts;
        for thought in all {
            let before = thought.before.map_or(0.0, |before| all[before].total);
            assert!((thought.total - before - thought.log_prob as f64).abs() < 1e-9);
            assert!(thought.before.is_none_or(|before| all[before].fate == Fate::Kept));
        }
        let mut scores: Vec<f64> = all.iter().filter_map(|thought| thought.score).collect();
        scores.sort_by(|a, b| b.total_cmp(a));
        let answers: Vec<f64> = found.answer.hypotheses.iter().map(|h| h.hypothesis.score).collect();
        assert_eq!(scores[..3], answers[..]);
        let first: Vec<&ThoughtText> = all.iter().filter(|thought| thought.before.is_none()).collect();
        let worst_kept = first.iter().filter(|t| t.fate != Fate::Lost).map(|t| t.total).fold(f64::INFINITY, f64::min);
        assert!(first.iter().filter(|t| t.fate == Fate::Lost).all(|lost| lost.total <= worst_kept));
        assert_eq!(first.iter().filter(|t| t.fate != Fate::Lost).count(), 3);
    }

    #[test]
    fn a_head_can_be_switched_off() {
        let model = opinionated(&["attention.heads=2"]);
        let options = model.search_options();
        let explore = Explore { heads_off: vec![1], ..forced() };
        let found = model.explore(("abcd", None), &explore, &options, false).unwrap();
        let heads = &found.answer.hypotheses[0].hypothesis.heads;
        assert!(heads[1].iter().flatten().all(|w| *w == 0.0) && heads[0].iter().flatten().any(|w| *w > 0.0));
        let refused = Explore { heads_off: vec![2], ..Explore::default() };
        assert!(model.explore(("abcd", None), &refused, &options, false).is_err());
    }

    /// A head of a Transformer that is not heard: its values may be anything, and all heads off are no look at all.
    #[test]
    fn a_head_of_a_transformer_is_not_heard() {
        let settings = ["model.architecture=transformer", "model.embedding=8", "transformer.heads=2", "model.decoder_layers=2"];
        let mut model = opinionated(&settings);
        let options = model.search_options();
        let with = |model: &Transducer, off: &[usize]| {
            let explore = Explore { heads_off: off.to_vec(), ..forced() };
            model.explore(("abcd", None), &explore, &options, false).unwrap().answer.hypotheses.remove(0).hypothesis
        };
        let (plain, off) = (with(&model, &[]), with(&model, &[3]));
        assert_eq!((plain.heads.len(), off.heads.len()), (4, 4));
        assert_ne!(plain.log_prob, off.log_prob);
        assert!(off.heads[3].iter().flatten().all(|w| *w == 0.0));
        // As long as the same is written, what is before it looks where it did.
        let looks = |of: &[Vec<f32>]| of.iter().take(3).flatten().copied().collect::<Vec<f32>>();
        assert!(looks(&off.heads[0]).iter().zip(looks(&plain.heads[0])).all(|(off, plain)| (off - plain).abs() < 1e-6));
        // The values of the second head of the second layer are half of the last rows of what makes keys and values there.
        let entry = model.params.entries().iter().find(|e| e.name == "decoder.layers.1.multihead_attn.in_proj_weight").unwrap().clone();
        let (rows, width) = entry.table();
        let values = &mut model.params.flat_mut()[entry.range.clone()][(rows - width / 2) * width..];
        values.iter_mut().for_each(|w| *w = 5.0 - *w);
        assert_ne!(with(&model, &[]).log_prob, plain.log_prob);
        assert_eq!(with(&model, &[3]).log_prob, off.log_prob);
        let refused = Explore { heads_off: vec![4], ..Explore::default() };
        assert!(model.explore(("abcd", None), &refused, &options, false).unwrap_err().to_string().contains("below 4"));
    }

    #[test]
    fn weights_that_are_none_are_refused() {
        let model = opinionated(&[]);
        for weights in [vec![1.0; 3], vec![0.0; 4], vec![1.0, -1.0, 1.0, 1.0], vec![f32::NAN; 4], vec![f32::INFINITY; 4]] {
            let explore = Explore { edits: vec![Edit { step: 0, head: None, weights }], ..Explore::default() };
            let error = model.explore(("abcd", None), &explore, &model.search_options(), false).unwrap_err().to_string();
            assert!(error.contains("the weights of step 0"), "{error}");
        }
    }
}
