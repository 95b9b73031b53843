//! Refusals of AnonCreds as errors of the use case.

use selfsame_anoncreds_roles::RoleError;
use selfsame_driver::Error;

/// The error for what AnonCreds refuses. It quotes no secret.
pub(crate) fn refused(error: impl Into<RoleError>) -> Error {
    match error.into() {
        RoleError::Missing(object) => {
            Error::bad_request("anoncreds-object-unknown").with("object", &object)
        }
        other => Error::bad_request("anoncreds-refused").with("detail", &other),
    }
}

/// The error for an identifier that no registry here has.
pub(crate) fn unknown(what: &'static str, id: &str) -> Error {
    Error::bad_request("anoncreds-object-unknown").with("object", &format!("{what} {id}"))
}
