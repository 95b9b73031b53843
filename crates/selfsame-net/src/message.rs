//! Calls and their answers.

use std::time::Duration;

use bytes::Bytes;
use http::header::{self, HeaderMap};
use selfsame_crypto::SecretString;
use url::Url;

use crate::error::NetError;

/// The header with a server's nonce (RFC 9449 §8.1).
const DPOP_NONCE: &str = "dpop-nonce";
/// The header with a server's challenge (attestation-based client authentication, draft -07 §8.1).
const ATTESTATION_CHALLENGE: &str = "oauth-client-attestation-challenge";
/// The header with a server's nonce (RFC 8555 §6.5.1).
const REPLAY_NONCE: &str = "replay-nonce";

/// Limits of one call.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct CallLimits {
    /// Maximum length of the answer's body, in bytes.
    pub max_body: usize,
    /// Maximum time from the call to the last byte of the answer, including redirects and waiting.
    pub total_timeout: Duration,
}

impl Default for CallLimits {
    fn default() -> Self {
        Self {
            max_body: 1 << 20,
            total_timeout: Duration::from_secs(15),
        }
    }
}

/// A header that the caller adds to a call.
#[derive(Clone, Copy, Debug)]
pub struct CallHeader<'a> {
    /// The name in lower case.
    pub name: &'a str,
    /// The value.
    pub value: &'a str,
}

/// The options of a GET.
#[derive(Clone, Copy, Debug, Default)]
pub struct Request<'a> {
    /// The `Accept` header.
    pub accept: Option<&'a str>,
    /// Limits in place of the instance's defaults.
    pub limits: Option<CallLimits>,
    /// The maximum number of redirects followed; 0 by default.
    pub redirects: u8,
    /// Further headers.
    pub headers: &'a [CallHeader<'a>],
    /// The maximum number of such calls in progress to the origin, for a system that serves this instance; the
    /// instance's default if `None`.
    pub max_in_flight: Option<usize>,
}

/// The supported methods.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum Method {
    /// `GET`: may be repeated without harm.
    Get,
    /// `POST`: must not be repeated.
    Post,
    /// `PUT`: replaces the resource at the URL.
    Put,
    /// `PATCH`: changes a part of the resource at the URL.
    Patch,
    /// `DELETE`: removes the resource at the URL.
    Delete,
}

/// A complete call, with options that [`crate::Net::get`] and [`crate::Net::post`] do not offer.
#[derive(Debug)]
pub struct Call<'a> {
    /// The HTTP method.
    pub method: Method,
    /// The URL.
    pub url: &'a Url,
    /// The body.
    pub body: Body,
    /// Sent to this URL only: a call with authorization follows no redirects.
    pub authorization: Authorization,
    /// `Accept`, limits, redirects.
    pub request: Request<'a>,
}

/// The body of a call.
#[derive(Clone, Debug)]
pub enum Body {
    /// No body.
    Empty,
    /// A form, `application/x-www-form-urlencoded`.
    Form(Vec<(String, String)>),
    /// JSON (`application/json`), already encoded.
    Json(Vec<u8>),
    /// Bytes of any other type.
    Bytes {
        /// The `Content-Type` header.
        content_type: String,
        /// The body.
        bytes: Vec<u8>,
    },
}

/// The authorization of a call.
#[derive(Clone, Debug)]
pub enum Authorization {
    /// No authorization.
    None,
    /// A bearer token (RFC 6750 §2.1).
    Bearer(SecretString),
    /// A token that is bound to a key (RFC 9449 §7.1). The proof is a further header.
    Bound(SecretString),
}

