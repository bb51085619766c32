//! `spotlight serve`, asked as a client asks: its answers are those of `predict --json`, to the byte, alone and among others.

pub mod client;
mod schema;

use std::io::{Read, Write};

use serde_json::{Value, json};

use crate::common::{command, err, feed, out, run};
use client::{Server, models, question, read, request};

const TASKS: [&str; 4] = ["seq2seq", "classify", "match", "bags"];

/// What `predict --json` prints for the same.
fn predicted(task: &str, texts: &Value, options: &[&str]) -> String {
    let lines: String = texts.as_array().unwrap().iter().map(|text| format!("{}\n", text.as_str().unwrap())).collect();
    let output = match task {
        "bags" => {
            models().write("rows.csv", &lines);
            run(models(), &[&["predict", task, "rows.csv", "--json"], options].concat())
        }
        _ => feed(models(), &[&["predict", task, "--json"], options].concat(), lines.as_bytes()),
    };
    out(&output)
}

#[test]
fn answers_are_those_of_predict() {
    let server = Server::start(&TASKS, &[]);
    for task in TASKS {
        let texts = question(task);
        let expected = predicted(task, &texts, &[]);
        let ask = json!({"model": task, "texts": texts});
        let reply = server.post("/api/predict", &ask.to_string(), "Accept: application/x-ndjson\r\n");
        assert_eq!((reply.status, &reply.body), (200, &expected), "{task}");
        // The same lines in an object.
        let reply = server.predict(&ask);
        let inner: Vec<&str> = expected.lines().collect();
        assert_eq!(reply.body, format!("{{\"model\":\"{task}\",\"answers\":[\n{}\n]}}\n", inner.join(",\n")));
        assert!(reply.header("server-timing").unwrap().starts_with("queue;dur="));
    }
    // Options mean what they mean there; lines that cannot be read, too.
    let texts = json!(["XLII", "", "\u{feff}x\tone column too many\tand another"]);
    for (options, n_best, asked) in [
        (json!({"beam": 3}), json!(2), &["--beam", "3", "--n-best", "2"][..]),
        (
            json!({"beam": 2, "length_penalty": 0.5, "coverage_penalty": 0.1, "copy_unknown": true}),
            json!(null),
            &["--beam", "2", "--length-penalty", "0.5", "--coverage-penalty", "0.1", "--copy-unknown"],
        ),
        (json!({"sample": 0.8, "seed": 5}), json!(3), &["--sample", "0.8", "--seed", "5", "--n-best", "3"]),
    ] {
        let ask = json!({"model": "seq2seq", "texts": texts, "options": options, "n_best": n_best}).to_string();
        let reply = server.post("/api/predict", &ask, "Accept: application/x-ndjson\r\n");
        assert_eq!(reply.body, predicted("seq2seq", &texts, asked), "{options}");
    }
    let reply = server.predict(&json!({"model": "classify", "texts": ["  ", "hello"]}));
    assert_eq!(reply.json()["answers"][0]["error"].as_str().map(|e| e.starts_with("-:1:")), Some(true), "{}", reply.body);
}

#[test]
fn requests_are_joined_and_every_client_gets_its_own_answers() {
    let server = Server::start(&["seq2seq"], &["--metrics"]);
    let texts: Vec<String> = (0..40).map(|i| ["I", "XX", "XLV", "CD"][i % 4].repeat(1 + i % 3) + &"V".repeat(i % 7)).collect();
    let expected = predicted("seq2seq", &json!(texts), &[]);
    let expected: Vec<&str> = expected.lines().collect();
    std::thread::scope(|scope| {
        for (i, text) in texts.iter().enumerate() {
            let (server, expected) = (&server, &expected);
            scope.spawn(move || {
                let reply = server.post("/api/predict", &json!({"texts": [text]}).to_string(), "Accept: application/x-ndjson\r\n");
                assert_eq!((reply.status, reply.body.trim_end()), (200, expected[i]));
            });
        }
    });
    let metrics = server.get("/metrics").body;
    let count = |name: &str| -> f64 { metrics.lines().find_map(|l| l.strip_prefix(name)).unwrap().trim().parse().unwrap() };
    assert_eq!(count("spotlight_texts_total"), 40.0);
    assert_eq!(count("spotlight_requests_total{path=\"/api/predict\",status=\"200\"}"), 40.0);
    assert!(count("spotlight_batches_total") < 40.0, "{metrics}");
}

