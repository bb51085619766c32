//! Many cells in few bytes: neighbours of one colour in a row become one stroke, strokes of one colour one path.

use super::pen::n;
use crate::view::scale::Rgb;
use std::collections::BTreeMap;

/// Draws rows of numbers as cells of `width` by `height` from (`left`, `top`), coloured by `paint`. The most frequent colour is
/// drawn once, under all others.
pub(super) fn runs(rows: &[Vec<f32>], left: f64, top: f64, width: f64, height: f64, paint: impl Fn(f32) -> Rgb) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let mut strokes: BTreeMap<String, Vec<(usize, usize, usize)>> = BTreeMap::new();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (y, row) in rows.iter().enumerate() {
        let mut x = 0;
        // Neighbours of one colour: `chunk_by` would compare weights, which differ where colours do not.
        let colours: Vec<Rgb> = row.iter().map(|&weight| paint(weight)).collect();
        for run in colours.chunk_by(|a, b| a == b) {
            let colour = run[0].hex(); // A chunk is never empty.
            *counts.entry(colour.clone()).or_default() += run.len();
            strokes.entry(colour).or_default().push((x, y, run.len()));
            x += run.len();
        }
    }
    let ground = counts.iter().max_by_key(|&(_, count)| count).map(|(colour, _)| colour.clone()).unwrap_or_default();
    strokes.remove(&ground);

    // One unit is one cell; a stroke runs along the middle of its row.
    let mut svg = format!(
        "<g transform=\"translate({} {}) scale({} {})\" fill=\"none\" shape-rendering=\"crispEdges\">\n<path stroke=\"{ground}\" stroke-width=\"{}\" d=\"M0 {}h{columns}\"/>\n",
        n(left),
        n(top),
        n(width),
        n(height),
        rows.len(),
        n(rows.len() as f64 / 2.0)
    );
    for (colour, runs) in strokes {
        svg.push_str(&format!("<path stroke=\"{colour}\" d=\""));
        let mut at = None;
        for (x, y, length) in runs {
            svg.push_str(&match at {
                None => format!("M{x} {y}.5h{length}"),
                Some((from_x, from_y)) => {
                    let (dx, dy) = (x as i64 - from_x as i64, y - from_y);
                    format!("m{dx} {dy}h{length}")
                }
            });
            at = Some((x + length, y));
        }
        svg.push_str("\"/>\n");
    }
    svg + "</g>\n"
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::view::scale;

    #[test]
    fn equal_neighbours_are_one_stroke() {
        let rows = vec![vec![0.0, 1.0, 1.0, 0.0], vec![0.0, 0.0, 0.0, 1.0]];
        let svg = runs(&rows, 0.0, 0.0, 2.0, 2.0, |weight| scale::colour(scale::step(weight)));
        assert!(svg.contains("stroke=\"#440154\" stroke-width=\"2\" d=\"M0 1h4\""), "{svg}");
        assert!(svg.contains("stroke=\"#fde725\" d=\"M1 0.5h2m0 1h1\""), "{svg}");
    }

    #[test]
    fn nothing_is_something() {
        assert!(runs(&[], 0.0, 0.0, 2.0, 2.0, |_| scale::colour(0)).contains("h0"));
    }
}
