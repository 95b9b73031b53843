//! Credential definitions: published once, replaced by a successor when the issuer's key is rotated.

use selfsame_crypto::time::UnixTime;
use selfsame_proof::cbor::{CborItem, CborReader, CborWriter, Malformed};

use crate::encoding::{optional, write_optional};
use crate::receipt::Receipt;

/// A credential definition as it is published.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Definition {
    /// Its JSON.
    pub json: String,
    /// The definition that it succeeds.
    pub successor_of: Option<Succession>,
    /// When its key expires, in seconds since 1970; `None` if it never expires.
    pub valid_until: Option<UnixTime>,
}

/// The succession of a definition by another of the same issuer, for the same schema.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Succession {
    /// The identifier of the other definition: of the predecessor in a published definition, of the successor in what
    /// is read of a predecessor.
    pub definition: String,
    /// When the predecessor expires: now, where its key was lost.
    pub until: UnixTime,
}

/// A credential definition in the registry.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PublishedDefinition {
    /// The definition as it was published.
    pub definition: Definition,
    /// The receipt of the transaction that published it.
    pub receipt: Receipt,
    /// The successor, and when this definition expires beside it.
    pub succeeded_by: Option<Succession>,
}

impl PublishedDefinition {
    /// When its key expires: at its own time or at the one its successor set, whichever is earlier.
    pub fn valid_until(&self) -> Option<UnixTime> {
        let successor = self.succeeded_by.as_ref().map(|next| next.until);
        [self.definition.valid_until, successor]
            .into_iter()
            .flatten()
            .min()
    }
}

impl CborItem for Definition {
    fn write(&self, to: &mut CborWriter) {
        to.array(3).text(&self.json);
        write_optional(to, self.successor_of.as_ref());
        to.array(usize::from(self.valid_until.is_some()));
        if let Some(until) = self.valid_until {
            to.uint(until.0);
        }
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(3)?;
        Ok(Self {
            json: from.text()?.to_owned(),
            successor_of: optional(from)?,
            valid_until: match from.array()? {
                0 => None,
                1 => Some(UnixTime(from.uint()?)),
                _ => return Err(Malformed("a definition ends at most once")),
            },
        })
    }
}

impl CborItem for Succession {
    fn write(&self, to: &mut CborWriter) {
        to.array(2).text(&self.definition).uint(self.until.0);
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(2)?;
        Ok(Self {
            definition: from.text()?.to_owned(),
            until: UnixTime(from.uint()?),
        })
    }
}

impl CborItem for PublishedDefinition {
    fn write(&self, to: &mut CborWriter) {
        to.array(3).item(&self.definition).item(&self.receipt);
        write_optional(to, self.succeeded_by.as_ref());
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(3)?;
        Ok(Self {
            definition: Definition::read(from)?,
            receipt: Receipt::read(from)?,
            succeeded_by: optional(from)?,
        })
    }
}
