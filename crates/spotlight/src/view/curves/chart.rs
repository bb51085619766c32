//! Which values share a chart, and the round numbers of its axes.

use super::Curves;
use crate::view::scale::Rgb;

/// Lines on common axes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Chart {
    /// What all lines show, if they are of several runs.
    pub title: String,
    pub lines: Vec<Line>,
    pub x: Axis,
    pub y: Axis,
}

/// One value over time.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Line {
    pub name: String,
    pub points: Vec<(f64, f64)>,
    /// When the kept model was measured.
    pub kept: Option<f64>,
}

impl Line {
    /// The stretches without gaps.
    pub fn stretches(&self) -> impl Iterator<Item = &[(f64, f64)]> {
        self.points.split(|point| !point.1.is_finite()).filter(|stretch| !stretch.is_empty())
    }

    /// The value of the kept model; the last finite one if none is kept.
    pub fn told(&self) -> Option<f64> {
        self.kept_point().map(|point| point.1).or_else(|| self.points.iter().rev().map(|point| point.1).find(|value| value.is_finite()))
    }

    /// Where the kept model lies on the line.
    pub fn kept_point(&self) -> Option<(f64, f64)> {
        self.points.iter().copied().find(|&(at, value)| Some(at) == self.kept && value.is_finite())
    }
}

impl Chart {
    /// Whether a line lies on an earlier one for at least half of its way, and would hide it.
    pub fn hides_another(&self, index: usize) -> bool {
        const NEAR: f64 = 0.012;
        let line = &self.lines[index];
        let near = |&(at, value): &(f64, f64), other: &Line| {
            other.points.iter().any(|&(x, y)| x == at && (self.y.place(y) - self.y.place(value)).abs() < NEAR)
        };
        self.lines[..index].iter().any(|other| {
            let together = line.points.iter().filter(|point| near(point, other)).count();
            together > 0 && 2 * together >= line.points.len()
        })
    }

    /// The times at which models were kept, each once.
    pub fn kept(&self) -> Vec<f64> {
        let mut kept: Vec<f64> = self.lines.iter().filter_map(|line| line.kept).collect();
        kept.dedup();
        kept
    }
}

/// A range that ends on round numbers.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Axis {
    pub low: f64,
    pub high: f64,
    pub ticks: Vec<f64>,
}

impl Axis {
    /// An axis over these values. From 0 if the values come near it.
    fn over(values: impl Iterator<Item = f64> + Clone, to_zero: bool) -> Axis {
        let finite = values.filter(|value| value.is_finite());
        let low = finite.clone().fold(f64::INFINITY, f64::min);
        let high = finite.fold(f64::NEG_INFINITY, f64::max);
        match (low, high) {
            _ if low > high => Axis::between(0.0, 1.0),
            _ if low == high => Axis::between(low - 0.5, high + 0.5),
            _ if to_zero && low > 0.0 && low < 0.5 * high => Axis::between(0.0, high),
            _ => Axis::between(low, high),
        }
    }

    fn between(low: f64, high: f64) -> Axis {
        let range = (high - low).min(f64::MAX);
        let magnitude = 10f64.powf((range / 4.0).log10().floor());
        let step = [1.0, 2.0, 5.0, 10.0].iter().map(|step| step * magnitude).find(|step| range / step <= 6.0).unwrap_or(range);
        let first = (low / step).ceil();
        let ticks = (0..=6).map(|i| (first + f64::from(i)) * step).take_while(|&tick| tick <= high + step * 1e-6).collect();
        Axis { low, high, ticks }
    }

    /// Where a value lies between the ends, from 0 to 1.
    pub fn place(&self, value: f64) -> f64 {
        ((value - self.low) / (self.high - self.low)).clamp(0.0, 1.0)
    }
}

/// A tick or value in few characters.
pub(super) fn number(value: f64) -> String {
    let text = match value.abs() {
        _ if value == 0.0 => "0".to_string(),
        size if !(1e-3..1e6).contains(&size) => format!("{value:.1e}"),
        size if size >= 100.0 => format!("{value:.0}"),
        _ => format!("{value:.3}"),
    };
    match text.contains('.') && !text.contains('e') {
        true => text.trim_end_matches('0').trim_end_matches('.').to_string(),
        false => text,
    }
}

/// The colour of the n-th line, readable on light and on dark.
pub(super) fn colour(line: usize) -> Rgb {
    let palette = colorous::TABLEAU10;
    let colorous::Color { r, g, b } = palette[line % palette.len()];
    Rgb { r, g, b }
}

/// The lines of a run, in the order in which they first appear.
fn lines(curves: &Curves) -> Vec<Line> {
    let mut lines: Vec<Line> = Vec::new();
    for record in curves.records.iter().filter(|record| record.at.is_finite()) {
        for (name, value) in &record.values {
            let point = (record.at, *value);
            match lines.iter_mut().find(|line| line.name == *name) {
                Some(line) => line.points.push(point),
                None => lines.push(Line { name: name.clone(), points: vec![point], kept: curves.kept }),
            }
        }
    }
    lines
}

fn is_share(line: &Line) -> bool {
    line.points.iter().all(|&(_, y)| !y.is_finite() || (0.0..=1.0).contains(&y))
}

