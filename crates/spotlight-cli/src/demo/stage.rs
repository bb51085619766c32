//! Where a demo trains: in a folder that is kept if the user names one, else in a temporary one.

use std::cell::{Cell, OnceCell};
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use anyhow::Result;
use spotlight::folder::{self, Claim, ModelFolder};
use spotlight::model::seq2seq::{Config, Transducer};
use spotlight::params::Params;
use spotlight::text::Pair;
use spotlight::train::run::CHECKPOINT_EVERY;
use spotlight::train::{Evaluation, Learner, Measure, Run, Tick, TrainSettings, Watch};

use crate::output::say;

/// The folder of a demo's model.
pub struct Stage {
    path: PathBuf,
    temporary: bool,
    /// Until the model is there.
    claim: Cell<Option<Claim>>,
    folder: OnceCell<ModelFolder>,
}

impl Stage {
    /// `out`, or a new temporary folder.
    pub fn new(out: Option<&PathBuf>, name: &str) -> Result<Self> {
        let (path, temporary) = match out {
            Some(out) => (out.clone(), false),
            None => (std::env::temp_dir().join(format!("spotlight-{name}-{}", std::process::id())), true),
        };
        let claim = Cell::new(Some(folder::claim(&path, temporary)?));
        Ok(Stage { path, temporary, claim, folder: OnceCell::new() })
    }

    /// Writes the files of the model that is about to learn.
    pub fn begin(&self, save: impl FnOnce(&Path) -> spotlight::Result<()>) -> Result<()> {
        if let Some(claim) = self.claim.take() {
            let _ = self.folder.set(claim.begin(save)?);
        }
        Ok(())
    }

    /// Trains a transducer on pairs and leaves its best weights in it.
    pub fn train(&self, config: Config, train: &[Pair], dev: &[Pair], watch: &mut dyn Watch) -> Result<Transducer> {
        let mut model = Transducer::new(config, train)?;
        self.begin(|path| model.save_frame(path))?;
        let (train, dev) = (model.examples(train), model.examples(dev));
        let (settings, seed, learner) = (model.config.train.clone(), model.config.seed, model.learner());
        self.run(&settings, seed, &learner, &mut model.params, (&train, &dev), watch)?;
        Ok(model)
    }

    /// Trains any kind of model on examples to learn from and to stop by, and leaves its best weights in `params`.
    pub fn run<L: Learner>(
        &self,
        settings: &TrainSettings,
        seed: u64,
        learner: &L,
        params: &mut Params<f32>,
        (train, dev): (&[L::Example], &[L::Example]),
        watch: &mut dyn Watch,
    ) -> Result<()> {
        self.begin(|_| Ok(()))?;
        let Some(folder) = self.folder.get() else { return Ok(()) };
        let stop = AtomicBool::new(false);
        let run = Run { folder, settings, seed, fingerprint: String::new(), checkpoint_every: CHECKPOINT_EVERY, stop: &stop };
        run.train(learner, params, train, dev, watch)?;
        Ok(())
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if self.temporary {
            let _ = std::fs::remove_dir_all(&self.path);
        }
    }
}

/// Prints a line for every evaluation: epoch, loss, and the measure with this name.
pub struct Lines(pub &'static str);

impl Watch for Lines {
    fn tick(&mut self, _: Tick) {}

    fn evaluated(&mut self, e: &Evaluation) {
        // A reader that went away is noticed by the next thing printed.
        let _ = say(format_args!("  epoch {:>3} | loss {:.4} | {} {:.3}", e.epoch, e.loss, self.0, value(&e.measures, self.0)));
    }
}

/// The measure with this name.
pub fn value(measures: &[Measure], name: &str) -> f64 {
    measures.iter().find(|m| m.name == name).map_or(f64::NAN, |m| m.value)
}

/// Pairs of texts, numbered as lines.
pub fn pairs<S: Into<String>, T: Into<String>>(texts: impl IntoIterator<Item = (S, T)>) -> Vec<Pair> {
    let pair = |(i, (source, target)): (usize, (S, T))| Pair { source: source.into(), target: target.into(), features: None, line: i + 1 };
    texts.into_iter().enumerate().map(pair).collect()
}
