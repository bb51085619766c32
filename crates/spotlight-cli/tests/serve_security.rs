//! The server against those who mean it ill.

use std::io::Write;
use std::time::{Duration, Instant};

use serde_json::json;

use crate::serve::client::{Server, models, read, request};

/// No address and no name of a model reaches a file.
#[test]
fn no_path_leads_out() {
    let server = Server::start(&["seq2seq", "bags"], &[]);
    models().write("secret.txt", "TOP-SECRET\n");
    for path in [
        "/../secret.txt",
        "/..%2fsecret.txt",
        "/%2e%2e/secret.txt",
        "//etc/passwd",
        "/api/../../secret.txt",
        "/api/audit?model=../seq2seq",
        "/api/audit?model=..%2F..%2Fsecret.txt",
        "/api/audit?model=/etc/passwd%00",
        "/page/..%2f..%2fsecret.txt",
        "/seq2seq/config.toml",
    ] {
        let reply = server.get(path);
        assert!([400, 404].contains(&reply.status), "{path}: {}", reply.status);
        assert!(!reply.body.contains("TOP-SECRET") && !reply.body.contains("root:"), "{path}");
    }
    for name in ["../seq2seq", "/etc/passwd", "secret.txt", "seq2seq/../seq2seq", ""] {
        assert_eq!(server.predict(&json!({"model": name, "texts": ["x"]})).status, 404, "{name}");
    }
    // A task that is asked by files takes no name of one.
    for text in ["secret.txt", "../secret.txt", "/etc/passwd", "-"] {
        let reply = server.predict(&json!({"model": "bags", "texts": [text]}));
        assert!(reply.status == 422 && !reply.body.contains("TOP-SECRET") && !reply.body.contains("root:"), "{text}: {}", reply.body);
    }
}

#[test]
fn no_other_site_can_use_it() {
    let server = Server::start(&["seq2seq"], &[]);
    let ask = json!({"texts": ["two"]}).to_string();
    let with = |host: &str, origin: &str| {
        let length = ask.len();
        server.send(&format!(
            "POST /api/predict HTTP/1.1\r\nHost: {host}\r\n{origin}Content-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{ask}"
        ))
    };
    let own = format!("localhost:{}", server.port);
    assert_eq!(with(&own, "").status, 200);
    assert_eq!(with(&own, &format!("Origin: http://{own}\r\n")).status, 200);
    // A name that was made to point here, and a page elsewhere.
    assert_eq!(with(&format!("evil.example:{}", server.port), "").status, 403);
    assert_eq!(with(&own, "Origin: http://evil.example\r\n").status, 403);
    assert_eq!(with(&own, "Origin: null\r\n").status, 403);
    assert_eq!(with(&own, &format!("Origin: http://localhost:{}\r\n", server.port.wrapping_add(1))).status, 403);
    // A browser's question beforehand gets no permission.
    let preflight = server.send(&format!(
        "OPTIONS /api/predict HTTP/1.1\r\nHost: {own}\r\nOrigin: http://evil.example\r\nAccess-Control-Request-Method: POST\r\nConnection: close\r\n\r\n"
    ));
    assert_eq!(preflight.status, 403);
    assert!(preflight.header("access-control-allow-origin").is_none());
    for path in ["/health", "/api/models", "/nothing"] {
        let reply = server.get(path);
        assert!(reply.header("content-security-policy").unwrap().contains("default-src 'none'"), "{path}");
        assert_eq!(reply.header("x-content-type-options"), Some("nosniff"));
        assert!(reply.header("access-control-allow-origin").is_none());
    }
}

#[test]
fn a_key_is_needed_and_never_told() {
    let key = "correct-horse-battery";
    let server = Server::start(&["seq2seq"], &["--api-key", key, "--metrics", "--log", "json"]);
    let ask = json!({"texts": ["my-private-text"]}).to_string();
    for wrong in [
        "",
        "Authorization: Bearer wrong-key-entirely\r\n",
        "Authorization: Bearer correct-horse-batter\r\n",
        "Authorization: Basic correct-horse-battery\r\n",
    ] {
        let reply = server.post("/api/predict", &ask, wrong);
        assert_eq!(reply.status, 401, "{wrong}");
        assert!(!reply.body.contains(key));
    }
    for path in ["/api/models", "/api/audit", "/metrics", "/api/nothing"] {
        assert_eq!(server.get(path).status, 401, "{path}");
    }
    assert_eq!(server.get("/health").status, 200);
    assert_eq!(server.post("/api/predict", &ask, &format!("Authorization: Bearer {key}\r\n")).status, 200);
    server.send(&format!("GET /api/models?key={key} HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nConnection: close\r\n\r\n", server.port));
    server.until("eleven lines", |s| s.log().lines().count() >= 11);
    let log = server.log();
    assert!(!log.contains(key) && !log.contains("my-private-text") && !log.contains("battery"), "{log}");
}

