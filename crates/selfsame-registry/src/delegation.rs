//! Delegations: a delegate may use up or revoke an issuer's credentials, of some types, until a time.

use selfsame_crypto::time::UnixTime;
use selfsame_proof::cbor::{CborItem, CborReader, CborWriter, Malformed};

use crate::encoding::{optional, write_optional};
use crate::identifier::Identifier;
use crate::receipt::Receipt;

const MAX_TYPE_BYTES: usize = 256;

/// What happens to a credential by its handle.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub enum Action {
    /// It is used up.
    Consume,
    /// It is revoked.
    Revoke,
}

/// A delegation as its issuer writes it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Delegation {
    /// Its name among the issuer's delegations: a plain fragment, never used again.
    pub name: String,
    /// The delegate.
    pub to: Identifier,
    /// The types of the credentials, as the issuer writes them into the credentials.
    pub scope: Vec<String>,
    /// What the delegate may do.
    pub action: Action,
    /// When it ends, exclusive.
    pub until: UnixTime,
}

/// A delegation in the registry.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct GivenDelegation {
    /// The delegation as the issuer wrote it.
    pub delegation: Delegation,
    /// The receipt of the transaction that gave it.
    pub receipt: Receipt,
    /// The receipt of the transaction that withdrew it; `None` if it was not withdrawn.
    pub withdrawn: Option<Receipt>,
}

/// The type of a credential: anything printable without spaces.
pub(crate) fn is_type(kind: &str) -> bool {
    let plain = kind.bytes().all(|byte| byte.is_ascii_graphic());
    (1..=MAX_TYPE_BYTES).contains(&kind.len()) && plain
}

impl CborItem for Action {
    fn write(&self, to: &mut CborWriter) {
        to.text(self.name());
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        match from.text()? {
            "consume" => Ok(Self::Consume),
            "revoke" => Ok(Self::Revoke),
            _ => Err(Malformed("an unknown action")),
        }
    }
}

impl Action {
    /// Its name.
    pub fn name(self) -> &'static str {
        match self {
            Self::Consume => "consume",
            Self::Revoke => "revoke",
        }
    }
}

impl CborItem for Delegation {
    fn write(&self, to: &mut CborWriter) {
        to.array(5).text(&self.name).item(&self.to);
        to.items(&self.scope).item(&self.action).uint(self.until.0);
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(5)?;
        Ok(Self {
            name: from.text()?.to_owned(),
            to: Identifier::read(from)?,
            scope: from.items()?,
            action: Action::read(from)?,
            until: UnixTime(from.uint()?),
        })
    }
}

impl CborItem for GivenDelegation {
    fn write(&self, to: &mut CborWriter) {
        to.array(3).item(&self.delegation).item(&self.receipt);
        write_optional(to, self.withdrawn.as_ref());
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(3)?;
        Ok(Self {
            delegation: Delegation::read(from)?,
            receipt: Receipt::read(from)?,
            withdrawn: optional(from)?,
        })
    }
}
