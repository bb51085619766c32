//! `spotlight look`

use std::path::PathBuf;

use anyhow::Result;
use clap::{Args, ValueEnum};
use spotlight::model::seq2seq::{Answer, Transducer};
use spotlight::text::Line;
use spotlight::text::lines::Lines;
use spotlight::text::read::source_of;
use spotlight::view::{Matrix, Picture};
use spotlight::view::{Page, ascii, html, json, png, svg, terminal};

use crate::Common;
use crate::output::{WrongUsage, color, deliver, width};
use crate::predict::Search;
use crate::tasks::{self, AnyModel};

/// Draw where a model looks.
#[derive(Args)]
pub struct Look {
    /// A model's folder
    model: PathBuf,
    /// What to read; columns apart by a tab. For bags a CSV file, drawn bag by bag
    #[arg(required_unless_present = "file")]
    input: Option<String>,
    /// Read every line of a file instead: several pictures in one
    #[arg(long, value_name = "FILE", conflicts_with = "input")]
    file: Option<PathBuf>,
    /// The form
    #[arg(long, value_enum, default_value = "terminal")]
    format: Format,
    /// Write to a file instead of standard output
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Pixels for each unit of a PNG
    #[arg(long, default_value_t = 2.0)]
    scale: f32,
    /// Merge subwords to words
    #[arg(long)]
    words: bool,
    /// Of a file of bags, only this one
    #[arg(long, value_name = "ID")]
    bag: Option<String>,
    #[command(flatten)]
    search: Search,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Format {
    Terminal,
    Ascii,
    Svg,
    Png,
    Html,
    Json,
}

impl Look {
    /// Runs the command.
    pub fn run(&self, common: &Common) -> Result<()> {
        let model = AnyModel::load(&self.model)?;
        let pictures = match &model {
            AnyModel::Seq2seq(model) => self.seq2seq(model, common)?,
            AnyModel::Classify(model) => tasks::classify::look(model, &self.lines()?, self.words)?,
            AnyModel::Match(model) => tasks::matching::look(model, &self.path(), &self.lines()?, self.words)?,
            AnyModel::Bags(model) => tasks::bags::look(model, self.input.as_deref(), self.file.as_deref(), self.bag.as_deref())?,
        };
        let page = Page::new(pictures)?;
        let file = self.output.as_deref();
        match self.format {
            // A file is no terminal: what is written there has no colours.
            Format::Terminal => {
                let color = if file.is_some() { terminal::Color::None } else { color() };
                deliver(file, terminal::draw(&page, width(), color).as_bytes())
            }
            Format::Ascii => deliver(file, ascii::draw(&page, width()).as_bytes()),
            Format::Svg => deliver(file, svg::draw(&page).as_bytes()),
            Format::Png => {
                if !(self.scale > 0.0 && self.scale <= 16.0) {
                    return Err(WrongUsage(format!("--scale {}: expected above 0 and at most 16", self.scale)).into());
                }
                deliver(file, &png::draw(&page, self.scale)?)
            }
            Format::Html => deliver(file, html::draw(&page)?.as_bytes()),
            Format::Json => deliver(file, json::draw(&page)?.as_bytes()),
        }
    }

    /// Where the lines come from, for messages.
    fn path(&self) -> PathBuf {
        self.file.clone().unwrap_or_else(|| "input".into())
    }

    /// The lines to look at.
    fn lines(&self) -> Result<Vec<Line>> {
        match (&self.input, &self.file) {
            (Some(input), _) => Ok(vec![Line { text: input.clone(), number: 1 }]),
            (None, Some(path)) => Ok(Lines::open(path)?.collect::<Result<_, _>>()?),
            (None, None) => Ok(Vec::new()),
        }
    }

    fn seq2seq(&self, model: &Transducer, common: &Common) -> Result<Vec<Picture>> {
        if model.config.score().is_none() {
            return Err(WrongUsage(format!("{} has no attention to look at (model.attention = \"none\")", self.model.display())).into());
        }
        let path = self.path();
        let options = self.search.options(model, common)?;
        let mut sources = Vec::new();
        for line in self.lines()? {
            let source = source_of(&path, &line, model.config.data.features)?;
            sources.push((source.source, source.features));
        }
        let borrowed: Vec<(&str, Option<&str>)> = sources.iter().map(|(s, f)| (s.as_str(), f.as_deref())).collect();
        let answers = model.answer(&borrowed, &options, self.search.copy_unknown)?;
        Ok(answers.iter().flat_map(|a| matrices(a, self.words)).map(Picture::from).collect())
    }
}

/// One matrix for each hypothesis, subwords merged to words if asked for.
pub fn matrices(answer: &Answer, words: bool) -> Vec<Matrix> {
    let one = |h: &spotlight::model::seq2seq::AnswerText| {
        let matrix = Matrix {
            input: answer.source.clone(),
            text: h.text.clone(),
            score: Some(h.hypothesis.score as f32),
            source: answer.source_tokens.clone(),
            output: h.tokens.clone(),
            heads: vec![h.hypothesis.attention.clone()],
            probabilities: Some(h.hypothesis.probabilities.clone()),
        };
        if words { matrix.merge_subwords(&groups(&answer.source_words), &groups(&h.words)) } else { matrix }
    };
    answer.hypotheses.iter().map(one).collect()
}

/// Ranges of neighbours with the same number.
pub fn groups(words: &[usize]) -> Vec<std::ops::Range<usize>> {
    let mut groups: Vec<std::ops::Range<usize>> = Vec::new();
    for (i, word) in words.iter().enumerate() {
        match groups.last_mut() {
            Some(group) if words[group.start] == *word => group.end = i + 1,
            _ => groups.push(i..i + 1),
        }
    }
    groups
}
