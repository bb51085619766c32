//! Pictures as one page that opens from disk and asks the network for nothing.
//!
//! The page holds the numbers as JSON, the colour table, the labels as they are shown, and the SVG of each picture for download.
//! Its script, in `html/`, builds everything else from them: a matrix that answers to pointer and keyboard, lines from source to
//! output, shaded texts, bags, and a table of the numbers.

use super::label::{shorten, shorten_text};
use super::{Error, Page, Picture, Weights, scale, svg};
use serde::Serialize;
use std::hash::{DefaultHasher, Hash, Hasher};

const STYLE: &str = include_str!("html/page.css");
const SCRIPTS: [&str; 6] = [
    include_str!("html/base.js"),
    include_str!("html/numbers.js"),
    include_str!("html/matrix.js"),
    include_str!("html/lines.js"),
    include_str!("html/texts.js"),
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
    colours: Vec<String>,
    inks: Vec<String>,
    /// The weight at the bright end of the colours.
    top: f32,
    pictures: &'a [Picture],
    shown: Vec<Shown>,
}

/// The texts of a picture as they are shown.
#[derive(Default, Serialize)]
#[serde(rename_all = "camelCase")]
struct Shown {
    /// The picture in the list of examples.
    name: String,
    title: String,
    subtitle: String,
    /// Names of the labels whose probabilities are shown.
    names: Vec<String>,
    source: Vec<String>,
    output: Vec<String>,
    short_source: Vec<String>,
    short_output: Vec<String>,
    /// The mean over several heads: of a matrix, or of the texts whose tokens are `source` and `output`.
    mean: Weights,
    source_mean: Vec<f32>,
    output_mean: Vec<f32>,
}

/// Writes a page with all pictures, one shown at a time.
pub fn draw(page: &Page) -> Result<String, Error> {
    let colours: Vec<scale::Rgb> = (0..scale::STEPS).map(scale::colour).collect();
    let data = Data {
        caveat: page.note(),
        colours: colours.iter().map(|colour| colour.hex()).collect(),
        inks: colours.iter().map(|colour| colour.ink().hex()).collect(),
        top: page.scale().top(),
        pictures: page.pictures(),
        shown: page.pictures().iter().map(Shown::of).collect(),
    };
    let mut blocks = block("data", &data)?;
    for (index, picture) in page.pictures().iter().enumerate() {
        let alone = page.alone(picture);
        blocks.push_str(&block(&format!("svg-{index}"), &svg::draw(&alone))?);
    }
    let (script, top) = (SCRIPTS.concat(), page.scale().top());
    let nonce = nonce(&blocks);
    let note = page.note().replace('&', "&amp;").replace('<', "&lt;").replace('>', "&gt;");
    Ok(format!(
        r#"<!doctype html>
<html lang="en">
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
<div class="legend"><span>weight 0</span><span id="top">{top}</span></div>
</header>
<nav aria-label="Examples"><button id="previous">Previous</button><select id="example" aria-label="Example"></select><button id="next">Next</button></nav>
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
        match picture {
            Picture::Matrix(it) => Shown {
                name: shorten_text(&format!("{} → {}", text(&it.input), text(&it.text)), LONGEST_NAME).text,
                title: format!("{} → {}", text(&it.input), text(&it.text)),
                subtitle: it.score.map_or(String::new(), |score| format!("score {score}")),
                mean: if it.heads.len() > 1 { it.mean().unwrap_or_default() } else { Weights::new() },
                ..Shown::units(&it.source, &it.output, LONGEST_EDGE)
            },
            Picture::Shaded(it) => Shown {
                name: list(&text(&it.label), &it.text.tokens),
                title: text(&it.label),
                names: names(&it.probabilities),
                source_mean: it.text.mean(),
                ..Shown::units(&it.text.tokens, &[], LONGEST_TOKEN)
            },
            Picture::Match(it) => Shown {
                name: list(&format!("{:.3}", it.score), &it.question.tokens),
                title: format!("score {}", it.score),
                source_mean: it.answer.mean(),
                output_mean: it.question.mean(),
                ..Shown::units(&it.answer.tokens, &it.question.tokens, LONGEST_EDGE)
            },
            Picture::Bag(it) => Shown {
                name: shorten_text(&format!("{}: {}", text(&it.id), text(&it.label)), LONGEST_NAME).text,
                title: text(&it.label),
                subtitle: text(&it.id),
                names: names(&it.probabilities),
                output: it.rows.iter().map(|row| text(row)).collect(),
                ..Shown::default()
            },
        }
    }

    fn units(source: &[String], output: &[String], edge: usize) -> Shown {
        let all = |labels: &[String], columns: usize| labels.iter().map(|label| shorten(label, columns).text).collect();
        Shown {
            source: all(source, LONGEST),
            output: all(output, LONGEST),
            short_source: all(source, edge),
            short_output: all(output, edge),
            ..Shown::default()
        }
    }
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
