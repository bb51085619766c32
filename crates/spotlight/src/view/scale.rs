//! The three scales a weight can be read on, and the numbers that stand beside the colours.
//!
//! 1. `unit`: from 0 to 1. Fixed, so that pictures can be compared; the default for matrices, whose rows are short.
//! 2. `stretched`: from 0 to the largest weight, which the legend names.
//! 3. `uniform`: times uniform, the weight against what an even spread over all positions would give. 1 is neutral, less and more
//!    part into two colours. Fixed too, and the same for a text of three words and of three hundred; the default for texts and bags.
//!
//! What is drawn is a [`Portion`]: a weight, and the weight that an even spread would give to this position. Of a word merged from
//! three subwords among twelve that is 3 / 12, so that a word is not bright for being long.

pub use super::palette::{NEUTRAL, Ramp, Rgb, STEPS};

/// The ten shades of the ASCII map, a tenth of the scale each.
pub const SHADES: [char; 10] = [' ', '.', ':', '-', '=', '+', '*', '#', '%', '@'];

/// Where the colours of times uniform end: so many times more, or less.
pub const TIMES: f32 = 8.0;

/// Weights of which none is further above an even spread are nearly uniform.
pub const NEARLY: f32 = 1.1;

/// A weight beside the one that an even spread would give.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Portion {
    /// The weight.
    pub weight: f32,
    /// The weight that an even spread over all positions would give here.
    pub even: f32,
}

impl Portion {
    /// The weight of one of so many positions that are all alike.
    pub fn of(weight: f32, positions: usize) -> Portion {
        Portion { weight, even: 1.0 / positions.max(1) as f32 }
    }

    /// The weight in times of an even spread: weight x number of positions, for positions that are all alike.
    ///
    /// ```
    /// use spotlight::view::scale::Portion;
    /// assert_eq!(Portion::of(0.5, 4).times(), 2.0);
    /// assert_eq!(Portion { weight: 0.3, even: 0.3 }.times(), 1.0);
    /// ```
    pub fn times(self) -> f32 {
        if self.even > 0.0 { self.weight / self.even } else { 1.0 }
    }
}

/// Which of the three scales.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ScaleKind {
    /// From 0 to 1.
    Unit,
    /// From 0 to the largest weight.
    Stretched,
    /// Times uniform.
    Uniform,
}

impl ScaleKind {
    /// All of them.
    pub const ALL: [ScaleKind; 3] = [ScaleKind::Unit, ScaleKind::Stretched, ScaleKind::Uniform];

    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            ScaleKind::Unit => "unit",
            ScaleKind::Stretched => "stretched",
            ScaleKind::Uniform => "uniform",
        }
    }
}

/// A scale with its ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Scale {
    kind: ScaleKind,
    top: f32,
}

impl Scale {
    /// From 0 to 1.
    pub const UNIT: Scale = Scale { kind: ScaleKind::Unit, top: 1.0 };
    /// Times uniform.
    pub const UNIFORM: Scale = Scale { kind: ScaleKind::Uniform, top: TIMES };

    /// The scale that ends at the first number of two digits that is no smaller than `largest`.
    ///
    /// ```
    /// use spotlight::view::scale::Scale;
    /// assert_eq!([0.0523, 0.3, 0.999, 1.0, 0.0].map(|largest| Scale::stretched(largest).top()), [0.053, 0.3, 1.0, 1.0, 1.0]);
    /// ```
    pub fn stretched(largest: f32) -> Self {
        let top = if largest > 0.0 && largest < 1.0 {
            // A weight of 0.3 is a little more than that as f32; the slack is more than such errors and less than the eye tells apart.
            let unit = 10f64.powf(1.0 - f64::from(largest).log10().floor());
            ((f64::from(largest) * unit - 1e-4).ceil() / unit) as f32
        } else {
            1.0
        };
        Scale { kind: ScaleKind::Stretched, top }
    }

    /// Which of the three.
    pub fn kind(self) -> ScaleKind {
        self.kind
    }

    /// What stands at the bright end: a weight, or times uniform.
    pub fn top(self) -> f32 {
        self.top
    }

    /// The table its colours come from.
    pub fn ramp(self) -> Ramp {
        if self.kind == ScaleKind::Uniform { Ramp::Diverging } else { Ramp::Sequential }
    }

