//! `spotlight serve`: models behind HTTP on this machine, and a page to play with them.
//!
//! In the order a request meets them: [`listen`] (connections), [`routes`] (addresses, and what is done for every request), [`guard`] (who may ask), [`ask`] (what is
//! asked), [`queue`] (bounded, joined to batches), [`work`] (the answer). [`shelf`] holds the models.

mod ask;
mod guard;
mod limits;
mod listen;
mod log;
mod metrics;
mod page;
mod patient;
mod queue;
mod refusal;
mod routes;
mod shelf;
mod work;

use std::net::{IpAddr, TcpListener, ToSocketAddrs};
use std::path::PathBuf;
use std::sync::Arc;

use anyhow::{Context, Result};
use clap::Args;
use signal_hook::consts::{SIGINT, SIGTERM};
use signal_hook::iterator::Signals;
use tokio::sync::Notify;

use crate::output::{WrongUsage, say};
use guard::Guard;
use limits::Limits;
use log::Log;
use metrics::Metrics;
use queue::Queue;
use shelf::Shelf;

/// Answer over HTTP, with a page to play on.
#[derive(Args)]
pub struct Serve {
    /// Folders of models; each is called like its folder
    #[arg(required = true, value_name = "MODEL")]
    models: Vec<PathBuf>,
    /// Port; 0 for any that is free
    #[arg(long, default_value_t = 8765)]
    port: u16,
    /// Address to listen at; one that others can reach needs --api-key
    #[arg(long, default_value = "127.0.0.1")]
    host: String,
    /// Another name that the server is reached by, such as that of a proxy
    #[arg(long, value_name = "NAME")]
    allow_host: Vec<String>,
    /// Key that requests must send (or SPOTLIGHT_API_KEY, which other users cannot see)
    #[arg(long, value_name = "KEY")]
    api_key: Option<String>,
    /// Count requests, batches and times at /metrics
    #[arg(long)]
    metrics: bool,
    /// One line a request on standard error
    #[arg(long, value_enum, default_value_t = Log::Text)]
    log: Log,
    #[command(flatten)]
    limits: Limits,
}

/// What every request can reach.
pub struct App {
    shelf: Shelf,
    queue: Queue,
    guard: Guard,
    limits: Limits,
    log: Log,
    metrics: Metrics,
    shows_metrics: bool,
}

impl Serve {
    /// Runs the command until a signal.
    pub fn run(&self) -> Result<()> {
        let key = self.key()?;
        let place = (self.host.as_str(), self.port).to_socket_addrs().with_context(|| format!("--host {}", self.host))?.next();
        let place = place.ok_or_else(|| WrongUsage(format!("--host {}: no such address", self.host)))?;
        if !is_own(place.ip()) && key.is_none() {
            let reason = format!("--host {}: others can reach this address; say --api-key, so that not everybody may ask", self.host);
            return Err(WrongUsage(reason).into());
        }
        let shelf = Shelf::open(&self.models)?;
        let listener = TcpListener::bind(place).with_context(|| format!("cannot listen at {place}; --port chooses another"))?;
        listener.set_nonblocking(true)?;
        let port = listener.local_addr()?.port();
        let app = Arc::new(App {
            shelf,
            queue: Queue::new(self.limits.queue),
            guard: Guard::new(&self.host, &self.allow_host, port, key),
            limits: self.limits.clone(),
            log: self.log,
            metrics: Metrics::default(),
            shows_metrics: self.metrics,
        });
        let stop = Arc::new(Notify::new());
        stop_at_signals(stop.clone())?;
        let fresh = app.clone();
        std::thread::spawn(move || fresh.shelf.keep_fresh(|line| eprintln!("spotlight: {line}")));
        let workers: Vec<_> = (0..rayon::current_num_threads())
            .map(|_| {
                let app = app.clone();
                std::thread::spawn(move || app.queue.work(|requests, texts| app.metrics.batch(requests, texts)))
            })
            .collect();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_io().enable_time().build()?;
        runtime.block_on(async {
            let listener = tokio::net::TcpListener::from_std(listener)?;
            let shown = if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.clone() };
            say(format!("http://{shown}:{port}/"))?;
            listen::serve(listener, routes::router(app.clone()), &app.limits, stop).await;
            anyhow::Ok(())
        })?;
        app.queue.close();
        for worker in workers {
            // A thread that answers does not panic; see `work`.
            let _ = worker.join();
        }
        eprintln!("spotlight: stopped");
        Ok(())
    }

    fn key(&self) -> Result<Option<String>> {
        let key = self.api_key.clone().or_else(|| std::env::var("SPOTLIGHT_API_KEY").ok().filter(|key| !key.is_empty()));
        match key {
            Some(key) if key.len() < 8 || !key.chars().all(|c| c.is_ascii_graphic()) => {
                Err(WrongUsage("--api-key: at least 8 visible ASCII characters".into()).into())
            }
            key => Ok(key),
        }
    }
}

/// Whether only this machine reaches an address.
fn is_own(address: IpAddr) -> bool {
    address.is_loopback()
}

/// The first signal lets what is under way end; the second ends at once.
fn stop_at_signals(stop: Arc<Notify>) -> Result<()> {
    let mut signals = Signals::new([SIGINT, SIGTERM]).context("cannot catch signals")?;
    std::thread::spawn(move || {
        let mut first = true;
        for signal in signals.forever() {
            if !first {
                std::process::exit(128 + signal);
            }
            first = false;
            eprintln!("spotlight: answering what is under way, then stopping (again to stop at once)");
            stop.notify_one();
        }
    });
    Ok(())
}
