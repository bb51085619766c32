//! What the examples that time a training step share: their options, some sequences, and the steps.

use std::error::Error;
use std::time::Instant;

use serde_json::{Value, json};
use spotlight::Result;
use spotlight::axis::Axis;
use spotlight::params::Params;
use spotlight::tape::{Tape, Var};
use spotlight::text::batch::Lengths;
use spotlight::train::optim::{Optimiser, Rule, clip_scale};
use spotlight::train::parallel::{Shards, deal};

/// The options of the command line.
pub struct Options(Vec<String>);

impl Options {
    pub fn given() -> Self {
        Options(std::env::args().collect())
    }

    pub fn text(&self, name: &str) -> Option<String> {
        self.0.iter().position(|a| a == name).and_then(|i| self.0.get(i + 1)).cloned()
    }

    pub fn number(&self, name: &str) -> Result<Option<usize>, Box<dyn Error>> {
        Ok(self.text(name).map(|x| x.parse()).transpose()?)
    }

    /// Lengths from the file of `--lengths`, with its lists `source` and `target`; else these.
    pub fn lengths(&self, else_these: impl FnOnce() -> (Vec<usize>, Vec<usize>)) -> Result<Vec<Lengths>, Box<dyn Error>> {
        let (sources, targets): (Vec<usize>, Vec<usize>) = match self.text("--lengths") {
            Some(file) => {
                let lengths: Value = serde_json::from_str(&std::fs::read_to_string(file)?)?;
                let read =
                    |side: &str| lengths[side].as_array().into_iter().flatten().filter_map(|x| x.as_u64().map(|x| x as usize)).collect();
                (read("source"), read("target"))
            }
            None => else_these(),
        };
        Ok(sources.into_iter().zip(targets).map(|(source, target)| Lengths { source, target }).collect())
    }
}

/// Some sequences: unit ids packed one after another.
pub struct Part {
    pub source: Vec<u32>,
    pub source_axis: Axis,
    pub inputs: Vec<u32>,
    pub targets: Vec<u32>,
    pub target_axis: Axis,
}

/// Sequences of these lengths, dealt to `shards`.
pub fn parts(lengths: &[Lengths], shards: usize, vocabulary: usize) -> Vec<Part> {
    let units = |seed: usize, count: usize| (0..count).map(|i| ((i * 7919 + seed * 104_729) % vocabulary) as u32).collect::<Vec<u32>>();
    deal(lengths, shards, |lengths| lengths)
        .iter()
        .enumerate()
        .map(|(shard, own)| {
            let axis = |side: fn(&Lengths) -> usize| Axis::new(own.iter().map(side).collect::<Vec<usize>>());
            let (source_axis, target_axis) = (axis(|l| l.source), axis(|l| l.target));
            Part {
                source: units(shard, source_axis.rows()),
                inputs: units(shard + 10, target_axis.rows()),
                targets: units(shard + 20, target_axis.rows()),
                source_axis,
                target_axis,
            }
        })
        .collect()
}

/// How many steps of how many shards on how many threads.
pub struct Course {
    pub steps: usize,
    pub shards: usize,
    pub threads: usize,
}

/// Takes two steps to warm up and then those to be timed; `loss` gets a scale of one over all targets. What was measured, as JSON.
pub fn time_steps(
    params: &mut Params<f32>,
    parts: &[Part],
    course: &Course,
    loss: impl Fn(&Tape<f32>, &Part, f64) -> Result<Var> + Sync,
) -> Result<Value, Box<dyn Error>> {
    rayon::ThreadPoolBuilder::new().num_threads(course.threads).build_global()?;
    let scale = 1.0 / parts.iter().map(|p| p.target_axis.rows()).sum::<usize>() as f64;
    let mut workers = Shards::new(params, course.shards);
    let mut adam = Optimiser::new(Rule::ADAM, params.len());
    let mut times = Vec::new();
    #[cfg(feature = "time-products")]
    let mut products = std::time::Duration::ZERO;
    let (mut first_loss, mut last_loss) = (0.0, 0.0);
    for step in 0..course.steps + 2 {
        let start = Instant::now();
        let (now, gradients) = workers.gradients(params, step as u64, parts, |tape, part| loss(tape, part, scale))?;
        adam.update(params.flat_mut(), gradients, |norm| Some((1e-3, clip_scale(norm, 1.0))));
        if step < 2 {
            first_loss = now;
            #[cfg(feature = "time-products")]
            (products = spotlight_kernels::timing::in_products());
        } else {
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
        last_loss = now;
    }
    #[cfg(feature = "time-products")]
    let matmul_share = {
        let busy = times.iter().sum::<f64>() / 1e3 * course.threads.min(course.shards) as f64;
        Some((spotlight_kernels::timing::in_products() - products).as_secs_f64() / busy)
    };
    #[cfg(not(feature = "time-products"))]
    let matmul_share = None::<f64>;
    times.sort_by(f64::total_cmp);
    Ok(json!({
        "ms": times[times.len() / 2], "best_ms": times[0], "peak_mb": peak_mb(), "first_loss": first_loss, "last_loss": last_loss,
        "matmul_share": matmul_share,
    }))
}

/// Peak resident memory of this process, where the system tells.
fn peak_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<f64>().ok()? / 1024.0)
}
