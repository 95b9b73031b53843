//! The one place that maps errors to HTTP: a status, and a body in the caller's format.
//!
//! Handlers and middleware return a [`Problem`]; the face of its address writes it as problem details (RFC 9457), as an
//! OAuth error (RFC 6749 §5.2), as plain text, or as a page.

use std::borrow::Cow;
use std::fmt;

use axum::response::{IntoResponse, Response};
use http::header::{CONTENT_TYPE, RETRY_AFTER, WWW_AUTHENTICATE};
use http::{HeaderValue, StatusCode};
use selfsame_catalogue::{Language, Sentence, sentence};
use selfsame_driver::{Error, ErrorKind, Reason};
use selfsame_oauth::ErrorBody;
use serde_json::json;

/// The code of a refusal to a subscriber of a credential book, who shows a name and a password.
pub const SUBSCRIBER_DENIED: &str = "invalid_subscriber";

/// The result of a handler.
pub type Handled<T = Response> = Result<T, Problem>;

/// The format of an error.
#[derive(Clone, Copy, Debug)]
pub enum Face {
    /// Programs: `application/problem+json`.
    Api,
    /// Other parties of a protocol: `{"error", "error_description"}`.
    Protocol,
    /// Controllers of agents: plain text that begins with the status.
    Text,
    /// People: a page, by the function that writes its HTML.
    Page(fn(&Problem) -> String),
}

/// The page where people continue after an error.
#[derive(Clone, Debug)]
struct Door {
    page: Cow<'static, str>,
    label: &'static str,
}

/// An error, ready to be written in any face.
#[derive(Clone, Debug)]
pub struct Problem {
    status: StatusCode,
    reason: Reason,
    code: Option<&'static str>,
    retry_after: Option<u64>,
    /// Boxed, because a result holds a problem at every step of a handler, and few have a door.
    door: Option<Box<Door>>,
}

impl Problem {
    /// A problem with this status. The id names its reason: a literal in kebab-case, which the catalogue has.
    pub const fn new(status: StatusCode, id: &'static str) -> Self {
        Self::of(status, Reason::new(id))
    }

    /// A problem with this status and reason.
    pub const fn of(status: StatusCode, reason: Reason) -> Self {
        Self {
            status,
            reason,
            code: None,
            retry_after: None,
            door: None,
        }
    }

    /// The caller sent something that cannot work.
    pub const fn bad_request(id: &'static str) -> Self {
        Self::new(StatusCode::BAD_REQUEST, id)
    }

    /// Adds a parameter of the reason.
    pub fn with<T: fmt::Display + ?Sized>(mut self, name: &'static str, value: &T) -> Self {
        self.reason = self.reason.with(name, value);
        self
    }

    /// Adds a parameter that is another reason.
    pub fn with_reason(mut self, name: &'static str, value: Reason) -> Self {
        self.reason = self.reason.with_reason(name, value);
        self
    }

    /// Adds the protocol's own code for this problem.
    pub fn with_code(mut self, code: &'static str) -> Self {
        self.code = Some(code);
        self
    }

    /// Adds the time to wait before trying again.
    pub fn come_back_in(mut self, seconds: u64) -> Self {
        self.retry_after = Some(seconds);
        self
    }

    /// Adds the page where people continue, and its button's label.
    pub fn go_on(mut self, page: &'static str, label: &'static str) -> Self {
        let page = Cow::Borrowed(page);
        self.door = Some(Box::new(Door { page, label }));
        self
    }

    /// Adds the page where people continue, unless the problem has one already.
    pub fn or_go_on(&mut self, page: Cow<'static, str>, label: &'static str) {
        self.door.get_or_insert(Box::new(Door { page, label }));
    }

    /// Seconds to wait before trying again.
    pub fn retry_after(&self) -> Option<u64> {
        self.retry_after
    }

    /// The page where people continue, and its button's label.
    pub fn door(&self) -> Option<(&str, &'static str)> {
        let door = self.door.as_deref();
        door.map(|door| (door.page.as_ref(), door.label))
    }

    /// The status of the response.
    pub fn status(&self) -> StatusCode {
        self.status
    }

    /// Why, for the log and for programs.
    pub fn reason(&self) -> &Reason {
        &self.reason
    }

    /// What is wrong, for the person who must act, and what they can do about it.
    pub fn told(&self) -> Sentence {
        sentence(Language::English, &self.reason)
    }

