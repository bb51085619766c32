//! The page in a real browser: headless Chromium, driven through ChromeDriver.
//!
//! Skipped, and counted by the gate, where ChromeDriver is not installed (Debian: `chromium` and `chromium-driver`).

use crate::common::skip::skip;
use crate::view::driver::{self, Browser};
use crate::view::samples;
use serde_json::{Value, json};
use spotlight::view::palette::{Ground, Rgb};
use spotlight::view::scale::{Portion, ScaleKind, times};
use spotlight::view::{Bag, Match, Matrix, Page, Picture, Shaded, Weighted, html, svg};

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

/// Points at a cell until the page says this of it: a picture that was just chosen may not be there yet.
fn tells(browser: &Browser, (row, column): (i32, i32), wanted: &str) {
    let start = std::time::Instant::now();
    loop {
        browser.point(cell(browser, row, column));
        let told = text(browser, "#tip");
        if told.starts_with(wanted) {
            return;
        }
        assert!(start.elapsed() < std::time::Duration::from_secs(10), "{told} instead of {wanted}");
        browser.point((1, 1));
    }
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
    let expected = format!("0 ← a: {} ({})", weights[5][1], times(14.0 * weights[5][1]));
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
    assert_eq!(text(&browser, ".readout"), format!("0 ← r: {} ({})", weights[1][2], times(14.0 * weights[1][2])));
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
    // What follows from the numbers is not written again.
    let without = |mut record: Value| {
        record.as_object_mut().unwrap().remove("most_times_uniform");
        record
    };
    assert_eq!(floats(saved), floats(without(expected)));
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
    assert_eq!(text(&browser, "#tip"), format!("l' ← the: {} ({})", mean[0][0], times(6.0 * mean[0][0])));
    assert_eq!(count(&browser, ".heads button"), 5);
    browser.click(middle(&browser, ".heads button:nth-child(3)"));
    browser.point(cell(&browser, 0, 0));
    assert_eq!(
        text(&browser, "#tip"),
        format!("l' ← the: {0} ({1})", samples::sentence().heads[1][0][0], times(6.0 * samples::sentence().heads[1][0][0]))
    );

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
    tells(&browser, (3, 6), "␣ ← ␣: ");
    browser.click(middle(&browser, "#next"));
    tells(&browser, (0, 0), "A ← a: 1 (1.00×)");
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
    let (heaviest, text_of_ten) = (9, ".token:nth-child(10) small");
    let portion = Portion { weight: samples::tweet(1).text.heads[0][heaviest], even: samples::tweet(1).text.evens()[heaviest] };
    let expected = |page: &Page| {
        let scale = page.text_scale();
        let Rgb { r, g, b } = page.palette().colour(scale.ramp(), Ground::Light, scale.step(portion));
        json!(format!("rgb({r}, {g}, {b})"))
    };
    let usual = Page::new(vec![samples::tweet(1).into()]).unwrap();
    assert_eq!((text(&browser, ".legend .top"), text(&browser, text_of_ten)), ("8".into(), times(portion.times())));
    assert_eq!(text(&browser, ".scale-name"), usual.text_scale().name());
    assert_eq!(colours(&browser)[heaviest], expected(&usual));
    let page = usual.clone().stretched();
    browser.open(&html::draw(&page).unwrap());
    assert_eq!(text(&browser, ".legend .top"), page.text_scale().top().to_string());
    assert_eq!(colours(&browser)[heaviest], expected(&page));
    assert_eq!(text(&browser, text_of_ten), format!("{:.0}‰", 1000.0 * portion.weight), "most would be .00 in hundredths");

    // The switch goes from one to the other without another page.
    for kind in ScaleKind::ALL {
        browser.click(middle(&browser, &format!(".choices button[data-value={}]", kind.name())));
        assert_eq!(colours(&browser)[heaviest], expected(&usual.clone().scaled(kind)), "{}", kind.name());
        assert!(!text(&browser, ".choices [aria-pressed=true]").is_empty());
    }
    browser.assert_quiet();
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
    let weighted = || Weighted::new(labels.clone(), vec![weights.clone(), weights.clone()]);
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
        Shaded { label: all.clone(), truth: Some(labels[0].clone()), probabilities: vec![(all.clone(), 1.0)], text: weighted() }.into(),
        Match { score: 0.5, question: weighted(), answer: weighted(), cross }.into(),
        Bag {
            id: all.clone(),
            label: all.clone(),
            truth: Some(labels[1].clone()),
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
    assert!(text(&browser, "#tip").starts_with(&format!("D ← e: {} (", matrix.heads[0][3][4])));
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

/// A text of subwords: three pieces of one word carry a third of the weight each of what one carries alone.
fn pieces() -> Shaded {
    let tokens = ["▁so", "▁#b", "less", "ed"].map(String::from).to_vec();
    Shaded { label: "joy".into(), text: Weighted::new(tokens, vec![vec![0.22, 0.26, 0.26, 0.26]]), ..Shaded::default() }
}

#[test]
fn words_and_threshold_are_switches() {
    let Some(mut browser) = open(vec![]) else { return };
    let merged = Shaded { text: pieces().text.merge_subwords(&[0..1, 1..4]), ..pieces() };
    let page = Page::new(vec![pieces().into()]).unwrap().with_others(vec![merged.into()]).unwrap();
    browser.open(&html::draw(&page).unwrap());
    let tokens = |browser: &Browser| browser.run("return [...document.querySelectorAll('.token')].map(t => t.textContent)");
    assert_eq!(tokens(&browser), json!(["▁so0.88×", "▁#b1.04×", "less1.04×", "ed1.04×"]));
    browser.click(middle(&browser, ".words"));
    // Three times the pieces and three times the weight: no more than an even spread would give.
    assert_eq!(tokens(&browser), json!(["so0.88×", "#blessed1.04×"]));
    assert!(text(&browser, ".merged").contains("against their share of all pieces"));
    assert!(text(&browser, ".evenness").contains("nearly uniform (at most 1.04 times)"), "{}", text(&browser, ".evenness"));
    browser.click(middle(&browser, ".choices button[data-value=unit]"));
    assert!(text(&browser, ".merged").contains("a word of many pieces gains"));
    browser.click(middle(&browser, ".words"));
    assert_eq!(tokens(&browser), json!(["▁so.22", "▁#b.26", "less.26", "ed.26"]));

    // Half of the mass: the two heaviest pieces, the others stand back.
    browser.run("const m = document.querySelector('.mass'); m.value = 50; m.dispatchEvent(new Event('input'))");
    assert_eq!(count(&browser, ".token.beyond"), 2);
    assert!(text(&browser, ".mass-says").contains("50 %"));

    // In a matrix the lines are those of the mass, too.
    browser.open(&html::draw(&Page::new(vec![samples::date().into()]).unwrap()).unwrap());
    browser.run("const m = document.querySelector('.mass'); m.value = 50; m.dispatchEvent(new Event('input'))");
    let mut lines = 0;
    for row in &samples::date().heads[0] {
        let mut sorted = row.clone();
        sorted.sort_by(|a, b| b.total_cmp(a));
        let before = |count: usize| sorted[..count].iter().sum::<f32>();
        lines += (0..sorted.len()).take_while(|&count| before(count) < 0.5 - 1e-6).count();
    }
    assert_eq!(count(&browser, ".lines path"), lines as u64);
    browser.assert_quiet();
}

#[test]
fn the_view_as_it_stands_is_an_svg() {
    let Some(browser) = open(vec![samples::date().into(), samples::tweet(1).into(), samples::bag(true).into()]) else { return };
    for kind in ["matrix", "token", "bag"] {
        let drawing = browser.run("return snapshot(document.getElementById('main'))").as_str().unwrap().to_string();
        let tree = resvg::usvg::roxmltree::Document::parse(&drawing).unwrap();
        let texts: Vec<&str> = tree.descendants().filter(|node| node.has_tag_name("text")).filter_map(|node| node.text()).collect();
        let expected: &[&str] = match kind {
            "matrix" => &["march 15, 2024 → 2024-03-15", "writes ↓", "reads →", "m", "p", ".94"],
            "token" => &["positive", "upgrade", "0.934", "times uniform: weight x positions, 1 is even"],
            _ => &["contains a nine", "row 2"],
        };
        for text in expected {
            assert!(texts.contains(text), "{kind}: {text:?} is not among {texts:?}");
        }
        browser.click(middle(&browser, "#next"));
    }
    browser.assert_quiet();
}

#[test]
fn a_phone_shows_values_beside_the_finger_and_nothing_off_the_screen() {
    let wide = Matrix { probabilities: Some(vec![0.5; 20]), ..samples::diagonal(20, 60) };
    let pictures: Vec<Picture> = vec![
        samples::date().into(),
        samples::sentence().into(),
        wide.into(),
        samples::tweet(2).into(),
        samples::answer().into(),
        samples::bag(false).into(),
    ];
    let Some(mut browser) = open(vec![]) else { return };
    let page = html::draw(&Page::new(pictures.clone()).unwrap()).unwrap();
    browser.phone();
    browser.open(&page);
    for number in 0..pictures.len() {
        let widest = browser.run("return [document.scrollingElement.scrollWidth, innerWidth]");
        assert!(widest[0].as_i64() <= widest[1].as_i64() && widest[1] == 400, "picture {}: {widest}", number + 1);
        browser.tap(middle(&browser, "#next"));
    }
    browser.open(&page);
    browser.run("document.querySelector('.matrix').scrollIntoView({ block: 'center' })");
    let (x, y) = cell(&browser, 5, 1);
    browser.tap((x, y));
    browser.until("return !document.getElementById('tip').hidden");
    assert!(text(&browser, "#tip").starts_with("0 ← a: "), "{}", text(&browser, "#tip"));
    let tip = browser.run("const b = document.getElementById('tip').getBoundingClientRect(); return [b.left, b.right, b.bottom]");
    assert!(tip[0].as_f64().unwrap() >= 0.0 && tip[1].as_f64().unwrap() <= 400.0, "{tip}");
    let above = y as f64 - tip[2].as_f64().unwrap();
    assert!((10.0..60.0).contains(&above), "above the finger and near it: {above}");
    assert!(!text(&browser, ".readout").contains("pinned"), "the first tap only asks");
    browser.tap((x, y));
    assert!(text(&browser, ".readout").contains("row 6 pinned"), "{}", text(&browser, ".readout"));
    browser.assert_quiet();
}

#[test]
fn what_is_wide_has_a_map_and_what_runs_leftward_does() {
    let arabic = Matrix {
        input: "مارس 15".into(),
        text: "2024-03-15".into(),
        source: samples::units("مارس 15"),
        output: samples::units("03-15"),
        heads: vec![(0..5).map(|row| samples::peak(7, row as f32, 2.0)).collect()],
        ..Matrix::default()
    };
    let hebrew = Shaded {
        label: "טוב".into(),
        text: Weighted::new(samples::words("הסרט הזה היה נהדר"), vec![vec![0.1, 0.2, 0.3, 0.4]]),
        ..Shaded::default()
    };
    let Some(browser) = open(vec![arabic.clone().into(), hebrew.into(), samples::diagonal(20, 300).into()]) else { return };
    // No mark is shown as its code, in the list or anywhere else.
    assert!(!browser.run("return document.documentElement.outerHTML").as_str().unwrap().contains("‹200E›"));
    // The first unit stands at the right: the last place holds column 0.
    browser.point(cell(&browser, 0, 6));
    assert!(text(&browser, "#tip").contains(&format!(": {} ", arabic.heads[0][0][0])), "{}", text(&browser, "#tip"));
    browser.run("document.querySelector('.matrix').focus()");
    browser.press(&[driver::LEFT]);
    assert!(text(&browser, ".readout").contains(&format!(": {} ", arabic.heads[0][0][1])), "{}", text(&browser, ".readout"));
    assert_eq!(browser.run("return document.querySelector('.minimap').hidden"), true);
    browser.click(middle(&browser, "#next"));
    let places = browser.run("return [...document.querySelectorAll('.token')].map(t => t.getBoundingClientRect().left)");
    let places: Vec<f64> = places.as_array().unwrap().iter().map(|place| place.as_f64().unwrap()).collect();
    assert!(places.windows(2).all(|pair| pair[0] > pair[1]), "{places:?}");
    browser.click(middle(&browser, "#next"));
    assert_eq!(browser.run("return document.querySelector('.minimap').hidden"), false);
    let (x, y) = middle(&browser, ".minimap");
    browser.click((x, y));
    let scrolled = browser.run("return document.querySelector('.matrix').scrollLeft").as_f64().unwrap();
    assert!(scrolled > 500.0, "{scrolled}");
    browser.assert_quiet();
}