#[test]
fn the_description_describes_the_answers() {
    let server = Server::start(&TASKS, &["--metrics"]);
    models().write("seq2seq/audit.json", "{\"verdict\": \"steady\"}");
    let all = server.get("/openapi.json").json();
    let schema = |path: &str, method: &str, status: u16| {
        let response = &all["paths"][path][method]["responses"][status.to_string()];
        assert!(response.is_object(), "{method} {path} {status} is not described");
        response["content"]["application/json"]["schema"].clone()
    };
    let fits = |path: &str, method: &str, reply: &client::Reply| {
        let checked = schema::check(&reply.json(), &schema(path, method, reply.status), &all);
        assert!(checked.is_ok(), "{path}: {checked:?}");
    };
    for (path, status) in [
        ("/api/models", 200),
        ("/health", 200),
        ("/openapi.json", 200),
        ("/api/audit?model=seq2seq", 200),
        ("/api/audit?model=bags", 404),
        ("/api/audit", 422),
    ] {
        let reply = server.get(path);
        assert_eq!(reply.status, status, "{path}: {}", reply.body);
        fits(path.split('?').next().unwrap(), "get", &reply);
    }
    for task in TASKS {
        for attention in [true, false] {
            let reply = server.predict(&json!({"model": task, "texts": question(task), "attention": attention}));
            assert_eq!(reply.status, 200);
            fits("/api/predict", "post", &reply);
            assert_eq!(reply.body.contains("\"attention\""), attention, "{task}");
        }
    }
    let edits = json!([{"step": 0, "weights": [1, 2]}]);
    let reply = server.predict(
        &json!({"model": "seq2seq", "texts": ["XL"], "alternatives": 3, "edits": edits, "force": ["4"], "step": 1, "targets": ["40"]}),
    );
    assert_eq!(reply.status, 200, "{}", reply.body);
    fits("/api/predict", "post", &reply);
    let answer = &reply.json()["answers"][0];
    assert!(["thoughts", "step", "target"].iter().all(|name| answer[name].is_object() || answer[name].is_array()), "{answer}");
    let near = server.predict(&json!({"model": "seq2seq", "texts": ["XL"], "step": 0, "nearest": 3}));
    fits("/api/predict", "post", &near);
    assert_eq!(near.json()["answers"][0]["nearest"].as_array().map(Vec::len), Some(3));
    for task in ["classify", "match", "bags"] {
        let plain = server.predict(&json!({"model": task, "texts": question(task)})).json()["answers"].clone();
        // Candidates come back ranked; weights are put into the first that was asked about.
        let first = plain.as_array().unwrap().iter().find(|answer| answer["answer"] == "the cat sleeps").unwrap_or(&plain[0]);
        let units = first["answer_tokens"].as_array().or(first["attention"].as_array()).unwrap().len();
        let edits = json!([{"step": 0, "weights": vec![1; units]}]);
        let reply = server.predict(&json!({"model": task, "texts": question(task), "views": true, "edits": edits, "nearest": 2}));
        assert_eq!(reply.status, 200, "{task}: {}", reply.body);
        fits("/api/predict", "post", &reply);
        let answers = &reply.json()["answers"];
        assert_eq!(answers.as_array().unwrap().len(), plain.as_array().unwrap().len());
        let answer = &answers[0];
        assert!(["edited", "views", "nearest"].iter().all(|name| answer[name].is_object() || answer[name].is_array()), "{answer}");
        assert_eq!(answer["parts"].is_array(), task == "match");
        // Played with or not, the answer itself is the same.
        let same =
            plain.as_array().unwrap().iter().any(|plain| plain.as_object().unwrap().iter().all(|(name, value)| answer[name] == *value));
        assert!(same, "{task}: {answer}");
    }
    let unread = server.predict(&json!({"model": "classify", "texts": [" "]}));
    fits("/api/predict", "post", &unread);
    // Every field of a request is described, and what is described is a field.
    let described = &all["components"]["schemas"]["Predict"]["properties"];
    for name in described.as_object().unwrap().keys() {
        let reply = server.predict(&json!({"texts": ["x"], "model": "seq2seq", name: null}));
        assert!(!reply.body.contains("unknown field"), "{name}: {}", reply.body);
    }
    // A verdict about other weights is none.
    models().write("classify/audit.json", format!("{{\"verdict\": {{}}, \"weights\": \"{}\"}}", "0".repeat(64)));
    assert!(server.get("/api/audit?model=classify").body.contains("learnt more since"));
    assert!(server.predict(&json!({"texts": ["x"], "other": 1})).body.contains("unknown field"));
    assert_eq!(server.get("/metrics").header("content-type"), Some("text/plain; version=0.0.4"));
}

