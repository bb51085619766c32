//! `spotlight look`

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, ValueEnum};
use spotlight::audit::{self, Verdict};
use spotlight::model::{self, AnswerOptions, Drawing, Input};
use spotlight::view::{CAVEAT, Page, Picture, ascii, html, json, png, svg, terminal};

use crate::Common;
use crate::output::{WrongUsage, color, deliver, form, width};
use crate::tasks;

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
    /// The form [default: by the extension of the output, else terminal]
    #[arg(long, value_enum)]
    format: Option<Format>,
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
    drawn: tasks::Drawn,
    #[command(flatten)]
    answering: tasks::Answering,
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
        let pictures = self.pictures(common)?;
        let page = Page::new(pictures)?;
        let page = if self.stretch { page.stretched() } else { page };
        let note = note(&page, audit::kept(&self.model));
        let page = page.noted(note);
        let file = self.output.as_deref();
        match form(self.format, file, Format::Terminal)? {
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

    /// What there is to draw.
    fn pictures(&self, common: &Common) -> Result<Vec<Picture>> {
        let model = model::open(&self.model)?;
        self.drawn.check(model.task())?;
        if let Some(reason) = model.blind() {
            return Err(WrongUsage(reason).into());
        }
        let (input, path) = match (&self.input, &self.file) {
            (Some(input), _) => (Input::Text(input), Path::new(input)),
            (None, Some(file)) => (Input::File(file), file.as_path()),
            // One of the two is required.
            (None, None) => return Ok(Vec::new()),
        };
        tasks::check_input(model.task(), path)?;
        let head = self.head.map(usize::from);
        let drawing = self.drawn.drawing(Drawing { words: self.words, head: head.map(|number| number - 1), image: None });
        let options = AnswerOptions { unranked: true, ..self.answering.options(common)? };
        let mut pictures = Vec::new();
        for reply in model.answers(input, &options)? {
            let answer = reply?.read()?;
            has_head(answer.heads(), head)?;
            pictures.extend(answer.pictures(&drawing));
        }
        self.drawn.pick(pictures, path)
    }
}

/// What stands under the pictures: what an audit of the model found, or that there was none; and that the weights are nearly uniform, if they are.
fn note(page: &Page, verdict: Option<Verdict>) -> String {
    let note = verdict.map_or_else(|| CAVEAT.to_string(), |verdict| verdict.line());
    match page.nearly_uniform() {
        Some(peak) => format!("{note}; nearly uniform ({peak:.2} times)"),
        None => note,
    }
}

/// An error if there is no such head, counted from 1.
fn has_head(heads: usize, number: Option<usize>) -> Result<()> {
    let Some(number) = number.filter(|&number| number > heads) else { return Ok(()) };
    let range = if heads == 1 { "--head 1 only".into() } else { format!("--head 1 to {heads}") };
    Err(WrongUsage(format!("there is no head {number}: this model has {range}")).into())
}
