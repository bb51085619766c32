//! A browser to drive: ChromeDriver over plain HTTP, as much of the WebDriver protocol as the tests need.

use serde_json::{Value, json};
use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};
use std::time::Duration;

pub const ENTER: char = '\u{e007}';
pub const SHIFT: char = '\u{e008}';
pub const ESCAPE: char = '\u{e00c}';
pub const END: char = '\u{e010}';
pub const LEFT: char = '\u{e012}';
pub const RIGHT: char = '\u{e014}';
pub const DOWN: char = '\u{e015}';

pub struct Browser {
    driver: Child,
    port: u16,
    session: String,
    directory: tempfile::TempDir,
}

impl Browser {
    /// Starts ChromeDriver and a fresh Chromium, or says why it cannot.
    pub fn start() -> Result<Browser, String> {
        let driver = Command::new("chromedriver").arg("--port=0").stdout(Stdio::piped()).stderr(Stdio::null()).spawn();
        let mut driver = driver.map_err(|error| format!("chromedriver does not start ({error}); install chromium-driver"))?;
        let output = BufReader::new(driver.stdout.take().unwrap());
        let started = output.lines().map_while(Result::ok).find(|line| line.contains("started successfully on port"));
        let port = started.expect("chromedriver says its port").trim_end_matches('.').rsplit(' ').next().unwrap().parse().unwrap();
        let directory = tempfile::tempdir().unwrap();
        let mut browser = Browser { driver, port, session: String::new(), directory };
        let profile = browser.directory.path().join("profile");
        let mut arguments: Vec<String> =
            ["headless", "no-sandbox", "disable-gpu", "disable-quic", "no-first-run", "disable-background-networking"]
                .iter()
                .chain(&["disable-component-update", "disable-sync", "window-size=1280,1000"])
                .map(|flag| format!("--{flag}"))
                .collect();
        arguments.push(format!("--user-data-dir={}", profile.display()));
        let created = browser.send(
            "POST",
            "/session",
            &json!({"capabilities": {"alwaysMatch": {
                "goog:loggingPrefs": {"browser": "ALL", "performance": "ALL"},
                "goog:chromeOptions": {"args": arguments},
            }}}),
        );
        browser.session = created["sessionId"].as_str().unwrap_or_else(|| panic!("no session: {created}")).to_string();
        Ok(browser)
    }

    /// Writes a page to disk and opens it from there.
    pub fn open(&mut self, page: &str) {
        self.open_as("page.html", page);
    }

    /// The same, under another name: its ending says what it is.
    pub fn open_as(&mut self, name: &str, page: &str) {
        let path = self.directory.path().join(name);
        std::fs::write(&path, page).unwrap();
        self.command("url", &json!({"url": format!("file://{}", path.display())}));
    }

    /// Opens an address.
    #[allow(dead_code)]
    pub fn go(&self, address: &str) {
        self.command("url", &json!({"url": address}));
    }

    /// Makes the window so many pixels wide and high.
    #[allow(dead_code)]
    pub fn resize(&self, width: u32, height: u32) {
        self.command("window/rect", &json!({"width": width, "height": height}));
    }

    /// What was logged to the console since it was last asked for.
    #[allow(dead_code)]
    pub fn console(&self) -> Value {
        self.command("se/log", &json!({"type": "browser"}))
    }

    /// The addresses that pages of `origin` have asked for since it was last asked.
    #[allow(dead_code)]
    pub fn requested(&self, origin: &str) -> Vec<String> {
        let events = self.command("se/log", &json!({"type": "performance"}));
        let message = |event: &Value| serde_json::from_str::<Value>(event["message"].as_str().unwrap()).unwrap()["message"].take();
        let ours = |event: &Value| {
            event["method"] == "Network.requestWillBeSent"
                && event["params"]["documentURL"].as_str().is_some_and(|url| url.starts_with(origin))
        };
        let url = |event: Value| event["params"]["request"]["url"].as_str().unwrap_or_default().to_string();
        events.as_array().unwrap().iter().map(message).filter(ours).map(url).collect()
    }

    /// Runs a script in the page and returns what it returns.
    pub fn run(&self, script: &str) -> Value {
        self.command("execute/sync", &json!({"script": script, "args": []}))
    }

    /// Runs a script that returns a promise and waits for its value.
    pub fn wait(&self, script: &str) -> Value {
        let script = format!("const done = arguments[0]; (function() {{ {script} }})().then(done)");
        self.command("execute/async", &json!({"script": script, "args": []}))
    }

    /// Runs a script again and again until it returns true; some events come a moment later.
    pub fn until(&self, script: &str) {
        let start = std::time::Instant::now();
        while self.run(script) != true {
            assert!(start.elapsed() < Duration::from_secs(60), "never true: {script}");
            std::thread::sleep(Duration::from_millis(20));
        }
    }

    /// Moves the pointer to a place in the window.
    pub fn point(&self, place: (i64, i64)) {
        self.pointer(place, &[]);
    }

    /// Clicks at a place in the window.
    pub fn click(&self, place: (i64, i64)) {
        self.pointer(place, &["pointerDown", "pointerUp"]);
    }

