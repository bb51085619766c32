//! Curves as SVG: one chart under the other, each with its lines named.

use super::Curves;
use super::chart::{Chart, charts, colour, number};
use crate::view::svg::colours::Colours;
use crate::view::svg::pen::{self, Fragment, Style, n, text_width};
use crate::view::{CAVEAT, label};

const WIDTH: f64 = 620.0;
const HEIGHT: f64 = 200.0;
const LEFT: f64 = 56.0;
/// Lines with more points are drawn without a mark at each.
const MOST_MARKS: usize = 40;

pub(super) fn draw(curves: &Curves) -> String {
    let mut drawing = Fragment::default();
    let title = label::shorten_text(&curves.title, 64);
    drawing.text(0.0, 16.0, 16.0, Style::Ink, &title.text);
    drawing.grow(LEFT + WIDTH, 20.0);
    let charts = charts(curves);
    if charts.is_empty() {
        drawing.text(0.0, 42.0, 12.0, Style::Soft, "nothing was measured yet");
        drawing.grow(0.0, 46.0);
    }
    let axis = label::shorten_text(&curves.axis, 32).text;
    for chart in &charts {
        drawing.below(self::chart(chart, &axis), 16.0);
    }
    for note in curves.notes.iter().flat_map(|note| wrapped(&label::shorten_text(note, 400).text, 96)) {
        let mut line = Fragment::default();
        line.text(0.0, 12.0, 11.0, Style::Soft, &note);
        line.grow(0.0, 14.0);
        drawing.below(line, 4.0);
    }
    let numbers = serde_json::to_string(&curves.records).unwrap_or_default(); // Names and numbers can always be written.
    pen::document(drawing, 24.0, ("Spotlight: a training run", CAVEAT), &pen::escape(&numbers), Colours::on(curves.theme))
}

/// Words in lines of so many columns.
fn wrapped(text: &str, columns: usize) -> Vec<String> {
    let mut lines: Vec<String> = Vec::new();
    for word in text.split(' ') {
        match lines.last_mut() {
            Some(line) if line.chars().count() + 1 + word.chars().count() <= columns => *line = format!("{line} {word}"),
            _ => lines.push(word.to_string()),
        }
    }
    lines
}

fn chart(chart: &Chart, axis: &str) -> Fragment {
    let mut part = Fragment::default();
    if !chart.title.is_empty() {
        part.text(LEFT, 13.0, 13.0, Style::Ink, &label::shorten_text(&chart.title, 60).text);
        part.grow(0.0, 18.0);
    }
    part.below(names(chart), 0.0);
    let kept = chart.kept();
    let top = part.height + if kept.is_empty() { 10.0 } else { 24.0 };
    let x = |value: f64| LEFT + WIDTH * chart.x.place(value);
    let y = |value: f64| top + HEIGHT * (1.0 - chart.y.place(value));
    for &tick in &chart.y.ticks {
        part.raw(&format!("<path class=\"rule\" d=\"M{} {}h{}\"/>\n", n(LEFT), n(y(tick)), n(WIDTH)));
        part.text_end(LEFT - 8.0, y(tick) + 4.0, 11.0, Style::SoftMono, &number(tick));
    }
    for &tick in &chart.x.ticks {
        part.text_middle(x(tick), top + HEIGHT + 18.0, 11.0, Style::SoftMono, &number(tick));
    }
    part.text_middle(LEFT + WIDTH / 2.0, top + HEIGHT + 36.0, 11.0, Style::Soft, axis);
    if chart.y.low > 0.0 {
        part.text(LEFT + 4.0, top + HEIGHT - 4.0, 9.5, Style::Soft, &format!("begins at {}, not at 0", number(chart.y.low)));
    }
    for &at in &kept {
        part.raw(&format!("<path class=\"mark\" stroke-dasharray=\"2 4\" d=\"M{} {}v{}\"/>\n", n(x(at)), n(top - 4.0), n(HEIGHT + 4.0)));
        if kept.len() == 1 {
            let says = format!("kept: {axis} {}", number(at));
            let middle = x(at).clamp(LEFT + text_width(says.len(), 10.5) / 2.0, LEFT + WIDTH - text_width(says.len(), 10.5) / 2.0);
            part.text_middle(middle, top - 8.0, 10.5, Style::Soft, &says);
        }
    }
    for (index, line) in chart.lines.iter().enumerate() {
        let stroke = colour(index).hex();
        // A line on top of another lets it show through.
        let dashes = if chart.hides_another(index) { " stroke-dasharray=\"9 9\"" } else { "" };
        for stretch in line.stretches() {
            let points: Vec<String> = stretch.iter().map(|&(at, value)| format!("{},{}", n(x(at)), n(y(value)))).collect();
            part.raw(&format!(
                "<polyline fill=\"none\" stroke=\"{stroke}\" stroke-width=\"2\" stroke-linejoin=\"round\"{dashes} points=\"{}\"/>\n",
                points.join(" ")
            ));
            if line.points.len() <= MOST_MARKS {
                for (point, &(at, value)) in points.iter().zip(stretch) {
                    let (cx, cy) = point.split_once(',').unwrap_or_default(); // Made with a comma just above.
                    let tooltip = pen::escape(&format!("{}: {value} at {at}", label::shorten_text(&line.name, 200).text));
                    let ring = if dashes.is_empty() {
                        format!("r=\"3\" fill=\"{stroke}\"")
                    } else {
                        format!("r=\"5\" fill=\"none\" stroke=\"{stroke}\"")
                    };
                    part.raw(&format!("<circle cx=\"{cx}\" cy=\"{cy}\" {ring}><title>{tooltip}</title></circle>\n"));
                }
            }
        }
        if let Some((at, value)) = line.kept_point() {
            part.raw(&format!(
                "<circle cx=\"{}\" cy=\"{}\" r=\"6\" fill=\"none\" stroke=\"{stroke}\" stroke-width=\"1.5\"/>\n",
                n(x(at)),
                n(y(value))
            ));
        }
    }
    part.grow(LEFT + WIDTH + 12.0, top + HEIGHT + 40.0);
    part
}

/// The names of the lines with their last values, over as many lines as they need.
fn names(chart: &Chart) -> Fragment {
    let mut names = Vec::new();
    for (index, line) in chart.lines.iter().enumerate() {
        let mut part = Fragment::default();
        let name = label::shorten_text(&line.name, 40);
        let last = line.told().map_or("no number".to_string(), number);
        part.rect((0.0, 5.0, 14.0, 4.0), 2.0, &format!("fill=\"{}\"", colour(index).hex()), "");
        part.text(20.0, 11.0, 12.0, Style::Mono, &name.text);
        part.text(26.0 + text_width(name.width, 12.0), 11.0, 11.0, Style::SoftMono, &last);
        part.grow(26.0 + text_width(name.width, 12.0) + text_width(last.len(), 11.0), 16.0);
        names.push(part);
    }
    let mut all = Fragment::default();
    all.place(LEFT, 0.0, pen::flow(names, WIDTH, 18.0));
    all
}
