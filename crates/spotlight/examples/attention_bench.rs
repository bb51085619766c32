//! Streaming attention over one sequence, 8 heads of 64, timed. `bench/attention_against_torch.py` runs it beside PyTorch.
//!
//! ```text
//! attention_bench --length 1024 [--causal] [--backward] [--threads 2] [--repeats 20] [--json]
//! ```

use std::time::Instant;

use spotlight::attention::streaming_attention;
use spotlight::axis::Axis;
use spotlight::params::{Gradients, Init, ParamId, Params};
use spotlight::tape::{Pool, Tape};

const HEADS: usize = 8;
const SIZE: usize = 64;

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let flag = |name: &str| arguments.iter().any(|a| a == name);
    let number = |name: &str| {
        let value = arguments.iter().position(|a| a == name).and_then(|i| arguments.get(i + 1));
        value.map(|x| x.parse::<usize>().map_err(|_| format!("{name} {x}: expected a number"))).transpose()
    };
    let length = number("--length")?.ok_or("--length is missing")?;
    let (causal, backward) = (flag("--causal"), flag("--backward"));
    // About as much work for every length.
    let repeats = number("--repeats")?.unwrap_or((30 * 1024 * 1024 / (length * length).max(1)).clamp(2, 300)).max(1);
    let pool = rayon::ThreadPoolBuilder::new().num_threads(number("--threads")?.unwrap_or(2)).build()?;
    let mut times = pool.install(|| {
        Bench::new(length.min(1024), causal, backward).run(3)?;
        Bench::new(length, causal, backward).run(repeats)
    })?;
    times.sort_by(f64::total_cmp);
    let (median, best) = (times[times.len() / 2], times[0]);
    if flag("--json") {
        println!("{}", serde_json::json!({"ms": median, "best_ms": best, "peak_mb": peak_mb()}));
    } else {
        println!("median {median:.2} ms, best {best:.2} ms, peak memory {:.0} MB", peak_mb().unwrap_or(f64::NAN));
    }
    Ok(())
}

struct Bench {
    axis: Axis,
    /// Queries, keys and values are parameters, so that their gradients have a place.
    params: Params<f32>,
    inputs: [ParamId; 3],
    /// What arrives at the result.
    gradient: Vec<f32>,
    causal: bool,
    backward: bool,
}

impl Bench {
    fn new(length: usize, causal: bool, backward: bool) -> Self {
        let width = HEADS * SIZE;
        let mut params = Params::new(0);
        let inputs = ["queries", "keys", "values"].map(|name| params.add(name, &[length, width], Init::Uniform(1.7)));
        let gradient = (0..length * width).map(|i| ((i * 37 + 11) % 23) as f32 / 11.0 - 1.0).collect();
        Bench { axis: Axis::new([length]), params, inputs, gradient, causal, backward }
    }

    /// Milliseconds of each call. Putting the inputs on a tape is not timed.
    fn run(&self, repeats: usize) -> spotlight::Result<Vec<f64>> {
        let mut gradients = Gradients::new(&self.params);
        let pool = Pool::default();
        let mut times = Vec::with_capacity(repeats);
        for _ in 0..repeats {
            gradients.begin();
            let arriving = if self.backward { self.gradient.clone() } else { Vec::new() };
            let tape = Tape::training_in(&self.params, &mut gradients, 0, &pool);
            let [queries, keys, values] = self.inputs.map(|id| tape.on_axis(tape.param(id), &self.axis));
            let (queries, keys, values) = (queries?, keys?, values?);

            let start = Instant::now();
            let context = streaming_attention(&tape, queries, keys, values, HEADS, 1.0 / (SIZE as f64).sqrt(), self.causal)?;
            if self.backward {
                tape.backward_with(&[(context, arriving)], &[])?;
                times.push(start.elapsed().as_secs_f64() * 1e3);
            } else {
                times.push(start.elapsed().as_secs_f64() * 1e3);
                // Nothing goes back, but the tape's memory goes to the pool.
                tape.backward_with(&[], &[])?;
            }
        }
        Ok(times)
    }
}

/// Peak resident memory of this process, where the system tells.
fn peak_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<f64>().ok()? / 1024.0)
}
