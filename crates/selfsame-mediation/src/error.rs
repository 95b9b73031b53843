//! Refusals of protocols as errors of the use case.

use selfsame_aries::advance::{Problem, ProblemKind};
use selfsame_driver::{Error, ErrorKind};

/// A refusal, for the one who gave the input.
pub fn refused(problem: &Problem) -> Error {
    let kind = match problem.kind {
        ProblemKind::UnknownThread => ErrorKind::NotFound,
        ProblemKind::WrongState | ProblemKind::Used => ErrorKind::Conflict,
        ProblemKind::Content | ProblemKind::Signature => ErrorKind::BadRequest,
    };
    Error::new(kind, "aries-refused")
        .with("code", &problem.code)
        .with("why", &problem.explain)
}

/// A message that can't be read, or that is for no tenant here.
pub fn unreadable(why: &impl std::fmt::Display) -> Error {
    Error::bad_request("aries-message-unreadable").with("why", why)
}