/// The layers of a Transformer over HTTP are those that `look` draws.
#[test]
fn layers_of_a_transformer_are_told() {
    let server = Server::start(&["transformer", "seq2seq"], &[]);
    let all = server.get("/openapi.json").json();
    let schema = &all["paths"]["/api/predict"]["post"]["responses"]["200"]["content"]["application/json"]["schema"];
    let served = server.get("/api/models").json()["models"].clone();
    assert_eq!((&served[0]["layers"]["decoder"], &served[0]["layers"]["heads"]), (&json!(1), &json!(2)));
    assert!(served[1]["layers"].is_null());
    for view in ["cross", "encoder", "decoder", "rollout"] {
        let reply = server.predict(&json!({"model": "transformer", "texts": [client::LONG, "IV"], "layers": view}));
        schema::check(&reply.json(), schema, &all).unwrap();
        let drawn = crate::common::right(models(), &["look", "transformer", client::LONG, "--view", view, "--format", "json"]);
        let drawn: serde_json::Value = serde_json::from_str(&drawn).unwrap();
        let told = &reply.json()["answers"][0]["layers"][0];
        for field in ["view", "source", "output"] {
            assert_eq!(told[field], drawn[field], "{view} {field}");
        }
        let first = |stack: &serde_json::Value| stack["layers"][0]["panels"][0]["weights"][1][0].as_f64().unwrap() as f32;
        assert_eq!(first(told), first(&drawn), "{view}");
        assert_eq!(reply.body.contains("null"), view == "decoder", "{view}");
    }
    for (ask, why) in [
        (json!({"model": "seq2seq", "texts": ["XL"], "layers": "cross"}), "no such attention"),
        (json!({"model": "transformer", "texts": ["XL"], "layers": "cross", "alternatives": 2}), "ask for them alone"),
        (json!({"model": "transformer", "texts": ["X".repeat(1500)], "layers": "encoder"}), "send fewer or shorter texts"),
    ] {
        let reply = server.predict(&ask);
        assert_eq!(reply.status, 422, "{ask}: {}", reply.body);
        assert!(reply.json()["why"].as_str().unwrap().contains(why), "{ask}: {}", reply.body);
    }
}

