//! Refusals of the registry's machine as errors of use cases.

use selfsame_driver::{Error, ErrorKind, Result};
use selfsame_registry::refusal::{AuthorFault, EntryFault, ObjectFault, SignatureFault};
use selfsame_registry::{Refusal, Transaction};

/// Maps a refusal of the machine to an error of the use cases.
#[must_use]
pub fn refused(refusal: &Refusal) -> Error {
    let kind = match refusal {
        Refusal::Quota { .. } | Refusal::BlockFull => ErrorKind::TooMany {
            retry_after: refusal.retry_after().unwrap_or(1),
        },
        Refusal::Author(AuthorFault::Deactivated) => ErrorKind::Gone,
        Refusal::Author(AuthorFault::Unknown) => ErrorKind::NotFound,
        Refusal::Author(AuthorFault::Exists)
        | Refusal::Version { .. }
        | Refusal::NonceUsed
        | Refusal::Object(ObjectFault::Exists)
        | Refusal::Entry(EntryFault::Before)
        | Refusal::Used { .. }
        | Refusal::NotNewer => ErrorKind::Conflict,
        Refusal::Signature(
            SignatureFault::UnknownKey
            | SignatureFault::Bad
            | SignatureFault::FirstKeyMissing
            | SignatureFault::OwnerMissing,
        )
        | Refusal::NotAllowed { .. }
        | Refusal::Endorser
        | Refusal::Agreement(_)
        | Refusal::Delegation(_) => ErrorKind::Forbidden,
        Refusal::Signature(SignatureFault::Repeated)
        | Refusal::Network
        | Refusal::Identifier
        | Refusal::Content(_)
        | Refusal::TooLarge
        | Refusal::Governance(_)
        | Refusal::Object(_)
        | Refusal::Entry(_)
        | Refusal::Future => ErrorKind::BadRequest,
    };
    Error::new(kind, "rule-broken")
        .with("detail", refusal)
        .with_code(refusal.code())
}

/// Parses a serialized transaction.
///
/// # Errors
/// `BadRequest` with the code `malformed`.
pub fn parse_transaction(bytes: &[u8]) -> Result<Transaction> {
    Transaction::from_bytes(bytes).map_err(|malformed| {
        Error::bad_request("rule-broken")
            .with("detail", &malformed)
            .with_code("malformed")
    })
}
