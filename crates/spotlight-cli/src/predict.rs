//! `spotlight predict`

use std::io::{self, BufRead, BufReader, Write};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use clap::Args;
use serde_json::json;
use spotlight::model::seq2seq::Answer;
use spotlight::model::seq2seq::{SearchOptions, Transducer};
use spotlight::text::Lines;
use spotlight::text::read::source_of;

use crate::Common;
use crate::output::WrongUsage;
use crate::tasks::{self, AnyModel};

/// Lines answered together.
pub const CHUNK: usize = 512;

/// Answer the lines of a file.
#[derive(Args)]
pub struct Predict {
    /// A model's folder
    model: PathBuf,
    /// File to answer, - for standard input
    #[arg(default_value = "-")]
    file: PathBuf,
    /// One JSON object a line, with attention weights
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    search: Search,
}

/// Options of the search, for seq2seq models.
#[derive(Args, Clone, Debug)]
pub struct Search {
    /// Hypotheses kept [default: the model's own setting]
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    beam: Option<u16>,
    /// Answers printed for each line
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    n_best: Option<u16>,
    /// Exponent of the length normalisation
    #[arg(long, value_name = "X")]
    length_penalty: Option<f64>,
    /// Weight of the coverage penalty
    #[arg(long, value_name = "X")]
    coverage_penalty: Option<f64>,
    /// Draw answers with this temperature instead of searching for the best
    #[arg(long, value_name = "T")]
    sample: Option<f64>,
    /// Copy unknown units from where the attention points
    #[arg(long)]
    pub copy_unknown: bool,
}

impl Search {
    /// The model's own settings with what was asked for.
    pub fn options(&self, model: &Transducer, common: &Common) -> Result<SearchOptions> {
        let mut options = model.search_options();
        options.n_best = self.n_best.map_or(1, usize::from);
        options.beam = self.beam.map_or(options.beam.max(if self.sample.is_none() { options.n_best } else { 1 }), usize::from);
        if self.sample.is_none() && options.n_best > options.beam {
            return Err(WrongUsage(format!("--n-best {} needs --beam {0} or more", options.n_best)).into());
        }
        options.length_penalty = self.length_penalty.unwrap_or(options.length_penalty);
        options.coverage_penalty = self.coverage_penalty.unwrap_or(options.coverage_penalty);
        if let Some(temperature) = self.sample {
            if !(temperature > 0.0 && temperature.is_finite()) {
                return Err(WrongUsage(format!("--sample {temperature}: the temperature must be above 0")).into());
            }
            options.sample = Some((temperature, common.seed.unwrap_or(1)));
        }
        Ok(options)
    }
}

impl Predict {
    /// Runs the command.
    pub fn run(&self, common: &Common) -> Result<()> {
        match AnyModel::load(&self.model)? {
            AnyModel::Seq2seq(model) => self.seq2seq(&model, &mut self.lines()?, common),
            AnyModel::Classify(model) => tasks::classify::predict(&model, self.lines()?, self.json),
            AnyModel::Match(model) => tasks::matching::predict(&model, self.lines()?, self.json),
            AnyModel::Bags(model) => tasks::bags::predict(&model, &self.file, self.json),
        }
    }

    fn lines(&self) -> Result<Lines<Box<dyn BufRead>>> {
        Ok(Lines::new(open(&self.file)?, &self.file))
    }

    fn seq2seq(&self, model: &Transducer, lines: &mut Lines<Box<dyn BufRead>>, common: &Common) -> Result<()> {
        let options = self.search.options(model, common)?;
        let with_features = model.config.data.features;
        let mut bad = 0usize;
        let mut number = 0;
        loop {
            let mut sources = Vec::with_capacity(CHUNK);
            for line in lines.by_ref().take(CHUNK) {
                // A bad line is told and answered with an empty line; the others are answered all the same.
                let source = line.and_then(|line| source_of(&self.file, &line, with_features));
                sources.push(source.map_or_else(
                    |error| {
                        eprintln!("spotlight: {error}");
                        bad += 1;
                        (String::new(), None)
                    },
                    |s| (s.source, s.features),
                ));
            }
            if sources.is_empty() {
                break;
            }
            let borrowed: Vec<(&str, Option<&str>)> = sources.iter().map(|(s, f)| (s.as_str(), f.as_deref())).collect();
            let answers = model.answer(&borrowed, &options, self.search.copy_unknown)?;
            let mut out = io::stdout().lock();
            for answer in &answers {
                number += 1;
                if self.json {
                    writeln!(out, "{}", answer_json(answer))?;
                } else if options.n_best > 1 {
                    for h in &answer.hypotheses {
                        writeln!(out, "{number}\t{}\t{:.4}", h.text, h.hypothesis.score)?;
                    }
                } else {
                    writeln!(out, "{}", answer.hypotheses.first().map_or("", |h| h.text.as_str()))?;
                }
            }
            out.flush()?;
        }
        match bad {
            0 => Ok(()),
            n => anyhow::bail!("{n} of {number} lines could not be read and were answered with nothing"),
        }
    }
}

/// The object of one line.
pub fn answer_json(answer: &Answer) -> serde_json::Value {
    let hypotheses: Vec<_> = answer
        .hypotheses
        .iter()
        .map(|h| {
            let found = &h.hypothesis;
            let mut object = json!({
                "text": h.text,
                "tokens": h.tokens,
                "probabilities": found.probabilities,
                "log_prob": found.log_prob,
                "score": found.score,
                "attention": found.attention,
            });
            if !found.heads.is_empty() {
                object["heads"] = json!(found.heads);
            }
            object
        })
        .collect();
    json!({"source": answer.source, "source_tokens": answer.source_tokens, "hypotheses": hypotheses})
}

/// A file, or standard input for `-`.
pub fn open(path: &Path) -> Result<Box<dyn BufRead>> {
    if path == Path::new("-") {
        return Ok(Box::new(BufReader::new(io::stdin())));
    }
    let file = std::fs::File::open(path).with_context(|| format!("cannot read {}", path.display()))?;
    Ok(Box::new(BufReader::new(file)))
}
