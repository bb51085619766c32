//! A test that cannot run here says so: to whoever reads its output, and to the gate (`.ci/run`), which counts.

use std::fmt::Display;
use std::io::Write;

/// Notes that this test is skipped for want of something (`browser`, `data`, `system`). The gate names a file; a line is added to it.
pub fn skip(want: &str, reason: impl Display) {
    let thread = std::thread::current();
    let line = format!("{want}: {}: {reason}", thread.name().unwrap_or("a test"));
    println!("skipped, {line}");
    if let Some(file) = std::env::var_os("SPOTLIGHT_SKIPPED") {
        let mut file = std::fs::File::options().create(true).append(true).open(file).unwrap();
        // One call, so that the lines of several tests do not mix.
        file.write_all(format!("{line}\n").as_bytes()).unwrap();
    }
}
