//! Schemas: published once, never changed.

use selfsame_proof::cbor::{CborItem, CborReader, CborWriter, Malformed};

use crate::receipt::Receipt;

/// A schema as it was published.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct PublishedSchema {
    /// Its JSON, byte for byte.
    pub json: String,
    /// The receipt of the transaction that published it.
    pub receipt: Receipt,
}

impl CborItem for PublishedSchema {
    fn write(&self, to: &mut CborWriter) {
        to.array(2).text(&self.json).item(&self.receipt);
    }

    fn read(from: &mut CborReader<'_>) -> Result<Self, Malformed> {
        from.tuple(2)?;
        Ok(Self {
            json: from.text()?.to_owned(),
            receipt: Receipt::read(from)?,
        })
    }
}
