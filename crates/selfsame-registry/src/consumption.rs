//! Single use: a credential's handle is used up or revoked once.

use selfsame_crypto::hash::sha256_parts;
use selfsame_proof::cbor::{CborItem, CborReader, CborWriter, Malformed};

use crate::delegation::Action;
use crate::encoding::{optional, write_optional};
use crate::identifier::Identifier;
use crate::receipt::Receipt;

const DOMAIN: &[u8] = b"selfsame/use/1";

/// The use or the revocation of a credential.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Consume {
    /// Who issued the credential.
    pub issuer: Identifier,
    /// Its type, as the issuer wrote it into the credential.
    pub kind: String,
    /// The random handle inside the credential; this transaction reveals it for the first time.
    pub handle: [u8; 32],
    /// Whether it is used up or revoked.
    pub action: Action,
    /// The name of the issuer's delegation; `None` if the author is the issuer.
    pub delegation: Option<String>,
}

/// The use or the revocation of a credential, in the registry.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Consumption {
    /// Whether it was used up or revoked.
    pub action: Action,
    /// The credential's type.
    pub kind: String,
    /// The author of the transaction.
    pub by: Identifier,
    /// The name of the delegation; `None` if the author is the issuer.
    pub delegation: Option<String>,
    /// The receipt of the transaction.
    pub receipt: Receipt,
}

/// The digest that a handle is registered under. The type is part of it: a verifier looks under the credential's own
/// type, so a use that states another type has no effect.
pub fn use_digest(kind: &str, handle: &[u8; 32]) -> [u8; 32] {
    // A length in memory fits 64 bits.
    let length = u64::try_from(kind.len()).unwrap_or(u64::MAX).to_be_bytes();
    sha256_parts(&[DOMAIN, &length, kind.as_bytes(), handle])
}

impl CborItem for Consume {
    fn write(&self, to: &mut CborWriter) {
        to.array(5).item(&self.issuer).text(&self.kind);
        to.bytes(&self.handle).item(&self.action);
        write_optional(to, self.delegation.as_ref());
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(5)?;
        Ok(Self {
            issuer: Identifier::read(from)?,
            kind: from.text()?.to_owned(),
            handle: from.array_of()?,
            action: Action::read(from)?,
            delegation: optional(from)?,
        })
    }
}

impl CborItem for Consumption {
    fn write(&self, to: &mut CborWriter) {
        to.array(5).item(&self.action).text(&self.kind);
        to.item(&self.by);
        write_optional(to, self.delegation.as_ref());
        to.item(&self.receipt);
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(5)?;
        Ok(Self {
            action: Action::read(from)?,
            kind: from.text()?.to_owned(),
            by: Identifier::read(from)?,
            delegation: optional(from)?,
            receipt: Receipt::read(from)?,
        })
    }
}
