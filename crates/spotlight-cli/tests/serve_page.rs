//! The page of the server in a real browser: each feature used as a person uses it.
//!
//! Skipped, and counted by the gate, where ChromeDriver is not installed (Debian: `chromium` and `chromium-driver`).

#[path = "../../spotlight/tests/view/driver.rs"]
#[allow(dead_code)]
mod driver;

use serde_json::{Value, json};
use std::path::PathBuf;

use crate::common::skip::skip;
use crate::serve::client::{LONG, Server, models};
use driver::Browser;

/// A browser at the page; no browser, no test.
fn open(server: &Server, address: &str) -> Option<Browser> {
    match Browser::start() {
        Ok(browser) => {
            browser.go(&format!("http://127.0.0.1:{}/{address}", server.port));
            browser.until("return document.querySelector('#model option') !== null");
            Some(browser)
        }
        Err(reason) => {
            skip("browser", reason);
            None
        }
    }
}

fn text(browser: &Browser, selector: &str) -> String {
    browser.run(&format!("return document.querySelector({})?.textContent ?? ''", json!(selector))).as_str().unwrap().to_string()
}

fn count(browser: &Browser, selector: &str) -> u64 {
    browser.run(&format!("return document.querySelectorAll({}).length", json!(selector))).as_u64().unwrap()
}

/// Waits until the page has drawn all it was asked for, and this is there.
fn wait_for(browser: &Browser, selector: &str) {
    let settled = "document.querySelector('#view').getAttribute('aria-busy') === 'false'";
    browser.until(&format!("return {settled} && document.querySelector({}) !== null", json!(selector)));
}

/// Clicks at the middle of an element, once the pointer is over it: what was drawn above it may have pushed it away.
fn click(browser: &Browser, selector: &str) {
    for _ in 0..50 {
        wait_for(browser, selector);
        let element = format!("const e = document.querySelector({})", json!(selector));
        let place = browser.run(&format!(
            "{element}; e.scrollIntoView({{ block: 'center' }}); const b = e.getBoundingClientRect();
             return [b.left + b.width / 2, b.top + b.height / 2].map(Math.round)"
        ));
        let place = (place[0].as_i64().unwrap(), place[1].as_i64().unwrap());
        browser.point(place);
        if browser.run(&format!("{element}; return e.matches(':hover')")) == true {
            return browser.click(place);
        }
    }
    panic!("the pointer never reaches {selector}");
}

/// Types into the box, as one event.
fn type_in(browser: &Browser, typed: &str) {
    browser.run(&format!("const e = document.querySelector('#text'); e.value = {}; e.dispatchEvent(new Event('input'))", json!(typed)));
}

/// The answer of the server to the same, to hold the page against.
fn answer(server: &Server, ask: Value) -> Value {
    server.predict(&ask).json()["answers"][0].clone()
}

/// The files of a model under another name.
fn copied(model: &str, name: &str) -> PathBuf {
    let copy = models().path(name);
    std::fs::create_dir_all(&copy).unwrap();
    for file in std::fs::read_dir(models().path(model)).unwrap().map(Result::unwrap).filter(|f| f.path().is_file()) {
        std::fs::copy(file.path(), copy.join(file.file_name())).unwrap();
    }
    copy
}

/// Nothing went wrong in the page, and it asked nobody but its server.
fn assert_quiet(server: &Server, browser: &Browser) {
    assert_eq!(browser.console(), json!([]), "the console is empty");
    let origin = format!("http://127.0.0.1:{}/", server.port);
    let requested = browser.requested(&origin);
    assert!(!requested.is_empty());
    assert!(requested.iter().all(|url| url.starts_with(&origin) || url.starts_with("data:") || url.starts_with("blob:")), "{requested:?}");
}

const LOOKING: &str = "#model=seq2seq&text=XLII";

#[test]
fn typing_is_answered_and_the_address_holds_it() {
    let server = Server::start(&["seq2seq", "classify"], &[]);
    let Some(browser) = open(&server, LOOKING) else { return };
    wait_for(&browser, "svg.matrix");
    let expected = answer(&server, json!({"model": "seq2seq", "texts": ["XLII"], "options": {"beam": 1}}));
    assert_eq!(text(&browser, ".answer"), expected["hypotheses"][0]["text"].as_str().unwrap());
    assert!(count(&browser, "svg.lines path") > 0);
    // Beside every picture: how sure the model is, and what an audit said of it.
    browser.until("return [...document.querySelectorAll('.trust')].length >= 2");
    browser.until("return [...document.querySelectorAll('.trust')].every(e => e.textContent.startsWith('confidence') && /audited|Audit/.test(e.textContent))");
    type_in(&browser, "CMVII");
    let expected = answer(&server, json!({"model": "seq2seq", "texts": ["CMVII"], "options": {"beam": 1}}));
    browser.until(&format!("return document.querySelector('.answer')?.textContent === {}", expected["hypotheses"][0]["text"]));
    assert!(browser.run("return location.hash").as_str().unwrap().contains("text=CMVII"));
    // The keyboard reaches every row.
    browser.run("document.querySelector('svg.matrix [data-row=\"0\"]').focus()");
    browser.press(&[driver::DOWN, driver::ENTER]);
    wait_for(&browser, ".sliders input");
    assert!(browser.run("return location.hash").as_str().unwrap().contains("row=1"));
    assert_quiet(&server, &browser);
}

