//! The double submission against cross-site requests: a cookie that another site can't read, sent again as a header.

use axum::response::{IntoResponse as _, Response};
use http::header::{CACHE_CONTROL, COOKIE, SET_COOKIE};
use http::{HeaderMap, HeaderValue, StatusCode};
use selfsame_crypto::ctx::Ctx;
use selfsame_crypto::hash;
use selfsame_crypto::time::UnixTime;
use serde::Serialize;

use crate::envelope;

/// The cookie.
const COOKIE_NAME: &str = "XSRF-TOKEN";
/// The header.
const HEADER: &str = "x-xsrf-token";
/// The length of a token: a UUID (RFC 9562 §4).
const LENGTH: usize = 36;

/// A token as `GET /csrf/token` gives it, without an envelope.
#[derive(Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CsrfToken {
    parameter_name: &'static str,
    header_name: &'static str,
    token: String,
}

impl CsrfToken {
    /// A fresh token.
    #[must_use]
    pub fn new(ctx: &Ctx) -> Self {
        Self {
            parameter_name: "_csrf",
            header_name: "X-XSRF-TOKEN",
            token: uuid(ctx.random("CSRF token")),
        }
    }

    /// The cookie of this token. Scripts of the user interface read it, so it is not `HttpOnly`.
    #[must_use]
    pub fn cookie(&self, path: &str, secure: bool) -> Option<HeaderValue> {
        let secure = if secure { "; Secure" } else { "" };
        let token = &self.token;
        let cookie = format!("{COOKIE_NAME}={token}; Path={path}; SameSite=Lax{secure}");
        HeaderValue::from_str(&cookie).ok()
    }
}

/// Whether a request has the same token as its cookie and as its header.
#[must_use]
pub fn is_genuine(headers: &HeaderMap) -> bool {
    let cookies = headers.get_all(COOKIE).iter();
    let cookies = cookies.filter_map(|line| line.to_str().ok());
    let mut cookies = cookies.flat_map(|line| line.split(';')).map(str::trim);
    let cookie = cookies.find_map(|cookie| cookie.strip_prefix(COOKIE_NAME)?.strip_prefix('='));
    let header = headers.get(HEADER).and_then(|value| value.to_str().ok());
    match (cookie, header) {
        (Some(cookie), Some(header)) => {
            cookie.len() == LENGTH && hash::ct_eq(cookie.as_bytes(), header.as_bytes())
        }
        _ => false,
    }
}

/// The answer with a token and its cookie.
pub(crate) fn answer(token: &CsrfToken, cookie: Option<HeaderValue>) -> Response {
    let mut response = axum::Json(token).into_response();
    let headers = response.headers_mut();
    headers.insert(CACHE_CONTROL, HeaderValue::from_static("no-store"));
    if let Some(cookie) = cookie {
        headers.insert(SET_COOKIE, cookie);
    }
    response
}

/// The answer to a request that has not the same token twice.
pub(crate) fn forbidden(now: UnixTime) -> Response {
    let mut response = envelope::answer::<()>(Err("FORBIDDEN"), now);
    *response.status_mut() = StatusCode::FORBIDDEN;
    response
}

/// A UUID of version 4 from random bytes (RFC 9562 §5.4).
fn uuid(random: [u8; 16]) -> String {
    let random = u128::from_be_bytes(random);
    let versioned = random & !(0xf << 76) & !(0b11 << 62) | (0x4 << 76) | (0b10 << 62);
    let hex = format!("{versioned:032x}");
    let mut parts = Vec::with_capacity(5);
    let mut rest = hex.as_str();
    for length in [8, 4, 4, 4, 12] {
        let (part, after) = rest.split_at(length);
        parts.push(part);
        rest = after;
    }
    parts.join("-")
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(cookie: &str, header: &str) -> HeaderMap {
        let mut headers = HeaderMap::new();
        headers.insert(COOKIE, cookie.parse().unwrap());
        headers.insert(HEADER, header.parse().unwrap());
        headers
    }

    #[test]
    fn a_token_is_a_uuid_in_the_body_and_in_the_cookie() {
        let token = CsrfToken::new(&Ctx::new(UnixTime(7), [1; 32]));
        let json = serde_json::to_value(&token).unwrap();
        let text = json["token"].as_str().unwrap();
        assert_eq!((text.len(), &text[14..15]), (LENGTH, "4"));
        assert!("89ab".contains(&text[19..20]), "{text}");
        let cookie = token.cookie("/v1/esignet", true).unwrap();
        let expected = format!("XSRF-TOKEN={text}; Path=/v1/esignet; SameSite=Lax; Secure");
        assert_eq!(cookie, expected);
    }

    #[test]
    fn a_request_needs_the_same_token_twice() {
        let token = "123e4567-e89b-42d3-a456-426614174000";
        let other = "123e4567-e89b-42d3-a456-426614174001";
        assert!(is_genuine(&headers(
            &format!("a=b; XSRF-TOKEN={token}"),
            token
        )));
        for (cookie, header) in [
            (format!("XSRF-TOKEN={token}"), other),
            (format!("XSRF-TOKEN2={token}"), token),
            ("XSRF-TOKEN=".to_owned(), ""),
            ("XSRF-TOKEN=a".to_owned(), "a"),
            ("a=b".to_owned(), token),
        ] {
            assert!(!is_genuine(&headers(&cookie, header)), "{cookie}");
        }
        assert!(!is_genuine(&HeaderMap::new()));
    }
}
