//! One log line and a few metrics for each request: its route, never its address, query or content.

use std::sync::atomic::{AtomicU64, Ordering};

use axum::extract::{MatchedPath, Request};
use axum::response::Response;
use http::{HeaderName, HeaderValue};
use tokio::time::Instant;
use tracing::Instrument as _;

use super::trace;

/// Identifies a request in the log and in its response.
const REQUEST_ID: HeaderName = HeaderName::from_static("x-request-id");

/// Numbers, times and counts the request; `answer` produces its response.
pub async fn request(request: Request, answer: impl AsyncFnOnce(Request) -> Response) -> Response {
    static COUNT: AtomicU64 = AtomicU64::new(1);
    let id = COUNT.fetch_add(1, Ordering::Relaxed);
    let route = request
        .extensions()
        .get::<MatchedPath>()
        .map_or_else(|| "none".into(), |path| path.as_str().to_owned());
    let method = method(&request);
    let span = tracing::info_span!("request", id, method, route);
    let in_flight = InFlight::begin();
    let began = Instant::now();
    let traced = trace::begin(&request, method, &route);
    let answering = answer(request).instrument(span.clone());
    let mut response = traced.watch(answering, trace::ended).await;
    let took = began.elapsed();
    drop(in_flight);
    let status = response.status().as_u16();
    span.in_scope(|| tracing::debug!(status, micros = took.as_micros(), "answered"));
    metrics::counter!(
        "selfsame_http_requests_total", "method" => method, "route" => route.clone(), "status" => class(status)
    )
    .increment(1);
    metrics::histogram!("selfsame_http_request_seconds", "method" => method, "route" => route)
        .record(took);
    response
        .headers_mut()
        .insert(REQUEST_ID, HeaderValue::from(id));
    response
}

/// The method as a label: a fixed set, so that callers cannot invent labels.
fn method(request: &Request) -> &'static str {
    match request.method().as_str() {
        "GET" => "GET",
        "HEAD" => "HEAD",
        "POST" => "POST",
        "PUT" => "PUT",
        "PATCH" => "PATCH",
        "DELETE" => "DELETE",
        _ => "other",
    }
}

fn class(status: u16) -> &'static str {
    match status {
        429 => "429",
        503 => "503",
        100..=199 => "1xx",
        200..=299 => "2xx",
        300..=399 => "3xx",
        400..=499 => "4xx",
        _ => "5xx",
    }
}

/// Counts a request while it runs; also decremented when its caller disconnects.
struct InFlight(metrics::Gauge);

impl InFlight {
    fn begin() -> Self {
        let gauge = metrics::gauge!("selfsame_http_in_flight");
        gauge.increment(1.0);
        Self(gauge)
    }
}

impl Drop for InFlight {
    fn drop(&mut self) {
        self.0.decrement(1.0);
    }
}
