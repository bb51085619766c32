//! The progress of a training run: a bar on a terminal, plain lines elsewhere; and the signals that stop it.

use std::io::{IsTerminal, stderr};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use spotlight::train::{Evaluation, Tick, Watch};

use crate::output::duration;

/// Set when the run shall stop.
pub static STOP: AtomicBool = AtomicBool::new(false);
/// The signal that asked for it; 0 if none did.
static SIGNAL: AtomicI32 = AtomicI32::new(0);

/// A run that was asked to stop, and did: the command ends with 128 and the number of the signal, as if it had died of it, so that `train && deploy` does not go on.
#[derive(Debug)]
pub struct Stopped(pub i32);

impl std::fmt::Display for Stopped {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "stopped by signal {}", self.0)
    }
}

impl std::error::Error for Stopped {}

impl Stopped {
    /// What asked for the stop.
    pub fn by_signal() -> Self {
        Stopped(SIGNAL.load(Ordering::Relaxed))
    }
}

/// Lets Ctrl-C, and the signals of a system that shuts down or a terminal that is closed, set [`STOP`].
pub fn catch_signals() {
    let mut signals = match Signals::new([SIGINT, SIGTERM, SIGHUP]) {
        Ok(signals) => signals,
        Err(_) => {
            eprintln!("note: signals cannot be caught here; the last checkpoint is then what --resume goes on from");
            return;
        }
    };
    std::thread::spawn(move || {
        for signal in signals.forever() {
            SIGNAL.store(signal, Ordering::Relaxed);
            if STOP.swap(true, Ordering::Relaxed) {
                std::process::exit(128 + signal);
            }
            eprintln!("\nstopping after this batch (again to stop at once)");
        }
    });
}

/// Watches a run and says how it goes, on standard error.
pub struct Progress {
    bar: Option<ProgressBar>,
    metric: String,
    dev: String,
    header: bool,
    start: Instant,
    positions: u64,
}

impl Progress {
    /// For a run that is decided by this measure.
    pub fn new(metric: &str) -> Self {
        let bar = stderr().is_terminal().then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(8));
            // The template is a constant and known to be right.
            if let Ok(style) = ProgressStyle::with_template("{bar:24} {percent:>3}%  {msg}  left {eta}") {
                bar.set_style(style.progress_chars("█▉▊▋▌▍▎▏ "));
            }
            bar
        });
        Progress { bar, metric: metric.into(), dev: String::new(), header: false, start: Instant::now(), positions: 0 }
    }

    fn line(&mut self, text: String) {
        match &self.bar {
            Some(bar) => bar.println(text),
            None => eprintln!("{text}"),
        }
    }

    /// Ends the bar.
    pub fn finish(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

impl Watch for Progress {
    fn tick(&mut self, t: Tick) {
        self.positions += t.positions;
        let Some(bar) = &self.bar else { return };
        if bar.length().is_none() {
            // A resumed run starts where it stopped: what was done before does not count for the time left.
            bar.set_length(t.epochs * t.batches);
            bar.set_position(t.epoch * t.batches + t.batch);
            bar.reset_eta();
        }
        bar.set_length(t.epochs * t.batches);
        bar.set_position(t.epoch * t.batches + t.batch);
        let rate = self.positions as f64 / self.start.elapsed().as_secs_f64().max(1e-9);
        bar.set_message(format!("epoch {}  loss {:.4}{}  {:.0} pos/s", t.epoch + 1, t.loss, self.dev, rate));
    }

    fn measuring(&mut self) {
        if let Some(bar) = &self.bar {
            bar.set_message(format!("measuring{}", self.dev));
            bar.enable_steady_tick(Duration::from_millis(500));
        }
    }

    fn evaluated(&mut self, e: &Evaluation) {
        if let Some(bar) = &self.bar {
            bar.disable_steady_tick();
        }
        if !self.header {
            self.header = true;
            let names: String = e.measures.iter().map(|m| format!(" {:>9}", m.name)).collect();
            self.line(format!("epoch   step  train loss{names}       time"));
        }
        let values: String = e.measures.iter().map(|m| format!(" {:>9.4}", m.value)).collect();
        let mark = if e.best { "  best" } else { "" };
        self.line(format!("{:>5} {:>6} {:>11.4}{values} {:>10}{mark}", e.epoch, e.step, e.loss, duration(e.seconds)));
        if let Some(m) = e.measures.iter().find(|m| m.name == self.metric) {
            self.dev = format!("  {} {:.4}", m.name, m.value);
        }
    }
}
