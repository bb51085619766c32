//! Refusals: JSON that says what was refused and why.

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::{IntoResponse, Response};
use serde_json::json;

/// A request that is not answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Refusal {
    status: StatusCode,
    /// In two or three words, always the same ones.
    what: &'static str,
    /// With the figures of this request.
    why: String,
    /// Seconds after which it may go better.
    retry: Option<u64>,
}

impl Refusal {
    fn new(status: StatusCode, what: &'static str, why: impl Into<String>) -> Self {
        Refusal { status, what, why: why.into(), retry: None }
    }

    /// 400: the request cannot be read.
    pub fn unreadable(why: impl Into<String>) -> Self {
        Self::new(StatusCode::BAD_REQUEST, "unreadable request", why)
    }

    /// 401: the key is missing or wrong.
    pub fn no_key() -> Self {
        Self::new(StatusCode::UNAUTHORIZED, "key needed", "send the server's key as `Authorization: Bearer KEY`")
    }

    /// 403: it comes from somewhere else.
    pub fn foreign(why: impl Into<String>) -> Self {
        Self::new(StatusCode::FORBIDDEN, "foreign request", why)
    }

    /// 404
    pub fn not_found(why: impl Into<String>) -> Self {
        Self::new(StatusCode::NOT_FOUND, "not found", why)
    }

    /// 405
    pub fn method() -> Self {
        Self::new(StatusCode::METHOD_NOT_ALLOWED, "wrong method", "this address answers another method; see /openapi.json")
    }

    /// 408: the client was too slow.
    pub fn slow() -> Self {
        Self::new(StatusCode::REQUEST_TIMEOUT, "request too slow", "the body did not arrive in time")
    }

    /// 413: the body is too large.
    pub fn too_large(limit: usize) -> Self {
        Self::new(StatusCode::PAYLOAD_TOO_LARGE, "request too large", format!("a body has at most {limit} bytes"))
    }

    /// 415: a browser sends other types without asking first.
    pub fn media_type() -> Self {
        Self::new(StatusCode::UNSUPPORTED_MEDIA_TYPE, "wrong type", "send JSON, with `Content-Type: application/json`")
    }

    /// 422: it can be read, and cannot be done.
    pub fn impossible(why: impl Into<String>) -> Self {
        Self::new(StatusCode::UNPROCESSABLE_ENTITY, "impossible request", why)
    }

    /// 429: the queue is full.
    pub fn busy(waiting: usize) -> Self {
        let refusal = Self::new(StatusCode::TOO_MANY_REQUESTS, "queue full", format!("{waiting} requests are waiting already"));
        Refusal { retry: Some(1), ..refusal }
    }

    /// 500: our fault.
    pub fn failed(why: impl Into<String>) -> Self {
        Self::new(StatusCode::INTERNAL_SERVER_ERROR, "failed", why)
    }

    /// 503: no answer in time, or the server is stopping.
    pub fn unavailable(why: impl Into<String>) -> Self {
        Refusal { retry: Some(1), ..Self::new(StatusCode::SERVICE_UNAVAILABLE, "no answer in time", why) }
    }
}

impl IntoResponse for Refusal {
    fn into_response(self) -> Response {
        let body = json!({"status": self.status.as_u16(), "what": self.what, "why": self.why}).to_string();
        let mut response = Response::new(Body::from(body + "\n"));
        *response.status_mut() = self.status;
        let headers = response.headers_mut();
        headers.insert(header::CONTENT_TYPE, HeaderValue::from_static("application/json"));
        if let Some(seconds) = self.retry {
            headers.insert(header::RETRY_AFTER, HeaderValue::from(seconds));
        }
        if self.status == StatusCode::PAYLOAD_TOO_LARGE || self.status == StatusCode::REQUEST_TIMEOUT {
            // The rest of the body is not waited for.
            headers.insert(header::CONNECTION, HeaderValue::from_static("close"));
        }
        response
    }
}