#[test]
fn hostile_requests_are_refused_and_the_server_lives() {
    let server = Server::start(&["seq2seq", "classify"], &["--read-timeout", "1", "--max-body", "300000"]);
    let port = server.port;
    // Nesting as deep as a body allows, in every place.
    for deep in [
        format!("{}{}", "[".repeat(100_000), "]".repeat(100_000)),
        format!("{{\"texts\":{}", "[".repeat(200_000)),
        "{\"a\":".repeat(50_000),
    ] {
        assert_eq!(server.post("/api/predict", &deep, "").status, 400);
    }
    for broken in ["", "{", "null", "\u{0}", "{\"texts\":[\"\\ud800\"]}", "{\"texts\":[1e999]}"] {
        assert_eq!(server.post("/api/predict", broken, "").status, 400, "{broken:?}");
    }
    // Headers: too many, too large, endless.
    let many: String = (0..500).map(|i| format!("X-{i}: y\r\n")).collect();
    assert_eq!(server.send(&format!("GET /health HTTP/1.1\r\nHost: localhost:{port}\r\n{many}\r\n")).status, 431);
    let large = format!("X: {}\r\n", "y".repeat(200_000));
    assert_eq!(server.send(&format!("GET /health HTTP/1.1\r\nHost: localhost:{port}\r\n{large}\r\n")).status, 431);
    // Texts of every odd kind are answered, or refused; nothing else.
    let odd =
        ["\u{0}", "\u{202e}abc\u{2066}", "💥👩‍👩‍👧", "<script>alert(1)</script>", "a\tb\tc\td", "\u{feff}", "\u{1b}[31m", "%s%n", "\u{10ffff}"];
    for model in ["seq2seq", "classify"] {
        let reply = server.predict(&json!({"model": model, "texts": odd}));
        assert_eq!(reply.status, 200, "{}", reply.body);
        assert_eq!(reply.header("content-type"), Some("application/json"));
        assert_eq!(reply.json()["answers"].as_array().unwrap().len(), odd.len());
    }
    // Every text again without each of its words: not of that many.
    let reply = server.predict(&json!({"model": "classify", "texts": vec!["x ".repeat(1000); 20], "views": true}));
    assert!(reply.status == 422 && reply.body.contains("views of so much"), "{}", reply.body);
    // A log line stays a line.
    server.get("/x%0a200%20GET%20/forged");
    // Slow ones: half a head, half a body. They are let go; others are answered meanwhile.
    let begun = Instant::now();
    let mut slow_head = server.connect();
    slow_head.write_all(b"GET /health HTTP/1.1\r\nHo").unwrap();
    let mut slow_body = server.connect();
    slow_body.write_all(&request(port, "/api/predict", &json!({"texts": ["two"]}).to_string(), "").as_bytes()[..135]).unwrap();
    assert_eq!(server.get("/health").status, 200);
    assert_eq!(read(slow_body).status, 408);
    let mut rest = Vec::new();
    let _ = std::io::Read::read_to_end(&mut slow_head, &mut rest);
    assert!(begun.elapsed() < Duration::from_secs(30));
    // A body that says it is larger than it may be.
    let huge = format!(
        "POST /api/predict HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Type: application/json\r\nContent-Length: 99999999999\r\nConnection: close\r\n\r\n"
    );
    assert_eq!(server.send(&huge).status, 413);
    let endless = format!(
        "POST /api/predict HTTP/1.1\r\nHost: localhost:{port}\r\nContent-Type: application/json\r\nTransfer-Encoding: chunked\r\nConnection: close\r\n\r\n{}",
        "4000\r\n".to_string() + &" ".repeat(0x4000) + "\r\n"
    );
    let body = "4000\r\n".to_string() + &" ".repeat(0x4000) + "\r\n";
    assert_eq!(server.send(&(endless + &body.repeat(30))).status, 413);
    assert_eq!(server.get("/health").status, 200);
    assert!(!server.log().contains("panicked"), "{}", server.log());
}

/// Who asks for much and takes nothing is let go, and holds no place for others.
#[test]
fn an_answer_that_nobody_takes_is_given_up() {
    let server = Server::start(&["seq2seq"], &["--read-timeout", "1", "--connections", "1"]);
    // A hundred forced units of a hundred weights, two hundred times: more than the buffers between the two hold.
    let ask = json!({"texts": vec!["MCMLXXXIV ".repeat(10); 200], "force": vec!["1"; 100]});
    let mut stream = server.connect();
    stream.write_all(request(server.port, "/api/predict", &ask.to_string(), "").as_bytes()).unwrap();
    // There is room for one connection: this is answered when the other is given up.
    assert_eq!(server.get("/health").status, 200);
    let mut bytes = Vec::new();
    let _ = std::io::Read::read_to_end(&mut stream, &mut bytes);
    let head = String::from_utf8_lossy(&bytes).into_owned();
    let length = head.lines().find_map(|line| line.to_ascii_lowercase().strip_prefix("content-length: ").map(String::from));
    assert!(bytes.len() < length.unwrap().parse::<usize>().unwrap(), "all of it was taken");
}