    /// The protocol's code, or else one for the status. Programs decide by the code, not by the reason.
    fn api_code(&self) -> &'static str {
        self.code.unwrap_or(match self.status {
            StatusCode::UNAUTHORIZED => "unauthenticated",
            StatusCode::FORBIDDEN => "forbidden",
            StatusCode::NOT_FOUND => "not_found",
            StatusCode::METHOD_NOT_ALLOWED => "method_not_allowed",
            StatusCode::CONFLICT => "conflict",
            StatusCode::GONE => "gone",
            StatusCode::PAYLOAD_TOO_LARGE => "too_large",
            StatusCode::UNSUPPORTED_MEDIA_TYPE => "unsupported_media_type",
            StatusCode::MISDIRECTED_REQUEST => "misdirected",
            StatusCode::TOO_MANY_REQUESTS => "too_many",
            StatusCode::NOT_IMPLEMENTED => "not_implemented",
            StatusCode::BAD_GATEWAY => "upstream",
            StatusCode::SERVICE_UNAVAILABLE => "unavailable",
            StatusCode::INSUFFICIENT_STORAGE => "full",
            status if status.is_server_error() => "internal",
            _ => "bad_request",
        })
    }

    fn oauth_code(&self) -> &'static str {
        self.code.unwrap_or(match self.status {
            StatusCode::UNAUTHORIZED => "invalid_token",
            StatusCode::FORBIDDEN => "access_denied",
            StatusCode::TOO_MANY_REQUESTS | StatusCode::SERVICE_UNAVAILABLE => {
                "temporarily_unavailable"
            }
            status if status.is_server_error() => "server_error",
            _ => "invalid_request",
        })
    }
}

impl From<Error> for Problem {
    fn from(error: Error) -> Self {
        let (status, retry_after) = match error.kind {
            ErrorKind::BadRequest => (StatusCode::BAD_REQUEST, None),
            ErrorKind::Unauthenticated => (StatusCode::UNAUTHORIZED, None),
            ErrorKind::Forbidden => (StatusCode::FORBIDDEN, None),
            ErrorKind::NotFound => (StatusCode::NOT_FOUND, None),
            ErrorKind::Conflict => (StatusCode::CONFLICT, None),
            ErrorKind::Gone => (StatusCode::GONE, None),
            ErrorKind::TooMany { retry_after } => {
                (StatusCode::TOO_MANY_REQUESTS, Some(retry_after))
            }
            ErrorKind::Unavailable { retry_after } => {
                (StatusCode::SERVICE_UNAVAILABLE, Some(retry_after))
            }
            ErrorKind::Full => (StatusCode::INSUFFICIENT_STORAGE, None),
            ErrorKind::Upstream => (StatusCode::BAD_GATEWAY, None),
            ErrorKind::Damaged | ErrorKind::Internal => (StatusCode::INTERNAL_SERVER_ERROR, None),
        };
        Self {
            status,
            reason: error.reason,
            code: error.code,
            retry_after,
            door: None,
        }
    }
}

impl IntoResponse for Problem {
    fn into_response(self) -> Response {
        let mut response = self.status.into_response();
        if let Some(seconds) = self.retry_after {
            response
                .headers_mut()
                .insert(RETRY_AFTER, HeaderValue::from(seconds));
        }
        response.extensions_mut().insert(self);
        response
    }
}

/// Writes the problem that `response` carries, if any, in the caller's format.
pub fn write(face: Face, mut response: Response) -> Response {
    let Some(problem) = carried(&mut response) else {
        return response;
    };
    let code = match face {
        Face::Protocol => Some(problem.oauth_code()),
        Face::Api | Face::Text | Face::Page(_) => problem.code,
    };
    let told = problem.told();
    log_refusal(problem.status, code, problem.reason.id(), &told.text);
    let (content_type, body) = match face {
        Face::Api => ("application/problem+json", details(&problem, &told)),
        Face::Protocol => ("application/json", oauth(&problem, &told)),
        Face::Text => (
            "text/plain; charset=utf-8",
            format!("{}: {}", problem.status.as_u16(), told.text),
        ),
        Face::Page(html) => ("text/html; charset=utf-8", html(&problem)),
    };
    if !matches!(face, Face::Page(_))
        && let Some(challenge) = challenge(&problem)
    {
        response.headers_mut().insert(WWW_AUTHENTICATE, challenge);
    }
    response
        .headers_mut()
        .insert(CONTENT_TYPE, HeaderValue::from_static(content_type));
    response.headers_mut().remove(http::header::CONTENT_LENGTH);
    *response.body_mut() = body.into();
    response
}

/// The log line for a refusal, whatever its format.
pub fn log_refusal(status: StatusCode, code: Option<&str>, id: &str, reason: &str) {
    tracing::info!(status = status.as_u16(), code, id, reason, "refused");
}

/// The kind of token that is needed, and what is wrong with the one sent (RFC 6750 §3).
fn challenge(problem: &Problem) -> Option<HeaderValue> {
    let is_refused = problem.status == StatusCode::UNAUTHORIZED;
    match problem.code {
        Some("invalid_token") => Some(HeaderValue::from_static("Bearer error=\"invalid_token\"")),
        Some("insufficient_scope") => Some(HeaderValue::from_static(
            "Bearer error=\"insufficient_scope\"",
        )),
        // RFC 6749 §5.2; of the ways in which clients authenticate, this is the one that HTTP knows.
        Some("invalid_client") => Some(HeaderValue::from_static("Basic realm=\"client\"")),
        // RFC 7617 §2.1: names and passwords are UTF-8.
        Some(SUBSCRIBER_DENIED) => Some(HeaderValue::from_static(
            "Basic realm=\"subscriber\", charset=\"UTF-8\"",
        )),
        // RFC 9449 §7.1: the challenge names the algorithms of proofs.
        Some("use_dpop_nonce") if is_refused => Some(HeaderValue::from_static(
            "DPoP error=\"use_dpop_nonce\", algs=\"ES256 EdDSA\"",
        )),
        Some("invalid_dpop_proof") if is_refused => Some(HeaderValue::from_static(
            "DPoP error=\"invalid_dpop_proof\", algs=\"ES256 EdDSA\"",
        )),
        _ => is_refused.then(|| HeaderValue::from_static("Bearer")),
    }
}

