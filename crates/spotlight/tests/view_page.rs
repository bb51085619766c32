//! The page in a real browser: headless Chromium, driven through ChromeDriver.
//!
//! Skipped, and counted by the gate, where ChromeDriver is not installed (Debian: `chromium` and `chromium-driver`).

use crate::common::skip::skip;
use crate::view::driver::{self, Browser};
use crate::view::samples;
use serde_json::{Value, json};
use spotlight::view::{Bag, Match, Matrix, Page, Picture, Shaded, Weighted, html, scale, svg};

/// Opens the pictures as a page in the browser; no browser, no test.
fn open(pictures: Vec<Picture>) -> Option<Browser> {
    let mut browser = match Browser::start() {
        Ok(browser) => browser,
        Err(reason) => {
            skip("browser", reason);
            return None;
        }
    };
    browser.open(&html::draw(&Page::new(pictures).unwrap()).unwrap());
    Some(browser)
}

fn text(browser: &Browser, selector: &str) -> String {
    let script = format!("return document.querySelector({}).textContent", json!(selector));
    browser.run(&script).as_str().unwrap().to_string()
}

fn count(browser: &Browser, selector: &str) -> u64 {
    browser.run(&format!("return document.querySelectorAll({}).length", json!(selector))).as_u64().unwrap()
}

/// The middle of a cell of the matrix; negative for the labels.
fn cell(browser: &Browser, row: i32, column: i32) -> (i64, i64) {
    let place = browser.run(&format!(
        "const e = document.querySelector('.matrix'), b = e.getBoundingClientRect(), d = e.dataset;
         const at = (edge, i) => i < 0 ? Number(edge) / 2 : Number(edge) + Number(d.cell) * (i + 0.5);
         return [b.left + at(d.left, {column}), b.top + at(d.top, {row})].map(Math.round)"
    ));
    (place[0].as_i64().unwrap(), place[1].as_i64().unwrap())
}

/// The middle of an element.
fn middle(browser: &Browser, selector: &str) -> (i64, i64) {
    let place = browser.run(&format!(
        "const e = document.querySelector({}); e.scrollIntoView({{ block: 'center' }}); const b = e.getBoundingClientRect();
         return [b.left + b.width / 2, b.top + b.height / 2].map(Math.round)",
        json!(selector)
    ));
    (place[0].as_i64().unwrap(), place[1].as_i64().unwrap())
}

/// Opens the table of numbers and waits for it.
fn open_table(browser: &Browser) {
    browser.click(middle(browser, "summary"));
    browser.until("return document.querySelector('table') !== null");
}

