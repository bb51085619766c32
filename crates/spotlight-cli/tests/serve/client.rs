//! A server to ask, and HTTP as plain as a test wants it.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::TcpStream;
use std::path::PathBuf;
use std::process::{Child, Stdio};
use std::sync::{Mutex, OnceLock};
use std::time::Duration;

use serde_json::{Value, json};

use crate::common::{Place, command, err, run};

/// Where the models of all tests are; trained once.
pub fn models() -> &'static Place {
    static MODELS: OnceLock<Place> = OnceLock::new();
    MODELS.get_or_init(|| {
        let place = Place::new();
        let data = |name: &str| format!("{}/../../examples/data/{name}", env!("CARGO_MANIFEST_DIR"));
        // Greedy: of what has learnt so little a beam would rather write nothing; and with the weights that write something with one, too.
        const SMALL: [&str; 5] = ["model.embedding=8", "model.hidden=16", "train.epochs=2", "train.all=false", "search.beam=1"];
        let small = |more: &[&'static str]| [&SMALL[..], more].concat();
        for (name, task, file, settings) in [
            ("seq2seq", "seq2seq", "numerals.tsv", small(&[])),
            ("kept", "seq2seq", "numerals.tsv", small(&["train.keep=[1]"])),
            ("two-heads", "seq2seq", "numerals.tsv", small(&["attention.heads=2"])),
            (
                "transformer",
                "seq2seq",
                "numerals.tsv",
                // Long enough to write something.
                small(&["model.architecture=transformer", "transformer.heads=2", "model.decoder_layers=1", "train.epochs=16"]),
            ),
            ("classify", "classify", "messages.tsv", vec!["train.epochs=2"]),
            ("classify-heads", "classify", "messages.tsv", vec!["train.epochs=2", "model.form=pooled", "attention.heads=2"]),
            ("match", "match", "questions.tsv", vec!["model.embedding=8", "model.hidden=8", "train.epochs=1"]),
            ("evidence", "match", "questions.tsv", vec![]),
            ("bags", "bags", "coins.csv", vec!["train.epochs=2"]),
        ] {
            let file = data(file);
            let mut arguments = vec!["train", "--task", task, "--train", &file, "--out", name];
            settings.iter().for_each(|setting| arguments.extend(["--set", setting]));
            let output = run(&place, &arguments);
            assert!(output.status.success(), "{}", err(&output));
        }
        place
    })
}

/// What the Transformer of these tests answers with several units.
pub const LONG: &str = "III";

/// A server that runs until it is dropped.
pub struct Server {
    process: Child,
    pub port: u16,
    log: std::sync::Arc<Mutex<String>>,
    reader: Option<std::thread::JoinHandle<()>>,
}

/// An answer.
pub struct Reply {
    pub status: u16,
    pub headers: Vec<(String, String)>,
    pub body: String,
}

impl Reply {
    pub fn header(&self, name: &str) -> Option<&str> {
        self.headers.iter().find(|(n, _)| n == name).map(|(_, value)| value.as_str())
    }

    pub fn json(&self) -> Value {
        serde_json::from_str(&self.body).unwrap_or_else(|e| panic!("{e}: {}", self.body))
    }
}

impl Server {
    /// Serves models of [`models`] with more arguments.
    pub fn start(names: &[&str], extra: &[&str]) -> Self {
        let folders: Vec<PathBuf> = names.iter().map(|name| models().path(name)).collect();
        let folders: Vec<&str> = folders.iter().map(|folder| folder.to_str().unwrap()).collect();
        Self::of(&folders, extra)
    }

