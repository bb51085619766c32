//! A sheet of findings as one page that opens from disk and asks the network for nothing: tables, bars, and texts in strips, a sentence under each.
//!
//! It has no script. Like pictures, a sheet is plain data that somebody fills.

use super::label::shorten;
use super::palette::{Ground, Palette, Ramp, Rgb};
use super::scale;
use super::svg::pen;
use std::hash::{DefaultHasher, Hash, Hasher};

/// A page of findings.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sheet {
    /// The title.
    pub title: String,
    /// Paragraphs under it.
    pub lead: Vec<String>,
    /// The findings in order.
    pub sections: Vec<Section>,
}

/// A heading, what is drawn under it, and a sentence under that.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Section {
    /// The heading.
    pub heading: String,
    /// What is drawn.
    pub body: Vec<Body>,
    /// What it says.
    pub sentence: String,
}

/// What can be drawn.
#[derive(Clone, Debug, PartialEq)]
pub enum Body {
    /// Rows of texts under a head.
    Table {
        /// Names of the columns.
        head: Vec<String>,
        /// A row each.
        rows: Vec<Vec<String>>,
    },
    /// Upright bars.
    Bars {
        /// What they show.
        name: String,
        /// Label and height of each.
        bars: Vec<(String, f64)>,
    },
    /// A text several times, each time shaded by other numbers.
    Strips {
        /// What it is.
        name: String,
        /// Its units.
        units: Vec<String>,
        /// Name of the numbers, and one for each unit. The largest of a row is the brightest; below 0 a unit stands in brackets.
        rows: Vec<(String, Vec<f64>)>,
    },
}

const STYLE: &str = "body { max-width: 1100px; margin: 2rem auto; padding: 0 1rem; font-family: \"DejaVu Sans\", \"Segoe UI\", Arial, sans-serif;
  color: #1d1e22; background: #ffffff; line-height: 1.45 }
