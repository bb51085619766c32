//! Which values share a chart, and the round numbers of its axes.

use super::Curves;
use crate::view::scale::Rgb;

/// Lines on common axes.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Chart {
    pub lines: Vec<Line>,
    pub x: Axis,
    pub y: Axis,
}

/// One value over time.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Line {
    pub name: String,
    pub points: Vec<(f64, f64)>,
}

impl Line {
    /// The stretches without gaps.
    pub fn stretches(&self) -> impl Iterator<Item = &[(f64, f64)]> {
        self.points.split(|point| !point.1.is_finite()).filter(|stretch| !stretch.is_empty())
    }

    /// The last finite value.
    pub fn last(&self) -> Option<f64> {
        self.points.iter().rev().map(|point| point.1).find(|value| value.is_finite())
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

/// Sorts the values of a run into charts, in the order in which they first appear.
pub(super) fn charts(curves: &Curves) -> Vec<Chart> {
    let mut lines: Vec<Line> = Vec::new();
    for record in curves.records.iter().filter(|record| record.at.is_finite()) {
        for (name, value) in &record.values {
            let point = (record.at, *value);
            match lines.iter_mut().find(|line| line.name == *name) {
                Some(line) => line.points.push(point),
                None => lines.push(Line { name: name.clone(), points: vec![point] }),
            }
        }
    }
    let is_loss = |line: &Line| line.name.to_lowercase().contains("loss");
    let is_share = |line: &Line| line.points.iter().all(|&(_, y)| !y.is_finite() || (0.0..=1.0).contains(&y));
    let (losses, others): (Vec<Line>, Vec<Line>) = lines.into_iter().partition(is_loss);
    let (shares, others): (Vec<Line>, Vec<Line>) = others.into_iter().partition(is_share);

    let x = Axis::over(curves.records.iter().map(|record| record.at), false);
    let chart = |lines: Vec<Line>, y: Option<Axis>| {
        let over = || Axis::over(lines.iter().flat_map(|line| line.points.iter().map(|point| point.1)), true);
        let y = y.unwrap_or_else(over);
        Chart { lines, x: x.clone(), y }
    };
    let mut charts = vec![chart(losses, None), chart(shares, Some(Axis::between(0.0, 1.0)))];
    charts.extend(others.into_iter().map(|line| chart(vec![line], None)));
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
    fn a_diverged_value_leaves_a_gap() {
        let line = Line { name: "loss".into(), points: vec![(1.0, 3.0), (2.0, f64::NAN), (3.0, 2.0), (4.0, f64::INFINITY)] };
        assert_eq!(line.stretches().collect::<Vec<_>>(), [&[(1.0, 3.0)][..], &[(3.0, 2.0)][..]]);
        assert_eq!(line.last(), Some(2.0));
    }
}
