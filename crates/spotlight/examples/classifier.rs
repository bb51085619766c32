//! A text classifier in a few lines: train it, save it, load it, ask it, and see what it looked at.
//! Run it with `cargo run --release -p spotlight --example classifier`.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use spotlight::model::Model;
use spotlight::model::classify::{Classifier, Config};
use spotlight::text::Labelled;
use spotlight::train::run::CHECKPOINT_EVERY;
use spotlight::train::{Evaluation, Run, Tick, Watch};
use spotlight::{Result, folder};

struct Printer;
impl Watch for Printer {
    fn tick(&mut self, _: Tick) {}
    fn evaluated(&mut self, e: &Evaluation) {
        println!("epoch {}: {:?}", e.epoch, e.measures.iter().map(|m| (m.name, m.value)).collect::<Vec<_>>());
    }
}

/// Short reviews in which the last word decides, whatever was said before it; none occurs twice.
fn reviews(count: usize) -> Vec<Labelled> {
    let things = ["film", "room", "soup", "band", "book", "bike", "view", "crew", "song", "game", "tea", "town"];
    let good = ["great", "lovely", "fun", "fine", "warm", "clever", "fresh", "bright", "kind", "calm"];
    let bad = ["dull", "awful", "sad", "cold", "loud", "stale", "dark", "slow", "rude", "dear"];
    let review = |i: usize| {
        let (first, last, label) = [(bad, good, "happy"), (good, bad, "unhappy")][i % 2];
        let text = format!("the {} is {} but i find it {}", things[i / 200 % 12], first[i / 2 % 10], last[i / 20 % 10]);
        Labelled { text, label: label.into(), line: i + 1 }
    };
    (0..count).map(review).collect()
}

/// Trains on reviews, keeps the model in a folder, and returns its test accuracy.
pub fn learn(path: &Path, texts: usize, epochs: u64) -> Result<f64> {
    let mut train = reviews(texts + 200);
    let test = train.split_off(texts);
    let mut config = Config::default();
    (config.model.encoder.embedding, config.model.encoder.hidden) = (32, 32);
    (config.train.epochs, config.train.batch, config.train.rate) = (epochs, 500, 5e-3);
    let mut model = Classifier::new(config, &train)?;
    let settings = model.config.train.clone();
    let folder = folder::claim(path, true)?.begin(|path| model.save_frame(path))?;
    let (fingerprint, checkpoint_every, stop) = ("reviews".into(), CHECKPOINT_EVERY, &AtomicBool::new(false));
    let run = Run { folder: &folder, settings: &settings, seed: 1, fingerprint, checkpoint_every, stop };
    model.fit(&run, &train, &test, &mut Printer)?;
    let model = Classifier::load(path)?;
    for answer in model.answer(&["the book is dull but i find it fun"])? {
        println!("{} ({:.2})", answer.label, answer.probability());
        answer.tokens.iter().zip(&answer.attention[0]).for_each(|(word, weight)| println!("  {weight:.3} {word}"));
    }
    Ok(model.confusion(&model.examples(&test)?)?.accuracy())
}

#[allow(dead_code, reason = "a test uses this file as a module")]
fn main() -> Result<()> {
    learn(&std::env::temp_dir().join("spotlight-classifier"), 2000, 10).map(|accuracy| println!("test accuracy {accuracy:.3}"))
}
