//! Hostile text is drawn as text: it ends no element, starts no script, moves no cursor.

use super::samples;
use spotlight::view::terminal::{self, Color};
use spotlight::view::{Bag, Match, Matrix, Page, Picture, Shaded, Weighted, ascii, html, json, svg};

const HOSTILE: [&str; 8] = [
    "<script>alert(1)</script>",
    "</style></svg>",
    "\"'`><img src=x onerror=alert(1)>",
    "<!--<script>",
    "]]>&lt;&amp;",
    "line\nbreak\r\u{2028}\u{2029}",
    "\u{1b}]0;title\u{7}\u{1b}[2J\0",
    "\u{202e}reversed\u{fffe}",
];

/// Pictures with hostile text in every place that takes text.
fn pictures() -> Vec<Picture> {
    let label = || HOSTILE.concat();
    let units = || -> Vec<String> { HOSTILE.iter().map(|text| text.to_string()).collect() };
    let row = || samples::peak(HOSTILE.len(), 2.0, 1.0);
    let weighted = || Weighted::new(units(), vec![row(), row()]);
    vec![
        Matrix {
            input: label(),
            text: label(),
            source: units(),
            output: units(),
            heads: vec![vec![row(); HOSTILE.len()]],
            ..Matrix::default()
        }
        .into(),
        Shaded { label: label(), truth: Some(label()), probabilities: vec![(label(), 0.5)], text: weighted() }.into(),
        Match { score: 0.5, question: weighted(), answer: weighted(), cross: Some(vec![row(); HOSTILE.len()]) }.into(),
        Bag {
            id: label(),
            label: label(),
            truth: Some(label()),
            probabilities: vec![(label(), 1.0)],
            rows: units(),
            weights: row(),
            images: None,
        }
        .into(),
    ]
}

#[test]
fn svg_shows_hostile_text_as_text() {
    let drawing = svg::draw(&Page::new(pictures()).unwrap());
    let tree = resvg::usvg::roxmltree::Document::parse(&drawing).unwrap();
    for node in tree.descendants().filter(|node| node.is_element()) {
        let name = node.tag_name().name();
        let known = ["svg", "title", "desc", "metadata", "style", "g", "rect", "path", "text"];
        assert!(known.contains(&name), "<{name}>");
        assert!(node.attributes().all(|attribute| !attribute.name().starts_with("on") && attribute.name() != "href"));
    }
    let texts: Vec<&str> = tree.descendants().filter_map(|node| node.text()).collect();
    assert!(texts.iter().any(|text| text.contains("<script>alert(1)</script>")), "the script can be read");
    assert!(!drawing.contains("<script"));
}

#[test]
fn the_page_shows_hostile_text_as_text() {
    let drawing = html::draw(&Page::new(pictures()).unwrap()).unwrap();
    assert_eq!(drawing.matches("<script").count(), drawing.matches("</script>").count());
    assert!(!drawing.contains("alert(1)</script>") && !drawing.contains("<img") && !drawing.contains("<!--"));
    assert!(!drawing.contains(['\u{2028}', '\u{2029}', '\0', '\u{1b}']));
}

#[test]
fn terminals_obey_nothing_in_a_label() {
    let page = Page::new(pictures()).unwrap();
    for width in [40, 80] {
        for color in [Color::None, Color::True] {
            let drawing = terminal::draw(&page, width, color);
            for sequence in drawing.split('\u{1b}').skip(1) {
                let (selection, _) = sequence.split_once('m').unwrap();
                assert!(selection.chars().all(|c| "[0123456789;".contains(c)), "{selection:?}");
            }
            assert!(!drawing.contains(['\0', '\r', '\u{7}', '\u{202e}', '\u{2028}']));
        }
        assert!(ascii::draw(&page, width).chars().all(|c| c == '\n' || (' '..='~').contains(&c)));
    }
}

#[test]
fn a_megabyte_of_a_token_is_cut_in_drawings_and_whole_in_json() {
    let token = "<x>".repeat(350_000);
    let matrix = Matrix { input: token.clone(), source: vec![token.clone()], output: vec![token.clone()], ..samples::diagonal(1, 1) };
    let page = Page::new(vec![matrix.into()]).unwrap();
    assert!(svg::draw(&page).len() < 20_000);
    assert!(terminal::draw(&page, 80, Color::True).len() < 5_000);
    assert!(ascii::draw(&page, 80).len() < 1_000);
    assert!(json::draw(&page).unwrap().contains(&token));
}
