//! Pictures as one page that opens from disk and asks the network for nothing.
//!
//! The page holds the numbers as JSON, the colour tables, the labels as they are shown, and the SVG of each picture for download.
//! Its script, in `html/`, builds everything else from them: a matrix that answers to pointer, finger and keyboard, lines from source
//! to output, shaded texts, bags, a table of the numbers, and switches for scale, words and threshold.

use super::label::{is_right_to_left, shorten, shorten_text};
use super::page::SCORE_OF_MATCH;
use super::palette::{Ground, Ramp, Rgb, Theme};
use super::picture::Part;
use super::scale::{NEARLY, Scale, ScaleKind};
use super::stack::HIDDEN;
use super::{End, Error, Page, Picture, Weights, svg};
use serde::Serialize;
use std::hash::{DefaultHasher, Hash, Hasher};

const STYLE: &str = include_str!("html/page.css");
const SCRIPTS: [&str; 10] = [
    include_str!("html/base.js"),
    include_str!("html/scales.js"),
    include_str!("html/numbers.js"),
    include_str!("html/matrix.js"),
    include_str!("html/minimap.js"),
    include_str!("html/lines.js"),
    include_str!("html/texts.js"),
    include_str!("html/stack.js"),
    include_str!("html/snapshot.js"),
    include_str!("html/main.js"),
];

/// The longest label the page shows, in a tooltip or a table. The data holds every label in full.
const LONGEST: usize = 200;
/// The longest label at the edge of a matrix.
const LONGEST_EDGE: usize = 16;
/// The longest name in the list of examples.
const LONGEST_NAME: usize = 72;
/// The longest token of a text.
const LONGEST_TOKEN: usize = 40;

#[derive(Serialize)]
struct Data<'a> {
    caveat: &'a str,
    theme: &'static str,
    tables: Tables,
    scales: Vec<Named>,
    /// The scales that are shown first.
    start: Start,
    /// Weights of which none is further above an even spread are nearly uniform.
    nearly: f32,
    pictures: &'a [Picture],
    shown: Vec<Shown>,
    /// The same with subwords merged to words, or not merged if these are; nothing where that makes no difference.
    others: &'a [Option<Picture>],
    others_shown: Vec<Option<Shown>>,
}

/// Colours and the inks that read on them, on light and on dark paper.
#[derive(Serialize)]
struct Tables {
    sequential: Table,
    diverging: [Table; 2],
}

#[derive(Serialize)]
struct Table {
    colours: Vec<String>,
    inks: Vec<String>,
}

impl Table {
    fn of(colours: &[Rgb]) -> Table {
        Table {
            colours: colours.iter().map(|colour| colour.hex()).collect(),
            inks: colours.iter().map(|colour| colour.ink().hex()).collect(),
        }
    }
}

/// A scale as the page names it: where it ends for matrices and for texts.
#[derive(Serialize)]
struct Named {
    kind: &'static str,
    name: &'static str,
    diverging: bool,
    matrix: f32,
    text: f32,
}

#[derive(Serialize)]
struct Start {
    matrix: &'static str,
    text: &'static str,
}

/// The texts of a picture as they are shown.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    /// The picture in the list of examples.
    name: String,
    title: String,
    subtitle: String,
    /// What the right label is, if it is known.
    truth: String,
    /// What runs down and across a matrix.
    axes: [&'static str; 2],
    /// Names of the labels whose probabilities are shown.
    names: Vec<String>,
    source: Vec<String>,
    output: Vec<String>,
    short_source: Vec<String>,
    short_output: Vec<String>,
    /// Whether they run from right to left.
    source_leftward: bool,
    output_leftward: bool,
    /// The mean over several heads: of a matrix, or of the texts whose tokens are `source` and `output`.
    mean: Weights,
    source_mean: Vec<f32>,
    output_mean: Vec<f32>,
    /// The weight that an even spread would give to each of them, and whether a row of a matrix is spread on its own.
    source_even: Vec<f32>,
    output_even: Vec<f32>,
    by_row: bool,
}

