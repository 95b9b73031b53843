//! The envelopes of all calls but those of OAuth: `{"requestTime", "request"}`, and `{"responseTime", "response",
//! "errors"}` with status 200 whether the call succeeded or not.

use axum::response::{IntoResponse as _, Response};
use http::header::{CACHE_CONTROL, CONTENT_TYPE, RETRY_AFTER};
use http::{HeaderValue, StatusCode};
use selfsame_crypto::json::{self, Limits};
use selfsame_crypto::time::UnixTime;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

/// Seconds by which the clocks of caller and server may differ.
const LEEWAY: u64 = 120;

/// The code for a request that can't be read, or of another time.
pub const INVALID_REQUEST: &str = "invalid_request";

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct RequestEnvelope<T> {
    request_time: Option<String>,
    request: Option<T>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct ResponseEnvelope<'a, T, E> {
    response_time: &'a str,
    response: Option<T>,
    errors: &'a [E],
}

/// An error as eSignet writes it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct EsignetError<'a> {
    error_code: &'a str,
    error_message: &'a str,
}

/// An error as the mock identity system writes it.
#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct MockError<'a> {
    error_code: &'a str,
    message: &'a str,
}

/// The request in an envelope.
///
/// # Errors
/// The code for a body that is no envelope, or one whose time is more than two minutes from now.
pub fn request<T: DeserializeOwned>(body: &[u8], now: UnixTime) -> Result<T, &'static str> {
    let read: Result<RequestEnvelope<T>, _> = json::parse_as(body, &limits(body));
    let envelope = read.map_err(|error| {
        tracing::info!(%error, "an eSignet call has no readable envelope");
        INVALID_REQUEST
    })?;
    let time = envelope.request_time.as_deref();
    let time = time.and_then(UnixTime::parse_rfc3339);
    let apart = |time: UnixTime| time.seconds_since(now).max(now.seconds_since(time));
    match time.is_some_and(|time| apart(time) <= LEEWAY) {
        true => envelope.request.ok_or(INVALID_REQUEST),
        false => Err(INVALID_REQUEST),
    }
}

/// A body without an envelope.
///
/// # Errors
/// The code for a body that is not of this type.
pub fn bare<T: DeserializeOwned>(body: &[u8]) -> Result<T, &'static str> {
    json::parse_as(body, &limits(body)).map_err(|error| {
        tracing::info!(%error, "a call of the mock identity system can't be read");
        INVALID_REQUEST
    })
}

/// A response, or an error of eSignet, in its envelope.
pub fn answer<T: Serialize>(answer: Result<T, &str>, now: UnixTime) -> Response {
    match answer {
        Ok(response) => written::<_, EsignetError<'_>>(Some(response), &[], now),
        Err(code) => {
            tracing::info!(code, "an eSignet call was refused");
            let error = EsignetError {
                error_code: code,
                error_message: code,
            };
            written::<(), _>(None, &[error], now)
        }
    }
}

/// The answer to a caller who must wait for this number of seconds.
pub(crate) fn too_many(retry_after: u64, now: UnixTime) -> Response {
    let mut response = answer::<()>(Err("too_many_requests"), now);
    *response.status_mut() = StatusCode::TOO_MANY_REQUESTS;
    let seconds = HeaderValue::from(retry_after);
    response.headers_mut().insert(RETRY_AFTER, seconds);
    response
}

/// A response, or an error of the mock identity system, in its envelope.
pub fn mock_answer<T: Serialize>(answer: Result<T, &str>, now: UnixTime) -> Response {
    match answer {
        Ok(response) => written::<_, MockError<'_>>(Some(response), &[], now),
        Err(code) => {
            tracing::info!(code, "a call of the mock identity system was refused");
            let error = MockError {
                error_code: code,
                message: code,
            };
            written::<(), _>(None, &[error], now)
        }
    }
}

/// A time as the envelopes have it, with milliseconds.
#[must_use]
pub fn time(at: UnixTime) -> String {
    at.rfc3339().replace('Z', ".000Z")
}

