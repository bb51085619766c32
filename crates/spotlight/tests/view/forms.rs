//! How the character forms and small SVGs look, kept as snapshots, and that every form copes with every picture.

use super::samples::{self, units};
use spotlight::view::curves::{Curves, Record};
use spotlight::view::terminal::{self, Color};
use spotlight::view::{Bag, Matrix, Page, Picture, ascii, png, svg};
use unicode_width::UnicodeWidthStr;

fn page(picture: impl Into<Picture>) -> Page {
    Page::new(vec![picture.into()]).unwrap()
}

fn every_picture() -> Vec<(&'static str, Page)> {
    vec![
        ("date", page(samples::date())),
        ("sentence", page(samples::sentence())),
        ("odd", page(samples::odd())),
        ("one cell", page(samples::diagonal(1, 1))),
        ("no columns", page(samples::diagonal(3, 0))),
        ("no rows", page(samples::diagonal(0, 3))),
        ("nothing", page(Matrix::default())),
        ("200 columns", page(samples::diagonal(5, 200))),
        ("200 rows", page(samples::diagonal(200, 5))),
        ("tweet", page(samples::tweet(1))),
        ("tweet with heads", page(samples::tweet(3))),
        ("no text", page(spotlight::view::Shaded::default())),
        ("answer", page(samples::answer())),
        ("no answer", page(spotlight::view::Match::default())),
        ("bag", page(samples::bag(false))),
        ("images", page(samples::bag(true).sorted())),
        ("no rows in the bag", page(spotlight::view::Bag::default())),
        ("beam", Page::new(vec![samples::date().into(), samples::date().into()]).unwrap()),
        ("no pictures", Page::new(vec![]).unwrap()),
    ]
}

/// What a terminal shows: the text without escape sequences.
fn without_colours(text: &str) -> String {
    let mut parts = text.split('\u{1b}');
    let first = parts.next().unwrap_or_default().to_string();
    parts.fold(first, |plain, part| plain + part.split_once('m').expect("every sequence selects a colour").1)
}

#[test]
fn ascii_snapshots() {
    for name in ["date", "one cell", "no columns", "200 columns", "odd", "sentence", "tweet with heads", "answer", "bag", "images"] {
        let (_, page) = every_picture().into_iter().find(|(other, _)| *other == name).unwrap();
        insta::assert_snapshot!(format!("ascii {name}").replace(' ', "_"), ascii::draw(&page, 80));
    }
}

#[test]
fn terminal_snapshots() {
    for name in ["date", "one cell", "no columns", "200 columns", "odd", "sentence", "tweet", "answer", "bag", "images", "beam"] {
        let (_, page) = every_picture().into_iter().find(|(other, _)| *other == name).unwrap();
        insta::assert_snapshot!(format!("terminal {name}").replace(' ', "_"), terminal::draw(&page, 80, Color::None));
    }
    insta::assert_snapshot!("terminal_truecolor", terminal::draw(&page(samples::diagonal(2, 3)), 80, Color::True));
    insta::assert_snapshot!("terminal_256_colours", terminal::draw(&page(samples::tweet(1)), 80, Color::Ansi256));
}

#[test]
fn svg_snapshots() {
    for name in ["one cell", "no columns", "odd", "images"] {
        let (_, page) = every_picture().into_iter().find(|(other, _)| *other == name).unwrap();
        insta::assert_snapshot!(format!("svg {name}").replace(' ', "_"), svg::draw(&page));
    }
    // The cells of a wide matrix as runs; its labels and style are those of the others.
    let wide = svg::draw(&page(samples::diagonal(25, 200)));
    let runs: Vec<&str> = wide.lines().filter(|line| line.starts_with("<path stroke")).collect();
    insta::assert_snapshot!("svg_runs_of_200_columns", runs.join("\n"));
}

#[test]
fn ascii_is_pure_ascii() {
    for (name, page) in every_picture() {
        let drawing = ascii::draw(&page, 80);
        assert!(drawing.chars().all(|c| c == '\n' || (' '..='~').contains(&c)), "{name}:\n{drawing}");
    }
}

#[test]
fn no_line_exceeds_the_width() {
    for (name, page) in every_picture() {
        for width in [24, 40, 80, 200] {
            let forms = [Color::None, Color::Ansi256, Color::True].map(|color| without_colours(&terminal::draw(&page, width, color)));
            for drawing in forms.iter().chain([&ascii::draw(&page, width)]) {
                for line in drawing.lines() {
                    assert!(line.width() <= width, "{name} at {width}, {} wide: {line}", line.width());
                }
            }
        }
    }
}

#[test]
fn every_column_is_in_one_panel() {
    let drawing = ascii::draw(&page(samples::diagonal(2, 200)), 80);
    let header: String = drawing.lines().filter(|line| line.starts_with("     ") && !line.contains('-')).map(str::trim).collect();
    assert_eq!(header, samples::diagonal(2, 200).source.concat());
    assert!(drawing.contains("columns 1-67 of 200"), "{drawing}");
}

