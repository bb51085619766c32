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
    /// Let the colours end at the largest weight instead of 1, for long texts; the legend says where
    #[arg(long)]
    stretch: bool,
    /// Merge subwords to words
    #[arg(long)]
    words: bool,
    /// Of several heads only this one, counted from 1
    #[arg(long, value_name = "N", value_parser = clap::value_parser!(u16).range(1..))]
    head: Option<u16>,
    #[command(flatten)]
    bags: Bags,
    #[command(flatten)]
    search: Search,
}

/// Options for bags.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct Bags {
    /// Of a file of bags, only this one
    #[arg(long, value_name = "ID")]
    pub bag: Option<String>,
    /// The features of a row are the pixels of an image, line by line, such as 8x8
    #[arg(long, value_name = "WxH", value_parser = size)]
    pub image: Option<(usize, usize)>,
    /// The heaviest rows of a bag first
    #[arg(long)]
    pub sort: bool,
}

impl Bags {
    /// An error if any of them is given: the model reads no bags.
    fn none(&self) -> Result<()> {
        let given = [("--bag", self.bag.is_some()), ("--image", self.image.is_some()), ("--sort", self.sort)];
        match given.iter().find(|(_, given)| *given) {
            Some((name, _)) => Err(WrongUsage(format!("{name} goes with models for bags")).into()),
            None => Ok(()),
        }
    }
}

/// Reads `8x8`: pixels across and down.
fn size(text: &str) -> Result<(usize, usize), String> {
    let side = |text: &str| text.parse().ok().filter(|&pixels: &usize| pixels > 0);
    let sides = text.split_once('x').and_then(|(width, height)| Some((side(width)?, side(height)?)));
    sides.ok_or_else(|| "expected pixels across and down, such as 8x8".into())
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
        if !matches!(model, AnyModel::Bags(_)) {
            self.bags.none()?;
        }
        let head = self.head.map(usize::from);
        let pictures = match &model {
            AnyModel::Seq2seq(model) => self.seq2seq(model, common)?,
            AnyModel::Classify(model) => tasks::classify::look(model, &self.lines()?, self.words, head)?,
            AnyModel::Match(model) => tasks::matching::look(model, &self.path(), &self.lines()?, self.words, head)?,
            AnyModel::Bags(model) => {
                let file = self.file.clone().or(self.input.as_ref().map(PathBuf::from)).unwrap_or_default();
                tasks::bags::look(model, &file, &self.bags, head)?
            }
        };
        let page = Page::new(pictures)?;
        let page = if self.stretch { page.stretched() } else { page };
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
            return Err(WrongUsage(format!("{} has no attention to look at (attention.score = \"none\")", self.model.display())).into());
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
        let mut found: Vec<Matrix> = answers.iter().flat_map(|a| matrices(a, self.words)).collect();
        for matrix in &mut found {
            tasks::only_head(&mut matrix.heads, self.head.map(usize::from))?;
        }
        Ok(found.into_iter().map(Picture::from).collect())
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
            heads: match &h.hypothesis.heads[..] {
                [] => vec![h.hypothesis.attention.clone()],
                heads => heads.to_vec(),
            },
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_of_images() {
        assert_eq!(size("8x8"), Ok((8, 8)));
        assert_eq!(size("28x1"), Ok((28, 1)));
        for wrong in ["", "8", "x", "8x", "0x8", "8x0", "-1x8", "8x8x3", "8 x 8"] {
            assert!(size(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn neighbours_of_one_word() {
        assert_eq!(groups(&[0, 0, 1, 2, 2]), [0..2, 2..3, 3..5]);
        assert!(groups(&[]).is_empty());
    }
}
