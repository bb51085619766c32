//! Where a demo trains: in a folder that is kept if the user names one, else in a temporary one.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use anyhow::Result;
use spotlight::model::{Model, Settings, folder};
use spotlight::text::Pair;
use spotlight::train::run::CHECKPOINT_EVERY;
use spotlight::train::{Evaluation, Measure, Run, Tick, Watch};

use crate::output::say;

/// The folder of a demo's model.
pub struct Stage {
    /// Its place.
    pub folder: PathBuf,
    temporary: bool,
}

impl Stage {
    /// `out`, or a new temporary folder.
    pub fn new(out: Option<&PathBuf>, name: &str) -> Result<Self> {
        let (folder, temporary) = match out {
            Some(out) => {
                // Refused now rather than when the demo has told half its story.
                drop(folder::claim(out, false)?);
                (out.clone(), false)
            }
            None => (std::env::temp_dir().join(format!("spotlight-{name}-{}", std::process::id())), true),
        };
        Ok(Stage { folder, temporary })
    }

    /// Trains a model on rows to learn from and to stop by, and leaves its best weights in it.
    pub fn train<M: Model>(&self, model: &mut M, train: &[M::Row], dev: &[M::Row], watch: &mut dyn Watch) -> Result<()> {
        let folder = folder::claim(&self.folder, self.temporary)?.begin(|path| model.save_frame(path))?;
        let settings = model.config().training().clone();
        let stop = AtomicBool::new(false);
        let run = Run {
            folder: &folder,
            settings: &settings,
            seed: model.config().seed(),
            fingerprint: String::new(),
            checkpoint_every: CHECKPOINT_EVERY,
            stop: &stop,
        };
        model.fit(&run, train, dev, watch)?;
        Ok(())
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if self.temporary {
            let _ = std::fs::remove_dir_all(&self.folder);
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
