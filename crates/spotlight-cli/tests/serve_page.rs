//! The page of the server in a real browser: each feature used as a person uses it.
//!
//! Skipped, and counted by the gate, where ChromeDriver is not installed (Debian: `chromium` and `chromium-driver`).

#[path = "../../spotlight/tests/view/driver.rs"]
#[allow(dead_code)]
mod driver;

use serde_json::{Value, json};

use crate::common::skip::skip;
use crate::serve::client::{Server, models};
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

fn wait_for(browser: &Browser, selector: &str) {
    browser.until(&format!("return document.querySelector({}) !== null", json!(selector)));
}

fn click(browser: &Browser, selector: &str) {
    wait_for(browser, selector);
    let place = browser.run(&format!(
        "const e = document.querySelector({}); e.scrollIntoView({{ block: 'center' }}); const b = e.getBoundingClientRect();
         return [b.left + b.width / 2, b.top + b.height / 2].map(Math.round)",
        json!(selector)
    ));
    browser.click((place[0].as_i64().unwrap(), place[1].as_i64().unwrap()));
}

/// Types into the box, as one event.
fn type_in(browser: &Browser, typed: &str) {
    browser.run(&format!("const e = document.querySelector('#text'); e.value = {}; e.dispatchEvent(new Event('input'))", json!(typed)));
}

/// The answer of the server to the same, to hold the page against.
fn answer(server: &Server, ask: Value) -> Value {
    server.predict(&ask).json()["answers"][0].clone()
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
    browser.until("return document.querySelector('#verdict').textContent.includes('audited') || document.querySelector('#verdict').textContent.startsWith('Audit')");
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
    click(&browser, "button.reset");
    browser.until("return document.querySelector('.delta') === null");
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
    let server = Server::start(&["seq2seq", "classify"], &[]);
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
    assert_quiet(&server, &browser);
}

#[test]
fn rows_of_a_file_are_sorted_filtered_and_opened() {
    let server = Server::start(&["seq2seq", "classify"], &["--max-texts", "4"]);
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
    click(&browser, ".confusions button:last-child");
    browser.until(&format!("return document.querySelectorAll('.errors tbody tr').length < {before}"));
    click(&browser, ".errors button.open");
    wait_for(&browser, "svg.matrix");
    browser.go(&format!("http://127.0.0.1:{}/#model=classify&view=rows", server.port));
    browser.until("return document.querySelector('#model').value === 'classify'");
    wait_for(&browser, ".pasted");
    browser.run("document.querySelector('.pasted').value = 'my kettle is broken\\treturns\\nwhere is it\\tdelivery'");
    click(&browser, "button.measure");
    browser.until("return document.querySelectorAll('.errors tbody tr').length === 2");
    assert_quiet(&server, &browser);
}

#[test]
fn two_models_stand_side_by_side() {
    let copy = models().path("second");
    std::fs::create_dir_all(&copy).unwrap();
    for file in std::fs::read_dir(models().path("seq2seq")).unwrap().map(Result::unwrap).filter(|f| f.path().is_file()) {
        std::fs::copy(file.path(), copy.join(file.file_name())).unwrap();
    }
    let server = Server::start(&["seq2seq", "second", "classify"], &[]);
    let Some(browser) = open(&server, "#model=seq2seq&other=second&text=XLII&view=beside") else { return };
    wait_for(&browser, ".difference svg");
    assert_eq!((count(&browser, ".name"), count(&browser, "svg.matrix")), (2, 3));
    // The same weights: no difference, no cell but the ground.
    assert_eq!(count(&browser, ".difference svg title"), 0);
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
    let server = Server::start(&["seq2seq"], &[]);
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
    assert_quiet(&server, &browser);
}

#[test]
fn hostile_text_runs_nothing_in_any_view() {
    let server = Server::start(&["seq2seq", "classify", "match"], &[]);
    let hostile = "<img src=x onerror=window.hacked=1></textarea><script>window.hacked=1</script> \u{202e}\"'`";
    let Some(browser) = open(&server, "") else { return };
    for (model, view) in
        [("seq2seq", "look"), ("seq2seq", "words"), ("classify", "look"), ("classify", "words"), ("match", "look"), ("seq2seq", "rows")]
    {
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