    /// Where a weight lies between the ends, from 0 to 1. Times uniform by its logarithm: half as much lies as far from the
    /// neutral middle as twice as much.
    pub fn place(self, portion: Portion) -> f32 {
        match self.kind {
            ScaleKind::Unit | ScaleKind::Stretched if portion.weight.is_nan() => 0.0,
            ScaleKind::Unit | ScaleKind::Stretched => (portion.weight / self.top).clamp(0.0, 1.0),
            ScaleKind::Uniform => {
                let times = portion.times().max(1.0 / self.top).min(self.top);
                0.5 + 0.5 * times.ln() / self.top.ln()
            }
        }
    }

    /// The entry of the colour table: the nearest hundredth of the scale.
    pub fn step(self, portion: Portion) -> usize {
        step(self.place(portion))
    }

    /// What stands at the two ends of the legend.
    pub fn ends(self) -> (String, String) {
        match self.kind {
            ScaleKind::Unit | ScaleKind::Stretched => ("0".into(), self.top.to_string()),
            ScaleKind::Uniform => (format!("1/{}", self.top), self.top.to_string()),
        }
    }

    /// What the legend calls it.
    pub fn name(self) -> &'static str {
        match self.kind {
            ScaleKind::Unit => "weight, from 0 to 1",
            ScaleKind::Stretched => "weight, stretched to the largest",
            ScaleKind::Uniform => "times uniform: weight x positions, 1 is even",
        }
    }

    /// A weight as it is drawn, its number written as `figures` say.
    pub(super) fn tone(self, portion: Portion, figures: Figures) -> Tone {
        let silent = self.kind != ScaleKind::Uniform && step(portion.weight) == 0;
        Tone { place: self.place(portion), ramp: self.ramp(), number: figures.write(portion), silent }
    }
}

/// A weight as it is drawn.
#[derive(Clone, Debug)]
pub(super) struct Tone {
    /// Where it lies between the ends of its scale.
    pub place: f32,
    /// The table of its colour.
    pub ramp: Ramp,
    /// Its number.
    pub number: String,
    /// In a matrix, its number says nothing that the colour does not: zero.
    pub silent: bool,
}

impl Tone {
    /// Neither less nor more than an even spread, as far as the eye can tell.
    pub fn neutral(&self) -> bool {
        self.ramp == Ramp::Diverging && step(self.place).abs_diff(NEUTRAL) <= 2
    }
}

/// How the numbers beside the colours are written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Figures {
    /// `.07`: hundredths.
    Hundredths,
    /// `4.3‰`: thousandths, where hundredths would all be the same.
    Thousandths,
    /// `1.03×`: times uniform.
    Times,
    /// `1.0`: the same in a cell of a matrix.
    ShortTimes,
}

impl Figures {
    /// What suits the weights of a text: no row of `.00`.
    pub fn of_text(scale: Scale, weights: &[f32]) -> Figures {
        if scale.kind == ScaleKind::Uniform {
            return Figures::Times;
        }
        let largest = weights.iter().copied().fold(0.0, f32::max);
        let nothing = weights.iter().filter(|&&weight| step(weight) == 0).count();
        if weights.len() > 1 && (largest < 0.095 || 2 * nothing > weights.len()) { Figures::Thousandths } else { Figures::Hundredths }
    }

    /// What suits the cells of a matrix.
    pub fn of_matrix(scale: Scale) -> Figures {
        if scale.kind == ScaleKind::Uniform { Figures::ShortTimes } else { Figures::Hundredths }
    }

    /// The number of a weight, in at most five characters.
    pub fn write(self, portion: Portion) -> String {
        match self {
            Figures::Hundredths => short(portion.weight),
            Figures::Thousandths => format!("{}‰", digits(1000.0 * portion.weight)),
            Figures::Times => times(portion.times()),
            Figures::ShortTimes => match portion.times() {
                few if few < 9.95 => format!("{few:.1}"),
                many => format!("{many:.0}"),
            },
        }
    }
}

/// Times uniform in at most five characters, up to 9999.
///
/// ```
/// use spotlight::view::scale::times;
/// assert_eq!([0.0, 0.966, 1.0, 12.34, 230.0].map(times), ["0.00×", "0.97×", "1.00×", "12.3×", "230×"]);
/// ```
pub fn times(value: f32) -> String {
    match value {
        few if few < 9.995 => format!("{few:.2}×"),
        some if some < 99.95 => format!("{some:.1}×"),
        many => format!("{many:.0}×"),
    }
}

/// Two digits that count, or three.
fn digits(value: f32) -> String {
    match value {
        few if few < 9.95 => format!("{few:.1}"),
        many => format!("{many:.0}"),
    }
}

/// The nearest hundredth of the way.
pub fn step(place: f32) -> usize {
    // `as` maps NaN and negative numbers to 0.
    ((place * 100.0).round() as usize).min(STEPS - 1)
}

