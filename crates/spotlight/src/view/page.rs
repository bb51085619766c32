//! A page of pictures that were checked, and what can be wrong with them.

use super::CAVEAT;
use super::palette::{Palette, Theme};
use super::picture::{Bag, End, Images, Match, Matrix, Part, Picture, Shaded, Weighted};
use super::scale::{Scale, ScaleKind};
use super::stack::Stack;

/// What the score of a question and an answer is.
pub(super) const SCORE_OF_MATCH: &str = "what answers are ranked by: the higher, the better the fit";

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
    /// A font cannot be used.
    #[error("{path}: {problem}")]
    Font {
        /// The file.
        path: String,
        /// What is wrong with it.
        problem: String,
    },
    /// The pixels could not be written as PNG.
    #[error("the image cannot be encoded as PNG: {0}")]
    Png(String),
}

/// Pictures that may be drawn: labels and numbers fit each other, and every weight lies between 0 and 1.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    pictures: Vec<Picture>,
    others: Vec<Option<Picture>>,
    scale: Option<ScaleKind>,
    palette: Palette,
    theme: Theme,
    note: String,
}

impl Page {
    /// Checks the pictures of a page: one per example, or one per hypothesis.
    pub fn new(pictures: Vec<Picture>) -> Result<Page, Error> {
        check_all(&pictures)?;
        Ok(Page { pictures, others: Vec::new(), scale: None, palette: Palette::default(), theme: Theme::default(), note: CAVEAT.into() })
    }

    /// The same page with another form of each picture to switch to: subwords merged to words, or not merged if these are. What makes
    /// no difference is left out.
    pub fn with_others(self, others: Vec<Picture>) -> Result<Page, Error> {
        check_all(&others)?;
        let different = |(other, picture): (Picture, &Picture)| (other.is_merged() || picture.is_merged()).then_some(other);
        let others = others.into_iter().zip(&self.pictures).map(different).collect();
        Ok(Page { others, ..self })
    }

    /// The other form of each picture, where there is one.
    pub fn others(&self) -> &[Option<Picture>] {
        &self.others
    }

    /// The same page, everything on it read on one scale. Unless told, matrices are read from 0 to 1, and texts and bags in times uniform.
    pub fn scaled(self, scale: ScaleKind) -> Page {
        Page { scale: Some(scale), ..self }
    }

    /// The same page with colours that end at its largest weight instead of 1. The legend names that weight.
    pub fn stretched(self) -> Page {
        self.scaled(ScaleKind::Stretched)
    }

    /// The same page in other colours.
    pub fn coloured(self, palette: Palette) -> Page {
        Page { palette, ..self }
    }

    /// The same page on light or on dark paper.
    pub fn themed(self, theme: Theme) -> Page {
        Page { theme, ..self }
    }

    /// The same page with another note than the [`CAVEAT`]: what is known of how far these pictures can be trusted.
    pub fn noted(self, note: impl Into<String>) -> Page {
        Page { note: note.into(), ..self }
    }

    /// What stands under the pictures.
    pub fn note(&self) -> &str {
        &self.note
    }

    /// A page of one of its pictures, in the same colours.
    pub(super) fn alone(&self, picture: &Picture) -> Page {
        Page { pictures: vec![picture.clone()], others: Vec::new(), note: self.note.clone(), ..*self }
    }

    /// The scale of a part, by its kind.
    pub(super) fn scale_of_kind(&self, part: Part, kind: ScaleKind) -> Scale {
        match kind {
            ScaleKind::Unit => Scale::UNIT,
            ScaleKind::Stretched => Scale::stretched(self.pictures.iter().map(|picture| picture.largest(part)).fold(0.0, f32::max)),
            ScaleKind::Uniform => Scale::UNIFORM,
        }
    }

    pub(super) fn scale_of(&self, part: Part) -> Scale {
        let usual = if part == Part::Matrix { ScaleKind::Unit } else { ScaleKind::Uniform };
        self.scale_of_kind(part, self.scale.unwrap_or(usual))
    }

    /// The scale on which matrices are read.
    pub fn matrix_scale(&self) -> Scale {
        self.scale_of(Part::Matrix)
    }

    /// The scale on which texts and bags are read.
    pub fn text_scale(&self) -> Scale {
        self.scale_of(Part::Text)
    }

    /// The scales that the legend has to name.
    pub(super) fn scales(&self) -> Vec<Scale> {
        let used = |part: Part| self.pictures.iter().any(|picture| picture.has(part));
        let mut scales: Vec<Scale> =
            [Part::Text, Part::Matrix].into_iter().filter(|&part| used(part)).map(|part| self.scale_of(part)).collect();
        scales.dedup();
        scales
    }

