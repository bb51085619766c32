//! One training step of a GRU encoder-decoder with additive attention, timed. `bench/against_torch.py` runs it beside PyTorch; with `--composed` the decoder is made
//! of small operations, one step after the other, and `bench/fused_decoder.py` compares that with the fused one.

use std::time::Instant;

use spotlight::attention::{AttentionConfig, ScoreKind};
use spotlight::axis::Axis;
use spotlight::decoder::{DecoderConfig, RecurrentDecoder};
use spotlight::nn::{Embedding, Linear, Rnn, RnnConfig};
use spotlight::params::Params;
use spotlight::tape::{Tape, Var};
use spotlight::text::batch::Lengths;
use spotlight::train::optim::{Optimiser, Rule, clip_scale};
use spotlight::train::parallel::{Shards, deal};
use spotlight::{Cell, Result};

struct Model {
    source: Embedding,
    target: Embedding,
    encoder: Rnn,
    decoder: RecurrentDecoder,
    composed: bool,
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
    fn new(params: &mut Params<f32>, vocabulary: usize, embedding: usize, hidden: usize, composed: bool) -> Result<Self> {
        let source = Embedding::new(params, "source", vocabulary, embedding);
        let target = Embedding::new(params, "target", vocabulary, embedding);
        let encoder = Rnn::new(params, "encoder", RnnConfig::new(Cell::Gru, embedding, hidden));
        let attention = Some(AttentionConfig::new(ScoreKind::Additive));
        let decoder = DecoderConfig { attention, ..DecoderConfig::new(Cell::Gru, embedding, hidden, hidden) };
        let decoder = RecurrentDecoder::new(params, "decoder", decoder)?;
        let output = Linear::new(params, "output", 2 * hidden, vocabulary);
        Ok(Model { source, target, encoder, decoder, composed, output })
    }

    fn loss(&self, tape: &Tape<f32>, part: &Part, scale: f64) -> Result<Var> {
        let x = tape.on_axis(self.source.forward(tape, &part.source)?, &part.source_axis)?;
        let read = self.encoder.forward(tape, x)?;
        let memory = self.decoder.prepare(tape, read.states)?;
        let start = self.decoder.start(tape, &memory, part.source_axis.items(), &[read.layers[0].last], &[])?;
        let y = tape.on_axis(self.target.forward(tape, &part.inputs)?, &part.target_axis)?;
        let decoded = match self.composed {
            false => self.decoder.teacher_forced(tape, y, &memory, &start)?,
            true => self.decoder.step_by_step(tape, y, &memory, &start)?,
        };
        tape.cross_entropy(decoded.readout, self.output.weight, self.output.bias, &part.targets, 0.0, scale)
    }
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let arguments: Vec<String> = std::env::args().collect();
    let option = |name: &str| arguments.iter().position(|a| a == name).and_then(|i| arguments.get(i + 1)).cloned();
    let number = |name: &str| option(name).map(|x| x.parse::<usize>()).transpose();
    let size = option("--size").unwrap_or("S".into());
    let (vocabulary, embedding, mut hidden, mut batch, mut source, mut target) = match size.as_str() {
        "XS" => (40, 32, 32, 32, 24, 11),
        "S" => (60, 64, 128, 64, 24, 11),
        "M" => (8000, 256, 512, 64, 15, 15),
        other => return Err(format!("--size {other}: expected XS, S or M").into()),
    };
    hidden = number("--hidden")?.unwrap_or(hidden);
    batch = number("--batch")?.unwrap_or(batch);
    if let Some(length) = number("--length")? {
        (source, target) = (length, length);
    }
    let (threads, steps) = (number("--threads")?.unwrap_or(2), number("--steps")?.unwrap_or(20));
    let shards = number("--shards")?.unwrap_or(2);
    let (sources, targets): (Vec<usize>, Vec<usize>) = match option("--lengths") {
        Some(file) => {
            let lengths: serde_json::Value = serde_json::from_str(&std::fs::read_to_string(file)?)?;
            let read = |side: &str| lengths[side].as_array().into_iter().flatten().filter_map(|x| x.as_u64().map(|x| x as usize)).collect();
            (read("source"), read("target"))
        }
        None => {
            let uneven = |full: usize| (0..batch).map(|i| full.div_ceil(2) + i * 7 % (full / 2 + 1)).collect::<Vec<usize>>();
            (uneven(source), uneven(target))
        }
    };
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;

    let mut params = Params::<f32>::new(1);
    let model = Model::new(&mut params, vocabulary, embedding, hidden, arguments.iter().any(|a| a == "--composed"))?;
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
    let scale = 1.0 / parts.iter().map(|p| p.target_axis.rows()).sum::<usize>() as f64;

    let mut workers = Shards::new(&params, shards);
    let mut adam = Optimiser::new(Rule::ADAM, params.len());
    let mut times = Vec::new();
    #[cfg(feature = "time-products")]
    let mut products = std::time::Duration::ZERO;
    let (mut first_loss, mut last_loss) = (0.0, 0.0);
    for step in 0..steps + 2 {
        let start = Instant::now();
        let (loss, gradients) = workers.gradients(&params, step as u64, &parts, |tape, part| model.loss(tape, part, scale))?;
        adam.update(params.flat_mut(), gradients, |norm| Some((1e-3, clip_scale(norm, 1.0))));
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
    let peak = std::fs::read_to_string("/proc/self/status")
        .ok()
        .and_then(|s| s.lines().find_map(|l| l.strip_prefix("VmHWM:").and_then(|l| l.trim().trim_end_matches(" kB").parse::<f64>().ok())))
        .map(|kb| kb / 1024.0);
    println!(
        "{}",
        serde_json::json!({"ms": times[times.len() / 2], "best_ms": times[0], "peak_mb": peak, "first_loss": first_loss, "last_loss": last_loss, "matmul_share": matmul_share})
    );
    Ok(())
}