/// Writes a page with all pictures, one shown at a time.
pub fn draw(page: &Page) -> Result<String, Error> {
    let table = |ramp: Ramp, ground: Ground| Table::of(&page.palette().table(ramp, ground));
    let named = |kind: ScaleKind| {
        let [matrix, text] = [Part::Matrix, Part::Text].map(|part| page.scale_of_kind(part, kind));
        Named { kind: kind.name(), name: text.name(), diverging: kind == ScaleKind::Uniform, matrix: matrix.top(), text: text.top() }
    };
    let kind = |scale: Scale| scale.kind().name();
    let data = Data {
        caveat: page.note(),
        theme: match page.theme() {
            Theme::Auto => "auto",
            Theme::Light => "light",
            Theme::Dark => "dark",
        },
        tables: Tables {
            sequential: table(Ramp::Sequential, Ground::Light),
            diverging: [Ground::Light, Ground::Dark].map(|ground| table(Ramp::Diverging, ground)),
        },
        scales: ScaleKind::ALL.map(named).into(),
        start: Start { matrix: kind(page.matrix_scale()), text: kind(page.text_scale()) },
        nearly: NEARLY,
        pictures: page.pictures(),
        shown: page.pictures().iter().map(Shown::of).collect(),
        others: page.others(),
        others_shown: page.others().iter().map(|other| other.as_ref().map(Shown::of)).collect(),
    };
    let mut blocks = block("data", &data)?;
    for (index, picture) in page.pictures().iter().enumerate() {
        let alone = page.alone(picture);
        blocks.push_str(&block(&format!("svg-{index}"), &svg::draw(&alone))?);
    }
    let (script, theme) = (SCRIPTS.concat(), data.theme);
    let nonce = nonce(&blocks);
    let note = svg::pen::escape(page.note());
    Ok(format!(
        r#"<!doctype html>
<html lang="en" data-theme="{theme}">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'nonce-{nonce}'; style-src 'nonce-{nonce}'">
<title>Spotlight: where the model looks</title>
<style nonce="{nonce}">
{STYLE}</style>
</head>
<body>
<header>
<h1>Where the model looks</h1>
<p>{note}</p>
</header>
<nav aria-label="Examples"><button id="previous">Previous</button><select id="example" aria-label="Example"></select><button id="next">Next</button></nav>
<div class="switches tools" id="switches"></div>
<main id="main"><noscript>This page draws its pictures with a script.</noscript></main>
<div id="tip" hidden></div>
{blocks}<script nonce="{nonce}">
{script}</script>
</body>
</html>
"#
    ))
}

/// A block of data that the browser neither runs nor reads as markup, whatever it holds.
fn block(id: &str, data: &impl Serialize) -> Result<String, Error> {
    let json = serde_json::to_string(data).map_err(Error::Json)?;
    let mut escaped = String::with_capacity(json.len() + json.len() / 8);
    for c in json.chars() {
        match c {
            '<' | '>' | '&' | '\u{2028}' | '\u{2029}' | '\u{7f}'..='\u{9f}' => escaped.push_str(&format!("\\u{:04x}", u32::from(c))),
            other => escaped.push(other),
        }
    }
    Ok(format!("<script type=\"application/json\" id=\"{id}\">{escaped}</script>\n"))
}

/// The word that lets this page's own script run and no other. It depends on everything the page holds, so no text can know it.
fn nonce(data: &str) -> String {
    let mut hasher = DefaultHasher::new();
    data.hash(&mut hasher);
    format!("{:016x}", hasher.finish())
}