    /// Makes the window a phone of 400 x 800 that is touched, for the pages opened from now on.
    pub fn phone(&self) {
        let send = |name: &str, parameters: Value| self.command("goog/cdp/execute", &json!({"cmd": name, "params": parameters}));
        send("Emulation.setDeviceMetricsOverride", json!({"width": 400, "height": 800, "deviceScaleFactor": 2, "mobile": true}));
        send("Emulation.setTouchEmulationEnabled", json!({"enabled": true}));
    }

    /// From now on the reader prefers dark, or light.
    #[allow(dead_code)]
    pub fn prefers(&self, scheme: &str) {
        let features = json!({"features": [{"name": "prefers-color-scheme", "value": scheme}]});
        self.command("goog/cdp/execute", &json!({"cmd": "Emulation.setEmulatedMedia", "params": features}));
    }

    /// Touches a place in the window for a moment.
    pub fn tap(&self, (x, y): (i64, i64)) {
        let actions = json!([
            {"type": "pointerMove", "duration": 0, "x": x, "y": y},
            {"type": "pointerDown", "button": 0},
            {"type": "pointerUp", "button": 0},
        ]);
        self.command(
            "actions",
            &json!({"actions": [{"type": "pointer", "id": "finger", "parameters": {"pointerType": "touch"}, "actions": actions}]}),
        );
    }

    /// Presses at a place in the window, moves to another and lets go there.
    #[allow(dead_code)]
    pub fn drag(&self, from: (i64, i64), to: (i64, i64)) {
        let place = |(x, y): (i64, i64), duration: u32| json!({"type": "pointerMove", "duration": duration, "x": x, "y": y});
        let button = |name: &str| json!({"type": name, "button": 0});
        let actions = [place(from, 0), button("pointerDown"), place(to, 200), button("pointerUp")];
        self.command("actions", &json!({"actions": [{"type": "pointer", "id": "mouse", "actions": actions}]}));
    }

    fn pointer(&self, (x, y): (i64, i64), buttons: &[&str]) {
        let mut actions = vec![json!({"type": "pointerMove", "duration": 0, "x": x, "y": y})];
        actions.extend(buttons.iter().map(|button| json!({"type": button, "button": 0})));
        self.command("actions", &json!({"actions": [{"type": "pointer", "id": "mouse", "actions": actions}]}));
    }

    /// Presses keys one after the other; Shift stays down for the keys that follow it.
    pub fn press(&self, keys: &[char]) {
        let mut actions = Vec::new();
        for &key in keys {
            actions.push(json!({"type": "keyDown", "value": key}));
            if key != SHIFT {
                actions.push(json!({"type": "keyUp", "value": key}));
            }
        }
        if keys.contains(&SHIFT) {
            actions.push(json!({"type": "keyUp", "value": SHIFT}));
        }
        self.command("actions", &json!({"actions": [{"type": "key", "id": "keys", "actions": actions}]}));
    }

    /// Nothing was logged to the console, and nothing but the page itself was asked for.
    pub fn assert_quiet(&self) {
        let console = self.command("se/log", &json!({"type": "browser"}));
        assert_eq!(console, json!([]), "the console is empty");
        let events = self.command("se/log", &json!({"type": "performance"}));
        let mut requests = 0;
        for event in events.as_array().unwrap() {
            let message: Value = serde_json::from_str(event["message"].as_str().unwrap()).unwrap();
            let (method, event) = (&message["message"]["method"], &message["message"]["params"]);
            // The browser's own first page asks for things of its own.
            let ours = event["documentURL"].as_str().is_some_and(|url| url.ends_with("/page.html"));
            if method == "Network.requestWillBeSent" && ours {
                assert_eq!(event["request"]["url"], event["documentURL"]);
                requests += 1;
            }
        }
        assert!(requests > 0, "requests were watched");
    }

    fn command(&self, name: &str, body: &Value) -> Value {
        let value = self.send("POST", &format!("/session/{}/{name}", self.session), body);
        assert!(value.get("error").is_none(), "{name}: {value}");
        value
    }

    fn send(&self, method: &str, path: &str, body: &Value) -> Value {
        self.request(method, path, body).unwrap()["value"].take()
    }

    /// One request on one connection, and its answer.
    fn request(&self, method: &str, path: &str, body: &Value) -> std::io::Result<Value> {
        let body = body.to_string();
        let mut stream = TcpStream::connect(("127.0.0.1", self.port))?;
        stream.set_read_timeout(Some(Duration::from_secs(60)))?;
        let (port, length) = (self.port, body.len());
        write!(stream, "{method} {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\n")?;
        write!(stream, "Content-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{body}")?;
        let mut reader = BufReader::new(stream);
        let mut length = 0;
        loop {
            let mut line = String::new();
            reader.read_line(&mut line)?;
            if let Some(value) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = value.trim().parse().unwrap_or(0);
            }
            if line.trim().is_empty() {
                break;
            }
        }
        let mut answer = vec![0; length];
        reader.read_exact(&mut answer)?;
        Ok(serde_json::from_slice(&answer)?)
    }
}

impl Drop for Browser {
    /// Ends the browser, then its driver, also when a test failed.
    fn drop(&mut self) {
        let _ = self.request("DELETE", &format!("/session/{}", self.session), &json!({}));
        let _ = self.driver.kill();
        let _ = self.driver.wait();
    }
}
