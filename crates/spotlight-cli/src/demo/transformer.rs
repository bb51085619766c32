//! `spotlight demo transformer`: the date converter without recurrence, each part shown with its own numbers.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use spotlight::model::seq2seq::{Config, Inside, SearchOptions, Transducer};
use spotlight::model::{Answer as _, Drawing, View};
use spotlight::text::Pair;
use spotlight::train::TrainSettings;
use spotlight::train::settings::ScheduleName;
use spotlight::view::{Page, ascii};

use super::data::dates;
use super::stage::{Lines, Stage, pairs};
use crate::Common;
use crate::output::{grouped, print, say, width};

/// Train a date converter of nothing but attention, and see its positions, heads and mask.
#[derive(Args)]
pub struct Transformer {
    /// The date to look at
    #[arg(default_value = dates::SHOWPIECE.text)]
    date: String,
    /// Keep the model in this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Transformer {
    /// Runs the demo.
    pub fn run(&self, common: &Common) -> Result<()> {
        let seed = common.seed.unwrap_or(1);
        let split = dates::examples(8000, 500, seed);
        let of = |examples: &[dates::Example]| pairs(examples.iter().map(|e| (e.text.as_str(), e.iso.as_str())));
        let (train, test) = (of(&split.train), of(&split.test));
        let config = config(seed);
        explain(&config, &train, &test)?;
        positions(config.model.hidden)?;
        let stage = Stage::new(self.out.as_ref(), "transformer")?;
        let mut model = Transducer::new(config, &train)?;
        say(format_args!("3. Learning: {} parameters", grouped(model.params.len())))?;
        stage.train(&mut model, &train, &test, &mut Lines("accuracy"))?;
        self.look(&model)?;
        if let Some(out) = &self.out {
            say(format_args!("\nThe model is in {}. Try: spotlight look {0} --view encoder \"3 july 2018\"", out.display()))?;
        }
        Ok(())
    }

    /// Mask, heads, and what all of them together took from the source.
    fn look(&self, model: &Transducer) -> Result<()> {
        let date = self.date.to_lowercase();
        let options = SearchOptions { beam: 1, ..model.search_options() };
        let mut answer = model.answer(&[(&date, None)], &options, false)?.remove(0);
        let ids: Vec<u32> = model.vocabularies.source_units(&date, None).iter().map(|unit| unit.id).collect();
        for text in answer.hypotheses.iter_mut().filter(|_| !ids.is_empty()) {
            text.inside = Some(Inside::of(&model.net, &model.params, &ids, &text.hypothesis.ids)?);
        }
        let draw = |drawing: Drawing| -> Result<()> {
            let page = Page::new(answer.pictures(&drawing))?;
            let drawn = ascii::draw(&page, width());
            // The legend once, at the end.
            let picture = drawn.rsplit_once("\n\n").map_or(drawn.as_str(), |(picture, _)| picture);
            print(&format!("{picture}\n"))
        };
        say("\n4. The mask. At each position the decoder sees those before it. Those to come are")?;
        say("   hidden (/), not looked at with weight 0. Layer 1, mean of its heads:\n")?;
        draw(Drawing { view: Some(View::Decoder), layer: Some(0), ..Drawing::default() })?;
        say("\n5. Heads. Each has queries and keys of its own. Rows are what is written, columns")?;
        say("   what was read:\n")?;
        draw(Drawing { view: Some(View::Cross), ..Drawing::default() })?;
        say("\n6. The mean of all heads of all layers: where the answer came from.\n")?;
        let page = Page::new(answer.pictures(&Drawing::default()))?;
        print(&ascii::draw(&page, width()))
    }
}

fn config(seed: u64) -> Config {
    let mut config = Config { seed, ..Config::transformer() };
    let m = &mut config.model;
    (m.embedding, m.hidden, m.encoder_layers, m.decoder_layers, m.dropout) = (64, 64, 2, 2, 0.0);
    (config.transformer.heads, config.transformer.feed_forward) = (4, 128);
    (config.transformer.attention_dropout, config.transformer.activation_dropout) = (0.0, 0.0);
    config.train = TrainSettings {
        epochs: 14,
        batch: 1600,
        rate: 3e-3,
        warmup: 100,
        schedule: ScheduleName::Cosine,
        smoothing: 0.0,
        patience: 0,
        ..config.train
    };
    config
}

fn explain(config: &Config, train: &[Pair], test: &[Pair]) -> Result<()> {
    say("Verbose dates to ISO dates by nothing but attention: a Transformer.")?;
    say(format_args!(
        "  {} dates to learn from, {} others to test with, in {} forms, such as",
        grouped(train.len()),
        grouped(test.len()),
        dates::FORMS.len()
    ))?;
    for pair in test.iter().take(3) {
        say(format_args!("    {:<28} -> {}", pair.source, pair.target))?;
    }
    let (m, t) = (&config.model, &config.transformer);
    let size = m.hidden / t.heads;
    say("\n1. The layers")?;
    say(format_args!("   encoder, {} layers: every character looks at all characters; feed-forward", m.encoder_layers))?;
    say(format_args!("   decoder, {} layers: looks at what is written; at what was read; feed-forward", m.decoder_layers))?;
    say(format_args!("   a row has {} features; {} heads look side by side with {size} each:", m.hidden, t.heads))?;
    say(format_args!("     weights = softmax(q k / {}), the root of {size}; context = sum of weights x values", (size as f64).sqrt()))?;
    say(format_args!("   feed-forward: {} -> {} -> {}, ReLU between; each part adds to its row\n", m.hidden, t.feed_forward, m.hidden))
}

/// The first sines and cosines.
fn positions(width: usize) -> Result<()> {
    say("2. Positions. Attention sees a set: without them \"12\" and \"21\" are the same. So")?;
    say("   sines and cosines of the position, of longer and longer waves, are added:\n")?;
    let features = [0, 1, 16, 17, 32, 33];
    let wave = |feature: usize| 2.0 * std::f64::consts::PI * 10_000f64.powf((feature - feature % 2) as f64 / width as f64);
    let line = |cells: Vec<String>| cells.iter().map(|cell| format!("{cell:>9}")).collect::<String>();
    say(format_args!("   feature {}", line(features.iter().map(|f| f.to_string()).collect())))?;
    say(format_args!("   wave    {}", line(features.iter().map(|&f| format!("{:.0}", wave(f))).collect())))?;
    for place in [0usize, 1, 2, 3, 10] {
        let number = |&feature: &usize| {
            let angle = place as f64 * 2.0 * std::f64::consts::PI / wave(feature);
            format!("{:.3}", if feature % 2 == 0 { angle.sin() } else { angle.cos() })
        };
        say(format_args!("   at {place:>4} {}", line(features.iter().map(number).collect())))?;
    }
    say("")
}
