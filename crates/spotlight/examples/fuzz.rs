//! Feeds every reader broken files: `cargo run --release --example fuzz -- --inputs 1000000 --target tables`.
//!
//! Without `--target`, all of them. What is found is written to `fuzz-found/TARGET-NUMBER`, and `--first NUMBER --inputs 1` makes it again. A short run is part of the tests.

use std::alloc::{GlobalAlloc, Layout, System};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Instant;

#[path = "../fuzz/mod.rs"]
mod fuzz;

/// The system's allocator, counting the bytes in use and their peak.
struct Counting;

static IN_USE: AtomicUsize = AtomicUsize::new(0);
static BEFORE: AtomicUsize = AtomicUsize::new(0);
static PEAK: AtomicUsize = AtomicUsize::new(0);

// SAFETY: every call goes to the system's allocator unchanged.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        PEAK.fetch_max(IN_USE.fetch_add(layout.size(), Ordering::Relaxed) + layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, at: *mut u8, layout: Layout) {
        IN_USE.fetch_sub(layout.size(), Ordering::Relaxed);
        // SAFETY: the caller's promise is passed on.
        unsafe { System.dealloc(at, layout) }
    }
}

#[global_allocator]
static COUNTING: Counting = Counting;

const METER: fuzz::Meter = fuzz::Meter {
    reset: || {
        let now = IN_USE.load(Ordering::Relaxed);
        BEFORE.store(now, Ordering::Relaxed);
        PEAK.store(now, Ordering::Relaxed);
    },
    peak: || PEAK.load(Ordering::Relaxed).saturating_sub(BEFORE.load(Ordering::Relaxed)),
};

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let (mut inputs, mut first, mut seed, mut only) = (1_000_000, 0, 1, None);
    let mut arguments = std::env::args().skip(1);
    while let Some(name) = arguments.next() {
        let value = arguments.next().ok_or(format!("{name} needs a value"))?;
        match name.as_str() {
            "--inputs" => inputs = value.parse()?,
            "--first" => first = value.parse()?,
            "--seed" => seed = value.parse()?,
            "--target" => only = Some(value),
            _ => return Err(format!("unknown option {name}: known are --inputs, --first, --seed and --target").into()),
        }
    }
    let folder = tempfile::tempdir()?;
    // Panics are counted, not printed.
    std::panic::set_hook(Box::new(|_| {}));
    let mut bad = 0;
    for target in fuzz::targets::TARGETS.iter().filter(|target| only.as_ref().is_none_or(|only| only == target.name)) {
        let start = Instant::now();
        let outcome = fuzz::run(target, seed, first, inputs, folder.path(), Some(&METER));
        println!(
            "{:<12} {inputs} inputs: {} read, {} refused, {} found; at most {} kB at once; {:.0} s",
            target.name,
            outcome.read,
            outcome.refused,
            outcome.found.len(),
            outcome.peak / 1000,
            start.elapsed().as_secs_f64()
        );
        for (number, said) in outcome.found.iter().take(10) {
            std::fs::create_dir_all("fuzz-found")?;
            let path = format!("fuzz-found/{}-{number}", target.name);
            std::fs::write(&path, fuzz::mutate::input(&fuzz::seeds(target.name), seed, *number))?;
            println!("  {path}: {said}");
        }
        bad += outcome.found.len();
    }
    match bad {
        0 => Ok(()),
        n => Err(format!("{n} inputs made a reader panic or allocate too much").into()),
    }
}
