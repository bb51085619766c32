//! A page of pictures that were checked, and what can be wrong with them.

use super::CAVEAT;
use super::picture::{Bag, Images, Match, Matrix, Picture, Shaded, Weighted};
use super::scale::Scale;

/// Weights below this multiple of an even share are nearly uniform.
const NEARLY_UNIFORM: f32 = 1.2;

/// Why a page could not be made or drawn.
#[derive(Debug, thiserror::Error)]
pub enum Error {
    /// Labels and numbers do not fit each other.
    #[error("picture {picture}: {what} has {found} entries where {expected} are expected; give one for each label")]
    Shape {
        /// The picture, counted from one.
        picture: usize,
        /// The part that does not fit.
        what: String,
        /// Its length.
        found: usize,
        /// The length it should have.
        expected: usize,
    },
    /// A weight or probability is not a number from 0 to 1.
    #[error("picture {picture}: {what} is {value}, not a number from 0 to 1; has the training diverged?")]
    Value {
        /// The picture, counted from one.
        picture: usize,
        /// Which number it is.
        what: String,
        /// The number.
        value: f32,
    },
    /// The scale factor cannot be used.
    #[error("the scale is {0}; give a number above 0, such as 1 or 2")]
    Scale(f32),
    /// The drawing has more pixels than an image of reasonable size.
    #[error("the image would be {width} x {height} pixels; draw it with a smaller scale, or as svg")]
    TooLarge {
        /// Pixels across.
        width: u64,
        /// Pixels down.
        height: u64,
    },
    /// The SVG could not be turned into pixels.
    #[error("the SVG cannot be rendered: {0}")]
    Svg(String),
    /// A picture could not be written as JSON.
    #[error("the picture cannot be written as JSON: {0}")]
    Json(serde_json::Error),
    /// The pixels could not be written as PNG.
    #[error("the image cannot be encoded as PNG: {0}")]
    Png(String),
}

/// Pictures that may be drawn: labels and numbers fit each other, and every weight lies between 0 and 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    pictures: Vec<Picture>,
    scale: Scale,
    note: String,
}

impl Page {
    /// Checks the pictures of a page: one per example, or one per hypothesis.
    pub fn new(pictures: Vec<Picture>) -> Result<Page, Error> {
        for (index, picture) in pictures.iter().enumerate() {
            let check = Check { picture: index + 1 };
            match picture {
                Picture::Matrix(matrix) => check.matrix(matrix)?,
                Picture::Shaded(shaded) => check.shaded(shaded)?,
                Picture::Match(matched) => check.matched(matched)?,
                Picture::Bag(bag) => check.bag(bag)?,
            }
        }
        Ok(Page { pictures, scale: Scale::default(), note: CAVEAT.into() })
    }

    /// The same page with colours that end at its largest weight instead of 1, for long texts and bags whose weights are all small.
    /// The legend names that weight.
    pub fn stretched(self) -> Page {
        let largest = self.pictures.iter().map(Picture::largest).fold(0.0, f32::max);
        Page { scale: Scale::up_to(largest), ..self }
    }

    /// The same page with another note than the [`CAVEAT`]: what is known of how far these pictures can be trusted.
    pub fn noted(self, note: impl Into<String>) -> Page {
        Page { note: note.into(), ..self }
    }

    /// What stands under the pictures.
    pub fn note(&self) -> &str {
        &self.note
    }

    /// The largest weight of the page as a multiple of an even share, if no weight of any picture is much above it: such colours show nothing.
    pub fn nearly_uniform(&self) -> Option<f32> {
        let peaks = self.pictures.iter().map(Picture::peak).collect::<Option<Vec<f32>>>()?;
        peaks.into_iter().reduce(f32::max).filter(|&peak| peak < NEARLY_UNIFORM)
    }

    /// A page of one of its pictures, in the same colours.
    pub(super) fn alone(&self, picture: &Picture) -> Page {
        Page { pictures: vec![picture.clone()], scale: self.scale, note: self.note.clone() }
    }

    /// The two ends of the colours.
    pub fn scale(&self) -> Scale {
        self.scale
    }

    /// The pictures, in the order given.
    pub fn pictures(&self) -> &[Picture] {
        &self.pictures
    }
}

/// The checks of one picture, which know its number.
struct Check {
    picture: usize,
}

impl Check {
    fn matrix(&self, matrix: &Matrix) -> Result<(), Error> {
        for (index, head) in matrix.heads.iter().enumerate() {
            self.table(&format!("head {}", index + 1), head, matrix.output.len(), matrix.source.len())?;
        }
        match &matrix.probabilities {
            Some(probabilities) => self.row("probabilities", probabilities, matrix.output.len()),
            None => Ok(()),
        }
    }

    fn shaded(&self, shaded: &Shaded) -> Result<(), Error> {
        self.weighted("the text", &shaded.text)?;
        self.probabilities(&shaded.probabilities)
    }

    fn matched(&self, matched: &Match) -> Result<(), Error> {
        self.weighted("the question", &matched.question)?;
        self.weighted("the answer", &matched.answer)?;
        match &matched.cross {
            Some(cross) => self.table("cross", cross, matched.question.tokens.len(), matched.answer.tokens.len()),
            None => Ok(()),
        }
    }