#[test]
fn refusals_say_what_and_why() {
    let limits = ["--max-texts", "3", "--max-chars", "20", "--max-beam", "4", "--max-body", "2000"];
    let server = Server::start(&["seq2seq"], &limits);
    let all = server.get("/openapi.json").json();
    for (ask, status, why) in [
        (json!({"texts": []}), 422, "texts is empty"),
        (json!({"texts": ["a", "b", "c", "d"]}), 422, "4 texts: at most 3"),
        (json!({"texts": ["x".repeat(21)]}), 422, "texts[0] has 21 characters: at most 20"),
        (json!({"texts": ["a\nb"]}), 422, "line break"),
        (json!({"texts": ["a"], "n_best": 5}), 422, "n_best is 5: expected 1 to 4"),
        (json!({"texts": ["a"], "options": {"beam": 0}}), 422, "options.beam is 0"),
        (json!({"texts": ["a"], "n_best": 3, "options": {"beam": 2}}), 422, "n_best 3 needs beam 3 or more"),
        (json!({"texts": ["a"], "options": {"sample": -1.0}}), 422, "the temperature must be above 0"),
        (json!({"texts": ["a"], "force": ["?"]}), 422, "a unit to force"),
        (json!({"texts": ["XL"], "edits": [{"step": 0, "weights": [1]}]}), 422, "2, one for each unit of the source"),
        (json!({"texts": ["a"], "alternatives": 99}), 422, "at most 32"),
        (json!({"texts": ["a"], "step": 0, "nearest": 99}), 422, "nearest is 99: at most 32"),
        (json!({"texts": ["a"], "nearest": 3}), 422, "nearest needs step"),
        (json!({"texts": ["a"], "views": true}), 422, "views is for models that judge"),
        (json!({"texts": ["a"], "targets": ["b", "c"]}), 422, "2 targets for 1 texts"),
        (json!({"texts": ["a"], "model": "other"}), 404, "there are: seq2seq"),
        (json!({"texts": "a"}), 400, "expected a sequence"),
        (json!({"texts": ["a"], "beam": 3}), 400, "unknown field `beam`"),
        (json!({"texts": ["a"], "model": "x".repeat(3000)}), 413, "at most 2000 bytes"),
    ] {
        let reply = server.predict(&ask);
        let said = reply.json();
        assert_eq!(reply.status, status, "{ask}: {}", reply.body);
        assert!(said["why"].as_str().unwrap().contains(why), "{ask}: {said}");
        let schema = &all["paths"]["/api/predict"]["post"]["responses"][status.to_string()]["content"]["application/json"]["schema"];
        schema::check(&said, schema, &all).unwrap();
    }
    assert_eq!(server.get("/api/predict").status, 405);
    assert_eq!(server.get("/nothing").status, 404);
    let plain = format!(
        "POST /api/predict HTTP/1.1\r\nHost: 127.0.0.1:{}\r\nContent-Type: text/plain\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{{}}",
        server.port
    );
    assert_eq!(server.send(&plain).status, 415);
}

#[test]
fn a_full_queue_refuses_and_loses_nothing() {
    let server = Server::start(&["seq2seq"], &["--queue", "2", "--threads", "1"]);
    let texts: Vec<String> = (0..64).map(|i| format!("{}{}", "MCMLXXXIV ".repeat(5), i)).collect();
    let ask = json!({"texts": texts, "options": {"beam": 4}}).to_string();
    let statuses: Vec<(u16, Option<String>)> = std::thread::scope(|scope| {
        let asking: Vec<_> = (0..8)
            .map(|_| {
                scope.spawn(|| {
                    let reply = server.post("/api/predict", &ask, "");
                    if reply.status == 200 {
                        assert_eq!(reply.json()["answers"].as_array().unwrap().len(), 64);
                    }
                    (reply.status, reply.header("retry-after").map(String::from))
                })
            })
            .collect();
        asking.into_iter().map(|thread| thread.join().unwrap()).collect()
    });
    assert!(statuses.iter().all(|(status, _)| [200, 429].contains(status)), "{statuses:?}");
    assert!(statuses.iter().filter(|(status, _)| *status == 429).all(|(_, retry)| retry.as_deref() == Some("1")), "{statuses:?}");
    let refused = statuses.iter().filter(|(status, _)| *status == 429).count();
    assert!((1..8).contains(&refused), "{statuses:?}");
}

/// What takes too long is given up, said so, and no longer worked for.
#[test]
fn what_is_not_answered_in_time_is_given_up() {
    let server = Server::start(&["seq2seq"], &["--threads", "1", "--timeout", "1"]);
    let texts: Vec<String> = (0..256).map(|i| format!("{}{}", "MCMLXXXIV ".repeat(19), i)).collect();
    let reply = server.predict(&json!({"texts": texts, "options": {"beam": 32}}));
    assert_eq!((reply.status, reply.json()["why"].as_str()), (503, Some("not answered in 1 s")), "{}", reply.body);
    server.until("an answer to somebody else", |s| s.predict(&json!({"texts": ["II"]})).status == 200);
}