#[test]
fn plain_drawings_hold_no_escape_sequences() {
    for (name, page) in every_picture() {
        assert!(!terminal::draw(&page, 80, Color::None).contains('\u{1b}'), "{name}");
        assert!(!ascii::draw(&page, 80).contains('\u{1b}'), "{name}");
    }
}

#[test]
fn every_picture_becomes_svg_and_png() {
    for (name, page) in every_picture() {
        let drawing = svg::draw(&page);
        let tree = resvg::usvg::Tree::from_str(&drawing, &resvg::usvg::Options::default());
        assert!(tree.is_ok(), "{name}: {:?}", tree.err());
        let image = png::draw(&page, 1.0).unwrap();
        assert!(image.starts_with(b"\x89PNG"), "{name}");
    }
}

#[test]
fn the_caveat_is_in_every_form() {
    let caveat = spotlight::view::CAVEAT;
    for (name, page) in every_picture() {
        assert!(ascii::draw(&page, 80).contains(caveat), "{name}");
        assert!(terminal::draw(&page, 80, Color::True).contains(caveat), "{name}");
        assert!(svg::draw(&page).contains(caveat), "{name}");
    }
}

#[test]
fn stretched_colours_say_where_they_end() {
    let bag = || page(Bag { weights: vec![0.05, 0.1, 0.05], rows: units("abc"), ..Bag::default() });
    assert!(ascii::draw(&bag(), 80).contains("0 \" .:-=+*#%@\" 1\n"));
    let stretched = bag().stretched();
    let drawing = ascii::draw(&stretched, 80);
    assert!(drawing.contains("0 \" .:-=+*#%@\" 0.1\n"), "{drawing}");
    let lengths: Vec<usize> = drawing.lines().filter(|line| line.contains('|')).map(|line| line.matches('#').count()).collect();
    assert_eq!(lengths, [25, 50, 25], "{drawing}");
    assert!(terminal::draw(&stretched, 80, Color::None).contains("│ 0.1\n"));
    assert!(svg::draw(&stretched).contains(">0.1   weight</text>"));
    assert!(svg::draw(&stretched).contains("fill=\"#fde725\"><title>b: 0.1</title>"));
}

#[test]
fn scale_is_a_factor() {
    let size = |scale| {
        let image = png::draw(&page(samples::date()), scale).unwrap();
        let number = |at: usize| u32::from_be_bytes(image[at..at + 4].try_into().unwrap());
        (number(16), number(20))
    };
    let (width, height) = size(1.0);
    assert_eq!(size(2.0), (2 * width, 2 * height));
    for wrong in [0.0, -1.0, f32::NAN, f32::INFINITY] {
        assert!(png::draw(&page(samples::date()), wrong).unwrap_err().to_string().starts_with("the scale is"));
    }
    let too_large = png::draw(&page(samples::date()), 1e6).unwrap_err().to_string();
    assert!(too_large.ends_with("draw it with a smaller scale, or as svg"), "{too_large}");
}

#[test]
fn embedded_fonts_draw_the_promised_scripts() {
    let ink = |label: &str| {
        let matrix = Matrix { source: vec![label.into()], ..samples::diagonal(1, 1) };
        png::draw(&page(matrix), 1.0).unwrap()
    };
    // Characters that no font has share one picture, the box; these must not.
    let missing = ink("\u{10ffff}");
    for label in ["a", "é", "ß", "ő", "λ", "ж", "ʃ", "ŋ", "א", "ب", "→", "␣"] {
        assert_ne!(ink(label), missing, "{label}");
    }
    assert_ne!(ink("ʃ"), ink("ʒ"));
}

/// A training run that ends well.
fn run() -> Curves {
    let record = |epoch: i32| {
        let t = f64::from(epoch);
        Record {
            at: t,
            values: vec![
                ("train loss".into(), 24.0 * (-t / 8.0).exp() + 0.3),
                ("dev loss".into(), 22.0 * (-t / 9.0).exp() + 0.6 + 0.02 * t),
                ("dev accuracy".into(), 1.0 - (-t / 7.0).exp()),
                ("examples per second".into(), 1800.0 + 40.0 * (t * 1.7).sin()),
            ],
        }
    };
    Curves { title: "dates".into(), axis: "epoch".into(), records: (1..=30).map(record).collect() }
}

#[test]
fn curves_snapshots() {
    let run = run();
    insta::assert_snapshot!("curves_terminal", run.terminal(80, Color::None));
    insta::assert_snapshot!("curves_braille", without_colours(&run.terminal(60, Color::True)));
    assert!(run.png(1.0).unwrap().starts_with(b"\x89PNG"));
    let empty = Curves::default();
    assert!(empty.svg().contains("nothing was measured yet"));
    assert!(empty.terminal(80, Color::True).contains("nothing was measured yet"));
    assert!(empty.png(1.0).is_ok());
}