#[test]
fn a_matrix_answers_pointer_and_keyboard() {
    let date = samples::date();
    let weights = &date.heads[0];
    let Some(browser) = open(vec![date.clone().into()]) else {
        return;
    };

    // Hover shows the exact number.
    browser.point(cell(&browser, 5, 1));
    let expected = format!("0 ← a: {}", weights[5][1]);
    assert_eq!(text(&browser, "#tip"), expected);
    assert_eq!(text(&browser, ".readout"), expected);
    assert_eq!(browser.run("return document.getElementById('tip').hidden"), false);

    // One line for each weight worth one, as wide as the weight.
    let strong = weights.iter().flatten().filter(|&&weight| weight >= 0.02).count();
    assert_eq!(count(&browser, ".lines path"), strong as u64);
    let width = |row: usize, column: usize| -> f32 {
        let script = format!(
            "return document.querySelector('.lines path[data-row=\"{row}\"][data-column=\"{column}\"]').getAttribute('stroke-width')"
        );
        browser.run(&script).as_str().unwrap().parse().unwrap()
    };
    assert!((width(5, 1) / width(5, 0) - weights[5][1] / weights[5][0]).abs() < 0.2);
    assert_eq!(count(&browser, ".lines path.on[data-row='5'][data-column='1']"), 1);

    // A click pins the row: its lines only. The same again lets it go.
    browser.click(cell(&browser, 5, 1));
    assert!(text(&browser, ".readout").contains("row 6 pinned, 0 ← a "), "{}", text(&browser, ".readout"));
    assert!(count(&browser, ".lines path[data-row='5']") > 0);
    assert_eq!(count(&browser, ".lines path:not([data-row='5'])"), 0);
    browser.click(cell(&browser, 5, 1));
    assert_eq!(count(&browser, ".lines path"), strong as u64);

    // A click on a label pins its column or row.
    browser.click(cell(&browser, -1, 10));
    assert!(text(&browser, ".readout").contains("column 11 pinned, 2 → 2 "), "{}", text(&browser, ".readout"));
    assert_eq!(count(&browser, ".lines path:not([data-column='10'])"), 0);
    browser.click(cell(&browser, 0, -1));
    assert!(text(&browser, ".readout").contains("row 1 pinned, 2 ← 2 "));

    // The same by keyboard.
    browser.run("document.querySelector('.matrix').focus()");
    browser.press(&[driver::ESCAPE]);
    assert_eq!(text(&browser, ".readout"), "");
    browser.press(&[driver::DOWN, driver::DOWN, driver::RIGHT, driver::RIGHT, driver::RIGHT, driver::LEFT]);
    assert_eq!(text(&browser, ".readout"), format!("0 ← r: {}", weights[1][2]));
    browser.press(&[driver::ENTER]);
    assert!(text(&browser, ".readout").contains("row 2 pinned"));
    browser.press(&[driver::SHIFT, driver::ENTER]);
    assert!(text(&browser, ".readout").contains("column 3 pinned"));
    browser.press(&[driver::ESCAPE]);
    assert_eq!(text(&browser, ".readout"), "");
    assert_eq!(count(&browser, ".lines path"), strong as u64);

    // Lines answer too.
    browser.run("document.querySelector('.lines path[data-row=\"5\"][data-column=\"1\"]').dispatchEvent(new PointerEvent('pointermove'))");
    assert_eq!(text(&browser, "#tip"), expected);

    // The table holds the numbers, and only once it is opened.
    assert_eq!(count(&browser, "table"), 0);
    open_table(&browser);
    let cells = browser.run(
        "return [...document.querySelectorAll('tbody tr')].map(tr => [...tr.querySelectorAll('td')].map(td => Number(td.textContent)))",
    );
    for (row, weights) in weights.iter().enumerate() {
        let shown: Vec<f32> = cells[row].as_array().unwrap().iter().map(|number| number.as_f64().unwrap() as f32).collect();
        assert_eq!(&shown[..14], &weights[..]);
        assert_eq!(shown[14], date.probabilities.as_ref().unwrap()[row]);
    }
    assert_eq!(count(&browser, "thead th[scope=col]"), 16);
    browser.assert_quiet();
}

/// Whole numbers as floats: a script writes 1.0 as 1.
fn floats(value: Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64()),
        Value::Array(values) => values.into_iter().map(floats).collect(),
        Value::Object(fields) => fields.into_iter().map(|(name, value)| (name, floats(value))).collect(),
        other => other,
    }
}

#[test]
fn downloads_are_the_same_drawing_and_numbers() {
    let Some(browser) = open(vec![samples::date().into(), samples::tweet(2).into()]) else {
        return;
    };
    browser.click(middle(&browser, "#next"));
    browser.run("URL.createObjectURL = blob => { window.saved = blob; return 'about:blank'; }; HTMLAnchorElement.prototype.click = function() { window.name = this.download; };");
    browser.click(middle(&browser, ".save-svg"));
    let page = Page::new(vec![samples::tweet(2).into()]).unwrap();
    assert_eq!(browser.wait("return window.saved.text()"), svg::draw(&page));
    assert_eq!(browser.run("return window.name"), "spotlight-2.svg");
    browser.click(middle(&browser, ".save-json"));
    let saved: Value = serde_json::from_str(browser.wait("return window.saved.text()").as_str().unwrap()).unwrap();
    let expected: Value = serde_json::from_str(&spotlight::view::json::draw(&page).unwrap()).unwrap();
    assert_eq!(floats(saved), floats(expected));
    browser.assert_quiet();
}