h1 { font-size: 1.4rem } h2 { font-size: 1.1rem; margin-top: 2rem } h3 { font-size: .9rem; font-weight: normal; color: #5e626b; margin: 1rem 0 .2rem }
table { border-collapse: collapse; font-size: .9rem } th, td { text-align: right; padding: .15rem .8rem; border-bottom: 1px solid #d5d7dd }
th:first-child, td:first-child { text-align: left } p.sentence { color: #5e626b; max-width: 46rem } div.wide { overflow-x: auto }
svg text { font-family: \"DejaVu Sans Mono\", Menlo, Consolas, monospace; font-size: 12px } .soft { fill: #5e626b } .bar { fill: #7b8190 }
@media (prefers-color-scheme: dark) { body { color: #e9eaee; background: #17181c } p.sentence, h3 { color: #a3a7b2 } .soft { fill: #a3a7b2 }
  th, td { border-color: #3a3d46 } }
";

/// Writes the page.
///
/// ```
/// use spotlight::view::sheet::{Body, Section, Sheet, draw};
///
/// let body = vec![Body::Bars { name: "how many".into(), bars: vec![("<a>".into(), 2.0), ("b".into(), 1.0)] }];
/// let sheet = Sheet { title: "Findings".into(), sections: vec![Section { heading: "One".into(), body, sentence: "So it is.".into() }], ..Sheet::default() };
/// let page = draw(&sheet);
/// assert!(page.contains("<h2>One</h2>") && page.contains("&lt;a&gt;") && !page.contains("<a>"));
/// ```
pub fn draw(sheet: &Sheet) -> String {
    let title = escape(&sheet.title);
    let mut body = format!("<h1>{title}</h1>\n");
    sheet.lead.iter().for_each(|text| body += &format!("<p>{}</p>\n", escape(text)));
    for section in &sheet.sections {
        body += &format!("<h2>{}</h2>\n", escape(&section.heading));
        section.body.iter().for_each(|part| body += &draw_body(part));
        if !section.sentence.is_empty() {
            body += &format!("<p class=\"sentence\">{}</p>\n", escape(&section.sentence));
        }
    }
    let mut hasher = DefaultHasher::new();
    body.hash(&mut hasher);
    let nonce = format!("{:016x}", hasher.finish());
    format!(
        "<!doctype html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n\
         <meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; style-src 'nonce-{nonce}'\">\n<title>{title}</title>\n\
         <style nonce=\"{nonce}\">\n{STYLE}</style>\n</head>\n<body>\n{body}</body>\n</html>\n"
    )
}

fn draw_body(body: &Body) -> String {
    match body {
        Body::Table { head, rows } => {
            let line = |tag: &str, cells: &[String]| {
                let cells: String = cells.iter().map(|cell| format!("<{tag}>{}</{tag}>", escape(cell))).collect();
                format!("<tr>{cells}</tr>\n")
            };
            let rows: String = rows.iter().map(|row| line("td", row)).collect();
            format!("<div class=\"wide\"><table>\n{}{rows}</table></div>\n", line("th", head))
        }
        Body::Bars { name, bars } => draw_bars(name, bars),
        Body::Strips { name, units, rows } => draw_strips(name, units, rows),
    }
}

fn draw_bars(name: &str, bars: &[(String, f64)]) -> String {
    const STEP: f64 = 46.0;
    const HEIGHT: f64 = 90.0;
    let most = bars.iter().map(|bar| bar.1).filter(|x| x.is_finite()).fold(0.0, f64::max);
    let mut svg = String::new();
    for (i, (label, value)) in bars.iter().enumerate() {
        let height = if most > 0.0 && value.is_finite() { (value / most * HEIGHT).max(0.0) } else { 0.0 };
        let (x, y) = (i as f64 * STEP, 16.0 + HEIGHT - height);
        let number = if value.fract() == 0.0 { format!("{value:.0}") } else { format!("{value:.3}") };
        svg += &format!("<rect class=\"bar\" x=\"{x:.0}\" y=\"{y:.1}\" width=\"{:.0}\" height=\"{height:.1}\"/>", STEP - 6.0);
        svg += &format!("<text class=\"soft\" x=\"{x:.0}\" y=\"{:.1}\">{number}</text>", y - 3.0);
        svg += &format!("<text class=\"soft\" x=\"{x:.0}\" y=\"{:.0}\">{}</text>", HEIGHT + 32.0, escape(&shorten(label, 6).text));
    }
    let (width, height) = (bars.len() as f64 * STEP, HEIGHT + 38.0);
    format!(
        "<h3>{}</h3>\n<div class=\"wide\"><svg width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\">{svg}</svg></div>\n",
        escape(name)
    )
}

fn draw_strips(name: &str, units: &[String], rows: &[(String, Vec<f64>)]) -> String {
    const LETTER: f64 = 7.3;
    const NAMES: f64 = 170.0;
    const ROW: f64 = 22.0;
    let labels: Vec<_> = units.iter().map(|unit| shorten(unit, 24)).collect();
    let mut svg = String::new();
    for (line, (row, numbers)) in rows.iter().enumerate() {
        let y = line as f64 * ROW;
        svg += &format!("<text class=\"soft\" x=\"0\" y=\"{:.0}\">{}</text>", y + 15.0, escape(row));
        let most = numbers.iter().map(|x| x.abs()).filter(|x| x.is_finite()).fold(0.0, f64::max);
        let mut x = NAMES;
        for (label, &number) in labels.iter().zip(numbers) {
            let width = (label.width + 2) as f64 * LETTER;
            let colour = shade(if most > 0.0 { (number.abs() / most) as f32 } else { 0.0 });
            let text = if number < 0.0 { format!("({})", label.text) } else { label.text.clone() };
            let indent = if number < 0.0 { 0.0 } else { LETTER };
            svg += &format!(
                "<g><title>{number:.4}</title><rect x=\"{x:.1}\" y=\"{y:.0}\" width=\"{width:.1}\" height=\"20\" fill=\"{}\"/><text x=\"{:.1}\" y=\"{:.0}\" \
                 fill=\"{}\">{}</text></g>",
                colour.hex(),
                x + indent,
                y + 15.0,
                colour.ink().hex(),
                escape(&text)
            );
            x += width + 1.0;
        }
    }
    let width = NAMES + labels.iter().map(|label| (label.width + 2) as f64 * LETTER + 1.0).sum::<f64>();
    let height = rows.len() as f64 * ROW;
    format!(
        "<h3>{}</h3>\n<div class=\"wide\"><svg width=\"{width:.0}\" height=\"{height:.0}\" role=\"img\">{svg}</svg></div>\n",
        escape(name)
    )
}

/// The colour of a place between nothing and the most.
fn shade(place: f32) -> Rgb {
    Palette::default().colour(Ramp::Sequential, Ground::Light, scale::step(place))
}

/// Text that is no markup, whatever it holds: characters that a page may not hold are marked.
fn escape(text: &str) -> String {
    let allowed = |c: char| match c {
        '\u{0}'..='\u{8}' | '\u{b}' | '\u{c}' | '\u{e}'..='\u{1f}' | '\u{7f}'..='\u{9f}' => '\u{fffd}',
        other => other,
    };
    pen::escape(&text.chars().map(allowed).collect::<String>())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_holds_what_it_is_given_and_runs_nothing() {
        let strips = Body::Strips {
            name: "one & only".into(),
            units: vec!["<script>".into(), "fine".into()],
            rows: vec![("attention".into(), vec![0.25, 0.75]), ("signed".into(), vec![-2.0, 1.0]), ("nothing".into(), vec![0.0, f64::NAN])],
        };
        let table = Body::Table { head: vec!["a".into(), "b".into()], rows: vec![vec!["1".into(), "2".into()]] };
        let page = draw(&Sheet {
            title: "T".into(),
            lead: vec!["lead".into()],
            sections: vec![Section {
                heading: "H".into(),
                body: vec![strips, table, Body::Bars { name: "n".into(), bars: vec![] }],
                sentence: "S".into(),
            }],
        });
        assert!(!page.contains("<script") && !page.contains("style=\""), "{page}");
        assert!(page.contains("one &amp; only") && page.contains("<td>2</td>") && page.contains("<p class=\"sentence\">S</p>"));
        // The brightest of the row, and one that speaks against.
        assert!(page.contains("<title>0.7500</title>") && page.contains("(&lt;script&gt;)"));
        assert_eq!(page.matches(shade(1.0).hex().as_str()).count(), 2);
    }
}
