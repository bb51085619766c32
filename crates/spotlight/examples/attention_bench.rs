//! Streaming attention over one sequence, 8 heads of 64, timed. `bench/attention_against_torch.py` runs it beside PyTorch.
//!
//! ```text
//! attention_bench --length 1024 [--causal] [--backward] [--threads 2] [--repeats 20] [--json]
//! ```

use std::time::Instant;

use spotlight::attention::streaming_attention;
use spotlight::axis::Axis;
use spotlight::params::{Gradients, Params};
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
        let warm_up = Bench::new(length.min(1024), causal, backward);
        for _ in 0..3 {
            warm_up.run()?;
        }
        let bench = Bench::new(length, causal, backward);
        (0..repeats).map(|_| bench.run()).collect::<spotlight::Result<Vec<f64>>>()
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
    /// Queries, keys, values, and the gradient of the result.
    tables: [Vec<f32>; 4],
    causal: bool,
    backward: bool,
    params: Params<f32>,
    pool: Pool<f32>,
}

impl Bench {
    fn new(length: usize, causal: bool, backward: bool) -> Self {
        let tables = [1, 2, 3, 4].map(|seed| noise(length * HEADS * SIZE, seed));
        Bench { axis: Axis::new([length]), tables, causal, backward, params: Params::new(0), pool: Pool::default() }
    }

    /// Milliseconds of one call; putting the inputs on the tape is not timed.
    fn run(&self) -> spotlight::Result<f64> {
        let mut gradients = Gradients::new(&self.params);
        let tape = match self.backward {
            true => Tape::training_in(&self.params, &mut gradients, 0, &self.pool),
            false => Tape::new(&self.params),
        };
        let width = HEADS * SIZE;
        let mut inputs = Vec::new();
        for table in &self.tables[..3] {
            let input = tape.input(self.axis.rows(), width, table.clone())?;
            inputs.push((input, tape.on_axis(input, &self.axis)?));
        }
        let arriving = if self.backward { self.tables[3].clone() } else { Vec::new() };

        let start = Instant::now();
        let scale = 1.0 / (SIZE as f64).sqrt();
        let context = streaming_attention(&tape, inputs[0].1, inputs[1].1, inputs[2].1, HEADS, scale, self.causal)?;
        if self.backward {
            let inputs: Vec<_> = inputs.iter().map(|input| input.0).collect();
            std::hint::black_box(tape.backward_with(&[(context, arriving)], &inputs)?);
            return Ok(start.elapsed().as_secs_f64() * 1e3);
        }
        std::hint::black_box(&tape.value(context)[..]);
        Ok(start.elapsed().as_secs_f64() * 1e3)
    }
}

/// Numbers of about the spread of a normal distribution of variance 1, without a library.
fn noise(len: usize, seed: u64) -> Vec<f32> {
    let mut state = seed.wrapping_mul(0x9E37_79B9_7F4A_7C15);
    let mut uniform = || {
        state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        (state >> 40) as f32 / (1 << 24) as f32 - 0.5
    };
    (0..len).map(|_| (uniform() + uniform() + uniform()) * 2.0).collect()
}

/// Peak resident memory of this process, where the system tells.
fn peak_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<f64>().ok()? / 1024.0)
}
