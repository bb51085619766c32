//! One training step of a Transformer, timed: forward, backward, clip, Adam.
//!
//! ```text
//! transformer_bench [--size characters|translator] [--lengths FILE] [--dropout 0.3] [--threads 2] [--shards 2] [--steps 10]
//! ```
//!
//! `characters`: 4 + 4 layers of 256 features with 4 heads and 1,024 in the middle, 400 words of uneven length, as in Wu, Cotterell and Hulden, 2021. `translator`: 3 + 3
//! layers, 512 in the middle, 8,000 subwords, 64 sentences. A file of lengths has the lists `source` and `target`.

use std::time::Instant;

use spotlight::Result;
use spotlight::axis::Axis;
use spotlight::nn::transformer::{Decoder, Encoder, StackConfig};
use spotlight::nn::{Embedding, Linear};
use spotlight::params::Params;
use spotlight::tape::{Tape, Var};
use spotlight::text::batch::Lengths;
use spotlight::train::optim::{Optimiser, Rule, clip_scale};
use spotlight::train::parallel::{Shards, deal};

const WIDTH: usize = 256;

struct Model {
    source: Embedding,
    target: Embedding,
    encoder: Encoder,
    decoder: Decoder,
    output: Linear,
}

/// Some sequences: unit ids packed one after another.
struct Part {
    source: Vec<u32>,
    source_axis: Axis,
    inputs: Vec<u32>,
    targets: Vec<u32>,
    target_axis: Axis,
}

impl Model {
    fn new(params: &mut Params<f32>, vocabulary: usize, config: &StackConfig) -> Result<Self> {
        Ok(Model {
            source: Embedding::new(params, "source", vocabulary, WIDTH),
            target: Embedding::new(params, "target", vocabulary, WIDTH),
            encoder: Encoder::new(params, "encoder", config, WIDTH)?,
            decoder: Decoder::new(params, "decoder", config, WIDTH)?,
            output: Linear::new(params, "output", WIDTH, vocabulary),
        })
    }

    fn loss(&self, tape: &Tape<f32>, part: &Part, scale: f64) -> Result<Var> {
        let embedded = |embedding: &Embedding, ids: &[u32], axis: &Axis| {
            let rows = tape.scale(embedding.forward(tape, ids)?, (WIDTH as f64).sqrt());
            tape.on_axis(rows, axis)
        };
        let x = embedded(&self.source, &part.source, &part.source_axis)?;
        let memory = self.encoder.forward(tape, x, None, false)?.rows;
        let y = embedded(&self.target, &part.inputs, &part.target_axis)?;
        let decoded = self.decoder.forward(tape, y, &self.decoder.prepare(tape, memory)?, false)?;
        tape.cross_entropy(decoded.rows, self.output.weight, self.output.bias, &part.targets, 0.1, scale)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let option = |name: &str| arguments.iter().position(|a| a == name).and_then(|i| arguments.get(i + 1)).cloned();
    let number = |name: &str| option(name).map(|x| x.parse::<usize>()).transpose();
    let (vocabulary, layers, feed_forward, batch, shortest, spread) = match option("--size").as_deref().unwrap_or("characters") {
        // Mean lengths of 8 and 12, a few long ones among them.
        "characters" => (60, 4, 1024, 400, 4, 8),
        "translator" => (8000, 3, 512, 64, 6, 12),
        other => return Err(format!("--size {other}: expected characters or translator").into()),
    };
    let p = option("--dropout").map(|x| x.parse::<f64>()).transpose()?.unwrap_or(0.0);
    let (threads, steps) = (number("--threads")?.unwrap_or(2), number("--steps")?.unwrap_or(10).max(1));
    let shards = number("--shards")?.unwrap_or(2);
    let (sources, targets): (Vec<usize>, Vec<usize>) = match option("--lengths") {
        Some(file) => {
            let lengths: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(file)?)?;
            let read = |side: &str| lengths[side].as_array().into_iter().flatten().filter_map(|x| x.as_u64().map(|x| x as usize)).collect();
            (read("source"), read("target"))
        }
        None => {
            let uneven = |seed: usize| {
                (0..batch).map(|i| shortest + (i * 7 + seed) % (spread + 1) + if i % 40 == 0 { spread } else { 0 }).collect::<Vec<usize>>()
            };
            (uneven(0), uneven(3))
        }
    };
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;

    let mut params = Params::<f32>::new(1);
    let config =
        StackConfig { layers, heads: 4, feed_forward, dropout: p, attention_dropout: p, activation_dropout: p, ..StackConfig::default() };
    let model = Model::new(&mut params, vocabulary, &config)?;
    let units = |seed: usize, count: usize| (0..count).map(|i| ((i * 7919 + seed * 104_729) % vocabulary) as u32).collect::<Vec<u32>>();
    let batch: Vec<Lengths> = sources.iter().zip(&targets).map(|(&source, &target)| Lengths { source, target }).collect();
    let parts: Vec<Part> = deal(&batch, shards, |lengths| lengths)
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
        .collect();
    let (source_rows, target_rows) = (sources.iter().sum::<usize>(), targets.iter().sum::<usize>());
    let scale = 1.0 / target_rows as f64;

    let mut workers = Shards::new(&params, shards);
    let mut adam = Optimiser::new(Rule::ADAM, params.len());
    let mut times = Vec::new();
    #[cfg(feature = "time-products")]
    let mut products = std::time::Duration::ZERO;
    let (mut first_loss, mut last_loss) = (0.0, 0.0);
    for step in 0..steps + 2 {
        let start = Instant::now();
        let (loss, gradient) = workers.gradients(&params, step as u64, &parts, |tape, part| model.loss(tape, part, scale))?;
        adam.update(params.flat_mut(), gradient, |norm| Some((1e-3, clip_scale(norm, 1.0))));
        if step < 2 {
            first_loss = loss;
            #[cfg(feature = "time-products")]
            (products = spotlight_kernels::timing::in_products());
        } else {
            times.push(start.elapsed().as_secs_f64() * 1e3);
        }
        last_loss = loss;
    }
    #[cfg(feature = "time-products")]
    let matmul_share = {
        let busy = times.iter().sum::<f64>() / 1e3 * threads.min(shards) as f64;
        Some((spotlight_kernels::timing::in_products() - products).as_secs_f64() / busy)
    };
    #[cfg(not(feature = "time-products"))]
    let matmul_share = None::<f64>;
    times.sort_by(f64::total_cmp);
    println!(
        "{}",
        serde_json::json!({
            "ms": times[times.len() / 2], "best_ms": times[0], "peak_mb": peak_mb(), "first_loss": first_loss, "last_loss": last_loss,
            "source_rows": source_rows, "target_rows": target_rows, "parameters": params.len(), "matmul_share": matmul_share,
        })
    );
    Ok(())
}

/// Peak resident memory of this process, where the system tells.
fn peak_mb() -> Option<f64> {
    let status = std::fs::read_to_string("/proc/self/status").ok()?;
    let line = status.lines().find_map(|line| line.strip_prefix("VmHWM:"))?;
    Some(line.trim().trim_end_matches(" kB").parse::<f64>().ok()? / 1024.0)
}
