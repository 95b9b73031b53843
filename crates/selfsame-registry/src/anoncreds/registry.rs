//! Definitions of revocation registries: published once, never changed.

use selfsame_proof::cbor::{CborItem, CborReader, CborWriter, Malformed};

use crate::receipt::Receipt;

/// The definition of a revocation registry as it was published.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PublishedRegistry {
    /// Its JSON, byte for byte.
    pub json: String,
    /// How many places it has.
    pub places: u64,
    /// The receipt of the transaction that published it.
    pub receipt: Receipt,
}

impl CborItem for PublishedRegistry {
    fn write(&self, to: &mut CborWriter) {
        to.array(3)
            .text(&self.json)
            .uint(self.places)
            .item(&self.receipt);
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(3)?;
        Ok(Self {
            json: from.text()?.to_owned(),
            places: from.uint()?,
            receipt: Receipt::read(from)?,
        })
    }
}