/// What the page says is what `predict` says, until somebody chooses a beam.
#[test]
fn the_page_searches_as_the_model_does() {
    let copy = copied("seq2seq", "beamed");
    std::fs::remove_file(copy.join("files.json")).unwrap();
    let config = std::fs::read_to_string(copy.join("config.toml")).unwrap();
    std::fs::write(copy.join("config.toml"), config.replace("beam = 1", "beam = 5")).unwrap();
    let server = Server::start(&["beamed"], &[]);
    let told = |text: &str, options: Value| {
        let answer = answer(&server, json!({"texts": [text], "options": options}));
        let answer = answer["hypotheses"][0]["text"].as_str().unwrap();
        if answer.is_empty() { "(nothing)".to_string() } else { answer.to_string() }
    };
    let numerals = ["XLII", "CMVII", "MDCCCLXXXVIII", "III", "XIV", "MMXXVI", "DCLXVI", "LXXXIX", "MCMXCIX"];
    let both = numerals.map(|text| (text, told(text, json!({})), told(text, json!({"beam": 1}))));
    let (text, own, greedy) = both.iter().find(|(_, own, greedy)| own != greedy).expect("a text that a beam answers otherwise");
    let Some(browser) = open(&server, &format!("#model=beamed&text={text}")) else { return };
    let says = |text: &str| browser.until(&format!("return document.querySelector('.answer')?.textContent === {}", json!(text)));
    says(own);
    browser.run("const e = document.querySelector('#beam'); e.value = '1'; e.dispatchEvent(new Event('input'))");
    says(greedy);
    assert!(browser.run("return location.hash").as_str().unwrap().contains("beam=1"));
    assert_quiet(&server, &browser);
}

#[test]
fn attention_is_edited_and_the_answer_follows() {
    let server = Server::start(&["seq2seq"], &[]);
    let Some(browser) = open(&server, LOOKING) else { return };
    click(&browser, "[data-unit='0']");
    wait_for(&browser, ".sliders input");
    assert_eq!(count(&browser, ".sliders input"), 4);
    // Only the last unit is looked at.
    browser.run("const e = document.querySelector('select.one'); e.value = '3'");
    click(&browser, "button.one-hot");
    wait_for(&browser, ".delta");
    let edits = json!([{"step": 0, "weights": [0, 0, 0, 1]}]);
    let plain = answer(&server, json!({"texts": ["XLII"], "options": {"beam": 1}}));
    let forced = answer(&server, json!({"texts": ["XLII"], "options": {"beam": 1}, "edits": edits}));
    let (was, now) = (&plain["hypotheses"][0], &forced["hypotheses"][0]);
    assert_eq!(now["attention"][0], json!([0.0, 0.0, 0.0, 1.0]));
    assert_eq!(text(&browser, ".answer"), now["text"].as_str().unwrap());
    assert_eq!(text(&browser, ".answer-before"), was["text"].as_str().unwrap());
    let change = now["log_prob"].as_f64().unwrap() - was["log_prob"].as_f64().unwrap();
    let sign = if change < 0.0 { '−' } else { '+' };
    assert_eq!(text(&browser, ".delta"), format!("{sign}{:.3}", change.abs()));
    // Changed units are marked.
    let changed = (0..now["tokens"].as_array().unwrap().len()).filter(|&i| now["tokens"][i] != was["tokens"][i]).count();
    assert_eq!(count(&browser, ".units button.changed"), changed as u64);
    // A slider is dragged: the others make room.
    browser.run("const e = document.querySelector('.sliders [data-column=\"0\"]'); e.value = '0.5'; e.dispatchEvent(new Event('input'))");
    browser.until("return [...document.querySelectorAll('.sliders small')].map(e => e.textContent).join() === '0.50,0.00,0.00,0.50'");
    click(&browser, "button.swap");
    click(&browser, "button.uniform");
    browser.until("return [...document.querySelectorAll('.sliders small')].every(e => e.textContent === '0.25')");
    // The address brings it back.
    let hash = browser.run("return location.hash").as_str().unwrap().to_string();
    let delta = text(&browser, ".delta");
    browser.go("about:blank");
    browser.go(&format!("http://127.0.0.1:{}/{hash}", server.port));
    wait_for(&browser, ".delta");
    assert_eq!(text(&browser, ".delta"), delta);
    // The numbers of the step are there.
    wait_for(&browser, ".step table");
    assert_eq!(count(&browser, ".step tbody tr"), 4);
    // And what the model has seen before with a context like this.
    browser.until("return document.querySelectorAll('.nearest tbody tr').length === 5");
    let asked =
        json!({"texts": ["XLII"], "options": {"beam": 1}, "edits": [{"step": 0, "weights": [1, 1, 1, 1]}], "step": 0, "nearest": 5});
    let seen = answer(&server, asked)["nearest"].clone();
    assert_eq!(text(&browser, ".nearest tbody td"), seen[0]["source"].as_str().unwrap());
    assert_eq!(text(&browser, ".nearest tbody td:last-child"), format!("{:.3}", seen[0]["cosine"].as_f64().unwrap()));
    click(&browser, "button.reset");
    browser.until("return document.querySelector('.delta') === null");
    assert_quiet(&server, &browser);
}

/// The middle of a cell of the matrix.
fn cell(browser: &Browser, row: usize, column: usize) -> (i64, i64) {
    wait_for(browser, "svg.matrix [data-row]");
    let place = browser.run(&format!(
        "const e = document.querySelector('svg.matrix'); e.scrollIntoView({{ block: 'center' }}); const b = e.getBoundingClientRect();
         const r = e.querySelector('[data-row=\"{row}\"]').getBoundingClientRect(), g = e.querySelector('rect').getBoundingClientRect();
         return [g.left + ({column} + 0.5) * g.width / 4, r.top + r.height / 2].map(Math.round)"
    ));
    (place[0].as_i64().unwrap(), place[1].as_i64().unwrap())
}

