//! Broken files for every reader: seeds that are whole, changed at random, one after the other.
//!
//! A reader may refuse a file but may not panic, and may not allocate more than a small file is worth. Nothing but a stable compiler is needed, and an input follows from
//! the seed and its number alone, so whatever is found can be made again.

pub mod mutate;
pub mod targets;

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;

use targets::Target;

/// The most a reader may have allocated at once for an input of at most [`mutate::MOST_BYTES`].
pub const MOST_ALLOCATED: usize = 64 << 20;

/// Watches how much is allocated.
pub struct Meter {
    /// Forgets the peak so far.
    pub reset: fn(),
    /// Bytes at the peak since, above what was in use then.
    pub peak: fn() -> usize,
}

/// What became of the inputs of one target.
#[derive(Debug, Default)]
pub struct Outcome {
    /// Inputs that were read.
    pub read: u64,
    /// Inputs that were refused.
    pub refused: u64,
    /// Numbers of the inputs that made a reader panic or allocate too much, and what was said.
    pub found: Vec<(u64, String)>,
    /// The most that was allocated at once.
    pub peak: usize,
}

/// Runs `count` inputs from number `first` on.
pub fn run(target: &Target, seed: u64, first: u64, count: u64, folder: &Path, meter: Option<&Meter>) -> Outcome {
    let seeds = seeds(target.name);
    let mut outcome = Outcome::default();
    for number in first..first + count {
        let input = mutate::input(&seeds, seed, number);
        if let Some(meter) = meter {
            (meter.reset)();
        }
        match catch_unwind(AssertUnwindSafe(|| (target.read)(&input, folder))) {
            Ok(true) => outcome.read += 1,
            Ok(false) => outcome.refused += 1,
            Err(panic) => {
                let said = panic.downcast_ref::<String>().cloned().or_else(|| panic.downcast_ref::<&str>().map(|s| s.to_string()));
                outcome.found.push((number, said.unwrap_or_default()));
            }
        }
        let peak = meter.map_or(0, |meter| (meter.peak)());
        outcome.peak = outcome.peak.max(peak);
        if peak > MOST_ALLOCATED {
            outcome.found.push((number, format!("{peak} bytes allocated for an input of {}", input.len())));
        }
    }
    outcome
}

/// The committed seeds of a target, in the order of their names.
pub fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fuzz/seeds").join(target);
    let entries = std::fs::read_dir(&folder).unwrap_or_else(|error| panic!("{}: {error}", folder.display()));
    let mut paths: Vec<_> = entries.map(|entry| entry.expect("a folder that can be listed").path()).collect();
    paths.sort();
    paths.iter().map(|path| std::fs::read(path).expect("a seed that can be read")).collect()
}
