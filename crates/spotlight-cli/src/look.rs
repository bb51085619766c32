//! `spotlight look`

use std::path::{Path, PathBuf};

use anyhow::Result;
use clap::{Args, ValueEnum};
use spotlight::audit::{self, Verdict};
use spotlight::model::{self, AnswerOptions, AnyModel, Drawing, Input};
use spotlight::view::palette::{Palette, Theme};
use spotlight::view::scale::ScaleKind;
use spotlight::view::{Page, Picture, ascii, html, json, png, svg, terminal};

use crate::Common;
use crate::output::{WrongUsage, color, deliver, form, note, width};
use crate::tasks;

/// Draw where a model looks.
#[derive(Args)]
pub struct Look {
    /// A model's folder
    model: PathBuf,
    /// What to read; columns apart by a tab. For bags a CSV file, drawn bag by bag [default: the first example that the model was developed
    /// with]
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
    /// What colours and numbers say: unit (weights from 0 to 1), stretched (up to the largest weight) or uniform (times
    /// what an even spread would give) [default: unit for matrices, uniform for texts and bags]
    #[arg(long, value_name = "NAME", value_parser = Scale::parse)]
    scale: Vec<Scale>,
    /// The same as --scale stretched
    #[arg(long)]
    stretch: bool,
    /// Pixels for each unit of a PNG [default: 2]
    #[arg(long, value_name = "N")]
    pixels: Option<f32>,
    /// Colours: viridis, cividis, light (for print) or grey
    #[arg(long, value_name = "NAME", value_parser = palette, default_value = "viridis")]
    palette: Palette,
    /// Paper: light, dark, or auto, as the reader prefers (SVG and page)
    #[arg(long, value_name = "NAME", value_parser = theme, default_value = "auto")]
    theme: Theme,
    /// A font for a PNG, for characters that the embedded ones lack; else fonts of this machine are tried
    #[arg(long, value_name = "FILE")]
    font: Vec<PathBuf>,
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
        let file = self.output.as_deref();
        let form = form(self.format, file, Format::Terminal)?;
        let page = self.page(common, form == Format::Html)?;
        match form {
            // A file is no terminal: what is written there has no colours.
            Format::Terminal => {
                let color = if file.is_some() { terminal::Color::None } else { color() };
                deliver(file, terminal::draw(&page, width(), color).as_bytes())
            }
            Format::Ascii => deliver(file, ascii::draw(&page, width()).as_bytes()),
            Format::Svg => deliver(file, svg::draw(&page).as_bytes()),
            Format::Png => deliver(file, &png::draw_with(&page, self.pixels()?, self.fonts()?)?),
            Format::Html => deliver(file, html::draw(&page)?.as_bytes()),
            Format::Json => deliver(file, json::draw(&page)?.as_bytes()),
        }
    }

    /// What there is to draw, as it is to be read; `both` if the reader may switch between subwords and words.
    fn page(&self, common: &Common, both: bool) -> Result<Page> {
        let model = model::open(&self.model)?;
        let (pictures, others) = self.pictures(&*model, common, both)?;
        let said = audit::kept(&self.model).map_or_else(|| model.caveat().to_string(), |verdict: Verdict| verdict.line());
        let page = Page::new(pictures)?.coloured(self.palette).themed(self.theme).noted(said);
        let page = if both { page.with_others(others)? } else { page };
        let named = self.scale.iter().rev().find_map(|scale| match scale {
            Scale::Kind(kind) => Some(*kind),
            Scale::Pixels(_) => None,
        });
        Ok(match named.or(self.stretch.then_some(ScaleKind::Stretched)) {
            Some(kind) => page.scaled(kind),
            None => page,
        })
    }

    fn fonts(&self) -> Result<png::Fonts> {
        let given = self.font.iter().try_fold(png::Fonts::embedded(), |fonts, path| fonts.with_file(path));
        Ok(given.map_err(|error| WrongUsage(format!("--font {error}")))?.or_found())
    }

    /// Pixels for each unit of a PNG: a number given to `--scale` means them, too.
    fn pixels(&self) -> Result<f32> {
        let numbers = self.scale.iter().rev().find_map(|scale| match scale {
            Scale::Pixels(pixels) => Some(*pixels),
            Scale::Kind(_) => None,
        });
        let (name, pixels) = match (self.pixels, numbers) {
            (Some(pixels), _) => ("--pixels", pixels),
            (None, number) => ("--scale", number.unwrap_or(2.0)),
        };
        match pixels > 0.0 && pixels <= 16.0 {
            true => Ok(pixels),
            false => Err(WrongUsage(format!("{name} {pixels}: expected above 0 and at most 16")).into()),
        }
    }

    /// The pictures; if `both` are wanted, the same again with subwords merged, or not merged if the first are.
    fn pictures(&self, model: &dyn AnyModel, common: &Common, both: bool) -> Result<(Vec<Picture>, Vec<Picture>)> {
        self.drawn.check(model.task())?;
        // Who takes the last state has no weights to show, but may have layers.
        let layers = self.drawn.inside.is_wanted();
        if let Some(reason) = model.blind().filter(|_| !layers) {
            return Err(WrongUsage(reason).into());
        }
        let example;
        let (input, path) = match (&self.input, &self.file) {
            (Some(input), _) => (Input::Text(input), Path::new(input)),
            (None, Some(file)) => (Input::File(file), file.as_path()),
            (None, None) => {
                let gone = || WrongUsage("say what to read: the examples of this model are not where they were".into());
                example = model.example().ok_or_else(gone)?;
                (Input::Content(&example), Path::new("its examples"))
            }
        };
        tasks::check_input(model.task(), path)?;
        let head = self.head.map(usize::from);
        let drawing: Drawing = self.drawn.drawing(Drawing { words: self.words, head: head.map(|number| number - 1), ..Drawing::default() });
        let options = AnswerOptions { unranked: true, layers, ..self.answering.options(common, model.task())? };
        let (mut pictures, mut others) = (Vec::new(), Vec::new());
        for reply in model.answers(input, &options)? {
            let reply = reply?;
            reply.notes.iter().for_each(|line| note(line));
            let answer = reply.read()?;
            self.drawn.inside.check(&*answer, &drawing)?;
            if !layers {
                has_head(answer.heads(), head)?;
            }
            pictures.extend(answer.pictures(&drawing));
            if both {
                others.extend(answer.pictures(&Drawing { words: !drawing.words, ..drawing }));
            }
        }
        let others = if both { self.drawn.pick(others, path)? } else { others };
        Ok((self.drawn.pick(pictures, path)?, others))
    }
}

