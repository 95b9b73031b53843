//! The errors of the protocol and of identity systems as errors of use cases.

use selfsame_driver::{Error, ErrorKind, Reason};
use selfsame_oauth::{Code, Error as Refused};

use crate::identity::{IdentityFault, IdentityFaultKind};

/// The code of an identity system that asks for the authenticator app of a person too.
const APP_NEEDED: &str = "totp-needed";

/// Converts a refusal, and logs it.
pub(crate) fn refusal(error: Refused) -> Error {
    let kind = match error.code {
        Code::InvalidClient | Code::InvalidClientAttestation | Code::InvalidToken => {
            ErrorKind::Unauthenticated
        }
        Code::InsufficientScope | Code::AccessDenied => ErrorKind::Forbidden,
        _ => ErrorKind::BadRequest,
    };
    let (code, reason) = (error.code.as_str(), Reason::rule_broken(error.reason, None));
    tracing::info!(code, %reason, "refused");
    Error {
        kind,
        reason,
        code: Some(code),
    }
}

/// Refuses by the code of a specification.
pub(crate) fn refuse(code: Code, reason: &'static str) -> Error {
    refusal(Refused::new(code, reason))
}

/// Converts the fault of an identity system, and logs its kind and its own code, which name no person.
pub(crate) fn fault(fault: &IdentityFault) -> Error {
    let code = fault.code.as_deref();
    tracing::warn!(kind = ?fault.kind, code, "the identity system refused");
    match fault.kind {
        // Told only to a person who has proven the first factor.
        IdentityFaultKind::WrongChallenge if code == Some(APP_NEEDED) => {
            Error::new(ErrorKind::Unauthenticated, "totp-needed")
        }
        // One sentence for both, so that it does not reveal who is known.
        IdentityFaultKind::UnknownPerson | IdentityFaultKind::WrongChallenge => {
            Error::new(ErrorKind::Unauthenticated, "identity-not-proven")
        }
        IdentityFaultKind::Malformed => Error::bad_request("challenge-malformed"),
        IdentityFaultKind::NoAddress => Error::bad_request("otp-address-absent"),
        IdentityFaultKind::Blocked { retry_after } => {
            Error::new(ErrorKind::TooMany { retry_after }, "identity-blocked")
        }
        IdentityFaultKind::Unsupported => Error::bad_request("factor-unsupported"),
        IdentityFaultKind::Unavailable | IdentityFaultKind::TooLate => {
            Error::upstream("identity-system-away")
        }
    }
}
