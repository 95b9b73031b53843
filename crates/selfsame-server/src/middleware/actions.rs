//! Logs what the operator does, at the default log level: every change, and every view of claims that people have
//! shown. Never logs claims, tokens, or ids that would allow taking something.

use axum::extract::{MatchedPath, Request};
use axum::response::Response;
use http::Method;

use crate::audience::Audience;

/// Addresses that show claims which people have presented.
const CLAIMS: [&str; 4] = [
    "/api/verifier/requests",
    "/api/verifier/requests/{id}",
    "/verifier/view/{id}",
    "/verifier/view/{id}/result",
];
/// Where programs write to the registry by thousands; the registry's log has each transaction.
const WRITTEN: &str = "/registry/transactions";
/// Number of characters of an id to log: enough to find it among others, too few to use it.
const SHOWN: usize = 8;

/// An action that the operator is about to take.
pub struct OperatorAction {
    what: &'static str,
    method: Method,
    route: String,
    subject: String,
}

impl OperatorAction {
    /// The action of this request, if it is to be logged.
    pub fn of(audience: Audience, request: &Request) -> Option<Self> {
        let operators = matches!(
            audience,
            Audience::Operator | Audience::OperatorApi | Audience::OperatorWait
        );
        let route = request.extensions().get::<MatchedPath>()?.as_str();
        let what = match *request.method() {
            Method::GET | Method::HEAD if CLAIMS.contains(&route) => "claims read",
            Method::GET | Method::HEAD => return None,
            _ if route == WRITTEN => return None,
            _ => "changed",
        };
        operators.then(|| Self {
            what,
            method: request.method().clone(),
            subject: subject(route, request.uri().path()),
            route: route.to_owned(),
        })
    }

    /// Logs the action if it succeeded.
    pub fn note(&self, response: &Response) {
        let Self {
            what,
            method,
            route,
            subject,
        } = self;
        if !response.status().is_client_error() && !response.status().is_server_error() {
            tracing::info!(%method, route, subject, "the operator: {what}");
        }
    }
}

/// Logs that a browser signed in with the operator's token.
pub fn signed_in() {
    tracing::info!("the operator: signed in");
}

/// The first characters of the route's first parameter.
fn subject(route: &str, path: &str) -> String {
    let place = route
        .split('/')
        .zip(path.split('/'))
        .find(|(pattern, _)| pattern.starts_with('{'));
    place.map_or_else(String::new, |(_, id)| id.chars().take(SHOWN).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_id_is_shown_as_far_as_it_finds_and_no_further() {
        let route = "/api/issuer/credentials/{id}/status";
        let path = "/api/issuer/credentials/0123456789abcdef/status";
        assert_eq!(subject(route, path), "01234567");
        assert_eq!(subject("/api/issuer/offers", "/api/issuer/offers"), "");
    }
}