    /// What the legend has to add.
    pub(super) fn notes(&self) -> Vec<&'static str> {
        let merged = self.pictures.iter().any(Picture::is_merged);
        let against_share = merged && self.scales().iter().all(|scale| scale.kind() == ScaleKind::Uniform);
        match (merged, against_share) {
            (true, true) => vec!["words are merged: the weights of the pieces added up, against their share of all pieces"],
            (true, false) => vec!["words are merged: the weights of the pieces added up, so a word of many pieces gains"],
            (false, _) => Vec::new(),
        }
    }

    /// The colours.
    pub fn palette(&self) -> Palette {
        self.palette
    }

    /// The paper.
    pub fn theme(&self) -> Theme {
        self.theme
    }

    /// The pictures, in the order given.
    pub fn pictures(&self) -> &[Picture] {
        &self.pictures
    }
}

fn check_all(pictures: &[Picture]) -> Result<(), Error> {
    for (index, picture) in pictures.iter().enumerate() {
        let check = Check { picture: index + 1 };
        match picture {
            Picture::Matrix(matrix) => check.matrix(matrix)?,
            Picture::Shaded(shaded) => check.shaded(shaded)?,
            Picture::Match(matched) => check.matched(matched)?,
            Picture::Bag(bag) => check.bag(bag)?,
            Picture::Stack(stack) => check.stack(stack)?,
        }
    }
    Ok(())
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
        if let Some(probabilities) = &matrix.probabilities {
            self.row("probabilities", probabilities, matrix.output.len())?;
        }
        self.pieces(&matrix.pieces, matrix.source.len())?;
        matrix.end.as_ref().map_or(Ok(()), |end| self.end(end, matrix))
    }

    fn end(&self, end: &End, matrix: &Matrix) -> Result<(), Error> {
        self.table("the end", &end.heads, matrix.heads.len(), matrix.source.len())?;
        end.probability.map_or(Ok(()), |value| self.value(|| "the probability of the end".into(), value))
    }

    fn pieces(&self, pieces: &[usize], expected: usize) -> Result<(), Error> {
        if pieces.is_empty() { Ok(()) } else { self.length("pieces", pieces.len(), expected) }
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

    fn stack(&self, stack: &Stack) -> Result<(), Error> {
        for (layer, panel) in stack.layers.iter().flat_map(|layer| layer.panels.iter().map(move |panel| (layer, panel))) {
            let what = format!("{} {}", layer.name, panel.name);
            // A hidden weight is as good as 0 for this.
            let filled: Vec<Vec<f32>> = panel.weights.iter().map(|row| row.iter().map(|weight| weight.unwrap_or(0.0)).collect()).collect();
            self.table(&what, &filled, stack.output.len(), stack.source.len())?;
        }
        Ok(())
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
        self.pieces(&weighted.pieces, weighted.tokens.len())
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
    fn every_part_has_its_usual_scale_or_the_one_asked_for() {
        let text = Weighted::new(vec!["a".into(); 3], vec![vec![0.01, 0.0712, 0.02], vec![0.03, 0.01, 0.01]]);
        let shaded = || Shaded { text: text.clone(), probabilities: vec![("x".into(), 1.0)], ..Shaded::default() };
        // A text of one word has all its weight there, which says nothing of the others.
        let one = Shaded { text: Weighted::new(vec!["a".into()], vec![vec![1.0]]), ..Shaded::default() };
        let page = Page::new(vec![shaded().into(), one.into(), matrix().into()]).unwrap();
        assert_eq!((page.text_scale(), page.matrix_scale()), (Scale::UNIFORM, Scale::UNIT));
        assert_eq!(page.scales(), [Scale::UNIFORM, Scale::UNIT]);
        let stretched = page.clone().stretched();
        assert_eq!((stretched.text_scale().top(), stretched.matrix_scale().top()), (0.072, 0.5));
        assert_eq!(page.scaled(ScaleKind::Uniform).scales(), [Scale::UNIFORM]);
        assert_eq!(Page::new(vec![matrix().into()]).unwrap().scales(), [Scale::UNIT]);
        assert!(Page::new(vec![]).unwrap().scales().is_empty());
    }

    #[test]
    fn the_legend_says_how_words_were_merged() {
        let merged = Weighted { pieces: vec![2, 1], ..Weighted::new(vec!["ab".into(), "c".into()], vec![vec![0.6, 0.4]]) };
        let page = Page::new(vec![Shaded { text: merged, ..Shaded::default() }.into()]).unwrap();
        assert!(page.notes()[0].contains("against their share"));
        assert!(page.scaled(ScaleKind::Unit).notes()[0].contains("a word of many pieces gains"));
        assert!(Page::new(vec![matrix().into()]).unwrap().notes().is_empty());
    }

    #[test]
    fn says_which_part_does_not_fit() {
        let short = Matrix { heads: vec![vec![vec![1.0]]], ..matrix() };
        assert!(message(short).starts_with("picture 1: head 1, row 1 has 1 entries where 2 are expected"));
        let unlabelled = Bag { weights: vec![1.0], ..Bag::default() };
        assert!(message(unlabelled).starts_with("picture 1: weights has 1 entries where 0 are expected"));
        let text = Weighted::new(vec!["a".into()], vec![vec![]]);
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
