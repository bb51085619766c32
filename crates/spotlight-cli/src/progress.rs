//! The progress of a training run: a bar on a terminal, plain lines elsewhere; and the signals that stop it.

use std::io::{IsTerminal, stderr};
use std::sync::atomic::{AtomicBool, AtomicI32, Ordering};
use std::time::{Duration, Instant};

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};
use signal_hook::consts::{SIGHUP, SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use spotlight::folder::Log;
use spotlight::model::describe::measure_name;
use spotlight::train::{Evaluation, Tick, Watch};

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
    quiet: bool,
    log: Log,
}

impl Progress {
    /// For a run that is decided by this measure. What is told goes to the log too; if `quiet`, nowhere else.
    pub fn new(metric: &str, quiet: bool, log: Log) -> Self {
        let bar = (!quiet && stderr().is_terminal()).then(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr_with_hz(8));
            // The template is a constant and known to be right. A message that is too wide for the terminal is cut.
            if let Ok(style) = ProgressStyle::with_template("{bar:12} {percent:>3}%  {wide_msg}  left {eta}") {
                bar.set_style(style.progress_chars("█▉▊▋▌▍▎▏ "));
            }
            bar
        });
        Progress { bar, metric: metric.into(), dev: String::new(), header: false, start: Instant::now(), positions: 0, quiet, log }
    }

    fn line(&mut self, text: String) {
        self.log.line(&text);
        match &self.bar {
            Some(bar) => bar.println(text),
            None if self.quiet => {}
            None => eprintln!("{text}"),
        }
    }

    /// Adds a line to the log alone.
    pub fn log(&mut self, text: &str) {
        self.log.line(text);
    }

    /// Ends the bar.
    pub fn finish(&mut self) {
        if let Some(bar) = self.bar.take() {
            bar.finish_and_clear();
        }
    }
}

/// The names above the rows of evaluations. With five measures a row has 80 columns.
fn heading(e: &Evaluation) -> String {
    let names: String = e.measures.iter().map(|m| format!(" {:>8}", measure_name(m.name))).collect();
    format!("epoch   step   train{names}     time")
}

fn row(e: &Evaluation) -> String {
    let values: String = e.measures.iter().map(|m| format!(" {:>8.4}", m.value)).collect();
    let mark = if e.best { "  best" } else { "" };
    format!("{:>5} {:>6} {:>7.4}{values} {:>8}{mark}", e.epoch, e.step, e.loss, clock(e.seconds))
}

/// Seconds as a clock shows them, from a minute on.
fn clock(seconds: f64) -> String {
    let s = seconds.round() as u64;
    match s {
        0..60 => format!("{seconds:.1} s"),
        60..3600 => format!("{}:{:02}", s / 60, s % 60),
        _ => format!("{}:{:02}:{:02}", s / 3600, s / 60 % 60, s % 60),
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

    fn again(&mut self, epochs: u64) {
        self.line(format!("and now anew with all examples, {epochs} epoch{}", if epochs == 1 { "" } else { "s" }));
        self.dev.clear();
        if let Some(bar) = &self.bar {
            bar.reset();
        }
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
            self.line(heading(e));
        }
        self.line(row(e));
        if let Some(m) = e.measures.iter().find(|m| m.name == self.metric) {
            self.dev = format!("  {} {:.4}", measure_name(m.name), m.value);
        }
    }
}

#[cfg(test)]
mod tests {
    use spotlight::train::Measure;

    use super::*;

    #[test]
    fn a_table_has_no_more_than_eighty_columns() {
        let measures = ["loss", "accuracy", "cer", "bleu", "chrf"].map(|name| Measure::rising(name, 0.5)).to_vec();
        let e = Evaluation { epoch: 100, step: 123_456, loss: 10.25, rate: 0.1, seconds: 45_296.0, measures, best: true };
        assert_eq!(heading(&e), "epoch   step   train     loss accuracy      CER     BLEU     chrF     time");
        assert_eq!(row(&e), "  100 123456 10.2500   0.5000   0.5000   0.5000   0.5000   0.5000 12:34:56  best");
        assert_eq!((row(&e).len(), clock(59.04), clock(61.0)), (80, "59.0 s".into(), "1:01".into()));
    }
}