/// What `--scale` says: which scale, or the pixels of a PNG, which it meant before there were several scales.
#[derive(Clone, Copy, Debug, PartialEq)]
enum Scale {
    Kind(ScaleKind),
    Pixels(f32),
}

impl Scale {
    fn parse(text: &str) -> Result<Scale, String> {
        let kind = ScaleKind::ALL.into_iter().find(|kind| kind.name() == text).map(Scale::Kind);
        let pixels = || text.parse().ok().map(Scale::Pixels);
        kind.or_else(pixels).ok_or_else(|| "expected unit, stretched or uniform".into())
    }
}

fn palette(text: &str) -> Result<Palette, String> {
    let names = || Palette::ALL.map(Palette::name).join(", ");
    Palette::ALL.into_iter().find(|palette| palette.name() == text).ok_or_else(|| format!("expected one of {}", names()))
}

pub fn theme(text: &str) -> Result<Theme, String> {
    match text {
        "auto" => Ok(Theme::Auto),
        "light" => Ok(Theme::Light),
        "dark" => Ok(Theme::Dark),
        _ => Err("expected auto, light or dark".into()),
    }
}

/// An error if there is no such head, counted from 1.
fn has_head(heads: usize, number: Option<usize>) -> Result<()> {
    let Some(number) = number.filter(|&number| number > heads) else { return Ok(()) };
    let range = if heads == 1 { "--head 1 only".into() } else { format!("--head 1 to {heads}") };
    Err(WrongUsage(format!("there is no head {number}: this model has {range}")).into())
}
