//! The author agreement: which text an author has to accept before he writes.

use crate::cbor::{Item, Malformed, Reader, Writer};

/// That an author accepts the agreement.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Acceptance {
    /// The version of the agreement.
    pub version: String,
    /// SHA-256 of its text.
    pub digest: [u8; 32],
    /// How he accepted it, one of the agreement's mechanisms.
    pub mechanism: String,
    /// The day he did, in days since 1970: no more precise than needed.
    pub day: u64,
}

impl Item for Acceptance {
    fn write(&self, to: &mut Writer) {
        to.array(4).text(&self.version).bytes(&self.digest);
        to.text(&self.mechanism).uint(self.day);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
        from.tuple(4)?;
        Ok(Self {
            version: from.text()?.to_owned(),
            digest: from.array_of()?,
            mechanism: from.text()?.to_owned(),
            day: from.uint()?,
        })
    }
}
