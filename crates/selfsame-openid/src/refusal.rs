//! The errors of protocols and of their steps as errors of use cases.

use selfsame_driver::{Error, ErrorKind, Reason};
use selfsame_oauth::Code;
use selfsame_openid4vc::Error as Protocol;

/// Converts the refusal, and logs it.
pub(crate) fn refusal(error: Protocol) -> Error {
    let code = error.code();
    let reason = match &error {
        Protocol::Token(token) => rule_broken(token.reason, None),
        Protocol::Credential { reason, .. } | Protocol::Presentation { reason, .. } => {
            rule_broken(reason, None)
        }
        Protocol::Choice(reason) => rule_broken(reason, None),
        Protocol::Counterpart { reason, advice, .. } => rule_broken(reason, Some(advice)),
        Protocol::Unsupported { reason, advice, .. } => rule_broken(reason, Some(advice)),
        Protocol::Expired(reason) => Reason::new("object-expired").with("detail", *reason),
        Protocol::State(detail) => return Error::internal(detail),
        Protocol::Setup(detail) => return Error::internal(detail),
    };
    let kind = match &error {
        Protocol::Counterpart { .. } => ErrorKind::Upstream,
        Protocol::Expired(_) => ErrorKind::Gone,
        Protocol::Token(token) if matches!(token.code, Code::InvalidToken) => {
            ErrorKind::Unauthenticated
        }
        Protocol::Token(token) if matches!(token.code, Code::InsufficientScope) => {
            ErrorKind::Forbidden
        }
        _ => ErrorKind::BadRequest,
    };
    tracing::info!(code, %reason, "refused");
    Error { kind, reason, code }
}

/// What a protocol says about a broken rule, and what can be done.
pub(crate) fn rule_broken(detail: &str, advice: Option<&str>) -> Reason {
    match advice {
        Some(advice) => Reason::new("rule-broken-advised")
            .with("detail", detail)
            .with("advice", advice),
        None => Reason::new("rule-broken").with("detail", detail),
    }
}
