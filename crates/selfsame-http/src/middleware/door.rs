//! Host and Origin checks, against DNS rebinding and forged posts.

use axum::extract::Request;
use axum::response::{IntoResponse, Redirect, Response};
use http::header::{HOST, ORIGIN};
use http::{Method, StatusCode};

use crate::error::{Face, Problem, write};
use crate::origin::{CalledOrigin, Origin};

/// Paths that supervisors request by address, not by name; they reveal nothing.
const ANY_HOST: [&str; 2] = ["/livez", "/readyz"];

/// Whether supervisors request this path, whatever host they address.
pub fn is_at_any_host(path: &str) -> bool {
    ANY_HOST.contains(&path)
}

/// The refusal for a request that addresses another host than the configured one, or one that was found to be served.
///
/// A page that was loaded under a foreign name sends that name in Host, whatever address the name resolves to.
pub fn foreign_host(origin: &Origin, request: &Request) -> Option<Response> {
    let asked = authority(request);
    let is_served = request.extensions().get::<CalledOrigin>().is_some();
    if is_served || asked == Some(origin.authority()) || is_at_any_host(request.uri().path()) {
        return None;
    }
    let looking = matches!(*request.method(), Method::GET | Method::HEAD);
    if looking && asked.is_some_and(|asked| origin.is_alias(asked)) {
        let rest = request
            .uri()
            .path_and_query()
            .map_or("/", |rest| rest.as_str());
        return Some(Redirect::permanent(&format!("{}{rest}", origin.as_str())).into_response());
    }
    tracing::warn!(reason = "foreign host", "request refused");
    let problem = Problem::new(StatusCode::MISDIRECTED_REQUEST, "host-unknown")
        .with("origin", origin.as_str());
    Some(write(Face::Api, problem.into_response()))
}

/// The refusal for a write that a page of another origin than the one that was called sent.
pub fn foreign_origin(origin: &Origin, request: &Request) -> Option<Problem> {
    let called = request.extensions().get::<CalledOrigin>();
    let origin = called.map_or(origin, |called| &*called.0);
    let writes = !matches!(*request.method(), Method::GET | Method::HEAD);
    let from_elsewhere = request
        .headers()
        .get(ORIGIN)
        .is_some_and(|from| from != origin.as_str());
    (writes && from_elsewhere).then(|| {
        tracing::warn!(reason = "foreign origin", "request refused");
        Problem::new(StatusCode::FORBIDDEN, "request-cross-site")
    })
}

/// The host that the request addresses: the target's authority (HTTP/2, absolute form) or the only Host header.
pub fn authority(request: &Request) -> Option<&str> {
    if let Some(authority) = request.uri().authority() {
        return Some(authority.as_str());
    }
    let mut hosts = request.headers().get_all(HOST).iter();
    match (hosts.next(), hosts.next()) {
        (Some(host), None) => host.to_str().ok(),
        _ => None,
    }
}