/// The ASCII shade of a place on the scale.
///
/// ```
/// use spotlight::view::scale::shade;
/// assert_eq!([0.0, 0.05, 0.1, 0.55, 0.99, 1.0].map(shade), [' ', ' ', '.', '+', '@', '@']);
/// ```
pub fn shade(place: f32) -> char {
    SHADES[((place * 10.0) as usize).min(SHADES.len() - 1)]
}

/// A weight in three characters: `.00` to `.99`, and `1.0`.
///
/// ```
/// use spotlight::view::scale::short;
/// assert_eq!([0.0, 0.934, 0.999, 1.0].map(short), [".00", ".93", "1.0", "1.0"]);
/// ```
pub fn short(weight: f32) -> String {
    match step(weight) {
        100 => "1.0".to_string(),
        hundredths => format!(".{hundredths:02}"),
    }
}

/// What a drawing says of weights that are nearly uniform: the largest, in times of an even spread. None if one stands out, or if
/// there is nothing to spread over.
pub(super) fn nearly_uniform(portions: impl Iterator<Item = Portion>) -> Option<f32> {
    let most = portions.filter(|portion| portion.even < 1.0).map(Portion::times).fold(f32::NAN, f32::max);
    // Weights that are all nothing, as of words that a model does not know, are spread over nothing.
    (1.0 / NEARLY..=NEARLY).contains(&most).then_some(most)
}

/// The same as a line.
pub(super) fn nearly_uniform_note(most: f32) -> String {
    format!("nearly uniform (at most {most:.2} times)")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounding_stays_on_the_scale() {
        assert_eq!([-0.001, 0.004, 0.006, 1.001, f32::NAN].map(step), [0, 0, 1, 100, 0]);
        assert_eq!([-0.001, 1.001, f32::NAN].map(shade), [' ', '@', ' ']);
        for scale in [Scale::UNIT, Scale::stretched(0.2), Scale::UNIFORM] {
            for weight in [-0.001, 0.0, 1.001, f32::NAN, f32::INFINITY] {
                let place = scale.place(Portion::of(weight, 3));
                assert!((0.0..=1.0).contains(&place), "{weight} on {scale:?}: {place}");
            }
        }
    }

    #[test]
    fn an_even_spread_is_neutral_whatever_its_length() {
        for positions in [1, 2, 13, 230] {
            let even = Portion::of(1.0 / positions as f32, positions);
            assert_eq!(Scale::UNIFORM.step(even), NEUTRAL);
            assert_eq!(Figures::Times.write(even), "1.00×");
        }
        let place = |times: f32| Scale::UNIFORM.place(Portion { weight: times * 0.01, even: 0.01 });
        assert!((place(2.0) + place(0.5) - 1.0).abs() < 1e-6, "twice is as far as half");
        assert_eq!((place(8.0), place(100.0), place(0.0)), (1.0, 1.0, 0.0));
        let nearly = [0.96, 1.0, 1.03].map(|times| Portion { weight: times * 0.01, even: 0.01 });
        assert!(nearly.iter().all(|&portion| Scale::UNIFORM.tone(portion, Figures::Times).neutral()));
        assert_eq!(nearly_uniform(nearly.into_iter()).map(nearly_uniform_note), Some("nearly uniform (at most 1.03 times)".into()));
        assert_eq!(nearly_uniform([Portion::of(0.4, 2), Portion::of(0.6, 2)].into_iter()), None);
        assert_eq!(nearly_uniform([Portion::of(1.0, 1)].into_iter()), None, "a single position cannot be anything else");
        assert_eq!(nearly_uniform([Portion::of(0.0, 3); 3].into_iter()), None, "no weight anywhere is no even spread");
        assert_eq!(nearly_uniform(std::iter::empty()), None);
    }

    #[test]
    fn no_text_is_a_row_of_zeros() {
        let even = vec![1.0 / 230.0; 230];
        assert_eq!(Figures::of_text(Scale::UNIT, &even), Figures::Thousandths);
        assert_eq!(Figures::Thousandths.write(Portion::of(even[0], 230)), "4.3‰");
        let mut peak = vec![0.002; 230];
        peak[7] = 0.54;
        assert_eq!(Figures::of_text(Scale::stretched(0.54), &peak), Figures::Thousandths);
        assert_eq!(Figures::Thousandths.write(Portion::of(0.54, 230)), "540‰");
        assert_eq!(Figures::of_text(Scale::UNIT, &[0.3, 0.5, 0.2]), Figures::Hundredths);
        assert_eq!(Figures::of_text(Scale::UNIFORM, &even), Figures::Times);
    }
}