#[test]
fn a_cell_of_the_matrix_is_dragged_with_the_pointer_and_with_keys() {
    let server = Server::start(&["seq2seq"], &[]);
    let Some(browser) = open(&server, LOOKING) else { return };
    wait_for(&browser, "svg.matrix [data-row]");
    let plain = answer(&server, json!({"texts": ["XLII"], "options": {"beam": 1}}));
    let weight = plain["hypotheses"][0]["attention"][0][3].as_f64().unwrap();
    // Thirty pixels up are 0.3 more.
    let (x, y) = cell(&browser, 0, 3);
    browser.drag((x, y), (x, y - 30));
    wait_for(&browser, ".delta");
    let edits = |browser: &Browser| -> Vec<f64> {
        let edits = browser.run("return JSON.parse(new URLSearchParams(location.hash.slice(1)).get('edits'))[0].weights");
        edits.as_array().unwrap().iter().map(|w| w.as_f64().unwrap()).collect()
    };
    let put = edits(&browser);
    assert!((put[3] - (weight + 0.3).min(1.0)).abs() < 0.02 && (put.iter().sum::<f64>() - 1.0).abs() < 0.01, "{put:?} from {weight}");
    let forced = answer(&server, json!({"texts": ["XLII"], "options": {"beam": 1}, "edits": [{"step": 0, "weights": put}]}));
    browser.until(&format!("return document.querySelector('.answer').textContent === {}", forced["hypotheses"][0]["text"]));
    // The keyboard does the same: right to the second cell, less of it.
    browser.run("document.querySelector('svg.matrix [data-row=\"0\"]').focus()");
    browser.press(&[driver::RIGHT, '-']);
    browser.until(&format!(
        "return JSON.parse(new URLSearchParams(location.hash.slice(1)).get('edits'))[0].weights[1] < {}",
        put[1].max(1e-6)
    ));
    // A click that drags nothing chooses a row.
    let (x, y) = cell(&browser, 1, 1);
    browser.click((x, y));
    browser.until("return location.hash.includes('row=1')");
    assert_quiet(&server, &browser);
}

/// On each task that judges: weights put in, what it becomes, three views, and what was seen before.
#[test]
fn a_text_that_is_judged_is_played_with() {
    let server = Server::start(&["classify", "bags", "match", "evidence"], &[]);
    let Some(browser) = open(&server, "#model=classify&text=my kettle is broken") else { return };
    wait_for(&browser, ".other-views");
    let asked = answer(&server, json!({"model": "classify", "texts": ["my kettle is broken"], "views": true, "nearest": 5}));
    for strip in 1..=3 {
        assert_eq!(count(&browser, &format!(".views > div:nth-of-type({strip}) button")), 4);
    }
    let said =
        browser.run("return [...document.querySelectorAll('.views > div:nth-of-type(3) button')].map(e => e.getAttribute('aria-label'))");
    for (label, lost) in said.as_array().unwrap().iter().zip(asked["views"]["leave_one_out"].as_array().unwrap()) {
        let lost = lost.as_f64().unwrap();
        let sign = if lost < 0.0 { '−' } else { '+' };
        assert!(label.as_str().unwrap().ends_with(&format!(": {sign}{:.3}", lost.abs())), "{label} {lost}");
    }
    browser.until("return document.querySelectorAll('.nearest tbody tr').length === 5");
    assert_eq!(text(&browser, ".nearest tbody td"), asked["nearest"][0]["source"].as_str().unwrap());
    // Only the last word is looked at.
    click(&browser, "button.change");
    wait_for(&browser, ".sliders input");
    browser.run("document.querySelector('select.one').value = '3'");
    click(&browser, "button.one-hot");
    wait_for(&browser, ".delta");
    let edits = json!([{"step": 0, "weights": [0, 0, 0, 1]}]);
    let edited = answer(&server, json!({"model": "classify", "texts": ["my kettle is broken"], "edits": edits}))["edited"].clone();
    assert_eq!(edited["attention"], json!([0.0, 0.0, 0.0, 1.0]));
    assert!(text(&browser, ".answer-now").starts_with(edited["label"].as_str().unwrap()));
    let change = edited["change"].as_f64().unwrap();
    assert_eq!(text(&browser, ".delta"), format!("{}{:.3}", if change < 0.0 { '−' } else { '+' }, change.abs()));
    click(&browser, "button.uniform");
    browser.until("return [...document.querySelectorAll('.sliders small')].every(e => e.textContent === '0.25')");
    click(&browser, "button.swap");
    click(&browser, "button.reset");
    browser.until("return document.querySelector('.delta') === null");
    // A word is dragged.
    let place = browser.run("const b = document.querySelector('.shaded button.dragged').getBoundingClientRect(); return [b.left + 5, b.top + 9].map(Math.round)");
    let (x, y) = (place[0].as_i64().unwrap(), place[1].as_i64().unwrap());
    browser.drag((x, y), (x, y - 40));
    wait_for(&browser, ".delta");
    // A bag: its second row alone.
    let bag = "label,purse,grams,millimetres,thickness\ntrue,purse 1,7.37,23.6,2.32\ntrue,purse 1,2.26,16.1,1.73";
    browser.run("const e = document.querySelector('#model'); e.value = 'bags'; e.dispatchEvent(new Event('change'))");
    type_in(&browser, bag);
    click(&browser, ".bag button.change");
    wait_for(&browser, "select.one");
    browser.run("document.querySelector('select.one').value = '1'");
    click(&browser, "button.one-hot");
    browser.until("return [...document.querySelectorAll('.bag > .bars')].at(-1).textContent.includes('row\\u00a021.000')");
    wait_for(&browser, ".other-views");
    assert_quiet(&server, &browser);
}

