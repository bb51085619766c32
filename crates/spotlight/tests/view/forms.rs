//! How the character forms and small SVGs look, kept as snapshots, and that every form copes with every picture.

use super::samples::{self, units};
use spotlight::view::curves::{Curves, Record};
use spotlight::view::palette::{Palette, Theme};
use spotlight::view::scale::ScaleKind;
use spotlight::view::terminal::{self, Color};
use spotlight::view::{Bag, End, Matrix, Page, Picture, Shaded, Weighted, ascii, html, json, png, svg};
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
    assert!(ascii::draw(&bag().scaled(ScaleKind::Unit), 80).contains("0 \" .:-=+*#%@\" 1   weight, from 0 to 1\n"));
    let stretched = bag().stretched();
    let drawing = ascii::draw(&stretched, 80);
    assert!(drawing.contains("0 \" .:-=+*#%@\" 0.1   weight, stretched to the largest\n"), "{drawing}");
    let lengths: Vec<usize> = drawing.lines().filter(|line| line.contains('|')).map(|line| line.matches('#').count()).collect();
    assert_eq!(lengths, [20, 40, 20], "{drawing}");
    assert!(terminal::draw(&stretched, 80, Color::None).contains("│ 0.1   weight, stretched to the largest\n"));
    assert!(svg::draw(&stretched).contains(">weight, stretched to the largest</text>"));
    assert!(svg::draw(&stretched).contains("fill=\"#fde725\"><title>b: 0.1</title>"));
    // Times uniform, the usual scale of a bag: half and twice an even spread lie alike far from the middle.
    let uniform = ascii::draw(&bag(), 80);
    assert!(uniform.contains("1/8 \" .:-=+*#%@\" 8   times uniform: weight x positions, 1 is even\n"), "{uniform}");
    assert!(uniform.contains(" weight  times\n") && uniform.contains(" 0.1000  0.30x\n"), "{uniform}");
}

#[test]
fn nearly_uniform_texts_say_so_in_every_form() {
    let weights: Vec<f32> = (0..230).map(|i| (0.97 + 0.06 * (i % 2) as f32) / 230.0).collect();
    let text = Weighted::new(vec!["word".into(); 230], vec![weights]);
    let page = page(Shaded { label: "positive".into(), text, ..Shaded::default() });
    let note = "nearly uniform (at most 1.03 times)";
    for scale in ScaleKind::ALL {
        let page = page.clone().scaled(scale);
        for drawing in
            [ascii::draw(&page, 80), terminal::draw(&page, 80, Color::True), terminal::draw(&page, 80, Color::None), svg::draw(&page)]
        {
            assert!(drawing.contains(note), "{drawing}");
            assert!(!drawing.contains(".00<") && !drawing.contains(" .00 "), "no row of zeros: {drawing}");
        }
    }
    assert!(svg::draw(&page).contains(">1.03×</text>") && svg::draw(&page.clone().scaled(ScaleKind::Unit)).contains(">4.5‰</text>"));
    let json: serde_json::Value = serde_json::from_str(&json::draw(&page).unwrap()).unwrap();
    assert!((json["most_times_uniform"].as_f64().unwrap() - 1.03).abs() < 1e-3);
    // One that looks somewhere says nothing of the kind.
    assert!(!svg::draw(&self::page(samples::tweet(1))).contains("nearly uniform"));
}

#[test]
fn the_end_of_the_answer_is_a_row_and_columns_have_headings() {
    let end = End { heads: vec![samples::peak(14, 13.0, 2.0)], probability: Some(0.77) };
    let page = page(Matrix { end: Some(end), ..samples::date() });
    for drawing in [terminal::draw(&page, 80, Color::None), ascii::draw(&page, 80)] {
        let last = drawing.lines().find(|line| line.contains("(end)")).unwrap_or_else(|| panic!("{drawing}"));
        assert!(last.ends_with("0.77"), "{last}");
        assert!(drawing.contains("writes") && drawing.contains("reads") && drawing.contains("log-probability"));
        assert!(drawing.lines().any(|line| line.ends_with(" p")), "{drawing}");
    }
    let drawing = svg::draw(&page);
    for part in [">(end)</text>", ">reads →</text>", ">writes ↓</text>", ">p</text>", ">.77</text>", "log-probability"] {
        assert!(drawing.contains(part), "{part}");
    }
}