#[test]
fn every_kind_of_picture_has_its_view() {
    let pictures: Vec<Picture> = vec![
        samples::sentence().into(),
        samples::tweet(3).into(),
        samples::answer().into(),
        samples::bag(true).into(),
        samples::odd().into(),
        samples::diagonal(1, 1).into(),
        samples::diagonal(0, 3).into(),
    ];
    let Some(browser) = open(pictures) else {
        return;
    };

    // Heads: the mean first, one head large on demand.
    browser.point(cell(&browser, 0, 0));
    let mean = samples::sentence().mean().unwrap();
    assert_eq!(text(&browser, "#tip"), format!("l' ← the: {}", mean[0][0]));
    assert_eq!(count(&browser, ".heads button"), 5);
    browser.click(middle(&browser, ".heads button:nth-child(3)"));
    browser.point(cell(&browser, 0, 0));
    assert_eq!(text(&browser, "#tip"), format!("l' ← the: {}", samples::sentence().heads[1][0][0]));

    // A classified text: tokens, strips for heads, pointer and keyboard.
    browser.click(middle(&browser, "#next"));
    let tweet = samples::tweet(3).text;
    assert_eq!(count(&browser, ".token"), tweet.tokens.len() as u64);
    assert_eq!(count(&browser, ".token:first-child .strip"), 3);
    browser.point(middle(&browser, ".token:nth-child(10)"));
    let tip = text(&browser, "#tip");
    assert!(tip.starts_with(&format!("best: mean {}", tweet.mean()[9])) && tip.contains(&format!("head 1 {}", tweet.heads[0][9])), "{tip}");
    browser.run("document.querySelector('.token').focus()");
    browser.press(&[driver::RIGHT, driver::ENTER]);
    assert!(text(&browser, ".readout").starts_with("pinned, thank: "), "{}", text(&browser, ".readout"));
    assert_eq!(count(&browser, ".token[aria-pressed=true]"), 1);
    browser.press(&[driver::ESCAPE]);
    assert_eq!(count(&browser, ".token[aria-pressed=true]"), 0);

    // A match: two texts and the cross matrix.
    browser.click(middle(&browser, "#next"));
    assert_eq!((count(&browser, ".text"), count(&browser, ".matrix")), (2, 1));

    // A bag: sorted on demand.
    browser.click(middle(&browser, "#next"));
    assert_eq!(text(&browser, ".bag-row span"), "row 1");
    browser.click(middle(&browser, ".sort"));
    assert_eq!(text(&browser, ".bag-row span"), "row 2");

    // Odd labels are visible; small and empty matrices are drawn.
    browser.click(middle(&browser, "#next"));
    browser.point(cell(&browser, 3, 6));
    assert!(text(&browser, "#tip").starts_with("␣ ← ␣: "), "{}", text(&browser, "#tip"));
    browser.click(middle(&browser, "#next"));
    browser.point(cell(&browser, 0, 0));
    assert_eq!(text(&browser, "#tip"), "A ← a: 1");
    browser.click(middle(&browser, "#next"));
    assert!(text(&browser, "main").contains("no weights: 3 source units, 0 output units"));
    browser.assert_quiet();
}

#[test]
fn stretched_colours_end_at_the_largest_weight() {
    let Some(mut browser) = open(vec![samples::tweet(1).into()]) else {
        return;
    };
    let colours = |browser: &Browser| browser.run("return [...document.querySelectorAll('.token b')].map(b => b.style.background)");
    let (fixed, heaviest) = (colours(&browser), 9);
    assert_eq!(text(&browser, "#top"), "1");
    let page = Page::new(vec![samples::tweet(1).into()]).unwrap().stretched();
    browser.open(&html::draw(&page).unwrap());
    assert_eq!(text(&browser, "#top"), page.scale().top().to_string());
    let shown = scale::colour(scale::step(page.scale().share(samples::tweet(1).text.heads[0][heaviest])));
    assert_eq!(colours(&browser)[heaviest], format!("rgb({}, {}, {})", shown.r, shown.g, shown.b));
    assert_ne!(colours(&browser)[heaviest], fixed[heaviest]);
    assert_eq!(text(&browser, ".token:nth-child(10) small"), scale::short(samples::tweet(1).text.heads[0][heaviest]), "numbers stay");
}