#[test]
fn candidates_are_ranked_with_the_parts_of_their_scores() {
    let server = Server::start(&["match", "evidence"], &[]);
    let lines = ["who is old ?\tgreyford is old .", "who is old ?\tit rains .", "who is old ?\tthe church is old ."];
    let Some(browser) = open(&server, "") else { return };
    for model in ["evidence", "match"] {
        browser.run(&format!("const e = document.querySelector('#model'); e.value = '{model}'; e.dispatchEvent(new Event('change'))"));
        type_in(&browser, &lines.join("\n"));
        browser.until("return document.querySelectorAll('.candidate').length === 3 && document.querySelectorAll('.parts').length === 3");
        let shown = browser.run(
            "return [...document.querySelectorAll('.candidate')].map(e => [Number(e.querySelector('h2').textContent.split(' ')[1]),
             ...[...e.querySelectorAll('.parts td.n')].map(n => Number(n.textContent.replace('−', '-')))])",
        );
        let mut last = f64::INFINITY;
        for candidate in shown.as_array().unwrap() {
            let numbers: Vec<f64> = candidate.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
            let (score, parts, total) = (numbers[0], &numbers[1..numbers.len() - 1], numbers[numbers.len() - 1]);
            assert!(score <= last, "ranked");
            last = score;
            assert!((parts.iter().sum::<f64>() - total).abs() < 0.003, "{numbers:?}");
            // The score of evidence is its parts and nothing else; that of an encoder is a probability of their sum, or the sum.
            let of_sum = if model == "evidence" || (total - score).abs() < 0.003 { total } else { 1.0 / (1.0 + (-total).exp()) };
            assert!((of_sum - score).abs() < 0.003, "{model}: {numbers:?}");
        }
        assert_eq!(count(&browser, ".ranking tbody tr"), 3);
        assert_eq!(count(&browser, ".other-views"), 3);
    }
    assert_quiet(&server, &browser);
}

/// Heads: of a recurrent decoder, of a Transformer, of a classifier. One is switched off, and the answer says what it was worth.
#[test]
fn heads_are_switched_off_and_seen() {
    let server = Server::start(&["two-heads", "transformer", "classify-heads"], &[]);
    let Some(browser) = open(&server, "#model=two-heads&text=XLII") else { return };
    for (model, text, heads) in [("two-heads", "XLII", 2), ("transformer", "XLII", 2), ("classify-heads", "my kettle is broken", 2)] {
        browser.go("about:blank");
        browser.go(&format!("http://127.0.0.1:{}/#model={model}&text={text}", server.port));
        wait_for(&browser, ".heads input");
        assert_eq!(count(&browser, ".heads svg"), heads, "{model}");
        click(&browser, ".heads label:nth-child(2) input");
        wait_for(&browser, ".delta");
        let off = answer(&server, json!({"model": model, "texts": [text], "heads_off": [1]}));
        let plain = answer(&server, json!({"model": model, "texts": [text]}));
        let change = match off.get("edited") {
            Some(edited) => edited["change"].as_f64().unwrap(),
            None => off["hypotheses"][0]["log_prob"].as_f64().unwrap() - plain["hypotheses"][0]["log_prob"].as_f64().unwrap(),
        };
        assert!(change.abs() > 1e-6, "{model}: a head that is worth nothing");
        browser.until(&format!(
            "return document.querySelector('.delta').textContent === '{}{:.3}'",
            if change < 0.0 { '−' } else { '+' },
            change.abs()
        ));
        assert!(browser.run("return location.hash").as_str().unwrap().contains("off="));
    }
    assert_quiet(&server, &browser);
}

/// A value beside the finger, and nothing off the screen.
#[test]
fn a_tap_shows_the_value_on_a_phone() {
    let server = Server::start(&["seq2seq", "classify"], &[]);
    let Some(browser) = open(&server, "") else { return };
    browser.phone();
    browser.go(&format!("http://127.0.0.1:{}/#model=seq2seq&text=MDCCCLXXXVIII", server.port));
    wait_for(&browser, "svg.matrix [data-row]");
    let expected = answer(&server, json!({"model": "seq2seq", "texts": ["MDCCCLXXXVIII"], "options": {"beam": 1}}));
    let place = browser.run(
        "const e = document.querySelector('svg.matrix'); e.scrollIntoView({ block: 'center' });
         const g = e.querySelector('rect').getBoundingClientRect(); return [g.left + 15, g.top + 15].map(Math.round)",
    );
    let (x, y) = (place[0].as_i64().unwrap(), place[1].as_i64().unwrap());
    browser.tap((x, y));
    let weight = expected["hypotheses"][0]["attention"][0][0].as_f64().unwrap();
    browser.until(&format!("return document.querySelector('.tip').textContent.includes(': {weight:.4}')"));
    let tip = browser.run("const b = document.querySelector('.tip').getBoundingClientRect(); return [b.left, b.right, b.top, b.bottom]");
    let tip: Vec<f64> = tip.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
    assert!(tip[0] >= 0.0 && tip[1] <= 400.0 && tip[2] >= 0.0, "{tip:?}");
    assert!(tip[3] <= y as f64 || tip[2] >= y as f64, "the finger does not hide it: {tip:?} {y}");
    browser.until("return document.documentElement.scrollWidth <= 400");
    browser.go(&format!("http://127.0.0.1:{}/#model=classify&text=my kettle is broken", server.port));
    wait_for(&browser, ".shaded button");
    let place = browser
        .run("const b = document.querySelector('.shaded button').getBoundingClientRect(); return [b.left + 5, b.top + 5].map(Math.round)");
    browser.tap((place[0].as_i64().unwrap(), place[1].as_i64().unwrap()));
    browser.until("return document.querySelector('.tip').textContent.includes('times uniform')");
    browser.until("return document.documentElement.scrollWidth <= 400");
    assert_quiet(&server, &browser);
}