/// The problem in the response. A refusal by the framework itself gets a problem made from its status.
fn carried(response: &mut Response) -> Option<Problem> {
    if let Some(problem) = response.extensions_mut().remove::<Problem>() {
        return Some(problem);
    }
    let status = response.status();
    let bare = !response.headers().contains_key(CONTENT_TYPE);
    let made_here = status == StatusCode::METHOD_NOT_ALLOWED || status == StatusCode::NOT_FOUND;
    (bare && made_here).then(|| match status {
        StatusCode::METHOD_NOT_ALLOWED => Problem::new(status, "method-refused"),
        _ => Problem::new(status, "address-unknown"),
    })
}

fn details(problem: &Problem, told: &Sentence) -> String {
    let mut details = json!({
        "title": problem.status.canonical_reason().unwrap_or("error"),
        "status": problem.status.as_u16(),
        "detail": told.text,
        "reason": problem.reason.id(),
        "code": problem.api_code(),
    });
    if let Some(hint) = &told.hint {
        details["hint"] = json!(hint);
    }
    if let Some(row) = row(&problem.reason) {
        details["row"] = json!(row);
    }
    details.to_string()
}

/// The row that is refused, of a request with many.
fn row(reason: &Reason) -> Option<usize> {
    reason.parameter("row")?.to_string().parse().ok()
}

fn oauth(problem: &Problem, told: &Sentence) -> String {
    json!(ErrorBody::new(problem.oauth_code(), &told.text)).to_string()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(problem: &Problem) -> String {
        details(problem, &problem.told())
    }

    #[test]
    fn each_kind_of_error_has_its_status_and_time_to_come_back() {
        let busy = Problem::from(Error::new(
            ErrorKind::Unavailable { retry_after: 3 },
            "overloaded-briefly",
        ))
        .into_response();
        assert_eq!(busy.status(), StatusCode::SERVICE_UNAVAILABLE);
        assert_eq!(busy.headers()[RETRY_AFTER], "3");
        let full = Problem::from(Error::new(ErrorKind::Full, "storage-full")).into_response();
        assert_eq!(full.status(), StatusCode::INSUFFICIENT_STORAGE);
        let gone = Problem::from(Error::new(ErrorKind::Gone, "offer-over")).into_response();
        assert_eq!(gone.status(), StatusCode::GONE);
    }

    #[test]
    fn each_problem_of_the_api_has_a_code_and_keeps_that_of_its_protocol() {
        for (kind, code) in [
            (ErrorKind::BadRequest, "bad_request"),
            (ErrorKind::Unauthenticated, "unauthenticated"),
            (ErrorKind::Forbidden, "forbidden"),
            (ErrorKind::NotFound, "not_found"),
            (ErrorKind::Conflict, "conflict"),
            (ErrorKind::Gone, "gone"),
            (ErrorKind::TooMany { retry_after: 1 }, "too_many"),
            (ErrorKind::Unavailable { retry_after: 1 }, "unavailable"),
            (ErrorKind::Full, "full"),
            (ErrorKind::Upstream, "upstream"),
            (ErrorKind::Damaged, "internal"),
            (ErrorKind::Internal, "internal"),
        ] {
            let text = written(&Problem::from(Error::new(kind, "internal")));
            let told: serde_json::Value = serde_json::from_str(&text).unwrap();
            assert_eq!(told["code"], code);
        }
        let own = Error::upstream("internal").with_code("invalid_grant");
        assert!(written(&Problem::from(own)).contains(r#""code":"invalid_grant""#));
    }

    #[test]
    fn a_problem_of_the_api_has_the_sentence_and_the_id_of_its_reason() {
        let told = |problem: &Problem| -> serde_json::Value {
            serde_json::from_str(&written(problem)).unwrap()
        };
        let over = told(&Problem::from(Error::new(ErrorKind::Gone, "offer-over")));
        assert_eq!(over["reason"], "offer-over");
        assert_eq!(over["detail"], "this offer was accepted or has expired");
        assert_eq!(over["hint"], "ask the issuer for a new one");
        let missing = told(&Problem::bad_request("field-missing").with("field", "x"));
        assert_eq!(missing["detail"], "the field x is missing");
    }

    #[test]
    fn an_oauth_error_keeps_its_code_and_the_characters_that_are_allowed() {
        let error = Error::bad_request("rule-broken")
            .with("detail", "the \"code\" is “spent” (§5.2)")
            .with_code("invalid_grant");
        let problem = Problem::from(error);
        let text = oauth(&problem, &problem.told());
        assert_eq!(
            text,
            r#"{"error":"invalid_grant","error_description":"the 'code' is 'spent' (section 5.2)"}"#
        );
    }
}
