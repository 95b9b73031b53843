//! Changes the status of a credential that was issued with one.

use selfsame_crypto::encoding::base64url_encode;
use selfsame_crypto::hash::sha256_parts;
use selfsame_driver::{Error, ErrorKind};
use selfsame_openid::view::issuer::CredentialStatus;

use crate::W3cDesk;
use crate::problem::W3cError;

/// What a status is about (Bitstring Status List §2.1).
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub enum StatusPurpose {
    /// It ends the credential for ever.
    Revocation,
    /// It makes the credential invalid for a time.
    Suspension,
}

/// A change of a status.
#[derive(Debug)]
pub struct StatusOrder {
    /// The `credentialId` of the issuance, or the `id` of the credential.
    pub id: String,
    /// What it is about.
    pub purpose: StatusPurpose,
    /// Whether it is set.
    pub is_set: bool,
}

/// The record of a credential of this identifier in the issuer's register. Equal identifiers have one record, so that
/// none is given twice.
pub(crate) fn record_of(id: &str) -> String {
    let digest = sha256_parts(&[b"w3c", id.as_bytes()]);
    base64url_encode(digest.get(..16).unwrap_or_default())
}

impl W3cDesk {
    /// Changes a status. The changed list is published within a second.
    ///
    /// # Errors
    /// `Failed` with `NotFound` for an unknown identifier, `Conflict` for a credential that is revoked, which it stays;
    /// the store's errors.
    pub async fn set_status(&self, order: &StatusOrder) -> Result<(), W3cError> {
        let issuer = self.roles.issuer()?;
        let record = record_of(&order.id);
        let now = issuer.issued_credential(&record).await?.status;
        if let Some(next) = next(now, order)? {
            issuer.set_status(&record, next).await?;
        }
        Ok(())
    }
}

/// The status that a credential gets; `None` if it has it.
fn next(now: CredentialStatus, order: &StatusOrder) -> Result<Option<CredentialStatus>, Error> {
    let revoked = || Error::new(ErrorKind::Conflict, "credential-revoked");
    Ok(match (order.purpose, order.is_set, now) {
        (StatusPurpose::Revocation, true, _) => Some(CredentialStatus::Revoked),
        (_, false, CredentialStatus::Valid) => None,
        (StatusPurpose::Revocation, false, CredentialStatus::Suspended) => None,
        (StatusPurpose::Suspension, false, CredentialStatus::Suspended) => {
            Some(CredentialStatus::Valid)
        }
        (
            StatusPurpose::Suspension,
            true,
            CredentialStatus::Valid | CredentialStatus::Suspended,
        ) => Some(CredentialStatus::Suspended),
        (_, _, CredentialStatus::Revoked) => return Err(revoked()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_suspension_is_lifted_and_a_revocation_is_not() {
        use CredentialStatus::{Revoked, Suspended, Valid};
        use StatusPurpose::{Revocation, Suspension};
        let after = |now, purpose, is_set| {
            let id = "urn:example:1".to_owned();
            next(
                now,
                &StatusOrder {
                    id,
                    purpose,
                    is_set,
                },
            )
            .ok()
        };
        assert_eq!(after(Valid, Revocation, true), Some(Some(Revoked)));
        assert_eq!(after(Valid, Suspension, true), Some(Some(Suspended)));
        assert_eq!(after(Suspended, Suspension, false), Some(Some(Valid)));
        assert_eq!(after(Valid, Suspension, false), Some(None));
        // What a status is not about stays as it is.
        assert_eq!(after(Suspended, Revocation, false), Some(None));
        for purpose in [Revocation, Suspension] {
            assert_eq!(after(Revoked, purpose, false), None);
        }
    }

    #[test]
    fn an_identifier_has_one_record() {
        assert_eq!(record_of("urn:example:1"), record_of("urn:example:1"));
        assert_ne!(record_of("urn:example:1"), record_of("urn:example:2"));
    }
}