/// What is read from right to left runs so, and a text wider than the screen has a map of the whole.
#[test]
fn texts_run_from_right_to_left_and_wide_ones_have_a_map() {
    let server = Server::start(&["seq2seq"], &[]);
    let Some(browser) = open(&server, "#model=seq2seq&text=אבגד") else { return };
    wait_for(&browser, "svg.matrix");
    assert!(text(&browser, "svg.matrix").contains("← reads"), "{}", text(&browser, "svg.matrix"));
    let places = browser.run("return ['א', 'ד'].map(unit => Number([...document.querySelectorAll('svg.matrix text')].find(e => e.textContent === unit).getAttribute('x')))");
    assert!(places[0].as_f64() > places[1].as_f64(), "{places}");
    assert_eq!(count(&browser, "svg.map"), 0);
    type_in(&browser, &"MCMLXXXIV".repeat(33));
    wait_for(&browser, "svg.map");
    let (map, frame) = ("document.querySelector('svg.map')", "document.querySelector('svg.matrix:not(.map)').parentElement");
    assert_eq!(browser.run(&format!("return {map}.getBoundingClientRect().width <= innerWidth && {frame}.scrollWidth > innerWidth")), true);
    let place = browser.run(&format!("const b = {map}.getBoundingClientRect(); {map}.scrollIntoView({{ block: 'center' }}); const c = {map}.getBoundingClientRect(); return [c.right - 5, c.top + 3].map(Math.round)"));
    browser.click((place[0].as_i64().unwrap(), place[1].as_i64().unwrap()));
    browser.until(&format!("return {frame}.scrollLeft > 100"));
    assert_quiet(&server, &browser);
}

#[test]
fn the_page_is_light_and_dark() {
    let server = Server::start(&["seq2seq"], &[]);
    let Some(browser) = open(&server, LOOKING) else { return };
    let sum = "const sum = colour => colour.match(/\\d+/g).slice(0, 3).reduce((all, n) => all + Number(n), 0)";
    let body = "const body = getComputedStyle(document.body), ground = sum(body.backgroundColor), ink = sum(body.color)";
    let drawn = "const drawn = sum(getComputedStyle(document.querySelector('svg.matrix text')).fill)";
    for (scheme, apart) in [("light", "ground > ink + 400 && ground > drawn + 300"), ("dark", "ground + 400 < ink && ground + 300 < drawn")]
    {
        browser.prefers(scheme);
        wait_for(&browser, "svg.matrix");
        // The page hears of it a moment later.
        browser.until(&format!("{sum}; {body}; {drawn}; return {apart}"));
    }
}

/// Whatever is drawn says on which of three scales.
#[test]
fn the_scale_is_chosen_and_named() {
    let server = Server::start(&["seq2seq", "classify"], &[]);
    let Some(browser) = open(&server, LOOKING) else { return };
    wait_for(&browser, ".legend");
    assert!(text(&browser, ".legend").starts_with("weights from 0 to 1"));
    for (scale, named) in [("stretched", "stretched: from 0 to the largest"), ("uniform", "times uniform: 1 is neutral")] {
        browser.run(&format!("const e = document.querySelector('#scale'); e.value = '{scale}'; e.dispatchEvent(new Event('change'))"));
        browser.until(&format!("return document.querySelector('.legend').textContent.startsWith('{named}')"));
        assert!(browser.run("return location.hash").as_str().unwrap().contains(&format!("scale={scale}")));
    }
    browser.go("about:blank");
    browser.go(&format!("http://127.0.0.1:{}/#model=classify&text=my kettle is broken", server.port));
    wait_for(&browser, ".shaded button");
    browser.until("return document.querySelector('.legend').textContent.startsWith('times uniform')");
    assert_quiet(&server, &browser);
}

#[test]
fn another_unit_is_forced_and_the_search_shows_its_paths() {
    let server = Server::start(&["seq2seq"], &[]);
    let Some(browser) = open(&server, "#text=XLII&beam=3") else { return };
    click(&browser, "[data-unit='0']");
    wait_for(&browser, ".alternatives button:not(:disabled)");
    assert!(count(&browser, ".alternatives button") >= 5);
    let other = browser.run("const e = document.querySelector('.alternatives button:not(:disabled)'); const unit = e.firstChild.textContent; e.click(); return unit");
    let forced = answer(&server, json!({"texts": ["XLII"], "options": {"beam": 3}, "force": [other]}));
    browser.until(&format!("return document.querySelector('.answer').textContent === {}", forced["hypotheses"][0]["text"]));
    assert!(text(&browser, ".free").contains("1 forced"));
    // The tree has the answers that ended, and paths that lost.
    let ended = browser.run("return [...document.querySelectorAll('svg.tree text.ended, svg.tree text.longest')].length").as_u64().unwrap();
    assert!(ended >= 1 && count(&browser, "svg.tree text.lost") > 0);
    assert!(text(&browser, "svg.tree text.lost title").contains("others filled the beam"));
    click(&browser, "button.free");
    browser.until("return document.querySelector('.free') === null");
    assert_quiet(&server, &browser);
}

