//! Cross-validation: every example is judged once in each repetition, by a model that has not seen it.
//!
//! A fold is trained to the end and measured once, with the weights it ended with: choosing the best epoch by the part it is judged on would flatter it.

use std::collections::HashMap;
use std::path::Path;
use std::sync::atomic::AtomicBool;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::describe::{Baseline, grouped};
use super::kind::{Model, Settings, resolved};
use crate::config::resolve;
use crate::folder::Claim;
use crate::metrics::Spread;
use crate::text::read::Examples;
use crate::train::run::CHECKPOINT_EVERY;
use crate::train::{Evaluation, Measure, Run, Tick, Watch};
use crate::{Error, Result};

/// For each fold, the examples it is judged on. Every label is spread evenly over the folds; the seed decides how.
///
/// ```
/// use spotlight::model::folds::folds;
///
/// let labels = ["a", "b", "a", "b", "a", "b"];
/// let folds = folds(&labels, 3, 1);
/// assert!(folds.iter().all(|fold| fold.len() == 2 && labels[fold[0]] != labels[fold[1]]));
/// ```
pub fn folds<S: AsRef<str>>(labels: &[S], count: usize, seed: u64) -> Vec<Vec<usize>> {
    let mut order: Vec<usize> = (0..labels.len()).collect();
    order.shuffle(&mut ChaCha8Rng::seed_from_u64(seed));
    // Stable, so within a label the order stays shuffled; dealt out like cards, each label goes round evenly.
    order.sort_by(|&a, &b| labels[a].as_ref().cmp(labels[b].as_ref()));
    let mut folds = vec![Vec::new(); count.max(1)];
    for (place, example) in order.into_iter().enumerate() {
        folds[place % count.max(1)].push(example);
    }
    folds.iter_mut().for_each(|fold| fold.sort_unstable());
    folds
}

/// How to cross-validate.
pub struct Plan<'a> {
    /// Parts that the examples are dealt into; each is judged by a model that has learnt from the others.
    pub folds: usize,
    /// How often, each time with the next seed: other parts, and other weights to begin with.
    pub repeat: usize,
    /// The folder; every model has a folder `fold-1`, `fold-2`, ... of its own in it.
    pub claim: &'a Claim,
    /// Set from outside to stop.
    pub stop: &'a AtomicBool,
    /// Hears of each model that is finished, by its number from 0.
    pub done: &'a (dyn Fn(usize, &[Measure]) + Sync),
}

/// What each model reached on its part.
#[derive(Clone, Debug)]
pub struct CrossValidation {
    /// Examples in all, those that stay together counted once.
    pub examples: usize,
    /// How many of the models make a repetition.
    pub count: usize,
    /// One list a model.
    pub folds: Vec<Vec<Measure>>,
    /// What simple ways reach on the same parts.
    pub baselines: Vec<Vec<Baseline>>,
}

impl CrossValidation {
    /// The names of the measures.
    pub fn names(&self) -> Vec<&'static str> {
        self.folds.first().map_or_else(Vec::new, |measures| measures.iter().map(|m| m.name).collect())
    }

    /// The simple ways and what they measure.
    pub fn baseline_names(&self) -> Vec<(String, &'static str)> {
        let of = |baseline: &Baseline| baseline.measures.iter().map(|m| (baseline.name.clone(), m.name)).collect::<Vec<_>>();
        self.baselines.first().map_or_else(Vec::new, |all| all.iter().flat_map(of).collect())
    }

    /// Mean and spread of a measure over the models that have it.
    pub fn spread(&self, name: &str) -> Option<Spread> {
        Spread::of(&self.folds.iter().filter_map(|fold| value(fold, name)).collect::<Vec<_>>())
    }

    /// Mean and spread of a measure's means over the repetitions.
    pub fn spread_of_repetitions(&self, name: &str) -> Option<Spread> {
        let mean =
            |folds: &[Vec<Measure>]| Spread::of(&folds.iter().filter_map(|fold| value(fold, name)).collect::<Vec<_>>()).map(|s| s.mean);
        Spread::of(&self.folds.chunks(self.count.max(1)).filter_map(mean).collect::<Vec<_>>())
    }

    /// Mean and spread of what a simple way reaches.
    pub fn baseline(&self, baseline: &str, name: &str) -> Option<Spread> {
        Spread::of(&self.of_baseline(baseline, name).map(|(theirs, _)| theirs).collect::<Vec<_>>())
    }

    /// Mean and spread of how far the model is above a simple way, part by part.
    pub fn above(&self, baseline: &str, name: &str) -> Option<Spread> {
        Spread::of(&self.of_baseline(baseline, name).filter_map(|(theirs, ours)| Some(ours? - theirs)).collect::<Vec<_>>())
    }

    fn of_baseline<'a>(&'a self, baseline: &'a str, name: &'a str) -> impl Iterator<Item = (f64, Option<f64>)> + 'a {
        self.baselines.iter().zip(&self.folds).filter_map(move |(all, own)| {
            let theirs = all.iter().find(|b| b.name == baseline).and_then(|b| value(&b.measures, name))?;
            Some((theirs, value(own, name)))
        })
    }
}

