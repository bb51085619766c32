//! Models that differ from the audited one in one thing, trained side by side on the examples it was trained on.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use rayon::prelude::*;

use super::{Course, Progress, imitate};
use crate::folder;
use crate::model::probe::{Differs, Probe};
use crate::model::{Model, Settings, teach};
use crate::train::fit::Passing;
use crate::train::run::CHECKPOINT_EVERY;
use crate::train::{Evaluation, Run, Tick, Watch};
use crate::{Error, Result};

/// Other models.
pub struct Siblings<P> {
    /// Of other seeds.
    pub seeds: Vec<P>,
    /// With uniform weights.
    pub uniform: Vec<P>,
    /// One that reads every unit on its own.
    pub average: Option<P>,
    /// One that has learnt to answer the same and to look elsewhere ([`imitate`]).
    pub adversary: Option<P>,
}

impl<P> Siblings<P> {
    /// None.
    pub fn none() -> Self {
        Siblings { seeds: Vec::new(), uniform: Vec::new(), average: None, adversary: None }
    }
}

/// Nobody watches.
struct Silent;

impl Watch for Silent {
    fn tick(&mut self, _: Tick) {}
    fn evaluated(&mut self, _: &Evaluation) {}
}

/// Trains them, and notes why there are none if there are none.
pub fn train<M>(model: &M, course: &Course, progress: &Progress, notes: &mut Vec<String>) -> Result<Siblings<M>>
where
    M: Model + Probe<Row = <M as Model>::Row>,
    <M as Model>::Row: Sync,
{
    if course.quick || course.seeds == 0 {
        notes
            .push("quick: no other model was trained, so that neither other seeds nor training with uniform weights were looked at".into());
        return Ok(Siblings::none());
    }
    let mut changes = Vec::new();
    if let Some(file) = course.train {
        changes.push(format!("data.train={}", toml::Value::String(file.display().to_string())));
    }
    let config = crate::config::resolve(model.config(), "", &changes)?;
    let (file, _) = config.files();
    let (train, dev) = match teach::parts::<M>(&config, &mut |_| {}) {
        Ok(parts) => parts,
        Err(error) => {
            notes.push(format!(
                "no other model was trained: the training examples ({file}) cannot be read: {error}; name them with --train"
            ));
            return Ok(Siblings::none());
        }
    };
    let (first, count) = (model.config().seed(), course.seeds as u64);
    let mut wanted: Vec<Differs> = (0..=count).map(|i| Differs::Uniform(first + i)).collect();
    wanted.extend((1..=count).map(|i| Differs::Seed(first + i)));
    wanted.extend([Differs::Average(first), Differs::Adversary(first + 1)]);
    let done = AtomicUsize::new(0);
    let one = |differs: &Differs| -> Result<Option<(Differs, M)>> {
        if course.stop.load(Ordering::Relaxed) {
            return Err(stopped());
        }
        let Some(mut sibling) = model.sibling(*differs, &train)? else { return Ok(None) };
        let passing = Passing::new()?;
        let folder = folder::claim(passing.path(), false)?.begin(|_| Ok(()))?;
        let settings = sibling.config().training().clone();
        let run = Run {
            folder: &folder,
            settings: &settings,
            seed: differs.seed(),
            fingerprint: String::new(),
            checkpoint_every: CHECKPOINT_EVERY,
            stop: course.stop,
        };
        match differs {
            Differs::Adversary(_) => imitate::teach(model, &mut sibling, &run, [&train, &dev], &mut Silent)?,
            _ => sibling.fit(&run, &train, &dev, &mut Silent).map(|_| ())?,
        }
        let done = done.fetch_add(1, Ordering::Relaxed) + 1;
        progress("training other models", done, wanted.len());
        Ok(Some((*differs, sibling)))
    };
    progress("training other models", 0, wanted.len());
    let found = wanted.par_iter().map(one).collect::<Result<Vec<_>>>()?;
    let mut siblings = Siblings::none();
    for (differs, sibling) in found.into_iter().flatten() {
        match differs {
            Differs::Seed(_) => siblings.seeds.push(sibling),
            Differs::Uniform(_) => siblings.uniform.push(sibling),
            Differs::Average(_) => siblings.average = Some(sibling),
            Differs::Adversary(_) => siblings.adversary = Some(sibling),
        }
    }
    Ok(siblings)
}

/// Somebody asked to stop.
pub(super) fn stopped() -> Error {
    Error::Audit("it was stopped".into())
}

/// For a course that nobody stops.
pub static NEVER: AtomicBool = AtomicBool::new(false);