#[test]
fn words_are_struck_moved_and_replaced() {
    let server = Server::start(&["seq2seq", "classify", "match", "bags"], &[]);
    let Some(browser) = open(&server, "#model=classify&text=my kettle is broken&view=words") else { return };
    wait_for(&browser, ".before-after");
    browser.until("return document.querySelectorAll('.worth div').length === 4");
    click(&browser, ".words button:nth-child(2)");
    click(&browser, "button.strike");
    browser.until("return document.querySelectorAll('.words button').length === 3");
    let labels = answer(&server, json!({"model": "classify", "texts": ["my is broken"]}));
    let first = labels["probabilities"].as_object().unwrap().iter().next().unwrap();
    let shown = first.1.as_f64().unwrap();
    browser.until(&format!(
        "return Math.abs(parseFloat(document.querySelector('.before-after tbody td:nth-child(3)').textContent.replace('<', '')) - {}) < 0.6",
        100.0 * shown
    ));
    click(&browser, "button.right");
    browser.until("return document.querySelectorAll('.words button')[2].textContent === 'is'");
    browser.run("document.querySelector('input.other').value = 'was'");
    click(&browser, "button.replace");
    browser.until("return location.hash.includes('variant=my+broken+was')");
    // A model that writes: answers aligned, and the change of the weights.
    browser.go("about:blank");
    browser.go(&format!("http://127.0.0.1:{}/#model=seq2seq&text=XLII&view=words&variant=XLI", server.port));
    wait_for(&browser, ".before-after");
    let after = answer(&server, json!({"model": "seq2seq", "texts": ["XLI"], "options": {"beam": 1}}));
    assert_eq!(text(&browser, ".before-after tr:nth-child(2) td"), after["hypotheses"][0]["text"].as_str().unwrap());
    click(&browser, "button.take");
    browser.until("return document.querySelector('#text').value === 'XLI' || location.hash.includes('text=XLI&')");
    // A word of an answer, and a row of a bag.
    browser.go("about:blank");
    browser.go(&format!("http://127.0.0.1:{}/#model=match&text=who%20is%20old%20%3F%09greyford%20is%20old%20.&view=words", server.port));
    wait_for(&browser, ".words button:nth-child(9)");
    click(&browser, ".words button:nth-child(8)");
    click(&browser, "button.strike");
    let without = answer(&server, json!({"model": "match", "texts": ["who is old ?\tgreyford is ."]}));
    browser.until(&format!("return document.querySelector('#view').textContent.includes('→ {:.4}')", without["score"].as_f64().unwrap()));
    let bag = "label,purse,grams,millimetres,thickness%0Atrue,purse 1,7.37,23.6,2.32%0Atrue,purse 1,2.26,16.1,1.73";
    browser.go("about:blank");
    browser.go(&format!("http://127.0.0.1:{}/#model=bags&text={bag}&view=words", server.port));
    wait_for(&browser, ".words button:nth-child(2)");
    click(&browser, "button.strike");
    browser.until("return document.querySelectorAll('.words button').length === 1 && document.querySelector('.before-after') !== null");
    assert_quiet(&server, &browser);
}

#[test]
fn rows_of_a_file_are_sorted_filtered_and_opened() {
    let server = Server::start(&["seq2seq", "classify", "match", "bags"], &["--max-texts", "4"]);
    let Some(browser) = open(&server, "#model=seq2seq&view=rows") else { return };
    wait_for(&browser, ".pasted");
    let lines: Vec<(&str, &str)> = vec![("XLII", "42"), ("VII", "7"), ("C", "100"), ("MM", "2000"), ("IX", "9"), ("D", "500")];
    let pasted: String = lines.iter().map(|(text, gold)| format!("{text}\t{gold}\n")).collect();
    browser.run(&format!("document.querySelector('.pasted').value = {}", json!(pasted)));
    click(&browser, "button.measure");
    browser.until("return document.querySelectorAll('.errors tbody tr').length === 6");
    let losses = browser.run("return [...document.querySelectorAll('.errors tbody tr td:nth-child(4)')].map(e => Number(e.textContent))");
    let losses: Vec<f64> = losses.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
    assert!(losses.is_sorted_by(|a, b| a >= b), "{losses:?}");
    let target = answer(&server, json!({"model": "seq2seq", "texts": ["XLII"], "targets": ["42"]}));
    let loss = -target["target"]["log_prob"].as_f64().unwrap() / 3.0;
    assert!(losses.iter().any(|l| (l - loss).abs() < 1e-3), "{loss} is not among {losses:?}");
    for name in ["distance", "entropy", "confidence"] {
        click(&browser, &format!("[data-sort={name}]"));
        browser.until(&format!("return document.querySelector('th[aria-sort=descending]').textContent.startsWith('{name}')"));
    }
    // The confusions filter.
    let before = count(&browser, ".errors tbody tr");
    // A cell of the matrix of confusions.
    click(&browser, ".confusions td button");
    browser.until(&format!("return document.querySelectorAll('.errors tbody tr').length < {before}"));
    click(&browser, ".errors button.open");
    wait_for(&browser, "svg.matrix");
    browser.go(&format!("http://127.0.0.1:{}/#model=classify&view=rows", server.port));
    browser.until("return document.querySelector('#model').value === 'classify'");
    wait_for(&browser, ".pasted");
    browser.run("document.querySelector('.pasted').value = 'my kettle is broken\\treturns\\nwhere is it\\tdelivery'");
    click(&browser, "button.measure");
    browser.until("return document.querySelectorAll('.errors tbody tr').length === 2");
    // Labels stand in a matrix, right ones down, said ones across; all rows are in it.
    let counted =
        browser.run("return [...document.querySelectorAll('.confusions td button')].reduce((sum, e) => sum + Number(e.textContent), 0)");
    assert_eq!(counted, 2);
    // Candidates and bags.
    let candidates = "who is old ?\\tgreyford is old .\\t1\\nwho is old ?\\tit rains .\\t0";
    let purses = "label,purse,grams,millimetres,thickness\\ntrue,purse 1,7.37,23.6,2.32\\nfalse,purse 2,2.26,16.1,1.73";
    for (model, rows) in [("match", candidates), ("bags", purses)] {
        browser.go("about:blank");
        browser.go(&format!("http://127.0.0.1:{}/#model={model}&view=rows", server.port));
        wait_for(&browser, ".pasted");
        browser.run(&format!("document.querySelector('.pasted').value = '{rows}'"));
        click(&browser, "button.measure");
        browser.until("return document.querySelectorAll('.errors tbody tr').length === 2");
        let gold =
            browser.run("return [...document.querySelectorAll('.errors tbody td:nth-child(2)')].map(e => e.textContent).sort().join()");
        assert_eq!(gold, if model == "match" { "right,wrong" } else { "false,true" });
        click(&browser, ".errors button.open");
        wait_for(&browser, ".trust");
    }
    assert_quiet(&server, &browser);
}