/// An answer with any status, its body read completely.
#[derive(Clone, Debug)]
pub struct Response {
    /// HTTP status; never a redirect.
    pub status: u16,
    /// Media type with its parameters, as sent.
    pub content_type: Option<String>,
    /// Seconds for which the answer may be cached; 0 if caching is forbidden.
    pub cache_max_age: Option<u64>,
    /// Entity tag, as sent.
    pub etag: Option<String>,
    /// Seconds to wait before trying again.
    pub retry_after: Option<u64>,
    /// How the caller is to authenticate, as sent (`WWW-Authenticate`).
    pub challenge: Option<String>,
    /// The server's nonce for the caller's next proof of possession (RFC 9449 §8).
    pub dpop_nonce: Option<String>,
    /// The server's challenge for the caller's next proof that it has its attested key (attestation-based client
    /// authentication, draft -07 §8.1).
    pub attestation_challenge: Option<String>,
    /// The server's nonce for the caller's next signed request (RFC 8555 §6.5).
    pub replay_nonce: Option<String>,
    /// Where the created resource is, as sent (`Location`). A redirect is no answer.
    pub location: Option<String>,
    /// The body.
    pub body: Bytes,
}

impl Response {
    /// Whether the status is 2xx.
    pub fn is_success(&self) -> bool {
        (200..300).contains(&self.status)
    }

    /// The media type without parameters, in lower case.
    pub fn media_type(&self) -> Option<String> {
        let (essence, _) = match self.content_type.as_deref()?.split_once(';') {
            Some(parts) => parts,
            None => (self.content_type.as_deref()?, ""),
        };
        Some(essence.trim().to_ascii_lowercase())
    }

    pub(crate) fn new(status: u16, headers: &HeaderMap, body: Bytes) -> Result<Self, NetError> {
        Ok(Self {
            status,
            content_type: single(headers, &header::CONTENT_TYPE)?,
            cache_max_age: cache_max_age(headers),
            etag: single(headers, &header::ETAG)?,
            retry_after: single(headers, &header::RETRY_AFTER)?
                .and_then(|value| retry_after(value.trim(), headers)),
            challenge: first(headers, header::WWW_AUTHENTICATE.as_str()),
            dpop_nonce: first(headers, DPOP_NONCE),
            attestation_challenge: first(headers, ATTESTATION_CHALLENGE),
            replay_nonce: first(headers, REPLAY_NONCE),
            location: first(headers, header::LOCATION.as_str()),
            body,
        })
    }
}

impl Body {
    pub(crate) fn encode(self) -> Result<(Option<String>, Bytes), NetError> {
        Ok(match self {
            Self::Empty => (None, Bytes::new()),
            Self::Form(pairs) => {
                let encoded = serde_urlencoded::to_string(pairs)
                    .map_err(|_| NetError::BadCall("the form cannot be encoded"))?;
                (
                    Some("application/x-www-form-urlencoded".to_owned()),
                    encoded.into(),
                )
            }
            Self::Json(bytes) => (Some("application/json".to_owned()), bytes.into()),
            Self::Bytes {
                content_type,
                bytes,
            } => (Some(content_type), bytes.into()),
        })
    }
}

/// A header that may occur once. If two differ, two readers could understand the answer differently.
fn single(headers: &HeaderMap, name: &header::HeaderName) -> Result<Option<String>, NetError> {
    let mut values = headers.get_all(name).iter();
    let Some(first) = values.next() else {
        return Ok(None);
    };
    if values.next().is_some() {
        return Err(NetError::Malformed(
            "a header that may come once is repeated",
        ));
    }
    match first.to_str() {
        Ok(text) => Ok(Some(text.to_owned())),
        Err(_) => Err(NetError::Malformed("a header is not text")),
    }
}

/// A header that an answer is not refused for: the first of several, if it is text.
fn first(headers: &HeaderMap, name: &str) -> Option<String> {
    let value = headers.get(name)?.to_str().ok()?;
    Some(value.to_owned())
}

/// RFC 9110 §10.2.3: seconds, or a date, which counts from the date of the answer.
fn retry_after(value: &str, headers: &HeaderMap) -> Option<u64> {
    if let Ok(seconds) = value.parse() {
        return Some(seconds);
    }
    let at = httpdate::parse_http_date(value).ok()?;
    let answered = httpdate::parse_http_date(&first(headers, header::DATE.as_str())?).ok()?;
    let wait = at.duration_since(answered).unwrap_or_default();
    Some(wait.as_secs())
}

