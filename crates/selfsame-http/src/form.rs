//! The token that each form carries. Making it requires the session, and it reveals nothing about the session.

use axum::body::{Body, Bytes};
use axum::extract::Request;
use http::header::CONTENT_TYPE;
use http::{Method, StatusCode};
use selfsame_crypto::{encoding, hash, seal};

use crate::arrival::TooLarge;
use crate::error::Problem;
use crate::extract::{is_form, parts};
use crate::form_data::PartContent;

/// The name of the hidden field.
pub const FIELD: &str = "form_token";
/// The header that scripts send instead.
pub const HEADER: &str = "x-form-token";

/// The form token of a session.
pub fn token(session: &str) -> String {
    encoding::base64url_encode(&hash::sha256_parts(&[
        b"selfsame form token\0",
        session.as_bytes(),
    ]))
}

/// The secret of a browser that has not signed in yet.
pub fn fresh_secret() -> String {
    encoding::base64url_encode(&seal::random_seed())
}

/// Returns the request if it only reads or carries the token.
///
/// # Errors
/// If it writes without the token, or its form is too large.
pub async fn checked(request: Request, token: &str) -> Result<Request, Problem> {
    if matches!(*request.method(), Method::GET | Method::HEAD) {
        return Ok(request);
    }
    if let Some(sent) = request.headers().get(HEADER) {
        return if hash::ct_eq(sent.as_bytes(), token.as_bytes()) {
            Ok(request)
        } else {
            Err(out_of_date())
        };
    }
    let kind = request.headers().get(CONTENT_TYPE);
    let kind = kind.and_then(|kind| kind.to_str().ok()).map(str::to_owned);
    let Some(kind) = kind.filter(|kind| is_form(kind)) else {
        return Err(out_of_date());
    };
    let too_large = || Problem::new(StatusCode::PAYLOAD_TOO_LARGE, "form-too-large");
    if request.extensions().get::<TooLarge>().is_some() {
        return Err(too_large());
    }
    let (parts, body) = request.into_parts();
    // The body has arrived already and is within its limit.
    let body = axum::body::to_bytes(body, usize::MAX)
        .await
        .map_err(|_| too_large())?;
    if !carries(&kind, &body, token) {
        return Err(out_of_date());
    }
    Ok(Request::from_parts(parts, Body::from(body)))
}

fn carries(kind: &str, body: &Bytes, token: &str) -> bool {
    let parts = parts(kind, body).unwrap_or_default().into_iter();
    let mut sent = parts.filter(|part| part.name == FIELD);
    match (sent.next().map(|part| part.content), sent.next()) {
        (Some(PartContent::Value(sent)), None) => hash::ct_eq(sent.as_bytes(), token.as_bytes()),
        _ => false,
    }
}

/// The error for a request without the token.
pub fn out_of_date() -> Problem {
    Problem::new(StatusCode::FORBIDDEN, "form-outdated")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn post(body: &str) -> Request {
        Request::post("/")
            .header(CONTENT_TYPE, "application/x-www-form-urlencoded")
            .body(Body::from(body.to_owned()))
            .unwrap()
    }

    #[tokio::test]
    async fn a_form_needs_its_sessions_token_once() {
        let good = token("session");
        assert!(
            checked(post(&format!("a=b&{FIELD}={good}")), &good)
                .await
                .is_ok()
        );
        let other = token("other session");
        for bad in [
            "a=b".to_owned(),
            format!("{FIELD}={other}"),
            format!("{FIELD}={good}&{FIELD}={good}"),
        ] {
            assert_eq!(
                checked(post(&bad), &good).await.unwrap_err().status(),
                StatusCode::FORBIDDEN
            );
        }
    }

    #[tokio::test]
    async fn a_form_with_files_needs_the_token_too() {
        let good = token("session");
        let sent = |token: &str| {
            let field = format!("Content-Disposition: form-data; name=\"{FIELD}\"\r\n\r\n{token}");
            Request::post("/")
                .header(CONTENT_TYPE, "multipart/form-data; boundary=b")
                .body(Body::from(format!("--b\r\n{field}\r\n--b--\r\n")))
                .unwrap()
        };
        assert!(checked(sent(&good), &good).await.is_ok());
        assert!(checked(sent("other"), &good).await.is_err());
    }

    #[tokio::test]
    async fn a_body_that_is_no_form_needs_the_header() {
        let good = token("session");
        let json = |header: Option<&str>| {
            let request = Request::post("/").header(CONTENT_TYPE, "application/json");
            let request = header
                .into_iter()
                .fold(request, |request, sent| request.header(HEADER, sent));
            request.body(Body::from("{}")).unwrap()
        };
        assert!(checked(json(Some(&good)), &good).await.is_ok());
        assert!(checked(json(None), &good).await.is_err());
        assert!(checked(json(Some("x")), &good).await.is_err());
    }
}