#[test]
fn two_models_stand_side_by_side() {
    copied("seq2seq", "second");
    let server = Server::start(&["seq2seq", "second", "classify"], &[]);
    let Some(browser) = open(&server, "#model=seq2seq&other=second&text=XLII&view=beside") else { return };
    wait_for(&browser, ".difference svg");
    assert_eq!((count(&browser, ".name"), count(&browser, "svg.matrix")), (2, 3));
    // The same weights: no difference, no cell but the ground.
    assert_eq!(count(&browser, ".difference svg title"), 0);
    // Two epochs of one training: their weights differ.
    let epochs = Server::of(&[models().path("kept").to_str().unwrap(), models().path("kept/epoch-1").to_str().unwrap()], &[]);
    browser.go(&format!("http://127.0.0.1:{}/#model=kept&other=kept%2Fepoch-1&text=XLII&view=beside", epochs.port));
    browser.until(
        "return document.querySelectorAll('.name').length === 2 && document.querySelectorAll('.name')[1].textContent === 'kept/epoch-1'",
    );
    let answers: Vec<Value> =
        ["kept", "kept/epoch-1"].iter().map(|model| answer(&epochs, json!({"model": model, "texts": ["XLII"]}))).collect();
    assert_ne!(answers[0]["hypotheses"][0]["attention"], answers[1]["hypotheses"][0]["attention"]);
    assert_quiet(&server, &browser);
}

#[test]
fn every_task_has_its_view_also_on_a_phone() {
    let server = Server::start(&["seq2seq", "classify", "match", "bags"], &[]);
    let Some(browser) = open(&server, "#model=classify&text=my kettle is broken") else { return };
    browser.resize(400, 800);
    wait_for(&browser, ".shaded button");
    let bag = "label,purse,grams,millimetres,thickness\ntrue,purse 1,7.37,23.6,2.32\ntrue,purse 1,2.26,16.1,1.73";
    let views = [
        ("classify", "my kettle is broken", ".bars"),
        ("match", "who is old ?\tgreyford is old .\nwho is old ?\tit rains .", ".candidate"),
        ("bags", bag, ".bars"),
        ("seq2seq", "MDCCCLXXXVIII", "svg.matrix"),
    ];
    for (model, typed, drawn) in views {
        browser.run(&format!("const e = document.querySelector('#model'); e.value = '{model}'; e.dispatchEvent(new Event('change'))"));
        type_in(&browser, typed);
        wait_for(&browser, drawn);
        // Nothing lies beside the screen but what scrolls in its own frame.
        browser.until("return document.documentElement.scrollWidth <= document.documentElement.clientWidth");
    }
    // Candidates are ranked.
    browser.run("const e = document.querySelector('#model'); e.value = 'match'; e.dispatchEvent(new Event('change'))");
    type_in(&browser, "who is old ?\tgreyford is old .\nwho is old ?\tit rains .\nwho is old ?\tthe church is old .");
    browser.until("return document.querySelectorAll('.candidate').length === 3");
    let scores = browser.run("return [...document.querySelectorAll('.candidate h2')].map(e => Number(e.textContent.split(' ')[1]))");
    let scores: Vec<f64> = scores.as_array().unwrap().iter().map(|x| x.as_f64().unwrap()).collect();
    assert!(scores.is_sorted_by(|a, b| a >= b), "{scores:?}");
    assert_quiet(&server, &browser);
}

