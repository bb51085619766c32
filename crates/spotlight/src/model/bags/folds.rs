//! Cross-validation: every bag is judged once, by a model that has not seen it.
//!
//! A fold is trained to the end and measured once, with the weights it ended with: choosing the best epoch by the part it is judged on would flatter it.

use std::sync::atomic::AtomicBool;

use rand::SeedableRng;
use rand::seq::SliceRandom;
use rand_chacha::ChaCha8Rng;
use rayon::prelude::*;

use super::{BagModel, Config};
use crate::folder::Claim;
use crate::metrics::Spread;
use crate::text::Bag;
use crate::train::run::CHECKPOINT_EVERY;
use crate::train::{Evaluation, Measure, Run, Tick, Watch};
use crate::{Error, Result};

/// For each fold, the bags it is judged on. Every label is spread evenly over the folds; the seed decides how.
///
/// ```
/// use spotlight::model::bags::folds::folds;
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
    for (place, bag) in order.into_iter().enumerate() {
        folds[place % count.max(1)].push(bag);
    }
    folds.iter_mut().for_each(|fold| fold.sort_unstable());
    folds
}

/// The measures of every fold.
#[derive(Clone, Debug)]
pub struct CrossValidation {
    /// One list a fold.
    pub folds: Vec<Vec<Measure>>,
}

impl CrossValidation {
    /// Mean and spread of a measure over the folds that have it.
    pub fn spread(&self, name: &str) -> Option<Spread> {
        Spread::of(&self.folds.iter().flatten().filter(|m| m.name == name).map(|m| m.value).collect::<Vec<_>>())
    }
}

/// Trains and measures `count` models, each in its own folder `fold-1`, `fold-2`, ... of the one that is claimed, several at a time. `done` hears of each fold that is finished.
pub fn cross_validate(
    config: &Config,
    bags: &[Bag],
    count: usize,
    claim: &Claim,
    stop: &AtomicBool,
    done: &(dyn Fn(usize, &[Measure]) + Sync),
) -> Result<CrossValidation> {
    if count < 2 || count > bags.len() {
        let expected = format!("from 2 to {}, the number of bags", bags.len());
        return Err(Error::Value { what: "the number of folds".into(), got: count.to_string(), expected });
    }
    claim.clear()?;
    let labels: Vec<&str> = bags.iter().map(|b| b.label.as_str()).collect();
    let all = folds(&labels, count, config.seed);
    let mut config = config.clone();
    config.train.every = config.train.epochs;
    let measured = all
        .par_iter()
        .enumerate()
        .map(|(index, held_out)| {
            let part = |held: bool| (0..bags.len()).filter(move |i| held_out.binary_search(i).is_ok() == held).map(|i| bags[i].clone());
            let (train, test): (Vec<Bag>, Vec<Bag>) = (part(false).collect(), part(true).collect());
            let mut model = BagModel::new(config.clone(), &train)?;
            let folder = claim.fold(index + 1)?.begin(|path| model.save_frame(path))?;
            let run = Run {
                folder: &folder,
                settings: &config.train,
                seed: config.seed,
                fingerprint: String::new(),
                checkpoint_every: CHECKPOINT_EVERY,
                stop,
            };
            let (train, test) = (model.examples(&train)?, model.examples(&test)?);
            let learner = model.learner();
            let mut last = LastMeasures(Vec::new());
            run.train(&learner, &mut model.params, &train, &test, &mut last)?;
            done(index, &last.0);
            Ok(last.0)
        })
        .collect::<Result<Vec<_>>>()?;
    Ok(CrossValidation { folds: measured })
}

/// Keeps what the evaluation gave.
struct LastMeasures(Vec<Measure>);

impl Watch for LastMeasures {
    fn tick(&mut self, _: Tick) {}

    fn evaluated(&mut self, evaluation: &Evaluation) {
        self.0 = evaluation.measures.clone();
    }
}