    fn bag(&self, bag: &Bag) -> Result<(), Error> {
        self.row("weights", &bag.weights, bag.rows.len())?;
        self.probabilities(&bag.probabilities)?;
        match &bag.images {
            Some(images) => self.images(images, bag.rows.len()),
            None => Ok(()),
        }
    }

    fn images(&self, images: &Images, rows: usize) -> Result<(), Error> {
        self.length("images", images.pixels.len(), rows)?;
        for (index, pixels) in images.pixels.iter().enumerate() {
            let what = format!("image {}", index + 1);
            self.length(&what, pixels.len(), images.width.saturating_mul(images.height))?;
            if let Some(&value) = pixels.iter().find(|pixel| !pixel.is_finite()) {
                return Err(Error::Value { picture: self.picture, what, value });
            }
        }
        Ok(())
    }

    fn weighted(&self, what: &str, weighted: &Weighted) -> Result<(), Error> {
        for (index, head) in weighted.heads.iter().enumerate() {
            self.row(&format!("head {} of {what}", index + 1), head, weighted.tokens.len())?;
        }
        Ok(())
    }

    fn probabilities(&self, probabilities: &[(String, f32)]) -> Result<(), Error> {
        probabilities.iter().try_for_each(|(label, value)| {
            let short = super::label::shorten(label, 40);
            self.value(|| format!("the probability of {}", short.text), *value)
        })
    }

    fn table(&self, what: &str, table: &[Vec<f32>], rows: usize, columns: usize) -> Result<(), Error> {
        self.length(what, table.len(), rows)?;
        table.iter().enumerate().try_for_each(|(index, row)| self.row(&format!("{what}, row {}", index + 1), row, columns))
    }

    fn row(&self, what: &str, row: &[f32], expected: usize) -> Result<(), Error> {
        self.length(what, row.len(), expected)?;
        row.iter().enumerate().try_for_each(|(index, &value)| self.value(|| format!("{what}, entry {}", index + 1), value))
    }

    fn length(&self, what: &str, found: usize, expected: usize) -> Result<(), Error> {
        if found == expected {
            return Ok(());
        }
        Err(Error::Shape { picture: self.picture, what: what.to_string(), found, expected })
    }

    /// Sums of f32 weights may exceed 1 by rounding; anything further out is a mistake.
    fn value(&self, what: impl Fn() -> String, value: f32) -> Result<(), Error> {
        if (-1e-3..=1.001).contains(&value) {
            return Ok(());
        }
        Err(Error::Value { picture: self.picture, what: what(), value })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn matrix() -> Matrix {
        Matrix { source: vec!["a".into(), "b".into()], output: vec!["x".into()], heads: vec![vec![vec![0.5, 0.5]]], ..Matrix::default() }
    }

    fn message(picture: impl Into<Picture>) -> String {
        Page::new(vec![picture.into()]).map_or_else(|error| error.to_string(), |_| "accepted".into())
    }

    #[test]
    fn accepts_what_fits() {
        assert_eq!(message(matrix()), "accepted");
        assert_eq!(message(Matrix::default()), "accepted");
        assert_eq!(message(Shaded::default()), "accepted");
        assert_eq!(message(Match::default()), "accepted");
        assert_eq!(message(Bag::default()), "accepted");
        assert!(Page::new(vec![]).is_ok());
    }

    #[test]
    fn colours_end_at_the_largest_weight_on_demand() {
        let text = Weighted { tokens: vec!["a".into(); 3], heads: vec![vec![0.01, 0.0712, 0.02], vec![0.03, 0.01, 0.01]] };
        let page = Page::new(vec![Shaded { text, probabilities: vec![("x".into(), 1.0)], ..Shaded::default() }.into()]).unwrap();
        assert_eq!(page.scale().top(), 1.0);
        assert_eq!(page.stretched().scale().top(), 0.072);
        assert_eq!(Page::new(vec![matrix().into()]).unwrap().stretched().scale().top(), 0.5);
        assert_eq!(Page::new(vec![]).unwrap().stretched().scale().top(), 1.0);
    }

    #[test]
    fn says_which_part_does_not_fit() {
        let short = Matrix { heads: vec![vec![vec![1.0]]], ..matrix() };
        assert!(message(short).starts_with("picture 1: head 1, row 1 has 1 entries where 2 are expected"));
        let unlabelled = Bag { weights: vec![1.0], ..Bag::default() };
        assert!(message(unlabelled).starts_with("picture 1: weights has 1 entries where 0 are expected"));
        let text = Weighted { tokens: vec!["a".into()], heads: vec![vec![]] };
        assert!(message(Shaded { text, ..Shaded::default() }).contains("head 1 of the text has 0 entries where 1"));
    }

    #[test]
    fn says_which_number_is_wrong() {
        let diverged = Matrix { heads: vec![vec![vec![0.5, f32::NAN]]], ..matrix() };
        assert!(message(diverged).starts_with("picture 1: head 1, row 1, entry 2 is NaN"));
        let percent = Matrix { probabilities: Some(vec![93.0]), ..matrix() };
        assert!(message(percent).starts_with("picture 1: probabilities, entry 1 is 93"));
        let images = Some(Images { width: 1, height: 1, pixels: vec![vec![f32::INFINITY]] });
        let bag = Bag { rows: vec!["r".into()], weights: vec![1.0], images, ..Bag::default() };
        assert!(message(bag).starts_with("picture 1: image 1 is inf"));
    }
}
