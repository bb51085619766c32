//! The experiments with a model that writes.
//!
//! Its attention is needed almost by construction: a decoder that cannot look has little to go by. So the questions are others: do the answers survive other weights, and is what a step
//! looks at what it would miss? Weights are changed while it writes by an [`Intervention`](crate::attention::Intervention); a source unit is erased by leaving it out of the source, and
//! what that costs a step is the change of the log-probability of the unit that it wrote, with all units before it as they were.

use std::sync::Arc;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;

use super::bootstrap::{bootstrap, mean, mean_of};
use super::heads::{heads, layers, picture, through_layers};
use super::kendall::kendall;
use super::links::align;
use super::report::{Changed, Report, WrittenReport};
use super::siblings::stopped;
use super::{Course, Progress, verdict};
use crate::attention::{Glance, Intervening};
use crate::model::seq2seq::copies::decode;
use crate::model::seq2seq::{Hypothesis, SearchOptions, Transducer};
use crate::model::{Model, folder::Task};
use crate::search::{Request, force, search};
use crate::text::Pair;
use crate::{Error, Result};

/// What is done to the weights, by name.
pub fn changes(seed: u64) -> [(&'static str, Intervening); 4] {
    let uniform = |g: Glance, w: &mut [f32]| w.fill(g.heads as f32 / w.len() as f32);
    let permuted = move |g: Glance, w: &mut [f32]| {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream((g.item as u64) << 20 | g.step as u64);
        for i in (1..w.len() / g.heads).rev() {
            let j = ((random.random::<f64>() * (i + 1) as f64) as usize).min(i);
            (0..g.heads).for_each(|h| w.swap(i * g.heads + h, j * g.heads + h));
        }
    };
    let shifted = |g: Glance, w: &mut [f32]| w.rotate_right(g.heads.min(w.len()));
    let first = |g: Glance, w: &mut [f32]| {
        w.fill(0.0);
        w[..g.heads].fill(1.0);
    };
    [
        ("uniform", Intervening(Arc::new(uniform))),
        ("permuted at every step", Intervening(Arc::new(permuted))),
        ("shifted by one", Intervening(Arc::new(shifted))),
        ("all on the first unit", Intervening(Arc::new(first))),
    ]
}

/// Sources whose erasures are forced together.
const TOGETHER: usize = 32;

/// One step that was written: where it looked, and what it would lose without each source unit.
pub(super) struct Step {
    pub weights: Vec<f64>,
    /// The weights of each head, if there are several.
    pub heads: Vec<Vec<f64>>,
    /// The weights followed through the layers of the encoder, if it has layers that look.
    pub rollout: Option<Vec<f64>>,
    pub costs: Vec<f64>,
    /// How near each source unit is to the diagonal.
    pub diagonal: Vec<f64>,
}

/// Of each example the mean over its steps, so that long ones count no more than short ones.
pub(super) fn of_examples(steps: &[Vec<Step>], of: &dyn Fn(&Step) -> Option<f64>) -> Vec<Option<f64>> {
    steps.iter().map(|all| mean_of(all.iter().filter_map(of))).collect()
}

/// The place of the largest; the first of equal ones.
pub(super) fn largest(x: &[f64]) -> usize {
    (1..x.len()).fold(0, |best, i| if x[i] > x[best] { i } else { best })
}

/// How near each of `n` source units is to the diagonal at step `at` of `steps`.
pub(super) fn near_diagonal(at: usize, steps: usize, n: usize) -> Vec<f64> {
    let centre = (at as f64 + 0.5) / steps.max(1) as f64 * n as f64 - 0.5;
    (0..n).map(|j| -(j as f64 - centre).abs()).collect()
}

/// Audits a model that writes.
pub fn written(model: &Transducer, pairs: &[Pair], course: &Course, progress: &Progress) -> Result<Report> {
    let refuse = |reason: String| Err(Error::Audit(reason));
    if let Some(reason) = model.blind() {
        return refuse(reason);
    }
    if pairs.is_empty() {
        return refuse("there are no examples".into());
    }
    let mut notes = Vec::new();
    let mut chosen: Vec<usize> = (0..pairs.len()).collect();
    if chosen.len() > course.examples {
        let mut random = ChaCha8Rng::seed_from_u64(course.seed);
        for i in (1..chosen.len()).rev() {
            chosen.swap(i, ((random.random::<f64>() * (i + 1) as f64) as usize).min(i));
        }
        chosen.truncate(course.examples);
        chosen.sort_unstable();
        notes.push(format!("{} of {} examples, drawn", chosen.len(), pairs.len()));
    }
    let some: Vec<Pair> = chosen.iter().map(|&i| pairs[i].clone()).collect();
    let examples = model.examples(&some);
    let requests: Vec<Request> = examples.iter().map(|e| Request::new(&e.source)).collect();
    let greedy = SearchOptions { beam: 1, n_best: 1, sample: None, ..model.search_options() };
    let text = |(i, h): (usize, &Hypothesis)| decode(&model.vocabularies.target, &h.ids, &examples[i].beyond);
    let right = |text: &str, i: usize| {
        let key = &examples[i].key;
        examples.iter().any(|e| e.key == *key && e.reference == text)
    };
    progress("writing", 0, 5);
    let own: Vec<Hypothesis> = search(&model.writer(), &requests, &greedy)?.into_iter().filter_map(|h| h.into_iter().next()).collect();
    let own_text: Vec<String> = own.iter().enumerate().map(text).collect();
    let right = |text: &str, i: usize| f64::from(u8::from(right(text, i)));
    let own_right: Vec<f64> = own_text.iter().enumerate().map(|(i, t)| right(t, i)).collect();
    let none = || Error::Audit("there are no examples".into());
    let share = |x: &[f64]| mean(x, course.seed).ok_or_else(none);
    let answers = |change: &Intervening| -> Result<Vec<String>> {
        let found = search(&model.writer().intervening(change), &requests, &greedy)?;
        Ok(found.iter().enumerate().map(|(i, h)| h.first().map_or_else(String::new, |h| text((i, h)))).collect())
    };
    let mut changed = vec![Changed { weights: "as they are", accuracy: share(&own_right)?, same: share(&vec![1.0; own.len()])? }];
    let mut lost = None;
    for (done, (name, change)) in changes(course.seed).iter().enumerate() {
        progress("writing", done + 1, 5);
        let texts = answers(change)?;
        let now: Vec<f64> = texts.iter().enumerate().map(|(i, t)| right(t, i)).collect();
        let same: Vec<f64> = texts.iter().zip(&own_text).map(|(a, b)| f64::from(u8::from(a == b))).collect();
        if lost.is_none() {
            lost = mean(&own_right.iter().zip(&now).map(|(a, b)| a - b).collect::<Vec<_>>(), course.seed);
        }
        changed.push(Changed { weights: name, accuracy: share(&now)?, same: share(&same)? });
    }
    let lost = lost.ok_or_else(none)?;

    let sources: Vec<&[u32]> = examples.iter().map(|e| e.source.as_slice()).collect();
    let steps = erase(model, &sources, &own, course, progress)?;
    let weights = of_examples(&steps, &|s| kendall(&s.weights, &s.costs));
    let diagonal = of_examples(&steps, &|s| kendall(&s.diagonal, &s.costs));
    let chance = of_examples(&steps, &|s| Some(1.0 / s.weights.len() as f64));
    let both: Vec<(f64, f64)> = weights.iter().zip(&diagonal).filter_map(|(a, b)| Some(((*a)?, (*b)?))).collect();
    let over = bootstrap(both.len(), course.seed, |sample| mean_of(sample.iter().map(|&i| both[i].0 - both[i].1)));
    let pictures = [
        picture("weights", &steps, &|s| Some(&s.weights), course.seed),
        picture("rollout of the layers", &steps, &|s| s.rollout.as_deref(), course.seed),
        picture("the diagonal", &steps, &|s| Some(&s.diagonal), course.seed),
    ];
    let layers = layers(model);
    let heads = heads((&own, &own_text, &own_right), layers, &steps, &answers, &right, course, progress)?;

    progress("beam", 0, 1);
    let report = WrittenReport {
        changed,
        lost,
        pictures: pictures.into_iter().flatten().collect(),
        top_random: mean_of(chance.iter().flatten().copied()),
        moved: mean(&swapped(model, &sources, &own, course)?, course.seed),
        heads,
        alignment: course.links.map(|links| align(links, &chosen, model, &some, course.seed)).transpose()?,
        beam: mean(&beam(model, &sources, &requests)?, course.seed),
    };
    let top = report.pictures.iter().find(|p| p.by == "weights").map(|p| p.top);
    let verdict = verdict::judge_written(examples.len(), &report.lost, over.as_ref(), top.as_ref());
    Ok(Report {
        task: Task::Seq2seq.name(),
        verdict,
        answered: examples.len(),
        studied: examples.len(),
        seed: course.seed,
        notes,
        pooled: None,
        written: Some(report),
    })
}

/// What each step of each answer loses without each unit of its source.
fn erase(model: &Transducer, sources: &[&[u32]], own: &[Hypothesis], course: &Course, progress: &Progress) -> Result<Vec<Vec<Step>>> {
    let writer = model.writer();
    let mut all = Vec::with_capacity(own.len());
    for (part, (sources, own)) in sources.chunks(TOGETHER).zip(own.chunks(TOGETHER)).enumerate() {
        if course.stop.load(std::sync::atomic::Ordering::Relaxed) {
            return Err(stopped());
        }
        progress("erasing", part * TOGETHER, all.capacity());
        let left: Vec<(Vec<u32>, &[u32])> = sources
            .iter()
            .zip(own)
            .flat_map(|(source, h)| {
                (0..source.len()).map(|without| {
                    let left = source.iter().enumerate().filter(|(at, _)| *at != without).map(|(_, &id)| id).collect();
                    (left, h.ids.as_slice())
                })
            })
            .collect();
        let pairs: Vec<(&[u32], &[u32])> = left.iter().map(|(source, target)| (source.as_slice(), *target)).collect();
        let mut found = force(&writer, &pairs)?.into_iter();
        for (source, h) in sources.iter().zip(own) {
            let without: Vec<Hypothesis> = found.by_ref().take(source.len()).collect();
            let rollout = through_layers(model, source, h)?;
            let step = |at: usize| {
                let log = |p: f32| (p.max(f32::MIN_POSITIVE) as f64).ln();
                let own = log(h.probabilities[at]);
                Some(Step {
                    weights: h.attention.get(at)?.iter().map(|&w| w as f64).collect(),
                    heads: h.heads.iter().filter_map(|head| head.get(at)).map(|row| row.iter().map(|&w| w as f64).collect()).collect(),
                    rollout: rollout.as_ref().and_then(|rows| rows.get(at).cloned()),
                    // A source of one unit without it is no source: it cannot be forced.
                    costs: without.iter().map(|w| w.probabilities.get(at).map(|&p| own - log(p))).collect::<Option<Vec<f64>>>()?,
                    diagonal: near_diagonal(at, h.ids.len(), source.len()),
                })
            };
            all.push((0..h.ids.len()).filter_map(step).filter(|s| s.weights.len() > 1).collect());
        }
    }
    Ok(all)
}

/// Two units of each source in each other's place, the answer forced: for each answer the share of the steps that looked most at one of them and now look at its new place.
fn swapped(model: &Transducer, sources: &[&[u32]], own: &[Hypothesis], course: &Course) -> Result<Vec<f64>> {
    let mut random = ChaCha8Rng::seed_from_u64(course.seed);
    let mut drawn = |n: usize| ((random.random::<f64>() * n as f64) as usize).min(n.saturating_sub(1));
    let mut cases = Vec::new();
    for (source, h) in sources.iter().zip(own).filter(|(source, h)| source.len() > 1 && !h.ids.is_empty()) {
        let (a, b) = (drawn(source.len()), drawn(source.len() - 1));
        let b = if b >= a { b + 1 } else { b };
        if source[a] != source[b] {
            let mut moved = source.to_vec();
            moved.swap(a, b);
            cases.push((moved, h, a, b));
        }
    }
    let pairs: Vec<(&[u32], &[u32])> = cases.iter().map(|(source, h, ..)| (source.as_slice(), h.ids.as_slice())).collect();
    let found = force(&model.writer(), &pairs)?;
    let place = |row: &Vec<f32>| largest(&row.iter().map(|&w| w as f64).collect::<Vec<_>>());
    let of_case = |((_, h, a, b), now): (&(Vec<u32>, &Hypothesis, usize, usize), &Hypothesis)| {
        let steps = h.attention.iter().zip(&now.attention).map(|(before, after)| (place(before), place(after)));
        mean_of(
            steps
                .filter(|(before, _)| before == a || before == b)
                .map(|(before, after)| f64::from(u8::from(after == if before == *a { *b } else { *a }))),
        )
    };
    Ok(cases.iter().zip(&found).filter_map(of_case).collect())
}

/// For each source the share of the steps of its best answer under beam search whose weights are those of the same answer forced.
fn beam(model: &Transducer, sources: &[&[u32]], requests: &[Request]) -> Result<Vec<f64>> {
    let options = SearchOptions { beam: 5, n_best: 1, sample: None, ..model.search_options() };
    let found: Vec<Hypothesis> = search(&model.writer(), requests, &options)?.into_iter().filter_map(|h| h.into_iter().next()).collect();
    let pairs: Vec<(&[u32], &[u32])> = sources.iter().zip(&found).map(|(source, h)| (*source, h.ids.as_slice())).collect();
    let forced = force(&model.writer(), &pairs)?;
    let near = |a: &Vec<f32>, b: &Vec<f32>| a.iter().zip(b).all(|(a, b)| (a - b).abs() < 1e-3);
    let same = |(h, forced): (&Hypothesis, &Hypothesis)| {
        mean_of(h.attention.iter().zip(&forced.attention).map(|(a, b)| f64::from(u8::from(near(a, b)))))
    };
    Ok(found.iter().zip(&forced).filter_map(same).collect())
}
