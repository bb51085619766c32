//! Connections: accepted up to a number, given a time to say what they want, and drained at the end.

use std::future::{Future, poll_fn};
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::TokioTimer;
use hyper_util::server::graceful::GracefulShutdown;
use hyper_util::service::TowerToHyperService;
use tokio::net::TcpListener;
use tokio::sync::{Notify, Semaphore};

use super::limits::Limits;
use super::patient::Patient;

/// Bytes of a request's head.
const HEAD: usize = 32 * 1024;
/// Headers of a request.
const HEADERS: usize = 64;

/// Serves until `stop` is notified, then lets what is under way end.
pub async fn serve(listener: TcpListener, router: Router, limits: &Limits, stop: Arc<Notify>) {
    let draining = GracefulShutdown::new();
    let room = Arc::new(Semaphore::new(limits.connections));
    let mut builder = http1::Builder::new();
    builder.timer(TokioTimer::new()).header_read_timeout(limits.reading()).max_headers(HEADERS).max_buf_size(HEAD);
    {
        let mut accepting = pin!(accept(listener, router, builder, room, &draining, limits.reading()));
        let mut stopping = pin!(stop.notified());
        poll_fn(|context| {
            // It never ends by itself.
            let _ = accepting.as_mut().poll(context);
            stopping.as_mut().poll(context)
        })
        .await;
        // Here the listener is dropped: nobody is accepted any more.
    }
    let _ = tokio::time::timeout(limits.patience(), draining.shutdown()).await;
}

/// Accepts for ever.
async fn accept(
    listener: TcpListener,
    router: Router,
    builder: http1::Builder,
    room: Arc<Semaphore>,
    draining: &GracefulShutdown,
    patience: Duration,
) {
    loop {
        // The semaphore is never closed.
        let Ok(permit) = room.clone().acquire_owned().await else { return };
        let stream = match listener.accept().await {
            Ok((stream, _)) => stream,
            Err(_) => {
                // Too many open files, or a client that is gone: others may do better in a moment.
                tokio::time::sleep(Duration::from_millis(20)).await;
                continue;
            }
        };
        let _ = stream.set_nodelay(true);
        let service = TowerToHyperService::new(router.clone());
        let connection = draining.watch(builder.serve_connection(Patient::new(stream, patience), service));
        tokio::spawn(async move {
            // How a connection ends is its client's affair.
            let _ = connection.await;
            drop(permit);
        });
    }
}