#[test]
fn who_goes_away_is_not_worked_for() {
    let server = Server::start(&["seq2seq"], &["--threads", "1", "--metrics", "--log", "json"]);
    let texts: Vec<String> = (0..256).map(|i| format!("{}{}", "MCMLXXXIV ".repeat(19), i)).collect();
    let ask = json!({"texts": texts, "options": {"beam": 16}}).to_string();
    // One is computed, others wait; all leave.
    let mut clients: Vec<_> = (0..12).map(|_| server.connect()).collect();
    for client in &mut clients {
        client.write_all(request(server.port, "/api/predict", &ask, "").as_bytes()).unwrap();
    }
    std::thread::sleep(std::time::Duration::from_millis(30));
    drop(clients);
    server.until("twelve lines of clients that went away", |s| s.log().matches("\"status\":499").count() == 12);
    // Somebody who stays does not wait for them.
    assert_eq!(server.predict(&json!({"texts": ["II"]})).status, 200);
    let metrics = server.get("/metrics").body;
    let texts: f64 = metrics.lines().find_map(|l| l.strip_prefix("spotlight_texts_total ")).unwrap().parse().unwrap();
    assert!(texts < 12.0 * 256.0, "all of {texts} texts were begun");
}

#[test]
fn a_changed_folder_is_read_again() {
    let place = models();
    let copy = place.path("copy");
    let all = |from: &str| {
        std::fs::create_dir_all(&copy).unwrap();
        // What only the model before had would be the next one's, too.
        std::fs::remove_file(copy.join("calibration.toml")).ok();
        for file in std::fs::read_dir(place.path(from)).unwrap().map(Result::unwrap).filter(|f| f.path().is_file()) {
            std::fs::copy(file.path(), copy.join(file.file_name())).unwrap();
        }
    };
    let other =
        ["train", "--task", "seq2seq", "--train", "pairs.tsv", "--out", "other", "--set", "model.hidden=8", "--set", "train.epochs=1"];
    place.pairs("pairs.tsv", 60);
    assert!(run(place, &other).status.success());
    all("seq2seq");
    let server = Server::of(&[copy.to_str().unwrap()], &[]);
    let ask = json!({"texts": ["II"]});
    let before = server.predict(&ask).body;
    assert_eq!(server.get("/api/models").json()["models"][0]["version"], 1);
    // Half a model: the one before goes on.
    std::fs::write(copy.join("model.safetensors"), b"broken").unwrap();
    server.until("a word about the broken one", |s| s.log().contains("the one before goes on answering"));
    assert_eq!(server.predict(&ask).body, before);
    // A whole one takes its place.
    all("other");
    server.until("version 2", |s| s.get("/api/models").json()["models"][0]["version"] == 2);
    let after = server.predict(&ask).body;
    assert_ne!(after, before);
    let expected = out(&feed(place, &["predict", "other", "--json"], b"II\n"));
    assert!(after.contains(expected.trim_end()), "{after}");
}

#[test]
fn a_signal_lets_what_is_under_way_end() {
    let server = Server::start(&["seq2seq"], &["--threads", "1", "--log", "json"]);
    let texts: Vec<String> = (0..60).map(|i| format!("{}{}", "MCMLXXXIV ".repeat(5), i)).collect();
    let mut stream = server.connect();
    stream
        .write_all(request(server.port, "/api/predict", &json!({"texts": texts, "options": {"beam": 2}}).to_string(), "").as_bytes())
        .unwrap();
    std::thread::sleep(std::time::Duration::from_millis(100));
    server.signal("TERM");
    let reply = read(stream);
    assert_eq!((reply.status, reply.json()["answers"].as_array().map(Vec::len)), (200, Some(60)));
    let (code, log) = server.wait();
    assert_eq!(code, Some(0), "{log}");
    // One line a request, and it is JSON.
    let line: Value = log.lines().filter(|line| line.starts_with('{')).map(|line| serde_json::from_str(line).unwrap()).next().unwrap();
    assert_eq!(
        (&line["status"], &line["texts"], &line["model"], &line["path"]),
        (&json!(200), &json!(60), &json!("seq2seq"), &json!("/api/predict"))
    );
}

