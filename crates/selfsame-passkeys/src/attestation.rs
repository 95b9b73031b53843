//! Attestation objects: the passkey that an authenticator has created (§6.5.4).

use crate::authenticator::AuthenticatorData;
use crate::cbor;
use crate::error::PasskeyError;

/// Longest name of a format of attestation, in bytes (§8.1).
const FORMAT_MAX: usize = 32;

/// A new passkey with what its authenticator says.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct AttestationObject {
    /// The format of the statement about the authenticator's make: `none` if there is no statement.
    pub format: String,
    /// What the authenticator says.
    pub data: AuthenticatorData,
}

impl AttestationObject {
    /// Reads an attestation object. Its statement must be a map, an empty one for `none` (§8.7); what other statements
    /// say is neither checked nor believed.
    ///
    /// # Errors
    /// Those of [`AuthenticatorData::read`].
    pub fn read(bytes: &[u8]) -> Result<Self, PasskeyError> {
        let malformed = PasskeyError::Malformed("attestation object");
        let object = cbor::only(bytes)?;
        let format = cbor::named(&object, "fmt")?.text().ok_or(malformed)?;
        let statement = cbor::pairs(cbor::named(&object, "attStmt")?)?;
        let is_name =
            format.len() <= FORMAT_MAX && format.bytes().all(|byte| byte.is_ascii_graphic());
        if cbor::pairs(&object)?.len() != 3
            || !is_name
            || (format == "none" && !statement.is_empty())
        {
            return Err(malformed);
        }
        Ok(Self {
            format: format.to_owned(),
            data: AuthenticatorData::read(cbor::bytes(cbor::named(&object, "authData")?)?)?,
        })
    }
}
