//! Trains a small tagger, saves it, and writes down what it computes, so that `bench/load_in_torch.py` can compare with `torch.nn` modules:
//!
//! ```text
//! cargo run --release -p spotlight --example export_for_torch -- DIR [rnn|gru|lstm]
//! python bench/load_in_torch.py DIR
//! ```

use std::path::Path;

use spotlight::axis::Axis;
use spotlight::nn::{Embedding, Linear, Rnn, RnnConfig};
use spotlight::params::{Gradients, Params};
use spotlight::tape::{Tape, Var};
use spotlight::train::optim::{Optimiser, Rule};
use spotlight::{Cell, Result, weights};

const VOCABULARY: usize = 20;
const TAGS: usize = 7;

/// Embedding, recurrent layers, linear: one row of scores a token.
struct Tagger {
    embedding: Embedding,
    encoder: Rnn,
    output: Linear,
}

impl Tagger {
    fn new(params: &mut Params<f32>, cell: Cell) -> Self {
        let config = RnnConfig { layers: 2, bidirectional: true, ..RnnConfig::new(cell, 12, 16) };
        Tagger {
            embedding: Embedding::new(params, "embedding", VOCABULARY, 12),
            encoder: Rnn::new(params, "encoder", config),
            output: Linear::new(params, "output", 2 * 16, TAGS),
        }
    }

    fn states(&self, tape: &Tape<f32>, ids: &[u32], axis: &Axis) -> Result<Var> {
        let x = tape.on_axis(self.embedding.forward(tape, ids)?, axis)?;
        Ok(self.encoder.forward(tape, x)?.states)
    }
}

fn main() -> std::result::Result<(), Box<dyn std::error::Error>> {
    let mut arguments = std::env::args().skip(1);
    let folder = arguments.next().ok_or("which folder? export_for_torch DIR [rnn|gru|lstm]")?;
    let cell = match arguments.next().as_deref() {
        None | Some("gru") => Cell::Gru,
        Some("lstm") => Cell::Lstm,
        Some("rnn") => Cell::Tanh,
        Some(other) => return Err(format!("{other} is not a cell: rnn, gru or lstm").into()),
    };
    let mut params = Params::new(1);
    let tagger = Tagger::new(&mut params, cell);

    // A tag is the sum of a token and the one before it, so every part has something to learn.
    let axis = Axis::new([9, 1, 0, 5, 14]);
    let ids: Vec<u32> = (0..axis.rows()).map(|i| (i * 7 % VOCABULARY) as u32).collect();
    let tags: Vec<u32> = (0..ids.len()).map(|i| (ids[i] + ids[i.saturating_sub(1)]) % TAGS as u32).collect();
    let mut gradients = Gradients::new(&params);
    let mut adam = Optimiser::new(Rule::ADAM, params.len());
    for step in 0..50 {
        gradients.begin();
        let tape = Tape::training(&params, &mut gradients, step);
        let states = tagger.states(&tape, &ids, &axis)?;
        let loss = tape.cross_entropy(states, tagger.output.weight, tagger.output.bias, &tags, 0.0, 1.0 / ids.len() as f64)?;
        let loss = tape.backward(loss)?;
        if step % 49 == 0 {
            println!("step {step}: loss {loss:.4}");
        }
        adam.step(params.flat_mut(), gradients.flat(), 1e-2, 1.0);
    }

    let folder = Path::new(&folder);
    std::fs::create_dir_all(folder)?;
    weights::save(&params, &folder.join("model.safetensors"))?;
    let tape = Tape::new(&params);
    let output = tagger.output.forward(&tape, tagger.states(&tape, &ids, &axis)?)?;
    let output: Vec<Vec<f32>> = tape.value(output).chunks(TAGS).map(<[f32]>::to_vec).collect();
    let check = serde_json::json!({"ids": ids, "lengths": axis.lengths(), "output": output});
    std::fs::write(folder.join("check.json"), check.to_string())?;
    println!("wrote {0}/model.safetensors and {0}/check.json", folder.display());
    Ok(())
}