fn value(measures: &[Measure], name: &str) -> Option<f64> {
    measures.iter().find(|m| m.name == name).map(|m| m.value)
}

/// Reads the files of a recipe, those to develop with among them, chooses what it leaves open, and cross-validates.
pub(super) fn from_files<M: Model>(
    recipe: Option<&str>,
    changes: &[String],
    plan: &Plan,
    note: &mut dyn FnMut(&str),
) -> Result<CrossValidation> {
    let given = resolved::<M>(recipe, changes)?;
    let (train, dev) = (given.files().0.to_string(), given.files().1.to_string());
    let mut rows = Vec::new();
    for path in [&train, &dev].into_iter().filter(|path| !path.is_empty()) {
        let Examples { examples, notes } = M::read(Path::new(path), &given)?;
        notes.iter().for_each(|line| note(&line.to_string()));
        rows.extend(examples);
    }
    let config = match recipe {
        Some(_) => given,
        None => {
            // What is learnt from is a little less than all.
            let chosen = M::choose(&rows, changes)?;
            chosen.notes.iter().for_each(|line| note(line));
            resolve(&chosen.config, "", changes)?
        }
    };
    if !dev.is_empty() {
        note(&format!("the development examples are dealt out too: {} in all", grouped(rows.len())));
    }
    cross_validate::<M>(&config, &rows, plan)
}

/// Trains and measures a model for each fold of each repetition, several at a time. Examples with the same key stay together.
pub fn cross_validate<M: Model>(config: &M::Config, rows: &[M::Row], plan: &Plan) -> Result<CrossValidation> {
    let mut numbers: HashMap<String, usize> = HashMap::new();
    let mut labels: Vec<&str> = Vec::new();
    let group_of: Vec<usize> = rows
        .iter()
        .map(|row| {
            let next = numbers.len();
            let group = *numbers.entry(M::key(row)).or_insert(next);
            if group == next {
                labels.push(M::label(row).unwrap_or_default());
            }
            group
        })
        .collect();
    if plan.folds < 2 || plan.folds > labels.len() {
        let expected = format!("from 2 to {}, the number of examples", labels.len());
        return Err(Error::Value { what: "the number of folds".into(), got: plan.folds.to_string(), expected });
    }
    if plan.repeat < 1 {
        return Err(Error::Value { what: "the number of repetitions".into(), got: "0".into(), expected: "at least 1".into() });
    }
    plan.claim.clear()?;
    let repetition = |r: usize| {
        let seed = config.seed().wrapping_add(r as u64);
        folds(&labels, plan.folds, seed).into_iter().map(move |held_out| (seed, held_out))
    };
    let all: Vec<(u64, Vec<usize>)> = (0..plan.repeat).flat_map(repetition).collect();
    let epochs = config.training().epochs;
    let found = all
        .par_iter()
        .enumerate()
        .map(|(index, (seed, held_out))| {
            let changes = [format!("seed={seed}"), format!("train.every={epochs}")];
            let config: M::Config = resolve(config, "", &changes)?;
            let part = |held: bool| -> Vec<M::Row> {
                let own = |i: &usize| held_out.binary_search(&group_of[*i]).is_ok() == held;
                (0..rows.len()).filter(own).map(|i| rows[i].clone()).collect()
            };
            let (train, test) = (part(false), part(true));
            let mut model = M::new(config, &train)?;
            let folder = plan.claim.fold(index + 1)?.begin(|path| model.save_frame(path))?;
            let settings = model.config().training().clone();
            let run = Run {
                folder: &folder,
                settings: &settings,
                seed: *seed,
                fingerprint: String::new(),
                checkpoint_every: CHECKPOINT_EVERY,
                stop: plan.stop,
            };
            let mut last = LastMeasures(Vec::new());
            model.fit(&run, &train, &test, &mut last)?;
            (plan.done)(index, &last.0);
            Ok((last.0, model.baselines(&|| Some(train.clone()), &test)?))
        })
        .collect::<Result<Vec<_>>>()?;
    let (measured, baselines) = found.into_iter().unzip();
    Ok(CrossValidation { examples: labels.len(), count: plan.folds, folds: measured, baselines })
}

/// Keeps what the evaluation gave.
struct LastMeasures(Vec<Measure>);

impl Watch for LastMeasures {
    fn tick(&mut self, _: Tick) {}

    fn evaluated(&mut self, evaluation: &Evaluation) {
        self.0 = evaluation.measures.clone();
    }
}