/// Charts of one run, or of several measure by measure.
pub(super) fn charts(curves: &Curves) -> Vec<Chart> {
    let runs = || std::iter::once(curves).chain(&curves.compared);
    let times: Vec<f64> = runs().flat_map(|run| run.records.iter().map(|record| record.at)).collect();
    let mut x = Axis::over(times.iter().copied(), false);
    // A single moment is its own tick: nothing was measured around it.
    if let Some(&first) = times.first().filter(|first| times.iter().all(|time| time == *first)) {
        x.ticks = vec![first];
    }
    let chart = |title: String, lines: Vec<Line>, y: Option<Axis>| {
        let over = || Axis::over(lines.iter().flat_map(|line| line.points.iter().map(|point| point.1)), true);
        let y = y.unwrap_or_else(over);
        Chart { title, lines, x: x.clone(), y }
    };
    let mut charts = if curves.compared.is_empty() {
        let is_loss = |line: &Line| line.name.to_lowercase().contains("loss");
        let (losses, others): (Vec<Line>, Vec<Line>) = lines(curves).into_iter().partition(is_loss);
        let (shares, others): (Vec<Line>, Vec<Line>) = others.into_iter().partition(is_share);
        let mut charts = vec![chart(String::new(), losses, None), chart(String::new(), shares, Some(Axis::between(0.0, 1.0)))];
        charts.extend(others.into_iter().map(|line| chart(String::new(), vec![line], None)));
        charts
    } else {
        let mut measures: Vec<(String, Vec<Line>)> = Vec::new();
        for run in runs() {
            for line in lines(run) {
                let renamed = Line { name: run.title.clone(), ..line.clone() };
                match measures.iter_mut().find(|(measure, _)| *measure == line.name) {
                    Some((_, lines)) => lines.push(renamed),
                    None => measures.push((line.name, vec![renamed])),
                }
            }
        }
        // Shares that do not change lie between 0 and 1. Others are drawn larger: runs that differ little shall be told apart.
        let flat = |lines: &[Line]| {
            lines.iter().all(is_share) && lines.iter().flat_map(|line| &line.points).all(|point| point.1 == lines[0].points[0].1)
        };
        let axis = |lines: &[Line]| flat(lines).then(|| Axis::between(0.0, 1.0));
        measures.into_iter().map(|(measure, lines)| chart(measure, lines.clone(), axis(&lines))).collect()
    };
    charts.retain(|chart| !chart.lines.is_empty());
    charts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::curves::Record;

    #[test]
    fn ticks_are_round() {
        assert_eq!(
            Axis::between(0.0, 1.0).ticks.iter().map(|&tick| number(tick)).collect::<Vec<_>>(),
            ["0", "0.2", "0.4", "0.6", "0.8", "1"]
        );
        assert_eq!(Axis::between(1.0, 30.0).ticks, [5.0, 10.0, 15.0, 20.0, 25.0, 30.0]);
        assert_eq!(Axis::between(5.0, 120.0).ticks, [20.0, 40.0, 60.0, 80.0, 100.0, 120.0]);
        assert_eq!(Axis::over([24.0, 0.3].into_iter(), true).low, 0.0);
        assert_eq!(Axis::over([7.0].into_iter(), true).place(7.0), 0.5);
        assert_eq!(Axis::over([f64::NAN].into_iter(), true).ticks.len(), 6);
    }

    #[test]
    fn values_find_their_chart() {
        let values = [("train loss", 2.0), ("dev accuracy", 0.5), ("dev loss", 0.9), ("learning rate", 0.001), ("perplexity", 7.0)];
        let values = values.iter().map(|&(name, value)| (name.to_string(), value)).collect();
        let curves = Curves { records: vec![Record { at: 1.0, values }], ..Curves::default() };
        let names: Vec<Vec<String>> =
            charts(&curves).iter().map(|chart| chart.lines.iter().map(|line| line.name.clone()).collect()).collect();
        assert_eq!(names, [vec!["train loss", "dev loss"], vec!["dev accuracy", "learning rate"], vec!["perplexity"]]);
    }

    #[test]
    fn a_single_moment_is_its_own_tick() {
        let one = Curves { records: vec![Record { at: 60.0, values: vec![("accuracy".into(), 1.0)] }], ..Curves::default() };
        assert_eq!(charts(&one)[0].x.ticks, [60.0]);
        let both = Curves { compared: vec![one.clone()], ..one };
        assert_eq!((charts(&both)[0].y.low, charts(&both)[0].y.high), (0.0, 1.0));
    }

    #[test]
    fn a_diverged_value_leaves_a_gap() {
        let line = Line { name: "loss".into(), points: vec![(1.0, 3.0), (2.0, f64::NAN), (3.0, 2.0), (4.0, f64::INFINITY)], kept: None };
        assert_eq!(line.stretches().collect::<Vec<_>>(), [&[(1.0, 3.0)][..], &[(3.0, 2.0)][..]]);
        assert_eq!(line.told(), Some(2.0));
        assert_eq!(Line { kept: Some(1.0), ..line.clone() }.told(), Some(3.0));
        assert_eq!(Line { kept: Some(4.0), ..line }.told(), Some(2.0), "the kept one has no number");
    }
}
