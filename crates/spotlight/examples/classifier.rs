//! A text classifier in a few lines: train it, save it, load it, ask it, and see what it looked at.
//!
//! ```text
//! cargo run --release -p spotlight --example classifier
//! ```

use std::path::Path;
use std::sync::atomic::AtomicBool;

use spotlight::Result;
use spotlight::demo::tweets::{self, Tweet};
use spotlight::folder;
use spotlight::model::classify::{Classifier, Config};
use spotlight::text::Labelled;
use spotlight::train::run::CHECKPOINT_EVERY;
use spotlight::train::{Evaluation, Run, Tick, Watch};

struct Printer;

impl Watch for Printer {
    fn tick(&mut self, _: Tick) {}
    fn evaluated(&mut self, e: &Evaluation) {
        println!("epoch {}: {:?}", e.epoch, e.measures.iter().map(|m| (m.name, m.value)).collect::<Vec<_>>());
    }
}

fn labelled(tweets: &[Tweet]) -> Vec<Labelled> {
    let label = |t: &Tweet| if t.positive { "happy" } else { "unhappy" };
    tweets.iter().enumerate().map(|(i, t)| Labelled { text: t.text.clone(), label: label(t).into(), line: i + 1 }).collect()
}

/// Trains on tweets, keeps the model in a folder, and returns its test accuracy.
pub fn learn(path: &Path, tweets: usize, epochs: u64) -> Result<f64> {
    let split = tweets::examples(tweets, 200, 1);
    let (train, test) = (labelled(&split.train), labelled(&split.test));
    let mut config = Config::default();
    (config.model.encoder.embedding, config.model.encoder.hidden) = (32, 32);
    (config.train.epochs, config.train.batch, config.train.rate) = (epochs, 500, 5e-3);
    let mut model = Classifier::new(config, &train)?;
    let folder = folder::claim(path, true)?.begin(|path| model.save_frame(path))?;
    let (learner, settings) = (model.learner(), model.config.train.clone());
    let (train, test) = (model.examples(&train)?, model.examples(&test)?);
    let (fingerprint, checkpoint_every, stop) = ("tweets".into(), CHECKPOINT_EVERY, &AtomicBool::new(false));
    let run = Run { folder: &folder, settings: &settings, seed: 1, fingerprint, checkpoint_every, stop };
    run.train(&learner, &mut model.params, &train, &test, &mut Printer)?;

    let model = Classifier::load(path)?;
    for answer in model.answer(&["i love it even though it keeps me awake"])? {
        println!("{} ({:.2})", answer.label, answer.probability());
        answer.tokens.iter().zip(&answer.attention[0]).for_each(|(word, weight)| println!("  {weight:.3} {word}"));
    }
    Ok(model.confusion(&test)?.accuracy())
}

#[allow(dead_code, reason = "a test uses this file as a module")]
fn main() -> Result<()> {
    println!("test accuracy {:.3}", learn(&std::env::temp_dir().join("spotlight-classifier"), 2000, 10)?);
    Ok(())
}