fn written<T: Serialize, E: Serialize>(
    response: Option<T>,
    errors: &[E],
    now: UnixTime,
) -> Response {
    let envelope = ResponseEnvelope {
        response_time: &time(now),
        response,
        errors,
    };
    let text = serde_json::to_string(&envelope).unwrap_or_default();
    let about = [
        (CONTENT_TYPE, "application/json"),
        (CACHE_CONTROL, "no-store"),
    ];
    (about, text).into_response()
}

/// The length of a body is limited where it arrives.
fn limits(body: &[u8]) -> Limits {
    Limits {
        max_bytes: body.len(),
        ..Limits::default()
    }
}

#[cfg(test)]
mod tests {
    use http_body_util::BodyExt as _;
    use proptest::prelude::*;
    use serde_json::{Value, json};

    use super::*;

    const NOW: UnixTime = UnixTime(1_764_441_600);

    fn read(body: &str) -> Result<Value, &'static str> {
        request(body.as_bytes(), NOW)
    }

    fn at(seconds: i64) -> Result<Value, &'static str> {
        let at = UnixTime(NOW.0.checked_add_signed(seconds).unwrap());
        let body = json!({"requestTime": time(at), "request": {"a": 1}});
        read(&body.to_string())
    }

    proptest! {
        #[test]
        fn no_body_makes_it_panic(body in proptest::collection::vec(any::<u8>(), 0..256)) {
            let _ = request::<Value>(&body, NOW);
            let _ = bare::<Value>(&body);
        }
    }

    #[test]
    fn a_request_is_taken_within_two_minutes_of_its_time() {
        assert_eq!(time(NOW), "2025-11-29T18:40:00.000Z");
        for seconds in [0, 120, -120] {
            assert_eq!(at(seconds), Ok(json!({"a": 1})));
        }
        for seconds in [121, -121, 86_400] {
            assert_eq!(at(seconds), Err(INVALID_REQUEST));
        }
    }

    #[test]
    fn what_is_no_envelope_is_refused() {
        let now = time(NOW);
        let doubled = format!("{{\"requestTime\":\"{now}\",\"request\":{{\"a\":1,\"a\":2}}}}");
        let without = format!("{{\"requestTime\":\"{now}\"}}");
        let untimed = "{\"request\":{}}".to_owned();
        let elsewhen = "{\"requestTime\":\"yesterday\",\"request\":{}}".to_owned();
        for body in [
            doubled,
            without,
            untimed,
            elsewhen,
            String::new(),
            "[]".to_owned(),
        ] {
            assert_eq!(read(&body), Err(INVALID_REQUEST), "{body}");
        }
    }

    async fn text(response: Response) -> String {
        assert_eq!(response.status(), StatusCode::OK);
        let body = response.into_body().collect().await.unwrap();
        String::from_utf8(body.to_bytes().to_vec()).unwrap()
    }

    #[tokio::test]
    async fn envelopes_are_compact_and_have_all_their_members() {
        let right = answer(Ok(json!({"a": "é/\"\u{2028}"})), NOW);
        assert_eq!(
            text(right).await,
            "{\"responseTime\":\"2025-11-29T18:40:00.000Z\",\"response\":{\"a\":\"é/\\\"\u{2028}\"},\"errors\":[]}"
        );
        let wrong = answer::<()>(Err("invalid_transaction"), NOW);
        assert_eq!(
            text(wrong).await,
            "{\"responseTime\":\"2025-11-29T18:40:00.000Z\",\"response\":null,\
             \"errors\":[{\"errorCode\":\"invalid_transaction\",\"errorMessage\":\"invalid_transaction\"}]}"
        );
        let wrong = mock_answer::<()>(Err("auth_failed"), NOW);
        assert!(text(wrong).await.ends_with(
            "\"errors\":[{\"errorCode\":\"auth_failed\",\"message\":\"auth_failed\"}]}"
        ));
    }
}
