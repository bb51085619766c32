//! The numbers in the SVG, the page and the JSON are the ones that were given, bit by bit.

use super::samples;
use serde_json::Value;
use spotlight::view::{Matrix, Page, Picture, Weights, html, json, scale, svg};

/// Numbers of JSON as f32. A number written in full is read back to the same bits.
fn weights(value: &Value) -> Weights {
    value.as_array().unwrap().iter().map(row).collect()
}

fn row(value: &Value) -> Vec<f32> {
    value.as_array().unwrap().iter().map(|number| number.to_string().parse().unwrap()).collect()
}

fn between<'a>(text: &'a str, start: &str, end: &str) -> &'a str {
    text.split_once(start).unwrap().1.split_once(end).unwrap().0
}

fn svg_numbers(page: &Page) -> Value {
    serde_json::from_str(between(&svg::draw(page), "<metadata>", "</metadata>")).unwrap()
}

fn json_numbers(page: &Page) -> Vec<Value> {
    json::draw(page).unwrap().lines().map(|line| serde_json::from_str(line).unwrap()).collect()
}

fn html_numbers(page: &Page) -> Value {
    let drawing = html::draw(page).unwrap();
    serde_json::from_str(between(&drawing, "<script type=\"application/json\" id=\"data\">", "</script>")).unwrap()
}

fn pictures() -> Vec<Picture> {
    vec![samples::sentence().into(), samples::tweet(3).into(), samples::answer().into(), samples::bag(true).into()]
}

#[test]
fn numbers_survive_in_every_form() {
    let (sentence, tweet, answer, bag) = (samples::sentence(), samples::tweet(3), samples::answer(), samples::bag(true));
    let page = Page::new(pictures()).unwrap();
    let svg = svg_numbers(&page);
    let json = Value::Array(json_numbers(&page));
    let html = html_numbers(&page)["pictures"].clone();
    for (form, numbers) in [("svg", svg), ("json", json), ("html", html)] {
        let heads: Vec<Weights> = numbers[0]["heads"].as_array().unwrap().iter().map(weights).collect();
        assert_eq!(heads, sentence.heads, "{form}");
        assert_eq!(Some(row(&numbers[0]["probabilities"])), sentence.probabilities, "{form}");
        assert_eq!(weights(&numbers[1]["heads"]), tweet.text.heads, "{form}");
        let (question, answered) = match form {
            "svg" => (&numbers[2]["question"], &numbers[2]["answer"]),
            _ => (&numbers[2]["question"]["heads"], &numbers[2]["answer"]["heads"]),
        };
        assert_eq!(weights(question), answer.question.heads, "{form}");
        assert_eq!(weights(answered), answer.answer.heads, "{form}");
        assert_eq!(Some(weights(&numbers[2]["cross"])), answer.cross, "{form}");
        assert_eq!(row(&numbers[3]["weights"]), bag.weights, "{form}");
    }
}

#[test]
fn tooltips_hold_the_exact_weights_in_order() {
    let date = samples::date();
    let drawing = svg::draw(&Page::new(vec![date.clone().into()]).unwrap());
    let found: Vec<f32> = drawing
        .split("<title>")
        .skip(2) // The text before any title, and the title of the file.
        .map(|part| part.split_once("</title>").unwrap().0.rsplit_once(": ").unwrap().1.parse().unwrap())
        .collect();
    assert_eq!(found, date.heads[0].concat());
}

#[test]
fn json_keeps_labels_and_says_what_it_is() {
    let page = Page::new(vec![samples::odd().into()]).unwrap();
    let record = &json_numbers(&page)[0];
    assert_eq!(record["kind"], "matrix");
    assert_eq!(record["note"], spotlight::view::CAVEAT);
    let labels: Vec<&str> = record["source"].as_array().unwrap().iter().map(|label| label.as_str().unwrap()).collect();
    assert_eq!(labels, samples::odd().source);
}

/// Weights without any pattern are the worst case for the runs of a large matrix.
fn noise(side: usize) -> Matrix {
    let mut state = 1u32;
    let mut random = || {
        state = state.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        (state >> 8) as f32 / (1 << 24) as f32
    };
    Matrix { heads: vec![(0..side).map(|_| (0..side).map(|_| random()).collect()).collect()], ..samples::diagonal(side, side) }
}

/// What takes time is the number of elements; that one is counted, as a clock would measure the machine. A release build draws
/// the worse of the two in 0.13 s.
#[test]
fn large_matrices_stay_small() {
    for matrix in [samples::diagonal(500, 500), noise(500)] {
        let page = Page::new(vec![matrix.clone().into()]).unwrap();
        let drawing = svg::draw(&page);
        assert!(drawing.len() < 5_000_000, "{} bytes", drawing.len());
        assert_eq!(weights(&svg_numbers(&page)[0]["heads"][0]), matrix.heads[0]);
        let tree = resvg::usvg::roxmltree::Document::parse(&drawing).unwrap();
        let count = |name: &str| tree.descendants().filter(|node| node.has_tag_name(name)).count();
        // A path for each colour of the matrix and of the legend; a text for each unit, the title and the legend's words.
        assert!(count("path") <= 2 * (scale::STEPS + 1), "{} paths", count("path"));
        assert!((1000..1010).contains(&count("text")) && count("rect") == 1, "{} texts", count("text"));
        assert!(html::draw(&page).unwrap().len() < 10_000_000);
    }
}