/// A mark that nobody explains is none.
#[test]
fn what_marks_a_copied_unit_is_said_in_every_form() {
    let says = "= behind a unit: copied from the source";
    for copied in [true, false] {
        let page = page(Matrix { copied, ..samples::diagonal(3, 4) });
        for drawn in [ascii::draw(&page, 80), terminal::draw(&page, 80, Color::None), svg::draw(&page), html::draw(&page).unwrap()] {
            assert_eq!(drawn.contains(says), copied, "{drawn}");
        }
    }
}

#[test]
fn paper_and_palette_are_chosen() {
    let tweet = || page(samples::tweet(1));
    let (auto, light, dark) = (svg::draw(&tweet()), svg::draw(&tweet().themed(Theme::Light)), svg::draw(&tweet().themed(Theme::Dark)));
    assert!(auto.contains("prefers-color-scheme") && auto.contains("#ffffff") && auto.contains("#17181c"));
    assert!(!light.contains("prefers-color-scheme") && !light.contains("#17181c"));
    assert!(!dark.contains("prefers-color-scheme") && !dark.contains("fill: #ffffff"));
    let colours = |palette: Palette| svg::draw(&page(samples::date()).coloured(palette)).contains("#440154");
    assert_eq!(Palette::ALL.map(colours), [true, false, false, false]);
    for theme in [Theme::Light, Theme::Dark, Theme::Auto] {
        assert!(html::draw(&tweet().themed(theme)).is_ok() && png::draw(&tweet().themed(theme), 1.0).is_ok());
    }
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

#[test]
fn what_no_font_has_is_said_and_not_drawn_as_a_box() {
    let image = |label: &str| png::draw(&page(Matrix { source: vec![label.into()], ..samples::diagonal(1, 1) }), 1.0).unwrap();
    assert_eq!(image("東"), image("京"), "a dot for each column, whatever the character");
    let height = |image: &[u8]| u32::from_be_bytes(image[20..24].try_into().unwrap());
    assert!(height(&image("東")) > height(&image("aa")), "there is a line that says so");
}

#[test]
fn wide_matrices_are_cut_into_bands_under_a_map() {
    let drawing = svg::draw(&page(samples::diagonal(20, 300)));
    let tree = resvg::usvg::roxmltree::Document::parse(&drawing).unwrap();
    let texts: Vec<&str> = tree.descendants().filter(|node| node.has_tag_name("text")).filter_map(|node| node.text()).collect();
    assert!(texts.contains(&"the whole: 300 columns, 20 rows"));
    assert!(texts.contains(&"columns 1-60 of 300") && texts.contains(&"columns 241-300 of 300"));
    assert_eq!(texts.iter().filter(|text| **text == "A").count(), 5, "the first row has its label in every band");
    let width: f64 = tree.root_element().attribute("width").unwrap().parse().unwrap();
    assert!(width < 1000.0, "{width}");
}

#[test]
fn texts_and_columns_run_from_right_to_left_where_they_are_read_so() {
    let x_of = |drawing: &str, label: &str| -> f64 {
        let tree = resvg::usvg::roxmltree::Document::parse(drawing).unwrap();
        let bare = |text: &str| text.replace('\u{200e}', "");
        let found = tree.descendants().find(|node| node.has_tag_name("text") && node.text().is_some_and(|text| bare(text) == label));
        found.unwrap_or_else(|| panic!("{label}")).attribute("x").unwrap().parse().unwrap()
    };
    let text = Weighted::new(samples::words("הסרט הזה היה נהדר"), vec![vec![0.1, 0.2, 0.3, 0.4]]);
    let drawing = svg::draw(&page(Shaded { text, ..Shaded::default() }));
    let places = ["הסרט", "הזה", "היה", "נהדר"].map(|word| x_of(&drawing, word));
    assert!(places.windows(2).all(|pair| pair[0] > pair[1]), "{places:?}");
    let drawing = svg::draw(&page(Matrix { source: units("אבג"), ..samples::diagonal(2, 3) }));
    assert!(x_of(&drawing, "א") > x_of(&drawing, "ג") && drawing.contains(">← reads</text>"));
    let drawing = svg::draw(&page(samples::diagonal(2, 3)));
    assert!(x_of(&drawing, "a") < x_of(&drawing, "c"));
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
    Curves { title: "dates".into(), axis: "epoch".into(), records: (1..=30).map(record).collect(), ..Curves::default() }
}

#[test]
fn curves_mark_the_kept_epoch_and_say_what_needs_saying() {
    let note = "training loss lies above development loss: dropout";
    let run = Curves { kept: Some(20.0), notes: vec![note.into()], ..run() };
    let svg = run.svg();
    assert!(svg.contains(">kept: epoch 20</text>") && svg.contains(note));
    // The numbers beside the names are those of the model that is kept.
    let kept = 1.0 - (-20.0f64 / 7.0).exp();
    assert!(svg.contains(&format!(">{kept:.3}</text>")), "{kept:.3}");
    for color in [Color::None, Color::True] {
        let drawing = without_colours(&run.terminal(80, color));
        assert!(drawing.contains("kept: epoch 20") && drawing.contains('┊') && drawing.contains(&format!("{kept:.3}")), "{drawing}");
        assert!(drawing.split_whitespace().collect::<Vec<_>>().join(" ").contains(note), "{drawing}");
    }
}

#[test]
fn curves_are_drawn_on_the_paper_that_is_asked_for() {
    let svg = |theme: Theme| Curves { theme, ..run() }.svg();
    let (dark, light, auto) = (svg(Theme::Dark), svg(Theme::Light), svg(Theme::Auto));
    assert!(dark.contains("#17181c") && !dark.contains("#ffffff") && !dark.contains("@media"));
    assert!(light.contains("#ffffff") && !light.contains("#17181c"));
    assert!(auto.contains("@media (prefers-color-scheme: dark)"));
}

#[test]
fn curves_that_coincide_are_both_seen() {
    let record =
        |epoch: f64| Record { at: epoch, values: vec![("accuracy".into(), 0.8), ("macro F1".into(), 0.8), ("ROC-AUC".into(), 0.9)] };
    let curves = Curves { records: (1..=9).map(f64::from).map(record).collect(), ..Curves::default() };
    assert_eq!(curves.svg().matches("stroke-dasharray").count(), 1, "the second of the two is dashed, so that the first shows through");
    let drawing = curves.terminal(80, Color::None);
    let line = drawing.lines().find(|line| line.contains('│') && line.contains('o')).unwrap_or_else(|| panic!("{drawing}"));
    assert!(line.contains('x'), "both marks: {line}");
}

#[test]
fn runs_are_compared_measure_by_measure() {
    let other = Curves { title: "dates-2".into(), kept: Some(12.0), ..run() };
    let both = Curves { kept: Some(30.0), compared: vec![other], ..run() };
    let svg = both.svg();
    for part in [">dev accuracy</text>", ">train loss</text>", ">dates</text>", ">dates-2</text>"] {
        assert!(svg.contains(part), "{part}");
    }
    assert_eq!(svg.matches("class=\"mark\"").count(), 8, "the kept epoch of two runs in four charts");
    let drawing = both.terminal(80, Color::None);
    assert!(drawing.contains("o dates") && drawing.contains("x dates-2") && drawing.contains("dev accuracy"), "{drawing}");
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