#[test]
fn hostile_text_runs_nothing() {
    let megabyte = "<i>".repeat(350_000);
    let hostile = [
        "<script>window.hacked = 1</script>",
        "</script><img src=x onerror='window.hacked = 1'>",
        "</style>\u{2028}\"'`",
        "<b>\n",
        &megabyte,
    ];
    let labels: Vec<String> = hostile.iter().map(|label| label.to_string()).collect();
    let (all, weights) = (hostile.concat(), samples::peak(5, 1.0, 1.0));
    let weighted = || Weighted { tokens: labels.clone(), heads: vec![weights.clone(), weights.clone()] };
    let cross = Some(vec![weights.clone(); 5]);
    let pictures: Vec<Picture> = vec![
        Matrix {
            input: all.clone(),
            text: all.clone(),
            source: labels.clone(),
            output: labels.clone(),
            heads: vec![vec![weights.clone(); 5]],
            ..Matrix::default()
        }
        .into(),
        Shaded { label: all.clone(), probabilities: vec![(all.clone(), 1.0)], text: weighted() }.into(),
        Match { score: 0.5, question: weighted(), answer: weighted(), cross }.into(),
        Bag {
            id: all.clone(),
            label: all.clone(),
            probabilities: vec![(all.clone(), 1.0)],
            rows: labels.clone(),
            weights: weights.clone(),
            images: None,
        }
        .into(),
    ];
    let Some(mut browser) = open(pictures.clone()) else {
        return;
    };
    let unharmed = |browser: &Browser| {
        assert_eq!(browser.run("return window.hacked === undefined && document.documentElement.hacked === undefined"), true);
        assert_eq!(count(browser, "img, main script, main style, h2 *, option *, .token b *, .bag-row span:not(.track) *"), 0);
    };
    open_table(&browser);
    browser.point(cell(&browser, 0, 1));
    assert!(text(&browser, "#tip").starts_with(&format!("{} ← {}: ", hostile[0].replace(' ', "␣"), hostile[1].replace(' ', "␣"))));
    unharmed(&browser);
    for item in [".token", ".token", ".bag-row"] {
        browser.click(middle(&browser, "#next"));
        open_table(&browser);
        browser.point(middle(&browser, item));
        assert!(text(&browser, "#tip").starts_with("<script>window.hacked"), "{}", text(&browser, "#tip"));
        unharmed(&browser);
    }
    browser.assert_quiet();

    // The same as SVG: opened on its own, where scripts of an SVG would run, and inside a page.
    let drawing = svg::draw(&Page::new(pictures).unwrap());
    browser.open_as("picture.svg", &drawing);
    assert_eq!(browser.run("return document.documentElement.nodeName"), "svg");
    unharmed(&browser);
    browser.open(&format!("<!doctype html><body>{drawing}"));
    assert_eq!(count(&browser, "body > svg"), 1);
    assert_eq!(count(&browser, "body > :not(svg)"), 0);
    unharmed(&browser);
}

#[test]
fn a_large_matrix_answers_without_lag() {
    let matrix = samples::diagonal(500, 500);
    let Some(browser) = open(vec![matrix.clone().into()]) else {
        return;
    };
    // What takes time is the drawing; its calls are counted, as a clock would measure the machine. Only what is in sight is drawn.
    let drawn = browser.run(
        "const e = document.querySelector('.matrix'), b = e.getBoundingClientRect(), d = e.dataset;
         let calls = 0, start = performance.now();
         for (const name of ['fillText', 'fillRect', 'strokeRect', 'drawImage']) {
           const draw = CanvasRenderingContext2D.prototype[name];
           CanvasRenderingContext2D.prototype[name] = function(...all) { calls++; return draw.apply(this, all); };
         }
         const made = new MutationObserver(() => {});
         made.observe(document.querySelector('.lines'), { childList: true, subtree: true });
         for (let i = 0; i < 40; i++) {
           const at = (edge) => Number(edge) + Number(d.cell) * (i % 20 + 0.5);
           e.dispatchEvent(new PointerEvent('pointermove', { clientX: b.left + at(d.left), clientY: b.top + at(d.top) }));
         }
         return [calls / 40, made.takeRecords().length, (performance.now() - start) / 40]",
    );
    println!("{} ms for a move of the pointer", drawn[2]);
    assert!(drawn[0].as_f64().unwrap() < 300.0, "{drawn} calls to draw, of 500 x 500 cells and 1000 labels");
    assert_eq!(drawn[1], 0, "no line is made anew");
    browser.point(cell(&browser, 3, 4));
    assert_eq!(text(&browser, "#tip"), format!("D ← e: {}", matrix.heads[0][3][4]));
    // The far corner is an End and some Downs away, scrolled into sight.
    browser.run("document.querySelector('.matrix').focus()");
    browser.press(&[driver::END]);
    assert!(text(&browser, ".readout").starts_with("D ← f: "), "{}", text(&browser, ".readout"));
    assert!(browser.run("return document.querySelector('.matrix').scrollLeft").as_f64().unwrap() > 1000.0);
    // The table shows as many rows at a time as a page can bear.
    open_table(&browser);
    assert_eq!(count(&browser, "tbody tr"), 20);
    browser.assert_quiet();
}
