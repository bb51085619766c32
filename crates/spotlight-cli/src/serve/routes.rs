//! Addresses, and what is done for every request: who asks is checked, the answer is sealed against misuse by a browser, counted and logged.

use std::sync::Arc;

use axum::Router;
use axum::body::Body;
use axum::extract::State;
use axum::http::{HeaderName, HeaderValue, Request, Uri, header};
use axum::middleware::{Next, from_fn_with_state};
use axum::response::{IntoResponse, Response};
use axum::routing::{get, post};
use serde_json::{Value, json};

use super::log::{Entry, GONE, Note};
use super::refusal::Refusal;
use super::{App, ask, page};

/// The description of all this.
const DESCRIPTION: &str = include_str!("openapi.json");

/// Everything the server answers.
pub fn router(app: Arc<App>) -> Router {
    let mut router = Router::new()
        .route("/api/predict", post(ask::predict))
        .route("/api/models", get(models))
        .route("/api/audit", get(audit))
        .route("/health", get(health))
        .route("/openapi.json", get(|| async { typed("application/json", DESCRIPTION) }));
    if app.shows_metrics {
        router = router.route("/metrics", get(metrics));
    }
    page::add(router)
        .fallback(|| async { Refusal::not_found("there is nothing at this address; /openapi.json lists what there is") })
        .method_not_allowed_fallback(|| async { Refusal::method() })
        .layer(from_fn_with_state(app.clone(), every_request))
        .with_state(app)
}

async fn models(State(app): State<Arc<App>>) -> Response {
    json_of(json!({"models": app.shelf.describe(), "limits": app.limits.describe()}))
}

async fn audit(State(app): State<Arc<App>>, uri: Uri) -> Result<Response, Refusal> {
    let name = uri.query().and_then(|query| parameter(query, "model"));
    Ok(json_of(app.shelf.audit(name.as_deref())?))
}

async fn health(State(app): State<Arc<App>>) -> Response {
    json_of(json!({"status": "ok", "waiting": app.queue.len()}))
}

async fn metrics(State(app): State<Arc<App>>) -> Response {
    typed("text/plain; version=0.0.4", app.metrics.text(app.queue.len()))
}

fn json_of(value: Value) -> Response {
    typed("application/json", format!("{value}\n"))
}

/// A body with its type.
pub fn typed(kind: &'static str, body: impl Into<Body>) -> Response {
    let mut response = Response::new(body.into());
    response.headers_mut().insert(header::CONTENT_TYPE, HeaderValue::from_static(kind));
    response
}

/// What every answer tells a browser: nothing from elsewhere, no frame around it, no guess at its type, nothing kept.
const SEALS: [(HeaderName, &str); 5] = [
    (
        header::CONTENT_SECURITY_POLICY,
        "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self' data: blob:; base-uri 'none'; form-action 'none'; frame-ancestors 'none'",
    ),
    (header::X_CONTENT_TYPE_OPTIONS, "nosniff"),
    (header::REFERRER_POLICY, "no-referrer"),
    (header::CACHE_CONTROL, "no-store"),
    (HeaderName::from_static("cross-origin-resource-policy"), "same-origin"),
];

async fn every_request(State(app): State<Arc<App>>, request: Request<Body>, next: Next) -> Response {
    let route = known(request.uri().path());
    let counted = Counted { app: &app, route, entry: Some(Entry::begin(app.log, request.method().as_str(), request.uri().path())) };
    let needs_key = route.starts_with("/api/") || route == "/metrics";
    let place = app.guard.check_place(request.headers());
    let allowed = place.and_then(|()| if needs_key { app.guard.check_key(request.headers()) } else { Ok(()) });
    let mut response = match allowed {
        Ok(()) => next.run(request).await,
        Err(refusal) => refusal.into_response(),
    };
    for (name, value) in SEALS {
        response.headers_mut().insert(name, HeaderValue::from_static(value));
    }
    let note = response.extensions_mut().remove::<Note>();
    counted.end(response.status().as_u16(), note);
    response
}

/// A request that is counted when it ends, however that is.
struct Counted<'a> {
    app: &'a App,
    route: &'static str,
    entry: Option<Entry>,
}

impl Counted<'_> {
    fn end(mut self, status: u16, note: Option<Note>) {
        if let Some(entry) = self.entry.take() {
            self.app.metrics.request(self.route, status, entry.took());
            entry.end(status, note);
        }
    }
}

impl Drop for Counted<'_> {
    fn drop(&mut self) {
        if let Some(entry) = self.entry.take() {
            self.app.metrics.request(self.route, GONE, entry.took());
        }
    }
}

/// An address as it is counted: those we have by name, all others together.
fn known(path: &str) -> &'static str {
    const KNOWN: [&str; 7] = ["/", "/api/predict", "/api/models", "/api/audit", "/health", "/metrics", "/openapi.json"];
    // What begins like the interface is guarded like it, also where there is nothing.
    let other = match path {
        api if api.starts_with("/api/") => "/api/other",
        page if page.starts_with("/page/") => "/page",
        _ => "other",
    };
    KNOWN.into_iter().find(|known| *known == path).unwrap_or(other)
}

/// The value of a query's parameter, decoded.
fn parameter(query: &str, name: &str) -> Option<String> {
    let value = query.split('&').find_map(|pair| pair.strip_prefix(name)?.strip_prefix('='))?;
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits = [rest.next()?, rest.next()?];
                u8::from_str_radix(std::str::from_utf8(&digits).ok()?, 16).ok()?
            }
            plain => plain,
        });
    }
    String::from_utf8(bytes).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_are_decoded() {
        assert_eq!(parameter("a=1&model=my%20dates+2", "model").as_deref(), Some("my dates 2"));
        assert_eq!(parameter("model=%C3%A9", "model").as_deref(), Some("é"));
        for broken in ["model=%", "model=%4", "model=%zz", "model=%ff", "xmodel=1", ""] {
            assert_eq!(parameter(broken, "model"), None, "{broken}");
        }
    }
}