    pub fn of(folders: &[&str], extra: &[&str]) -> Self {
        let place = models();
        let arguments = [&["serve", "--port", "0"], folders, extra].concat();
        let mut process = command(place, &arguments).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
        let log = std::sync::Arc::new(Mutex::new(String::new()));
        let (errors, kept) = (process.stderr.take().unwrap(), log.clone());
        let reader = std::thread::spawn(move || {
            for line in BufReader::new(errors).lines().map_while(Result::ok) {
                kept.lock().unwrap().push_str(&(line + "\n"));
            }
        });
        let mut line = String::new();
        BufReader::new(process.stdout.take().unwrap()).read_line(&mut line).unwrap();
        let port = line.trim().trim_end_matches('/').rsplit(':').next().and_then(|port| port.parse().ok());
        let port = port.unwrap_or_else(|| panic!("no address: {line:?}, {}", log.lock().unwrap()));
        Server { process, port, log, reader: Some(reader) }
    }

    /// What was logged so far.
    pub fn log(&self) -> String {
        self.log.lock().unwrap().clone()
    }

    /// Waits until something holds.
    pub fn until(&self, what: &str, holds: impl Fn(&Self) -> bool) {
        for _ in 0..1000 {
            if holds(self) {
                return;
            }
            std::thread::sleep(Duration::from_millis(20));
        }
        panic!("never: {what}\n{}", self.log());
    }

    pub fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(("127.0.0.1", self.port)).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(60))).unwrap();
        stream
    }

    pub fn get(&self, path: &str) -> Reply {
        self.send(&format!("GET {path} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\r\n", self.port))
    }

    pub fn predict(&self, ask: &Value) -> Reply {
        self.post("/api/predict", &ask.to_string(), "")
    }

    /// Posts JSON with more headers, each with its line end.
    pub fn post(&self, path: &str, body: &str, headers: &str) -> Reply {
        self.send(&request(self.port, path, body, headers))
    }

    /// Sends bytes and reads the answer to the end of the connection.
    pub fn send(&self, request: &str) -> Reply {
        let mut stream = self.connect();
        // A server may refuse before it has read everything.
        let _ = stream.write_all(request.as_bytes());
        read(stream)
    }

    /// Sends a signal.
    pub fn signal(&self, name: &str) {
        let sent = std::process::Command::new("kill").args(["-s", name, &self.process.id().to_string()]).status().unwrap();
        assert!(sent.success());
    }

    /// Waits for its end.
    pub fn wait(mut self) -> (Option<i32>, String) {
        let code = self.process.wait().unwrap().code();
        if let Some(reader) = self.reader.take() {
            reader.join().unwrap();
        }
        (code, self.log())
    }
}

impl Drop for Server {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

/// A request as it goes over the wire.
pub fn request(port: u16, path: &str, body: &str, headers: &str) -> String {
    let length = body.len();
    format!(
        "POST {path} HTTP/1.1\r\nHost: 127.0.0.1:{port}\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n{headers}\r\n{body}"
    )
}

/// Reads an answer of a connection that is closed after it.
pub fn read(mut stream: TcpStream) -> Reply {
    let mut bytes = Vec::new();
    // A connection that is reset after the answer has still answered.
    let _ = stream.read_to_end(&mut bytes);
    let text = String::from_utf8(bytes).unwrap();
    let (head, body) = text.split_once("\r\n\r\n").unwrap_or_else(|| panic!("no answer: {text:?}"));
    let mut lines = head.lines();
    let status = lines.next().unwrap().split(' ').nth(1).unwrap().parse().unwrap();
    let headers = lines.filter_map(|line| line.split_once(": ")).map(|(n, v)| (n.to_ascii_lowercase(), v.to_string())).collect();
    Reply { status, headers, body: body.to_string() }
}

/// Something to ask each model.
pub fn question(task: &str) -> Value {
    match task {
        "seq2seq" => json!(["XLII", "VII", "CMI"]),
        "classify" => json!(["call me at noon", "win a prize now"]),
        "match" => json!(["who sleeps?\tthe cat sleeps", "who sleeps?\tthe sun shines"]),
        _ => std::fs::read_to_string(format!("{}/../../examples/data/coins.csv", env!("CARGO_MANIFEST_DIR")))
            .unwrap()
            .lines()
            .take(40)
            .collect(),
    }
}
