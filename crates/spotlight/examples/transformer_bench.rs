//! One training step of a Transformer, timed: forward, backward, clip, Adam.
//!
//! ```text
//! transformer_bench [--size characters|translator] [--lengths FILE] [--dropout 0.3] [--threads 2] [--shards 2] [--steps 10]
//! ```
//!
//! `characters`: 4 + 4 layers of 256 features with 4 heads and 1,024 in the middle, 400 words of uneven length, as in Wu, Cotterell and Hulden, 2021. `translator`: 3 + 3
//! layers, 512 in the middle, 8,000 subwords, 64 sentences. A file of lengths has the lists `source` and `target`.

mod timing;

use spotlight::Result;
use spotlight::axis::Axis;
use spotlight::nn::transformer::{Decoder, Encoder, StackConfig};
use spotlight::nn::{Embedding, Linear};
use spotlight::params::Params;
use spotlight::tape::{Tape, Var};

use timing::{Course, Options, Part, parts, time_steps};

const WIDTH: usize = 256;

struct Model {
    source: Embedding,
    target: Embedding,
    encoder: Encoder,
    decoder: Decoder,
    output: Linear,
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
    let options = Options::given();
    let (vocabulary, layers, feed_forward, batch, shortest, spread) = match options.text("--size").as_deref().unwrap_or("characters") {
        // Mean lengths of 8 and 12, a few long ones among them.
        "characters" => (60, 4, 1024, 400, 4, 8),
        "translator" => (8000, 3, 512, 64, 6, 12),
        other => return Err(format!("--size {other}: expected characters or translator").into()),
    };
    let p = options.text("--dropout").map(|x| x.parse::<f64>()).transpose()?.unwrap_or(0.0);
    let (threads, shards) = (options.number("--threads")?.unwrap_or(2), options.number("--shards")?.unwrap_or(2));
    let course = Course { steps: options.number("--steps")?.unwrap_or(10).max(1), shards, threads };
    let uneven = |seed: usize| {
        (0..batch).map(|i| shortest + (i * 7 + seed) % (spread + 1) + if i % 40 == 0 { spread } else { 0 }).collect::<Vec<usize>>()
    };
    let lengths = options.lengths(|| (uneven(0), uneven(3)))?;

    let mut params = Params::<f32>::new(1);
    let config =
        StackConfig { layers, heads: 4, feed_forward, dropout: p, attention_dropout: p, activation_dropout: p, ..StackConfig::default() };
    let model = Model::new(&mut params, vocabulary, &config)?;
    let parts = parts(&lengths, shards, vocabulary);
    let mut measured = time_steps(&mut params, &parts, &course, |tape, part, scale| model.loss(tape, part, scale))?;
    measured["source_rows"] = lengths.iter().map(|l| l.source).sum::<usize>().into();
    measured["target_rows"] = lengths.iter().map(|l| l.target).sum::<usize>().into();
    measured["parameters"] = params.len().into();
    println!("{measured}");
    Ok(())
}