/// RFC 9111 §5.2.2: `no-store` and `no-cache` forbid what `max-age` allows.
fn cache_max_age(headers: &HeaderMap) -> Option<u64> {
    let mut age = None;
    for value in headers.get_all(header::CACHE_CONTROL) {
        for directive in value.to_str().unwrap_or("no-store").split(',') {
            let directive = directive.trim().to_ascii_lowercase();
            if directive == "no-store" || directive.starts_with("no-cache") {
                return Some(0);
            }
            if let Some(seconds) = directive.strip_prefix("max-age=") {
                let seconds = seconds.trim_matches('"').parse::<u64>().unwrap_or(0);
                age = Some(age.map_or(seconds, |known: u64| known.min(seconds)));
            }
        }
    }
    age
}

#[cfg(test)]
mod tests {
    use super::*;
    use http::HeaderValue;

    fn with(name: header::HeaderName, values: &[&'static str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(&name, HeaderValue::from_static(value));
        }
        headers
    }

    #[test]
    fn no_store_forbids_what_max_age_allows() {
        let age = |values: &[&'static str]| cache_max_age(&with(header::CACHE_CONTROL, values));
        assert_eq!(age(&["public, max-age=60"]), Some(60));
        assert_eq!(age(&["max-age=60", "Max-Age=30"]), Some(30));
        assert_eq!(age(&["max-age=60, no-store"]), Some(0));
        assert_eq!(age(&["no-cache=\"x\""]), Some(0));
        assert_eq!(age(&["max-age=soon"]), Some(0));
        assert_eq!(age(&["public"]), None);
    }

    #[test]
    fn a_repeated_content_type_is_refused() {
        let headers = with(header::CONTENT_TYPE, &["application/json", "text/html"]);
        assert!(matches!(
            Response::new(200, &headers, Bytes::new()),
            Err(NetError::Malformed(_))
        ));
    }

    #[test]
    fn a_nonce_and_a_challenge_are_read_and_no_answer_is_lost_for_them() {
        let name = header::HeaderName::from_static(DPOP_NONCE);
        let mut headers = with(name, &["one", "two"]);
        let challenge = HeaderValue::from_static("DPoP error=\"use_dpop_nonce\"");
        headers.append(header::WWW_AUTHENTICATE, challenge);
        let response = Response::new(401, &headers, Bytes::new()).unwrap();
        assert_eq!(response.dpop_nonce.as_deref(), Some("one"));
        assert!(response.challenge.unwrap().contains("use_dpop_nonce"));
        let none = Response::new(200, &HeaderMap::new(), Bytes::new()).unwrap();
        assert_eq!((none.dpop_nonce, none.challenge), (None, None));
    }

    #[test]
    fn the_time_to_wait_is_seconds_or_a_date_that_counts_from_that_of_the_answer() {
        let wait = |after: &'static str, date: &'static str| {
            let mut headers = with(header::RETRY_AFTER, &[after]);
            headers.append(header::DATE, HeaderValue::from_static(date));
            let response = Response::new(429, &headers, Bytes::new()).unwrap();
            response.retry_after
        };
        let now = "Mon, 30 Nov 2026 20:00:00 GMT";
        assert_eq!(wait(" 120 ", now), Some(120));
        assert_eq!(wait("Mon, 30 Nov 2026 21:00:00 GMT", now), Some(3_600));
        assert_eq!(wait("Mon, 30 Nov 2026 19:00:00 GMT", now), Some(0));
        assert_eq!(wait("Mon, 30 Nov 2026 21:00:00 GMT", "today"), None);
        assert_eq!(wait("soon", now), None);
    }

    #[test]
    fn the_media_type_has_no_parameters_and_no_case() {
        let headers = with(header::CONTENT_TYPE, &["Application/JSON ; charset=utf-8"]);
        let response = Response::new(200, &headers, Bytes::new()).unwrap();
        assert_eq!(response.media_type().as_deref(), Some("application/json"));
    }
}
