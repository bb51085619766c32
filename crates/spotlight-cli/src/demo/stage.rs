//! Where a demo trains: in a folder that is kept if the user names one, else in a temporary one.

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use anyhow::Result;
use spotlight::model::folder;
use spotlight::model::seq2seq::{Config, Transducer};
use spotlight::text::Pair;
use spotlight::train::run::CHECKPOINT_EVERY;
use spotlight::train::{Run, Watch};

use crate::output::WrongUsage;

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
            Some(out) if folder::config_path(out).exists() => {
                return Err(WrongUsage(format!("{} already holds a model: choose another --out", out.display())).into());
            }
            Some(out) => (out.clone(), false),
            None => (std::env::temp_dir().join(format!("spotlight-{name}-{}", std::process::id())), true),
        };
        folder::create(&folder)?;
        Ok(Stage { folder, temporary })
    }

    /// Trains a transducer on pairs and leaves its best weights in it.
    pub fn train(&self, config: Config, train: &[Pair], dev: &[Pair], watch: &mut dyn Watch) -> Result<Transducer> {
        let mut model = Transducer::new(config, train)?;
        model.save_frame(&self.folder)?;
        let learner = model.learner();
        let (train, dev) = (model.examples(train), model.examples(dev));
        let stop = AtomicBool::new(false);
        let settings = model.config.train.clone();
        let run = Run {
            folder: &self.folder,
            settings: &settings,
            seed: model.config.seed,
            fingerprint: String::new(),
            resume: false,
            checkpoint_every: CHECKPOINT_EVERY,
            stop: &stop,
        };
        run.train(&learner, &mut model.params, &train, &dev, watch)?;
        let _ = std::fs::remove_dir_all(self.folder.join("checkpoint"));
        Ok(model)
    }
}

impl Drop for Stage {
    fn drop(&mut self) {
        if self.temporary {
            let _ = std::fs::remove_dir_all(&self.folder);
        }
    }
}

/// Pairs of texts, numbered as lines.
pub fn pairs<S: Into<String>, T: Into<String>>(texts: impl IntoIterator<Item = (S, T)>) -> Vec<Pair> {
    let pair = |(i, (source, target)): (usize, (S, T))| Pair { source: source.into(), target: target.into(), features: None, line: i + 1 };
    texts.into_iter().enumerate().map(pair).collect()
}
