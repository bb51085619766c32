//! One training step of a GRU encoder-decoder with additive attention, timed. `bench/against_torch.py` runs it beside PyTorch; with `--composed` the decoder is made
//! of small operations, one step after the other, and `bench/fused_decoder.py` compares that with the fused one.

mod timing;

use spotlight::attention::{AttentionConfig, ScoreKind};
use spotlight::decoder::{DecoderConfig, RecurrentDecoder};
use spotlight::nn::{Embedding, Linear, Rnn, RnnConfig};
use spotlight::params::Params;
use spotlight::tape::{Tape, Var};
use spotlight::{Cell, Result};

use timing::{Course, Options, Part, parts, time_steps};

struct Model {
    source: Embedding,
    target: Embedding,
    encoder: Rnn,
    decoder: RecurrentDecoder,
    composed: bool,
    output: Linear,
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
    let options = Options::given();
    let (vocabulary, embedding, mut hidden, mut batch, mut source, mut target) = match options.text("--size").as_deref().unwrap_or("S") {
        "XS" => (40, 32, 32, 32, 24, 11),
        "S" => (60, 64, 128, 64, 24, 11),
        "M" => (8000, 256, 512, 64, 15, 15),
        other => return Err(format!("--size {other}: expected XS, S or M").into()),
    };
    hidden = options.number("--hidden")?.unwrap_or(hidden);
    batch = options.number("--batch")?.unwrap_or(batch);
    if let Some(length) = options.number("--length")? {
        (source, target) = (length, length);
    }
    let (threads, shards) = (options.number("--threads")?.unwrap_or(2), options.number("--shards")?.unwrap_or(2));
    let course = Course { steps: options.number("--steps")?.unwrap_or(20), shards, threads };
    let uneven = |full: usize| (0..batch).map(|i| full.div_ceil(2) + i * 7 % (full / 2 + 1)).collect::<Vec<usize>>();
    let lengths = options.lengths(|| (uneven(source), uneven(target)))?;

    let mut params = Params::<f32>::new(1);
    let model = Model::new(&mut params, vocabulary, embedding, hidden, std::env::args().any(|a| a == "--composed"))?;
    let parts = parts(&lengths, shards, vocabulary);
    println!("{}", time_steps(&mut params, &parts, &course, |tape, part, scale| model.loss(tape, part, scale))?);
    Ok(())
}
