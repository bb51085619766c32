//! Bags on the command line: files of rows, one bag of many, and rows that are images.

use std::path::Path;

use anyhow::Result;
use clap::Args;
use spotlight::model::Task;
use spotlight::view::{Bag, Picture};

use crate::output::WrongUsage;

/// Options of `look` for bags.
#[derive(Args, Clone, Debug, PartialEq, Eq)]
pub struct Drawn {
    /// Of a file of bags, only this one
    #[arg(long, value_name = "ID")]
    bag: Option<String>,
    /// The features of a row are the pixels of an image, line by line, such as 8x8
    #[arg(long, value_name = "WxH", value_parser = size)]
    pub image: Option<(usize, usize)>,
    /// The heaviest rows of a bag first
    #[arg(long)]
    sort: bool,
}

impl Drawn {
    /// An error if any of them is given to a model that reads no bags.
    pub fn check(&self, task: Task) -> Result<()> {
        let given = [("--bag", self.bag.is_some()), ("--image", self.image.is_some()), ("--sort", self.sort)];
        match given.iter().find(|(_, given)| *given) {
            Some((name, _)) if task != Task::Bags => Err(WrongUsage(format!("{name} goes with models for bags")).into()),
            _ => Ok(()),
        }
    }

    /// The bags that were asked for, as they were asked for.
    pub fn pick(&self, pictures: Vec<Picture>, file: &Path) -> Result<Vec<Picture>> {
        let mut kept = Vec::with_capacity(pictures.len());
        for picture in pictures {
            match picture {
                Picture::Bag(bag) if self.bag.as_ref().is_some_and(|only| *only != bag.id) => {}
                Picture::Bag(bag) => {
                    fits(&bag)?;
                    kept.push(Picture::Bag(if self.sort { bag.sorted() } else { bag }));
                }
                other => kept.push(other),
            }
        }
        match &self.bag {
            Some(only) if kept.is_empty() => Err(WrongUsage(format!("{} has no bag {only:?}", file.display())).into()),
            _ => Ok(kept),
        }
    }
}

/// An error if the rows of a bag are not as large as the images they shall be.
fn fits(bag: &Bag) -> Result<()> {
    let Some(images) = &bag.images else { return Ok(()) };
    let (width, height, features) = (images.width, images.height, images.pixels.first().map_or(0, Vec::len));
    if width.checked_mul(height) != Some(features) {
        return Err(WrongUsage(format!("--image {width}x{height} does not fit: the rows have {features} features")).into());
    }
    Ok(())
}

/// Reads `8x8`: pixels across and down.
fn size(text: &str) -> Result<(usize, usize), String> {
    let side = |text: &str| text.parse().ok().filter(|&pixels: &usize| pixels > 0);
    let sides = text.split_once('x').and_then(|(width, height)| Some((side(width)?, side(height)?)));
    sides.ok_or_else(|| "expected pixels across and down, such as 8x8".into())
}

/// An error if bags shall come from standard input.
pub fn check_input(task: Task, file: &Path) -> Result<()> {
    match task == Task::Bags && file == Path::new("-") {
        true => Err(WrongUsage("bags are read from a CSV file: name one".into()).into()),
        false => Ok(()),
    }
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
}
