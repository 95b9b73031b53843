//! The errors of protocols and of their steps as errors of use cases.

use selfsame_driver::{Error, ErrorKind};
use selfsame_oauth::Code;
use selfsame_openid4vc::Error as Protocol;

/// Converts the refusal, and logs it.
pub(crate) fn refusal(error: Protocol) -> Error {
    let code = error.code();
    let reason = match &error {
        Protocol::Token(token) => token.reason.to_owned(),
        Protocol::Credential { reason, .. }
        | Protocol::Presentation { reason, .. }
        | Protocol::Counterpart { reason, .. } => reason.clone(),
        Protocol::Unsupported { reason, .. }
        | Protocol::Choice(reason)
        | Protocol::Expired(reason) => (*reason).to_owned(),
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
    let hint = match error {
        Protocol::Counterpart { advice, .. } | Protocol::Unsupported { advice, .. } => {
            Some(advice.to_owned())
        }
        Protocol::Expired(_) => Some("ask for a new one".to_owned()),
        _ => None,
    };
    Error {
        kind,
        reason,
        hint,
        code,
    }
}
