//! `spotlight demo bags`: is there a nine among these pictures, and which one is it?

use std::path::PathBuf;

use anyhow::Result;
use clap::Args;
use spotlight::model::Model;
use spotlight::model::bags::{Answer, BagModel, Config};
use spotlight::text::Bag;
use spotlight::text::read::split_dev;
use spotlight::train::TrainSettings;
use spotlight::view::{self, Images, Page, terminal};

use super::data::digits::{self, SIDE};
use super::stage::{Lines, Stage, value};
use crate::Common;
use crate::output::{color, grouped, print, say, tell, width};

/// Share of the bags that decides when to stop.
const DEV_SHARE: f64 = 0.1;

/// Train on bags of digit pictures and see which picture the model looks at.
#[derive(Args)]
pub struct Bags {
    /// Keep the model in this folder
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
}

impl Bags {
    /// Runs the demo.
    pub fn run(&self, common: &Common) -> Result<()> {
        let seed = common.seed.unwrap_or(1);
        let split = digits::bags(1500, 300, seed);
        let (train, dev) = split_dev(named(&split.train), DEV_SHARE, seed, |b| b.id.clone());
        let test = named(&split.test);
        tell("Bags of digit pictures of 8 by 8 pixels. A bag is positive if one of them is a nine; nobody says which.")?;
        tell(format_args!(
            "  {} bags to learn from, {} to stop by, {} others to test with; from {} to {} pictures each",
            grouped(train.len()),
            dev.len(),
            test.len(),
            digits::BAG_SIZES.start(),
            digits::BAG_SIZES.end()
        ))?;
        let mut model = BagModel::new(config(seed), &train)?;
        let stage = Stage::new(self.out.as_ref(), "bags")?;
        let m = &model.config.model;
        let text = format!("{} layers of {} for every picture, gated attention, a head", m.layers, m.hidden);
        tell(format_args!("  {text}: {} parameters", grouped(model.params.len())))?;
        say("")?;
        stage.train(&mut model, &train, &dev, &mut Lines("accuracy"))?;

        let measures = model.measure(&test)?;
        say(format_args!("\nTest accuracy  {:.3}, ROC-AUC {:.3}", value(&measures, "accuracy"), value(&measures, "auc")))?;
        let answers = model.answer(&test)?;
        let found: Vec<bool> =
            split.test.iter().zip(&answers).filter(|(bag, _)| bag.positive).map(|(b, a)| b.digits[most(a)] == 9).collect();
        let right = found.iter().filter(|&&nine| nine).count();
        tell(format_args!("The picture looked at most is a nine in {right} of the {} test bags that have one.", found.len()))?;
        say("")?;
        if let Some((bag, answer)) = split.test.iter().zip(&answers).find(|(bag, answer)| bag.positive && answer.label == "nine") {
            let page = Page::new(vec![picture(bag, answer).into()])?;
            print(&terminal::draw(&page, width(), color()))?;
        }
        if let Some(out) = &self.out {
            say(format_args!("The model is in {}. Try: spotlight info {0}", out.display()))?;
        }
        Ok(())
    }
}

/// The row with the largest weight.
fn most(answer: &Answer) -> usize {
    let weights = answer.weights();
    (1..weights.len()).fold(0, |most, i| if weights[i] > weights[most] { i } else { most })
}

/// The bag with its pictures, each called by the digit it shows.
fn picture(bag: &digits::Bag, answer: &Answer) -> view::Bag {
    let pixels = bag.pictures.iter().map(|p| p.to_vec()).collect();
    let rows = bag.digits.iter().enumerate().map(|(i, digit)| format!("picture {} (a {digit})", i + 1)).collect();
    view::Bag { rows, images: Some(Images { width: SIDE, height: SIDE, pixels }), ..answer.picture() }
}

fn named(bags: &[digits::Bag]) -> Vec<Bag> {
    let bag = |(i, b): (usize, &digits::Bag)| Bag {
        id: format!("bag {}", i + 1),
        label: if b.positive { "nine" } else { "none" }.into(),
        rows: b.pictures.iter().map(|p| p.to_vec()).collect(),
        line: i + 1,
    };
    bags.iter().enumerate().map(bag).collect()
}

fn config(seed: u64) -> Config {
    let mut config = Config { seed, ..Config::default() };
    config.model.hidden = 64;
    config.model.layers = 2;
    config.train = TrainSettings { epochs: 10, batch: 300, every: 1, patience: 0, metric: "accuracy".into(), ..TrainSettings::default() };
    config
}