#[test]
fn this_view_is_saved() {
    let server = Server::start(&["seq2seq", "classify"], &[]);
    let Some(browser) = open(&server, LOOKING) else { return };
    wait_for(&browser, "svg.matrix");
    browser.run(
        "window.saved = []; const make = URL.createObjectURL; URL.createObjectURL = blob => { window.saved.push(blob); return make.call(URL, blob); };
         HTMLAnchorElement.prototype.click = function() { window.file = this.download; };",
    );
    let saved = |button: &str, file: &str| {
        browser.run("window.saved = []; window.file = ''");
        click(&browser, button);
        browser.until(&format!("return window.file === '{file}'"));
        browser.wait("return window.saved.at(-1).text()").as_str().unwrap().to_string()
    };
    let svg = saved("#save-svg", "spotlight.svg");
    assert!(svg.starts_with("<svg") && svg.contains("reads →") && !svg.contains("var("), "{}", &svg[..200]);
    let json: Value = serde_json::from_str(&saved("#save-json", "spotlight.json")).unwrap();
    assert_eq!(json["state"]["text"], "XLII");
    assert_eq!(json["answers"]["after"]["source_tokens"], json!(["X", "L", "I", "I"]));
    let page = saved("#save-page", "spotlight.html");
    assert!(page.contains("<style>") && page.contains("<svg") && !page.contains("<script") && !page.contains("<button"));
    browser.run("window.saved = []; window.file = ''");
    click(&browser, "#save-png");
    browser.until("return window.file === 'spotlight.png'");
    assert_eq!(
        browser.wait("return window.saved.at(-1).slice(0, 4).arrayBuffer().then(b => [...new Uint8Array(b)])"),
        json!([137, 80, 78, 71])
    );
    // A view of texts is saved as well as one of drawings.
    browser.run("const e = document.querySelector('#model'); e.value = 'classify'; e.dispatchEvent(new Event('change'))");
    type_in(&browser, "my kettle is broken");
    wait_for(&browser, ".other-views");
    let svg = saved("#save-svg", "spotlight.svg");
    let told = ["classify: my kettle is broken", "kettle", "leave-one-out", "Attention", "confidence"];
    assert!(told.iter().all(|part| svg.contains(part)) && !svg.contains("var(") && !svg.contains("<button"), "{svg}");
    assert!(svg.matches("<rect").count() > 12, "the words have their colours");
    assert_quiet(&server, &browser);
}

#[test]
fn hostile_text_runs_nothing_in_any_view() {
    let server = Server::start(&["seq2seq", "classify", "match", "evidence"], &[]);
    let hostile = "<img src=x onerror=window.hacked=1></textarea><script>window.hacked=1</script> \u{202e}\"'`";
    let Some(browser) = open(&server, "") else { return };
    for (model, view) in [
        ("seq2seq", "look"),
        ("seq2seq", "words"),
        ("classify", "look"),
        ("classify", "words"),
        ("match", "look"),
        ("evidence", "look"),
        ("seq2seq", "rows"),
    ] {
        browser.go("about:blank");
        let encoded: String = hostile.bytes().map(|byte| format!("%{byte:02X}")).collect();
        browser.go(&format!("http://127.0.0.1:{}/#model={model}&view={view}&text={encoded}%09{encoded}&row=0&beam=2", server.port));
        browser
            .until("return document.querySelector('#view').childNodes.length > 0 || document.querySelector('#status').textContent !== ''");
        if view == "rows" {
            browser.run(&format!("document.querySelector('.pasted').value = {}", json!(format!("{hostile}\t{hostile}"))));
            click(&browser, "button.measure");
            wait_for(&browser, ".errors tbody tr");
        }
        assert_eq!(browser.run("return window.hacked === undefined"), true, "{model} {view}");
        assert_eq!(count(&browser, "main img, main script"), 0, "{model} {view}");
    }
    // What an address says is not believed, either.
    browser.go("about:blank");
    browser.go(&format!("http://127.0.0.1:{}/#model=../x&view=__proto__&edits=%5B1%5D&force=%7B%7D&row=x&text=XLII", server.port));
    wait_for(&browser, "svg.matrix");
}

/// Every head of every layer is there to be chosen, and what must not be seen is not drawn as a weight.
#[test]
fn layers_are_looked_into() {
    let server = Server::start(&["transformer", "seq2seq"], &[]);
    let Some(browser) = open(&server, &format!("#model=transformer&view=layers&text={LONG}")) else { return };
    wait_for(&browser, ".thumbnail");
    // Of one layer that writes two heads and their mean.
    assert_eq!(count(&browser, ".thumbnail"), 3);
    click(&browser, "[data-inside=decoder]");
    wait_for(&browser, "[data-inside=decoder][aria-pressed=true]");
    assert!(text(&browser, ".layers .legend").contains("Grey is hidden"));
    let told = answer(&server, json!({"model": "transformer", "texts": [LONG], "layers": "decoder"}));
    let units = told["layers"][0]["output"].as_array().unwrap().len() as u64;
    assert!(units > 1);
    assert_eq!(count(&browser, ".layers .wide svg.matrix rect[fill='#9ca0aa']"), units * (units - 1) / 2);
    click(&browser, "[data-panel='0.0.1']");
    wait_for(&browser, "[data-panel='0.0.1'][aria-pressed=true]");
    assert_eq!(text(&browser, ".layers h2"), "layer 1, head 2");
    assert!(browser.run("return location.hash").as_str().unwrap().contains("inside=decoder&panel=0.0.1"));
    click(&browser, "[data-inside=rollout]");
    browser.until("return document.querySelector('.layers h2')?.textContent.startsWith('rollout over')");
    // A model without layers has no such view.
    browser.run("const e = document.querySelector('#model'); e.value = 'seq2seq'; e.dispatchEvent(new Event('change'))");
    wait_for(&browser, "svg.lines");
    assert_eq!(count(&browser, "[data-view=layers]"), 0);
    assert_quiet(&server, &browser);
}
