//! Many cells in few bytes: neighbours of one colour in a row become one stroke, strokes of one colour one path.

use super::pen::n;
use std::collections::BTreeMap;

/// Draws rows of values as cells of `width` by `height` from (`left`, `top`); `paint` gives the attributes of a value's stroke. The most
/// frequent colour is drawn once, under all others.
pub(super) fn runs<T: Copy>(rows: &[Vec<T>], left: f64, top: f64, width: f64, height: f64, paint: impl Fn(T) -> String) -> String {
    let columns = rows.iter().map(Vec::len).max().unwrap_or(0);
    let mut strokes: BTreeMap<String, Vec<(usize, usize, usize)>> = BTreeMap::new();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (y, row) in rows.iter().enumerate() {
        let mut x = 0;
        // Neighbours of one colour: `chunk_by` would compare weights, which differ where colours do not.
        let colours: Vec<String> = row.iter().map(|&value| paint(value)).collect();
        for run in colours.chunk_by(|a, b| a == b) {
            let colour = run[0].clone(); // A chunk is never empty.
            *counts.entry(colour.clone()).or_default() += run.len();
            strokes.entry(colour).or_default().push((x, y, run.len()));
            x += run.len();
        }
    }
    let ground = counts.iter().max_by_key(|&(_, count)| count).map(|(colour, _)| colour.clone()).unwrap_or_default();
    strokes.remove(&ground);

    // One unit is one cell; a stroke runs along the middle of its row.
    let mut svg = format!(
        "<g transform=\"translate({} {}) scale({} {})\" fill=\"none\" shape-rendering=\"crispEdges\">\n<path {ground} stroke-width=\"{}\" d=\"M0 {}h{columns}\"/>\n",
        n(left),
        n(top),
        n(width),
        n(height),
        rows.len(),
        n(rows.len() as f64 / 2.0)
    );
    for (colour, runs) in strokes {
        svg.push_str(&format!("<path {colour} d=\""));
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

    fn ink(on: bool) -> String {
        format!("stroke=\"{}\"", if on { "#fde725" } else { "#440154" })
    }

    #[test]
    fn equal_neighbours_are_one_stroke() {
        let rows = vec![vec![false, true, true, false], vec![false, false, false, true]];
        let svg = runs(&rows, 0.0, 0.0, 2.0, 2.0, ink);
        assert!(svg.contains("stroke=\"#440154\" stroke-width=\"2\" d=\"M0 1h4\""), "{svg}");
        assert!(svg.contains("stroke=\"#fde725\" d=\"M1 0.5h2m0 1h1\""), "{svg}");
    }

    #[test]
    fn nothing_is_something() {
        assert!(runs(&[], 0.0, 0.0, 2.0, 2.0, ink).contains("h0"));
    }
}
