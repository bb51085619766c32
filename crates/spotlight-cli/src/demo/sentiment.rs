//! `spotlight demo sentiment`: loving and complaining tweets, and what the attention brings.

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use spotlight::model::Model;
use spotlight::model::classify::{Classifier, Config};
use spotlight::model::encoder::EncoderSection;
use spotlight::model::pooling::PoolingKind;
use spotlight::text::Labelled;
use spotlight::text::read::split_dev;
use spotlight::train::TrainSettings;
use spotlight::view::{Page, terminal};

use super::data::tweets::{self, Tweet};
use super::stage::{Lines, Stage, value};
use crate::Common;
use crate::output::{color, grouped, print, say, tell, width};

/// Share of the tweets that decides when to stop.
const DEV_SHARE: f64 = 0.1;

/// Train a classifier of tweets and see which words it looks at.
#[derive(Args)]
pub struct Sentiment {
    /// The tweet to look into
    #[arg(default_value = tweets::SHOWPIECE)]
    tweet: String,
    /// Keep the model in this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Sentiment {
    /// Runs the demo.
    pub fn run(&self, common: &Common) -> Result<()> {
        let seed = common.seed.unwrap_or(1);
        let split = tweets::examples(4000, 500, seed);
        let (train, dev) = split_dev(labelled(&split.train), DEV_SHARE, seed, |t| t.text.clone());
        let test = labelled(&split.test);
        tell("Is the author happy? Tweets with concessions, negation and irony, in which single words mislead.")?;
        tell(format_args!(
            "  {} tweets to learn from, {} to stop by, {} others to test with, such as",
            grouped(train.len()),
            dev.len(),
            test.len()
        ))?;
        for tweet in test.iter().take(3) {
            tell(format_args!("    {:<8} {}", tweet.label, tweet.text))?;
        }

        let stage = Stage::new(self.out.as_ref(), "sentiment")?;
        let (attentive, with) = fit(&stage, config(seed, PoolingKind::Attention), &train, &dev, &test)?;
        let others = [("the plain mean", PoolingKind::Mean), ("the last state", PoolingKind::Last)];
        let mut controls = Vec::new();
        for (name, pooling) in others {
            let stage = Stage::new(None, "sentiment-control")?;
            let (model, accuracy) = fit(&stage, config(seed, pooling), &train, &dev, &test)?;
            controls.push((name, model, accuracy));
        }
        let plain = controls.iter().map(|(_, model, _)| model.params.len()).max().unwrap_or(0);
        say(format_args!("\nThe attention adds {} parameters to {}.", attentive.params.len() - plain, grouped(plain)))?;
        say("\nTest accuracy")?;
        for (name, accuracy) in [("attention", with)].into_iter().chain(controls.iter().map(|(name, _, accuracy)| (*name, *accuracy))) {
            say(format_args!("  {name:<15} {accuracy:.3}"))?;
        }
        let best = controls.iter().map(|(_, _, accuracy)| *accuracy).fold(0.0, f64::max);
        tell(match with - best {
            gain if gain > 0.005 => "On these tweets the attention helps.",
            gain if gain < -0.005 => "On these tweets a plain way is better: here the attention only shows.",
            _ => "On these tweets a plain way does the same: here the attention only shows.",
        })?;
        say("")?;
        let answer = attentive.answer(&[self.tweet.to_lowercase()])?;
        let page = Page::new(answer.iter().map(|a| a.picture().into()).collect())?;
        print(&terminal::draw(&page, width(), color()))?;
        if let Some(answer) = answer.first() {
            let even = 1.0 / answer.tokens.len().max(1) as f32;
            say("")?;
            tell(format_args!(
                "Looked at most: {}. With the plain mean every word would have the weight {even:.3}.",
                heaviest(&answer.tokens, &answer.attention[0])
            ))?;
            for (name, model, _) in &controls {
                let verdicts = model.answer(&[&answer.text])?;
                let verdict = verdicts.first().map_or(String::new(), |a| format!("{} ({:.3})", a.label, a.probability()));
                say(format_args!("The model with {name} says {verdict}."))?;
            }
            tell(
                "Where the weight lies says where the context came from, not why the model decided: other weights may give the same answer.",
            )?;
        }
        if let Some(out) = &self.out {
            tell(format_args!("The model is in {}. Try: spotlight look {0} \"i love it even though it keeps me awake\"", out.display()))?;
        }
        Ok(())
    }
}

/// The six heaviest words, in the order of the text.
fn heaviest(tokens: &[String], weights: &[f32]) -> String {
    let mut order: Vec<usize> = (0..tokens.len()).collect();
    order.sort_by(|&a, &b| weights[b].total_cmp(&weights[a]));
    order.truncate(6);
    order.sort_unstable();
    order.iter().map(|&i| tokens[i].as_str()).collect::<Vec<_>>().join(", ")
}

fn labelled(tweets: &[Tweet]) -> Vec<Labelled> {
    let label = |t: &Tweet| if t.positive { "positive" } else { "negative" };
    tweets.iter().enumerate().map(|(i, t)| Labelled { text: t.text.clone(), label: label(t).into(), line: i + 1 }).collect()
}

fn config(seed: u64, pooling: PoolingKind) -> Config {
    let mut config = Config { seed, ..Config::default() };
    config.model.encoder = EncoderSection { embedding: 50, hidden: 100, bidirectional: false, dropout: 0.3, ..EncoderSection::default() };
    config.model.pooling = pooling;
    config.train =
        TrainSettings { epochs: 14, batch: 1000, rate: 4e-3, patience: 0, metric: "accuracy".into(), ..TrainSettings::default() };
    config
}

/// Trains a classifier and measures it on tweets it has not been chosen by.
fn fit(stage: &Stage, config: Config, train: &[Labelled], dev: &[Labelled], test: &[Labelled]) -> Result<(Classifier, f64)> {
    let mut model = Classifier::new(config, train)?;
    let m = &model.config.model;
    say(format_args!(
        "\nLSTM of {}, pooled by {}: {} parameters",
        m.encoder.hidden,
        m.pooling.name(&model.config.attention),
        grouped(model.params.len())
    ))?;
    stage.train(&mut model, train, dev, &mut Lines("accuracy"))?;
    let accuracy = value(&model.measure(test)?, "accuracy");
    Ok((model, accuracy))
}
