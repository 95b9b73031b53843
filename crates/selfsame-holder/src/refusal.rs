//! The errors of protocols and of their steps as errors of use cases.

use selfsame_driver::{Error, ErrorKind, Reason};
use selfsame_openid4vc::Error as Protocol;

/// Converts the refusal, and logs it.
#[must_use]
pub fn refusal(error: Protocol) -> Error {
    let kind = match &error {
        Protocol::State(_) | Protocol::Setup(_) => return Error::internal(error),
        Protocol::Counterpart { .. } => ErrorKind::Upstream,
        Protocol::Expired(_) => ErrorKind::Gone,
        _ => ErrorKind::BadRequest,
    };
    let reason = match &error {
        Protocol::Expired(detail) => Reason::new("object-expired").with("detail", *detail),
        _ => Reason::rule_broken(error.detail(), error.advice()),
    };
    let code = error.code();
    tracing::info!(code, %reason, "refused");
    Error { kind, reason, code }
}
