//! Attention over sets of your own vectors: which of them decided?
//!
//! Each bag is a set of sensor readings; it is labelled "alarm" if one of them is hot and shaking at once. Nobody says which.
//!
//! Run it with `cargo run --release -p spotlight --example bags`.

use std::path::Path;

use rand::{RngExt, SeedableRng};
use rand_chacha::ChaCha8Rng;
use spotlight::model::bags::{BagModel, Config};
use spotlight::model::folds::{Plan, cross_validate};
use spotlight::text::Bag;
use spotlight::{Result, folder};

/// Readings of temperature, shaking and a number that says nothing; and where the hot and shaking one is, if any.
fn readings(count: usize) -> Vec<(Bag, Option<usize>)> {
    let mut rng = ChaCha8Rng::seed_from_u64(1);
    let mut bag = |i: usize| {
        let size = rng.random_range(3..9);
        let culprit = i.is_multiple_of(2).then(|| rng.random_range(0..size));
        let row = |r: usize| {
            let (hot, shaking) = if culprit == Some(r) { (true, true) } else { (r.is_multiple_of(2), !r.is_multiple_of(2)) };
            let level = |high: bool, rng: &mut ChaCha8Rng| rng.random::<f32>() + if high { 2.0 } else { 0.0 };
            vec![60.0 + 10.0 * level(hot, &mut rng), level(shaking, &mut rng), rng.random()]
        };
        let label = if culprit.is_some() { "alarm" } else { "fine" };
        (Bag { id: format!("machine {i}"), label: label.into(), rows: (0..size).map(row).collect(), line: i + 1 }, culprit)
    };
    (0..count).map(&mut bag).collect()
}

/// Mean accuracy of four folds, and how often the heaviest row of an alarm is the culprit, in a fold's model.
pub fn learn(path: &Path) -> Result<(f64, f64)> {
    let (bags, culprits): (Vec<Bag>, Vec<Option<usize>>) = readings(160).into_iter().unzip();
    let mut config = Config::default();
    (config.model.hidden, config.train.epochs, config.train.rate) = (16, 40, 0.01);
    let claim = folder::claim(path, true)?;
    let (stop, done) = (&false.into(), &|fold: usize, measures: &[_]| println!("fold {}: {measures:?}", fold + 1));
    let plan = Plan { folds: 4, repeat: 1, claim: &claim, stop, done };
    let found = cross_validate::<BagModel>(&config, &bags, &plan)?;

    let model = BagModel::load(&path.join("fold-1"))?;
    let (mut right, mut alarms) = (0, 0);
    for (answer, culprit) in model.answer(&bags)?.iter().zip(culprits) {
        let Some(culprit) = culprit else { continue };
        let weights = answer.weights();
        right += usize::from(weights.iter().all(|&w| w <= weights[culprit]));
        alarms += 1;
    }
    Ok((found.spread("accuracy").map_or(0.0, |s| s.mean), right as f64 / alarms as f64))
}

#[allow(dead_code, reason = "a test uses this file as a module")]
fn main() -> Result<()> {
    let (accuracy, pointed) = learn(&std::env::temp_dir().join("spotlight-bags"))?;
    println!("accuracy {accuracy:.3}; the heaviest row is the culprit in {pointed:.3} of the alarms");
    Ok(())
}
