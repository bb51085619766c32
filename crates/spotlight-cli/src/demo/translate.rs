//! `spotlight demo translate`: eight sentences, a GRU of 32, and the attention of every word.

use std::collections::BTreeSet;
use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use spotlight::attention::ScoreKind;
use spotlight::decoder::Order;
use spotlight::model::UnitSection;
use spotlight::model::seq2seq::config::Start;
use spotlight::model::seq2seq::{Config, Transducer};
use spotlight::search::Writer;
use spotlight::tape::Pool;
use spotlight::text::UnitKind;
use spotlight::text::vocab::{END, START, UNKNOWN};
use spotlight::train::settings::ScheduleName;
use spotlight::train::{Evaluation, Tick, TrainSettings, Watch};

use super::data::translate::PAIRS;
use super::stage::{Stage, pairs};
use crate::Common;
use crate::output::{say, tell};

const EPOCHS: u64 = 500;

/// Train a translator of eight sentences and see which word looks where.
#[derive(Args)]
pub struct Translate {
    /// The sentence to look into
    #[arg(default_value = "the cat sat")]
    sentence: String,
    /// Keep the model in this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Translate {
    /// Runs the demo.
    pub fn run(&self, common: &Common) -> Result<()> {
        tell("Eight English sentences to French: GRU of 32, dot attention, Adam 0.01, 500 epochs.")?;
        tell("The decoder starts from zeros, so all it knows of the source comes by attention.")?;
        say("")?;
        let train = pairs(PAIRS);
        let stage = Stage::new(self.out.as_ref(), "translate")?;
        let mut model = Transducer::new(config(common.seed.unwrap_or(1)), &train)?;
        stage.train(&mut model, &train, &train, &mut Losses)?;

        let states = model.encoder_states(&self.sentence, None)?;
        say("\nENCODER HIDDEN STATES (the first 8 of 32 numbers)")?;
        for (i, (unit, state)) in states.iter().enumerate() {
            let numbers: Vec<String> = state.iter().take(8).map(|x| format!("{x:6.3}")).collect();
            say(format_args!("  S_{i} ({:>5}): {} ...", unit.text, numbers.join(" ")))?;
        }

        for (unit, _) in states.iter().filter(|(unit, _)| unit.id == UNKNOWN) {
            let known: BTreeSet<&str> = PAIRS.iter().flat_map(|(english, _)| english.split(' ')).collect();
            let known = Vec::from_iter(known).join(", ");
            tell(format_args!(
                "\"{}\" is unknown: the model has learnt {known}, and reads any other word as one and the same.",
                unit.text
            ))?;
        }

        let options = model.search_options();
        let source: Vec<u32> = states.iter().map(|(unit, _)| unit.id).collect();
        for answer in model.answer(&[(&self.sentence, None)], &options, false)? {
            for h in &answer.hypotheses {
                let (sure, ending) = end_of_sentence(&model, &source, &h.hypothesis.ids)?;
                let words = h.tokens.iter().map(|word| format!("\"{word}\"")).zip(&h.hypothesis.attention);
                for (word, weights) in words.chain([(format!("the end of the sentence (probability {sure:.3})"), &ending)]) {
                    say(format_args!("\nGenerating {word}:"))?;
                    for (source, &w) in answer.source_tokens.iter().zip(weights) {
                        say(format!("  {source:>7} {w:.3} {}", "█".repeat((w * 30.0) as usize)).trim_end())?;
                    }
                }
                say(format_args!("\nInput:      {}\nTranslated: {}", answer.source, h.text))?;
            }
        }

        say("\nAll eight:")?;
        let sources: Vec<(&str, Option<&str>)> = PAIRS.iter().map(|(english, _)| (*english, None)).collect();
        let mut right = 0;
        for (answer, (english, french)) in model.answer(&sources, &options, false)?.iter().zip(PAIRS) {
            let text = answer.hypotheses.first().map_or("", |h| h.text.as_str());
            right += usize::from(text == french);
            say(format_args!("  {english} -> {text}{}", if text == french { "" } else { "   (wrong)" }))?;
        }
        say(format_args!("{right} of 8 right"))
    }
}

/// How sure the decoder is that the sentence ends after these words, and where it looks then.
fn end_of_sentence(model: &Transducer, source: &[u32], words: &[u32]) -> Result<(f32, Vec<f32>)> {
    if source.is_empty() {
        return Ok((1.0, Vec::new()));
    }
    let (pool, writer) = (Pool::new(), model.writer());
    let mut session = writer.begin(&[source], 1, &pool)?;
    let mut step = session.step(&[0], &[START])?;
    for &word in words {
        step = session.step(&[0], &[word])?;
    }
    Ok((step.log_probs[END as usize].exp(), step.weights))
}

fn config(seed: u64) -> Config {
    let words = UnitSection { units: UnitKind::Words, ..UnitSection::default() };
    let mut config = Config { seed, source: words.clone(), target: words, ..Config::default() };
    let m = &mut config.model;
    (m.embedding, m.hidden, m.bidirectional, m.dropout) = (32, 32, false, 0.0);
    m.start = Start::Zeros;
    m.order = Order::Luong;
    config.attention.score = Some(ScoreKind::Dot);
    config.train = TrainSettings {
        epochs: EPOCHS,
        rate: 0.01,
        schedule: ScheduleName::Constant,
        warmup: 0,
        every: 100,
        patience: 0,
        metric: "loss".into(),
        ..TrainSettings::default()
    };
    config
}

/// Prints the loss after every evaluation.
struct Losses;

impl Watch for Losses {
    fn tick(&mut self, _: Tick) {}

    fn evaluated(&mut self, e: &Evaluation) {
        // A reader that went away is noticed by the next thing printed.
        let _ = say(format_args!("Epoch {:>3}/{EPOCHS}, loss {:.4}", e.epoch, e.loss));
    }
}
