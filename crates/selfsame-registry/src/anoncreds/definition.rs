//! Credential definitions: published once, replaced by a successor when the issuer's key is rotated.

use selfsame_crypto::time::UnixTime;
use selfsame_proof::cbor::{Item, Malformed, Reader, Writer};

use crate::encoding::{optional, write_optional};
use crate::receipt::Receipt;

/// A credential definition as it is published.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Definition {
    /// Its JSON.
    pub json: String,
    /// The definition it takes the place of.
    pub successor_of: Option<Succession>,
    /// Until when its key is good for, in seconds since 1970; for ever where there is none.
    pub valid_until: Option<UnixTime>,
}

/// That a definition takes the place of another of the same issuer, for the same schema.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Succession {
    /// The definition before: in what is published, its identifier; in what is read of the one
    /// before, the identifier of the one after.
    pub definition: String,
    /// Until when the one before still holds: now, where its key was lost.
    pub until: UnixTime,
}

/// A credential definition as it stands in the registry.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PublishedDefinition {
    /// What was published.
    pub definition: Definition,
    /// When.
    pub receipt: Receipt,
    /// The definition that took its place, and until when this one holds beside it.
    pub succeeded_by: Option<Succession>,
}

impl PublishedDefinition {
    /// Until when its key is good for: its own time, or the one its successor set.
    pub fn valid_until(&self) -> Option<UnixTime> {
        let successor = self.succeeded_by.as_ref().map(|next| next.until);
        [self.definition.valid_until, successor]
            .into_iter()
            .flatten()
            .min()
    }
}

impl Item for Definition {
    fn write(&self, to: &mut Writer) {
        to.array(3).text(&self.json);
        write_optional(to, self.successor_of.as_ref());
        to.array(usize::from(self.valid_until.is_some()));
        if let Some(until) = self.valid_until {
            to.uint(until.0);
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
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

impl Item for Succession {
    fn write(&self, to: &mut Writer) {
        to.array(2).text(&self.definition).uint(self.until.0);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.tuple(2)?;
        Ok(Self {
            definition: from.text()?.to_owned(),
            until: UnixTime(from.uint()?),
        })
    }
}

impl Item for PublishedDefinition {
    fn write(&self, to: &mut Writer) {
        to.array(3).item(&self.definition).item(&self.receipt);
        write_optional(to, self.succeeded_by.as_ref());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.tuple(3)?;
        Ok(Self {
            definition: Definition::read(from)?,
            receipt: Receipt::read(from)?,
            succeeded_by: optional(from)?,
        })
    }
}