impl Shown {
    fn of(picture: &Picture) -> Shown {
        let text = |text: &str| shorten_text(text, LONGEST).text;
        let names = |probabilities: &[(String, f32)]| probabilities.iter().map(|(name, _)| text(name)).collect();
        let list = |start: &str, tokens: &[String]| {
            // No more tokens than the list could show.
            let tokens = tokens.get(..LONGEST_NAME).unwrap_or(tokens);
            shorten_text(&format!("{start}: {}", tokens.join(" ")), LONGEST_NAME).text
        };
        let verdict = |label: &str, truth: &Option<String>| match truth {
            Some(truth) if truth == label => format!("right: {}", text(truth)),
            Some(truth) => format!("wrong, it is {}", text(truth)),
            None => String::new(),
        };
        match picture {
            Picture::Matrix(it) => {
                let it = &it.with_end_row();
                Shown {
                    name: arrow(&it.input, &it.text, LONGEST_NAME),
                    title: arrow(&it.input, &it.text, 2 * LONGEST),
                    subtitle: {
                        let score = it.score.map(|score| format!("score {score}: {}", it.score_is()));
                        score.into_iter().chain(it.legend().map(String::from)).collect::<Vec<_>>().join("; ")
                    },
                    axes: ["writes", "reads"],
                    mean: if it.heads.len() > 1 { it.mean().unwrap_or_default() } else { Weights::new() },
                    source_even: it.evens(),
                    by_row: true,
                    ..Shown::units(&it.source, &it.output, LONGEST_EDGE)
                }
            }
            Picture::Shaded(it) => Shown {
                name: list(&it.label, &it.text.tokens),
                title: text(&it.label),
                truth: verdict(&it.label, &it.truth),
                names: names(&it.probabilities),
                source_mean: it.text.mean(),
                source_even: it.text.evens(),
                ..Shown::units(&it.text.tokens, &[], LONGEST_TOKEN)
            },
            Picture::Match(it) => {
                let evens = it.cross_evens();
                Shown {
                    name: list(&format!("{:.3}", it.score), &it.question.tokens),
                    title: format!("score {}", it.score),
                    subtitle: SCORE_OF_MATCH.into(),
                    axes: ["question", "answer"],
                    source_mean: it.answer.mean(),
                    output_mean: it.question.mean(),
                    source_even: it.answer.evens(),
                    output_even: it.question.evens(),
                    by_row: evens.rows.first().is_none_or(|&row| row == 1.0),
                    ..Shown::units(&it.answer.tokens, &it.question.tokens, LONGEST_EDGE)
                }
            }
            Picture::Stack(it) => Shown {
                name: shorten_text(&format!("{}: {}", it.view, arrow(&it.input, &it.text, LONGEST_NAME)), LONGEST_NAME).text,
                title: arrow(&it.input, &it.text, 2 * LONGEST),
                subtitle: if it.is_masked() { format!("{}; grey is {HIDDEN}", it.view) } else { it.view.clone() },
                source_even: it.evens().columns,
                output_even: it.evens().rows,
                ..Shown::units(&it.source, &it.output, LONGEST_EDGE)
            },
            Picture::Bag(it) => Shown {
                name: shorten_text(&format!("{}: {}", it.id, it.label), LONGEST_NAME).text,
                title: text(&it.label),
                subtitle: format!("bag {}", text(&it.id)),
                truth: verdict(&it.label, &it.truth),
                names: names(&it.probabilities),
                output: it.rows.iter().map(|row| text(row)).collect(),
                output_even: it.portions().iter().map(|portion| portion.even).collect(),
                ..Shown::default()
            },
        }
    }

    fn units(source: &[String], output: &[String], edge: usize) -> Shown {
        let all = |labels: &[String], columns: usize| labels.iter().map(|label| shorten(label, columns).text).collect();
        let units = |labels: &[String]| labels.iter().filter(|label| *label != End::LABEL).cloned().collect::<Vec<_>>();
        Shown {
            source: all(source, LONGEST),
            output: all(output, LONGEST),
            short_source: all(source, edge),
            short_output: all(output, edge),
            source_leftward: is_right_to_left(source),
            output_leftward: is_right_to_left(&units(output)),
            ..Shown::default()
        }
    }
}

/// What was read and what was written, each kept in its own direction. Each side may take what the other leaves, and half in any case.
fn arrow(input: &str, text: &str, columns: usize) -> String {
    let room = columns.saturating_sub(3);
    let read = shorten_text(input, room);
    let written = shorten_text(text, room.saturating_sub(read.width).max(room / 2));
    let read = shorten_text(input, room - written.width);
    format!("{} → {}", read.text, written.text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_cannot_end_its_block() -> Result<(), Error> {
        let text = "</script><script>&\u{2028}\u{2029}";
        let block = block("x", &text)?;
        assert_eq!(block.matches('<').count(), 2, "{block}");
        let inside =
            block.trim_end().strip_prefix("<script type=\"application/json\" id=\"x\">").and_then(|rest| rest.strip_suffix("</script>"));
        assert_eq!(serde_json::from_str::<String>(inside.unwrap_or_default()).map_err(Error::Json)?, text);
        Ok(())
    }
}