/// A server that is killed takes nothing with it but what was under way: what was answered was whole, its models are as they were, and the next one answers the same.
#[test]
fn a_killed_server_loses_nothing_but_what_was_under_way() {
    let contents = || {
        let mut files: Vec<_> = std::fs::read_dir(models().path("seq2seq")).unwrap().map(|file| file.unwrap().path()).collect();
        files.sort();
        // Another test writes a verdict there.
        let files = files.into_iter().filter(|path| path.is_file() && !path.ends_with("audit.json"));
        files.map(|path| (path.clone(), std::fs::read(path).unwrap())).collect::<Vec<_>>()
    };
    let before = contents();
    let small = json!({"texts": ["XLII"]});
    let expected = predicted("seq2seq", &small["texts"], &[]);
    let texts: Vec<String> = (0..256).map(|i| format!("{}{}", "MCMLXXXIV ".repeat(5), i)).collect();
    let large = json!({"texts": texts, "options": {"beam": 8}}).to_string();
    let server = Server::start(&["seq2seq"], &["--threads", "1"]);
    let reply = server.predict(&small);
    assert!(reply.status == 200 && reply.body.contains(expected.trim_end()));
    let mut under_way = server.connect();
    under_way.write_all(request(server.port, "/api/predict", &large, "").as_bytes()).unwrap();
    std::thread::sleep(std::time::Duration::from_millis(100));
    server.signal("KILL");
    // Cut off before a word of it: no half answer that looks like one.
    let mut rest = Vec::new();
    let _ = under_way.read_to_end(&mut rest);
    assert!(rest.is_empty(), "{}", String::from_utf8_lossy(&rest));
    let (code, _) = server.wait();
    assert_eq!(code, None, "killed by a signal");
    assert!(contents() == before, "the model's files are as they were");
    let again = Server::start(&["seq2seq"], &[]);
    assert!(again.predict(&small).body.contains(expected.trim_end()));
    assert_eq!(again.post("/api/predict", &large, "").json()["answers"].as_array().map(Vec::len), Some(256));
}

#[test]
fn a_kept_connection_answers_again() {
    let server = Server::start(&["seq2seq"], &[]);
    let mut stream = server.connect();
    for _ in 0..3 {
        write!(stream, "GET /health HTTP/1.1\r\nHost: localhost:{}\r\n\r\n", server.port).unwrap();
        let mut bytes = [0; 4096];
        let read = stream.read(&mut bytes).unwrap();
        assert!(String::from_utf8_lossy(&bytes[..read]).starts_with("HTTP/1.1 200"));
    }
}

#[test]
fn wrong_usage_is_told() {
    let place = models();
    let output = command(place, &["serve", "seq2seq", "--host", "0.0.0.0"]).env_remove("SPOTLIGHT_API_KEY").output().unwrap();
    assert_eq!(output.status.code(), Some(2));
    assert!(err(&output).contains("--api-key"), "{}", err(&output));
    for (arguments, why) in [(&["serve", "nothing"][..], "nothing"), (&["serve", "seq2seq", "--api-key", "short"], "at least 8")] {
        let output = run(place, arguments);
        assert!(!output.status.success() && err(&output).contains(why), "{}", err(&output));
    }
}

/// The short form of `bench/load.py`: good clients among bad ones. No answer is wrong, none is lost.
#[test]
fn good_clients_are_served_among_bad_ones() {
    let texts: String = (0..200).map(|i| format!("{}{}\n", ["I", "XX", "XLV", "CD"][i % 4].repeat(1 + i % 3), "V".repeat(i % 7))).collect();
    let file = models().write("load.txt", texts);
    let script = concat!(env!("CARGO_MANIFEST_DIR"), "/../../bench/load.py");
    let run = std::process::Command::new("python3")
        .args([script, "--spotlight", env!("CARGO_BIN_EXE_spotlight"), "--model"])
        .arg(models().path("seq2seq"))
        .arg("--texts")
        .arg(file)
        .args(["--clients", "12", "--seconds", "3", "--together", "4"])
        .output();
    match run {
        Ok(output) => {
            let report: Value = serde_json::from_str(&out(&output)).unwrap_or_else(|e| panic!("{e}: {}", err(&output)));
            assert!(output.status.success(), "{report}");
            assert_eq!(report["wrong"], json!([]));
        }
        Err(error) => crate::common::skip::skip("load", format!("python3 does not start ({error})")),
    }
}
