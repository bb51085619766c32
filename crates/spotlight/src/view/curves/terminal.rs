//! Curves in a terminal: braille dots where colours tell the lines apart, a letter for each line where there are none.

use super::Curves;
use super::chart::{Chart, Line, charts, colour, number};
use crate::view::label;
use crate::view::terminal::Color;
use crate::view::textual::wrap;

const ROWS: usize = 12;
const LEFT: usize = 9;

pub(super) fn draw(curves: &Curves, width: usize, color: Color) -> String {
    let columns = width.clamp(LEFT + 12, 160) - LEFT - 1;
    let mut text = label::shorten_text(&curves.title, width).text + "\n";
    let charts = charts(curves);
    if charts.is_empty() {
        text.push_str("nothing was measured yet\n");
    }
    for chart in &charts {
        text.push('\n');
        if !chart.title.is_empty() {
            text.push_str(&format!("{:LEFT$} {}\n", "", label::shorten_text(&chart.title, width.saturating_sub(LEFT + 1)).text));
        }
        text.push_str(&names(chart, width, color));
        text.push_str(&plot(chart, columns, color));
        let axis = label::shorten_text(&curves.axis, columns);
        let (low, high) = (number(chart.x.low), number(chart.x.high));
        let gap = columns.saturating_sub(low.len() + high.len() + axis.width);
        let (before, after) = (" ".repeat(gap / 2), " ".repeat(gap - gap / 2));
        text.push_str(&format!("{:LEFT$} {low}{before}{}{after}{high}\n", "", axis.text));
    }
    if let (Some(kept), true) = (curves.kept, curves.compared.is_empty() && !charts.is_empty()) {
        text.push_str(&format!("\n┊ kept: {} {}\n", label::shorten_text(&curves.axis, 24).text, number(kept)));
    }
    for note in &curves.notes {
        text.push('\n');
        wrap(&label::shorten_text(note, 400).text, width).iter().for_each(|line| text.push_str(&format!("{line}\n")));
    }
    text.lines().fold(String::new(), |all, line| all + line.trim_end() + "\n")
}

/// What a line is drawn with when there are no colours.
fn mark(line: usize) -> char {
    const MARKS: [char; 6] = ['o', 'x', '+', '*', '#', '~'];
    MARKS[line % MARKS.len()]
}

fn names(chart: &Chart, width: usize, color: Color) -> String {
    let mut text = String::new();
    for (index, line) in chart.lines.iter().enumerate() {
        let sign = match color {
            Color::None => mark(index).to_string(),
            _ => format!("{}━━\u{1b}[0m", color.select(38, colour(index))),
        };
        let name = label::shorten_text(&line.name, width.saturating_sub(LEFT + 16)).text;
        let last = line.told().map_or("no number".to_string(), number);
        text.push_str(&format!("{:LEFT$} {sign} {name} {last}\n", ""));
    }
    text
}

fn plot(chart: &Chart, columns: usize, color: Color) -> String {
    // A character holds 2 x 4 braille dots, or one mark.
    let (across, down) = if color == Color::None { (1, 1) } else { (2, 4) };
    let mut cells = vec![vec![(0u8, Vec::<usize>::new()); columns]; ROWS];
    for (index, line) in chart.lines.iter().enumerate() {
        for (x, y) in dots(line, chart, columns * across, ROWS * down) {
            let cell = &mut cells[y / down][x / across];
            cell.0 |= dot(x % across, y % down);
            if cell.1.last() != Some(&index) {
                cell.1.push(index);
            }
        }
    }
    let kept: Vec<usize> = chart.kept().iter().map(|&at| (chart.x.place(at) * (columns - 1) as f64).round() as usize).collect();
    let mut text = String::new();
    for (y, row) in cells.iter().enumerate() {
        let tick = match y {
            0 => number(chart.y.high),
            _ if y == ROWS - 1 => number(chart.y.low),
            _ if y == ROWS / 2 => number((chart.y.low + chart.y.high) / 2.0),
            _ => String::new(),
        };
        text.push_str(&format!("{tick:>width$} │", width = LEFT - 1));
        for (x, (dots, lines)) in row.iter().enumerate() {
            // Lines that meet take turns, so that none hides another.
            text.push_str(&match (lines.get(x % lines.len().max(1)), color) {
                (None, _) => if kept.contains(&x) { "┊" } else { " " }.to_string(),
                (Some(&line), Color::None) => mark(line).to_string(),
                (Some(&line), _) => {
                    // U+2800 to U+28FF are all characters.
                    let braille = char::from_u32(0x2800 + u32::from(*dots)).unwrap_or(' ');
                    format!("{}{braille}\u{1b}[0m", color.select(38, colour(line)))
                }
            });
        }
        text.push('\n');
    }
    text + &format!("{:width$} └{}\n", "", "─".repeat(columns), width = LEFT - 1)
}

/// The bit of a dot in a braille character.
fn dot(x: usize, y: usize) -> u8 {
    const BITS: [[u8; 4]; 2] = [[0x01, 0x02, 0x04, 0x40], [0x08, 0x10, 0x20, 0x80]];
    BITS[x][y]
}

/// The dots of a line on a raster, one in each column it crosses and as many between as it needs to look joined.
fn dots(line: &Line, chart: &Chart, columns: usize, rows: usize) -> Vec<(usize, usize)> {
    let place = |&(at, value): &(f64, f64)| {
        let x = chart.x.place(at) * (columns - 1) as f64;
        let y = (1.0 - chart.y.place(value)) * (rows - 1) as f64;
        (x, y)
    };
    let mut dots = Vec::new();
    for stretch in line.stretches() {
        let points: Vec<(f64, f64)> = stretch.iter().map(place).collect();
        dots.extend(points.iter().map(|&(x, y)| (x.round() as usize, y.round() as usize)));
        for pair in points.windows(2) {
            let ((x0, y0), (x1, y1)) = (pair[0], pair[1]);
            let steps = (x1 - x0).abs().max((y1 - y0).abs()).ceil();
            for step in 1..steps as usize {
                let part = step as f64 / steps;
                dots.push(((x0 + part * (x1 - x0)).round() as usize, (y0 + part * (y1 - y0)).round() as usize));
            }
        }
    }
    dots
}
