//! Answers of a transducer, timed: batches of a fixed size, on a number of threads.
//!
//! ```text
//! decode_bench MODEL FILE [--batch 32] [--beam 1] [--threads 1] [--int8] [--rounds 3] [--answers FILE]
//! ```
//!
//! FILE has one source a line. The sources are sorted by length and cut into batches; each batch is answered by one call, and as many calls run at once as there are
//! threads. The model is loaded and asked once before the clock starts. Prints one line of JSON; `--answers` writes the answers' units as numbers, in the order of FILE.

use std::path::Path;
use std::time::Instant;

use rayon::prelude::*;
use serde_json::json;
use spotlight::model::seq2seq::{NetWriter, SearchOptions, Transducer};
use spotlight::search::{Request, search};

/// Processor time of all threads of this process so far, where the system tells.
fn busy_ms() -> Option<f64> {
    let of_thread = |task: std::io::Result<std::fs::DirEntry>| {
        let times = std::fs::read_to_string(task.ok()?.path().join("schedstat")).ok()?;
        times.split_whitespace().next()?.parse::<f64>().ok()
    };
    Some(std::fs::read_dir("/proc/self/task").ok()?.filter_map(of_thread).sum::<f64>() / 1e6)
}

fn main() -> Result<(), Box<dyn std::error::Error>> {
    let given: Vec<String> = std::env::args().skip(1).collect();
    let text = |name: &str| given.iter().position(|a| a == name).and_then(|i| given.get(i + 1));
    let number = |name: &str, usual: usize| text(name).map_or(Ok(usual), |x| x.parse::<usize>().map(|x| x.max(1)));
    let (Some(folder), Some(file)) = (given.first(), given.get(1)) else { return Err("decode_bench MODEL FILE".into()) };
    let (batch, beam) = (number("--batch", 32)?, number("--beam", 1)?);
    let (threads, rounds) = (number("--threads", 1)?, number("--rounds", 3)?);
    let in_bytes = given.iter().any(|a| a == "--int8");
    rayon::ThreadPoolBuilder::new().num_threads(threads).build_global()?;
    let model = Transducer::load(Path::new(folder))?;
    let lines = std::fs::read_to_string(file)?;
    let sources: Vec<Vec<u32>> = lines.lines().map(|line| model.vocabularies.source.ids(line)).collect();
    let mut order: Vec<usize> = (0..sources.len()).collect();
    order.sort_by_key(|&i| sources[i].len());
    let writer = NetWriter { look: false, in_bytes, ..model.writer() };
    let search_options = SearchOptions { beam, n_best: 1, look: false, ..model.search_options() };
    let answer = |members: &[usize]| {
        let requests: Vec<Request> = members.iter().map(|&i| Request::new(&sources[i])).collect();
        search(&writer, &requests, &search_options)
    };
    answer(&order[..order.len().min(batch)])?;
    let (mut seconds, mut found, before) = (Vec::new(), Vec::new(), busy_ms());
    for _ in 0..rounds {
        let start = Instant::now();
        found = order.par_chunks(batch).with_max_len(1).map(answer).collect::<Result<Vec<_>, _>>()?.concat();
        seconds.push(start.elapsed().as_secs_f64());
    }
    let cpu_ms = busy_ms().zip(before).map(|(after, before)| (after - before) / rounds as f64);
    seconds.sort_by(f64::total_cmp);
    let mut answers = vec![Vec::new(); sources.len()];
    for (&i, hypotheses) in order.iter().zip(&found) {
        answers[i] = hypotheses.first().map(|h| h.ids.clone()).unwrap_or_default();
    }
    let units: usize = answers.iter().map(Vec::len).sum();
    if let Some(path) = text("--answers") {
        let lines: Vec<String> = answers.iter().map(|ids| ids.iter().map(u32::to_string).collect::<Vec<_>>().join(" ")).collect();
        std::fs::write(path, lines.join("\n") + "\n")?;
    }
    let median = seconds[seconds.len() / 2];
    println!("{}", json!({"ms": median * 1e3, "best_ms": seconds[0] * 1e3, "sentences": sources.len(), "units": units, "cpu_ms": cpu_ms}));
    Ok(())
}
